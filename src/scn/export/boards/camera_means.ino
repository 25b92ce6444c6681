${value}
// The middle of a frame, as large as it can be in the shape of the network's input, with each value of it the mean of
// the pixels that it covers: sums of whole numbers, and one division.
static bool see(const camera_fb_t *frame) {
    const int wide = (int)frame->width, high = (int)frame->height;
    const int rows = ${rows}, columns = ${columns}, channels = ${channels};
    const bool flat = wide * rows > high * columns; // wider than the input: cut at the sides
    const int used = flat ? high * columns / rows : wide, tall = flat ? high : wide * rows / columns;
    const int left = (wide - used) / 2, top = (high - tall) / 2;
    for (int i = 0; i < channels * rows * columns; i++) {
        const int channel = i / (rows * columns), row = i / columns % rows, column = i % columns;
        const int from = left + column * used / columns, to = left + (column + 1) * used / columns;
        const int first = top + row * tall / rows, last = top + (row + 1) * tall / rows;
        long sum = 0;
        for (int y = first; y < last; y++)
            for (int at = from; at < to; at++) sum += value_at(frame->buf, y * wide + at, channel);
        x[i] = (float)sum / (float)(255L * (last - first) * (to - from));
    }
    normalise();
    return true;
}
