/* A frame as what the network computes with, by a table of what each byte stands for. */
static void scn_frame_@TYPE@(@NAME@_state *s, const uint8_t *frame, @TYPE@ *to, const @TYPE@ *values)
{
    const int16_t *taps = scn_frame_rows;
    int row, first = 0, end = 0;
    for (row = 0; row < SCN_PICTURE_HEIGHT; row++) {
        const uint8_t *lines = s->window;
        const @TYPE@ *table = values;
        int channel, i;
        end = scn_frame_window(s, frame, taps[0], taps[0] - first, end);
        first = taps[0];
        for (channel = 0; channel < SCN_PICTURE_CHANNELS; channel++) {
            @TYPE@ *const place = to + (channel * SCN_PICTURE_HEIGHT + row) * SCN_PICTURE_WIDTH;
            for (i = 0; i < SCN_PICTURE_WIDTH; i++) {
                place[i] = table[scn_weighted(
                    lines++, SCN_PICTURE_LINE, scn_frame_weights + taps[1], SCN_ROW_TAPS)];
            }
            table += SCN_PICTURE_TABLE;
        }
        taps += 2;
    }
}
