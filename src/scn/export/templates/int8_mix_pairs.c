/* Which row of a block a weight belongs to, of which so many are left: behind words of four columns, a byte each. */
static int scn_row_of(int left, int columns, int block)
{
    const int bytes = block * (columns & 3);
    return left > bytes ? ((block * columns - left) >> 2) % block : (bytes - left) % block;
}

/* Four sums as four bytes; returns where the next four columns of the row go. */
SCN_INLINE static int8_t *scn_four_bytes(int8_t *out, const int32_t *sums)
{
#if SCN_DSP && SCN_DIMS <= 250 /* shares add up to one, or so little more that no sum leaves its limits */
    uint32_t even, odd, high = 0xff00ff00u; /* the highest byte of each sum, behind its sign */
    __asm__("" : "+r"(high));
    __asm__ volatile("pkhtb %0, %3, %4, asr #16\n\tand %0, %7, %0, lsl #1\n\t"
            "pkhtb %1, %5, %6, asr #16\n\tand %1, %7, %1, lsl #1\n\t"
            "orr %0, %0, %1, lsr #8\n\tstr %0, [%2], #16"
            : "=&r"(odd), "=&r"(even), "+&r"(out)
            : "r"(sums[3]), "r"(sums[1]), "r"(sums[2]), "r"(sums[0]), "r"(high)
            : "memory");
    return out;
#else
    int i;
    for (i = 0; i < 4; i++) {
        const int32_t value = sums[i] >> 23;
        out[i] = (int8_t)(value > 127 ? 127 : value < -127 ? -127 : value);
    }
    return out + 16;
#endif
}

/* The words of a row in a block of four. Shares are copied: out may be anything. */
SCN_KERNEL static void scn_mix_row(int8_t *out, const int8_t *from, const int16_t *shares, int fours)
{
    uint32_t own[SCN_PAIRS + 1];
    int32_t sums[4];
    scn_pair_shares(shares, own);
    if (fours & 1) {
        from = scn_pair_sums(sums, from, own, 1 << 22);
        out = scn_four_bytes(out, sums);
    }
    for (fours >>= 1; fours > 0; fours--) {
        from = scn_pair_sums(sums, from, own, 1 << 22);
        out = scn_four_bytes(out, sums);
        from = scn_pair_sums(sums, from, own, 1 << 22);
        out = scn_four_bytes(out, sums);
    }
}

/* A block of rows whose weights begin at `at`; out is aligned to words where `at` is. */
static void scn_mix_block(int8_t *out, const scn_rows *m, int at, const int16_t *shares, int block)
{
    const int end = at + block * m->columns, fours = scn_fours(at, m->columns, block);
    const int8_t *from = m->base + at * SCN_DIMS;
    int i, r;
    for (r = 0; r < 4 && fours > 0; r++, from += 4 * SCN_DIMS * fours) {
        scn_mix_row(out + 4 * r, from, shares + r, fours);
    }
    out += 16 * fours;
    for (at += 16 * fours; at < end; at++, from += SCN_DIMS) {
        int32_t sum = 0;
        r = scn_row_of(end - at, m->columns, block);
        for (i = 0; i < SCN_DIMS; i++) {
            sum += from[i] * shares[4 * i + r];
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
