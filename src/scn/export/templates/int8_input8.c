/* x in whole numbers of 8 bits. */
static void scn_input_int8(const float *x, int8_t *y, int count, float factor)
{
    int i;
    for (i = 0; i < count; i++) {
        y[i] = (int8_t)scn_rounded(x[i] * factor, -127, 127);
    }
}
