/* What a network calls that was built with --memory plain, mru or bestfit: buffers at run time. Not
 * for applications; the managers themselves are in mcu/memory.h.
 *
 * Each run begins with a fresh manager over the same block. As the requests of a run are always the
 * same, so are their addresses; the compiler has found the least block in which all are served.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MCU_MANAGED_H
#define MCU_MANAGED_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Every manager is at most so large. */
#define MCU_MANAGER_WORDS 8U

/* Every buffer's alignment in bytes, and the least of the block that it is taken from. */
#define MCU_MANAGED_ALIGNMENT 16U

/* Sets up a manager in MCU_MANAGER_WORDS words at `manager` over `bytes` bytes at `block`. */
int32_t _mcu_plain_begin(void *manager, void *block, uint32_t bytes, uint32_t page_size_log2);
int32_t _mcu_mru_begin(void *manager, void *block, uint32_t bytes);
int32_t _mcu_bestfit_begin(void *manager, void *block, uint32_t bytes);

/* *slot: `bytes` bytes. MCU_ERROR_OUT_OF_MEMORY, and *slot stays as it is. */
int32_t _mcu_plain_take(void *manager, uint8_t **slot, uint32_t bytes);
int32_t _mcu_block_take(void *manager, uint8_t **slot, uint32_t bytes); /* of mru and bestfit */

/* What *slot points to is free again, and *slot is NULL. */
int32_t _mcu_plain_give(void *manager, uint8_t **slot);
int32_t _mcu_block_give(void *manager, uint8_t **slot);

#ifdef __cplusplus
}
#endif

#endif /* MCU_MANAGED_H */
