
static bool seeing = false; // whether the camera answered

// The pins of an ESP32-S3-EYE, and of boards that are wired alike; for another board write its own.
static void begin_camera() {
    camera_config_t config = {};
    config.pin_pwdn = -1;
    config.pin_reset = -1;
    config.pin_xclk = 15;
    config.pin_sccb_sda = 4;
    config.pin_sccb_scl = 5;
    config.pin_d7 = 16;
    config.pin_d6 = 17;
    config.pin_d5 = 18;
    config.pin_d4 = 12;
    config.pin_d3 = 10;
    config.pin_d2 = 8;
    config.pin_d1 = 9;
    config.pin_d0 = 11;
    config.pin_vsync = 6;
    config.pin_href = 7;
    config.pin_pclk = 13;
    config.xclk_freq_hz = 20000000;
    config.ledc_timer = LEDC_TIMER_0;
    config.ledc_channel = LEDC_CHANNEL_0;
    config.pixel_format = PIXFORMAT_${pixels};
    config.frame_size = FRAMESIZE_${frame};
    config.fb_location = psramFound() ? CAMERA_FB_IN_PSRAM : CAMERA_FB_IN_DRAM;
    config.fb_count = 1;
    config.grab_mode = CAMERA_GRAB_WHEN_EMPTY;
    seeing = esp_camera_init(&config) == ESP_OK;
    if (!seeing) Serial.println("the camera does not answer: send inputs by 'x'");
}

${value}
// The middle of a frame, as large as it can be in the shape of the network's input, with each value of it the mean of
// the pixels that it covers: sums of whole numbers, and one division.
static void reduce(const uint8_t *frame, int wide, int high) {
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
            for (int at = from; at < to; at++) sum += value_at(frame, y * wide + at, channel);
        x[i] = (float)sum / (float)(255L * (last - first) * (to - from));
    }
}

static void look() {
    camera_fb_t *frame = esp_camera_fb_get();
    if (frame == nullptr) return;
    reduce(frame->buf, (int)frame->width, (int)frame->height);
    esp_camera_fb_return(frame);
    normalise();
    answer();
}
