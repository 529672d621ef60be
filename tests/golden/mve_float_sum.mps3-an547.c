/* network_mve_float_sum.c: a neural network, made by mcu-deploy.
 *
 *   source model  floats, SHA-256
 *                 e14010e8cd4022cfe82d0067572c2f71495e5e3f4e8074ebc8955ab43da2ff6c
 *   workspace     1,280 bytes
 *   layers        2 with 0 multiply-accumulates
 *
 * Everything is static but the descriptor _mcu_network_mve_float_sum, at the end. To compile this
 * file by hand, in its folder, to the same bytes:
 *
 *   arm-none-eabi-gcc -mcpu=cortex-m55 -mthumb -mfpu=auto -mfloat-abi=hard -std=c99 \
 *       -ffunction-sections -fdata-sections -fno-common -O2 -ffp-contract=off -fno-math-errno \
 *       -frandom-seed=mve_float_sum -I include -c network_mve_float_sum.c -o \
 *       network_mve_float_sum.o
 *
 * The workspace: what lies where, in bytes, and from which layer to which it is needed.
 *
 *   offset  bytes   from      to  holds
 *        0    840  input       1  x
 *      848    420      0  output  of2
 *
 * Shapes have the model's order of axes. NHWC and the like behind a shape say in which order its
 * axes lie in memory, where that is another one.
 */
#include "network_mve_float_sum.h"

#include "mcu/internal.h"

/* ---- Kernels ---- */

/* Those in assembly are one string each, some longer than C99 wants compilers to take. */
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Woverlength-strings"
#endif

MCU_FUNCTION void _mcu_mve_float_sum_slice_105_float32(const float *x, float *y) {
    for (int32_t i0 = 0; i0 < 105; i0++) {
        *y++ = x[i0 + 105];
    }
}

/* y[n] = clamp(a[n] + b[n]), float32. y may lie on a or b. */
MCU_KERNEL void _mcu_mve_float_sum_add_f32_clamped_mve(const float *a MCU_UNUSED,
                                                       const float *b MCU_UNUSED,
                                                       float *y MCU_UNUSED,
                                                       uint32_t elements MCU_UNUSED) {
    /* clang-format off */
    __asm__(".syntax unified\n"
            "    push {r4, lr}\n"
            "    lsrs r4, r3, #4\n"                 /* rounds, elements, #4 */
            "    beq 1f\n"
            "    dls lr, r4\n"                      /* rounds_left, rounds */
            "3:\n"
            "    vldrw.u32 q0, [r0], #16\n"         /* a0, [a], #16 */
            "    vmov.i32 q3, #0\n"                 /* bound, #0 */
            "    vldrw.u32 q1, [r1], #16\n"         /* b0, [b], #16 */
            "    vadd.f32 q0, q0, q1\n"             /* a0, a0, b0 */
            "    vldrw.u32 q1, [r0], #16\n"         /* a1, [a], #16 */
            "    vmax.s32 q0, q0, q3\n"             /* a0, a0, bound */
            "    vldrw.u32 q2, [r1], #16\n"         /* b1, [b], #16 */
            "    vadd.f32 q1, q1, q2\n"             /* a1, a1, b1 */
            "    vstrw.32 q0, [r2], #16\n"          /* a0, [y], #16 */
            "    vmov.i32 q3, #0\n"                 /* bound, #0 */
            "    vldrw.u32 q2, [r0], #16\n"         /* a2, [a], #16 */
            "    vmax.s32 q1, q1, q3\n"             /* a1, a1, bound */
            "    vldrw.u32 q0, [r1], #16\n"         /* b2, [b], #16 */
            "    vadd.f32 q2, q2, q0\n"             /* a2, a2, b2 */
            "    vstrw.32 q1, [r2], #16\n"          /* a1, [y], #16 */
            "    vmov.i32 q3, #0\n"                 /* bound, #0 */
            "    vldrw.u32 q0, [r0], #16\n"         /* a0, [a], #16 */
            "    vmax.s32 q2, q2, q3\n"             /* a2, a2, bound */
            "    vldrw.u32 q1, [r1], #16\n"         /* b0, [b], #16 */
            "    vadd.f32 q0, q0, q1\n"             /* a0, a0, b0 */
            "    vmov.i32 q3, #0\n"                 /* bound, #0 */
            "    vstrw.32 q2, [r2], #16\n"          /* a2, [y], #16 */
            "    vmax.s32 q0, q0, q3\n"             /* a0, a0, bound */
            "    vstrw.32 q0, [r2], #16\n"          /* a0, [y], #16 */
            "    le lr, 3b\n"                       /* rounds_left, 3 */
            "1:\n"
            "    ands r3, r3, #15\n"                /* elements, elements, #15 */
            "    beq 2f\n"
            "    dlstp.32 lr, r3\n"                 /* rounds_left, elements */
            "4:\n"
            "    vldrw.u32 q0, [r0], #16\n"         /* a0, [a], #16 */
            "    vmov.i32 q3, #0\n"                 /* bound, #0 */
            "    vldrw.u32 q1, [r1], #16\n"         /* b0, [b], #16 */
            "    vadd.f32 q0, q0, q1\n"             /* a0, a0, b0 */
            "    vmax.s32 q0, q0, q3\n"             /* a0, a0, bound */
            "    vstrw.32 q0, [r2], #16\n"          /* a0, [y], #16 */
            "    letp lr, 4b\n"                     /* rounds_left, 4 */
            "2:\n"
            "    pop {r4, pc}\n");
    /* clang-format on */
}

