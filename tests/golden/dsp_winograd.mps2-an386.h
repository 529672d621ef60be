/* network_dsp_winograd.h: for programs that run the network, made by mcu-deploy.
 *
 *   source model  convolutions, SHA-256
 *                 deac9422873b404256ba58db1c133bec08e80a5b464f8c004f75228f1d132ca6
 *   constants     1,144 bytes, as a file: SHA-256
 *                 7bfe949ce258785bbee0212a3965ed4423f6a568364b90b9109a8b3307e5e7cc
 *   workspace     1,424 bytes
 *   layers        3 with 13,824 multiply-accumulates
 *
 * Inputs, in the order of the arguments of mcu_instance_run and mcu_run:
 *   0: int8: int8_t[384], 384 bytes
 *      real value = 1 * (q - 127)
 * Outputs:
 *   0: int8_y: int8_t[192], 192 bytes
 *      real value = 1357.645 * q
 *
 * Tensors are compact and row-major: the last index runs fastest.
 */
#ifndef MCU_NETWORK_DSP_WINOGRAD_H
#define MCU_NETWORK_DSP_WINOGRAD_H

#include "mcu/runtime.h"

#if MCU_MODEL_ABI_MAJOR != 4 || MCU_MODEL_ABI_MINOR < 1
#error "network_dsp_winograd is for ABI 4.1 of mcu/model.h: build it again"
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
#define MCU_DSP_WINOGRAD_WORKSPACE_SIZE      1424U
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
#define MCU_DSP_WINOGRAD_INPUT_0_BYTES       384U
#define MCU_DSP_WINOGRAD_INPUT_0_SCALE       1.0e+0F
#define MCU_DSP_WINOGRAD_INPUT_0_ZERO_POINT  127
#define MCU_DSP_WINOGRAD_OUTPUT_0_BYTES      192U
#define MCU_DSP_WINOGRAD_OUTPUT_0_SCALE      1.357645e+3F
#define MCU_DSP_WINOGRAD_OUTPUT_0_ZERO_POINT 0

/* The model, for mcu_instance_init and mcu_run. */
#define mcu_network_dsp_winograd (&_mcu_network_dsp_winograd)

extern const mcu_model_t _mcu_network_dsp_winograd;

#ifdef __cplusplus
}
#endif

#endif /* MCU_NETWORK_DSP_WINOGRAD_H */
