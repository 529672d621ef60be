/* network_mve_float_pool.h: for programs that run the network, made by mcu-deploy.
 *
 *   source model  floats, SHA-256
 *                 621985f18a98388eed73d5c3511b76522114daa9f35b2e6da8d0f49b0e4214b9
 *   constants     4 bytes, as a file: SHA-256
 *                 75e253f50979177eba47b2d0805ad36038789108924514d2a761a70de057d16f
 *   workspace     1,840 bytes
 *   layers        6 with 0 multiply-accumulates
 *
 * Inputs, in the order of the arguments of mcu_instance_run and mcu_run:
 *   0: x: float[288], 1,152 bytes
 * Outputs:
 *   0: y: float[72], 288 bytes
 *
 * Tensors are compact and row-major: the last index runs fastest.
 */
#ifndef MCU_NETWORK_MVE_FLOAT_POOL_H
#define MCU_NETWORK_MVE_FLOAT_POOL_H

#include "mcu/runtime.h"

#if MCU_MODEL_ABI_MAJOR != 4 || MCU_MODEL_ABI_MINOR < 1
#error "network_mve_float_pool is for ABI 4.1 of mcu/model.h: build it again"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* What each instance needs in RAM for its tensors, in bytes, and how that block must be aligned:
 *     MCU_ALIGNED(MCU_MVE_FLOAT_POOL_WORKSPACE_ALIGNMENT)
 *     static uint8_t workspace[MCU_MVE_FLOAT_POOL_WORKSPACE_SIZE];
 * For an array of your own, which may be larger, behind its definition:
 *     MCU_MVE_FLOAT_POOL_CHECK_WORKSPACE(array);
 * For the arena of mcu_run, as crt/arena/arena.c is compiled:
 *     MCU_MVE_FLOAT_POOL_CHECK_ARENA(MCU_ARENA_NUM_PAGES, MCU_ARENA_PAGE_SIZE_LOG2); */
#define MCU_MVE_FLOAT_POOL_WORKSPACE_SIZE      1840U
#define MCU_MVE_FLOAT_POOL_WORKSPACE_ALIGNMENT 16U
/* clang-format off */
#define MCU_MVE_FLOAT_POOL_CHECK_WORKSPACE(array) \
    MCU_STATIC_ASSERT(sizeof(array) >= MCU_MVE_FLOAT_POOL_WORKSPACE_SIZE, \
                      array##_is_too_small_for_mve_float_pool)
#define MCU_MVE_FLOAT_POOL_ARENA_PAGES(page_size_log2) \
    ((MCU_MVE_FLOAT_POOL_WORKSPACE_SIZE + (1UL << (page_size_log2)) - 1UL) >> (page_size_log2))
#define MCU_MVE_FLOAT_POOL_CHECK_ARENA(num_pages, page_size_log2) \
    MCU_STATIC_ASSERT((num_pages) >= MCU_MVE_FLOAT_POOL_ARENA_PAGES(page_size_log2), \
                      the_arena_is_too_small_for_mve_float_pool)
/* clang-format on */

/* Inputs and outputs: the bytes of each and, where it is quantized as a whole, its scale and zero
 * point: real value = scale * (q - zero point). */
#define MCU_MVE_FLOAT_POOL_INPUT_0_BYTES  1152U
#define MCU_MVE_FLOAT_POOL_OUTPUT_0_BYTES 288U

/* The model, for mcu_instance_init and mcu_run. */
#define mcu_network_mve_float_pool (&_mcu_network_mve_float_pool)

extern const mcu_model_t _mcu_network_mve_float_pool;

#ifdef __cplusplus
}
#endif

#endif /* MCU_NETWORK_MVE_FLOAT_POOL_H */
