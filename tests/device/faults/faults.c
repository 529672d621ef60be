/* Does one forbidden thing for each letter that it receives, and reports the fault as a line:
 *
 *     fault cause=00000006 valid=0000000f pc=... lr=... cfsr=... hfsr=... address=... ...
 *
 * A register that is not valid is printed as "-". Each start prints "ready", each letter that does
 * not fault an empty line.
 * SPDX-License-Identifier: Apache-2.0 */
#include "provoke.h"

#include "mcu/platform.h"

void mcu_firmware_main(void);

static void print(const char *text) {
    size_t size = 0;
    while (text[size] != '\0') {
        ++size;
    }
    mcu_platform_write((const uint8_t *)text, size);
}

static void print_hex(const char *name, uint32_t value, int valid) {
    char text[9];
    for (int i = 0; i < 8; ++i) {
        text[i] = "0123456789abcdef"[value >> (28 - 4 * i) & 15u];
    }
    text[8] = '\0';
    print(name);
    print(valid ? text : "-");
}

void mcu_fault_report(mcu_fault_t *fault) {
    print_hex("fault cause=", fault->cause, 1);
    print_hex(" valid=", fault->valid, 1);
    print_hex(" pc=", fault->pc, (fault->valid & MCU_FAULT_HAS_PC) != 0);
    print_hex(" lr=", fault->lr, (fault->valid & MCU_FAULT_HAS_LR) != 0);
    print_hex(" cfsr=", fault->cfsr, (fault->valid & MCU_FAULT_HAS_CFSR) != 0);
    print_hex(" hfsr=", fault->hfsr, (fault->valid & MCU_FAULT_HAS_HFSR) != 0);
    print_hex(" address=", fault->address, (fault->valid & MCU_FAULT_HAS_ADDRESS) != 0);
    print_hex(" exception=", fault->exception, 1);
    print_hex(" sp=", fault->sp, 1);
    print("\n");
    mcu_platform_reset();
}

static uint32_t starts __attribute__((section(".noinit")));

/* Behind .bss, before main, in the order of their priorities. */
static uint32_t constructed;
__attribute__((constructor(102))) static void construct_second(void) {
    constructed = constructed << 4 | 2U;
}
__attribute__((constructor(101))) static void construct_first(void) {
    constructed = constructed << 4 | 1U;
}

static void answer(uint8_t letter) {
    switch (letter) {
    case 'i':
        print_hex("constructed ", constructed, 1);
        break;
    case 'c': /* the counter: its kind, two readings */
        print_hex("counter ", (uint32_t)mcu_platform_counter_kind(), 1);
        print_hex(" ", (uint32_t)mcu_platform_counter(), 1);
        print_hex(" ", (uint32_t)mcu_platform_counter(), 1);
        break;
    case 'p': /* the painted stack */
        print_hex("stack ", (uint32_t)mcu_platform_stack_used(), 1);
        print_hex(" of ", (uint32_t)mcu_platform_stack_size(), 1);
        break;
    case 'n': /* what a restart leaves alone */
        print_hex("noinit ", ++starts, 1);
        break;
    case 'z':
        mcu_platform_reset();
        break;
    default:
        print_hex("did ", provoke(letter), 1);
        break;
    }
    print("\n");
}

void mcu_firmware_main(void) {
    mcu_platform_init();
    print("ready\n");
    for (;;) {
        uint8_t letter;
        if (mcu_platform_read(&letter, 1) == 0) {
            mcu_platform_wait();
        } else {
            answer(letter);
        }
    }
}
