/* A convolution whose rows are mixed four at a time. scratch: four rows, then SCN_PATCH values a patch. */
static void scn_convolution_row(const scn_window *g, const scn_rows *m, int group, @beta@,
                                const float *bias, const float *x, float *y, float *scratch, int relu)
{
    float coefficients[4 * SCN_DIMS];
    const int area = g->kernel_height * g->kernel_width;
    const int positions = g->out_height * g->out_width;
    const int strip = SCN_PATCH / area > 1 ? SCN_PATCH / area : 1;
    const SCN_BASE *base = m->base + group * g->rows * m->columns;
    float *const patches = scratch + 4 * m->columns;
    int position, channel, count, row, block, r;
    for (row = 0; row < g->rows; row += block) {
@alone@        block = SCN_BLOCK(g->rows - row);
        scn_coefficients(m, beta, group * g->rows + row, block, coefficients);
        @unless alone@scn_mix(scratch, base, m->stride, @bases@, coefficients, block * m->columns);
        base += block * m->columns;
        for (position = 0; position < positions; position += 4) {
            float sums[16];
            for (r = 0; r < 16; r++) {
                sums[r] = (r >> 2) < block ? bias[row + (r >> 2)] : 0.0f;
            }
            for (channel = 0; channel < g->channels; channel += count) {
                count = g->channels - channel < strip ? g->channels - channel : strip;
                scn_gather4(g, x + channel * g->height * g->width, count, position, patches);
                scn_dot_patches(sums, @rows in scratch@ + block * channel * area, patches, count * area, block);
            }
            count = positions - position < 4 ? positions - position : 4;
            for (r = 0; r < block; r++) {
                scn_store(y + ((row + r) * positions + position), sums + 4 * r, count, 1, relu);
            }
        }
    }
}
