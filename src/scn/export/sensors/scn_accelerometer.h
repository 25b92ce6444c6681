/* The angle of an image, from the accelerometer of the board that holds the camera.

   Axes of the board as the camera's image is seen on it: x to the right, y up, z towards the viewer. Upright
   and at rest an accelerometer reads (0, 1, 0) in units of g. The angle is by how much the image is turned
   counter-clockwise, in degrees from 0 to 360: a board turned clockwise sees the world turned
   counter-clockwise. A sensor that is mounted otherwise is put right by exchanging axes or by `mounting`.

   Readings pass a low-pass filter as vectors, so that 359 and 1 degree have the mean 0. A new angle is
   reported when it is `threshold` degrees from the one that the network is configured for, and again with every
   reading until that one is committed: nothing is lost while the network is busy. No memory is allocated, no global
   state is kept; atan2f is the only function of libm. */
#ifndef SCN_ACCELEROMETER_H
#define SCN_ACCELEROMETER_H

#include "scn_sensor.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    float smoothing; /* share of a new reading in the mean: 1 for no filter, 0.1 for a time of 10 readings */
    float threshold; /* degrees */
    float mounting;  /* degrees that are added to the angle */
    float x, y;      /* the filtered reading */
    float committed; /* the angle that the network is configured for */
    int started;     /* whether there was a reading */
    int configured;  /* whether an angle was committed */
} scn_accelerometer;

/* smoothing in (0, 1] and threshold in [0, 180]; values outside are taken as the nearest allowed. */
void scn_accelerometer_begin(scn_accelerometer *sensor, float smoothing, float threshold);

/* One reading in g. On SCN_SENSOR_RECONFIGURE the angle is in *degrees, which is left alone otherwise.
   Rejected: NaN and infinity, free fall and shocks (less than half or more than 1.5 g in all), and a board that
   lies so flat that the angle is undefined (less than 0.25 g in the plane of the image). */
scn_sensor_result scn_accelerometer_update(scn_accelerometer *sensor, float x, float y, float z,
                                           float *degrees);

/* The network is configured for this angle, or NAME_request has taken it. Not before: what is never committed
   is reported again. */
void scn_accelerometer_commit(scn_accelerometer *sensor, float degrees);

#ifdef __cplusplus
}
#endif

#endif
