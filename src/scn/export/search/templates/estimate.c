/* Values of one parameter, and the values of alpha that each becomes. */
typedef struct {
    const float *values, *alphas;
    int count, size;
} scn_lookup;

static const scn_lookup scn_lookups[@UPPER@_PARAMS] = {@LOOKUPS@};

/* Add the alpha that the estimator reads off one input. */
static int scn_heard(@NAME@_state *s, const float *x)
{
    int i;
@ESTIMATE@
    if (!scn_finite(s->search_outputs, @UPPER@_ALPHA_SIZE)) {
        return 0;
    }
    for (i = 0; i < @UPPER@_ALPHA_SIZE; i++) {
        s->search_sums[i] += s->search_outputs[i];
    }
    return 1;
}

/* The setting whose alpha is nearest to the mean, parameter by parameter. */
static void scn_found(@NAME@_state *s, float *params, float *alpha)
{
    const float share = 1.0f / (float)s->search_count[0];
    int p, c, i, place = 0;
    for (p = 0; p < @UPPER@_PARAMS; p++) {
        const scn_lookup *const among = &scn_lookups[p];
        float least = FLT_MAX;
        int best = 0;
        for (c = 0; c < among->count; c++) {
            float apart = 0.0f;
            for (i = 0; i < among->size; i++) {
                const float off = share * s->search_sums[place + i] - among->alphas[c * among->size + i];
                apart += off * off;
            }
            best = apart < least ? c : best;
            least = apart < least ? apart : least;
        }
        if (params) {
            params[p] = among->values[best];
        }
        for (i = 0; alpha && i < among->size; i++) {
            alpha[place + i] = among->alphas[best * among->size + i];
        }
        place += among->size;
    }
}

