/* The memory managers: random use with an invariant checker, and each promise one by one.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "check.h"
#include "mcu/memory.h"
#include "mcu/runtime.h"

enum { BLOCK_SIZE = 4096, GUARD = 64, SLOTS = 24, STEPS = 4000 };

MCU_ALIGNED(64) static uint8_t memory[GUARD + BLOCK_SIZE + GUARD];
static uint8_t *const block = memory + GUARD;
static mcu_block_manager_t block_manager;
static mcu_page_manager_t page_manager;
static uint8_t page_table[64];

typedef mcu_memory_manager_t *(*make_t)(size_t size);

static mcu_memory_manager_t *make_mru(size_t size) {
    return mcu_mru_init(&block_manager, block, size) == MCU_OK ? &block_manager.base : NULL;
}
static mcu_memory_manager_t *make_bestfit(size_t size) {
    return mcu_bestfit_init(&block_manager, block, size) == MCU_OK ? &block_manager.base : NULL;
}
static mcu_memory_manager_t *make_pages(size_t size) {
    return mcu_page_manager_init(&page_manager, block, size, 6, page_table, sizeof page_table) ==
                   MCU_OK
               ? &page_manager.base
               : NULL;
}
static mcu_memory_manager_t *make_pages_with_table_inside(size_t size) {
    return mcu_page_manager_init(&page_manager, block, size, 6, NULL, 0) == MCU_OK
               ? &page_manager.base
               : NULL;
}
static const make_t makers[] = {make_mru, make_bestfit, make_pages, make_pages_with_table_inside};
enum { NUM_MAKERS = sizeof makers / sizeof makers[0] };

static uint32_t random_state;
static uint32_t random_below(uint32_t limit) {
    random_state = random_state * 1664525U + 1013904223U; /* Numerical Recipes' generator */
    return (random_state >> 8) % limit;
}

typedef struct slot {
    uint8_t *data;
    size_t size;
    uint8_t pattern;
} slot_t;

static bool filled_with(const uint8_t *data, size_t size, uint8_t pattern) {
    for (size_t i = 0; i < size; ++i) {
        if (data[i] != pattern) {
            return false;
        }
    }
    return true;
}

/* What is given is inside of the block and keeps its contents, so nothing given overlaps anything
 * else given, nor the bookkeeping; the guards around the block are untouched; the sums are right.
 */
static bool invariants_hold(const mcu_memory_manager_t *manager, const slot_t *slots) {
    size_t given = 0;
    for (int i = 0; i < SLOTS; ++i) {
        if (slots[i].data != NULL) {
            given += slots[i].size;
            if (slots[i].data < block || slots[i].data + slots[i].size > block + BLOCK_SIZE ||
                !filled_with(slots[i].data, slots[i].size, slots[i].pattern)) {
                return false;
            }
        }
    }
    return given <= manager->used && manager->used <= manager->peak &&
           manager->peak <= BLOCK_SIZE && filled_with(memory, GUARD, 0xA5) &&
           filled_with(block + BLOCK_SIZE, GUARD, 0xA5);
}

/* The most that one allocation gets. */
static size_t largest(mcu_memory_manager_t *manager) {
    for (size_t size = BLOCK_SIZE; size > 0; --size) {
        void *data;
        if (manager->allocate(manager, size, 1, &data) == MCU_OK) {
            CHECK_INT(manager->free(manager, data), MCU_OK);
            return size;
        }
    }
    return 0;
}

