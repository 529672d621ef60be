/* network_dsp_strips.c: a neural network, made by mcu-deploy.
 *
 *   source model  layers, SHA-256
 *                 3155015ec786e8d1397af80103ab97ffac692a6c315e7f11636cef0dd7b21faa
 *   constants     5,172 bytes, as a file: SHA-256
 *                 decf77855f217214c9d937966ef1d6de6ae5ebe98975ab3de6638eb64a52bf0d
 *   workspace     12,288 bytes
 *   layers        3 with 1,769,472 multiply-accumulates
 *
 * Everything is static but the descriptor _mcu_network_dsp_strips, at the end. To compile this file
 * by hand, in its folder, to the same bytes:
 *
 *   arm-none-eabi-gcc -mcpu=cortex-m4 -mthumb -mfpu=fpv4-sp-d16 -mfloat-abi=hard -std=c99 \
 *       -ffunction-sections -fdata-sections -fno-common -O2 -ffp-contract=off -fno-math-errno \
 *       -frandom-seed=dsp_strips -I include -c network_dsp_strips.c -o network_dsp_strips.o
 *
 * The workspace: what lies where, in bytes, and from which layer to which it is needed.
 *
 *   offset  bytes   from      to  holds
 *        0   6144  input       0  int8
 *     6144   6144      0       2  reshape_1_3
 *        0   3004      1       1  scratch of conv_1
 *        0   6144      2  output  int8_y
 *
 * Shapes have the model's order of axes. NHWC and the like behind a shape say in which order its
 * axes lie in memory, where that is another one.
 */
#include "network_dsp_strips.h"

#include <string.h>

/* ---- Constants ---- */

/* The assembler takes the file in as it is (from another folder: with -I FOLDER). The arrays are
 * declared extern, as a static array without an initializer would be one of zeros; the names that
 * the assembler gives them are local to the object. Where there is no .incbin, and for -flto, build
 * with --weights array. */
__asm__(".pushsection .rodata._mcu_dsp_strips_weights, \"a\", %progbits\n"
        ".balign 16\n"
        ".type _mcu_dsp_strips_weights, %object\n"
        ".size _mcu_dsp_strips_weights, 5172\n"
        "_mcu_dsp_strips_weights:\n"
        ".incbin \"network_dsp_strips.weights.bin\"\n"
        ".popsection");
