/* Driver for the LPUART of NXP's i.MX RT.
 * Registers: nxp-mcuxpresso/mcux-devices-rt, RT1064/periph/PERI_LPUART.h (commit 3248d6d).
 * SPDX-License-Identifier: Apache-2.0 */
#include "board.h"
#include "cortexm.h"

#define LPUART_GLOBAL (MCU_SERIAL_BASE + 0x08u)
#define LPUART_BAUD   (MCU_SERIAL_BASE + 0x10u)
#define LPUART_STAT   (MCU_SERIAL_BASE + 0x14u)
#define LPUART_CTRL   (MCU_SERIAL_BASE + 0x18u)
#define LPUART_DATA   (MCU_SERIAL_BASE + 0x1Cu)

#define GLOBAL_RST   (1u << 1)
#define BAUD_OSR_POS 24 /* samples a bit, less 1 */
#define STAT_OR      (1u << 19)
#define STAT_RDRF    (1u << 21)
#define STAT_TC      (1u << 22)
#define STAT_TDRE    (1u << 23)
#define CTRL_RE      (1u << 18)
#define CTRL_TE      (1u << 19)
#define CTRL_RIE     (1u << 21)

/* clock / (16 * baud) */
#define DIVISOR ((MCU_SERIAL_CLOCK_HZ / 16u + MCU_BOARD_BAUD / 2u) / MCU_BOARD_BAUD)

void mcu_serial_init(void) {
    MCU_REG32(LPUART_GLOBAL) = GLOBAL_RST;
    MCU_REG32(LPUART_GLOBAL) = 0;
    MCU_REG32(LPUART_BAUD) = 15u << BAUD_OSR_POS | DIVISOR;
    MCU_REG32(LPUART_CTRL) = CTRL_RE | CTRL_TE | CTRL_RIE;
}

void mcu_serial_put(uint8_t byte) {
    while ((MCU_REG32(LPUART_STAT) & STAT_TDRE) == 0) {
    }
    MCU_REG32(LPUART_DATA) = byte;
}

void mcu_serial_flush(void) {
    while ((MCU_REG32(LPUART_STAT) & STAT_TC) == 0) {
    }
}

/* An overrun keeps further bytes out until it is cleared, by writing a one. */
void mcu_serial_handler(void) {
    uint32_t status;
    while (((status = MCU_REG32(LPUART_STAT)) & (STAT_RDRF | STAT_OR)) != 0) {
        if ((status & STAT_OR) != 0) {
            MCU_REG32(LPUART_STAT) = STAT_OR;
        }
        if ((status & STAT_RDRF) != 0) {
            mcu_serial_received((uint8_t)MCU_REG32(LPUART_DATA));
        }
    }
}
