/* What sums are multiplied by, and what is added then, for each row. */
static void scn_mix_steps(const scn_rows *m, @beta@, int32_t *multiplier, int32_t *offset)
{
    const int all = m->groups * m->rows;
    int r;
    for (r = 0; r < all; r++) {
        const float step = m->bases == 1 ? m->scale[r] : (float)scn_step(m, beta, r);
        float product = step * m->unit[r];
        if (m->gain) {
            product *= (float)scn_mixture(m->gain + r, beta, all);
        }
        multiplier[r] = scn_whole(product, 0x7fffffff);
        offset[r] = scn_offset(m, beta, r);
    }
}
