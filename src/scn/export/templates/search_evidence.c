/* Minus the logarithm of the sum of exp(output): low where much speaks for any class at all. */
static float scn_doubt(const float *outputs, int count)
{
    float most = outputs[0], sum = 0.0f;
    int i;
    for (i = 1; i < count; i++) {
        most = outputs[i] > most ? outputs[i] : most;
    }
    for (i = 0; i < count; i++) {
        sum += scn_exp(outputs[i] - most);
    }
    return -(most + scn_log(sum));
}
