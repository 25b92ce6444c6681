/*
 * Base models of 8 bits side by side, so that one pointer runs through all of them. In a block of four rows each row has
 * words of four columns: of two base models the first two weights of one and of the other, then the last two of both,
 * so that one instruction multiplies and adds for two base models; an odd one follows by itself. Elsewhere each
 * weight of the first base model is followed by that of the others.
 */
#define SCN_PAIRS (SCN_DIMS / 2)

/* How many words of four columns the rows of a block have that begins at `at`. */
static int scn_fours(int at, int columns, int block)
{
    return block == 4 && (at & 3) == 0 ? columns >> 2 : 0;
}

#if SCN_DSP
/* Weights are taken as high bytes of pairs of 16 bits. %[m] is 0xff00ff00. */
#define SCN_LOW_BYTES(TO, WORD) "and " TO ", %[m], " WORD ", lsl #8\n\t"
#define SCN_HIGH_BYTES(WORD) "and " WORD ", " WORD ", %[m]\n\t"
#define SCN_TWO_BASES(E, ONE, TWO, A, B, C, D)                                                               \
    SCN_LOW_BYTES(E, ONE) "smlad %[a], " E ", %[s], " A "\n\t"                                               \
    SCN_HIGH_BYTES(ONE) "smlad %[b], " ONE ", %[s], " B "\n\t"                                               \
    SCN_LOW_BYTES(E, TWO) "smlad %[c], " E ", %[s], " C "\n\t"                                               \
    SCN_HIGH_BYTES(TWO) "smlad %[d], " TWO ", %[s], " D "\n\t"
#define SCN_ONE_BASE(E, ONE, S)                                                                              \
    SCN_LOW_BYTES(E, ONE) "smlabb %[a], " E ", " S ", %[a]\n\tsmlatb %[c], " E ", " S ", %[c]\n\t"           \
    SCN_HIGH_BYTES(ONE) "smlabb %[b], " ONE ", " S ", %[b]\n\tsmlatb %[d], " ONE ", " S ", %[d]"
#endif

/* Shares of one row, two by two. */
static void scn_pair_shares(const int16_t *shares, uint32_t *both)
{
    int i;
    for (i = 0; i < SCN_DIMS; i += 2) {
        const uint32_t other = i + 1 < SCN_DIMS ? (uint16_t)shares[4 * i + 4] : 0u;
        both[i >> 1] = (uint16_t)shares[4 * i] | other << 16;
    }
}

/*
 * Sums of four weights of a row over all base models, times 256, and `half`: weights are taken as high bytes. Returns
 * where the next four are.
 */
SCN_INLINE static const int8_t *scn_pair_sums(int32_t *sums, const int8_t *from, const uint32_t *shares,
                                              int32_t half)
{
#if SCN_DSP && SCN_DIMS == 3
    /* One load for all three, which fills registers in their order; two of them hold sums in the end. */
    int32_t a, c;
    register int32_t b __asm__("r4");
    register int32_t d __asm__("r5");
    uint32_t high = 0xff00ff00u, even;
    __asm__("" : "+r"(high)); /* stays in its register */
    __asm__ volatile("ldmia %[w]!, {r4, r5, r8}\n\t"
                     SCN_TWO_BASES("%[e]", "r4", "r5", "%[half]", "%[half]", "%[half]", "%[half]")
                     SCN_ONE_BASE("%[e]", "r8", "%[t]")
                     : [a] "=&r"(a), [b] "=&r"(b), [c] "=&r"(c), [d] "=&r"(d), [e] "=&r"(even), [w] "+&r"(from)
                     : [s] "r"(shares[0]), [t] "r"(shares[1]), [m] "r"(high), [half] "r"(half)
                     : "r8", "memory");
    sums[0] = a;
    sums[1] = b;
    sums[2] = c;
    sums[3] = d;
#elif SCN_DSP
    int32_t a = half, b = half, c = half, d = half;
    uint32_t high = 0xff00ff00u, one, two, even;
    int i;
    __asm__("" : "+r"(high)); /* stays in its register */
#if SCN_PAIRS
    __asm__ volatile("ldrd %[one], %[two], [%[w]], #8\n\t" /* the first two */
                     SCN_TWO_BASES("%[e]", "%[one]", "%[two]", "%[half]", "%[half]", "%[half]", "%[half]")
                     : [a] "=&r"(a), [b] "=&r"(b), [c] "=&r"(c), [d] "=&r"(d), [one] "=&r"(one), [two] "=&r"(two),
                       [e] "=&r"(even), [w] "+&r"(from)
                     : [s] "r"(shares[0]), [m] "r"(high), [half] "r"(half)
                     : "memory");
#endif
    for (i = 1; i < SCN_PAIRS; i++) {
        __asm__ volatile("ldrd %[one], %[two], [%[w]], #8\n\t"
                         SCN_TWO_BASES("%[e]", "%[one]", "%[two]", "%[a]", "%[b]", "%[c]", "%[d]")
                         : [a] "+&r"(a), [b] "+&r"(b), [c] "+&r"(c), [d] "+&r"(d), [one] "=&r"(one),
                           [two] "=&r"(two), [e] "=&r"(even), [w] "+&r"(from)
                         : [s] "r"(shares[i]), [m] "r"(high)
                         : "memory");
    }
#if SCN_DIMS & 1
    __asm__ volatile("ldr %[one], [%[w]], #4\n\t" SCN_ONE_BASE("%[e]", "%[one]", "%[s]")
                     : [a] "+&r"(a), [b] "+&r"(b), [c] "+&r"(c), [d] "+&r"(d), [one] "=&r"(one), [e] "=&r"(even),
                       [w] "+&r"(from)
                     : [s] "r"(shares[SCN_PAIRS]), [m] "r"(high)
                     : "memory");
#endif
    sums[0] = a;
    sums[1] = b;
    sums[2] = c;
    sums[3] = d;
#else
    int32_t a = 0, b = 0, c = 0, d = 0;
    int i;
    for (i = 0; i < SCN_PAIRS; i++, from += 8) {
        const int32_t one = (int16_t)(shares[i] & 0xffffu), two = (int16_t)(shares[i] >> 16);
        a += from[0] * one + from[2] * two;
        b += from[1] * one + from[3] * two;
        c += from[4] * one + from[6] * two;
        d += from[5] * one + from[7] * two;
    }
    if (SCN_DIMS & 1) {
        const int32_t share = (int16_t)(shares[SCN_PAIRS] & 0xffffu);
        a += from[0] * share;
        b += from[1] * share;
        c += from[2] * share;
        d += from[3] * share;
        from += 4;
    }
    sums[0] = a * 256 + half;
    sums[1] = b * 256 + half;
    sums[2] = c * 256 + half;
    sums[3] = d * 256 + half;
#endif
    return from;
}
