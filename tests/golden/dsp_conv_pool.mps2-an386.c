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

/* Those in assembly are one string each, some longer than C99 wants compilers to take. */
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Woverlength-strings"
#endif

MCU_FUNCTION void _mcu_dsp_conv_pool_reorder_240x4_int8(const int8_t *x, int8_t *y) {
    for (int32_t i0 = 0; i0 < 240; i0++) {
        for (int32_t i1 = 0; i1 < 4; i1++) {
            *y++ = x[i0 + i1 * 240];
        }
    }
}

/* The layer's numbers go behind the taps of a tile, to r12; s10: the weights. */
MCU_KERNEL void _mcu_dsp_conv_pool_conv3x3_rows_60c113e6_dsp(const int8_t *x MCU_UNUSED,
                                                             int8_t *y MCU_UNUSED,
                                                             const uint32_t *weights MCU_UNUSED,
                                                             uint8_t *scratch MCU_UNUSED) {
    __asm__(".syntax unified\n"
            "    push {r4-r11, lr}\n"
            "    ldr r4, [r2], #4\n"
            "    add r12, r3, r4\n"
            "    sub r4, r12, r4\n"
            "    vmov s9, r4\n"
            "    vmov s8, r12\n"
            "    add lr, r12, #8\n"
            "    add r6, r12, #136\n"
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
            "    ldr r4, [r12, #132]\n"
            "    ldr r7, [r12, #128]\n"
            "    add r4, r4, r12\n"
            "    add r5, r4, r7\n"
            "    add r6, r5, r7\n"
            "    add lr, r12, #160\n"
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
            "    ldr r1, [r12]\n"
            "    ldr r2, [r12, #4]\n"
            "    ldr r3, [r12, #8]\n"
            "    ldr r4, [r12, #12]\n"
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
            "12:\n"
            "    ldmia lr!, {r7, r10, r11}\n"
            "    cbnz r7, 13f\n"
            "    cmp r10, r0\n"
            "    itt ne\n"
            "    cmpne r10, r1\n"
            "    cmpne r10, r2\n"
            "    beq 15f\n"
            "14:\n"
            "    movs r7, r11\n"
            "    beq 12b\n"
            "    b 8b\n"
            "13:\n"
            "    cmp r10, r3\n"
            "    itt ne\n"
            "    cmpne r10, r4\n"
            "    cmpne r10, r5\n"
            "    bne 14b\n"
            "    cmp r10, r3\n"
            "    it eq\n"
            "    addeq r3, r3, #256\n"
            "    cmp r10, r4\n"
            "    it eq\n"
            "    addeq r4, r4, #256\n"
            "    cmp r10, r5\n"
            "    it eq\n"
            "    addeq r5, r5, #256\n"
            "    b 14b\n"
            "15:\n"
            "    cmp r10, r0\n"
            "    it eq\n"
            "    addeq r0, r0, #1\n"
            "    cmp r10, r1\n"
            "    it eq\n"
            "    addeq r1, r1, #1\n"
            "    cmp r10, r2\n"
            "    it eq\n"
            "    addeq r2, r2, #1\n"
            "    b 14b\n"
            "10:\n"
            "    ldr r6, [r12]\n"
            "    ldr r7, [r12, #84]\n"
            "    add r6, r6, r7, lsl #1\n"
            "    add r7, r6, r7\n"
            "    strd r6, r7, [r12]\n"
            "    b 5b\n"
            /* Other windows are begun one by one: r0 the first byte, r1 the column, r2 the row. */
            "2:\n"
            "    add r3, r12, #136\n"
            "    add r10, r12, #48\n"
            "    ldmia r10, {r4-r9}\n"
            "18:\n"
            "    cmp r1, r4\n"
            "    bne 19f\n"
            "    ldr r1, [r12, #72]\n"
            "    ldr r10, [r12, #76]\n"
            "    add r2, r2, r10\n"
            "    ldr r10, [r12, #80]\n"
            "    add r0, r0, r10\n"
            "19:\n"
            "    cmp r2, r5\n"
            "    beq 4f\n"
            "    cmp r1, r8\n"
            "    it lo\n"
            "    cmplo r2, r9\n"
            "    blo 21f\n"
            /* One that leaves the image is copied, with the zero point around it. */
            "    ldr r8, [r3, #24]\n"
            "    ldr r4, [r12, #108]\n"
            "    str r4, [r3]\n"
            "    str r8, [r3, #12]\n"
            "    ldr r10, [r12, #128]\n"
            "    add r10, r10, r8\n"
            "    mov r9, r8\n"
            "    ldr r4, [r12, #124]\n"
            "    pkhbt r4, r4, r4, lsl #16\n"
            "    mov r5, r4\n"
            "    mov r6, r4\n"
            "    mov r7, r4\n"
            "22:\n"
            "    stmia r9!, {r4-r7}\n"
            "    stmia r9!, {r4-r7}\n"
            "    cmp r9, r10\n"
            "    bne 22b\n"
            "    rsb r5, r1, #0\n"
            "    bic r5, r5, r5, asr #31\n"
            "    ldr r6, [r12, #112]\n"
            "    sub r6, r6, r1\n"
            "    ldr r7, [r12, #116]\n"
            "    cmp r6, r7\n"
            "    it gt\n"
            "    movgt r6, r7\n"
            "    subs r6, r6, r5\n"
            "    ble 23f\n"
            "    ldr r7, [r12, #120]\n"
            "    mul r6, r6, r7\n"
            "    mul r5, r5, r7\n"
            "    add r7, r0, r5\n"
            "    add r8, r8, r5\n"
            "    mov r9, r2\n"
            "    ldr r5, [r12, #96]\n"
            "    ldr r10, [r12, #92]\n"
            "    ldr r11, [r12, #100]\n"
            "    ldr lr, [r12, #104]\n"
            "24:\n"
            "    cmp r9, r5\n"
            "    bhs 25f\n"
            "    mov r12, r6\n"
            "    subs r12, r12, #4\n"
            "28:\n"
            "    ldr r4, [r7, r12]\n"
            "    str r4, [r8, r12]\n"
            "    subs r12, r12, #4\n"
            "    bhs 28b\n"
            "25:\n"
            "    add r7, r7, r11\n"
            "    add r8, r8, lr\n"
            "    add r9, r9, #1\n"
            "    subs r10, r10, #1\n"
            "    bne 24b\n"
            "23:\n"
            "    vmov r12, s8\n"
            "    add r10, r12, #48\n"
            "    ldmia r10, {r4-r9}\n"
            "    b 20f\n"
            "21:\n"
            "    ldr r10, [r12, #40]\n"
            "    str r10, [r3]\n"
            "    str r0, [r3, #12]\n"
            "20:\n"
            "    add r0, r0, r6\n"
            "    add r1, r1, r7\n"
            "    add r10, r12, #16\n"
            "    stmia r10, {r0-r2}\n"
            "    add r10, r12, #136\n"
            "    ldmia r10, {r6-r11}\n"
            "    b 3b\n"
            "4:\n"
            "    pop {r4-r11, pc}\n");
}

