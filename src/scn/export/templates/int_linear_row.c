static void scn_linear_row_int@1@(const scn_rows *m, @beta@, const float *factor, const float *offset,
                                const int16_t *x, int@1@_t *y, int8_t *buffer, scn_out out)
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
            y[row + r] = (int@1@_t)(scn_rounded(value, out.low, out.high) + out.zero);
        }
        base += block * m->columns;
    }
}
