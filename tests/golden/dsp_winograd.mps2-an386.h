/* network_dsp_winograd.h: for programs that run the network, made by mcu-deploy.
 *
 *   source model  convolutions, SHA-256
 *                 7ca9095da642f8f3aa9ed9b809b3316134a92c7fe934b1f49c0808828c1a9541
 *   constants     248 bytes, as a file: SHA-256
 *                 7085475b74c8c31bfaa9048449ce3b9cffb94849112e22e3e943f7384cb7e5e1
 *   workspace     752 bytes
 *   layers        3 with 5,040 multiply-accumulates
 *
 * Inputs, in the order of the arguments of mcu_instance_run and mcu_run:
 *   0: int8: int8_t[140], 140 bytes
 *      real value = 1 * (q - 127)
 * Outputs:
 *   0: int8_y: int8_t[140], 140 bytes
 *      real value = 240 * (q + 128)
 *
 * Tensors are compact and row-major: the last index runs fastest.
 */
#ifndef MCU_NETWORK_DSP_WINOGRAD_H
#define MCU_NETWORK_DSP_WINOGRAD_H

#include "mcu/runtime.h"

#if MCU_MODEL_ABI_VERSION != 3
#error "network_dsp_winograd is for ABI 3 of mcu/model.h: build it again"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* What each instance needs in RAM for its tensors, in bytes, and how that block must be aligned:
 *     MCU_ALIGNED(MCU_DSP_WINOGRAD_WORKSPACE_ALIGNMENT)
 *     static uint8_t workspace[MCU_DSP_WINOGRAD_WORKSPACE_SIZE];
 * For an array of your own, which may be larger, behind its definition:
 *     MCU_DSP_WINOGRAD_CHECK_WORKSPACE(array);
 * For the arena of mcu_run, as crt/arena/arena.c is compiled:
 *     MCU_DSP_WINOGRAD_CHECK_ARENA(MCU_ARENA_NUM_PAGES, MCU_ARENA_PAGE_SIZE_LOG2); */
#define MCU_DSP_WINOGRAD_WORKSPACE_SIZE      752U
#define MCU_DSP_WINOGRAD_WORKSPACE_ALIGNMENT 16U
/* clang-format off */
#define MCU_DSP_WINOGRAD_CHECK_WORKSPACE(array) \
    MCU_STATIC_ASSERT(sizeof(array) >= MCU_DSP_WINOGRAD_WORKSPACE_SIZE, \
                      array##_is_too_small_for_dsp_winograd)
#define MCU_DSP_WINOGRAD_ARENA_PAGES(page_size_log2) \
    ((MCU_DSP_WINOGRAD_WORKSPACE_SIZE + (1UL << (page_size_log2)) - 1UL) >> (page_size_log2))
#define MCU_DSP_WINOGRAD_CHECK_ARENA(num_pages, page_size_log2) \
    MCU_STATIC_ASSERT((num_pages) >= MCU_DSP_WINOGRAD_ARENA_PAGES(page_size_log2), \
                      the_arena_is_too_small_for_dsp_winograd)
/* clang-format on */

/* Inputs and outputs: the bytes of each and, where it is quantized as a whole, its scale and zero
 * point: real value = scale * (q - zero point). */
#define MCU_DSP_WINOGRAD_INPUT_0_BYTES       140U
#define MCU_DSP_WINOGRAD_INPUT_0_SCALE       1.0e+0F
#define MCU_DSP_WINOGRAD_INPUT_0_ZERO_POINT  127
#define MCU_DSP_WINOGRAD_OUTPUT_0_BYTES      140U
#define MCU_DSP_WINOGRAD_OUTPUT_0_SCALE      2.4e+2F
#define MCU_DSP_WINOGRAD_OUTPUT_0_ZERO_POINT (-128)

/* The model, for mcu_instance_init and mcu_run. */
#define mcu_network_dsp_winograd (&_mcu_network_dsp_winograd)

extern const mcu_model_t _mcu_network_dsp_winograd;

#ifdef __cplusplus
}
#endif

#endif /* MCU_NETWORK_DSP_WINOGRAD_H */
