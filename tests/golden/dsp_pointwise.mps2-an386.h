/* network_dsp_pointwise.h: for programs that run the network, made by mcu-deploy.
 *
 *   source model  convolutions, SHA-256
 *                 3e1c78589db033162381de58c2192af045851a44a58dca6b747b7c7988f29cdd
 *   constants     168 bytes, as a file: SHA-256
 *                 75c057a3a5d6f7739285c98ca344154ea5929094f41a50b08f59014bcaa8a5d1
 *   workspace     192 bytes
 *   layers        3 with 768 multiply-accumulates
 *
 * Inputs, in the order of the arguments of mcu_instance_run and mcu_run:
 *   0: int8: int8_t[96], 96 bytes
 *      real value = 1 * (q - 3)
 * Outputs:
 *   0: int8_y: int8_t[96], 96 bytes
 *      real value = 113.137085 * (q + 5)
 *
 * Tensors are compact and row-major: the last index runs fastest.
 */
#ifndef MCU_NETWORK_DSP_POINTWISE_H
#define MCU_NETWORK_DSP_POINTWISE_H

#include "mcu/runtime.h"

#if MCU_MODEL_ABI_MAJOR != 4 || MCU_MODEL_ABI_MINOR < 1
#error "network_dsp_pointwise is for ABI 4.1 of mcu/model.h: build it again"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* What each instance needs in RAM for its tensors, in bytes, and how that block must be aligned:
 *     MCU_ALIGNED(MCU_DSP_POINTWISE_WORKSPACE_ALIGNMENT)
 *     static uint8_t workspace[MCU_DSP_POINTWISE_WORKSPACE_SIZE];
 * For an array of your own, which may be larger, behind its definition:
 *     MCU_DSP_POINTWISE_CHECK_WORKSPACE(array);
 * For the arena of mcu_run, as crt/arena/arena.c is compiled:
 *     MCU_DSP_POINTWISE_CHECK_ARENA(MCU_ARENA_NUM_PAGES, MCU_ARENA_PAGE_SIZE_LOG2); */
#define MCU_DSP_POINTWISE_WORKSPACE_SIZE      192U
#define MCU_DSP_POINTWISE_WORKSPACE_ALIGNMENT 16U
/* clang-format off */
#define MCU_DSP_POINTWISE_CHECK_WORKSPACE(array) \
    MCU_STATIC_ASSERT(sizeof(array) >= MCU_DSP_POINTWISE_WORKSPACE_SIZE, \
                      array##_is_too_small_for_dsp_pointwise)
#define MCU_DSP_POINTWISE_ARENA_PAGES(page_size_log2) \
    ((MCU_DSP_POINTWISE_WORKSPACE_SIZE + (1UL << (page_size_log2)) - 1UL) >> (page_size_log2))
#define MCU_DSP_POINTWISE_CHECK_ARENA(num_pages, page_size_log2) \
    MCU_STATIC_ASSERT((num_pages) >= MCU_DSP_POINTWISE_ARENA_PAGES(page_size_log2), \
                      the_arena_is_too_small_for_dsp_pointwise)
/* clang-format on */

/* Inputs and outputs: the bytes of each and, where it is quantized as a whole, its scale and zero
 * point: real value = scale * (q - zero point). */
#define MCU_DSP_POINTWISE_INPUT_0_BYTES       96U
#define MCU_DSP_POINTWISE_INPUT_0_SCALE       1.0e+0F
#define MCU_DSP_POINTWISE_INPUT_0_ZERO_POINT  3
#define MCU_DSP_POINTWISE_OUTPUT_0_BYTES      96U
#define MCU_DSP_POINTWISE_OUTPUT_0_SCALE      1.13137085e+2F
#define MCU_DSP_POINTWISE_OUTPUT_0_ZERO_POINT (-5)

/* The model, for mcu_instance_init and mcu_run. */
#define mcu_network_dsp_pointwise (&_mcu_network_dsp_pointwise)

extern const mcu_model_t _mcu_network_dsp_pointwise;

#ifdef __cplusplus
}
#endif

#endif /* MCU_NETWORK_DSP_POINTWISE_H */
