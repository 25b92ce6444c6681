
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

${see}
static void look() {
    camera_fb_t *frame = esp_camera_fb_get();
    if (frame == nullptr) return;
    const bool seen = see(frame);
    esp_camera_fb_return(frame);
    if (seen) answer();
}
