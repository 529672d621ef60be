/* A program on two cores: asks by letters what the second one does; one line each answer.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "mcu/parallel.h"
#include "mcu/platform.h"

void mcu_firmware_main(void);
void stumble(void *argument);
void sink(void *argument);

static void print(const char *text) {
    mcu_platform_write((const uint8_t *)text, strlen(text));
}

static void print_number(const char *name, uint32_t value) {
    static const char digits[] = "0123456789abcdef";
    char text[11] = "0x00000000";
    for (int i = 9; i > 1; --i, value >>= 4) {
        text[i] = digits[value & 15];
    }
    print(" ");
    print(name);
    print("=");
    print(text);
}

void mcu_fault_report(mcu_fault_t *fault) {
    print("fault");
    print_number("core", fault->core);
    print_number("cause", fault->cause);
    print_number("valid", fault->valid);
    print_number("pc", fault->pc);
    print("\n");
    mcu_platform_reset();
}

/* Which core this runs on: the SSE-200's CPU_IDENTITY (QEMU, hw/misc/armsse-cpuid.c), secure. */
static uint32_t core(void) {
    return *(const volatile uint32_t *)0x5001F000u;
}

typedef struct sums {
    const uint8_t *bytes;
    uint32_t sum[2];
    uint32_t core[2];
    uintptr_t stack[2];
} sums_t;

static uint8_t bytes[4096];

static void add_half(sums_t *sums, uint32_t half) {
    uint32_t sum = 0;
    for (uint32_t i = 0; i < sizeof bytes / 2; ++i) {
        sum += sums->bytes[half * (sizeof bytes / 2) + i];
    }
    sums->sum[half] = sum;
    sums->core[half] = core();
    sums->stack[half] = (uintptr_t)__builtin_frame_address(0);
}

static void add_first(void *context) {
    add_half(context, 0);
}

static void add_second(void *context) {
    add_half(context, 1);
}

/* A hundred times with different bytes: each core's writes reach the other in time. */
static void sum_up(void) {
    sums_t sums = {.bytes = bytes};
    uint32_t wrong = 0, on_its_own = 0;
    for (uint32_t round = 1; round <= 100; ++round) {
        for (uint32_t i = 0; i < sizeof bytes; ++i) {
            bytes[i] = (uint8_t)(i * round);
        }
        uint32_t expected = 0;
        for (uint32_t i = 0; i < sizeof bytes; ++i) {
            expected += (uint8_t)(i * round);
        }
        _mcu_parallel(add_first, add_second, &sums);
        wrong += sums.sum[0] + sums.sum[1] != expected;
        on_its_own += sums.core[0] == 0 && sums.core[1] == 1;
    }
    print("sum");
    print_number("wrong", wrong);
    print_number("parallel", on_its_own);
    print_number("first", sums.stack[0]);
    print_number("second", sums.stack[1]);
    print_number("used", mcu_platform_second_core_stack_used());
    print("\n");
}

/* From inside of the second lane: the core is at work, so both go one after the other there. */
static void nest(void *context) {
    _mcu_parallel(add_first, add_second, context);
}

static void nothing(void *context) {
    (void)context;
}

static void sum_up_nested(void) {
    memset(bytes, 1, sizeof bytes);
    sums_t sums = {.bytes = bytes};
    _mcu_parallel(nothing, nest, &sums);
    print("nested");
    print_number("sum", sums.sum[0] + sums.sum[1]);
    print_number("first", sums.core[0]);
    print_number("second", sums.core[1]);
    print("\n");
}

/* ---- What the second core must not do ---- */

__attribute__((noipa)) void stumble(void *argument) {
    (void)argument;
    __asm volatile("udf #0");
}

/* Deeper and deeper; the compiler cannot know that it never ends. */
void sink(void *argument) {
    volatile uint8_t frame[64];
    frame[0] = *(const volatile uint8_t *)argument;
    if (frame[0] != 0) {
        sink(argument);
    }
    frame[1] = frame[0];
}

static void hold(void *argument) {
    volatile uint32_t *held = argument;
    while (*held != 0) {
    }
}

/* Whether a second job is refused while the first one is at work. */
static void be_refused(void) {
    static volatile uint32_t held = 1;
    const bool first = mcu_platform_start_second_core(hold, (void *)(uintptr_t)&held);
    const bool second = mcu_platform_start_second_core(nothing, NULL);
    held = 0;
    mcu_platform_second_core_wait();
    const bool third = mcu_platform_start_second_core(nothing, NULL);
    mcu_platform_second_core_wait();
    print("refused");
    print_number("first", first);
    print_number("second", second);
    print_number("third", third);
    print("\n");
}

static void answer(uint8_t letter) {
    switch (letter) {
    case 's':
        sum_up();
        break;
    case 'n':
        sum_up_nested();
        break;
    case 'r':
        be_refused();
        break;
    case 'u':
        _mcu_parallel(nothing, stumble, NULL);
        break;
    case 'o':
        bytes[0] = 1;
        _mcu_parallel(nothing, sink, bytes);
        break;
    case 'U':
        stumble(NULL);
        break;
    default:
        break;
    }
}

void mcu_firmware_main(void) {
    mcu_platform_init();
    print("ready\n");
    for (;;) {
        uint8_t letter;
        if (mcu_platform_read(&letter, 1) == 1) {
            answer(letter);
        } else {
            mcu_platform_wait();
        }
    }
}
