/* Between places at equal distances on a circle. */
static scn_around scn_on_circle(const float *circle, int count)
{
    const float at = scn_part_of_turn(circle) * (float)count;
    const int before = (int)at;
    scn_around found;
    found.share = at - (float)before;
    found.before = before < count ? before : 0;
    found.after = found.before + 1 < count ? found.before + 1 : 0;
    return found;
}
