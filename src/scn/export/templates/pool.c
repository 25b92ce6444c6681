/* The largest value of each window, or the mean; `count_padding`: whether padding counts in the mean. */
static void scn_pool(const scn_window *g, const float *x, float *y, int largest, int count_padding, int relu)
{
    const int full = g->kernel_height * g->kernel_width;
    int channel, down, across, i, j;
    for (channel = 0; channel < g->channels; channel++, x += g->height * g->width) {
        for (down = 0; down < g->out_height; down++) {
            for (across = 0; across < g->out_width; across++) {
                const int top = down * g->stride_height - g->padding_height;
                const int left = across * g->stride_width - g->padding_width;
                float most = -FLT_MAX, sum = 0.0f;
                int seen = 0;
                for (i = 0; i < g->kernel_height; i++) {
                    const int row = top + i * g->dilation_height;
                    if (row < 0 || row >= g->height) {
                        continue;
                    }
                    for (j = 0; j < g->kernel_width; j++) {
                        const int column = left + j * g->dilation_width;
                        if (column >= 0 && column < g->width) {
                            const float value = x[row * g->width + column];
                            most = value > most ? value : most;
                            sum += value;
                            seen++;
                        }
                    }
                }
                sum = largest ? most : sum / (float)(count_padding || !seen ? full : seen);
                *y++ = (relu && sum < 0.0f) ? 0.0f : sum;
            }
        }
    }
}
