/* network_rows.h: for programs that run the network, made by mcu-deploy.
 *
 *   source model  case, SHA-256
 *                 e61be23b4a05085d79e998c7c9ad30208a4c7ef705d263bbbf73fa97004e6b4d
 *   constants     10,628 bytes, as a file: SHA-256
 *                 455aa1fab1f6d7a667b97375ea19a772eecf17bfe53c9c1ca1db6616103d8bec
 *   workspace     352 bytes
 *   layers        2 with 10,240 multiply-accumulates
 *
 * Inputs, in the order of the arguments of mcu_instance_run and mcu_run:
 *   0: x: int8_t[1][1][1][32], 32 bytes
 *      real value = 0.0625 * (q + 3)
 * Outputs:
 *   0: y1: int8_t[1][1][1][32], 32 bytes
 *      real value = 0.0625 * (q + 3)
 *
 * Tensors are compact and row-major: the last index runs fastest.
 */
#ifndef MCU_NETWORK_ROWS_H
#define MCU_NETWORK_ROWS_H

#include "mcu/runtime.h"

#if MCU_MODEL_ABI_MAJOR != 4 || MCU_MODEL_ABI_MINOR < 1
#error "network_rows is for ABI 4.1 of mcu/model.h: build it again"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* What each instance needs in RAM for its tensors, in bytes, and how that block must be aligned:
 *     MCU_ALIGNED(MCU_ROWS_WORKSPACE_ALIGNMENT)
 *     static uint8_t workspace[MCU_ROWS_WORKSPACE_SIZE];
 * For an array of your own, which may be larger, behind its definition:
 *     MCU_ROWS_CHECK_WORKSPACE(array);
 * For the arena of mcu_run, as crt/arena/arena.c is compiled:
 *     MCU_ROWS_CHECK_ARENA(MCU_ARENA_NUM_PAGES, MCU_ARENA_PAGE_SIZE_LOG2); */
#define MCU_ROWS_WORKSPACE_SIZE      352U
#define MCU_ROWS_WORKSPACE_ALIGNMENT 16U
/* clang-format off */
#define MCU_ROWS_CHECK_WORKSPACE(array) \
    MCU_STATIC_ASSERT(sizeof(array) >= MCU_ROWS_WORKSPACE_SIZE, \
                      array##_is_too_small_for_rows)
#define MCU_ROWS_ARENA_PAGES(page_size_log2) \
    ((MCU_ROWS_WORKSPACE_SIZE + (1UL << (page_size_log2)) - 1UL) >> (page_size_log2))
#define MCU_ROWS_CHECK_ARENA(num_pages, page_size_log2) \
    MCU_STATIC_ASSERT((num_pages) >= MCU_ROWS_ARENA_PAGES(page_size_log2), \
                      the_arena_is_too_small_for_rows)
/* clang-format on */

/* Inputs and outputs: the bytes of each and, where it is quantized as a whole, its scale and zero
 * point: real value = scale * (q - zero point). */
#define MCU_ROWS_INPUT_0_BYTES       32U
#define MCU_ROWS_INPUT_0_SCALE       6.25e-2F
#define MCU_ROWS_INPUT_0_ZERO_POINT  (-3)
#define MCU_ROWS_OUTPUT_0_BYTES      32U
#define MCU_ROWS_OUTPUT_0_SCALE      6.25e-2F
#define MCU_ROWS_OUTPUT_0_ZERO_POINT (-3)

/* States, for mcu_instance_state, mcu_instance_get_state and mcu_instance_set_state. */
#define MCU_ROWS_STATE_0 0U /* ring0: int8_t[1][4][1][32], 128 bytes */
#define MCU_ROWS_STATE_1 1U /* ring1: int8_t[1][4][1][32], 128 bytes */

/* The model, for mcu_instance_init and mcu_run. */
#define mcu_network_rows (&_mcu_network_rows)

extern const mcu_model_t _mcu_network_rows;

#ifdef __cplusplus
}
#endif

#endif /* MCU_NETWORK_ROWS_H */
