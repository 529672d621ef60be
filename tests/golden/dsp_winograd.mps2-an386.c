/* network_dsp_winograd.c: a neural network, made by mcu-deploy.
 *
 *   source model  convolutions, SHA-256
 *                 7ca9095da642f8f3aa9ed9b809b3316134a92c7fe934b1f49c0808828c1a9541
 *   constants     632 bytes, as a file: SHA-256
 *                 4e285220eb2c3ed92d2ddb4b4392dccb9f2b41a33a75f93d0b8034fbd4eda727
 *   workspace     752 bytes
 *   layers        5 with 5,040 multiply-accumulates
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
 *        0    140  input       1  int8
 *      608    140      1       2  x0
 *        0    548      2       2  scratch of conv_1
 *      560    140      2       3  y0
 *      144    140      3       4  y0
 *        0    140      4  output  int8_y
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
        ".size _mcu_dsp_winograd_weights, 632\n"
        "_mcu_dsp_winograd_weights:\n"
        ".incbin \"network_dsp_winograd.weights.bin\"\n"
        ".popsection");
/* clang-format off */
#define MCU_CONSTANT(name, type, elements, offset, bytes)               \
    extern const type name[elements];                                   \
    __asm__(".set " #name ", _mcu_dsp_winograd_weights + " #offset "\n" \
            ".type " #name ", %object\n"                                \
            ".size " #name ", " #bytes)
MCU_CONSTANT(_mcu_dsp_winograd_conv_1_weights, uint32_t, 158, 0, 632);
#undef MCU_CONSTANT
/* clang-format on */

/* ---- Kernels ---- */

MCU_KERNEL void _mcu_dsp_winograd_slice_140_int8(const int8_t *x, int8_t *y) {
    for (int32_t i0 = 0; i0 < 140; i0++) {
        *y++ = x[i0];
    }
}

MCU_KERNEL void _mcu_dsp_winograd_reorder_35x4_int8(const int8_t *x, int8_t *y) {
    for (int32_t i0 = 0; i0 < 35; i0++) {
        for (int32_t i1 = 0; i1 < 4; i1++) {
            *y++ = x[i0 + i1 * 35];
        }
    }
}

MCU_KERNEL void _mcu_dsp_winograd_winograd_4x4_dsp(const int8_t *x, int8_t *y,
                                                   const uint32_t *weights, uint8_t *scratch) {
    __asm__ volatile(
        "vmov s0, %3; add lr, %3, #28; ldmia %2!, {r4-r9}; stmia lr!, {r4-r9}\n"
        "ldmia %2!, {r4-r9}; stmia lr!, {r4-r9}; ldmia %2!, {r4-r9}; stmia lr!, {r4-r9}\n"
        "vmov s1, %2; mov r12, %3; ldr r4, [r12, #32]; add r4, r4, %0; str r4, [r12, #32]\n"
        "ldr r4, [r12, #44]; add r4, r4, %1; str r4, [r12, #44]\n"
        "2:\n"
        "add lr, r12, #100\n"
        "9:\n"
        "add r10, r12, #32; ldmia r10, {r0-r3}; str r3, [lr, #-100]; ldr r4, [r12, #72]\n"
        "add r3, r3, r4; str r3, [lr, #-88]; ldr r4, [r12, #80]; ldr r5, [r12, #84]\n"
        "cmp r1, r4; it lo; cmplo r2, r5; bhs 3f; ldr r4, [r12, #68]; ldr r5, [r12, #76]\n"
        "vmov s2, s3, r4, r5; mov r12, r0\n"
        "4:\n"
        "add r4, r12, #4; vmov s4, r4\n"
        "10:\n"
        "vmov r4, s2; add r11, r12, r4; ldr r0, [r11, #0]; ldr r1, [r11, #4]\n"
        "ldr r2, [r11, #8]; ldr r3, [r11, #12]; sxtb16 r0, r0; sxtb16 r1, r1; sxtb16 r2, r2\n"
        "sxtb16 r3, r3; add r11, r11, r4; ldr r4, [r11, #0]; ldr r5, [r11, #4]\n"
        "ldr r6, [r11, #8]; ldr r7, [r11, #12]; sxtb16 r4, r4; sxtb16 r5, r5; sxtb16 r6, r6\n"
        "sxtb16 r7, r7; sadd16 r8, r0, r4; sadd16 r9, r1, r5; sadd16 r10, r2, r6\n"
        "sadd16 r11, r3, r7; ssub16 r8, r8, r10; str r8, [lr, #48]; sadd16 r8, r9, r10\n"
        "str r8, [lr, #0]; ssub16 r10, r10, r9; str r10, [lr, #24]; ssub16 r9, r9, r11\n"
        "str r9, [lr, #72]; ssub16 r8, r4, r0; ssub16 r9, r5, r1; ssub16 r10, r6, r2\n"
        "ssub16 r11, r7, r3; ssub16 r8, r8, r10; str r8, [lr, #144]; sadd16 r8, r9, r10\n"
        "str r8, [lr, #96]; ssub16 r10, r10, r9; str r10, [lr, #120]; ssub16 r9, r9, r11\n"
        "str r9, [lr, #168]; ldr r8, [r12, #0]; ldr r9, [r12, #4]; ldr r10, [r12, #8]\n"
        "ldr r11, [r12, #12]; sxtb16 r8, r8; sxtb16 r9, r9; sxtb16 r10, r10; sxtb16 r11, r11\n"
        "ssub16 r8, r8, r4; ssub16 r9, r9, r5; ssub16 r10, r10, r6; ssub16 r11, r11, r7\n"
        "ssub16 r8, r8, r10; str r8, [lr, #240]; sadd16 r8, r9, r10; str r8, [lr, #192]\n"
        "ssub16 r10, r10, r9; str r10, [lr, #216]; ssub16 r9, r9, r11; str r9, [lr, #264]\n"
        "vmov r11, s3; add r11, r12, r11; ldr r8, [r11, #0]; ldr r9, [r11, #4]\n"
        "ldr r10, [r11, #8]; ldr r11, [r11, #12]; sxtb16 r8, r8; sxtb16 r9, r9\n"
        "sxtb16 r10, r10; sxtb16 r11, r11; ssub16 r8, r0, r8; ssub16 r9, r1, r9\n"
        "ssub16 r10, r2, r10; ssub16 r11, r3, r11; ssub16 r8, r8, r10; str r8, [lr, #336]\n"
        "sadd16 r8, r9, r10; str r8, [lr, #288]; ssub16 r10, r10, r9; str r10, [lr, #312]\n"
        "ssub16 r9, r9, r11; str r9, [lr, #360]; add lr, lr, #12; vmov r4, s2\n"
        "add r11, r12, r4; ldr r0, [r11, #0]; ldr r1, [r11, #4]; ldr r2, [r11, #8]\n"
        "ldr r3, [r11, #12]; sxtb16 r0, r0, ror #8; sxtb16 r1, r1, ror #8\n"
        "sxtb16 r2, r2, ror #8; sxtb16 r3, r3, ror #8; add r11, r11, r4; ldr r4, [r11, #0]\n"
        "ldr r5, [r11, #4]; ldr r6, [r11, #8]; ldr r7, [r11, #12]; sxtb16 r4, r4, ror #8\n"
        "sxtb16 r5, r5, ror #8; sxtb16 r6, r6, ror #8; sxtb16 r7, r7, ror #8\n"
        "sadd16 r8, r0, r4; sadd16 r9, r1, r5; sadd16 r10, r2, r6; sadd16 r11, r3, r7\n"
        "ssub16 r8, r8, r10; str r8, [lr, #48]; sadd16 r8, r9, r10; str r8, [lr, #0]\n"
        "ssub16 r10, r10, r9; str r10, [lr, #24]; ssub16 r9, r9, r11; str r9, [lr, #72]\n"
        "ssub16 r8, r4, r0; ssub16 r9, r5, r1; ssub16 r10, r6, r2; ssub16 r11, r7, r3\n"
        "ssub16 r8, r8, r10; str r8, [lr, #144]; sadd16 r8, r9, r10; str r8, [lr, #96]\n"
        "ssub16 r10, r10, r9; str r10, [lr, #120]; ssub16 r9, r9, r11; str r9, [lr, #168]\n"
        "ldr r8, [r12, #0]; ldr r9, [r12, #4]; ldr r10, [r12, #8]; ldr r11, [r12, #12]\n"
        "sxtb16 r8, r8, ror #8; sxtb16 r9, r9, ror #8; sxtb16 r10, r10, ror #8\n"
        "sxtb16 r11, r11, ror #8; ssub16 r8, r8, r4; ssub16 r9, r9, r5; ssub16 r10, r10, r6\n"
        "ssub16 r11, r11, r7; ssub16 r8, r8, r10; str r8, [lr, #240]; sadd16 r8, r9, r10\n"
        "str r8, [lr, #192]; ssub16 r10, r10, r9; str r10, [lr, #216]; ssub16 r9, r9, r11\n"
        "str r9, [lr, #264]; vmov r11, s3; add r11, r12, r11; ldr r8, [r11, #0]\n"
        "ldr r9, [r11, #4]; ldr r10, [r11, #8]; ldr r11, [r11, #12]; sxtb16 r8, r8, ror #8\n"
        "sxtb16 r9, r9, ror #8; sxtb16 r10, r10, ror #8; sxtb16 r11, r11, ror #8\n"
        "ssub16 r8, r0, r8; ssub16 r9, r1, r9; ssub16 r10, r2, r10; ssub16 r11, r3, r11\n"
        "ssub16 r8, r8, r10; str r8, [lr, #336]; sadd16 r8, r9, r10; str r8, [lr, #288]\n"
        "ssub16 r10, r10, r9; str r10, [lr, #312]; ssub16 r9, r9, r11; str r9, [lr, #360]\n"
        "add lr, lr, #12; add r12, r12, #4; vmov r6, s4; cmp r12, r6; bne 10b\n"
        "sub lr, lr, #20; vmov r12, s0; add r11, r12, #32; ldmia r11, {r0-r10}; cmp r1, r4\n"
        "beq 5f; add r1, r1, #2; add r0, r0, #8; add r3, r3, #8; cmp r1, r4; ittt gt\n"
        "subgt r1, r1, #1; subgt r0, r0, #4; subgt r3, r3, #4\n"
        "6:\n"
        "stmia r11, {r0-r3}\n"
        "7:\n"
        "add r4, r12, #112; cmp lr, r4; bne 9b; b 8f\n"
        "5:\n"
        "cmp r2, r5; beq 7b; mov r1, r8; add r2, r2, #2; add r0, r0, r6; add r3, r3, r7\n"
        "cmp r2, r5; ittt gt; subgt r2, r2, #1; subgt r0, r0, r9; subgt r3, r3, r10; b 6b\n"
        "3:\n"
        "movw r8, #484; add r8, r12, r8; ldr r4, [r12, #96]; mov r5, r4; mov r6, r4\n"
        "mov r7, r4; mov r9, r8; add r10, r8, #64\n"
        "13:\n"
        "stmia r9!, {r4-r7}; cmp r9, r10; bne 13b; rsb r5, r1, #0; bic r5, r5, r5, asr #31\n"
        "ldr r3, [r12, #88]; sub r3, r3, r1; cmp r3, #4; it gt; movgt r3, #4; subs r3, r3, r5\n"
        "ble 11f; mov r4, #4; mul r3, r3, r4; mul r5, r5, r4; add r0, r0, r5; add r1, r8, r5\n"
        "add r6, r2, #4; vmov s2, r6; ldr r4, [r12, #68]; ldr r5, [r12, #92]\n"
        "14:\n"
        "cmp r2, r5; bhs 12f; mov r6, r3; mov r7, r0; mov r8, r1\n"
        "15:\n"
        "ldr r9, [r7], #4; str r9, [r8], #4; subs r6, r6, #4; bne 15b\n"
        "12:\n"
        "add r0, r0, r4; add r1, r1, #16; add r2, r2, #1; vmov r6, s2; cmp r2, r6; bne 14b\n"
        "11:\n"
        "vmov r12, s0; movw r8, #484; add r12, r12, r8; mov r4, #16; mov r5, #48\n"
        "vmov d1, r4, r5; b 4b\n"
        "8:\n"
        "mov r4, #2; str r4, [r12, #24]; vmov lr, s1; add r12, r12, #100\n"
        "26:\n"
        "ldmia lr!, {r2, r5}; ldmia lr!, {r9, r10, r11}; ldmia r12!, {r6-r8}\n"
        "smlad r0, r9, r6, r2; smlad r1, r9, r7, r2; smlad r2, r9, r8, r2\n"
        "smlad r3, r10, r6, r5; smlad r4, r10, r7, r5; smlad r5, r10, r8, r5\n"
        "ldmia r12!, {r6-r8}; smlad r0, r11, r6, r0; smlad r1, r11, r7, r1\n"
        "smlad r2, r11, r8, r2; ldr r9, [lr], #4; smlad r3, r9, r6, r3; smlad r4, r9, r7, r4\n"
        "smlad r5, r9, r8, r5; vmov d1, r0, r1; vmov d2, r2, r3; vmov d3, r4, r5\n"
        "ldmia lr!, {r9, r10, r11}; ldmia r12!, {r6-r8}; smlad r0, r9, r6, r0\n"
        "smlad r1, r9, r7, r1; smlad r2, r9, r8, r2; smlad r3, r10, r6, r3\n"
        "smlad r4, r10, r7, r4; smlad r5, r10, r8, r5; ldmia r12!, {r6-r8}\n"
        "smlad r0, r11, r6, r0; smlad r1, r11, r7, r1; smlad r2, r11, r8, r2\n"
        "ldr r9, [lr], #4; smlad r3, r9, r6, r3; smlad r4, r9, r7, r4; smlad r5, r9, r8, r5\n"
        "vmov r6, r7, d1; vmov r8, r9, d2; vmov r10, r11, d3; rsb r6, r0, r6, lsl #1\n"
        "rsb r7, r1, r7, lsl #1; rsb r8, r2, r8, lsl #1; rsb r9, r3, r9, lsl #1\n"
        "rsb r10, r4, r10, lsl #1; rsb r11, r5, r11, lsl #1; vmov d1, r6, r7; vmov d2, r8, r9\n"
        "vmov d3, r10, r11; ldmia lr!, {r9, r10, r11}; ldmia r12!, {r6-r8}\n"
        "smlad r0, r9, r6, r0; smlad r1, r9, r7, r1; smlad r2, r9, r8, r2\n"
        "smlad r3, r10, r6, r3; smlad r4, r10, r7, r4; smlad r5, r10, r8, r5\n"
        "ldmia r12!, {r6-r8}; smlad r0, r11, r6, r0; smlad r1, r11, r7, r1\n"
        "smlad r2, r11, r8, r2; ldr r9, [lr], #4; smlad r3, r9, r6, r3; smlad r4, r9, r7, r4\n"
        "smlad r5, r9, r8, r5; vmov d4, r0, r1; vmov d5, r2, r3; vmov d6, r4, r5\n"
        "vmov r0, r1, d1; vmov r2, r3, d2; vmov r4, r5, d3; ldmia lr!, {r9, r10, r11}\n"
        "ldmia r12!, {r6-r8}; smlad r0, r9, r6, r0; smlad r1, r9, r7, r1\n"
        "smlad r2, r9, r8, r2; smlad r3, r10, r6, r3; smlad r4, r10, r7, r4\n"
        "smlad r5, r10, r8, r5; ldmia r12!, {r6-r8}; smlad r0, r11, r6, r0\n"
        "smlad r1, r11, r7, r1; smlad r2, r11, r8, r2; ldr r9, [lr], #4; smlad r3, r9, r6, r3\n"
        "smlad r4, r9, r7, r4; smlad r5, r9, r8, r5; vmov d7, r0, r1; vmov d8, r2, r3\n"
        "vmov d9, r4, r5; ldmia lr!, {r9, r10, r11}; ldmia r12!, {r6-r8}; smuad r0, r9, r6\n"
        "smuad r1, r9, r7; smuad r2, r9, r8; smuad r3, r10, r6; smuad r4, r10, r7\n"
        "smuad r5, r10, r8; ldmia r12!, {r6-r8}; smlad r0, r11, r6, r0; smlad r1, r11, r7, r1\n"
        "smlad r2, r11, r8, r2; ldr r9, [lr], #4; smlad r3, r9, r6, r3; smlad r4, r9, r7, r4\n"
        "smlad r5, r9, r8, r5; vmov d1, r0, r1; vmov d2, r2, r3; vmov d3, r4, r5\n"
        "ldmia lr!, {r9, r10, r11}; ldmia r12!, {r6-r8}; smlad r0, r9, r6, r0\n"
        "smlad r1, r9, r7, r1; smlad r2, r9, r8, r2; smlad r3, r10, r6, r3\n"
        "smlad r4, r10, r7, r4; smlad r5, r10, r8, r5; ldmia r12!, {r6-r8}\n"
        "smlad r0, r11, r6, r0; smlad r1, r11, r7, r1; smlad r2, r11, r8, r2\n"
        "ldr r9, [lr], #4; smlad r3, r9, r6, r3; smlad r4, r9, r7, r4; smlad r5, r9, r8, r5\n"
        "vmov r6, r7, d1; vmov r8, r9, d2; vmov r10, r11, d3; rsb r6, r0, r6, lsl #1\n"
        "rsb r7, r1, r7, lsl #1; rsb r8, r2, r8, lsl #1; rsb r9, r3, r9, lsl #1\n"
        "rsb r10, r4, r10, lsl #1; rsb r11, r5, r11, lsl #1; vmov d1, r6, r7; vmov d2, r8, r9\n"
        "vmov d3, r10, r11; ldmia lr!, {r9, r10, r11}; ldmia r12!, {r6-r8}\n"
        "smlad r0, r9, r6, r0; smlad r1, r9, r7, r1; smlad r2, r9, r8, r2\n"
        "smlad r3, r10, r6, r3; smlad r4, r10, r7, r4; smlad r5, r10, r8, r5\n"
        "ldmia r12!, {r6-r8}; smlad r0, r11, r6, r0; smlad r1, r11, r7, r1\n"
        "smlad r2, r11, r8, r2; ldr r9, [lr], #4; smlad r3, r9, r6, r3; smlad r4, r9, r7, r4\n"
        "smlad r5, r9, r8, r5; vmov r6, r7, d4; vmov r8, r9, d5; vmov r10, r11, d6\n"
        "sub r6, r6, r0; sub r7, r7, r1; sub r8, r8, r2; sub r9, r9, r3; sub r10, r10, r4\n"
        "sub r11, r11, r5; add r0, r6, r0, lsl #1; add r1, r7, r1, lsl #1\n"
        "add r2, r8, r2, lsl #1; add r3, r9, r3, lsl #1; add r4, r10, r4, lsl #1\n"
        "add r5, r11, r5, lsl #1; vmov d10, r6, r7; vmov d11, r8, r9; vmov d12, r10, r11\n"
        "vmov d4, r0, r1; vmov d5, r2, r3; vmov d6, r4, r5; vmov r0, r1, d1; vmov r2, r3, d2\n"
        "vmov r4, r5, d3; ldmia lr!, {r9, r10, r11}; ldmia r12!, {r6-r8}\n"
        "smlad r0, r9, r6, r0; smlad r1, r9, r7, r1; smlad r2, r9, r8, r2\n"
        "smlad r3, r10, r6, r3; smlad r4, r10, r7, r4; smlad r5, r10, r8, r5\n"
        "ldmia r12!, {r6-r8}; smlad r0, r11, r6, r0; smlad r1, r11, r7, r1\n"
        "smlad r2, r11, r8, r2; ldr r9, [lr], #4; smlad r3, r9, r6, r3; smlad r4, r9, r7, r4\n"
        "smlad r5, r9, r8, r5; vmov r6, r7, d7; vmov r8, r9, d8; vmov r10, r11, d9\n"
        "sub r6, r6, r0; sub r7, r7, r1; sub r8, r8, r2; sub r9, r9, r3; sub r10, r10, r4\n"
        "sub r11, r11, r5; add r0, r6, r0, lsl #1; add r1, r7, r1, lsl #1\n"
        "add r2, r8, r2, lsl #1; add r3, r9, r3, lsl #1; add r4, r10, r4, lsl #1\n"
        "add r5, r11, r5, lsl #1; vmov d13, r6, r7; vmov d14, r8, r9; vmov d15, r10, r11\n"
        "vmov d7, r0, r1; vmov d8, r2, r3; vmov d9, r4, r5; ldmia lr!, {r9, r10, r11}\n"
        "ldmia r12!, {r6-r8}; smuad r0, r9, r6; smuad r1, r9, r7; smuad r2, r9, r8\n"
        "smuad r3, r10, r6; smuad r4, r10, r7; smuad r5, r10, r8; ldmia r12!, {r6-r8}\n"
        "smlad r0, r11, r6, r0; smlad r1, r11, r7, r1; smlad r2, r11, r8, r2\n"
        "ldr r9, [lr], #4; smlad r3, r9, r6, r3; smlad r4, r9, r7, r4; smlad r5, r9, r8, r5\n"
        "vmov d1, r0, r1; vmov d2, r2, r3; vmov d3, r4, r5; ldmia lr!, {r9, r10, r11}\n"
        "ldmia r12!, {r6-r8}; smlad r0, r9, r6, r0; smlad r1, r9, r7, r1\n"
        "smlad r2, r9, r8, r2; smlad r3, r10, r6, r3; smlad r4, r10, r7, r4\n"
        "smlad r5, r10, r8, r5; ldmia r12!, {r6-r8}; smlad r0, r11, r6, r0\n"
        "smlad r1, r11, r7, r1; smlad r2, r11, r8, r2; ldr r9, [lr], #4; smlad r3, r9, r6, r3\n"
        "smlad r4, r9, r7, r4; smlad r5, r9, r8, r5; vmov r6, r7, d1; vmov r8, r9, d2\n"
        "vmov r10, r11, d3; rsb r6, r0, r6, lsl #1; rsb r7, r1, r7, lsl #1\n"
        "rsb r8, r2, r8, lsl #1; rsb r9, r3, r9, lsl #1; rsb r10, r4, r10, lsl #1\n"
        "rsb r11, r5, r11, lsl #1; vmov d1, r6, r7; vmov d2, r8, r9; vmov d3, r10, r11\n"
        "vmov r6, r7, d4; vmov r8, r9, d5; vmov r10, r11, d6; add r0, r0, r6; add r1, r1, r7\n"
        "add r2, r2, r8; add r3, r3, r9; add r4, r4, r10; add r5, r5, r11\n"
        "ldmia lr!, {r9, r10, r11}; ldmia r12!, {r6-r8}; smlad r0, r9, r6, r0\n"
        "smlad r1, r9, r7, r1; smlad r2, r9, r8, r2; smlad r3, r10, r6, r3\n"
        "smlad r4, r10, r7, r4; smlad r5, r10, r8, r5; ldmia r12!, {r6-r8}\n"
        "smlad r0, r11, r6, r0; smlad r1, r11, r7, r1; smlad r2, r11, r8, r2\n"
        "ldr r9, [lr], #4; smlad r3, r9, r6, r3; smlad r4, r9, r7, r4; smlad r5, r9, r8, r5\n"
        "add r6, lr, #80; ldmia r6, {r6-r9}; cmp r6, #0; beq 18f; smmla r0, r0, r6, r7\n"
        "smmla r1, r1, r6, r7; smmla r2, r2, r6, r7; ssat r0, #8, r0, asr #6\n"
        "ssat r1, #8, r1, asr #6; ssat r2, #8, r2, asr #6; smmla r3, r3, r8, r9\n"
        "smmla r4, r4, r8, r9; smmla r5, r5, r8, r9; ssat r3, #8, r3, asr #6\n"
        "ssat r4, #8, r4, asr #6; ssat r5, #8, r5, asr #6\n"
        "22:\n"
        "bfi r0, r3, #8, #8; bfi r1, r4, #8, #8; bfi r2, r5, #8, #8; vmov r9, s0\n"
        "ldmia r9, {r6-r8}; strh r0, [r6, #-4]; strh r1, [r7, #-4]; strh r2, [r8, #-4]\n"
        "vmov r0, r1, d1; vmov r2, r3, d2; vmov r4, r5, d3; vmov r6, r7, d7; vmov r8, r9, d8\n"
        "vmov r10, r11, d9; add r0, r0, r6; add r1, r1, r7; add r2, r2, r8; add r3, r3, r9\n"
        "add r4, r4, r10; add r5, r5, r11; ldmia lr!, {r9, r10, r11}; ldmia r12!, {r6-r8}\n"
        "smlad r0, r9, r6, r0; smlad r1, r9, r7, r1; smlad r2, r9, r8, r2\n"
        "smlad r3, r10, r6, r3; smlad r4, r10, r7, r4; smlad r5, r10, r8, r5\n"
        "ldmia r12!, {r6-r8}; smlad r0, r11, r6, r0; smlad r1, r11, r7, r1\n"
        "smlad r2, r11, r8, r2; ldr r9, [lr], #4; smlad r3, r9, r6, r3; smlad r4, r9, r7, r4\n"
        "smlad r5, r9, r8, r5; add r6, lr, #64; ldmia r6, {r6-r9}; cmp r6, #0; beq 19f\n"
        "smmla r0, r0, r6, r7; smmla r1, r1, r6, r7; smmla r2, r2, r6, r7\n"
        "ssat r0, #8, r0, asr #6; ssat r1, #8, r1, asr #6; ssat r2, #8, r2, asr #6\n"
        "smmla r3, r3, r8, r9; smmla r4, r4, r8, r9; smmla r5, r5, r8, r9\n"
        "ssat r3, #8, r3, asr #6; ssat r4, #8, r4, asr #6; ssat r5, #8, r5, asr #6\n"
        "23:\n"
        "bfi r0, r3, #8, #8; bfi r1, r4, #8, #8; bfi r2, r5, #8, #8; vmov r9, s0\n"
        "ldmia r9, {r6-r8}; strh r0, [r6], #2; strh r1, [r7], #2; strh r2, [r8], #2\n"
        "stmia r9, {r6-r8}; ldmia lr!, {r9, r10, r11}; ldmia r12!, {r6-r8}; smuad r0, r9, r6\n"
        "smuad r1, r9, r7; smuad r2, r9, r8; smuad r3, r10, r6; smuad r4, r10, r7\n"
        "smuad r5, r10, r8; ldmia r12!, {r6-r8}; smlad r0, r11, r6, r0; smlad r1, r11, r7, r1\n"
        "smlad r2, r11, r8, r2; ldr r9, [lr], #4; smlad r3, r9, r6, r3; smlad r4, r9, r7, r4\n"
        "smlad r5, r9, r8, r5; vmov d1, r0, r1; vmov d2, r2, r3; vmov d3, r4, r5\n"
        "ldmia lr!, {r9, r10, r11}; ldmia r12!, {r6-r8}; smlad r0, r9, r6, r0\n"
        "smlad r1, r9, r7, r1; smlad r2, r9, r8, r2; smlad r3, r10, r6, r3\n"
        "smlad r4, r10, r7, r4; smlad r5, r10, r8, r5; ldmia r12!, {r6-r8}\n"
        "smlad r0, r11, r6, r0; smlad r1, r11, r7, r1; smlad r2, r11, r8, r2\n"
        "ldr r9, [lr], #4; smlad r3, r9, r6, r3; smlad r4, r9, r7, r4; smlad r5, r9, r8, r5\n"
        "vmov r6, r7, d1; vmov r8, r9, d2; vmov r10, r11, d3; rsb r6, r0, r6, lsl #1\n"
        "rsb r7, r1, r7, lsl #1; rsb r8, r2, r8, lsl #1; rsb r9, r3, r9, lsl #1\n"
        "rsb r10, r4, r10, lsl #1; rsb r11, r5, r11, lsl #1; vmov d1, r6, r7; vmov d2, r8, r9\n"
        "vmov d3, r10, r11; vmov r6, r7, d10; vmov r8, r9, d11; vmov r10, r11, d12\n"
        "add r0, r0, r6; add r1, r1, r7; add r2, r2, r8; add r3, r3, r9; add r4, r4, r10\n"
        "add r5, r5, r11; ldmia lr!, {r9, r10, r11}; ldmia r12!, {r6-r8}\n"
        "smlad r0, r9, r6, r0; smlad r1, r9, r7, r1; smlad r2, r9, r8, r2\n"
        "smlad r3, r10, r6, r3; smlad r4, r10, r7, r4; smlad r5, r10, r8, r5\n"
        "ldmia r12!, {r6-r8}; smlad r0, r11, r6, r0; smlad r1, r11, r7, r1\n"
        "smlad r2, r11, r8, r2; ldr r9, [lr], #4; smlad r3, r9, r6, r3; smlad r4, r9, r7, r4\n"
        "smlad r5, r9, r8, r5; add r6, lr, #16; ldmia r6, {r6-r9}; cmp r6, #0; beq 20f\n"
        "smmla r0, r0, r6, r7; smmla r1, r1, r6, r7; smmla r2, r2, r6, r7\n"
        "ssat r0, #8, r0, asr #6; ssat r1, #8, r1, asr #6; ssat r2, #8, r2, asr #6\n"
        "smmla r3, r3, r8, r9; smmla r4, r4, r8, r9; smmla r5, r5, r8, r9\n"
        "ssat r3, #8, r3, asr #6; ssat r4, #8, r4, asr #6; ssat r5, #8, r5, asr #6\n"
        "24:\n"
        "bfi r0, r3, #8, #8; bfi r1, r4, #8, #8; bfi r2, r5, #8, #8; vmov r9, s0\n"
        "add r9, r9, #12; ldmia r9, {r6-r8}; strh r0, [r6, #-4]; strh r1, [r7, #-4]\n"
        "strh r2, [r8, #-4]; vmov r0, r1, d1; vmov r2, r3, d2; vmov r4, r5, d3\n"
        "vmov r6, r7, d13; vmov r8, r9, d14; vmov r10, r11, d15; add r0, r0, r6\n"
        "add r1, r1, r7; add r2, r2, r8; add r3, r3, r9; add r4, r4, r10; add r5, r5, r11\n"
        "ldmia lr!, {r9, r10, r11}; ldmia r12!, {r6-r8}; smlad r0, r9, r6, r0\n"
        "smlad r1, r9, r7, r1; smlad r2, r9, r8, r2; smlad r3, r10, r6, r3\n"
        "smlad r4, r10, r7, r4; smlad r5, r10, r8, r5; ldmia r12!, {r6-r8}\n"
        "smlad r0, r11, r6, r0; smlad r1, r11, r7, r1; smlad r2, r11, r8, r2\n"
        "ldr r9, [lr], #4; smlad r3, r9, r6, r3; smlad r4, r9, r7, r4; smlad r5, r9, r8, r5\n"
        "ldmia lr!, {r6-r9}; cmp r6, #0; beq 21f; smmla r0, r0, r6, r7; smmla r1, r1, r6, r7\n"
        "smmla r2, r2, r6, r7; ssat r0, #8, r0, asr #6; ssat r1, #8, r1, asr #6\n"
        "ssat r2, #8, r2, asr #6; smmla r3, r3, r8, r9; smmla r4, r4, r8, r9\n"
        "smmla r5, r5, r8, r9; ssat r3, #8, r3, asr #6; ssat r4, #8, r4, asr #6\n"
        "ssat r5, #8, r5, asr #6\n"
        "25:\n"
        "bfi r0, r3, #8, #8; bfi r1, r4, #8, #8; bfi r2, r5, #8, #8; vmov r9, s0\n"
        "add r9, r9, #12; ldmia r9, {r6-r8}; strh r0, [r6], #2; strh r1, [r7], #2\n"
        "strh r2, [r8], #2; stmia r9, {r6-r8}; sub r12, r12, #384; ldr r10, [r9, #12]\n"
        "subs r10, r10, #1; str r10, [r9, #12]; bne 26b; b 17f\n"
        "18:\n"
        "mov r11, #0; b 16f\n"
        "19:\n"
        "mov r11, #1; b 16f\n"
        "20:\n"
        "mov r11, #2; b 16f\n"
        "21:\n"
        "mov r11, #3; b 16f\n"
        "16:\n"
        "vmov d4, r0, r1; vmov d5, r2, r7; vcvt.f32.s32 s8, s8; vcvt.f32.s32 s9, s9\n"
        "vcvt.f32.s32 s10, s10; vmul.f32 s8, s8, s11; vmul.f32 s9, s9, s11\n"
        "vmul.f32 s10, s10, s11; vcvtr.s32.f32 s8, s8; vcvtr.s32.f32 s9, s9\n"
        "vcvtr.s32.f32 s10, s10; vmov r0, r1, d4; vmov r2, s10; vmov d4, r3, r4\n"
        "vmov d5, r5, r8; vcvt.f32.s32 s8, s8; vcvt.f32.s32 s9, s9; vcvt.f32.s32 s10, s10\n"
        "vmul.f32 s8, s8, s11; vmul.f32 s9, s9, s11; vmul.f32 s10, s10, s11\n"
        "vcvtr.s32.f32 s8, s8; vcvtr.s32.f32 s9, s9; vcvtr.s32.f32 s10, s10; vmov r3, r4, d4\n"
        "vmov r5, s10; qadd r0, r0, r9; ssat r0, #8, r0; qadd r1, r1, r9; ssat r1, #8, r1\n"
        "qadd r2, r2, r9; ssat r2, #8, r2; qadd r3, r3, r9; ssat r3, #8, r3; qadd r4, r4, r9\n"
        "ssat r4, #8, r4; qadd r5, r5, r9; ssat r5, #8, r5; cmp r11, #1; blo 22b; beq 23b\n"
        "cmp r11, #3; blo 24b; b 25b\n"
        "17:\n"
        "vmov r12, s0; ldr r4, [r12, #28]; subs r4, r4, #1; str r4, [r12, #28]; bne 2b\n"
        "1:\n"
        : "+r"(x), "+r"(y), "+r"(weights), "+r"(scratch)
        :
        : "r4", "r5", "r6", "r7", "r8", "r9", "r10", "r11", "r12", "lr", "s0", "s1", "s2", "s3",
          "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "s12", "s13", "s14", "s15", "s16",
          "s17", "s18", "s19", "s20", "s21", "s22", "s23", "s24", "s25", "s26", "s27", "s28", "s29",
          "s30", "s31", "cc", "memory");
}

MCU_KERNEL void _mcu_dsp_winograd_reorder_4x35_int8(const int8_t *x, int8_t *y) {
    for (int32_t i0 = 0; i0 < 4; i0++) {
        for (int32_t i1 = 0; i1 < 35; i1++) {
            *y++ = x[i0 + i1 * 4];
        }
    }
}

MCU_KERNEL void _mcu_dsp_winograd_concat_140_int8(const int8_t *x0, int8_t *y) {
    memcpy(y, x0, 140);
}

/* ---- The layers, in the order of execution ---- */

/* clang-format off */
static void _mcu_dsp_winograd_layers(mcu_instance_t *instance) {
    uint8_t *const ws = instance->workspace;

    /* slice_1: Slice, Slice_0: int8[140] -> int8[140] */
    int8_t *const int8 = (int8_t *)(ws + 0);
    int8_t *const slice_1 = (int8_t *)(ws + 0);
    MCU_LAYER(0, _mcu_dsp_winograd_slice_140_int8(int8, slice_1));

    /* reshape_1_reorder: Reorder, x0 reordered: int8[1,4,7,5] -> int8[1,4,7,5] NHWC */
    int8_t *const reshape_1_reorder = (int8_t *)(ws + 608);
    MCU_LAYER(1, _mcu_dsp_winograd_reorder_35x4_int8(slice_1, reshape_1_reorder));

    /* conv_1: Conv, Conv_5 (5 nodes): int8[1,4,7,5] NHWC -> int8[1,4,7,5] NHWC; 5,040 MACs */
    int8_t *const conv_1 = (int8_t *)(ws + 560);
    uint8_t *const conv_1_scratch = (uint8_t *)(ws + 0);
    MCU_LAYER(2, _mcu_dsp_winograd_winograd_4x4_dsp(
        reshape_1_reorder, conv_1, _mcu_dsp_winograd_conv_1_weights, conv_1_scratch));

    /* conv_1_reorder: Reorder, y0 reordered: int8[1,4,7,5] NHWC -> int8[1,4,7,5] */
    int8_t *const conv_1_reorder = (int8_t *)(ws + 144);
    MCU_LAYER(3, _mcu_dsp_winograd_reorder_4x35_int8(conv_1, conv_1_reorder));

    /* concat_1: Concat, Concat_8: int8[140] -> int8[140] */
    int8_t *const concat_1 = (int8_t *)(ws + 0);
    MCU_LAYER(4, _mcu_dsp_winograd_concat_140_int8(conv_1_reorder, concat_1));
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
static const mcu_region_t _mcu_dsp_winograd_regions[5] = {
    {0,   0, 140}, /* 0 */
    {608, 0, 140}, /* 1 */
    {560, 0, 140}, /* 2 */
    {144, 0, 140}, /* 3 */
    {0,   0, 140}, /* 4 */
};

/* Of each layer: its first output in the table above, and how many it has. */
static const mcu_layer_info_t _mcu_dsp_winograd_layer_infos[5] = {
    {0, 1}, {1, 1}, {2, 1}, {3, 1}, {4, 1},
};
/* clang-format on */

const mcu_model_t _mcu_network_dsp_winograd = {
    .run_func = _mcu_dsp_winograd_run_func,
    .num_input_tensors = 1,
    .num_output_tensors = 1,
    .abi_version = MCU_MODEL_ABI_VERSION,
    .workspace_size = MCU_DSP_WINOGRAD_WORKSPACE_SIZE,
    .workspace_alignment = MCU_DSP_WINOGRAD_WORKSPACE_ALIGNMENT,
    .num_layers = 5,
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
