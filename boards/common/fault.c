/* The fault handler: finds out what happened and hands it to mcu_fault_report.
 *
 * It trusts nothing: after a stack overflow the exception frame was not written, so the frame's
 * address is checked before it is read, and what is not known is left out of `valid`. Fault bits:
 * Armv7-M Architecture Reference Manual, B3.2.15 and B3.2.16; STKOF: Armv8-M.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>

#include "board.h"
#include "cortexm.h"
#include "mcu/platform.h"

/* What the processor pushes: R0-R3, R12, LR, PC, xPSR. */
enum { FRAME_LR = 5, FRAME_PC = 6, FRAME_WORDS = 8 };

#define EXCEPTION_PENDSV 14u /* mcu_serial_received raises it, to stop what is running */

#define EXC_RETURN_PSP (1u << 2)
#define STACK_REACH    (64u * 1024u) /* how far below its stack a big frame may strike */

#define CFSR_IACCVIOL    (1u << 0)
#define CFSR_DACCVIOL    (1u << 1)
#define CFSR_MUNSTKERR   (1u << 3)
#define CFSR_MSTKERR     (1u << 4)
#define CFSR_MLSPERR     (1u << 5)
#define CFSR_MMARVALID   (1u << 7)
#define CFSR_IBUSERR     (1u << 8)
#define CFSR_PRECISERR   (1u << 9)
#define CFSR_IMPRECISERR (1u << 10)
#define CFSR_UNSTKERR    (1u << 11)
#define CFSR_STKERR      (1u << 12)
#define CFSR_LSPERR      (1u << 13)
#define CFSR_BFARVALID   (1u << 15)
#define CFSR_UNDEFINSTR  (1u << 16)
#define CFSR_INVSTATE    (1u << 17)
#define CFSR_INVPC       (1u << 18)
#define CFSR_NOCP        (1u << 19)
#define CFSR_STKOF       (1u << 20)
#define CFSR_UNALIGNED   (1u << 24)
#define CFSR_DIVBYZERO   (1u << 25)

static const mcu_core_t first_core = {.stack_limit = __stack_limit,
                                      .stack_top = __stack_top,
                                      .handler_limit = __handler_stack_limit,
                                      .handler_top = __handler_stack_top};

#if MCU_BOARD_HAS_SECOND_CORE
const mcu_core_t *mcu_second_core;
__attribute__((section(".noinit"))) volatile uint32_t mcu_second_core_absent;
#endif

/* What this runs on. Each core has a vector table of its own, and the first core may move its to
 * where it likes. */
static const mcu_core_t *this_core(void) {
#if MCU_BOARD_HAS_SECOND_CORE
    if (mcu_second_core != NULL && MCU_REG32(MCU_SCB_VTOR) == mcu_second_core->vectors) {
        return mcu_second_core;
    }
#endif
    return &first_core;
}

void mcu_fault_decode(uint32_t exc_return, uint32_t psp, uint32_t msp);

/* The weak default: restart without a word. */
__attribute__((weak)) void mcu_fault_report(mcu_fault_t *fault) {
    (void)fault;
    mcu_platform_reset();
}

__attribute__((naked)) void mcu_fault_entry(void) {
    __asm volatile("cpsid i\n\t"
                   "mov r0, lr\n\t"
                   "mrs r1, psp\n\t"
                   "mrs r2, msp\n\t"
                   "bl mcu_fault_decode\n\t"
                   "b .");
}

static bool in_stack(uint32_t address, const uint32_t *limit, const uint32_t *top) {
    return address % 4 == 0 && address >= (uint32_t)limit &&
           address <= (uint32_t)top - FRAME_WORDS * sizeof(uint32_t);
}

#if !MCU_ARMV6M
/* Whether the load or store at `pc` writes; MCU_FAULT_BAD_ACCESS where it is neither. In a 32-bit
 * Thumb encoding of a load or store (also of VLDR, VLDM and Helium's) bit 4 of the first halfword
 * tells the load (Armv7-M ARM, A5.3 and A6). */