static void use_at_random(make_t make, uint32_t seed) {
    slot_t slots[SLOTS] = {{NULL, 0, 0}};
    memset(memory, 0xA5, sizeof memory);
    random_state = seed;
    mcu_memory_manager_t *manager = make(BLOCK_SIZE);
    const size_t whole = largest(manager);
    CHECK(whole >= BLOCK_SIZE - 64U);
    manager = make(BLOCK_SIZE); /* again, since that was the peak */
    unsigned exhausted = 0, broken = 0;
    size_t peak = 0;

    for (unsigned step = 0; step < STEPS; ++step) {
        slot_t *slot = &slots[random_below(SLOTS)];
        if (slot->data != NULL) {
            broken += manager->free(manager, slot->data) != MCU_OK;
            slot->data = NULL;
        } else {
            size_t alignment = (size_t)1 << random_below(7);
            size_t size = random_below(10) == 0 ? random_below(2000) : random_below(200);
            void *data = NULL;
            int32_t status = manager->allocate(manager, size, alignment, &data);
            if (status == MCU_OK) {
                broken += ((uintptr_t)data & (alignment - 1U)) != 0;
                slot->data = data;
                slot->size = size;
                slot->pattern = (uint8_t)step;
                memset(data, slot->pattern, size);
                peak = manager->used > peak ? manager->used : peak;
            } else {
                ++exhausted;
                broken += status != MCU_ERROR_OUT_OF_MEMORY || data != NULL;
            }
        }
        if (step % 16U == 0) {
            broken += !invariants_hold(manager, slots);
        }
    }
    CHECK_INT(broken, 0);
    CHECK_INT(manager->peak, peak);
    CHECK(exhausted > 10); /* otherwise the sequence tries too little */
    for (int i = 0; i < SLOTS; ++i) {
        if (slots[i].data != NULL) {
            CHECK(filled_with(slots[i].data, slots[i].size, slots[i].pattern));
            CHECK_INT(manager->free(manager, slots[i].data), MCU_OK);
        }
    }
    CHECK_INT(manager->used, 0);
    CHECK_INT(largest(manager), whole); /* all free parts have been joined again */
}

static void random_sequences_keep_the_invariants(void) {
    for (int i = 0; i < NUM_MAKERS; ++i) {
        for (uint32_t seed = 1; seed <= 3; ++seed) {
            use_at_random(makers[i], seed);
        }
    }
}

static void bad_allocations_are_refused(void) {
    for (int i = 0; i < NUM_MAKERS; ++i) {
        mcu_memory_manager_t *manager = makers[i](BLOCK_SIZE);
        void *data = memory;
        CHECK_INT(manager->allocate(manager, 8, 8, NULL), MCU_ERROR_NULL_POINTER);
        CHECK_INT(manager->allocate(manager, 8, 0, &data), MCU_ERROR_ALIGNMENT);
        CHECK_INT(manager->allocate(manager, 8, 3, &data), MCU_ERROR_ALIGNMENT);
        CHECK_INT(manager->allocate(manager, 8, SIZE_MAX, &data), MCU_ERROR_ALIGNMENT);
        const size_t sizes[] = {BLOCK_SIZE + 1, SIZE_MAX / 2, SIZE_MAX - 8, SIZE_MAX - 1, SIZE_MAX};
        for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; ++k) {
            CHECK_INT(manager->allocate(manager, sizes[k], 1, &data), MCU_ERROR_OUT_OF_MEMORY);
        }
        CHECK_INT(manager->allocate(manager, 1, SIZE_MAX / 2 + 1, &data), MCU_ERROR_OUT_OF_MEMORY);
        CHECK(data == memory && manager->used == 0 && manager->peak == 0);
    }
}

static void allocations_of_no_bytes_are_distinct(void) {
    for (int i = 0; i < NUM_MAKERS; ++i) {
        mcu_memory_manager_t *manager = makers[i](BLOCK_SIZE);
        void *first = NULL, *second = NULL;
        CHECK_INT(manager->allocate(manager, 0, 1, &first), MCU_OK);
        CHECK_INT(manager->allocate(manager, 0, 1, &second), MCU_OK);
        CHECK(first != NULL && second != NULL && first != second);
        CHECK_INT(manager->free(manager, first), MCU_OK);
        CHECK_INT(manager->free(manager, second), MCU_OK);
        CHECK_INT(manager->used, 0);
    }
}

