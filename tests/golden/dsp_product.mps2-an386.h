/* network_dsp_product.h: for programs that run the network, made by mcu-deploy.
 *
 *   source model  layers, SHA-256
 *                 e189074a27409e2f4fe8bd240a651d327a9f2bbfefd12b722ee185ece1b337e4
 *   constants     24 bytes, as a file: SHA-256
 *                 a4780c71617f76a6fa98f61aaa7d7eda178e011ef0272e92739560518383e29c
 *   workspace     96 bytes
 *   layers        2 with 0 multiply-accumulates
 *
 * Inputs, in the order of the arguments of mcu_instance_run and mcu_run:
 *   0: int8: int8_t[62], 62 bytes
 *      real value = 0.0123127 * (q - 127)
 * Outputs:
 *   0: int8_y: int8_t[31], 31 bytes
 *      real value = 0.0411337 * (q + 128)
 *
 * Tensors are compact and row-major: the last index runs fastest.
 */
#ifndef MCU_NETWORK_DSP_PRODUCT_H
#define MCU_NETWORK_DSP_PRODUCT_H

#include "mcu/runtime.h"

#if MCU_MODEL_ABI_MAJOR != 4 || MCU_MODEL_ABI_MINOR < 1
#error "network_dsp_product is for ABI 4.1 of mcu/model.h: build it again"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* What each instance needs in RAM for its tensors, in bytes, and how that block must be aligned:
 *     MCU_ALIGNED(MCU_DSP_PRODUCT_WORKSPACE_ALIGNMENT)
 *     static uint8_t workspace[MCU_DSP_PRODUCT_WORKSPACE_SIZE];
 * For an array of your own, which may be larger, behind its definition:
 *     MCU_DSP_PRODUCT_CHECK_WORKSPACE(array);
 * For the arena of mcu_run, as crt/arena/arena.c is compiled:
 *     MCU_DSP_PRODUCT_CHECK_ARENA(MCU_ARENA_NUM_PAGES, MCU_ARENA_PAGE_SIZE_LOG2); */
#define MCU_DSP_PRODUCT_WORKSPACE_SIZE      96U
#define MCU_DSP_PRODUCT_WORKSPACE_ALIGNMENT 16U
/* clang-format off */
#define MCU_DSP_PRODUCT_CHECK_WORKSPACE(array) \
    MCU_STATIC_ASSERT(sizeof(array) >= MCU_DSP_PRODUCT_WORKSPACE_SIZE, \
                      array##_is_too_small_for_dsp_product)
#define MCU_DSP_PRODUCT_ARENA_PAGES(page_size_log2) \
    ((MCU_DSP_PRODUCT_WORKSPACE_SIZE + (1UL << (page_size_log2)) - 1UL) >> (page_size_log2))
#define MCU_DSP_PRODUCT_CHECK_ARENA(num_pages, page_size_log2) \
    MCU_STATIC_ASSERT((num_pages) >= MCU_DSP_PRODUCT_ARENA_PAGES(page_size_log2), \
                      the_arena_is_too_small_for_dsp_product)
/* clang-format on */

/* Inputs and outputs: the bytes of each and, where it is quantized as a whole, its scale and zero
 * point: real value = scale * (q - zero point). */
#define MCU_DSP_PRODUCT_INPUT_0_BYTES       62U
#define MCU_DSP_PRODUCT_INPUT_0_SCALE       1.23127e-2F
#define MCU_DSP_PRODUCT_INPUT_0_ZERO_POINT  127
#define MCU_DSP_PRODUCT_OUTPUT_0_BYTES      31U
#define MCU_DSP_PRODUCT_OUTPUT_0_SCALE      4.11337e-2F
#define MCU_DSP_PRODUCT_OUTPUT_0_ZERO_POINT (-128)

/* The model, for mcu_instance_init and mcu_run. */
#define mcu_network_dsp_product (&_mcu_network_dsp_product)

extern const mcu_model_t _mcu_network_dsp_product;

#ifdef __cplusplus
}
#endif

#endif /* MCU_NETWORK_DSP_PRODUCT_H */
