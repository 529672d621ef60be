/* network_residual.c: a neural network, made by mcu-deploy.
 *
 *   source model  branchy, SHA-256
 *                 ba24a54b193b90215afe7c7ef9ceba1b1d120538d35c3859e6f78dffe6016ed7
 *   constants     864 bytes, as a file: SHA-256
 *                 026a3e7e28ae04e70ea8917110fc602ebf45e93990ee3ab9de99f694363155d1
 *   workspace     2,304 bytes
 *   layers        5 with 114,048 multiply-accumulates
 *
 * Everything is static but the descriptor _mcu_network_residual, at the end. To compile this file
 * by hand, in its folder, to the same bytes:
 *
 *   arm-none-eabi-gcc -mcpu=cortex-m4 -mthumb -mfpu=fpv4-sp-d16 -mfloat-abi=hard -std=c99 \
 *       -ffunction-sections -fdata-sections -fno-common -O2 -ffp-contract=off -fno-math-errno \
 *       -frandom-seed=residual -I include -c network_residual.c -o network_residual.o
 *
 * The workspace: what lies where, in bytes, and from which layer to which it is needed.
 *
 *   offset  bytes   from      to  holds
 *      288    432  input       0  image
 *        0    432      0       1  image
 *     1152   1152      1       4  stem_int8
 *        0   1152      2       3  inner_int8
 *        0      8      4  output  pooled_int8
 *
 * Shapes have the model's order of axes. NHWC and the like behind a shape say in which order its
 * axes lie in memory, where that is another one.
 */
#include "network_residual.h"

#include "mcu/internal.h"

/* ---- Constants ---- */

/* The assembler takes the file in as it is (from another folder: with -I FOLDER). The arrays are
 * declared extern, as a static array without an initializer would be one of zeros; the names that
 * the assembler gives them are local to the object. Where there is no .incbin, and for -flto, build
 * with --weights array. */
__asm__(".pushsection .rodata._mcu_residual_weights, \"a\", %progbits\n"
        ".balign 16\n"
        ".type _mcu_residual_weights, %object\n"
        ".size _mcu_residual_weights, 864\n"
        "_mcu_residual_weights:\n"
        ".incbin \"network_residual.weights.bin\"\n"
        ".popsection");
