/* ${title}
   Whether the network works on this board, and how long it takes: configured for a few settings in turn. */
${includes}
#include "${name}.h"

static ${name}_input x[${NAME}_INPUT_SIZE]; /* fill it from your camera or sensor, normalised as ${name}.h says */
static float ${outputs}[${NAME}_${SIZE}];

static unsigned long microseconds(uint32_t start) { return (unsigned long)${since}; }

static void answer(void) {
    const uint32_t start = ${now};
    const scn_status status = ${name}_infer(x, ${outputs});
    const unsigned long spent = microseconds(start);
${said}}
${configure}
${entry} {
    const scn_status tested = ${name}_selftest(x, ${outputs});
    ${print}("self-test: %s\n", tested == SCN_OK ? "passed" : "failed");
${calls}${end}}
