/* network_dsp_shared.c: a neural network, made by mcu-deploy.
 *
 *   source model  convolutions, SHA-256
 *                 f8bdaf72812f5ef1e5dd5bd64c343b049bae9751328fd08b9c7f29abdf0484cf
 *   constants     480 bytes, as a file: SHA-256
 *                 a27c148db14c8e6d22f49ea452e6190bf6e36099d64cbf06eb28d510854da66e
 *   workspace     480 bytes
 *   layers        6 with 3,072 multiply-accumulates
 *
 * Everything is static but the descriptor _mcu_network_dsp_shared, at the end. To compile this file
 * by hand, in its folder, to the same bytes:
 *
 *   arm-none-eabi-gcc -mcpu=cortex-m4 -mthumb -mfpu=fpv4-sp-d16 -mfloat-abi=hard -std=c99 \
 *       -ffunction-sections -fdata-sections -fno-common -O2 -ffp-contract=off -fno-math-errno \
 *       -frandom-seed=dsp_shared -I include -c network_dsp_shared.c -o network_dsp_shared.o
 *
 * The workspace: what lies where, in bytes, and from which layer to which it is needed.
 *
 *   offset  bytes   from      to  holds
 *       96    288  input       2  int8
 *      384     96      0       4  x0
 *        0     96      1       1  scratch of conv_1
 *        0    192      2       3  x1
 *        0    144      3       5  p1
 *      192    148      3       3  scratch of conv_2
 *      144    240      4  output  int8_y
 *
 * Shapes have the model's order of axes. NHWC and the like behind a shape say in which order its
 * axes lie in memory, where that is another one.
 */
#include "network_dsp_shared.h"

#include <string.h>

/* ---- Constants ---- */

/* The assembler takes the file in as it is (from another folder: with -I FOLDER). The arrays are
 * declared extern, as a static array without an initializer would be one of zeros; the names that
 * the assembler gives them are local to the object. Where there is no .incbin, and for -flto, build
 * with --weights array. */
__asm__(".pushsection .rodata._mcu_dsp_shared_weights, \"a\", %progbits\n"
        ".balign 16\n"
        ".type _mcu_dsp_shared_weights, %object\n"
        ".size _mcu_dsp_shared_weights, 480\n"
        "_mcu_dsp_shared_weights:\n"
        ".incbin \"network_dsp_shared.weights.bin\"\n"
        ".popsection");
