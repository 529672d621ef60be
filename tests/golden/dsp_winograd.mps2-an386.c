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

/* Those in assembly are one string each, some longer than C99 wants compilers to take. */
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Woverlength-strings"
#endif

MCU_FUNCTION void _mcu_dsp_winograd_reorder_35x4_int8(const int8_t *x, int8_t *y) {
    for (int32_t i0 = 0; i0 < 35; i0++) {
        for (int32_t i1 = 0; i1 < 4; i1++) {
            *y++ = x[i0 + i1 * 35];
        }
    }
}

/* The image is copied with its padding. */
MCU_KERNEL void _mcu_dsp_winograd_conv3x3_dsp(const int8_t *x MCU_UNUSED, int8_t *y MCU_UNUSED,
                                              const uint32_t *weights MCU_UNUSED,
                                              uint8_t *scratch MCU_UNUSED) {
    __asm__(".syntax unified\n"
            "    push {r4-r11, lr}\n"
            "    add r4, r3, #352\n"
            "    mov r10, r4\n"
            "    add r9, r4, #256\n"
            "    movw r5, #32639\n"
            "    movt r5, #32639\n"
            "    mov r6, r5\n"
            "1:\n"
            "    stmia r4!, {r5, r6}\n"
            "    cmp r4, r9\n"
            "    bne 1b\n"
            "    add r4, r10, #32\n"
            "    mov r9, #7\n"
            "2:\n"
            "    ldr r5, [r0]\n"
            "    ldr r6, [r0, #4]\n"
            "    ldr r7, [r0, #8]\n"
            "    ldr r8, [r0, #12]\n"
            "    str r5, [r4]\n"
            "    str r6, [r4, #4]\n"
            "    str r7, [r4, #8]\n"
            "    str r8, [r4, #12]\n"
            "    ldr r5, [r0, #16]\n"
            "    str r5, [r4, #16]\n"
            "    add r0, r0, #20\n"
            "    add r4, r4, #28\n"
            "    subs r9, r9, #1\n"
            "    bne 2b\n"
            "    mov r0, r10\n"
            /* The layer's numbers go behind the taps of a tile, to r12; s10: the weights. */
            "    ldr r4, [r2], #4\n"
            "    add r12, r3, r4\n"
            "    sub r4, r12, r4\n"
            "    vmov s9, r4\n"
            "    vmov s8, r12\n"
            "    add lr, r12, #8\n"
            "    add r6, r12, #96\n"
            "3:\n"
            "    ldr r4, [r2], #4\n"
            "    sxth r5, r4\n"
            "    asrs r4, r4, #16\n"
            "    strd r5, r4, [lr], #8\n"
            "    cmp lr, r6\n"
            "    bne 3b\n"
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
            /* Three windows, at r9-r11 if they are inside of the image and of one row. */
            "7:\n"
            "    add r11, r12, #16\n"
            "    ldmia r11, {r0-r7}\n"
            "    cmp r1, r3\n"
            "    it lo\n"
            "    cmplo r2, r4\n"
            "    bhs 4f\n"
            "    mov r9, r0\n"
            "    add r1, r1, r7\n"
            "    add r10, r9, r5\n"
            "    add r11, r10, r5\n"
            "    add r0, r11, r5\n"
            "    mov r7, r6\n"
            "    mov r8, r6\n"
            "    strd r0, r1, [r12, #16]\n"
            "5:\n"
            "    vmov lr, s9\n"
            /* Their taps, widened to int16: two a word, of all three windows in turn. */
            "    mov r12, #3\n"
            "8:\n"
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
            "    add r9, r9, r6\n"
            "    add r10, r10, r7\n"
            "    add r11, r11, r8\n"
            "    subs r12, r12, #1\n"
            "    bne 8b\n"
            "    vmov lr, s10\n"
            "    ldmia lr!, {r10, r11}\n"
            /* Two filters, three outputs: r0-r2 are the even one's sums, r3-r5 the odd one's. */
            /* A word of weights has 256 odd + even, twice; by SXTB16 it has the even ones. */
            "13:\n"
            "    vmov r12, s9\n"
            "    ldmia lr!, {r5, r9}\n"
            "    ldmia r12!, {r6-r8}\n"
            "    sxtb16 r2, r5\n"
            "    smlad r3, r5, r6, r11\n"
            "    smlad r4, r5, r7, r11\n"
            "    smlad r5, r5, r8, r11\n"
            "    smlad r0, r2, r6, r10\n"
            "    smlad r1, r2, r7, r10\n"
            "    smlad r2, r2, r8, r10\n"
            "    ldmia r12!, {r6-r8}\n"
            "    smlad r3, r9, r6, r3\n"
            "    smlad r4, r9, r7, r4\n"
            "    smlad r5, r9, r8, r5\n"
            "    sxtb16 r9, r9\n"
            "    smlad r0, r9, r6, r0\n"
            "    smlad r1, r9, r7, r1\n"
            "    smlad r2, r9, r8, r2\n"
            "    ldmia lr!, {r9-r11}\n"
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
            "    ldmia r12!, {r6-r8}\n"
            "    smlad r3, r11, r6, r3\n"
            "    smlad r4, r11, r7, r4\n"
            "    smlad r5, r11, r8, r5\n"
            "    sxtb16 r11, r11\n"
            "    smlad r0, r11, r6, r0\n"
            "    smlad r1, r11, r7, r1\n"
            "    smlad r2, r11, r8, r2\n"
            "    ldmia lr!, {r9-r11}\n"
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
            "    ldmia r12!, {r6-r8}\n"
            "    smlad r3, r11, r6, r3\n"
            "    smlad r4, r11, r7, r4\n"
            "    smlad r5, r11, r8, r5\n"
            "    sxtb16 r11, r11\n"
            "    smlad r0, r11, r6, r0\n"
            "    smlad r1, r11, r7, r1\n"
            "    smlad r2, r11, r8, r2\n"
            "    ldmia lr!, {r9-r11}\n"
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
            "    ldmia r12!, {r6-r8}\n"
            "    smlad r3, r11, r6, r3\n"
            "    smlad r4, r11, r7, r4\n"
            "    smlad r5, r11, r8, r5\n"
            "    sxtb16 r11, r11\n"
            "    smlad r0, r11, r6, r0\n"
            "    smlad r1, r11, r7, r1\n"
            "    smlad r2, r11, r8, r2\n"
            "    ldmia lr!, {r9-r11}\n"
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
            "    ldmia r12!, {r6-r8}\n"
            "    smlad r3, r11, r6, r3\n"
            "    smlad r4, r11, r7, r4\n"
            "    smlad r5, r11, r8, r5\n"
            "    sxtb16 r11, r11\n"
            "    smlad r0, r11, r6, r0\n"
            "    smlad r1, r11, r7, r1\n"
            "    smlad r2, r11, r8, r2\n"
            "    ldmia lr!, {r9-r11}\n"
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
            "    ldmia r12!, {r6-r8}\n"
            "    smlad r3, r11, r6, r3\n"
            "    smlad r4, r11, r7, r4\n"
            "    smlad r5, r11, r8, r5\n"
            "    sxtb16 r11, r11\n"
            "    smlad r0, r11, r6, r0\n"
            "    smlad r1, r11, r7, r1\n"
            "    smlad r2, r11, r8, r2\n"
            "    ldr r9, [lr], #4\n"
            "    ldmia r12!, {r6-r8}\n"
            "    smlad r3, r9, r6, r3\n"
            "    smlad r4, r9, r7, r4\n"
            "    smlad r5, r9, r8, r5\n"
            "    sxtb16 r9, r9\n"
            "    smlad r0, r9, r6, r0\n"
            "    smlad r1, r9, r7, r1\n"
            "    smlad r2, r9, r8, r2\n"
            /* To elements of the output: scaled, shifted, saturated. */
            "    sub r3, r3, r0\n"
            "    sub r4, r4, r1\n"
            "    sub r5, r5, r2\n"
            "    ldmia lr!, {r6-r11}\n"
            "    cbz r7, 9f\n"
            "10:\n"
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
            "11:\n"
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
            "    bne 13b\n"
            "    b 12f\n"
            "9:\n"
            "    vmov d0, r10, r11\n"
            /* Sums that are rounded too late, which r10 names, become the next. */
            "14:\n"
            "    ldmia lr!, {r7, r10, r11}\n"
            "    cbnz r7, 15f\n"
            "    cmp r10, r0\n"
            "    itt ne\n"
            "    cmpne r10, r1\n"
            "    cmpne r10, r2\n"
            "    beq 17f\n"
            "16:\n"
            "    movs r7, r11\n"
            "    beq 14b\n"
            "    vmov r10, r11, d0\n"
            "    b 10b\n"
            "15:\n"
            "    cmp r10, r3\n"
            "    itt ne\n"
            "    cmpne r10, r4\n"
            "    cmpne r10, r5\n"
            "    bne 16b\n"
            "    cmp r10, r3\n"
            "    it eq\n"
            "    addeq r3, r3, #256\n"
            "    cmp r10, r4\n"
            "    it eq\n"
            "    addeq r4, r4, #256\n"
            "    cmp r10, r5\n"
            "    it eq\n"
            "    addeq r5, r5, #256\n"
            "    b 16b\n"
            "17:\n"
            "    cmp r10, r0\n"
            "    it eq\n"
            "    addeq r0, r0, #1\n"
            "    cmp r10, r1\n"
            "    it eq\n"
            "    addeq r1, r1, #1\n"
            "    cmp r10, r2\n"
            "    it eq\n"
            "    addeq r2, r2, #1\n"
            "    b 16b\n"
            "12:\n"
            "    ldr r6, [r12]\n"
            "    ldr r7, [r12, #84]\n"
            "    add r6, r6, r7, lsl #1\n"
            "    add r7, r6, r7\n"
            "    strd r6, r7, [r12]\n"
            "    b 7b\n"
            /* Other windows are begun one by one: r0 the first byte, r1 the column, r2 the row. */
            "4:\n"
            "    add r3, r12, #96\n"
            "    add r10, r12, #48\n"
            "    ldmia r10, {r4-r9}\n"
            "20:\n"
            "    cmp r1, r4\n"
            "    bne 21f\n"
            "    ldr r1, [r12, #72]\n"
            "    ldr r10, [r12, #76]\n"
            "    add r2, r2, r10\n"
            "    ldr r10, [r12, #80]\n"
            "    add r0, r0, r10\n"
            "21:\n"
            "    cmp r2, r5\n"
            "    beq 18f\n"
            "    ldr r10, [r12, #40]\n"
            "    str r10, [r3]\n"
            "    str r0, [r3, #12]\n"
            "22:\n"
            "    add r0, r0, r6\n"
            "    add r1, r1, r7\n"
            "19:\n"
            "    add r3, r3, #4\n"
            "    add r10, r12, #108\n"
            "    cmp r3, r10\n"
            "    bne 20b\n"
            "    add r10, r12, #16\n"
            "    stmia r10, {r0-r2}\n"
            "    add r10, r12, #96\n"
            "    ldmia r10, {r6-r11}\n"
            "    b 5b\n"
            "18:\n"
            "    add r10, r12, #96\n"
            "    cmp r3, r10\n"
            "    beq 6f\n"
            "    sub r10, r3, #4\n"
            "    ldr r4, [r10]\n"
            "    str r4, [r3]\n"
            "    ldr r4, [r10, #12]\n"
            "    str r4, [r3, #12]\n"
            "    add r10, r12, #130\n"
            "    ldr r4, [r12]\n"
            "    sub r10, r10, r4\n"
            "    sub r4, r3, #92\n"
            "    str r10, [r4]\n"
            "    add r10, r12, #48\n"
            "    ldmia r10, {r4-r9}\n"
            "    b 19b\n"
            "6:\n"
            "    pop {r4-r11, pc}\n");
}

MCU_FUNCTION void _mcu_dsp_winograd_reorder_4x35_int8(const int8_t *x, int8_t *y) {
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
