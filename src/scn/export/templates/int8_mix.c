#if SCN_DSP
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

/* Four columns of `block` rows at a time, where words are aligned. Returns how many columns are left. */
static @inline@int scn_mix_words(int8_t *out, const int8_t *base, int stride, @with which@const int16_t *shares, int count, int block)
{
    int q, r, i;
    for (q = count >> 2; q > 0; q--) {
        for (r = 0; r < block; r++, base += 4) {
            int32_t a = 16384, b = 16384, c = 16384, d = 16384;
            for (i = 0; i < @n@; i++) {
                const int8_t *from = base + @of@ * stride;
                const uint32_t word = *(const scn_word *)(const void *)from;
                const uint32_t even = scn_even(word), odd = scn_odd(word);
                const int32_t share = shares[4 * i + r];
                __asm__("smlabb %0, %1, %2, %0" : "+r"(a) : "r"(even), "r"(share));
                __asm__("smlabb %0, %1, %2, %0" : "+r"(b) : "r"(odd), "r"(share));
                __asm__("smlatb %0, %1, %2, %0" : "+r"(c) : "r"(even), "r"(share));
                __asm__("smlatb %0, %1, %2, %0" : "+r"(d) : "r"(odd), "r"(share));
            }
            __asm__("ssat %0, #8, %0, asr #15" : "+r"(a));
            __asm__("ssat %0, #8, %0, asr #15" : "+r"(b));
            __asm__("ssat %0, #8, %0, asr #15" : "+r"(c));
            __asm__("ssat %0, #8, %0, asr #15" : "+r"(d));
            *out++ = (int8_t)a;
            *out++ = (int8_t)b;
            *out++ = (int8_t)c;
            *out++ = (int8_t)d;
        }
    }
    return count & 3;
}
#endif

/* `count` columns (a multiple of 4, unless they are the last) of `block` rows. */
static @inline@void scn_mix_int8@each@(int8_t *out, const int8_t *base, int stride, @with which@const int16_t *shares, int count, int block)
{
    int r, i, k;
#if SCN_DSP
    if (((uintptr_t)base & 3u) == 0) {
        const int done = (count & ~3) * block;
        count = scn_mix_words(out, base, stride, @which,@shares, count, block);
        out += done;
        base += done;
    }
#endif
    for (k = count >> 2; k > 0; k--) {
        for (r = 0; r < block; r++, out += 4, base += 4) {
            int32_t a = 0, b = 0, c = 0, d = 0;
            for (i = 0; i < @n@; i++) {
                const int8_t *from = base + @of@ * stride;
                const int32_t share = shares[4 * i + r];
                a += from[0] * share;
                b += from[1] * share;
                c += from[2] * share;
                d += from[3] * share;
            }
            out[0] = scn_narrow(a);
            out[1] = scn_narrow(b);
            out[2] = scn_narrow(c);
            out[3] = scn_narrow(d);
        }
    }
    for (k = count & 3; k > 0; k--) {
        for (r = 0; r < block; r++, out++, base++) {
            int32_t sum = 0;
            for (i = 0; i < @n@; i++) {
                sum += base[@of@ * stride] * shares[4 * i + r];
            }
            *out = scn_narrow(sum);
        }
    }
}
