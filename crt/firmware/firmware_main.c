/* The test firmware's main loop, and what it says of a fault.
 * SPDX-License-Identifier: Apache-2.0 */
#include "mcu/firmware.h"

#include "mcu/platform.h"
#include "mcu/protocol.h"

void mcu_firmware_main(void) {
    mcu_platform_init();
    mcu_message_t *ready = mcu_event_start(MCU_EVENT_READY, 0);
    mcu_put_u8(ready, MCU_PROTOCOL_VERSION);
    mcu_message_send(ready);
    for (;;) {
        uint8_t bytes[64];
        size_t size = mcu_platform_read(bytes, sizeof bytes);
        if (size == 0U) {
            mcu_platform_wait();
        }
        mcu_protocol_receive(bytes, size);
    }
}

/* On the handlers' stack, with interrupts off. It may have broken into the sending of any frame,
 * so it reuses the events' buffer: what was in it is lost with the restart anyway. */
void mcu_fault_report(mcu_fault_t *fault) {
    mcu_message_t *event = mcu_event_start(MCU_EVENT_FAULT, 0);
    const uint32_t registers[5] = {fault->pc, fault->lr, fault->cfsr, fault->hfsr, fault->address};
    uint32_t model = 0;
    if (mcu_run_in_layer(&model, &fault->layer)) {
        fault->valid |= MCU_FAULT_HAS_LAYER;
    }
    mcu_put_u32(event, fault->valid);
    mcu_put_u32(event, fault->cause);
    mcu_put_u32(event, fault->exception);
    mcu_put_u32(event, fault->sp);
    for (uint32_t i = 0; i < 5U; i++) {
        if ((fault->valid & (1UL << i)) != 0U) {
            mcu_put_u32(event, registers[i]);
        }
    }
    if ((fault->valid & MCU_FAULT_HAS_LAYER) != 0U) {
        mcu_put_u16(event, model);
        mcu_put_u16(event, fault->layer);
    }
    mcu_message_send(event);
    mcu_protocol_restart();
}
