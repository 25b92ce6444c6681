/* Each of `count` coefficients is divided among `size` base models. */
static void scn_outer(float *beta, int count, const float *own, int size)
{
    int i, j;
    for (i = count - 1; i >= 0; i--) {
        const float share = beta[i];
        for (j = size - 1; j >= 0; j--) {
            beta[i * size + j] = share * own[j];
        }
    }
}
