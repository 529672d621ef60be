/* network_dsp_depthwise.c: a neural network, made by mcu-deploy.
 *
 *   source model  convolutions, SHA-256
 *                 9726ee3c31b15eb27a219ebf311fb865d8ff8acf3afbb0212a7426ab0ad04a0a
 *   constants     236 bytes, as a file: SHA-256
 *                 285d153bd57baa80f7fbec65a3cb0153e30897ae8663c44b8dbee013dc556360
 *   workspace     1,664 bytes
 *   layers        3 with 8,000 multiply-accumulates
 *
 * Everything is static but the descriptor _mcu_network_dsp_depthwise, at the end. To compile this
 * file by hand, in its folder, to the same bytes:
 *
 *   arm-none-eabi-gcc -mcpu=cortex-m4 -mthumb -mfpu=fpv4-sp-d16 -mfloat-abi=hard -std=c99 \
 *       -ffunction-sections -fdata-sections -fno-common -O2 -ffp-contract=off -fno-math-errno \
 *       -frandom-seed=dsp_depthwise -I include -c network_dsp_depthwise.c -o \
 *       network_dsp_depthwise.o
 *
 * The workspace: what lies where, in bytes, and from which layer to which it is needed.
 *
 *   offset  bytes   from      to  holds
 *        0    320  input       0  int8
 *     1344    320      0       2  x0
 *        0   1344      1       1  scratch of depthwise_1
 *        0    320      2  output  int8_y
 *
 * Shapes have the model's order of axes. NHWC and the like behind a shape say in which order its
 * axes lie in memory, where that is another one.
 */
#include "network_dsp_depthwise.h"

#include <string.h>

/* ---- Constants ---- */

/* The assembler takes the file in as it is (from another folder: with -I FOLDER). The arrays are
 * declared extern, as a static array without an initializer would be one of zeros; the names that
 * the assembler gives them are local to the object. Where there is no .incbin, and for -flto, build
 * with --weights array. */
__asm__(".pushsection .rodata._mcu_dsp_depthwise_weights, \"a\", %progbits\n"
        ".balign 16\n"
        ".type _mcu_dsp_depthwise_weights, %object\n"
        ".size _mcu_dsp_depthwise_weights, 236\n"
        "_mcu_dsp_depthwise_weights:\n"
        ".incbin \"network_dsp_depthwise.weights.bin\"\n"
        ".popsection");
