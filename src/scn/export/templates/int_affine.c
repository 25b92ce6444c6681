/* One answer for each row: weights times x, by multiplier and offset; y has `step` between rows. */
static void scn_affine_int@1@(const int8_t *weights, const int32_t *multiplier, const int32_t *offset, const int16_t *x,
                            int@1@_t *y, int rows, int columns, int step, scn_out out)
{
    int row, block, r;
    for (row = 0; row < rows; row += block) {
        int32_t sums[4];
        sums[0] = sums[1] = sums[2] = sums[3] = 0;
        block = SCN_BLOCK(rows - row);
        scn_dot_int8(sums, weights, x, columns, block);
        for (r = 0; r < block; r++) {
            const int32_t value = (scn_high(sums[r], multiplier[row + r]) + offset[row + r]) >> out.fraction;
#if @1@ == 8
            y[(row + r) * step] = scn_eight_bits(value, out);
#else
            y[(row + r) * step] = (int@1@_t)(scn_within(value, out) + out.zero);
#endif
        }
        weights += block * columns;
    }
}
