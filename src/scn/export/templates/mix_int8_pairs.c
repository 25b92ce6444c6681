/* What base models are multiplied by in one row as shares of 1/32768 of their sum, and what such a share is worth. */
static float scn_row_shares(const float *coefficients, int16_t *shares)
{
    float total = 0.0f, part;
    int i;
    for (i = 0; i < SCN_DIMS; i++) {
        const float c = coefficients[4 * i];
        total += c < 0.0f ? -c : c;
    }
    part = total > 1e-30f ? 32767.0f / total : 0.0f; /* finite */
    for (i = 0; i < SCN_DIMS; i++) {
        const float share = part * coefficients[4 * i];
        shares[4 * i] = (int16_t)(share < 0.0f ? share - 0.5f : share + 0.5f);
    }
    return total * (1.0f / 32767.0f);
}

/* The words of a row in a block of four. Shares are copied: out may be anything. */
SCN_KERNEL static void scn_mix_row(float *out, const int8_t *from, const int16_t *shares, float step, int fours)
{
    uint32_t own[SCN_PAIRS + 1];
    int32_t sums[4];
    scn_pair_shares(shares, own);
    step *= 1.0f / 256.0f;
    for (; fours > 0; fours--) {
        from = scn_pair_sums(sums, from, own, 0);
#if SCN_VFP
        __asm__ volatile("vmov s0, s1, %1, %2\n\tvmov s2, s3, %3, %4\n\t"
                         "vcvt.f32.s32 s0, s0\n\tvcvt.f32.s32 s1, s1\n\t"
                         "vcvt.f32.s32 s2, s2\n\tvcvt.f32.s32 s3, s3\n\t"
                         "vmul.f32 s0, s0, %5\n\tvmul.f32 s1, s1, %5\n\t"
                         "vmul.f32 s2, s2, %5\n\tvmul.f32 s3, s3, %5\n\t"
                         "vstr s0, [%0]\n\tvstr s1, [%0, #16]\n\tvstr s2, [%0, #32]\n\tvstr s3, [%0, #48]"
                         :
                         : "r"(out), "r"(sums[0]), "r"(sums[1]), "r"(sums[2]), "r"(sums[3]), "t"(step)
                         : "s0", "s1", "s2", "s3", "memory");
#else
        out[0] = (float)sums[0] * step;
        out[4] = (float)sums[1] * step;
        out[8] = (float)sums[2] * step;
        out[12] = (float)sums[3] * step;
#endif
        out += 16;
    }
}

/* A block of rows whose weights begin at `at`. */
static void scn_mix_block(float *out, const scn_rows *m, int at, const float *coefficients, int block)
{
    const int end = at + block * m->columns, fours = scn_fours(at, m->columns, block);
    const int8_t *from = m->base + at * SCN_DIMS;
    int16_t shares[4 * SCN_DIMS];
    float steps[4];
    int i, r;
    for (r = 0; r < block; r++) {
        steps[r] = scn_row_shares(coefficients + r, shares + r);
    }
    for (r = 0; r < 4 && fours > 0; r++, from += 4 * SCN_DIMS * fours) {
        scn_mix_row(out + r, from, shares + r, steps[r], fours);
    }
    out += 16 * fours;
    for (at += 16 * fours; at < end; at++, from += SCN_DIMS) {
        int32_t sum = 0;
        r = (end - at) % block; /* column by column, from the last row on */
        r = r ? block - r : 0;
        for (i = 0; i < SCN_DIMS; i++) {
            sum += from[i] * shares[4 * i + r];
        }
        *out++ = (float)sum * steps[r];
    }
}

/* The rows of a layer under beta. */
static void scn_mix_rows_pairs(const scn_rows *m, const float *beta, float *theta)
{
    float coefficients[4 * SCN_DIMS];
    int group, row, block, at = 0;
    for (group = 0; group < m->groups; group++) {
        for (row = 0; row < m->rows; row += block) {
            block = SCN_BLOCK(m->rows - row);
            scn_coefficients(m, beta, group * m->rows + row, block, coefficients);
            scn_mix_block(theta + at, m, at, coefficients, block);
            at += block * m->columns;
        }
    }
}
