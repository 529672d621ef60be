/* network_dsp_winograd.c: a neural network, made by mcu-deploy.
 *
 *   source model  convolutions, SHA-256
 *                 7ca9095da642f8f3aa9ed9b809b3316134a92c7fe934b1f49c0808828c1a9541
 *   constants     248 bytes, as a file: SHA-256
 *                 7085475b74c8c31bfaa9048449ce3b9cffb94849112e22e3e943f7384cb7e5e1
 *   workspace     752 bytes
 *   layers        3 with 5,040 multiply-accumulates
 *
 * Everything is static but the descriptor _mcu_network_dsp_winograd, at the end. To compile this
 * file by hand, in its folder, to the same bytes:
 *
 *   arm-none-eabi-gcc -mcpu=cortex-m4 -mthumb -mfpu=fpv4-sp-d16 -mfloat-abi=hard -std=c99 \
 *       -ffunction-sections -fdata-sections -fno-common -O2 -ffp-contract=off -fno-math-errno \
 *       -frandom-seed=dsp_winograd -I include -c network_dsp_winograd.c -o network_dsp_winograd.o
 *
 * The workspace: what lies where, in bytes, and from which layer to which it is needed.
 *
 *   offset  bytes   from      to  holds
 *        0    140  input       0  int8
 *      608    140      0       2  x0
 *        0    608      1       1  scratch of conv_1
 *        0    140      2  output  int8_y
 *
 * Shapes have the model's order of axes. NHWC and the like behind a shape say in which order its
 * axes lie in memory, where that is another one.
 */
#include "network_dsp_winograd.h"

#include <string.h>

/* ---- Constants ---- */

/* The assembler takes the file in as it is (from another folder: with -I FOLDER). The arrays are
 * declared extern, as a static array without an initializer would be one of zeros; the names that
 * the assembler gives them are local to the object. Where there is no .incbin, and for -flto, build
 * with --weights array. */
__asm__(".pushsection .rodata._mcu_dsp_winograd_weights, \"a\", %progbits\n"
        ".balign 16\n"
        ".type _mcu_dsp_winograd_weights, %object\n"
        ".size _mcu_dsp_winograd_weights, 248\n"
        "_mcu_dsp_winograd_weights:\n"
        ".incbin \"network_dsp_winograd.weights.bin\"\n"
        ".popsection");
