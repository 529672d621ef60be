/* network_dsp_conv_pool.c: a neural network, made by mcu-deploy.
 *
 *   source model  layers, SHA-256
 *                 e12b20234f18d411e9c5e44eb0c218fef51418114802177dc573da40eb23560a
 *   constants     488 bytes, as a file: SHA-256
 *                 f4dba30dc3dbee7d0a5f5d06bc9ff9d7ad4def2bbc0f08b156ffed7456128be1
 *   workspace     1,808 bytes
 *   layers        3 with 69,120 multiply-accumulates
 *
 * Everything is static but the descriptor _mcu_network_dsp_conv_pool, at the end. To compile this
 * file by hand, in its folder, to the same bytes:
 *
 *   arm-none-eabi-gcc -mcpu=cortex-m4 -mthumb -mfpu=fpv4-sp-d16 -mfloat-abi=hard -std=c99 \
 *       -ffunction-sections -fdata-sections -fno-common -O2 -ffp-contract=off -fno-math-errno \
 *       -frandom-seed=dsp_conv_pool -I include -c network_dsp_conv_pool.c -o \
 *       network_dsp_conv_pool.o
 *
 * The workspace: what lies where, in bytes, and from which layer to which it is needed.
 *
 *   offset  bytes   from      to  holds
 *      720    960  input       0  int8
 *        0    960      0       1  reshape_1_3
 *        0    448      1       2  quantizelinear_9_17
 *      960    844      1       1  scratch of conv_1
 *      448    448      2  output  int8_y
 *
 * Shapes have the model's order of axes. NHWC and the like behind a shape say in which order its
 * axes lie in memory, where that is another one.
 */
#include "network_dsp_conv_pool.h"

#include <string.h>

/* ---- Constants ---- */

/* The assembler takes the file in as it is (from another folder: with -I FOLDER). The arrays are
 * declared extern, as a static array without an initializer would be one of zeros; the names that
 * the assembler gives them are local to the object. Where there is no .incbin, and for -flto, build
 * with --weights array. */
__asm__(".pushsection .rodata._mcu_dsp_conv_pool_weights, \"a\", %progbits\n"
        ".balign 16\n"
        ".type _mcu_dsp_conv_pool_weights, %object\n"
        ".size _mcu_dsp_conv_pool_weights, 488\n"
        "_mcu_dsp_conv_pool_weights:\n"
        ".incbin \"network_dsp_conv_pool.weights.bin\"\n"
        ".popsection");
