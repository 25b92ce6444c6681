#include "scn_light.h"

static float between(float value, float low, float high) {
    if (!scn_sensor_is_number(&value) || value < low) return low;
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
    sensor->committed = 0.0f;
    sensor->started = 0;
    sensor->configured = 0;
}

/* The level that a reading stands for, within the trained range. */
static float mapped(const scn_light *sensor, float reading) {
    const float raw = between(reading, sensor->raw_low, sensor->raw_high);
    const float range = sensor->raw_high - sensor->raw_low;
    if (!(range > 0.0f)) return sensor->low;
    const float share = (raw - sensor->raw_low) / range;
    return between(sensor->low + share * (sensor->high - sensor->low), sensor->low, sensor->high);
}

static int moved(float level, float committed, float threshold) {
    const float larger = level > committed ? level : committed;
    const float smaller = level > committed ? committed : level;
    return larger > smaller * (1.0f + threshold);
}

scn_sensor_result scn_light_update(scn_light *sensor, float reading, float *level) {
    if (!scn_sensor_is_number(&reading) || reading < 0.0f) return SCN_SENSOR_REJECTED;

    const float share = sensor->started ? sensor->smoothing : 1.0f;
    sensor->level += share * (mapped(sensor, reading) - sensor->level);
    sensor->started = 1;
    if (sensor->configured && !moved(sensor->level, sensor->committed, sensor->threshold))
        return SCN_SENSOR_STEADY;
    *level = sensor->level;
    return SCN_SENSOR_RECONFIGURE;
}

void scn_light_commit(scn_light *sensor, float level) {
    sensor->committed = level;
    sensor->configured = 1;
}
