/* network_dsp_convolution.c: a neural network, made by mcu-deploy.
 *
 *   source model  convolutions, SHA-256
 *                 4488765474ce8d8c10a79d8412818dfe5b27f8adc022b8bf4d81fc798ba42d58
 *   constants     388 bytes, as a file: SHA-256
 *                 eae48e136e947379283385c808621db04f0e37a4196f3db898e687d84f432254
 *   workspace     896 bytes
 *   layers        5 with 7,776 multiply-accumulates
 *
 * Everything is static but the descriptor _mcu_network_dsp_convolution, at the end. To compile this
 * file by hand, in its folder, to the same bytes:
 *
 *   arm-none-eabi-gcc -mcpu=cortex-m4 -mthumb -mfpu=fpv4-sp-d16 -mfloat-abi=hard -std=c99 \
 *       -ffunction-sections -fdata-sections -fno-common -O2 -ffp-contract=off -fno-math-errno \
 *       -frandom-seed=dsp_convolution -I include -c network_dsp_convolution.c -o \
 *       network_dsp_convolution.o
 *
 * The workspace: what lies where, in bytes, and from which layer to which it is needed.
 *
 *   offset  bytes   from      to  holds
 *      304    432  input       1  int8
 *       16    432      1       2  x0
 *        0    288      2       3  y0
 *      448    444      2       2  scratch of conv_1
 *      288    288      3       4  y0
 *        0    288      4  output  int8_y
 *
 * Shapes have the model's order of axes. NHWC and the like behind a shape say in which order its
 * axes lie in memory, where that is another one.
 */
#include "network_dsp_convolution.h"

#include <string.h>

/* ---- Constants ---- */

/* The assembler takes the file in as it is (from another folder: with -I FOLDER). The arrays are
 * declared extern, as a static array without an initializer would be one of zeros; the names that
 * the assembler gives them are local to the object. Where there is no .incbin, and for -flto, build
 * with --weights array. */
__asm__(".pushsection .rodata._mcu_dsp_convolution_weights, \"a\", %progbits\n"
        ".balign 16\n"
        ".type _mcu_dsp_convolution_weights, %object\n"
        ".size _mcu_dsp_convolution_weights, 388\n"
        "_mcu_dsp_convolution_weights:\n"
        ".incbin \"network_dsp_convolution.weights.bin\"\n"
        ".popsection");
