/* The same where rows are mixed four at a time into `rows`. */
static void scn_convolution_pooled_row_int@1@(const scn_pooled *p, const scn_rows *m, int group, @beta@,
                                            const int32_t *multiplier, const int32_t *offset, const int16_t *x,
                                            int@1@_t *y, int16_t *patches, int8_t *rows, scn_out out)
{
    int16_t shares[4 * SCN_DIMS];
    const scn_window *const g = &p->of;
    const int count = g->out_height * g->out_width;
    const int8_t *base = m->base + group * g->rows * m->columns;
    int part, place, row, block;
    scn_four four;
    for (row = 0; row < g->rows; row += block) {
@alone@        block = SCN_BLOCK(g->rows - row);
        scn_shares(m, beta, group * g->rows + row, block, shares);
        @unless alone@scn_mix_int8(rows, base, m->stride, @beta,@shares, m->columns, block);
        base += block * m->columns;
        for (part = 0; part < p->height * p->width; part += 4) {
            scn_positions(p, part, &four);
            for (place = 0; place < count; place++) {
                scn_gather_pooled_int16(p, &four, x, place, patches);
                scn_pooled_block_int@1@(@alone?@rows, multiplier + row, offset + row, patches,
                                      y + (row * count + place), m->columns, count, block, part, out);
            }
        }
    }
}
