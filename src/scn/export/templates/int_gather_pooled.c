/* What four positions of a pooling window see, as four patches. */
SCN_KERNEL static void scn_gather_pooled_int16(const scn_pooled *p, const scn_four *four, const int16_t *x, int place,
                                               int16_t *patches)
{
    const scn_window *const g = &p->of;
    int corners[4], top, left, i;
    if (scn_corner(p, four, place, &top, &left) && g->dilation_width == 1) {
        for (i = 0; i < 4; i++) {
            corners[i] = (top + four->tops[i]) * g->width + left + four->lefts[i];
        }
        scn_gather_inside(g, x, corners, patches);
        return;
    }
    for (i = 0; i < 4; i++) {
        scn_gather_one(g, x, top + four->tops[i], left + four->lefts[i], patches + 2 * i);
    }
}
