/* Threads that are switched by a timer's interrupt, at pseudo-random instants: the least of an
 * RTOS, for the test that runs networks in them.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THREADS_H
#define THREADS_H

#include <stdbool.h>
#include <stdint.h>

enum { THREAD_STACK_BYTES = 2048 };

/* The lowest word of each stack; still there at the end where none has overflowed. */
#define THREAD_STACK_END 0x57ACEAD0u

typedef struct thread {
    void (*entry)(void *argument);
    void *argument;
    volatile uint32_t
        at_work;          /* what the thread says of itself: 0, or the layer it is in, plus 1 */
    uint32_t interrupted; /* bit n: it lost the processor to another inside of layer n */
    volatile bool done;
    uint32_t *sp; /* of a thread that does not run: where PendSV has put its registers */
    uint32_t stack[THREAD_STACK_BYTES / 4] __attribute__((aligned(8)));
} thread_t;

/* Switches since threads_run began, and those of them from inside of one thread's layer into the
 * middle of another's. */
extern volatile uint32_t switches, switches_inside;

/* Copies the board's vector table to RAM and takes PendSV and SysTick over. Once, before the rest.
 */
void threads_init(void);

/* Runs all threads to their end, in turn, each for `shortest` clocks and up to `range` (a power of
 * two) more. The caller is no thread of theirs: it goes on when the last of them is done. */
void threads_run(thread_t *threads, uint32_t count, uint32_t shortest, uint32_t range);

#endif /* THREADS_H */