/* y[p][c] = sat((sum * 2**16 * scale >> 32) + addend >> 16),
 * sum = start + all x[q][c] of the 2x2 window of pixel p. x and y have 8 channels, which lie
 * last.
 * constants: start, in both halves of a word; scale; addend; of float32 the scale of x, a
 * window's pixels, the scale of y.
 * scratch: the sums of a pixel, int16: of four channels the first, third, second, fourth.
 * In place: a window is read before its pixel is written.
 * But what is next to the middle of two outputs is then summed again. */
MCU_KERNEL void _mcu_dsp_conv_pool_avg_pool2x2_8_rows_9cba53ac_dsp(
    const int8_t *x MCU_UNUSED, int8_t *y MCU_UNUSED, const uint32_t *constants MCU_UNUSED,
    uint8_t *scratch MCU_UNUSED) {
    __asm__(".syntax unified\n"
            "    push {r4-r10, lr}\n"
            "    vmov s0, r0\n"                     /* window, x */
            "    vmov s1, r1\n"                     /* pixel_y, y */
            "    vmov s2, r3\n"                     /* sums, scratch */
            /* Of each window the sum of each channel, four channels a word. */
            "    ldr r0, [r2], #4\n"                /* constant, [constants], #4 */
            "    vmov s3, r0\n"                     /* start, constant */
            "    ldr r0, [r2], #4\n"                /* constant, [constants], #4 */
            "    vmov s4, r0\n"                     /* scale, constant */
            "    ldr r0, [r2], #4\n"                /* constant, [constants], #4 */
            "    vmov s5, r0\n"                     /* addend, constant */
            "    ldr r0, [r2], #4\n"                /* constant, [constants], #4 */
            "    vmov s6, r0\n"                     /* x_scale, constant */
            "    ldr r0, [r2], #4\n"                /* constant, [constants], #4 */
            "    vmov s7, r0\n"                     /* count, constant */
            "    ldr r0, [r2], #4\n"                /* constant, [constants], #4 */
            "    vmov s8, r0\n"                     /* y_scale, constant */
            "    movw r0, #2\n"                     /* left, #2 */
            "    vmov s9, r0\n"                     /* y_rows_left, left */
            "1:\n"
            "    movw r0, #7\n"                     /* left, #7 */
            "    vmov s10, r0\n"                    /* y_columns_left, left */
            "2:\n"
            "    vmov r4, s0\n"                     /* x_at, window */
            "    vmov s11, r4\n"                    /* block, x_at */
            "    vmov r3, s2\n"                     /* sums_at, sums */
            "    vmov s12, r3\n"                    /* block_sums, sums_at */
            "    vmov r0, s3\n"                     /* even0, start */
            "    mov r1, r0\n"                      /* odd0, even0 */
            "    mov r2, r0\n"                      /* even1, even0 */
            "    mov r5, r0\n"                      /* odd1, even0 */
            "    movw r6, #2\n"                     /* rows_left, #2 */
            "3:\n"
            "    ldmia r4!, {r3, r7}\n"             /* x_at!, {x0, x1} */
            "    sxtab16 r0, r0, r3\n"              /* even0, even0, x0 */
            "    sxtab16 r1, r1, r3, ror #8\n"      /* odd0, odd0, x0, ror #8 */
            "    sxtab16 r2, r2, r7\n"              /* even1, even1, x1 */
            "    sxtab16 r5, r5, r7, ror #8\n"      /* odd1, odd1, x1, ror #8 */
            "    ldmia r4!, {r3, r7}\n"             /* x_at!, {x0, x1} */
            "    sxtab16 r0, r0, r3\n"              /* even0, even0, x0 */
            "    sxtab16 r1, r1, r3, ror #8\n"      /* odd0, odd0, x0, ror #8 */
            "    sxtab16 r2, r2, r7\n"              /* even1, even1, x1 */
            "    sxtab16 r5, r5, r7, ror #8\n"      /* odd1, odd1, x1, ror #8 */
            "    add r4, r4, #104\n"                /* x_at, x_at, #104 */
            "    subs r6, r6, #1\n"                 /* rows_left, rows_left, #1 */
            "    bne 3b\n"
            "    vmov r3, s12\n"                    /* sums_at, block_sums */
            "    stmia r3!, {r0-r2, r5}\n"          /* sums_at!, {even0, odd0, even1, odd1} */
            "    vmov s12, r3\n"                    /* block_sums, sums_at */
            "    vmov r4, s11\n"                    /* x_at, block */
            "    add r4, r4, #8\n"                  /* x_at, x_at, #8 */
            "    vmov s11, r4\n"                    /* block, x_at */
            /* Four outputs of their sums. */
            "    vmov lr, s2\n"                     /* sums_at, sums */
            "    vmov r2, s1\n"                     /* out, pixel_y */
            "    vmov r8, s4\n"                     /* scale, scale */
            "    vmov r9, s5\n"                     /* addend, addend */
            "    mov r5, #0\n"                      /* upper_half, #0 */
            "    movt r5, #0xffff\n"                /* upper_half, #0xffff */
            "    mov r6, r2\n"                      /* out_end, out */
            "    add r6, r6, #8\n"                  /* out_end, out_end, #8 */
            "4:\n"
            "    ldmia lr!, {r0, r3}\n"             /* sums_at!, {y0, y1} */
            "    and r7, r0, r5\n"                  /* y2, y0, upper_half */
            "    and r12, r3, r5\n"                 /* y3, y1, upper_half */
            "    lsl r0, r0, #16\n"                 /* y0, y0, #16 */
            "    lsl r3, r3, #16\n"                 /* y1, y1, #16 */
            "    smmla r0, r0, r8, r9\n"            /* y0, y0, scale, addend */
            "    smmla r3, r3, r8, r9\n"            /* y1, y1, scale, addend */
            "    smmla r7, r7, r8, r9\n"            /* y2, y2, scale, addend */
            "    smmla r12, r12, r8, r9\n"          /* y3, y3, scale, addend */
            "    mov r1, #0\n"                      /* near, #0 */
            "    add r4, r0, #128\n"                /* moved, y0, #128 */
            "    tst r4, #65280\n"                  /* moved, #65280 */
            "    it eq\n"
            "    orreq r1, r1, #1\n"                /* near, near, #1 */
            "    add r4, r3, #128\n"                /* moved, y1, #128 */
            "    tst r4, #65280\n"                  /* moved, #65280 */
            "    it eq\n"
            "    orreq r1, r1, #2\n"                /* near, near, #2 */
            "    add r4, r7, #128\n"                /* moved, y2, #128 */
            "    tst r4, #65280\n"                  /* moved, #65280 */
            "    it eq\n"
            "    orreq r1, r1, #4\n"                /* near, near, #4 */
            "    add r4, r12, #128\n"               /* moved, y3, #128 */
            "    tst r4, #65280\n"                  /* moved, #65280 */
            "    it eq\n"
            "    orreq r1, r1, #8\n"                /* near, near, #8 */
            "    ssat r0, #8, r0, asr #16\n"        /* y0, #8, y0, asr #16 */
            "    ssat r3, #8, r3, asr #16\n"        /* y1, #8, y1, asr #16 */
            "    ssat r7, #8, r7, asr #16\n"        /* y2, #8, y2, asr #16 */
            "    ssat r12, #8, r12, asr #16\n"      /* y3, #8, y3, asr #16 */
            "    strb r0, [r2], #4\n"               /* y0, [out], #4 */
            "    strb r3, [r2, #-3]\n"              /* y1, [out, #-3] */
            "    strb r7, [r2, #-2]\n"              /* y2, [out, #-2] */
            "    strb r12, [r2, #-1]\n"             /* y3, [out, #-1] */
            "    cmp r1, #0\n"                      /* near, #0 */
            "    beq 5f\n"
            /* Next to the middle of two outputs: summed in float32, as the model does. */
            "6:\n"
            "    rbit r0, r1\n"                     /* y_at, near */
            "    clz r0, r0\n"                      /* y_at, y_at */
            "    sub r3, r1, #1\n"                  /* less, near, #1 */
            "    and r1, r1, r3\n"                  /* near, near, less */
            "    sub r0, r0, #4\n"                  /* y_at, y_at, #4 */
            "    add r0, r0, r2\n"                  /* y_at, y_at, out */
            "    vmov r3, s1\n"                     /* begin, pixel_y */
            "    sub r4, r0, r3\n"                  /* channel, y_at, begin */
            "    vmov r3, s0\n"                     /* begin, window */
            "    add r3, r4, r3\n"                  /* x_at, channel, begin */
            "    mov r4, #0\n"                      /* zero, #0 */
            "    vmov s11, r4\n"                    /* sum, zero */
            "    movw r7, #2\n"                     /* rows_left, #2 */
            "    movw r12, #8\n"                    /* channels, #8 */
            "7:\n"
            "    movw r10, #2\n"                    /* columns_left, #2 */
            "8:\n"
            "    ldrsb r4, [r3]\n"                  /* element, [x_at] */
            "    add r3, r3, r12\n"                 /* x_at, x_at, channels */
            "    add r4, r4, #7\n"                  /* element, element, #7 */
            "    vmov s12, r4\n"                    /* term, element */
            "    vcvt.f32.s32 s12, s12\n"           /* term, term */
            "    vmul.f32 s12, s12, s6\n"           /* term, term, x_scale */
            "    vadd.f32 s11, s11, s12\n"          /* sum, sum, term */
            "    subs r10, r10, #1\n"               /* columns_left, columns_left, #1 */
            "    bne 8b\n"
            "    add r3, r3, #104\n"                /* x_at, x_at, #104 */
            "    subs r7, r7, #1\n"                 /* rows_left, rows_left, #1 */
            "    bne 7b\n"
            "    vdiv.f32 s11, s11, s7\n"           /* sum, sum, count */
            "    vdiv.f32 s11, s11, s8\n"           /* sum, sum, y_scale */
            "    vcvtr.s32.f32 s11, s11\n"          /* sum, sum */
            "    vmov r3, s11\n"                    /* y, sum */
            "    add r3, r3, #9\n"                  /* y, y, #9 */
            "    ssat r3, #8, r3\n"                 /* y, #8, y */
            "    strb r3, [r0]\n"                   /* y, [y_at] */
            "    cmp r1, #0\n"                      /* near, #0 */
            "    bne 6b\n"
            "5:\n"
            "    cmp r2, r6\n"                      /* out, out_end */
            "    bne 4b\n"
            "    vmov s1, r2\n"                     /* pixel_y, out */
            "    vmov r0, s0\n"                     /* at, window */
            "    add r0, r0, #16\n"                 /* at, at, #16 */
            "    vmov s0, r0\n"                     /* window, at */
            "    vmov r0, s10\n"                    /* left, y_columns_left */
            "    subs r0, r0, #1\n"                 /* left, left, #1 */
            "    vmov s10, r0\n"                    /* y_columns_left, left */
            "    bne 2b\n"
            "    vmov r0, s0\n"                     /* at, window */
            "    add r0, r0, #128\n"                /* at, at, #128 */
            "    vmov s0, r0\n"                     /* window, at */
            "    vmov r0, s9\n"                     /* left, y_rows_left */
            "    subs r0, r0, #1\n"                 /* left, left, #1 */
            "    vmov s9, r0\n"                     /* y_rows_left, left */
            "    bne 1b\n"
            "    pop {r4-r10, pc}\n");
}

MCU_FUNCTION void _mcu_dsp_conv_pool_conv_pool_strips_dsp(const int8_t *x, int8_t *y,
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
        _mcu_dsp_conv_pool_conv3x3_rows_60c113e6_dsp(source, next, weights, work);
        source += 60 * (until - made);
        made = until;
        next = strip + 0;
        range[0] = 2 * first;
        range[1] = 2 * last;
        _mcu_dsp_conv_pool_avg_pool2x2_8_rows_9cba53ac_dsp(strip + 0, target, more_weights, work);
        target += 112;
        memcpy(strip, strip + 480, 0);
    }
}

MCU_FUNCTION void _mcu_dsp_conv_pool_reorder_8x56_int8(const int8_t *x, int8_t *y) {
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