/* clang-format off */
#define MCU_CONSTANT(name, type, elements, offset, bytes)                \
    extern const type name[elements];                                    \
    __asm__(".set " #name ", _mcu_dsp_conv_pool_weights + " #offset "\n" \
            ".type " #name ", %object\n"                                 \
            ".size " #name ", " #bytes)
MCU_CONSTANT(_mcu_dsp_conv_pool_conv_1_weights,      uint32_t, 116,   0, 464);
MCU_CONSTANT(_mcu_dsp_conv_pool_conv_1_more_weights, uint32_t,   6, 464,  24);
#undef MCU_CONSTANT
/* clang-format on */

/* ---- Kernels ---- */

MCU_KERNEL void _mcu_dsp_conv_pool_reorder_240x4_int8(const int8_t *x, int8_t *y) {
    for (int32_t i0 = 0; i0 < 240; i0++) {
        for (int32_t i1 = 0; i1 < 4; i1++) {
            *y++ = x[i0 + i1 * 240];
        }
    }
}

MCU_KERNEL void _mcu_dsp_conv_pool_conv3x3_rows_832eaa87_dsp(const int8_t *x, int8_t *y,
                                                             const uint32_t *weights,
                                                             uint8_t *scratch) {
    __asm__ volatile(
        /* The layer's numbers go behind the taps of a tile, to r12; s10: the weights. */
        "ldr r4, [%2], #4; add r12, %3, r4; sub r4, r12, r4; vmov s9, r4; vmov s8, r12\n"
        "add lr, r12, #8; add r6, r12, #136\n"
        "1:\n"
        "ldr r4, [%2], #4; sxth r5, r4; asrs r4, r4, #16; strd r5, r4, [lr], #8; cmp lr, r6\n"
        "bne 1b; vmov s10, %2; ldr r4, [r12, #84]; add r4, %1, r4; strd %1, r4, [r12]\n"
        "ldr r4, [r12, #16]; add r4, %0, r4; str r4, [r12, #16]; add r4, r12, #88\n"
        "ldmia r4, {r4, r5}; vmov d6, r4, r5; ldrd r4, r5, [%3]; str r4, [r12, #24]\n"
        "str r5, [r12, #52]; ldr r4, [r12, #132]; ldr r7, [r12, #128]; add r4, r4, r12\n"
        "add r5, r4, r7; add r6, r5, r7; add lr, r12, #160; stmia lr, {r4-r6}\n"
        /* Three windows, at r9-r11 if they are inside of the image and of one row. */
        "5:\n"
        "add r11, r12, #16; ldmia r11, {r0-r7}; cmp r1, r3; it lo; cmplo r2, r4; bhs 2f\n"
        "mov r9, r0; add r1, r1, r7; add r0, r0, r5; strd r0, r1, [r12, #16]\n"
        "3:\n"
        "vmov lr, s9\n"
        /* Five columns that three windows share, widened to int16, two taps a word. */
        "mov r12, r9; mov r11, r6; mov r10, #3\n"
        "6:\n"
        "ldr r0, [r12], #4; ldr r1, [r12, #0]; ldr r2, [r12, #4]; ldr r3, [r12, #8]\n"
        "ldr r4, [r12, #12]; sxtb16 r5, r0, ror #8; sxtb16 r6, r1, ror #8\n"
        "sxtb16 r7, r2, ror #8; sxtb16 r8, r3, ror #8; sxtb16 r9, r4, ror #8; sxtb16 r0, r0\n"
        "sxtb16 r1, r1; sxtb16 r2, r2; sxtb16 r3, r3; sxtb16 r4, r4; stmia lr!, {r0-r9}\n"
        "add r12, r12, r11; subs r10, r10, #1; bne 6b; vmov lr, s10\n"
        /* Two filters, three outputs: r0-r2 are the even one's sums, r3-r5 the odd one's. */
        /* A word of weights has 256 odd + even, twice; by SXTB16 it has the even ones. */
        "11:\n"
        "vmov r12, s9; ldmia lr!, {r2, r5}; ldmia r12!, {r6-r10}; ldr r11, [lr], #4\n"
        "smlad r3, r11, r6, r5; smlad r4, r11, r7, r5; smlad r5, r11, r8, r5; sxtb16 r11, r11\n"
        "smlad r0, r11, r6, r2; smlad r1, r11, r7, r2; smlad r2, r11, r8, r2\n"
        "ldr r11, [lr], #4; smlad r3, r11, r7, r3; smlad r4, r11, r8, r4\n"
        "smlad r5, r11, r9, r5; sxtb16 r11, r11; smlad r0, r11, r7, r0; smlad r1, r11, r8, r1\n"
        "smlad r2, r11, r9, r2; ldr r11, [lr], #4; smlad r3, r11, r8, r3\n"
        "smlad r4, r11, r9, r4; smlad r5, r11, r10, r5; sxtb16 r11, r11\n"
        "smlad r0, r11, r8, r0; smlad r1, r11, r9, r1; smlad r2, r11, r10, r2\n"
        "ldmia r12!, {r6-r10}; ldr r11, [lr], #4; smlad r3, r11, r6, r3\n"
        "smlad r4, r11, r7, r4; smlad r5, r11, r8, r5; sxtb16 r11, r11; smlad r0, r11, r6, r0\n"
        "smlad r1, r11, r7, r1; smlad r2, r11, r8, r2; ldr r11, [lr], #4\n"
        "smlad r3, r11, r7, r3; smlad r4, r11, r8, r4; smlad r5, r11, r9, r5; sxtb16 r11, r11\n"
        "smlad r0, r11, r7, r0; smlad r1, r11, r8, r1; smlad r2, r11, r9, r2\n"
        "ldr r11, [lr], #4; smlad r3, r11, r8, r3; smlad r4, r11, r9, r4\n"
        "smlad r5, r11, r10, r5; sxtb16 r11, r11; smlad r0, r11, r8, r0\n"
        "smlad r1, r11, r9, r1; smlad r2, r11, r10, r2; ldmia r12!, {r6-r10}\n"
        "ldr r11, [lr], #4; smlad r3, r11, r6, r3; smlad r4, r11, r7, r4\n"
        "smlad r5, r11, r8, r5; sxtb16 r11, r11; smlad r0, r11, r6, r0; smlad r1, r11, r7, r1\n"
        "smlad r2, r11, r8, r2; ldr r11, [lr], #4; smlad r3, r11, r7, r3\n"
        "smlad r4, r11, r8, r4; smlad r5, r11, r9, r5; sxtb16 r11, r11; smlad r0, r11, r7, r0\n"
        "smlad r1, r11, r8, r1; smlad r2, r11, r9, r2; ldr r11, [lr], #4\n"
        "smlad r3, r11, r8, r3; smlad r4, r11, r9, r4; smlad r5, r11, r10, r5\n"
        "sxtb16 r11, r11; smlad r0, r11, r8, r0; smlad r1, r11, r9, r1\n"
        "smlad r2, r11, r10, r2; ldmia r12!, {r6-r10}; ldr r11, [lr], #4\n"
        "smlad r3, r11, r6, r3; smlad r4, r11, r7, r4; smlad r5, r11, r8, r5; sxtb16 r11, r11\n"
        "smlad r0, r11, r6, r0; smlad r1, r11, r7, r1; smlad r2, r11, r8, r2\n"
        "ldr r11, [lr], #4; smlad r3, r11, r7, r3; smlad r4, r11, r8, r4\n"
        "smlad r5, r11, r9, r5; sxtb16 r11, r11; smlad r0, r11, r7, r0; smlad r1, r11, r8, r1\n"
        "smlad r2, r11, r9, r2; ldr r11, [lr], #4; smlad r3, r11, r8, r3\n"
        "smlad r4, r11, r9, r4; smlad r5, r11, r10, r5; sxtb16 r11, r11\n"
        "smlad r0, r11, r8, r0; smlad r1, r11, r9, r1; smlad r2, r11, r10, r2\n"
        "ldmia r12!, {r6-r10}; ldr r11, [lr], #4; smlad r3, r11, r6, r3\n"
        "smlad r4, r11, r7, r4; smlad r5, r11, r8, r5; sxtb16 r11, r11; smlad r0, r11, r6, r0\n"
        "smlad r1, r11, r7, r1; smlad r2, r11, r8, r2; ldr r11, [lr], #4\n"
        "smlad r3, r11, r7, r3; smlad r4, r11, r8, r4; smlad r5, r11, r9, r5; sxtb16 r11, r11\n"
        "smlad r0, r11, r7, r0; smlad r1, r11, r8, r1; smlad r2, r11, r9, r2\n"
        "ldr r11, [lr], #4; smlad r3, r11, r8, r3; smlad r4, r11, r9, r4\n"
        "smlad r5, r11, r10, r5; sxtb16 r11, r11; smlad r0, r11, r8, r0\n"
        "smlad r1, r11, r9, r1; smlad r2, r11, r10, r2; ldmia r12!, {r6-r10}\n"
        "ldr r11, [lr], #4; smlad r3, r11, r6, r3; smlad r4, r11, r7, r4\n"
        "smlad r5, r11, r8, r5; sxtb16 r11, r11; smlad r0, r11, r6, r0; smlad r1, r11, r7, r1\n"
        "smlad r2, r11, r8, r2; ldr r11, [lr], #4; smlad r3, r11, r7, r3\n"
        "smlad r4, r11, r8, r4; smlad r5, r11, r9, r5; sxtb16 r11, r11; smlad r0, r11, r7, r0\n"
        "smlad r1, r11, r8, r1; smlad r2, r11, r9, r2; ldr r11, [lr], #4\n"
        "smlad r3, r11, r8, r3; smlad r4, r11, r9, r4; smlad r5, r11, r10, r5\n"
        "sxtb16 r11, r11; smlad r0, r11, r8, r0; smlad r1, r11, r9, r1\n"
        "smlad r2, r11, r10, r2\n"
        /* To elements of the output: scaled, shifted, saturated. */
        "sub r3, r3, r0; sub r4, r4, r1; sub r5, r5, r2; ldmia lr!, {r6-r9}; cbz r7, 7f\n"
        "8:\n"
        "smmla r0, r0, r6, r7; smmla r1, r1, r6, r7; smmla r2, r2, r6, r7\n"
        "ssat r0, #8, r0, asr #4; ssat r1, #8, r1, asr #4; ssat r2, #8, r2, asr #4\n"
        "smmla r3, r3, r8, r9; smmla r4, r4, r8, r9; smmla r5, r5, r8, r9\n"
        "ssat r3, #8, r3, asr #12; ssat r4, #8, r4, asr #12; ssat r5, #8, r5, asr #12\n"
        "9:\n"
        "ldmia r12, {r6-r9}\n"
        /* Stored: of each pixel both filters at once. */
        "bfi r0, r3, #8, #8; bfi r1, r4, #8, #8; bfi r2, r5, #8, #8; strh r0, [r6], #2\n"
        "strh r1, [r6, r8]; strh r2, [r6, r9]; str r6, [r12]; cmp r6, r7; bne 11b; b 10f\n"
        "7:\n"
        /* Sums that are rounded too late, which r10 names, become the next. */
        "12:\n"
        "ldmia lr!, {r7, r10, r11}; cbnz r7, 13f; cmp r10, r0; itt ne; cmpne r10, r1\n"
        "cmpne r10, r2; beq 15f\n"
        "14:\n"
        "movs r7, r11; beq 12b; b 8b\n"
        "13:\n"
        "cmp r10, r3; itt ne; cmpne r10, r4; cmpne r10, r5; bne 14b; cmp r10, r3; it eq\n"
        "addeq r3, r3, #256; cmp r10, r4; it eq; addeq r4, r4, #256; cmp r10, r5; it eq\n"
        "addeq r5, r5, #256; b 14b\n"
        "15:\n"
        "cmp r10, r0; it eq; addeq r0, r0, #1; cmp r10, r1; it eq; addeq r1, r1, #1\n"
        "cmp r10, r2; it eq; addeq r2, r2, #1; b 14b\n"
        "10:\n"
        "ldr r6, [r12, #0]; ldr r7, [r12, #84]; add r6, r6, r7, lsl #1; add r7, r6, r7\n"
        "strd r6, r7, [r12]; b 5b\n"
        /* Other windows are begun one by one: r0 the first byte, r1 the column, r2 the */
        /* row. */
        "2:\n"
        "add r3, r12, #136; add r10, r12, #48; ldmia r10, {r4-r9}\n"
        "18:\n"
        "cmp r1, r4; bne 19f; ldr r1, [r12, #72]; ldr r10, [r12, #76]; add r2, r2, r10\n"
        "ldr r10, [r12, #80]; add r0, r0, r10\n"
        "19:\n"
        "cmp r2, r5; beq 4f; cmp r1, r8; it lo; cmplo r2, r9; blo 21f\n"
        /* One that leaves the image is copied, with the zero point around it. */
        "ldr r8, [r3, #24]; ldr r4, [r12, #108]; str r4, [r3]; str r8, [r3, #12]\n"
        "ldr r10, [r12, #128]; add r10, r10, r8; mov r9, r8; ldr r4, [r12, #124]\n"
        "pkhbt r4, r4, r4, lsl #16; mov r5, r4; mov r6, r4; mov r7, r4\n"
        "22:\n"
        "stmia r9!, {r4-r7}; stmia r9!, {r4-r7}; cmp r9, r10; bne 22b; rsb r5, r1, #0\n"
        "bic r5, r5, r5, asr #31; ldr r6, [r12, #112]; sub r6, r6, r1; ldr r7, [r12, #116]\n"
        "cmp r6, r7; it gt; movgt r6, r7; subs r6, r6, r5; ble 23f; ldr r7, [r12, #120]\n"
        "mul r6, r6, r7; mul r5, r5, r7; add r7, r0, r5; add r8, r8, r5; mov r9, r2\n"
        "ldr r5, [r12, #96]; ldr r10, [r12, #92]; ldr r11, [r12, #100]; ldr lr, [r12, #104]\n"
        "24:\n"
        "cmp r9, r5; bhs 25f; mov r12, r6; subs r12, r12, #4\n"
        "28:\n"
        "ldr r4, [r7, r12]; str r4, [r8, r12]; subs r12, r12, #4; bhs 28b\n"
        "25:\n"
        "add r7, r7, r11; add r8, r8, lr; add r9, r9, #1; subs r10, r10, #1; bne 24b\n"
        "23:\n"
        "vmov r12, s8; add r10, r12, #48; ldmia r10, {r4-r9}; b 20f\n"
        "21:\n"
        "ldr r10, [r12, #40]; str r10, [r3]; str r0, [r3, #12]\n"
        "20:\n"
        "add r0, r0, r6; add r1, r1, r7; add r10, r12, #16; stmia r10, {r0-r2}\n"
        "add r10, r12, #136; ldmia r10, {r6-r11}; b 3b\n"
        "4:\n"
        : "+r"(x), "+r"(y), "+r"(weights), "+r"(scratch)
        :
        : "r4", "r5", "r6", "r7", "r8", "r9", "r10", "r11", "r12", "lr", "s0", "s1", "s2", "s3",
          "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "s12", "s13", "s14", "s15", "cc",
          "memory");
}

MCU_KERNEL void _mcu_dsp_conv_pool_avg_pool2x2_8_rows_d69db4fb_dsp(const int8_t *x, int8_t *y,
                                                                   const uint32_t *weights,
                                                                   uint8_t *scratch) {
    __asm__ volatile(
        "vmov s0, %0; vmov s1, %1; vmov s3, %3; mov r12, %2\n"
        /* Of each window the sum of each channel, four channels a word. */
        "ldr r0, [r12], #4; vmov s8, r0; ldr r0, [r12], #4; vmov s9, r0; ldr r0, [r12], #4\n"
        "vmov s10, r0; ldr r0, [r12], #4; vmov s11, r0; ldr r0, [r12], #4; vmov s12, r0\n"
        "ldr r0, [r12], #4; vmov s13, r0; movw r0, #2; vmov s5, r0\n"
        "1:\n"
        "movw r0, #7; vmov s6, r0\n"
        "2:\n"
        "vmov r12, s0; vmov s2, r12; vmov r0, s3; vmov s14, r0; vmov r0, s8; mov r1, r0\n"
        "mov r2, r0; mov r3, r0; movw lr, #2\n"
        "3:\n"
        "ldmia r12!, {r8-r9}; sxtab16 r0, r0, r8; sxtab16 r1, r1, r8, ror #8\n"
        "sxtab16 r2, r2, r9; sxtab16 r3, r3, r9, ror #8; ldmia r12!, {r8-r9}\n"
        "sxtab16 r0, r0, r8; sxtab16 r1, r1, r8, ror #8; sxtab16 r2, r2, r9\n"
        "sxtab16 r3, r3, r9, ror #8; add r12, r12, #104; subs lr, lr, #1; bne 3b\n"
        "vmov r8, s14; stmia r8!, {r0-r3}; vmov s14, r8; vmov r12, s2; add r12, r12, #8\n"
        "vmov s2, r12; vmov r12, s3; vmov lr, s1; vmov r8, s9; vmov r9, s10; mov r11, #0\n"
        "movt r11, #0xFFFF; mov r10, lr; add r10, r10, #8\n"
        "4:\n"
        "ldmia r12!, {r0, r1}; and r2, r0, r11; and r3, r1, r11; lsl r0, r0, #16\n"
        "lsl r1, r1, #16; smmla r0, r0, r8, r9; smmla r1, r1, r8, r9; smmla r2, r2, r8, r9\n"
        "smmla r3, r3, r8, r9; mov r6, #0; add r7, r0, #128; tst r7, #65280; it eq\n"
        "orreq r6, r6, #1; add r7, r1, #128; tst r7, #65280; it eq; orreq r6, r6, #2\n"
        "add r7, r2, #128; tst r7, #65280; it eq; orreq r6, r6, #4; add r7, r3, #128\n"
        "tst r7, #65280; it eq; orreq r6, r6, #8; ssat r0, #8, r0, asr #16\n"
        "ssat r1, #8, r1, asr #16; ssat r2, #8, r2, asr #16; ssat r3, #8, r3, asr #16\n"
        "strb r0, [lr], #4; strb r1, [lr, #-3]; strb r2, [lr, #-2]; strb r3, [lr, #-1]\n"
        "cmp r6, #0; beq 5f\n"
        "6:\n"
        "rbit r7, r6; clz r7, r7; sub r0, r6, #1; and r6, r6, r0; sub r7, r7, #4\n"
        "add r7, r7, lr; vmov r0, s1; sub r0, r7, r0; vmov r1, s0; add r0, r0, r1; mov r1, #0\n"
        "vmov s14, r1; movw r2, #2; movw r5, #8\n"
        "7:\n"
        "movw r3, #2\n"
        "8:\n"
        "ldrsb r4, [r0]; add r0, r0, r5; add r4, r4, #7; vmov s15, r4; vcvt.f32.s32 s15, s15\n"
        "vmul.f32 s15, s15, s11; vadd.f32 s14, s14, s15; subs r3, r3, #1; bne 8b\n"
        "add r0, r0, #104; subs r2, r2, #1; bne 7b; vdiv.f32 s14, s14, s12\n"
        "vdiv.f32 s14, s14, s13; vcvtr.s32.f32 s14, s14; vmov r0, s14; add r0, r0, #9\n"
        "ssat r0, #8, r0; strb r0, [r7]; cmp r6, #0; bne 6b\n"
        "5:\n"
        "cmp lr, r10; bne 4b; vmov s1, lr; vmov r0, s0; add r0, r0, #16; vmov s0, r0\n"
        "vmov r0, s6; subs r0, r0, #1; vmov s6, r0; bne 2b; vmov r0, s0; add r0, r0, #128\n"
        "vmov s0, r0; vmov r0, s5; subs r0, r0, #1; vmov s5, r0; bne 1b\n"
        : "+r"(x), "+r"(y), "+r"(weights), "+r"(scratch)
        :
        : "r4", "r5", "r6", "r7", "r8", "r9", "r10", "r11", "r12", "lr", "s0", "s1", "s2", "s3",
          "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "s12", "s13", "s14", "s15", "cc",
          "memory");
}

MCU_KERNEL void _mcu_dsp_conv_pool_conv_pool_strips_dsp(const int8_t *x, int8_t *y,
                                                        const uint32_t *weights,
                                                        const uint32_t *more_weights,
                                                        uint8_t *scratch) {
    uint8_t *const work = scratch + 480;
    int8_t *const strip = (int8_t *)(scratch + 0);
    /* Where windows begin, in rows of their image: of the first row, of the one behind the last. */
    int32_t *const range = (int32_t *)(void *)work;
    int8_t *next = strip + 0;
    const int8_t *source = x;
    int8_t *target = y;
    int32_t made = 0;
    for (int32_t first = 0; first < 8; first += 2) {
        const int32_t last = first + 2;
        const int32_t wanted = 2 * last;
        const int32_t until = wanted < 16 ? wanted : 16;
        range[0] = made - 1;
        range[1] = until - 1;
        _mcu_dsp_conv_pool_conv3x3_rows_832eaa87_dsp(source, next, weights, work);
        source += 60 * (until - made);
        made = until;
        next = strip + 0;
        range[0] = 2 * first;
        range[1] = 2 * last;
        _mcu_dsp_conv_pool_avg_pool2x2_8_rows_d69db4fb_dsp(strip + 0, target, more_weights, work);
        target += 112;
        memcpy(strip, strip + 480, 0);
    }
}

MCU_KERNEL void _mcu_dsp_conv_pool_reorder_8x56_int8(const int8_t *x, int8_t *y) {
    for (int32_t i0 = 0; i0 < 8; i0++) {
        for (int32_t i1 = 0; i1 < 56; i1++) {
            *y++ = x[i0 + i1 * 8];
        }
    }
}

/* ---- The layers, in the order of execution ---- */

/* clang-format off */
static void _mcu_dsp_conv_pool_layers(mcu_instance_t *instance) {
    uint8_t *const ws = instance->workspace;

    /* reshape_1_reorder: Reorder, reshape_1_3 reordered: int8[1,4,16,15] -> int8[1,4,16,15] NHWC */
    int8_t *const int8 = (int8_t *)(ws + 720);
    int8_t *const reshape_1_reorder = (int8_t *)(ws + 0);
    MCU_LAYER(0, _mcu_dsp_conv_pool_reorder_240x4_int8(int8, reshape_1_reorder));

    /* conv_1: ConvolutionPool, conv_5_11 + averagepool_8_15 (8 nodes):
     * int8[1,4,16,15] NHWC -> int8[1,8,8,7] NHWC; 69,120 MACs */
    int8_t *const conv_1 = (int8_t *)(ws + 0);
    uint8_t *const conv_1_scratch = (uint8_t *)(ws + 960);
    MCU_LAYER(1, _mcu_dsp_conv_pool_conv_pool_strips_dsp(
        reshape_1_reorder, conv_1, _mcu_dsp_conv_pool_conv_1_weights,
        _mcu_dsp_conv_pool_conv_1_more_weights, conv_1_scratch));

    /* conv_1_reorder: Reorder, quantizelinear_9_17 reordered:
     * int8[1,8,8,7] NHWC -> int8[1,8,8,7] */
    int8_t *const conv_1_reorder = (int8_t *)(ws + 448);
    MCU_LAYER(2, _mcu_dsp_conv_pool_reorder_8x56_int8(conv_1, conv_1_reorder));
}

/* clang-format on */

static int32_t _mcu_dsp_conv_pool_run_func(void *args, void *arg_type_ids, int32_t num_args,
                                           void *out_ret_value, void *out_ret_tcode,
                                           void *resource_handle) {
    (void)out_ret_value;
    (void)out_ret_tcode;
    const mcu_model_t *const model = &_mcu_network_dsp_conv_pool;
    const int32_t status =
        _mcu_run_begin(model, NULL, args, arg_type_ids, num_args, resource_handle);
    if (status != MCU_OK) {
        return status;
    }
    _mcu_dsp_conv_pool_layers(resource_handle);
    return _mcu_run_end(model, NULL, args, resource_handle);
}

/* ---- The descriptor ---- */

static const int64_t _mcu_dsp_conv_pool_input0_shape[1] = {960};
static const mcu_tensor_info_t _mcu_dsp_conv_pool_inputs[1] = {
    {
        .name = "int8",
        .shape = _mcu_dsp_conv_pool_input0_shape,
        .place = {720, 0, 960},
        .scale = 4.03936e-2F,
        .zero_point = 3,
        .ndim = 1,
        .dtype = {kDLInt, 8, 1},
    },
};

static const int64_t _mcu_dsp_conv_pool_output0_shape[1] = {448};
static const mcu_tensor_info_t _mcu_dsp_conv_pool_outputs[1] = {
    {
        .name = "int8_y",
        .shape = _mcu_dsp_conv_pool_output0_shape,
        .place = {448, 0, 448},
        .scale = 2.827552e-2F,
        .zero_point = 9,
        .ndim = 1,
        .dtype = {kDLInt, 8, 1},
    },
};

/* clang-format off */
/* Where the outputs of each layer lie when it has run: offset, pool and bytes. */
static const mcu_region_t _mcu_dsp_conv_pool_regions[3] = {
    {0,   0, 960}, /* 0 */
    {0,   0, 448}, /* 1 */
    {448, 0, 448}, /* 2 */
};

/* Of each layer: its first output in the table above, and how many it has. */
static const mcu_layer_info_t _mcu_dsp_conv_pool_layer_infos[3] = {
    {0, 1}, {1, 1}, {2, 1},
};
/* clang-format on */

const mcu_model_t _mcu_network_dsp_conv_pool = {
    .run_func = _mcu_dsp_conv_pool_run_func,
    .num_input_tensors = 1,
    .num_output_tensors = 1,
    .abi_version = MCU_MODEL_ABI_VERSION,
    .workspace_size = MCU_DSP_CONV_POOL_WORKSPACE_SIZE,
    .workspace_alignment = MCU_DSP_CONV_POOL_WORKSPACE_ALIGNMENT,
    .num_layers = 3,
    .name = "dsp_conv_pool",
    .inputs = _mcu_dsp_conv_pool_inputs,
    .outputs = _mcu_dsp_conv_pool_outputs,
    .layers = _mcu_dsp_conv_pool_layer_infos,
    .layer_outputs = _mcu_dsp_conv_pool_regions,
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
