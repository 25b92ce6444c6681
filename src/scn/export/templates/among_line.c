/* Between given places. */
static scn_around scn_among_line(float value, const float *places, int count)
{
    const int last = scn_last_before(places, count, value);
    scn_around found;
    found.before = last < 0 ? 0 : last < count - 2 ? last : count - 2;
    found.after = found.before + 1;
    found.share = scn_share(value - places[found.before], places[found.after] - places[found.before]);
    return found;
}
