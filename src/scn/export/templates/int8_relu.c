static void scn_relu_int8(const int8_t *x, int8_t *y, int count, int zero)
{
    int i;
    for (i = 0; i < count; i++) {
        y[i] = x[i] < zero ? (int8_t)zero : x[i];
    }
}
