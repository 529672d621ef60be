/* The inner doors of the host platform.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MCU_BOARDS_HOST_H
#define MCU_BOARDS_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the firmware has to bring: its main. If it returns, the process ends with code 0. */
void mcu_firmware_main(void);

/* ---- fault_host.c ---- */

/* Exit codes of the process. */
enum {
    MCU_HOST_EXIT_USAGE = 2,
    MCU_HOST_EXIT_SYSTEM = 3, /* a socket or memory that the system refused */
    MCU_HOST_EXIT_FAULT = 70  /* a fault while a fault was being reported */
};

/* Catches SIGSEGV, SIGBUS, SIGFPE, SIGILL, and SIGALRM where a run is stopped, on a stack of their
 * own and hands them to mcu_fault_report. `guard` (guard_bytes long) is the no-access stretch below
 * the application's stack: an access there is a stack overflow. Returns false where the system
 * refuses. */
bool mcu_host_catch_faults(const uint8_t *guard, size_t guard_bytes);

/* ---- platform_host.c ---- */

/* Opens the line that the arguments name (main_host.c). Returns false where they name none. */
bool mcu_host_open(int argc, char **argv);

/* Ends the process, with a sentence of what the system refused. */
__attribute__((noreturn)) void mcu_host_die(const char *what);

/* Whether MCU_STOP_ZEROS zero bytes came in a row; reads what has come. For the handler of SIGALRM,
 * which comes while mcu_platform_allow_stop allows it. */
bool mcu_host_is_stopped(void);

#endif /* MCU_BOARDS_HOST_H */
