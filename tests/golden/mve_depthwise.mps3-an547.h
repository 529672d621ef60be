/* network_mve_depthwise.h: for programs that run the network, made by mcu-deploy.
 *
 *   source model  convolutions, SHA-256
 *                 ff1178e1a56f518772a2191f73f0b1bbe2c998885ace47a45b3478372da9119d
 *   constants     612 bytes, as a file: SHA-256
 *                 356e29be8723139f2b465478ca0da51f67a5cf712f089fc974d7476c2b6dc662
 *   workspace     2,256 bytes
 *   layers        3 with 6,300 multiply-accumulates
 *
 * Inputs, in the order of the arguments of mcu_instance_run and mcu_run:
 *   0: int8: int8_t[700], 700 bytes
 *      real value = 1 * (q - 3)
 * Outputs:
 *   0: int8_y: int8_t[700], 700 bytes
 *      real value = 120 * (q + 17)
 *
 * Tensors are compact and row-major: the last index runs fastest.
 */
#ifndef MCU_NETWORK_MVE_DEPTHWISE_H
#define MCU_NETWORK_MVE_DEPTHWISE_H

#include "mcu/runtime.h"

#if MCU_MODEL_ABI_MAJOR != 4 || MCU_MODEL_ABI_MINOR < 1
#error "network_mve_depthwise is for ABI 4.1 of mcu/model.h: build it again"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* What each instance needs in RAM for its tensors, in bytes, and how that block must be aligned:
 *     MCU_ALIGNED(MCU_MVE_DEPTHWISE_WORKSPACE_ALIGNMENT)
 *     static uint8_t workspace[MCU_MVE_DEPTHWISE_WORKSPACE_SIZE];
 * For an array of your own, which may be larger, behind its definition:
 *     MCU_MVE_DEPTHWISE_CHECK_WORKSPACE(array);
 * For the arena of mcu_run, as crt/arena/arena.c is compiled:
 *     MCU_MVE_DEPTHWISE_CHECK_ARENA(MCU_ARENA_NUM_PAGES, MCU_ARENA_PAGE_SIZE_LOG2); */
#define MCU_MVE_DEPTHWISE_WORKSPACE_SIZE      2256U
#define MCU_MVE_DEPTHWISE_WORKSPACE_ALIGNMENT 16U
/* clang-format off */
#define MCU_MVE_DEPTHWISE_CHECK_WORKSPACE(array) \
    MCU_STATIC_ASSERT(sizeof(array) >= MCU_MVE_DEPTHWISE_WORKSPACE_SIZE, \
                      array##_is_too_small_for_mve_depthwise)
#define MCU_MVE_DEPTHWISE_ARENA_PAGES(page_size_log2) \
    ((MCU_MVE_DEPTHWISE_WORKSPACE_SIZE + (1UL << (page_size_log2)) - 1UL) >> (page_size_log2))
#define MCU_MVE_DEPTHWISE_CHECK_ARENA(num_pages, page_size_log2) \
    MCU_STATIC_ASSERT((num_pages) >= MCU_MVE_DEPTHWISE_ARENA_PAGES(page_size_log2), \
                      the_arena_is_too_small_for_mve_depthwise)
/* clang-format on */

/* Inputs and outputs: the bytes of each and, where it is quantized as a whole, its scale and zero
 * point: real value = scale * (q - zero point). */
#define MCU_MVE_DEPTHWISE_INPUT_0_BYTES       700U
#define MCU_MVE_DEPTHWISE_INPUT_0_SCALE       1.0e+0F
#define MCU_MVE_DEPTHWISE_INPUT_0_ZERO_POINT  3
#define MCU_MVE_DEPTHWISE_OUTPUT_0_BYTES      700U
#define MCU_MVE_DEPTHWISE_OUTPUT_0_SCALE      1.2e+2F
#define MCU_MVE_DEPTHWISE_OUTPUT_0_ZERO_POINT (-17)

/* The model, for mcu_instance_init and mcu_run. */
#define mcu_network_mve_depthwise (&_mcu_network_mve_depthwise)

extern const mcu_model_t _mcu_network_mve_depthwise;

#ifdef __cplusplus
}
#endif

#endif /* MCU_NETWORK_MVE_DEPTHWISE_H */
