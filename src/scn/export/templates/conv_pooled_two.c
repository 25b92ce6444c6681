/*
 * Two of them behind each other on a line, without margins. Between them there is a strip of a few positions, as wide
 * as q looks: what one step and the next both need stays in it, so that nothing is computed twice.
 */
static void scn_two_pooled(const scn_pooled *p, const float *weights, const float *bias, const float *x, float least,
                           const scn_pooled *q, const float *weights_behind, const float *bias_behind, float *y,
                           float least_behind, float *strip, float *scratch)
{
    const int pitch = q->of.width, step = q->width * q->of.stride_width, count = q->of.out_width;
    const int kept = (q->of.kernel_width - 1) * q->of.dilation_width + 1 - q->of.stride_width;
    const int most = (pitch - kept) / step;
    int at, row, i;
    for (at = 0; at < count; at += most) {
        const int now = count - at < most ? count - at : most, there = at ? kept : 0;
        for (row = 0; row < p->of.rows; row++) {
            for (i = 0; i < there; i++) {
                strip[row * pitch + i] = strip[row * pitch + most * step + i];
            }
        }
        scn_convolution_pooled(p, weights, bias, x + (at * step + there) * p->width * p->of.stride_width, strip + there,
                               scratch, now * step + kept - there, pitch, least);
        scn_convolution_pooled(q, weights_behind, bias_behind, strip, y + at, scratch, now, count, least_behind);
    }
}
