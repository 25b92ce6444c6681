/* What a window whose corner is there sees of some channels: out[0], out[4], out[8], ... */
static void scn_gather_at(const scn_window *g, const float *x, int channels, int top, int left, float *out)
{
    const int across = g->dilation_width;
    const int inside = top >= 0 && left >= 0 && top + (g->kernel_height - 1) * g->dilation_height < g->height &&
                       left + (g->kernel_width - 1) * across < g->width;
    int c, i, j;
    for (c = 0; c < channels; c++) {
        for (i = 0; i < g->kernel_height; i++) {
            const int row = top + i * g->dilation_height;
            if (inside) {
                const float *from = x + (row * g->width + left);
                for (j = 0; j < g->kernel_width; j++) {
                    *out = *from;
                    out += 4;
                    from += across;
                }
            } else {
                for (j = 0; j < g->kernel_width; j++) {
                    const int column = left + j * across;
                    const int seen = row >= 0 && row < g->height && column >= 0 && column < g->width;
                    *out = seen ? x[row * g->width + column] : 0.0f;
                    out += 4;
                }
            }
        }
        x += g->height * g->width;
    }
}

/* sums[4 r + p] += weights of row r times patch p, for four rows and four patches. */
static void scn_dot4x4(float *sums, const float *weights, const float *patches, int count)
{
#if SCN_VFP
    __asm__ volatile(
        "vldmia %[sums], {s16-s31}\n\t"
        "1:\n\t"
        "vldmia %[weights]!, {s0-s3}\n\t"
        "vldmia %[patches]!, {s4-s7}\n\t"
        "vfma.f32 s16, s0, s4\n\t"
        "vfma.f32 s17, s0, s5\n\t"
        "vfma.f32 s18, s0, s6\n\t"
        "vfma.f32 s19, s0, s7\n\t"
        "vfma.f32 s20, s1, s4\n\t"
        "vfma.f32 s21, s1, s5\n\t"
        "vfma.f32 s22, s1, s6\n\t"
        "vfma.f32 s23, s1, s7\n\t"
        "vfma.f32 s24, s2, s4\n\t"
        "vfma.f32 s25, s2, s5\n\t"
        "vfma.f32 s26, s2, s6\n\t"
        "vfma.f32 s27, s2, s7\n\t"
        "subs %[count], %[count], #1\n\t"
        "vfma.f32 s28, s3, s4\n\t"
        "vfma.f32 s29, s3, s5\n\t"
        "vfma.f32 s30, s3, s6\n\t"
        "vfma.f32 s31, s3, s7\n\t"
        "bne 1b\n\t"
        "vstmia %[sums], {s16-s31}"
        : [weights] "+&r"(weights), [patches] "+&r"(patches), [count] "+&r"(count)
        : [sums] "r"(sums)
        : "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s16", "s17", "s18", "s19", "s20", "s21", "s22", "s23",
          "s24", "s25", "s26", "s27", "s28", "s29", "s30", "s31", "cc", "memory");
#elif defined(__GNUC__) && defined(__AVX2__)
    /* A PC: two columns of four patches in a register, by the weights of one row after the other. */
    typedef float four __attribute__((vector_size(16), aligned(4), may_alias));
    typedef float eight __attribute__((vector_size(32)));
    typedef float eight_at __attribute__((vector_size(32), aligned(4), may_alias));
    four *const held = (four *)(void *)sums;
    four a = held[0], b = held[1], c = held[2], d = held[3];
    eight one[4] = {{0.0f}}, two[4] = {{0.0f}}; /* sums that do not wait for each other */
#define SCN_OF_ROW(W, ROW) __builtin_ia32_vpermilps256(W, 0x55 * (ROW))
#if defined(__FMA__) /* -std=c99 makes no single instruction of a product and a sum */
#define SCN_PLUS(SUMS, W, ROW, X) (SUMS)[ROW] = __builtin_ia32_vfmaddps256(SCN_OF_ROW(W, ROW), X, (SUMS)[ROW])
#else
#define SCN_PLUS(SUMS, W, ROW, X) (SUMS)[ROW] += SCN_OF_ROW(W, ROW) * (X)
#endif
#define SCN_BOTH(SUM) (__builtin_ia32_vextractf128_ps256(SUM, 0) + __builtin_ia32_vextractf128_ps256(SUM, 1))
    for (; count >= 4; count -= 4, weights += 16, patches += 16) {
        eight v = *(const eight_at *)(const void *)weights, w = *(const eight_at *)(const void *)(weights + 8);
        eight x = *(const eight_at *)(const void *)patches, y = *(const eight_at *)(const void *)(patches + 8);
        __asm__("" : "+x"(v), "+x"(w), "+x"(x), "+x"(y)); /* each is loaded once */
        SCN_PLUS(one, v, 0, x);
        SCN_PLUS(one, v, 1, x);
        SCN_PLUS(one, v, 2, x);
        SCN_PLUS(one, v, 3, x);
        SCN_PLUS(two, w, 0, y);
        SCN_PLUS(two, w, 1, y);
        SCN_PLUS(two, w, 2, y);
        SCN_PLUS(two, w, 3, y);
    }
    a += SCN_BOTH(one[0] + two[0]);
    b += SCN_BOTH(one[1] + two[1]);
    c += SCN_BOTH(one[2] + two[2]);
    d += SCN_BOTH(one[3] + two[3]);
#undef SCN_OF_ROW
#undef SCN_PLUS
#undef SCN_BOTH
    for (; count > 0; count--, weights += 4, patches += 4) {
        const four x = *(const four *)(const void *)patches;
        a += weights[0] * x;
        b += weights[1] * x;
        c += weights[2] * x;
        d += weights[3] * x;
    }
    held[0] = a;
    held[1] = b;
    held[2] = c;
    held[3] = d;
#else
    float s[16];
    int i, k;
    for (i = 0; i < 16; i++) {
        s[i] = sums[i];
    }
    for (k = 0; k < count; k++, weights += 4, patches += 4) {
        for (i = 0; i < 16; i++) {
            s[i] += weights[i >> 2] * patches[i & 3];
        }
    }
    for (i = 0; i < 16; i++) {
        sums[i] = s[i];
    }
#endif
}