static void exhaustion_is_reported_and_passes(void) {
    for (int i = 0; i < NUM_MAKERS; ++i) {
        mcu_memory_manager_t *manager = makers[i](BLOCK_SIZE);
        void *data[80];
        int count = 0;
        while (count < 80 && manager->allocate(manager, 64, 4, &data[count]) == MCU_OK) {
            ++count;
        }
        CHECK(count >= 50 && count <= 64);
        CHECK(manager->peak == manager->used && manager->used <= BLOCK_SIZE);
        void *none = NULL;
        CHECK_INT(manager->allocate(manager, 64, 4, &none), MCU_ERROR_OUT_OF_MEMORY);
        CHECK(none == NULL);
        CHECK_INT(manager->free(manager, data[count / 2]), MCU_OK);
        CHECK_INT(manager->allocate(manager, 64, 4, &none), MCU_OK);
        CHECK(none == data[count / 2]);
        for (int k = 0; k < count; ++k) {
            CHECK_INT(manager->free(manager, data[k]), MCU_OK);
        }
        CHECK_INT(manager->used, 0);
    }
}

static void bad_frees_are_refused(void) {
    for (int i = 0; i < NUM_MAKERS; ++i) {
        memset(block, 0, BLOCK_SIZE);
        mcu_memory_manager_t *manager = makers[i](BLOCK_SIZE);
        uint8_t elsewhere[64];
        void *data[3];
        for (int k = 0; k < 3; ++k) {
            CHECK_INT(manager->allocate(manager, 200, 8, &data[k]), MCU_OK);
            memset(data[k], 1, 200); /* looks like the page table's "first page" */
        }
        const size_t used = manager->used;
        CHECK_INT(manager->free(manager, NULL), MCU_ERROR_INVALID_FREE);
        CHECK_INT(manager->free(manager, elsewhere), MCU_ERROR_INVALID_FREE);
        CHECK_INT(manager->free(manager, block - 1), MCU_ERROR_INVALID_FREE);
        CHECK_INT(manager->free(manager, block - 64), MCU_ERROR_INVALID_FREE);
        CHECK_INT(manager->free(manager, block + BLOCK_SIZE), MCU_ERROR_INVALID_FREE);
        for (int k = 0; k < BLOCK_SIZE; ++k) {
            if (block + k != data[0] && block + k != data[1] && block + k != data[2]) {
                if (manager->free(manager, block + k) != MCU_ERROR_INVALID_FREE) {
                    CHECK_INT(k, -1);
                }
            }
        }
        CHECK_INT(manager->used, used);
        CHECK_INT(manager->free(manager, data[1]), MCU_OK);
        CHECK_INT(manager->free(manager, data[1]), MCU_ERROR_INVALID_FREE);
        CHECK_INT(manager->free(manager, data[0]), MCU_OK); /* joins what is before */
        CHECK_INT(manager->free(manager, data[0]), MCU_ERROR_INVALID_FREE);
        CHECK_INT(manager->free(manager, data[1]), MCU_ERROR_INVALID_FREE);
        CHECK_INT(manager->free(manager, data[2]), MCU_OK);
        CHECK_INT(manager->free(manager, data[2]), MCU_ERROR_INVALID_FREE);
        CHECK_INT(manager->used, 0);
        CHECK(manager->peak == used);
    }
}

static void *take(mcu_memory_manager_t *manager, size_t size) {
    void *data = NULL;
    CHECK_INT(manager->allocate(manager, size, 8, &data), MCU_OK);
    return data;
}

/* Leaves holes of 512, 128 and 256 bytes, freed in this order; returns them. */
static mcu_memory_manager_t *with_holes(make_t make, void *holes[3]) {
    mcu_memory_manager_t *manager = make(BLOCK_SIZE);
    static const size_t sizes[3] = {512, 128, 256};
    for (int k = 0; k < 3; ++k) {
        holes[k] = take(manager, sizes[k]);
        (void)take(manager, 16); /* keeps the holes apart */
    }
    for (int k = 0; k < 3; ++k) {
        CHECK_INT(manager->free(manager, holes[k]), MCU_OK);
    }
    return manager;
}

