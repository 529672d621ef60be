/* network_mve_sum.c: a neural network, made by mcu-deploy.
 *
 *   source model  layers, SHA-256
 *                 f98c86d6ade1a598952aaced31ce6f7bd8b67421e7da0b5be5296ab1e3f8693e
 *   constants     12 bytes, as a file: SHA-256
 *                 daedcc7ce7f6c6957c9d448db16da377d1afa4d55f40a275ef01ed009bc005cc
 *   workspace     48 bytes
 *   layers        2 with 0 multiply-accumulates
 *
 * Everything is static but the descriptor _mcu_network_mve_sum, at the end. To compile this file by
 * hand, in its folder, to the same bytes:
 *
 *   arm-none-eabi-gcc -mcpu=cortex-m55 -mthumb -mfpu=auto -mfloat-abi=hard -std=c99 \
 *       -ffunction-sections -fdata-sections -fno-common -O2 -ffp-contract=off -fno-math-errno \
 *       -frandom-seed=mve_sum -I include -c network_mve_sum.c -o network_mve_sum.o
 *
 * The workspace: what lies where, in bytes, and from which layer to which it is needed.
 *
 *   offset  bytes   from      to  holds
 *        0     26  input       1  int8
 *       32     13      0  output  slice_3_7
 *
 * Shapes have the model's order of axes. NHWC and the like behind a shape say in which order its
 * axes lie in memory, where that is another one.
 */
#include "network_mve_sum.h"

#include "mcu/internal.h"

/* ---- Constants ---- */

/* The assembler takes the file in as it is (from another folder: with -I FOLDER). The arrays are
 * declared extern, as a static array without an initializer would be one of zeros; the names that
 * the assembler gives them are local to the object. Where there is no .incbin, and for -flto, build
 * with --weights array. */
__asm__(".pushsection .rodata._mcu_mve_sum_weights, \"a\", %progbits\n"
        ".balign 16\n"
        ".type _mcu_mve_sum_weights, %object\n"
        ".size _mcu_mve_sum_weights, 12\n"
        "_mcu_mve_sum_weights:\n"
        ".incbin \"network_mve_sum.weights.bin\"\n"
        ".popsection");
