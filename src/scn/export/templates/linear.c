/* sums[r] += weights of row r times x, for four rows whose weights stand side by side. */
static void scn_dot4(float *sums, const float *weights, const float *x, int count)
{
#if SCN_VFP
    const int fours = count >> 2;
    int twice = fours >> 1;
#define SCN_FOUR_COLUMNS                                                                                     \
    "vldmia %[x]!, {s0-s3}\n\t"                                                                              \
    "vldmia %[weights]!, {s8-s23}\n\t"                                                                       \
    "vfma.f32 s4, s8, s0\n\t"                                                                                \
    "vfma.f32 s5, s9, s0\n\t"                                                                                \
    "vfma.f32 s6, s10, s0\n\t"                                                                               \
    "vfma.f32 s7, s11, s0\n\t"                                                                               \
    "vfma.f32 s4, s12, s1\n\t"                                                                               \
    "vfma.f32 s5, s13, s1\n\t"                                                                               \
    "vfma.f32 s6, s14, s1\n\t"                                                                               \
    "vfma.f32 s7, s15, s1\n\t"                                                                               \
    "vfma.f32 s4, s16, s2\n\t"                                                                               \
    "vfma.f32 s5, s17, s2\n\t"                                                                               \
    "vfma.f32 s6, s18, s2\n\t"                                                                               \
    "vfma.f32 s7, s19, s2\n\t"                                                                               \
    "vfma.f32 s4, s20, s3\n\t"                                                                               \
    "vfma.f32 s5, s21, s3\n\t"                                                                               \
    "vfma.f32 s6, s22, s3\n\t"                                                                               \
    "vfma.f32 s7, s23, s3\n\t"
#define SCN_RUN(BEFORE, BEHIND)                                                                              \
    __asm__ volatile("vldmia %[sums], {s4-s7}\n\t" BEFORE SCN_FOUR_COLUMNS BEHIND "vstmia %[sums], {s4-s7}"  \
                     : [x] "+&r"(x), [weights] "+&r"(weights), [n] "+&r"(twice)                              \
                     : [sums] "r"(sums)                                                                      \
                     : "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "s12",      \
                       "s13", "s14", "s15", "s16", "s17", "s18", "s19", "s20", "s21", "s22", "s23", "cc",    \
                       "memory")
    if (twice > 0) {
        SCN_RUN("1:\n\t" SCN_FOUR_COLUMNS, "subs %[n], %[n], #1\n\tbne 1b\n\t");
    }
    if (fours & 1) {
        SCN_RUN("", "");
    }
#undef SCN_RUN
    count &= 3;
#elif defined(__GNUC__) && defined(__AVX2__)
    {
        /* A PC: two columns of four rows in a register, and four such sums that do not wait for each other. */
        typedef float eight __attribute__((vector_size(32), aligned(4), may_alias));
        eight one = {0.0f}, two = {0.0f}, three = {0.0f}, four = {0.0f};
        int k, r;
        for (k = 0; k + 8 <= count; k += 8) {
            const eight *w = (const eight *)(const void *)(weights + 4 * k);
            const float *v = x + k;
            const eight v01 = {v[0], v[0], v[0], v[0], v[1], v[1], v[1], v[1]};
            const eight v23 = {v[2], v[2], v[2], v[2], v[3], v[3], v[3], v[3]};
            const eight v45 = {v[4], v[4], v[4], v[4], v[5], v[5], v[5], v[5]};
            const eight v67 = {v[6], v[6], v[6], v[6], v[7], v[7], v[7], v[7]};
            one += w[0] * v01;
            two += w[1] * v23;
            three += w[2] * v45;
            four += w[3] * v67;
        }
        one += two + three + four;
        for (r = 0; r < 4; r++) {
            sums[r] += one[r] + one[r + 4];
        }
        weights += 4 * k;
        x += k;
        count -= k;
    }
#endif
    {
        float a = sums[0], b = sums[1], c = sums[2], d = sums[3];
        int k;
        for (k = 0; k < count; k++) {
            const float value = x[k];
            a += weights[4 * k] * value;
            b += weights[4 * k + 1] * value;
            c += weights[4 * k + 2] * value;
            d += weights[4 * k + 3] * value;
        }
        sums[0] = a;
        sums[1] = b;
        sums[2] = c;
        sums[3] = d;
    }
}

/* The same for any number of rows. */
static void scn_dot(float *sums, const float *weights, const float *x, int count, int block)
{
    int k, r;
    if (block == 4) {
        scn_dot4(sums, weights, x, count);
        return;
    }
    for (r = 0; r < block; r++) {
        float sum = sums[r];
        for (k = 0; k < count; k++) {
            sum += weights[block * k + r] * x[k];
        }
        sums[r] = sum;
    }
}
