/* One answer for each row: weights times x, by factor and offset; y has `step` between rows. */
static void scn_affine_int@1@(const int8_t *weights, const float *factor, const float *offset, const int16_t *x,
                            int@1@_t *y, int rows, int columns, int step, scn_out out)
{
    int row, block, r;
    for (row = 0; row < rows; row += block) {
        int32_t sums[4] = {0, 0, 0, 0};
        block = SCN_BLOCK(rows - row);
        scn_dot_int8(sums, weights, x, columns, block);
        for (r = 0; r < block; r++) {
            const float value = (float)sums[r] * factor[row + r] + offset[row + r];
            y[(row + r) * step] = (int@1@_t)(scn_rounded(value, out.low, out.high) + out.zero);
        }
        weights += block * columns;
    }
}