/* clang-format off */
#define MCU_CONSTANT(name, type, elements, offset, bytes)               \
    extern const type name[elements];                                   \
    __asm__(".set " #name ", _mcu_dsp_winograd_weights + " #offset "\n" \
            ".type " #name ", %object\n"                                \
            ".size " #name ", " #bytes)
MCU_CONSTANT(_mcu_dsp_winograd_conv_1_weights, uint32_t, 62, 0, 248);
#undef MCU_CONSTANT
/* clang-format on */

/* ---- Kernels ---- */

MCU_KERNEL void _mcu_dsp_winograd_reorder_35x4_int8(const int8_t *x, int8_t *y) {
    for (int32_t i0 = 0; i0 < 35; i0++) {
        for (int32_t i1 = 0; i1 < 4; i1++) {
            *y++ = x[i0 + i1 * 35];
        }
    }
}

MCU_KERNEL void _mcu_dsp_winograd_conv3x3_dsp(const int8_t *x, int8_t *y, const uint32_t *weights,
                                              uint8_t *scratch) {
    __asm__ volatile(
        /* The image is copied with its padding. */
        "add r4, %3, #352; mov r10, r4; add r9, r4, #256; movw r5, #32639; movt r5, #32639\n"
        "mov r6, r5\n"
        "1:\n"
        "stmia r4!, {r5, r6}; cmp r4, r9; bne 1b; add r4, r10, #32; mov r9, #7\n"
        "2:\n"
        "ldr r5, [%0, #0]; ldr r6, [%0, #4]; ldr r7, [%0, #8]; ldr r8, [%0, #12]\n"
        "str r5, [r4, #0]; str r6, [r4, #4]; str r7, [r4, #8]; str r8, [r4, #12]\n"
        "ldr r5, [%0, #16]; str r5, [r4, #16]; add %0, %0, #20; add r4, r4, #28\n"
        "subs r9, r9, #1; bne 2b; mov %0, r10\n"
        /* The layer's numbers go behind the taps of a tile, to r12; s10: the weights. */
        "ldr r4, [%2], #4; add r12, %3, r4; sub r4, r12, r4; vmov s9, r4; vmov s8, r12\n"
        "add lr, r12, #8; add r6, r12, #96\n"
        "3:\n"
        "ldr r4, [%2], #4; sxth r5, r4; asrs r4, r4, #16; strd r5, r4, [lr], #8; cmp lr, r6\n"
        "bne 3b; vmov s10, %2; ldr r4, [r12, #84]; add r4, %1, r4; strd %1, r4, [r12]\n"
        "ldr r4, [r12, #16]; add r4, %0, r4; str r4, [r12, #16]; add r4, r12, #88\n"
        "ldmia r4, {r4, r5}; vmov d6, r4, r5\n"
        /* Three windows, at r9-r11 if they are inside of the image and of one row. */
        "7:\n"
        "add r11, r12, #16; ldmia r11, {r0-r7}; cmp r1, r3; it lo; cmplo r2, r4; bhs 4f\n"
        "mov r9, r0; add r1, r1, r7; add r10, r9, r5; add r11, r10, r5; add r0, r11, r5\n"
        "mov r7, r6; mov r8, r6; strd r0, r1, [r12, #16]\n"
        "5:\n"
        "vmov lr, s9\n"
        /* Their taps, widened to int16: two a word, of all three windows in turn. */
        "mov r12, #3\n"
        "8:\n"
        "ldr r0, [r9], #4; ldr r1, [r10], #4; ldr r2, [r11], #4; sxtb16 r3, r0, ror #8\n"
        "sxtb16 r4, r1, ror #8; sxtb16 r5, r2, ror #8; sxtb16 r0, r0; sxtb16 r1, r1\n"
        "sxtb16 r2, r2; stmia lr!, {r0-r5}; ldr r0, [r9], #4; ldr r1, [r10], #4\n"
        "ldr r2, [r11], #4; sxtb16 r3, r0, ror #8; sxtb16 r4, r1, ror #8\n"
        "sxtb16 r5, r2, ror #8; sxtb16 r0, r0; sxtb16 r1, r1; sxtb16 r2, r2\n"
        "stmia lr!, {r0-r5}; ldr r0, [r9], #4; ldr r1, [r10], #4; ldr r2, [r11], #4\n"
        "sxtb16 r3, r0, ror #8; sxtb16 r4, r1, ror #8; sxtb16 r5, r2, ror #8; sxtb16 r0, r0\n"
        "sxtb16 r1, r1; sxtb16 r2, r2; stmia lr!, {r0-r5}; add r9, r9, r6; add r10, r10, r7\n"
        "add r11, r11, r8; subs r12, r12, #1; bne 8b; vmov lr, s10; ldmia lr!, {r10, r11}\n"
        /* Two filters, three outputs: r0-r2 are the even one's sums, r3-r5 the odd one's. */
        /* A word of weights has 256 odd + even, twice; by SXTB16 it has the even ones. */
        "13:\n"
        "vmov r12, s9; ldmia lr!, {r5, r9}; ldmia r12!, {r6-r8}; sxtb16 r2, r5\n"
        "smlad r3, r5, r6, r11; smlad r4, r5, r7, r11; smlad r5, r5, r8, r11\n"
        "smlad r0, r2, r6, r10; smlad r1, r2, r7, r10; smlad r2, r2, r8, r10\n"
        "ldmia r12!, {r6-r8}; smlad r3, r9, r6, r3; smlad r4, r9, r7, r4\n"
        "smlad r5, r9, r8, r5; sxtb16 r9, r9; smlad r0, r9, r6, r0; smlad r1, r9, r7, r1\n"
        "smlad r2, r9, r8, r2; ldmia lr!, {r9, r10, r11}; ldmia r12!, {r6-r8}\n"
        "smlad r3, r9, r6, r3; smlad r4, r9, r7, r4; smlad r5, r9, r8, r5; sxtb16 r9, r9\n"
        "smlad r0, r9, r6, r0; smlad r1, r9, r7, r1; smlad r2, r9, r8, r2\n"
        "ldmia r12!, {r6-r8}; smlad r3, r10, r6, r3; smlad r4, r10, r7, r4\n"
        "smlad r5, r10, r8, r5; sxtb16 r10, r10; smlad r0, r10, r6, r0; smlad r1, r10, r7, r1\n"
        "smlad r2, r10, r8, r2; ldmia r12!, {r6-r8}; smlad r3, r11, r6, r3\n"
        "smlad r4, r11, r7, r4; smlad r5, r11, r8, r5; sxtb16 r11, r11; smlad r0, r11, r6, r0\n"
        "smlad r1, r11, r7, r1; smlad r2, r11, r8, r2; ldmia lr!, {r9, r10, r11}\n"
        "ldmia r12!, {r6-r8}; smlad r3, r9, r6, r3; smlad r4, r9, r7, r4\n"
        "smlad r5, r9, r8, r5; sxtb16 r9, r9; smlad r0, r9, r6, r0; smlad r1, r9, r7, r1\n"
        "smlad r2, r9, r8, r2; ldmia r12!, {r6-r8}; smlad r3, r10, r6, r3\n"
        "smlad r4, r10, r7, r4; smlad r5, r10, r8, r5; sxtb16 r10, r10; smlad r0, r10, r6, r0\n"
        "smlad r1, r10, r7, r1; smlad r2, r10, r8, r2; ldmia r12!, {r6-r8}\n"
        "smlad r3, r11, r6, r3; smlad r4, r11, r7, r4; smlad r5, r11, r8, r5; sxtb16 r11, r11\n"
        "smlad r0, r11, r6, r0; smlad r1, r11, r7, r1; smlad r2, r11, r8, r2\n"
        "ldmia lr!, {r9, r10, r11}; ldmia r12!, {r6-r8}; smlad r3, r9, r6, r3\n"
        "smlad r4, r9, r7, r4; smlad r5, r9, r8, r5; sxtb16 r9, r9; smlad r0, r9, r6, r0\n"
        "smlad r1, r9, r7, r1; smlad r2, r9, r8, r2; ldmia r12!, {r6-r8}\n"
        "smlad r3, r10, r6, r3; smlad r4, r10, r7, r4; smlad r5, r10, r8, r5; sxtb16 r10, r10\n"
        "smlad r0, r10, r6, r0; smlad r1, r10, r7, r1; smlad r2, r10, r8, r2\n"
        "ldmia r12!, {r6-r8}; smlad r3, r11, r6, r3; smlad r4, r11, r7, r4\n"
        "smlad r5, r11, r8, r5; sxtb16 r11, r11; smlad r0, r11, r6, r0; smlad r1, r11, r7, r1\n"
        "smlad r2, r11, r8, r2; ldmia lr!, {r9, r10, r11}; ldmia r12!, {r6-r8}\n"
        "smlad r3, r9, r6, r3; smlad r4, r9, r7, r4; smlad r5, r9, r8, r5; sxtb16 r9, r9\n"
        "smlad r0, r9, r6, r0; smlad r1, r9, r7, r1; smlad r2, r9, r8, r2\n"
        "ldmia r12!, {r6-r8}; smlad r3, r10, r6, r3; smlad r4, r10, r7, r4\n"
        "smlad r5, r10, r8, r5; sxtb16 r10, r10; smlad r0, r10, r6, r0; smlad r1, r10, r7, r1\n"
        "smlad r2, r10, r8, r2; ldmia r12!, {r6-r8}; smlad r3, r11, r6, r3\n"
        "smlad r4, r11, r7, r4; smlad r5, r11, r8, r5; sxtb16 r11, r11; smlad r0, r11, r6, r0\n"
        "smlad r1, r11, r7, r1; smlad r2, r11, r8, r2; ldmia lr!, {r9, r10, r11}\n"
        "ldmia r12!, {r6-r8}; smlad r3, r9, r6, r3; smlad r4, r9, r7, r4\n"
        "smlad r5, r9, r8, r5; sxtb16 r9, r9; smlad r0, r9, r6, r0; smlad r1, r9, r7, r1\n"
        "smlad r2, r9, r8, r2; ldmia r12!, {r6-r8}; smlad r3, r10, r6, r3\n"
        "smlad r4, r10, r7, r4; smlad r5, r10, r8, r5; sxtb16 r10, r10; smlad r0, r10, r6, r0\n"
        "smlad r1, r10, r7, r1; smlad r2, r10, r8, r2; ldmia r12!, {r6-r8}\n"
        "smlad r3, r11, r6, r3; smlad r4, r11, r7, r4; smlad r5, r11, r8, r5; sxtb16 r11, r11\n"
        "smlad r0, r11, r6, r0; smlad r1, r11, r7, r1; smlad r2, r11, r8, r2\n"
        "ldr r9, [lr], #4; ldmia r12!, {r6-r8}; smlad r3, r9, r6, r3; smlad r4, r9, r7, r4\n"
        "smlad r5, r9, r8, r5; sxtb16 r9, r9; smlad r0, r9, r6, r0; smlad r1, r9, r7, r1\n"
        "smlad r2, r9, r8, r2\n"
        /* To elements of the output: scaled, shifted, saturated. */
        "sub r3, r3, r0; sub r4, r4, r1; sub r5, r5, r2; ldmia lr!, {r6-r11}; cbz r7, 9f\n"
        "10:\n"
        "smmla r0, r0, r6, r7; smmla r1, r1, r6, r7; smmla r2, r2, r6, r7\n"
        "ssat r0, #8, r0, asr #4; ssat r1, #8, r1, asr #4; ssat r2, #8, r2, asr #4\n"
        "smmla r3, r3, r8, r9; smmla r4, r4, r8, r9; smmla r5, r5, r8, r9\n"
        "ssat r3, #8, r3, asr #12; ssat r4, #8, r4, asr #12; ssat r5, #8, r5, asr #12\n"
        "11:\n"
        "ldmia r12, {r6-r9}\n"
        /* Stored: of each pixel both filters at once. */
        "bfi r0, r3, #8, #8; bfi r1, r4, #8, #8; bfi r2, r5, #8, #8; strh r0, [r6], #2\n"
        "strh r1, [r6, r8]; strh r2, [r6, r9]; str r6, [r12]; cmp r6, r7; bne 13b; b 12f\n"
        "9:\n"
        "vmov d0, r10, r11\n"
        /* Sums that are rounded too late, which r10 names, become the next. */
        "14:\n"
        "ldmia lr!, {r7, r10, r11}; cbnz r7, 15f; cmp r10, r0; itt ne; cmpne r10, r1\n"
        "cmpne r10, r2; beq 17f\n"
        "16:\n"
        "movs r7, r11; beq 14b; vmov r10, r11, d0; b 10b\n"
        "15:\n"
        "cmp r10, r3; itt ne; cmpne r10, r4; cmpne r10, r5; bne 16b; cmp r10, r3; it eq\n"
        "addeq r3, r3, #256; cmp r10, r4; it eq; addeq r4, r4, #256; cmp r10, r5; it eq\n"
        "addeq r5, r5, #256; b 16b\n"
        "17:\n"
        "cmp r10, r0; it eq; addeq r0, r0, #1; cmp r10, r1; it eq; addeq r1, r1, #1\n"
        "cmp r10, r2; it eq; addeq r2, r2, #1; b 16b\n"
        "12:\n"
        "ldr r6, [r12, #0]; ldr r7, [r12, #84]; add r6, r6, r7, lsl #1; add r7, r6, r7\n"
        "strd r6, r7, [r12]; b 7b\n"
        /* Other windows are begun one by one: r0 the first byte, r1 the column, r2 the */
        /* row. */
        "4:\n"
        "add r3, r12, #96; add r10, r12, #48; ldmia r10, {r4-r9}\n"
        "20:\n"
        "cmp r1, r4; bne 21f; ldr r1, [r12, #72]; ldr r10, [r12, #76]; add r2, r2, r10\n"
        "ldr r10, [r12, #80]; add r0, r0, r10\n"
        "21:\n"
        "cmp r2, r5; beq 18f; ldr r10, [r12, #40]; str r10, [r3]; str r0, [r3, #12]\n"
        "22:\n"
        "add r0, r0, r6; add r1, r1, r7\n"
        "19:\n"
        "add r3, r3, #4; add r10, r12, #108; cmp r3, r10; bne 20b; add r10, r12, #16\n"
        "stmia r10, {r0-r2}; add r10, r12, #96; ldmia r10, {r6-r11}; b 5b\n"
        "18:\n"
        "add r10, r12, #96; cmp r3, r10; beq 6f; sub r10, r3, #4; ldr r4, [r10]; str r4, [r3]\n"
        "ldr r4, [r10, #12]; str r4, [r3, #12]; add r10, r12, #130; ldr r4, [r12]\n"
        "sub r10, r10, r4; sub r4, r3, #92; str r10, [r4]; add r10, r12, #48\n"
        "ldmia r10, {r4-r9}; b 19b\n"
        "6:\n"
        : "+r"(x), "+r"(y), "+r"(weights), "+r"(scratch)
        :
        : "r4", "r5", "r6", "r7", "r8", "r9", "r10", "r11", "r12", "lr", "s0", "s1", "s2", "s3",
          "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "s12", "s13", "s14", "s15", "cc",
          "memory");
}

MCU_KERNEL void _mcu_dsp_winograd_reorder_4x35_int8(const int8_t *x, int8_t *y) {
    for (int32_t i0 = 0; i0 < 4; i0++) {
        for (int32_t i1 = 0; i1 < 35; i1++) {
            *y++ = x[i0 + i1 * 4];
        }
    }
}

/* ---- The layers, in the order of execution ---- */

/* clang-format off */
static void _mcu_dsp_winograd_layers(mcu_instance_t *instance) {
    uint8_t *const ws = instance->workspace;

    /* reshape_1_reorder: Reorder, x0 reordered: int8[1,4,7,5] -> int8[1,4,7,5] NHWC */
    int8_t *const int8 = (int8_t *)(ws + 0);
    int8_t *const reshape_1_reorder = (int8_t *)(ws + 608);
    MCU_LAYER(0, _mcu_dsp_winograd_reorder_35x4_int8(int8, reshape_1_reorder));

    /* conv_1: Conv, Conv_5 (5 nodes): int8[1,4,7,5] NHWC -> int8[1,4,7,5] NHWC; 5,040 MACs */
    int8_t *const conv_1 = (int8_t *)(ws + 608);
    uint8_t *const conv_1_scratch = (uint8_t *)(ws + 0);
    MCU_LAYER(1, _mcu_dsp_winograd_conv3x3_dsp(reshape_1_reorder, conv_1,
                                               _mcu_dsp_winograd_conv_1_weights, conv_1_scratch));

    /* conv_1_reorder: Reorder, y0 reordered: int8[1,4,7,5] NHWC -> int8[1,4,7,5] */
    int8_t *const conv_1_reorder = (int8_t *)(ws + 0);
    MCU_LAYER(2, _mcu_dsp_winograd_reorder_4x35_int8(conv_1, conv_1_reorder));
}

/* clang-format on */

static int32_t _mcu_dsp_winograd_run_func(void *args, void *arg_type_ids, int32_t num_args,
                                          void *out_ret_value, void *out_ret_tcode,
                                          void *resource_handle) {
    (void)out_ret_value;
    (void)out_ret_tcode;
    const mcu_model_t *const model = &_mcu_network_dsp_winograd;
    const int32_t status =
        _mcu_run_begin(model, NULL, args, arg_type_ids, num_args, resource_handle);
    if (status != MCU_OK) {
        return status;
    }
    _mcu_dsp_winograd_layers(resource_handle);
    return _mcu_run_end(model, NULL, args, resource_handle);
}

/* ---- The descriptor ---- */

static const int64_t _mcu_dsp_winograd_input0_shape[1] = {140};
static const mcu_tensor_info_t _mcu_dsp_winograd_inputs[1] = {
    {
        .name = "int8",
        .shape = _mcu_dsp_winograd_input0_shape,
        .place = {0, 0, 140},
        .scale = 1.0e+0F,
        .zero_point = 127,
        .ndim = 1,
        .dtype = {kDLInt, 8, 1},
    },
};

static const int64_t _mcu_dsp_winograd_output0_shape[1] = {140};
static const mcu_tensor_info_t _mcu_dsp_winograd_outputs[1] = {
    {
        .name = "int8_y",
        .shape = _mcu_dsp_winograd_output0_shape,
        .place = {0, 0, 140},
        .scale = 2.4e+2F,
        .zero_point = -128,
        .ndim = 1,
        .dtype = {kDLInt, 8, 1},
    },
};

/* clang-format off */
/* Where the outputs of each layer lie when it has run: offset, pool and bytes. */
static const mcu_region_t _mcu_dsp_winograd_regions[3] = {
    {608, 0, 140}, /* 0 */
    {608, 0, 140}, /* 1 */
    {0,   0, 140}, /* 2 */
};

/* Of each layer: its first output in the table above, and how many it has. */
static const mcu_layer_info_t _mcu_dsp_winograd_layer_infos[3] = {
    {0, 1}, {1, 1}, {2, 1},
};
/* clang-format on */

const mcu_model_t _mcu_network_dsp_winograd = {
    .run_func = _mcu_dsp_winograd_run_func,
    .num_input_tensors = 1,
    .num_output_tensors = 1,
    .abi_version = MCU_MODEL_ABI_VERSION,
    .workspace_size = MCU_DSP_WINOGRAD_WORKSPACE_SIZE,
    .workspace_alignment = MCU_DSP_WINOGRAD_WORKSPACE_ALIGNMENT,
    .num_layers = 3,
    .name = "dsp_winograd",
    .inputs = _mcu_dsp_winograd_inputs,
    .outputs = _mcu_dsp_winograd_outputs,
    .layers = _mcu_dsp_winograd_layer_infos,
    .layer_outputs = _mcu_dsp_winograd_regions,
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
