/* network_dsp_pools.h: for programs that run the network, made by mcu-deploy.
 *
 *   source model  layers, SHA-256
 *                 afa2b8936f1f1077804f424885501c5a9a464f7677513ec495b35f64b6ec30f8
 *   constants     28 bytes, as a file: SHA-256
 *                 9d0605203aeaf5e9ff3feb6b13893f479c6ef32a317a9c886581a84be06bc93d
 *   workspace     16,448 bytes
 *   layers        7 with 0 multiply-accumulates
 *
 * Inputs, in the order of the arguments of mcu_instance_run and mcu_run:
 *   0: int8: int8_t[12288], 12,288 bytes
 *      real value = 0.0231 * q
 * Outputs:
 *   0: int8_y: int8_t[2112], 2,112 bytes
 *
 * Tensors are compact and row-major: the last index runs fastest.
 */
#ifndef MCU_NETWORK_DSP_POOLS_H
#define MCU_NETWORK_DSP_POOLS_H

#include "mcu/runtime.h"

#if MCU_MODEL_ABI_MAJOR != 4 || MCU_MODEL_ABI_MINOR < 1
#error "network_dsp_pools is for ABI 4.1 of mcu/model.h: build it again"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* What each instance needs in RAM for its tensors, in bytes, and how that block must be aligned:
 *     MCU_ALIGNED(MCU_DSP_POOLS_WORKSPACE_ALIGNMENT)
 *     static uint8_t workspace[MCU_DSP_POOLS_WORKSPACE_SIZE];
 * For an array of your own, which may be larger, behind its definition:
 *     MCU_DSP_POOLS_CHECK_WORKSPACE(array);
 * For the arena of mcu_run, as crt/arena/arena.c is compiled:
 *     MCU_DSP_POOLS_CHECK_ARENA(MCU_ARENA_NUM_PAGES, MCU_ARENA_PAGE_SIZE_LOG2); */
#define MCU_DSP_POOLS_WORKSPACE_SIZE      16448U
#define MCU_DSP_POOLS_WORKSPACE_ALIGNMENT 16U
/* clang-format off */
#define MCU_DSP_POOLS_CHECK_WORKSPACE(array) \
    MCU_STATIC_ASSERT(sizeof(array) >= MCU_DSP_POOLS_WORKSPACE_SIZE, \
                      array##_is_too_small_for_dsp_pools)
#define MCU_DSP_POOLS_ARENA_PAGES(page_size_log2) \
    ((MCU_DSP_POOLS_WORKSPACE_SIZE + (1UL << (page_size_log2)) - 1UL) >> (page_size_log2))
#define MCU_DSP_POOLS_CHECK_ARENA(num_pages, page_size_log2) \
    MCU_STATIC_ASSERT((num_pages) >= MCU_DSP_POOLS_ARENA_PAGES(page_size_log2), \
                      the_arena_is_too_small_for_dsp_pools)
/* clang-format on */

/* Inputs and outputs: the bytes of each and, where it is quantized as a whole, its scale and zero
 * point: real value = scale * (q - zero point). */
#define MCU_DSP_POOLS_INPUT_0_BYTES      12288U
#define MCU_DSP_POOLS_INPUT_0_SCALE      2.31e-2F
#define MCU_DSP_POOLS_INPUT_0_ZERO_POINT 0
#define MCU_DSP_POOLS_OUTPUT_0_BYTES     2112U

/* The model, for mcu_instance_init and mcu_run. */
#define mcu_network_dsp_pools (&_mcu_network_dsp_pools)

extern const mcu_model_t _mcu_network_dsp_pools;

#ifdef __cplusplus
}
#endif

#endif /* MCU_NETWORK_DSP_POOLS_H */
