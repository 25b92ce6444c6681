/* So much of Zephyr as the sample uses: a cycle is a microsecond here. */
#pragma once
#include <stdint.h>
#include <time.h>
static inline uint32_t k_cycle_get_32(void) { return (uint32_t)(clock() * (1000000 / CLOCKS_PER_SEC)); }
#define k_cyc_to_us_floor32(cycles) ((uint32_t)(cycles))
