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

/* Those in assembly are one string each, some longer than C99 wants compilers to take. */
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Woverlength-strings"
#endif

MCU_FUNCTION void _mcu_dsp_strips_reorder_384x16_int8(const int8_t *x, int8_t *y) {
    for (int32_t i0 = 0; i0 < 384; i0++) {
        for (int32_t i1 = 0; i1 < 16; i1++) {
            *y++ = x[i0 + i1 * 384];
        }
    }
}

/* The layer's numbers go behind the taps of a tile, to r12; s10: the weights. */
MCU_KERNEL void _mcu_dsp_strips_conv3x3_rows_97e291c2_dsp(const int8_t *x MCU_UNUSED,
                                                          int8_t *y MCU_UNUSED,
                                                          const uint32_t *weights MCU_UNUSED,
                                                          uint8_t *scratch MCU_UNUSED) {
    __asm__(".syntax unified\n"
            "    push {r4-r11, lr}\n"
            "    ldr r4, [r2], #4\n"
            "    add r12, r3, r4\n"
            "    add r12, r12, #7\n"
            "    bic r12, r12, #7\n"
            "    sub r4, r12, r4\n"
            "    vmov s9, r4\n"
            "    vmov s8, r12\n"
            "    add lr, r12, #8\n"
            "    add r6, r12, #152\n"
            "1:\n"
            "    ldr r4, [r2], #4\n"
            "    sxth r5, r4\n"
            "    asrs r4, r4, #16\n"
            "    strd r5, r4, [lr], #8\n"
            "    cmp lr, r6\n"
            "    bne 1b\n"
            "    vmov s10, r2\n"
            "    ldr r4, [r12, #84]\n"
            "    add r4, r1, r4\n"
            "    strd r1, r4, [r12]\n"
            "    ldr r4, [r12, #16]\n"
            "    add r4, r0, r4\n"
            "    str r4, [r12, #16]\n"
            "    add r4, r12, #88\n"
            "    ldmia r4, {r4, r5}\n"
            "    vmov d6, r4, r5\n"
            "    ldrd r4, r5, [r3]\n"
            "    str r4, [r12, #24]\n"
            "    str r5, [r12, #52]\n"
            "    ldr r4, [r12, #144]\n"
            "    ldr r7, [r12, #140]\n"
            "    add r4, r4, r12\n"
            "    add r5, r4, r7\n"
            "    add r6, r5, r7\n"
            "    add lr, r12, #172\n"
            "    stmia lr, {r4-r6}\n"
            /* Three windows, at r9-r11 if they are inside of the image and of one row. */
            "5:\n"
            "    add r11, r12, #16\n"
            "    ldmia r11, {r0-r7}\n"
            "    cmp r1, r3\n"
            "    it lo\n"
            "    cmplo r2, r4\n"
            "    bhs 2f\n"
            "    mov r9, r0\n"
            "    add r1, r1, r7\n"
            "    add r0, r0, r5\n"
            "    strd r0, r1, [r12, #16]\n"
            "3:\n"
            "    vmov lr, s9\n"
            /* Five columns that three windows share, widened to int16, two taps a word. */
            "    mov r12, r9\n"
            "    mov r11, r6\n"
            "    mov r10, #3\n"
            "6:\n"
            "    ldr r0, [r12], #4\n"
            "    ldr r1, [r12, #12]\n"
            "    ldr r2, [r12, #28]\n"
            "    ldr r3, [r12, #44]\n"
            "    ldr r4, [r12, #60]\n"
            "    sxtb16 r5, r0, ror #8\n"
            "    sxtb16 r6, r1, ror #8\n"
            "    sxtb16 r7, r2, ror #8\n"
            "    sxtb16 r8, r3, ror #8\n"
            "    sxtb16 r9, r4, ror #8\n"
            "    sxtb16 r0, r0\n"
            "    sxtb16 r1, r1\n"
            "    sxtb16 r2, r2\n"
            "    sxtb16 r3, r3\n"
            "    sxtb16 r4, r4\n"
            "    stmia lr!, {r0-r9}\n"
            "    ldr r0, [r12], #4\n"
            "    ldr r1, [r12, #12]\n"
            "    ldr r2, [r12, #28]\n"
            "    ldr r3, [r12, #44]\n"
            "    ldr r4, [r12, #60]\n"
            "    sxtb16 r5, r0, ror #8\n"
            "    sxtb16 r6, r1, ror #8\n"
            "    sxtb16 r7, r2, ror #8\n"
            "    sxtb16 r8, r3, ror #8\n"
            "    sxtb16 r9, r4, ror #8\n"
            "    sxtb16 r0, r0\n"
            "    sxtb16 r1, r1\n"
            "    sxtb16 r2, r2\n"
            "    sxtb16 r3, r3\n"
            "    sxtb16 r4, r4\n"
            "    stmia lr!, {r0-r9}\n"
            "    ldr r0, [r12], #4\n"
            "    ldr r1, [r12, #12]\n"
            "    ldr r2, [r12, #28]\n"
            "    ldr r3, [r12, #44]\n"
            "    ldr r4, [r12, #60]\n"
            "    sxtb16 r5, r0, ror #8\n"
            "    sxtb16 r6, r1, ror #8\n"
            "    sxtb16 r7, r2, ror #8\n"
            "    sxtb16 r8, r3, ror #8\n"
            "    sxtb16 r9, r4, ror #8\n"
            "    sxtb16 r0, r0\n"
            "    sxtb16 r1, r1\n"
            "    sxtb16 r2, r2\n"
            "    sxtb16 r3, r3\n"
            "    sxtb16 r4, r4\n"
            "    stmia lr!, {r0-r9}\n"
            "    ldr r0, [r12], #4\n"
            "    ldr r1, [r12, #12]\n"
            "    ldr r2, [r12, #28]\n"
            "    ldr r3, [r12, #44]\n"
            "    ldr r4, [r12, #60]\n"
            "    sxtb16 r5, r0, ror #8\n"
            "    sxtb16 r6, r1, ror #8\n"
            "    sxtb16 r7, r2, ror #8\n"
            "    sxtb16 r8, r3, ror #8\n"
            "    sxtb16 r9, r4, ror #8\n"
            "    sxtb16 r0, r0\n"
            "    sxtb16 r1, r1\n"
            "    sxtb16 r2, r2\n"
            "    sxtb16 r3, r3\n"
            "    sxtb16 r4, r4\n"
            "    stmia lr!, {r0-r9}\n"
            "    add r12, r12, r11\n"
            "    subs r10, r10, #1\n"
            "    bne 6b\n"
            "    vmov lr, s10\n"
            /* Two filters, three outputs: r0-r2 are the even one's sums, r3-r5 the odd one's. */
            /* A word of weights has 256 odd + even, twice; by SXTB16 it has the even ones. */
            "11:\n"
            "    vmov r12, s9\n"
            "    ldmia lr!, {r2, r5}\n"
            "    ldmia r12!, {r6-r10}\n"
            "    ldr r11, [lr], #4\n"
            "    smlad r3, r11, r6, r5\n"
            "    smlad r4, r11, r7, r5\n"
            "    smlad r5, r11, r8, r5\n"
            "    sxtb16 r11, r11\n"
            "    smlad r0, r11, r6, r2\n"
            "    smlad r1, r11, r7, r2\n"
            "    smlad r2, r11, r8, r2\n"
            "    ldr r11, [lr], #4\n"
            "    smlad r3, r11, r7, r3\n"
            "    smlad r4, r11, r8, r4\n"
            "    smlad r5, r11, r9, r5\n"
            "    sxtb16 r11, r11\n"
            "    smlad r0, r11, r7, r0\n"
            "    smlad r1, r11, r8, r1\n"
            "    smlad r2, r11, r9, r2\n"
            "    ldr r11, [lr], #4\n"
            "    smlad r3, r11, r8, r3\n"
            "    smlad r4, r11, r9, r4\n"
            "    smlad r5, r11, r10, r5\n"
            "    sxtb16 r11, r11\n"
            "    smlad r0, r11, r8, r0\n"
            "    smlad r1, r11, r9, r1\n"
            "    smlad r2, r11, r10, r2\n"
            "    ldmia r12!, {r6-r10}\n"
            "    ldr r11, [lr], #4\n"
            "    smlad r3, r11, r6, r3\n"
            "    smlad r4, r11, r7, r4\n"
            "    smlad r5, r11, r8, r5\n"
            "    sxtb16 r11, r11\n"
            "    smlad r0, r11, r6, r0\n"
            "    smlad r1, r11, r7, r1\n"
            "    smlad r2, r11, r8, r2\n"
            "    ldr r11, [lr], #4\n"
            "    smlad r3, r11, r7, r3\n"
            "    smlad r4, r11, r8, r4\n"
            "    smlad r5, r11, r9, r5\n"
            "    sxtb16 r11, r11\n"
            "    smlad r0, r11, r7, r0\n"
            "    smlad r1, r11, r8, r1\n"
            "    smlad r2, r11, r9, r2\n"
            "    ldr r11, [lr], #4\n"
            "    smlad r3, r11, r8, r3\n"
            "    smlad r4, r11, r9, r4\n"
            "    smlad r5, r11, r10, r5\n"
            "    sxtb16 r11, r11\n"
            "    smlad r0, r11, r8, r0\n"
            "    smlad r1, r11, r9, r1\n"
            "    smlad r2, r11, r10, r2\n"
            "12:\n"
            "    ldmia r12!, {r6-r10}\n"
            "    ldr r11, [lr], #4\n"
            "    smlad r3, r11, r6, r3\n"
            "    smlad r4, r11, r7, r4\n"
            "    smlad r5, r11, r8, r5\n"
            "    sxtb16 r11, r11\n"
            "    smlad r0, r11, r6, r0\n"
            "    smlad r1, r11, r7, r1\n"
            "    smlad r2, r11, r8, r2\n"
            "    ldr r11, [lr], #4\n"
            "    smlad r3, r11, r7, r3\n"
            "    smlad r4, r11, r8, r4\n"
            "    smlad r5, r11, r9, r5\n"
            "    sxtb16 r11, r11\n"
            "    smlad r0, r11, r7, r0\n"
            "    smlad r1, r11, r8, r1\n"
            "    smlad r2, r11, r9, r2\n"
            "    ldr r11, [lr], #4\n"
            "    smlad r3, r11, r8, r3\n"
            "    smlad r4, r11, r9, r4\n"
            "    smlad r5, r11, r10, r5\n"
            "    sxtb16 r11, r11\n"
            "    smlad r0, r11, r8, r0\n"
            "    smlad r1, r11, r9, r1\n"
            "    smlad r2, r11, r10, r2\n"
            "    ldmia r12!, {r6-r10}\n"
            "    ldr r11, [lr], #4\n"
            "    smlad r3, r11, r6, r3\n"
            "    smlad r4, r11, r7, r4\n"
            "    smlad r5, r11, r8, r5\n"
            "    sxtb16 r11, r11\n"
            "    smlad r0, r11, r6, r0\n"
            "    smlad r1, r11, r7, r1\n"
            "    smlad r2, r11, r8, r2\n"
            "    ldr r11, [lr], #4\n"
            "    smlad r3, r11, r7, r3\n"
            "    smlad r4, r11, r8, r4\n"
            "    smlad r5, r11, r9, r5\n"
            "    sxtb16 r11, r11\n"
            "    smlad r0, r11, r7, r0\n"
            "    smlad r1, r11, r8, r1\n"
            "    smlad r2, r11, r9, r2\n"
            "    ldr r11, [lr], #4\n"
            "    smlad r3, r11, r8, r3\n"
            "    smlad r4, r11, r9, r4\n"
            "    smlad r5, r11, r10, r5\n"
            "    sxtb16 r11, r11\n"
            "    smlad r0, r11, r8, r0\n"
            "    smlad r1, r11, r9, r1\n"
            "    smlad r2, r11, r10, r2\n"
            "    ldmia r12!, {r6-r10}\n"
            "    ldr r11, [lr], #4\n"
            "    smlad r3, r11, r6, r3\n"
            "    smlad r4, r11, r7, r4\n"
            "    smlad r5, r11, r8, r5\n"
            "    sxtb16 r11, r11\n"
            "    smlad r0, r11, r6, r0\n"
            "    smlad r1, r11, r7, r1\n"
            "    smlad r2, r11, r8, r2\n"
            "    ldr r11, [lr], #4\n"
            "    smlad r3, r11, r7, r3\n"
            "    smlad r4, r11, r8, r4\n"
            "    smlad r5, r11, r9, r5\n"
            "    sxtb16 r11, r11\n"
            "    smlad r0, r11, r7, r0\n"
            "    smlad r1, r11, r8, r1\n"
            "    smlad r2, r11, r9, r2\n"
            "    ldr r11, [lr], #4\n"
            "    smlad r3, r11, r8, r3\n"
            "    smlad r4, r11, r9, r4\n"
            "    smlad r5, r11, r10, r5\n"
            "    sxtb16 r11, r11\n"
            "    smlad r0, r11, r8, r0\n"
            "    smlad r1, r11, r9, r1\n"
            "    smlad r2, r11, r10, r2\n"
            "    ldmia r12!, {r6-r10}\n"
            "    ldr r11, [lr], #4\n"
            "    smlad r3, r11, r6, r3\n"
            "    smlad r4, r11, r7, r4\n"
            "    smlad r5, r11, r8, r5\n"
            "    sxtb16 r11, r11\n"
            "    smlad r0, r11, r6, r0\n"
            "    smlad r1, r11, r7, r1\n"
            "    smlad r2, r11, r8, r2\n"
            "    ldr r11, [lr], #4\n"
            "    smlad r3, r11, r7, r3\n"
            "    smlad r4, r11, r8, r4\n"
            "    smlad r5, r11, r9, r5\n"
            "    sxtb16 r11, r11\n"
            "    smlad r0, r11, r7, r0\n"
            "    smlad r1, r11, r8, r1\n"
            "    smlad r2, r11, r9, r2\n"
            "    ldr r11, [lr], #4\n"
            "    smlad r3, r11, r8, r3\n"
            "    smlad r4, r11, r9, r4\n"
            "    smlad r5, r11, r10, r5\n"
            "    sxtb16 r11, r11\n"
            "    smlad r0, r11, r8, r0\n"
            "    smlad r1, r11, r9, r1\n"
            "    smlad r2, r11, r10, r2\n"
            "    ldmia r12!, {r6-r10}\n"
            "    ldr r11, [lr], #4\n"
            "    smlad r3, r11, r6, r3\n"
            "    smlad r4, r11, r7, r4\n"
            "    smlad r5, r11, r8, r5\n"
            "    sxtb16 r11, r11\n"
            "    smlad r0, r11, r6, r0\n"
            "    smlad r1, r11, r7, r1\n"
            "    smlad r2, r11, r8, r2\n"
            "    ldr r11, [lr], #4\n"
            "    smlad r3, r11, r7, r3\n"
            "    smlad r4, r11, r8, r4\n"
            "    smlad r5, r11, r9, r5\n"
            "    sxtb16 r11, r11\n"
            "    smlad r0, r11, r7, r0\n"
            "    smlad r1, r11, r8, r1\n"
            "    smlad r2, r11, r9, r2\n"
            "    ldr r11, [lr], #4\n"
            "    smlad r3, r11, r8, r3\n"
            "    smlad r4, r11, r9, r4\n"
            "    smlad r5, r11, r10, r5\n"
            "    sxtb16 r11, r11\n"
            "    smlad r0, r11, r8, r0\n"
            "    smlad r1, r11, r9, r1\n"
            "    smlad r2, r11, r10, r2\n"
            "    ldmia r12!, {r6-r10}\n"
            "    ldr r11, [lr], #4\n"
            "    smlad r3, r11, r6, r3\n"
            "    smlad r4, r11, r7, r4\n"
            "    smlad r5, r11, r8, r5\n"
            "    sxtb16 r11, r11\n"
            "    smlad r0, r11, r6, r0\n"
            "    smlad r1, r11, r7, r1\n"
            "    smlad r2, r11, r8, r2\n"
            "    ldr r11, [lr], #4\n"
            "    smlad r3, r11, r7, r3\n"
            "    smlad r4, r11, r8, r4\n"
            "    smlad r5, r11, r9, r5\n"
            "    sxtb16 r11, r11\n"
            "    smlad r0, r11, r7, r0\n"
            "    smlad r1, r11, r8, r1\n"
            "    smlad r2, r11, r9, r2\n"
            "    ldr r11, [lr], #4\n"
            "    smlad r3, r11, r8, r3\n"
            "    smlad r4, r11, r9, r4\n"
            "    smlad r5, r11, r10, r5\n"
            "    sxtb16 r11, r11\n"
            "    smlad r0, r11, r8, r0\n"
            "    smlad r1, r11, r9, r1\n"
            "    smlad r2, r11, r10, r2\n"
            "    ldmia r12!, {r6-r10}\n"
            "    ldr r11, [lr], #4\n"
            "    smlad r3, r11, r6, r3\n"
            "    smlad r4, r11, r7, r4\n"
            "    smlad r5, r11, r8, r5\n"
            "    sxtb16 r11, r11\n"
            "    smlad r0, r11, r6, r0\n"
            "    smlad r1, r11, r7, r1\n"
            "    smlad r2, r11, r8, r2\n"
            "    ldr r11, [lr], #4\n"
            "    smlad r3, r11, r7, r3\n"
            "    smlad r4, r11, r8, r4\n"
            "    smlad r5, r11, r9, r5\n"
            "    sxtb16 r11, r11\n"
            "    smlad r0, r11, r7, r0\n"
            "    smlad r1, r11, r8, r1\n"
            "    smlad r2, r11, r9, r2\n"
            "    ldr r11, [lr], #4\n"
            "    smlad r3, r11, r8, r3\n"
            "    smlad r4, r11, r9, r4\n"
            "    smlad r5, r11, r10, r5\n"
            "    sxtb16 r11, r11\n"
            "    smlad r0, r11, r8, r0\n"
            "    smlad r1, r11, r9, r1\n"
            "    smlad r2, r11, r10, r2\n"
            "    ldmia r12!, {r6-r10}\n"
            "    ldr r11, [lr], #4\n"
            "    smlad r3, r11, r6, r3\n"
            "    smlad r4, r11, r7, r4\n"
            "    smlad r5, r11, r8, r5\n"
            "    sxtb16 r11, r11\n"
            "    smlad r0, r11, r6, r0\n"
            "    smlad r1, r11, r7, r1\n"
            "    smlad r2, r11, r8, r2\n"
            "    ldr r11, [lr], #4\n"
            "    smlad r3, r11, r7, r3\n"
            "    smlad r4, r11, r8, r4\n"
            "    smlad r5, r11, r9, r5\n"
            "    sxtb16 r11, r11\n"
            "    smlad r0, r11, r7, r0\n"
            "    smlad r1, r11, r8, r1\n"
            "    smlad r2, r11, r9, r2\n"
            "    ldr r11, [lr], #4\n"
            "    smlad r3, r11, r8, r3\n"
            "    smlad r4, r11, r9, r4\n"
            "    smlad r5, r11, r10, r5\n"
            "    sxtb16 r11, r11\n"
            "    smlad r0, r11, r8, r0\n"
            "    smlad r1, r11, r9, r1\n"
            "    smlad r2, r11, r10, r2\n"
            "    ldmia r12!, {r6-r10}\n"
            "    ldr r11, [lr], #4\n"
            "    smlad r3, r11, r6, r3\n"
            "    smlad r4, r11, r7, r4\n"
            "    smlad r5, r11, r8, r5\n"
            "    sxtb16 r11, r11\n"
            "    smlad r0, r11, r6, r0\n"
            "    smlad r1, r11, r7, r1\n"
            "    smlad r2, r11, r8, r2\n"
            "    ldr r11, [lr], #4\n"
            "    smlad r3, r11, r7, r3\n"
            "    smlad r4, r11, r8, r4\n"
            "    smlad r5, r11, r9, r5\n"
            "    sxtb16 r11, r11\n"
            "    smlad r0, r11, r7, r0\n"
            "    smlad r1, r11, r8, r1\n"
            "    smlad r2, r11, r9, r2\n"
            "    ldr r11, [lr], #4\n"
            "    smlad r3, r11, r8, r3\n"
            "    smlad r4, r11, r9, r4\n"
            "    smlad r5, r11, r10, r5\n"
            "    sxtb16 r11, r11\n"
            "    smlad r0, r11, r8, r0\n"
            "    smlad r1, r11, r9, r1\n"
            "    smlad r2, r11, r10, r2\n"
            "    ldmia r12!, {r6-r10}\n"
            "    ldr r11, [lr], #4\n"
            "    smlad r3, r11, r6, r3\n"
            "    smlad r4, r11, r7, r4\n"
            "    smlad r5, r11, r8, r5\n"
            "    sxtb16 r11, r11\n"
            "    smlad r0, r11, r6, r0\n"
            "    smlad r1, r11, r7, r1\n"
            "    smlad r2, r11, r8, r2\n"
            "    ldr r11, [lr], #4\n"
            "    smlad r3, r11, r7, r3\n"
            "    smlad r4, r11, r8, r4\n"
            "    smlad r5, r11, r9, r5\n"
            "    sxtb16 r11, r11\n"
            "    smlad r0, r11, r7, r0\n"
            "    smlad r1, r11, r8, r1\n"
            "    smlad r2, r11, r9, r2\n"
            "    ldr r11, [lr], #4\n"
            "    smlad r3, r11, r8, r3\n"
            "    smlad r4, r11, r9, r4\n"
            "    smlad r5, r11, r10, r5\n"
            "    sxtb16 r11, r11\n"
            "    smlad r0, r11, r8, r0\n"
            "    smlad r1, r11, r9, r1\n"
            "    smlad r2, r11, r10, r2\n"
            "    ldmia r12!, {r6-r10}\n"
            "    ldr r11, [lr], #4\n"
            "    smlad r3, r11, r6, r3\n"
            "    smlad r4, r11, r7, r4\n"
            "    smlad r5, r11, r8, r5\n"
            "    sxtb16 r11, r11\n"
            "    smlad r0, r11, r6, r0\n"
            "    smlad r1, r11, r7, r1\n"
            "    smlad r2, r11, r8, r2\n"
            "    ldr r11, [lr], #4\n"
            "    smlad r3, r11, r7, r3\n"
            "    smlad r4, r11, r8, r4\n"
            "    smlad r5, r11, r9, r5\n"
            "    sxtb16 r11, r11\n"
            "    smlad r0, r11, r7, r0\n"
            "    smlad r1, r11, r8, r1\n"
            "    smlad r2, r11, r9, r2\n"
            "    ldr r11, [lr], #4\n"
            "    smlad r3, r11, r8, r3\n"
            "    smlad r4, r11, r9, r4\n"
            "    smlad r5, r11, r10, r5\n"
            "    sxtb16 r11, r11\n"
            "    smlad r0, r11, r8, r0\n"
            "    smlad r1, r11, r9, r1\n"
            "    smlad r2, r11, r10, r2\n"
            "    tst r12, #7\n"
            "    bne 12b\n"
            /* To elements of the output: scaled, shifted, saturated. */
            "    sub r3, r3, r0\n"
            "    sub r4, r4, r1\n"
            "    sub r5, r5, r2\n"
            "    ldmia lr!, {r6-r9}\n"
            "    cbz r7, 7f\n"
            "8:\n"
            "    smmla r0, r0, r6, r7\n"
            "    smmla r1, r1, r6, r7\n"
            "    smmla r2, r2, r6, r7\n"
            "    ssat r0, #8, r0, asr #4\n"
            "    ssat r1, #8, r1, asr #4\n"
            "    ssat r2, #8, r2, asr #4\n"
            "    smmla r3, r3, r8, r9\n"
            "    smmla r4, r4, r8, r9\n"
            "    smmla r5, r5, r8, r9\n"
            "    ssat r3, #8, r3, asr #12\n"
            "    ssat r4, #8, r4, asr #12\n"
            "    ssat r5, #8, r5, asr #12\n"
            "9:\n"
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
            "    bne 11b\n"
            "    b 10f\n"
            "7:\n"
            /* Sums that are rounded too late, which r10 names, become the next. */
            "13:\n"
            "    ldmia lr!, {r7, r10, r11}\n"
            "    cbnz r7, 14f\n"
            "    cmp r10, r0\n"
            "    itt ne\n"
            "    cmpne r10, r1\n"
            "    cmpne r10, r2\n"
            "    beq 16f\n"
            "15:\n"
            "    movs r7, r11\n"
            "    beq 13b\n"
            "    b 8b\n"
            "14:\n"
            "    cmp r10, r3\n"
            "    itt ne\n"
            "    cmpne r10, r4\n"
            "    cmpne r10, r5\n"
            "    bne 15b\n"
            "    cmp r10, r3\n"
            "    it eq\n"
            "    addeq r3, r3, #256\n"
            "    cmp r10, r4\n"
            "    it eq\n"
            "    addeq r4, r4, #256\n"
            "    cmp r10, r5\n"
            "    it eq\n"
            "    addeq r5, r5, #256\n"
            "    b 15b\n"
            "16:\n"
            "    cmp r10, r0\n"
            "    it eq\n"
            "    addeq r0, r0, #1\n"
            "    cmp r10, r1\n"
            "    it eq\n"
            "    addeq r1, r1, #1\n"
            "    cmp r10, r2\n"
            "    it eq\n"
            "    addeq r2, r2, #1\n"
            "    b 15b\n"
            "10:\n"
            "    ldr r6, [r12]\n"
            "    ldr r7, [r12, #84]\n"
            "    ldr r8, [r12, #96]\n"
            "    add r6, r6, r8\n"
            "    add r7, r6, r7\n"
            "    strd r6, r7, [r12]\n"
            "    b 5b\n"
            /* Other windows are begun one by one: r0 the first byte, r1 the column, r2 the row. */
            "2:\n"
            "    add r3, r12, #148\n"
            "    add r10, r12, #48\n"
            "    ldmia r10, {r4-r9}\n"
            "19:\n"
            "    cmp r1, r4\n"
            "    bne 20f\n"
            "    ldr r1, [r12, #72]\n"
            "    ldr r10, [r12, #76]\n"
            "    add r2, r2, r10\n"
            "    ldr r10, [r12, #80]\n"
            "    add r0, r0, r10\n"
            "20:\n"
            "    cmp r2, r5\n"
            "    beq 4f\n"
            "    ldr r10, [r12, #84]\n"
            "    sub r11, r10, #2\n"
            "    str r11, [r12, #8]\n"
            "    add r11, r11, r10\n"
            "    str r11, [r12, #12]\n"
            "    lsl r10, r10, #1\n"
            "    str r10, [r12, #96]\n"
            "    ldr r10, [r12, #100]\n"
            "    cmp r1, r10\n"
            "    bne 21f\n"
            "    ldr r10, [r12, #104]\n"
            "    str r10, [r12, #96]\n"
            "    add r10, r12, #182\n"
            "    ldr r11, [r12]\n"
            "    sub r10, r10, r11\n"
            "    str r10, [r12, #12]\n"
            "21:\n"
            "    cmp r1, r8\n"
            "    it lo\n"
            "    cmplo r2, r9\n"
            "    blo 23f\n"
            /* One that leaves the image is copied, with the zero point around it. */
            "    ldr r8, [r3, #24]\n"
            "    ldr r4, [r12, #120]\n"
            "    str r4, [r3]\n"
            "    str r8, [r3, #12]\n"
            "    ldr r10, [r12, #140]\n"
            "    add r10, r10, r8\n"
            "    mov r9, r8\n"
            "    ldr r4, [r12, #136]\n"
            "    pkhbt r4, r4, r4, lsl #16\n"
            "    mov r5, r4\n"
            "    mov r6, r4\n"
            "    mov r7, r4\n"
            "24:\n"
            "    stmia r9!, {r4-r7}\n"
            "    stmia r9!, {r4-r7}\n"
            "    cmp r9, r10\n"
            "    bne 24b\n"
            "    rsb r5, r1, #0\n"
            "    bic r5, r5, r5, asr #31\n"
            "    ldr r6, [r12, #124]\n"
            "    sub r6, r6, r1\n"
            "    ldr r7, [r12, #128]\n"
            "    cmp r6, r7\n"
            "    it gt\n"
            "    movgt r6, r7\n"
            "    subs r6, r6, r5\n"
            "    ble 25f\n"
            "    ldr r7, [r12, #132]\n"
            "    mul r6, r6, r7\n"
            "    mul r5, r5, r7\n"
            "    add r7, r0, r5\n"
            "    add r8, r8, r5\n"
            "    mov r9, r2\n"
            "    ldr r5, [r12, #108]\n"
            "    ldr r10, [r12, #92]\n"
            "    ldr r11, [r12, #112]\n"
            "    ldr lr, [r12, #116]\n"
            "    vmov d0, r0, r1\n"
            "    vmov d1, r2, r3\n"
            "26:\n"
            "    cmp r9, r5\n"
            "    bhs 27f\n"
            "    add r12, r7, r6\n"
            "28:\n"
            "    ldmia r7!, {r0-r3}\n"
            "    stmia r8!, {r0-r3}\n"
            "    cmp r7, r12\n"
            "    bne 28b\n"
            "    sub r7, r7, r6\n"
            "    sub r8, r8, r6\n"
            "27:\n"
            "    add r7, r7, r11\n"
            "    add r8, r8, lr\n"
            "    add r9, r9, #1\n"
            "    subs r10, r10, #1\n"
            "    bne 26b\n"
            "    vmov r0, r1, d0\n"
            "    vmov r2, r3, d1\n"
            "25:\n"
            "    vmov r12, s8\n"
            "    add r10, r12, #48\n"
            "    ldmia r10, {r4-r9}\n"
            "    b 22f\n"
            "23:\n"
            "    ldr r10, [r12, #40]\n"
            "    str r10, [r3]\n"
            "    str r0, [r3, #12]\n"
            "22:\n"
            "    add r0, r0, r6\n"
            "    add r1, r1, r7\n"
            "    add r10, r12, #16\n"
            "    stmia r10, {r0-r2}\n"
            "    add r10, r12, #148\n"
            "    ldmia r10, {r6-r11}\n"
            "    b 3b\n"
            "4:\n"
            "    pop {r4-r11, pc}\n");
}

