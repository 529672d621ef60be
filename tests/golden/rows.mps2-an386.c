/* network_rows.c: a neural network, made by mcu-deploy.
 *
 *   source model  case, SHA-256
 *                 e61be23b4a05085d79e998c7c9ad30208a4c7ef705d263bbbf73fa97004e6b4d
 *   constants     10,628 bytes, as a file: SHA-256
 *                 455aa1fab1f6d7a667b97375ea19a772eecf17bfe53c9c1ca1db6616103d8bec
 *   workspace     352 bytes
 *   layers        2 with 10,240 multiply-accumulates
 *
 * Everything is static but the descriptor _mcu_network_rows, at the end. To compile this file by
 * hand, in its folder, to the same bytes:
 *
 *   arm-none-eabi-gcc -mcpu=cortex-m4 -mthumb -mfpu=fpv4-sp-d16 -mfloat-abi=hard -std=c99 \
 *       -ffunction-sections -fdata-sections -fno-common -O2 -ffp-contract=off -fno-math-errno \
 *       -frandom-seed=rows -I include -c network_rows.c -o network_rows.o
 *
 * The workspace: what lies where, in bytes, and from which layer to which it is needed.
 *
 *   offset  bytes    from      to  holds
 *        0    160  always  always  rows0_sum
 *      160    160  always  always  rows1_sum
 *      320     32       1  output  conv1
 *
 * Shapes have the model's order of axes. NHWC and the like behind a shape say in which order its
 * axes lie in memory, where that is another one.
 */
#include "network_rows.h"

#include "mcu/internal.h"

#include <string.h>

/* ---- Constants ---- */

/* The assembler takes the file in as it is (from another folder: with -I FOLDER). The arrays are
 * declared extern, as a static array without an initializer would be one of zeros; the names that
 * the assembler gives them are local to the object. Where there is no .incbin, and for -flto, build
 * with --weights array. */
__asm__(".pushsection .rodata._mcu_rows_weights, \"a\", %progbits\n"
        ".balign 16\n"
        ".type _mcu_rows_weights, %object\n"
        ".size _mcu_rows_weights, 10628\n"
        "_mcu_rows_weights:\n"
        ".incbin \"network_rows.weights.bin\"\n"
        ".popsection");
