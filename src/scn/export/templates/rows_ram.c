/* The rows of a layer under beta. */
static void scn_mix_rows(const scn_rows *m, @beta@, float *theta)
{
    float coefficients[4 * SCN_DIMS];
    const SCN_BASE *base = m->base;
    int group, row, block;
    for (group = 0; group < m->groups; group++) {
        for (row = 0; row < m->rows; row += block) {
            block = SCN_BLOCK(m->rows - row);
            scn_coefficients(m, beta, group * m->rows + row, block, coefficients);
            scn_mix(theta, base, m->stride, @bases@, coefficients, block * m->columns);
            theta += block * m->columns;
            base += block * m->columns;
        }
    }
}
