/* Files and the end of the program by semihosting: a trap that the emulator serves in place of a debugger.
   Arm and RISC-V share the calls and differ in the trap alone. */
#include "board.h"

enum { SYS_OPEN = 0x01, SYS_WRITE = 0x05, SYS_READ = 0x06, SYS_EXIT_EXTENDED = 0x20 };
enum { MODE_READ = 1, MODE_WRITE = 5 }; /* "rb" and "wb" */
enum { APPLICATION_EXIT = 0x20026 };

static uintptr_t input, output;

/* Both arguments and the answer are in the registers where a call has them. */
uintptr_t semihost(uintptr_t call, const void *block);
#if defined(__arm__)
__asm__(".text\n.thumb\n.thumb_func\nsemihost:\n\tbkpt 0xab\n\tbx lr");
#elif defined(__riscv)
/* The first three instructions are one mark: none compressed, all in one page. */
__asm__(".text\n.option push\n.option norvc\n.balign 16\n"
        "semihost:\n\tslli x0, x0, 0x1f\n\tebreak\n\tsrai x0, x0, 7\n\tret\n.option pop");
#endif

void board_exit(int code) {
    const uintptr_t block[2] = {APPLICATION_EXIT, (uintptr_t)code};
    for (;;) semihost(SYS_EXIT_EXTENDED, block);
}

static uintptr_t opened(const char *name, uintptr_t mode) {
    uintptr_t length = 0;
    while (name[length]) length++;
    const uintptr_t block[3] = {(uintptr_t)name, mode, length};
    const uintptr_t file = semihost(SYS_OPEN, block);
    if (file == (uintptr_t)-1) board_exit(3);
    return file;
}

void board_open_input(const char *name) { input = opened(name, MODE_READ); }
void board_open_output(const char *name) { output = opened(name, MODE_WRITE); }

/* Both calls answer with how many bytes are left over. */
static void transfer(uintptr_t call, uintptr_t file, const void *bytes, size_t size) {
    const uintptr_t block[3] = {file, (uintptr_t)bytes, size};
    if (size && semihost(call, block) != 0) board_exit(4);
}

void board_read(void *to, size_t size) { transfer(SYS_READ, input, to, size); }
void board_write(const void *from, size_t size) { transfer(SYS_WRITE, output, from, size); }
