/* Driver for the second USART of STM32 (F0, F3, F7, G0, G4, H7, L0, L4, L5, U5): ISR, RDR, TDR.
 * Registers: USART_TypeDef and USART_ISR_*, USART_CR1_* in ST's CMSIS device header stm32f746xx.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "board.h"
#include "cortexm.h"

#define USART_CR1 (MCU_SERIAL_BASE + 0x00u)
#define USART_CR2 (MCU_SERIAL_BASE + 0x04u)
#define USART_CR3 (MCU_SERIAL_BASE + 0x08u)
#define USART_BRR (MCU_SERIAL_BASE + 0x0Cu)
#define USART_ISR (MCU_SERIAL_BASE + 0x1Cu)
#define USART_ICR (MCU_SERIAL_BASE + 0x20u)
#define USART_RDR (MCU_SERIAL_BASE + 0x24u)
#define USART_TDR (MCU_SERIAL_BASE + 0x28u)

#ifndef USART_BRR_PER_CLOCK /* stm32_lpuart.c has another */
#define USART_BRR_PER_CLOCK 1u
#endif

#define CR1_UE     (1u << 0)
#define CR1_RE     (1u << 2)
#define CR1_TE     (1u << 3)
#define CR1_RXNEIE (1u << 5)
#define ISR_ORE    (1u << 3)
#define ISR_RXNE   (1u << 5)
#define ISR_TC     (1u << 6)
#define ISR_TXE    (1u << 7)
#define ICR_ORECF  (1u << 3)

void mcu_serial_init(void) {
    MCU_REG32(USART_CR1) = 0;
    MCU_REG32(USART_CR2) = 0;
    MCU_REG32(USART_CR3) = 0;
    /* Oversampling by 16: BRR is clock / baud. */
    const uint64_t clocks = (uint64_t)MCU_SERIAL_CLOCK_HZ * USART_BRR_PER_CLOCK;
    MCU_REG32(USART_BRR) = (uint32_t)((clocks + MCU_BOARD_BAUD / 2) / MCU_BOARD_BAUD);
    MCU_REG32(USART_CR1) = CR1_UE | CR1_RE | CR1_TE | CR1_RXNEIE;
}

void mcu_serial_put(uint8_t byte) {
    while ((MCU_REG32(USART_ISR) & ISR_TXE) == 0) {
    }
    MCU_REG32(USART_TDR) = byte;
}

void mcu_serial_flush(void) {
    while ((MCU_REG32(USART_ISR) & ISR_TC) == 0) {
    }
}

/* RXNEIE also enables the overrun's interrupt, which only ICR ends. */
void mcu_serial_handler(void) {
    uint32_t status;
    while (((status = MCU_REG32(USART_ISR)) & (ISR_RXNE | ISR_ORE)) != 0) {
        if ((status & ISR_ORE) != 0) {
            MCU_REG32(USART_ICR) = ICR_ORECF;
        }
        if ((status & ISR_RXNE) != 0) {
            mcu_serial_received((uint8_t)MCU_REG32(USART_RDR));
        }
    }
}
