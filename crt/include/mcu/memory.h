/* Memory managers: one interface, three managers over a block that the caller gives, no heap.
 *
 *     page      whole pages, first fit; the arena of mcu_run is one
 *     mru       the most recently freed block that is large enough: fast, memory still in a cache
 *     bestfit   the free block that is nearest in size: least waste
 *
 *     static uint8_t memory[8192];
 *     mcu_block_manager_t manager;
 *     mcu_bestfit_init(&manager, memory, sizeof memory);
 *     mcu_memory_manager_t *base = &manager.base;
 *     void *buffer;
 *     int32_t status = base->allocate(base, 1000, 16, &buffer);
 *     ...
 *     base->free(base, buffer);
 *
 * A manager has no lock: threads that share one must take turns.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MCU_MEMORY_H
#define MCU_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The interface; the first member of each manager. */
typedef struct mcu_memory_manager mcu_memory_manager_t;
struct mcu_memory_manager {
    /* Gives `size` bytes (0: as 1) at a multiple of `alignment`, a power of two. *out is written
     * on success only. MCU_ERROR_OUT_OF_MEMORY, MCU_ERROR_ALIGNMENT, MCU_ERROR_NULL_POINTER. */
    int32_t (*allocate)(mcu_memory_manager_t *self, size_t size, size_t alignment, void **out);
    /* Takes back what allocate gave. Anything else, NULL and what is free already included, is
     * MCU_ERROR_INVALID_FREE, and changes nothing. */
    int32_t (*free)(mcu_memory_manager_t *self, void *pointer);
    size_t used; /* bytes in use now: whole pages, or blocks with their headers */
    size_t peak; /* the most that `used` has been: what the block should hold at least */
};

/* Pages of 1 << page_size_log2 bytes. */
typedef struct mcu_page_manager {
    mcu_memory_manager_t base;
    uint8_t *pages;
    uint8_t *table; /* a byte for each page */
    size_t num_pages;
    uint32_t page_size_log2;
} mcu_page_manager_t;

/* The largest alignment that a page manager promises; see there. */
#define MCU_PAGE_ALIGNMENT 64U

/* Pages over `size` bytes at `block`; page_size_log2: 4 to 24. table: table_size bytes for at most
 * as many pages; NULL: it is kept in the block, behind the pages. The first page lies at the first
 * multiple of the page size or of MCU_PAGE_ALIGNMENT, whichever is smaller, and so each page does;
 * larger alignments are served where a page happens to have them (align the block).
 * MCU_ERROR_NULL_POINTER; MCU_ERROR_CONFIGURATION where not one page fits. */
int32_t mcu_page_manager_init(mcu_page_manager_t *manager, void *block, size_t size,
                              uint32_t page_size_log2, uint8_t *table, size_t table_size);

/* Blocks of any size, split when given and joined with free neighbours when freed. A header of two
 * words stands before each. */
typedef struct mcu_block mcu_block_t;
typedef struct mcu_block_manager {
    mcu_memory_manager_t base;
    uint8_t *begin;
    uint8_t *end;
    mcu_block_t *free_list; /* the most recently freed first */
    bool nearest;           /* bestfit; otherwise mru */
} mcu_block_manager_t;

/* MCU_ERROR_NULL_POINTER; MCU_ERROR_CONFIGURATION where the block holds no header and payload. */
int32_t mcu_mru_init(mcu_block_manager_t *manager, void *block, size_t size);
int32_t mcu_bestfit_init(mcu_block_manager_t *manager, void *block, size_t size);

/* The manager that mcu_run takes workspaces from. crt/arena/arena.c, which your project compiles
 * with its own MCU_ARENA_NUM_PAGES and MCU_ARENA_PAGE_SIZE_LOG2, defines it; or define it yourself
 * to return another manager. Made at the first call; NULL: the configuration makes no sense. */
mcu_memory_manager_t *mcu_arena(void);

#ifdef __cplusplus
}
#endif

#endif /* MCU_MEMORY_H */
