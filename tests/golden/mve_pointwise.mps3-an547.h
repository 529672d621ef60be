/* network_mve_pointwise.h: for programs that run the network, made by mcu-deploy.
 *
 *   source model  convolutions, SHA-256
 *                 1f014f865e2fc33a867e84e5a16f178ed4789ca4f92f093ae670f8d2d3824614
 *   constants     1,464 bytes, as a file: SHA-256
 *                 2e8a331574de02362e17dcc4649a3c62c89f97d0c06abe033c3c65ac59888250
 *   workspace     896 bytes
 *   layers        3 with 9,360 multiply-accumulates
 *
 * Inputs, in the order of the arguments of mcu_instance_run and mcu_run:
 *   0: int8: int8_t[468], 468 bytes
 *      real value = 1 * (q - 3)
 * Outputs:
 *   0: int8_y: int8_t[180], 180 bytes
 *      real value = 288.4441 * (q + 17)
 *
 * Tensors are compact and row-major: the last index runs fastest.
 */
#ifndef MCU_NETWORK_MVE_POINTWISE_H
#define MCU_NETWORK_MVE_POINTWISE_H

#include "mcu/runtime.h"

#if MCU_MODEL_ABI_MAJOR != 4 || MCU_MODEL_ABI_MINOR < 1
#error "network_mve_pointwise is for ABI 4.1 of mcu/model.h: build it again"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* What each instance needs in RAM for its tensors, in bytes, and how that block must be aligned:
 *     MCU_ALIGNED(MCU_MVE_POINTWISE_WORKSPACE_ALIGNMENT)
 *     static uint8_t workspace[MCU_MVE_POINTWISE_WORKSPACE_SIZE];
 * For an array of your own, which may be larger, behind its definition:
 *     MCU_MVE_POINTWISE_CHECK_WORKSPACE(array);
 * For the arena of mcu_run, as crt/arena/arena.c is compiled:
 *     MCU_MVE_POINTWISE_CHECK_ARENA(MCU_ARENA_NUM_PAGES, MCU_ARENA_PAGE_SIZE_LOG2); */
#define MCU_MVE_POINTWISE_WORKSPACE_SIZE      896U
#define MCU_MVE_POINTWISE_WORKSPACE_ALIGNMENT 16U
/* clang-format off */
#define MCU_MVE_POINTWISE_CHECK_WORKSPACE(array) \
    MCU_STATIC_ASSERT(sizeof(array) >= MCU_MVE_POINTWISE_WORKSPACE_SIZE, \
                      array##_is_too_small_for_mve_pointwise)
#define MCU_MVE_POINTWISE_ARENA_PAGES(page_size_log2) \
    ((MCU_MVE_POINTWISE_WORKSPACE_SIZE + (1UL << (page_size_log2)) - 1UL) >> (page_size_log2))
#define MCU_MVE_POINTWISE_CHECK_ARENA(num_pages, page_size_log2) \
    MCU_STATIC_ASSERT((num_pages) >= MCU_MVE_POINTWISE_ARENA_PAGES(page_size_log2), \
                      the_arena_is_too_small_for_mve_pointwise)
/* clang-format on */

/* Inputs and outputs: the bytes of each and, where it is quantized as a whole, its scale and zero
 * point: real value = scale * (q - zero point). */
#define MCU_MVE_POINTWISE_INPUT_0_BYTES       468U
#define MCU_MVE_POINTWISE_INPUT_0_SCALE       1.0e+0F
#define MCU_MVE_POINTWISE_INPUT_0_ZERO_POINT  3
#define MCU_MVE_POINTWISE_OUTPUT_0_BYTES      180U
#define MCU_MVE_POINTWISE_OUTPUT_0_SCALE      2.884441e+2F
#define MCU_MVE_POINTWISE_OUTPUT_0_ZERO_POINT (-17)

/* The model, for mcu_instance_init and mcu_run. */
#define mcu_network_mve_pointwise (&_mcu_network_mve_pointwise)

extern const mcu_model_t _mcu_network_mve_pointwise;

#ifdef __cplusplus
}
#endif

#endif /* MCU_NETWORK_MVE_POINTWISE_H */
