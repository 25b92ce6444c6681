/*
 * Base models two by two: of each four weights, the first two of one and of the other, then the last two of both,
 * so that one instruction multiplies and adds for two base models. An odd one follows by itself.
 */
#define SCN_PAIRS (SCN_DIMS / 2)

/* Weight `at` of a layer in base model i. */
static int scn_weight(const scn_rows *m, int at, int i)
{
    if (i == 2 * SCN_PAIRS) {
        return m->last[at];
    }
    return m->base[(i >> 1) * 2 * m->stride + 8 * (at >> 2) + 4 * ((at >> 1) & 1) + 2 * (i & 1) + (at & 1)];
}

#if SCN_DSP
#define SCN_BOTH(NAME, CODE)                                                                                 \
    static inline int32_t NAME(uint32_t pair, uint32_t share, int32_t sum)                                   \
    {                                                                                                        \
        int32_t result;                                                                                      \
        __asm__(CODE " %0, %1, %2, %3" : "=r"(result) : "r"(pair), "r"(share), "r"(sum));                    \
        return result;                                                                                       \
    }
SCN_BOTH(scn_smlad, "smlad")
SCN_BOTH(scn_smlabb, "smlabb")
SCN_BOTH(scn_smlatb, "smlatb")

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

static inline int8_t scn_eight_bits(int32_t sum)
{
    __asm__("ssat %0, #8, %0, asr #15" : "+r"(sum));
    return (int8_t)sum;
}

/* Words of four columns of a block. Sizes are copied: out may be bytes anywhere. shares: two by two, by rows. */
static void scn_mix_words(int8_t *out, const int8_t *from, const int8_t *last, int stride, const uint32_t *shares,
                          int fours, int block)
{
    const int32_t half = 16384;
    int r, i;
    for (; fours > 0; fours--) {
        for (r = 0; r < block; r++, from += 8, out += 4) {
            int32_t a = half, b = half, c = half, d = half;
            const int8_t *eight = from;
            const uint32_t *share_of = shares + r;
            for (i = SCN_PAIRS; i > 0; i--, eight += 2 * stride, share_of += 4) {
                const scn_word *const words = (const scn_word *)(const void *)eight;
                const uint32_t one = words[0], two = words[1], both = *share_of;
                a = scn_smlad(scn_even(one), both, a);
                b = scn_smlad(scn_odd(one), both, b);
                c = scn_smlad(scn_even(two), both, c);
                d = scn_smlad(scn_odd(two), both, d);
            }
            if (SCN_DIMS & 1) {
                const uint32_t word = *(const scn_word *)(const void *)last, share = shares[4 * SCN_PAIRS + r];
                const uint32_t even = scn_even(word), odd = scn_odd(word);
                a = scn_smlabb(even, share, a);
                b = scn_smlabb(odd, share, b);
                c = scn_smlatb(even, share, c);
                d = scn_smlatb(odd, share, d);
                last += 4;
            }
            out[0] = scn_eight_bits(a);
            out[1] = scn_eight_bits(b);
            out[2] = scn_eight_bits(c);
            out[3] = scn_eight_bits(d);
        }
    }
}
#else
static void scn_mix_words(int8_t *out, const int8_t *from, const int8_t *last, int stride, const uint32_t *shares,
                          int fours, int block)
{
    int r, i;
    for (; fours > 0; fours--) {
        for (r = 0; r < block; r++, from += 8, out += 4) {
            int32_t a = 0, b = 0, c = 0, d = 0;
            for (i = 0; i < SCN_PAIRS; i++) {
                const int8_t *const eight = from + i * 2 * stride;
                const int32_t one = (int16_t)(shares[4 * i + r] & 0xffffu), two = (int16_t)(shares[4 * i + r] >> 16);
                a += eight[0] * one + eight[2] * two;
                b += eight[1] * one + eight[3] * two;
                c += eight[4] * one + eight[6] * two;
                d += eight[5] * one + eight[7] * two;
            }
            if (SCN_DIMS & 1) {
                const int32_t share = (int16_t)(shares[4 * SCN_PAIRS + r] & 0xffffu);
                a += last[0] * share;
                b += last[1] * share;
                c += last[2] * share;
                d += last[3] * share;
                last += 4;
            }
            out[0] = scn_narrow(a);
            out[1] = scn_narrow(b);
            out[2] = scn_narrow(c);
            out[3] = scn_narrow(d);
        }
    }
}
#endif

/* A block of rows whose weights begin at `at`. */
static void scn_mix_block(int8_t *out, const scn_rows *m, int at, const int16_t *shares, int block)
{
    const int fours = (at & 3) ? 0 : m->columns >> 2, end = at + block * m->columns;
    const int bytes = block * (m->columns & 3); /* behind words of four columns: a byte for each row */
    uint32_t both[4 * (SCN_PAIRS + 1)];
    int i, r;
    for (i = 0; i < SCN_DIMS; i += 2) {
        for (r = 0; r < block; r++) {
            const uint32_t one = (uint16_t)shares[4 * i + r];
            const uint32_t other = i + 1 < SCN_DIMS ? (uint16_t)shares[4 * i + 4 + r] : 0u;
            both[2 * i + r] = one | other << 16;
        }
    }
    if (fours > 0) {
        scn_mix_words(out, m->base + 2 * at, m->last ? m->last + at : 0, m->stride, both, fours, block);
        at += 4 * fours * block;
        out += 4 * fours * block;
    }
    for (; at < end; at++) {
        const int left = end - at;
        int32_t sum = 0;
        r = left > bytes ? ((block * m->columns - left) >> 2) % block : (bytes - left) % block;
        for (i = 0; i < SCN_DIMS; i++) {
            sum += scn_weight(m, at, i) * shares[4 * i + r];
        }
        *out++ = scn_narrow(sum);
    }
}

/* The rows of a layer under beta. */
static void scn_mix_rows_int8(const scn_rows *m, const float *beta, int8_t *theta)
{
    int16_t shares[4 * SCN_DIMS];
    int group, row, block, at = 0;
    for (group = 0; group < m->groups; group++) {
        for (row = 0; row < m->rows; row += block) {
            block = SCN_BLOCK(m->rows - row);
            scn_shares(m, beta, group * m->rows + row, block, shares);
            scn_mix_block(theta + at, m, at, shares, block);
            at += block * m->columns;
        }
    }
}
