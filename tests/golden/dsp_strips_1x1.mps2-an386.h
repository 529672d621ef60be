/* network_dsp_strips_1x1.h: for programs that run the network, made by mcu-deploy.
 *
 *   source model  convolutions, SHA-256
 *                 ee9cb5ea008b35df6c29e20bb5ac8f1a4ca41bdc8dba2c0bfe4187d546dc9c25
 *   constants     152 bytes, as a file: SHA-256
 *                 5ad4e20386c4fbcd1f25401e70330d83c91eed25ae797a2ef581fdae10dd5ff8
 *   workspace     3,136 bytes
 *   layers        3 with 20,280 multiply-accumulates
 *
 * Inputs, in the order of the arguments of mcu_instance_run and mcu_run:
 *   0: uint8: uint8_t[1560], 1,560 bytes
 *      real value = 1 * (q - 1)
 * Outputs:
 *   0: uint8_y: uint8_t[1560], 1,560 bytes
 *      real value = 9600 * (q - 3)
 *
 * Tensors are compact and row-major: the last index runs fastest.
 */
#ifndef MCU_NETWORK_DSP_STRIPS_1X1_H
#define MCU_NETWORK_DSP_STRIPS_1X1_H

#include "mcu/runtime.h"

#if MCU_MODEL_ABI_MAJOR != 4 || MCU_MODEL_ABI_MINOR < 1
#error "network_dsp_strips_1x1 is for ABI 4.1 of mcu/model.h: build it again"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* What each instance needs in RAM for its tensors, in bytes, and how that block must be aligned:
 *     MCU_ALIGNED(MCU_DSP_STRIPS_1X1_WORKSPACE_ALIGNMENT)
 *     static uint8_t workspace[MCU_DSP_STRIPS_1X1_WORKSPACE_SIZE];
 * For an array of your own, which may be larger, behind its definition:
 *     MCU_DSP_STRIPS_1X1_CHECK_WORKSPACE(array);
 * For the arena of mcu_run, as crt/arena/arena.c is compiled:
 *     MCU_DSP_STRIPS_1X1_CHECK_ARENA(MCU_ARENA_NUM_PAGES, MCU_ARENA_PAGE_SIZE_LOG2); */
#define MCU_DSP_STRIPS_1X1_WORKSPACE_SIZE      3136U
#define MCU_DSP_STRIPS_1X1_WORKSPACE_ALIGNMENT 16U
/* clang-format off */
#define MCU_DSP_STRIPS_1X1_CHECK_WORKSPACE(array) \
    MCU_STATIC_ASSERT(sizeof(array) >= MCU_DSP_STRIPS_1X1_WORKSPACE_SIZE, \
                      array##_is_too_small_for_dsp_strips_1x1)
#define MCU_DSP_STRIPS_1X1_ARENA_PAGES(page_size_log2) \
    ((MCU_DSP_STRIPS_1X1_WORKSPACE_SIZE + (1UL << (page_size_log2)) - 1UL) >> (page_size_log2))
#define MCU_DSP_STRIPS_1X1_CHECK_ARENA(num_pages, page_size_log2) \
    MCU_STATIC_ASSERT((num_pages) >= MCU_DSP_STRIPS_1X1_ARENA_PAGES(page_size_log2), \
                      the_arena_is_too_small_for_dsp_strips_1x1)
/* clang-format on */

/* Inputs and outputs: the bytes of each and, where it is quantized as a whole, its scale and zero
 * point: real value = scale * (q - zero point). */
#define MCU_DSP_STRIPS_1X1_INPUT_0_BYTES       1560U
#define MCU_DSP_STRIPS_1X1_INPUT_0_SCALE       1.0e+0F
#define MCU_DSP_STRIPS_1X1_INPUT_0_ZERO_POINT  1
#define MCU_DSP_STRIPS_1X1_OUTPUT_0_BYTES      1560U
#define MCU_DSP_STRIPS_1X1_OUTPUT_0_SCALE      9.6e+3F
#define MCU_DSP_STRIPS_1X1_OUTPUT_0_ZERO_POINT 3

/* The model, for mcu_instance_init and mcu_run. */
#define mcu_network_dsp_strips_1x1 (&_mcu_network_dsp_strips_1x1)

extern const mcu_model_t _mcu_network_dsp_strips_1x1;

#ifdef __cplusplus
}
#endif

#endif /* MCU_NETWORK_DSP_STRIPS_1X1_H */
