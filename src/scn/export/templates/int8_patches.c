#if SCN_DSP
/* Four columns of one row of a block of four, by four patches. */
#define SCN_ROW_BY_FOUR                                                                                      \
    "ldr %[odd], [%[w]], #16\n\t"                                                                            \
    "ldrd %[one], %[two], [%[x]], #8\n\t"                                                                    \
    "sxtb16 %[even], %[odd]\n\t"                                                                             \
    "sxtb16 %[odd], %[odd], ror #8\n\t"                                                                      \
    "smlad %[a], %[even], %[one], %[a]\n\t"                                                                  \
    "smlad %[b], %[even], %[two], %[b]\n\t"                                                                  \
    "ldrd %[one], %[two], [%[x]], #8\n\t"                                                                    \
    "smlad %[c], %[even], %[one], %[c]\n\t"                                                                  \
    "smlad %[d], %[even], %[two], %[d]\n\t"                                                                  \
    "ldrd %[one], %[two], [%[x]], #8\n\t"                                                                    \
    "smlad %[a], %[odd], %[one], %[a]\n\t"                                                                   \
    "smlad %[b], %[odd], %[two], %[b]\n\t"                                                                   \
    "ldrd %[one], %[two], [%[x]], #8\n\t"                                                                    \
    "smlad %[c], %[odd], %[one], %[c]\n\t"                                                                   \
    "smlad %[d], %[odd], %[two], %[d]\n\t"

static void scn_dot_row(int32_t *sums, const int8_t *weights, const int16_t *patches, int fours)
{
    int32_t a = 0, b = 0, c = 0, d = 0;
    uint32_t even, odd, one, two;
    int twice = fours >> 1;
#define SCN_RUN(BEFORE, BEHIND)                                                                              \
    __asm__ volatile(BEFORE SCN_ROW_BY_FOUR BEHIND                                                           \
                     : [a] "+&r"(a), [b] "+&r"(b), [c] "+&r"(c), [d] "+&r"(d), [x] "+&r"(patches),           \
                       [w] "+&r"(weights), [n] "+&r"(twice), [even] "=&r"(even), [odd] "=&r"(odd),           \
                       [one] "=&r"(one), [two] "=&r"(two)                                                    \
                     :                                                                                       \
                     : "cc", "memory")
    if (twice > 0) {
        SCN_RUN("1:\n\t" SCN_ROW_BY_FOUR, "subs %[n], %[n], #1\n\tbne 1b");
    }
    if (fours & 1) {
        SCN_RUN("", "");
    }
#undef SCN_RUN
    sums[0] = a;
    sums[1] = b;
    sums[2] = c;
    sums[3] = d;
}
#endif

/* sums[4 r + p] = weights of row r times patch p, for `block` rows and four patches. */
SCN_KERNEL static void scn_dot_patches_int8(int32_t *sums, const int8_t *weights, const int16_t *patches, int columns,
                                            int block)
{
    int fours = columns >> 2, r, k;
#if SCN_DSP
    if (block == 4 && ((uintptr_t)weights & 3u) == 0) {
        for (r = 0; r < 4; r++) {
            scn_dot_row(sums + 4 * r, weights + 4 * r, patches, fours);
        }
        weights += 16 * fours;
        patches += 16 * fours;
        fours = 0;
    } else
#endif
    {
        for (k = 0; k < 4 * block; k++) {
            sums[k] = 0;
        }
    }
    for (; fours > 0; fours--, patches += 16) {
        for (r = 0; r < block; r++, weights += 4) {
            const int w0 = weights[0], w1 = weights[2], w2 = weights[1], w3 = weights[3];
            int32_t *const s = sums + 4 * r;
            s[0] += w0 * patches[0] + w1 * patches[1] + w2 * patches[8] + w3 * patches[9];
            s[1] += w0 * patches[2] + w1 * patches[3] + w2 * patches[10] + w3 * patches[11];
            s[2] += w0 * patches[4] + w1 * patches[5] + w2 * patches[12] + w3 * patches[13];
            s[3] += w0 * patches[6] + w1 * patches[7] + w2 * patches[14] + w3 * patches[15];
        }
    }
    for (k = 0; k < (columns & 3); k++) {
        const int16_t *const x = patches + 8 * (k >> 1) + (k & 1);
        const int x0 = x[0], x1 = x[2], x2 = x[4], x3 = x[6];
        int32_t *s = sums;
        for (r = 0; r < block; r++, s += 4) {
            const int w = *weights++;
            s[0] += w * x0;
            s[1] += w * x1;
            s[2] += w * x2;
            s[3] += w * x3;
        }
    }
}
