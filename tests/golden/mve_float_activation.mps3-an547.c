/* network_mve_float_activation.c: a neural network, made by mcu-deploy.
 *
 *   source model  floats, SHA-256
 *                 37904390ad470fda67331b3d77db42a8a442997d2db8580052371720135a6faa
 *   workspace     608 bytes
 *   layers        1 with 0 multiply-accumulates
 *
 * Everything is static but the descriptor _mcu_network_mve_float_activation, at the end. To compile
 * this file by hand, in its folder, to the same bytes:
 *
 *   arm-none-eabi-gcc -mcpu=cortex-m55 -mthumb -mfpu=auto -mfloat-abi=hard -std=c99 \
 *       -ffunction-sections -fdata-sections -fno-common -O2 -ffp-contract=off -fno-math-errno \
 *       -frandom-seed=mve_float_activation -I include -c network_mve_float_activation.c -o \
 *       network_mve_float_activation.o
 *
 * The workspace: what lies where, in bytes, and from which layer to which it is needed.
 *
 *   offset  bytes   from      to  holds
 *        0    600  input  output  x
 *
 * Shapes have the model's order of axes. NHWC and the like behind a shape say in which order its
 * axes lie in memory, where that is another one.
 */
#include "network_mve_float_activation.h"

#include "mcu/internal.h"

/* ---- Kernels ---- */

/* Those in assembly are one string each, some longer than C99 wants compilers to take. */
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Woverlength-strings"
#endif

/* y[n] = x[n] * clamp(x[n] / 6 + 0.5), from 0 to 1, float32; NaN stays. y may lie on x. */
MCU_KERNEL void _mcu_mve_float_activation_hardswish_f32_mve(const float *x MCU_UNUSED,
                                                            float *y MCU_UNUSED,
                                                            uint32_t elements MCU_UNUSED) {
    /* clang-format off */
    __asm__(".syntax unified\n"
            "    push {r4, r5, lr}\n"
            "    movw r3, #43691\n"                 /* factor, #43691 */
            "    movt r3, #15914\n"                 /* factor, #15914 */
            "    movw r4, #0\n"                     /* addend, #0 */
            "    movt r4, #16128\n"                 /* addend, #16128 */
            "    lsrs r5, r2, #4\n"                 /* rounds, elements, #4 */
            "    beq 1f\n"
            "    dls lr, r5\n"                      /* rounds_left, rounds */
            "3:\n"
            "    vldrw.u32 q0, [r0], #16\n"         /* x0, [x], #16 */
            "    vmul.f32 q1, q0, r3\n"             /* free0, x0, factor */
            "    vmov.i32 q2, #0\n"                 /* bound, #0 */
            "    vadd.f32 q1, q1, r4\n"             /* free0, free0, addend */
            "    movw r5, #0\n"                     /* number, #0 */
            "    vmax.s32 q1, q1, q2\n"             /* free0, free0, bound */
            "    movt r5, #16256\n"                 /* number, #16256 */
            "    vcmp.f32 gt, q1, r5\n"             /* gt, free0, number */
            "    vmov.i32 q2, #0\n"                 /* bound, #0 */
            "    vpst\n"
            "    vdupt.32 q1, r5\n"                 /* free0, number */
            "    vmul.f32 q0, q0, q1\n"             /* x0, x0, free0 */
            "    vldrw.u32 q1, [r0], #16\n"         /* x1, [x], #16 */
            "    movw r5, #0\n"                     /* number, #0 */
            "    vstrw.32 q0, [r1], #16\n"          /* x0, [y], #16 */
            "    vmul.f32 q0, q1, r3\n"             /* free1, x1, factor */
            "    movt r5, #16256\n"                 /* number, #16256 */
            "    vadd.f32 q0, q0, r4\n"             /* free1, free1, addend */
            "    vldrw.u32 q3, [r0], #16\n"         /* x2, [x], #16 */
            "    vmax.s32 q0, q0, q2\n"             /* free1, free1, bound */
            "    vcmp.f32 gt, q0, r5\n"             /* gt, free1, number */
            "    vmov.i32 q2, #0\n"                 /* bound, #0 */
            "    vpst\n"
            "    vdupt.32 q0, r5\n"                 /* free1, number */
            "    vmul.f32 q1, q1, q0\n"             /* x1, x1, free1 */
            "    movw r5, #0\n"                     /* number, #0 */
            "    vmul.f32 q0, q3, r3\n"             /* free2, x2, factor */
            "    movt r5, #16256\n"                 /* number, #16256 */
            "    vadd.f32 q0, q0, r4\n"             /* free2, free2, addend */
            "    vstrw.32 q1, [r1], #16\n"          /* x1, [y], #16 */
            "    vmax.s32 q0, q0, q2\n"             /* free2, free2, bound */
            "    vcmp.f32 gt, q0, r5\n"             /* gt, free2, number */
            "    vmov.i32 q2, #0\n"                 /* bound, #0 */
            "    vpst\n"
            "    vdupt.32 q0, r5\n"                 /* free2, number */
            "    vmul.f32 q3, q3, q0\n"             /* x2, x2, free2 */
            "    vldrw.u32 q0, [r0], #16\n"         /* x0, [x], #16 */
            "    vmul.f32 q1, q0, r3\n"             /* free0, x0, factor */
            "    movw r5, #0\n"                     /* number, #0 */
            "    vadd.f32 q1, q1, r4\n"             /* free0, free0, addend */
            "    movt r5, #16256\n"                 /* number, #16256 */
            "    vmax.s32 q1, q1, q2\n"             /* free0, free0, bound */
            "    vcmp.f32 gt, q1, r5\n"             /* gt, free0, number */
            "    vstrw.32 q3, [r1], #16\n"          /* x2, [y], #16 */
            "    vpst\n"
            "    vdupt.32 q1, r5\n"                 /* free0, number */
            "    vmul.f32 q0, q0, q1\n"             /* x0, x0, free0 */
            "    vstrw.32 q0, [r1], #16\n"          /* x0, [y], #16 */
            "    le lr, 3b\n"                       /* rounds_left, 3 */
            "1:\n"
            "    ands r2, r2, #15\n"                /* elements, elements, #15 */
            "    beq 2f\n"
            "    dlstp.32 lr, r2\n"                 /* rounds_left, elements */
            "4:\n"
            "    vldrw.u32 q0, [r0], #16\n"         /* x0, [x], #16 */
            "    vmul.f32 q1, q0, r3\n"             /* free0, x0, factor */
            "    vmov.i32 q2, #0\n"                 /* bound, #0 */
            "    vadd.f32 q1, q1, r4\n"             /* free0, free0, addend */
            "    movw r5, #0\n"                     /* number, #0 */
            "    vmax.s32 q1, q1, q2\n"             /* free0, free0, bound */
            "    movt r5, #16256\n"                 /* number, #16256 */
            "    vcmp.f32 gt, q1, r5\n"             /* gt, free0, number */
            "    vpst\n"
            "    vdupt.32 q1, r5\n"                 /* free0, number */
            "    vmul.f32 q0, q0, q1\n"             /* x0, x0, free0 */
            "    vstrw.32 q0, [r1], #16\n"          /* x0, [y], #16 */
            "    letp lr, 4b\n"                     /* rounds_left, 4 */
            "2:\n"
            "    pop {r4, r5, pc}\n");
    /* clang-format on */
}