static mcu_fault_cause_t access_at(uint32_t pc) {
    const bool in_text = pc >= (uint32_t)__mcu_code_start && pc < (uint32_t)__mcu_code_end;
    const bool is_hot = pc >= (uint32_t)__hot_code_start && pc < (uint32_t)__hot_code_end;
    if (pc % 2 != 0 || !(in_text || is_hot)) {
        return MCU_FAULT_BAD_ACCESS;
    }
    const uint32_t code = *(const uint16_t *)pc;
    bool load;
    if (code >> 11 == 0x09) { /* LDR (literal) */
        load = true;
    } else if (code >> 12 == 0x5) { /* register offset: STR, STRH, STRB, LDRSB, LDR, ... */
        load = (code >> 9 & 7) >= 3;
    } else if ((code >> 12 >= 0x6 && code >> 12 <= 0x9) || code >> 12 == 0xC) {
        load = (code >> 11 & 1) != 0; /* immediate offset, LDM, STM */
    } else if (code >> 9 == 0x5E) {   /* POP; where PUSH fails, so does the exception frame */
        load = true;
    } else if ((code & 0xEA00) == 0xE800) { /* E8xx, E9xx, ECxx, EDxx and F8xx, F9xx, FCxx, FDxx */
        load = (code & 0x10) != 0;
    } else {
        return MCU_FAULT_BAD_ACCESS;
    }
    return load ? MCU_FAULT_BAD_READ : MCU_FAULT_BAD_WRITE;
}

/* The address belongs to the stretch below the application's stack. */
static bool below_stack(uint32_t address, const mcu_core_t *core) {
    return address < (uint32_t)core->stack_limit &&
           address >= (uint32_t)core->stack_limit - STACK_REACH;
}

static mcu_fault_cause_t usage_cause(uint32_t cfsr) {
    if (cfsr & CFSR_DIVBYZERO) {
        return MCU_FAULT_DIVIDE_BY_ZERO;
    }
    if (cfsr & CFSR_UNALIGNED) {
        return MCU_FAULT_UNALIGNED;
    }
    if (cfsr & CFSR_NOCP) {
        return MCU_FAULT_NO_COPROCESSOR;
    }
    if (cfsr & CFSR_INVPC) {
        return MCU_FAULT_INVALID_PC;
    }
    if (cfsr & CFSR_INVSTATE) {
        return MCU_FAULT_INVALID_STATE;
    }
    return cfsr & CFSR_UNDEFINSTR ? MCU_FAULT_UNDEFINED_INSTRUCTION : MCU_FAULT_UNKNOWN;
}

/* The cause by CFSR, the most telling bit first: an overflow sets others too. */
static mcu_fault_cause_t cause_of(const mcu_fault_t *fault, const mcu_core_t *core, bool psp_lost) {
    const uint32_t cfsr = fault->cfsr;
    const uint32_t stacking = CFSR_MSTKERR | CFSR_STKERR | CFSR_MLSPERR | CFSR_LSPERR;
    const bool has_address = (fault->valid & MCU_FAULT_HAS_ADDRESS) != 0;
    if ((cfsr & CFSR_STKOF) || ((cfsr & stacking) && psp_lost) ||
        (has_address && below_stack(fault->address, core))) {
        return MCU_FAULT_STACK_OVERFLOW;
    }
    if (cfsr & (CFSR_IACCVIOL | CFSR_IBUSERR)) {
        return MCU_FAULT_BAD_JUMP;
    }
    if (cfsr & (CFSR_DACCVIOL | CFSR_PRECISERR)) {
        return fault->valid & MCU_FAULT_HAS_PC ? access_at(fault->pc) : MCU_FAULT_BAD_ACCESS;
    }
    if (cfsr & CFSR_IMPRECISERR) {
        return MCU_FAULT_BAD_WRITE; /* loads are precise; a store may be buffered */
    }
    if (cfsr & (stacking | CFSR_MUNSTKERR | CFSR_UNSTKERR)) {
        return MCU_FAULT_EXCEPTION_ENTRY;
    }
    const mcu_fault_cause_t usage = usage_cause(cfsr);
    if (usage != MCU_FAULT_UNKNOWN) {
        return usage;
    }
    return psp_lost ? MCU_FAULT_STACK_OVERFLOW : MCU_FAULT_LOCKUP_OR_OTHER;
}

