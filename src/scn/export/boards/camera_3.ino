// Red, green or blue of a pixel of a frame, from 0 to 255: its 5, 6 and 5 bits, the high byte first.
static int value_at(const uint8_t *frame, int place, int channel) {
    const int pixel = frame[2 * place] << 8 | frame[2 * place + 1];
    if (channel == 0) return (pixel >> 11) * 255 / 31;
    if (channel == 1) return (pixel >> 5 & 63) * 255 / 63;
    return (pixel & 31) * 255 / 31;
}
