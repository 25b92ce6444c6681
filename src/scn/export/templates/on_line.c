/* Between places at equal distances: the first, and how many there are in a unit of alpha. */
static scn_around scn_on_line(float value, float first, float steps, int count)
{
    const float at = (value - first) * steps, last = (float)(count - 1);
    const float bounded = at > 0.0f ? (at < last ? at : last) : 0.0f;
    scn_around found;
    found.before = (int)bounded < count - 2 ? (int)bounded : count - 2;
    found.after = found.before + 1;
    found.share = bounded - (float)found.before;
    return found;
}
