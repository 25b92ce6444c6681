static int32_t scn_whole(float v, int32_t limit)
{
    return scn_whole_by(v, 0, limit);
}
