/* A byte of a resized picture: the sum of bytes, `step` apart, by weights with 22 bits behind the point. */
static inline uint8_t scn_weighted(const uint8_t *bytes, int step, const int32_t *weights, int count)
{
    int32_t sum = 1 << 21;
    for (; count >= 4; count -= 4) {
        sum += bytes[0] * weights[0];
        sum += bytes[step] * weights[1];
        sum += bytes[2 * step] * weights[2];
        sum += bytes[3 * step] * weights[3];
        bytes += 4 * step;
        weights += 4;
    }
    for (; count > 0; count--) {
        sum += *bytes * *weights++;
        bytes += step;
    }
    return (uint8_t)(sum >> 22);
}

/* The lines of the frame that a row of the picture is made of, as wide as the picture. The window ended before line
   `end`; it shall begin at line `first`, which is `gone` lines later than it did. Returns its new end. */
static int scn_frame_window(@NAME@_state *s, const uint8_t *frame, int first, int gone, int end)
{
    const int kept = (end - first) * SCN_PICTURE_LINE;
    uint8_t *to = s->window + kept;
    int i;
#if SCN_ROW_TAPS > 1
    if (gone > 0) {
        for (i = 0; i < kept; i++) {
            s->window[i] = s->window[i + gone * SCN_PICTURE_LINE];
        }
    }
#else
    (void)gone;
#endif
    for (; end < first + SCN_ROW_TAPS; end++) {
        const uint8_t *pixels = @PIXELS@;
        int channel;
        for (channel = 0; channel < SCN_PICTURE_CHANNELS; channel++) {
            const int16_t *taps = scn_frame_columns;
            for (i = 0; i < SCN_PICTURE_WIDTH; i++) {
                *to++ = scn_weighted(pixels + taps[0], 1, scn_frame_weights + taps[1], SCN_COLUMN_TAPS);
                taps += 2;
            }
            pixels += SCN_PART_WIDTH;
        }
    }
    return end;
}
