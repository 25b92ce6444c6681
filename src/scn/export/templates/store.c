static void scn_store(float *y, const float *sums, int count, int step, int relu)
{
    int i;
    for (i = 0; i < count; i++) {
        const float sum = sums[i];
        y[i * step] = (relu && sum < 0.0f) ? 0.0f : sum;
    }
}
