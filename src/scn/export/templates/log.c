/* The natural logarithm of a normal x > 0. */
static float scn_log(float x)
{
    union {
        float value;
        uint32_t bits;
    } parts;
    float t, s;
    int n;

    parts.value = x;
    n = (int)(parts.bits >> 23) - 127;
    parts.bits = (parts.bits & 0x7fffffu) | 0x3f800000u;
    if (parts.value > 1.41421356f) {
        parts.value *= 0.5f;
        n += 1;
    }
    t = (parts.value - 1.0f) / (parts.value + 1.0f);
    s = t * t;
    return (float)n * 0.693147181f +
           2.0f * t * (1.0f + s * (0.333333333f + s * (0.2f + s * (0.142857143f + s * 0.111111111f))));
}
