/* The largest value of each window, where none has a margin. Sizes are copied: y may be bytes, which could lie anywhere. */
static void scn_max_inside(const scn_window *g, const float *x, float *y, float least)
{
    const int height = g->kernel_height, width = g->kernel_width, pitch = g->width, step = g->stride_width;
    const int lines = g->out_height, across = g->out_width, area = g->height * g->width;
    const int down = g->stride_height * pitch;
    int channel, line, n, i, j;
    for (channel = g->channels; channel > 0; channel--, x += area) {
        for (line = 0; line < lines; line++) {
            const float *corner = x + line * down;
            for (n = across; n > 0; n--, corner += step) {
                const float *row = corner;
                float most = least;
                for (i = height; i > 0; i--, row += pitch) {
                    for (j = 0; j < width; j++) {
                        most = row[j] > most ? row[j] : most;
                    }
                }
                *y++ = most;
            }
        }
    }
}

/* The largest value of each window; `least` is 0 where ReLU follows. */
static void scn_max(const scn_window *g, const float *x, float *y, float least)
{
    int channel, down, across, i, j;
    if (g->padding_height == 0 && g->padding_width == 0 && g->dilation_height == 1 && g->dilation_width == 1) {
        scn_max_inside(g, x, y, least);
        return;
    }
    for (channel = 0; channel < g->channels; channel++, x += g->height * g->width) {
        for (down = 0; down < g->out_height; down++) {
            const int top = down * g->stride_height - g->padding_height;
            int first, last;
            scn_seen(top, g->kernel_height, g->dilation_height, g->height, &first, &last);
            for (across = 0; across < g->out_width; across++) {
                const int left = across * g->stride_width - g->padding_width;
                int from, to;
                float most = least;
                scn_seen(left, g->kernel_width, g->dilation_width, g->width, &from, &to);
                for (i = first; i < last; i++) {
                    const float *row = x + (top + i * g->dilation_height) * g->width;
                    for (j = from; j < to; j++) {
                        const float value = row[left + j * g->dilation_width];
                        most = value > most ? value : most;
                    }
                }
                *y++ = most;
            }
        }
    }
}
