/*
 * Weights of 8 bits: four columns of a row stand in one word, in the order 0 2 1 3, so that two
 * instructions make them pairs of 16 bits; the words of a block's rows follow each other. Columns that
 * are left over follow one by one, a byte for each row. Inputs are 16 bits wide.
 */
#if SCN_DSP
typedef uint32_t __attribute__((__may_alias__)) scn_word;

static inline uint32_t scn_even(uint32_t word)
{
    uint32_t pair;
    __asm__("sxtb16 %0, %1" : "=r"(pair) : "r"(word));
    return pair;
}

static inline uint32_t scn_odd(uint32_t word)
{
    uint32_t pair;
    __asm__("sxtb16 %0, %1, ror #8" : "=r"(pair) : "r"(word));
    return pair;
}
#endif

/* sums[r] += weights of row r times x, for `block` rows. */
static void scn_dot_int8(int32_t *sums, const int8_t *weights, const int16_t *x, int columns, int block)
{
    int fours = columns >> 2, k, r;
#if SCN_DSP
    if (block == 4 && (((uintptr_t)weights | (uintptr_t)x) & 3u) == 0) {
        int32_t a = sums[0], b = sums[1], c = sums[2], d = sums[3];
        uint32_t first, second, one, two, pair;
        if (fours > 0) {
            __asm__ volatile(
                "1:\n\t"
                "ldrd %[first], %[second], [%[x]], #8\n\t"
                "ldrd %[one], %[two], [%[w]], #8\n\t"
                "sxtb16 %[pair], %[one]\n\t"
                "sxtb16 %[one], %[one], ror #8\n\t"
                "smlad %[a], %[pair], %[first], %[a]\n\t"
                "smlad %[a], %[one], %[second], %[a]\n\t"
                "sxtb16 %[pair], %[two]\n\t"
                "sxtb16 %[two], %[two], ror #8\n\t"
                "smlad %[b], %[pair], %[first], %[b]\n\t"
                "smlad %[b], %[two], %[second], %[b]\n\t"
                "ldrd %[one], %[two], [%[w]], #8\n\t"
                "sxtb16 %[pair], %[one]\n\t"
                "sxtb16 %[one], %[one], ror #8\n\t"
                "smlad %[c], %[pair], %[first], %[c]\n\t"
                "smlad %[c], %[one], %[second], %[c]\n\t"
                "sxtb16 %[pair], %[two]\n\t"
                "sxtb16 %[two], %[two], ror #8\n\t"
                "subs %[n], %[n], #1\n\t"
                "smlad %[d], %[pair], %[first], %[d]\n\t"
                "smlad %[d], %[two], %[second], %[d]\n\t"
                "bne 1b"
                : [a] "+r"(a), [b] "+r"(b), [c] "+r"(c), [d] "+r"(d), [x] "+r"(x), [w] "+r"(weights),
                  [n] "+r"(fours), [first] "=&r"(first), [second] "=&r"(second), [one] "=&r"(one),
                  [two] "=&r"(two), [pair] "=&r"(pair)
                :
                : "cc", "memory");
        }
        sums[0] = a;
        sums[1] = b;
        sums[2] = c;
        sums[3] = d;
    }
#endif
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

/* The whole number next to v, within limits. */
static int scn_rounded(float v, int low, int high)
{
#if SCN_VFP
    int n;
    __asm__("vcvtr.s32.f32 %1, %1\n\tvmov %0, %1" : "=r"(n), "+t"(v));
    return n < low ? low : n > high ? high : n;
#else
    v = v > (float)low ? (v < (float)high ? v : (float)high) : (float)low; /* low, if v is not a number */
    return (int)(v < 0.0f ? v - 0.5f : v + 0.5f);
#endif
}

/* How the sums of a layer become what the next one reads: sum * factor + offset, rounded, plus `zero`. */
typedef struct {
    int low, high, zero;
} scn_out;
