/* A wider frame, filled with 0 or with the nearest value. */
static void scn_pad_int@1@(const int@1@_t *x, int@1@_t *y, int channels, int height, int width, int top, int bottom,
                         int left, int right, int nearest, int zero)
{
    int channel, i, j;
    for (channel = 0; channel < channels; channel++, x += height * width) {
        for (i = -top; i < height + bottom; i++) {
            for (j = -left; j < width + right; j++) {
                const int row = i < 0 ? 0 : i < height ? i : height - 1;
                const int column = j < 0 ? 0 : j < width ? j : width - 1;
                *y++ = (nearest || (row == i && column == j)) ? x[row * width + column] : (int@1@_t)zero;
            }
        }
    }
}
