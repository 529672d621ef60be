/* network_dsp_conv_pool.h: for programs that run the network, made by mcu-deploy.
 *
 *   source model  layers, SHA-256
 *                 e12b20234f18d411e9c5e44eb0c218fef51418114802177dc573da40eb23560a
 *   constants     488 bytes, as a file: SHA-256
 *                 67cb0f744364ec4083aa2353d389ea49927549e9baa6ff0fcab5fe5e64a4770c
 *   workspace     1,792 bytes
 *   layers        3 with 69,120 multiply-accumulates
 *
 * Inputs, in the order of the arguments of mcu_instance_run and mcu_run:
 *   0: int8: int8_t[960], 960 bytes
 *      real value = 0.0403936 * (q - 3)
 * Outputs:
 *   0: int8_y: int8_t[448], 448 bytes
 *      real value = 0.02827552 * (q - 9)
 *
 * Tensors are compact and row-major: the last index runs fastest.
 */
#ifndef MCU_NETWORK_DSP_CONV_POOL_H
#define MCU_NETWORK_DSP_CONV_POOL_H

#include "mcu/runtime.h"

#if MCU_MODEL_ABI_MAJOR != 4 || MCU_MODEL_ABI_MINOR < 1
#error "network_dsp_conv_pool is for ABI 4.1 of mcu/model.h: build it again"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* What each instance needs in RAM for its tensors, in bytes, and how that block must be aligned:
 *     MCU_ALIGNED(MCU_DSP_CONV_POOL_WORKSPACE_ALIGNMENT)
 *     static uint8_t workspace[MCU_DSP_CONV_POOL_WORKSPACE_SIZE];
 * For an array of your own, which may be larger, behind its definition:
 *     MCU_DSP_CONV_POOL_CHECK_WORKSPACE(array);
 * For the arena of mcu_run, as crt/arena/arena.c is compiled:
 *     MCU_DSP_CONV_POOL_CHECK_ARENA(MCU_ARENA_NUM_PAGES, MCU_ARENA_PAGE_SIZE_LOG2); */
#define MCU_DSP_CONV_POOL_WORKSPACE_SIZE      1792U
#define MCU_DSP_CONV_POOL_WORKSPACE_ALIGNMENT 16U
/* clang-format off */
#define MCU_DSP_CONV_POOL_CHECK_WORKSPACE(array) \
    MCU_STATIC_ASSERT(sizeof(array) >= MCU_DSP_CONV_POOL_WORKSPACE_SIZE, \
                      array##_is_too_small_for_dsp_conv_pool)
#define MCU_DSP_CONV_POOL_ARENA_PAGES(page_size_log2) \
    ((MCU_DSP_CONV_POOL_WORKSPACE_SIZE + (1UL << (page_size_log2)) - 1UL) >> (page_size_log2))
#define MCU_DSP_CONV_POOL_CHECK_ARENA(num_pages, page_size_log2) \
    MCU_STATIC_ASSERT((num_pages) >= MCU_DSP_CONV_POOL_ARENA_PAGES(page_size_log2), \
                      the_arena_is_too_small_for_dsp_conv_pool)
/* clang-format on */

/* Inputs and outputs: the bytes of each and, where it is quantized as a whole, its scale and zero
 * point: real value = scale * (q - zero point). */
#define MCU_DSP_CONV_POOL_INPUT_0_BYTES       960U
#define MCU_DSP_CONV_POOL_INPUT_0_SCALE       4.03936e-2F
#define MCU_DSP_CONV_POOL_INPUT_0_ZERO_POINT  3
#define MCU_DSP_CONV_POOL_OUTPUT_0_BYTES      448U
#define MCU_DSP_CONV_POOL_OUTPUT_0_SCALE      2.827552e-2F
#define MCU_DSP_CONV_POOL_OUTPUT_0_ZERO_POINT 9

/* The model, for mcu_instance_init and mcu_run. */
#define mcu_network_dsp_conv_pool (&_mcu_network_dsp_conv_pool)

extern const mcu_model_t _mcu_network_dsp_conv_pool;

#ifdef __cplusplus
}
#endif

#endif /* MCU_NETWORK_DSP_CONV_POOL_H */
