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

/* ---- startup.c ---- */

void mcu_reset_handler(void);
#define MCU_STACK_PAINT 0xA5A5A5A5u

/* Symbols of the linker script (link.ld.j2). */
extern uint32_t __stack_limit[], __stack_top[], __handler_stack_limit[], __handler_stack_top[];
extern uint32_t __data_start[], __data_end[], __data_load[], __bss_start[], __bss_end[];
extern uint32_t __mcu_code_start[], __mcu_code_end[], __mcu_ram_start[], __mcu_ram_end[];
extern void (*__init_array_start[])(void);
extern void (*__init_array_end[])(void);

/* ---- fault.c ---- */

void mcu_fault_entry(void);

/* ---- counter.c ---- */

void mcu_counter_init(void);
void mcu_counter_systick_handler(void);

/* ---- serial/<driver>.c: one of them is in a firmware ---- */

/* Turns the port on: clocks, pins, baud rate, receive interrupt (the NVIC is the platform's). */
void mcu_serial_init(void);

/* Hands one byte to the transmitter, polled: works with interrupts off. */
void mcu_serial_put(uint8_t byte);

/* Waits until the last byte is on the line, for a restart right after it. */
void mcu_serial_flush(void);

/* The receive interrupt: gives each byte that has arrived to mcu_serial_received. */
void mcu_serial_handler(void);

/* ---- platform_cortexm.c ---- */

/* Puts a received byte into the buffer; drops it when that is full. */
void mcu_serial_received(uint8_t byte);

#endif /* MCU_BOARDS_BOARD_H */
