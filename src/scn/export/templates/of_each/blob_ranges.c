static const int32_t scn_ranges[][3] = {
    /* how many whole numbers, the least and the largest that each may be */
    @RANGES@};

static int scn_in_range(uint32_t place, uint32_t word)
{
    const int32_t value = (int32_t)word;
    int i;
    for (i = 0; place >= (uint32_t)scn_ranges[i][0]; i++) {
        place -= (uint32_t)scn_ranges[i][0];
    }
    return value >= scn_ranges[i][1] && value <= scn_ranges[i][2];
}

