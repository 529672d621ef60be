/* network_mve_chain.h: for programs that run the network, made by mcu-deploy.
 *
 *   source model  layers, SHA-256
 *                 fdaececfb460a35690f25c75e5cd86803f742a1d391ada2f38aa0c73668ba40b
 *   constants     888 bytes, as a file: SHA-256
 *                 d66447a46aaf043c5a192c575bbb045defe572cc8afcf7327228da2de1919d08
 *   workspace     17,440 bytes
 *   layers        3 with 86,592 multiply-accumulates
 *
 * Inputs, in the order of the arguments of mcu_instance_run and mcu_run:
 *   0: int8: int8_t[4224], 4,224 bytes
 *      real value = 0.0403936 * (q + 128)
 * Outputs:
 *   0: int8_y: int8_t[2112], 2,112 bytes
 *      real value = 0.0403936 * (q + 128)
 *
 * Tensors are compact and row-major: the last index runs fastest.
 */
#ifndef MCU_NETWORK_MVE_CHAIN_H
#define MCU_NETWORK_MVE_CHAIN_H

#include "mcu/runtime.h"

#if MCU_MODEL_ABI_MAJOR != 4 || MCU_MODEL_ABI_MINOR < 1
#error "network_mve_chain is for ABI 4.1 of mcu/model.h: build it again"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* What each instance needs in RAM for its tensors, in bytes, and how that block must be aligned:
 *     MCU_ALIGNED(MCU_MVE_CHAIN_WORKSPACE_ALIGNMENT)
 *     static uint8_t workspace[MCU_MVE_CHAIN_WORKSPACE_SIZE];
 * For an array of your own, which may be larger, behind its definition:
 *     MCU_MVE_CHAIN_CHECK_WORKSPACE(array);
 * For the arena of mcu_run, as crt/arena/arena.c is compiled:
 *     MCU_MVE_CHAIN_CHECK_ARENA(MCU_ARENA_NUM_PAGES, MCU_ARENA_PAGE_SIZE_LOG2); */
#define MCU_MVE_CHAIN_WORKSPACE_SIZE      17440U
#define MCU_MVE_CHAIN_WORKSPACE_ALIGNMENT 16U
/* clang-format off */
#define MCU_MVE_CHAIN_CHECK_WORKSPACE(array) \
    MCU_STATIC_ASSERT(sizeof(array) >= MCU_MVE_CHAIN_WORKSPACE_SIZE, \
                      array##_is_too_small_for_mve_chain)
#define MCU_MVE_CHAIN_ARENA_PAGES(page_size_log2) \
    ((MCU_MVE_CHAIN_WORKSPACE_SIZE + (1UL << (page_size_log2)) - 1UL) >> (page_size_log2))
#define MCU_MVE_CHAIN_CHECK_ARENA(num_pages, page_size_log2) \
    MCU_STATIC_ASSERT((num_pages) >= MCU_MVE_CHAIN_ARENA_PAGES(page_size_log2), \
                      the_arena_is_too_small_for_mve_chain)
/* clang-format on */

/* Inputs and outputs: the bytes of each and, where it is quantized as a whole, its scale and zero
 * point: real value = scale * (q - zero point). */
#define MCU_MVE_CHAIN_INPUT_0_BYTES       4224U
#define MCU_MVE_CHAIN_INPUT_0_SCALE       4.03936e-2F
#define MCU_MVE_CHAIN_INPUT_0_ZERO_POINT  (-128)
#define MCU_MVE_CHAIN_OUTPUT_0_BYTES      2112U
#define MCU_MVE_CHAIN_OUTPUT_0_SCALE      4.03936e-2F
#define MCU_MVE_CHAIN_OUTPUT_0_ZERO_POINT (-128)

/* The model, for mcu_instance_init and mcu_run. */
#define mcu_network_mve_chain (&_mcu_network_mve_chain)

extern const mcu_model_t _mcu_network_mve_chain;

#ifdef __cplusplus
}
#endif

#endif /* MCU_NETWORK_MVE_CHAIN_H */
