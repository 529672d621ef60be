/* What the machine's operating system forbids.
 * SPDX-License-Identifier: Apache-2.0 */
#include "provoke.h"

#define NOWHERE ((volatile uint32_t *)nowhere)
static volatile uintptr_t nowhere = 0x100;

CULPRIT void undefined_instruction(void) {
    __builtin_trap();
}

CULPRIT uint32_t bad_read(void) {
    return *NOWHERE;
}

CULPRIT void bad_write(void) {
    *NOWHERE = 1;
}

CULPRIT void bad_jump(void) {
    ((void (*)(void))nowhere)();
    __asm volatile("nop");
}

CULPRIT void divide_by_zero(volatile int32_t *number) {
    *number = 1000 / *number;
}

CULPRIT uint32_t recurse(volatile uint32_t *depth) {
    volatile uint32_t frame[8];
    frame[0] = *depth;
    *depth = frame[0] + 1u;
    return frame[0] == UINT32_MAX ? 0 : recurse(depth) + frame[0];
}

uint32_t provoke(uint8_t letter) {
    volatile uint32_t depth = 0;
    volatile int32_t zero = 0;
    switch (letter) {
    case 'u':
        undefined_instruction();
        break;
    case 'r':
        return bad_read();
    case 'w':
        bad_write();
        break;
    case 'j':
        bad_jump();
        break;
    case 'd':
        divide_by_zero(&zero);
        break;
    case 's':
        return recurse(&depth);
    default:
        break;
    }
    return 0;
}
