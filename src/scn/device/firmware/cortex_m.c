/* Start-up code of a Cortex-M, and instructions counted by the APB timer of Arm's MPS2 boards.

   Under QEMU's -icount every instruction takes the same virtual time, and the timer runs on that time. */
#include "board.h"

extern uint32_t stack_top, data_start, data_end, data_source, bss_start, bss_end;
int main(void);
void reset(void) __attribute__((noreturn));

static void fault(void) { board_exit(5); }

__attribute__((section(".vectors"), used)) static const void *const vectors[16] = {
    &stack_top, (const void *)reset, (const void *)fault, (const void *)fault,
    (const void *)fault, (const void *)fault, (const void *)fault,
};

#define REGISTER(address) (*(volatile uint32_t *)(address))
#define CPACR REGISTER(0xE000ED88u)
#define TIMER_CONTROL REGISTER(0x40000000u)
#define TIMER_VALUE REGISTER(0x40000004u)
#define TIMER_RELOAD REGISTER(0x40000008u)
#define TIMER_INTERRUPT REGISTER(0x4000000Cu) /* set when the timer has reached 0 */

void reset(void) {
#if defined(__ARM_FP)
    CPACR |= 0xFu << 20; /* full access to the floating-point unit */
    __asm__ volatile("dsb\nisb");
#endif
    const volatile uint32_t *from = &data_source;
    for (volatile uint32_t *to = &data_start; (uintptr_t)to < (uintptr_t)&data_end;) *to++ = *from++;
    for (volatile uint32_t *to = &bss_start; (uintptr_t)to < (uintptr_t)&bss_end;) *to++ = 0;
    board_exit(main());
}

void board_start_counter(void) {
    TIMER_CONTROL = 0;
    TIMER_RELOAD = 0xFFFFFFFFu;
    TIMER_VALUE = 0xFFFFFFFFu;
    TIMER_INTERRUPT = 1;
    TIMER_CONTROL = 1u | 1u << 3; /* counting, and noting that it reached 0 */
}

uint32_t board_ticks(void) { return 0u - TIMER_VALUE; } /* the timer counts down */
uint32_t board_overflowed(void) { return TIMER_INTERRUPT; }
