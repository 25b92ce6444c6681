#include "scn_accelerometer.h"

#include <math.h>

#define DEGREES_PER_RADIAN 57.2957795f
#define LEAST_GRAVITY 0.5f
#define MOST_GRAVITY 1.5f
#define LEAST_IN_PLANE 0.25f
#define LEAST_FILTERED 0.1f /* below this the mean of a quick turn has no direction */

static float between(float value, float low, float high) {
    if (!scn_sensor_is_number(&value) || value < low) return low;
    return value <= high ? value : high;
}

/* To [0, 360), for values that are at most a turn or two away. */
static float wrapped(float degrees) {
    while (degrees < 0.0f) degrees += 360.0f;
    while (degrees >= 360.0f) degrees -= 360.0f;
    return degrees;
}

static float apart(float one, float other) {
    const float difference = wrapped(one - other);
    return difference > 180.0f ? 360.0f - difference : difference;
}

void scn_accelerometer_begin(scn_accelerometer *sensor, float smoothing, float threshold) {
    sensor->smoothing = between(smoothing, 0.001f, 1.0f);
    sensor->threshold = between(threshold, 0.0f, 180.0f);
    sensor->mounting = 0.0f;
    sensor->x = 0.0f;
    sensor->y = 0.0f;
    sensor->committed = 0.0f;
    sensor->started = 0;
    sensor->configured = 0;
}

scn_sensor_result scn_accelerometer_update(scn_accelerometer *sensor, float x, float y, float z,
                                           float *degrees) {
    const float in_plane = x * x + y * y, whole = in_plane + z * z;
    const int is_gravity = scn_sensor_is_number(&x) && scn_sensor_is_number(&y) && scn_sensor_is_number(&z) &&
                           whole >= LEAST_GRAVITY * LEAST_GRAVITY && whole <= MOST_GRAVITY * MOST_GRAVITY;
    if (!is_gravity || in_plane < LEAST_IN_PLANE * LEAST_IN_PLANE) return SCN_SENSOR_REJECTED;

    const float share = sensor->started ? sensor->smoothing : 1.0f;
    sensor->x += share * (x - sensor->x);
    sensor->y += share * (y - sensor->y);
    sensor->started = 1;
    if (sensor->x * sensor->x + sensor->y * sensor->y < LEAST_FILTERED * LEAST_FILTERED)
        return SCN_SENSOR_STEADY;

    /* Turned clockwise by phi, the board feels (-sin phi, cos phi). */
    const float turned = atan2f(-sensor->x, sensor->y) * DEGREES_PER_RADIAN;
    const float angle = wrapped(turned + between(sensor->mounting, -360.0f, 360.0f));
    if (sensor->configured && apart(angle, sensor->committed) <= sensor->threshold) return SCN_SENSOR_STEADY;
    *degrees = angle;
    return SCN_SENSOR_RECONFIGURE;
}

void scn_accelerometer_commit(scn_accelerometer *sensor, float degrees) {
    sensor->committed = degrees;
    sensor->configured = 1;
}
