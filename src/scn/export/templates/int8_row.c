/* A block of rows times x, the rows mixed a few columns at a time into `buffer`. */
static void scn_dot_row_int8(const scn_rows *m, const int8_t *base, @with beta@const int16_t *shares, const int16_t *x,
                             int32_t *sums, int block, int8_t *buffer)
{
    int k, count;
@alone@    for (k = 0; k < m->columns; k += count) {
        count = m->columns - k < SCN_STRIP ? m->columns - k : SCN_STRIP;
        @unless alone@scn_mix_int8(buffer, base + block * k, m->stride, @beta,@shares, count, block);
        scn_dot_int8(sums, @alone + block * k@buffer, x + k, count, block);
    }
}
