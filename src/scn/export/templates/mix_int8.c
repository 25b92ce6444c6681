/* out = the sum over all base models of coefficient times weight; lane j of a base has coefficient j % 4. */
static void scn_mix(float *out, const int8_t *base, int stride, int bases, const float *coefficients, int count)
{
    int i, k;
    for (k = 0; k < count; k++) {
        float sum = 0.0f;
        for (i = 0; i < bases; i++) {
            sum += coefficients[4 * i + (k & 3)] * (float)base[i * stride + k];
        }
        out[k] = sum;
    }
}