static void mru_takes_the_most_recent_block_that_is_large_enough(void) {
    void *holes[3];
    mcu_memory_manager_t *manager = with_holes(make_mru, holes);
    CHECK(take(manager, 100) == holes[2]); /* the last freed, not the nearest */
    manager = with_holes(make_mru, holes);
    CHECK(take(manager, 200) == holes[2]);
    manager = with_holes(make_mru, holes);
    CHECK(take(manager, 300) == holes[0]); /* the others are too small */
}

static void bestfit_takes_the_nearest_block(void) {
    void *holes[3];
    mcu_memory_manager_t *manager = with_holes(make_bestfit, holes);
    CHECK(take(manager, 100) == holes[1]);
    CHECK(take(manager, 100) == holes[2]);
    CHECK(take(manager, 100) != holes[2]);
    manager = with_holes(make_bestfit, holes);
    CHECK(take(manager, 256) == holes[2]);
    CHECK(take(manager, 256) == holes[0]);
}

/* What is left behind is a block of its own from two headers on. */
static void a_block_is_divided_where_a_part_can_be_given(void) {
    const size_t header = 2 * sizeof(void *);
    for (int i = 0; i < 2; ++i) {
        mcu_memory_manager_t *manager = makers[i](8 * header);
        CHECK(take(manager, 5 * header) == block + header);
        CHECK_INT(manager->used, 6 * header);
        CHECK(take(manager, header) == block + 7 * header);
        manager = makers[i](8 * header);
        CHECK(take(manager, 6 * header) == block + header);
        CHECK_INT(manager->used, 8 * header); /* a header alone is of no use */
    }
}

static void pages_are_counted(void) {
    void *data[3];
    mcu_memory_manager_t *manager = make_pages(BLOCK_SIZE);
    CHECK(take(manager, 1) == block);
    CHECK_INT(manager->used, 64);
    data[0] = take(manager, 64);
    CHECK_INT(manager->used, 128);
    data[1] = take(manager, 65); /* two pages */
    CHECK_INT(manager->used, 256);
    CHECK(data[0] == block + 64 && data[1] == block + 128);
    data[2] = take(manager, 60U * 64U); /* all the others */
    CHECK(data[2] == block + 256 && manager->used == BLOCK_SIZE);
    CHECK_INT(manager->free(manager, data[0]), MCU_OK);
    CHECK_INT(manager->free(manager, data[1]), MCU_OK);
    CHECK_INT(manager->used, BLOCK_SIZE - 192);
    CHECK(take(manager, 192) == data[0]); /* three pages, joined */
    CHECK_INT(manager->peak, BLOCK_SIZE);
}

