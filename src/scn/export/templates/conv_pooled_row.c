/* The same where rows are mixed four at a time. scratch: four rows, then SCN_PATCH values a patch. */
static void scn_convolution_pooled_row(const scn_pooled *p, const scn_rows *m, int group, @beta@,
                                       const float *bias, const float *x, float *y, float *scratch, float least)
{
    float coefficients[4 * SCN_DIMS];
    const scn_window *const g = &p->of;
    const int area = g->kernel_height * g->kernel_width, count = g->out_height * g->out_width;
    const int strip = SCN_PATCH / area > 1 ? SCN_PATCH / area : 1;
    const SCN_BASE *base = m->base + group * g->rows * m->columns;
    float *const patches = scratch + 4 * m->columns;
    int part, place, channel, channels, row, block, r;
    scn_four four;
    for (row = 0; row < g->rows; row += block) {
@alone@        block = SCN_BLOCK(g->rows - row);
        scn_coefficients(m, beta, group * g->rows + row, block, coefficients);
        @unless alone@scn_mix(scratch, base, m->stride, @bases@, coefficients, block * m->columns);
        base += block * m->columns;
        for (part = 0; part < p->height * p->width; part += 4) {
            scn_positions(p, part, &four);
            for (place = 0; place < count; place++) {
                float sums[16];
                for (r = 0; r < 16; r++) {
                    sums[r] = (r >> 2) < block ? bias[row + (r >> 2)] : 0.0f;
                }
                for (channel = 0; channel < g->channels; channel += channels) {
                    channels = g->channels - channel < strip ? g->channels - channel : strip;
                    scn_gather_pooled(p, &four, x + channel * g->height * g->width, channels, place, patches);
                    scn_dot_patches(sums, @rows in scratch@ + block * channel * area, patches, channels * area, block);
                }
                for (r = 0; r < block; r++) {
                    float *const kept = y + ((row + r) * count + place);
                    *kept = part ? *kept : least;
                    scn_keep_largest(kept, sums + 4 * r);
                }
            }
        }
    }
}
