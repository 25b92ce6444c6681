static void scn_last_row_int8(const scn_rows *m, @beta@, const int16_t *x, float *y, float step, scn_out out)
{
    const int8_t *base = m->base;
    int row, block, r;
    for (row = 0; row < m->rows; row += block) {
        int32_t values[4];
        block = SCN_BLOCK(m->rows - row);
        scn_values_int8(m, beta, row, block, base, x, out, values);
        for (r = 0; r < block; r++) {
            y[row + r] = (float)values[r] * step;
        }
        base += block * m->columns;
    }
}