static void scn_dot_patches(float *sums, const float *weights, const float *patches, int count, int block)
{
    int k, r;
    if (block == 4) {
        scn_dot4x4(sums, weights, patches, count);
        return;
    }
    for (r = 0; r < block; r++) {
        float *s = sums + 4 * r;
        for (k = 0; k < count; k++) {
            const float w = weights[block * k + r];
            const float *p = patches + 4 * k;
            s[0] += w * p[0];
            s[1] += w * p[1];
            s[2] += w * p[2];
            s[3] += w * p[3];
        }
    }
}

/* Four patches that lie side by side within the input. */
static void scn_gather_row(const scn_window *g, const float *x, int channels, int top, int left, float *out)
{
    const int across = g->dilation_width, step = g->stride_width;
    int c, i, j;
    for (c = 0; c < channels; c++, x += g->height * g->width) {
        const float *row = x + (top * g->width + left);
        for (i = 0; i < g->kernel_height; i++, row += g->dilation_height * g->width) {
            const float *from = row;
#if SCN_VFP
            if (step == 1 && across == 1) {
                int n = g->kernel_width;
                __asm__ volatile("1:\n\t"
                                 "vldmia %[from], {s0-s3}\n\t"
                                 "add %[from], %[from], #4\n\t"
                                 "vstmia %[out]!, {s0-s3}\n\t"
                                 "subs %[n], %[n], #1\n\t"
                                 "bne 1b"
                                 : [from] "+&r"(from), [out] "+&r"(out), [n] "+&r"(n)
                                 :
                                 : "s0", "s1", "s2", "s3", "cc", "memory");
                continue;
            }
#endif
            for (j = 0; j < g->kernel_width; j++, from += across, out += 4) {
                out[0] = from[0];
                out[1] = from[step];
                out[2] = from[2 * step];
                out[3] = from[3 * step];
            }
        }
    }
}
