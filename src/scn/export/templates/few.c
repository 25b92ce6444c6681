/* The base models that are mixed, and the coefficient of each. */
typedef struct {
    int count;
    uint16_t which[SCN_DIMS];
    float share[SCN_DIMS];
} scn_few;

static void scn_spread(const scn_few *few, float *beta)
{
    int i;
    for (i = 0; i < SCN_DIMS; i++) {
        beta[i] = 0.0f;
    }
    for (i = 0; i < few->count; i++) {
        beta[few->which[i]] = few->share[i];
    }
}
