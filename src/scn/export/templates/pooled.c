/* A convolution of whose output only the largest of each window is kept; `of` has the sizes of what is kept. */
typedef struct {
    scn_window of;
    int height, width; /* of the pooling window */
} scn_pooled;

/* Four positions of a pooling window: where they look, from what its corner sees, and how far they see. */
typedef struct {
    int tops[4], lefts[4], down, right;
} scn_four;

static void scn_positions(const scn_pooled *p, int part, scn_four *four)
{
    const scn_window *const g = &p->of;
    int i;
    four->down = four->right = 0;
    for (i = 0; i < 4; i++) {
        const int line = (part + i) / p->width, top = line * g->stride_height;
        const int left = (part + i - line * p->width) * g->stride_width;
        four->tops[i] = top;
        four->lefts[i] = left;
        four->down = top > four->down ? top : four->down;
        four->right = left > four->right ? left : four->right;
    }
    four->down += (g->kernel_height - 1) * g->dilation_height;
    four->right += (g->kernel_width - 1) * g->dilation_width;
}

/* What the corner of output `place` sees first; returns whether all four see nothing but the input. */
static int scn_corner(const scn_pooled *p, const scn_four *four, int place, int *top, int *left)
{
    const scn_window *const g = &p->of;
    const int down = place / g->out_width, right = place - down * g->out_width;
    *top = down * p->height * g->stride_height - g->padding_height;
    *left = right * p->width * g->stride_width - g->padding_width;
    return *top >= 0 && *left >= 0 && *top + four->down < g->height && *left + four->right < g->width;
}
