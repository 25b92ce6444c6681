/* What the window sees of some channels at one output position: out[0], out[4], out[8], ... */
static void scn_gather(const scn_window *g, const float *x, int channels, int position, float *out)
{
    const int down = position / g->out_width;
    const int top = down * g->stride_height - g->padding_height;
    const int left = (position - down * g->out_width) * g->stride_width - g->padding_width;
    scn_gather_at(g, x, channels, top, left, out);
}

/* Four patches from `position` on, side by side; behind the last position the last one again. */
static void scn_gather4(const scn_window *g, const float *x, int channels, int position, float *patches)
{
    const int last = g->out_height * g->out_width - 1;
    const int down = position / g->out_width, right = position - down * g->out_width;
    const int top = down * g->stride_height - g->padding_height;
    const int left = right * g->stride_width - g->padding_width;
    int p;
    if (right + 3 < g->out_width && top >= 0 && left >= 0 &&
        top + (g->kernel_height - 1) * g->dilation_height < g->height &&
        left + 3 * g->stride_width + (g->kernel_width - 1) * g->dilation_width < g->width) {
        scn_gather_row(g, x, channels, top, left, patches);
        return;
    }
    for (p = 0; p < 4; p++) {
        scn_gather(g, x, channels, position + p < last ? position + p : last, patches + p);
    }
}
