static void scn_widen(const int8_t *x, int16_t *y, int count, int zero)
{
    int i;
    for (i = 0; i < count; i++) {
        y[i] = (int16_t)(x[i] - zero);
    }
}
