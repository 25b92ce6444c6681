/* The last layer: its answers are floats. */
static void scn_last_int8(const int8_t *weights, const float *factor, const float *offset, const int16_t *x, float *y,
                          int rows, int columns, int relu)
{
    int row, block, r;
    for (row = 0; row < rows; row += block) {
        int32_t sums[4] = {0, 0, 0, 0};
        block = SCN_BLOCK(rows - row);
        scn_dot_int8(sums, weights, x, columns, block);
        for (r = 0; r < block; r++) {
            const float value = (float)sums[r] * factor[row + r] + offset[row + r];
            y[row + r] = (relu && value < 0.0f) ? 0.0f : value;
        }
        weights += block * columns;
    }
}