/* clang-format off */
#define MCU_CONSTANT(name, type, elements, offset, bytes)           \
    extern const type name[elements];                               \
    __asm__(".set " #name ", _mcu_residual_weights + " #offset "\n" \
            ".type " #name ", %object\n"                            \
            ".size " #name ", " #bytes)
MCU_CONSTANT(_mcu_residual_conv_1_weights, int8_t,  216,   0, 216);
MCU_CONSTANT(_mcu_residual_conv_1_bias,    int32_t,   8, 216,  32);
MCU_CONSTANT(_mcu_residual_conv_1_factor,  float,     1, 248,   4);
MCU_CONSTANT(_mcu_residual_conv_2_weights, int8_t,  576, 252, 576);
MCU_CONSTANT(_mcu_residual_conv_2_bias,    int32_t,   8, 828,  32);
MCU_CONSTANT(_mcu_residual_conv_2_factor,  float,     1, 860,   4);
#undef MCU_CONSTANT
/* clang-format on */

/* ---- Kernels ---- */

MCU_FUNCTION void _mcu_residual_reorder_144x3_int8(const int8_t *x, int8_t *y) {
    for (int32_t i0 = 0; i0 < 144; i0++) {
        for (int32_t i1 = 0; i1 < 3; i1++) {
            *y++ = x[i0 + i1 * 144];
        }
    }
}

static inline int32_t _mcu_residual_quantize(float value, float low, float high) {
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

MCU_FUNCTION void _mcu_residual_conv3x3_3x8_int8(const int8_t *x, int8_t *y, const int8_t *weights,
                                                 const int32_t *bias, const float *factor) {
    for (int32_t oy = 0; oy < 12; oy++) {
        const int32_t top = oy - 1;
        const int32_t ky_begin = top < 0 ? -top : 0;
        const int32_t ky_end = top < 10 ? 3 : 12 - top;
        for (int32_t ox = 0; ox < 12; ox++) {
            const int32_t left = ox - 1;
            const int32_t kx_begin = left < 0 ? -left : 0;
            const int32_t kx_end = left < 10 ? 3 : 12 - left;
            for (int32_t m = 0; m < 8; m++) {
                int32_t sum = bias[m];
                /* The taps of a kernel row, all channels, lie side by side in x and in weights. */
                for (int32_t ky = ky_begin; ky < ky_end; ky++) {
                    const int8_t *pixel = x + (top + ky) * 36 + (left + kx_begin) * 3;
                    const int8_t *tap = weights + ((m * 3 + ky) * 3 + kx_begin) * 3;
                    for (int32_t c = 0; c < (kx_end - kx_begin) * 3; c++) {
                        sum += (pixel[c] + 3) * tap[c];
                    }
                }
                const float scaled = (float)sum * factor[0];
                *y++ = (int8_t)(_mcu_residual_quantize(scaled, 0.0F, 130.0F) - 3);
            }
        }
    }
}

MCU_FUNCTION void _mcu_residual_conv3x3_8x8_int8(const int8_t *x, int8_t *y, const int8_t *weights,
                                                 const int32_t *bias, const float *factor) {
    for (int32_t oy = 0; oy < 12; oy++) {
        const int32_t top = oy - 1;
        const int32_t ky_begin = top < 0 ? -top : 0;
        const int32_t ky_end = top < 10 ? 3 : 12 - top;
        for (int32_t ox = 0; ox < 12; ox++) {
            const int32_t left = ox - 1;
            const int32_t kx_begin = left < 0 ? -left : 0;
            const int32_t kx_end = left < 10 ? 3 : 12 - left;
            for (int32_t m = 0; m < 8; m++) {
                int32_t sum = bias[m];
                /* The taps of a kernel row, all channels, lie side by side in x and in weights. */
                for (int32_t ky = ky_begin; ky < ky_end; ky++) {
                    const int8_t *pixel = x + (top + ky) * 96 + (left + kx_begin) * 8;
                    const int8_t *tap = weights + ((m * 3 + ky) * 3 + kx_begin) * 8;
                    for (int32_t c = 0; c < (kx_end - kx_begin) * 8; c++) {
                        sum += (pixel[c] + 3) * tap[c];
                    }
                }
                const float scaled = (float)sum * factor[0];
                *y++ = (int8_t)(_mcu_residual_quantize(scaled, 0.0F, 130.0F) - 3);
            }
        }
    }
}

MCU_FUNCTION void _mcu_residual_add_1152_int8(const int8_t *a, const int8_t *b, int8_t *y) {
    for (int32_t i0 = 0; i0 < 1152; i0++) {
        const float left = (float)(a[i0] + 3) * 0.05F;
        const float right = (float)(b[i0] + 3) * 0.05F;
        const float scaled = (left + right) / 0.05F;
        *y++ = (int8_t)(_mcu_residual_quantize(scaled, -125.0F, 130.0F) - 3);
    }
}

MCU_FUNCTION void _mcu_residual_avg_pool12x12_8_int8(const int8_t *x, int8_t *y) {
    for (int32_t c = 0; c < 8; c++) {
        float sum = 0.0F;
        for (int32_t ky = 0; ky < 12; ky++) {
            for (int32_t kx = 0; kx < 12; kx++) {
                const int32_t at = ky * 96 + kx * 8;
                sum += (float)(x[at + c] + 3) * 0.05F;
            }
        }
        float mean = sum / 144.0F;
        mean = mean / 0.05F;
        *y++ = (int8_t)(_mcu_residual_quantize(mean, -125.0F, 130.0F) - 3);
    }
}

/* ---- The layers, in the order of execution ---- */

/* clang-format off */
static void _mcu_residual_layers(mcu_instance_t *instance) {
    uint8_t *const ws = instance->workspace;

    /* input_1_reorder: Reorder, image reordered: int8[1,3,12,12] -> int8[1,3,12,12] NHWC */
    int8_t *const image = (int8_t *)(ws + 288);
    int8_t *const input_1_reorder = (int8_t *)(ws + 0);
    MCU_LAYER(0, _mcu_residual_reorder_144x3_int8(image, input_1_reorder));

    /* conv_1: Conv, stem_sum (6 nodes):
     * int8[1,3,12,12] NHWC -> int8[1,8,12,12] NHWC; 31,104 MACs */
    int8_t *const conv_1 = (int8_t *)(ws + 1152);
    MCU_LAYER(1, _mcu_residual_conv3x3_3x8_int8(
        input_1_reorder, conv_1, _mcu_residual_conv_1_weights, _mcu_residual_conv_1_bias,
        _mcu_residual_conv_1_factor));

    /* conv_2: Conv, inner_sum (6 nodes):
     * int8[1,8,12,12] NHWC -> int8[1,8,12,12] NHWC; 82,944 MACs */
    int8_t *const conv_2 = (int8_t *)(ws + 0);
    MCU_LAYER(2, _mcu_residual_conv3x3_8x8_int8(conv_1, conv_2, _mcu_residual_conv_2_weights,
                                                _mcu_residual_conv_2_bias,
                                                _mcu_residual_conv_2_factor));

    /* add_1: Add, sum (4 nodes):
     * int8[1,8,12,12] NHWC, int8[1,8,12,12] NHWC -> int8[1,8,12,12] NHWC */
    int8_t *const add_1 = (int8_t *)(ws + 1152);
    MCU_LAYER(3, _mcu_residual_add_1152_int8(conv_1, conv_2, add_1));

    /* avg_pool_1: GlobalAveragePool, pooled (3 nodes): int8[1,8,12,12] NHWC -> int8[1,8,1,1] */
    int8_t *const avg_pool_1 = (int8_t *)(ws + 0);
    MCU_LAYER(4, _mcu_residual_avg_pool12x12_8_int8(add_1, avg_pool_1));
}

/* clang-format on */

static int32_t _mcu_residual_run_func(void *args, void *arg_type_ids, int32_t num_args,
                                      void *out_ret_value, void *out_ret_tcode,
                                      void *resource_handle) {
    (void)out_ret_value;
    (void)out_ret_tcode;
    const mcu_model_t *const model = &_mcu_network_residual;
    const int32_t status =
        _mcu_run_begin(model, NULL, args, arg_type_ids, num_args, resource_handle);
    if (status != MCU_OK) {
        return status;
    }
    _mcu_residual_layers(resource_handle);
    return _mcu_run_end(model, NULL, args, resource_handle);
}

/* ---- The descriptor ---- */

static const int64_t _mcu_residual_input0_shape[4] = {1, 3, 12, 12};
static const mcu_tensor_info_t _mcu_residual_inputs[1] = {
    {
        .name = "image",
        .shape = _mcu_residual_input0_shape,
        .place = {288, 0, 432},
        .scale = 5.0e-2F,
        .zero_point = -3,
        .ndim = 4,
        .dtype = {kDLInt, 8, 1},
    },
};

static const int64_t _mcu_residual_output0_shape[4] = {1, 8, 1, 1};
static const mcu_tensor_info_t _mcu_residual_outputs[1] = {
    {
        .name = "pooled_int8",
        .shape = _mcu_residual_output0_shape,
        .place = {0, 0, 8},
        .scale = 5.0e-2F,
        .zero_point = -3,
        .ndim = 4,
        .dtype = {kDLInt, 8, 1},
    },
};

/* clang-format off */
/* Where the outputs of each layer lie when it has run: offset, pool and bytes. */
static const mcu_region_t _mcu_residual_regions[5] = {
    {0,    0, 432},  /* 0 */
    {1152, 0, 1152}, /* 1 */
    {0,    0, 1152}, /* 2 */
    {1152, 0, 1152}, /* 3 */
    {0,    0, 8},    /* 4 */
};

/* Of each layer: its first output in the table above, and how many it has. */
static const mcu_layer_info_t _mcu_residual_layer_infos[5] = {
    {0, 1}, {1, 1}, {2, 1}, {3, 1}, {4, 1},
};
/* clang-format on */

const mcu_model_t _mcu_network_residual = {
    .run_func = _mcu_residual_run_func,
    .num_input_tensors = 1,
    .num_output_tensors = 1,
    .abi_version = MCU_MODEL_ABI_VERSION,
    .workspace_size = MCU_RESIDUAL_WORKSPACE_SIZE,
    .workspace_alignment = MCU_RESIDUAL_WORKSPACE_ALIGNMENT,
    .num_layers = 5,
    .name = "residual",
    .inputs = _mcu_residual_inputs,
    .outputs = _mcu_residual_outputs,
    .layers = _mcu_residual_layer_infos,
    .layer_outputs = _mcu_residual_regions,
    .extra_pools = NULL,
    .partitions = NULL,
    .kept = NULL,
    .states = NULL,
    .num_extra_pools = 0,
    .num_partitions = 0,
    .num_kept = 0,
    .num_states = 0,
    .private_place = {0, 0, 0},
    .pointers = {0, 0, 0},
    .hot = NULL,
    .num_hot = 0,
    .release_func = NULL,
};
