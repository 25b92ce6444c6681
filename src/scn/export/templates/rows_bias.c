/* The biases of a layer under beta. */
static void scn_mix_bias(const scn_rows *m, @beta@, float *out)
{
    const int all = m->groups * m->rows;
    int r;
@one by one@    for (r = 0; r < all; r++) {
        float sum = scn_mixture(m->bias + r, beta, all);
        if (m->gain) {
            sum += scn_mixture(m->gain + r, beta, all) * scn_mixture(m->inner + r, beta, all);
        }
        out[r] = sum;
    }
}