/* clang-format off */
#define MCU_CONSTANT(name, type, elements, offset, bytes)             \
    extern const type name[elements];                                 \
    __asm__(".set " #name ", _mcu_dsp_shared_weights + " #offset "\n" \
            ".type " #name ", %object\n"                              \
            ".size " #name ", " #bytes)
MCU_CONSTANT(_mcu_dsp_shared_conv_1_weights, uint32_t, 40,   0, 160);
MCU_CONSTANT(_mcu_dsp_shared_conv_2_weights, uint32_t, 80, 160, 320);
#undef MCU_CONSTANT
/* clang-format on */

/* ---- Kernels ---- */

/* Those in assembly are one string each, some longer than C99 wants compilers to take. */
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Woverlength-strings"
#endif

MCU_FUNCTION void _mcu_dsp_shared_reorder_12x8_int8(const int8_t *x, int8_t *y) {
    for (int32_t i0 = 0; i0 < 12; i0++) {
        for (int32_t i1 = 0; i1 < 8; i1++) {
            *y++ = x[i0 + i1 * 12];
        }
    }
}

/* The layer's sizes go behind the pixels of a tile, to r12. */
MCU_KERNEL void _mcu_dsp_shared_conv1x1_any_small_real_dsp(const int8_t *x MCU_UNUSED,
                                                           int8_t *y MCU_UNUSED,
                                                           const uint32_t *weights MCU_UNUSED,
                                                           uint8_t *scratch MCU_UNUSED) {
    __asm__(".syntax unified\n"
            "    push {r4-r11, lr}\n"
            "    ldmia r2!, {r4-r11}\n"
            "    add r12, r3, r4\n"
            "    vmov s8, r3\n"
            "    add r4, r1, r5\n"
            "    strd r1, r4, [r12]\n"
            "    strd r6, r7, [r12, #8]\n"
            "    strd r8, r9, [r12, #24]\n"
            "    str r0, [r12, #16]\n"
            "    str r2, [r12, #20]\n"
            "    strd r10, r5, [r12, #32]\n"
            "    vmov s10, r12\n"
            /* Three pixels, widened to int16: two channels a word, of all three in turn. */
            "2:\n"
            "    ldr r9, [r12, #16]\n"
            "    ldr r8, [r12, #32]\n"
            "    add r10, r9, r8\n"
            "    add r11, r10, r8\n"
            "    mov r8, r10\n"
            "    vmov lr, s8\n"
            "3:\n"
            "    ldr r0, [r9], #4\n"
            "    ldr r1, [r10], #4\n"
            "    ldr r2, [r11], #4\n"
            "    sxtb16 r3, r0, ror #8\n"
            "    sxtb16 r4, r1, ror #8\n"
            "    sxtb16 r5, r2, ror #8\n"
            "    sxtb16 r0, r0\n"
            "    sxtb16 r1, r1\n"
            "    sxtb16 r2, r2\n"
            "    stmia lr!, {r0-r5}\n"
            "    cmp r9, r8\n"
            "    bne 3b\n"
            "    mov r12, lr\n"
            "    ldr lr, [r12, #20]\n"
            /* Two filters, three outputs: r0-r2 are the even one's sums, r3-r5 the odd one's. */
            /* A word of weights has 256 odd + even, twice; by SXTB16 it has the even ones. */
            "8:\n"
            "    vmov r12, s8\n"
            "    ldmia lr!, {r2, r5}\n"
            "    mov r0, r2\n"
            "    mov r1, r2\n"
            "    mov r3, r5\n"
            "    mov r4, r5\n"
            "9:\n"
            "    ldmia lr!, {r9, r10}\n"
            "    ldmia r12!, {r6-r8}\n"
            "    smlad r3, r9, r6, r3\n"
            "    smlad r4, r9, r7, r4\n"
            "    smlad r5, r9, r8, r5\n"
            "    sxtb16 r9, r9\n"
            "    smlad r0, r9, r6, r0\n"
            "    smlad r1, r9, r7, r1\n"
            "    smlad r2, r9, r8, r2\n"
            "    ldmia r12!, {r6-r8}\n"
            "    smlad r3, r10, r6, r3\n"
            "    smlad r4, r10, r7, r4\n"
            "    smlad r5, r10, r8, r5\n"
            "    sxtb16 r10, r10\n"
            "    smlad r0, r10, r6, r0\n"
            "    smlad r1, r10, r7, r1\n"
            "    smlad r2, r10, r8, r2\n"
            "    vmov r6, s10\n"
            "    cmp r12, r6\n"
            "    bne 9b\n"
            /* To elements of the output: scaled, shifted, saturated. */
            "    sub r3, r3, r0\n"
            "    sub r4, r4, r1\n"
            "    sub r5, r5, r2\n"
            "    ldmia lr!, {r7, r8}\n"
            "    mvn r9, #4\n"
            "    vmov d1, r0, r1\n"
            "    vmov d2, r2, r7\n"
            "    vcvt.f32.s32 s2, s2\n"
            "    vcvt.f32.s32 s3, s3\n"
            "    vcvt.f32.s32 s4, s4\n"
            "    vmul.f32 s2, s2, s5\n"
            "    vmul.f32 s3, s3, s5\n"
            "    vmul.f32 s4, s4, s5\n"
            "    vcvtr.s32.f32 s2, s2\n"
            "    vcvtr.s32.f32 s3, s3\n"
            "    vcvtr.s32.f32 s4, s4\n"
            "    vmov r0, r1, d1\n"
            "    vmov r2, s4\n"
            "    vmov d1, r3, r4\n"
            "    vmov d2, r5, r8\n"
            "    vcvt.f32.s32 s2, s2\n"
            "    vcvt.f32.s32 s3, s3\n"
            "    vcvt.f32.s32 s4, s4\n"
            "    vmul.f32 s2, s2, s5\n"
            "    vmul.f32 s3, s3, s5\n"
            "    vmul.f32 s4, s4, s5\n"
            "    vcvtr.s32.f32 s2, s2\n"
            "    vcvtr.s32.f32 s3, s3\n"
            "    vcvtr.s32.f32 s4, s4\n"
            "    vmov r3, r4, d1\n"
            "    vmov r5, s4\n"
            "    qadd r0, r0, r9\n"
            "    ssat r0, #8, r0\n"
            "    qadd r1, r1, r9\n"
            "    ssat r1, #8, r1\n"
            "    qadd r2, r2, r9\n"
            "    ssat r2, #8, r2\n"
            "    qadd r3, r3, r9\n"
            "    ssat r3, #8, r3\n"
            "    qadd r4, r4, r9\n"
            "    ssat r4, #8, r4\n"
            "    qadd r5, r5, r9\n"
            "    ssat r5, #8, r5\n"
            "6:\n"
            "    ldmia r12, {r6-r9}\n"
            /* Stored: of each pixel both filters at once. */
            "    bfi r0, r3, #8, #8\n"
            "    bfi r1, r4, #8, #8\n"
            "    bfi r2, r5, #8, #8\n"
            "    strh r0, [r6], #2\n"
            "    strh r1, [r6, r8]\n"
            "    strh r2, [r6, r9]\n"
            "    str r6, [r12]\n"
            "    cmp r6, r7\n"
            "    bne 8b\n"
            "    b 7f\n"
            "7:\n"
            /* The next three pixels. */
            "    ldrd r0, r5, [r12, #24]\n"
            "    ldr r1, [r12]\n"
            "    ldr r4, [r12, #16]\n"
            "    ldrd r2, r3, [r12, #32]\n"
            "    subs r0, r0, #1\n"
            "    str r0, [r12, #24]\n"
            "    beq 10f\n"
            "    add r2, r2, r2, lsl #1\n"
            "    add r4, r4, r2\n"
            "    add r1, r1, r3, lsl #1\n"
            "    cmp r0, #1\n"
            "    bne 11f\n"
            "    cbz r5, 11f\n"
            "    sub r4, r4, r5\n"
            "    add r6, r12, #40\n"
            "    sub r7, r1, r6\n"
            "    sub r7, r7, #2\n"
            "    mov r1, r6\n"
            "    ldr r2, [r12, #32]\n"
            "    cmp r5, r2\n"
            "    mvn r2, #1\n"
            "    bne 12f\n"
            "    mov r2, r7\n"
            "    add r7, r7, r3\n"
            "12:\n"
            "    strd r2, r7, [r12, #8]\n"
            "11:\n"
            "    add r2, r1, r3\n"
            "    strd r1, r2, [r12]\n"
            "    str r4, [r12, #16]\n"
            "    b 2b\n"
            "10:\n"
            "    pop {r4-r11, pc}\n");
}

MCU_FUNCTION void _mcu_dsp_shared_reorder_12x16_int8(const int8_t *x, int8_t *y) {
    for (int32_t i0 = 0; i0 < 12; i0++) {
        for (int32_t i1 = 0; i1 < 16; i1++) {
            *y++ = x[i0 + i1 * 12];
        }
    }
}

MCU_FUNCTION void _mcu_dsp_shared_reorder_8x12_int8(const int8_t *x, int8_t *y) {
    for (int32_t i0 = 0; i0 < 8; i0++) {
        for (int32_t i1 = 0; i1 < 12; i1++) {
            *y++ = x[i0 + i1 * 8];
        }
    }
}

MCU_FUNCTION void _mcu_dsp_shared_reorder_12x12_int8(const int8_t *x, int8_t *y) {
    for (int32_t i0 = 0; i0 < 12; i0++) {
        for (int32_t i1 = 0; i1 < 12; i1++) {
            *y++ = x[i0 + i1 * 12];
        }
    }
}

/* ---- The layers, in the order of execution ---- */

/* clang-format off */
static void _mcu_dsp_shared_layers(mcu_instance_t *instance) {
    uint8_t *const ws = instance->workspace;

    /* reshape_1_reorder: Reorder, x0 reordered: int8[1,8,4,3] -> int8[1,8,4,3] NHWC */
    int8_t *const s0 = (int8_t *)(ws + 96);
    int8_t *const reshape_1_reorder = (int8_t *)(ws + 384);
    MCU_LAYER(0, _mcu_dsp_shared_reorder_12x8_int8(s0, reshape_1_reorder));

    /* conv_1: Conv, p0 (5 nodes): int8[1,8,4,3] NHWC -> int8[1,8,4,3] NHWC; 768 MACs */
    int8_t *const conv_1 = (int8_t *)(ws + 384);
    uint8_t *const conv_1_scratch = (uint8_t *)(ws + 0);
    MCU_LAYER(1, _mcu_dsp_shared_conv1x1_any_small_real_dsp(
        reshape_1_reorder, conv_1, _mcu_dsp_shared_conv_1_weights, conv_1_scratch));

    /* reshape_3_reorder: Reorder, x1 reordered: int8[1,16,4,3] -> int8[1,16,4,3] NHWC */
    int8_t *const s1 = (int8_t *)(ws + 192);
    int8_t *const reshape_3_reorder = (int8_t *)(ws + 0);
    MCU_LAYER(2, _mcu_dsp_shared_reorder_12x16_int8(s1, reshape_3_reorder));

    /* conv_2: Conv, p1 (5 nodes): int8[1,16,4,3] NHWC -> int8[1,12,4,3] NHWC; 2,304 MACs */
    int8_t *const conv_2 = (int8_t *)(ws + 0);
    uint8_t *const conv_2_scratch = (uint8_t *)(ws + 192);
    MCU_LAYER(3, _mcu_dsp_shared_conv1x1_any_small_real_dsp(
        reshape_3_reorder, conv_2, _mcu_dsp_shared_conv_2_weights, conv_2_scratch));

    /* conv_1_bit_cast_reorder: Reorder, p0 reordered: int8[1,8,4,3] NHWC -> int8[1,8,4,3] */
    int8_t *const conv_1_bit_cast_reorder = (int8_t *)(ws + 144);
    MCU_LAYER(4, _mcu_dsp_shared_reorder_8x12_int8(conv_1, conv_1_bit_cast_reorder));

    /* conv_2_bit_cast_reorder: Reorder, p1 reordered: int8[1,12,4,3] NHWC -> int8[1,12,4,3] */
    int8_t *const conv_2_bit_cast_reorder = (int8_t *)(ws + 240);
    MCU_LAYER(5, _mcu_dsp_shared_reorder_12x12_int8(conv_2, conv_2_bit_cast_reorder));
}

/* clang-format on */

static int32_t _mcu_dsp_shared_run_func(void *args, void *arg_type_ids, int32_t num_args,
                                        void *out_ret_value, void *out_ret_tcode,
                                        void *resource_handle) {
    (void)out_ret_value;
    (void)out_ret_tcode;
    const mcu_model_t *const model = &_mcu_network_dsp_shared;
    const int32_t status =
        _mcu_run_begin(model, NULL, args, arg_type_ids, num_args, resource_handle);
    if (status != MCU_OK) {
        return status;
    }
    _mcu_dsp_shared_layers(resource_handle);
    return _mcu_run_end(model, NULL, args, resource_handle);
}

/* ---- The descriptor ---- */

static const int64_t _mcu_dsp_shared_input0_shape[1] = {288};
static const mcu_tensor_info_t _mcu_dsp_shared_inputs[1] = {
    {
        .name = "int8",
        .shape = _mcu_dsp_shared_input0_shape,
        .place = {96, 0, 288},
        .scale = 1.0e+0F,
        .zero_point = 3,
        .ndim = 1,
        .dtype = {kDLInt, 8, 1},
    },
};

static const int64_t _mcu_dsp_shared_output0_shape[1] = {240};
static const mcu_tensor_info_t _mcu_dsp_shared_outputs[1] = {
    {
        .name = "int8_y",
        .shape = _mcu_dsp_shared_output0_shape,
        .place = {144, 0, 240},
        .scale = 0.0F,
        .zero_point = 0,
        .ndim = 1,
        .dtype = {kDLInt, 8, 1},
    },
};

/* clang-format off */
/* Where the outputs of each layer lie when it has run: offset, pool and bytes. */
static const mcu_region_t _mcu_dsp_shared_regions[6] = {
    {384, 0, 96},  /* 0 */
    {384, 0, 96},  /* 1 */
    {0,   0, 192}, /* 2 */
    {0,   0, 144}, /* 3 */
    {144, 0, 96},  /* 4 */
    {240, 0, 144}, /* 5 */
};

/* Of each layer: its first output in the table above, and how many it has. */
static const mcu_layer_info_t _mcu_dsp_shared_layer_infos[6] = {
    {0, 1}, {1, 1}, {2, 1}, {3, 1}, {4, 1}, {5, 1},
};
/* clang-format on */

const mcu_model_t _mcu_network_dsp_shared = {
    .run_func = _mcu_dsp_shared_run_func,
    .num_input_tensors = 1,
    .num_output_tensors = 1,
    .abi_version = MCU_MODEL_ABI_VERSION,
    .workspace_size = MCU_DSP_SHARED_WORKSPACE_SIZE,
    .workspace_alignment = MCU_DSP_SHARED_WORKSPACE_ALIGNMENT,
    .num_layers = 6,
    .name = "dsp_shared",
    .inputs = _mcu_dsp_shared_inputs,
    .outputs = _mcu_dsp_shared_outputs,
    .layers = _mcu_dsp_shared_layer_infos,
    .layer_outputs = _mcu_dsp_shared_regions,
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
