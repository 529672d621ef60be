/* network_kws.c: a neural network, made by mcu-deploy.
 *
 *   source model  tf2onnx, SHA-256
 *                 18e6f75aa296fec34e4ffda557340f23ab4d1a31057be47438f78b921c7cc534
 *   constants     27,156 bytes, as a file: SHA-256
 *                 80307df4829d918c8bbd37a70cb5b4ad974a2e7d4f6dda320c633e94ad086ec5
 *   workspace     9,792 bytes
 *   layers        12 with 2,656,768 multiply-accumulates
 *
 * Everything is static but the descriptor _mcu_network_kws, at the end. To compile this file by
 * hand, in its folder, to the same bytes:
 *
 *   gcc -fno-pie -no-pie -std=c99 -ffunction-sections -fdata-sections -fno-common \
 *       -fno-stack-protector -U_FORTIFY_SOURCE -O2 -ffp-contract=off -fno-math-errno \
 *       -frandom-seed=kws -I include -c network_kws.c -o network_kws.o
 *
 * The workspace: what lies where, in bytes, and from which layer to which it is needed.
 *
 *   offset  bytes   from      to  holds
 *        0    490  input       0  input_1
 *     1792   8000      0       1  functional_1/activation/Relu;...
 *     1408   8000      1       2  functional_1/activation_1/Relu;...
 *     1344   8000      2       3  functional_1/activation_2/Relu;...
 *      960   8000      3       4  functional_1/activation_3/Relu;...
 *      896   8000      4       5  functional_1/activation_4/Relu;...
 *      512   8000      5       6  functional_1/activation_5/Relu;...
 *      448   8000      6       7  functional_1/activation_6/Relu;...
 *       64   8000      7       8  functional_1/activation_7/Relu;...
 *        0   8000      8       9  functional_1/activation_8/Relu;...
 *        0     64      9      10  functional_1/average_pooling2d/AvgPool
 *       64     12     10  output  functional_1/dense/BiasAdd
 *
 * Shapes have the model's order of axes. NHWC and the like behind a shape say in which order its
 * axes lie in memory, where that is another one.
 */
#include "network_kws.h"

#include "mcu/internal.h"

/* ---- Constants ---- */

/* The assembler takes the file in as it is (from another folder: with -I FOLDER). The arrays are
 * declared extern, as a static array without an initializer would be one of zeros; the names that
 * the assembler gives them are local to the object. Where there is no .incbin, and for -flto, build
 * with --weights array. */
__asm__(".pushsection .rodata._mcu_kws_weights, \"a\", %progbits\n"
        ".balign 16\n"
        ".type _mcu_kws_weights, %object\n"
        ".size _mcu_kws_weights, 27156\n"
        "_mcu_kws_weights:\n"
        ".incbin \"network_kws.weights.bin\"\n"
        ".popsection");
