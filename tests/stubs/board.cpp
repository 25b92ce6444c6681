// A board that is this computer: what sketches print is its output, its bytes come from nowhere, its sensors lie
// upright, and its camera sees a pattern.
#include "Arduino.h"
#include "Arduino_APDS9960.h"
#include "esp_camera.h"
#include <stdio.h>

struct ImuStub { // as the header of each IMU declares it
    int begin();
    int accelerationAvailable();
    int readAcceleration(float &, float &, float &);
};

SerialStub Serial;
void SerialStub::begin(unsigned long) {}
void SerialStub::setTimeout(unsigned long) {}
int SerialStub::available() { return 0; }
int SerialStub::read() { return -1; }
size_t SerialStub::readBytes(char *, size_t) { return 0; }
size_t SerialStub::print(const char *text) { return (size_t)printf("%s", text); }
size_t SerialStub::print(double value, int digits) { return (size_t)printf("%.*f", digits, value); }
size_t SerialStub::println(const char *text) { return (size_t)printf("%s\n", text); }
size_t SerialStub::println(unsigned long value, int) { return (size_t)printf("%lu\n", value); }
unsigned long micros() { return 0; }
void delay(unsigned long) {}
bool psramFound() { return false; }

ImuStub IMU;
int ImuStub::begin() { return 1; }
int ImuStub::accelerationAvailable() { return 1; }
int ImuStub::readAcceleration(float &x, float &y, float &z) {
    x = 0.0f;
    y = 1.0f;
    z = 0.0f;
    return 1;
}
ApdsStub APDS;
bool ApdsStub::begin() { return true; }
int ApdsStub::colorAvailable() { return 0; }
bool ApdsStub::readColor(int &, int &, int &, int &) { return false; }

static uint8_t bytes[2 * 160 * 120];
static camera_fb_t frame;
static int lent = 0;
extern "C" {
esp_err_t esp_camera_init(const camera_config_t *config) {
    const bool grey = config->pixel_format == PIXFORMAT_GRAYSCALE;
    if (config->frame_size != FRAMESIZE_QQVGA) return 1;
    for (int i = 0; i < 160 * 120; i++) {
        const int x = i % 160, y = i / 160, value = (3 * x + 5 * y + x * y / 16) % 256;
        bytes[grey ? i : 2 * i] = (uint8_t)value;
        if (!grey) bytes[2 * i + 1] = (uint8_t)(255 - value);
    }
    frame = {bytes, sizeof bytes / (grey ? 2 : 1), 160, 120, config->pixel_format};
    return ESP_OK;
}
camera_fb_t *esp_camera_fb_get() { return lent++ ? nullptr : &frame; }
void esp_camera_fb_return(camera_fb_t *) { lent--; }
}

#ifndef NO_MAIN
void setup();
void loop();
int main() {
    setup();
    loop();
    return 0;
}
#endif
