/*
 * A convolution and its pooling, four positions at a time: no value between them is kept. The first `count` outputs of
 * each row, which begin `pitch` after those of the row before; `least` is 0 where ReLU follows. scratch: SCN_PATCH
 * values a patch, then four sums a row.
 */
SCN_KERNEL static void scn_convolution_pooled(const scn_pooled *p, const float *weights, const float *bias,
                                              const float *x, float *y, float *scratch, int count, int pitch,
                                              float least)
{
    const scn_window *const g = &p->of;
    const int area = g->kernel_height * g->kernel_width;
    const int strip = SCN_PATCH / area > 1 ? SCN_PATCH / area : 1;
    float *const sums = scratch + 4 * (strip < g->channels ? strip : g->channels) * area;
    int part, place, channel, channels, row, block, i;
    scn_four four;
    for (part = 0; part < p->height * p->width; part += 4) {
        scn_positions(p, part, &four);
        for (place = 0; place < count; place++) {
            for (row = 0; row < g->rows; row++) {
                for (i = 0; i < 4; i++) {
                    sums[4 * row + i] = bias[row];
                }
            }
            for (channel = 0; channel < g->channels; channel += channels) {
                const float *w = weights;
                channels = g->channels - channel < strip ? g->channels - channel : strip;
                scn_gather_pooled(p, &four, x + channel * g->height * g->width, channels, place, scratch);
                for (row = 0; row < g->rows; row += block) {
                    block = SCN_BLOCK(g->rows - row);
                    scn_dot_patches(sums + 4 * row, w + block * channel * area, scratch, channels * area, block);
                    w += block * g->channels * area;
                }
            }
            for (row = 0; row < g->rows; row++) {
                float *const kept = y + (row * pitch + place);
                *kept = part ? *kept : least;
                scn_keep_largest(kept, sums + 4 * row);
            }
        }
    }
}
