/* The rows of a layer under beta. */
static void scn_mix_rows_int8(const scn_rows *m, @beta@, int8_t *theta)
{
    int16_t shares[4 * SCN_DIMS];
    const int8_t *base = m->base;
    int group, row, block;
    for (group = 0; group < m->groups; group++) {
        for (row = 0; row < m->rows; row += block) {
            block = SCN_BLOCK(m->rows - row);
            scn_shares(m, beta, group * m->rows + row, block, shares);
            scn_mix_int8(theta, base, m->stride, @beta,@shares, m->columns, block);
            theta += block * m->columns;
            base += block * m->columns;
        }
    }
}