/* clang-format off */
#define MCU_CONSTANT(name, type, elements, offset, bytes)       \
    extern const type name[elements];                           \
    __asm__(".set " #name ", _mcu_rows_weights + " #offset "\n" \
            ".type " #name ", %object\n"                        \
            ".size " #name ", " #bytes)
MCU_CONSTANT(_mcu_rows_conv_1_weights, int8_t,  5120,     0, 5120);
MCU_CONSTANT(_mcu_rows_conv_1_bias,    int32_t,   32,  5120,  128);
MCU_CONSTANT(_mcu_rows_conv_1_factor,  float,      1,  5248,    4);
MCU_CONSTANT(_mcu_rows_conv_2_weights, int8_t,  5120,  5252, 5120);
MCU_CONSTANT(_mcu_rows_conv_2_bias,    int32_t,   32, 10372,  128);
MCU_CONSTANT(_mcu_rows_state0,         int8_t,   128, 10500,  128);
#undef MCU_CONSTANT
/* clang-format on */

/* ---- Kernels ---- */

static inline int32_t _mcu_rows_quantize(float value, float low, float high) {
    /* Clamp first, then round to nearest, ties to even: 1.5 * 2^23 pushes the fraction out of the
     * significand, and the integer stays in its low bits. A NaN becomes the lower bound. */
    union {
        float real;
        int32_t bits;
    } sum;
    value = value > low ? value : low;
    value = value < high ? value : high;
    sum.real = value + 12582912.0F;
    return sum.bits - 0x4B400000;
}

MCU_FUNCTION void _mcu_rows_conv5x1_32x32_int8(const int8_t *x, int8_t *y, const int8_t *weights,
                                               const int32_t *bias, const float *factor) {
    for (int32_t m = 0; m < 32; m++) {
        int32_t sum = bias[m];
        /* The taps of a kernel row, all channels, lie side by side in x and in weights. */
        for (int32_t ky = 0; ky < 5; ky++) {
            const int8_t *pixel = x + ky * 32;
            const int8_t *tap = weights + (m * 5 + ky) * 32;
            for (int32_t c = 0; c < 32; c++) {
                sum += pixel[c] * tap[c];
            }
        }
        const float scaled = (float)sum * factor[0];
        *y++ = (int8_t)(_mcu_rows_quantize(scaled, -125.0F, 130.0F) - 3);
    }
}

/* ---- The layers, in the order of execution ---- */

/* clang-format off */
static void _mcu_rows_layers(mcu_instance_t *instance) {
    uint8_t *const ws = instance->workspace;

    /* conv_1: Conv, Conv_7 (4 nodes): int8[1,32,5,1] NHWC -> int8[1,32,1,1]; 5,120 MACs */
    int8_t *const rows0_sum = (int8_t *)(ws + 0);
    int8_t *const conv_1 = (int8_t *)(ws + 288);
    MCU_LAYER(0, _mcu_rows_conv5x1_32x32_int8(rows0_sum, conv_1, _mcu_rows_conv_1_weights,
                                              _mcu_rows_conv_1_bias, _mcu_rows_conv_1_factor));

    /* conv_2: Conv, Conv_21 (4 nodes): int8[1,32,5,1] NHWC -> int8[1,32,1,1]; 5,120 MACs */
    int8_t *const rows1_sum = (int8_t *)(ws + 160);
    int8_t *const conv_2 = (int8_t *)(ws + 320);
    MCU_LAYER(1, _mcu_rows_conv5x1_32x32_int8(rows1_sum, conv_2, _mcu_rows_conv_2_weights,
                                              _mcu_rows_conv_2_bias, _mcu_rows_conv_1_factor));

    /* ring0 takes its next value. */
    int8_t *const ring0 = (int8_t *)(ws + 0);
    int8_t *const next0 = (int8_t *)(ws + 32);
    memmove(ring0, next0, 128);

    /* ring1 takes its next value. */
    int8_t *const ring1 = (int8_t *)(ws + 160);
    int8_t *const next1 = (int8_t *)(ws + 192);
    memmove(ring1, next1, 128);
}

/* clang-format on */

static int32_t _mcu_rows_run_func(void *args, void *arg_type_ids, int32_t num_args,
                                  void *out_ret_value, void *out_ret_tcode, void *resource_handle) {
    (void)out_ret_value;
    (void)out_ret_tcode;
    const mcu_model_t *const model = &_mcu_network_rows;
    const int32_t status =
        _mcu_run_begin(model, NULL, args, arg_type_ids, num_args, resource_handle);
    if (status != MCU_OK) {
        return status;
    }
    _mcu_rows_layers(resource_handle);
    return _mcu_run_end(model, NULL, args, resource_handle);
}

/* ---- The descriptor ---- */

static const int64_t _mcu_rows_input0_shape[4] = {1, 1, 1, 32};
static const mcu_tensor_info_t _mcu_rows_inputs[1] = {
    {
        .name = "x",
        .shape = _mcu_rows_input0_shape,
        .place = {128, 0, 32},
        .scale = 6.25e-2F,
        .zero_point = -3,
        .ndim = 4,
        .dtype = {kDLInt, 8, 1},
    },
};

static const int64_t _mcu_rows_output0_shape[4] = {1, 1, 1, 32};
static const mcu_tensor_info_t _mcu_rows_outputs[1] = {
    {
        .name = "y1",
        .shape = _mcu_rows_output0_shape,
        .place = {320, 0, 32},
        .scale = 6.25e-2F,
        .zero_point = -3,
        .ndim = 4,
        .dtype = {kDLInt, 8, 1},
    },
};

static const int64_t _mcu_rows_state0_shape[4] = {1, 4, 1, 32};
static const int64_t _mcu_rows_state1_shape[4] = {1, 4, 1, 32};
static const mcu_state_info_t _mcu_rows_states[2] = {
    {
        .tensor =
            {
                .name = "ring0",
                .shape = _mcu_rows_state0_shape,
                .place = {0, 0, 128},
                .scale = 6.25e-2F,
                .zero_point = -3,
                .ndim = 4,
                .dtype = {kDLInt, 8, 1},
            },
        .initial = _mcu_rows_state0,
    },
    {
        .tensor =
            {
                .name = "ring1",
                .shape = _mcu_rows_state1_shape,
                .place = {160, 0, 128},
                .scale = 6.25e-2F,
                .zero_point = -3,
                .ndim = 4,
                .dtype = {kDLInt, 8, 1},
            },
        .initial = _mcu_rows_state0,
    },
};

/* clang-format off */
/* Where the outputs of each layer lie when it has run: offset, pool and bytes. */
static const mcu_region_t _mcu_rows_regions[2] = {
    {288, 0, 32}, /* 0 */
    {320, 0, 32}, /* 1 */
};

/* Of each layer: its first output in the table above, and how many it has. */
static const mcu_layer_info_t _mcu_rows_layer_infos[2] = {
    {0, 1}, {1, 1},
};
/* clang-format on */

const mcu_model_t _mcu_network_rows = {
    .run_func = _mcu_rows_run_func,
    .num_input_tensors = 1,
    .num_output_tensors = 1,
    .abi_version = MCU_MODEL_ABI_VERSION,
    .workspace_size = MCU_ROWS_WORKSPACE_SIZE,
    .workspace_alignment = MCU_ROWS_WORKSPACE_ALIGNMENT,
    .num_layers = 2,
    .name = "rows",
    .inputs = _mcu_rows_inputs,
    .outputs = _mcu_rows_outputs,
    .layers = _mcu_rows_layer_infos,
    .layer_outputs = _mcu_rows_regions,
    .extra_pools = NULL,
    .partitions = NULL,
    .kept = NULL,
    .states = _mcu_rows_states,
    .num_extra_pools = 0,
    .num_partitions = 0,
    .num_kept = 0,
    .num_states = 2,
    .private_place = {0, 0, 0},
    .pointers = {0, 0, 0},
    .hot = NULL,
    .num_hot = 0,
    .release_func = NULL,
};
