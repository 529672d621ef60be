/* See memories.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "memories.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CYCLE = 1000, MAX_CACHES = 16, MAX_MEMORIES = 16, TABLE_BITS = 19 };
/* The core's own queue asks for code that lies so far ahead of what it executes: three words, as
 * many as the prefetch unit of a Cortex-M4 holds (its TRM, 1.2). */
enum { QUEUE_BYTES = 12, QUEUE_LENGTH = 16 };
static const uint64_t NOWHERE = ~0ULL;

uint64_t memories_code_wait;
uint64_t memories_data_wait;
step_t memories_steps[MAX_STEPS + 1];
uint32_t memories_num_steps;

static uint64_t now;

/* ---- Caches ---- */

/* A line has one tag, and a bit for each read of the memory that has filled it. */
typedef struct {
    uint64_t tag; /* the line's number + 1; 0: empty */
    uint64_t age;
    uint64_t filled;
} line_t;

typedef struct {
    uint64_t sets, ways, line_bytes, policy;
    line_t *lines;
} cache_t;

static cache_t caches[MAX_CACHES];
static int num_caches;
static uint64_t uses; /* of all caches: a line's age is when it was used, or filled */
static uint64_t dice = 88172645463325252ULL; /* the same in each run */

static uint64_t throw_dice(void) { /* xorshift64, Marsaglia 2003 */
    dice ^= dice << 13;
    dice ^= dice >> 7;
    dice ^= dice << 17;
    return dice;
}

static line_t *line_of(cache_t *cache, uint64_t line) {
    line_t *set = &cache->lines[line % cache->sets * cache->ways];
    for (uint64_t way = 0; way < cache->ways; way++) {
        if (set[way].tag == line + 1) {
            return &set[way];
        }
    }
    return NULL;
}

static line_t *free_line(cache_t *cache, uint64_t line) {
    line_t *set = &cache->lines[line % cache->sets * cache->ways];
    line_t *oldest = &set[0];
    for (uint64_t way = 0; way < cache->ways; way++) {
        if (set[way].tag == 0) {
            return &set[way];
        }
        oldest = set[way].age < oldest->age ? &set[way] : oldest;
    }
    return cache->policy == 2 ? &set[throw_dice() % cache->ways] : oldest;
}

/* The bits of a line that a read of `width` bytes at `address` fills. */
static uint64_t filled_by(const cache_t *cache, uint64_t address, uint64_t width) {
    if (width >= cache->line_bytes) {
        return ~0ULL;
    }
    return 1ULL << (address % cache->line_bytes / width);
}

static bool has(cache_t *cache, uint64_t address, uint64_t width) {
    const line_t *line = line_of(cache, address / cache->line_bytes);
    return line != NULL && (line->filled & filled_by(cache, address, width)) != 0;
}

/* Whether the cache has it already; it has it behind. A read that is wider than a line fills
 * several. */
static bool look_up(cache_t *cache, uint64_t address, uint64_t width) {
    bool hit = true;
    const uint64_t first = address / width * width;
    for (uint64_t at = first; at < first + width; at += cache->line_bytes) {
        const uint64_t number = at / cache->line_bytes, bits = filled_by(cache, address, width);
        line_t *line = line_of(cache, number);
        const bool is_new = line == NULL;
        if (is_new) {
            line = free_line(cache, number);
            *line = (line_t){number + 1, ++uses, 0};
        } else if (cache->policy == 0) {
            line->age = ++uses;
        }
        if ((line->filled & bits) == 0) {
            line->filled |= bits;
            hit = false;
        }
    }
    return hit;
}

/* ---- Memories ---- */

struct memory {
    uint64_t first, end, wait, width;
    bool prefetch;
    cache_t *instructions, *data;
    uint64_t busy_until;
    uint64_t word;     /* the number of the read that the core fetches from */
    uint64_t ahead;    /* of the one that was read ahead, */
    uint64_t ahead_at; /* and when it is there */
};

static memory_t memories[MAX_MEMORIES];
static int num_memories;

static memory_t *memory_at(uint64_t address) {
    for (int i = 0; i < num_memories; i++) {
        if (address >= memories[i].first && address < memories[i].end) {
            return &memories[i];
        }
    }
    return NULL;
}

/* When what is asked for at `time` is there. */
static uint64_t read_at(memory_t *memory, uint64_t time) {
    const uint64_t start = memory->busy_until > time ? memory->busy_until : time;
    memory->busy_until = start + memory->wait + CYCLE;
    return start + memory->wait;
}

/* ---- The core ---- */

static struct { uint64_t address, time; } queue[QUEUE_LENGTH]; /* what was executed in a row */
static int queued;
static uint64_t next_address = NOWHERE; /* where the code goes on without a jump */
static uint64_t jump_time;

/* When the core's queue asked for an address. */
static uint64_t asked_at(uint64_t address) {
    for (int i = 0; i < queued; i++) {
        if (queue[i].address + QUEUE_BYTES >= address) {
            return queue[i].time;
        }
    }
    return now;
}

