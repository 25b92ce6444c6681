/* The last layer: its whole numbers become floats. */
static void scn_last_int8(const int8_t *weights, const int32_t *multiplier, const int32_t *offset, const int16_t *x, float *y,
                          int rows, int columns, float step, scn_out out)
{
    int row, block, r;
    for (row = 0; row < rows; row += block) {
        int32_t sums[4];
        sums[0] = sums[1] = sums[2] = sums[3] = 0;
        block = SCN_BLOCK(rows - row);
        scn_dot_int8(sums, weights, x, columns, block);
        for (r = 0; r < block; r++) {
            const int32_t value = (scn_high(sums[r], multiplier[row + r]) + offset[row + r]) >> out.fraction;
            y[row + r] = (float)scn_within(value, out) * step;
        }
        weights += block * columns;
    }
}
