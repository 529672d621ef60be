/* Driver for the USART of Microchip's SAM E70 and its relatives.
 * Registers: zephyrproject-rtos/hal_atmel, asf/sam/include/same70b/component/usart.h (commit
 * 8f95c79). SPDX-License-Identifier: Apache-2.0 */
#include "board.h"
#include "cortexm.h"

#define US_CR   (MCU_SERIAL_BASE + 0x00u)
#define US_MR   (MCU_SERIAL_BASE + 0x04u)
#define US_IER  (MCU_SERIAL_BASE + 0x08u)
#define US_IDR  (MCU_SERIAL_BASE + 0x0Cu)
#define US_CSR  (MCU_SERIAL_BASE + 0x14u)
#define US_RHR  (MCU_SERIAL_BASE + 0x18u)
#define US_THR  (MCU_SERIAL_BASE + 0x1Cu)
#define US_BRGR (MCU_SERIAL_BASE + 0x20u)

#define CR_RSTRX     (1u << 2)
#define CR_RSTTX     (1u << 3)
#define CR_RXEN      (1u << 4)
#define CR_TXEN      (1u << 6)
#define CR_RSTSTA    (1u << 8)
#define MR_8_BITS    (3u << 6)
#define MR_NO_PARITY (4u << 9)
#define CSR_RXRDY    (1u << 0)
#define CSR_TXRDY    (1u << 1)
#define CSR_TXEMPTY  (1u << 9)
#define BRGR_FP_POS  16

/* In eighths: the divisor is clock / (16 * baud). */
#define DIVISOR ((MCU_SERIAL_CLOCK_HZ / 2u + MCU_BOARD_BAUD / 2u) / MCU_BOARD_BAUD)

void mcu_serial_init(void) {
    MCU_REG32(US_IDR) = 0xFFFFFFFFu;
    MCU_REG32(US_CR) = CR_RSTRX | CR_RSTTX | CR_RSTSTA;
    MCU_REG32(US_MR) = MR_8_BITS | MR_NO_PARITY;
    MCU_REG32(US_BRGR) = DIVISOR / 8u | DIVISOR % 8u << BRGR_FP_POS;
    MCU_REG32(US_CR) = CR_RXEN | CR_TXEN;
    MCU_REG32(US_IER) = CSR_RXRDY;
}

void mcu_serial_put(uint8_t byte) {
    while ((MCU_REG32(US_CSR) & CSR_TXRDY) == 0) {
    }
    MCU_REG32(US_THR) = byte;
}

void mcu_serial_flush(void) {
    while ((MCU_REG32(US_CSR) & CSR_TXEMPTY) == 0) {
    }
}

void mcu_serial_handler(void) {
    while ((MCU_REG32(US_CSR) & CSR_RXRDY) != 0) {
        mcu_serial_received((uint8_t)MCU_REG32(US_RHR));
    }
}
