/* mcu/platform.h for Cortex-M boards: serial port, restart, stack; receive.c has the other half.
 * SPDX-License-Identifier: Apache-2.0 */
#include "mcu/platform.h"

#include "board.h"
#include "cortexm.h"

const char mcu_platform_board[] = MCU_BOARD_NAME;
const char mcu_platform_core[] = MCU_BOARD_CORE;
const uint32_t mcu_platform_clock_hz = MCU_BOARD_CLOCK_HZ;
const uint32_t mcu_platform_baud = MCU_BOARD_BAUD;

void mcu_platform_init(void) {
    mcu_counter_init();
    mcu_setup_serial();
    mcu_serial_init();
    /* PendSV, by which a run is stopped, waits until no other handler is active: what the fault
     * report then finds is where the application was. */
    MCU_REG32(MCU_SCB_SHPR3) |= 0x00C00000u;
    /* Faults keep the highest priority, 0, so that they also interrupt this handler. Armv6-M has
     * two bits of priority and word access only. */
    const uint32_t irq = MCU_SERIAL_IRQ;
    MCU_REG32(MCU_NVIC_IPR + irq / 4 * 4) |= 0x80u << irq % 4 * 8;
    MCU_REG32(MCU_NVIC_ISER + irq / 32 * 4) = 1u << irq % 32;
}

void mcu_platform_write(const uint8_t *data, size_t size) {
    for (size_t i = 0; i < size; ++i) {
        mcu_serial_put(data[i]);
    }
}

void mcu_platform_reset(void) {
    mcu_serial_flush();
#if MCU_BOARD_CACHES
    mcu_clean_data_cache();
#endif
    mcu_barrier();
    MCU_REG32(MCU_SCB_AIRCR) = MCU_SCB_AIRCR_RESET;
    mcu_barrier();
    for (;;) {
    }
}

size_t mcu_platform_stack_size(void) {
    return (size_t)((uint32_t)__stack_top - (uint32_t)__stack_limit);
}

size_t mcu_platform_stack_used(void) {
    const uint32_t *untouched = __stack_limit;
    while (untouched < __stack_top && *untouched == MCU_STACK_PAINT) {
        ++untouched;
    }
    return (size_t)((uint32_t)__stack_top - (uint32_t)untouched);
}
