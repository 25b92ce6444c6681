/*
 * Weights of 8 bits: four columns of a row stand in one word, in the order 0 2 1 3, so that two
 * instructions make them pairs of 16 bits; the words of a block's rows follow each other. Columns that
 * are left over follow one by one, a byte for each row. Inputs are 16 bits wide.
 */
#if SCN_DSP
/* Four columns of four rows; x and weights move on. */
#define SCN_FOUR_BY_FOUR                                                                                     \
    "ldrd %[first], %[second], [%[x]], #8\n\t"                                                               \
    "ldrd %[one], %[two], [%[w]], #8\n\t"                                                                    \
    "sxtb16 %[pair], %[one]\n\t"                                                                             \
    "sxtb16 %[one], %[one], ror #8\n\t"                                                                      \
    "smlad %[a], %[pair], %[first], %[a]\n\t"                                                                \
    "smlad %[a], %[one], %[second], %[a]\n\t"                                                                \
    "sxtb16 %[pair], %[two]\n\t"                                                                             \
    "sxtb16 %[two], %[two], ror #8\n\t"                                                                      \
    "smlad %[b], %[pair], %[first], %[b]\n\t"                                                                \
    "smlad %[b], %[two], %[second], %[b]\n\t"                                                                \
    "ldrd %[one], %[two], [%[w]], #8\n\t"                                                                    \
    "sxtb16 %[pair], %[one]\n\t"                                                                             \
    "sxtb16 %[one], %[one], ror #8\n\t"                                                                      \
    "smlad %[c], %[pair], %[first], %[c]\n\t"                                                                \
    "smlad %[c], %[one], %[second], %[c]\n\t"                                                                \
    "sxtb16 %[pair], %[two]\n\t"                                                                             \
    "sxtb16 %[two], %[two], ror #8\n\t"                                                                      \
    "smlad %[d], %[pair], %[first], %[d]\n\t"                                                                \
    "smlad %[d], %[two], %[second], %[d]\n\t"

/* The counter lies in memory: a core that keeps three registers for other things has eleven for this. */
#define SCN_REPEAT(NUMBER, TIMES)                                                                            \
    "1:\n\t.rept " TIMES "\n\t" SCN_FOUR_BY_FOUR ".endr\n\t"                                                 \
    "ldr %[pair], " NUMBER "\n\tsubs %[pair], %[pair], #1\n\tstr %[pair], " NUMBER "\n\tbne 1b\n\t"

/* Both are aligned to words; x and weights are left where they are. */
SCN_KERNEL static void scn_dot_words(int32_t *sums, const int8_t *weights, const int16_t *x, int fours)
{
    int32_t a = sums[0], b = sums[1], c = sums[2], d = sums[3];
    int eights = fours >> 3, ones = fours & 7;
    uint32_t first, second, one, two, pair;
#define SCN_RUN(COUNTER, TIMES)                                                                              \
    __asm__ volatile(SCN_REPEAT("%[n]", TIMES)                                                               \
                     : [a] "+&r"(a), [b] "+&r"(b), [c] "+&r"(c), [d] "+&r"(d), [x] "+&r"(x),                 \
                       [w] "+&r"(weights), [n] "+m"(COUNTER), [first] "=&r"(first), [second] "=&r"(second),  \
                       [one] "=&r"(one), [two] "=&r"(two), [pair] "=&r"(pair)                                \
                     :                                                                                       \
                     : "cc", "memory")
    if (eights > 0) {
        SCN_RUN(eights, "8");
    }
    if (ones > 0) {
        SCN_RUN(ones, "1");
    }
#undef SCN_RUN
    sums[0] = a;
    sums[1] = b;
    sums[2] = c;
    sums[3] = d;
}
#endif

/* sums[r] += weights of row r times x, for `block` rows. */
static void scn_dot_int8(int32_t *sums, const int8_t *weights, const int16_t *x, int columns, int block)
{
    int fours = columns >> 2, k, r;
#if SCN_DSP
    if (block == 4 && fours > 0 && (((uintptr_t)weights | (uintptr_t)x) & 3u) == 0) {
        scn_dot_words(sums, weights, x, fours);
        weights += 16 * fours;
        x += 4 * fours;
        fours = 0;
    }
#endif
#if SCN_SSE
    if (block == 4) {
        scn_ints one = {0, 0, 0, 0}, two = one;
        for (; fours > 0; fours--, x += 4, weights += 16) {
            const scn_shorts w = scn_shorts_of(weights);
            const scn_pair *const pairs = (const scn_pair *)(const void *)x;
            one = scn_plus_pair(one, (w << 8) >> 8, pairs[0]);
            two = scn_plus_pair(two, w >> 8, pairs[1]);
        }
        *(scn_ints_at *)(void *)sums += one + two;
    }
#endif
    if (block == 4) {
        int32_t a = sums[0], b = sums[1], c = sums[2], d = sums[3];
        for (; fours > 0; fours--, x += 4, weights += 16) {
            const int x0 = x[0], x1 = x[1], x2 = x[2], x3 = x[3];
            a += weights[0] * x0 + weights[2] * x1 + weights[1] * x2 + weights[3] * x3;
            b += weights[4] * x0 + weights[6] * x1 + weights[5] * x2 + weights[7] * x3;
            c += weights[8] * x0 + weights[10] * x1 + weights[9] * x2 + weights[11] * x3;
            d += weights[12] * x0 + weights[14] * x1 + weights[13] * x2 + weights[15] * x3;
        }
        sums[0] = a;
        sums[1] = b;
        sums[2] = c;
        sums[3] = d;
    }
    for (; fours > 0; fours--, x += 4) {
        for (r = 0; r < block; r++, weights += 4) {
            sums[r] += weights[0] * x[0] + weights[2] * x[1] + weights[1] * x[2] + weights[3] * x[3];
        }
    }
    for (k = columns & 3; k > 0; k--, x++) {
        for (r = 0; r < block; r++, weights++) {
            sums[r] += *weights * *x;
        }
    }
}
