/*
 * The rows of one layer in all base models, and what their sums are multiplied by. Numbers to be mixed are
 * scaled so that whole numbers hold them; each is multiplied by itself, so that every core rounds alike.
 */
typedef struct {
    const int8_t *base; /* of base model 0; the next one is `stride` weights further */
    const float *scale; /* (bases, all rows): the step of a stored weight */
    const float *gain;  /* (SCN_DIMS, all rows), or null */
    const float *inner; /* (SCN_DIMS, all rows), or null */
    const float *bias;  /* (SCN_DIMS, all rows) */
    const float *unit;  /* (all rows): what makes a multiplier of a scale, and of a gain */
    const float *joint; /* (all rows): what makes a part of the offset of a gain and an inner bias; or null */
    int32_t half;       /* what rounds the values */
    int stride, bases, groups, rows, columns; /* rows: of one group */
} scn_rows;

/* A sum over the base models in whole numbers. */
static int32_t scn_mixture(const float *values, @beta@, int stride)
{
    int32_t sum = 0;
    int i;
    for (i = 0; i < @dims@; i++) {
        sum += scn_whole(@share@ * values[@i@ * stride], (1 << 30) / SCN_DIMS);
    }
    return sum;
}

/* What is added to the sums of a row, with what rounds them. */
static int32_t scn_offset(const scn_rows *m, @beta@, int row)
{
    const int32_t most = 1 << 29;
    const int all = m->groups * m->rows;
    int32_t sum = scn_mixture(m->bias + row, beta, all);
    if (m->joint) {
        const float gain = (float)scn_mixture(m->gain + row, beta, all);
        const float inner = (float)scn_mixture(m->inner + row, beta, all);
        sum += scn_whole(gain * inner * m->joint[row], most);
    }
    return (sum > most ? most : sum < -most ? -most : sum) + m->half;
}
