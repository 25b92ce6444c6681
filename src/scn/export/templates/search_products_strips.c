/* W x of each base model that a candidate uses, with `added` (which is `step` further for the next base model).
   Rows are unpacked a few columns at a time into `buffer`. */
SCN_KERNEL static void scn_products(const scn_rows *m, const int32_t *used, const float *added, int step, const float *x,
                                     float *products, float *buffer)
{
    const SCN_BASE *base = m->base;
    float ones[4];
    int row, block, i, r, k, count;
    ones[0] = ones[1] = ones[2] = ones[3] = 1.0f;
    for (row = 0; row < m->rows; row += block) {
        block = SCN_BLOCK(m->rows - row);
        for (i = 0; i < SCN_USED; i++) {
            const int which = (int)used[i];
            float *const out = products + which * m->rows + row;
            float sums[4];
            sums[0] = sums[1] = sums[2] = sums[3] = 0.0f; /* by itself: an initialiser may call memset */
            for (k = 0; k < m->columns; k += count) {
                count = m->columns - k < SCN_STRIP ? m->columns - k : SCN_STRIP;
                scn_mix(buffer, base + which * m->stride + block * k, m->stride, 1@only@, ones, block * count);
                scn_dot(sums, buffer, x + k, count, block);
            }
            for (r = 0; r < block; r++) {
                const float scale = m->scale ? m->scale[which * m->rows + row + r] : 1.0f;
                out[r] = scale * sums[r] + added[which * step + row + r];
            }
        }
        base += block * m->columns;
    }
}
