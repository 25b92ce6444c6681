static void scn_relu(const float *x, float *y, int count)
{
    int i;
    for (i = 0; i < count; i++) {
        y[i] = x[i] < 0.0f ? 0.0f : x[i];
    }
}
