/* network_dsp_convolution.h: for programs that run the network, made by mcu-deploy.
 *
 *   source model  convolutions, SHA-256
 *                 4488765474ce8d8c10a79d8412818dfe5b27f8adc022b8bf4d81fc798ba42d58
 *   constants     388 bytes, as a file: SHA-256
 *                 d4149def81c81194f8cbed3931de29e7a4366af2f64359b427fde61e504621dd
 *   workspace     1,264 bytes
 *   layers        3 with 7,776 multiply-accumulates
 *
 * Inputs, in the order of the arguments of mcu_instance_run and mcu_run:
 *   0: int8: int8_t[432], 432 bytes
 *      real value = 1 * (q + 128)
 * Outputs:
 *   0: int8_y: int8_t[288], 288 bytes
 *      real value = 207.8461 * (q + 128)
 *
 * Tensors are compact and row-major: the last index runs fastest.
 */
#ifndef MCU_NETWORK_DSP_CONVOLUTION_H
#define MCU_NETWORK_DSP_CONVOLUTION_H

#include "mcu/runtime.h"

#if MCU_MODEL_ABI_MAJOR != 4 || MCU_MODEL_ABI_MINOR < 1
#error "network_dsp_convolution is for ABI 4.1 of mcu/model.h: build it again"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* What each instance needs in RAM for its tensors, in bytes, and how that block must be aligned:
 *     MCU_ALIGNED(MCU_DSP_CONVOLUTION_WORKSPACE_ALIGNMENT)
 *     static uint8_t workspace[MCU_DSP_CONVOLUTION_WORKSPACE_SIZE];
 * For an array of your own, which may be larger, behind its definition:
 *     MCU_DSP_CONVOLUTION_CHECK_WORKSPACE(array);
 * For the arena of mcu_run, as crt/arena/arena.c is compiled:
 *     MCU_DSP_CONVOLUTION_CHECK_ARENA(MCU_ARENA_NUM_PAGES, MCU_ARENA_PAGE_SIZE_LOG2); */
#define MCU_DSP_CONVOLUTION_WORKSPACE_SIZE      1264U
#define MCU_DSP_CONVOLUTION_WORKSPACE_ALIGNMENT 16U
/* clang-format off */
#define MCU_DSP_CONVOLUTION_CHECK_WORKSPACE(array) \
    MCU_STATIC_ASSERT(sizeof(array) >= MCU_DSP_CONVOLUTION_WORKSPACE_SIZE, \
                      array##_is_too_small_for_dsp_convolution)
#define MCU_DSP_CONVOLUTION_ARENA_PAGES(page_size_log2) \
    ((MCU_DSP_CONVOLUTION_WORKSPACE_SIZE + (1UL << (page_size_log2)) - 1UL) >> (page_size_log2))
#define MCU_DSP_CONVOLUTION_CHECK_ARENA(num_pages, page_size_log2) \
    MCU_STATIC_ASSERT((num_pages) >= MCU_DSP_CONVOLUTION_ARENA_PAGES(page_size_log2), \
                      the_arena_is_too_small_for_dsp_convolution)
/* clang-format on */

/* Inputs and outputs: the bytes of each and, where it is quantized as a whole, its scale and zero
 * point: real value = scale * (q - zero point). */
#define MCU_DSP_CONVOLUTION_INPUT_0_BYTES       432U
#define MCU_DSP_CONVOLUTION_INPUT_0_SCALE       1.0e+0F
#define MCU_DSP_CONVOLUTION_INPUT_0_ZERO_POINT  (-128)
#define MCU_DSP_CONVOLUTION_OUTPUT_0_BYTES      288U
#define MCU_DSP_CONVOLUTION_OUTPUT_0_SCALE      2.078461e+2F
#define MCU_DSP_CONVOLUTION_OUTPUT_0_ZERO_POINT (-128)

/* The model, for mcu_instance_init and mcu_run. */
#define mcu_network_dsp_convolution (&_mcu_network_dsp_convolution)

extern const mcu_model_t _mcu_network_dsp_convolution;

#ifdef __cplusplus
}
#endif

#endif /* MCU_NETWORK_DSP_CONVOLUTION_H */
