/* What a Cortex-M forbids.
 * SPDX-License-Identifier: Apache-2.0 */
#include "provoke.h"

/* Nothing answers here on any of the boards, and it is never code: the vendor's part of the system
 * space, or where QEMU's nRF51 has something there, external devices. */
#if defined(__ARM_ARCH_6M__)
#define NOWHERE 0xC0000000u
#else
#define NOWHERE 0xF0000000u
#endif

CULPRIT void undefined_instruction(void) {
    __asm volatile("udf #0");
}

CULPRIT void bad_read(void) {
    __asm volatile("ldr r1, [%0]" ::"r"(NOWHERE) : "r1");
}

CULPRIT void bad_write(void) {
    __asm volatile("str r1, [%0]" ::"r"(NOWHERE) : "memory");
}

#if !defined(__ARM_ARCH_6M__)
/* Every encoding of a load or a store that mcu_fault_decode tells apart, of 16 bits and of 32. */
#define ACCESS(number, text)                                                                       \
    case number:                                                                                   \
        __asm volatile(text ::"r"(NOWHERE) : "r0", "r1", "r2", "memory");                          \
        break;
CULPRIT void access(uint8_t number) {
    switch (number) {
        ACCESS(0, "mov r1, %0\n\tmovs r2, #0\n\tldrsb r0, [r1, r2]")
        ACCESS(1, "mov r1, %0\n\tmovs r2, #0\n\tldr r0, [r1, r2]")
        ACCESS(2, "mov r1, %0\n\tmovs r2, #0\n\tldrsh r0, [r1, r2]")
        ACCESS(3, "mov r1, %0\n\tldrb r0, [r1]")
        ACCESS(4, "mov r1, %0\n\tldrh r0, [r1]")
        ACCESS(5, "ldrsb.w r0, [%0, #0]")
        ACCESS(6, "ldmia.w %0, {r0, r1}")
        ACCESS(7, "mov r1, %0\n\tmovs r2, #0\n\tstrb r0, [r1, r2]")
        ACCESS(8, "mov r1, %0\n\tmovs r2, #0\n\tstrh r0, [r1, r2]")
        ACCESS(9, "mov r1, %0\n\tmovs r2, #0\n\tstr r0, [r1, r2]")
        ACCESS(10, "mov r1, %0\n\tstrb r0, [r1]")
        ACCESS(11, "mov r1, %0\n\tstrh r0, [r1]")
        ACCESS(12, "strd r0, r1, [%0, #0]")
        ACCESS(13, "stmia.w %0, {r0, r1}")
#if defined(__ARM_FP)
        ACCESS(14, "vstr s0, [%0]")
        ACCESS(15, "vstmia %0, {s0, s1}")
        ACCESS(16, "vldr s0, [%0]")
#endif
    default:
        break;
    }
}

/* VMOV.F32 s0, #1.0, where nothing takes it: CPACR allows no coprocessor. */
CULPRIT void no_coprocessor(void) {
    *(volatile uint32_t *)0xE000ED88u = 0;
    __asm volatile("dsb\n\tisb\n\t.inst.w 0xEEB70A00");
}

/* With all of the stack left. */
CULPRIT void write_below_stack(void) {
    extern uint32_t __stack_limit[];
    *(volatile uint32_t *)((uint32_t)__stack_limit - 64u * 1024u) = 1;
}

CULPRIT void bad_wide_read(void) {
    __asm volatile("ldrd r2, r3, [%0, #16]" ::"r"(NOWHERE) : "r2", "r3");
}

CULPRIT void bad_wide_write(void) {
    __asm volatile("strb.w r1, [%0, #2000]" ::"r"(NOWHERE) : "memory");
}
#endif

CULPRIT void bad_multiple_read(void) {
    __asm volatile("ldmia %0, {r1, r2, r3}" ::"l"(NOWHERE) : "r1", "r2", "r3");
}

CULPRIT void bad_multiple_write(void) {
    __asm volatile("mov r4, %0\n\tstmia r4!, {r1, r2}" ::"r"(NOWHERE) : "r4", "memory");
}

CULPRIT void bad_jump(void) {
    ((void (*)(void))(NOWHERE | 1u))();
    __asm volatile("nop"); /* no tail call: LR must tell who jumped */
}

CULPRIT void jump_without_thumb_bit(void) {
    __asm volatile("bx %0" ::"r"(((uint32_t)undefined_instruction) & ~1u));
}

#if !defined(__ARM_ARCH_6M__)
CULPRIT void unaligned_ldrd(void) {
    static uint32_t words[4];
    __asm volatile("ldrd r2, r3, [%0]" ::"r"((uint32_t)words + 2u) : "r2", "r3");
}
#endif

/* Legal, but for Armv6-M: it must not fault. */
CULPRIT uint32_t unaligned_ldr(void) {
    static volatile uint32_t words[2] = {0x44332211u, 0x88776655u};
    uint32_t value;
    __asm volatile("ldr %0, [%1]" : "=r"(value) : "r"((uint32_t)words + 1u));
    return value;
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

/* One frame that reaches far below the stack, and is written from its low end. */
CULPRIT uint32_t big_frame(void) {
    volatile uint8_t frame[48 * 1024];
    for (uint32_t i = 0; i < sizeof frame; i += 16) {
        frame[i] = (uint8_t)i;
    }
    return frame[0];
}

uint32_t provoke(uint8_t letter) {
    volatile uint32_t depth = 0;
    volatile int32_t zero = 0;
    switch (letter) {
    case 'u':
        undefined_instruction();
        break;
    case 'r':
        bad_read();
        break;
    case 'w':
        bad_write();
        break;
#if !defined(__ARM_ARCH_6M__)
    case 'f':
        no_coprocessor();
        break;
    case 'o':
        write_below_stack();
        break;
    case 'R':
        bad_wide_read();
        break;
    case 'W':
        bad_wide_write();
        break;
    case 'a':
        unaligned_ldrd();
        break;
#endif
    case 'm':
        bad_multiple_read();
        break;
    case 'M':
        bad_multiple_write();
        break;
    case 'j':
        bad_jump();
        break;
    case 't':
        jump_without_thumb_bit();
        break;
    case 'l':
        return unaligned_ldr();
    case 'd':
        divide_by_zero(&zero);
        break;
    case 's':
        return recurse(&depth);
    case 'b':
        return big_frame();
    default:
#if !defined(__ARM_ARCH_6M__)
        access((uint8_t)(letter - '0'));
#endif
        break;
    }
    return 0;
}
