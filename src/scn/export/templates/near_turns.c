/* 1 / sqrt(x), of a normal x > 0. */
static float scn_inverse_root(float x)
{
    union {
        float value;
        uint32_t bits;
    } guess;
    int i;
    guess.value = x;
    guess.bits = 0x5f3759dfu - (guess.bits >> 1);
    for (i = 0; i < 3; i++) {
        guess.value *= 1.5f - 0.5f * x * guess.value * guess.value;
    }
    return guess.value;
}

/* The nearest turns, each weighted by how much nearer it is than the first that is left out. */
static void scn_near_turns(const float *turn, const float *places, scn_few *few)
{
    float agreement[@4@], inverse[@4@], reach = @1@, inverse_reach = 1.0f / @1@, sum = 0.0f;
    int order[@4@], i, j, count = 0;
    for (i = 0; i < SCN_DIMS; i++) {
        const float found = scn_agreement(turn, places + 9 * i);
        if (count == @4@ && !(found > agreement[@4@ - 1])) {
            continue;
        }
        count += count < @4@;
        for (j = count - 1; j > 0 && found > agreement[j - 1]; j--) {
            agreement[j] = agreement[j - 1];
            order[j] = order[j - 1];
        }
        agreement[j] = found;
        order[j] = i;
    }
    for (i = 0; i < @4@; i++) {
        const float square = 6.0f - 2.0f * agreement[i];
        agreement[i] = square > @2@ ? square : @2@;
        inverse[i] = scn_inverse_root(agreement[i]);
    }
    if (@4@ > @3@) {
        inverse_reach = inverse[@4@ - 1];
        reach = agreement[@4@ - 1] * inverse_reach;
    }
    for (i = 0; i < @3@; i++) {
        const float nearer = reach - agreement[i] * inverse[i];
        const float weight = (nearer > @2@ ? nearer : @2@) * inverse[i] * inverse_reach;
        few->which[i] = (uint16_t)order[i];
        few->share[i] = weight * weight;
        sum += few->share[i];
    }
    for (i = 0; i < @3@; i++) {
        few->share[i] /= sum;
    }
    few->count = @3@;
}
