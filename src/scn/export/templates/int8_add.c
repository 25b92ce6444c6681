static void scn_add_int8(const int8_t *a, int zero_a, float factor_a, const int8_t *b, int zero_b, float factor_b,
                         int8_t *y, int count, scn_out out)
{
    int i;
    for (i = 0; i < count; i++) {
        const float sum = (float)(a[i] - zero_a) * factor_a + (float)(b[i] - zero_b) * factor_b;
        y[i] = (int8_t)(scn_rounded(sum, out.low, out.high) + out.zero);
    }
}
