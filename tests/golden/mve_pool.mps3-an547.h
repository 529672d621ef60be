/* network_mve_pool.h: for programs that run the network, made by mcu-deploy.
 *
 *   source model  layers, SHA-256
 *                 e07c09463c4458d38d94ba2466f07ee8c555fbd784a9178954fc34dc9ae9e301
 *   constants     44 bytes, as a file: SHA-256
 *                 feca7f10182c2a3d6b553fe74dd88533c180ae95143a6368f4bb95d80fb68de0
 *   workspace     176 bytes
 *   layers        3 with 0 multiply-accumulates
 *
 * Inputs, in the order of the arguments of mcu_instance_run and mcu_run:
 *   0: int8: int8_t[96], 96 bytes
 *      real value = 0.0231 * (q + 128)
 * Outputs:
 *   0: int8_y: int8_t[24], 24 bytes
 *      real value = 0.0231 * (q + 128)
 *
 * Tensors are compact and row-major: the last index runs fastest.
 */
#ifndef MCU_NETWORK_MVE_POOL_H
#define MCU_NETWORK_MVE_POOL_H

#include "mcu/runtime.h"

#if MCU_MODEL_ABI_MAJOR != 4 || MCU_MODEL_ABI_MINOR < 1
#error "network_mve_pool is for ABI 4.1 of mcu/model.h: build it again"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* What each instance needs in RAM for its tensors, in bytes, and how that block must be aligned:
 *     MCU_ALIGNED(MCU_MVE_POOL_WORKSPACE_ALIGNMENT)
 *     static uint8_t workspace[MCU_MVE_POOL_WORKSPACE_SIZE];
 * For an array of your own, which may be larger, behind its definition:
 *     MCU_MVE_POOL_CHECK_WORKSPACE(array);
 * For the arena of mcu_run, as crt/arena/arena.c is compiled:
 *     MCU_MVE_POOL_CHECK_ARENA(MCU_ARENA_NUM_PAGES, MCU_ARENA_PAGE_SIZE_LOG2); */
#define MCU_MVE_POOL_WORKSPACE_SIZE      176U
#define MCU_MVE_POOL_WORKSPACE_ALIGNMENT 16U
/* clang-format off */
#define MCU_MVE_POOL_CHECK_WORKSPACE(array) \
    MCU_STATIC_ASSERT(sizeof(array) >= MCU_MVE_POOL_WORKSPACE_SIZE, \
                      array##_is_too_small_for_mve_pool)
#define MCU_MVE_POOL_ARENA_PAGES(page_size_log2) \
    ((MCU_MVE_POOL_WORKSPACE_SIZE + (1UL << (page_size_log2)) - 1UL) >> (page_size_log2))
#define MCU_MVE_POOL_CHECK_ARENA(num_pages, page_size_log2) \
    MCU_STATIC_ASSERT((num_pages) >= MCU_MVE_POOL_ARENA_PAGES(page_size_log2), \
                      the_arena_is_too_small_for_mve_pool)
/* clang-format on */

/* Inputs and outputs: the bytes of each and, where it is quantized as a whole, its scale and zero
 * point: real value = scale * (q - zero point). */
#define MCU_MVE_POOL_INPUT_0_BYTES       96U
#define MCU_MVE_POOL_INPUT_0_SCALE       2.31e-2F
#define MCU_MVE_POOL_INPUT_0_ZERO_POINT  (-128)
#define MCU_MVE_POOL_OUTPUT_0_BYTES      24U
#define MCU_MVE_POOL_OUTPUT_0_SCALE      2.31e-2F
#define MCU_MVE_POOL_OUTPUT_0_ZERO_POINT (-128)

/* The model, for mcu_instance_init and mcu_run. */
#define mcu_network_mve_pool (&_mcu_network_mve_pool)

extern const mcu_model_t _mcu_network_mve_pool;

#ifdef __cplusplus
}
#endif

#endif /* MCU_NETWORK_MVE_POOL_H */
