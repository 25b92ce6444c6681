/* A block of rows at up to four positions: weights times patches, by multiplier and offset. */
static void scn_block_int@1@(const int8_t *weights, const int32_t *multiplier, const int32_t *offset,
                           const int16_t *patches, int@1@_t *y, int columns, int positions, int block, int count,
                           scn_out out)
{
    int32_t sums[16];
    int r, p;
    scn_dot_patches_int8(sums, weights, patches, columns, block);
    for (r = 0; r < block; r++, y += positions) {
        const int32_t factor = multiplier[r], more = offset[r];
        for (p = 0; p < count; p++) {
            const int32_t value = (scn_high(sums[4 * r + p], factor) + more) >> out.fraction;
#if @1@ == 8
            y[p] = scn_eight_bits(value, out);
#else
            y[p] = (int@1@_t)(scn_within(value, out) + out.zero);
#endif
        }
    }
}
