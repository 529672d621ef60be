/* network_mve_broadcast.c: a neural network, made by mcu-deploy.
 *
 *   source model  layers, SHA-256
 *                 8a8a354c8c735b99bc2317a6129254589ec05557257cf56a997f664a227f5403
 *   constants     16 bytes, as a file: SHA-256
 *                 19a248f5b51e03f74053b2b4a24d57c76391ee173e3ef74610bf01bb90eef9fb
 *   workspace     144 bytes
 *   layers        2 with 0 multiply-accumulates
 *
 * Everything is static but the descriptor _mcu_network_mve_broadcast, at the end. To compile this
 * file by hand, in its folder, to the same bytes:
 *
 *   arm-none-eabi-gcc -mcpu=cortex-m55 -mthumb -mfpu=auto -mfloat-abi=hard -std=c99 \
 *       -ffunction-sections -fdata-sections -fno-common -O2 -ffp-contract=off -fno-math-errno \
 *       -frandom-seed=mve_broadcast -I include -c network_mve_broadcast.c -o \
 *       network_mve_broadcast.o
 *
 * The workspace: what lies where, in bytes, and from which layer to which it is needed.
 *
 *   offset  bytes   from      to  holds
 *        0    126  input  output  int8
 *      128      6      0       1  slice_3_7
 *
 * Shapes have the model's order of axes. NHWC and the like behind a shape say in which order its
 * axes lie in memory, where that is another one.
 */
#include "network_mve_broadcast.h"

#include "mcu/internal.h"

/* ---- Constants ---- */

/* The assembler takes the file in as it is (from another folder: with -I FOLDER). The arrays are
 * declared extern, as a static array without an initializer would be one of zeros; the names that
 * the assembler gives them are local to the object. Where there is no .incbin, and for -flto, build
 * with --weights array. */
__asm__(".pushsection .rodata._mcu_mve_broadcast_weights, \"a\", %progbits\n"
        ".balign 16\n"
        ".type _mcu_mve_broadcast_weights, %object\n"
        ".size _mcu_mve_broadcast_weights, 16\n"
        "_mcu_mve_broadcast_weights:\n"
        ".incbin \"network_mve_broadcast.weights.bin\"\n"
        ".popsection");
