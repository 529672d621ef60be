/* network_dsp_depthwise.h: for programs that run the network, made by mcu-deploy.
 *
 *   source model  convolutions, SHA-256
 *                 9726ee3c31b15eb27a219ebf311fb865d8ff8acf3afbb0212a7426ab0ad04a0a
 *   constants     232 bytes, as a file: SHA-256
 *                 12833855b6e993c85387159c0435770d1016c8ce2c8b306eb4d94a39033620e5
 *   workspace     1,664 bytes
 *   layers        3 with 8,000 multiply-accumulates
 *
 * Inputs, in the order of the arguments of mcu_instance_run and mcu_run:
 *   0: int8: int8_t[320], 320 bytes
 *      real value = 1 * (q + 128)
 * Outputs:
 *   0: int8_y: int8_t[320], 320 bytes
 *      real value = 200 * (q + 128)
 *
 * Tensors are compact and row-major: the last index runs fastest.
 */
#ifndef MCU_NETWORK_DSP_DEPTHWISE_H
#define MCU_NETWORK_DSP_DEPTHWISE_H

#include "mcu/runtime.h"

#if MCU_MODEL_ABI_MAJOR != 4 || MCU_MODEL_ABI_MINOR < 1
#error "network_dsp_depthwise is for ABI 4.1 of mcu/model.h: build it again"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* What each instance needs in RAM for its tensors, in bytes, and how that block must be aligned:
 *     MCU_ALIGNED(MCU_DSP_DEPTHWISE_WORKSPACE_ALIGNMENT)
 *     static uint8_t workspace[MCU_DSP_DEPTHWISE_WORKSPACE_SIZE];
 * For an array of your own, which may be larger, behind its definition:
 *     MCU_DSP_DEPTHWISE_CHECK_WORKSPACE(array);
 * For the arena of mcu_run, as crt/arena/arena.c is compiled:
 *     MCU_DSP_DEPTHWISE_CHECK_ARENA(MCU_ARENA_NUM_PAGES, MCU_ARENA_PAGE_SIZE_LOG2); */
#define MCU_DSP_DEPTHWISE_WORKSPACE_SIZE      1664U
#define MCU_DSP_DEPTHWISE_WORKSPACE_ALIGNMENT 16U
/* clang-format off */
#define MCU_DSP_DEPTHWISE_CHECK_WORKSPACE(array) \
    MCU_STATIC_ASSERT(sizeof(array) >= MCU_DSP_DEPTHWISE_WORKSPACE_SIZE, \
                      array##_is_too_small_for_dsp_depthwise)
#define MCU_DSP_DEPTHWISE_ARENA_PAGES(page_size_log2) \
    ((MCU_DSP_DEPTHWISE_WORKSPACE_SIZE + (1UL << (page_size_log2)) - 1UL) >> (page_size_log2))
#define MCU_DSP_DEPTHWISE_CHECK_ARENA(num_pages, page_size_log2) \
    MCU_STATIC_ASSERT((num_pages) >= MCU_DSP_DEPTHWISE_ARENA_PAGES(page_size_log2), \
                      the_arena_is_too_small_for_dsp_depthwise)
/* clang-format on */

/* Inputs and outputs: the bytes of each and, where it is quantized as a whole, its scale and zero
 * point: real value = scale * (q - zero point). */
#define MCU_DSP_DEPTHWISE_INPUT_0_BYTES       320U
#define MCU_DSP_DEPTHWISE_INPUT_0_SCALE       1.0e+0F
#define MCU_DSP_DEPTHWISE_INPUT_0_ZERO_POINT  (-128)
#define MCU_DSP_DEPTHWISE_OUTPUT_0_BYTES      320U
#define MCU_DSP_DEPTHWISE_OUTPUT_0_SCALE      2.0e+2F
#define MCU_DSP_DEPTHWISE_OUTPUT_0_ZERO_POINT (-128)

/* The model, for mcu_instance_init and mcu_run. */
#define mcu_network_dsp_depthwise (&_mcu_network_dsp_depthwise)

extern const mcu_model_t _mcu_network_dsp_depthwise;

#ifdef __cplusplus
}
#endif

#endif /* MCU_NETWORK_DSP_DEPTHWISE_H */
