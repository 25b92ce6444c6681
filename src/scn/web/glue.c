/* ${name} for a page: arrays in the memory of the module, and functions whose names are those of every module. */
#include "${name}.h"

#define SCN_EXPORT(as) __attribute__((export_name(as)))

static float scn_x[${NAME}_INPUT_SIZE], scn_outputs[${NAME}_${SIZE}];

SCN_EXPORT("x") float *web_x(void) { return scn_x; }
SCN_EXPORT("outputs") float *web_outputs(void) { return scn_outputs; }
SCN_EXPORT("infer") int web_infer(void) { return (int)${name}_infer(scn_x, scn_outputs); }
