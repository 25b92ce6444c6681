static void scn_convolution_int@1@_int@2@(const scn_window *g, const int8_t *weights, const float *factor, const float *offset,
                                 const int@1@_t *x, int@2@_t *y, int16_t *patch, scn_out out, int zero)
{
    const int positions = g->out_height * g->out_width;
    const int columns = g->channels * g->kernel_height * g->kernel_width;
    int position;
    for (position = 0; position < positions; position++) {
        scn_gather_int@1@(g, x, position, patch, zero);
        scn_affine_int@2@(weights, factor, offset, patch, y + position, g->rows, columns, positions, out);
    }
}
