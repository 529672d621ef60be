/* mcu/platform.h for Cortex-M boards: serial port with a receive buffer, sleep, restart, stack.
 * SPDX-License-Identifier: Apache-2.0 */
#include "mcu/platform.h"

#include "board.h"
#include "cortexm.h"

/* Two of the protocol's largest frames, so that a request may arrive while one is handled. */
#ifndef MCU_SERIAL_RING_BYTES
#define MCU_SERIAL_RING_BYTES 4096u
#endif
#if (MCU_SERIAL_RING_BYTES & (MCU_SERIAL_RING_BYTES - 1)) != 0
#error "MCU_SERIAL_RING_BYTES must be a power of two"
#endif

const char mcu_platform_board[] = MCU_BOARD_NAME;
const char mcu_platform_core[] = MCU_BOARD_CORE;
const uint32_t mcu_platform_clock_hz = MCU_BOARD_CLOCK_HZ;
const uint32_t mcu_platform_baud = MCU_BOARD_BAUD;

/* One writer (the interrupt, ring_in) and one reader (the application, ring_out); both only grow,
 * and the difference is what waits. */
static uint8_t ring[MCU_SERIAL_RING_BYTES];
static volatile uint32_t ring_in;
static volatile uint32_t ring_out;

static volatile bool stop_is_allowed;
static uint32_t zeros; /* in a row, at the end of what was received */

void mcu_platform_allow_stop(bool is_allowed) {
    stop_is_allowed = is_allowed;
}

void mcu_serial_received(uint8_t byte) {
    zeros = byte == 0 ? zeros + 1 : 0;
    if (zeros >= MCU_STOP_ZEROS && stop_is_allowed) {
        stop_is_allowed = false;
        MCU_REG32(MCU_SCB_ICSR) = MCU_SCB_ICSR_PENDSVSET;
    }
    const uint32_t in = ring_in;
    if (in - ring_out < MCU_SERIAL_RING_BYTES) {
        ring[in % MCU_SERIAL_RING_BYTES] = byte;
        __asm volatile("" ::: "memory"); /* the byte before the index that makes it visible */
        ring_in = in + 1;
    }
}

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

size_t mcu_platform_read(uint8_t *data, size_t size) {
    size_t count = 0;
    uint32_t out = ring_out;
    while (count < size && out != ring_in) {
        data[count++] = ring[out % MCU_SERIAL_RING_BYTES];
        ++out;
    }
    ring_out = out;
    return count;
}

void mcu_platform_write(const uint8_t *data, size_t size) {
    for (size_t i = 0; i < size; ++i) {
        mcu_serial_put(data[i]);
    }
}

/* With interrupts off no byte can slip in between the look and the sleep; a pending interrupt ends
 * WFI all the same (Armv7-M ARM, B1.5.19), and is taken when they are on again. */
void mcu_platform_wait(void) {
    const uint32_t primask = mcu_interrupts_off();
    if (ring_in == ring_out) {
        __asm volatile("dsb\n\twfi" ::: "memory");
    }
    mcu_interrupts_restore(primask);
    __asm volatile("isb" ::: "memory");
}

void mcu_platform_reset(void) {
#if MCU_BOARD_HAS_SECOND_CORE
    if (mcu_this_core() != &mcu_first_core) {
        mcu_second_core_absent = MCU_ABSENT;
    }
#endif
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
