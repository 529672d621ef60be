/* network_mve_float_dense.h: for programs that run the network, made by mcu-deploy.
 *
 *   source model  floats, SHA-256
 *                 1c76af1361c2b856d0460571daa35a18f0837170d0c4fe1d3fd31cba99467674
 *   constants     1,824 bytes, as a file: SHA-256
 *                 21c97b7b65062eec3f225495f02a342a4aedcce99ff22b76062bc0e4a492befe
 *   workspace     208 bytes
 *   layers        1 with 378 multiply-accumulates
 *
 * Inputs, in the order of the arguments of mcu_instance_run and mcu_run:
 *   0: x: float[18], 72 bytes
 * Outputs:
 *   0: y: float[21], 84 bytes
 *
 * Tensors are compact and row-major: the last index runs fastest.
 */
#ifndef MCU_NETWORK_MVE_FLOAT_DENSE_H
#define MCU_NETWORK_MVE_FLOAT_DENSE_H

#include "mcu/runtime.h"

#if MCU_MODEL_ABI_MAJOR != 4 || MCU_MODEL_ABI_MINOR < 1
#error "network_mve_float_dense is for ABI 4.1 of mcu/model.h: build it again"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* What each instance needs in RAM for its tensors, in bytes, and how that block must be aligned:
 *     MCU_ALIGNED(MCU_MVE_FLOAT_DENSE_WORKSPACE_ALIGNMENT)
 *     static uint8_t workspace[MCU_MVE_FLOAT_DENSE_WORKSPACE_SIZE];
 * For an array of your own, which may be larger, behind its definition:
 *     MCU_MVE_FLOAT_DENSE_CHECK_WORKSPACE(array);
 * For the arena of mcu_run, as crt/arena/arena.c is compiled:
 *     MCU_MVE_FLOAT_DENSE_CHECK_ARENA(MCU_ARENA_NUM_PAGES, MCU_ARENA_PAGE_SIZE_LOG2); */
#define MCU_MVE_FLOAT_DENSE_WORKSPACE_SIZE      208U
#define MCU_MVE_FLOAT_DENSE_WORKSPACE_ALIGNMENT 16U
/* clang-format off */
#define MCU_MVE_FLOAT_DENSE_CHECK_WORKSPACE(array) \
    MCU_STATIC_ASSERT(sizeof(array) >= MCU_MVE_FLOAT_DENSE_WORKSPACE_SIZE, \
                      array##_is_too_small_for_mve_float_dense)
#define MCU_MVE_FLOAT_DENSE_ARENA_PAGES(page_size_log2) \
    ((MCU_MVE_FLOAT_DENSE_WORKSPACE_SIZE + (1UL << (page_size_log2)) - 1UL) >> (page_size_log2))
#define MCU_MVE_FLOAT_DENSE_CHECK_ARENA(num_pages, page_size_log2) \
    MCU_STATIC_ASSERT((num_pages) >= MCU_MVE_FLOAT_DENSE_ARENA_PAGES(page_size_log2), \
                      the_arena_is_too_small_for_mve_float_dense)
/* clang-format on */

/* Inputs and outputs: the bytes of each and, where it is quantized as a whole, its scale and zero
 * point: real value = scale * (q - zero point). */
#define MCU_MVE_FLOAT_DENSE_INPUT_0_BYTES  72U
#define MCU_MVE_FLOAT_DENSE_OUTPUT_0_BYTES 84U

/* The model, for mcu_instance_init and mcu_run. */
#define mcu_network_mve_float_dense (&_mcu_network_mve_float_dense)

extern const mcu_model_t _mcu_network_mve_float_dense;

#ifdef __cplusplus
}
#endif

#endif /* MCU_NETWORK_MVE_FLOAT_DENSE_H */
