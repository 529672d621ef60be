/* network_dsp_dense.c: a neural network, made by mcu-deploy.
 *
 *   source model  layers, SHA-256
 *                 aeec470440dd992f9c812afb573edd862066cb48cedf7b8e6ab3396a42837151
 *   constants     924 bytes, as a file: SHA-256
 *                 bf6f015d8ca729466bd2eb1630936b0262dc126abf85b16d2e362af893139096
 *   workspace     176 bytes
 *   layers        1 with 768 multiply-accumulates
 *
 * Everything is static but the descriptor _mcu_network_dsp_dense, at the end. To compile this file
 * by hand, in its folder, to the same bytes:
 *
 *   arm-none-eabi-gcc -mcpu=cortex-m4 -mthumb -mfpu=fpv4-sp-d16 -mfloat-abi=hard -std=c99 \
 *       -ffunction-sections -fdata-sections -fno-common -O2 -ffp-contract=off -fno-math-errno \
 *       -frandom-seed=dsp_dense -I include -c network_dsp_dense.c -o network_dsp_dense.o
 *
 * The workspace: what lies where, in bytes, and from which layer to which it is needed.
 *
 *   offset  bytes   from      to  holds
 *       64     64  input       0  int8
 *        0    156      0       0  scratch of dense_1
 *      160     12      0  output  int8_y
 *
 * Shapes have the model's order of axes. NHWC and the like behind a shape say in which order its
 * axes lie in memory, where that is another one.
 */
#include "network_dsp_dense.h"

#include <string.h>

/* ---- Constants ---- */

/* The assembler takes the file in as it is (from another folder: with -I FOLDER). The arrays are
 * declared extern, as a static array without an initializer would be one of zeros; the names that
 * the assembler gives them are local to the object. Where there is no .incbin, and for -flto, build
 * with --weights array. */
__asm__(".pushsection .rodata._mcu_dsp_dense_weights, \"a\", %progbits\n"
        ".balign 16\n"
        ".type _mcu_dsp_dense_weights, %object\n"
        ".size _mcu_dsp_dense_weights, 924\n"
        "_mcu_dsp_dense_weights:\n"
        ".incbin \"network_dsp_dense.weights.bin\"\n"
        ".popsection");
