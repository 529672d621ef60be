/* network_state.h: for programs that run the network, made by mcu-deploy.
 *
 *   source model  case, SHA-256
 *                 e563dff0d278ea91b3a38472ffd3cb9571aa3f19a22a836a26a32dec86dd03c5
 *   constants     156 bytes, as a file: SHA-256
 *                 c3ec2f7ab967e9ea3bded2e8e4d8e5f161f849d424717fadc881c56531a9992f
 *   workspace     128 bytes
 *   layers        4 with 36 multiply-accumulates
 *
 * Inputs, in the order of the arguments of mcu_instance_run and mcu_run:
 *   0: x: float[1][4][1][1], 16 bytes
 * Outputs:
 *   0: y: float[1][3][1][1], 12 bytes
 *
 * Tensors are compact and row-major: the last index runs fastest.
 */
#ifndef MCU_NETWORK_STATE_H
#define MCU_NETWORK_STATE_H

#include "mcu/runtime.h"

#if MCU_MODEL_ABI_MAJOR != 4 || MCU_MODEL_ABI_MINOR < 1
#error "network_state is for ABI 4.1 of mcu/model.h: build it again"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* What each instance needs in RAM for its tensors, in bytes, and how that block must be aligned:
 *     MCU_ALIGNED(MCU_STATE_WORKSPACE_ALIGNMENT)
 *     static uint8_t workspace[MCU_STATE_WORKSPACE_SIZE];
 * For an array of your own, which may be larger, behind its definition:
 *     MCU_STATE_CHECK_WORKSPACE(array);
 * For the arena of mcu_run, as crt/arena/arena.c is compiled:
 *     MCU_STATE_CHECK_ARENA(MCU_ARENA_NUM_PAGES, MCU_ARENA_PAGE_SIZE_LOG2); */
#define MCU_STATE_WORKSPACE_SIZE      128U
#define MCU_STATE_WORKSPACE_ALIGNMENT 16U
/* clang-format off */
#define MCU_STATE_CHECK_WORKSPACE(array) \
    MCU_STATIC_ASSERT(sizeof(array) >= MCU_STATE_WORKSPACE_SIZE, \
                      array##_is_too_small_for_state)
#define MCU_STATE_ARENA_PAGES(page_size_log2) \
    ((MCU_STATE_WORKSPACE_SIZE + (1UL << (page_size_log2)) - 1UL) >> (page_size_log2))
#define MCU_STATE_CHECK_ARENA(num_pages, page_size_log2) \
    MCU_STATIC_ASSERT((num_pages) >= MCU_STATE_ARENA_PAGES(page_size_log2), \
                      the_arena_is_too_small_for_state)
/* clang-format on */

/* Inputs and outputs: the bytes of each and, where it is quantized as a whole, its scale and zero
 * point: real value = scale * (q - zero point). */
#define MCU_STATE_INPUT_0_BYTES  16U
#define MCU_STATE_OUTPUT_0_BYTES 12U

/* States, for mcu_instance_state, mcu_instance_get_state and mcu_instance_set_state. */
#define MCU_STATE_STATE_0 0U /* ring: float[1][4][1][2], 32 bytes */

/* The model, for mcu_instance_init and mcu_run. */
#define mcu_network_state (&_mcu_network_state)

extern const mcu_model_t _mcu_network_state;

#ifdef __cplusplus
}
#endif

#endif /* MCU_NETWORK_STATE_H */
