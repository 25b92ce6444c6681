/* What a reading of a sensor says to the network that it configures. */
#ifndef SCN_SENSOR_H
#define SCN_SENSOR_H

#include <stdint.h>

typedef enum {
    SCN_SENSOR_STEADY = 0,      /* the setting has not moved enough to matter */
    SCN_SENSOR_RECONFIGURE = 1, /* it has: configure for the value that was written, then commit it */
    SCN_SENSOR_REJECTED = 2     /* the reading says nothing about the setting; nothing was changed */
} scn_sensor_result;

/* Whether a reading is a number and finite, by its bits: -ffast-math would take a comparison away. */
static inline int scn_sensor_is_number(const float *reading) {
    union {
        float number;
        uint32_t bits;
    } seen;
    seen.number = *reading;
    return (seen.bits & 0x7F800000u) != 0x7F800000u;
}

#endif