static void fetch(memory_t *memory, uint64_t address) {
    const uint64_t word = address / memory->width;
    if (word == memory->word) {
        return;
    }
    memory->word = word;
    cache_t *cache = memory->instructions;
    if (cache == NULL || !look_up(cache, address, memory->width)) {
        const uint64_t ready = memory->prefetch && memory->ahead == word
                                   ? memory->ahead_at
                                   : read_at(memory, asked_at(word * memory->width));
        if (ready > now) {
            memories_code_wait += ready - now;
            now = ready;
        }
    }
    const uint64_t ahead = (word + 1) * memory->width;
    if (memory->prefetch && memory->ahead != word + 1 &&
        (cache == NULL || !has(cache, ahead, memory->width))) {
        memory->ahead = word + 1;
        memory->ahead_at = read_at(memory, now) + CYCLE;
    }
}

void memories_execute(const step_t *step) {
    if (step->address != next_address) {
        now += jump_time;
        queued = 0;
    }
    if (step->memory != NULL) {
        if (queued == QUEUE_LENGTH) {
            memmove(queue, queue + 1, sizeof queue - sizeof queue[0]);
            queued--;
        }
        queue[queued].address = step->address;
        queue[queued++].time = now;
        fetch(step->memory, step->address);
        if (step->size == 4) {
            fetch(step->memory, step->address + 2);
        }
    }
    now += step->time;
    next_address = step->address + step->size;
    jump_time = step->jump;
}

void memories_read(uint64_t address) {
    memory_t *memory = memory_at(address);
    if (memory == NULL || (memory->data != NULL && look_up(memory->data, address, memory->width))) {
        return;
    }
    const uint64_t ready = read_at(memory, now);
    memories_data_wait += ready - now;
    now = ready;
}

/* A write goes into a buffer, for which the core does not wait; a cache then has the line. */
void memories_write(uint64_t address) {
    memory_t *memory = memory_at(address);
    if (memory != NULL && memory->data != NULL) {
        look_up(memory->data, address, memory->width);
    }
}

/* ---- What there is ---- */

/* Where a step lies in memories_steps, by its address: a hash table with open addressing. */
static uint32_t table[1 << TABLE_BITS]; /* 0: the place is free */

step_t *memories_step(uint64_t address, uint32_t size) {
    const uint32_t mask = (1U << TABLE_BITS) - 1;
    uint32_t i = (uint32_t)(((address >> 1) * 0x9E3779B97F4A7C15ULL) >> 40) & mask;
    while (table[i] != 0 && memories_steps[table[i]].address != address) {
        i = (i + 1) & mask;
    }
    if (table[i] == 0) {
        if (memories_num_steps == MAX_STEPS) {
            return NULL;
        }
        table[i] = ++memories_num_steps;
        memories_steps[table[i]] = (step_t){address, CYCLE, 0, memory_at(address), 0};
    }
    step_t *step = &memories_steps[table[i]];
    step->size = size != 0 ? size : step->size;
    return step;
}

static bool add_cache(cache_t cache) {
    if (num_caches == MAX_CACHES || cache.sets * cache.ways * cache.line_bytes == 0) {
        return false;
    }
    cache.lines = calloc(cache.sets * cache.ways, sizeof *cache.lines);
    caches[num_caches++] = cache;
    return cache.lines != NULL;
}

static bool add_memory(memory_t memory, int instructions, int data) {
    if (num_memories == MAX_MEMORIES || memory.width == 0 || instructions >= num_caches ||
        data >= num_caches) {
        return false;
    }
    memory.instructions = instructions < 0 ? NULL : &caches[instructions];
    memory.data = data < 0 ? NULL : &caches[data];
    memory.word = memory.ahead = NOWHERE;
    memories[num_memories++] = memory;
    return true;
}

static bool add_line(const char *line) {
    unsigned long long n[5];
    int instructions = 0, data = 0;
    if (sscanf(line, "cost %llx %llu %llu", &n[0], &n[1], &n[2]) == 3) {
        step_t *step = memories_step(n[0], 0);
        if (step != NULL) {
            step->time = n[1];
            step->jump = n[2];
        }
        return step != NULL;
    }
    if (sscanf(line, "cache %llu %llu %llu %llu", &n[0], &n[1], &n[2], &n[3]) == 4) {
        return add_cache((cache_t){n[0], n[1], n[2], n[3], NULL});
    }
    if (sscanf(line, "memory %llx %llx %llu %llu %llu %d %d", &n[0], &n[1], &n[2], &n[3], &n[4],
               &instructions, &data) == 7) {
        const memory_t memory = {
            .first = n[0], .end = n[1], .wait = n[2], .width = n[3], .prefetch = n[4] != 0};
        return add_memory(memory, instructions, data);
    }
    return false;
}

bool memories_read_file(const char *name) {
    FILE *file = fopen(name, "r");
    char line[160];
    bool is_good = file != NULL;
    while (is_good && fgets(line, sizeof line, file) != NULL) {
        is_good = add_line(line);
    }
    return is_good && fclose(file) == 0;
}
