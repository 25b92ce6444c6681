/* The rows of one layer in all base models, and what their sums are multiplied by. */
typedef struct {
    const int8_t *base; /* of base model 0; the next one is `stride` weights further */
    const float *scale; /* (SCN_DIMS, all rows): the step of a stored weight */
    const float *gain;  /* (SCN_DIMS, all rows), or null */
    const float *inner; /* (SCN_DIMS, all rows), or null */
    const float *bias;  /* (SCN_DIMS, all rows) */
    float step_in, step_out; /* of the activations */
    int stride, bases, groups, rows, columns; /* rows: of one group */
} scn_rows;

static float scn_mixture(const float *values, @beta@, int stride)
{
    float sum = 0.0f;
    int i;
    for (i = 0; i < @dims@; i++) {
        sum += @share@ * values[@i@ * stride];
    }
    return sum;
}

/* The step of a row's mixed weights: the mean of the steps of its base models. */
static float scn_step(const scn_rows *m, @beta@, int row)
{
    float sum = 0.0f;
    int i;
    if (m->bases == 1) {
        return m->scale[row];
    }
    for (i = 0; i < @dims@; i++) {
        sum += (@share@ < 0.0f ? -@share@ : @share@) * m->scale[@i@ * m->groups * m->rows + row];
    }
    return sum;
}

/* What sums are multiplied by, and what is added then, for each row. */
static void scn_mix_steps(const scn_rows *m, @beta@, float *factor, float *offset)
{
    const int all = m->groups * m->rows;
    int r;
    for (r = 0; r < all; r++) {
        const float gain = m->gain ? scn_mixture(m->gain + r, beta, all) : 1.0f;
        const float step = scn_step(m, beta, r);
        float bias = scn_mixture(m->bias + r, beta, all);
        if (m->inner) {
            bias += gain * scn_mixture(m->inner + r, beta, all);
        }
        factor[r] = gain * step * m->step_in / m->step_out;
        offset[r] = bias / m->step_out;
    }
}
