/* network_dsp_pools.c: a neural network, made by mcu-deploy.
 *
 *   source model  layers, SHA-256
 *                 afa2b8936f1f1077804f424885501c5a9a464f7677513ec495b35f64b6ec30f8
 *   constants     28 bytes, as a file: SHA-256
 *                 9d0605203aeaf5e9ff3feb6b13893f479c6ef32a317a9c886581a84be06bc93d
 *   workspace     16,448 bytes
 *   layers        7 with 0 multiply-accumulates
 *
 * Everything is static but the descriptor _mcu_network_dsp_pools, at the end. To compile this file
 * by hand, in its folder, to the same bytes:
 *
 *   arm-none-eabi-gcc -mcpu=cortex-m4 -mthumb -mfpu=fpv4-sp-d16 -mfloat-abi=hard -std=c99 \
 *       -ffunction-sections -fdata-sections -fno-common -O2 -ffp-contract=off -fno-math-errno \
 *       -frandom-seed=dsp_pools -I include -c network_dsp_pools.c -o network_dsp_pools.o
 *
 * The workspace: what lies where, in bytes, and from which layer to which it is needed.
 *
 *   offset  bytes   from      to  holds
 *        0  12288  input       1  int8
 *    12288   4096      0       2  reshape_7_11
 *        0   8192      1       3  slice_0_2
 *     8192     64      2       6  quantizelinear_10_15
 *     8256    128      2       2  scratch of avg_pool_1
 *     8256   8192      3       4  reshape_1_3
 *        0   2048      4       5  maxpool_3_5
 *     2048   2048      5       6  quantizelinear_4_7
 *        0   2112      6  output  int8_y
 *
 * Shapes have the model's order of axes. NHWC and the like behind a shape say in which order its
 * axes lie in memory, where that is another one.
 */
#include "network_dsp_pools.h"

#include <string.h>

/* ---- Constants ---- */

/* The assembler takes the file in as it is (from another folder: with -I FOLDER). The arrays are
 * declared extern, as a static array without an initializer would be one of zeros; the names that
 * the assembler gives them are local to the object. Where there is no .incbin, and for -flto, build
 * with --weights array. */
__asm__(".pushsection .rodata._mcu_dsp_pools_weights, \"a\", %progbits\n"
        ".balign 16\n"
        ".type _mcu_dsp_pools_weights, %object\n"
        ".size _mcu_dsp_pools_weights, 28\n"
        "_mcu_dsp_pools_weights:\n"
        ".incbin \"network_dsp_pools.weights.bin\"\n"
        ".popsection");