static void bad_configurations_are_refused(void) {
    mcu_page_manager_t pages;
    mcu_block_manager_t blocks;
    const size_t header = 2 * sizeof(void *);
    CHECK_INT(mcu_page_manager_init(NULL, block, 4096, 6, NULL, 0), MCU_ERROR_NULL_POINTER);
    CHECK_INT(mcu_page_manager_init(&pages, NULL, 4096, 6, NULL, 0), MCU_ERROR_NULL_POINTER);
    CHECK_INT(mcu_page_manager_init(&pages, block, 4096, 3, NULL, 0), MCU_ERROR_CONFIGURATION);
    /* With a table of its own a block of 64 MB is not touched. */
    const size_t large = (size_t)1 << 26;
    CHECK_INT(mcu_page_manager_init(&pages, block, large, 24, page_table, 64), MCU_OK);
    CHECK_INT(pages.num_pages, 4);
    CHECK_INT(mcu_page_manager_init(&pages, block, large, 25, page_table, 64),
              MCU_ERROR_CONFIGURATION);
    CHECK_INT(mcu_page_manager_init(&pages, block, 4096, 200, NULL, 0), MCU_ERROR_CONFIGURATION);
    CHECK_INT(mcu_page_manager_init(&pages, block, 63, 6, page_table, 64), MCU_ERROR_CONFIGURATION);
    CHECK_INT(mcu_page_manager_init(&pages, block + 1, 64, 6, page_table, 64),
              MCU_ERROR_CONFIGURATION);
    CHECK_INT(mcu_page_manager_init(&pages, block + 1, 5, 6, NULL, 0), MCU_ERROR_CONFIGURATION);
    CHECK_INT(mcu_page_manager_init(&pages, block, 64, 6, NULL, 0), MCU_ERROR_CONFIGURATION);
    CHECK_INT(mcu_page_manager_init(&pages, block, 64, 6, page_table, 0), MCU_ERROR_CONFIGURATION);
    CHECK_INT(mcu_page_manager_init(&pages, block, 65, 6, NULL, 0), MCU_OK);
    CHECK_INT(pages.num_pages, 1);
    CHECK_INT(mcu_page_manager_init(&pages, block, 4096, 6, page_table, 5), MCU_OK);
    CHECK_INT(pages.num_pages, 5);

    CHECK_INT(mcu_mru_init(NULL, block, 4096), MCU_ERROR_NULL_POINTER);
    CHECK_INT(mcu_bestfit_init(&blocks, NULL, 4096), MCU_ERROR_NULL_POINTER);
    CHECK_INT(mcu_mru_init(&blocks, block, 2 * header - 1), MCU_ERROR_CONFIGURATION);
    CHECK_INT(mcu_bestfit_init(&blocks, block + 1, 2 * header), MCU_ERROR_CONFIGURATION);
    CHECK_INT(mcu_mru_init(&blocks, block + 1, 3), MCU_ERROR_CONFIGURATION);
    CHECK_INT(mcu_mru_init(&blocks, block, 2 * header), MCU_OK);
    CHECK(take(&blocks.base, header) == block + header);
}

static void blocks_of_any_address_and_size_serve(void) {
    for (size_t off = 1; off < 64; off += 3) {
        mcu_memory_manager_t *managers[3] = {NULL};
        for (int i = 0; i < 3; ++i) {
            memset(memory, 0xA5, sizeof memory);
            CHECK_INT(i == 0   ? mcu_mru_init(&block_manager, block + off, 1021 - off)
                      : i == 1 ? mcu_bestfit_init(&block_manager, block + off, 1021 - off)
                               : mcu_page_manager_init(&page_manager, block + off, 1021 - off, 5,
                                                       NULL, 0),
                      MCU_OK);
            managers[i] = i < 2 ? &block_manager.base : &page_manager.base;
            size_t size = largest(managers[i]);
            CHECK(size >= 1021U - 64U - 64U);
            memset(take(managers[i], size), 0x33, size);
            CHECK(filled_with(memory, GUARD + off, 0xA5));
            CHECK(filled_with(block + 1021, 100, 0xA5));
        }
    }
}

int main(void) {
    RUN_TEST(random_sequences_keep_the_invariants);
    RUN_TEST(bad_allocations_are_refused);
    RUN_TEST(allocations_of_no_bytes_are_distinct);
    RUN_TEST(exhaustion_is_reported_and_passes);
    RUN_TEST(bad_frees_are_refused);
    RUN_TEST(mru_takes_the_most_recent_block_that_is_large_enough);
    RUN_TEST(bestfit_takes_the_nearest_block);
    RUN_TEST(a_block_is_divided_where_a_part_can_be_given);
    RUN_TEST(pages_are_counted);
    RUN_TEST(bad_configurations_are_refused);
    RUN_TEST(blocks_of_any_address_and_size_serve);
    return check_result();
}
