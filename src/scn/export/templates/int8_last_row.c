static void scn_last_row_int8(const scn_rows *m, @beta@, const float *factor, const float *offset,
                              const int16_t *x, float *y, int8_t *buffer, int relu)
{
    int16_t shares[4 * SCN_DIMS];
    const int8_t *base = m->base;
    int row, block, r;
    for (row = 0; row < m->rows; row += block) {
        int32_t sums[4] = {0, 0, 0, 0};
        block = SCN_BLOCK(m->rows - row);
        scn_shares(m, beta, row, block, shares);
        scn_dot_row_int8(m, base, @beta,@shares, x, sums, block, buffer);
        for (r = 0; r < block; r++) {
            const float value = (float)sums[r] * factor[row + r] + offset[row + r];
            y[row + r] = (relu && value < 0.0f) ? 0.0f : value;
        }
        base += block * m->columns;
    }
}
