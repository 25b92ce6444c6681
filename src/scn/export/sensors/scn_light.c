#include "scn_light.h"

#include <float.h>

static float between(float value, float low, float high) {
    if (!(value >= low)) return low; /* NaN, too */
    return value <= high ? value : high;
}

void scn_light_begin(scn_light *sensor, float low, float high, float smoothing, float threshold) {
    sensor->smoothing = between(smoothing, 0.001f, 1.0f);
    sensor->threshold = between(threshold, 0.0f, 1000.0f);
    sensor->raw_low = low;
    sensor->raw_high = high;
    sensor->low = low;
    sensor->high = high;
    sensor->level = 0.0f;
    sensor->reported = 0.0f;
    sensor->started = 0;
}

/* The level that a reading stands for, within the trained range. */
static float mapped(const scn_light *sensor, float reading) {
    const float raw = between(reading, sensor->raw_low, sensor->raw_high);
    const float range = sensor->raw_high - sensor->raw_low;
    if (!(range > 0.0f)) return sensor->low;
    const float share = (raw - sensor->raw_low) / range;
    return between(sensor->low + share * (sensor->high - sensor->low), sensor->low, sensor->high);
}

static int moved(float level, float reported, float threshold) {
    const float larger = level > reported ? level : reported, smaller = level > reported ? reported : level;
    return larger > smaller * (1.0f + threshold);
}

scn_sensor_result scn_light_update(scn_light *sensor, float reading, float *level) {
    if (!(reading >= 0.0f && reading <= FLT_MAX)) return SCN_SENSOR_REJECTED;

    const float share = sensor->started ? sensor->smoothing : 1.0f;
    sensor->level += share * (mapped(sensor, reading) - sensor->level);
    if (sensor->started && !moved(sensor->level, sensor->reported, sensor->threshold))
        return SCN_SENSOR_STEADY;
    sensor->started = 1;
    sensor->reported = sensor->level;
    *level = sensor->level;
    return SCN_SENSOR_RECONFIGURE;
}
