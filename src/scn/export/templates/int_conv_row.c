/* Rows are mixed four at a time into `rows` and meet every position. */
static void scn_convolution_row_int@1@_int@2@(const scn_window *g, const scn_rows *m, int group, @beta@,
                                     const float *factor, const float *offset, const int@1@_t *x, int@2@_t *y,
                                     int16_t *patch, int8_t *rows, scn_out out, int zero)
{
    int16_t shares[4 * SCN_DIMS];
    const int positions = g->out_height * g->out_width;
    const int8_t *base = m->base + group * g->rows * m->columns;
    int position, row, block;
    for (row = 0; row < g->rows; row += block) {
@alone@        block = SCN_BLOCK(g->rows - row);
        scn_shares(m, beta, group * g->rows + row, block, shares);
        @unless alone@scn_mix_int8(rows, base, m->stride, @beta,@shares, m->columns, block);
        base += block * m->columns;
        for (position = 0; position < positions; position++) {
            scn_gather_int@1@(g, x, position, patch, zero);
            scn_affine_int@2@(@alone?@rows, factor + row, offset + row, patch, y + (row * positions + position), block,
                            m->columns, positions, out);
        }
    }
}