/* clang-format off */
#define MCU_CONSTANT(name, type, elements, offset, bytes)            \
    extern const type name[elements];                                \
    __asm__(".set " #name ", _mcu_dsp_dense_weights + " #offset "\n" \
            ".type " #name ", %object\n"                             \
            ".size " #name ", " #bytes)
MCU_CONSTANT(_mcu_dsp_dense_dense_1_weights, uint32_t, 231, 0, 924);
#undef MCU_CONSTANT
/* clang-format on */

/* ---- Kernels ---- */

/* Those in assembly are one string each, some longer than C99 wants compilers to take. */
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Woverlength-strings"
#endif

MCU_KERNEL void _mcu_dsp_dense_dense_dsp(const int8_t *x MCU_UNUSED, int8_t *y MCU_UNUSED,
                                         const uint32_t *weights MCU_UNUSED,
                                         uint8_t *scratch MCU_UNUSED) {
    __asm__(".syntax unified\n"
            "    push {r4, r5, r6, r7, r8, r9, r10, r11, lr}\n"
            "    vmov s2, r0\n"
            "    vmov s3, r1\n"
            "    vmov s0, r3\n"
            "    mov lr, r2\n"
            "    ldmia lr!, {r0-r2}\n"
            "    vmov r12, s0\n"
            "    add r12, r12, r0\n"
            "    vmov s1, r12\n"
            "    vmov r4, s3\n"
            "    add r5, r4, r2\n"
            "    adr.w r6, 1f\n"
            "    add r6, r6, r1\n"
            "    orr r6, r6, #1\n"
            "    vmov s5, lr\n"
            "3:\n"
            /* A row, widened to int16, in front of what outputs need to be stored. */
            "    vmov r11, s2\n"
            "    vmov r12, s0\n"
            "    vmov lr, s1\n"
            "4:\n"
            "    ldmia r11!, {r0, r1}\n"
            "    sxtb16 r2, r0, ror #8\n"
            "    sxtb16 r3, r1, ror #8\n"
            "    sxtb16 r0, r0\n"
            "    sxtb16 r1, r1\n"
            "    stmia r12!, {r0-r3}\n"
            "    cmp r12, lr\n"
            "    bne 4b\n"
            "    stmia r12, {r4-r10}\n"
            "    vmov lr, s5\n"
            "    vmov r12, s0\n"
            "    ldmia lr!, {r0-r3}\n"
            "    bx r6\n"
            "1:\n"
            /* Four outputs (r0-r3), eight taps at a time (r4-r7). A word of weights has */
            /* 256 odd + even, twice; by SXTB16 it has the even ones. */
            "5:\n"
            "_mcu_dsp_dense_dense_dsp.to1:\n"
            "    ldmia r12!, {r4-r7}\n"
            "    ldmia lr!, {r8-r11}\n"
            "    smlad r1, r8, r4, r1\n"
            "    smlad r1, r9, r5, r1\n"
            "    smlad r1, r10, r6, r1\n"
            "    smlad r1, r11, r7, r1\n"
            "    sxtb16 r8, r8\n"
            "    sxtb16 r9, r9\n"
            "    sxtb16 r10, r10\n"
            "    sxtb16 r11, r11\n"
            "    smlad r0, r8, r4, r0\n"
            "    smlad r0, r9, r5, r0\n"
            "    smlad r0, r10, r6, r0\n"
            "    smlad r0, r11, r7, r0\n"
            "    ldmia lr!, {r8-r11}\n"
            "    smlad r3, r8, r4, r3\n"
            "    smlad r3, r9, r5, r3\n"
            "    smlad r3, r10, r6, r3\n"
            "    smlad r3, r11, r7, r3\n"
            "    sxtb16 r8, r8\n"
            "    sxtb16 r9, r9\n"
            "    sxtb16 r10, r10\n"
            "    sxtb16 r11, r11\n"
            "    smlad r2, r8, r4, r2\n"
            "    smlad r2, r9, r5, r2\n"
            "    smlad r2, r10, r6, r2\n"
            "    smlad r2, r11, r7, r2\n"
            "    vmov r4, s1\n"
            "    cmp r12, r4\n"
            "    bne 5b\n"
            "    sub r1, r1, r0\n"
            "    sub r3, r3, r2\n"
            /* To elements of the output. */
            "    ldmia lr!, {r4-r11}\n"
            "    cbz r4, 6f\n"
            "    smmla r0, r0, r4, r5\n"
            "    smmla r1, r1, r6, r7\n"
            "    smmla r2, r2, r8, r9\n"
            "    smmla r3, r3, r10, r11\n"
            "    ssat r0, #8, r0, asr #4\n"
            "    ssat r1, #8, r1, asr #12\n"
            "    ssat r2, #8, r2, asr #4\n"
            "    ssat r3, #8, r3, asr #12\n"
            "7:\n"
            "    ldmia r12, {r4-r6}\n"
            "    strb r0, [r4], #4\n"
            "    cmp r4, r5\n"
            "    strb r1, [r4, #-3]\n"
            "    strb r2, [r4, #-2]\n"
            "    strb r3, [r4, #-1]\n"
            "    str r4, [r12]\n"
            "    beq 2f\n"
            "    vmov r12, s0\n"
            "    ldmia lr!, {r0-r3}\n"
            "    bx r6\n"
            "6:\n"
            /* No integers round these outputs. */
            "    vmov d4, r5, r6\n"
            "    vmov d5, r7, r8\n"
            "    vmov d6, r0, r1\n"
            "    vmov d7, r2, r3\n"
            "    vcvt.f32.s32 s12, s12\n"
            "    vcvt.f32.s32 s13, s13\n"
            "    vcvt.f32.s32 s14, s14\n"
            "    vcvt.f32.s32 s15, s15\n"
            "    vmul.f32 s12, s12, s8\n"
            "    vmul.f32 s13, s13, s9\n"
            "    vmul.f32 s14, s14, s10\n"
            "    vmul.f32 s15, s15, s11\n"
            "    vcvtr.s32.f32 s12, s12\n"
            "    vcvtr.s32.f32 s13, s13\n"
            "    vcvtr.s32.f32 s14, s14\n"
            "    vcvtr.s32.f32 s15, s15\n"
            "    vmov r0, r1, d6\n"
            "    vmov r2, r3, d7\n"
            "    sub r0, r0, #5\n"
            "    ssat r0, #8, r0\n"
            "    sub r1, r1, #5\n"
            "    ssat r1, #8, r1\n"
            "    sub r2, r2, #5\n"
            "    ssat r2, #8, r2\n"
            "    sub r3, r3, #5\n"
            "    ssat r3, #8, r3\n"
            "    b 7b\n"
            "2:\n"
            "    pop {r4, r5, r6, r7, r8, r9, r10, r11, pc}\n");
}

/* ---- The layers, in the order of execution ---- */

/* clang-format off */
static void _mcu_dsp_dense_layers(mcu_instance_t *instance) {
    uint8_t *const ws = instance->workspace;

    /* dense_1: Gemm, gemm_5_11 (5 nodes): int8[1,64] -> int8[1,12]; 768 MACs */
    int8_t *const int8 = (int8_t *)(ws + 64);
    int8_t *const dense_1 = (int8_t *)(ws + 160);
    uint8_t *const dense_1_scratch = (uint8_t *)(ws + 0);
    MCU_LAYER(0, _mcu_dsp_dense_dense_dsp(int8, dense_1, _mcu_dsp_dense_dense_1_weights,
                                          dense_1_scratch));
}

/* clang-format on */

static int32_t _mcu_dsp_dense_run_func(void *args, void *arg_type_ids, int32_t num_args,
                                       void *out_ret_value, void *out_ret_tcode,
                                       void *resource_handle) {
    (void)out_ret_value;
    (void)out_ret_tcode;
    const mcu_model_t *const model = &_mcu_network_dsp_dense;
    const int32_t status =
        _mcu_run_begin(model, NULL, args, arg_type_ids, num_args, resource_handle);
    if (status != MCU_OK) {
        return status;
    }
    _mcu_dsp_dense_layers(resource_handle);
    return _mcu_run_end(model, NULL, args, resource_handle);
}

/* ---- The descriptor ---- */

static const int64_t _mcu_dsp_dense_input0_shape[1] = {64};
static const mcu_tensor_info_t _mcu_dsp_dense_inputs[1] = {
    {
        .name = "int8",
        .shape = _mcu_dsp_dense_input0_shape,
        .place = {64, 0, 64},
        .scale = 1.0e+0F,
        .zero_point = 3,
        .ndim = 1,
        .dtype = {kDLInt, 8, 1},
    },
};

static const int64_t _mcu_dsp_dense_output0_shape[1] = {12};
static const mcu_tensor_info_t _mcu_dsp_dense_outputs[1] = {
    {
        .name = "int8_y",
        .shape = _mcu_dsp_dense_output0_shape,
        .place = {160, 0, 12},
        .scale = 3.2e+2F,
        .zero_point = -5,
        .ndim = 1,
        .dtype = {kDLInt, 8, 1},
    },
};

/* clang-format off */
/* Where the outputs of each layer lie when it has run: offset, pool and bytes. */
static const mcu_region_t _mcu_dsp_dense_regions[1] = {
    {160, 0, 12}, /* 0 */
};

/* Of each layer: its first output in the table above, and how many it has. */
static const mcu_layer_info_t _mcu_dsp_dense_layer_infos[1] = {
    {0, 1},
};
/* clang-format on */

const mcu_model_t _mcu_network_dsp_dense = {
    .run_func = _mcu_dsp_dense_run_func,
    .num_input_tensors = 1,
    .num_output_tensors = 1,
    .abi_version = MCU_MODEL_ABI_VERSION,
    .workspace_size = MCU_DSP_DENSE_WORKSPACE_SIZE,
    .workspace_alignment = MCU_DSP_DENSE_WORKSPACE_ALIGNMENT,
    .num_layers = 1,
    .name = "dsp_dense",
    .inputs = _mcu_dsp_dense_inputs,
    .outputs = _mcu_dsp_dense_outputs,
    .layers = _mcu_dsp_dense_layer_infos,
    .layer_outputs = _mcu_dsp_dense_regions,
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