/* clang-format off */
#define MCU_CONSTANT(name, type, elements, offset, bytes)                  \
    extern const type name[elements];                                      \
    __asm__(".set " #name ", _mcu_dsp_convolution_weights + " #offset "\n" \
            ".type " #name ", %object\n"                                   \
            ".size " #name ", " #bytes)
MCU_CONSTANT(_mcu_dsp_convolution_conv_1_weights, uint32_t, 97, 0, 388);
#undef MCU_CONSTANT
/* clang-format on */

/* ---- Kernels ---- */

MCU_KERNEL void _mcu_dsp_convolution_slice_432_int8(const int8_t *x, int8_t *y) {
    for (int32_t i0 = 0; i0 < 432; i0++) {
        *y++ = x[i0];
    }
}

MCU_KERNEL void _mcu_dsp_convolution_reorder_144x3_int8(const int8_t *x, int8_t *y) {
    for (int32_t i0 = 0; i0 < 144; i0++) {
        for (int32_t i1 = 0; i1 < 3; i1++) {
            *y++ = x[i0 + i1 * 144];
        }
    }
}

MCU_KERNEL void _mcu_dsp_convolution_conv3x3_dsp(const int8_t *x, int8_t *y,
                                                 const uint32_t *weights, uint8_t *scratch) {
    __asm__ volatile(
        "ldr r4, [%2], #4; add r12, %3, r4; sub r4, r12, r4; vmov s9, r4; vmov s8, r12\n"
        "add lr, r12, #8; add r6, r12, #136\n"
        "1:\n"
        "ldr r4, [%2], #4; sxth r5, r4; asrs r4, r4, #16; strd r5, r4, [lr], #8; cmp lr, r6\n"
        "bne 1b; vmov s10, %2; ldr r4, [r12, #84]; add r4, %1, r4; strd %1, r4, [r12]\n"
        "ldr r4, [r12, #16]; add r4, %0, r4; str r4, [r12, #16]; add r4, r12, #88\n"
        "ldmia r4, {r4, r5}; vmov d6, r4, r5; ldr r4, [r12, #132]; ldr r7, [r12, #128]\n"
        "add r4, r4, r12; add r5, r4, r7; add r6, r5, r7; add lr, r12, #160\n"
        "stmia lr, {r4-r6}\n"
        "5:\n"
        "add r11, r12, #16; ldmia r11, {r0-r7}; cmp r1, r3; it lo; cmplo r2, r4; bhs 2f\n"
        "mov r9, r0; add r1, r1, r7; add r10, r9, r5; add r11, r10, r5; add r0, r11, r5\n"
        "mov r7, r6; mov r8, r6; strd r0, r1, [r12, #16]\n"
        "3:\n"
        "vmov lr, s9; ldr r0, [r9], #4; ldr r1, [r10], #4; ldr r2, [r11], #4\n"
        "sxtb16 r3, r0, ror #8; sxtb16 r4, r1, ror #8; sxtb16 r5, r2, ror #8; sxtb16 r0, r0\n"
        "sxtb16 r1, r1; sxtb16 r2, r2; stmia lr!, {r0-r5}; ldr r0, [r9], #4\n"
        "ldr r1, [r10], #4; ldr r2, [r11], #4; sxtb16 r3, r0, ror #8; sxtb16 r4, r1, ror #8\n"
        "sxtb16 r5, r2, ror #8; sxtb16 r0, r0; sxtb16 r1, r1; sxtb16 r2, r2\n"
        "stmia lr!, {r0-r5}; ldrsb r0, [r9], #1; ldrsb r1, [r10], #1; ldrsb r2, [r11], #1\n"
        "strh r0, [lr, #96]; strh r1, [lr, #100]; strh r2, [lr, #104]; add r9, r9, r6\n"
        "add r10, r10, r7; add r11, r11, r8; ldr r0, [r9], #4; ldr r1, [r10], #4\n"
        "ldr r2, [r11], #4; sxtb16 r3, r0, ror #8; sxtb16 r4, r1, ror #8\n"
        "sxtb16 r5, r2, ror #8; sxtb16 r0, r0; sxtb16 r1, r1; sxtb16 r2, r2\n"
        "stmia lr!, {r0-r5}; ldr r0, [r9], #4; ldr r1, [r10], #4; ldr r2, [r11], #4\n"
        "sxtb16 r3, r0, ror #8; sxtb16 r4, r1, ror #8; sxtb16 r5, r2, ror #8; sxtb16 r0, r0\n"
        "sxtb16 r1, r1; sxtb16 r2, r2; stmia lr!, {r0-r5}; ldrsb r0, [r9], #1\n"
        "ldrsb r1, [r10], #1; ldrsb r2, [r11], #1; strh r0, [lr, #50]; strh r1, [lr, #54]\n"
        "strh r2, [lr, #58]; add r9, r9, r6; add r10, r10, r7; add r11, r11, r8\n"
        "ldr r0, [r9], #4; ldr r1, [r10], #4; ldr r2, [r11], #4; sxtb16 r3, r0, ror #8\n"
        "sxtb16 r4, r1, ror #8; sxtb16 r5, r2, ror #8; sxtb16 r0, r0; sxtb16 r1, r1\n"
        "sxtb16 r2, r2; stmia lr!, {r0-r5}; ldr r0, [r9], #4; ldr r1, [r10], #4\n"
        "ldr r2, [r11], #4; sxtb16 r3, r0, ror #8; sxtb16 r4, r1, ror #8\n"
        "sxtb16 r5, r2, ror #8; sxtb16 r0, r0; sxtb16 r1, r1; sxtb16 r2, r2\n"
        "stmia lr!, {r0-r5}; ldrsb r0, [r9], #1; ldrsb r1, [r10], #1; ldrsb r2, [r11], #1\n"
        "strh r0, [lr, #12]; strh r1, [lr, #16]; strh r2, [lr, #20]; vmov lr, s10\n"
        "9:\n"
        "vmov r12, s9; ldmia lr!, {r2, r5}; ldmia lr!, {r9, r10, r11}; ldmia r12!, {r6-r8}\n"
        "smlad r3, r9, r6, r5; smlad r4, r9, r7, r5; smlad r5, r9, r8, r5; sxtb16 r9, r9\n"
        "smlad r0, r9, r6, r2; smlad r1, r9, r7, r2; smlad r2, r9, r8, r2\n"
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
        "smlad r1, r11, r7, r1; smlad r2, r11, r8, r2; ldmia lr!, {r9, r10}\n"
        "ldmia r12!, {r6-r8}; smlad r3, r9, r6, r3; smlad r4, r9, r7, r4\n"
        "smlad r5, r9, r8, r5; sxtb16 r9, r9; smlad r0, r9, r6, r0; smlad r1, r9, r7, r1\n"
        "smlad r2, r9, r8, r2; ldmia r12!, {r6-r8}; smlad r3, r10, r6, r3\n"
        "smlad r4, r10, r7, r4; smlad r5, r10, r8, r5; sxtb16 r10, r10; smlad r0, r10, r6, r0\n"
        "smlad r1, r10, r7, r1; smlad r2, r10, r8, r2; sub r3, r3, r0; sub r4, r4, r1\n"
        "sub r5, r5, r2; ldmia lr!, {r6-r9}; cbz r6, 6f; smmla r0, r0, r6, r7\n"
        "smmla r1, r1, r6, r7; smmla r2, r2, r6, r7; ssat r0, #8, r0, asr #4\n"
        "ssat r1, #8, r1, asr #4; ssat r2, #8, r2, asr #4; smmla r3, r3, r8, r9\n"
        "smmla r4, r4, r8, r9; smmla r5, r5, r8, r9; ssat r3, #8, r3, asr #12\n"
        "ssat r4, #8, r4, asr #12; ssat r5, #8, r5, asr #12\n"
        "7:\n"
        "ldmia r12, {r6-r9}; bfi r0, r3, #8, #8; bfi r1, r4, #8, #8; bfi r2, r5, #8, #8\n"
        "strh r0, [r6], #2; strh r1, [r6, r8]; strh r2, [r6, r9]; str r6, [r12]; cmp r6, r7\n"
        "bne 9b; b 8f\n"
        "6:\n"
        "vmov d0, r0, r1; vmov d1, r2, r7; vcvt.f32.s32 s0, s0; vcvt.f32.s32 s1, s1\n"
        "vcvt.f32.s32 s2, s2; vmul.f32 s0, s0, s3; vmul.f32 s1, s1, s3; vmul.f32 s2, s2, s3\n"
        "vcvtr.s32.f32 s0, s0; vcvtr.s32.f32 s1, s1; vcvtr.s32.f32 s2, s2; vmov r0, r1, d0\n"
        "vmov r2, s2; vmov d0, r3, r4; vmov d1, r5, r8; vcvt.f32.s32 s0, s0\n"
        "vcvt.f32.s32 s1, s1; vcvt.f32.s32 s2, s2; vmul.f32 s0, s0, s3; vmul.f32 s1, s1, s3\n"
        "vmul.f32 s2, s2, s3; vcvtr.s32.f32 s0, s0; vcvtr.s32.f32 s1, s1\n"
        "vcvtr.s32.f32 s2, s2; vmov r3, r4, d0; vmov r5, s2; qadd r0, r0, r9; ssat r0, #8, r0\n"
        "qadd r1, r1, r9; ssat r1, #8, r1; qadd r2, r2, r9; ssat r2, #8, r2; qadd r3, r3, r9\n"
        "ssat r3, #8, r3; qadd r4, r4, r9; ssat r4, #8, r4; qadd r5, r5, r9; ssat r5, #8, r5\n"
        "b 7b\n"
        "8:\n"
        "ldr r6, [r12, #0]; ldr r7, [r12, #84]; add r6, r6, r7, lsl #1; add r7, r6, r7\n"
        "strd r6, r7, [r12]; b 5b\n"
        "2:\n"
        "add r3, r12, #136; add r10, r12, #48; ldmia r10, {r4-r9}\n"
        "12:\n"
        "cmp r1, r4; bne 13f; ldr r1, [r12, #72]; ldr r10, [r12, #76]; add r2, r2, r10\n"
        "ldr r10, [r12, #80]; add r0, r0, r10\n"
        "13:\n"
        "cmp r2, r5; beq 10f; cmp r1, r8; it lo; cmplo r2, r9; blo 15f; ldr r8, [r3, #24]\n"
        "ldr r4, [r12, #108]; str r4, [r3]; str r8, [r3, #12]; ldr r10, [r12, #128]\n"
        "add r10, r10, r8; mov r9, r8; ldr r4, [r12, #124]; pkhbt r4, r4, r4, lsl #16\n"
        "mov r5, r4; mov r6, r4; mov r7, r4\n"
        "16:\n"
        "stmia r9!, {r4-r7}; stmia r9!, {r4-r7}; cmp r9, r10; bne 16b; rsb r5, r1, #0\n"
        "bic r5, r5, r5, asr #31; ldr r6, [r12, #112]; sub r6, r6, r1; ldr r7, [r12, #116]\n"
        "cmp r6, r7; it gt; movgt r6, r7; subs r6, r6, r5; ble 17f; ldr r7, [r12, #120]\n"
        "mul r6, r6, r7; mul r5, r5, r7; add r7, r0, r5; add r8, r8, r5; mov r9, r2\n"
        "ldr r5, [r12, #96]; ldr r10, [r12, #92]; ldr r11, [r12, #100]; ldr lr, [r12, #104]\n"
        "18:\n"
        "cmp r9, r5; bhs 19f; mov r12, r6\n"
        "20:\n"
        "subs r12, r12, #1; ldrb r4, [r7, r12]; strb r4, [r8, r12]; bne 20b\n"
        "19:\n"
        "add r7, r7, r11; add r8, r8, lr; add r9, r9, #1; subs r10, r10, #1; bne 18b\n"
        "17:\n"
        "vmov r12, s8; add r10, r12, #48; ldmia r10, {r4-r9}; b 14f\n"
        "15:\n"
        "ldr r10, [r12, #40]; str r10, [r3]; str r0, [r3, #12]\n"
        "14:\n"
        "add r0, r0, r6; add r1, r1, r7\n"
        "11:\n"
        "add r3, r3, #4; add r10, r12, #148; cmp r3, r10; bne 12b; add r10, r12, #16\n"
        "stmia r10, {r0-r2}; add r10, r12, #136; ldmia r10, {r6-r11}; b 3b\n"
        "10:\n"
        "add r10, r12, #136; cmp r3, r10; beq 4f; sub r10, r3, #4; ldr r4, [r10]\n"
        "str r4, [r3]; ldr r4, [r10, #12]; str r4, [r3, #12]; add r10, r12, #170\n"
        "ldr r4, [r12]; sub r10, r10, r4; sub r4, r3, #132; str r10, [r4]; add r10, r12, #48\n"
        "ldmia r10, {r4-r9}; b 11b\n"
        "4:\n"
        : "+r"(x), "+r"(y), "+r"(weights), "+r"(scratch)
        :
        : "r4", "r5", "r6", "r7", "r8", "r9", "r10", "r11", "r12", "lr", "s0", "s1", "s2", "s3",
          "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "s12", "s13", "s14", "s15", "cc",
          "memory");
}

MCU_KERNEL void _mcu_dsp_convolution_reorder_8x36_int8(const int8_t *x, int8_t *y) {
    for (int32_t i0 = 0; i0 < 8; i0++) {
        for (int32_t i1 = 0; i1 < 36; i1++) {
            *y++ = x[i0 + i1 * 8];
        }
    }
}

MCU_KERNEL void _mcu_dsp_convolution_concat_288_int8(const int8_t *x0, int8_t *y) {
    memcpy(y, x0, 288);
}

/* ---- The layers, in the order of execution ---- */

/* clang-format off */
static void _mcu_dsp_convolution_layers(mcu_instance_t *instance) {
    uint8_t *const ws = instance->workspace;

    /* slice_1: Slice, Slice_0: int8[432] -> int8[432] */
    int8_t *const int8 = (int8_t *)(ws + 304);
    int8_t *const slice_1 = (int8_t *)(ws + 304);
    MCU_LAYER(0, _mcu_dsp_convolution_slice_432_int8(int8, slice_1));

    /* reshape_1_reorder: Reorder, x0 reordered: int8[1,3,12,12] -> int8[1,3,12,12] NHWC */
    int8_t *const reshape_1_reorder = (int8_t *)(ws + 16);
    MCU_LAYER(1, _mcu_dsp_convolution_reorder_144x3_int8(slice_1, reshape_1_reorder));

    /* conv_1: Conv, Conv_5 (5 nodes): int8[1,3,12,12] NHWC -> int8[1,8,6,6] NHWC; 7,776 MACs */
    int8_t *const conv_1 = (int8_t *)(ws + 0);
    uint8_t *const conv_1_scratch = (uint8_t *)(ws + 448);
    MCU_LAYER(2, _mcu_dsp_convolution_conv3x3_dsp(
        reshape_1_reorder, conv_1, _mcu_dsp_convolution_conv_1_weights, conv_1_scratch));

    /* conv_1_reorder: Reorder, y0 reordered: int8[1,8,6,6] NHWC -> int8[1,8,6,6] */
    int8_t *const conv_1_reorder = (int8_t *)(ws + 288);
    MCU_LAYER(3, _mcu_dsp_convolution_reorder_8x36_int8(conv_1, conv_1_reorder));

    /* concat_1: Concat, Concat_8: int8[288] -> int8[288] */
    int8_t *const concat_1 = (int8_t *)(ws + 0);
    MCU_LAYER(4, _mcu_dsp_convolution_concat_288_int8(conv_1_reorder, concat_1));
}

/* clang-format on */

static int32_t _mcu_dsp_convolution_run_func(void *args, void *arg_type_ids, int32_t num_args,
                                             void *out_ret_value, void *out_ret_tcode,
                                             void *resource_handle) {
    (void)out_ret_value;
    (void)out_ret_tcode;
    const mcu_model_t *const model = &_mcu_network_dsp_convolution;
    const int32_t status =
        _mcu_run_begin(model, NULL, args, arg_type_ids, num_args, resource_handle);
    if (status != MCU_OK) {
        return status;
    }
    _mcu_dsp_convolution_layers(resource_handle);
    return _mcu_run_end(model, NULL, args, resource_handle);
}

/* ---- The descriptor ---- */

static const int64_t _mcu_dsp_convolution_input0_shape[1] = {432};
static const mcu_tensor_info_t _mcu_dsp_convolution_inputs[1] = {
    {
        .name = "int8",
        .shape = _mcu_dsp_convolution_input0_shape,
        .place = {304, 0, 432},
        .scale = 1.0e+0F,
        .zero_point = -128,
        .ndim = 1,
        .dtype = {kDLInt, 8, 1},
    },
};

static const int64_t _mcu_dsp_convolution_output0_shape[1] = {288};
static const mcu_tensor_info_t _mcu_dsp_convolution_outputs[1] = {
    {
        .name = "int8_y",
        .shape = _mcu_dsp_convolution_output0_shape,
        .place = {0, 0, 288},
        .scale = 2.078461e+2F,
        .zero_point = -128,
        .ndim = 1,
        .dtype = {kDLInt, 8, 1},
    },
};

/* clang-format off */
/* Where the outputs of each layer lie when it has run: offset, pool and bytes. */
static const mcu_region_t _mcu_dsp_convolution_regions[5] = {
    {304, 0, 432}, /* 0 */
    {16,  0, 432}, /* 1 */
    {0,   0, 288}, /* 2 */
    {288, 0, 288}, /* 3 */
    {0,   0, 288}, /* 4 */
};

/* Of each layer: its first output in the table above, and how many it has. */
static const mcu_layer_info_t _mcu_dsp_convolution_layer_infos[5] = {
    {0, 1}, {1, 1}, {2, 1}, {3, 1}, {4, 1},
};
/* clang-format on */

const mcu_model_t _mcu_network_dsp_convolution = {
    .run_func = _mcu_dsp_convolution_run_func,
    .num_input_tensors = 1,
    .num_output_tensors = 1,
    .abi_version = MCU_MODEL_ABI_VERSION,
    .workspace_size = MCU_DSP_CONVOLUTION_WORKSPACE_SIZE,
    .workspace_alignment = MCU_DSP_CONVOLUTION_WORKSPACE_ALIGNMENT,
    .num_layers = 5,
    .name = "dsp_convolution",
    .inputs = _mcu_dsp_convolution_inputs,
    .outputs = _mcu_dsp_convolution_outputs,
    .layers = _mcu_dsp_convolution_layer_infos,
    .layer_outputs = _mcu_dsp_convolution_regions,
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
