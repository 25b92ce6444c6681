/* The nearer of two places on one more axis of `size` places; of equally near ones the first. */
static void scn_nearest(scn_few *few, scn_around around, int size)
{
    const int nearer = around.share > 0.5f ? around.after : around.before;
    few->which[0] = (uint16_t)(few->which[0] * size + nearer);
}
