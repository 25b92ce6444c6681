/* y = weights x + bias, ReLU if asked for. */
SCN_KERNEL static void scn_linear(const float *weights, const float *bias, const float *x, float *y, int rows,
                                  int columns, int relu)
{
    int row, block;
    for (row = 0; row < rows; row += block) {
        float sums[4];
        int r;
        block = SCN_BLOCK(rows - row);
        for (r = 0; r < block; r++) {
            sums[r] = bias[row + r];
        }
        scn_dot(sums, weights, x, columns, block);
        scn_store(y + row, sums, block, 1, relu);
        weights += block * columns;
    }
}
