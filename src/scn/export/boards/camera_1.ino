// A pixel of a frame, from 0 to 255.
static int value_at(const uint8_t *frame, int place, int) {
    return frame[place];
}