static void read_fault_registers(mcu_fault_t *fault) {
    /* Before CFSR: a later fault would not clear these, but reading them first is what the manual
     * asks for. */
    const uint32_t mmfar = MCU_REG32(MCU_SCB_MMFAR);
    const uint32_t bfar = MCU_REG32(MCU_SCB_BFAR);
    fault->cfsr = MCU_REG32(MCU_SCB_CFSR);
    fault->hfsr = MCU_REG32(MCU_SCB_HFSR);
    fault->valid |= MCU_FAULT_HAS_CFSR | MCU_FAULT_HAS_HFSR;
    if (fault->cfsr & CFSR_MMARVALID) {
        fault->address = mmfar;
        fault->valid |= MCU_FAULT_HAS_ADDRESS;
    } else if (fault->cfsr & CFSR_BFARVALID) {
        fault->address = bfar;
        fault->valid |= MCU_FAULT_HAS_ADDRESS;
    }
}
#endif

/* Called by mcu_fault_entry, on the main stack, with interrupts off. */
__attribute__((used)) void mcu_fault_decode(uint32_t exc_return, uint32_t psp, uint32_t msp) {
    static bool reporting; /* cleared by the start-up, with .bss */
    if (reporting) {
        MCU_REG32(MCU_SCB_AIRCR) = MCU_SCB_AIRCR_RESET; /* a fault while reporting a fault */
        for (;;) {
        }
    }
    reporting = true;

    mcu_fault_t fault = {0};
    const bool on_psp = (exc_return & EXC_RETURN_PSP) != 0;
    const mcu_core_t *core = this_core();
    fault.core = core == &first_core ? 0 : 1;
#if MCU_BOARD_HAS_SECOND_CORE
    if (fault.core != 0) {
        mcu_second_core_absent = MCU_ABSENT;
    }
#endif
    const bool frame_ok = on_psp ? in_stack(psp, core->stack_limit, core->stack_top)
                                 : in_stack(msp, core->handler_limit, core->handler_top);
    const bool psp_lost = on_psp && !frame_ok;
    uint32_t ipsr;
    __asm volatile("mrs %0, ipsr" : "=r"(ipsr));
    fault.exception = ipsr & 0x1FFu;
    fault.sp = on_psp ? psp : msp;
    bool frame_written = frame_ok;
#if !MCU_ARMV6M
    read_fault_registers(&fault);
    /* Where pushing the frame itself broke the stack limit, SP stands at the limit (Armv8-M). */
    const bool at_limit = (fault.cfsr & CFSR_STKOF) != 0 &&
                          fault.sp == (uint32_t)(on_psp ? core->stack_limit : core->handler_limit);
    frame_written = frame_ok && !at_limit && (fault.cfsr & (CFSR_MSTKERR | CFSR_STKERR)) == 0;
#endif
    if (frame_written) {
        const uint32_t *frame = (const uint32_t *)fault.sp;
        fault.lr = frame[FRAME_LR];
        fault.pc = frame[FRAME_PC];
        fault.valid |= MCU_FAULT_HAS_PC | MCU_FAULT_HAS_LR;
    }
#if MCU_ARMV6M
    fault.cause = psp_lost ? MCU_FAULT_STACK_OVERFLOW : MCU_FAULT_UNKNOWN; /* no CFSR here */
#else
    fault.cause = cause_of(&fault, core, psp_lost);
#endif
    if (fault.exception == EXCEPTION_PENDSV) {
        fault.cause = MCU_FAULT_STOPPED;
    }
    mcu_fault_report(&fault);
    mcu_platform_reset();
}
