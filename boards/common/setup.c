/* Writes to registers and waits for their bits, as board.toml lists them: clocks, pins, watchdogs.
 * SPDX-License-Identifier: Apache-2.0 */
#include "board.h"
#include "cortexm.h"

#define MCU_STEP_WRITE  0
#define MCU_STEP_CHANGE 1
#define MCU_STEP_WAIT   2

typedef struct step {
    uint32_t address;
    uint32_t mask;
    uint32_t value;
    uint8_t bits; /* of the register: 8, 16, 32 */
    uint8_t kind;
} step_t;

#if defined(MCU_BOARD_SETUP) || defined(MCU_SERIAL_SETUP)
static uint32_t read_register(const step_t *step) {
    switch (step->bits) {
    case 8:
        return *(volatile uint8_t *)step->address;
    case 16:
        return *(volatile uint16_t *)step->address;
    default:
        return *(volatile uint32_t *)step->address;
    }
}

static void write_register(const step_t *step, uint32_t value) {
    switch (step->bits) {
    case 8:
        *(volatile uint8_t *)step->address = (uint8_t)value;
        break;
    case 16:
        *(volatile uint16_t *)step->address = (uint16_t)value;
        break;
    default:
        *(volatile uint32_t *)step->address = value;
        break;
    }
}

/* Runs before .data and .bss are there: it may use neither. */
static void follow(const step_t *steps, uint32_t count) {
    for (const step_t *step = steps; step < steps + count; ++step) {
        if (step->kind == MCU_STEP_WRITE) {
            write_register(step, step->value);
        } else if (step->kind == MCU_STEP_CHANGE) {
            write_register(step, (read_register(step) & ~step->mask) | step->value);
            (void)read_register(step); /* some peripherals answer a few clocks after their gate */
        } else {
            while ((read_register(step) & step->mask) != step->value) {
            }
        }
    }
    mcu_barrier();
}
#endif

void mcu_setup_board(void) {
#ifdef MCU_BOARD_SETUP
    static const step_t steps[] = {MCU_BOARD_SETUP};
    follow(steps, sizeof steps / sizeof steps[0]);
#endif
}

void mcu_setup_serial(void) {
#ifdef MCU_SERIAL_SETUP
    static const step_t steps[] = {MCU_SERIAL_SETUP};
    follow(steps, sizeof steps / sizeof steps[0]);
#endif
}
