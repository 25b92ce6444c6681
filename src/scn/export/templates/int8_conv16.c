static void scn_convolution_int16(const scn_window *g, const int8_t *weights, const float *factor, const float *offset,
                                 const int16_t *x, int8_t *y, int16_t *patch, scn_out out)
{
    const int positions = g->out_height * g->out_width;
    const int columns = g->channels * g->kernel_height * g->kernel_width;
    int position;
    for (position = 0; position < positions; position++) {
        scn_gather_int16(g, x, position, patch);
        scn_affine_int8(weights, factor, offset, patch, y + position, g->rows, columns, positions, out);
    }
}
