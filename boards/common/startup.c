/* From reset to mcu_firmware_main: memory, FPU, MPU, stacks.
 *
 * The application runs in thread mode on the process stack (PSP); exceptions run on the main stack
 * (MSP), so that a fault handler has a stack even when the application has used up its own.
 * SPDX-License-Identifier: Apache-2.0 */
#include "board.h"
#include "cortexm.h"

static void init_memory(void) {
    const uint32_t *from = __data_load;
    for (uint32_t *to = __data_start; to < __data_end; ++to) {
        *to = *from++;
    }
    from = __hot_code_load;
    for (uint32_t *to = __hot_code_start; to < __hot_code_end; ++to) {
        *to = *from++;
    }
    for (uint32_t *to = __bss_start; to < __bss_end; ++to) {
        *to = 0;
    }
    for (uint32_t *to = __stack_limit; to < __stack_top; ++to) {
        *to = MCU_STACK_PAINT;
    }
}

#if !MCU_ARMV6M
static void init_traps(uint32_t vectors) {
    MCU_REG32(MCU_SCB_VTOR) = vectors;
    uint32_t enable = MCU_SCB_SHCSR_FAULTS;
#if defined(__ARM_FEATURE_CMSE)
    enable |= MCU_SCB_SHCSR_SECUREFAULT;
#endif
    MCU_REG32(MCU_SCB_SHCSR) |= enable;
    /* A division by zero stops. Unaligned LDR, LDRH, STR and STRH are legal on these cores and
     * stay so; LDRD, LDM and the like fault whatever this bit says. */
    uint32_t ccr = MCU_REG32(MCU_SCB_CCR);
    ccr |= MCU_SCB_CCR_DIV_0_TRP;
    ccr &= ~MCU_SCB_CCR_UNALIGN_TRP;
#if defined(__ARM_FEATURE_MVE)
    ccr |= MCU_SCB_CCR_LOB;
#endif
    MCU_REG32(MCU_SCB_CCR) = ccr;
}
#endif

#if defined(__ARM_FP) || defined(__ARM_FEATURE_MVE)
static void init_fpu(void) {
    MCU_REG32(MCU_SCB_CPACR) |= MCU_SCB_CPACR_FPU;
    mcu_barrier();
    /* IEEE arithmetic: round to nearest even, subnormals kept, NaNs propagated, for this and every
     * later context. The other bits stay: Armv8.1-M's LTPSIZE must be 4. FPDSCR has that value
     * after a reset, and is then not written: Renode loses LTPSIZE in doing so. */
    const uint32_t modes = (1u << 26) | (1u << 25) | (1u << 24) | (3u << 22) | (1u << 19);
    const uint32_t fpdscr = MCU_REG32(MCU_FPU_FPDSCR);
    if ((fpdscr & modes) != 0) {
        MCU_REG32(MCU_FPU_FPDSCR) = fpdscr & ~modes;
    }
    uint32_t fpscr;
    __asm volatile("vmrs %0, fpscr" : "=r"(fpscr));
    fpscr &= ~modes;
    __asm volatile("vmsr fpscr, %0" ::"r"(fpscr));
}
#endif

#if MCU_BOARD_CACHES
/* Does what a register does to each line of the data cache. This and init_caches are as in
 * github.com/ARM-software/CMSIS_5, CMSIS/Core/Include/cachel1_armv7.h (commit 0efc88c); the fields:
 * core_cm7.h there (commit 0273aee). */
static void to_each_line(uint32_t set_way_register) {
    MCU_REG32(MCU_SCB_CSSELR) = 0; /* what CCSIDR tells: the data cache of level 1 */
    mcu_barrier();
    const uint32_t size = MCU_REG32(MCU_SCB_CCSIDR);
    const uint32_t last_set = size >> 13 & 0x7FFFu;
    const uint32_t last_way = size >> 3 & 0x3FFu;
    for (uint32_t set = 0; set <= last_set; ++set) {
        for (uint32_t way = 0; way <= last_way; ++way) {
            MCU_REG32(set_way_register) = way << 30 | set << 5;
        }
    }
    mcu_barrier();
}

/* The caches' contents are undefined after a reset; a debugger may start this without one. */
static void init_caches(void) {
    if ((MCU_REG32(MCU_SCB_CCR) & MCU_SCB_CCR_DC) != 0) {
        return;
    }
    MCU_REG32(MCU_SCB_ICIALLU) = 0;
    to_each_line(MCU_SCB_DCISW);
    MCU_REG32(MCU_SCB_CCR) |= MCU_SCB_CCR_IC | MCU_SCB_CCR_DC;
    mcu_barrier();
}

void mcu_clean_data_cache(void) {
    to_each_line(MCU_SCB_DCCSW);
}

/* Fetches find code that was copied: neither is it in the data cache alone, nor is what lay there
 * before in the other one. */
static void publish_code(void) {
    mcu_clean_data_cache();
    MCU_REG32(MCU_SCB_ICIALLU) = 0;
    mcu_barrier();
}
#endif

void mcu_core_init(uint32_t vectors) {
#if MCU_ARMV6M
    (void)vectors;
#else
    init_traps(vectors);
#endif
#if defined(__ARM_FP) || defined(__ARM_FEATURE_MVE)
    init_fpu();
#endif
}

/* Guards the application's stack from below. */
static void init_stack_guard(void) {
#if MCU_BOARD_HAS_PSPLIM
    __asm volatile("msr psplim, %0\n\t"
                   "msr msplim, %1" ::"r"(__stack_limit),
                   "r"(__handler_stack_limit));
#elif MCU_BOARD_STACK_GUARD_BYTES > 0
    if ((MCU_REG32(MCU_MPU_TYPE) >> 8 & 0xFFu) != 0) {
        const uint32_t bytes = MCU_BOARD_STACK_GUARD_BYTES; /* a power of two: 2^(SIZE + 1) */
        const uint32_t size = 30u - (uint32_t)__builtin_clz(bytes);
        MCU_REG32(MCU_MPU_RNR) = 0;
        MCU_REG32(MCU_MPU_RBAR) = (uint32_t)__stack_limit - bytes;
        MCU_REG32(MCU_MPU_RASR) = MCU_MPU_RASR_XN | size << 1 | MCU_MPU_RASR_ENABLE;
        MCU_REG32(MCU_MPU_CTRL) = MCU_MPU_CTRL_PRIVDEFENA | MCU_MPU_CTRL_ENABLE;
        mcu_barrier();
    }
#endif
}

static __attribute__((noreturn, used)) void application(void) {
    mcu_firmware_main();
    MCU_REG32(MCU_SCB_AIRCR) = MCU_SCB_AIRCR_RESET;
    for (;;) {
    }
}

__attribute__((noreturn, used)) void mcu_reset_handler(void) {
    mcu_setup_board();
#if MCU_BOARD_CACHES
    init_caches();
#endif
    init_memory();
#if MCU_BOARD_CACHES
    publish_code();
#endif
    mcu_core_init((uint32_t)&mcu_vectors);
    init_stack_guard();
    for (void (**init)(void) = __init_array_start; init < __init_array_end; ++init) {
        (*init)();
    }
    /* Thread mode moves to PSP (CONTROL.SPSEL), and the main stack starts afresh for the
     * handlers. Nothing of this function is needed any more. */
    __asm volatile("msr psp, %0\n\t"
                   "movs r0, #2\n\t"
                   "msr control, r0\n\t"
                   "isb\n\t"
                   "msr msp, %1\n\t"
                   "bl application" ::"r"(__stack_top),
                   "r"(__handler_stack_top)
                   : "r0", "memory");
    __builtin_unreachable();
}
