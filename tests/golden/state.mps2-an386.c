/* network_state.c: a neural network, made by mcu-deploy.
 *
 *   source model  case, SHA-256
 *                 e563dff0d278ea91b3a38472ffd3cb9571aa3f19a22a836a26a32dec86dd03c5
 *   constants     156 bytes, as a file: SHA-256
 *                 c3ec2f7ab967e9ea3bded2e8e4d8e5f161f849d424717fadc881c56531a9992f
 *   workspace     128 bytes
 *   layers        4 with 36 multiply-accumulates
 *
 * Everything is static but the descriptor _mcu_network_state, at the end. To compile this file by
 * hand, in its folder, to the same bytes:
 *
 *   arm-none-eabi-gcc -mcpu=cortex-m4 -mthumb -mfpu=fpv4-sp-d16 -mfloat-abi=hard -std=c99 \
 *       -ffunction-sections -fdata-sections -fno-common -O2 -ffp-contract=off -fno-math-errno \
 *       -frandom-seed=state -I include -c network_state.c -o network_state.o
 *
 * The workspace: what lies where, in bytes, and from which layer to which it is needed.
 *
 *   offset  bytes    from      to  holds
 *       48     16   input       0  x
 *       96     32  always  always  ring
 *        0     48       0       2  columns
 *       48     48       1       3  columns
 *        0     12       3  output  y
 *
 * Shapes have the model's order of axes. NHWC and the like behind a shape say in which order its
 * axes lie in memory, where that is another one.
 */
#include "network_state.h"

#include "mcu/internal.h"

#include <string.h>

/* ---- Constants ---- */

/* The assembler takes the file in as it is (from another folder: with -I FOLDER). The arrays are
 * declared extern, as a static array without an initializer would be one of zeros; the names that
 * the assembler gives them are local to the object. Where there is no .incbin, and for -flto, build
 * with --weights array. */
__asm__(".pushsection .rodata._mcu_state_weights, \"a\", %progbits\n"
        ".balign 16\n"
        ".type _mcu_state_weights, %object\n"
        ".size _mcu_state_weights, 156\n"
        "_mcu_state_weights:\n"
        ".incbin \"network_state.weights.bin\"\n"
        ".popsection");
