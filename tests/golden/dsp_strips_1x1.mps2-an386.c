/* network_dsp_strips_1x1.c: a neural network, made by mcu-deploy.
 *
 *   source model  convolutions, SHA-256
 *                 ee9cb5ea008b35df6c29e20bb5ac8f1a4ca41bdc8dba2c0bfe4187d546dc9c25
 *   constants     192 bytes, as a file: SHA-256
 *                 83181fd683dfd67648e778e31b6ad8755e7268d72da141e75ebf7e9d5d2d96c1
 *   workspace     3,136 bytes
 *   layers        3 with 20,280 multiply-accumulates
 *
 * Everything is static but the descriptor _mcu_network_dsp_strips_1x1, at the end. To compile this
 * file by hand, in its folder, to the same bytes:
 *
 *   arm-none-eabi-gcc -mcpu=cortex-m4 -mthumb -mfpu=fpv4-sp-d16 -mfloat-abi=hard -std=c99 \
 *       -ffunction-sections -fdata-sections -fno-common -O2 -ffp-contract=off -fno-math-errno \
 *       -frandom-seed=dsp_strips_1x1 -I include -c network_dsp_strips_1x1.c -o \
 *       network_dsp_strips_1x1.o
 *
 * The workspace: what lies where, in bytes, and from which layer to which it is needed.
 *
 *   offset  bytes   from      to  holds
 *        0   1560  input       0  uint8
 *     1568   1560      0       2  x0
 *        0    752      1       1  scratch of conv_1
 *        0   1560      2  output  uint8_y
 *
 * Shapes have the model's order of axes. NHWC and the like behind a shape say in which order its
 * axes lie in memory, where that is another one.
 */
#include "network_dsp_strips_1x1.h"

#include <string.h>

/* ---- Constants ---- */

/* The assembler takes the file in as it is (from another folder: with -I FOLDER). The arrays are
 * declared extern, as a static array without an initializer would be one of zeros; the names that
 * the assembler gives them are local to the object. Where there is no .incbin, and for -flto, build
 * with --weights array. */
__asm__(".pushsection .rodata._mcu_dsp_strips_1x1_weights, \"a\", %progbits\n"
        ".balign 16\n"
        ".type _mcu_dsp_strips_1x1_weights, %object\n"
        ".size _mcu_dsp_strips_1x1_weights, 192\n"
        "_mcu_dsp_strips_1x1_weights:\n"
        ".incbin \"network_dsp_strips_1x1.weights.bin\"\n"
        ".popsection");
