/* The arena that mcu_run takes its memory from (TVM's AOT runtime has it in aot_platform.c). Not a
 * member of libmcu_crt.a: compile it with your project, and set its size with -D:
 *
 * - MCU_ARENA_NUM_PAGES: how many pages, at least MCU_<NAME>_ARENA_PAGES(MCU_ARENA_PAGE_SIZE_LOG2)
 *   of each model that mcu_run runs (network_<name>.h); MCU_<NAME>_CHECK_ARENA checks it when your
 *   program is compiled. Default: 64, which with pages of 1 KiB is an arena of 64 KiB.
 * - MCU_ARENA_PAGE_SIZE_LOG2: the page size as a power of two, 4 to 24. Small pages waste less, but
 *   each costs a byte of table and a step of search. Default: 10.
 *
 * TVM's takes 1 << 10 pages of 1 << 12 bytes: 4 MiB, more RAM than these chips have.
 * It costs MCU_ARENA_NUM_PAGES * ((1 << MCU_ARENA_PAGE_SIZE_LOG2) + 1) bytes of .bss, and a few
 * more.
 * SPDX-License-Identifier: Apache-2.0 */
#include "mcu/memory.h"
#include "mcu/runtime.h"

#ifndef MCU_ARENA_NUM_PAGES
#define MCU_ARENA_NUM_PAGES 64
#endif
#ifndef MCU_ARENA_PAGE_SIZE_LOG2
#define MCU_ARENA_PAGE_SIZE_LOG2 10
#endif
#if MCU_ARENA_NUM_PAGES < 1
#error "MCU_ARENA_NUM_PAGES: the arena needs at least one page."
#endif
#if MCU_ARENA_PAGE_SIZE_LOG2 < 4 || MCU_ARENA_PAGE_SIZE_LOG2 > 24
#error "MCU_ARENA_PAGE_SIZE_LOG2: pages have 1 << 4 to 1 << 24 bytes."
#endif

MCU_ALIGNED(MCU_PAGE_ALIGNMENT)
static uint8_t arena_pages[(size_t)(MCU_ARENA_NUM_PAGES) << MCU_ARENA_PAGE_SIZE_LOG2];
static uint8_t arena_table[MCU_ARENA_NUM_PAGES];
static mcu_page_manager_t arena_manager;

mcu_memory_manager_t *mcu_arena(void) {
    if (arena_manager.pages == NULL &&
        mcu_page_manager_init(&arena_manager, arena_pages, sizeof arena_pages,
                              MCU_ARENA_PAGE_SIZE_LOG2, arena_table,
                              sizeof arena_table) != MCU_OK) {
        return NULL;
    }
    return &arena_manager.base;
}
