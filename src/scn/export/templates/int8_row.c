/* Multipliers for the sums of each base model's own rows, four lanes a base. */
static void scn_multipliers(const scn_rows *m, @beta@, int row, int block, int32_t *multipliers)
{
    const int all = m->groups * m->rows;
    int i, r;
    for (r = 0; r < block; r++) {
        const float unit = m->unit[row + r];
        const float gain = m->gain ? (float)scn_mixture(m->gain + row + r, beta, all) : 0.0f;
        for (i = 0; i < @dims@; i++) {
            const float product = @share@ * m->scale[@i@ * all + row + r] * unit;
            multipliers[4 * i + r] = scn_whole(m->gain ? product * gain : product, 0x7fffffff);
        }
    }
}

/* A block of rows times x: the sums of each base model's own rows, each by its multiplier; nothing is mixed. */
SCN_KERNEL static void scn_values_int8(const scn_rows *m, @beta@, int row, int block, const int8_t *base, const int16_t *x,
                                       scn_out out, int32_t *values)
{
    int32_t multipliers[4 * SCN_DIMS];
    int i, r;
    scn_multipliers(m, beta, row, block, multipliers);
    for (r = 0; r < block; r++) {
        values[r] = scn_offset(m, beta, row + r);
    }
    for (i = 0; i < @dims@; i++) {
        int32_t sums[4];
        sums[0] = sums[1] = sums[2] = sums[3] = 0; /* by itself: an initialiser may call memset */
        scn_dot_int8(sums, base + @i@ * m->stride, x, m->columns, block);
        for (r = 0; r < block; r++) {
            const int32_t part = scn_high(sums[r], multipliers[4 * i + r]);
            values[r] = (int32_t)((uint32_t)values[r] + (uint32_t)part); /* defined for any beta */
        }
    }
    for (r = 0; r < block; r++) {
        values[r] = scn_within(values[r] >> out.fraction, out);
    }
}