/* clang-format off */
#define MCU_CONSTANT(name, type, elements, offset, bytes)        \
    extern const type name[elements];                            \
    __asm__(".set " #name ", _mcu_state_weights + " #offset "\n" \
            ".type " #name ", %object\n"                         \
            ".size " #name ", " #bytes)
MCU_CONSTANT(_mcu_state_conv_1_weights, float, 36,   0, 144);
MCU_CONSTANT(_mcu_state_conv_1_bias,    float,  3, 144,  12);
#undef MCU_CONSTANT
/* clang-format on */

/* ---- Kernels ---- */

MCU_FUNCTION void _mcu_state_concat_4x3_float32(const float *x0, const float *x1, float *y) {
    for (int32_t i = 0; i < 4; i++) {
        memcpy(y, x0 + i * 2, 8);
        y += 2;
        memcpy(y, x1 + i, 4);
        y += 1;
    }
}

MCU_FUNCTION void _mcu_state_reorder_3x4_float32(const float *x, float *y) {
    for (int32_t i0 = 0; i0 < 3; i0++) {
        for (int32_t i1 = 0; i1 < 4; i1++) {
            *y++ = x[i0 + i1 * 3];
        }
    }
}

MCU_FUNCTION void _mcu_state_slice_4x2_float32(const float *x, float *y) {
    for (int32_t i0 = 0; i0 < 4; i0++) {
        for (int32_t i1 = 0; i1 < 2; i1++) {
            *y++ = x[i0 * 3 + i1 + 1];
        }
    }
}

MCU_FUNCTION void _mcu_state_conv1x3_4x3_float32(const float *x, float *y, const float *weights,
                                                 const float *bias) {
    for (int32_t m = 0; m < 3; m++) {
        float sum = bias[m];
        /* The taps of a kernel row, all channels, lie side by side in x and in weights. */
        const float *pixel = x;
        const float *tap = weights + m * 12;
        for (int32_t c = 0; c < 12; c++) {
            sum += pixel[c] * tap[c];
        }
        *y++ = sum;
    }
}

/* ---- The layers, in the order of execution ---- */

/* clang-format off */
static void _mcu_state_layers(mcu_instance_t *instance) {
    uint8_t *const ws = instance->workspace;

    /* concat_1: Concat, Concat_0: float32[1,4,1,2], float32[1,4,1,1] -> float32[1,4,1,3] */
    float *const ring = (float *)(ws + 96);
    float *const x = (float *)(ws + 48);
    float *const concat_1 = (float *)(ws + 0);
    MCU_LAYER(0, _mcu_state_concat_4x3_float32(ring, x, concat_1));

    /* concat_1_reorder: Reorder, columns reordered: float32[1,4,1,3] -> float32[1,4,1,3] NHWC */
    float *const concat_1_reorder = (float *)(ws + 48);
    MCU_LAYER(1, _mcu_state_reorder_3x4_float32(concat_1, concat_1_reorder));

    /* slice_1: Slice, Slice_2: float32[1,4,1,3] -> float32[1,4,1,2] */
    float *const slice_1 = (float *)(ws + 96);
    MCU_LAYER(2, _mcu_state_slice_4x2_float32(concat_1, slice_1));

    /* conv_1: Conv, Conv_1: float32[1,4,1,3] NHWC -> float32[1,3,1,1]; 36 MACs */
    float *const conv_1 = (float *)(ws + 0);
    MCU_LAYER(3, _mcu_state_conv1x3_4x3_float32(concat_1_reorder, conv_1, _mcu_state_conv_1_weights,
                                                _mcu_state_conv_1_bias));
}

/* clang-format on */

static int32_t _mcu_state_run_func(void *args, void *arg_type_ids, int32_t num_args,
                                   void *out_ret_value, void *out_ret_tcode,
                                   void *resource_handle) {
    (void)out_ret_value;
    (void)out_ret_tcode;
    const mcu_model_t *const model = &_mcu_network_state;
    const int32_t status =
        _mcu_run_begin(model, NULL, args, arg_type_ids, num_args, resource_handle);
    if (status != MCU_OK) {
        return status;
    }
    _mcu_state_layers(resource_handle);
    return _mcu_run_end(model, NULL, args, resource_handle);
}

/* ---- The descriptor ---- */

static const int64_t _mcu_state_input0_shape[4] = {1, 4, 1, 1};
static const mcu_tensor_info_t _mcu_state_inputs[1] = {
    {
        .name = "x",
        .shape = _mcu_state_input0_shape,
        .place = {48, 0, 16},
        .scale = 0.0F,
        .zero_point = 0,
        .ndim = 4,
        .dtype = {kDLFloat, 32, 1},
    },
};

static const int64_t _mcu_state_output0_shape[4] = {1, 3, 1, 1};
static const mcu_tensor_info_t _mcu_state_outputs[1] = {
    {
        .name = "y",
        .shape = _mcu_state_output0_shape,
        .place = {0, 0, 12},
        .scale = 0.0F,
        .zero_point = 0,
        .ndim = 4,
        .dtype = {kDLFloat, 32, 1},
    },
};

static const int64_t _mcu_state_state0_shape[4] = {1, 4, 1, 2};
static const mcu_state_info_t _mcu_state_states[1] = {
    {
        .tensor =
            {
                .name = "ring",
                .shape = _mcu_state_state0_shape,
                .place = {96, 0, 32},
                .scale = 0.0F,
                .zero_point = 0,
                .ndim = 4,
                .dtype = {kDLFloat, 32, 1},
            },
        .initial = NULL,
    },
};

/* clang-format off */
/* Where the outputs of each layer lie when it has run: offset, pool and bytes. */
static const mcu_region_t _mcu_state_regions[4] = {
    {0,  0, 48}, /* 0 */
    {48, 0, 48}, /* 1 */
    {96, 0, 32}, /* 2 */
    {0,  0, 12}, /* 3 */
};

/* Of each layer: its first output in the table above, and how many it has. */
static const mcu_layer_info_t _mcu_state_layer_infos[4] = {
    {0, 1}, {1, 1}, {2, 1}, {3, 1},
};
/* clang-format on */

const mcu_model_t _mcu_network_state = {
    .run_func = _mcu_state_run_func,
    .num_input_tensors = 1,
    .num_output_tensors = 1,
    .abi_version = MCU_MODEL_ABI_VERSION,
    .workspace_size = MCU_STATE_WORKSPACE_SIZE,
    .workspace_alignment = MCU_STATE_WORKSPACE_ALIGNMENT,
    .num_layers = 4,
    .name = "state",
    .inputs = _mcu_state_inputs,
    .outputs = _mcu_state_outputs,
    .layers = _mcu_state_layer_infos,
    .layer_outputs = _mcu_state_regions,
    .extra_pools = NULL,
    .partitions = NULL,
    .kept = NULL,
    .states = _mcu_state_states,
    .num_extra_pools = 0,
    .num_partitions = 0,
    .num_kept = 0,
    .num_states = 1,
    .private_place = {0, 0, 0},
    .pointers = {0, 0, 0},
    .hot = NULL,
    .num_hot = 0,
    .release_func = NULL,
};
