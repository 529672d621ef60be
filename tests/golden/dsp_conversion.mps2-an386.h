/* network_dsp_conversion.h: for programs that run the network, made by mcu-deploy.
 *
 *   source model  conversions, SHA-256
 *                 4e10ca2587ad1e7342772d6225bb6958d9f71a5f06abcc99f3fa13fcdb30df23
 *   constants     24 bytes, as a file: SHA-256
 *                 afab91236c2e9916837c85fab0815a5eaeed661164160409d8eeea78c096dbd2
 *   workspace     80 bytes
 *   layers        2 with 0 multiply-accumulates
 *
 * Inputs, in the order of the arguments of mcu_instance_run and mcu_run:
 *   0: x0: float[1][12], 48 bytes
 *   1: x1: int8_t[1][12], 12 bytes
 *      real value = 0.05 * (q - 3)
 * Outputs:
 *   0: y0: int8_t[1][12], 12 bytes
 *      real value = 0.05 * (q - 3)
 *   1: y1: float[1][12], 48 bytes
 *
 * Tensors are compact and row-major: the last index runs fastest.
 */
#ifndef MCU_NETWORK_DSP_CONVERSION_H
#define MCU_NETWORK_DSP_CONVERSION_H

#include "mcu/runtime.h"

#if MCU_MODEL_ABI_MAJOR != 4 || MCU_MODEL_ABI_MINOR < 1
#error "network_dsp_conversion is for ABI 4.1 of mcu/model.h: build it again"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* What each instance needs in RAM for its tensors, in bytes, and how that block must be aligned:
 *     MCU_ALIGNED(MCU_DSP_CONVERSION_WORKSPACE_ALIGNMENT)
 *     static uint8_t workspace[MCU_DSP_CONVERSION_WORKSPACE_SIZE];
 * For an array of your own, which may be larger, behind its definition:
 *     MCU_DSP_CONVERSION_CHECK_WORKSPACE(array);
 * For the arena of mcu_run, as crt/arena/arena.c is compiled:
 *     MCU_DSP_CONVERSION_CHECK_ARENA(MCU_ARENA_NUM_PAGES, MCU_ARENA_PAGE_SIZE_LOG2); */
#define MCU_DSP_CONVERSION_WORKSPACE_SIZE      80U
#define MCU_DSP_CONVERSION_WORKSPACE_ALIGNMENT 16U
/* clang-format off */
#define MCU_DSP_CONVERSION_CHECK_WORKSPACE(array) \
    MCU_STATIC_ASSERT(sizeof(array) >= MCU_DSP_CONVERSION_WORKSPACE_SIZE, \
                      array##_is_too_small_for_dsp_conversion)
#define MCU_DSP_CONVERSION_ARENA_PAGES(page_size_log2) \
    ((MCU_DSP_CONVERSION_WORKSPACE_SIZE + (1UL << (page_size_log2)) - 1UL) >> (page_size_log2))
#define MCU_DSP_CONVERSION_CHECK_ARENA(num_pages, page_size_log2) \
    MCU_STATIC_ASSERT((num_pages) >= MCU_DSP_CONVERSION_ARENA_PAGES(page_size_log2), \
                      the_arena_is_too_small_for_dsp_conversion)
/* clang-format on */

/* Inputs and outputs: the bytes of each and, where it is quantized as a whole, its scale and zero
 * point: real value = scale * (q - zero point). */
#define MCU_DSP_CONVERSION_INPUT_0_BYTES       48U
#define MCU_DSP_CONVERSION_INPUT_1_BYTES       12U
#define MCU_DSP_CONVERSION_INPUT_1_SCALE       5.0e-2F
#define MCU_DSP_CONVERSION_INPUT_1_ZERO_POINT  3
#define MCU_DSP_CONVERSION_OUTPUT_0_BYTES      12U
#define MCU_DSP_CONVERSION_OUTPUT_0_SCALE      5.0e-2F
#define MCU_DSP_CONVERSION_OUTPUT_0_ZERO_POINT 3
#define MCU_DSP_CONVERSION_OUTPUT_1_BYTES      48U

/* The model, for mcu_instance_init and mcu_run. */
#define mcu_network_dsp_conversion (&_mcu_network_dsp_conversion)

extern const mcu_model_t _mcu_network_dsp_conversion;

#ifdef __cplusplus
}
#endif

#endif /* MCU_NETWORK_DSP_CONVERSION_H */