/* y = sat((offset + (a_scale * 256 a >> 16) + (b_scale * 256 b >> 16)) >> shift).
 * constants: both scales, the offset, the bytes of a run's whole words, the loops'. */
MCU_KERNEL void _mcu_dsp_strips_add_int8_21_dsp(const int8_t *a MCU_UNUSED,
                                                const int8_t *b MCU_UNUSED, int8_t *y MCU_UNUSED,
                                                const int32_t *constants MCU_UNUSED) {
    __asm__(".syntax unified\n"
            "    push {r4-r11, lr}\n"
            /* constants, {a_scale, b_scale, offset, run_bytes} */
            "    ldmia r3, {r3-r6}\n"
            "    add r6, r6, r2\n"                  /* run_bytes, run_bytes, y */
            "    vmov s0, r6\n"                     /* end, run_bytes */
            "    mov r12, #0xff00ff00\n"            /* odd_bytes, #0xff00ff00 */
            /* Each element times its operand's scale (SMLAW), added, shifted, saturated. */
            "1:\n"
            "    ldmia r0!, {r6, lr}\n"             /* a!, {a0123, a4567} */
            "    ldmia r1!, {r7, r8}\n"             /* b!, {b0123, b4567} */
            "    and r9, r12, r6, lsl #8\n"         /* a_even, odd_bytes, a0123, lsl #8 */
            "    and r6, r6, r12\n"                 /* a0123, a0123, odd_bytes */
            "    and r10, r12, r7, lsl #8\n"        /* b_even, odd_bytes, b0123, lsl #8 */
            "    and r7, r7, r12\n"                 /* b0123, b0123, odd_bytes */
            "    smlawt r11, r3, r9, r5\n"          /* sum, a_scale, a_even, offset */
            "    smlawt r11, r4, r10, r11\n"        /* sum, b_scale, b_even, sum */
            "    smlawb r9, r3, r9, r5\n"           /* a_even, a_scale, a_even, offset */
            "    smlawb r9, r4, r10, r9\n"          /* a_even, b_scale, b_even, a_even */
            "    smlawt r10, r3, r6, r5\n"          /* b_even, a_scale, a0123, offset */
            "    smlawt r10, r4, r7, r10\n"         /* b_even, b_scale, b0123, b_even */
            "    smlawb r6, r3, r6, r5\n"           /* a0123, a_scale, a0123, offset */
            "    smlawb r6, r4, r7, r6\n"           /* a0123, b_scale, b0123, a0123 */
            "    ssat r9, #8, r9, asr #21\n"        /* a_even, #8, a_even, asr #21 */
            "    ssat r11, #8, r11, asr #21\n"      /* sum, #8, sum, asr #21 */
            "    ssat r6, #8, r6, asr #21\n"        /* a0123, #8, a0123, asr #21 */
            "    ssat r10, #8, r10, asr #21\n"      /* b_even, #8, b_even, asr #21 */
            "    bfi r9, r6, #8, #8\n"              /* a_even, a0123, #8, #8 */
            "    bfi r11, r10, #8, #8\n"            /* sum, b_even, #8, #8 */
            "    pkhbt r9, r9, r11, lsl #16\n"      /* a_even, a_even, sum, lsl #16 */
            "    str r9, [r2], #4\n"                /* a_even, [y], #4 */
            "    and r9, r12, lr, lsl #8\n"         /* a_even, odd_bytes, a4567, lsl #8 */
            "    and lr, lr, r12\n"                 /* a4567, a4567, odd_bytes */
            "    and r10, r12, r8, lsl #8\n"        /* b_even, odd_bytes, b4567, lsl #8 */
            "    and r8, r8, r12\n"                 /* b4567, b4567, odd_bytes */
            "    smlawt r11, r3, r9, r5\n"          /* sum, a_scale, a_even, offset */
            "    smlawt r11, r4, r10, r11\n"        /* sum, b_scale, b_even, sum */
            "    smlawb r9, r3, r9, r5\n"           /* a_even, a_scale, a_even, offset */
            "    smlawb r9, r4, r10, r9\n"          /* a_even, b_scale, b_even, a_even */
            "    smlawt r10, r3, lr, r5\n"          /* b_even, a_scale, a4567, offset */
            "    smlawt r10, r4, r8, r10\n"         /* b_even, b_scale, b4567, b_even */
            "    smlawb lr, r3, lr, r5\n"           /* a4567, a_scale, a4567, offset */
            "    smlawb lr, r4, r8, lr\n"           /* a4567, b_scale, b4567, a4567 */
            "    ssat r9, #8, r9, asr #21\n"        /* a_even, #8, a_even, asr #21 */
            "    ssat r11, #8, r11, asr #21\n"      /* sum, #8, sum, asr #21 */
            "    ssat lr, #8, lr, asr #21\n"        /* a4567, #8, a4567, asr #21 */
            "    ssat r10, #8, r10, asr #21\n"      /* b_even, #8, b_even, asr #21 */
            "    bfi r9, lr, #8, #8\n"              /* a_even, a4567, #8, #8 */
            "    bfi r11, r10, #8, #8\n"            /* sum, b_even, #8, #8 */
            "    pkhbt r9, r9, r11, lsl #16\n"      /* a_even, a_even, sum, lsl #16 */
            "    str r9, [r2], #4\n"                /* a_even, [y], #4 */
            "    vmov r11, s0\n"                    /* sum, end */
            "    cmp r2, r11\n"                     /* y, sum */
            "    bne 1b\n"
            "    pop {r4-r11, pc}\n");
}

MCU_FUNCTION void _mcu_dsp_strips_conv_conv_add_strips_dsp(const int8_t *x, int8_t *y,
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
        _mcu_dsp_strips_conv3x3_rows_97e291c2_dsp(source, next, weights, work);
        source += 512 * (until - made);
        made = until;
        next = strip + 1024;
        range[0] = first - 1;
        range[1] = last - 1;
        int8_t *const rows = (int8_t *)scratch;
        _mcu_dsp_strips_conv3x3_rows_97e291c2_dsp(strip + 512, rows, more_weights, work);
        _mcu_dsp_strips_add_int8_21_dsp(x, rows, target, constants);
        x += 1024;
        target += 1024;
        memcpy(strip, strip + 1024, 1024);
    }
}

MCU_FUNCTION void _mcu_dsp_strips_reorder_16x384_int8(const int8_t *x, int8_t *y) {
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
