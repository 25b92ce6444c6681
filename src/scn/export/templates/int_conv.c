static void scn_convolution_int@1@(const scn_window *g, const int8_t *weights, const int32_t *multiplier,
                                 const int32_t *offset, const int16_t *x, int@1@_t *y, int16_t *patches, scn_out out)
{
    const int positions = g->out_height * g->out_width;
    const int columns = g->channels * g->kernel_height * g->kernel_width;
    int position, row, block;
    for (position = 0; position < positions; position += 4) {
        const int count = positions - position < 4 ? positions - position : 4;
        const int8_t *w = weights;
        scn_gather_int16(g, x, position, patches);
        for (row = 0; row < g->rows; row += block) {
            block = SCN_BLOCK(g->rows - row);
            scn_block_int@1@(w, multiplier + row, offset + row, patches, y + (row * positions + position), columns,
                           positions, block, count, out);
            w += block * columns;
        }
    }
}