/* clang-format off */
#define MCU_CONSTANT(name, type, elements, offset, bytes)             \
    extern const type name[elements];                                 \
    __asm__(".set " #name ", _mcu_dsp_strips_weights + " #offset "\n" \
            ".type " #name ", %object\n"                              \
            ".size " #name ", " #bytes)
MCU_CONSTANT(_mcu_dsp_strips_conv_1_weights,      uint32_t, 646,    0, 2584);
MCU_CONSTANT(_mcu_dsp_strips_conv_1_more_weights, uint32_t, 643, 2584, 2572);
MCU_CONSTANT(_mcu_dsp_strips_conv_1_constants,    int32_t,    4, 5156,   16);
#undef MCU_CONSTANT
/* clang-format on */

/* ---- Kernels ---- */

MCU_KERNEL void _mcu_dsp_strips_reorder_384x16_int8(const int8_t *x, int8_t *y) {
    for (int32_t i0 = 0; i0 < 384; i0++) {
        for (int32_t i1 = 0; i1 < 16; i1++) {
            *y++ = x[i0 + i1 * 384];
        }
    }
}

MCU_KERNEL void _mcu_dsp_strips_conv3x3_rows_8c7a9f16_dsp(const int8_t *x, int8_t *y,
                                                          const uint32_t *weights,
                                                          uint8_t *scratch) {
    __asm__ volatile(
        /* The layer's numbers go behind the taps of a tile, to r12; s10: the weights. */
        "ldr r4, [%2], #4; add r12, %3, r4; add r12, r12, #7; bic r12, r12, #7\n"
        "sub r4, r12, r4; vmov s9, r4; vmov s8, r12; add lr, r12, #8; add r6, r12, #152\n"
        "1:\n"
        "ldr r4, [%2], #4; sxth r5, r4; asrs r4, r4, #16; strd r5, r4, [lr], #8; cmp lr, r6\n"
        "bne 1b; vmov s10, %2; ldr r4, [r12, #84]; add r4, %1, r4; strd %1, r4, [r12]\n"
        "ldr r4, [r12, #16]; add r4, %0, r4; str r4, [r12, #16]; add r4, r12, #88\n"
        "ldmia r4, {r4, r5}; vmov d6, r4, r5; ldrd r4, r5, [%3]; str r4, [r12, #24]\n"
        "str r5, [r12, #52]; ldr r4, [r12, #144]; ldr r7, [r12, #140]; add r4, r4, r12\n"
        "add r5, r4, r7; add r6, r5, r7; add lr, r12, #172; stmia lr, {r4-r6}\n"
        /* Three windows, at r9-r11 if they are inside of the image and of one row. */
        "5:\n"
        "add r11, r12, #16; ldmia r11, {r0-r7}; cmp r1, r3; it lo; cmplo r2, r4; bhs 2f\n"
        "mov r9, r0; add r1, r1, r7; add r0, r0, r5; strd r0, r1, [r12, #16]\n"
        "3:\n"
        "vmov lr, s9\n"
        /* Five columns that three windows share, widened to int16, two taps a word. */
        "mov r12, r9; mov r11, r6; mov r10, #3\n"
        "6:\n"
        "ldr r0, [r12], #4; ldr r1, [r12, #12]; ldr r2, [r12, #28]; ldr r3, [r12, #44]\n"
        "ldr r4, [r12, #60]; sxtb16 r5, r0, ror #8; sxtb16 r6, r1, ror #8\n"
        "sxtb16 r7, r2, ror #8; sxtb16 r8, r3, ror #8; sxtb16 r9, r4, ror #8; sxtb16 r0, r0\n"
        "sxtb16 r1, r1; sxtb16 r2, r2; sxtb16 r3, r3; sxtb16 r4, r4; stmia lr!, {r0-r9}\n"
        "ldr r0, [r12], #4; ldr r1, [r12, #12]; ldr r2, [r12, #28]; ldr r3, [r12, #44]\n"
        "ldr r4, [r12, #60]; sxtb16 r5, r0, ror #8; sxtb16 r6, r1, ror #8\n"
        "sxtb16 r7, r2, ror #8; sxtb16 r8, r3, ror #8; sxtb16 r9, r4, ror #8; sxtb16 r0, r0\n"
        "sxtb16 r1, r1; sxtb16 r2, r2; sxtb16 r3, r3; sxtb16 r4, r4; stmia lr!, {r0-r9}\n"
        "ldr r0, [r12], #4; ldr r1, [r12, #12]; ldr r2, [r12, #28]; ldr r3, [r12, #44]\n"
        "ldr r4, [r12, #60]; sxtb16 r5, r0, ror #8; sxtb16 r6, r1, ror #8\n"
        "sxtb16 r7, r2, ror #8; sxtb16 r8, r3, ror #8; sxtb16 r9, r4, ror #8; sxtb16 r0, r0\n"
        "sxtb16 r1, r1; sxtb16 r2, r2; sxtb16 r3, r3; sxtb16 r4, r4; stmia lr!, {r0-r9}\n"
        "ldr r0, [r12], #4; ldr r1, [r12, #12]; ldr r2, [r12, #28]; ldr r3, [r12, #44]\n"
        "ldr r4, [r12, #60]; sxtb16 r5, r0, ror #8; sxtb16 r6, r1, ror #8\n"
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
        "smlad r1, r11, r9, r1; smlad r2, r11, r10, r2\n"
        "12:\n"
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
        "smlad r2, r11, r10, r2; tst r12, #7; bne 12b\n"
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
        "13:\n"
        "ldmia lr!, {r7, r10, r11}; cbnz r7, 14f; cmp r10, r0; itt ne; cmpne r10, r1\n"
        "cmpne r10, r2; beq 16f\n"
        "15:\n"
        "movs r7, r11; beq 13b; b 8b\n"
        "14:\n"
        "cmp r10, r3; itt ne; cmpne r10, r4; cmpne r10, r5; bne 15b; cmp r10, r3; it eq\n"
        "addeq r3, r3, #256; cmp r10, r4; it eq; addeq r4, r4, #256; cmp r10, r5; it eq\n"
        "addeq r5, r5, #256; b 15b\n"
        "16:\n"
        "cmp r10, r0; it eq; addeq r0, r0, #1; cmp r10, r1; it eq; addeq r1, r1, #1\n"
        "cmp r10, r2; it eq; addeq r2, r2, #1; b 15b\n"
        "10:\n"
        "ldr r6, [r12, #0]; ldr r7, [r12, #84]; ldr r8, [r12, #96]; add r6, r6, r8\n"
        "add r7, r6, r7; strd r6, r7, [r12]; b 5b\n"
        /* Other windows are begun one by one: r0 the first byte, r1 the column, r2 the */
        /* row. */
        "2:\n"
        "add r3, r12, #148; add r10, r12, #48; ldmia r10, {r4-r9}\n"
        "19:\n"
        "cmp r1, r4; bne 20f; ldr r1, [r12, #72]; ldr r10, [r12, #76]; add r2, r2, r10\n"
        "ldr r10, [r12, #80]; add r0, r0, r10\n"
        "20:\n"
        "cmp r2, r5; beq 4f; ldr r10, [r12, #84]; sub r11, r10, #2; str r11, [r12, #8]\n"
        "add r11, r11, r10; str r11, [r12, #12]; lsl r10, r10, #1; str r10, [r12, #96]\n"
        "ldr r10, [r12, #100]; cmp r1, r10; bne 21f; ldr r10, [r12, #104]\n"
        "str r10, [r12, #96]; add r10, r12, #182; ldr r11, [r12]; sub r10, r10, r11\n"
        "str r10, [r12, #12]\n"
        "21:\n"
        "cmp r1, r8; it lo; cmplo r2, r9; blo 23f\n"
        /* One that leaves the image is copied, with the zero point around it. */
        "ldr r8, [r3, #24]; ldr r4, [r12, #120]; str r4, [r3]; str r8, [r3, #12]\n"
        "ldr r10, [r12, #140]; add r10, r10, r8; mov r9, r8; ldr r4, [r12, #136]\n"
        "pkhbt r4, r4, r4, lsl #16; mov r5, r4; mov r6, r4; mov r7, r4\n"
        "24:\n"
        "stmia r9!, {r4-r7}; stmia r9!, {r4-r7}; cmp r9, r10; bne 24b; rsb r5, r1, #0\n"
        "bic r5, r5, r5, asr #31; ldr r6, [r12, #124]; sub r6, r6, r1; ldr r7, [r12, #128]\n"
        "cmp r6, r7; it gt; movgt r6, r7; subs r6, r6, r5; ble 25f; ldr r7, [r12, #132]\n"
        "mul r6, r6, r7; mul r5, r5, r7; add r7, r0, r5; add r8, r8, r5; mov r9, r2\n"
        "ldr r5, [r12, #108]; ldr r10, [r12, #92]; ldr r11, [r12, #112]; ldr lr, [r12, #116]\n"
        "vmov d0, r0, r1; vmov d1, r2, r3\n"
        "26:\n"
        "cmp r9, r5; bhs 27f; add r12, r7, r6\n"
        "28:\n"
        "ldmia r7!, {r0-r3}; stmia r8!, {r0-r3}; cmp r7, r12; bne 28b; sub r7, r7, r6\n"
        "sub r8, r8, r6\n"
        "27:\n"
        "add r7, r7, r11; add r8, r8, lr; add r9, r9, #1; subs r10, r10, #1; bne 26b\n"
        "vmov r0, r1, d0; vmov r2, r3, d1\n"
        "25:\n"
        "vmov r12, s8; add r10, r12, #48; ldmia r10, {r4-r9}; b 22f\n"
        "23:\n"
        "ldr r10, [r12, #40]; str r10, [r3]; str r0, [r3, #12]\n"
        "22:\n"
        "add r0, r0, r6; add r1, r1, r7; add r10, r12, #16; stmia r10, {r0-r2}\n"
        "add r10, r12, #148; ldmia r10, {r6-r11}; b 3b\n"
        "4:\n"
        : "+r"(x), "+r"(y), "+r"(weights), "+r"(scratch)
        :
        : "r4", "r5", "r6", "r7", "r8", "r9", "r10", "r11", "r12", "lr", "s0", "s1", "s2", "s3",
          "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "s12", "s13", "s14", "s15", "cc",
          "memory");
}

MCU_KERNEL void _mcu_dsp_strips_add_int8_21_dsp(const int8_t *a, const int8_t *b, int8_t *y,
                                                const int32_t *constants) {
    __asm__ volatile(
        "vmov s0, %0; vmov s1, %1; vmov s2, %2; mov r3, %3; vmov r0, s0; vmov r1, s1\n"
        "vmov r2, s2; ldmia r3, {r9-r12}; add r12, r12, r2; vmov s3, r12\n"
        "mov r12, #4278255360\n"
        /* Each element times its operand's scale (SMLAW), added, shifted, saturated. */
        "1:\n"
        "ldmia r0!, {r3, r4}; ldmia r1!, {r5, r6}; and r7, r12, r3, lsl #8; and r3, r3, r12\n"
        "and r8, r12, r5, lsl #8; and r5, r5, r12; smlawt lr, r9, r7, r11\n"
        "smlawt lr, r10, r8, lr; smlawb r7, r9, r7, r11; smlawb r7, r10, r8, r7\n"
        "smlawt r8, r9, r3, r11; smlawt r8, r10, r5, r8; smlawb r3, r9, r3, r11\n"
        "smlawb r3, r10, r5, r3; ssat r7, #8, r7, asr #21; ssat lr, #8, lr, asr #21\n"
        "ssat r3, #8, r3, asr #21; ssat r8, #8, r8, asr #21; bfi r7, r3, #8, #8\n"
        "bfi lr, r8, #8, #8; pkhbt r7, r7, lr, lsl #16; str r7, [r2], #4\n"
        "and r7, r12, r4, lsl #8; and r4, r4, r12; and r8, r12, r6, lsl #8; and r6, r6, r12\n"
        "smlawt lr, r9, r7, r11; smlawt lr, r10, r8, lr; smlawb r7, r9, r7, r11\n"
        "smlawb r7, r10, r8, r7; smlawt r8, r9, r4, r11; smlawt r8, r10, r6, r8\n"
        "smlawb r4, r9, r4, r11; smlawb r4, r10, r6, r4; ssat r7, #8, r7, asr #21\n"
        "ssat lr, #8, lr, asr #21; ssat r4, #8, r4, asr #21; ssat r8, #8, r8, asr #21\n"
        "bfi r7, r4, #8, #8; bfi lr, r8, #8, #8; pkhbt r7, r7, lr, lsl #16; str r7, [r2], #4\n"
        "vmov lr, s3; cmp r2, lr; bne 1b\n"
        : "+r"(a), "+r"(b), "+r"(y), "+r"(constants)
        :
        : "r4", "r5", "r6", "r7", "r8", "r9", "r10", "r11", "r12", "lr", "s0", "s1", "s2", "s3",
          "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "s12", "s13", "s14", "s15", "cc",
          "memory");
}

MCU_KERNEL void _mcu_dsp_strips_conv_conv_add_strips_dsp(const int8_t *x, int8_t *y,
                                                         const uint32_t *weights,
                                                         const uint32_t *more_weights,
                                                         const int32_t *constants,
                                                         uint8_t *scratch) {
    uint8_t *const work = scratch + 2064;
    int8_t *const strip = (int8_t *)(scratch + 16);
    /* Where windows begin, in rows of their image: of the first row, of the one behind the last. */
    int32_t *const range = (int32_t *)(void *)work;
    int8_t *next = strip + 512;
    const int8_t *source = x;
    int8_t *target = y;
    int32_t made = 0;
    for (int32_t first = 0; first < 12; first += 2) {
        const int32_t last = first + 2;
        const int32_t wanted = last + 1;
        const int32_t until = wanted < 12 ? wanted : 12;
        range[0] = made - 1;
        range[1] = until - 1;
        _mcu_dsp_strips_conv3x3_rows_8c7a9f16_dsp(source, next, weights, work);
        source += 512 * (until - made);
        made = until;
        next = strip + 1024;
        range[0] = first - 1;
        range[1] = last - 1;
        int8_t *const rows = (int8_t *)scratch;
        _mcu_dsp_strips_conv3x3_rows_8c7a9f16_dsp(strip + 512, rows, more_weights, work);
        _mcu_dsp_strips_add_int8_21_dsp(x, rows, target, constants);
        x += 1024;
        target += 1024;
        memcpy(strip, strip + 1024, 1024);
    }
}

MCU_KERNEL void _mcu_dsp_strips_reorder_16x384_int8(const int8_t *x, int8_t *y) {
    for (int32_t i0 = 0; i0 < 16; i0++) {
        for (int32_t i1 = 0; i1 < 384; i1++) {
            *y++ = x[i0 + i1 * 16];
        }
    }
}

/* ---- The layers, in the order of execution ---- */

/* clang-format off */
static void _mcu_dsp_strips_layers(mcu_instance_t *instance) {
    uint8_t *const ws = instance->workspace;

    /* reshape_1_reorder: Reorder, reshape_1_3 reordered:
     * int8[1,16,12,32] -> int8[1,16,12,32] NHWC */
    int8_t *const int8 = (int8_t *)(ws + 0);
    int8_t *const reshape_1_reorder = (int8_t *)(ws + 6144);
    MCU_LAYER(0, _mcu_dsp_strips_reorder_384x16_int8(int8, reshape_1_reorder));

    /* conv_1: ConvolutionStrips, conv_5_11 + conv_10_21 + add_13_25 (14 nodes):
     * int8[1,16,12,32] NHWC -> int8[1,16,12,32] NHWC; 1,769,472 MACs */
    int8_t *const conv_1 = (int8_t *)(ws + 6144);
    uint8_t *const conv_1_scratch = (uint8_t *)(ws + 0);
    MCU_LAYER(1, _mcu_dsp_strips_conv_conv_add_strips_dsp(
        reshape_1_reorder, conv_1, _mcu_dsp_strips_conv_1_weights,
        _mcu_dsp_strips_conv_1_more_weights, _mcu_dsp_strips_conv_1_constants, conv_1_scratch));

    /* conv_1_reorder: Reorder, quantizelinear_14_27 reordered:
     * int8[1,16,12,32] NHWC -> int8[1,16,12,32] */
    int8_t *const conv_1_reorder = (int8_t *)(ws + 0);
    MCU_LAYER(2, _mcu_dsp_strips_reorder_16x384_int8(conv_1, conv_1_reorder));
}

/* clang-format on */

static int32_t _mcu_dsp_strips_run_func(void *args, void *arg_type_ids, int32_t num_args,
                                        void *out_ret_value, void *out_ret_tcode,
                                        void *resource_handle) {
    (void)out_ret_value;
    (void)out_ret_tcode;
    const mcu_model_t *const model = &_mcu_network_dsp_strips;
    const int32_t status =
        _mcu_run_begin(model, NULL, args, arg_type_ids, num_args, resource_handle);
    if (status != MCU_OK) {
        return status;
    }
    _mcu_dsp_strips_layers(resource_handle);
    return _mcu_run_end(model, NULL, args, resource_handle);
}

/* ---- The descriptor ---- */

static const int64_t _mcu_dsp_strips_input0_shape[1] = {6144};
static const mcu_tensor_info_t _mcu_dsp_strips_inputs[1] = {
    {
        .name = "int8",
        .shape = _mcu_dsp_strips_input0_shape,
        .place = {0, 0, 6144},
        .scale = 4.03936e-2F,
        .zero_point = -128,
        .ndim = 1,
        .dtype = {kDLInt, 8, 1},
    },
};

static const int64_t _mcu_dsp_strips_output0_shape[1] = {6144};
static const mcu_tensor_info_t _mcu_dsp_strips_outputs[1] = {
    {
        .name = "int8_y",
        .shape = _mcu_dsp_strips_output0_shape,
        .place = {0, 0, 6144},
        .scale = 5.01713e-2F,
        .zero_point = -128,
        .ndim = 1,
        .dtype = {kDLInt, 8, 1},
    },
};

/* clang-format off */
/* Where the outputs of each layer lie when it has run: offset, pool and bytes. */
static const mcu_region_t _mcu_dsp_strips_regions[3] = {
    {6144, 0, 6144}, /* 0 */
    {6144, 0, 6144}, /* 1 */
    {0,    0, 6144}, /* 2 */
};

/* Of each layer: its first output in the table above, and how many it has. */
static const mcu_layer_info_t _mcu_dsp_strips_layer_infos[3] = {
    {0, 1}, {1, 1}, {2, 1},
};
/* clang-format on */

const mcu_model_t _mcu_network_dsp_strips = {
    .run_func = _mcu_dsp_strips_run_func,
    .num_input_tensors = 1,
    .num_output_tensors = 1,
    .abi_version = MCU_MODEL_ABI_VERSION,
    .workspace_size = MCU_DSP_STRIPS_WORKSPACE_SIZE,
    .workspace_alignment = MCU_DSP_STRIPS_WORKSPACE_ALIGNMENT,
    .num_layers = 3,
    .name = "dsp_strips",
    .inputs = _mcu_dsp_strips_inputs,
    .outputs = _mcu_dsp_strips_outputs,
    .layers = _mcu_dsp_strips_layer_infos,
    .layer_outputs = _mcu_dsp_strips_regions,
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
