/* A context switch as the Cortex-M4F port of FreeRTOS makes it: SysTick asks for PendSV, which has
 * the lowest priority, runs on the main stack and moves the thread's registers to and from the
 * thread's own stack, which is the process stack.
 *
 * What the processor itself pushes at the entry of an exception is R0-R3, R12, LR, PC and xPSR; for
 * a thread that has used the FPU (CONTROL.FPCA), S0-S15 and FPSCR as well, in a frame of 26 words
 * in place of 8 (Armv7-M Architecture Reference Manual, DDI 0403, B1.5.6). Which of the two it was
 * is bit 4 of EXC_RETURN (B1.5.8): it belongs to the thread and is kept with it. With lazy
 * preservation (FPCCR.LSPEN, as after a reset; B3.2.21) the 18 words are only reserved; the first
 * FPU instruction of the handler, here the VSTM of S16-S31, makes the processor write them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "threads.h"

#include <string.h>

#include "board.h"
#include "cortexm.h"

#define ICSR_PENDSVSET (1u << 28)
#define XPSR_THUMB     (1u << 24)
/* Back to thread mode, on the process stack, from a frame without FPU registers. */
#define EXC_RETURN_THREAD_PSP 0xFFFFFFFDu

#define VECTORS       (16 + MCU_SERIAL_IRQ + 1)
#define LARGEST_TABLE 64 /* words; a table is aligned to its size (B3.2.5) */
#if VECTORS > LARGEST_TABLE
#error "the table in RAM is too small for this board"
#endif
enum { PENDSV = 14, SYSTICK = 15 };
/* The words on the stack of a thread that waits: R4-R11 and EXC_RETURN, which PendSV has pushed,
 * and above them what the processor has. */
enum { SAVED_EXC_RETURN = 8, FRAME_R0 = 9, FRAME_PC = 15, FRAME_XPSR = 16, SAVED_WORDS = 17 };

volatile uint32_t switches, switches_inside;

static void (*vectors[LARGEST_TABLE])(void) __attribute__((aligned(4 * LARGEST_TABLE)));
static thread_t *all;
static uint32_t num_threads;
static thread_t *current; /* NULL: the caller of threads_run */
static uint32_t *caller_sp;
static uint32_t shortest_slice, slice_range;

static uint32_t random_number(void) {
    static uint32_t state = 2463534242u; /* xorshift (Marsaglia 2003) */
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return state;
}

/* The reload that is set here is that of the next slice but one: the counter has just reloaded. */
static void systick(void) {
    MCU_REG32(MCU_SYST_RVR) = shortest_slice + (random_number() & (slice_range - 1));
    MCU_REG32(MCU_SCB_ICSR) = ICSR_PENDSVSET;
}

/* The next thread in turn that is not done; NULL, which is the caller, when all are. */
static thread_t *next_thread(void) {
    const uint32_t from = current != NULL ? (uint32_t)(current - all) : num_threads - 1;
    for (uint32_t step = 1; step <= num_threads; ++step) {
        thread_t *candidate = &all[(from + step) % num_threads];
        if (!candidate->done) {
            return candidate;
        }
    }
    return NULL;
}

/* Called by PendSV with the stack pointer of who has run; returns that of who runs now. */
uint32_t *switch_stacks(uint32_t *sp);
__attribute__((used)) uint32_t *switch_stacks(uint32_t *sp) {
    thread_t *before = current;
    thread_t *after = next_thread();
    if (before != NULL) {
        before->sp = sp;
    } else {
        caller_sp = sp;
    }
    if (after != before) {
        switches = switches + 1;
        if (before != NULL && before->at_work != 0) {
            before->interrupted |= 1u << (before->at_work - 1);
            if (after != NULL && after->at_work != 0) {
                switches_inside = switches_inside + 1;
            }
        }
    }
    current = after;
    return after != NULL ? after->sp : caller_sp;
}

/* FORGET_FPU leaves out what a port without FPU support would: the test sees what comes of it. */
#ifdef FORGET_FPU
#define SAVE_FPU
#define RESTORE_FPU
#else
#define SAVE_FPU                                                                                   \
    "tst lr, #0x10\n\t" /* EXC_RETURN, bit 4: 0 after an FPU instruction of the thread */          \
    "it eq\n\t"                                                                                    \
    "vstmdbeq r0!, {s16-s31}\n\t"
#define RESTORE_FPU                                                                                \
    "tst lr, #0x10\n\t"                                                                            \
    "it eq\n\t"                                                                                    \
    "vldmiaeq r0!, {s16-s31}\n\t"
#endif

__attribute__((naked)) static void pendsv(void) {
    __asm volatile("mrs r0, psp\n\t" SAVE_FPU "stmdb r0!, {r4-r11, lr}\n\t"
                   "bl switch_stacks\n\t"
                   "ldmia r0!, {r4-r11, lr}\n\t" RESTORE_FPU "msr psp, r0\n\t"
                   "isb\n\t"
                   "bx lr");
}

static void thread_main(thread_t *thread) {
    thread->entry(thread->argument);
    thread->done = true;
    for (;;) { /* until the next switch, for ever */
        MCU_REG32(MCU_SCB_ICSR) = ICSR_PENDSVSET;
        mcu_barrier();
    }
}

/* A stack as PendSV leaves it behind when it takes the processor from a thread. */
static void prepare(thread_t *thread) {
    memset(thread->stack, 0, sizeof thread->stack);
    thread->stack[0] = THREAD_STACK_END;
    uint32_t *frame = thread->stack + THREAD_STACK_BYTES / 4 - SAVED_WORDS;
    frame[SAVED_EXC_RETURN] = EXC_RETURN_THREAD_PSP;
    frame[FRAME_R0] = (uint32_t)thread;
    frame[FRAME_PC] = (uint32_t)thread_main & ~1u;
    frame[FRAME_XPSR] = XPSR_THUMB;
    thread->sp = frame;
    thread->at_work = 0;
    thread->interrupted = 0;
    thread->done = false;
}

void threads_init(void) {
    memcpy(vectors, (const void *)MCU_REG32(MCU_SCB_VTOR), VECTORS * sizeof *vectors);
    vectors[PENDSV] = pendsv;
    vectors[SYSTICK] = systick;
    mcu_barrier();
    MCU_REG32(MCU_SCB_VTOR) = (uint32_t)vectors;
    /* PendSV below all others: it must not take a thread's registers away from under a handler. */
    MCU_REG32(MCU_SCB_SHPR3) = 0xC0FF0000u;
    mcu_barrier();
}

void threads_run(thread_t *threads, uint32_t count, uint32_t shortest, uint32_t range) {
    all = threads;
    num_threads = count;
    current = NULL;
    switches = 0;
    switches_inside = 0;
    shortest_slice = shortest;
    slice_range = range;
    for (uint32_t i = 0; i < count; ++i) {
        prepare(&threads[i]);
    }
    MCU_REG32(MCU_SYST_RVR) = shortest;
    MCU_REG32(MCU_SYST_CVR) = 0;
    MCU_REG32(MCU_SYST_CSR) = MCU_SYST_CSR_CLKSOURCE | MCU_SYST_CSR_TICKINT | MCU_SYST_CSR_ENABLE;
    /* The caller gets the processor back when all are done. */
    MCU_REG32(MCU_SCB_ICSR) = ICSR_PENDSVSET;
    mcu_barrier();
    MCU_REG32(MCU_SYST_CSR) = 0;
}