/* clang-format off */
#define MCU_CONSTANT(name, type, elements, offset, bytes)                 \
    extern const type name[elements];                                     \
    __asm__(".set " #name ", _mcu_dsp_strips_1x1_weights + " #offset "\n" \
            ".type " #name ", %object\n"                                  \
            ".size " #name ", " #bytes)
MCU_CONSTANT(_mcu_dsp_strips_1x1_conv_1_taps,    uint32_t, 20,   0, 80);
MCU_CONSTANT(_mcu_dsp_strips_1x1_conv_1_shape,   int32_t,  10,  80, 40);
MCU_CONSTANT(_mcu_dsp_strips_1x1_conv_1_weights, uint32_t, 18, 120, 72);
#undef MCU_CONSTANT
/* clang-format on */

/* ---- Kernels ---- */

/* Those in assembly are one string each, some longer than C99 wants compilers to take. */
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Woverlength-strings"
#endif

MCU_FUNCTION void _mcu_dsp_strips_1x1_reorder_390x4_uint8(const uint8_t *x, uint8_t *y) {
    for (int32_t i0 = 0; i0 < 390; i0++) {
        for (int32_t i1 = 0; i1 < 4; i1++) {
            *y++ = x[i0 + i1 * 390];
        }
    }
}

MCU_KERNEL void _mcu_dsp_strips_1x1_gather_planes_dsp(const uint8_t *pixels MCU_UNUSED,
                                                      uint8_t *planes MCU_UNUSED,
                                                      int32_t lines MCU_UNUSED) {
    __asm__(".syntax unified\n"
            "    push {r4-r11, lr}\n"
            /* Lines of four channels to their planes, as int16: two pixels a word. */
            "    mov r12, r0\n"
            "    mov r7, r1\n"
            "    movw lr, #128\n"
            "    mla lr, lr, r2, r7\n"
            "    vmov s0, lr\n"
            "    movw r6, #65286\n"
            "    movt r6, #65286\n"
            "1:\n"
            "    ldr r0, [r12]\n"
            "    ldr r1, [r12, #4]\n"
            "    ldr r4, [r12, #8]\n"
            "    ldr r5, [r12, #12]\n"
            "    pkhbt r2, r0, r1, lsl #16\n"
            "    pkhtb r3, r1, r0, asr #16\n"
            "    uxtab16 r8, r6, r2\n"
            "    uxtab16 r9, r6, r2, ror #8\n"
            "    uxtab16 r10, r6, r3\n"
            "    uxtab16 r11, r6, r3, ror #8\n"
            "    stmia r7!, {r8-r11}\n"
            "    pkhbt r2, r4, r5, lsl #16\n"
            "    pkhtb r3, r5, r4, asr #16\n"
            "    uxtab16 r8, r6, r2\n"
            "    uxtab16 r9, r6, r2, ror #8\n"
            "    uxtab16 r10, r6, r3\n"
            "    uxtab16 r11, r6, r3, ror #8\n"
            "    stmia r7!, {r8-r11}\n"
            "    ldr r0, [r12, #16]\n"
            "    ldr r1, [r12, #20]\n"
            "    ldr r4, [r12, #24]\n"
            "    ldr r5, [r12, #28]\n"
            "    pkhbt r2, r0, r1, lsl #16\n"
            "    pkhtb r3, r1, r0, asr #16\n"
            "    uxtab16 r8, r6, r2\n"
            "    uxtab16 r9, r6, r2, ror #8\n"
            "    uxtab16 r10, r6, r3\n"
            "    uxtab16 r11, r6, r3, ror #8\n"
            "    stmia r7!, {r8-r11}\n"
            "    pkhbt r2, r4, r5, lsl #16\n"
            "    pkhtb r3, r5, r4, asr #16\n"
            "    uxtab16 r8, r6, r2\n"
            "    uxtab16 r9, r6, r2, ror #8\n"
            "    uxtab16 r10, r6, r3\n"
            "    uxtab16 r11, r6, r3, ror #8\n"
            "    stmia r7!, {r8-r11}\n"
            "    ldr r0, [r12, #32]\n"
            "    ldr r1, [r12, #36]\n"
            "    ldr r4, [r12, #40]\n"
            "    ldr r5, [r12, #44]\n"
            "    pkhbt r2, r0, r1, lsl #16\n"
            "    pkhtb r3, r1, r0, asr #16\n"
            "    uxtab16 r8, r6, r2\n"
            "    uxtab16 r9, r6, r2, ror #8\n"
            "    uxtab16 r10, r6, r3\n"
            "    uxtab16 r11, r6, r3, ror #8\n"
            "    stmia r7!, {r8-r11}\n"
            "    pkhbt r2, r4, r5, lsl #16\n"
            "    pkhtb r3, r5, r4, asr #16\n"
            "    uxtab16 r8, r6, r2\n"
            "    uxtab16 r9, r6, r2, ror #8\n"
            "    uxtab16 r10, r6, r3\n"
            "    uxtab16 r11, r6, r3, ror #8\n"
            "    stmia r7!, {r8-r11}\n"
            "    ldr r0, [r12, #48]\n"
            "    ldr r1, [r12, #52]\n"
            "    pkhbt r2, r0, r1, lsl #16\n"
            "    pkhtb r3, r1, r0, asr #16\n"
            "    uxtab16 r8, r6, r2\n"
            "    uxtab16 r9, r6, r2, ror #8\n"
            "    uxtab16 r10, r6, r3\n"
            "    uxtab16 r11, r6, r3, ror #8\n"
            "    stmia r7!, {r8-r11}\n"
            "    ldr r0, [r12, #56]\n"
            "    movw r1, #64250\n"
            "    movt r1, #64250\n"
            "    pkhbt r2, r0, r1, lsl #16\n"
            "    pkhtb r3, r1, r0, asr #16\n"
            "    uxtab16 r8, r6, r2\n"
            "    uxtab16 r9, r6, r2, ror #8\n"
            "    uxtab16 r10, r6, r3\n"
            "    uxtab16 r11, r6, r3, ror #8\n"
            "    stmia r7!, {r8-r11}\n"
            "    add r12, r12, #60\n"
            "    vmov r0, s0\n"
            "    cmp r7, r0\n"
            "    bne 1b\n"
            "    pop {r4-r11, pc}\n");
}

MCU_KERNEL void _mcu_dsp_strips_1x1_depthwise_plane_dsp(const uint32_t *taps MCU_UNUSED,
                                                        const uint8_t *plane MCU_UNUSED,
                                                        uint8_t *y MCU_UNUSED) {
    __asm__(".syntax unified\n"
            "    push {r4-r11, lr}\n"
            /* A channel's weights, times its gain: of each row w0 w1 and w1 w2, in r0-r5. */
            "    ldmia r0, {r6-r10}\n"
            "    mov r12, r1\n"
            "    mov lr, r2\n"
            "    vmov s0, r9\n"
            "    vmov s1, r9\n"
            "    vmov s2, r10\n"
            "    lsr r11, r6, #24\n"
            "    sxtb16 r9, r6\n"
            "    sxtb16 r10, r6, ror #8\n"
            "    smulbb r10, r10, r11\n"
            "    smulbb r0, r9, r11\n"
            "    smultb r1, r9, r11\n"
            "    pkhbt r0, r0, r10, lsl #16\n"
            "    pkhbt r1, r10, r1, lsl #16\n"
            "    sxtb16 r9, r7\n"
            "    sxtb16 r10, r7, ror #8\n"
            "    smulbb r10, r10, r11\n"
            "    smulbb r2, r9, r11\n"
            "    smultb r3, r9, r11\n"
            "    pkhbt r2, r2, r10, lsl #16\n"
            "    pkhbt r3, r10, r3, lsl #16\n"
            "    sxtb16 r9, r8\n"
            "    sxtb16 r10, r8, ror #8\n"
            "    smulbb r10, r10, r11\n"
            "    smulbb r4, r9, r11\n"
            "    smultb r5, r9, r11\n"
            "    pkhbt r4, r4, r10, lsl #16\n"
            "    pkhbt r5, r10, r5, lsl #16\n"
            "    vmov r9, s2\n"
            /* Output lines that see rows 0, 1, 2 of the kernel. */
            "    add r6, r12, #256\n"
            "    vmov s3, r6\n"
            "1:\n"
            "    vmov r10, s0\n"
            "    ldr r6, [r12]\n"
            "    ldr r7, [r12, #128]\n"
            "    ldr r8, [r12, #256]\n"
            "    smlad r10, r6, r1, r10\n"
            "    smlad r10, r7, r3, r10\n"
            "    smlad r10, r8, r5, r10\n"
            "    smmul r10, r10, r9\n"
            "    usat r10, #8, r10, asr #8\n"
            "    strb r10, [lr]\n"
            "    vmov r10, r11, d0\n"
            "    smlad r10, r6, r0, r10\n"
            "    smlatb r11, r6, r0, r11\n"
            "    smlad r10, r7, r2, r10\n"
            "    smlatb r11, r7, r2, r11\n"
            "    smlad r10, r8, r4, r10\n"
            "    smlatb r11, r8, r4, r11\n"
            "    ldr r6, [r12, #16]\n"
            "    ldr r7, [r12, #144]\n"
            "    ldr r8, [r12, #272]\n"
            "    smlabt r10, r6, r1, r10\n"
            "    smlad r11, r6, r1, r11\n"
            "    smlabt r10, r7, r3, r10\n"
            "    smlad r11, r7, r3, r11\n"
            "    smlabt r10, r8, r5, r10\n"
            "    smlad r11, r8, r5, r11\n"
            "    smmul r10, r10, r9\n"
            "    smmul r11, r11, r9\n"
            "    usat r10, #8, r10, asr #8\n"
            "    usat r11, #8, r11, asr #8\n"
            "    strb r10, [lr, #4]\n"
            "    strb r11, [lr, #8]\n"
            "    vmov r10, r11, d0\n"
            "    smlad r10, r6, r0, r10\n"
            "    smlatb r11, r6, r0, r11\n"
            "    smlad r10, r7, r2, r10\n"
            "    smlatb r11, r7, r2, r11\n"
            "    smlad r10, r8, r4, r10\n"
            "    smlatb r11, r8, r4, r11\n"
            "    ldr r6, [r12, #32]\n"
            "    ldr r7, [r12, #160]\n"
            "    ldr r8, [r12, #288]\n"
            "    smlabt r10, r6, r1, r10\n"
            "    smlad r11, r6, r1, r11\n"
            "    smlabt r10, r7, r3, r10\n"
            "    smlad r11, r7, r3, r11\n"
            "    smlabt r10, r8, r5, r10\n"
            "    smlad r11, r8, r5, r11\n"
            "    smmul r10, r10, r9\n"
            "    smmul r11, r11, r9\n"
            "    usat r10, #8, r10, asr #8\n"
            "    usat r11, #8, r11, asr #8\n"
            "    strb r10, [lr, #12]\n"
            "    strb r11, [lr, #16]\n"
            "    vmov r10, r11, d0\n"
            "    smlad r10, r6, r0, r10\n"
            "    smlatb r11, r6, r0, r11\n"
            "    smlad r10, r7, r2, r10\n"
            "    smlatb r11, r7, r2, r11\n"
            "    smlad r10, r8, r4, r10\n"
            "    smlatb r11, r8, r4, r11\n"
            "    ldr r6, [r12, #48]\n"
            "    ldr r7, [r12, #176]\n"
            "    ldr r8, [r12, #304]\n"
            "    smlabt r10, r6, r1, r10\n"
            "    smlad r11, r6, r1, r11\n"
            "    smlabt r10, r7, r3, r10\n"
            "    smlad r11, r7, r3, r11\n"
            "    smlabt r10, r8, r5, r10\n"
            "    smlad r11, r8, r5, r11\n"
            "    smmul r10, r10, r9\n"
            "    smmul r11, r11, r9\n"
            "    usat r10, #8, r10, asr #8\n"
            "    usat r11, #8, r11, asr #8\n"
            "    strb r10, [lr, #20]\n"
            "    strb r11, [lr, #24]\n"
            "    vmov r10, r11, d0\n"
            "    smlad r10, r6, r0, r10\n"
            "    smlatb r11, r6, r0, r11\n"
            "    smlad r10, r7, r2, r10\n"
            "    smlatb r11, r7, r2, r11\n"
            "    smlad r10, r8, r4, r10\n"
            "    smlatb r11, r8, r4, r11\n"
            "    ldr r6, [r12, #64]\n"
            "    ldr r7, [r12, #192]\n"
            "    ldr r8, [r12, #320]\n"
            "    smlabt r10, r6, r1, r10\n"
            "    smlad r11, r6, r1, r11\n"
            "    smlabt r10, r7, r3, r10\n"
            "    smlad r11, r7, r3, r11\n"
            "    smlabt r10, r8, r5, r10\n"
            "    smlad r11, r8, r5, r11\n"
            "    smmul r10, r10, r9\n"
            "    smmul r11, r11, r9\n"
            "    usat r10, #8, r10, asr #8\n"
            "    usat r11, #8, r11, asr #8\n"
            "    strb r10, [lr, #28]\n"
            "    strb r11, [lr, #32]\n"
            "    vmov r10, r11, d0\n"
            "    smlad r10, r6, r0, r10\n"
            "    smlatb r11, r6, r0, r11\n"
            "    smlad r10, r7, r2, r10\n"
            "    smlatb r11, r7, r2, r11\n"
            "    smlad r10, r8, r4, r10\n"
            "    smlatb r11, r8, r4, r11\n"
            "    ldr r6, [r12, #80]\n"
            "    ldr r7, [r12, #208]\n"
            "    ldr r8, [r12, #336]\n"
            "    smlabt r10, r6, r1, r10\n"
            "    smlad r11, r6, r1, r11\n"
            "    smlabt r10, r7, r3, r10\n"
            "    smlad r11, r7, r3, r11\n"
            "    smlabt r10, r8, r5, r10\n"
            "    smlad r11, r8, r5, r11\n"
            "    smmul r10, r10, r9\n"
            "    smmul r11, r11, r9\n"
            "    usat r10, #8, r10, asr #8\n"
            "    usat r11, #8, r11, asr #8\n"
            "    strb r10, [lr, #36]\n"
            "    strb r11, [lr, #40]\n"
            "    vmov r10, r11, d0\n"
            "    smlad r10, r6, r0, r10\n"
            "    smlatb r11, r6, r0, r11\n"
            "    smlad r10, r7, r2, r10\n"
            "    smlatb r11, r7, r2, r11\n"
            "    smlad r10, r8, r4, r10\n"
            "    smlatb r11, r8, r4, r11\n"
            "    ldr r6, [r12, #96]\n"
            "    ldr r7, [r12, #224]\n"
            "    ldr r8, [r12, #352]\n"
            "    smlabt r10, r6, r1, r10\n"
            "    smlad r11, r6, r1, r11\n"
            "    smlabt r10, r7, r3, r10\n"
            "    smlad r11, r7, r3, r11\n"
            "    smlabt r10, r8, r5, r10\n"
            "    smlad r11, r8, r5, r11\n"
            "    smmul r10, r10, r9\n"
            "    smmul r11, r11, r9\n"
            "    usat r10, #8, r10, asr #8\n"
            "    usat r11, #8, r11, asr #8\n"
            "    strb r10, [lr, #44]\n"
            "    strb r11, [lr, #48]\n"
            "    vmov r10, r11, d0\n"
            "    smlad r10, r6, r0, r10\n"
            "    smlatb r11, r6, r0, r11\n"
            "    smlad r10, r7, r2, r10\n"
            "    smlatb r11, r7, r2, r11\n"
            "    smlad r10, r8, r4, r10\n"
            "    smlatb r11, r8, r4, r11\n"
            "    ldr r6, [r12, #112]\n"
            "    ldr r7, [r12, #240]\n"
            "    ldr r8, [r12, #368]\n"
            "    smlabt r10, r6, r1, r10\n"
            "    smlad r11, r6, r1, r11\n"
            "    smlabt r10, r7, r3, r10\n"
            "    smlad r11, r7, r3, r11\n"
            "    smlabt r10, r8, r5, r10\n"
            "    smlad r11, r8, r5, r11\n"
            "    smmul r10, r10, r9\n"
            "    smmul r11, r11, r9\n"
            "    usat r10, #8, r10, asr #8\n"
            "    usat r11, #8, r11, asr #8\n"
            "    strb r10, [lr, #52]\n"
            "    strb r11, [lr, #56]\n"
            "    add r12, r12, #128\n"
            "    add lr, lr, #60\n"
            "    vmov r6, s3\n"
            "    cmp r12, r6\n"
            "    bne 1b\n"
            "    pop {r4-r11, pc}\n");
}

MCU_FUNCTION void _mcu_dsp_strips_1x1_depthwise_late(const uint32_t *taps, const uint32_t *late,
                                                     const void *plane, const int32_t *shape,
                                                     void *y) {
    const int32_t stride = shape[2], pitch = 8 * ((shape[1] + 1) / 2), step = shape[8];
    const uint32_t lines = (uint32_t)shape[0], pixels = (uint32_t)shape[1];
    const uint32_t small = late[0] & 0xFF;
    for (int32_t line = 0; line < shape[5]; line++) {
        uint8_t *out = (uint8_t *)y + line * shape[7];
        for (int32_t pixel = 0; pixel < shape[6]; pixel++, out += step) {
            /* Few outputs are what a late sum gives; of these the sum is looked at. */
            if (*out != small) {
                continue;
            }
            const int32_t above = line * stride - shape[3], x = pixel * stride - shape[4];
            /* Two pixels are neighbours, and four channels on are the next two. */
            const int32_t a = 4 * x - 3 * (x & 1), b = 4 * x + 3 * (x & 1) + 1, c = a + 8;
            int32_t sum = 0;
            for (int32_t row = 0; row < 3; row++) {
                if ((uint32_t)(above + row) < lines) {
                    const int16_t *at = (const int16_t *)plane + pitch * (above + row);
                    const uint32_t w = taps[row];
                    if ((uint32_t)x < pixels) {
                        sum += (int8_t)w * at[a];
                    }
                    if ((uint32_t)(x + 1) < pixels) {
                        sum += (int8_t)(w >> 8) * at[b];
                    }
                    if ((uint32_t)(x + 2) < pixels) {
                        sum += (int8_t)(w >> 16) * at[c];
                    }
                }
            }
            if (sum == (int32_t)late[1]) {
                *out = (uint8_t)(small + 1);
            }
        }
    }
}

MCU_KERNEL void _mcu_dsp_strips_1x1_conv1x1_4x4_rows_dsp(const uint8_t *x MCU_UNUSED,
                                                         uint8_t *y MCU_UNUSED,
                                                         const uint32_t *weights MCU_UNUSED,
                                                         uint8_t *scratch MCU_UNUSED) {
    __asm__(".syntax unified\n"
            "    push {r4-r11, lr}\n"
            /* y[p][f] = sat(round(factor[f] * (bias[f] + sum of w[f][t] x[p][t])) + zero), of */
            /* pixels p, filters f and taps t. Each f and the next one, g, share a stream of */
            /* words: */
            /* bias[f]; 256 bias[g] + bias[f]; for two taps one, in halves 256 w[g] + w[f]. */
            /* Of every second f and g the last taps come first. */
            /* scale[f], addend[f], scale[g], addend[g]: (sum scale >> 32) + addend, shifted, is */
            /* rounded as it has to be, for which the biases are a little moved. */
            /* If addend[f] is 0, three more for each sum that is rounded too late: 0 or 1 for f */
            /* or g, the sum, addend[f], again 0 but for the last. Or 2: no integers round f and */
            /* g; of the four words the first and the third are factors, the last one is the zero */
            /* point. */
            /* These three are behind the biases of the next f and g. */
            /* x: [p][channel], y: [p][f]; t are channels, of each eight in the order 0 2 4 6 1 3 */
            /* 5 7, of four at the end 0 2 1 3. */
            /* scratch: the taps of a tile; words: x, the stream, tiles that are left, where the */
            /* last tile's outputs go; these, first. In place: a tile is read before it is */
            /* written. */
            /* A tile's state is behind its taps. */
            "    add lr, r3, #24\n"                 /* taps, scratch, #24 */
            "    str r0, [lr]\n"                    /* x, [taps] */
            "    str r2, [lr, #4]\n"                /* weights, [taps, #4] */
            "    add r0, r1, #2\n"                  /* out, y, #2 */
            "    add r1, r0, #4\n"                  /* end, out, #4 */
            "    vmov d7, r0, r1\n"                 /* out_end, out, end */
            /* Three pixels, widened to int16: two channels a word, of all three in turn. */
            "1:\n"
            "    sub r0, lr, #24\n"                 /* stream, taps, #24 */
            "    ldr r3, [lr]\n"                    /* source, [taps] */
            "    ldr r1, [r3]\n"                    /* a0, [source] */
            "    ldr r2, [r3, #4]\n"                /* a1, [source, #4] */
            "    ldr r3, [r3, #8]\n"                /* a2, [source, #8] */
            "    uxtb16 r4, r1, ror #8\n"           /* b0, a0, ror #8 */
            "    uxtb16 r5, r2, ror #8\n"           /* b1, a1, ror #8 */
            "    uxtb16 r6, r3, ror #8\n"           /* b2, a2, ror #8 */
            "    uxtb16 r1, r1\n"                   /* a0, a0 */
            "    uxtb16 r2, r2\n"                   /* a1, a1 */
            "    uxtb16 r3, r3\n"                   /* a2, a2 */
            "    stmia r0!, {r1-r6}\n"              /* stream!, {a0, a1, a2, b0, b1, b2} */
            "    mov lr, r0\n"                      /* taps, stream */
            "    ldr r0, [lr, #4]\n"                /* stream, [taps, #4] */
            "    ldmia r0!, {r11, r12}\n"           /* stream!, {even_bias, odd_bias} */
            "    sub lr, lr, #24\n"                 /* taps, taps, #24 */
            "9:\n"
            /* Two filters, an even and an odd one, for three outputs. */
            /* Of a word of weights SXTB16 leaves the even filter's. */
            "    ldmia r0!, {r3, r4}\n"             /* stream!, {odd2, weights0} */
            "    ldmia lr!, {r8-r10}\n"             /* taps!, {x0, x1, x2} */
            "    sxtb16 r1, r3\n"                   /* even2, odd2 */
            "    smlad r7, r3, r8, r12\n"           /* odd0, odd2, x0, odd_bias */
            "    smlad r5, r3, r9, r12\n"           /* odd1, odd2, x1, odd_bias */
            "    smlad r3, r3, r10, r12\n"          /* odd2, odd2, x2, odd_bias */
            "    smlad r2, r1, r8, r11\n"           /* even0, even2, x0, even_bias */
            "    smlad r6, r1, r9, r11\n"           /* even1, even2, x1, even_bias */
            "    smlad r1, r1, r10, r11\n"          /* even2, even2, x2, even_bias */
            "    ldmia lr!, {r8-r10}\n"             /* taps!, {x0, x1, x2} */
            "    smlad r7, r4, r8, r7\n"            /* odd0, weights0, x0, odd0 */
            "    smlad r5, r4, r9, r5\n"            /* odd1, weights0, x1, odd1 */
            "    smlad r3, r4, r10, r3\n"           /* odd2, weights0, x2, odd2 */
            "    sxtb16 r4, r4\n"                   /* weights0, weights0 */
            "    smlad r2, r4, r8, r2\n"            /* even0, weights0, x0, even0 */
            "    smlad r6, r4, r9, r6\n"            /* even1, weights0, x1, even1 */
            "    smlad r1, r4, r10, r1\n"           /* even2, weights0, x2, even2 */
            /* To elements of the output: scaled, shifted, saturated. */
            "    sub r7, r7, r2\n"                  /* odd0, odd0, even0 */
            "    sub r5, r5, r6\n"                  /* odd1, odd1, even1 */
            "    sub r3, r3, r1\n"                  /* odd2, odd2, even2 */
            /* stream!, {even_scale, even_addend, odd_scale, odd_addend, even_bias, odd_bias} */
            "    ldmia r0!, {r4, r8-r12}\n"
            "5:\n"
            "    smmla r2, r2, r4, r8\n"            /* even0, even0, even_scale, even_addend */
            "    smmla r6, r6, r4, r8\n"            /* even1, even1, even_scale, even_addend */
            "    smmla r1, r1, r4, r8\n"            /* even2, even2, even_scale, even_addend */
            "    usat r2, #8, r2, asr #4\n"         /* even0, #8, even0, asr #4 */
            "    usat r6, #8, r6, asr #4\n"         /* even1, #8, even1, asr #4 */
            "    usat r1, #8, r1, asr #4\n"         /* even2, #8, even2, asr #4 */
            "    smmla r7, r7, r9, r10\n"           /* odd0, odd0, odd_scale, odd_addend */
            "    smmla r5, r5, r9, r10\n"           /* odd1, odd1, odd_scale, odd_addend */
            "    smmla r3, r3, r9, r10\n"           /* odd2, odd2, odd_scale, odd_addend */
            "    usat r7, #8, r7, asr #12\n"        /* odd0, #8, odd0, asr #12 */
            "    usat r5, #8, r5, asr #12\n"        /* odd1, #8, odd1, asr #12 */
            "    usat r3, #8, r3, asr #12\n"        /* odd2, #8, odd2, asr #12 */
            "7:\n"
            "    vmov r4, s14\n"                    /* out, out_end.low */
            /* Stored: of each pixel both filters at once. */
            "    bfi r2, r7, #8, #8\n"              /* even0, odd0, #8, #8 */
            "    bfi r6, r5, #8, #8\n"              /* even1, odd1, #8, #8 */
            "    bfi r1, r3, #8, #8\n"              /* even2, odd2, #8, #8 */
            "    strh r2, [r4, #-2]\n"              /* even0, [out, #-2] */
            "    strh r6, [r4, #2]\n"               /* even1, [out, #2] */
            "    strh r1, [r4, #6]\n"               /* even2, [out, #6] */
            /* Two filters, an even and an odd one, for three outputs. */
            /* Of a word of weights SXTB16 leaves the even filter's. */
            /* These two meet the activations backwards. */
            "    ldmia r0!, {r3, r9}\n"             /* stream!, {odd2, weights0} */
            "    ldmdb lr!, {r4, r8, r10}\n"        /* taps!, {x0, x1, x2} */
            "    sxtb16 r1, r3\n"                   /* even2, odd2 */
            "    smlad r7, r3, r4, r12\n"           /* odd0, odd2, x0, odd_bias */
            "    smlad r5, r3, r8, r12\n"           /* odd1, odd2, x1, odd_bias */
            "    smlad r3, r3, r10, r12\n"          /* odd2, odd2, x2, odd_bias */
            "    smlad r2, r1, r4, r11\n"           /* even0, even2, x0, even_bias */
            "    smlad r6, r1, r8, r11\n"           /* even1, even2, x1, even_bias */
            "    smlad r1, r1, r10, r11\n"          /* even2, even2, x2, even_bias */
            "    ldmdb lr!, {r4, r8, r10}\n"        /* taps!, {x0, x1, x2} */
            "    smlad r7, r9, r4, r7\n"            /* odd0, weights0, x0, odd0 */
            "    smlad r5, r9, r8, r5\n"            /* odd1, weights0, x1, odd1 */
            "    smlad r3, r9, r10, r3\n"           /* odd2, weights0, x2, odd2 */
            "    sxtb16 r9, r9\n"                   /* weights0, weights0 */
            "    smlad r2, r9, r4, r2\n"            /* even0, weights0, x0, even0 */
            "    smlad r6, r9, r8, r6\n"            /* even1, weights0, x1, even1 */
            "    smlad r1, r9, r10, r1\n"           /* even2, weights0, x2, even2 */
            /* To elements of the output: scaled, shifted, saturated. */
            "    sub r7, r7, r2\n"                  /* odd0, odd0, even0 */
            "    sub r5, r5, r6\n"                  /* odd1, odd1, even1 */
            "    sub r3, r3, r1\n"                  /* odd2, odd2, even2 */
            /* stream!, {even_scale, even_addend, odd_scale, odd_addend, even_bias, odd_bias} */
            "    ldmia r0!, {r4, r8-r12}\n"
            "6:\n"
            "    smmla r2, r2, r4, r8\n"            /* even0, even0, even_scale, even_addend */
            "    smmla r6, r6, r4, r8\n"            /* even1, even1, even_scale, even_addend */
            "    smmla r1, r1, r4, r8\n"            /* even2, even2, even_scale, even_addend */
            "    usat r2, #8, r2, asr #4\n"         /* even0, #8, even0, asr #4 */
            "    usat r6, #8, r6, asr #4\n"         /* even1, #8, even1, asr #4 */
            "    usat r1, #8, r1, asr #4\n"         /* even2, #8, even2, asr #4 */
            "    smmla r7, r7, r9, r10\n"           /* odd0, odd0, odd_scale, odd_addend */
            "    smmla r5, r5, r9, r10\n"           /* odd1, odd1, odd_scale, odd_addend */
            "    smmla r3, r3, r9, r10\n"           /* odd2, odd2, odd_scale, odd_addend */
            "    usat r7, #8, r7, asr #12\n"        /* odd0, #8, odd0, asr #12 */
            "    usat r5, #8, r5, asr #12\n"        /* odd1, #8, odd1, asr #12 */
            "    usat r3, #8, r3, asr #12\n"        /* odd2, #8, odd2, asr #12 */
            "8:\n"
            "    vmov r4, r8, d7\n"                 /* out, end, out_end */
            /* Stored: of each pixel both filters at once. */
            "    bfi r2, r7, #8, #8\n"              /* even0, odd0, #8, #8 */
            "    bfi r6, r5, #8, #8\n"              /* even1, odd1, #8, #8 */
            "    bfi r1, r3, #8, #8\n"              /* even2, odd2, #8, #8 */
            "    strh r2, [r4], #4\n"               /* even0, [out], #4 */
            "    strh r6, [r4]\n"                   /* even1, [out] */
            "    strh r1, [r4, #4]\n"               /* even2, [out, #4] */
            "    vmov s14, r4\n"                    /* out_end.low, out */
            "    cmp r4, r8\n"                      /* out, end */
            "    bne 9b\n"
            "    add lr, lr, #24\n"                 /* taps, taps, #24 */
            /* The next three pixels. */
            "    ldr r1, [lr, #8]\n"                /* tiles, [taps, #8] */
            "    ldr r3, [lr]\n"                    /* source, [taps] */
            "    vmov r0, s14\n"                    /* out, out_end.low */
            "    subs r1, r1, #1\n"                 /* tiles, tiles, #1 */
            "    str r1, [lr, #8]\n"                /* tiles, [taps, #8] */
            "    beq 10f\n"
            "    add r3, r3, #12\n"                 /* source, source, #12 */
            "    add r0, r0, #8\n"                  /* out, out, #8 */
            "    add r1, r0, #4\n"                  /* end, out, #4 */
            "    vmov d7, r0, r1\n"                 /* out_end, out, end */
            "    str r3, [lr]\n"                    /* source, [taps] */
            "    b 1b\n"
            "10:\n"
            "    pop {r4-r11, pc}\n");
}

MCU_FUNCTION void _mcu_dsp_strips_1x1_conv1x1_4x4_depthwise3x3_dsp(const uint8_t *x, uint8_t *y,
                                                                   const uint32_t *taps,
                                                                   const int32_t *shape,
                                                                   const uint32_t *weights,
                                                                   uint8_t *scratch) {
    uint8_t *const strip = (uint8_t *)scratch;
    uint8_t *const work = scratch + 240;
    const uint8_t *source = x;
    uint8_t *target = y;
    /* `wanted` rows follow those that the strip before left; where the image ends, zero points. */
    int32_t left = 26, wanted = 3;
    uint8_t *next = strip + 60;
    memset(strip, 250, 60);
    for (int32_t n = 0; n < 13; n++) {
        const int32_t taken = left < wanted ? left : wanted;
        if (taken > 0) {
            *(int32_t *)(void *)(work + 32) = 5 * taken;
            _mcu_dsp_strips_1x1_conv1x1_4x4_rows_dsp(source, next, weights, work);
        }
        memset(next + 60 * taken, 250, (size_t)(60 * (wanted - taken)));
        source += 60 * taken;
        left -= taken;
        {
            for (int32_t channel = 0; channel < 4; channel += 4) {
                const uint8_t *from = strip + channel;
                uint8_t *to = target + channel;
                _mcu_dsp_strips_1x1_gather_planes_dsp(from, work, 4);
                for (int32_t k = 0; k < 4; k++) {
                    const uint32_t *const tap = taps + 5 * (channel + k);
                    const uint8_t *const plane = work + 4 * k;
                    uint8_t *const out = to + k;
                    _mcu_dsp_strips_1x1_depthwise_plane_dsp(tap, plane, out);
                    if (tap[1] >> 24 != 0) {
                        /* The channel's first late sum, and those that follow it. */
                        const uint32_t *late = taps + 4 * 5;
                        late += 2 * ((tap[1] >> 24) - 1);
                        do {
                            _mcu_dsp_strips_1x1_depthwise_late(tap, late, plane, shape, out);
                            late += 2;
                        } while (late[-2] >> 8 != 0);
                    }
                }
            }
        }
        target += 120;
        wanted = 2;
        next = strip + 120;
        memcpy(strip, strip + 120, 120);
    }
}

MCU_FUNCTION void _mcu_dsp_strips_1x1_reorder_4x390_uint8(const uint8_t *x, uint8_t *y) {
    for (int32_t i0 = 0; i0 < 4; i0++) {
        for (int32_t i1 = 0; i1 < 390; i1++) {
            *y++ = x[i0 + i1 * 4];
        }
    }
}

/* ---- The layers, in the order of execution ---- */

/* clang-format off */
static void _mcu_dsp_strips_1x1_layers(mcu_instance_t *instance) {
    uint8_t *const ws = instance->workspace;

    /* reshape_1_reorder: Reorder, x0 reordered: uint8[1,4,26,15] -> uint8[1,4,26,15] NHWC */
    uint8_t *const uint8 = (uint8_t *)(ws + 0);
    uint8_t *const reshape_1_reorder = (uint8_t *)(ws + 1568);
    MCU_LAYER(0, _mcu_dsp_strips_1x1_reorder_390x4_uint8(uint8, reshape_1_reorder));

    /* conv_1: PointwiseDepthwise, p0 + d0 (10 nodes):
     * uint8[1,4,26,15] NHWC -> uint8[1,4,26,15] NHWC; 20,280 MACs */
    uint8_t *const conv_1 = (uint8_t *)(ws + 1568);
    uint8_t *const conv_1_scratch = (uint8_t *)(ws + 0);
    MCU_LAYER(1, _mcu_dsp_strips_1x1_conv1x1_4x4_depthwise3x3_dsp(
        reshape_1_reorder, conv_1, _mcu_dsp_strips_1x1_conv_1_taps,
        _mcu_dsp_strips_1x1_conv_1_shape, _mcu_dsp_strips_1x1_conv_1_weights, conv_1_scratch));

    /* conv_1_reorder: Reorder, d0 reordered: uint8[1,4,26,15] NHWC -> uint8[1,4,26,15] */
    uint8_t *const conv_1_reorder = (uint8_t *)(ws + 0);
    MCU_LAYER(2, _mcu_dsp_strips_1x1_reorder_4x390_uint8(conv_1, conv_1_reorder));
}

/* clang-format on */

static int32_t _mcu_dsp_strips_1x1_run_func(void *args, void *arg_type_ids, int32_t num_args,
                                            void *out_ret_value, void *out_ret_tcode,
                                            void *resource_handle) {
    (void)out_ret_value;
    (void)out_ret_tcode;
    const mcu_model_t *const model = &_mcu_network_dsp_strips_1x1;
    const int32_t status =
        _mcu_run_begin(model, NULL, args, arg_type_ids, num_args, resource_handle);
    if (status != MCU_OK) {
        return status;
    }
    _mcu_dsp_strips_1x1_layers(resource_handle);
    return _mcu_run_end(model, NULL, args, resource_handle);
}

/* ---- The descriptor ---- */

static const int64_t _mcu_dsp_strips_1x1_input0_shape[1] = {1560};
static const mcu_tensor_info_t _mcu_dsp_strips_1x1_inputs[1] = {
    {
        .name = "uint8",
        .shape = _mcu_dsp_strips_1x1_input0_shape,
        .place = {0, 0, 1560},
        .scale = 1.0e+0F,
        .zero_point = 1,
        .ndim = 1,
        .dtype = {kDLUInt, 8, 1},
    },
};

static const int64_t _mcu_dsp_strips_1x1_output0_shape[1] = {1560};
static const mcu_tensor_info_t _mcu_dsp_strips_1x1_outputs[1] = {
    {
        .name = "uint8_y",
        .shape = _mcu_dsp_strips_1x1_output0_shape,
        .place = {0, 0, 1560},
        .scale = 9.6e+3F,
        .zero_point = 3,
        .ndim = 1,
        .dtype = {kDLUInt, 8, 1},
    },
};

/* clang-format off */
/* Where the outputs of each layer lie when it has run: offset, pool and bytes. */
static const mcu_region_t _mcu_dsp_strips_1x1_regions[3] = {
    {1568, 0, 1560}, /* 0 */
    {1568, 0, 1560}, /* 1 */
    {0,    0, 1560}, /* 2 */
};

/* Of each layer: its first output in the table above, and how many it has. */
static const mcu_layer_info_t _mcu_dsp_strips_1x1_layer_infos[3] = {
    {0, 1}, {1, 1}, {2, 1},
};
/* clang-format on */

const mcu_model_t _mcu_network_dsp_strips_1x1 = {
    .run_func = _mcu_dsp_strips_1x1_run_func,
    .num_input_tensors = 1,
    .num_output_tensors = 1,
    .abi_version = MCU_MODEL_ABI_VERSION,
    .workspace_size = MCU_DSP_STRIPS_1X1_WORKSPACE_SIZE,
    .workspace_alignment = MCU_DSP_STRIPS_1X1_WORKSPACE_ALIGNMENT,
    .num_layers = 3,
    .name = "dsp_strips_1x1",
    .inputs = _mcu_dsp_strips_1x1_inputs,
    .outputs = _mcu_dsp_strips_1x1_outputs,
    .layers = _mcu_dsp_strips_1x1_layer_infos,
    .layer_outputs = _mcu_dsp_strips_1x1_regions,
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
