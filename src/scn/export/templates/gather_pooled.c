/* What four positions of a pooling window see of some channels, side by side. */
static void scn_gather_pooled(const scn_pooled *p, const scn_four *four, const float *x, int channels, int place,
                              float *out)
{
    const scn_window *const g = &p->of;
    const int across = g->dilation_width, *const tops = four->tops, *const lefts = four->lefts;
    int top, left, c, i, j, at;
    if (!scn_corner(p, four, place, &top, &left)) {
        for (i = 0; i < 4; i++) {
            scn_gather_at(g, x, channels, top + tops[i], left + lefts[i], out + i);
        }
        return;
    }
    if (p->width % 4 == 0) {
        scn_gather_row(g, x, channels, top + tops[0], left + lefts[0], out);
        return;
    }
    for (c = 0; c < channels; c++, x += g->height * g->width) {
        for (i = 0; i < g->kernel_height; i++) {
            const float *const line = x + ((top + i * g->dilation_height) * g->width + left);
            const float *one = line + (tops[0] * g->width + lefts[0]), *two = line + (tops[1] * g->width + lefts[1]);
            const float *three = line + (tops[2] * g->width + lefts[2]);
            const float *last = line + (tops[3] * g->width + lefts[3]);
            for (j = g->kernel_width, at = 0; j > 0; j--, at += across, out += 4) {
#if defined(__GNUC__) && defined(__AVX2__)
                typedef float four __attribute__((vector_size(16), aligned(4), may_alias));
                const four side_by_side = {one[at], two[at], three[at], last[at]};
                *(four *)(void *)out = side_by_side;
#else
                out[0] = one[at];
                out[1] = two[at];
                out[2] = three[at];
                out[3] = last[at];
#endif
            }
        }
    }
}

static void scn_keep_largest(float *y, const float *values)
{
    float most = *y;
    int i;
    for (i = 0; i < 4; i++) {
        most = values[i] > most ? values[i] : most;
    }
    *y = most;
}