/* clang-format off */
#define MCU_CONSTANT(name, type, elements, offset, bytes)            \
    extern const type name[elements];                                \
    __asm__(".set " #name ", _mcu_dsp_pools_weights + " #offset "\n" \
            ".type " #name ", %object\n"                             \
            ".size " #name ", " #bytes)
MCU_CONSTANT(_mcu_dsp_pools_avg_pool_1_constants, uint32_t, 6,  0, 24);
MCU_CONSTANT(_mcu_dsp_pools_max_pool_1_constants, uint32_t, 1, 24,  4);
#undef MCU_CONSTANT
/* clang-format on */

/* ---- Kernels ---- */

/* Those in assembly are one string each, some longer than C99 wants compilers to take. */
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Woverlength-strings"
#endif

MCU_FUNCTION void _mcu_dsp_pools_reorder_64x64_int8(const int8_t *x, int8_t *y) {
    for (int32_t i0 = 0; i0 < 64; i0++) {
        for (int32_t i1 = 0; i1 < 64; i1++) {
            *y++ = x[i0 + i1 * 64];
        }
    }
}

MCU_FUNCTION void _mcu_dsp_pools_slice_8192_int8(const int8_t *x, int8_t *y) {
    for (int32_t i0 = 0; i0 < 8192; i0++) {
        *y++ = x[i0];
    }
}

MCU_KERNEL void _mcu_dsp_pools_avg_pool8x8_64_dsp(const int8_t *x MCU_UNUSED, int8_t *y MCU_UNUSED,
                                                  const uint32_t *constants MCU_UNUSED,
                                                  uint8_t *scratch MCU_UNUSED) {
    __asm__(".syntax unified\n"
            "    push {r4-r11, lr}\n"
            "    vmov s0, r0\n"
            "    vmov s1, r1\n"
            "    vmov s3, r3\n"
            "    mov r12, r2\n"
            /* Of each window the sum of each channel, four channels a word. */
            "    ldr r0, [r12], #4\n"
            "    vmov s8, r0\n"
            "    ldr r0, [r12], #4\n"
            "    vmov s9, r0\n"
            "    ldr r0, [r12], #4\n"
            "    vmov s10, r0\n"
            "    ldr r0, [r12], #4\n"
            "    vmov s11, r0\n"
            "    ldr r0, [r12], #4\n"
            "    vmov s12, r0\n"
            "    ldr r0, [r12], #4\n"
            "    vmov s13, r0\n"
            "    vmov r12, s0\n"
            "    vmov s2, r12\n"
            "    vmov r0, s3\n"
            "    vmov s14, r0\n"
            "    movw r0, #4\n"
            "    vmov s7, r0\n"
            "1:\n"
            "    vmov r0, s8\n"
            "    mov r1, r0\n"
            "    mov r2, r0\n"
            "    mov r3, r0\n"
            "    mov r4, r0\n"
            "    mov r5, r0\n"
            "    mov r6, r0\n"
            "    mov r7, r0\n"
            "    movw lr, #16\n"
            "2:\n"
            "    ldmia r12!, {r8-r11}\n"
            "    sxtab16 r0, r0, r8\n"
            "    sxtab16 r1, r1, r8, ror #8\n"
            "    sxtab16 r2, r2, r9\n"
            "    sxtab16 r3, r3, r9, ror #8\n"
            "    sxtab16 r4, r4, r10\n"
            "    sxtab16 r5, r5, r10, ror #8\n"
            "    sxtab16 r6, r6, r11\n"
            "    sxtab16 r7, r7, r11, ror #8\n"
            "    add r12, r12, #48\n"
            "    ldmia r12!, {r8-r11}\n"
            "    sxtab16 r0, r0, r8\n"
            "    sxtab16 r1, r1, r8, ror #8\n"
            "    sxtab16 r2, r2, r9\n"
            "    sxtab16 r3, r3, r9, ror #8\n"
            "    sxtab16 r4, r4, r10\n"
            "    sxtab16 r5, r5, r10, ror #8\n"
            "    sxtab16 r6, r6, r11\n"
            "    sxtab16 r7, r7, r11, ror #8\n"
            "    add r12, r12, #48\n"
            "    ldmia r12!, {r8-r11}\n"
            "    sxtab16 r0, r0, r8\n"
            "    sxtab16 r1, r1, r8, ror #8\n"
            "    sxtab16 r2, r2, r9\n"
            "    sxtab16 r3, r3, r9, ror #8\n"
            "    sxtab16 r4, r4, r10\n"
            "    sxtab16 r5, r5, r10, ror #8\n"
            "    sxtab16 r6, r6, r11\n"
            "    sxtab16 r7, r7, r11, ror #8\n"
            "    add r12, r12, #48\n"
            "    ldmia r12!, {r8-r11}\n"
            "    sxtab16 r0, r0, r8\n"
            "    sxtab16 r1, r1, r8, ror #8\n"
            "    sxtab16 r2, r2, r9\n"
            "    sxtab16 r3, r3, r9, ror #8\n"
            "    sxtab16 r4, r4, r10\n"
            "    sxtab16 r5, r5, r10, ror #8\n"
            "    sxtab16 r6, r6, r11\n"
            "    sxtab16 r7, r7, r11, ror #8\n"
            "    add r12, r12, #48\n"
            "    subs lr, lr, #1\n"
            "    bne 2b\n"
            "    vmov r8, s14\n"
            "    stmia r8!, {r0-r7}\n"
            "    vmov s14, r8\n"
            "    vmov r12, s2\n"
            "    add r12, r12, #16\n"
            "    vmov s2, r12\n"
            "    vmov r0, s7\n"
            "    subs r0, r0, #1\n"
            "    vmov s7, r0\n"
            "    bne 1b\n"
            "    vmov r12, s3\n"
            "    vmov lr, s1\n"
            "    vmov r8, s9\n"
            "    vmov r9, s10\n"
            "    mov r11, #0\n"
            "    movt r11, #0xffff\n"
            "    mov r10, lr\n"
            "    add r10, r10, #64\n"
            "3:\n"
            "    ldmia r12!, {r0, r1}\n"
            "    and r2, r0, r11\n"
            "    and r3, r1, r11\n"
            "    lsl r0, r0, #16\n"
            "    lsl r1, r1, #16\n"
            "    smmla r0, r0, r8, r9\n"
            "    smmla r1, r1, r8, r9\n"
            "    smmla r2, r2, r8, r9\n"
            "    smmla r3, r3, r8, r9\n"
            "    mov r6, #0\n"
            "    add r7, r0, #2048\n"
            "    tst r7, #0xff000\n"
            "    it eq\n"
            "    orreq r6, r6, #1\n"
            "    add r7, r1, #2048\n"
            "    tst r7, #0xff000\n"
            "    it eq\n"
            "    orreq r6, r6, #2\n"
            "    add r7, r2, #2048\n"
            "    tst r7, #0xff000\n"
            "    it eq\n"
            "    orreq r6, r6, #4\n"
            "    add r7, r3, #2048\n"
            "    tst r7, #0xff000\n"
            "    it eq\n"
            "    orreq r6, r6, #8\n"
            "    ssat r0, #8, r0, asr #20\n"
            "    ssat r1, #8, r1, asr #20\n"
            "    ssat r2, #8, r2, asr #20\n"
            "    ssat r3, #8, r3, asr #20\n"
            "    strb r0, [lr], #4\n"
            "    strb r1, [lr, #-3]\n"
            "    strb r2, [lr, #-2]\n"
            "    strb r3, [lr, #-1]\n"
            "    cmp r6, #0\n"
            "    beq 4f\n"
            "5:\n"
            "    rbit r7, r6\n"
            "    clz r7, r7\n"
            "    sub r0, r6, #1\n"
            "    and r6, r6, r0\n"
            "    sub r7, r7, #4\n"
            "    add r7, r7, lr\n"
            "    vmov r0, s1\n"
            "    sub r0, r7, r0\n"
            "    vmov r1, s0\n"
            "    add r0, r0, r1\n"
            "    mov r1, #0\n"
            "    vmov s14, r1\n"
            "    movw r2, #16\n"
            "    movw r5, #64\n"
            "6:\n"
            "    movw r3, #4\n"
            "7:\n"
            "    ldrsb r4, [r0]\n"
            "    add r0, r0, r5\n"
            "    add r4, r4, #128\n"
            "    vmov s15, r4\n"
            "    vcvt.f32.s32 s15, s15\n"
            "    vmul.f32 s15, s15, s11\n"
            "    vadd.f32 s14, s14, s15\n"
            "    subs r3, r3, #1\n"
            "    bne 7b\n"
            "    subs r2, r2, #1\n"
            "    bne 6b\n"
            "    vdiv.f32 s14, s14, s12\n"
            "    vdiv.f32 s14, s14, s13\n"
            "    vcvtr.s32.f32 s14, s14\n"
            "    vmov r0, s14\n"
            "    sub r0, r0, #128\n"
            "    ssat r0, #8, r0\n"
            "    strb r0, [r7]\n"
            "    cmp r6, #0\n"
            "    bne 5b\n"
            "4:\n"
            "    cmp lr, r10\n"
            "    bne 3b\n"
            "    vmov s1, lr\n"
            "    vmov r0, s0\n"
            "    add r0, r0, #64\n"
            "    vmov s0, r0\n"
            "    vmov r0, s0\n"
            "    add r0, r0, #448\n"
            "    vmov s0, r0\n"
            "    vmov r0, s0\n"
            "    add r0, r0, #3584\n"
            "    vmov s0, r0\n"
            "    pop {r4-r11, pc}\n");
}

MCU_FUNCTION void _mcu_dsp_pools_reorder_256x32_int8(const int8_t *x, int8_t *y) {
    for (int32_t i0 = 0; i0 < 256; i0++) {
        for (int32_t i1 = 0; i1 < 32; i1++) {
            *y++ = x[i0 + i1 * 256];
        }
    }
}

MCU_KERNEL void _mcu_dsp_pools_max_pool2x2_32_dsp(const int8_t *x MCU_UNUSED, int8_t *y MCU_UNUSED,
                                                  const uint32_t *constants MCU_UNUSED) {
    __asm__(".syntax unified\n"
            "    push {r4-r7, r10, r11}\n"
            "    vmov s0, r0\n"
            "    vmov s1, r1\n"
            "    mov r12, r2\n"
            /* Of each window the greatest element of each channel, four channels a word. */
            "    ldr r0, [r12], #4\n"
            "    vmov s8, r0\n"
            "    movw r0, #8\n"
            "    vmov s5, r0\n"
            "1:\n"
            "    movw r0, #8\n"
            "    vmov s6, r0\n"
            "2:\n"
            "    vmov r12, s0\n"
            "    vmov s2, r12\n"
            "    vmov r10, s1\n"
            "    movw r0, #2\n"
            "    vmov s7, r0\n"
            "3:\n"
            "    ldmia r12!, {r0-r3}\n"
            "    add r12, r12, #16\n"
            "    ldmia r12!, {r4-r7}\n"
            "    ssub8 r11, r0, r4\n"
            "    sel r0, r0, r4\n"
            "    ssub8 r11, r1, r5\n"
            "    sel r1, r1, r5\n"
            "    ssub8 r11, r2, r6\n"
            "    sel r2, r2, r6\n"
            "    ssub8 r11, r3, r7\n"
            "    sel r3, r3, r7\n"
            "    add r12, r12, #16\n"
            "    add r12, r12, #448\n"
            "    ldmia r12!, {r4-r7}\n"
            "    ssub8 r11, r0, r4\n"
            "    sel r0, r0, r4\n"
            "    ssub8 r11, r1, r5\n"
            "    sel r1, r1, r5\n"
            "    ssub8 r11, r2, r6\n"
            "    sel r2, r2, r6\n"
            "    ssub8 r11, r3, r7\n"
            "    sel r3, r3, r7\n"
            "    add r12, r12, #16\n"
            "    ldmia r12!, {r4-r7}\n"
            "    ssub8 r11, r0, r4\n"
            "    sel r0, r0, r4\n"
            "    ssub8 r11, r1, r5\n"
            "    sel r1, r1, r5\n"
            "    ssub8 r11, r2, r6\n"
            "    sel r2, r2, r6\n"
            "    ssub8 r11, r3, r7\n"
            "    sel r3, r3, r7\n"
            "    add r12, r12, #16\n"
            "    add r12, r12, #448\n"
            "    stmia r10!, {r0-r3}\n"
            "    vmov r12, s2\n"
            "    add r12, r12, #16\n"
            "    vmov s2, r12\n"
            "    vmov r0, s7\n"
            "    subs r0, r0, #1\n"
            "    vmov s7, r0\n"
            "    bne 3b\n"
            "    vmov s1, r10\n"
            "    vmov r0, s0\n"
            "    add r0, r0, #64\n"
            "    vmov s0, r0\n"
            "    vmov r0, s6\n"
            "    subs r0, r0, #1\n"
            "    vmov s6, r0\n"
            "    bne 2b\n"
            "    vmov r0, s0\n"
            "    add r0, r0, #512\n"
            "    vmov s0, r0\n"
            "    vmov r0, s5\n"
            "    subs r0, r0, #1\n"
            "    vmov s5, r0\n"
            "    bne 1b\n"
            "    pop {r4-r7, r10, r11}\n"
            "    bx lr\n");
}

MCU_FUNCTION void _mcu_dsp_pools_reorder_32x64_int8(const int8_t *x, int8_t *y) {
    for (int32_t i0 = 0; i0 < 32; i0++) {
        for (int32_t i1 = 0; i1 < 64; i1++) {
            *y++ = x[i0 + i1 * 32];
        }
    }
}

MCU_FUNCTION void _mcu_dsp_pools_concat_2112_int8(const int8_t *x0, const int8_t *x1, int8_t *y) {
    memcpy(y, x0, 2048);
    y += 2048;
    memcpy(y, x1, 64);
}

/* ---- The layers, in the order of execution ---- */

/* clang-format off */
static void _mcu_dsp_pools_layers(mcu_instance_t *instance) {
    uint8_t *const ws = instance->workspace;

    /* reshape_3_bit_cast_reorder: Reorder, reshape_7_11 reordered:
     * int8[1,64,8,8] -> int8[1,64,8,8] NHWC */
    int8_t *const slice_6_10 = (int8_t *)(ws + 8192);
    int8_t *const reshape_3_bit_cast_reorder = (int8_t *)(ws + 12288);
    MCU_LAYER(0, _mcu_dsp_pools_reorder_64x64_int8(slice_6_10, reshape_3_bit_cast_reorder));

    /* slice_1: Slice, slice_0_2: int8[12288] -> int8[8192] */
    int8_t *const int8 = (int8_t *)(ws + 0);
    int8_t *const slice_1 = (int8_t *)(ws + 0);
    MCU_LAYER(1, _mcu_dsp_pools_slice_8192_int8(int8, slice_1));

    /* avg_pool_1: AveragePool, pool1 (3 nodes): int8[1,64,8,8] NHWC -> int8[1,64,1,1] */
    int8_t *const avg_pool_1 = (int8_t *)(ws + 8192);
    uint8_t *const avg_pool_1_scratch = (uint8_t *)(ws + 8256);
    MCU_LAYER(2, _mcu_dsp_pools_avg_pool8x8_64_dsp(reshape_3_bit_cast_reorder, avg_pool_1,
                                                   _mcu_dsp_pools_avg_pool_1_constants,
                                                   avg_pool_1_scratch));

    /* reshape_1_reorder: Reorder, reshape_1_3 reordered:
     * int8[1,32,16,16] -> int8[1,32,16,16] NHWC */
    int8_t *const reshape_1_reorder = (int8_t *)(ws + 8256);
    MCU_LAYER(3, _mcu_dsp_pools_reorder_256x32_int8(slice_1, reshape_1_reorder));

    /* max_pool_1: MaxPool, pool0: int8[1,32,16,16] NHWC -> int8[1,32,8,8] NHWC */
    int8_t *const max_pool_1 = (int8_t *)(ws + 0);
    MCU_LAYER(4, _mcu_dsp_pools_max_pool2x2_32_dsp(reshape_1_reorder, max_pool_1,
                                                   _mcu_dsp_pools_max_pool_1_constants));

    /* max_pool_1_bit_cast_reorder: Reorder, quantizelinear_4_7 reordered:
     * int8[1,32,8,8] NHWC -> int8[1,32,8,8] */
    int8_t *const max_pool_1_bit_cast_reorder = (int8_t *)(ws + 2048);
    MCU_LAYER(5, _mcu_dsp_pools_reorder_32x64_int8(max_pool_1, max_pool_1_bit_cast_reorder));

    /* concat_1: Concat, Concat_12: int8[2048], int8[64] -> int8[2112] */
    int8_t *const concat_1 = (int8_t *)(ws + 0);
    MCU_LAYER(6, _mcu_dsp_pools_concat_2112_int8(max_pool_1_bit_cast_reorder, avg_pool_1,
                                                 concat_1));
}

/* clang-format on */

static int32_t _mcu_dsp_pools_run_func(void *args, void *arg_type_ids, int32_t num_args,
                                       void *out_ret_value, void *out_ret_tcode,
                                       void *resource_handle) {
    (void)out_ret_value;
    (void)out_ret_tcode;
    const mcu_model_t *const model = &_mcu_network_dsp_pools;
    const int32_t status =
        _mcu_run_begin(model, NULL, args, arg_type_ids, num_args, resource_handle);
    if (status != MCU_OK) {
        return status;
    }
    _mcu_dsp_pools_layers(resource_handle);
    return _mcu_run_end(model, NULL, args, resource_handle);
}

/* ---- The descriptor ---- */

static const int64_t _mcu_dsp_pools_input0_shape[1] = {12288};
static const mcu_tensor_info_t _mcu_dsp_pools_inputs[1] = {
    {
        .name = "int8",
        .shape = _mcu_dsp_pools_input0_shape,
        .place = {0, 0, 12288},
        .scale = 2.31e-2F,
        .zero_point = 0,
        .ndim = 1,
        .dtype = {kDLInt, 8, 1},
    },
};

static const int64_t _mcu_dsp_pools_output0_shape[1] = {2112};
static const mcu_tensor_info_t _mcu_dsp_pools_outputs[1] = {
    {
        .name = "int8_y",
        .shape = _mcu_dsp_pools_output0_shape,
        .place = {0, 0, 2112},
        .scale = 0.0F,
        .zero_point = 0,
        .ndim = 1,
        .dtype = {kDLInt, 8, 1},
    },
};

/* clang-format off */
/* Where the outputs of each layer lie when it has run: offset, pool and bytes. */
static const mcu_region_t _mcu_dsp_pools_regions[7] = {
    {12288, 0, 4096}, /* 0 */
    {0,     0, 8192}, /* 1 */
    {8192,  0, 64},   /* 2 */
    {8256,  0, 8192}, /* 3 */
    {0,     0, 2048}, /* 4 */
    {2048,  0, 2048}, /* 5 */
    {0,     0, 2112}, /* 6 */
};

/* Of each layer: its first output in the table above, and how many it has. */
static const mcu_layer_info_t _mcu_dsp_pools_layer_infos[7] = {
    {0, 1}, {1, 1}, {2, 1}, {3, 1}, {4, 1}, {5, 1}, {6, 1},
};
/* clang-format on */

const mcu_model_t _mcu_network_dsp_pools = {
    .run_func = _mcu_dsp_pools_run_func,
    .num_input_tensors = 1,
    .num_output_tensors = 1,
    .abi_version = MCU_MODEL_ABI_VERSION,
    .workspace_size = MCU_DSP_POOLS_WORKSPACE_SIZE,
    .workspace_alignment = MCU_DSP_POOLS_WORKSPACE_ALIGNMENT,
    .num_layers = 7,
    .name = "dsp_pools",
    .inputs = _mcu_dsp_pools_inputs,
    .outputs = _mcu_dsp_pools_outputs,
    .layers = _mcu_dsp_pools_layer_infos,
    .layer_outputs = _mcu_dsp_pools_regions,
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
