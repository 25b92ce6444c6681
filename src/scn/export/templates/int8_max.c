/* The largest value of each window; `least` is 0 where ReLU follows, else the least that there is. */
static void scn_max_int8(const scn_window *g, const int8_t *x, int8_t *y, int least)
{
    int channel, down, across, i, j;
    for (channel = 0; channel < g->channels; channel++, x += g->height * g->width) {
        for (down = 0; down < g->out_height; down++) {
            for (across = 0; across < g->out_width; across++) {
                const int top = down * g->stride_height - g->padding_height;
                const int left = across * g->stride_width - g->padding_width;
                int most = least;
                for (i = 0; i < g->kernel_height; i++) {
                    const int row = top + i * g->dilation_height;
                    if (row < 0 || row >= g->height) {
                        continue;
                    }
                    for (j = 0; j < g->kernel_width; j++) {
                        const int column = left + j * g->dilation_width;
                        if (column >= 0 && column < g->width) {
                            const int value = x[row * g->width + column];
                            most = value > most ? value : most;
                        }
                    }
                }
                *y++ = (int8_t)most;
            }
        }
    }
}
