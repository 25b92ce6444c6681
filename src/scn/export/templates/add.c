static void scn_add(const float *a, const float *b, float *y, int count, int relu)
{
    int i;
    for (i = 0; i < count; i++) {
        const float sum = a[i] + b[i];
        y[i] = (relu && sum < 0.0f) ? 0.0f : sum;
    }
}
