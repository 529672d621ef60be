/* The counter of mcu/platform.h: DWT CYCCNT where it counts, else SysTick, where there is one (an
 * nRF51 has none: QEMU's hw/arm/nrf51_soc.c says so, and models one all the same).
 *
 * QEMU's CYCCNT stays 0, and Armv6-M has none. SysTick has 24 bits and needs an interrupt at each
 * wrap, so it is started by the first call only: a program that never asks (bench.elf) is never
 * interrupted, and its instructions can be counted exactly.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>

#include "board.h"
#include "cortexm.h"
#include "mcu/platform.h"

#define SYSTICK_BITS 24
#define SYSTICK_MAX  ((1u << SYSTICK_BITS) - 1u)

static mcu_counter_kind_t kind;
static bool systick_runs;
static volatile uint32_t systick_wraps;
#if !MCU_ARMV6M
static uint32_t last_cycles;
static uint32_t cycle_wraps;
#endif

void mcu_counter_systick_handler(void) {
    systick_wraps = systick_wraps + 1;
}

static bool start_cycle_counter(void) {
#if MCU_ARMV6M
    return false;
#else
    MCU_REG32(MCU_SCB_DEMCR) |= MCU_SCB_DEMCR_TRCENA;
    MCU_REG32(MCU_DWT_LAR) = MCU_DWT_LAR_KEY;
    if ((MCU_REG32(MCU_DWT_CTRL) & MCU_DWT_CTRL_NOCYCCNT) != 0) {
        return false;
    }
    MCU_REG32(MCU_DWT_CYCCNT) = 0;
    MCU_REG32(MCU_DWT_CTRL) |= MCU_DWT_CTRL_CYCCNTENA;
    mcu_barrier();
    const uint32_t before = MCU_REG32(MCU_DWT_CYCCNT);
    for (volatile uint32_t i = 0; i < 8; ++i) {
    }
    return MCU_REG32(MCU_DWT_CYCCNT) != before;
#endif
}

/* What is not there reads as zero (Armv6-M ARM, B3.3). */
static bool has_systick(void) {
    MCU_REG32(MCU_SYST_RVR) = SYSTICK_MAX;
    return MCU_REG32(MCU_SYST_RVR) != 0;
}

void mcu_counter_init(void) {
    if (start_cycle_counter()) {
        kind = MCU_COUNTER_CYCLES;
    } else {
        kind = has_systick() ? MCU_COUNTER_TICKS : MCU_COUNTER_NONE;
    }
}

mcu_counter_kind_t mcu_platform_counter_kind(void) {
    return kind;
}

static void start_systick(void) {
    systick_runs = true;
    MCU_REG32(MCU_SCB_SHPR3) |= 0x80000000u; /* below the faults */
    MCU_REG32(MCU_SYST_RVR) = SYSTICK_MAX;
    MCU_REG32(MCU_SYST_CVR) = 0;
    MCU_REG32(MCU_SYST_CSR) = MCU_SYST_CSR_CLKSOURCE | MCU_SYST_CSR_TICKINT | MCU_SYST_CSR_ENABLE;
}

/* It counts down and is 0 for one tick, before the first reload and at each wrap: waiting that
 * tick out keeps the sum of wraps and ticks from jumping. */
static uint32_t systick_elapsed(void) {
    uint32_t left;
    while ((left = MCU_REG32(MCU_SYST_CVR)) == 0) {
    }
    return SYSTICK_MAX - left;
}

static uint64_t systick_now(void) {
    uint32_t wraps = systick_wraps;
    uint32_t elapsed = systick_elapsed();
    if ((MCU_REG32(MCU_SCB_ICSR) & MCU_SCB_ICSR_PENDSTSET) != 0) {
        ++wraps; /* it has wrapped and the interrupt waits: read again, on the new side of it */
        elapsed = systick_elapsed();
    }
    return ((uint64_t)wraps << SYSTICK_BITS) + elapsed;
}

/* CYCCNT has 32 bits: a wrap is seen only when this is called at least once in 2^32 cycles (268 s
 * at 16 MHz, 20 s at 216 MHz). */
uint64_t mcu_platform_counter(void) {
    const uint32_t primask = mcu_interrupts_off();
    uint64_t now = 0;
    if (kind == MCU_COUNTER_TICKS) {
        if (!systick_runs) {
            start_systick();
        }
        now = systick_now();
    } else if (kind == MCU_COUNTER_CYCLES) {
#if !MCU_ARMV6M
        const uint32_t cycles = MCU_REG32(MCU_DWT_CYCCNT);
        cycle_wraps += cycles < last_cycles ? 1u : 0u;
        last_cycles = cycles;
        now = ((uint64_t)cycle_wraps << 32) + cycles;
#endif
    }
    mcu_interrupts_restore(primask);
    return now;
}
