/* W x of each base model that a candidate uses, with `added` (which is `step` further for the next base model). */
SCN_KERNEL static void scn_products(const scn_rows *m, const int32_t *used, const float *added, int step, const float *x,
                                     float *products)
{
    const float *base = m->base;
    int row, block, i, r;
    for (row = 0; row < m->rows; row += block) {
        block = SCN_BLOCK(m->rows - row);
        for (i = 0; i < SCN_USED; i++) {
            const int which = (int)used[i];
            float *const out = products + which * m->rows + row;
            float sums[4];
            for (r = 0; r < 4; r++) {
                sums[r] = r < block ? added[which * step + row + r] : 0.0f;
            }
            scn_dot(sums, base + which * m->stride, x, m->columns, block);
            for (r = 0; r < block; r++) {
                out[r] = sums[r];
            }
        }
        base += block * m->columns;
    }
}
