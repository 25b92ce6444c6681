/* The same for the base models that beta lists. One or two are mixed as if there were no others. */
static void scn_mix_int8(int8_t *out, const int8_t *base, int stride, const scn_few *beta, const int16_t *shares,
                         int count, int block)
{
    static const uint16_t both[2] = {0, 1};
    const int first = beta->which[0] * stride;
    if (beta->count == 1) {
        scn_mix_int8_each(out, base + first, 0, both, 1, shares, count, block);
    } else if (beta->count == 2) {
        scn_mix_int8_each(out, base + first, beta->which[1] * stride - first, both, 2, shares, count, block);
    } else {
        scn_mix_int8_each(out, base, stride, beta->which, beta->count, shares, count, block);
    }
}
