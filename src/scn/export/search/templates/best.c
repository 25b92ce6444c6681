/* Add what one input says of each candidate, less what it says of the best: sums stay small. */
static int scn_heard(@NAME@_state *s, const float *x)
{
    float least;
    int c;
    if (!scn_doubts(s, x)) {
        return 0;
    }
    least = s->search_doubts[0];
    for (c = 1; c < @UPPER@_CANDIDATES; c++) {
        least = s->search_doubts[c] < least ? s->search_doubts[c] : least;
    }
    for (c = 0; c < @UPPER@_CANDIDATES; c++) {
        s->search_sums[c] += s->search_doubts[c] - least;
    }
    return 1;
}

static void scn_found(@NAME@_state *s, float *params, float *alpha)
{
    int best = 0, c;
    for (c = 1; c < @UPPER@_CANDIDATES; c++) {
        best = s->search_sums[c] < s->search_sums[best] ? c : best;
    }
    for (c = 0; params && c < @UPPER@_PARAMS; c++) {
        params[c] = scn_candidate_params[best * @UPPER@_PARAMS + c];
    }
    for (c = 0; alpha && c < @UPPER@_ALPHA_SIZE; c++) {
        alpha[c] = scn_candidate_alphas[best * @UPPER@_ALPHA_SIZE + c];
    }
}

