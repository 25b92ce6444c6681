/* The entropy of the class probabilities. */
static float scn_doubt(const float *outputs, int count)
{
    float most = outputs[0], sum = 0.0f, below = 0.0f;
    int i;
    for (i = 1; i < count; i++) {
        most = outputs[i] > most ? outputs[i] : most;
    }
    for (i = 0; i < count; i++) {
        const float share = scn_exp(outputs[i] - most);
        sum += share;
        below += share > 0.0f ? share * (most - outputs[i]) : 0.0f;
    }
    return scn_log(sum) + below / sum;
}
