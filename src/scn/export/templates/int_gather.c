/*
 * Four patches for a convolution in whole numbers: two columns of a patch make a word, and the words of the
 * four patches follow each other.
 */
/* `pairs` words of each patch; all pointers move on. */
#if SCN_DSP
#define SCN_COPY_PAIR                                                                                        \
    "ldr %[one], [%[a]], #4\n\tldr %[two], [%[b]], #4\n\tstrd %[one], %[two], [%[to]], #8\n\t"              \
    "ldr %[one], [%[c]], #4\n\tldr %[two], [%[d]], #4\n\tstrd %[one], %[two], [%[to]], #8\n\t"
#define SCN_COPY_BY(CODE, N)                                                                                 \
    __asm__ volatile(CODE                                                                                    \
                     : [a] "+&r"(a), [b] "+&r"(b), [c] "+&r"(c), [d] "+&r"(d), [to] "+&r"(to),               \
                       [n] "+&r"(N), [one] "=&r"(one), [two] "=&r"(two)                                      \
                     :                                                                                       \
                     : "cc", "memory")
#define SCN_COPY_PAIRS(PAIRS)                                                                                \
    {                                                                                                        \
        int n = (PAIRS);                                                                                     \
        uint32_t one, two;                                                                                   \
        if (n == 2) {                                                                                        \
            SCN_COPY_BY(SCN_COPY_PAIR SCN_COPY_PAIR, n);                                                     \
        } else if (n > 0) {                                                                                  \
            SCN_COPY_BY("1:\n\t" SCN_COPY_PAIR "subs %[n], %[n], #1\n\tbne 1b", n);                         \
        }                                                                                                    \
    }
#elif SCN_SSE
#define SCN_COPY_PAIRS(PAIRS)                                                                                \
    {                                                                                                        \
        int n;                                                                                               \
        for (n = (PAIRS); n > 0; n--, to += 8, a += 2, b += 2, c += 2, d += 2) {                             \
            scn_pair *const words = (scn_pair *)(void *)to;                                                  \
            words[0] = *(const scn_pair *)(const void *)a;                                                   \
            words[1] = *(const scn_pair *)(const void *)b;                                                   \
            words[2] = *(const scn_pair *)(const void *)c;                                                   \
            words[3] = *(const scn_pair *)(const void *)d;                                                   \
        }                                                                                                    \
    }
#else
#define SCN_COPY_PAIRS(PAIRS)                                                                                \
    {                                                                                                        \
        int n;                                                                                               \
        for (n = (PAIRS); n > 0; n--, to += 8, a += 2, b += 2, c += 2, d += 2) {                             \
            to[0] = a[0];                                                                                    \
            to[1] = a[1];                                                                                    \
            to[2] = b[0];                                                                                    \
            to[3] = b[1];                                                                                    \
            to[4] = c[0];                                                                                    \
            to[5] = c[1];                                                                                    \
            to[6] = d[0];                                                                                    \
            to[7] = d[1];                                                                                    \
        }                                                                                                    \
    }
#endif

/* The last column of a line and the first of the one `next` values further, as a word of each patch. */
#define SCN_COPY_JOINT(NEXT)                                                                                 \
    to[0] = a[0];                                                                                            \
    to[1] = a[NEXT];                                                                                         \
    to[2] = b[0];                                                                                            \
    to[3] = b[NEXT];                                                                                         \
    to[4] = c[0];                                                                                            \
    to[5] = c[NEXT];                                                                                         \
    to[6] = d[0];                                                                                            \
    to[7] = d[NEXT];                                                                                         \
    to += 8;

/* Four patches that lie within the input, from their upper left corners on; lines of an odd width two by two. */
static void scn_gather_inside(const scn_window *g, const int16_t *x, const int *corners, int16_t *to)
{
    const int16_t *a = x + corners[0], *b = x + corners[1], *c = x + corners[2], *d = x + corners[3];
    const int width = g->kernel_width, height = g->kernel_height, pairs = width >> 1;
    const int down = g->dilation_height * g->width, over = (g->height - (height - 1) * g->dilation_height) * g->width;
    int lines = g->channels * height, line = height, next;
#define SCN_NEXT_LINE                                                                                        \
    line--;                                                                                                  \
    next = line ? down : over;                                                                               \
    line = line ? line : height;                                                                             \
    lines--;
#define SCN_MOVE(BY)                                                                                         \
    a += (BY);                                                                                               \
    b += (BY);                                                                                               \
    c += (BY);                                                                                               \
    d += (BY);
    for (;;) {
        SCN_COPY_PAIRS(pairs)
        SCN_NEXT_LINE
        if (width & 1) {
            if (lines == 0) {
                to[0] = *a;
                to[2] = *b;
                to[4] = *c;
                to[6] = *d;
                return;
            }
            next -= width - 1;
            SCN_COPY_JOINT(next)
            SCN_MOVE(next + 1)
            SCN_COPY_PAIRS(pairs)
            SCN_NEXT_LINE
            next -= 1;
        }
        if (lines == 0) {
            return;
        }
        SCN_MOVE(next - 2 * pairs)
    }
}

/* What the window sees at one output position, into one of the patches; what it sees of the margin is 0. */
static void scn_gather_one(const scn_window *g, const int16_t *x, int top, int left, int16_t *to)
{
    const int width = g->width, height = g->height, across = g->dilation_width, taps = g->kernel_width;
    const int16_t *from;
    int c, i, j, first = 0, last = taps;
    int step = 1; /* from one column to the next: 1 within a word, 7 to the next word of the patch */
    while (first < taps && left + first * across < 0) {
        first++;
    }
    while (last > first && left + (last - 1) * across >= width) {
        last--;
    }
    for (c = 0; c < g->channels; c++, x += height * width) {
        for (i = 0; i < g->kernel_height; i++) {
            const int row = top + i * g->dilation_height, there = row >= 0 && row < height;
            const int begin = there ? first : taps, end = there ? last : taps;
            for (j = 0; j < begin; j++, to += step, step = 8 - step) {
                *to = 0;
            }
            from = begin < end ? x + (row * width + left + begin * across) : x;
            for (; j < end; j++, to += step, step = 8 - step) {
                *to = from[(j - begin) * across];
            }
            for (; j < taps; j++, to += step, step = 8 - step) {
                *to = 0;
            }
        }
    }
}
