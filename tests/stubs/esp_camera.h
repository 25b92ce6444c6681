// So much of the camera driver for ESP32 as the examples use.
#pragma once
#include <stddef.h>
#include <stdint.h>

typedef int esp_err_t;
#define ESP_OK 0
enum ledc_timer_t { LEDC_TIMER_0 };
enum ledc_channel_t { LEDC_CHANNEL_0 };
enum pixformat_t { PIXFORMAT_RGB565, PIXFORMAT_GRAYSCALE };
enum framesize_t { FRAMESIZE_QQVGA, FRAMESIZE_QVGA, FRAMESIZE_VGA, FRAMESIZE_96X96, FRAMESIZE_QCIF, FRAMESIZE_240X240 };
enum camera_fb_location_t { CAMERA_FB_IN_PSRAM, CAMERA_FB_IN_DRAM };
enum camera_grab_mode_t { CAMERA_GRAB_WHEN_EMPTY };
struct camera_config_t {
    int pin_pwdn, pin_reset, pin_xclk, pin_sccb_sda, pin_sccb_scl, pin_d7, pin_d6, pin_d5, pin_d4, pin_d3, pin_d2;
    int pin_d1, pin_d0, pin_vsync, pin_href, pin_pclk, xclk_freq_hz;
    ledc_timer_t ledc_timer;
    ledc_channel_t ledc_channel;
    pixformat_t pixel_format;
    framesize_t frame_size;
    int jpeg_quality;
    size_t fb_count;
    camera_fb_location_t fb_location;
    camera_grab_mode_t grab_mode;
};
struct camera_fb_t {
    uint8_t *buf;
    size_t len, width, height;
    pixformat_t format;
};
extern "C" {
esp_err_t esp_camera_init(const camera_config_t *);
camera_fb_t *esp_camera_fb_get();
void esp_camera_fb_return(camera_fb_t *);
}
