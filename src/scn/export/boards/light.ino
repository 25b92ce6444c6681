
static scn_light sensor;
static bool measuring = false; // whether the sensor answered

static void read_sensor() {
    int red, green, blue, clear;
    if (!APDS.colorAvailable() || !APDS.readColor(red, green, blue, clear)) return;
    float level;
    if (scn_light_update(&sensor, (float)clear, &level) == SCN_SENSOR_RECONFIGURE && configure(&level))
        scn_light_commit(&sensor, level);
${colour}}
