/* An IEEE half as a float; the tables hold no infinity. */
static float scn_half(uint16_t half)
{
#if SCN_VFP && (__ARM_FP & 2)
    float value;
    __asm__("vmov %0, %1\n\tvcvtb.f32.f16 %0, %0" : "=t"(value) : "r"(half));
    return value;
#else
    union {
        uint32_t bits;
        float value;
    } part;
    part.bits = (uint32_t)(half & 0x7fffu) << 13;
    part.value *= 5.192296858534828e33f; /* 2 to the power of 112: the difference of the exponents */
    part.bits |= (uint32_t)(half & 0x8000u) << 16;
    return part.value;
#endif
}
/* out = the sum over all base models of coefficient times weight; lane j of a base has coefficient j % 4. */
static void scn_mix(float *out, const uint16_t *base, int stride, int bases, const float *coefficients, int count)
{
    int i, k;
    for (k = 0; k < count; k++) {
        float sum = 0.0f;
        for (i = 0; i < bases; i++) {
            sum += coefficients[4 * i + (k & 3)] * scn_half(base[i * stride + k]);
        }
        out[k] = sum;
    }
}
