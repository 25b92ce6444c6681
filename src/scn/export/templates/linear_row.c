/* y = theta x + bias by each base model's own rows: the sum of beta times (W x); nothing is mixed. */
static void scn_linear_row(const scn_rows *m, @beta@, const float *bias, const float *x, float *y, int relu)
{
    float coefficients[4 * SCN_DIMS];
    const float *base = m->base;
    int row, block, i, r;
    for (row = 0; row < m->rows; row += block) {
        float sums[4];
        block = SCN_BLOCK(m->rows - row);
        scn_coefficients(m, beta, row, block, coefficients);
        for (r = 0; r < 4; r++) {
            sums[r] = r < block ? bias[row + r] : 0.0f;
        }
        for (i = 0; i < @count@; i++) {
            float parts[4];
            parts[0] = parts[1] = parts[2] = parts[3] = 0.0f; /* by itself: an initialiser may call memset */
            scn_dot(parts, base + @own@ * m->stride, x, m->columns, block);
            for (r = 0; r < block; r++) {
                sums[r] += coefficients[4 * i + r] * parts[r];
            }
        }
        scn_store(y + row, sums, block, 1, relu);
        base += block * m->columns;
    }
}
