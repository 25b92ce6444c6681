/* The mean of each window; `count_padding`: whether padding counts. */
static void scn_mean(const scn_window *g, const float *x, float *y, int count_padding, int relu)
{
    const int full = g->kernel_height * g->kernel_width;
    int channel, down, across, i, j;
    for (channel = 0; channel < g->channels; channel++, x += g->height * g->width) {
        for (down = 0; down < g->out_height; down++) {
            const int top = down * g->stride_height - g->padding_height;
            int first, last;
            scn_seen(top, g->kernel_height, g->dilation_height, g->height, &first, &last);
            for (across = 0; across < g->out_width; across++) {
                const int left = across * g->stride_width - g->padding_width;
                int from, to;
                float sum = 0.0f;
                scn_seen(left, g->kernel_width, g->dilation_width, g->width, &from, &to);
                for (i = first; i < last; i++) {
                    const float *row = x + (top + i * g->dilation_height) * g->width;
                    for (j = from; j < to; j++) {
                        sum += row[left + j * g->dilation_width];
                    }
                }
                sum /= (float)(count_padding ? full : (last - first) * (to - from));
                *y++ = (relu && sum < 0.0f) ? 0.0f : sum;
            }
        }
    }
}
