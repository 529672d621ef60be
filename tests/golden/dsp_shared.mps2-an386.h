/* network_dsp_shared.h: for programs that run the network, made by mcu-deploy.
 *
 *   source model  convolutions, SHA-256
 *                 f8bdaf72812f5ef1e5dd5bd64c343b049bae9751328fd08b9c7f29abdf0484cf
 *   constants     480 bytes, as a file: SHA-256
 *                 a27c148db14c8e6d22f49ea452e6190bf6e36099d64cbf06eb28d510854da66e
 *   workspace     480 bytes
 *   layers        6 with 3,072 multiply-accumulates
 *
 * Inputs, in the order of the arguments of mcu_instance_run and mcu_run:
 *   0: int8: int8_t[288], 288 bytes
 *      real value = 1 * (q - 3)
 * Outputs:
 *   0: int8_y: int8_t[240], 240 bytes
 *
 * Tensors are compact and row-major: the last index runs fastest.
 */
#ifndef MCU_NETWORK_DSP_SHARED_H
#define MCU_NETWORK_DSP_SHARED_H

#include "mcu/runtime.h"

#if MCU_MODEL_ABI_MAJOR != 4 || MCU_MODEL_ABI_MINOR < 1
#error "network_dsp_shared is for ABI 4.1 of mcu/model.h: build it again"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* What each instance needs in RAM for its tensors, in bytes, and how that block must be aligned:
 *     MCU_ALIGNED(MCU_DSP_SHARED_WORKSPACE_ALIGNMENT)
 *     static uint8_t workspace[MCU_DSP_SHARED_WORKSPACE_SIZE];
 * For an array of your own, which may be larger, behind its definition:
 *     MCU_DSP_SHARED_CHECK_WORKSPACE(array);
 * For the arena of mcu_run, as crt/arena/arena.c is compiled:
 *     MCU_DSP_SHARED_CHECK_ARENA(MCU_ARENA_NUM_PAGES, MCU_ARENA_PAGE_SIZE_LOG2); */
#define MCU_DSP_SHARED_WORKSPACE_SIZE      480U
#define MCU_DSP_SHARED_WORKSPACE_ALIGNMENT 16U
/* clang-format off */
#define MCU_DSP_SHARED_CHECK_WORKSPACE(array) \
    MCU_STATIC_ASSERT(sizeof(array) >= MCU_DSP_SHARED_WORKSPACE_SIZE, \
                      array##_is_too_small_for_dsp_shared)
#define MCU_DSP_SHARED_ARENA_PAGES(page_size_log2) \
    ((MCU_DSP_SHARED_WORKSPACE_SIZE + (1UL << (page_size_log2)) - 1UL) >> (page_size_log2))
#define MCU_DSP_SHARED_CHECK_ARENA(num_pages, page_size_log2) \
    MCU_STATIC_ASSERT((num_pages) >= MCU_DSP_SHARED_ARENA_PAGES(page_size_log2), \
                      the_arena_is_too_small_for_dsp_shared)
/* clang-format on */

/* Inputs and outputs: the bytes of each and, where it is quantized as a whole, its scale and zero
 * point: real value = scale * (q - zero point). */
#define MCU_DSP_SHARED_INPUT_0_BYTES      288U
#define MCU_DSP_SHARED_INPUT_0_SCALE      1.0e+0F
#define MCU_DSP_SHARED_INPUT_0_ZERO_POINT 3
#define MCU_DSP_SHARED_OUTPUT_0_BYTES     240U

/* The model, for mcu_instance_init and mcu_run. */
#define mcu_network_dsp_shared (&_mcu_network_dsp_shared)

extern const mcu_model_t _mcu_network_dsp_shared;

#ifdef __cplusplus
}
#endif

#endif /* MCU_NETWORK_DSP_SHARED_H */
