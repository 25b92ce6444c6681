static void scn_add_int@1@_int@2@_int@3@(const int@1@_t *a, int zero_a, float factor_a, const int@2@_t *b, int zero_b, float factor_b,
                         int@3@_t *y, int count, scn_out out)
{
    int i;
    for (i = 0; i < count; i++) {
        const float sum = (float)(a[i] - zero_a) * factor_a + (float)(b[i] - zero_b) * factor_b;
        y[i] = (int@3@_t)(scn_rounded(sum, out.low, out.high) + out.zero);
    }
}
