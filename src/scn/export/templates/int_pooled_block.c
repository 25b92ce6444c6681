/* A block of rows at four positions of a pooling window: the largest value, or what is there where that is larger. */
static void scn_pooled_block_int@1@(const int8_t *weights, const int32_t *multiplier, const int32_t *offset,
                                  const int16_t *patches, int@1@_t *y, int columns, int pitch, int block, int more,
                                  scn_out out)
{
    int32_t sums[16];
    int r, i;
    scn_dot_patches_int8(sums, weights, patches, columns, block);
    for (r = 0; r < block; r++, y += pitch) {
        const int32_t factor = multiplier[r], sign = factor < 0 ? -1 : 0; /* a factor below 0 makes the least largest */
        int32_t most = sums[4 * r] ^ sign, value;
        for (i = 1; i < 4; i++) {
            const int32_t other = sums[4 * r + i] ^ sign;
            most = other > most ? other : most;
        }
        value = scn_within((scn_high(most ^ sign, factor) + offset[r]) >> out.fraction, out) + out.zero;
        *y = (int@1@_t)(more && *y > value ? *y : value);
    }
}
