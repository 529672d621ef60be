/* How long a core waits for memories that do not answer at once: a model, beside mcu_count.c.
 *
 * The instructions of a core are followed in their order, and what they read and write. A fetch
 * that no buffer and no cache answers waits for a read of the memory, and so does a read of data.
 * Times are in thousandths of a cycle. docs/costs.md says what is modelled, and what is not.
 *
 * The file that `memories_read` takes has lines of numbers in decimal, addresses in hexadecimal:
 *
 *   cache SETS WAYS LINE_BYTES POLICY      the next cache, from 0 on; POLICY: 0 the line that was
 *                                          used longest ago makes room, 1 the oldest, 2 any
 *   memory FIRST END WAIT READ PREFETCH INSTRUCTIONS DATA
 *                                          from FIRST up to END: a read of READ bytes takes WAIT
 *                                          thousandths; the caches' numbers, -1 where there is none
 *   cost ADDRESS TIME JUMP                 an instruction's own time, and what is added where the
 *                                          next one is not the one behind it; 1000 and 0 by default
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

enum { MAX_STEPS = 1 << 18 };
typedef struct memory memory_t;

/* An instruction as it is followed. */
typedef struct {
    uint64_t address;
    uint64_t time;
    uint64_t jump;
    memory_t *memory; /* NULL: answers at once */
    uint32_t size;
} step_t;

/* What the core waited since the start, in thousandths of a cycle. */
extern uint64_t memories_code_wait;
extern uint64_t memories_data_wait;

/* False where the file is missing or has another line. */
bool memories_read_file(const char *name);

/* The instruction at an address; the same pointer each time. NULL: there are too many. */
step_t *memories_step(uint64_t address, uint32_t size);

/* All of them, at most MAX_STEPS, from 1 on. */
extern step_t memories_steps[MAX_STEPS + 1];
extern uint32_t memories_num_steps;

/* An instruction is about to be executed; it then reads or writes. */
void memories_execute(const step_t *step);
void memories_read(uint64_t address);
void memories_write(uint64_t address);
