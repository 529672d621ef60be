/* network_dsp_softmax.h: for programs that run the network, made by mcu-deploy.
 *
 *   source model  layers, SHA-256
 *                 6667cf7635f475b172ee1bbd35b9f8e4b6b99fbb88afeb507656e6c9a15a7432
 *   constants     1,040 bytes, as a file: SHA-256
 *                 9ce197449e1e93d6c81b98d559503ef4a978cbec8fc8ca6efa94b6ffa6129b45
 *   workspace     160 bytes
 *   layers        1 with 0 multiply-accumulates
 *
 * Inputs, in the order of the arguments of mcu_instance_run and mcu_run:
 *   0: int8: int8_t[160], 160 bytes
 *      real value = 0.02 * (q + 128)
 * Outputs:
 *   0: int8_y: int8_t[160], 160 bytes
 *      real value = 0.00390625 * (q + 128)
 *
 * Tensors are compact and row-major: the last index runs fastest.
 */
#ifndef MCU_NETWORK_DSP_SOFTMAX_H
#define MCU_NETWORK_DSP_SOFTMAX_H

#include "mcu/runtime.h"

#if MCU_MODEL_ABI_MAJOR != 4 || MCU_MODEL_ABI_MINOR < 1
#error "network_dsp_softmax is for ABI 4.1 of mcu/model.h: build it again"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* What each instance needs in RAM for its tensors, in bytes, and how that block must be aligned:
 *     MCU_ALIGNED(MCU_DSP_SOFTMAX_WORKSPACE_ALIGNMENT)
 *     static uint8_t workspace[MCU_DSP_SOFTMAX_WORKSPACE_SIZE];
 * For an array of your own, which may be larger, behind its definition:
 *     MCU_DSP_SOFTMAX_CHECK_WORKSPACE(array);
 * For the arena of mcu_run, as crt/arena/arena.c is compiled:
 *     MCU_DSP_SOFTMAX_CHECK_ARENA(MCU_ARENA_NUM_PAGES, MCU_ARENA_PAGE_SIZE_LOG2); */
#define MCU_DSP_SOFTMAX_WORKSPACE_SIZE      160U
#define MCU_DSP_SOFTMAX_WORKSPACE_ALIGNMENT 16U
/* clang-format off */
#define MCU_DSP_SOFTMAX_CHECK_WORKSPACE(array) \
    MCU_STATIC_ASSERT(sizeof(array) >= MCU_DSP_SOFTMAX_WORKSPACE_SIZE, \
                      array##_is_too_small_for_dsp_softmax)
#define MCU_DSP_SOFTMAX_ARENA_PAGES(page_size_log2) \
    ((MCU_DSP_SOFTMAX_WORKSPACE_SIZE + (1UL << (page_size_log2)) - 1UL) >> (page_size_log2))
#define MCU_DSP_SOFTMAX_CHECK_ARENA(num_pages, page_size_log2) \
    MCU_STATIC_ASSERT((num_pages) >= MCU_DSP_SOFTMAX_ARENA_PAGES(page_size_log2), \
                      the_arena_is_too_small_for_dsp_softmax)
/* clang-format on */

/* Inputs and outputs: the bytes of each and, where it is quantized as a whole, its scale and zero
 * point: real value = scale * (q - zero point). */
#define MCU_DSP_SOFTMAX_INPUT_0_BYTES       160U
#define MCU_DSP_SOFTMAX_INPUT_0_SCALE       2.0e-2F
#define MCU_DSP_SOFTMAX_INPUT_0_ZERO_POINT  (-128)
#define MCU_DSP_SOFTMAX_OUTPUT_0_BYTES      160U
#define MCU_DSP_SOFTMAX_OUTPUT_0_SCALE      3.90625e-3F
#define MCU_DSP_SOFTMAX_OUTPUT_0_ZERO_POINT (-128)

/* The model, for mcu_instance_init and mcu_run. */
#define mcu_network_dsp_softmax (&_mcu_network_dsp_softmax)

extern const mcu_model_t _mcu_network_dsp_softmax;

#ifdef __cplusplus
}
#endif

#endif /* MCU_NETWORK_DSP_SOFTMAX_H */
