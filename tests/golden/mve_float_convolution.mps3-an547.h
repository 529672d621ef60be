/* network_mve_float_convolution.h: for programs that run the network, made by mcu-deploy.
 *
 *   source model  floats, SHA-256
 *                 3b8ec5c3e8029396c80b95d75e678f6895fbab268f42ff31e694384ad3f77a4d
 *   constants     1,760 bytes, as a file: SHA-256
 *                 d2662d733335b84f35811329915105344cb0e67128e69758ca620e97ce8743bb
 *   workspace     1,632 bytes
 *   layers        3 with 11,340 multiply-accumulates
 *
 * Inputs, in the order of the arguments of mcu_instance_run and mcu_run:
 *   0: x: float[180], 720 bytes
 * Outputs:
 *   0: y: float[210], 840 bytes
 *
 * Tensors are compact and row-major: the last index runs fastest.
 */
#ifndef MCU_NETWORK_MVE_FLOAT_CONVOLUTION_H
#define MCU_NETWORK_MVE_FLOAT_CONVOLUTION_H

#include "mcu/runtime.h"

#if MCU_MODEL_ABI_MAJOR != 4 || MCU_MODEL_ABI_MINOR < 1
#error "network_mve_float_convolution is for ABI 4.1 of mcu/model.h: build it again"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* What each instance needs in RAM for its tensors, in bytes, and how that block must be aligned:
 *     MCU_ALIGNED(MCU_MVE_FLOAT_CONVOLUTION_WORKSPACE_ALIGNMENT)
 *     static uint8_t workspace[MCU_MVE_FLOAT_CONVOLUTION_WORKSPACE_SIZE];
 * For an array of your own, which may be larger, behind its definition:
 *     MCU_MVE_FLOAT_CONVOLUTION_CHECK_WORKSPACE(array);
 * For the arena of mcu_run, as crt/arena/arena.c is compiled:
 *     MCU_MVE_FLOAT_CONVOLUTION_CHECK_ARENA(MCU_ARENA_NUM_PAGES, MCU_ARENA_PAGE_SIZE_LOG2); */
#define MCU_MVE_FLOAT_CONVOLUTION_WORKSPACE_SIZE      1632U
#define MCU_MVE_FLOAT_CONVOLUTION_WORKSPACE_ALIGNMENT 16U
/* clang-format off */
#define MCU_MVE_FLOAT_CONVOLUTION_CHECK_WORKSPACE(array) \
    MCU_STATIC_ASSERT(sizeof(array) >= MCU_MVE_FLOAT_CONVOLUTION_WORKSPACE_SIZE, \
                      array##_is_too_small_for_mve_float_convolution)
#define MCU_MVE_FLOAT_CONVOLUTION_ARENA_PAGES(page_size_log2) \
    ((MCU_MVE_FLOAT_CONVOLUTION_WORKSPACE_SIZE + (1UL << (page_size_log2)) - 1UL) >> (page_size_log2))
#define MCU_MVE_FLOAT_CONVOLUTION_CHECK_ARENA(num_pages, page_size_log2) \
    MCU_STATIC_ASSERT((num_pages) >= MCU_MVE_FLOAT_CONVOLUTION_ARENA_PAGES(page_size_log2), \
                      the_arena_is_too_small_for_mve_float_convolution)
/* clang-format on */

/* Inputs and outputs: the bytes of each and, where it is quantized as a whole, its scale and zero
 * point: real value = scale * (q - zero point). */
#define MCU_MVE_FLOAT_CONVOLUTION_INPUT_0_BYTES  720U
#define MCU_MVE_FLOAT_CONVOLUTION_OUTPUT_0_BYTES 840U

/* The model, for mcu_instance_init and mcu_run. */
#define mcu_network_mve_float_convolution (&_mcu_network_mve_float_convolution)

extern const mcu_model_t _mcu_network_mve_float_convolution;

#ifdef __cplusplus
}
#endif

#endif /* MCU_NETWORK_MVE_FLOAT_CONVOLUTION_H */
