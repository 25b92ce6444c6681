/* A byte of a resized picture: the sum of `count` bytes, `step` apart, by weights with 22 bits behind the point. */
static uint8_t scn_weighted(const uint8_t *bytes, int step, const int32_t *weights, int count)
{
    int32_t sum = 1 << 21;
    for (; count > 0; count--) {
        sum += *bytes * *weights++;
        bytes += step;
    }
    return (uint8_t)(sum >> 22);
}

/* The lines of the frame that a row of the picture is made of, as wide as the picture: the window ended at line
   `end`; what the row does not need goes, and what it needs besides comes. Returns the new end. */
static int scn_frame_window(@NAME@_state *s, const uint8_t *frame, const int16_t *taps, int gone, int end)
{
    const int kept = (end - taps[0]) * SCN_PICTURE_CHANNELS * SCN_PICTURE_WIDTH;
    uint8_t *to = s->window + kept;
    int i, line;
    if (gone > 0) {
        const uint8_t *const from = s->window + gone * SCN_PICTURE_CHANNELS * SCN_PICTURE_WIDTH;
        for (i = 0; i < kept; i++) {
            s->window[i] = from[i];
        }
    }
    for (line = end; line < taps[0] + taps[1]; line++) {
        const uint8_t *pixels = @PIXELS@;
        int channel;
        for (channel = 0; channel < SCN_PICTURE_CHANNELS; channel++) {
            const int16_t *place = scn_frame_columns;
            for (i = 0; i < SCN_PICTURE_WIDTH; i++) {
                *to++ = scn_weighted(pixels + place[0], 1, scn_frame_weights + place[2], place[1]);
                place += 3;
            }
            pixels += SCN_PART_WIDTH;
        }
    }
    return line;
}
