/* What a reading of a sensor says to the network that it configures. */
#ifndef SCN_SENSOR_H
#define SCN_SENSOR_H

typedef enum {
    SCN_SENSOR_STEADY = 0,      /* the setting has not moved enough to matter */
    SCN_SENSOR_RECONFIGURE = 1, /* it has: configure for the value that was written */
    SCN_SENSOR_REJECTED = 2     /* the reading says nothing about the setting; nothing was changed */
} scn_sensor_result;

#endif
