/* What the window sees at one output position; what it sees of the margin is 0. */
static void scn_gather_int@1@(const scn_window *g, const int@1@_t *x, int position, int16_t *out, int zero)
{
    const int down = position / g->out_width;
    const int top = down * g->stride_height - g->padding_height;
    const int left = (position - down * g->out_width) * g->stride_width - g->padding_width;
    const int across = g->dilation_width;
    const int inside = top >= 0 && left >= 0 && top + (g->kernel_height - 1) * g->dilation_height < g->height &&
                       left + (g->kernel_width - 1) * across < g->width;
    int c, i, j;
    for (c = 0; c < g->channels; c++) {
        for (i = 0; i < g->kernel_height; i++) {
            const int row = top + i * g->dilation_height;
            if (inside) {
                const int@1@_t *from = x + (row * g->width + left);
                for (j = 0; j < g->kernel_width; j++) {
                    *out++ = (int16_t)(*from - zero);
                    from += across;
                }
            } else {
                for (j = 0; j < g->kernel_width; j++) {
                    const int column = left + j * across;
                    const int seen = row >= 0 && row < g->height && column >= 0 && column < g->width;
                    *out++ = (int16_t)(seen ? x[row * g->width + column] - zero : 0);
                }
            }
        }
        x += g->height * g->width;
    }
}
