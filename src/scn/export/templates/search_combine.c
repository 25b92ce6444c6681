/* The values of a linear layer under beta, from the products of its base models. */
SCN_KERNEL static void scn_combine(const scn_rows *m, @beta@, const float *products, float *y, int relu)
{
    const int rows = m->rows;
    int row, i;
    for (row = 0; row < rows; row++) {
        float sum = 0.0f;
        for (i = 0; i < @dims@; i++) {
            sum += @share@ * products[@i@ * rows + row];
        }
        if (m->gain) {
            sum = sum * scn_mixture(m->gain + row, beta, rows) + scn_mixture(m->bias + row, beta, rows);
        }
        y[row] = (relu && sum < 0.0f) ? 0.0f : sum;
    }
}
