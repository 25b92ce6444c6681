/* A convolution, four positions at a time. scratch: SCN_PATCH values a patch, then four sums a row. */
SCN_KERNEL static void scn_convolution(const scn_window *g, const float *weights, const float *bias, const float *x,
                                       float *y, float *scratch, int relu)
{
    const int area = g->kernel_height * g->kernel_width;
    const int positions = g->out_height * g->out_width;
    const int strip = SCN_PATCH / area > 1 ? SCN_PATCH / area : 1;
    float *const sums = scratch + 4 * (strip < g->channels ? strip : g->channels) * area;
    int position, channel, count, row, block, r;
    for (position = 0; position < positions; position += 4) {
        for (row = 0; row < g->rows; row++) {
            for (r = 0; r < 4; r++) {
                sums[4 * row + r] = bias[row];
            }
        }
        for (channel = 0; channel < g->channels; channel += count) {
            const float *w = weights;
            count = g->channels - channel < strip ? g->channels - channel : strip;
            scn_gather4(g, x + channel * g->height * g->width, count, position, scratch);
            for (row = 0; row < g->rows; row += block) {
                block = SCN_BLOCK(g->rows - row);
                scn_dot_patches(sums + 4 * row, w + block * channel * area, scratch, count * area, block);
                w += block * g->channels * area;
            }
        }
        count = positions - position < 4 ? positions - position : 4;
        for (row = 0; row < g->rows; row++) {
            scn_store(y + (row * positions + position), sums + 4 * row, count, 1, relu);
        }
    }
}
