// The frame becomes the network's input by its own code, which gives the same numbers as scn in Python.
static bool see(const camera_fb_t *frame) {
    return frame->len == ${NAME}_FRAME_BYTES && ${name}_prepare(frame->buf, x) == SCN_OK;
}
