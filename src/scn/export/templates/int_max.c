/* The largest value of each window; `least` is 0 where ReLU follows, else the least that there is. */
static void scn_max_int@1@(const scn_window *g, const int@1@_t *x, int@1@_t *y, int least)
{
    int channel, down, across, i, j;
    for (channel = 0; channel < g->channels; channel++, x += g->height * g->width) {
        for (down = 0; down < g->out_height; down++) {
            const int top = down * g->stride_height - g->padding_height;
            int first, last;
            scn_seen(top, g->kernel_height, g->dilation_height, g->height, &first, &last);
            for (across = 0; across < g->out_width; across++) {
                const int left = across * g->stride_width - g->padding_width;
                int from, to;
                int most = least;
                scn_seen(left, g->kernel_width, g->dilation_width, g->width, &from, &to);
                for (i = first; i < last; i++) {
                    const int@1@_t *row = x + ((top + i * g->dilation_height) * g->width + left);
                    for (j = from; j < to; j++) {
                        const int value = row[j * g->dilation_width];
                        most = value > most ? value : most;
                    }
                }
                *y++ = (int@1@_t)most;
            }
        }
    }
}
