/* From the process' start to mcu_firmware_main, on a painted stack with a guard below it.
 *
 *     firmware.elf --port 0     listens on a free port of 127.0.0.1, prints "port N"
 *     firmware.elf --stdio      speaks on standard input and output, ends with the input
 * SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "host.h"
#include "mcu/platform.h"

#define STACK_PAINT 0xA5u
#define GUARD_BYTES ((size_t)64 * 1024)

static uint8_t *stack_bottom; /* MCU_BOARD_STACK_BYTES above it are the application's */

size_t mcu_platform_stack_size(void) {
    return MCU_BOARD_STACK_BYTES;
}

size_t mcu_platform_stack_used(void) {
    size_t untouched = 0;
    while (untouched < MCU_BOARD_STACK_BYTES && stack_bottom[untouched] == STACK_PAINT) {
        ++untouched;
    }
    return MCU_BOARD_STACK_BYTES - untouched;
}

static void run_application(void) {
    const size_t bytes = GUARD_BYTES + MCU_BOARD_STACK_BYTES;
    uint8_t *guard = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (guard == MAP_FAILED || mprotect(guard, GUARD_BYTES, PROT_NONE) != 0 ||
        !mcu_host_catch_faults(guard, GUARD_BYTES)) {
        mcu_host_die("cannot set up the application's stack");
    }
    stack_bottom = guard + GUARD_BYTES;
    memset(stack_bottom, STACK_PAINT, MCU_BOARD_STACK_BYTES);
    static ucontext_t application, caller;
    getcontext(&application);
    application.uc_stack.ss_sp = stack_bottom;
    application.uc_stack.ss_size = MCU_BOARD_STACK_BYTES;
    application.uc_link = &caller;
    makecontext(&application, mcu_firmware_main, 0);
    swapcontext(&caller, &application);
}

int main(int argc, char **argv) {
    signal(SIGPIPE, SIG_IGN);
    /* A restart out of a signal handler inherits its mask. */
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);

    if (!mcu_host_open(argc, argv)) {
        fprintf(stderr, "usage: %s --port N | --stdio\n", argv[0]);
        return MCU_HOST_EXIT_USAGE;
    }
    run_application();
    return 0;
}
