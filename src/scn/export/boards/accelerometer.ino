
static scn_accelerometer sensor;
static bool measuring = false; // whether the sensor answered

static void read_sensor() {
    float ax, ay, az, degrees;
    if (!IMU.accelerationAvailable() || !IMU.readAcceleration(ax, ay, az)) return;
    if (scn_accelerometer_update(&sensor, ax, ay, az, &degrees) == SCN_SENSOR_RECONFIGURE && configure(&degrees))
        scn_accelerometer_commit(&sensor, degrees);
}
