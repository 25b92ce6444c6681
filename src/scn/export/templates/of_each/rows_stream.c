/* Where weights are read from, byte by byte. */
static int scn_stream(const scn_source *from, uint32_t at, SCN_BASE *to, int count)
{
    return from->read(from->context, SCN_BASES_AT + at * (uint32_t)sizeof(SCN_BASE), to,
                      (uint32_t)count * (uint32_t)sizeof(SCN_BASE)) == 0;
}

/* The rows of a layer, whose weights in a base model begin at `at`, under beta; returns 0 if reading failed. */
static int scn_stream_rows(const scn_source *from, SCN_BASE *strip, const scn_rows *m, int at, @beta@, float *theta)
{
    float coefficients[4 * SCN_DIMS];
    @order@
    int group, row, block, k, i;
    for (group = 0; group < m->groups; group++) {
        for (row = 0; row < m->rows; row += block) {
            int count;
            block = SCN_BLOCK(m->rows - row);
            count = block * m->columns;
            scn_coefficients(m, beta, group * m->rows + row, block, coefficients);
            for (k = 0; k < count; k += SCN_PIECE_OF_BASE) {
                const int piece = count - k < SCN_PIECE_OF_BASE ? count - k : SCN_PIECE_OF_BASE;
                for (i = 0; i < @dims@; i++) {
                    if (!scn_stream(from, (uint32_t)(@i@ * m->stride + at + k), strip + i * SCN_PIECE_OF_BASE, piece)) {
                        return 0;
                    }
                    @note@
                }
                scn_mix(theta + k, strip, SCN_PIECE_OF_BASE, @read@, coefficients, piece);
            }
            theta += count;
            at += count;
        }
    }
    return 1;
}
