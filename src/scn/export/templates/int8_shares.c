/*
 * The part of each base model in a row, in units of 1/32768. The new step of a row is the mean of the
 * steps of its base models, weighted by beta, so the mixture cannot leave 8 bits, and rounding to the
 * new step loses no more than rounding the base models did.
 */
static void scn_shares(const scn_rows *m, @beta@, int row, int block, int16_t *shares)
{
    const int all = m->groups * m->rows;
    int i, r;
    for (r = 0; r < block; r++) {
        const int32_t step = scn_step(m, beta, row + r);
        const float part = 32768.0f / (float)(step > 0 ? step : 1);
        for (i = 0; i < @dims@; i++) {
            const int32_t term = scn_whole(@share@ * m->scale[@i@ * all + row + r], (1 << 30) / SCN_DIMS);
            shares[4 * i + r] = (int16_t)scn_whole((float)term * part, 32767);
        }
    }
}

static int8_t scn_narrow(int32_t sum)
{
    const int32_t value = (sum + 16384) >> 15;
    return (int8_t)(value > 127 ? 127 : value < -127 ? -127 : value);
}
