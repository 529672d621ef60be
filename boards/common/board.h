/* The inner doors between the start-up, the fault handler, the platform and the UART drivers.
 * Everything about a board comes as MCU_BOARD_* and MCU_SERIAL_* macros, which
 * mcu_deploy.boards.platform_defines makes from its board.toml.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MCU_BOARDS_BOARD_H
#define MCU_BOARDS_BOARD_H

#include <stddef.h>
#include <stdint.h>

/* What the firmware has to bring: its main. Never returns; if it does, the device restarts. */
void mcu_firmware_main(void);

/* ---- vectors.c ---- */

extern const struct mcu_vectors mcu_vectors;

/* ---- startup.c ---- */

void mcu_reset_handler(void);
#define MCU_STACK_PAINT 0xA5A5A5A5u

/* What each core needs once: its vector table (0 on Armv6-M, which has no VTOR), traps, FPU. */
void mcu_core_init(uint32_t vectors);

#if MCU_BOARD_CACHES
/* Writes back what only the data cache has, so that it lives through a restart. */
void mcu_clean_data_cache(void);
#endif

/* Symbols of the linker script (link.ld.j2). */
extern uint32_t __stack_limit[], __stack_top[], __handler_stack_limit[], __handler_stack_top[];
extern uint32_t __data_start[], __data_end[], __data_load[], __bss_start[], __bss_end[];
extern uint32_t __hot_code_start[], __hot_code_end[], __hot_code_load[];
extern uint32_t __mcu_code_start[], __mcu_code_end[], __mcu_ram_start[], __mcu_ram_end[];
extern void (*__init_array_start[])(void);
extern void (*__init_array_end[])(void);

/* ---- setup.c: the registers that board.toml's `setup` names ---- */

/* Of the board: first of all, before the memory is initialised. */
void mcu_setup_board(void);

/* Of the serial port: clocks and pins, before mcu_serial_init. */
void mcu_setup_serial(void);

/* ---- fault.c ---- */

void mcu_fault_entry(void);

/* What is a core's own. */
typedef struct mcu_core {
    uint32_t vectors; /* the address of its vector table */
    const uint32_t *stack_limit, *stack_top;
    const uint32_t *handler_limit, *handler_top;
} mcu_core_t;

#if MCU_BOARD_HAS_SECOND_CORE
/* NULL until it is started. */
extern const mcu_core_t *mcu_second_core;

/* A restart after a fault of the second core reaches both cores of a chip; of QEMU's machine only
 * the first one, and the second stays where it was. So it leaves a word that only its own reset
 * takes away; while that stands, the first core works alone. */
#define MCU_ABSENT 0xAB5E2C02u
extern volatile uint32_t mcu_second_core_absent;

/* ---- second_core/<driver>.c ---- */

/* Lets the second core out of its reset; it starts with the vector table at this address. Once. */
void mcu_second_core_release(uint32_t vectors);
#endif

/* ---- counter.c ---- */

void mcu_counter_init(void);
void mcu_counter_systick_handler(void);

/* ---- serial/<driver>.c: one of them is in a firmware ---- */

/* Turns the port on: baud rate, receive interrupt (clocks and pins are there, and the NVIC is the
 * platform's). */
void mcu_serial_init(void);

/* Hands one byte to the transmitter, polled: works with interrupts off. */
void mcu_serial_put(uint8_t byte);

/* Waits until the last byte is on the line, for a restart right after it. */
void mcu_serial_flush(void);

/* The receive interrupt: gives each byte that has arrived to mcu_serial_received. */
void mcu_serial_handler(void);

/* ---- receive.c ---- */

/* Puts a received byte into the buffer; drops it when that is full. */
void mcu_serial_received(uint8_t byte);

#endif /* MCU_BOARDS_BOARD_H */
