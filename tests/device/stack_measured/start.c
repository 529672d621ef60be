/* Runs each function of functions.c on a painted stack of its own and prints, by semihosting, how
 * much of it was used: "name bytes" a line. For QEMU's mps2-an385 and mps2-an386.
 * SPDX-License-Identifier: Apache-2.0 */
#include "functions.h"

#define PAINT 0xA5C3965AU
#define WORDS 1024U

extern uint32_t stack_top[];
extern uint32_t data_start[], data_end[], data_load[], bss_start[], bss_end[];

static uint32_t process_stack[WORDS] __attribute__((aligned(8)));
volatile uint32_t lowest_psp;

static int semihosting(int operation, const void *argument) {
    register int r0 __asm__("r0") = operation;
    register const void *r1 __asm__("r1") = argument;
    __asm volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
    return r0;
}

static void print(const char *name, uint32_t number) {
    char text[12];
    char *at = &text[11];
    *at = 0;
    *--at = '\n';
    do {
        *--at = (char)('0' + number % 10U);
        number /= 10U;
    } while (number != 0U);
    *--at = ' ';
    semihosting(4, name);
    semihosting(4, at);
}

/* Calls `function` in Thread mode with SP = PSP = top. */
__attribute__((naked)) static void call_on(void (*function)(void), uint32_t *top) {
    (void)function;
    (void)top;
    __asm volatile("push {r4, lr}\n"
                   "msr psp, r1\n"
                   "mrs r4, control\n"
                   "orr r1, r4, #2\n"
                   "msr control, r1\n"
                   "isb\n"
                   "blx r0\n"
                   "mrs r1, control\n"
                   "bic r1, r1, #2\n"
                   "msr control, r1\n"
                   "isb\n"
                   "pop {r4, pc}\n");
}

static uint32_t measure(void (*function)(void)) {
    for (uint32_t i = 0; i < WORDS; i++) {
        process_stack[i] = PAINT;
    }
    call_on(function, &process_stack[WORDS]);
    uint32_t untouched = 0;
    while (untouched < WORDS && process_stack[untouched] == PAINT) {
        untouched++;
    }
    return 4U * (WORDS - untouched);
}

/* An exception with SP at a multiple of 8, and at a word above one. */
__attribute__((naked)) static void interrupted_aligned(void) {
    __asm volatile("svc 0\n bx lr\n");
}
__attribute__((naked)) static void interrupted_odd(void) {
    __asm volatile("sub sp, #4\n svc 0\n add sp, #4\n bx lr\n");
}

__attribute__((naked)) static void note_psp(void) {
    __asm volatile("mrs r0, psp\n ldr r1, =lowest_psp\n str r0, [r1]\n bx lr\n");
}

static void measure_exception(const char *name, void (*function)(void), uint32_t own) {
    call_on(function, &process_stack[WORDS]);
    print(name, (uint32_t)&process_stack[WORDS] - lowest_psp - own);
}

static void lost(void) {
    semihosting(4, "fault\n");
    semihosting(0x18, (const void *)0x20026);
}

__attribute__((noreturn)) static void start(void) {
    uint32_t *from = data_load;
    for (uint32_t *to = data_start; to < data_end; to++) {
        *to = *from++;
    }
    for (uint32_t *to = bss_start; to < bss_end; to++) {
        *to = 0;
    }
#if defined(__ARM_FP)
    *(volatile uint32_t *)0xE000ED88 |= 0xFU << 20; /* CPACR: the FPU */
    __asm volatile("dsb\n isb\n vmov.f32 s0, #1.0\n" ::: "s0");
#endif
    for (uint32_t i = 0; i < num_tests; i++) {
        uint32_t most = 0;
        for (uint32_t value = 0; value < num_values; value++) {
            choose_value(value);
            uint32_t used = measure(tests[i].function);
            most = used > most ? used : most;
        }
        print(tests[i].name, most);
    }
    measure_exception("exception_aligned", interrupted_aligned, 0);
    measure_exception("exception_odd", interrupted_odd, 4);
    semihosting(0x18, (const void *)0x20026);
    for (;;) {
    }
}

#define HANDLER(function) (uint32_t *)(void (*)(void))(function)
__attribute__((section(".vectors"), used)) uint32_t *const vectors[16] = {
    stack_top,
    HANDLER(start),
    HANDLER(lost),
    HANDLER(lost),
    HANDLER(lost),
    HANDLER(lost),
    HANDLER(lost),
    0,
    0,
    0,
    0,
    HANDLER(note_psp),
};
