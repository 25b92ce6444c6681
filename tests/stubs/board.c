/* What programs for ESP-IDF and Zephyr call, on this computer. */
#include <stdint.h>
#include <time.h>

#include "esp_timer.h"
#include "freertos/FreeRTOS.h"

int64_t esp_timer_get_time(void) { return (int64_t)clock() * (1000000 / CLOCKS_PER_SEC); }

static unsigned held;
unsigned stub_interrupts_off(void) { return held++; }
void stub_interrupts_back(unsigned before) { held = before; }
