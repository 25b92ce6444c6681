/* What the largest of four sums stands for, or what is there where that is larger. */
SCN_INLINE static int@1@_t scn_largest_int@1@(const int32_t *sums, int32_t factor, int32_t offset, int@1@_t there, int more,
                                            scn_out out)
{
    int32_t most = sums[0], value;
    int i;
    if (factor >= 0) {
        for (i = 1; i < 4; i++) {
            most = sums[i] > most ? sums[i] : most;
        }
    } else { /* makes the least sum the largest value */
        for (i = 1; i < 4; i++) {
            most = sums[i] < most ? sums[i] : most;
        }
    }
    value = (scn_high(most, factor) + offset) >> out.fraction;
#if @1@ == 8
    value = scn_eight_bits(value, out);
#else
    value = scn_within(value, out) + out.zero;
#endif
    return (int@1@_t)(more && there > value ? there : value);
}

/* A block of rows at four positions of a pooling window. */
static void scn_pooled_block_int@1@(const int8_t *weights, const int32_t *multiplier, const int32_t *offset,
                                             const int16_t *patches, int@1@_t *y, int columns, int pitch, int block,
                                             int more, scn_out out)
{
    int32_t sums[16];
    int r;
    scn_dot_patches_int8(sums, weights, patches, columns, block);
    for (r = 0; r < block; r++, y += pitch) {
        *y = scn_largest_int@1@(sums + 4 * r, multiplier[r], offset[r], *y, more, out);
    }
}
