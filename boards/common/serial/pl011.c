/* Driver for Arm's PrimeCell UART PL011 (RP2040, RP2350).
 * Registers: hardware/regs/uart.h of raspberrypi/pico-sdk (src/rp2040/hardware_regs/include, commit
 * a1438df).
 * SPDX-License-Identifier: Apache-2.0 */
#include "board.h"
#include "cortexm.h"

#define UART_DR    (MCU_SERIAL_BASE + 0x00u)
#define UART_FR    (MCU_SERIAL_BASE + 0x18u)
#define UART_IBRD  (MCU_SERIAL_BASE + 0x24u)
#define UART_FBRD  (MCU_SERIAL_BASE + 0x28u)
#define UART_LCR_H (MCU_SERIAL_BASE + 0x2Cu)
#define UART_CR    (MCU_SERIAL_BASE + 0x30u)
#define UART_IFLS  (MCU_SERIAL_BASE + 0x34u)
#define UART_IMSC  (MCU_SERIAL_BASE + 0x38u)
#define UART_ICR   (MCU_SERIAL_BASE + 0x44u)

#define FR_BUSY      (1u << 3)
#define FR_RXFE      (1u << 4)
#define FR_TXFF      (1u << 5)
#define LCR_H_FEN    (1u << 4)
#define LCR_H_8_BITS (3u << 5)
#define CR_UARTEN    (1u << 0)
#define CR_TXE       (1u << 8)
#define CR_RXE       (1u << 9)
#define INT_RX       (1u << 4) /* a part of the queue is full */
#define INT_RT       (1u << 6) /* something is in it, and nothing has come for a while */
#define INT_ALL      0x7FFu

/* In 64ths: the divisor is clock / (16 * baud). */
#define DIVISOR ((4u * MCU_SERIAL_CLOCK_HZ + MCU_BOARD_BAUD / 2u) / MCU_BOARD_BAUD)

void mcu_serial_init(void) {
    MCU_REG32(UART_CR) = 0;
    MCU_REG32(UART_IBRD) = DIVISOR / 64u;
    MCU_REG32(UART_FBRD) = DIVISOR % 64u;
    MCU_REG32(UART_LCR_H) = LCR_H_8_BITS | LCR_H_FEN; /* the divisor is taken over now */
    MCU_REG32(UART_IFLS) = 0;                         /* INT_RX at an eighth of the queue */
    MCU_REG32(UART_ICR) = INT_ALL;
    MCU_REG32(UART_IMSC) = INT_RX | INT_RT;
    MCU_REG32(UART_CR) = CR_UARTEN | CR_TXE | CR_RXE;
}

void mcu_serial_put(uint8_t byte) {
    while ((MCU_REG32(UART_FR) & FR_TXFF) != 0) {
    }
    MCU_REG32(UART_DR) = byte;
}

void mcu_serial_flush(void) {
    while ((MCU_REG32(UART_FR) & FR_BUSY) != 0) {
    }
}

void mcu_serial_handler(void) {
    MCU_REG32(UART_ICR) = INT_RX | INT_RT;
    while ((MCU_REG32(UART_FR) & FR_RXFE) == 0) {
        mcu_serial_received((uint8_t)MCU_REG32(UART_DR));
    }
}
