/* network_residual.h: for programs that run the network, made by mcu-deploy.
 *
 *   source model  branchy, SHA-256
 *                 ba24a54b193b90215afe7c7ef9ceba1b1d120538d35c3859e6f78dffe6016ed7
 *   constants     864 bytes, as a file: SHA-256
 *                 026a3e7e28ae04e70ea8917110fc602ebf45e93990ee3ab9de99f694363155d1
 *   workspace     2,304 bytes
 *   layers        5 with 114,048 multiply-accumulates
 *
 * Inputs, in the order of the arguments of mcu_instance_run and mcu_run:
 *   0: image: int8_t[1][3][12][12], 432 bytes
 *      real value = 0.05 * (q + 3)
 * Outputs:
 *   0: pooled_int8: int8_t[1][8][1][1], 8 bytes
 *      real value = 0.05 * (q + 3)
 *
 * Tensors are compact and row-major: the last index runs fastest.
 */
#ifndef MCU_NETWORK_RESIDUAL_H
#define MCU_NETWORK_RESIDUAL_H

#include "mcu/runtime.h"

#if MCU_MODEL_ABI_MAJOR != 4 || MCU_MODEL_ABI_MINOR < 1
#error "network_residual is for ABI 4.1 of mcu/model.h: build it again"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* What each instance needs in RAM for its tensors, in bytes, and how that block must be aligned:
 *     MCU_ALIGNED(MCU_RESIDUAL_WORKSPACE_ALIGNMENT)
 *     static uint8_t workspace[MCU_RESIDUAL_WORKSPACE_SIZE];
 * For an array of your own, which may be larger, behind its definition:
 *     MCU_RESIDUAL_CHECK_WORKSPACE(array);
 * For the arena of mcu_run, as crt/arena/arena.c is compiled:
 *     MCU_RESIDUAL_CHECK_ARENA(MCU_ARENA_NUM_PAGES, MCU_ARENA_PAGE_SIZE_LOG2); */
#define MCU_RESIDUAL_WORKSPACE_SIZE      2304U
#define MCU_RESIDUAL_WORKSPACE_ALIGNMENT 16U
/* clang-format off */
#define MCU_RESIDUAL_CHECK_WORKSPACE(array) \
    MCU_STATIC_ASSERT(sizeof(array) >= MCU_RESIDUAL_WORKSPACE_SIZE, \
                      array##_is_too_small_for_residual)
#define MCU_RESIDUAL_ARENA_PAGES(page_size_log2) \
    ((MCU_RESIDUAL_WORKSPACE_SIZE + (1UL << (page_size_log2)) - 1UL) >> (page_size_log2))
#define MCU_RESIDUAL_CHECK_ARENA(num_pages, page_size_log2) \
    MCU_STATIC_ASSERT((num_pages) >= MCU_RESIDUAL_ARENA_PAGES(page_size_log2), \
                      the_arena_is_too_small_for_residual)
/* clang-format on */

/* Inputs and outputs: the bytes of each and, where it is quantized as a whole, its scale and zero
 * point: real value = scale * (q - zero point). */
#define MCU_RESIDUAL_INPUT_0_BYTES       432U
#define MCU_RESIDUAL_INPUT_0_SCALE       5.0e-2F
#define MCU_RESIDUAL_INPUT_0_ZERO_POINT  (-3)
#define MCU_RESIDUAL_OUTPUT_0_BYTES      8U
#define MCU_RESIDUAL_OUTPUT_0_SCALE      5.0e-2F
#define MCU_RESIDUAL_OUTPUT_0_ZERO_POINT (-3)

/* The model, for mcu_instance_init and mcu_run. */
#define mcu_network_residual (&_mcu_network_residual)

extern const mcu_model_t _mcu_network_residual;

#ifdef __cplusplus
}
#endif

#endif /* MCU_NETWORK_RESIDUAL_H */
