#if SCN_VFP
#define SCN_MIX_ONE(NAME, START, FIRST)                                                                      \
    static void NAME(float *out, const float *a, const float *c, int eights)                                 \
    {                                                                                                        \
        __asm__ volatile("vldmia %[c], {s16-s19}\n\t"                                                        \
                         "1:\n\t" START "vldmia %[a]!, {s8-s15}\n\t"                                         \
                         FIRST " s0, s8, s16\n\t" FIRST " s1, s9, s17\n\t"                                   \
                         FIRST " s2, s10, s18\n\t" FIRST " s3, s11, s19\n\t"                                 \
                         FIRST " s4, s12, s16\n\t" FIRST " s5, s13, s17\n\t"                                 \
                         FIRST " s6, s14, s18\n\t" FIRST " s7, s15, s19\n\t"                                 \
                         "subs %[n], %[n], #1\n\t"                                                           \
                         "vstmia %[out]!, {s0-s7}\n\t"                                                       \
                         "bne 1b"                                                                            \
                         : [out] "+&r"(out), [a] "+&r"(a), [n] "+&r"(eights)                                    \
                         : [c] "r"(c)                                                                        \
                         : "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "s12",  \
                           "s13", "s14", "s15", "s16", "s17", "s18", "s19", "cc", "memory");                 \
    }
#define SCN_MIX_TWO(NAME, START, FIRST)                                                                      \
    static void NAME(float *out, const float *a, const float *b, const float *c, int eights)                 \
    {                                                                                                        \
        __asm__ volatile("vldmia %[c], {s16-s23}\n\t"                                                        \
                         "1:\n\t" START "vldmia %[a]!, {s8-s15}\n\t"                                         \
                         FIRST " s0, s8, s16\n\t" FIRST " s1, s9, s17\n\t"                                   \
                         FIRST " s2, s10, s18\n\t" FIRST " s3, s11, s19\n\t"                                 \
                         FIRST " s4, s12, s16\n\t" FIRST " s5, s13, s17\n\t"                                 \
                         FIRST " s6, s14, s18\n\t" FIRST " s7, s15, s19\n\t"                                 \
                         "vldmia %[b]!, {s8-s15}\n\t"                                                        \
                         "vfma.f32 s0, s8, s20\n\t"                                                          \
                         "vfma.f32 s1, s9, s21\n\t"                                                          \
                         "vfma.f32 s2, s10, s22\n\t"                                                         \
                         "vfma.f32 s3, s11, s23\n\t"                                                         \
                         "vfma.f32 s4, s12, s20\n\t"                                                         \
                         "vfma.f32 s5, s13, s21\n\t"                                                         \
                         "vfma.f32 s6, s14, s22\n\t"                                                         \
                         "vfma.f32 s7, s15, s23\n\t"                                                         \
                         "subs %[n], %[n], #1\n\t"                                                           \
                         "vstmia %[out]!, {s0-s7}\n\t"                                                       \
                         "bne 1b"                                                                            \
                         : [out] "+&r"(out), [a] "+&r"(a), [b] "+&r"(b), [n] "+&r"(eights)                       \
                         : [c] "r"(c)                                                                        \
                         : "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "s12",  \
                           "s13", "s14", "s15", "s16", "s17", "s18", "s19", "s20", "s21", "s22", "s23",      \
                           "cc", "memory");                                                                  \
    }
SCN_MIX_ONE(scn_first_of_one, "", "vmul.f32")
SCN_MIX_ONE(scn_one_more, "vldmia %[out], {s0-s7}\n\t", "vfma.f32")
SCN_MIX_TWO(scn_first_of_two, "", "vmul.f32")
SCN_MIX_TWO(scn_two_more, "vldmia %[out], {s0-s7}\n\t", "vfma.f32")
#endif

#define SCN_VALUE(weight) (weight)

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
    int i, done = 0;
#if SCN_VFP
    const int eights = count >> 3;
    if (eights > 0) {
        const float *c = coefficients;
        done = eights << 3;
        for (i = 0; i < bases; i += 2, c += 8) {
            const float *a = base + @of@ * stride;
            if (i + 1 == bases) {
                (i ? scn_one_more : scn_first_of_one)(out, a, c, eights);
            } else {
                (i ? scn_two_more : scn_first_of_two)(out, a, @next@, c, eights);
            }
        }
    }
#endif
    for (i = 0; i < bases; i++) {
        scn_mix_one(out + done, base + @of@ * stride + done, coefficients + 4 * i, count - done, i == 0);
    }
}