/* ---- The layers, in the order of execution ---- */

/* clang-format off */
static void _mcu_mve_float_sum_layers(mcu_instance_t *instance) {
    uint8_t *const ws = instance->workspace;

    /* slice_2: Slice, of2: float32[210] -> float32[105] */
    float *const x = (float *)(ws + 0);
    float *const slice_2 = (float *)(ws + 848);
    MCU_LAYER(0, _mcu_mve_float_sum_slice_105_float32(x, slice_2));

    /* add_1: Add, layer0 (2 nodes): float32[1,3,5,7], float32[1,3,5,7] -> float32[1,3,5,7] */
    float *const of0 = (float *)(ws + 0);
    float *const add_1 = (float *)(ws + 848);
    MCU_LAYER(1, _mcu_mve_float_sum_add_f32_clamped_mve(of0, slice_2, add_1, 105U));
}

/* clang-format on */

static int32_t _mcu_mve_float_sum_run_func(void *args, void *arg_type_ids, int32_t num_args,
                                           void *out_ret_value, void *out_ret_tcode,
                                           void *resource_handle) {
    (void)out_ret_value;
    (void)out_ret_tcode;
    const mcu_model_t *const model = &_mcu_network_mve_float_sum;
    const int32_t status =
        _mcu_run_begin(model, NULL, args, arg_type_ids, num_args, resource_handle);
    if (status != MCU_OK) {
        return status;
    }
    _mcu_mve_float_sum_layers(resource_handle);
    return _mcu_run_end(model, NULL, args, resource_handle);
}

/* ---- The descriptor ---- */

static const int64_t _mcu_mve_float_sum_input0_shape[1] = {210};
static const mcu_tensor_info_t _mcu_mve_float_sum_inputs[1] = {
    {
        .name = "x",
        .shape = _mcu_mve_float_sum_input0_shape,
        .place = {0, 0, 840},
        .scale = 0.0F,
        .zero_point = 0,
        .ndim = 1,
        .dtype = {kDLFloat, 32, 1},
    },
};

static const int64_t _mcu_mve_float_sum_output0_shape[1] = {105};
static const mcu_tensor_info_t _mcu_mve_float_sum_outputs[1] = {
    {
        .name = "y",
        .shape = _mcu_mve_float_sum_output0_shape,
        .place = {848, 0, 420},
        .scale = 0.0F,
        .zero_point = 0,
        .ndim = 1,
        .dtype = {kDLFloat, 32, 1},
    },
};

/* clang-format off */
/* Where the outputs of each layer lie when it has run: offset, pool and bytes. */
static const mcu_region_t _mcu_mve_float_sum_regions[2] = {
    {848, 0, 420}, /* 0 */
    {848, 0, 420}, /* 1 */
};

/* Of each layer: its first output in the table above, and how many it has. */
static const mcu_layer_info_t _mcu_mve_float_sum_layer_infos[2] = {
    {0, 1}, {1, 1},
};
/* clang-format on */

const mcu_model_t _mcu_network_mve_float_sum = {
    .run_func = _mcu_mve_float_sum_run_func,
    .num_input_tensors = 1,
    .num_output_tensors = 1,
    .abi_version = MCU_MODEL_ABI_VERSION,
    .workspace_size = MCU_MVE_FLOAT_SUM_WORKSPACE_SIZE,
    .workspace_alignment = MCU_MVE_FLOAT_SUM_WORKSPACE_ALIGNMENT,
    .num_layers = 2,
    .name = "mve_float_sum",
    .inputs = _mcu_mve_float_sum_inputs,
    .outputs = _mcu_mve_float_sum_outputs,
    .layers = _mcu_mve_float_sum_layer_infos,
    .layer_outputs = _mcu_mve_float_sum_regions,
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
