/* The start-up of an emulated Cortex-M4F (QEMU's mps2-an386): vectors, memory, the FPU, and
 * semihosting for text and the exit code. Your chip's maker has one for your chip.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "board.h"

/* Operations of the Arm semihosting specification. */
enum { SYS_WRITE0 = 0x04, SYS_EXIT_EXTENDED = 0x20 };
enum { ADP_STOPPED_APPLICATION_EXIT = 0x20026 };

/* mps2-an386.ld */
extern uint32_t _data_load[], _data_begin[], _data_end[], _bss_begin[], _bss_end[], _stack_top[];

int main(void);
void reset_handler(void);
void fault_handler(void);

static void semihosting(uint32_t operation, const void *argument) {
    register uint32_t r0 __asm__("r0") = operation;
    register const void *r1 __asm__("r1") = argument;
    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
}

void board_print(const char *text) {
    semihosting(SYS_WRITE0, text);
}

static void quit(int code) {
    uint32_t arguments[2] = {ADP_STOPPED_APPLICATION_EXIT, (uint32_t)code};
    semihosting(SYS_EXIT_EXTENDED, arguments);
    for (;;) {
    }
}

void reset_handler(void) {
    *(volatile uint32_t *)0xE000ED88U |= 0xFU << 20; /* CPACR: full access to CP10 and CP11 */
    __asm__ volatile("dsb\n isb" ::: "memory");
    memcpy(_data_begin, _data_load, (size_t)((char *)_data_end - (char *)_data_begin));
    memset(_bss_begin, 0, (size_t)((char *)_bss_end - (char *)_bss_begin));
    quit(main());
}

void fault_handler(void) {
    board_print("the processor stopped on a fault\n");
    quit(99);
}

typedef struct vectors {
    uint32_t *stack;
    void (*handlers[15])(void);
} vectors_t;
__attribute__((section(".vectors"), used)) static const vectors_t vectors = {
    _stack_top, {reset_handler, fault_handler /* NMI */, fault_handler /* every fault */}};
