/* Driver for the first USART of STM32 (F1, F2, F4, L1): status and data in SR and DR.
 * Registers: USART_TypeDef and USART_SR_*, USART_CR1_* in ST's CMSIS device header stm32f405xx.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "board.h"
#include "cortexm.h"

#define USART_SR  (MCU_SERIAL_BASE + 0x00u)
#define USART_DR  (MCU_SERIAL_BASE + 0x04u)
#define USART_BRR (MCU_SERIAL_BASE + 0x08u)
#define USART_CR1 (MCU_SERIAL_BASE + 0x0Cu)
#define USART_CR2 (MCU_SERIAL_BASE + 0x10u)
#define USART_CR3 (MCU_SERIAL_BASE + 0x14u)

#define SR_ORE     (1u << 3)
#define SR_RXNE    (1u << 5)
#define SR_TC      (1u << 6)
#define SR_TXE     (1u << 7)
#define CR1_RE     (1u << 2)
#define CR1_TE     (1u << 3)
#define CR1_RXNEIE (1u << 5)
#define CR1_UE     (1u << 13)

void mcu_serial_init(void) {
    MCU_REG32(USART_CR1) = 0;
    MCU_REG32(USART_CR2) = 0;
    MCU_REG32(USART_CR3) = 0;
    /* Oversampling by 16: mantissa and fraction together are clock / baud. */
    MCU_REG32(USART_BRR) = (MCU_SERIAL_CLOCK_HZ + MCU_BOARD_BAUD / 2) / MCU_BOARD_BAUD;
    MCU_REG32(USART_CR1) = CR1_UE | CR1_RE | CR1_TE | CR1_RXNEIE;
}

void mcu_serial_put(uint8_t byte) {
    while ((MCU_REG32(USART_SR) & SR_TXE) == 0) {
    }
    MCU_REG32(USART_DR) = byte;
}

void mcu_serial_flush(void) {
    while ((MCU_REG32(USART_SR) & SR_TC) == 0) {
    }
}

/* Reading DR after SR clears RXNE and ORE; an overrun alone would hold the interrupt. */
void mcu_serial_handler(void) {
    uint32_t status;
    while (((status = MCU_REG32(USART_SR)) & (SR_RXNE | SR_ORE)) != 0) {
        const uint8_t byte = (uint8_t)MCU_REG32(USART_DR);
        if ((status & SR_RXNE) != 0) {
            mcu_serial_received(byte);
        }
    }
}
