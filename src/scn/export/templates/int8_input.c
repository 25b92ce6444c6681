/* x times 2 to the power of `exponent` in whole numbers of SCN_INPUT_BITS. */
static void scn_input_int16(const float *x, int16_t *y, int count, int exponent)
{
    const int32_t limit = 1 << (SCN_INPUT_BITS - 1);
#if SCN_VFP && SCN_DSP
    int fours = count >> 2;
    uint32_t a, b, c, d;
    union {
        uint32_t bits;
        float value;
    } power;
    power.bits = (uint32_t)(127 + exponent) << 23;
    count &= 3;
    if (fours > 0) {
        __asm__ volatile(
            "1:\n\t"
            "vldmia %[x]!, {s0-s3}\n\t"
            "vmul.f32 s0, s0, %[power]\n\t"
            "vmul.f32 s1, s1, %[power]\n\t"
            "vmul.f32 s2, s2, %[power]\n\t"
            "vmul.f32 s3, s3, %[power]\n\t"
            "vcvtr.s32.f32 s0, s0\n\t"
            "vcvtr.s32.f32 s1, s1\n\t"
            "vcvtr.s32.f32 s2, s2\n\t"
            "vcvtr.s32.f32 s3, s3\n\t"
            "vmov %[a], %[b], s0, s1\n\t"
            "vmov %[c], %[d], s2, s3\n\t"
            "ssat %[a], %[bits], %[a]\n\t"
            "ssat %[b], %[bits], %[b]\n\t"
            "ssat %[c], %[bits], %[c]\n\t"
            "ssat %[d], %[bits], %[d]\n\t"
            "pkhbt %[a], %[a], %[b], lsl #16\n\t"
            "pkhbt %[c], %[c], %[d], lsl #16\n\t"
            "subs %[n], %[n], #1\n\t"
            "strd %[a], %[c], [%[y]], #8\n\t"
            "bne 1b"
            : [x] "+&r"(x), [y] "+&r"(y), [n] "+&r"(fours), [a] "=&r"(a), [b] "=&r"(b), [c] "=&r"(c),
              [d] "=&r"(d)
            : [power] "t"(power.value), [bits] "I"(SCN_INPUT_BITS)
            : "s0", "s1", "s2", "s3", "cc", "memory");
    }
#elif SCN_SSE
    typedef float scn_floats __attribute__((vector_size(16)));
    typedef float scn_floats_at __attribute__((vector_size(16), aligned(1), may_alias));
    union {
        uint32_t bits;
        float value;
    } power;
    const float top = (float)(limit - 1), end = (float)-limit;
    const scn_floats most = {top, top, top, top}, least = {end, end, end, end};
    power.bits = (uint32_t)(127 + exponent) << 23;
    for (; count >= 4; count -= 4, x += 4) {
        const scn_floats wide = *(const scn_floats_at *)(const void *)x * power.value;
        const scn_floats within = __builtin_ia32_maxps(__builtin_ia32_minps(wide, most), least);
        const scn_ints four = (scn_ints)__builtin_ia32_cvtps2dq(within);
        *y++ = (int16_t)four[0];
        *y++ = (int16_t)four[1];
        *y++ = (int16_t)four[2];
        *y++ = (int16_t)four[3];
    }
#endif
    for (; count > 0; count--) {
        const int32_t n = scn_whole_by(*x++, exponent, limit);
        *y++ = (int16_t)(n < limit ? n : limit - 1);
    }
}
