/* Driver for the SCI of Renesas RA8 ("SCI_B"), as a UART without its queue. The interrupt is one of
 * the ICU's, whose event the board's `serial.setup` selects.
 * Registers: renesas/fsp, commit e163d58: ra/fsp/src/bsp/cmsis/Device/RENESAS/Include/R7FA8M1AH.h;
 * the order: ra/fsp/src/r_sci_b_uart/r_sci_b_uart.c. SPDX-License-Identifier: Apache-2.0 */
#include "board.h"
#include "cortexm.h"

#define SCI_RDR   (MCU_SERIAL_BASE + 0x00u)
#define SCI_TDR   (MCU_SERIAL_BASE + 0x04u)
#define SCI_CCR0  (MCU_SERIAL_BASE + 0x08u)
#define SCI_CCR1  (MCU_SERIAL_BASE + 0x0Cu)
#define SCI_CCR2  (MCU_SERIAL_BASE + 0x10u)
#define SCI_CCR3  (MCU_SERIAL_BASE + 0x14u)
#define SCI_CESR  (MCU_SERIAL_BASE + 0x1Cu)
#define SCI_CSR   (MCU_SERIAL_BASE + 0x48u)
#define SCI_CFCLR (MCU_SERIAL_BASE + 0x68u)
#define ICU_IELSR (0x4000C300u + 4u * MCU_SERIAL_IRQ)

#define CCR0_RE       (1u << 0)
#define CCR0_TE       (1u << 4)
#define CCR0_RIE      (1u << 16)
#define CCR1_IDLES    (3u << 4) /* SPB2DT, SPB2IO: the line is high while the transmitter is off */
#define CCR2_BGDM     (1u << 4) /* with ABCS: 8 clocks a bit */
#define CCR2_ABCS     (1u << 5)
#define CCR2_BRR_POS  8
#define CCR2_BRME     (1u << 16)
#define CCR2_MDDR_POS 24
#define CCR3_8_BITS   (2u << 8)
#define CCR3_LSBF     (1u << 12)
#define CESR_RUNS     0x11u /* RIST, TIST */
#define CSR_ORER      (1u << 24)
#define CSR_TDRE      (1u << 29)
#define CSR_TEND      (1u << 30)
#define CFCLR_ALL     0x9D070010u
#define IELSR_IR      (1u << 16)

/* clock / (8 * baud), rounded down, and how much of that rate to let through, in 256ths. */
#define DIVISOR (MCU_SERIAL_CLOCK_HZ / (8u * MCU_BOARD_BAUD))
#define DUTY                                                                                       \
    ((uint32_t)((2048ull * MCU_BOARD_BAUD * DIVISOR + MCU_SERIAL_CLOCK_HZ / 2u) /                  \
                MCU_SERIAL_CLOCK_HZ))
#define MODULATION (DUTY < 256u ? CCR2_BRME | DUTY << CCR2_MDDR_POS : 0)

void mcu_serial_init(void) {
    MCU_REG32(SCI_CCR0) = 0;
    MCU_REG32(SCI_CCR3) = CCR3_8_BITS | CCR3_LSBF;
    MCU_REG32(SCI_CCR2) = CCR2_BGDM | CCR2_ABCS | (DIVISOR - 1u) << CCR2_BRR_POS | MODULATION;
    MCU_REG32(SCI_CCR1) = CCR1_IDLES;
    MCU_REG32(SCI_CFCLR) = CFCLR_ALL;
    MCU_REG32(SCI_CCR0) = CCR0_RE | CCR0_TE | CCR0_RIE;
    while ((MCU_REG8(SCI_CESR) & CESR_RUNS) != CESR_RUNS) {
    }
}

/* Renode's model has no TDRE, and is always at the end of a transmission. */
void mcu_serial_put(uint8_t byte) {
    while ((MCU_REG32(SCI_CSR) & (CSR_TDRE | CSR_TEND)) == 0) {
    }
    MCU_REG32(SCI_TDR) = byte;
}

void mcu_serial_flush(void) {
    while ((MCU_REG32(SCI_CSR) & CSR_TEND) == 0) {
    }
}

/* One request a byte. It is cleared first, so that the next byte raises it again; an overrun, which
 * keeps further bytes out, is cleared too. */
void mcu_serial_handler(void) {
    MCU_REG32(ICU_IELSR) &= ~IELSR_IR;
    (void)MCU_REG32(ICU_IELSR);
    mcu_serial_received((uint8_t)MCU_REG32(SCI_RDR));
    if ((MCU_REG32(SCI_CSR) & CSR_ORER) != 0) {
        MCU_REG32(SCI_CFCLR) = CSR_ORER;
    }
}
