/* The page allocator: first fit over a table with one byte for each page.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "mcu/managed.h"
#include "mcu/memory.h"
#include "mcu/runtime.h"

/* Telling an allocation's first page from the rest finds its end, double frees, and pointers into
 * the middle, without storing sizes. */
enum { PAGE_FREE = 0, PAGE_FIRST = 1, PAGE_REST = 2 };

static int32_t page_allocate(mcu_memory_manager_t *self, size_t size, size_t alignment,
                             void **out) {
    mcu_page_manager_t *manager = (mcu_page_manager_t *)self;
    size_t page_size = (size_t)1 << manager->page_size_log2;

    if (out == NULL) {
        return MCU_ERROR_NULL_POINTER;
    }
    if (alignment == 0 || (alignment & (alignment - 1U)) != 0) {
        return MCU_ERROR_ALIGNMENT;
    }
    size_t needed = (size >> manager->page_size_log2) + ((size & (page_size - 1U)) != 0);
    if (needed == 0) {
        needed = 1;
    }
    size_t run = 0; /* free pages up to here, the first of them aligned */
    for (size_t page = 0; page < manager->num_pages; ++page) {
        uintptr_t address = (uintptr_t)manager->pages + (page << manager->page_size_log2);
        if (manager->table[page] != PAGE_FREE) {
            run = 0;
        } else if (run != 0 || (address & (alignment - 1U)) == 0) {
            ++run;
        }
        if (run == needed) {
            size_t first = page + 1U - needed;
            memset(&manager->table[first], PAGE_REST, needed);
            manager->table[first] = PAGE_FIRST;
            self->used += needed << manager->page_size_log2;
            if (self->used > self->peak) {
                self->peak = self->used;
            }
            *out = manager->pages + (first << manager->page_size_log2);
            return MCU_OK;
        }
    }
    return MCU_ERROR_OUT_OF_MEMORY;
}

static int32_t page_free(mcu_memory_manager_t *self, void *pointer) {
    mcu_page_manager_t *manager = (mcu_page_manager_t *)self;
    size_t page_size = (size_t)1 << manager->page_size_log2;
    uintptr_t offset = (uintptr_t)pointer - (uintptr_t)manager->pages;
    uintptr_t page = offset >> manager->page_size_log2;

    if (page >= manager->num_pages || (offset & (page_size - 1U)) != 0 ||
        manager->table[page] != PAGE_FIRST) {
        return MCU_ERROR_INVALID_FREE;
    }
    do {
        manager->table[page++] = PAGE_FREE;
        self->used -= page_size;
    } while (page < manager->num_pages && manager->table[page] == PAGE_REST);
    return MCU_OK;
}

int32_t mcu_page_manager_init(mcu_page_manager_t *manager, void *block, size_t size,
                              uint32_t page_size_log2, uint8_t *table, size_t table_size) {
    if (manager == NULL || block == NULL) {
        return MCU_ERROR_NULL_POINTER;
    }
    if (page_size_log2 < 4 || page_size_log2 > 24) {
        return MCU_ERROR_CONFIGURATION;
    }
    size_t page_size = (size_t)1 << page_size_log2;
    size_t alignment = page_size < MCU_PAGE_ALIGNMENT ? page_size : MCU_PAGE_ALIGNMENT;
    size_t padding = (size_t)(0U - (uintptr_t)block) & (alignment - 1U);
    if (size < padding) {
        return MCU_ERROR_CONFIGURATION;
    }
    uint8_t *pages = (uint8_t *)block + padding;
    size -= padding;
    size_t num_pages = size >> page_size_log2;
    if (table != NULL) {
        num_pages = num_pages < table_size ? num_pages : table_size;
    } else {
        while (num_pages > 0 && size - (num_pages << page_size_log2) < num_pages) {
            --num_pages; /* room for the table */
        }
        table = pages + (num_pages << page_size_log2);
    }
    if (num_pages == 0) {
        return MCU_ERROR_CONFIGURATION;
    }
    memset(table, PAGE_FREE, num_pages);
    manager->base.allocate = page_allocate;
    manager->base.free = page_free;
    manager->base.used = 0;
    manager->base.peak = 0;
    manager->pages = pages;
    manager->table = table;
    manager->num_pages = num_pages;
    manager->page_size_log2 = page_size_log2;
    return MCU_OK;
}

/* ---- For networks with --memory plain: direct calls, so that the stack's bound is known. ---- */

MCU_STATIC_ASSERT(sizeof(mcu_page_manager_t) <= MCU_MANAGER_WORDS * sizeof(size_t),
                  mcu_page_manager_is_small);

int32_t _mcu_plain_begin(void *manager, void *block, uint32_t bytes, uint32_t page_size_log2) {
    return mcu_page_manager_init(manager, block, bytes, page_size_log2, NULL, 0);
}

int32_t _mcu_plain_take(void *manager, uint8_t **slot, uint32_t bytes) {
    void *data = *slot;
    int32_t status = page_allocate(manager, bytes, MCU_MANAGED_ALIGNMENT, &data);
    *slot = data;
    return status;
}

int32_t _mcu_plain_give(void *manager, uint8_t **slot) {
    void *data = *slot;
    *slot = NULL;
    return page_free(manager, data);
}
