/* y = theta x + bias, theta mixed a few columns of four rows at a time into `buffer`. */
static void scn_linear_strips(const scn_rows *m, @beta@, const float *bias, const float *x, float *y,
                              float *buffer, int relu)
{
    float coefficients[4 * SCN_DIMS];
    const SCN_BASE *base = m->base;
    int row, block, k, count, r;
    for (row = 0; row < m->rows; row += block) {
        float sums[4];
        block = SCN_BLOCK(m->rows - row);
        scn_coefficients(m, beta, row, block, coefficients);
        for (r = 0; r < 4; r++) {
            sums[r] = r < block ? bias[row + r] : 0.0f;
        }
        for (k = 0; k < m->columns; k += count) {
            count = m->columns - k < SCN_STRIP ? m->columns - k : SCN_STRIP;
            scn_mix(buffer, base + block * k, m->stride, @bases@, coefficients, block * count);
            scn_dot(sums, buffer, x + k, count, block);
        }
        scn_store(y + row, sums, block, 1, relu);
        base += block * m->columns;
    }
}
