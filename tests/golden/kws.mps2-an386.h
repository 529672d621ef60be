/* network_kws.h: for programs that run the network, made by mcu-deploy.
 *
 *   source model  tf2onnx, SHA-256
 *                 18e6f75aa296fec34e4ffda557340f23ab4d1a31057be47438f78b921c7cc534
 *   constants     27,156 bytes, as a file: SHA-256
 *                 80307df4829d918c8bbd37a70cb5b4ad974a2e7d4f6dda320c633e94ad086ec5
 *   workspace     9,792 bytes
 *   layers        12 with 2,656,768 multiply-accumulates
 *
 * Inputs, in the order of the arguments of mcu_instance_run and mcu_run:
 *   0: input_1: int8_t[1][49][10][1], 490 bytes
 *      real value = 0.5847029 * (q - 83)
 * Outputs:
 *   0: Identity: int8_t[1][12], 12 bytes
 *      real value = 0.00390625 * (q + 128)
 *
 * Tensors are compact and row-major: the last index runs fastest.
 */
#ifndef MCU_NETWORK_KWS_H
#define MCU_NETWORK_KWS_H

#include "mcu/runtime.h"

#if MCU_MODEL_ABI_MAJOR != 4 || MCU_MODEL_ABI_MINOR < 1
#error "network_kws is for ABI 4.1 of mcu/model.h: build it again"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* What each instance needs in RAM for its tensors, in bytes, and how that block must be aligned:
 *     MCU_ALIGNED(MCU_KWS_WORKSPACE_ALIGNMENT)
 *     static uint8_t workspace[MCU_KWS_WORKSPACE_SIZE];
 * For an array of your own, which may be larger, behind its definition:
 *     MCU_KWS_CHECK_WORKSPACE(array);
 * For the arena of mcu_run, as crt/arena/arena.c is compiled:
 *     MCU_KWS_CHECK_ARENA(MCU_ARENA_NUM_PAGES, MCU_ARENA_PAGE_SIZE_LOG2); */
#define MCU_KWS_WORKSPACE_SIZE      9792U
#define MCU_KWS_WORKSPACE_ALIGNMENT 16U
/* clang-format off */
#define MCU_KWS_CHECK_WORKSPACE(array) \
    MCU_STATIC_ASSERT(sizeof(array) >= MCU_KWS_WORKSPACE_SIZE, \
                      array##_is_too_small_for_kws)
#define MCU_KWS_ARENA_PAGES(page_size_log2) \
    ((MCU_KWS_WORKSPACE_SIZE + (1UL << (page_size_log2)) - 1UL) >> (page_size_log2))
#define MCU_KWS_CHECK_ARENA(num_pages, page_size_log2) \
    MCU_STATIC_ASSERT((num_pages) >= MCU_KWS_ARENA_PAGES(page_size_log2), \
                      the_arena_is_too_small_for_kws)
/* clang-format on */

/* Inputs and outputs: the bytes of each and, where it is quantized as a whole, its scale and zero
 * point: real value = scale * (q - zero point). */
#define MCU_KWS_INPUT_0_BYTES       490U
#define MCU_KWS_INPUT_0_SCALE       5.847029e-1F
#define MCU_KWS_INPUT_0_ZERO_POINT  83
#define MCU_KWS_OUTPUT_0_BYTES      12U
#define MCU_KWS_OUTPUT_0_SCALE      3.90625e-3F
#define MCU_KWS_OUTPUT_0_ZERO_POINT (-128)

/* The model, for mcu_instance_init and mcu_run. */
#define mcu_network_kws (&_mcu_network_kws)

extern const mcu_model_t _mcu_network_kws;

#ifdef __cplusplus
}
#endif

#endif /* MCU_NETWORK_KWS_H */
