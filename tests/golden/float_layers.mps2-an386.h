/* network_float_layers.h: for programs that run the network, made by mcu-deploy.
 *
 *   source model  case, SHA-256
 *                 8339947b3f1b72a85ea9ba9c14832925b245b8247f5c68ce1292314db9085b37
 *   constants     364 bytes, as a file: SHA-256
 *                 a243bffe8e952344ca710eb3b76eb171b1f9a102a19ea837ca63309db8878b22
 *   workspace     768 bytes
 *   layers        5 with 1,164 multiply-accumulates
 *
 * Inputs, in the order of the arguments of mcu_instance_run and mcu_run:
 *   0: x: float[1][2][8][8], 512 bytes
 * Outputs:
 *   0: y: float[1][3], 12 bytes
 *
 * Tensors are compact and row-major: the last index runs fastest.
 */
#ifndef MCU_NETWORK_FLOAT_LAYERS_H
#define MCU_NETWORK_FLOAT_LAYERS_H

#include "mcu/runtime.h"

#if MCU_MODEL_ABI_MAJOR != 4 || MCU_MODEL_ABI_MINOR < 1
#error "network_float_layers is for ABI 4.1 of mcu/model.h: build it again"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* What each instance needs in RAM for its tensors, in bytes, and how that block must be aligned:
 *     MCU_ALIGNED(MCU_FLOAT_LAYERS_WORKSPACE_ALIGNMENT)
 *     static uint8_t workspace[MCU_FLOAT_LAYERS_WORKSPACE_SIZE];
 * For an array of your own, which may be larger, behind its definition:
 *     MCU_FLOAT_LAYERS_CHECK_WORKSPACE(array);
 * For the arena of mcu_run, as crt/arena/arena.c is compiled:
 *     MCU_FLOAT_LAYERS_CHECK_ARENA(MCU_ARENA_NUM_PAGES, MCU_ARENA_PAGE_SIZE_LOG2); */
#define MCU_FLOAT_LAYERS_WORKSPACE_SIZE      768U
#define MCU_FLOAT_LAYERS_WORKSPACE_ALIGNMENT 16U
/* clang-format off */
#define MCU_FLOAT_LAYERS_CHECK_WORKSPACE(array) \
    MCU_STATIC_ASSERT(sizeof(array) >= MCU_FLOAT_LAYERS_WORKSPACE_SIZE, \
                      array##_is_too_small_for_float_layers)
#define MCU_FLOAT_LAYERS_ARENA_PAGES(page_size_log2) \
    ((MCU_FLOAT_LAYERS_WORKSPACE_SIZE + (1UL << (page_size_log2)) - 1UL) >> (page_size_log2))
#define MCU_FLOAT_LAYERS_CHECK_ARENA(num_pages, page_size_log2) \
    MCU_STATIC_ASSERT((num_pages) >= MCU_FLOAT_LAYERS_ARENA_PAGES(page_size_log2), \
                      the_arena_is_too_small_for_float_layers)
/* clang-format on */

/* Inputs and outputs: the bytes of each and, where it is quantized as a whole, its scale and zero
 * point: real value = scale * (q - zero point). */
#define MCU_FLOAT_LAYERS_INPUT_0_BYTES  512U
#define MCU_FLOAT_LAYERS_OUTPUT_0_BYTES 12U

/* The model, for mcu_instance_init and mcu_run. */
#define mcu_network_float_layers (&_mcu_network_float_layers)

extern const mcu_model_t _mcu_network_float_layers;

#ifdef __cplusplus
}
#endif

#endif /* MCU_NETWORK_FLOAT_LAYERS_H */
