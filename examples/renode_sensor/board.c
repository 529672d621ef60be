/* An STM32F746 at the 16 MHz that it starts with: vectors, memory, the FPU, USART1 at PA9, I2C1 at
 * PB8 and PB9. Registers: ST's reference manual RM0385. Tried in Renode alone.
 * SPDX-License-Identifier: Apache-2.0 */
#include "board.h"

#include <string.h>

#define REGISTER(address)  (*(volatile uint32_t *)(address))
#define RCC_AHB1ENR        REGISTER(0x40023830)
#define RCC_APB1ENR        REGISTER(0x40023840)
#define RCC_APB2ENR        REGISTER(0x40023844)
#define GPIO(port, offset) REGISTER(0x40020000 + 0x400 * (port) + (offset))
#define USART1(offset)     REGISTER(0x40011000 + (offset))
#define I2C1(offset)       REGISTER(0x40005400 + (offset))
#define CPACR              REGISTER(0xE000ED88)

enum { MODER = 0x00, OTYPER = 0x04, AFRL = 0x20, AFRH = 0x24, PORT_A = 0, PORT_B = 1 };
enum { CR1 = 0x00, BRR = 0x0C, USART_ISR = 0x1C, TDR = 0x28, UE = 1, TE = 8, TXE = 0x80 };
enum { CR2 = 0x04, TIMINGR = 0x10, I2C_ISR = 0x18, ICR = 0x1C, RXDR = 0x24, TXDR = 0x28, PE = 1 };
enum { TXIS = 0x02, RXNE = 0x04, NACKF = 0x10, STOPF = 0x20, TC = 0x40 };
enum { READ = 1 << 10, START = 1 << 13, AUTOEND = 1 << 25, NBYTES = 16 };
enum { PATIENCE = 20000 }; /* looks at a flag, several times a transfer */

/* stm32f746.ld */
extern uint32_t _data_load[], _data_begin[], _data_end[], _bss_begin[], _bss_end[], _stack_top[];

int main(void);
void reset_handler(void);
void fault_handler(void);

static void set_pin(unsigned port, unsigned pin, uint32_t function) {
    const uint32_t place = AFRL + pin / 8 * 4;
    GPIO(port, place) = (GPIO(port, place) & ~(0xFU << pin % 8 * 4)) | function << pin % 8 * 4;
    GPIO(port, MODER) = (GPIO(port, MODER) & ~(3U << pin * 2)) | 2U << pin * 2;
}

void board_init(void) {
    RCC_AHB1ENR |= 3;       /* GPIOA, GPIOB */
    RCC_APB1ENR |= 1 << 21; /* I2C1 */
    RCC_APB2ENR |= 1 << 4;  /* USART1 */
    set_pin(PORT_A, 9, 7);
    USART1(BRR) = 16000000 / 115200;
    USART1(CR1) = UE | TE;
    GPIO(PORT_B, OTYPER) |= 3 << 8; /* open drain */
    set_pin(PORT_B, 8, 4);
    set_pin(PORT_B, 9, 4);
    I2C1(TIMINGR) = 0x30420F13; /* 100 kHz of 16 MHz, from the manual's table */
    I2C1(CR1) = PE;
}

void board_print(const char *text) {
    for (; *text != '\0'; text++) {
        while ((USART1(USART_ISR) & TXE) == 0) {
        }
        USART1(TDR) = (uint8_t)*text;
    }
}

/* Waits for a flag of the bus; false where the device does not answer. */
static bool i2c_wait(uint32_t flag) {
    for (int turn = 0; turn < PATIENCE; turn++) {
        const uint32_t status = I2C1(I2C_ISR);
        if (status & NACKF) {
            break;
        }
        if (status & flag) {
            return true;
        }
    }
    I2C1(ICR) = NACKF | STOPF;
    return false;
}

bool i2c_read(uint8_t device, uint8_t first, uint8_t *values, size_t count) {
    I2C1(CR2) = (uint32_t)device << 1 | 1U << NBYTES | START;
    if (!i2c_wait(TXIS)) {
        return false;
    }
    I2C1(TXDR) = first;
    if (!i2c_wait(TC)) {
        return false;
    }
    I2C1(CR2) = (uint32_t)device << 1 | (uint32_t)count << NBYTES | READ | AUTOEND | START;
    for (size_t i = 0; i < count; i++) {
        if (!i2c_wait(RXNE)) {
            return false;
        }
        values[i] = (uint8_t)I2C1(RXDR);
    }
    if (!i2c_wait(STOPF)) {
        return false;
    }
    I2C1(ICR) = STOPF;
    return true;
}

bool i2c_write(uint8_t device, uint8_t first, uint8_t value) {
    const uint8_t bytes[2] = {first, value};
    I2C1(CR2) = (uint32_t)device << 1 | 2U << NBYTES | AUTOEND | START;
    for (size_t i = 0; i < sizeof bytes; i++) {
        if (!i2c_wait(TXIS)) {
            return false;
        }
        I2C1(TXDR) = bytes[i];
    }
    if (!i2c_wait(STOPF)) {
        return false;
    }
    I2C1(ICR) = STOPF;
    return true;
}

void reset_handler(void) {
    CPACR |= 0xFU << 20; /* full access to CP10 and CP11 */
    __asm__ volatile("dsb\n isb" ::: "memory");
    memcpy(_data_begin, _data_load, (size_t)((char *)_data_end - (char *)_data_begin));
    memset(_bss_begin, 0, (size_t)((char *)_bss_end - (char *)_bss_begin));
    main();
    for (;;) {
    }
}

void fault_handler(void) {
    board_print("the processor stopped on a fault\n");
    for (;;) {
    }
}

/* The first 16 entries; nothing here uses an interrupt. */
__attribute__((section(".vectors"), used)) static const uintptr_t vectors[16] = {
    (uintptr_t)_stack_top,    (uintptr_t)reset_handler, (uintptr_t)fault_handler,
    (uintptr_t)fault_handler, (uintptr_t)fault_handler, (uintptr_t)fault_handler,
    (uintptr_t)fault_handler,
};
