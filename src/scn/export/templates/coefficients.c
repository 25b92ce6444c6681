/* What each base model is multiplied by in `block` rows from `row` on, four lanes a base. */
static void scn_coefficients(const scn_rows *m, @beta@, int row, int block, float *out)
{
    const int all = m->groups * m->rows;
    int i, lane;
@alike@    for (lane = 0; lane < 4; lane++) {
        const int r = row + (lane & (block - 1));
        const float gain = m->gain ? scn_mixture(m->gain + r, beta, all) : 1.0f;
        for (i = 0; i < @count@; i++) {
            const float scale = m->scale ? m->scale[@own@ * all + r] : 1.0f;
            out[4 * i + lane] = gain * scale * (m->bases > 1 ? @share@ : 1.0f);
        }
    }
}
