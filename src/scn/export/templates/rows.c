/* The rows of one layer in all base models. Row r of base i: block by block, see SCN_BLOCK. */
typedef struct {
    const SCN_BASE *base; /* of base model 0; the next one is `stride` weights further */
    const float *scale;   /* (bases, all rows): what a stored weight is multiplied by; null for 1 */
    const float *gain;    /* (SCN_DIMS, all rows): a factor of each row, mixed like a weight; null for 1 */
    const float *inner;   /* (SCN_DIMS, all rows): a bias before the gain; null where there is no gain */
    const float *bias;    /* (SCN_DIMS, all rows); null where it does not depend on alpha */
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
