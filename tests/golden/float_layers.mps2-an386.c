/* network_float_layers.c: a neural network, made by mcu-deploy.
 *
 *   source model  case, SHA-256
 *                 8339947b3f1b72a85ea9ba9c14832925b245b8247f5c68ce1292314db9085b37
 *   constants     364 bytes, as a file: SHA-256
 *                 a243bffe8e952344ca710eb3b76eb171b1f9a102a19ea837ca63309db8878b22
 *   workspace     768 bytes
 *   layers        5 with 1,164 multiply-accumulates
 *
 * Everything is static but the descriptor _mcu_network_float_layers, at the end. To compile this
 * file by hand, in its folder, to the same bytes:
 *
 *   arm-none-eabi-gcc -mcpu=cortex-m4 -mthumb -mfpu=fpv4-sp-d16 -mfloat-abi=hard -std=c99 \
 *       -ffunction-sections -fdata-sections -fno-common -O2 -ffp-contract=off -fno-math-errno \
 *       -frandom-seed=float_layers -I include -c network_float_layers.c -o network_float_layers.o
 *
 * The workspace: what lies where, in bytes, and from which layer to which it is needed.
 *
 *   offset  bytes   from      to  holds
 *      256    512  input       0  x
 *        0    512      0       1  x
 *      512    256      1       2  r
 *       16     16      2       3  p
 *        0     12      3  output  g
 *
 * Shapes have the model's order of axes. NHWC and the like behind a shape say in which order its
 * axes lie in memory, where that is another one.
 */
#include "network_float_layers.h"

#include "mcu/internal.h"

#include <math.h>
#include <string.h>

/* ---- Constants ---- */

/* The assembler takes the file in as it is (from another folder: with -I FOLDER). The arrays are
 * declared extern, as a static array without an initializer would be one of zeros; the names that
 * the assembler gives them are local to the object. Where there is no .incbin, and for -flto, build
 * with --weights array. */
__asm__(".pushsection .rodata._mcu_float_layers_weights, \"a\", %progbits\n"
        ".balign 16\n"
        ".type _mcu_float_layers_weights, %object\n"
        ".size _mcu_float_layers_weights, 364\n"
        "_mcu_float_layers_weights:\n"
        ".incbin \"network_float_layers.weights.bin\"\n"
        ".popsection");
