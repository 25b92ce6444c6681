/* The mean of each window, in steps of its own: `factor` is the old step by the new one. */
static void scn_mean_int8(const scn_window *g, const int8_t *x, int8_t *y, int zero, float factor, int count_padding,
                          scn_out out)
{
    const int full = g->kernel_height * g->kernel_width;
    int channel, down, across, i, j;
    for (channel = 0; channel < g->channels; channel++, x += g->height * g->width) {
        for (down = 0; down < g->out_height; down++) {
            for (across = 0; across < g->out_width; across++) {
                const int top = down * g->stride_height - g->padding_height;
                const int left = across * g->stride_width - g->padding_width;
                int sum = 0, seen = 0;
                for (i = 0; i < g->kernel_height; i++) {
                    const int row = top + i * g->dilation_height;
                    if (row < 0 || row >= g->height) {
                        continue;
                    }
                    for (j = 0; j < g->kernel_width; j++) {
                        const int column = left + j * g->dilation_width;
                        if (column >= 0 && column < g->width) {
                            sum += x[row * g->width + column] - zero;
                            seen++;
                        }
                    }
                }
                *y++ = (int8_t)(scn_rounded((float)sum * factor / (float)(count_padding || !seen ? full : seen),
                                            out.low, out.high) + out.zero);
            }
        }
    }
}
