/* network_mve_sum.h: for programs that run the network, made by mcu-deploy.
 *
 *   source model  layers, SHA-256
 *                 f98c86d6ade1a598952aaced31ce6f7bd8b67421e7da0b5be5296ab1e3f8693e
 *   constants     12 bytes, as a file: SHA-256
 *                 daedcc7ce7f6c6957c9d448db16da377d1afa4d55f40a275ef01ed009bc005cc
 *   workspace     48 bytes
 *   layers        2 with 0 multiply-accumulates
 *
 * Inputs, in the order of the arguments of mcu_instance_run and mcu_run:
 *   0: int8: int8_t[26], 26 bytes
 *      real value = 0.0310177 * (q - 127)
 * Outputs:
 *   0: int8_y: int8_t[13], 13 bytes
 *      real value = 0.0501713 * (q - 127)
 *
 * Tensors are compact and row-major: the last index runs fastest.
 */
#ifndef MCU_NETWORK_MVE_SUM_H
#define MCU_NETWORK_MVE_SUM_H

#include "mcu/runtime.h"

#if MCU_MODEL_ABI_MAJOR != 4 || MCU_MODEL_ABI_MINOR < 1
#error "network_mve_sum is for ABI 4.1 of mcu/model.h: build it again"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* What each instance needs in RAM for its tensors, in bytes, and how that block must be aligned:
 *     MCU_ALIGNED(MCU_MVE_SUM_WORKSPACE_ALIGNMENT)
 *     static uint8_t workspace[MCU_MVE_SUM_WORKSPACE_SIZE];
 * For an array of your own, which may be larger, behind its definition:
 *     MCU_MVE_SUM_CHECK_WORKSPACE(array);
 * For the arena of mcu_run, as crt/arena/arena.c is compiled:
 *     MCU_MVE_SUM_CHECK_ARENA(MCU_ARENA_NUM_PAGES, MCU_ARENA_PAGE_SIZE_LOG2); */
#define MCU_MVE_SUM_WORKSPACE_SIZE      48U
#define MCU_MVE_SUM_WORKSPACE_ALIGNMENT 16U
/* clang-format off */
#define MCU_MVE_SUM_CHECK_WORKSPACE(array) \
    MCU_STATIC_ASSERT(sizeof(array) >= MCU_MVE_SUM_WORKSPACE_SIZE, \
                      array##_is_too_small_for_mve_sum)
#define MCU_MVE_SUM_ARENA_PAGES(page_size_log2) \
    ((MCU_MVE_SUM_WORKSPACE_SIZE + (1UL << (page_size_log2)) - 1UL) >> (page_size_log2))
#define MCU_MVE_SUM_CHECK_ARENA(num_pages, page_size_log2) \
    MCU_STATIC_ASSERT((num_pages) >= MCU_MVE_SUM_ARENA_PAGES(page_size_log2), \
                      the_arena_is_too_small_for_mve_sum)
/* clang-format on */

/* Inputs and outputs: the bytes of each and, where it is quantized as a whole, its scale and zero
 * point: real value = scale * (q - zero point). */
#define MCU_MVE_SUM_INPUT_0_BYTES       26U
#define MCU_MVE_SUM_INPUT_0_SCALE       3.10177e-2F
#define MCU_MVE_SUM_INPUT_0_ZERO_POINT  127
#define MCU_MVE_SUM_OUTPUT_0_BYTES      13U
#define MCU_MVE_SUM_OUTPUT_0_SCALE      5.01713e-2F
#define MCU_MVE_SUM_OUTPUT_0_ZERO_POINT 127

/* The model, for mcu_instance_init and mcu_run. */
#define mcu_network_mve_sum (&_mcu_network_mve_sum)

extern const mcu_model_t _mcu_network_mve_sum;

#ifdef __cplusplus
}
#endif

#endif /* MCU_NETWORK_MVE_SUM_H */
