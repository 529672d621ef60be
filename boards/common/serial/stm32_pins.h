/* Clock gates and pins of STM32 chips, from board.toml.
 * Registers: GPIO_TypeDef in ST's CMSIS device headers stm32f405xx.h and stm32f746xx.h.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MCU_BOARDS_STM32_PINS_H
#define MCU_BOARDS_STM32_PINS_H

#include "../cortexm.h"

static inline void mcu_stm32_enable_clocks(void) {
#ifdef MCU_SERIAL_CLOCK_GATES
    static const struct {
        uint32_t address;
        uint32_t bit;
    } gates[] = {MCU_SERIAL_CLOCK_GATES};
    for (uint32_t i = 0; i < sizeof gates / sizeof gates[0]; ++i) {
        MCU_REG32(gates[i].address) |= 1u << gates[i].bit;
        (void)MCU_REG32(gates[i].address); /* the peripheral answers two clocks later */
    }
    mcu_barrier();
#endif
}

static inline void mcu_stm32_connect_pins(void) {
#ifdef MCU_SERIAL_PINS
    static const struct {
        uint32_t port;
        uint32_t pin;
        uint32_t function;
    } pins[] = {MCU_SERIAL_PINS};
    for (uint32_t i = 0; i < sizeof pins / sizeof pins[0]; ++i) {
        const uint32_t port = pins[i].port;
        const uint32_t pin = pins[i].pin;
        const uint32_t afr = port + 0x20u + pin / 8 * 4; /* AFR[0], AFR[1]: 4 bits a pin */
        const uint32_t shift = pin % 8 * 4;
        MCU_REG32(afr) = (MCU_REG32(afr) & ~(0xFu << shift)) | pins[i].function << shift;
        /* PUPDR = 1: pull-up, so that an open line rests; MODER = 2: alternate function */
        const uint32_t two = 3u << pin * 2;
        MCU_REG32(port + 0x0Cu) = (MCU_REG32(port + 0x0Cu) & ~two) | 1u << pin * 2;
        MCU_REG32(port) = (MCU_REG32(port) & ~two) | 2u << pin * 2;
    }
#endif
}

#endif /* MCU_BOARDS_STM32_PINS_H */
