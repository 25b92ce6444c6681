/* The rows of one layer in all base models. Row r of base i: block by block, see scn_block. */
typedef struct {
    const SCN_BASE *base; /* of base model 0; the next one is `stride` weights further */
    const float *scale;   /* (bases, all rows): what a stored weight is multiplied by; null for 1 */
    const float *gain;    /* (SCN_DIMS, all rows): a factor of each row, mixed like a weight; null for 1 */
    const float *inner;   /* (SCN_DIMS, all rows): a bias before the gain; null where there is no gain */
    const float *bias;    /* (SCN_DIMS, all rows); null where it does not depend on alpha */
    int stride, bases, groups, rows, columns; /* rows: of one group */
} scn_rows;

static float scn_mixture(const float *values, const float *beta, int stride)
{
    float sum = 0.0f;
    int i;
    for (i = 0; i < SCN_DIMS; i++) {
        sum += beta[i] * values[i * stride];
    }
    return sum;
}

/* What each base model is multiplied by in `block` rows from `row` on, four lanes a base. */
static void scn_coefficients(const scn_rows *m, const float *beta, int row, int block, float *out)
{
    const int all = m->groups * m->rows;
    int i, lane;
    for (lane = 0; lane < 4; lane++) {
        const int r = row + (lane & (block - 1));
        const float gain = m->gain ? scn_mixture(m->gain + r, beta, all) : 1.0f;
        for (i = 0; i < m->bases; i++) {
            const float scale = m->scale ? m->scale[i * all + r] : 1.0f;
            out[4 * i + lane] = gain * scale * (m->bases > 1 ? beta[i] : 1.0f);
        }
    }
}

/* The biases of a layer under beta. */
static void scn_mix_bias(const scn_rows *m, const float *beta, float *out)
{
    const int all = m->groups * m->rows;
    int r;
    for (r = 0; r < all; r++) {
        float sum = scn_mixture(m->bias + r, beta, all);
        if (m->gain) {
            sum += scn_mixture(m->gain + r, beta, all) * scn_mixture(m->inner + r, beta, all);
        }
        out[r] = sum;
    }
}
