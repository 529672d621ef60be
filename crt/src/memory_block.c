/* The mru and bestfit managers: they differ only in which free block is chosen.
 *
 * The block is cut, without gaps, into blocks with a header each. Freeing walks over them from the
 * start: this finds the neighbour in front without storing it, and tells a pointer that was given
 * from any other without reading memory that is not the manager's.
 * SPDX-License-Identifier: Apache-2.0 */
#include "mcu/managed.h"
#include "mcu/memory.h"
#include "mcu/runtime.h"

struct mcu_block {
    size_t size;       /* of header and payload, a multiple of the header */
    mcu_block_t *next; /* in the free list, NULL at its end; a block in use points to itself */
};

#define HEADER sizeof(mcu_block_t)

static mcu_block_t *block_at(uint8_t *address) {
    return (mcu_block_t *)(void *)address; /* always a multiple of HEADER */
}

static uint8_t *block_end(mcu_block_t *block) {
    return (uint8_t *)block + block->size;
}

/* The link of the free list that points to `block`. */
static mcu_block_t **link_to(mcu_block_manager_t *manager, const mcu_block_t *block) {
    mcu_block_t **link = &manager->free_list;
    while (*link != block) {
        link = &(*link)->next;
    }
    return link;
}

/* How far behind the header of `block` the first payload with this alignment is: as blocks lie at
 * multiples of HEADER, nothing or room for a header at least. */
static size_t gap_before(const mcu_block_t *block, size_t alignment) {
    return (size_t)(0U - ((uintptr_t)block + HEADER)) & (alignment - 1U);
}

static bool fits(const mcu_block_t *block, size_t size, size_t alignment) {
    size_t payload = block->size - HEADER;
    size_t gap = gap_before(block, alignment);
    return payload >= gap && payload - gap >= size;
}

static int32_t block_allocate(mcu_memory_manager_t *self, size_t size, size_t alignment,
                              void **out) {
    mcu_block_manager_t *manager = (mcu_block_manager_t *)self;

    if (out == NULL) {
        return MCU_ERROR_NULL_POINTER;
    }
    if (alignment == 0 || (alignment & (alignment - 1U)) != 0) {
        return MCU_ERROR_ALIGNMENT;
    }
    if (size > SIZE_MAX - HEADER) {
        return MCU_ERROR_OUT_OF_MEMORY; /* before rounding up could wrap */
    }
    size = size == 0 ? HEADER : (size + HEADER - 1U) & ~(HEADER - 1U);

    mcu_block_t **chosen = NULL;
    for (mcu_block_t **link = &manager->free_list; *link != NULL; link = &(*link)->next) {
        if (fits(*link, size, alignment) && (chosen == NULL || (*link)->size < (*chosen)->size)) {
            chosen = link;
            if (!manager->nearest) {
                break;
            }
        }
    }
    if (chosen == NULL) {
        return MCU_ERROR_OUT_OF_MEMORY;
    }

    /* Up to three parts: a free one in front for the alignment, the one given, a free one behind.
     * Free parts keep the chosen block's rank in the list. */
    mcu_block_t *block = *chosen;
    mcu_block_t *rest = block->next;
    size_t gap = gap_before(block, alignment);
    mcu_block_t *given = block_at((uint8_t *)block + gap);
    size_t room = block->size - gap;
    if (room - HEADER - size >= 2U * HEADER) {
        mcu_block_t *behind = block_at((uint8_t *)given + HEADER + size);
        behind->size = room - HEADER - size;
        behind->next = rest;
        rest = behind;
        room = HEADER + size;
    }
    if (gap != 0) {
        block->size = gap;
        block->next = rest;
    } else {
        *chosen = rest;
    }
    given->size = room;
    given->next = given;
    self->used += room;
    if (self->used > self->peak) {
        self->peak = self->used;
    }
    *out = given + 1;
    return MCU_OK;
}

static int32_t block_free(mcu_memory_manager_t *self, void *pointer) {
    mcu_block_manager_t *manager = (mcu_block_manager_t *)self;
    mcu_block_t *before = NULL;
    mcu_block_t *block = block_at(manager->begin);

    while ((void *)(block + 1) != pointer) {
        before = block;
        block = block_at(block_end(block));
        if ((uint8_t *)block == manager->end) {
            return MCU_ERROR_INVALID_FREE;
        }
    }
    if (block->next != block) {
        return MCU_ERROR_INVALID_FREE;
    }
    self->used -= block->size;
    mcu_block_t *behind = block_at(block_end(block));
    if ((uint8_t *)behind != manager->end && behind->next != behind) {
        *link_to(manager, behind) = behind->next;
        block->size += behind->size;
    }
    if (before != NULL && before->next != before) {
        *link_to(manager, before) = before->next;
        before->size += block->size;
        block = before;
    }
    block->next = manager->free_list;
    manager->free_list = block;
    return MCU_OK;
}

static int32_t block_init(mcu_block_manager_t *manager, void *block, size_t size, bool nearest) {
    if (manager == NULL || block == NULL) {
        return MCU_ERROR_NULL_POINTER;
    }
    size_t padding = (size_t)(0U - (uintptr_t)block) & (HEADER - 1U);
    if (size < padding || size - padding < 2U * HEADER) {
        return MCU_ERROR_CONFIGURATION;
    }
    mcu_block_t *first = block_at((uint8_t *)block + padding);
    first->size = (size - padding) & ~(HEADER - 1U);
    first->next = NULL;
    manager->base.allocate = block_allocate;
    manager->base.free = block_free;
    manager->base.used = 0;
    manager->base.peak = 0;
    manager->begin = (uint8_t *)first;
    manager->end = block_end(first);
    manager->free_list = first;
    manager->nearest = nearest;
    return MCU_OK;
}

int32_t mcu_mru_init(mcu_block_manager_t *manager, void *block, size_t size) {
    return block_init(manager, block, size, false);
}

int32_t mcu_bestfit_init(mcu_block_manager_t *manager, void *block, size_t size) {
    return block_init(manager, block, size, true);
}

/* ---- For networks with --memory mru or bestfit: direct calls, so that the stack's bound is known.
 */

MCU_STATIC_ASSERT(sizeof(mcu_block_manager_t) <= MCU_MANAGER_WORDS * sizeof(size_t),
                  mcu_block_manager_is_small);

int32_t _mcu_mru_begin(void *manager, void *block, uint32_t bytes) {
    return mcu_mru_init(manager, block, bytes);
}

int32_t _mcu_bestfit_begin(void *manager, void *block, uint32_t bytes) {
    return mcu_bestfit_init(manager, block, bytes);
}

int32_t _mcu_block_take(void *manager, uint8_t **slot, uint32_t bytes) {
    void *data = *slot;
    int32_t status = block_allocate(manager, bytes, MCU_MANAGED_ALIGNMENT, &data);
    *slot = data;
    return status;
}

int32_t _mcu_block_give(void *manager, uint8_t **slot) {
    void *data = *slot;
    *slot = NULL;
    return block_free(manager, data);
}
