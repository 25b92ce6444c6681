/* A convolution and its pooling: no value between them is kept. */
static void scn_convolution_pooled_int@1@(const scn_pooled *p, const int8_t *weights, const int32_t *multiplier,
                                        const int32_t *offset, const int16_t *x, int@1@_t *y, int16_t *patches,
                                        scn_out out)
{
    const scn_window *const g = &p->of;
    const int count = g->out_height * g->out_width, columns = g->channels * g->kernel_height * g->kernel_width;
    int part, place, row, block;
    scn_four four;
    for (part = 0; part < p->height * p->width; part += 4) {
        scn_positions(p, part, &four);
        for (place = 0; place < count; place++) {
            const int8_t *w = weights;
            scn_gather_pooled_int16(p, &four, x, place, patches);
            for (row = 0; row < g->rows; row += block) {
                block = SCN_BLOCK(g->rows - row);
                scn_pooled_block_int@1@(w, multiplier + row, offset + row, patches, y + (row * count + place), columns,
                                      count, block, part, out);
                w += block * columns;
            }
        }
    }
}
