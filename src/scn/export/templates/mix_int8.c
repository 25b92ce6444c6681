/*
 * Base models of 8 bits: sums in whole numbers, and one conversion for each weight at the end. What a base
 * model is multiplied by becomes a whole number, the largest of a lane being 2^30; of a product the low 16
 * bits are dropped, which is finer than a float.
 */
static void scn_numbers(const float *coefficients, int bases, int32_t *numbers, float *steps)
{
    int i, lane;
    for (lane = 0; lane < 4; lane++) {
        float most = 0.0f, factor;
        for (i = 0; i < bases; i++) {
            const float c = coefficients[4 * i + lane];
            most = c > most ? c : -c > most ? -c : most;
        }
        factor = most > 0.0f ? 1073741824.0f / most : 0.0f;
        steps[lane] = most * (1.0f / 16384.0f);
        for (i = 0; i < bases; i++) {
            const float number = factor * coefficients[4 * i + lane];
            numbers[4 * i + lane] = (int32_t)(number < 1073741824.0f ? number > -1073741824.0f ? number : -1073741824.0f
                                                                     : 1073741824.0f);
        }
    }
}

#if SCN_DSP && SCN_VFP
/* Four weights at a time; returns how many weights are done. */
static int scn_mix_words(float *out, const int8_t *base, int stride, int bases@which@, const int32_t *numbers,
                         const float *steps, int count)
{
    const float s0 = steps[0], s1 = steps[1], s2 = steps[2], s3 = steps[3];
    int k, i;
    for (k = 0; k + 4 <= count; k += 4, base += 4) {
        const int32_t *number = numbers;
        int32_t a = 0, b = 0, c = 0, d = 0;
        for (i = 0; i < bases; i++, number += 4) {
            const uint32_t word = *(const scn_word *)(const void *)(base + @of@ * stride);
            uint32_t even, odd;
            __asm__("sxtb16 %0, %1" : "=r"(even) : "r"(word));
            __asm__("sxtb16 %0, %1, ror #8" : "=r"(odd) : "r"(word));
            __asm__("smlawb %0, %1, %2, %0" : "+r"(a) : "r"(number[0]), "r"(even));
            __asm__("smlawb %0, %1, %2, %0" : "+r"(b) : "r"(number[1]), "r"(odd));
            __asm__("smlawt %0, %1, %2, %0" : "+r"(c) : "r"(number[2]), "r"(even));
            __asm__("smlawt %0, %1, %2, %0" : "+r"(d) : "r"(number[3]), "r"(odd));
        }
        out[k] = (float)a * s0;
        out[k + 1] = (float)b * s1;
        out[k + 2] = (float)c * s2;
        out[k + 3] = (float)d * s3;
    }
    return k;
}
#endif

/* out = the sum over all base models; lane j has coefficient j % 4. */
static void scn_mix(float *out, const int8_t *base, int stride, int bases@which@, const float *coefficients, int count)
{
    int32_t numbers[4 * SCN_DIMS];
    float steps[4];
    int i, k = 0;
    scn_numbers(coefficients, bases, numbers, steps);
#if SCN_DSP && SCN_VFP
    if ((((uintptr_t)base | (uintptr_t)stride) & 3u) == 0) {
        k = scn_mix_words(out, base, stride, bases@pass which@, numbers, steps, count);
    }
#endif
    for (; k < count; k++) {
        int32_t sum = 0;
        for (i = 0; i < bases; i++) {
            sum += (int32_t)(((int64_t)numbers[4 * i + (k & 3)] * base[@of@ * stride + k]) >> 16);
        }
        out[k] = (float)sum * steps[k & 3];
    }
}
