/* A line of pixels as bytes of each channel. */
static const uint8_t *scn_pixels(const uint8_t *from, uint8_t *to)
{
    int i;
    for (i = 0; i < SCN_PART_WIDTH; i++) {
        @READ@
        @STORE@
        from += @BYTES@;
    }
    return to;
}
