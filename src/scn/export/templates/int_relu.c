static void scn_relu_int@1@(const int@1@_t *x, int@1@_t *y, int count, int zero)
{
    int i;
    for (i = 0; i < count; i++) {
        y[i] = x[i] < zero ? (int@1@_t)zero : x[i];
    }
}
