/* The patches from `position` on; behind the last position the last one again. */
SCN_KERNEL static void scn_gather_int16(const scn_window *g, const int16_t *x, int position, int16_t *patches)
{
    const int last = g->out_height * g->out_width - 1;
    const int height = (g->kernel_height - 1) * g->dilation_height, width = g->kernel_width;
    int tops[4], lefts[4], corners[4], inside = g->dilation_width == 1, p;
    int down = position / g->out_width, right = position - down * g->out_width;
    for (p = 0; p < 4; p++) {
        const int top = down * g->stride_height - g->padding_height;
        const int left = right * g->stride_width - g->padding_width;
        tops[p] = top;
        lefts[p] = left;
        corners[p] = top * g->width + left;
        inside = inside && top >= 0 && left >= 0 && top + height < g->height && left + width <= g->width;
        if (position + p < last && ++right == g->out_width) {
            right = 0;
            down++;
        }
    }
    if (inside) {
        scn_gather_inside(g, x, corners, patches);
        return;
    }
    for (p = 0; p < 4; p++) {
        scn_gather_one(g, x, tops[p], lefts[p], patches + 2 * p);
    }
}
