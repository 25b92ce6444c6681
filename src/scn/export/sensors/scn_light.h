/* The light level, from the readings of a photometer.

   A reading is mapped from the sensor's own range to the range that the network was trained for, kept within
   it, and passed through a low-pass filter. A new level is reported when it is larger or smaller than the one
   that the network is configured for by the factor 1 + `threshold`: light matters by ratios, as it does to the
   eye. It is reported again with every reading until it is committed: nothing is lost while the network is
   busy. No memory is allocated, no global state is kept, and nothing of libm is used. */
#ifndef SCN_LIGHT_H
#define SCN_LIGHT_H

#include "scn_sensor.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    float smoothing;       /* share of a new reading in the mean: 1 for no filter */
    float threshold;       /* 0.2: a fifth more light, or less by as much */
    float raw_low, raw_high; /* two readings ... */
    float low, high;       /* ... and the levels they stand for: the ends of the trained range */
    float level;           /* the filtered level */
    float committed;       /* the level that the network is configured for */
    int started;           /* whether there was a reading */
    int configured;        /* whether a level was committed */
} scn_light;

/* The range of the network, low to high. The sensor's own range is the same until raw_low and raw_high are set.
   smoothing in (0, 1], threshold from 0; values outside are taken as the nearest allowed. */
void scn_light_begin(scn_light *sensor, float low, float high, float smoothing, float threshold);

/* One reading. On SCN_SENSOR_RECONFIGURE the level is in *level, which is left alone otherwise.
   Rejected: NaN, infinity and negative readings. */
scn_sensor_result scn_light_update(scn_light *sensor, float reading, float *level);

/* The network is configured for this level, or NAME_request has taken it. Not before: what is never committed
   is reported again. */
void scn_light_commit(scn_light *sensor, float level);

#ifdef __cplusplus
}
#endif

#endif
