/* ${title}
   How long the network takes on this board: configured for a few settings in turn, then asked once. */
#include <stdio.h>

#include "esp_timer.h"
#include "${name}.h"

static ${name}_input x[${NAME}_INPUT_SIZE]; /* fill it from your camera or sensor, normalised as ${name}.h says */
static float logits[${NAME}_CLASSES];

static void answer(void) {
    const int64_t start = esp_timer_get_time();
    const scn_status status = ${name}_infer(x, logits);
    const int64_t spent = esp_timer_get_time() - start;
    int best = 0;
    for (int i = 1; i < ${NAME}_CLASSES; i++)
        if (logits[i] > logits[best]) best = i;
    printf("infer: status %d, %s, %lld us\n", (int)status, ${name}_class_names[best], (long long)spent);
}
${configure}
void app_main(void) {
${calls}}
