/* Runs a network over a file of inputs, on any board: all outputs go to a file, with what they cost.

   in.bin   u32 groups, then for each: alpha[ALPHA], u32 count, count inputs
   out.bin  u32 ticks of nothing, then for each group:
              u32 status, u32 ticks of the configuration network, u32 ticks of the mixing, beta[DIMS];
              for each input: u32 status, u32 ticks, outputs[OUTPUTS];
            then u32 stack of beta, of configure and of infer, u32 whether the counter overflowed

   subject.h says what is measured; see minimal.c for what it defines. */
#include "board.h"
#include "subject.h"

enum { PAINT = 0x5C5C5C5C, WINDOW = 65536 / 4 };

static SUBJECT_INPUT x[SUBJECT_INPUTS];
static float outputs[SUBJECT_OUTPUTS];
static uint32_t ticks_of_nothing, overflowed;

static uint32_t read_number(void) {
    uint32_t value;
    board_read(&value, sizeof value);
    return value;
}

static void write_number(uint32_t value) { board_write(&value, sizeof value); }

/* Each measures in its own frame, with the call written out, so that nothing but the call is counted. */
#define DEFINE_TICKS(name, call)                                                                             \
    __attribute__((noinline, noclone)) static uint32_t ticks_of_##name(uint32_t *status) {                   \
        board_start_counter();                                                                               \
        const uint32_t start = board_ticks();                                                                \
        const uint32_t result = (uint32_t)(call);                                                            \
        const uint32_t end = board_ticks();                                                                  \
        overflowed |= board_overflowed();                                                                    \
        *status = result;                                                                                    \
        return end - start;                                                                                  \
    }

/* Paint what lies below the stack pointer, call, and see how deep the paint is gone. */
#define DEFINE_STACK(name, call)                                                                             \
    __attribute__((noinline, noclone)) static uint32_t stack_of_##name(void) {                               \
        volatile uint32_t *top, *deepest;                                                                    \
        BOARD_STACK_POINTER(top);                                                                            \
        for (deepest = top - WINDOW; deepest < top; deepest++) *deepest = PAINT;                             \
        (void)(call);                                                                                        \
        for (deepest = top - WINDOW; deepest < top && *deepest == PAINT; deepest++) {                        \
        }                                                                                                    \
        return (uint32_t)((uintptr_t)top - (uintptr_t)deepest);                                              \
    }

DEFINE_TICKS(empty, 0)
DEFINE_TICKS(infer, SUBJECT_INFER(x, outputs))
DEFINE_STACK(infer, SUBJECT_INFER(x, outputs))

#if SUBJECT_ALPHAS
static float alpha[SUBJECT_ALPHAS], beta[SUBJECT_DIMS];
DEFINE_TICKS(beta, SUBJECT_BETA(alpha, beta))
DEFINE_STACK(beta, SUBJECT_BETA(alpha, beta))
DEFINE_TICKS(mix, SUBJECT_MIX(beta))
DEFINE_STACK(configure, SUBJECT_CONFIGURE(alpha))

static void configure(void) {
    uint32_t status[3];
    board_read(alpha, sizeof alpha);
    const uint32_t hypernet = ticks_of_beta(&status[0]) - ticks_of_nothing;
    const uint32_t mixing = ticks_of_mix(&status[1]) - ticks_of_nothing;
    status[2] = (uint32_t)SUBJECT_CONFIGURE(alpha); /* as an application does it; the same once more */
    write_number(status[0] ? status[0] : status[1] ? status[1] : status[2]);
    write_number(hypernet);
    write_number(mixing);
    board_write(beta, sizeof beta);
}

static void write_stack(void) {
    write_number(stack_of_beta());
    write_number(stack_of_configure());
    write_number(stack_of_infer());
}
#else
static void configure(void) {
    for (int i = 0; i < 3; i++) write_number(0);
}

static void write_stack(void) {
    write_number(0);
    write_number(0);
    write_number(stack_of_infer());
}
#endif

int main(void) {
    uint32_t status;
    board_open_input("in.bin");
    board_open_output("out.bin");
    (void)ticks_of_empty(&status);
    ticks_of_nothing = ticks_of_empty(&status);
#ifdef SUBJECT_LOAD
    if (SUBJECT_LOAD() != 0) board_exit(6);
#endif
    write_number(ticks_of_nothing);
    for (uint32_t groups = read_number(); groups > 0; groups--) {
        configure();
        for (uint32_t count = read_number(); count > 0; count--) {
            board_read(x, sizeof x);
            const uint32_t ticks = ticks_of_infer(&status) - ticks_of_nothing;
            write_number(status);
            write_number(ticks);
            board_write(outputs, sizeof outputs);
        }
    }
    write_stack();
    write_number(overflowed);
    return 0;
}
