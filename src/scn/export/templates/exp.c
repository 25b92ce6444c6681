/* e to the power of x <= 0, to the last digit or two. */
static float scn_exp(float x)
{
    union {
        uint32_t bits;
        float value;
    } power;
    float rest;
    int n;

    if (!(x > -87.0f)) {
        return 0.0f;
    }
    n = (int)(x * 1.44269504f - 0.5f);
    rest = (x - (float)n * 0.693359375f) + (float)n * 2.12194440e-4f;
    power.bits = (uint32_t)(n + 127) << 23;
    return power.value *
           (1.0f + rest * (1.0f + rest * (0.5f + rest * (0.166666667f + rest * (0.0416666667f +
            rest * (8.33333333e-3f + rest * 1.38888889e-3f))))));
}
