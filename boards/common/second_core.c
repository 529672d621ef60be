/* A second core that does what the first one asks: start, hand-shake, its vectors and stacks.
 *
 * Both run one program in one memory. The second core sleeps until a job is posted, does it, says
 * so, and sleeps again. Two counters that each only one core writes are the whole protocol: a job
 * is there while `posted` is ahead of `finished`. Barriers keep the job's data in order with them
 * (DMB), and SEV wakes the core that waits in WFE; the event is latched, so that one which comes
 * between the look and the WFE is not lost (Armv7-M Architecture Reference Manual, B1.5.18).
 *
 * How the core is let out of its reset is the driver's business: second_core/<driver>.c.
 * SPDX-License-Identifier: Apache-2.0 */
#include "board.h"
#include "cortexm.h"
#include "mcu/parallel.h"
#include "mcu/platform.h"

/* The linker script puts this above the first core's stacks; it is there only where it is used. */
__attribute__((section(".bss.mcu_second_core_stack"), aligned(32))) static struct {
    uint32_t application[MCU_SECOND_CORE_STACK_BYTES / 4];
    uint32_t handler[MCU_SECOND_CORE_HANDLER_STACK_BYTES / 4];
} stack;
#define END(array) ((array) + sizeof(array) / sizeof *(array))

static void (*volatile job)(void *argument);
static void *volatile job_argument;
static volatile uint32_t posted;   /* written by the first core only */
static volatile uint32_t finished; /* written by the second core only */

/* Says `count` at *mine, and waits until `posted` is `ahead` of `finished`.
 *
 * This is where a core idles, and the only place: who counts instructions leaves this function out
 * (mcu_deploy/device/counting.py). WFE is a hint: a core, or an emulator, need not sleep in it. */
static __attribute__((noipa)) void mcu_core_wait(volatile uint32_t *mine, uint32_t count,
                                                 uint32_t ahead) {
    __asm volatile("dmb" ::: "memory");
    *mine = count;
    __asm volatile("dsb\n\tsev" ::: "memory");
    while (posted - finished != ahead) {
        __asm volatile("wfe" ::: "memory");
    }
    __asm volatile("dmb" ::: "memory");
}

/* A core that is out of its reset says so soon. */
static void wait_for_absentee(void) {
    for (uint32_t patience = 100000; mcu_second_core_absent == MCU_ABSENT && patience > 0;
         --patience) {
    }
}

static __attribute__((noreturn, used)) void serve(void) {
    uint32_t number = finished;
    for (;;) {
        mcu_core_wait(&finished, number, 1);
        number = posted;
        job(job_argument);
    }
}

static void second_reset(void);

/* Its interrupts stay off: the board's ports belong to the first core. */
static const struct {
    const uint32_t *initial_sp;
    void (*system[15])(void); /* exceptions 1 .. 15 */
} vectors __attribute__((aligned(128))) = {
    END(stack.handler),
    {second_reset, mcu_fault_entry, mcu_fault_entry, mcu_fault_entry, mcu_fault_entry,
     mcu_fault_entry, mcu_fault_entry, 0, 0, 0, mcu_fault_entry, mcu_fault_entry, 0,
     mcu_fault_entry, mcu_fault_entry},
};

static const mcu_core_t this_core = {(uint32_t)&vectors, stack.application, END(stack.application),
                                     stack.handler, END(stack.handler)};

/* As at the end of mcu_reset_handler: thread mode on PSP, handlers on MSP, both guarded. A function
 * in assembly: what sets SP by hand has no bound of its stack, and second_reset has one. */
static __attribute__((naked, noreturn)) void to_application(const uint32_t *top
                                                            __attribute__((unused))) {
    __asm__("msr psp, r0\n\t"
            "movs r0, #2\n\t"
            "msr control, r0\n\t"
            "isb\n\t"
            "bl serve");
}

static __attribute__((noreturn)) void second_reset(void) {
    mcu_second_core_absent = 0;
    mcu_core_init((uint32_t)&vectors);
#if MCU_BOARD_HAS_PSPLIM
    __asm volatile("msr psplim, %0\n\t"
                   "msr msplim, %1" ::"r"(stack.application),
                   "r"(stack.handler));
#endif
    to_application(END(stack.application));
}

static void power_on(void) {
    for (uint32_t *word = stack.application; word < END(stack.application); ++word) {
        *word = MCU_STACK_PAINT;
    }
    mcu_second_core = &this_core;
    mcu_barrier();
    mcu_second_core_release((uint32_t)&vectors);
    wait_for_absentee();
}

/* Interrupts are off from the look to the post: two threads may want the core. */
bool mcu_platform_start_second_core(void (*entry)(void *argument), void *argument) {
    const uint32_t primask = mcu_interrupts_off();
    if (mcu_second_core == NULL) {
        power_on();
    }
    const bool idle = posted == finished && mcu_second_core_absent != MCU_ABSENT;
    if (idle) {
        job = entry;
        job_argument = argument;
        __asm volatile("dmb" ::: "memory");
        posted = posted + 1;
        __asm volatile("dsb\n\tsev" ::: "memory");
    }
    mcu_interrupts_restore(primask);
    return idle;
}

void mcu_platform_second_core_wait(void) {
    mcu_core_wait(&posted, posted, 0);
}

size_t mcu_platform_second_core_stack_used(void) {
    const uint32_t *untouched = stack.application;
    while (mcu_second_core != NULL && untouched < END(stack.application) &&
           *untouched == MCU_STACK_PAINT) {
        ++untouched;
    }
    return mcu_second_core != NULL
               ? (size_t)(END(stack.application) - untouched) * sizeof *untouched
               : 0;
}

void _mcu_parallel(void (*first)(void *context), void (*second)(void *context), void *context) {
    const bool started = mcu_platform_start_second_core(second, context);
    first(context);
    if (started) {
        mcu_platform_second_core_wait();
    } else {
        second(context);
    }
}
