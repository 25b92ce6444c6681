#if defined(__GNUC__) && defined(__AVX2__)
/* Four values of four lines each: a PC turns lines into columns. */
static void scn_side_by_side(const float *one, const float *two, const float *three, const float *last, float *out)
{
    typedef float four __attribute__((vector_size(16)));
    typedef float four_at __attribute__((vector_size(16), aligned(4), may_alias));
    const four a = *(const four_at *)(const void *)one, b = *(const four_at *)(const void *)two;
    const four c = *(const four_at *)(const void *)three, d = *(const four_at *)(const void *)last;
    const four ab = __builtin_ia32_shufps(a, b, 0x44), cd = __builtin_ia32_shufps(c, d, 0x44);
    const four ba = __builtin_ia32_shufps(a, b, 0xee), dc = __builtin_ia32_shufps(c, d, 0xee);
    four_at *const columns = (four_at *)(void *)out;
    columns[0] = __builtin_ia32_shufps(ab, cd, 0x88);
    columns[1] = __builtin_ia32_shufps(ab, cd, 0xdd);
    columns[2] = __builtin_ia32_shufps(ba, dc, 0x88);
    columns[3] = __builtin_ia32_shufps(ba, dc, 0xdd);
}
#endif

/* What four positions of a pooling window see of some channels, side by side. */
static void scn_gather_pooled(const scn_pooled *p, const scn_four *four, const float *x, int channels, int place,
                              float *out)
{
    const scn_window *const g = &p->of;
    const int across = g->dilation_width, *const tops = four->tops, *const lefts = four->lefts;
    const int width = g->width, height = g->kernel_height, taps = g->kernel_width;
    const int down = g->dilation_height * width, over = (g->height - height * g->dilation_height) * width;
    int own[4], top, left, from, c, i, j, at;
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
    for (i = 0; i < 4; i++) {
        own[i] = tops[i] * width + lefts[i];
    }
    from = top * width + left;
    for (c = 0; c < channels; c++, from += over) {
        for (i = 0; i < height; i++, from += down) {
            const float *const one = x + (from + own[0]), *const two = x + (from + own[1]);
            const float *const three = x + (from + own[2]), *const last = x + (from + own[3]);
            j = taps;
            at = 0;
#if defined(__GNUC__) && defined(__AVX2__)
            for (; across == 1 && j >= 4; j -= 4, at += 4, out += 16) {
                scn_side_by_side(one + at, two + at, three + at, last + at, out);
            }
#endif
            for (; j > 0; j--, at += across, out += 4) {
#if defined(__GNUC__) && defined(__AVX2__)
                typedef float patches __attribute__((vector_size(16), aligned(4), may_alias));
                const patches side_by_side = {one[at], two[at], three[at], last[at]};
                *(patches *)(void *)out = side_by_side;
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
