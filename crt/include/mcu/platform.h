/* What a board gives to the runtime's test firmware (boards/common implements it).
 * A network itself needs none of this.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MCU_PLATFORM_H
#define MCU_PLATFORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Brings up clocks, the serial port (reception by interrupt) and the counter. */
void mcu_platform_init(void);

/* Takes up to `size` received bytes without waiting; returns how many. */
size_t mcu_platform_read(uint8_t *data, size_t size);

/* Sends `size` bytes; returns when they are handed to the transmitter. Works with interrupts off
 * (the fault report uses it). */
void mcu_platform_write(const uint8_t *data, size_t size);

/* Sleeps until an interrupt, unless bytes have already been received (no lost wake-up). */
void mcu_platform_wait(void);

/* While it is allowed, MCU_STOP_ZEROS zero bytes in a row from the line end what is running, as a
 * fault of cause MCU_FAULT_STOPPED: so a host learns where a run is that does not end. No frame
 * holds a zero, and between two frames there are two. */
#define MCU_STOP_ZEROS 32U
void mcu_platform_allow_stop(bool is_allowed);

/* A free-running 64-bit counter, and what it counts. */
typedef enum mcu_counter_kind {
    MCU_COUNTER_NONE = 0,
    MCU_COUNTER_CYCLES = 1,      /* DWT CYCCNT on a real chip */
    MCU_COUNTER_NANOSECONDS = 2, /* the host's clock */
    MCU_COUNTER_TICKS = 3        /* SysTick, CPU clock */
} mcu_counter_kind_t;
mcu_counter_kind_t mcu_platform_counter_kind(void);
uint64_t mcu_platform_counter(void);

/* Restarts the device. */
void mcu_platform_reset(void);

/* Names and numbers for the hello reply, from board.toml. */
extern const char mcu_platform_board[];
extern const char mcu_platform_core[];
extern const uint32_t mcu_platform_clock_hz;
extern const uint32_t mcu_platform_baud;

/* The stack of the application: painted at start, so that the deepest use can be read back. */
size_t mcu_platform_stack_size(void);
size_t mcu_platform_stack_used(void);

/* ---- The second core: only on boards whose board.toml has a [second_core] ---- */

/* Lets the second core call entry(argument), once, on a stack of its own, and returns at once.
 * False where it is at work already. For threads of the first core, not for its interrupts. */
bool mcu_platform_start_second_core(void (*entry)(void *argument), void *argument);

/* Returns when the second core has done what it was last started for, and what it has written can
 * be read. The one that started it waits. */
void mcu_platform_second_core_wait(void);

/* The deepest use of its stack so far, as mcu_platform_stack_used; 0 before it was started. */
size_t mcu_platform_second_core_stack_used(void);

/* Why the processor stopped. A register that the core lacks is absent from `valid`, not zero. */
enum {
    MCU_FAULT_HAS_PC = 1U << 0,
    MCU_FAULT_HAS_LR = 1U << 1,
    MCU_FAULT_HAS_CFSR = 1U << 2,
    MCU_FAULT_HAS_HFSR = 1U << 3,
    MCU_FAULT_HAS_ADDRESS = 1U << 4, /* MMFAR or BFAR, where CFSR says that it is valid */
    MCU_FAULT_HAS_LAYER = 1U << 5
};
typedef enum mcu_fault_cause {
    MCU_FAULT_UNKNOWN = 0,
    MCU_FAULT_UNDEFINED_INSTRUCTION = 1,
    MCU_FAULT_INVALID_STATE = 2, /* a jump to an even address: no Thumb bit */
    MCU_FAULT_INVALID_PC = 3,
    MCU_FAULT_NO_COPROCESSOR = 4,
    MCU_FAULT_UNALIGNED = 5,
    MCU_FAULT_DIVIDE_BY_ZERO = 6,
    MCU_FAULT_STACK_OVERFLOW = 7,
    MCU_FAULT_BAD_READ = 8,    /* data bus error or MPU violation with a known address */
    MCU_FAULT_BAD_WRITE = 9,   /* an imprecise data bus error: a buffered write */
    MCU_FAULT_BAD_JUMP = 10,   /* instruction fetch from where there is no code */
    MCU_FAULT_BAD_ACCESS = 11, /* a data access fault of unknown direction */
    MCU_FAULT_EXCEPTION_ENTRY = 12,
    MCU_FAULT_LOCKUP_OR_OTHER = 13,
    MCU_FAULT_STOPPED = 14 /* by the host: mcu_platform_allow_stop */
} mcu_fault_cause_t;
typedef struct mcu_fault {
    uint32_t valid; /* MCU_FAULT_HAS_* */
    uint32_t cause; /* mcu_fault_cause_t */
    uint32_t pc;
    uint32_t lr;
    uint32_t cfsr;
    uint32_t hfsr;
    uint32_t address;
    uint32_t sp;
    uint32_t layer;
    uint32_t exception; /* IPSR: 2 NMI, 3 HardFault, 4 MemManage, ... 14 PendSV */
    uint32_t core;      /* 0: the first or only one, 1: the second */
} mcu_fault_t;

/* Called by the fault handler, on the handlers' own stack, with interrupts off; reports the fault
 * and restarts. The application (the test firmware) defines it; boards/common has a weak default
 * that restarts silently. */
void mcu_fault_report(mcu_fault_t *fault);

#ifdef __cplusplus
}
#endif

#endif /* MCU_PLATFORM_H */