/* clang-format off */
#define MCU_CONSTANT(name, type, elements, offset, bytes)                \
    extern const type name[elements];                                    \
    __asm__(".set " #name ", _mcu_dsp_depthwise_weights + " #offset "\n" \
            ".type " #name ", %object\n"                                 \
            ".size " #name ", " #bytes)
MCU_CONSTANT(_mcu_dsp_depthwise_depthwise_1_taps,  uint32_t, 52,   0, 208);
MCU_CONSTANT(_mcu_dsp_depthwise_depthwise_1_shape, int32_t,   7, 208,  28);
#undef MCU_CONSTANT
/* clang-format on */

/* ---- Kernels ---- */

/* Those in assembly are one string each, some longer than C99 wants compilers to take. */
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Woverlength-strings"
#endif

MCU_FUNCTION void _mcu_dsp_depthwise_reorder_80x4_int8(const int8_t *x, int8_t *y) {
    for (int32_t i0 = 0; i0 < 80; i0++) {
        for (int32_t i1 = 0; i1 < 4; i1++) {
            *y++ = x[i0 + i1 * 80];
        }
    }
}

/* Lines of four channels to their planes, as int16: two pixels a word. */
MCU_KERNEL void _mcu_dsp_depthwise_gather_planes_dsp(const int8_t *pixels MCU_UNUSED,
                                                     uint8_t *planes MCU_UNUSED,
                                                     int32_t lines MCU_UNUSED,
                                                     const int32_t *pitch MCU_UNUSED) {
    __asm__(".syntax unified\n"
            "    push {r6-r11, lr}\n"
            "    mov r12, r0\n"
            "    mov r7, r1\n"
            "    movw lr, #112\n"
            "    mla lr, lr, r2, r7\n"
            "    vmov s0, lr\n"
            "    ldrd lr, r0, [r3]\n"
            "    vmov s1, r0\n"
            "    movw r6, #128\n"
            "    movt r6, #128\n"
            "    addw r7, r7, #16\n"
            "1:\n"
            "    ldr r0, [r12]\n"
            "    ldr r1, [r12, lr]\n"
            "    add r12, r12, lr, lsl #1\n"
            "    pkhbt r2, r0, r1, lsl #16\n"
            "    pkhtb r3, r1, r0, asr #16\n"
            "    sxtab16 r8, r6, r2\n"
            "    sxtab16 r9, r6, r2, ror #8\n"
            "    sxtab16 r10, r6, r3\n"
            "    sxtab16 r11, r6, r3, ror #8\n"
            "    stmia r7!, {r8-r11}\n"
            "    ldr r0, [r12]\n"
            "    ldr r1, [r12, lr]\n"
            "    add r12, r12, lr, lsl #1\n"
            "    pkhbt r2, r0, r1, lsl #16\n"
            "    pkhtb r3, r1, r0, asr #16\n"
            "    sxtab16 r8, r6, r2\n"
            "    sxtab16 r9, r6, r2, ror #8\n"
            "    sxtab16 r10, r6, r3\n"
            "    sxtab16 r11, r6, r3, ror #8\n"
            "    stmia r7!, {r8-r11}\n"
            "    ldr r0, [r12]\n"
            "    ldr r1, [r12, lr]\n"
            "    add r12, r12, lr, lsl #1\n"
            "    pkhbt r2, r0, r1, lsl #16\n"
            "    pkhtb r3, r1, r0, asr #16\n"
            "    sxtab16 r8, r6, r2\n"
            "    sxtab16 r9, r6, r2, ror #8\n"
            "    sxtab16 r10, r6, r3\n"
            "    sxtab16 r11, r6, r3, ror #8\n"
            "    stmia r7!, {r8-r11}\n"
            "    ldr r0, [r12]\n"
            "    ldr r1, [r12, lr]\n"
            "    add r12, r12, lr, lsl #1\n"
            "    pkhbt r2, r0, r1, lsl #16\n"
            "    pkhtb r3, r1, r0, asr #16\n"
            "    sxtab16 r8, r6, r2\n"
            "    sxtab16 r9, r6, r2, ror #8\n"
            "    sxtab16 r10, r6, r3\n"
            "    sxtab16 r11, r6, r3, ror #8\n"
            "    stmia r7!, {r8-r11}\n"
            "    ldr r0, [r12]\n"
            "    ldr r1, [r12, lr]\n"
            "    add r12, r12, lr, lsl #1\n"
            "    pkhbt r2, r0, r1, lsl #16\n"
            "    pkhtb r3, r1, r0, asr #16\n"
            "    sxtab16 r8, r6, r2\n"
            "    sxtab16 r9, r6, r2, ror #8\n"
            "    sxtab16 r10, r6, r3\n"
            "    sxtab16 r11, r6, r3, ror #8\n"
            "    stmia r7!, {r8-r11}\n"
            "    add r7, r7, #32\n"
            "    vmov r0, s1\n"
            "    add r12, r12, r0\n"
            "    vmov r0, s0\n"
            "    sub r1, r7, #16\n"
            "    cmp r1, r0\n"
            "    bne 1b\n"
            "    pop {r6-r11, pc}\n");
}

MCU_KERNEL void _mcu_dsp_depthwise_depthwise_plane_dsp(const uint32_t *taps MCU_UNUSED,
                                                       const uint8_t *plane MCU_UNUSED,
                                                       int8_t *y MCU_UNUSED,
                                                       const int32_t *numbers MCU_UNUSED) {
    __asm__(".syntax unified\n"
            "    push {r4-r11, lr}\n"
            "    vpush {d8-d10}\n"
            "    ldmia r0!, {r7-r9}\n"
            "    ldmia r3, {r4-r6}\n"
            "    vmov s14, r7\n"
            "    vmov d4, r8, r9\n"
            "    vmov s11, r4\n"
            "    vmov s18, r5\n"
            "    vmov s21, r6\n"
            "    vmov s13, r0\n"
            "    vmov d8, r1, r2\n"
            "    mov r4, #8\n"
            "    vmov s19, r4\n"
            /* Lines of outputs: a row of the kernel adds to 6 neighbours' sums. */
            "3:\n"
            "    vmov r4, r5, d8\n"
            "    vmov s12, r4\n"
            "    vmov s10, r5\n"
            "    vmov r12, lr, d6\n"
            "    vmov r5, s14\n"
            "    ldmia lr!, {r6, r8}\n"
            "    sxtb16 r7, r6, ror #8\n"
            "    sxtb16 r6, r6\n"
            "    sxtb16 r9, r8, ror #8\n"
            "    sxtb16 r8, r8\n"
            "    ldr r10, [r12]\n"
            "    ldr r11, [r12, #16]\n"
            "    smlad r0, r6, r10, r5\n"
            "    smlabt r1, r6, r10, r5\n"
            "    smlad r0, r7, r11, r0\n"
            "    smlad r1, r8, r11, r1\n"
            "    smlad r2, r6, r11, r5\n"
            "    smlabt r3, r6, r11, r5\n"
            "    ldr r10, [r12, #32]\n"
            "    ldr r11, [r12, #48]\n"
            "    smlatb r0, r9, r10, r0\n"
            "    smlad r1, r9, r10, r1\n"
            "    smlad r2, r7, r10, r2\n"
            "    smlad r3, r8, r10, r3\n"
            "    smlad r4, r6, r10, r5\n"
            "    smlabt r5, r6, r10, r5\n"
            "    smlatb r2, r9, r11, r2\n"
            "    smlad r3, r9, r11, r3\n"
            "    smlad r4, r7, r11, r4\n"
            "    smlad r5, r8, r11, r5\n"
            "    ldr r10, [r12, #64]\n"
            "    smlatb r4, r9, r10, r4\n"
            "    smlad r5, r9, r10, r5\n"
            "    add r12, r12, #112\n"
            "    ldmia lr!, {r6, r8}\n"
            "    sxtb16 r7, r6, ror #8\n"
            "    sxtb16 r6, r6\n"
            "    sxtb16 r9, r8, ror #8\n"
            "    sxtb16 r8, r8\n"
            "    ldr r10, [r12]\n"
            "    ldr r11, [r12, #16]\n"
            "    smlad r0, r6, r10, r0\n"
            "    smlabt r1, r6, r10, r1\n"
            "    smlad r0, r7, r11, r0\n"
            "    smlad r1, r8, r11, r1\n"
            "    smlad r2, r6, r11, r2\n"
            "    smlabt r3, r6, r11, r3\n"
            "    ldr r10, [r12, #32]\n"
            "    ldr r11, [r12, #48]\n"
            "    smlatb r0, r9, r10, r0\n"
            "    smlad r1, r9, r10, r1\n"
            "    smlad r2, r7, r10, r2\n"
            "    smlad r3, r8, r10, r3\n"
            "    smlad r4, r6, r10, r4\n"
            "    smlabt r5, r6, r10, r5\n"
            "    smlatb r2, r9, r11, r2\n"
            "    smlad r3, r9, r11, r3\n"
            "    smlad r4, r7, r11, r4\n"
            "    smlad r5, r8, r11, r5\n"
            "    ldr r10, [r12, #64]\n"
            "    smlatb r4, r9, r10, r4\n"
            "    smlad r5, r9, r10, r5\n"
            "    add r12, r12, #112\n"
            "    ldmia lr!, {r6, r8}\n"
            "    sxtb16 r7, r6, ror #8\n"
            "    sxtb16 r6, r6\n"
            "    sxtb16 r9, r8, ror #8\n"
            "    sxtb16 r8, r8\n"
            "    ldr r10, [r12]\n"
            "    ldr r11, [r12, #16]\n"
            "    smlad r0, r6, r10, r0\n"
            "    smlabt r1, r6, r10, r1\n"
            "    smlad r0, r7, r11, r0\n"
            "    smlad r1, r8, r11, r1\n"
            "    smlad r2, r6, r11, r2\n"
            "    smlabt r3, r6, r11, r3\n"
            "    ldr r10, [r12, #32]\n"
            "    ldr r11, [r12, #48]\n"
            "    smlatb r0, r9, r10, r0\n"
            "    smlad r1, r9, r10, r1\n"
            "    smlad r2, r7, r10, r2\n"
            "    smlad r3, r8, r10, r3\n"
            "    smlad r4, r6, r10, r4\n"
            "    smlabt r5, r6, r10, r5\n"
            "    smlatb r2, r9, r11, r2\n"
            "    smlad r3, r9, r11, r3\n"
            "    smlad r4, r7, r11, r4\n"
            "    smlad r5, r8, r11, r5\n"
            "    ldr r10, [r12, #64]\n"
            "    smlatb r4, r9, r10, r4\n"
            "    smlad r5, r9, r10, r5\n"
            "    add r12, r12, #112\n"
            "    ldmia lr!, {r6, r8}\n"
            "    sxtb16 r7, r6, ror #8\n"
            "    sxtb16 r6, r6\n"
            "    sxtb16 r9, r8, ror #8\n"
            "    sxtb16 r8, r8\n"
            "    ldr r10, [r12]\n"
            "    ldr r11, [r12, #16]\n"
            "    smlad r0, r6, r10, r0\n"
            "    smlabt r1, r6, r10, r1\n"
            "    smlad r0, r7, r11, r0\n"
            "    smlad r1, r8, r11, r1\n"
            "    smlad r2, r6, r11, r2\n"
            "    smlabt r3, r6, r11, r3\n"
            "    ldr r10, [r12, #32]\n"
            "    ldr r11, [r12, #48]\n"
            "    smlatb r0, r9, r10, r0\n"
            "    smlad r1, r9, r10, r1\n"
            "    smlad r2, r7, r10, r2\n"
            "    smlad r3, r8, r10, r3\n"
            "    smlad r4, r6, r10, r4\n"
            "    smlabt r5, r6, r10, r5\n"
            "    smlatb r2, r9, r11, r2\n"
            "    smlad r3, r9, r11, r3\n"
            "    smlad r4, r7, r11, r4\n"
            "    smlad r5, r8, r11, r5\n"
            "    ldr r10, [r12, #64]\n"
            "    smlatb r4, r9, r10, r4\n"
            "    smlad r5, r9, r10, r5\n"
            "    add r12, r12, #112\n"
            "    ldmia lr!, {r6, r8}\n"
            "    sxtb16 r7, r6, ror #8\n"
            "    sxtb16 r6, r6\n"
            "    sxtb16 r9, r8, ror #8\n"
            "    sxtb16 r8, r8\n"
            "    ldr r10, [r12]\n"
            "    ldr r11, [r12, #16]\n"
            "    smlad r0, r6, r10, r0\n"
            "    smlabt r1, r6, r10, r1\n"
            "    smlad r0, r7, r11, r0\n"
            "    smlad r1, r8, r11, r1\n"
            "    smlad r2, r6, r11, r2\n"
            "    smlabt r3, r6, r11, r3\n"
            "    ldr r10, [r12, #32]\n"
            "    ldr r11, [r12, #48]\n"
            "    smlatb r0, r9, r10, r0\n"
            "    smlad r1, r9, r10, r1\n"
            "    smlad r2, r7, r10, r2\n"
            "    smlad r3, r8, r10, r3\n"
            "    smlad r4, r6, r10, r4\n"
            "    smlabt r5, r6, r10, r5\n"
            "    smlatb r2, r9, r11, r2\n"
            "    smlad r3, r9, r11, r3\n"
            "    smlad r4, r7, r11, r4\n"
            "    smlad r5, r8, r11, r5\n"
            "    ldr r10, [r12, #64]\n"
            "    smlatb r4, r9, r10, r4\n"
            "    smlad r5, r9, r10, r5\n"
            "    vmov r6, r7, d4\n"
            "    cmp r6, #0\n"
            "    ble 4f\n"
            "    smmla r0, r0, r6, r7\n"
            "    smmla r1, r1, r6, r7\n"
            "    smmla r2, r2, r6, r7\n"
            "    smmla r3, r3, r6, r7\n"
            "    smmla r4, r4, r6, r7\n"
            "    smmla r5, r5, r6, r7\n"
            "    ssat r0, #8, r0, asr #4\n"
            "    ssat r1, #8, r1, asr #4\n"
            "    ssat r2, #8, r2, asr #4\n"
            "    ssat r3, #8, r3, asr #4\n"
            "    ssat r4, #8, r4, asr #4\n"
            "    ssat r5, #8, r5, asr #4\n"
            "5:\n"
            "    vmov r6, r7, d5\n"
            "    strb r0, [r6]\n"
            "    strb r1, [r6, r7]\n"
            "    add r6, r6, r7, lsl #1\n"
            "    strb r2, [r6]\n"
            "    strb r3, [r6, r7]\n"
            "    add r6, r6, r7, lsl #1\n"
            "    strb r4, [r6]\n"
            "    strb r5, [r6, r7]\n"
            "    add r6, r6, r7, lsl #1\n"
            "    vmov s10, r6\n"
            "    vmov r6, s12\n"
            "    addw r6, r6, #48\n"
            "    vmov s12, r6\n"
            "    vmov r12, lr, d6\n"
            "    vmov r3, s14\n"
            "    ldmia lr!, {r4, r6}\n"
            "    sxtb16 r5, r4, ror #8\n"
            "    sxtb16 r4, r4\n"
            "    sxtb16 r7, r6, ror #8\n"
            "    sxtb16 r6, r6\n"
            "    ldr r8, [r12]\n"
            "    ldr r9, [r12, #16]\n"
            "    ldr r10, [r12, #32]\n"
            "    ldr r11, [r12, #48]\n"
            "    smlad r0, r4, r8, r3\n"
            "    smlabt r1, r4, r8, r3\n"
            "    smlad r0, r5, r9, r0\n"
            "    smlad r1, r6, r9, r1\n"
            "    smlad r2, r4, r9, r3\n"
            "    smlabt r3, r4, r9, r3\n"
            "    smlatb r0, r7, r10, r0\n"
            "    smlad r1, r7, r10, r1\n"
            "    smlad r2, r5, r10, r2\n"
            "    smlad r3, r6, r10, r3\n"
            "    smlatb r2, r7, r11, r2\n"
            "    smlad r3, r7, r11, r3\n"
            "    add r12, r12, #112\n"
            "    ldmia lr!, {r4, r6}\n"
            "    sxtb16 r5, r4, ror #8\n"
            "    sxtb16 r4, r4\n"
            "    sxtb16 r7, r6, ror #8\n"
            "    sxtb16 r6, r6\n"
            "    ldr r8, [r12]\n"
            "    ldr r9, [r12, #16]\n"
            "    ldr r10, [r12, #32]\n"
            "    ldr r11, [r12, #48]\n"
            "    smlad r0, r4, r8, r0\n"
            "    smlabt r1, r4, r8, r1\n"
            "    smlad r0, r5, r9, r0\n"
            "    smlad r1, r6, r9, r1\n"
            "    smlad r2, r4, r9, r2\n"
            "    smlabt r3, r4, r9, r3\n"
            "    smlatb r0, r7, r10, r0\n"
            "    smlad r1, r7, r10, r1\n"
            "    smlad r2, r5, r10, r2\n"
            "    smlad r3, r6, r10, r3\n"
            "    smlatb r2, r7, r11, r2\n"
            "    smlad r3, r7, r11, r3\n"
            "    add r12, r12, #112\n"
            "    ldmia lr!, {r4, r6}\n"
            "    sxtb16 r5, r4, ror #8\n"
            "    sxtb16 r4, r4\n"
            "    sxtb16 r7, r6, ror #8\n"
            "    sxtb16 r6, r6\n"
            "    ldr r8, [r12]\n"
            "    ldr r9, [r12, #16]\n"
            "    ldr r10, [r12, #32]\n"
            "    ldr r11, [r12, #48]\n"
            "    smlad r0, r4, r8, r0\n"
            "    smlabt r1, r4, r8, r1\n"
            "    smlad r0, r5, r9, r0\n"
            "    smlad r1, r6, r9, r1\n"
            "    smlad r2, r4, r9, r2\n"
            "    smlabt r3, r4, r9, r3\n"
            "    smlatb r0, r7, r10, r0\n"
            "    smlad r1, r7, r10, r1\n"
            "    smlad r2, r5, r10, r2\n"
            "    smlad r3, r6, r10, r3\n"
            "    smlatb r2, r7, r11, r2\n"
            "    smlad r3, r7, r11, r3\n"
            "    add r12, r12, #112\n"
            "    ldmia lr!, {r4, r6}\n"
            "    sxtb16 r5, r4, ror #8\n"
            "    sxtb16 r4, r4\n"
            "    sxtb16 r7, r6, ror #8\n"
            "    sxtb16 r6, r6\n"
            "    ldr r8, [r12]\n"
            "    ldr r9, [r12, #16]\n"
            "    ldr r10, [r12, #32]\n"
            "    ldr r11, [r12, #48]\n"
            "    smlad r0, r4, r8, r0\n"
            "    smlabt r1, r4, r8, r1\n"
            "    smlad r0, r5, r9, r0\n"
            "    smlad r1, r6, r9, r1\n"
            "    smlad r2, r4, r9, r2\n"
            "    smlabt r3, r4, r9, r3\n"
            "    smlatb r0, r7, r10, r0\n"
            "    smlad r1, r7, r10, r1\n"
            "    smlad r2, r5, r10, r2\n"
            "    smlad r3, r6, r10, r3\n"
            "    smlatb r2, r7, r11, r2\n"
            "    smlad r3, r7, r11, r3\n"
            "    add r12, r12, #112\n"
            "    ldmia lr!, {r4, r6}\n"
            "    sxtb16 r5, r4, ror #8\n"
            "    sxtb16 r4, r4\n"
            "    sxtb16 r7, r6, ror #8\n"
            "    sxtb16 r6, r6\n"
            "    ldr r8, [r12]\n"
            "    ldr r9, [r12, #16]\n"
            "    ldr r10, [r12, #32]\n"
            "    ldr r11, [r12, #48]\n"
            "    smlad r0, r4, r8, r0\n"
            "    smlabt r1, r4, r8, r1\n"
            "    smlad r0, r5, r9, r0\n"
            "    smlad r1, r6, r9, r1\n"
            "    smlad r2, r4, r9, r2\n"
            "    smlabt r3, r4, r9, r3\n"
            "    smlatb r0, r7, r10, r0\n"
            "    smlad r1, r7, r10, r1\n"
            "    smlad r2, r5, r10, r2\n"
            "    smlad r3, r6, r10, r3\n"
            "    smlatb r2, r7, r11, r2\n"
            "    smlad r3, r7, r11, r3\n"
            "    vmov r6, r7, d4\n"
            "    cmp r6, #0\n"
            "    ble 6f\n"
            "    smmla r0, r0, r6, r7\n"
            "    smmla r1, r1, r6, r7\n"
            "    smmla r2, r2, r6, r7\n"
            "    smmla r3, r3, r6, r7\n"
            "    ssat r0, #8, r0, asr #4\n"
            "    ssat r1, #8, r1, asr #4\n"
            "    ssat r2, #8, r2, asr #4\n"
            "    ssat r3, #8, r3, asr #4\n"
            "7:\n"
            "    vmov r6, r7, d5\n"
            "    strb r0, [r6]\n"
            "    strb r1, [r6, r7]\n"
            "    add r6, r6, r7, lsl #1\n"
            "    strb r2, [r6]\n"
            "    strb r3, [r6, r7]\n"
            "    add r6, r6, r7, lsl #1\n"
            "    vmov s10, r6\n"
            "    vmov r4, r5, d8\n"
            "    vmov r6, s18\n"
            "    add r5, r5, r6\n"
            "    add r4, r4, #112\n"
            "    vmov d8, r4, r5\n"
            "    vmov r6, s19\n"
            "    subs r6, r6, #1\n"
            "    vmov s19, r6\n"
            "    bne 3b\n"
            "    b 2f\n"
            "4:\n"
            "    bl 1f\n"
            "    b 5b\n"
            "6:\n"
            "    bl 1f\n"
            "    b 7b\n"
            "1:\n"
            "    mov r8, r7\n"
            "    vmov r9, s21\n"
            "    vmov d0, r0, r1\n"
            "    vmov d1, r2, r7\n"
            "    vcvt.f32.s32 s0, s0\n"
            "    vcvt.f32.s32 s1, s1\n"
            "    vcvt.f32.s32 s2, s2\n"
            "    vmul.f32 s0, s0, s3\n"
            "    vmul.f32 s1, s1, s3\n"
            "    vmul.f32 s2, s2, s3\n"
            "    vcvtr.s32.f32 s0, s0\n"
            "    vcvtr.s32.f32 s1, s1\n"
            "    vcvtr.s32.f32 s2, s2\n"
            "    vmov r0, r1, d0\n"
            "    vmov r2, s2\n"
            "    vmov d0, r3, r4\n"
            "    vmov d1, r5, r8\n"
            "    vcvt.f32.s32 s0, s0\n"
            "    vcvt.f32.s32 s1, s1\n"
            "    vcvt.f32.s32 s2, s2\n"
            "    vmul.f32 s0, s0, s3\n"
            "    vmul.f32 s1, s1, s3\n"
            "    vmul.f32 s2, s2, s3\n"
            "    vcvtr.s32.f32 s0, s0\n"
            "    vcvtr.s32.f32 s1, s1\n"
            "    vcvtr.s32.f32 s2, s2\n"
            "    vmov r3, r4, d0\n"
            "    vmov r5, s2\n"
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
            "    bx lr\n"
            "2:\n"
            "    vpop {d8-d10}\n"
            "    pop {r4-r11, pc}\n");
}

MCU_FUNCTION void _mcu_dsp_depthwise_depthwise5x5_dsp(const int8_t *x, int8_t *y,
                                                      const uint32_t *taps, const int32_t *shape,
                                                      uint8_t *scratch) {
    const int32_t channels = shape[5];
    /* Padding stays 0 on both sides of the lines. */
    memset(scratch, 0, 1344);
    for (int32_t channel = 0; channel < channels; channel += 4) {
        /* Where fewer than four are left, those before them are taken again, and not convolved. */
        const int32_t first = channel + 4 <= channels ? channel : channels - 4, last = first + 4;
        const int8_t *from = x + first;
        int8_t *to = y;
        int32_t left = 8, wanted = 10;
        uint8_t *next = scratch + 224;
        /* `wanted` lines follow those that the band before left; where the image ends, zeros. */
        for (int32_t band = 0; band < 1; band++) {
            const int32_t taken = left < wanted ? left : wanted;
            if (taken > 0) {
                _mcu_dsp_depthwise_gather_planes_dsp(from, next, taken, shape + 3);
            }
            for (int32_t k = channel - first; k < last - first; k++) {
                const int32_t filter = first + k;
                _mcu_dsp_depthwise_depthwise_plane_dsp(taps + 13 * filter, scratch + 4 * k, to + filter, shape);
            }
        }
    }
}

MCU_FUNCTION void _mcu_dsp_depthwise_reorder_4x80_int8(const int8_t *x, int8_t *y) {
    for (int32_t i0 = 0; i0 < 4; i0++) {
        for (int32_t i1 = 0; i1 < 80; i1++) {
            *y++ = x[i0 + i1 * 4];
        }
    }
}

/* ---- The layers, in the order of execution ---- */

/* clang-format off */
static void _mcu_dsp_depthwise_layers(mcu_instance_t *instance) {
    uint8_t *const ws = instance->workspace;

    /* reshape_1_reorder: Reorder, x0 reordered: int8[1,4,8,10] -> int8[1,4,8,10] NHWC */
    int8_t *const int8 = (int8_t *)(ws + 0);
    int8_t *const reshape_1_reorder = (int8_t *)(ws + 1344);
    MCU_LAYER(0, _mcu_dsp_depthwise_reorder_80x4_int8(int8, reshape_1_reorder));

    /* depthwise_1: Conv, Conv_5 (5 nodes):
     * int8[1,4,8,10] NHWC -> int8[1,4,8,10] NHWC; 8,000 MACs */
    int8_t *const depthwise_1 = (int8_t *)(ws + 1344);
    uint8_t *const depthwise_1_scratch = (uint8_t *)(ws + 0);
    MCU_LAYER(1, _mcu_dsp_depthwise_depthwise5x5_dsp(
        reshape_1_reorder, depthwise_1, _mcu_dsp_depthwise_depthwise_1_taps,
        _mcu_dsp_depthwise_depthwise_1_shape, depthwise_1_scratch));

    /* depthwise_1_reorder: Reorder, y0 reordered: int8[1,4,8,10] NHWC -> int8[1,4,8,10] */
    int8_t *const depthwise_1_reorder = (int8_t *)(ws + 0);
    MCU_LAYER(2, _mcu_dsp_depthwise_reorder_4x80_int8(depthwise_1, depthwise_1_reorder));
}

/* clang-format on */

static int32_t _mcu_dsp_depthwise_run_func(void *args, void *arg_type_ids, int32_t num_args,
                                           void *out_ret_value, void *out_ret_tcode,
                                           void *resource_handle) {
    (void)out_ret_value;
    (void)out_ret_tcode;
    const mcu_model_t *const model = &_mcu_network_dsp_depthwise;
    const int32_t status =
        _mcu_run_begin(model, NULL, args, arg_type_ids, num_args, resource_handle);
    if (status != MCU_OK) {
        return status;
    }
    _mcu_dsp_depthwise_layers(resource_handle);
    return _mcu_run_end(model, NULL, args, resource_handle);
}

/* ---- The descriptor ---- */

static const int64_t _mcu_dsp_depthwise_input0_shape[1] = {320};
static const mcu_tensor_info_t _mcu_dsp_depthwise_inputs[1] = {
    {
        .name = "int8",
        .shape = _mcu_dsp_depthwise_input0_shape,
        .place = {0, 0, 320},
        .scale = 1.0e+0F,
        .zero_point = -128,
        .ndim = 1,
        .dtype = {kDLInt, 8, 1},
    },
};

static const int64_t _mcu_dsp_depthwise_output0_shape[1] = {320};
static const mcu_tensor_info_t _mcu_dsp_depthwise_outputs[1] = {
    {
        .name = "int8_y",
        .shape = _mcu_dsp_depthwise_output0_shape,
        .place = {0, 0, 320},
        .scale = 2.0e+2F,
        .zero_point = -128,
        .ndim = 1,
        .dtype = {kDLInt, 8, 1},
    },
};

/* clang-format off */
/* Where the outputs of each layer lie when it has run: offset, pool and bytes. */
static const mcu_region_t _mcu_dsp_depthwise_regions[3] = {
    {1344, 0, 320}, /* 0 */
    {1344, 0, 320}, /* 1 */
    {0,    0, 320}, /* 2 */
};

/* Of each layer: its first output in the table above, and how many it has. */
static const mcu_layer_info_t _mcu_dsp_depthwise_layer_infos[3] = {
    {0, 1}, {1, 1}, {2, 1},
};
/* clang-format on */

const mcu_model_t _mcu_network_dsp_depthwise = {
    .run_func = _mcu_dsp_depthwise_run_func,
    .num_input_tensors = 1,
    .num_output_tensors = 1,
    .abi_version = MCU_MODEL_ABI_VERSION,
    .workspace_size = MCU_DSP_DEPTHWISE_WORKSPACE_SIZE,
    .workspace_alignment = MCU_DSP_DEPTHWISE_WORKSPACE_ALIGNMENT,
    .num_layers = 3,
    .name = "dsp_depthwise",
    .inputs = _mcu_dsp_depthwise_inputs,
    .outputs = _mcu_dsp_depthwise_outputs,
    .layers = _mcu_dsp_depthwise_layer_infos,
    .layer_outputs = _mcu_dsp_depthwise_regions,
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
