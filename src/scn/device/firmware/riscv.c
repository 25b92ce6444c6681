/* Start-up code of a 32-bit RISC-V, and instructions counted by its own counter of retired instructions. */
#include "board.h"

extern uint32_t data_start, data_end, data_source, bss_start, bss_end;
int main(void);
void begin(void) __attribute__((noreturn, used));

/* A trap that nobody expects ends the program. Its address must be a multiple of 4. */
__attribute__((aligned(4))) static void fault(void) { board_exit(5); }

__attribute__((naked, section(".start"), used)) void reset(void) {
    __asm__ volatile(".option push\n.option norelax\nla gp, __global_pointer$\n.option pop\n"
                     "la sp, stack_top\ntail begin");
}

void begin(void) {
    __asm__ volatile("csrw mtvec, %0" : : "r"(fault));
#if defined(__riscv_flen)
    __asm__ volatile("csrs mstatus, %0" : : "r"(1u << 13)); /* the floating-point unit is on */
#endif
    const volatile uint32_t *from = &data_source;
    for (volatile uint32_t *to = &data_start; (uintptr_t)to < (uintptr_t)&data_end;) *to++ = *from++;
    for (volatile uint32_t *to = &bss_start; (uintptr_t)to < (uintptr_t)&bss_end;) *to++ = 0;
    board_exit(main());
}

void board_start_counter(void) {}

uint32_t board_ticks(void) {
    uint32_t count;
    __asm__ volatile("csrr %0, minstret" : "=r"(count));
    return count;
}

uint32_t board_overflowed(void) { return 0; } /* 2^32 instructions are minutes of emulation */