/* clang-format off */
#define MCU_CONSTANT(name, type, elements, offset, bytes)                \
    extern const type name[elements];                                    \
    __asm__(".set " #name ", _mcu_mve_broadcast_weights + " #offset "\n" \
            ".type " #name ", %object\n"                                 \
            ".size " #name ", " #bytes)
MCU_CONSTANT(_mcu_mve_broadcast_mul_1_constants, int32_t, 4, 0, 16);
#undef MCU_CONSTANT
/* clang-format on */

/* ---- Kernels ---- */

/* Those in assembly are one string each, some longer than C99 wants compilers to take. */
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Woverlength-strings"
#endif

MCU_FUNCTION void _mcu_mve_broadcast_slice_6_int8(const int8_t *x, int8_t *y) {
    for (int32_t i0 = 0; i0 < 6; i0++) {
        *y++ = x[i0 + 120];
    }
}

/* y = sat(round((a - a_zero) * (b - b_zero) * factor) + zero_point), the product
 * of integers a float32. constants: -a_zero; -b_zero; zero_point; factor, float32.
 * y may lie on a or b.
 * Of a run b is one element. */
MCU_KERNEL void _mcu_mve_broadcast_mul_int8_product_floats_fixed_runs_mve(
    const int8_t *a MCU_UNUSED, const int8_t *b MCU_UNUSED, int8_t *y MCU_UNUSED,
    const int32_t *constants MCU_UNUSED) {
    /* clang-format off */
    __asm__(".syntax unified\n"
            "    push {r4-r8, lr}\n"
            "    vpush {d8-d15}\n"
            /* constants, {minus_a_zero, minus_b_zero, zero_point, factor} */
            "    ldmia r3, {r3-r5, r12}\n"
            "    movw r8, #0\n"                     /* rounding, #0 */
            "    movt r8, #19264\n"                 /* rounding, #19264 */
            "    movw r6, #6\n"                     /* turns_left, #6 */
            "    vmov s31, r6\n"                    /* inner_left, turns_left */
            "1:\n"
            "    ldrsb r7, [r1]\n"                  /* element, [b] */
            "    movw r6, #20\n"                    /* elements, #20 */
            "    add r7, r7, r4\n"                  /* element, element, minus_b_zero */
            "    lsrs lr, r6, #5\n"                 /* rounds, elements, #5 */
            "    beq 2f\n"
            "    dls lr, lr\n"                      /* rounds_left, rounds */
            "4:\n"
            "    vldrb.s32 q0, [r0], #4\n"          /* a0, [a], #4 */
            "    vadd.i32 q0, q0, r3\n"             /* a0, a0, minus_a_zero */
            "    vmul.i32 q0, q0, r7\n"             /* a0, a0, element */
            "    vldrb.s32 q1, [r0], #4\n"          /* a1, [a], #4 */
            "    vcvt.f32.s32 q0, q0\n"             /* a0, a0 */
            "    vadd.i32 q1, q1, r3\n"             /* a1, a1, minus_a_zero */
            "    vmul.f32 q0, q0, r12\n"            /* a0, a0, factor */
            "    vldrb.s32 q2, [r0], #4\n"          /* a2, [a], #4 */
            "    vmul.i32 q1, q1, r7\n"             /* a1, a1, element */
            "    vadd.i32 q2, q2, r3\n"             /* a2, a2, minus_a_zero */
            "    vadd.f32 q0, q0, r8\n"             /* a0, a0, rounding */
            "    vldrb.s32 q3, [r0], #4\n"          /* b0, [a], #4 */
            "    vcvt.f32.s32 q1, q1\n"             /* a1, a1 */
            "    vadd.i32 q3, q3, r3\n"             /* b0, b0, minus_a_zero */
            "    vmul.f32 q1, q1, r12\n"            /* a1, a1, factor */
            "    vadd.i16 q0, q0, r5\n"             /* a0, a0, zero_point */
            "    vmul.i32 q2, q2, r7\n"             /* a2, a2, element */
            "    vqmovnb.s16 q0, q0\n"              /* a0, a0 */
            "    vadd.f32 q1, q1, r8\n"             /* a1, a1, rounding */
            "    vstrb.32 q0, [r2], #4\n"           /* a0, [y], #4 */
            "    vcvt.f32.s32 q2, q2\n"             /* a2, a2 */
            "    vadd.i16 q1, q1, r5\n"             /* a1, a1, zero_point */
            "    vmul.f32 q2, q2, r12\n"            /* a2, a2, factor */
            "    vldrb.s32 q0, [r0], #4\n"          /* a0, [a], #4 */
            "    vmul.i32 q3, q3, r7\n"             /* b0, b0, element */
            "    vadd.i32 q0, q0, r3\n"             /* a0, a0, minus_a_zero */
            "    vadd.f32 q2, q2, r8\n"             /* a2, a2, rounding */
            "    vqmovnb.s16 q1, q1\n"              /* a1, a1 */
            "    vcvt.f32.s32 q3, q3\n"             /* b0, b0 */
            "    vstrb.32 q1, [r2], #4\n"           /* a1, [y], #4 */
            "    vmul.f32 q3, q3, r12\n"            /* b0, b0, factor */
            "    vadd.i16 q2, q2, r5\n"             /* a2, a2, zero_point */
            "    vmul.i32 q0, q0, r7\n"             /* a0, a0, element */
            "    vldrb.s32 q1, [r0], #4\n"          /* a1, [a], #4 */
            "    vadd.f32 q3, q3, r8\n"             /* b0, b0, rounding */
            "    vadd.i32 q1, q1, r3\n"             /* a1, a1, minus_a_zero */
            "    vcvt.f32.s32 q0, q0\n"             /* a0, a0 */
            "    vqmovnb.s16 q2, q2\n"              /* a2, a2 */
            "    vmul.f32 q0, q0, r12\n"            /* a0, a0, factor */
            "    vstrb.32 q2, [r2], #4\n"           /* a2, [y], #4 */
            "    vmul.i32 q1, q1, r7\n"             /* a1, a1, element */
            "    vadd.i16 q3, q3, r5\n"             /* b0, b0, zero_point */
            "    vadd.f32 q0, q0, r8\n"             /* a0, a0, rounding */
            "    vldrb.s32 q2, [r0], #4\n"          /* a2, [a], #4 */
            "    vcvt.f32.s32 q1, q1\n"             /* a1, a1 */
            "    vadd.i32 q2, q2, r3\n"             /* a2, a2, minus_a_zero */
            "    vmul.f32 q1, q1, r12\n"            /* a1, a1, factor */
            "    vqmovnb.s16 q3, q3\n"              /* b0, b0 */
            "    vmul.i32 q2, q2, r7\n"             /* a2, a2, element */
            "    vstrb.32 q3, [r2], #4\n"           /* b0, [y], #4 */
            "    vadd.f32 q1, q1, r8\n"             /* a1, a1, rounding */
            "    vadd.i16 q0, q0, r5\n"             /* a0, a0, zero_point */
            "    vcvt.f32.s32 q2, q2\n"             /* a2, a2 */
            "    vldrb.s32 q3, [r0], #4\n"          /* b0, [a], #4 */
            "    vadd.i32 q3, q3, r3\n"             /* b0, b0, minus_a_zero */
            "    vmul.f32 q2, q2, r12\n"            /* a2, a2, factor */
            "    vqmovnb.s16 q0, q0\n"              /* a0, a0 */
            "    vmul.i32 q3, q3, r7\n"             /* b0, b0, element */
            "    vadd.i16 q1, q1, r5\n"             /* a1, a1, zero_point */
            "    vcvt.f32.s32 q3, q3\n"             /* b0, b0 */
            "    vqmovnb.s16 q1, q1\n"              /* a1, a1 */
            "    vadd.f32 q2, q2, r8\n"             /* a2, a2, rounding */
            "    vstrb.32 q0, [r2], #4\n"           /* a0, [y], #4 */
            "    vmul.f32 q3, q3, r12\n"            /* b0, b0, factor */
            "    vadd.i16 q2, q2, r5\n"             /* a2, a2, zero_point */
            "    vadd.f32 q3, q3, r8\n"             /* b0, b0, rounding */
            "    vqmovnb.s16 q2, q2\n"              /* a2, a2 */
            "    vstrb.32 q1, [r2], #4\n"           /* a1, [y], #4 */
            "    vadd.i16 q3, q3, r5\n"             /* b0, b0, zero_point */
            "    vstrb.32 q2, [r2], #4\n"           /* a2, [y], #4 */
            "    vqmovnb.s16 q3, q3\n"              /* b0, b0 */
            "    vstrb.32 q3, [r2], #4\n"           /* b0, [y], #4 */
            "    le lr, 4b\n"                       /* rounds_left, 4 */
            "2:\n"
            "    ands r6, r6, #31\n"                /* elements, elements, #31 */
            "    beq 3f\n"
            "    dlstp.32 lr, r6\n"                 /* rounds_left, elements */
            "5:\n"
            "    vldrb.s32 q0, [r0], #4\n"          /* a0, [a], #4 */
            "    vadd.i32 q0, q0, r3\n"             /* a0, a0, minus_a_zero */
            "    vmul.i32 q0, q0, r7\n"             /* a0, a0, element */
            "    vcvt.f32.s32 q0, q0\n"             /* a0, a0 */
            "    vmul.f32 q0, q0, r12\n"            /* a0, a0, factor */
            "    vadd.f32 q0, q0, r8\n"             /* a0, a0, rounding */
            "    vadd.i16 q0, q0, r5\n"             /* a0, a0, zero_point */
            "    vqmovnb.s16 q0, q0\n"              /* a0, a0 */
            "    vstrb.32 q0, [r2], #4\n"           /* a0, [y], #4 */
            "    letp lr, 5b\n"                     /* rounds_left, 5 */
            "3:\n"
            "    vmov r6, s31\n"                    /* turns_left, inner_left */
            "    add r1, r1, #1\n"                  /* b, b, #1 */
            "    subs r6, r6, #1\n"                 /* turns_left, turns_left, #1 */
            "    vmov s31, r6\n"                    /* inner_left, turns_left */
            "    bne 1b\n"
            "    vpop {d8-d15}\n"
            "    pop {r4-r8, pc}\n");
    /* clang-format on */
}

/* ---- The layers, in the order of execution ---- */

/* clang-format off */
static void _mcu_mve_broadcast_layers(mcu_instance_t *instance) {
    uint8_t *const ws = instance->workspace;

    /* slice_2: Slice, slice_3_7: int8[126] -> int8[6] */
    int8_t *const int8 = (int8_t *)(ws + 0);
    int8_t *const slice_2 = (int8_t *)(ws + 128);
    MCU_LAYER(0, _mcu_mve_broadcast_slice_6_int8(int8, slice_2));

    /* mul_1: Mul, sum0 (4 nodes): int8[1,6,4,5], int8[1,6,1,1] -> int8[1,6,4,5] */
    int8_t *const slice_0_2 = (int8_t *)(ws + 0);
    int8_t *const mul_1 = (int8_t *)(ws + 0);
    MCU_LAYER(1, _mcu_mve_broadcast_mul_int8_product_floats_fixed_runs_mve(
        slice_0_2, slice_2, mul_1, _mcu_mve_broadcast_mul_1_constants));
}

/* clang-format on */

static int32_t _mcu_mve_broadcast_run_func(void *args, void *arg_type_ids, int32_t num_args,
                                           void *out_ret_value, void *out_ret_tcode,
                                           void *resource_handle) {
    (void)out_ret_value;
    (void)out_ret_tcode;
    const mcu_model_t *const model = &_mcu_network_mve_broadcast;
    const int32_t status =
        _mcu_run_begin(model, NULL, args, arg_type_ids, num_args, resource_handle);
    if (status != MCU_OK) {
        return status;
    }
    _mcu_mve_broadcast_layers(resource_handle);
    return _mcu_run_end(model, NULL, args, resource_handle);
}

/* ---- The descriptor ---- */

static const int64_t _mcu_mve_broadcast_input0_shape[1] = {126};
static const mcu_tensor_info_t _mcu_mve_broadcast_inputs[1] = {
    {
        .name = "int8",
        .shape = _mcu_mve_broadcast_input0_shape,
        .place = {0, 0, 126},
        .scale = 3.93936e-2F,
        .zero_point = -128,
        .ndim = 1,
        .dtype = {kDLInt, 8, 1},
    },
};

static const int64_t _mcu_mve_broadcast_output0_shape[1] = {120};
static const mcu_tensor_info_t _mcu_mve_broadcast_outputs[1] = {
    {
        .name = "int8_y",
        .shape = _mcu_mve_broadcast_output0_shape,
        .place = {0, 0, 120},
        .scale = 4.47614e-2F,
        .zero_point = -17,
        .ndim = 1,
        .dtype = {kDLInt, 8, 1},
    },
};

/* clang-format off */
/* Where the outputs of each layer lie when it has run: offset, pool and bytes. */
static const mcu_region_t _mcu_mve_broadcast_regions[2] = {
    {128, 0, 6},   /* 0 */
    {0,   0, 120}, /* 1 */
};

/* Of each layer: its first output in the table above, and how many it has. */
static const mcu_layer_info_t _mcu_mve_broadcast_layer_infos[2] = {
    {0, 1}, {1, 1},
};
/* clang-format on */

const mcu_model_t _mcu_network_mve_broadcast = {
    .run_func = _mcu_mve_broadcast_run_func,
    .num_input_tensors = 1,
    .num_output_tensors = 1,
    .abi_version = MCU_MODEL_ABI_VERSION,
    .workspace_size = MCU_MVE_BROADCAST_WORKSPACE_SIZE,
    .workspace_alignment = MCU_MVE_BROADCAST_WORKSPACE_ALIGNMENT,
    .num_layers = 2,
    .name = "mve_broadcast",
    .inputs = _mcu_mve_broadcast_inputs,
    .outputs = _mcu_mve_broadcast_outputs,
    .layers = _mcu_mve_broadcast_layer_infos,
    .layer_outputs = _mcu_mve_broadcast_regions,
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
