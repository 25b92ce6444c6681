/* y = scale (weights x) + bias, row by row, ReLU if asked for. */
SCN_KERNEL static void scn_linear_bytes(const int8_t *weights, const float *scale, const float *bias, const float *x,
                                        float *y, int rows, int columns, int relu)
{
    int row, k;
    for (row = 0; row < rows; row++, weights += columns) {
        float even = 0.0f, odd = 0.0f;
        for (k = 0; k + 2 <= columns; k += 2) {
            even += (float)weights[k] * x[k];
            odd += (float)weights[k + 1] * x[k + 1];
        }
        if (k < columns) {
            even += (float)weights[k] * x[k];
        }
        even = scale[row] * (even + odd) + bias[row];
        y[row] = (relu && even < 0.0f) ? 0.0f : even;
    }
}