/* clang-format off */
#define MCU_CONSTANT(name, type, elements, offset, bytes)      \
    extern const type name[elements];                          \
    __asm__(".set " #name ", _mcu_kws_weights + " #offset "\n" \
            ".type " #name ", %object\n"                       \
            ".size " #name ", " #bytes)
MCU_CONSTANT(_mcu_kws_conv_1_weights,        int8_t,   2560,     0, 2560);
MCU_CONSTANT(_mcu_kws_conv_1_bias,           int32_t,    64,  2560,  256);
MCU_CONSTANT(_mcu_kws_conv_1_factor,         float,      64,  2816,  256);
MCU_CONSTANT(_mcu_kws_depthwise_1_weights,   int8_t,    576,  3072,  576);
MCU_CONSTANT(_mcu_kws_depthwise_1_bias,      int32_t,    64,  3648,  256);
MCU_CONSTANT(_mcu_kws_depthwise_1_factor,    float,      64,  3904,  256);
MCU_CONSTANT(_mcu_kws_conv_2_weights,        int8_t,   4096,  4160, 4096);
MCU_CONSTANT(_mcu_kws_conv_2_bias,           int32_t,    64,  8256,  256);
MCU_CONSTANT(_mcu_kws_conv_2_factor,         float,      64,  8512,  256);
MCU_CONSTANT(_mcu_kws_depthwise_2_weights,   int8_t,    576,  8768,  576);
MCU_CONSTANT(_mcu_kws_depthwise_2_bias,      int32_t,    64,  9344,  256);
MCU_CONSTANT(_mcu_kws_depthwise_2_factor,    float,      64,  9600,  256);
MCU_CONSTANT(_mcu_kws_conv_3_weights,        int8_t,   4096,  9856, 4096);
MCU_CONSTANT(_mcu_kws_conv_3_bias,           int32_t,    64, 13952,  256);
MCU_CONSTANT(_mcu_kws_conv_3_factor,         float,      64, 14208,  256);
MCU_CONSTANT(_mcu_kws_depthwise_3_weights,   int8_t,    576, 14464,  576);
MCU_CONSTANT(_mcu_kws_depthwise_3_bias,      int32_t,    64, 15040,  256);
MCU_CONSTANT(_mcu_kws_depthwise_3_factor,    float,      64, 15296,  256);
MCU_CONSTANT(_mcu_kws_conv_4_weights,        int8_t,   4096, 15552, 4096);
MCU_CONSTANT(_mcu_kws_conv_4_bias,           int32_t,    64, 19648,  256);
MCU_CONSTANT(_mcu_kws_conv_4_factor,         float,      64, 19904,  256);
MCU_CONSTANT(_mcu_kws_depthwise_4_weights,   int8_t,    576, 20160,  576);
MCU_CONSTANT(_mcu_kws_depthwise_4_bias,      int32_t,    64, 20736,  256);
MCU_CONSTANT(_mcu_kws_depthwise_4_factor,    float,      64, 20992,  256);
MCU_CONSTANT(_mcu_kws_conv_5_weights,        int8_t,   4096, 21248, 4096);
MCU_CONSTANT(_mcu_kws_conv_5_bias,           int32_t,    64, 25344,  256);
MCU_CONSTANT(_mcu_kws_conv_5_factor,         float,      64, 25600,  256);
MCU_CONSTANT(_mcu_kws_dense_1_weights,       int8_t,    768, 25856,  768);
MCU_CONSTANT(_mcu_kws_dense_1_bias,          int32_t,    12, 26624,   48);
MCU_CONSTANT(_mcu_kws_dense_1_factor,        float,       1, 26672,    4);
MCU_CONSTANT(_mcu_kws_softmax_1_exponential, uint32_t,  120, 26676,  480);
#undef MCU_CONSTANT
/* clang-format on */

/* ---- Kernels ---- */

static inline int32_t _mcu_kws_quantize(float value, float low, float high) {
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

MCU_FUNCTION void _mcu_kws_conv10x4_1x64_s2_int8(const int8_t *x, int8_t *y, const int8_t *weights,
                                                 const int32_t *bias, const float *factor) {
    for (int32_t oy = 0; oy < 25; oy++) {
        const int32_t top = oy * 2 - 4;
        const int32_t ky_begin = top < 0 ? -top : 0;
        const int32_t ky_end = top < 40 ? 10 : 49 - top;
        for (int32_t ox = 0; ox < 5; ox++) {
            const int32_t left = ox * 2 - 1;
            const int32_t kx_begin = left < 0 ? -left : 0;
            const int32_t kx_end = left < 7 ? 4 : 10 - left;
            for (int32_t m = 0; m < 64; m++) {
                int32_t sum = bias[m];
                /* The taps of a kernel row, all channels, lie side by side in x and in weights. */
                for (int32_t ky = ky_begin; ky < ky_end; ky++) {
                    const int8_t *pixel = x + (top + ky) * 10 + left + kx_begin;
                    const int8_t *tap = weights + (m * 10 + ky) * 4 + kx_begin;
                    for (int32_t c = 0; c < kx_end - kx_begin; c++) {
                        sum += (pixel[c] - 83) * tap[c];
                    }
                }
                const float scaled = (float)sum * factor[m];
                *y++ = (int8_t)(_mcu_kws_quantize(scaled, 0.0F, 255.0F) - 128);
            }
        }
    }
}

MCU_FUNCTION void _mcu_kws_depthwise3x3_64_int8(const int8_t *x, int8_t *y, const int8_t *weights,
                                                const int32_t *bias, const float *factor) {
    for (int32_t oy = 0; oy < 25; oy++) {
        const int32_t top = oy - 1;
        const int32_t ky_begin = top < 0 ? -top : 0;
        const int32_t ky_end = top < 23 ? 3 : 25 - top;
        for (int32_t ox = 0; ox < 5; ox++) {
            const int32_t left = ox - 1;
            const int32_t kx_begin = left < 0 ? -left : 0;
            const int32_t kx_end = left < 3 ? 3 : 5 - left;
            for (int32_t m = 0; m < 64; m++) {
                int32_t sum = bias[m];
                for (int32_t ky = ky_begin; ky < ky_end; ky++) {
                    const int32_t at = (top + ky) * 320 + left * 64 + m;
                    const int8_t *tap = weights + ky * 192 + m;
                    for (int32_t kx = kx_begin; kx < kx_end; kx++) {
                        sum += (x[at + kx * 64] + 128) * tap[kx * 64];
                    }
                }
                const float scaled = (float)sum * factor[m];
                *y++ = (int8_t)(_mcu_kws_quantize(scaled, 0.0F, 255.0F) - 128);
            }
        }
    }
}

MCU_FUNCTION void _mcu_kws_conv1x1_64x64_int8(const int8_t *x, int8_t *y, const int8_t *weights,
                                              const int32_t *bias, const float *factor) {
    for (int32_t r = 0; r < 125; r++, x += 64) {
        const int8_t *row = weights;
        for (int32_t n = 0; n < 64; n++, row += 64) {
            int32_t sum = bias[n];
            for (int32_t k = 0; k < 64; k++) {
                sum += x[k] * row[k];
            }
            const float scaled = (float)sum * factor[n];
            *y++ = (int8_t)(_mcu_kws_quantize(scaled, 0.0F, 255.0F) - 128);
        }
    }
}

MCU_FUNCTION void _mcu_kws_avg_pool25x5_64_int8(const int8_t *x, int8_t *y) {
    for (int32_t c = 0; c < 64; c++) {
        float sum = 0.0F;
        for (int32_t ky = 0; ky < 25; ky++) {
            for (int32_t kx = 0; kx < 5; kx++) {
                const int32_t at = ky * 320 + kx * 64;
                sum += (float)(x[at + c] + 128) * 0.08023616F;
            }
        }
        float mean = sum / 125.0F;
        mean = mean / 0.08023616F;
        *y++ = (int8_t)(_mcu_kws_quantize(mean, 0.0F, 255.0F) - 128);
    }
}

MCU_FUNCTION void _mcu_kws_dense_64x12_int8(const int8_t *x, int8_t *y, const int8_t *weights,
                                            const int32_t *bias, const float *factor) {
    const int8_t *row = weights;
    for (int32_t n = 0; n < 12; n++, row += 64) {
        int32_t sum = bias[n];
        for (int32_t k = 0; k < 64; k++) {
            sum += x[k] * row[k];
        }
        const float scaled = (float)sum * factor[0];
        *y++ = (int8_t)(_mcu_kws_quantize(scaled, -142.0F, 113.0F) + 14);
    }
}

MCU_FUNCTION void _mcu_kws_softmax_12_int8(const int8_t *x, int8_t *y,
                                           const uint32_t *exponential) {
    int8_t largest = x[0];
    for (int32_t k = 1; k < 12; k++) {
        largest = x[k] > largest ? x[k] : largest;
    }
    uint32_t total = 0; /* the table's scale leaves room for every term */
    for (int32_t k = 0; k < 12; k++) {
        const int32_t below = largest - x[k];
        total += below < 120 ? exponential[below] : 0U;
    }
    for (int32_t k = 0; k < 12; k++) {
        const int32_t below = largest - x[k];
        const uint32_t term = below < 120 ? exponential[below] : 0U;
        const float scaled = (float)term / (float)total / 0.00390625F;
        y[k] = (int8_t)(_mcu_kws_quantize(scaled, 0.0F, 255.0F) - 128);
    }
}

/* ---- The layers, in the order of execution ---- */

/* clang-format off */
static void _mcu_kws_layers(mcu_instance_t *instance) {
    uint8_t *const ws = instance->workspace;

    /* conv_1: Conv, functional_1/activation/Relu;... (6 nodes):
     * int8[1,1,49,10] -> int8[1,64,25,5] NHWC; 320,000 MACs */
    int8_t *const input_1 = (int8_t *)(ws + 0);
    int8_t *const conv_1 = (int8_t *)(ws + 1792);
    MCU_LAYER(0, _mcu_kws_conv10x4_1x64_s2_int8(input_1, conv_1, _mcu_kws_conv_1_weights,
                                                _mcu_kws_conv_1_bias, _mcu_kws_conv_1_factor));

    /* depthwise_1: Conv, functional_1/activation_1/Relu;... (6 nodes):
     * int8[1,64,25,5] NHWC -> int8[1,64,25,5] NHWC; 72,000 MACs */
    int8_t *const depthwise_1 = (int8_t *)(ws + 1408);
    MCU_LAYER(1, _mcu_kws_depthwise3x3_64_int8(conv_1, depthwise_1, _mcu_kws_depthwise_1_weights,
                                               _mcu_kws_depthwise_1_bias,
                                               _mcu_kws_depthwise_1_factor));

    /* conv_2: Conv, functional_1/activation_2/Relu;... (6 nodes):
     * int8[1,64,25,5] NHWC -> int8[1,64,25,5] NHWC; 512,000 MACs */
    int8_t *const conv_2 = (int8_t *)(ws + 1344);
    MCU_LAYER(2, _mcu_kws_conv1x1_64x64_int8(depthwise_1, conv_2, _mcu_kws_conv_2_weights,
                                             _mcu_kws_conv_2_bias, _mcu_kws_conv_2_factor));

    /* depthwise_2: Conv, functional_1/activation_3/Relu;... (6 nodes):
     * int8[1,64,25,5] NHWC -> int8[1,64,25,5] NHWC; 72,000 MACs */
    int8_t *const depthwise_2 = (int8_t *)(ws + 960);
    MCU_LAYER(3, _mcu_kws_depthwise3x3_64_int8(conv_2, depthwise_2, _mcu_kws_depthwise_2_weights,
                                               _mcu_kws_depthwise_2_bias,
                                               _mcu_kws_depthwise_2_factor));

    /* conv_3: Conv, functional_1/activation_4/Relu;... (6 nodes):
     * int8[1,64,25,5] NHWC -> int8[1,64,25,5] NHWC; 512,000 MACs */
    int8_t *const conv_3 = (int8_t *)(ws + 896);
    MCU_LAYER(4, _mcu_kws_conv1x1_64x64_int8(depthwise_2, conv_3, _mcu_kws_conv_3_weights,
                                             _mcu_kws_conv_3_bias, _mcu_kws_conv_3_factor));

    /* depthwise_3: Conv, functional_1/activation_5/Relu;... (6 nodes):
     * int8[1,64,25,5] NHWC -> int8[1,64,25,5] NHWC; 72,000 MACs */
    int8_t *const depthwise_3 = (int8_t *)(ws + 512);
    MCU_LAYER(5, _mcu_kws_depthwise3x3_64_int8(conv_3, depthwise_3, _mcu_kws_depthwise_3_weights,
                                               _mcu_kws_depthwise_3_bias,
                                               _mcu_kws_depthwise_3_factor));

    /* conv_4: Conv, functional_1/activation_6/Relu;... (6 nodes):
     * int8[1,64,25,5] NHWC -> int8[1,64,25,5] NHWC; 512,000 MACs */
    int8_t *const conv_4 = (int8_t *)(ws + 448);
    MCU_LAYER(6, _mcu_kws_conv1x1_64x64_int8(depthwise_3, conv_4, _mcu_kws_conv_4_weights,
                                             _mcu_kws_conv_4_bias, _mcu_kws_conv_4_factor));

    /* depthwise_4: Conv, functional_1/activation_7/Relu;... (6 nodes):
     * int8[1,64,25,5] NHWC -> int8[1,64,25,5] NHWC; 72,000 MACs */
    int8_t *const depthwise_4 = (int8_t *)(ws + 64);
    MCU_LAYER(7, _mcu_kws_depthwise3x3_64_int8(conv_4, depthwise_4, _mcu_kws_depthwise_4_weights,
                                               _mcu_kws_depthwise_4_bias,
                                               _mcu_kws_depthwise_4_factor));

    /* conv_5: Conv, functional_1/activation_8/Relu;... (6 nodes):
     * int8[1,64,25,5] NHWC -> int8[1,64,25,5] NHWC; 512,000 MACs */
    int8_t *const conv_5 = (int8_t *)(ws + 0);
    MCU_LAYER(8, _mcu_kws_conv1x1_64x64_int8(depthwise_4, conv_5, _mcu_kws_conv_5_weights,
                                             _mcu_kws_conv_5_bias, _mcu_kws_conv_5_factor));

    /* avg_pool_1: AveragePool, functional_1/average_pooling2d/AvgPool_prequant (3 nodes):
     * int8[1,64,25,5] NHWC -> int8[1,64,1,1] */
    int8_t *const avg_pool_1 = (int8_t *)(ws + 0);
    MCU_LAYER(9, _mcu_kws_avg_pool25x5_64_int8(conv_5, avg_pool_1));

    /* dense_1: Gemm, functional_1/dense/BiasAdd_prequant (6 nodes):
     * int8[1,64] -> int8[1,12]; 768 MACs */
    int8_t *const dense_1 = (int8_t *)(ws + 64);
    MCU_LAYER(10, _mcu_kws_dense_64x12_int8(avg_pool_1, dense_1, _mcu_kws_dense_1_weights,
                                            _mcu_kws_dense_1_bias, _mcu_kws_dense_1_factor));

    /* softmax_1: Softmax, Identity_prequant (3 nodes): int8[1,12] -> int8[1,12] */
    int8_t *const softmax_1 = (int8_t *)(ws + 64);
    MCU_LAYER(11, _mcu_kws_softmax_12_int8(dense_1, softmax_1, _mcu_kws_softmax_1_exponential));
}

/* clang-format on */

static int32_t _mcu_kws_run_func(void *args, void *arg_type_ids, int32_t num_args,
                                 void *out_ret_value, void *out_ret_tcode, void *resource_handle) {
    (void)out_ret_value;
    (void)out_ret_tcode;
    const mcu_model_t *const model = &_mcu_network_kws;
    const int32_t status =
        _mcu_run_begin(model, NULL, args, arg_type_ids, num_args, resource_handle);
    if (status != MCU_OK) {
        return status;
    }
    _mcu_kws_layers(resource_handle);
    return _mcu_run_end(model, NULL, args, resource_handle);
}

/* ---- The descriptor ---- */

static const int64_t _mcu_kws_input0_shape[4] = {1, 49, 10, 1};
static const mcu_tensor_info_t _mcu_kws_inputs[1] = {
    {
        .name = "input_1",
        .shape = _mcu_kws_input0_shape,
        .place = {0, 0, 490},
        .scale = 5.847029e-1F,
        .zero_point = 83,
        .ndim = 4,
        .dtype = {kDLInt, 8, 1},
    },
};

static const int64_t _mcu_kws_output0_shape[2] = {1, 12};
static const mcu_tensor_info_t _mcu_kws_outputs[1] = {
    {
        .name = "Identity",
        .shape = _mcu_kws_output0_shape,
        .place = {64, 0, 12},
        .scale = 3.90625e-3F,
        .zero_point = -128,
        .ndim = 2,
        .dtype = {kDLInt, 8, 1},
    },
};

/* clang-format off */
/* Where the outputs of each layer lie when it has run: offset, pool and bytes. */
static const mcu_region_t _mcu_kws_regions[12] = {
    {1792, 0, 8000}, /* 0 */
    {1408, 0, 8000}, /* 1 */
    {1344, 0, 8000}, /* 2 */
    {960,  0, 8000}, /* 3 */
    {896,  0, 8000}, /* 4 */
    {512,  0, 8000}, /* 5 */
    {448,  0, 8000}, /* 6 */
    {64,   0, 8000}, /* 7 */
    {0,    0, 8000}, /* 8 */
    {0,    0, 64},   /* 9 */
    {64,   0, 12},   /* 10 */
    {64,   0, 12},   /* 11 */
};

/* Of each layer: its first output in the table above, and how many it has. */
static const mcu_layer_info_t _mcu_kws_layer_infos[12] = {
    {0, 1}, {1, 1}, {2, 1}, {3, 1}, {4, 1}, {5, 1}, {6, 1}, {7, 1}, {8, 1}, {9, 1}, {10, 1},
    {11, 1},
};
/* clang-format on */

const mcu_model_t _mcu_network_kws = {
    .run_func = _mcu_kws_run_func,
    .num_input_tensors = 1,
    .num_output_tensors = 1,
    .abi_version = MCU_MODEL_ABI_VERSION,
    .workspace_size = MCU_KWS_WORKSPACE_SIZE,
    .workspace_alignment = MCU_KWS_WORKSPACE_ALIGNMENT,
    .num_layers = 12,
    .name = "kws",
    .inputs = _mcu_kws_inputs,
    .outputs = _mcu_kws_outputs,
    .layers = _mcu_kws_layer_infos,
    .layer_outputs = _mcu_kws_regions,
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
