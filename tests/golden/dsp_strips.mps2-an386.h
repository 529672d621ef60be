/* network_dsp_strips.h: for programs that run the network, made by mcu-deploy.
 *
 *   source model  layers, SHA-256
 *                 3155015ec786e8d1397af80103ab97ffac692a6c315e7f11636cef0dd7b21faa
 *   constants     5,172 bytes, as a file: SHA-256
 *                 8694bc045c949a157dcaad893f828980b732ea250eb1d8e8061c2a4ac0349955
 *   workspace     12,288 bytes
 *   layers        3 with 1,769,472 multiply-accumulates
 *
 * Inputs, in the order of the arguments of mcu_instance_run and mcu_run:
 *   0: int8: int8_t[6144], 6,144 bytes
 *      real value = 0.0403936 * (q + 128)
 * Outputs:
 *   0: int8_y: int8_t[6144], 6,144 bytes
 *      real value = 0.0501713 * (q + 128)
 *
 * Tensors are compact and row-major: the last index runs fastest.
 */
#ifndef MCU_NETWORK_DSP_STRIPS_H
#define MCU_NETWORK_DSP_STRIPS_H

#include "mcu/runtime.h"

#if MCU_MODEL_ABI_MAJOR != 4 || MCU_MODEL_ABI_MINOR < 1
#error "network_dsp_strips is for ABI 4.1 of mcu/model.h: build it again"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* What each instance needs in RAM for its tensors, in bytes, and how that block must be aligned:
 *     MCU_ALIGNED(MCU_DSP_STRIPS_WORKSPACE_ALIGNMENT)
 *     static uint8_t workspace[MCU_DSP_STRIPS_WORKSPACE_SIZE];
 * For an array of your own, which may be larger, behind its definition:
 *     MCU_DSP_STRIPS_CHECK_WORKSPACE(array);
 * For the arena of mcu_run, as crt/arena/arena.c is compiled:
 *     MCU_DSP_STRIPS_CHECK_ARENA(MCU_ARENA_NUM_PAGES, MCU_ARENA_PAGE_SIZE_LOG2); */
#define MCU_DSP_STRIPS_WORKSPACE_SIZE      12288U
#define MCU_DSP_STRIPS_WORKSPACE_ALIGNMENT 16U
/* clang-format off */
#define MCU_DSP_STRIPS_CHECK_WORKSPACE(array) \
    MCU_STATIC_ASSERT(sizeof(array) >= MCU_DSP_STRIPS_WORKSPACE_SIZE, \
                      array##_is_too_small_for_dsp_strips)
#define MCU_DSP_STRIPS_ARENA_PAGES(page_size_log2) \
    ((MCU_DSP_STRIPS_WORKSPACE_SIZE + (1UL << (page_size_log2)) - 1UL) >> (page_size_log2))
#define MCU_DSP_STRIPS_CHECK_ARENA(num_pages, page_size_log2) \
    MCU_STATIC_ASSERT((num_pages) >= MCU_DSP_STRIPS_ARENA_PAGES(page_size_log2), \
                      the_arena_is_too_small_for_dsp_strips)
/* clang-format on */

/* Inputs and outputs: the bytes of each and, where it is quantized as a whole, its scale and zero
 * point: real value = scale * (q - zero point). */
#define MCU_DSP_STRIPS_INPUT_0_BYTES       6144U
#define MCU_DSP_STRIPS_INPUT_0_SCALE       4.03936e-2F
#define MCU_DSP_STRIPS_INPUT_0_ZERO_POINT  (-128)
#define MCU_DSP_STRIPS_OUTPUT_0_BYTES      6144U
#define MCU_DSP_STRIPS_OUTPUT_0_SCALE      5.01713e-2F
#define MCU_DSP_STRIPS_OUTPUT_0_ZERO_POINT (-128)

/* The model, for mcu_instance_init and mcu_run. */
#define mcu_network_dsp_strips (&_mcu_network_dsp_strips)

extern const mcu_model_t _mcu_network_dsp_strips;

#ifdef __cplusplus
}
#endif

#endif /* MCU_NETWORK_DSP_STRIPS_H */
