/* network_mve_dense.h: for programs that run the network, made by mcu-deploy.
 *
 *   source model  layers, SHA-256
 *                 a41e445f2d870c7b4a077f2f4b5fe62c767c983bcd3a8aa2d1c4def4b22ae043
 *   constants     704 bytes, as a file: SHA-256
 *                 794e80ef97a07d257019204fd9f8571318fef5a442c41bd6f439bdf091faacc4
 *   workspace     128 bytes
 *   layers        1 with 480 multiply-accumulates
 *
 * Inputs, in the order of the arguments of mcu_instance_run and mcu_run:
 *   0: int8: int8_t[24], 24 bytes
 *      real value = 1 * (q + 128)
 * Outputs:
 *   0: int8_y: int8_t[20], 20 bytes
 *      real value = 195.95918 * (q - 3)
 *
 * Tensors are compact and row-major: the last index runs fastest.
 */
#ifndef MCU_NETWORK_MVE_DENSE_H
#define MCU_NETWORK_MVE_DENSE_H

#include "mcu/runtime.h"

#if MCU_MODEL_ABI_MAJOR != 4 || MCU_MODEL_ABI_MINOR < 1
#error "network_mve_dense is for ABI 4.1 of mcu/model.h: build it again"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* What each instance needs in RAM for its tensors, in bytes, and how that block must be aligned:
 *     MCU_ALIGNED(MCU_MVE_DENSE_WORKSPACE_ALIGNMENT)
 *     static uint8_t workspace[MCU_MVE_DENSE_WORKSPACE_SIZE];
 * For an array of your own, which may be larger, behind its definition:
 *     MCU_MVE_DENSE_CHECK_WORKSPACE(array);
 * For the arena of mcu_run, as crt/arena/arena.c is compiled:
 *     MCU_MVE_DENSE_CHECK_ARENA(MCU_ARENA_NUM_PAGES, MCU_ARENA_PAGE_SIZE_LOG2); */
#define MCU_MVE_DENSE_WORKSPACE_SIZE      128U
#define MCU_MVE_DENSE_WORKSPACE_ALIGNMENT 16U
/* clang-format off */
#define MCU_MVE_DENSE_CHECK_WORKSPACE(array) \
    MCU_STATIC_ASSERT(sizeof(array) >= MCU_MVE_DENSE_WORKSPACE_SIZE, \
                      array##_is_too_small_for_mve_dense)
#define MCU_MVE_DENSE_ARENA_PAGES(page_size_log2) \
    ((MCU_MVE_DENSE_WORKSPACE_SIZE + (1UL << (page_size_log2)) - 1UL) >> (page_size_log2))
#define MCU_MVE_DENSE_CHECK_ARENA(num_pages, page_size_log2) \
    MCU_STATIC_ASSERT((num_pages) >= MCU_MVE_DENSE_ARENA_PAGES(page_size_log2), \
                      the_arena_is_too_small_for_mve_dense)
/* clang-format on */

/* Inputs and outputs: the bytes of each and, where it is quantized as a whole, its scale and zero
 * point: real value = scale * (q - zero point). */
#define MCU_MVE_DENSE_INPUT_0_BYTES       24U
#define MCU_MVE_DENSE_INPUT_0_SCALE       1.0e+0F
#define MCU_MVE_DENSE_INPUT_0_ZERO_POINT  (-128)
#define MCU_MVE_DENSE_OUTPUT_0_BYTES      20U
#define MCU_MVE_DENSE_OUTPUT_0_SCALE      1.9595918e+2F
#define MCU_MVE_DENSE_OUTPUT_0_ZERO_POINT 3

/* The model, for mcu_instance_init and mcu_run. */
#define mcu_network_mve_dense (&_mcu_network_mve_dense)

extern const mcu_model_t _mcu_network_mve_dense;

#ifdef __cplusplus
}
#endif

#endif /* MCU_NETWORK_MVE_DENSE_H */