/* clang-format off */
#define MCU_CONSTANT(name, type, elements, offset, bytes)          \
    extern const type name[elements];                              \
    __asm__(".set " #name ", _mcu_mve_sum_weights + " #offset "\n" \
            ".type " #name ", %object\n"                           \
            ".size " #name ", " #bytes)
MCU_CONSTANT(_mcu_mve_sum_add_1_constants, int32_t, 3, 0, 12);
#undef MCU_CONSTANT
/* clang-format on */

/* ---- Kernels ---- */

/* Those in assembly are one string each, some longer than C99 wants compilers to take. */
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Woverlength-strings"
#endif

MCU_FUNCTION void _mcu_mve_sum_slice_13_int8(const int8_t *x, int8_t *y) {
    for (int32_t i0 = 0; i0 < 13; i0++) {
        *y++ = x[i0 + 13];
    }
}

/* y = sat((a_scale * a + b_scale * b + offset) >> 21); y may lie on a or b.
 * constants: a_scale; b_scale; offset, less 2**20, as the last shift rounds. */
MCU_KERNEL void _mcu_mve_sum_add_int8_21_mve(const int8_t *a MCU_UNUSED, const int8_t *b MCU_UNUSED,
                                             int8_t *y MCU_UNUSED,
                                             const int32_t *constants MCU_UNUSED,
                                             uint32_t elements MCU_UNUSED) {
    /* clang-format off */
    __asm__(".syntax unified\n"
            "    ldr r12, [sp]\n"
            "    push {r4, r5, lr}\n"
            "    vpush {d8-d11}\n"
            "    ldmia r3, {r3-r5}\n"               /* constants, {a_scale, b_scale, offset} */
            "    vdup.32 q0, r3\n"                  /* a_scales, a_scale */
            "    lsrs r3, r12, #5\n"                /* rounds, elements, #5 */
            "    beq 1f\n"
            "    dls lr, r3\n"                      /* rounds_left, rounds */
            "3:\n"
            "    vldrb.s32 q1, [r0], #4\n"          /* a0, [a], #4 */
            "    vmlas.s32 q1, q0, r5\n"            /* a0, a_scales, offset */
            "    vldrb.s32 q2, [r1], #4\n"          /* b0, [b], #4 */
            "    vmla.s32 q1, q2, r4\n"             /* a0, b0, b_scale */
            "    vldrb.s32 q3, [r0], #4\n"          /* a1, [a], #4 */
            "    vshrnb.i32 q1, q1, #16\n"          /* a0, a0, #16 */
            "    vldrb.s32 q4, [r1], #4\n"          /* b1, [b], #4 */
            "    vmlas.s32 q3, q0, r5\n"            /* a1, a_scales, offset */
            "    vldrb.s32 q5, [r0], #4\n"          /* a2, [a], #4 */
            "    vqrshrnb.s16 q1, q1, #5\n"         /* a0, a0, #5 */
            "    vldrb.s32 q2, [r1], #4\n"          /* b0, [b], #4 */
            "    vmla.s32 q3, q4, r4\n"             /* a1, b1, b_scale */
            "    vstrb.32 q1, [r2], #4\n"           /* a0, [y], #4 */
            "    vshrnb.i32 q3, q3, #16\n"          /* a1, a1, #16 */
            "    vmlas.s32 q5, q0, r5\n"            /* a2, a_scales, offset */
            "    vldrb.s32 q1, [r0], #4\n"          /* a0, [a], #4 */
            "    vqrshrnb.s16 q3, q3, #5\n"         /* a1, a1, #5 */
            "    vldrb.s32 q4, [r1], #4\n"          /* b1, [b], #4 */
            "    vmla.s32 q5, q2, r4\n"             /* a2, b0, b_scale */
            "    vstrb.32 q3, [r2], #4\n"           /* a1, [y], #4 */
            "    vshrnb.i32 q5, q5, #16\n"          /* a2, a2, #16 */
            "    vmlas.s32 q1, q0, r5\n"            /* a0, a_scales, offset */
            "    vldrb.s32 q3, [r0], #4\n"          /* a1, [a], #4 */
            "    vqrshrnb.s16 q5, q5, #5\n"         /* a2, a2, #5 */
            "    vldrb.s32 q2, [r1], #4\n"          /* b0, [b], #4 */
            "    vmla.s32 q1, q4, r4\n"             /* a0, b1, b_scale */
            "    vstrb.32 q5, [r2], #4\n"           /* a2, [y], #4 */
            "    vshrnb.i32 q1, q1, #16\n"          /* a0, a0, #16 */
            "    vmlas.s32 q3, q0, r5\n"            /* a1, a_scales, offset */
            "    vldrb.s32 q5, [r0], #4\n"          /* a2, [a], #4 */
            "    vqrshrnb.s16 q1, q1, #5\n"         /* a0, a0, #5 */
            "    vldrb.s32 q4, [r1], #4\n"          /* b1, [b], #4 */
            "    vmla.s32 q3, q2, r4\n"             /* a1, b0, b_scale */
            "    vstrb.32 q1, [r2], #4\n"           /* a0, [y], #4 */
            "    vshrnb.i32 q3, q3, #16\n"          /* a1, a1, #16 */
            "    vmlas.s32 q5, q0, r5\n"            /* a2, a_scales, offset */
            "    vldrb.s32 q1, [r0], #4\n"          /* a0, [a], #4 */
            "    vqrshrnb.s16 q3, q3, #5\n"         /* a1, a1, #5 */
            "    vldrb.s32 q2, [r1], #4\n"          /* b0, [b], #4 */
            "    vmla.s32 q5, q4, r4\n"             /* a2, b1, b_scale */
            "    vstrb.32 q3, [r2], #4\n"           /* a1, [y], #4 */
            "    vshrnb.i32 q5, q5, #16\n"          /* a2, a2, #16 */
            "    vmlas.s32 q1, q0, r5\n"            /* a0, a_scales, offset */
            "    vldrb.s32 q3, [r0], #4\n"          /* a1, [a], #4 */
            "    vqrshrnb.s16 q5, q5, #5\n"         /* a2, a2, #5 */
            "    vldrb.s32 q4, [r1], #4\n"          /* b1, [b], #4 */
            "    vmla.s32 q1, q2, r4\n"             /* a0, b0, b_scale */
            "    vstrb.32 q5, [r2], #4\n"           /* a2, [y], #4 */
            "    vshrnb.i32 q1, q1, #16\n"          /* a0, a0, #16 */
            "    vmlas.s32 q3, q0, r5\n"            /* a1, a_scales, offset */
            "    vqrshrnb.s16 q1, q1, #5\n"         /* a0, a0, #5 */
            "    vmla.s32 q3, q4, r4\n"             /* a1, b1, b_scale */
            "    vstrb.32 q1, [r2], #4\n"           /* a0, [y], #4 */
            "    vshrnb.i32 q3, q3, #16\n"          /* a1, a1, #16 */
            "    vqrshrnb.s16 q3, q3, #5\n"         /* a1, a1, #5 */
            "    vstrb.32 q3, [r2], #4\n"           /* a1, [y], #4 */
            "    le lr, 3b\n"                       /* rounds_left, 3 */
            "1:\n"
            "    ands r12, r12, #31\n"              /* elements, elements, #31 */
            "    beq 2f\n"
            "    dlstp.32 lr, r12\n"                /* rounds_left, elements */
            "4:\n"
            "    vldrb.s32 q1, [r0], #4\n"          /* a0, [a], #4 */
            "    vmlas.s32 q1, q0, r5\n"            /* a0, a_scales, offset */
            "    vldrb.s32 q2, [r1], #4\n"          /* b0, [b], #4 */
            "    vmla.s32 q1, q2, r4\n"             /* a0, b0, b_scale */
            "    vshrnb.i32 q1, q1, #16\n"          /* a0, a0, #16 */
            "    vqrshrnb.s16 q1, q1, #5\n"         /* a0, a0, #5 */
            "    vstrb.32 q1, [r2], #4\n"           /* a0, [y], #4 */
            "    letp lr, 4b\n"                     /* rounds_left, 4 */
            "2:\n"
            "    vpop {d8-d11}\n"
            "    pop {r4, r5, pc}\n");
    /* clang-format on */
}

/* ---- The layers, in the order of execution ---- */

/* clang-format off */
static void _mcu_mve_sum_layers(mcu_instance_t *instance) {
    uint8_t *const ws = instance->workspace;

    /* slice_2: Slice, slice_3_7: int8[26] -> int8[13] */
    int8_t *const int8 = (int8_t *)(ws + 0);
    int8_t *const slice_2 = (int8_t *)(ws + 32);
    MCU_LAYER(0, _mcu_mve_sum_slice_13_int8(int8, slice_2));

    /* add_1: Add, sum0 (4 nodes): int8[1,13], int8[1,13] -> int8[1,13] */
    int8_t *const slice_0_2 = (int8_t *)(ws + 0);
    int8_t *const add_1 = (int8_t *)(ws + 32);
    MCU_LAYER(1, _mcu_mve_sum_add_int8_21_mve(slice_0_2, slice_2, add_1,
                                              _mcu_mve_sum_add_1_constants, 13U));
}

/* clang-format on */

static int32_t _mcu_mve_sum_run_func(void *args, void *arg_type_ids, int32_t num_args,
                                     void *out_ret_value, void *out_ret_tcode,
                                     void *resource_handle) {
    (void)out_ret_value;
    (void)out_ret_tcode;
    const mcu_model_t *const model = &_mcu_network_mve_sum;
    const int32_t status =
        _mcu_run_begin(model, NULL, args, arg_type_ids, num_args, resource_handle);
    if (status != MCU_OK) {
        return status;
    }
    _mcu_mve_sum_layers(resource_handle);
    return _mcu_run_end(model, NULL, args, resource_handle);
}

/* ---- The descriptor ---- */

static const int64_t _mcu_mve_sum_input0_shape[1] = {26};
static const mcu_tensor_info_t _mcu_mve_sum_inputs[1] = {
    {
        .name = "int8",
        .shape = _mcu_mve_sum_input0_shape,
        .place = {0, 0, 26},
        .scale = 3.10177e-2F,
        .zero_point = 127,
        .ndim = 1,
        .dtype = {kDLInt, 8, 1},
    },
};

static const int64_t _mcu_mve_sum_output0_shape[1] = {13};
static const mcu_tensor_info_t _mcu_mve_sum_outputs[1] = {
    {
        .name = "int8_y",
        .shape = _mcu_mve_sum_output0_shape,
        .place = {32, 0, 13},
        .scale = 5.01713e-2F,
        .zero_point = 127,
        .ndim = 1,
        .dtype = {kDLInt, 8, 1},
    },
};

/* clang-format off */
/* Where the outputs of each layer lie when it has run: offset, pool and bytes. */
static const mcu_region_t _mcu_mve_sum_regions[2] = {
    {32, 0, 13}, /* 0 */
    {32, 0, 13}, /* 1 */
};

/* Of each layer: its first output in the table above, and how many it has. */
static const mcu_layer_info_t _mcu_mve_sum_layer_infos[2] = {
    {0, 1}, {1, 1},
};
/* clang-format on */

const mcu_model_t _mcu_network_mve_sum = {
    .run_func = _mcu_mve_sum_run_func,
    .num_input_tensors = 1,
    .num_output_tensors = 1,
    .abi_version = MCU_MODEL_ABI_VERSION,
    .workspace_size = MCU_MVE_SUM_WORKSPACE_SIZE,
    .workspace_alignment = MCU_MVE_SUM_WORKSPACE_ALIGNMENT,
    .num_layers = 2,
    .name = "mve_sum",
    .inputs = _mcu_mve_sum_inputs,
    .outputs = _mcu_mve_sum_outputs,
    .layers = _mcu_mve_sum_layer_infos,
    .layer_outputs = _mcu_mve_sum_regions,
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