/* clang-format off */
#define MCU_CONSTANT(name, type, elements, offset, bytes)               \
    extern const type name[elements];                                   \
    __asm__(".set " #name ", _mcu_float_layers_weights + " #offset "\n" \
            ".type " #name ", %object\n"                                \
            ".size " #name ", " #bytes)
MCU_CONSTANT(_mcu_float_layers_conv_1_weights,  float, 72,   0, 288);
MCU_CONSTANT(_mcu_float_layers_conv_1_bias,     float,  4, 288,  16);
MCU_CONSTANT(_mcu_float_layers_dense_1_weights, float, 12, 304,  48);
MCU_CONSTANT(_mcu_float_layers_dense_1_bias,    float,  3, 352,  12);
#undef MCU_CONSTANT
/* clang-format on */

/* ---- Kernels ---- */

MCU_FUNCTION void _mcu_float_layers_reorder_64x2_float32(const float *x, float *y) {
    for (int32_t i0 = 0; i0 < 64; i0++) {
        for (int32_t i1 = 0; i1 < 2; i1++) {
            *y++ = x[i0 + i1 * 64];
        }
    }
}

MCU_FUNCTION void _mcu_float_layers_conv3x3_2x4_s2_float32(const float *x, float *y,
                                                           const float *weights,
                                                           const float *bias) {
    for (int32_t oy = 0; oy < 4; oy++) {
        const int32_t top = oy * 2 - 1;
        const int32_t ky_begin = top < 0 ? -top : 0;
        const int32_t ky_end = top < 6 ? 3 : 8 - top;
        for (int32_t ox = 0; ox < 4; ox++) {
            const int32_t left = ox * 2 - 1;
            const int32_t kx_begin = left < 0 ? -left : 0;
            const int32_t kx_end = left < 6 ? 3 : 8 - left;
            for (int32_t m = 0; m < 4; m++) {
                float sum = bias[m];
                /* The taps of a kernel row, all channels, lie side by side in x and in weights. */
                for (int32_t ky = ky_begin; ky < ky_end; ky++) {
                    const float *pixel = x + (top + ky) * 16 + (left + kx_begin) * 2;
                    const float *tap = weights + ((m * 3 + ky) * 3 + kx_begin) * 2;
                    for (int32_t c = 0; c < (kx_end - kx_begin) * 2; c++) {
                        sum += pixel[c] * tap[c];
                    }
                }
                sum = sum < 0.0F ? 0.0F : sum;
                *y++ = sum;
            }
        }
    }
}

MCU_FUNCTION void _mcu_float_layers_avg_pool4x4_4_float32(const float *x, float *y) {
    for (int32_t c = 0; c < 4; c++) {
        float sum = 0.0F;
        for (int32_t ky = 0; ky < 4; ky++) {
            for (int32_t kx = 0; kx < 4; kx++) {
                const int32_t at = ky * 16 + kx * 4;
                sum += x[at + c];
            }
        }
        float mean = sum / 16.0F;
        *y++ = mean;
    }
}

MCU_FUNCTION void _mcu_float_layers_dense_4x3_float32(const float *x, float *y,
                                                      const float *weights, const float *bias) {
    const float *row = weights;
    for (int32_t n = 0; n < 3; n++, row += 4) {
        float sum = 0.0F;
        for (int32_t k = 0; k < 4; k++) {
            sum += x[k] * row[k];
        }
        sum += bias[n];
        *y++ = sum;
    }
}

static inline float _mcu_float_layers_exponential(float x) {
    /* Far from 0 it is the square of e^(x / 2), which ends in infinity and 0. */
    const int is_far = fabsf(x) > 87.0F;
    if (is_far) {
        x = 0.5F * (x > 174.0F ? 174.0F : x < -174.0F ? -174.0F : x);
    }
    /* e^x = 2^n e^r, with the whole number n nearest to x / ln 2: behind a sum with 1.5 * 2^23
     * there is nothing left of a fraction. ln 2 is subtracted in two parts. */
    const float moved = x * 1.44269504F + 12582912.0F;
    const float n = moved - 12582912.0F;
    const float r = x - n * 0.693359375F + n * 2.12194440e-4F;
    float power = 8.3124302e-3F;
    power = power * r + 4.1890986e-2F;
    power = power * r + 0.16667119F;
    power = power * r + 0.49999225F;
    power = power * (r * r) + r + 1.0F;
    /* The bits of `moved` end with n, those of 2^n begin with it. */
    uint32_t bits;
    memcpy(&bits, &moved, sizeof bits);
    bits = (bits - 0x4B400000U + 127U) << 23;
    float scale;
    memcpy(&scale, &bits, sizeof scale);
    power *= scale;
    return is_far ? power * power : power;
}

MCU_FUNCTION void _mcu_float_layers_softmax_3_float32(const float *x, float *y) {
    float largest = x[0];
    for (int32_t k = 1; k < 3; k++) {
        largest = x[k] > largest ? x[k] : largest;
    }
    float total = 0.0F;
    for (int32_t k = 0; k < 3; k++) {
        const float power = _mcu_float_layers_exponential(x[k] - largest);
        y[k] = power;
        total += power;
    }
    for (int32_t k = 0; k < 3; k++) {
        y[k] /= total;
    }
}

/* ---- The layers, in the order of execution ---- */

/* clang-format off */
static void _mcu_float_layers_layers(mcu_instance_t *instance) {
    uint8_t *const ws = instance->workspace;

    /* input_1_reorder: Reorder, x reordered: float32[1,2,8,8] -> float32[1,2,8,8] NHWC */
    float *const x = (float *)(ws + 256);
    float *const input_1_reorder = (float *)(ws + 0);
    MCU_LAYER(0, _mcu_float_layers_reorder_64x2_float32(x, input_1_reorder));

    /* conv_1: Conv, conv (2 nodes): float32[1,2,8,8] NHWC -> float32[1,4,4,4] NHWC; 1,152 MACs */
    float *const conv_1 = (float *)(ws + 512);
    MCU_LAYER(1, _mcu_float_layers_conv3x3_2x4_s2_float32(
        input_1_reorder, conv_1, _mcu_float_layers_conv_1_weights, _mcu_float_layers_conv_1_bias));

    /* avg_pool_1: GlobalAveragePool, pool: float32[1,4,4,4] NHWC -> float32[1,4,1,1] */
    float *const avg_pool_1 = (float *)(ws + 16);
    MCU_LAYER(2, _mcu_float_layers_avg_pool4x4_4_float32(conv_1, avg_pool_1));

    /* dense_1: Gemm, gemm: float32[1,4] -> float32[1,3]; 12 MACs */
    float *const dense_1 = (float *)(ws + 0);
    MCU_LAYER(3, _mcu_float_layers_dense_4x3_float32(
        avg_pool_1, dense_1, _mcu_float_layers_dense_1_weights, _mcu_float_layers_dense_1_bias));

    /* softmax_1: Softmax, softmax: float32[1,3] -> float32[1,3] */
    float *const softmax_1 = (float *)(ws + 0);
    MCU_LAYER(4, _mcu_float_layers_softmax_3_float32(dense_1, softmax_1));
}

/* clang-format on */

static int32_t _mcu_float_layers_run_func(void *args, void *arg_type_ids, int32_t num_args,
                                          void *out_ret_value, void *out_ret_tcode,
                                          void *resource_handle) {
    (void)out_ret_value;
    (void)out_ret_tcode;
    const mcu_model_t *const model = &_mcu_network_float_layers;
    const int32_t status =
        _mcu_run_begin(model, NULL, args, arg_type_ids, num_args, resource_handle);
    if (status != MCU_OK) {
        return status;
    }
    _mcu_float_layers_layers(resource_handle);
    return _mcu_run_end(model, NULL, args, resource_handle);
}

/* ---- The descriptor ---- */

static const int64_t _mcu_float_layers_input0_shape[4] = {1, 2, 8, 8};
static const mcu_tensor_info_t _mcu_float_layers_inputs[1] = {
    {
        .name = "x",
        .shape = _mcu_float_layers_input0_shape,
        .place = {256, 0, 512},
        .scale = 0.0F,
        .zero_point = 0,
        .ndim = 4,
        .dtype = {kDLFloat, 32, 1},
    },
};

static const int64_t _mcu_float_layers_output0_shape[2] = {1, 3};
static const mcu_tensor_info_t _mcu_float_layers_outputs[1] = {
    {
        .name = "y",
        .shape = _mcu_float_layers_output0_shape,
        .place = {0, 0, 12},
        .scale = 0.0F,
        .zero_point = 0,
        .ndim = 2,
        .dtype = {kDLFloat, 32, 1},
    },
};

/* clang-format off */
/* Where the outputs of each layer lie when it has run: offset, pool and bytes. */
static const mcu_region_t _mcu_float_layers_regions[5] = {
    {0,   0, 512}, /* 0 */
    {512, 0, 256}, /* 1 */
    {16,  0, 16},  /* 2 */
    {0,   0, 12},  /* 3 */
    {0,   0, 12},  /* 4 */
};

/* Of each layer: its first output in the table above, and how many it has. */
static const mcu_layer_info_t _mcu_float_layers_layer_infos[5] = {
    {0, 1}, {1, 1}, {2, 1}, {3, 1}, {4, 1},
};
/* clang-format on */

const mcu_model_t _mcu_network_float_layers = {
    .run_func = _mcu_float_layers_run_func,
    .num_input_tensors = 1,
    .num_output_tensors = 1,
    .abi_version = MCU_MODEL_ABI_VERSION,
    .workspace_size = MCU_FLOAT_LAYERS_WORKSPACE_SIZE,
    .workspace_alignment = MCU_FLOAT_LAYERS_WORKSPACE_ALIGNMENT,
    .num_layers = 5,
    .name = "float_layers",
    .inputs = _mcu_float_layers_inputs,
    .outputs = _mcu_float_layers_outputs,
    .layers = _mcu_float_layers_layer_infos,
    .layer_outputs = _mcu_float_layers_regions,
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
