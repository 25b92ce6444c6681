/* Cores whose unit has VFMA convert halves as well; compilers do not always say so in __ARM_FP. */
static float scn_half(uint16_t half)
{
#if SCN_VFP
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
#if SCN_VFP
/* Four halves in two words, by coefficients C to C + 3, into Y to Y + 3. */
#define SCN_FOUR_HALVES(OP, A, B, C0, C1, C2, C3, Y0, Y1, Y2, Y3)                                            \
    "vcvtb.f32.f16 s16, " A "\n\tvcvtt.f32.f16 s17, " A "\n\t"                                               \
    "vcvtb.f32.f16 s18, " B "\n\tvcvtt.f32.f16 s19, " B "\n\t" OP " " Y0 ", s16, " C0 "\n\t" OP " " Y1       \
    ", s17, " C1 "\n\t" OP " " Y2 ", s18, " C2 "\n\t" OP " " Y3 ", s19, " C3 "\n\t"
#define SCN_FIRST_HALVES(OP)                                                                                 \
    SCN_FOUR_HALVES(OP, "s8", "s9", "s20", "s21", "s22", "s23", "s0", "s1", "s2", "s3")                      \
    SCN_FOUR_HALVES(OP, "s10", "s11", "s20", "s21", "s22", "s23", "s4", "s5", "s6", "s7")
#define SCN_SECOND_HALVES                                                                                    \
    SCN_FOUR_HALVES("vfma.f32", "s12", "s13", "s24", "s25", "s26", "s27", "s0", "s1", "s2", "s3")            \
    SCN_FOUR_HALVES("vfma.f32", "s14", "s15", "s24", "s25", "s26", "s27", "s4", "s5", "s6", "s7")

/* Eight weights at a time of two base models, or of one where b is null; START loads what is there already. */
#define SCN_MIX_HALVES(NAME, START, OP)                                                                      \
    static void NAME(float *out, const uint16_t *a, const uint16_t *b, const float *c, int eights)           \
    {                                                                                                        \
        if (b) {                                                                                             \
            __asm__ volatile("vldmia %[c], {s20-s27}\n\t"                                                    \
                             "1:\n\tvldmia %[a]!, {s8-s11}\n\tvldmia %[b]!, {s12-s15}\n\t" START             \
                             SCN_FIRST_HALVES(OP) SCN_SECOND_HALVES                                          \
                             "subs %[n], %[n], #1\n\tvstmia %[out]!, {s0-s7}\n\tbne 1b"                      \
                             : [out] "+&r"(out), [a] "+&r"(a), [b] "+&r"(b), [n] "+&r"(eights)               \
                             : [c] "r"(c)                                                                    \
                             : SCN_S0_TO_S27, "cc", "memory");                                               \
        } else {                                                                                             \
            __asm__ volatile("vldmia %[c], {s20-s23}\n\t"                                                    \
                             "1:\n\tvldmia %[a]!, {s8-s11}\n\t" START SCN_FIRST_HALVES(OP)                   \
                             "subs %[n], %[n], #1\n\tvstmia %[out]!, {s0-s7}\n\tbne 1b"                      \
                             : [out] "+&r"(out), [a] "+&r"(a), [n] "+&r"(eights)                             \
                             : [c] "r"(c)                                                                    \
                             : SCN_S0_TO_S27, "cc", "memory");                                               \
        }                                                                                                    \
    }
#define SCN_S0_TO_S27                                                                                        \
    "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "s12", "s13", "s14", "s15",    \
        "s16", "s17", "s18", "s19", "s20", "s21", "s22", "s23", "s24", "s25", "s26", "s27"
SCN_MIX_HALVES(scn_first_halves, "", "vmul.f32")
SCN_MIX_HALVES(scn_more_halves, "vldmia %[out], {s0-s7}\n\t", "vfma.f32")
#endif

/* out += coefficient times weight for one base model, or out = it for the first; lane j has coefficient j % 4. */
static void scn_mix_one(float *out, const uint16_t *base, const float *c, int count, int first)
{
    int k;
    for (k = 0; k < count; k++) {
        out[k] = (first ? 0.0f : out[k]) + c[k & 3] * scn_half(base[k]);
    }
}

/* out = the sum over all base models. */
static void scn_mix(float *out, const uint16_t *base, int stride, int bases@which@, const float *coefficients, int count)
{
    int i, done = 0;
#if SCN_VFP
    if (count >= 8 && ((uintptr_t)base & 3u) == 0 && (stride & 1) == 0) {
        done = count & ~7;
        for (i = 0; i < bases; i += 2) {
            const uint16_t *a = base + @of@ * stride, *b = i + 1 < bases ? @next@ : 0;
            (i ? scn_more_halves : scn_first_halves)(out, a, b, coefficients + 4 * i, count >> 3);
        }
    }
#endif
    for (i = 0; i < bases; i++) {
        scn_mix_one(out + done, base + @of@ * stride + done, coefficients + 4 * i, count - done, i == 0);
    }
}
