/* x in whole numbers of 8 bits: by a power of two, then by factor. */
static void scn_input_int8(const float *x, int8_t *y, int count, int exponent, int32_t factor, int shift)
{
    const int64_t half = (int64_t)1 << (shift - 1);
    int i;
    for (i = 0; i < count; i++) {
        const int64_t wide = scn_whole_by(x[i], exponent, 1 << 30);
        const int64_t n = (wide * factor + half) >> shift;
        y[i] = (int8_t)(n > 127 ? 127 : n < -127 ? -127 : n);
    }
}
