/* Rows are mixed four at a time into `rows` and meet every position. */
static void scn_convolution_row_int@1@(const scn_window *g, const scn_rows *m, int group, @beta@,
                                     const int32_t *multiplier, const int32_t *offset, const int16_t *x, int@1@_t *y,
                                     int16_t *patches, int8_t *rows, scn_out out)
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
        for (position = 0; position < positions; position += 4) {
            const int count = positions - position < 4 ? positions - position : 4;
            scn_gather_int16(g, x, position, patches);
            scn_block_int@1@(@alone?@rows, multiplier + row, offset + row, patches, y + (row * positions + position),
                           m->columns, positions, block, count, out);
        }
    }
}
