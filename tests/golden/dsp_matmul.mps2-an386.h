/* network_dsp_matmul.h: for programs that run the network, made by mcu-deploy.
 *
 *   source model  layers, SHA-256
 *                 55c7e330a28eeb163afe429c464773c60c610e991417ba3985d90355eacbe04f
 *   constants     24 bytes, as a file: SHA-256
 *                 8cfb6518cd992ea85e8f685193dc91cc24f3d7848c137a9da52807ab7bcae3b9
 *   workspace     448 bytes
 *   layers        1 with 672 multiply-accumulates
 *
 * Inputs, in the order of the arguments of mcu_instance_run and mcu_run:
 *   0: int8: int8_t[320], 320 bytes
 *      real value = 1 * (q - 3)
 * Outputs:
 *   0: int8_y: int8_t[84], 84 bytes
 *      real value = 173.58057 * (q - 7)
 *
 * Tensors are compact and row-major: the last index runs fastest.
 */
#ifndef MCU_NETWORK_DSP_MATMUL_H
#define MCU_NETWORK_DSP_MATMUL_H

#include "mcu/runtime.h"

#if MCU_MODEL_ABI_MAJOR != 4 || MCU_MODEL_ABI_MINOR < 1
#error "network_dsp_matmul is for ABI 4.1 of mcu/model.h: build it again"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* What each instance needs in RAM for its tensors, in bytes, and how that block must be aligned:
 *     MCU_ALIGNED(MCU_DSP_MATMUL_WORKSPACE_ALIGNMENT)
 *     static uint8_t workspace[MCU_DSP_MATMUL_WORKSPACE_SIZE];
 * For an array of your own, which may be larger, behind its definition:
 *     MCU_DSP_MATMUL_CHECK_WORKSPACE(array);
 * For the arena of mcu_run, as crt/arena/arena.c is compiled:
 *     MCU_DSP_MATMUL_CHECK_ARENA(MCU_ARENA_NUM_PAGES, MCU_ARENA_PAGE_SIZE_LOG2); */
#define MCU_DSP_MATMUL_WORKSPACE_SIZE      448U
#define MCU_DSP_MATMUL_WORKSPACE_ALIGNMENT 16U
/* clang-format off */
#define MCU_DSP_MATMUL_CHECK_WORKSPACE(array) \
    MCU_STATIC_ASSERT(sizeof(array) >= MCU_DSP_MATMUL_WORKSPACE_SIZE, \
                      array##_is_too_small_for_dsp_matmul)
#define MCU_DSP_MATMUL_ARENA_PAGES(page_size_log2) \
    ((MCU_DSP_MATMUL_WORKSPACE_SIZE + (1UL << (page_size_log2)) - 1UL) >> (page_size_log2))
#define MCU_DSP_MATMUL_CHECK_ARENA(num_pages, page_size_log2) \
    MCU_STATIC_ASSERT((num_pages) >= MCU_DSP_MATMUL_ARENA_PAGES(page_size_log2), \
                      the_arena_is_too_small_for_dsp_matmul)
/* clang-format on */

/* Inputs and outputs: the bytes of each and, where it is quantized as a whole, its scale and zero
 * point: real value = scale * (q - zero point). */
#define MCU_DSP_MATMUL_INPUT_0_BYTES       320U
#define MCU_DSP_MATMUL_INPUT_0_SCALE       1.0e+0F
#define MCU_DSP_MATMUL_INPUT_0_ZERO_POINT  3
#define MCU_DSP_MATMUL_OUTPUT_0_BYTES      84U
#define MCU_DSP_MATMUL_OUTPUT_0_SCALE      1.7358057e+2F
#define MCU_DSP_MATMUL_OUTPUT_0_ZERO_POINT 7

/* The model, for mcu_instance_init and mcu_run. */
#define mcu_network_dsp_matmul (&_mcu_network_dsp_matmul)

extern const mcu_model_t _mcu_network_dsp_matmul;

#ifdef __cplusplus
}
#endif

#endif /* MCU_NETWORK_DSP_MATMUL_H */
