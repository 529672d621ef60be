/* network_mve_broadcast.h: for programs that run the network, made by mcu-deploy.
 *
 *   source model  layers, SHA-256
 *                 8a8a354c8c735b99bc2317a6129254589ec05557257cf56a997f664a227f5403
 *   constants     16 bytes, as a file: SHA-256
 *                 19a248f5b51e03f74053b2b4a24d57c76391ee173e3ef74610bf01bb90eef9fb
 *   workspace     144 bytes
 *   layers        2 with 0 multiply-accumulates
 *
 * Inputs, in the order of the arguments of mcu_instance_run and mcu_run:
 *   0: int8: int8_t[126], 126 bytes
 *      real value = 0.0393936 * (q + 128)
 * Outputs:
 *   0: int8_y: int8_t[120], 120 bytes
 *      real value = 0.0447614 * (q + 17)
 *
 * Tensors are compact and row-major: the last index runs fastest.
 */
#ifndef MCU_NETWORK_MVE_BROADCAST_H
#define MCU_NETWORK_MVE_BROADCAST_H

#include "mcu/runtime.h"

#if MCU_MODEL_ABI_MAJOR != 4 || MCU_MODEL_ABI_MINOR < 1
#error "network_mve_broadcast is for ABI 4.1 of mcu/model.h: build it again"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* What each instance needs in RAM for its tensors, in bytes, and how that block must be aligned:
 *     MCU_ALIGNED(MCU_MVE_BROADCAST_WORKSPACE_ALIGNMENT)
 *     static uint8_t workspace[MCU_MVE_BROADCAST_WORKSPACE_SIZE];
 * For an array of your own, which may be larger, behind its definition:
 *     MCU_MVE_BROADCAST_CHECK_WORKSPACE(array);
 * For the arena of mcu_run, as crt/arena/arena.c is compiled:
 *     MCU_MVE_BROADCAST_CHECK_ARENA(MCU_ARENA_NUM_PAGES, MCU_ARENA_PAGE_SIZE_LOG2); */
#define MCU_MVE_BROADCAST_WORKSPACE_SIZE      144U
#define MCU_MVE_BROADCAST_WORKSPACE_ALIGNMENT 16U
/* clang-format off */
#define MCU_MVE_BROADCAST_CHECK_WORKSPACE(array) \
    MCU_STATIC_ASSERT(sizeof(array) >= MCU_MVE_BROADCAST_WORKSPACE_SIZE, \
                      array##_is_too_small_for_mve_broadcast)
#define MCU_MVE_BROADCAST_ARENA_PAGES(page_size_log2) \
    ((MCU_MVE_BROADCAST_WORKSPACE_SIZE + (1UL << (page_size_log2)) - 1UL) >> (page_size_log2))
#define MCU_MVE_BROADCAST_CHECK_ARENA(num_pages, page_size_log2) \
    MCU_STATIC_ASSERT((num_pages) >= MCU_MVE_BROADCAST_ARENA_PAGES(page_size_log2), \
                      the_arena_is_too_small_for_mve_broadcast)
/* clang-format on */

/* Inputs and outputs: the bytes of each and, where it is quantized as a whole, its scale and zero
 * point: real value = scale * (q - zero point). */
#define MCU_MVE_BROADCAST_INPUT_0_BYTES       126U
#define MCU_MVE_BROADCAST_INPUT_0_SCALE       3.93936e-2F
#define MCU_MVE_BROADCAST_INPUT_0_ZERO_POINT  (-128)
#define MCU_MVE_BROADCAST_OUTPUT_0_BYTES      120U
#define MCU_MVE_BROADCAST_OUTPUT_0_SCALE      4.47614e-2F
#define MCU_MVE_BROADCAST_OUTPUT_0_ZERO_POINT (-17)

/* The model, for mcu_instance_init and mcu_run. */
#define mcu_network_mve_broadcast (&_mcu_network_mve_broadcast)

extern const mcu_model_t _mcu_network_mve_broadcast;

#ifdef __cplusplus
}
#endif

#endif /* MCU_NETWORK_MVE_BROADCAST_H */
