/* network_dsp_chain.h: for programs that run the network, made by mcu-deploy.
 *
 *   source model  convolutions, SHA-256
 *                 c6c41eda1563b7e9b01030a023529a919d100edbfa4b614f956a80783304918f
 *   constants     336 bytes, as a file: SHA-256
 *                 12aa0cf1e470d75a0b7361e05ea7b7ec8755da2ea577cdb68c2d8fef454c5a23
 *   workspace     320 bytes
 *   layers        4 with 2,720 multiply-accumulates
 *
 * Inputs, in the order of the arguments of mcu_instance_run and mcu_run:
 *   0: int8: int8_t[160], 160 bytes
 *      real value = 1 * (q - 3)
 * Outputs:
 *   0: int8_y: int8_t[160], 160 bytes
 *      real value = 13576.45 * (q + 5)
 *
 * Tensors are compact and row-major: the last index runs fastest.
 */
#ifndef MCU_NETWORK_DSP_CHAIN_H
#define MCU_NETWORK_DSP_CHAIN_H

#include "mcu/runtime.h"

#if MCU_MODEL_ABI_MAJOR != 4 || MCU_MODEL_ABI_MINOR < 1
#error "network_dsp_chain is for ABI 4.1 of mcu/model.h: build it again"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* What each instance needs in RAM for its tensors, in bytes, and how that block must be aligned:
 *     MCU_ALIGNED(MCU_DSP_CHAIN_WORKSPACE_ALIGNMENT)
 *     static uint8_t workspace[MCU_DSP_CHAIN_WORKSPACE_SIZE];
 * For an array of your own, which may be larger, behind its definition:
 *     MCU_DSP_CHAIN_CHECK_WORKSPACE(array);
 * For the arena of mcu_run, as crt/arena/arena.c is compiled:
 *     MCU_DSP_CHAIN_CHECK_ARENA(MCU_ARENA_NUM_PAGES, MCU_ARENA_PAGE_SIZE_LOG2); */
#define MCU_DSP_CHAIN_WORKSPACE_SIZE      320U
#define MCU_DSP_CHAIN_WORKSPACE_ALIGNMENT 16U
/* clang-format off */
#define MCU_DSP_CHAIN_CHECK_WORKSPACE(array) \
    MCU_STATIC_ASSERT(sizeof(array) >= MCU_DSP_CHAIN_WORKSPACE_SIZE, \
                      array##_is_too_small_for_dsp_chain)
#define MCU_DSP_CHAIN_ARENA_PAGES(page_size_log2) \
    ((MCU_DSP_CHAIN_WORKSPACE_SIZE + (1UL << (page_size_log2)) - 1UL) >> (page_size_log2))
#define MCU_DSP_CHAIN_CHECK_ARENA(num_pages, page_size_log2) \
    MCU_STATIC_ASSERT((num_pages) >= MCU_DSP_CHAIN_ARENA_PAGES(page_size_log2), \
                      the_arena_is_too_small_for_dsp_chain)
/* clang-format on */

/* Inputs and outputs: the bytes of each and, where it is quantized as a whole, its scale and zero
 * point: real value = scale * (q - zero point). */
#define MCU_DSP_CHAIN_INPUT_0_BYTES       160U
#define MCU_DSP_CHAIN_INPUT_0_SCALE       1.0e+0F
#define MCU_DSP_CHAIN_INPUT_0_ZERO_POINT  3
#define MCU_DSP_CHAIN_OUTPUT_0_BYTES      160U
#define MCU_DSP_CHAIN_OUTPUT_0_SCALE      1.357645e+4F
#define MCU_DSP_CHAIN_OUTPUT_0_ZERO_POINT (-5)

/* The model, for mcu_instance_init and mcu_run. */
#define mcu_network_dsp_chain (&_mcu_network_dsp_chain)

extern const mcu_model_t _mcu_network_dsp_chain;

#ifdef __cplusplus
}
#endif

#endif /* MCU_NETWORK_DSP_CHAIN_H */
