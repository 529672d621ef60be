/* Driver for the UART without DMA of nRF51 and nRF52. Which pins it is on (PSEL) are steps of the
 * board's `serial.setup`, and the clock needs no choice: it is always 16 MHz.
 * Registers: NRF_UART_Type and UART_* in nrf52840.h, nrf52840_bitfields.h and nrf51.h of
 * NordicSemiconductor/nrfx (bsp/stable/mdk, commit aa83d4d), and QEMU's hw/char/nrf51_uart.c.
 * SPDX-License-Identifier: Apache-2.0 */
#include "board.h"
#include "cortexm.h"

#define UART_STARTRX  (MCU_SERIAL_BASE + 0x000u)
#define UART_STARTTX  (MCU_SERIAL_BASE + 0x008u)
#define UART_RXDRDY   (MCU_SERIAL_BASE + 0x108u)
#define UART_TXDRDY   (MCU_SERIAL_BASE + 0x11Cu)
#define UART_INTENSET (MCU_SERIAL_BASE + 0x304u)
#define UART_ENABLE   (MCU_SERIAL_BASE + 0x500u)
#define UART_RXD      (MCU_SERIAL_BASE + 0x518u)
#define UART_TXD      (MCU_SERIAL_BASE + 0x51Cu)
#define UART_BAUDRATE (MCU_SERIAL_BASE + 0x524u)
#define UART_CONFIG   (MCU_SERIAL_BASE + 0x56Cu)

#define ENABLE_UART     4u
#define INTENSET_RXDRDY (1u << 2)

/* 2^32 * baud / clock, rounded to 12 bits: 0x01D7E000 for 115,200, as nrf52840_bitfields.h has it.
 */
#define BAUDRATE                                                                                   \
    ((uint32_t)((((uint64_t)MCU_BOARD_BAUD << 32) / MCU_SERIAL_CLOCK_HZ + 0x800u) & ~0xFFFull))

void mcu_serial_init(void) {
    MCU_REG32(UART_ENABLE) = ENABLE_UART; /* first: QEMU takes no other register before */
    MCU_REG32(UART_CONFIG) = 0;           /* no parity, no flow control */
    MCU_REG32(UART_BAUDRATE) = BAUDRATE;
    MCU_REG32(UART_RXDRDY) = 0;
    MCU_REG32(UART_TXDRDY) = 0;
    MCU_REG32(UART_INTENSET) = INTENSET_RXDRDY;
    MCU_REG32(UART_STARTTX) = 1;
    MCU_REG32(UART_STARTRX) = 1;
}

/* TXDRDY comes when the byte has been sent, so each is waited for and none is left to flush. */
void mcu_serial_put(uint8_t byte) {
    MCU_REG32(UART_TXD) = byte;
    while (MCU_REG32(UART_TXDRDY) == 0) {
    }
    MCU_REG32(UART_TXDRDY) = 0;
}

void mcu_serial_flush(void) {
}

/* The event is cleared before the byte is taken: the next one in the queue raises it again. A byte
 * must not be taken where there is none. */
void mcu_serial_handler(void) {
    while (MCU_REG32(UART_RXDRDY) != 0) {
        MCU_REG32(UART_RXDRDY) = 0;
        mcu_serial_received((uint8_t)MCU_REG32(UART_RXD));
    }
}
