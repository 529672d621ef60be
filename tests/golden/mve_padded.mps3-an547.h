/* network_mve_padded.h: for programs that run the network, made by mcu-deploy.
 *
 *   source model  convolutions, SHA-256
 *                 25c044d5520e1ab505d0c69fcef4618effa3dc1b3406e37d7c48cf733421ab6d
 *   constants     3,064 bytes, as a file: SHA-256
 *                 13fd771ad9a3456cd5ec4a439186027887b7d3a3ae69c797a18b186ac3e42aca
 *   workspace     3,040 bytes
 *   layers        3 with 184,320 multiply-accumulates
 *
 * Inputs, in the order of the arguments of mcu_instance_run and mcu_run:
 *   0: int8: int8_t[1536], 1,536 bytes
 *      real value = 1 * (q + 128)
 * Outputs:
 *   0: int8_y: int8_t[1280], 1,280 bytes
 *      real value = 480 * (q - 4)
 *
 * Tensors are compact and row-major: the last index runs fastest.
 */
#ifndef MCU_NETWORK_MVE_PADDED_H
#define MCU_NETWORK_MVE_PADDED_H

#include "mcu/runtime.h"

#if MCU_MODEL_ABI_MAJOR != 4 || MCU_MODEL_ABI_MINOR < 1
#error "network_mve_padded is for ABI 4.1 of mcu/model.h: build it again"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* What each instance needs in RAM for its tensors, in bytes, and how that block must be aligned:
 *     MCU_ALIGNED(MCU_MVE_PADDED_WORKSPACE_ALIGNMENT)
 *     static uint8_t workspace[MCU_MVE_PADDED_WORKSPACE_SIZE];
 * For an array of your own, which may be larger, behind its definition:
 *     MCU_MVE_PADDED_CHECK_WORKSPACE(array);
 * For the arena of mcu_run, as crt/arena/arena.c is compiled:
 *     MCU_MVE_PADDED_CHECK_ARENA(MCU_ARENA_NUM_PAGES, MCU_ARENA_PAGE_SIZE_LOG2); */
#define MCU_MVE_PADDED_WORKSPACE_SIZE      3040U
#define MCU_MVE_PADDED_WORKSPACE_ALIGNMENT 16U
/* clang-format off */
#define MCU_MVE_PADDED_CHECK_WORKSPACE(array) \
    MCU_STATIC_ASSERT(sizeof(array) >= MCU_MVE_PADDED_WORKSPACE_SIZE, \
                      array##_is_too_small_for_mve_padded)
#define MCU_MVE_PADDED_ARENA_PAGES(page_size_log2) \
    ((MCU_MVE_PADDED_WORKSPACE_SIZE + (1UL << (page_size_log2)) - 1UL) >> (page_size_log2))
#define MCU_MVE_PADDED_CHECK_ARENA(num_pages, page_size_log2) \
    MCU_STATIC_ASSERT((num_pages) >= MCU_MVE_PADDED_ARENA_PAGES(page_size_log2), \
                      the_arena_is_too_small_for_mve_padded)
/* clang-format on */

/* Inputs and outputs: the bytes of each and, where it is quantized as a whole, its scale and zero
 * point: real value = scale * (q - zero point). */
#define MCU_MVE_PADDED_INPUT_0_BYTES       1536U
#define MCU_MVE_PADDED_INPUT_0_SCALE       1.0e+0F
#define MCU_MVE_PADDED_INPUT_0_ZERO_POINT  (-128)
#define MCU_MVE_PADDED_OUTPUT_0_BYTES      1280U
#define MCU_MVE_PADDED_OUTPUT_0_SCALE      4.8e+2F
#define MCU_MVE_PADDED_OUTPUT_0_ZERO_POINT 4

/* The model, for mcu_instance_init and mcu_run. */
#define mcu_network_mve_padded (&_mcu_network_mve_padded)

extern const mcu_model_t _mcu_network_mve_padded;

#ifdef __cplusplus
}
#endif

#endif /* MCU_NETWORK_MVE_PADDED_H */
