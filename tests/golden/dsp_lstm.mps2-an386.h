/* network_dsp_lstm.h: for programs that run the network, made by mcu-deploy.
 *
 *   source model  main, SHA-256
 *                 bed7c7b89649ac043563de346040f13eaea3f0a97b70c41d6d99a91f658c08ff
 *   constants     1,156 bytes, as a file: SHA-256
 *                 ea639568e58dbe00e68b737e0cdb8e4f1678bcc98e644ec231a1f88ae3be660c
 *   workspace     112 bytes
 *   layers        1 with 2,688 multiply-accumulates
 *
 * Inputs, in the order of the arguments of mcu_instance_run and mcu_run:
 *   0: x: int8_t[1][7][4], 28 bytes
 *      real value = 0.02 * (q + 128)
 * Outputs:
 *   0: y: int8_t[1][7][8], 56 bytes
 *      real value = 0.0078 * q
 *
 * Tensors are compact and row-major: the last index runs fastest.
 */
#ifndef MCU_NETWORK_DSP_LSTM_H
#define MCU_NETWORK_DSP_LSTM_H

#include "mcu/runtime.h"

#if MCU_MODEL_ABI_MAJOR != 4 || MCU_MODEL_ABI_MINOR < 1
#error "network_dsp_lstm is for ABI 4.1 of mcu/model.h: build it again"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* What each instance needs in RAM for its tensors, in bytes, and how that block must be aligned:
 *     MCU_ALIGNED(MCU_DSP_LSTM_WORKSPACE_ALIGNMENT)
 *     static uint8_t workspace[MCU_DSP_LSTM_WORKSPACE_SIZE];
 * For an array of your own, which may be larger, behind its definition:
 *     MCU_DSP_LSTM_CHECK_WORKSPACE(array);
 * For the arena of mcu_run, as crt/arena/arena.c is compiled:
 *     MCU_DSP_LSTM_CHECK_ARENA(MCU_ARENA_NUM_PAGES, MCU_ARENA_PAGE_SIZE_LOG2); */
#define MCU_DSP_LSTM_WORKSPACE_SIZE      112U
#define MCU_DSP_LSTM_WORKSPACE_ALIGNMENT 16U
/* clang-format off */
#define MCU_DSP_LSTM_CHECK_WORKSPACE(array) \
    MCU_STATIC_ASSERT(sizeof(array) >= MCU_DSP_LSTM_WORKSPACE_SIZE, \
                      array##_is_too_small_for_dsp_lstm)
#define MCU_DSP_LSTM_ARENA_PAGES(page_size_log2) \
    ((MCU_DSP_LSTM_WORKSPACE_SIZE + (1UL << (page_size_log2)) - 1UL) >> (page_size_log2))
#define MCU_DSP_LSTM_CHECK_ARENA(num_pages, page_size_log2) \
    MCU_STATIC_ASSERT((num_pages) >= MCU_DSP_LSTM_ARENA_PAGES(page_size_log2), \
                      the_arena_is_too_small_for_dsp_lstm)
/* clang-format on */

/* Inputs and outputs: the bytes of each and, where it is quantized as a whole, its scale and zero
 * point: real value = scale * (q - zero point). */
#define MCU_DSP_LSTM_INPUT_0_BYTES       28U
#define MCU_DSP_LSTM_INPUT_0_SCALE       2.0e-2F
#define MCU_DSP_LSTM_INPUT_0_ZERO_POINT  (-128)
#define MCU_DSP_LSTM_OUTPUT_0_BYTES      56U
#define MCU_DSP_LSTM_OUTPUT_0_SCALE      7.8e-3F
#define MCU_DSP_LSTM_OUTPUT_0_ZERO_POINT 0

/* The model, for mcu_instance_init and mcu_run. */
#define mcu_network_dsp_lstm (&_mcu_network_dsp_lstm)

extern const mcu_model_t _mcu_network_dsp_lstm;

#ifdef __cplusplus
}
#endif

#endif /* MCU_NETWORK_DSP_LSTM_H */
