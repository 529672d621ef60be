/* Signals of the host as faults of mcu/platform.h.
 *
 * Registers are 32 bits wide in the report: one that does not fit is absent, not cut. The code lies
 * below 4 GiB, since host firmware is linked with -no-pie.
 * SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <signal.h>
#include <ucontext.h>
#include <unistd.h>

#include "host.h"
#include "mcu/platform.h"

static const uint8_t *guard_start;
static size_t guard_size;
static uint8_t signal_stack[64 * 1024] __attribute__((aligned(16)));
static volatile sig_atomic_t reporting;

/* The weak default: restart without a word. */
__attribute__((weak)) void mcu_fault_report(mcu_fault_t *fault) {
    (void)fault;
    mcu_platform_reset();
}

/* Where the program was, and whether it wrote (1), read (0) or jumped (2); -1: not known. */
#if defined(__x86_64__)
static uintptr_t program_counter(const ucontext_t *context) {
    return (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
}
static uintptr_t stack_pointer(const ucontext_t *context) {
    return (uintptr_t)context->uc_mcontext.gregs[REG_RSP];
}
static int access_kind(const ucontext_t *context) {
    const long long error = context->uc_mcontext.gregs[REG_ERR]; /* the page fault's error code */
    const int write = (error & 2) != 0 ? 1 : 0;
    return (error & 16) != 0 ? 2 : write;
}
#elif defined(__aarch64__)
static uintptr_t program_counter(const ucontext_t *context) {
    return (uintptr_t)context->uc_mcontext.pc;
}
static uintptr_t stack_pointer(const ucontext_t *context) {
    return (uintptr_t)context->uc_mcontext.sp;
}
static int access_kind(const ucontext_t *context) {
    (void)context;
    return -1;
}
#else
#error "the host platform knows x86-64 and AArch64"
#endif

static mcu_fault_cause_t segment_cause(uintptr_t address, uintptr_t pc, int access) {
    if (guard_start != NULL && address - (uintptr_t)guard_start < guard_size) {
        return MCU_FAULT_STACK_OVERFLOW;
    }
    if (access == 2 || address == pc) {
        return MCU_FAULT_BAD_JUMP;
    }
    if (access < 0) {
        return MCU_FAULT_BAD_ACCESS;
    }
    return access == 1 ? MCU_FAULT_BAD_WRITE : MCU_FAULT_BAD_READ;
}

static void on_fault(int number, siginfo_t *info, void *opaque) {
    if (number == SIGALRM && !mcu_host_is_stopped()) {
        return;
    }
    if (reporting) {
        _exit(MCU_HOST_EXIT_FAULT);
    }
    reporting = 1;
    const ucontext_t *context = opaque;
    const uintptr_t pc = program_counter(context);
    const uintptr_t address = (uintptr_t)info->si_addr;
    mcu_fault_t fault = {.exception = 3, .sp = (uint32_t)stack_pointer(context)};
    if (pc <= UINT32_MAX) {
        fault.pc = (uint32_t)pc;
        fault.valid |= MCU_FAULT_HAS_PC;
    }
    switch (number) {
    case SIGALRM:
        fault.cause = MCU_FAULT_STOPPED;
        fault.exception = 14;
        break;
    case SIGILL:
        fault.cause = MCU_FAULT_UNDEFINED_INSTRUCTION;
        break;
    case SIGFPE:
        fault.cause = MCU_FAULT_DIVIDE_BY_ZERO;
        break;
    default:
        fault.cause = segment_cause(address, pc, number == SIGSEGV ? access_kind(context) : -1);
        if (address <= UINT32_MAX) {
            fault.address = (uint32_t)address;
            fault.valid |= MCU_FAULT_HAS_ADDRESS;
        }
        break;
    }
    mcu_fault_report(&fault);
    mcu_platform_reset();
}

bool mcu_host_catch_faults(const uint8_t *guard, size_t guard_bytes) {
    guard_start = guard;
    guard_size = guard_bytes;
    const stack_t stack = {.ss_sp = signal_stack, .ss_size = sizeof signal_stack};
    if (sigaltstack(&stack, NULL) != 0) {
        return false;
    }
    struct sigaction action = {.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER | SA_RESTART};
    action.sa_sigaction = on_fault;
    sigemptyset(&action.sa_mask);
    sigaddset(&action.sa_mask, SIGALRM);
    static const int numbers[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGALRM};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; ++i) {
        if (sigaction(numbers[i], &action, NULL) != 0) {
            return false;
        }
    }
    return true;
}
