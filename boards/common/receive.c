/* What arrives on a Cortex-M board's serial port: the buffer that the interrupt fills, the sleep
 * until it does, and the zeros by which the host stops a run.
 * SPDX-License-Identifier: Apache-2.0 */
#include "board.h"
#include "cortexm.h"
#include "mcu/platform.h"

/* Two of the protocol's largest frames, so that a request may arrive while one is handled. */
#ifndef MCU_SERIAL_RING_BYTES
#define MCU_SERIAL_RING_BYTES 4096u
#endif
#if (MCU_SERIAL_RING_BYTES & (MCU_SERIAL_RING_BYTES - 1)) != 0
#error "MCU_SERIAL_RING_BYTES must be a power of two"
#endif

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
