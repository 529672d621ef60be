/* network_mve_tflite.h: for programs that run the network, made by mcu-deploy.
 *
 *   source model  main, SHA-256
 *                 ae47eeec6cdb5b1d467220208e2dca40dc22af68bfaf2c5ca0e444936e6ec2d8
 *   constants     764 bytes, as a file: SHA-256
 *                 178f562b18807e294a455c20f4373578207e7fa031f66757debe0aefa03152bf
 *   workspace     912 bytes
 *   layers        2 with 1,764 multiply-accumulates
 *
 * Inputs, in the order of the arguments of mcu_instance_run and mcu_run:
 *   0: y0_x: int8_t[1][3][3][8], 72 bytes
 *      real value = 1 * (q - 3)
 *   1: y1_x: int8_t[1][3][3][4], 36 bytes
 *      real value = 1 * (q - 3)
 * Outputs:
 *   0: y0: int8_t[1][3][3][20], 180 bytes
 *      real value = 113.137085 * (q + 5)
 *   1: y1: int8_t[1][3][3][4], 36 bytes
 *      real value = 1 * (q + 5)
 *
 * Tensors are compact and row-major: the last index runs fastest.
 */
#ifndef MCU_NETWORK_MVE_TFLITE_H
#define MCU_NETWORK_MVE_TFLITE_H

#include "mcu/runtime.h"

#if MCU_MODEL_ABI_MAJOR != 4 || MCU_MODEL_ABI_MINOR < 1
#error "network_mve_tflite is for ABI 4.1 of mcu/model.h: build it again"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* What each instance needs in RAM for its tensors, in bytes, and how that block must be aligned:
 *     MCU_ALIGNED(MCU_MVE_TFLITE_WORKSPACE_ALIGNMENT)
 *     static uint8_t workspace[MCU_MVE_TFLITE_WORKSPACE_SIZE];
 * For an array of your own, which may be larger, behind its definition:
 *     MCU_MVE_TFLITE_CHECK_WORKSPACE(array);
 * For the arena of mcu_run, as crt/arena/arena.c is compiled:
 *     MCU_MVE_TFLITE_CHECK_ARENA(MCU_ARENA_NUM_PAGES, MCU_ARENA_PAGE_SIZE_LOG2); */
#define MCU_MVE_TFLITE_WORKSPACE_SIZE      912U
#define MCU_MVE_TFLITE_WORKSPACE_ALIGNMENT 16U
/* clang-format off */
#define MCU_MVE_TFLITE_CHECK_WORKSPACE(array) \
    MCU_STATIC_ASSERT(sizeof(array) >= MCU_MVE_TFLITE_WORKSPACE_SIZE, \
                      array##_is_too_small_for_mve_tflite)
#define MCU_MVE_TFLITE_ARENA_PAGES(page_size_log2) \
    ((MCU_MVE_TFLITE_WORKSPACE_SIZE + (1UL << (page_size_log2)) - 1UL) >> (page_size_log2))
#define MCU_MVE_TFLITE_CHECK_ARENA(num_pages, page_size_log2) \
    MCU_STATIC_ASSERT((num_pages) >= MCU_MVE_TFLITE_ARENA_PAGES(page_size_log2), \
                      the_arena_is_too_small_for_mve_tflite)
/* clang-format on */

/* Inputs and outputs: the bytes of each and, where it is quantized as a whole, its scale and zero
 * point: real value = scale * (q - zero point). */
#define MCU_MVE_TFLITE_INPUT_0_BYTES       72U
#define MCU_MVE_TFLITE_INPUT_0_SCALE       1.0e+0F
#define MCU_MVE_TFLITE_INPUT_0_ZERO_POINT  3
#define MCU_MVE_TFLITE_INPUT_1_BYTES       36U
#define MCU_MVE_TFLITE_INPUT_1_SCALE       1.0e+0F
#define MCU_MVE_TFLITE_INPUT_1_ZERO_POINT  3
#define MCU_MVE_TFLITE_OUTPUT_0_BYTES      180U
#define MCU_MVE_TFLITE_OUTPUT_0_SCALE      1.13137085e+2F
#define MCU_MVE_TFLITE_OUTPUT_0_ZERO_POINT (-5)
#define MCU_MVE_TFLITE_OUTPUT_1_BYTES      36U
#define MCU_MVE_TFLITE_OUTPUT_1_SCALE      1.0e+0F
#define MCU_MVE_TFLITE_OUTPUT_1_ZERO_POINT (-5)

/* The model, for mcu_instance_init and mcu_run. */
#define mcu_network_mve_tflite (&_mcu_network_mve_tflite)

extern const mcu_model_t _mcu_network_mve_tflite;

#ifdef __cplusplus
}
#endif

#endif /* MCU_NETWORK_MVE_TFLITE_H */