/* ---- The layers, in the order of execution ---- */

/* clang-format off */
static void _mcu_mve_float_activation_layers(mcu_instance_t *instance) {
    uint8_t *const ws = instance->workspace;

    /* hard_swish_1: HardSwish, layer0: float32[1,6,5,5] -> float32[1,6,5,5] */
    float *const x = (float *)(ws + 0);
    float *const hard_swish_1 = (float *)(ws + 0);
    MCU_LAYER(0, _mcu_mve_float_activation_hardswish_f32_mve(x, hard_swish_1, 150U));
}

/* clang-format on */

static int32_t _mcu_mve_float_activation_run_func(void *args, void *arg_type_ids, int32_t num_args,
                                                  void *out_ret_value, void *out_ret_tcode,
                                                  void *resource_handle) {
    (void)out_ret_value;
    (void)out_ret_tcode;
    const mcu_model_t *const model = &_mcu_network_mve_float_activation;
    const int32_t status =
        _mcu_run_begin(model, NULL, args, arg_type_ids, num_args, resource_handle);
    if (status != MCU_OK) {
        return status;
    }
    _mcu_mve_float_activation_layers(resource_handle);
    return _mcu_run_end(model, NULL, args, resource_handle);
}

/* ---- The descriptor ---- */

static const int64_t _mcu_mve_float_activation_input0_shape[1] = {150};
static const mcu_tensor_info_t _mcu_mve_float_activation_inputs[1] = {
    {
        .name = "x",
        .shape = _mcu_mve_float_activation_input0_shape,
        .place = {0, 0, 600},
        .scale = 0.0F,
        .zero_point = 0,
        .ndim = 1,
        .dtype = {kDLFloat, 32, 1},
    },
};

static const int64_t _mcu_mve_float_activation_output0_shape[1] = {150};
static const mcu_tensor_info_t _mcu_mve_float_activation_outputs[1] = {
    {
        .name = "y",
        .shape = _mcu_mve_float_activation_output0_shape,
        .place = {0, 0, 600},
        .scale = 0.0F,
        .zero_point = 0,
        .ndim = 1,
        .dtype = {kDLFloat, 32, 1},
    },
};

/* clang-format off */
/* Where the outputs of each layer lie when it has run: offset, pool and bytes. */
static const mcu_region_t _mcu_mve_float_activation_regions[1] = {
    {0, 0, 600}, /* 0 */
};

/* Of each layer: its first output in the table above, and how many it has. */
static const mcu_layer_info_t _mcu_mve_float_activation_layer_infos[1] = {
    {0, 1},
};
/* clang-format on */

const mcu_model_t _mcu_network_mve_float_activation = {
    .run_func = _mcu_mve_float_activation_run_func,
    .num_input_tensors = 1,
    .num_output_tensors = 1,
    .abi_version = MCU_MODEL_ABI_VERSION,
    .workspace_size = MCU_MVE_FLOAT_ACTIVATION_WORKSPACE_SIZE,
    .workspace_alignment = MCU_MVE_FLOAT_ACTIVATION_WORKSPACE_ALIGNMENT,
    .num_layers = 1,
    .name = "mve_float_activation",
    .inputs = _mcu_mve_float_activation_inputs,
    .outputs = _mcu_mve_float_activation_outputs,
    .layers = _mcu_mve_float_activation_layer_infos,
    .layer_outputs = _mcu_mve_float_activation_regions,
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
