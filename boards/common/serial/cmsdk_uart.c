/* Driver for the UART of Arm's Cortex-M System Design Kit (MPS2 and MPS3 boards).
 * Registers: QEMU's hw/char/cmsdk-apb-uart.c, which names the Cortex-M System Design Kit Technical
 * Reference Manual (DDI 0479) as its source.
 * SPDX-License-Identifier: Apache-2.0 */
#include "board.h"
#include "cortexm.h"

#define UART_DATA      (MCU_SERIAL_BASE + 0x00u)
#define UART_STATE     (MCU_SERIAL_BASE + 0x04u)
#define UART_CTRL      (MCU_SERIAL_BASE + 0x08u)
#define UART_INTSTATUS (MCU_SERIAL_BASE + 0x0Cu)
#define UART_BAUDDIV   (MCU_SERIAL_BASE + 0x10u)

#define STATE_TXFULL  (1u << 0)
#define STATE_RXFULL  (1u << 1)
#define CTRL_TX_EN    (1u << 0)
#define CTRL_RX_EN    (1u << 1)
#define CTRL_RX_INTEN (1u << 3)
#define INTSTATUS_RX  (1u << 1)
#define INTSTATUS_ALL 0xFu

void mcu_serial_init(void) {
    MCU_REG32(UART_CTRL) = 0;
    MCU_REG32(UART_BAUDDIV) = (MCU_SERIAL_CLOCK_HZ + MCU_BOARD_BAUD / 2) / MCU_BOARD_BAUD;
    MCU_REG32(UART_INTSTATUS) = INTSTATUS_ALL;
    MCU_REG32(UART_CTRL) = CTRL_TX_EN | CTRL_RX_EN | CTRL_RX_INTEN;
    /* QEMU looks at its socket again when DATA is read, else up to a second later. The byte that
     * may have come just before is kept: the request is up, and the buffer empty again. */
    const uint8_t byte = (uint8_t)MCU_REG32(UART_DATA);
    const uint32_t requests = MCU_REG32(UART_INTSTATUS);
    if ((requests & INTSTATUS_RX) != 0 && (MCU_REG32(UART_STATE) & STATE_RXFULL) == 0) {
        mcu_serial_received(byte);
    }
}

void mcu_serial_put(uint8_t byte) {
    while ((MCU_REG32(UART_STATE) & STATE_TXFULL) != 0) {
    }
    MCU_REG32(UART_DATA) = byte;
}

/* The UART says when its buffer is empty, not when its shift register is: one more character's
 * time, of ten bits, lets that out. The loop takes at least two cycles a turn. */
void mcu_serial_flush(void) {
    while ((MCU_REG32(UART_STATE) & STATE_TXFULL) != 0) {
    }
    for (volatile uint32_t turns = 10u * (MCU_BOARD_CLOCK_HZ / MCU_BOARD_BAUD) / 2u; turns > 0;) {
        turns = turns - 1;
    }
}

/* The request is cleared first: a byte that arrives while this reads raises it again. */
void mcu_serial_handler(void) {
    MCU_REG32(UART_INTSTATUS) = INTSTATUS_ALL;
    while ((MCU_REG32(UART_STATE) & STATE_RXFULL) != 0) {
        mcu_serial_received((uint8_t)MCU_REG32(UART_DATA));
    }
}
