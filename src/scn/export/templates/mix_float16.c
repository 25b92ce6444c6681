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
#define SCN_VALUE(weight) scn_half(weight)

/* out += coefficient times weight for one base model, or out = it for the first; lane j has coefficient j % 4. */
static void scn_mix_one(float *out, const SCN_BASE *base, const float *c, int count, int first)
{
    const float c0 = c[0], c1 = c[1], c2 = c[2], c3 = c[3];
    int k;
    for (k = 0; k + 4 <= count; k += 4) {
        const float a = first ? 0.0f : out[k], b = first ? 0.0f : out[k + 1];
        const float d = first ? 0.0f : out[k + 2], e = first ? 0.0f : out[k + 3];
        out[k] = a + c0 * SCN_VALUE(base[k]);
        out[k + 1] = b + c1 * SCN_VALUE(base[k + 1]);
        out[k + 2] = d + c2 * SCN_VALUE(base[k + 2]);
        out[k + 3] = e + c3 * SCN_VALUE(base[k + 3]);
    }
    for (; k < count; k++) {
        out[k] = (first ? 0.0f : out[k]) + c[k & 3] * SCN_VALUE(base[k]);
    }
}

/* out = the sum over all base models. */
static void scn_mix(float *out, const SCN_BASE *base, int stride, int bases@which@, const float *coefficients, int count)
{
    int i;
    for (i = 0; i < bases; i++) {
        scn_mix_one(out, base + @of@ * stride, coefficients + 4 * i, count, i == 0);
    }
}
