/* The mean of each window, in steps of its own: `factor` is the old step by the new one, with `shift` bits behind the point. */
static void scn_mean_int@1@_int@2@(const scn_window *g, const int@1@_t *x, int@2@_t *y, int zero, int32_t factor, int shift, int count_padding,
                          scn_out out)
{
    const int full = g->kernel_height * g->kernel_width;
    const int64_t half = (int64_t)1 << (shift - 1);
    int channel, down, across, i, j;
    for (channel = 0; channel < g->channels; channel++, x += g->height * g->width) {
        for (down = 0; down < g->out_height; down++) {
            const int top = down * g->stride_height - g->padding_height;
            int first, last;
            scn_seen(top, g->kernel_height, g->dilation_height, g->height, &first, &last);
            for (across = 0; across < g->out_width; across++) {
                const int left = across * g->stride_width - g->padding_width;
                int from, to;
                int32_t sum = 0, factor_each;
                scn_seen(left, g->kernel_width, g->dilation_width, g->width, &from, &to);
                for (i = first; i < last; i++) {
                    const int@1@_t *row = x + (top + i * g->dilation_height) * g->width;
                    for (j = from; j < to; j++) {
                        sum += row[left + j * g->dilation_width] - zero;
                    }
                }
                factor_each = factor / (count_padding ? full : (last - first) * (to - from));
                sum = scn_within((int32_t)(((int64_t)sum * factor_each + half) >> shift), out);
                *y++ = (int@2@_t)(sum + out.zero);
            }
        }
    }
}
