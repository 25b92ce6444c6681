/* Each base model so far becomes two: those before and after on one more axis of `size` places. */
static void scn_cross(scn_few *few, scn_around around, int size)
{
    int i;
    for (i = few->count - 1; i >= 0; i--) {
        const int start = few->which[i] * size;
        const float share = few->share[i];
        few->which[2 * i] = (uint16_t)(start + around.before);
        few->which[2 * i + 1] = (uint16_t)(start + around.after);
        few->share[2 * i] = share * (1.0f - around.share);
        few->share[2 * i + 1] = share * around.share;
    }
    few->count *= 2;
}
