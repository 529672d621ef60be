/* network_mve_table.h: for programs that run the network, made by mcu-deploy.
 *
 *   source model  layers, SHA-256
 *                 e57ca2b26ac5d508ffd46d001a1df8ca90724c7d160dbabad3717be1268281c8
 *   constants     256 bytes, as a file: SHA-256
 *                 9cd4213925ab83ea8844a5e68da510557d5b00485170de75b41834c0a4208201
 *   workspace     16 bytes
 *   layers        1 with 0 multiply-accumulates
 *
 * Inputs, in the order of the arguments of mcu_instance_run and mcu_run:
 *   0: int8: int8_t[1], 1 byte
 *      real value = 0.05 * (q - 3)
 * Outputs:
 *   0: int8_y: int8_t[1], 1 byte
 *      real value = 0.03 * (q + 7)
 *
 * Tensors are compact and row-major: the last index runs fastest.
 */
#ifndef MCU_NETWORK_MVE_TABLE_H
#define MCU_NETWORK_MVE_TABLE_H

#include "mcu/runtime.h"

#if MCU_MODEL_ABI_MAJOR != 4 || MCU_MODEL_ABI_MINOR < 1
#error "network_mve_table is for ABI 4.1 of mcu/model.h: build it again"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* What each instance needs in RAM for its tensors, in bytes, and how that block must be aligned:
 *     MCU_ALIGNED(MCU_MVE_TABLE_WORKSPACE_ALIGNMENT)
 *     static uint8_t workspace[MCU_MVE_TABLE_WORKSPACE_SIZE];
 * For an array of your own, which may be larger, behind its definition:
 *     MCU_MVE_TABLE_CHECK_WORKSPACE(array);
 * For the arena of mcu_run, as crt/arena/arena.c is compiled:
 *     MCU_MVE_TABLE_CHECK_ARENA(MCU_ARENA_NUM_PAGES, MCU_ARENA_PAGE_SIZE_LOG2); */
#define MCU_MVE_TABLE_WORKSPACE_SIZE      16U
#define MCU_MVE_TABLE_WORKSPACE_ALIGNMENT 16U
/* clang-format off */
#define MCU_MVE_TABLE_CHECK_WORKSPACE(array) \
    MCU_STATIC_ASSERT(sizeof(array) >= MCU_MVE_TABLE_WORKSPACE_SIZE, \
                      array##_is_too_small_for_mve_table)
#define MCU_MVE_TABLE_ARENA_PAGES(page_size_log2) \
    ((MCU_MVE_TABLE_WORKSPACE_SIZE + (1UL << (page_size_log2)) - 1UL) >> (page_size_log2))
#define MCU_MVE_TABLE_CHECK_ARENA(num_pages, page_size_log2) \
    MCU_STATIC_ASSERT((num_pages) >= MCU_MVE_TABLE_ARENA_PAGES(page_size_log2), \
                      the_arena_is_too_small_for_mve_table)
/* clang-format on */

/* Inputs and outputs: the bytes of each and, where it is quantized as a whole, its scale and zero
 * point: real value = scale * (q - zero point). */
#define MCU_MVE_TABLE_INPUT_0_BYTES       1U
#define MCU_MVE_TABLE_INPUT_0_SCALE       5.0e-2F
#define MCU_MVE_TABLE_INPUT_0_ZERO_POINT  3
#define MCU_MVE_TABLE_OUTPUT_0_BYTES      1U
#define MCU_MVE_TABLE_OUTPUT_0_SCALE      3.0e-2F
#define MCU_MVE_TABLE_OUTPUT_0_ZERO_POINT (-7)

/* The model, for mcu_instance_init and mcu_run. */
#define mcu_network_mve_table (&_mcu_network_mve_table)

extern const mcu_model_t _mcu_network_mve_table;

#ifdef __cplusplus
}
#endif

#endif /* MCU_NETWORK_MVE_TABLE_H */
