/* Between given places of a circle, in parts of a turn. */
static scn_around scn_among_circle(const float *circle, const float *places, int count)
{
    const float value = scn_part_of_turn(circle);
    const int last = scn_last_before(places, count, value);
    float way, gap;
    scn_around found;
    found.before = last < 0 ? count - 1 : last;
    found.after = found.before + 1 < count ? found.before + 1 : 0;
    way = value - places[found.before];
    gap = places[found.after] - places[found.before];
    found.share = scn_share(way < 0.0f ? way + 1.0f : way, gap < 0.0f ? gap + 1.0f : gap);
    return found;
}
