/* network_dsp_sum.h: for programs that run the network, made by mcu-deploy.
 *
 *   source model  layers, SHA-256
 *                 94221178e75eedca4117d6abbe096e5c706f5249cb95c1b55f50a8710567990f
 *   constants     16 bytes, as a file: SHA-256
 *                 8bf5ee4c2e57637d53f483d1e3390094b84b15cd1a450dff6ad8fa6cb93b9b98
 *   workspace     32 bytes
 *   layers        2 with 0 multiply-accumulates
 *
 * Inputs, in the order of the arguments of mcu_instance_run and mcu_run:
 *   0: int8: int8_t[16], 16 bytes
 *      real value = 0.05 * q
 * Outputs:
 *   0: int8_y: int8_t[8], 8 bytes
 *      real value = 0.05 * q
 *
 * Tensors are compact and row-major: the last index runs fastest.
 */
#ifndef MCU_NETWORK_DSP_SUM_H
#define MCU_NETWORK_DSP_SUM_H

#include "mcu/runtime.h"

#if MCU_MODEL_ABI_MAJOR != 4 || MCU_MODEL_ABI_MINOR < 1
#error "network_dsp_sum is for ABI 4.1 of mcu/model.h: build it again"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* What each instance needs in RAM for its tensors, in bytes, and how that block must be aligned:
 *     MCU_ALIGNED(MCU_DSP_SUM_WORKSPACE_ALIGNMENT)
 *     static uint8_t workspace[MCU_DSP_SUM_WORKSPACE_SIZE];
 * For an array of your own, which may be larger, behind its definition:
 *     MCU_DSP_SUM_CHECK_WORKSPACE(array);
 * For the arena of mcu_run, as crt/arena/arena.c is compiled:
 *     MCU_DSP_SUM_CHECK_ARENA(MCU_ARENA_NUM_PAGES, MCU_ARENA_PAGE_SIZE_LOG2); */
#define MCU_DSP_SUM_WORKSPACE_SIZE      32U
#define MCU_DSP_SUM_WORKSPACE_ALIGNMENT 16U
/* clang-format off */
#define MCU_DSP_SUM_CHECK_WORKSPACE(array) \
    MCU_STATIC_ASSERT(sizeof(array) >= MCU_DSP_SUM_WORKSPACE_SIZE, \
                      array##_is_too_small_for_dsp_sum)
#define MCU_DSP_SUM_ARENA_PAGES(page_size_log2) \
    ((MCU_DSP_SUM_WORKSPACE_SIZE + (1UL << (page_size_log2)) - 1UL) >> (page_size_log2))
#define MCU_DSP_SUM_CHECK_ARENA(num_pages, page_size_log2) \
    MCU_STATIC_ASSERT((num_pages) >= MCU_DSP_SUM_ARENA_PAGES(page_size_log2), \
                      the_arena_is_too_small_for_dsp_sum)
/* clang-format on */

/* Inputs and outputs: the bytes of each and, where it is quantized as a whole, its scale and zero
 * point: real value = scale * (q - zero point). */
#define MCU_DSP_SUM_INPUT_0_BYTES       16U
#define MCU_DSP_SUM_INPUT_0_SCALE       5.0e-2F
#define MCU_DSP_SUM_INPUT_0_ZERO_POINT  0
#define MCU_DSP_SUM_OUTPUT_0_BYTES      8U
#define MCU_DSP_SUM_OUTPUT_0_SCALE      5.0e-2F
#define MCU_DSP_SUM_OUTPUT_0_ZERO_POINT 0

/* The model, for mcu_instance_init and mcu_run. */
#define mcu_network_dsp_sum (&_mcu_network_dsp_sum)

extern const mcu_model_t _mcu_network_dsp_sum;

#ifdef __cplusplus
}
#endif

#endif /* MCU_NETWORK_DSP_SUM_H */
