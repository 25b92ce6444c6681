#if SCN_DSP
#define SCN_MULTIPLIED(NAME, CODE)                                                                           \
    static inline int32_t NAME(int32_t weights, uint32_t x, int32_t sum)                                     \
    {                                                                                                        \
        __asm__(CODE " %0, %1, %2, %0" : "+r"(sum) : "r"(weights), "r"(x));                                  \
        return sum;                                                                                          \
    }
SCN_MULTIPLIED(scn_multiplied_one, "smlabb")
SCN_MULTIPLIED(scn_multiplied_two, "smlad")

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

/* One row of a block of four at four patches: its words, then a byte of each column that is left. */
SCN_INLINE static void scn_dot_row(int32_t *sums, const int8_t *weights, const int16_t *patches, int columns, int row)
{
    const scn_word *x;
    int32_t a = 0, b = 0, c = 0, d = 0, w;
    uint32_t even, odd, one, two;
    int twice = columns >> 3;
    weights += 4 * row;
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
    if (columns & 4) {
        SCN_RUN("", "");
    }
#undef SCN_RUN
    weights -= 3 * row;
    x = (const scn_word *)(const void *)patches;
    if (columns & 2) {
        __asm__("pkhbt %0, %1, %2, lsl #16" : "=r"(w) : "r"((int32_t)weights[0]), "r"((int32_t)weights[4]));
        a = scn_multiplied_two(w, x[0], a);
        b = scn_multiplied_two(w, x[1], b);
        c = scn_multiplied_two(w, x[2], c);
        d = scn_multiplied_two(w, x[3], d);
        weights += 8;
        x += 4;
    }
    if (columns & 1) {
        w = *weights;
        a = scn_multiplied_one(w, x[0], a);
        b = scn_multiplied_one(w, x[1], b);
        c = scn_multiplied_one(w, x[2], c);
        d = scn_multiplied_one(w, x[3], d);
    }
    sums[0] = a;
    sums[1] = b;
    sums[2] = c;
    sums[3] = d;
}
#endif

/* A column of four patches by two rows, whose eight sums stay in registers. */
#define SCN_COLUMN(X, U, V)                                                                                  \
    {                                                                                                        \
        const int x0 = (X)[0], x1 = (X)[2], x2 = (X)[4], x3 = (X)[6], u = (U), v = (V);                      \
        a0 += u * x0;                                                                                        \
        a1 += u * x1;                                                                                        \
        a2 += u * x2;                                                                                        \
        a3 += u * x3;                                                                                        \
        b0 += v * x0;                                                                                        \
        b1 += v * x1;                                                                                        \
        b2 += v * x2;                                                                                        \
        b3 += v * x3;                                                                                        \
    }

/* Rows `row` and the next one of a block; where it is the only one, twice the same. */
static void scn_dot_two_rows(int32_t *sums, const int8_t *weights, const int16_t *patches, int columns, int block,
                             int row)
{
    const int8_t *one = weights + 4 * row, *two = one + (block > 1 ? 4 : 0);
    const int next = block > 1 ? 1 : 0, step = 4 * block;
    int32_t a0 = 0, a1 = 0, a2 = 0, a3 = 0, b0 = 0, b1 = 0, b2 = 0, b3 = 0;
    int k;
    for (k = columns >> 2; k > 0; k--, one += step, two += step, patches += 16) {
        SCN_COLUMN(patches, one[0], two[0])
        SCN_COLUMN(patches + 1, one[2], two[2])
        SCN_COLUMN(patches + 8, one[1], two[1])
        SCN_COLUMN(patches + 9, one[3], two[3])
    }
    one -= 3 * row; /* behind the words a byte of each row */
    for (k = 0; k < (columns & 3); k++, one += block) {
        SCN_COLUMN(patches + 8 * (k >> 1) + (k & 1), one[0], one[next])
    }
    sums[0] = a0;
    sums[1] = a1;
    sums[2] = a2;
    sums[3] = a3;
    sums[4] = b0;
    sums[5] = b1;
    sums[6] = b2;
    sums[7] = b3;
}

#if SCN_SSE
/* The words of a block of four rows at four patches. */
static void scn_dot_block(int32_t *sums, const int8_t *weights, const int16_t *patches, int fours)
{
    scn_ints_at *const out = (scn_ints_at *)(void *)sums;
    scn_ints a = {0, 0, 0, 0}, b = a, c = a, d = a;
    for (; fours > 0; fours--, weights += 16, patches += 16) {
        const scn_shorts w = scn_shorts_of(weights), x = scn_shorts_of(patches), y = scn_shorts_of(patches + 8);
        const scn_ints first = (scn_ints)((w << 8) >> 8), last = (scn_ints)(w >> 8);
        a = scn_plus_pair(scn_plus_pair(a, x, first[0]), y, last[0]);
        b = scn_plus_pair(scn_plus_pair(b, x, first[1]), y, last[1]);
        c = scn_plus_pair(scn_plus_pair(c, x, first[2]), y, last[2]);
        d = scn_plus_pair(scn_plus_pair(d, x, first[3]), y, last[3]);
    }
    out[0] = a;
    out[1] = b;
    out[2] = c;
    out[3] = d;
}
#endif

/* sums[4 r + p] = weights of row r times patch p, for `block` rows and four patches. */
SCN_KERNEL static void scn_dot_patches_int8(int32_t *sums, const int8_t *weights, const int16_t *patches, int columns,
                                            int block)
{
    int r;
#if SCN_DSP
    if (block == 4 && ((uintptr_t)weights & 3u) == 0) {
        for (r = 0; r < 4; r++) {
            scn_dot_row(sums + 4 * r, weights, patches, columns, r);
        }
        return;
    }
#endif
#if SCN_SSE
    if (block == 4) {
        const int fours = columns >> 2;
        int k, p;
        scn_dot_block(sums, weights, patches, fours);
        weights += 16 * fours;
        patches += 16 * fours;
        for (k = 0; k < (columns & 3); k++, weights += 4) {
            const int16_t *const x = patches + 8 * (k >> 1) + (k & 1);
            for (r = 0; r < 4; r++) {
                for (p = 0; p < 4; p++) {
                    sums[4 * r + p] += weights[r] * x[2 * p];
                }
            }
        }
        return;
    }
#endif
    for (r = 0; r < block; r += 2) {
        scn_dot_two_rows(sums + 4 * r, weights, patches, columns, block, r);
    }
}
