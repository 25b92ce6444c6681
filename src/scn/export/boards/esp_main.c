/* ${title}
   How long the network takes on this board: configured for a few settings in turn, then asked once. */
#include <stdio.h>

#include "esp_timer.h"
#include "${name}.h"

static ${name}_input x[${NAME}_INPUT_SIZE]; /* fill it from your camera or sensor, normalised as ${name}.h says */
static float ${outputs}[${NAME}_${SIZE}];

static void answer(void) {
    const int64_t start = esp_timer_get_time();
    const scn_status status = ${name}_infer(x, ${outputs});
    const int64_t spent = esp_timer_get_time() - start;
${said}}
${configure}
void app_main(void) {
${calls}}
