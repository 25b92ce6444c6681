/* What the harness asks of a board: files on the host, a counter, the stack pointer and an end. */
#ifndef SCN_BOARD_H
#define SCN_BOARD_H

#include <stddef.h>
#include <stdint.h>

/* Files by name, in the folder the emulator was started in. A failure ends the program. */
void board_open_input(const char *name);
void board_open_output(const char *name);
void board_read(void *to, size_t size);
void board_write(const void *from, size_t size);

/* A counter that rises with every instruction; how many ticks an instruction has is known to the table of
   targets. board_overflowed() tells whether it has been too small since it was started. */
void board_start_counter(void);
uint32_t board_ticks(void);
uint32_t board_overflowed(void);

/* Code 0: all went well. */
void board_exit(int code) __attribute__((noreturn));

/* The stack pointer of the function in which this is written. */
#if defined(__arm__)
#define BOARD_STACK_POINTER(p) __asm__ volatile("mov %0, sp" : "=r"(p))
#elif defined(__riscv)
#define BOARD_STACK_POINTER(p) __asm__ volatile("mv %0, sp" : "=r"(p))
#elif defined(__x86_64__)
#define BOARD_STACK_POINTER(p) __asm__ volatile("mov %%rsp, %0" : "=r"(p))
#elif defined(__aarch64__)
#define BOARD_STACK_POINTER(p) __asm__ volatile("mov %0, sp" : "=r"(p))
#else
#error "BOARD_STACK_POINTER: add the name of this processor's stack pointer"
#endif

#endif
