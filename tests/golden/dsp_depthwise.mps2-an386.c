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

/* Lines of four channels to their planes: of each pair of pixels four words, in each a channel's
 * (x[2 n] - zero point, x[2 n + 1] - zero point) as int16, or 0 where the image has no pixel. A
 * line of the planes has 112 bytes. */
MCU_KERNEL void _mcu_dsp_depthwise_gather_planes_dsp(const int8_t *pixels MCU_UNUSED,
                                                     uint8_t *planes MCU_UNUSED,
                                                     int32_t lines MCU_UNUSED,
                                                     const int32_t *pitch MCU_UNUSED) {
    /* clang-format off */
    __asm__(".syntax unified\n"
            "    push {r4-r7}\n"
            "    movw r4, #112\n"                   /* end, #112 */
            "    mla r4, r4, r2, r1\n"              /* end, end, lines, planes */
            "    vmov s0, r4\n"                     /* planes_end, end */
            "    movw r7, #128\n"                   /* minus_zero, #128 */
            "    movt r7, #128\n"                   /* minus_zero, #128 */
            "    ldrd r5, r2, [r3]\n"               /* pixel_bytes, between, [pitch] */
            "    vmov s1, r2\n"                     /* between_lines, between */
            "    addw r1, r1, #16\n"                /* planes, planes, #16 */
            "1:\n"
            "    ldr r2, [r0]\n"                    /* left0, [pixels] */
            "    ldr r4, [r0, r5]\n"                /* right0, [pixels, pixel_bytes] */
            "    add r0, r0, r5, lsl #1\n"          /* pixels, pixels, pixel_bytes, lsl #1 */
            "    pkhbt r3, r2, r4, lsl #16\n"       /* channels01, left0, right0, lsl #16 */
            "    pkhtb r6, r4, r2, asr #16\n"       /* channels23, right0, left0, asr #16 */
            "    sxtab16 r2, r7, r3\n"              /* channel0, minus_zero, channels01 */
            "    sxtab16 r3, r7, r3, ror #8\n"      /* channel1, minus_zero, channels01, ror #8 */
            "    sxtab16 r4, r7, r6\n"              /* channel2, minus_zero, channels23 */
            "    sxtab16 r6, r7, r6, ror #8\n"      /* channel3, minus_zero, channels23, ror #8 */
            /* planes!, {channel0, channel1, channel2, channel3} */
            "    stmia r1!, {r2-r4, r6}\n"
            "    ldr r2, [r0]\n"                    /* left0, [pixels] */
            "    ldr r4, [r0, r5]\n"                /* right0, [pixels, pixel_bytes] */
            "    add r0, r0, r5, lsl #1\n"          /* pixels, pixels, pixel_bytes, lsl #1 */
            "    pkhbt r3, r2, r4, lsl #16\n"       /* channels01, left0, right0, lsl #16 */
            "    pkhtb r6, r4, r2, asr #16\n"       /* channels23, right0, left0, asr #16 */
            "    sxtab16 r2, r7, r3\n"              /* channel0, minus_zero, channels01 */
            "    sxtab16 r3, r7, r3, ror #8\n"      /* channel1, minus_zero, channels01, ror #8 */
            "    sxtab16 r4, r7, r6\n"              /* channel2, minus_zero, channels23 */
            "    sxtab16 r6, r7, r6, ror #8\n"      /* channel3, minus_zero, channels23, ror #8 */
            /* planes!, {channel0, channel1, channel2, channel3} */
            "    stmia r1!, {r2-r4, r6}\n"
            "    ldr r2, [r0]\n"                    /* left0, [pixels] */
            "    ldr r4, [r0, r5]\n"                /* right0, [pixels, pixel_bytes] */
            "    add r0, r0, r5, lsl #1\n"          /* pixels, pixels, pixel_bytes, lsl #1 */
            "    pkhbt r3, r2, r4, lsl #16\n"       /* channels01, left0, right0, lsl #16 */
            "    pkhtb r6, r4, r2, asr #16\n"       /* channels23, right0, left0, asr #16 */
            "    sxtab16 r2, r7, r3\n"              /* channel0, minus_zero, channels01 */
            "    sxtab16 r3, r7, r3, ror #8\n"      /* channel1, minus_zero, channels01, ror #8 */
            "    sxtab16 r4, r7, r6\n"              /* channel2, minus_zero, channels23 */
            "    sxtab16 r6, r7, r6, ror #8\n"      /* channel3, minus_zero, channels23, ror #8 */
            /* planes!, {channel0, channel1, channel2, channel3} */
            "    stmia r1!, {r2-r4, r6}\n"
            "    ldr r2, [r0]\n"                    /* left0, [pixels] */
            "    ldr r4, [r0, r5]\n"                /* right0, [pixels, pixel_bytes] */
            "    add r0, r0, r5, lsl #1\n"          /* pixels, pixels, pixel_bytes, lsl #1 */
            "    pkhbt r3, r2, r4, lsl #16\n"       /* channels01, left0, right0, lsl #16 */
            "    pkhtb r6, r4, r2, asr #16\n"       /* channels23, right0, left0, asr #16 */
            "    sxtab16 r2, r7, r3\n"              /* channel0, minus_zero, channels01 */
            "    sxtab16 r3, r7, r3, ror #8\n"      /* channel1, minus_zero, channels01, ror #8 */
            "    sxtab16 r4, r7, r6\n"              /* channel2, minus_zero, channels23 */
            "    sxtab16 r6, r7, r6, ror #8\n"      /* channel3, minus_zero, channels23, ror #8 */
            /* planes!, {channel0, channel1, channel2, channel3} */
            "    stmia r1!, {r2-r4, r6}\n"
            "    ldr r2, [r0]\n"                    /* left0, [pixels] */
            "    ldr r4, [r0, r5]\n"                /* right0, [pixels, pixel_bytes] */
            "    add r0, r0, r5, lsl #1\n"          /* pixels, pixels, pixel_bytes, lsl #1 */
            "    pkhbt r3, r2, r4, lsl #16\n"       /* channels01, left0, right0, lsl #16 */
            "    pkhtb r6, r4, r2, asr #16\n"       /* channels23, right0, left0, asr #16 */
            "    sxtab16 r2, r7, r3\n"              /* channel0, minus_zero, channels01 */
            "    sxtab16 r3, r7, r3, ror #8\n"      /* channel1, minus_zero, channels01, ror #8 */
            "    sxtab16 r4, r7, r6\n"              /* channel2, minus_zero, channels23 */
            "    sxtab16 r6, r7, r6, ror #8\n"      /* channel3, minus_zero, channels23, ror #8 */
            /* planes!, {channel0, channel1, channel2, channel3} */
            "    stmia r1!, {r2-r4, r6}\n"
            "    add r1, r1, #32\n"                 /* planes, planes, #32 */
            "    vmov r2, s1\n"                     /* between, between_lines */
            "    add r0, r0, r2\n"                  /* pixels, pixels, between */
            "    sub r2, r1, #16\n"                 /* amount, planes, #16 */
            "    vmov r4, s0\n"                     /* end, planes_end */
            "    cmp r2, r4\n"                      /* amount, end */
            "    bne 1b\n"
            "    pop {r4-r7}\n"
            "    bx lr\n");
    /* clang-format on */
}

/* Lines of a filter by a 5x5 kernel, rows of the image or columns: y[i][j] = sat((sum scale >>
 * 32) + addend >> 4), rounded down, with sum = bias + sum(w[k][l] x[i'][j']), x[i'][j'] what
 * w[k][l] meets, as the plane has it. Where scale is not above 0, y[i][j] = sat(round(sum
 * addend) + zero point), with addend a float32.
 * taps, words, those in brackets by their bytes from the lowest on: bias, scale, addend, for k
 * of 0 to 4: (w[k][0], w[k][2], w[k][1], w[k][3]), (w[k][1], w[k][3], w[k][2], w[k][4]). shape,
 * words: bytes from an output to the next, bytes from a line of outputs to the next, zero point
 * of y. */
MCU_KERNEL void _mcu_dsp_depthwise_depthwise_plane_dsp(const uint32_t *taps MCU_UNUSED,
                                                       const uint8_t *plane MCU_UNUSED,
                                                       int8_t *y MCU_UNUSED,
                                                       const int32_t *shape MCU_UNUSED) {
    /* clang-format off */
    __asm__(".syntax unified\n"
            "    push {r4-r11, lr}\n"
            "    ldmia r0!, {r4, r5, r7}\n"         /* taps!, {bias, scale, addend} */
            "    ldmia r3, {r3, r6, r12}\n"         /* shape, {step, line_step, zero} */
            "    vmov s12, r4\n"                    /* bias, bias */
            "    vmov d0, r5, r7\n"                 /* scale_addend, scale, addend */
            "    vmov s13, r6\n"                    /* line_step, line_step */
            "    vmov s14, r12\n"                   /* zero_point, zero */
            "    vmov d1, r1, r0\n"                 /* plane_stream, plane, taps */
            "    vmov d2, r2, r3\n"                 /* y_step, y, step */
            "    vmov d3, r1, r2\n"                 /* line_plane_y, plane, y */
            "    mov r0, #8\n"                      /* left, #8 */
            "    vmov s15, r0\n"                    /* lines_left, left */
            /* Lines of outputs: a row of the kernel adds to 6 neighbours' sums. */
            "1:\n"
            "    vmov r1, r7, d1\n"                 /* plane, stream, plane_stream */
            "    vmov r4, s12\n"                    /* sum5, bias */
            "    ldmia r7!, {r2, r12}\n"            /* stream!, {w0_1, w1_2} */
            "    sxtb16 lr, r2, ror #8\n"           /* w2_3, w0_1, ror #8 */
            "    sxtb16 r2, r2\n"                   /* w0_1, w0_1 */
            "    sxtb16 r11, r12, ror #8\n"         /* w3_4, w1_2, ror #8 */
            "    sxtb16 r12, r12\n"                 /* w1_2, w1_2 */
            "    ldr r3, [r1]\n"                    /* x0, [plane] */
            "    ldr r5, [r1, #16]\n"               /* x1, [plane, #16] */
            "    smlad r0, r2, r3, r4\n"            /* sum0, w0_1, x0, sum5 */
            "    smlabt r8, r2, r3, r4\n"           /* sum1, w0_1, x0, sum5 */
            "    smlad r0, lr, r5, r0\n"            /* sum0, w2_3, x1, sum0 */
            "    smlad r8, r12, r5, r8\n"           /* sum1, w1_2, x1, sum1 */
            "    smlad r9, r2, r5, r4\n"            /* sum2, w0_1, x1, sum5 */
            "    smlabt r10, r2, r5, r4\n"          /* sum3, w0_1, x1, sum5 */
            "    ldr r3, [r1, #32]\n"               /* x0, [plane, #32] */
            "    ldr r5, [r1, #48]\n"               /* x1, [plane, #48] */
            "    smlatb r0, r11, r3, r0\n"          /* sum0, w3_4, x0, sum0 */
            "    smlad r8, r11, r3, r8\n"           /* sum1, w3_4, x0, sum1 */
            "    smlad r9, lr, r3, r9\n"            /* sum2, w2_3, x0, sum2 */
            "    smlad r10, r12, r3, r10\n"         /* sum3, w1_2, x0, sum3 */
            "    smlad r6, r2, r3, r4\n"            /* sum4, w0_1, x0, sum5 */
            "    smlabt r4, r2, r3, r4\n"           /* sum5, w0_1, x0, sum5 */
            "    smlatb r9, r11, r5, r9\n"          /* sum2, w3_4, x1, sum2 */
            "    smlad r10, r11, r5, r10\n"         /* sum3, w3_4, x1, sum3 */
            "    smlad r6, lr, r5, r6\n"            /* sum4, w2_3, x1, sum4 */
            "    smlad r4, r12, r5, r4\n"           /* sum5, w1_2, x1, sum5 */
            "    ldr r3, [r1, #64]\n"               /* x0, [plane, #64] */
            "    smlatb r6, r11, r3, r6\n"          /* sum4, w3_4, x0, sum4 */
            "    smlad r4, r11, r3, r4\n"           /* sum5, w3_4, x0, sum5 */
            "    add r1, r1, #112\n"                /* plane, plane, #112 */
            "    ldmia r7!, {r2, r12}\n"            /* stream!, {w0_1, w1_2} */
            "    sxtb16 lr, r2, ror #8\n"           /* w2_3, w0_1, ror #8 */
            "    sxtb16 r2, r2\n"                   /* w0_1, w0_1 */
            "    sxtb16 r11, r12, ror #8\n"         /* w3_4, w1_2, ror #8 */
            "    sxtb16 r12, r12\n"                 /* w1_2, w1_2 */
            "    ldr r3, [r1]\n"                    /* x0, [plane] */
            "    ldr r5, [r1, #16]\n"               /* x1, [plane, #16] */
            "    smlad r0, r2, r3, r0\n"            /* sum0, w0_1, x0, sum0 */
            "    smlabt r8, r2, r3, r8\n"           /* sum1, w0_1, x0, sum1 */
            "    smlad r0, lr, r5, r0\n"            /* sum0, w2_3, x1, sum0 */
            "    smlad r8, r12, r5, r8\n"           /* sum1, w1_2, x1, sum1 */
            "    smlad r9, r2, r5, r9\n"            /* sum2, w0_1, x1, sum2 */
            "    smlabt r10, r2, r5, r10\n"         /* sum3, w0_1, x1, sum3 */
            "    ldr r3, [r1, #32]\n"               /* x0, [plane, #32] */
            "    ldr r5, [r1, #48]\n"               /* x1, [plane, #48] */
            "    smlatb r0, r11, r3, r0\n"          /* sum0, w3_4, x0, sum0 */
            "    smlad r8, r11, r3, r8\n"           /* sum1, w3_4, x0, sum1 */
            "    smlad r9, lr, r3, r9\n"            /* sum2, w2_3, x0, sum2 */
            "    smlad r10, r12, r3, r10\n"         /* sum3, w1_2, x0, sum3 */
            "    smlad r6, r2, r3, r6\n"            /* sum4, w0_1, x0, sum4 */
            "    smlabt r4, r2, r3, r4\n"           /* sum5, w0_1, x0, sum5 */
            "    smlatb r9, r11, r5, r9\n"          /* sum2, w3_4, x1, sum2 */
            "    smlad r10, r11, r5, r10\n"         /* sum3, w3_4, x1, sum3 */
            "    smlad r6, lr, r5, r6\n"            /* sum4, w2_3, x1, sum4 */
            "    smlad r4, r12, r5, r4\n"           /* sum5, w1_2, x1, sum5 */
            "    ldr r3, [r1, #64]\n"               /* x0, [plane, #64] */
            "    smlatb r6, r11, r3, r6\n"          /* sum4, w3_4, x0, sum4 */
            "    smlad r4, r11, r3, r4\n"           /* sum5, w3_4, x0, sum5 */
            "    add r1, r1, #112\n"                /* plane, plane, #112 */
            "    ldmia r7!, {r2, r12}\n"            /* stream!, {w0_1, w1_2} */
            "    sxtb16 lr, r2, ror #8\n"           /* w2_3, w0_1, ror #8 */
            "    sxtb16 r2, r2\n"                   /* w0_1, w0_1 */
            "    sxtb16 r11, r12, ror #8\n"         /* w3_4, w1_2, ror #8 */
            "    sxtb16 r12, r12\n"                 /* w1_2, w1_2 */
            "    ldr r3, [r1]\n"                    /* x0, [plane] */
            "    ldr r5, [r1, #16]\n"               /* x1, [plane, #16] */
            "    smlad r0, r2, r3, r0\n"            /* sum0, w0_1, x0, sum0 */
            "    smlabt r8, r2, r3, r8\n"           /* sum1, w0_1, x0, sum1 */
            "    smlad r0, lr, r5, r0\n"            /* sum0, w2_3, x1, sum0 */
            "    smlad r8, r12, r5, r8\n"           /* sum1, w1_2, x1, sum1 */
            "    smlad r9, r2, r5, r9\n"            /* sum2, w0_1, x1, sum2 */
            "    smlabt r10, r2, r5, r10\n"         /* sum3, w0_1, x1, sum3 */
            "    ldr r3, [r1, #32]\n"               /* x0, [plane, #32] */
            "    ldr r5, [r1, #48]\n"               /* x1, [plane, #48] */
            "    smlatb r0, r11, r3, r0\n"          /* sum0, w3_4, x0, sum0 */
            "    smlad r8, r11, r3, r8\n"           /* sum1, w3_4, x0, sum1 */
            "    smlad r9, lr, r3, r9\n"            /* sum2, w2_3, x0, sum2 */
            "    smlad r10, r12, r3, r10\n"         /* sum3, w1_2, x0, sum3 */
            "    smlad r6, r2, r3, r6\n"            /* sum4, w0_1, x0, sum4 */
            "    smlabt r4, r2, r3, r4\n"           /* sum5, w0_1, x0, sum5 */
            "    smlatb r9, r11, r5, r9\n"          /* sum2, w3_4, x1, sum2 */
            "    smlad r10, r11, r5, r10\n"         /* sum3, w3_4, x1, sum3 */
            "    smlad r6, lr, r5, r6\n"            /* sum4, w2_3, x1, sum4 */
            "    smlad r4, r12, r5, r4\n"           /* sum5, w1_2, x1, sum5 */
            "    ldr r3, [r1, #64]\n"               /* x0, [plane, #64] */
            "    smlatb r6, r11, r3, r6\n"          /* sum4, w3_4, x0, sum4 */
            "    smlad r4, r11, r3, r4\n"           /* sum5, w3_4, x0, sum5 */
            "    add r1, r1, #112\n"                /* plane, plane, #112 */
            "    ldmia r7!, {r2, r12}\n"            /* stream!, {w0_1, w1_2} */
            "    sxtb16 lr, r2, ror #8\n"           /* w2_3, w0_1, ror #8 */
            "    sxtb16 r2, r2\n"                   /* w0_1, w0_1 */
            "    sxtb16 r11, r12, ror #8\n"         /* w3_4, w1_2, ror #8 */
            "    sxtb16 r12, r12\n"                 /* w1_2, w1_2 */
            "    ldr r3, [r1]\n"                    /* x0, [plane] */
            "    ldr r5, [r1, #16]\n"               /* x1, [plane, #16] */
            "    smlad r0, r2, r3, r0\n"            /* sum0, w0_1, x0, sum0 */
            "    smlabt r8, r2, r3, r8\n"           /* sum1, w0_1, x0, sum1 */
            "    smlad r0, lr, r5, r0\n"            /* sum0, w2_3, x1, sum0 */
            "    smlad r8, r12, r5, r8\n"           /* sum1, w1_2, x1, sum1 */
            "    smlad r9, r2, r5, r9\n"            /* sum2, w0_1, x1, sum2 */
            "    smlabt r10, r2, r5, r10\n"         /* sum3, w0_1, x1, sum3 */
            "    ldr r3, [r1, #32]\n"               /* x0, [plane, #32] */
            "    ldr r5, [r1, #48]\n"               /* x1, [plane, #48] */
            "    smlatb r0, r11, r3, r0\n"          /* sum0, w3_4, x0, sum0 */
            "    smlad r8, r11, r3, r8\n"           /* sum1, w3_4, x0, sum1 */
            "    smlad r9, lr, r3, r9\n"            /* sum2, w2_3, x0, sum2 */
            "    smlad r10, r12, r3, r10\n"         /* sum3, w1_2, x0, sum3 */
            "    smlad r6, r2, r3, r6\n"            /* sum4, w0_1, x0, sum4 */
            "    smlabt r4, r2, r3, r4\n"           /* sum5, w0_1, x0, sum5 */
            "    smlatb r9, r11, r5, r9\n"          /* sum2, w3_4, x1, sum2 */
            "    smlad r10, r11, r5, r10\n"         /* sum3, w3_4, x1, sum3 */
            "    smlad r6, lr, r5, r6\n"            /* sum4, w2_3, x1, sum4 */
            "    smlad r4, r12, r5, r4\n"           /* sum5, w1_2, x1, sum5 */
            "    ldr r3, [r1, #64]\n"               /* x0, [plane, #64] */
            "    smlatb r6, r11, r3, r6\n"          /* sum4, w3_4, x0, sum4 */
            "    smlad r4, r11, r3, r4\n"           /* sum5, w3_4, x0, sum5 */
            "    add r1, r1, #112\n"                /* plane, plane, #112 */
            "    ldmia r7!, {r2, r12}\n"            /* stream!, {w0_1, w1_2} */
            "    sxtb16 lr, r2, ror #8\n"           /* w2_3, w0_1, ror #8 */
            "    sxtb16 r2, r2\n"                   /* w0_1, w0_1 */
            "    sxtb16 r11, r12, ror #8\n"         /* w3_4, w1_2, ror #8 */
            "    sxtb16 r12, r12\n"                 /* w1_2, w1_2 */
            "    ldr r3, [r1]\n"                    /* x0, [plane] */
            "    ldr r5, [r1, #16]\n"               /* x1, [plane, #16] */
            "    smlad r0, r2, r3, r0\n"            /* sum0, w0_1, x0, sum0 */
            "    smlabt r8, r2, r3, r8\n"           /* sum1, w0_1, x0, sum1 */
            "    smlad r0, lr, r5, r0\n"            /* sum0, w2_3, x1, sum0 */
            "    smlad r8, r12, r5, r8\n"           /* sum1, w1_2, x1, sum1 */
            "    smlad r9, r2, r5, r9\n"            /* sum2, w0_1, x1, sum2 */
            "    smlabt r10, r2, r5, r10\n"         /* sum3, w0_1, x1, sum3 */
            "    ldr r3, [r1, #32]\n"               /* x0, [plane, #32] */
            "    ldr r5, [r1, #48]\n"               /* x1, [plane, #48] */
            "    smlatb r0, r11, r3, r0\n"          /* sum0, w3_4, x0, sum0 */
            "    smlad r8, r11, r3, r8\n"           /* sum1, w3_4, x0, sum1 */
            "    smlad r9, lr, r3, r9\n"            /* sum2, w2_3, x0, sum2 */
            "    smlad r10, r12, r3, r10\n"         /* sum3, w1_2, x0, sum3 */
            "    smlad r6, r2, r3, r6\n"            /* sum4, w0_1, x0, sum4 */
            "    smlabt r4, r2, r3, r4\n"           /* sum5, w0_1, x0, sum5 */
            "    smlatb r9, r11, r5, r9\n"          /* sum2, w3_4, x1, sum2 */
            "    smlad r10, r11, r5, r10\n"         /* sum3, w3_4, x1, sum3 */
            "    smlad r6, lr, r5, r6\n"            /* sum4, w2_3, x1, sum4 */
            "    smlad r4, r12, r5, r4\n"           /* sum5, w1_2, x1, sum5 */
            "    ldr r3, [r1, #64]\n"               /* x0, [plane, #64] */
            "    smlatb r6, r11, r3, r6\n"          /* sum4, w3_4, x0, sum4 */
            "    smlad r4, r11, r3, r4\n"           /* sum5, w3_4, x0, sum5 */
            "    vmov r5, r7, d0\n"                 /* scale, addend, scale_addend */
            "    cmp r5, #0\n"                      /* scale, #0 */
            "    ble 2f\n"
            "    smmla r0, r0, r5, r7\n"            /* sum0, sum0, scale, addend */
            "    smmla r8, r8, r5, r7\n"            /* sum1, sum1, scale, addend */
            "    smmla r9, r9, r5, r7\n"            /* sum2, sum2, scale, addend */
            "    smmla r10, r10, r5, r7\n"          /* sum3, sum3, scale, addend */
            "    smmla r6, r6, r5, r7\n"            /* sum4, sum4, scale, addend */
            "    smmla r4, r4, r5, r7\n"            /* sum5, sum5, scale, addend */
            "    ssat r0, #8, r0, asr #4\n"         /* sum0, #8, sum0, asr #4 */
            "    ssat r8, #8, r8, asr #4\n"         /* sum1, #8, sum1, asr #4 */
            "    ssat r9, #8, r9, asr #4\n"         /* sum2, #8, sum2, asr #4 */
            "    ssat r10, #8, r10, asr #4\n"       /* sum3, #8, sum3, asr #4 */
            "    ssat r6, #8, r6, asr #4\n"         /* sum4, #8, sum4, asr #4 */
            "    ssat r4, #8, r4, asr #4\n"         /* sum5, #8, sum5, asr #4 */
            "3:\n"
            "    vmov r2, r3, d2\n"                 /* y, step, y_step */
            "    strb r0, [r2]\n"                   /* sum0, [y] */
            "    strb r8, [r2, r3]\n"               /* sum1, [y, step] */
            "    add r2, r2, r3, lsl #1\n"          /* y, y, step, lsl #1 */
            "    strb r9, [r2]\n"                   /* sum2, [y] */
            "    strb r10, [r2, r3]\n"              /* sum3, [y, step] */
            "    add r2, r2, r3, lsl #1\n"          /* y, y, step, lsl #1 */
            "    strb r6, [r2]\n"                   /* sum4, [y] */
            "    strb r4, [r2, r3]\n"               /* sum5, [y, step] */
            "    add r2, r2, r3, lsl #1\n"          /* y, y, step, lsl #1 */
            "    vmov s4, r2\n"                     /* y_step.low, y */
            "    vmov r1, s2\n"                     /* plane, plane_stream.low */
            "    addw r1, r1, #48\n"                /* plane, plane, #48 */
            "    vmov s2, r1\n"                     /* plane_stream.low, plane */
            "    vmov r1, r7, d1\n"                 /* plane, stream, plane_stream */
            "    vmov r10, s12\n"                   /* sum3, bias */
            "    ldmia r7!, {r2, r12}\n"            /* stream!, {w0_1, w1_2} */
            "    sxtb16 lr, r2, ror #8\n"           /* w2_3, w0_1, ror #8 */
            "    sxtb16 r2, r2\n"                   /* w0_1, w0_1 */
            "    sxtb16 r11, r12, ror #8\n"         /* w3_4, w1_2, ror #8 */
            "    sxtb16 r12, r12\n"                 /* w1_2, w1_2 */
            "    ldr r3, [r1]\n"                    /* x0, [plane] */
            "    ldr r4, [r1, #16]\n"               /* x1, [plane, #16] */
            "    ldr r5, [r1, #32]\n"               /* x2, [plane, #32] */
            "    ldr r6, [r1, #48]\n"               /* x3, [plane, #48] */
            "    smlad r0, r2, r3, r10\n"           /* sum0, w0_1, x0, sum3 */
            "    smlabt r8, r2, r3, r10\n"          /* sum1, w0_1, x0, sum3 */
            "    smlad r0, lr, r4, r0\n"            /* sum0, w2_3, x1, sum0 */
            "    smlad r8, r12, r4, r8\n"           /* sum1, w1_2, x1, sum1 */
            "    smlad r9, r2, r4, r10\n"           /* sum2, w0_1, x1, sum3 */
            "    smlabt r10, r2, r4, r10\n"         /* sum3, w0_1, x1, sum3 */
            "    smlatb r0, r11, r5, r0\n"          /* sum0, w3_4, x2, sum0 */
            "    smlad r8, r11, r5, r8\n"           /* sum1, w3_4, x2, sum1 */
            "    smlad r9, lr, r5, r9\n"            /* sum2, w2_3, x2, sum2 */
            "    smlad r10, r12, r5, r10\n"         /* sum3, w1_2, x2, sum3 */
            "    smlatb r9, r11, r6, r9\n"          /* sum2, w3_4, x3, sum2 */
            "    smlad r10, r11, r6, r10\n"         /* sum3, w3_4, x3, sum3 */
            "    add r1, r1, #112\n"                /* plane, plane, #112 */
            "    ldmia r7!, {r2, r12}\n"            /* stream!, {w0_1, w1_2} */
            "    sxtb16 lr, r2, ror #8\n"           /* w2_3, w0_1, ror #8 */
            "    sxtb16 r2, r2\n"                   /* w0_1, w0_1 */
            "    sxtb16 r11, r12, ror #8\n"         /* w3_4, w1_2, ror #8 */
            "    sxtb16 r12, r12\n"                 /* w1_2, w1_2 */
            "    ldr r3, [r1]\n"                    /* x0, [plane] */
            "    ldr r4, [r1, #16]\n"               /* x1, [plane, #16] */
            "    ldr r5, [r1, #32]\n"               /* x2, [plane, #32] */
            "    ldr r6, [r1, #48]\n"               /* x3, [plane, #48] */
            "    smlad r0, r2, r3, r0\n"            /* sum0, w0_1, x0, sum0 */
            "    smlabt r8, r2, r3, r8\n"           /* sum1, w0_1, x0, sum1 */
            "    smlad r0, lr, r4, r0\n"            /* sum0, w2_3, x1, sum0 */
            "    smlad r8, r12, r4, r8\n"           /* sum1, w1_2, x1, sum1 */
            "    smlad r9, r2, r4, r9\n"            /* sum2, w0_1, x1, sum2 */
            "    smlabt r10, r2, r4, r10\n"         /* sum3, w0_1, x1, sum3 */
            "    smlatb r0, r11, r5, r0\n"          /* sum0, w3_4, x2, sum0 */
            "    smlad r8, r11, r5, r8\n"           /* sum1, w3_4, x2, sum1 */
            "    smlad r9, lr, r5, r9\n"            /* sum2, w2_3, x2, sum2 */
            "    smlad r10, r12, r5, r10\n"         /* sum3, w1_2, x2, sum3 */
            "    smlatb r9, r11, r6, r9\n"          /* sum2, w3_4, x3, sum2 */
            "    smlad r10, r11, r6, r10\n"         /* sum3, w3_4, x3, sum3 */
            "    add r1, r1, #112\n"                /* plane, plane, #112 */
            "    ldmia r7!, {r2, r12}\n"            /* stream!, {w0_1, w1_2} */
            "    sxtb16 lr, r2, ror #8\n"           /* w2_3, w0_1, ror #8 */
            "    sxtb16 r2, r2\n"                   /* w0_1, w0_1 */
            "    sxtb16 r11, r12, ror #8\n"         /* w3_4, w1_2, ror #8 */
            "    sxtb16 r12, r12\n"                 /* w1_2, w1_2 */
            "    ldr r3, [r1]\n"                    /* x0, [plane] */
            "    ldr r4, [r1, #16]\n"               /* x1, [plane, #16] */
            "    ldr r5, [r1, #32]\n"               /* x2, [plane, #32] */
            "    ldr r6, [r1, #48]\n"               /* x3, [plane, #48] */
            "    smlad r0, r2, r3, r0\n"            /* sum0, w0_1, x0, sum0 */
            "    smlabt r8, r2, r3, r8\n"           /* sum1, w0_1, x0, sum1 */
            "    smlad r0, lr, r4, r0\n"            /* sum0, w2_3, x1, sum0 */
            "    smlad r8, r12, r4, r8\n"           /* sum1, w1_2, x1, sum1 */
            "    smlad r9, r2, r4, r9\n"            /* sum2, w0_1, x1, sum2 */
            "    smlabt r10, r2, r4, r10\n"         /* sum3, w0_1, x1, sum3 */
            "    smlatb r0, r11, r5, r0\n"          /* sum0, w3_4, x2, sum0 */
            "    smlad r8, r11, r5, r8\n"           /* sum1, w3_4, x2, sum1 */
            "    smlad r9, lr, r5, r9\n"            /* sum2, w2_3, x2, sum2 */
            "    smlad r10, r12, r5, r10\n"         /* sum3, w1_2, x2, sum3 */
            "    smlatb r9, r11, r6, r9\n"          /* sum2, w3_4, x3, sum2 */
            "    smlad r10, r11, r6, r10\n"         /* sum3, w3_4, x3, sum3 */
            "    add r1, r1, #112\n"                /* plane, plane, #112 */
            "    ldmia r7!, {r2, r12}\n"            /* stream!, {w0_1, w1_2} */
            "    sxtb16 lr, r2, ror #8\n"           /* w2_3, w0_1, ror #8 */
            "    sxtb16 r2, r2\n"                   /* w0_1, w0_1 */
            "    sxtb16 r11, r12, ror #8\n"         /* w3_4, w1_2, ror #8 */
            "    sxtb16 r12, r12\n"                 /* w1_2, w1_2 */
            "    ldr r3, [r1]\n"                    /* x0, [plane] */
            "    ldr r4, [r1, #16]\n"               /* x1, [plane, #16] */
            "    ldr r5, [r1, #32]\n"               /* x2, [plane, #32] */
            "    ldr r6, [r1, #48]\n"               /* x3, [plane, #48] */
            "    smlad r0, r2, r3, r0\n"            /* sum0, w0_1, x0, sum0 */
            "    smlabt r8, r2, r3, r8\n"           /* sum1, w0_1, x0, sum1 */
            "    smlad r0, lr, r4, r0\n"            /* sum0, w2_3, x1, sum0 */
            "    smlad r8, r12, r4, r8\n"           /* sum1, w1_2, x1, sum1 */
            "    smlad r9, r2, r4, r9\n"            /* sum2, w0_1, x1, sum2 */
            "    smlabt r10, r2, r4, r10\n"         /* sum3, w0_1, x1, sum3 */
            "    smlatb r0, r11, r5, r0\n"          /* sum0, w3_4, x2, sum0 */
            "    smlad r8, r11, r5, r8\n"           /* sum1, w3_4, x2, sum1 */
            "    smlad r9, lr, r5, r9\n"            /* sum2, w2_3, x2, sum2 */
            "    smlad r10, r12, r5, r10\n"         /* sum3, w1_2, x2, sum3 */
            "    smlatb r9, r11, r6, r9\n"          /* sum2, w3_4, x3, sum2 */
            "    smlad r10, r11, r6, r10\n"         /* sum3, w3_4, x3, sum3 */
            "    add r1, r1, #112\n"                /* plane, plane, #112 */
            "    ldmia r7!, {r2, r12}\n"            /* stream!, {w0_1, w1_2} */
            "    sxtb16 lr, r2, ror #8\n"           /* w2_3, w0_1, ror #8 */
            "    sxtb16 r2, r2\n"                   /* w0_1, w0_1 */
            "    sxtb16 r11, r12, ror #8\n"         /* w3_4, w1_2, ror #8 */
            "    sxtb16 r12, r12\n"                 /* w1_2, w1_2 */
            "    ldr r3, [r1]\n"                    /* x0, [plane] */
            "    ldr r4, [r1, #16]\n"               /* x1, [plane, #16] */
            "    ldr r5, [r1, #32]\n"               /* x2, [plane, #32] */
            "    ldr r6, [r1, #48]\n"               /* x3, [plane, #48] */
            "    smlad r0, r2, r3, r0\n"            /* sum0, w0_1, x0, sum0 */
            "    smlabt r8, r2, r3, r8\n"           /* sum1, w0_1, x0, sum1 */
            "    smlad r0, lr, r4, r0\n"            /* sum0, w2_3, x1, sum0 */
            "    smlad r8, r12, r4, r8\n"           /* sum1, w1_2, x1, sum1 */
            "    smlad r9, r2, r4, r9\n"            /* sum2, w0_1, x1, sum2 */
            "    smlabt r10, r2, r4, r10\n"         /* sum3, w0_1, x1, sum3 */
            "    smlatb r0, r11, r5, r0\n"          /* sum0, w3_4, x2, sum0 */
            "    smlad r8, r11, r5, r8\n"           /* sum1, w3_4, x2, sum1 */
            "    smlad r9, lr, r5, r9\n"            /* sum2, w2_3, x2, sum2 */
            "    smlad r10, r12, r5, r10\n"         /* sum3, w1_2, x2, sum3 */
            "    smlatb r9, r11, r6, r9\n"          /* sum2, w3_4, x3, sum2 */
            "    smlad r10, r11, r6, r10\n"         /* sum3, w3_4, x3, sum3 */
            "    vmov r5, r7, d0\n"                 /* scale, addend, scale_addend */
            "    cmp r5, #0\n"                      /* scale, #0 */
            "    ble 4f\n"
            "    smmla r0, r0, r5, r7\n"            /* sum0, sum0, scale, addend */
            "    smmla r8, r8, r5, r7\n"            /* sum1, sum1, scale, addend */
            "    smmla r9, r9, r5, r7\n"            /* sum2, sum2, scale, addend */
            "    smmla r10, r10, r5, r7\n"          /* sum3, sum3, scale, addend */
            "    ssat r0, #8, r0, asr #4\n"         /* sum0, #8, sum0, asr #4 */
            "    ssat r8, #8, r8, asr #4\n"         /* sum1, #8, sum1, asr #4 */
            "    ssat r9, #8, r9, asr #4\n"         /* sum2, #8, sum2, asr #4 */
            "    ssat r10, #8, r10, asr #4\n"       /* sum3, #8, sum3, asr #4 */
            "5:\n"
            "    vmov r2, r3, d2\n"                 /* y, step, y_step */
            "    strb r0, [r2]\n"                   /* sum0, [y] */
            "    strb r8, [r2, r3]\n"               /* sum1, [y, step] */
            "    add r2, r2, r3, lsl #1\n"          /* y, y, step, lsl #1 */
            "    strb r9, [r2]\n"                   /* sum2, [y] */
            "    strb r10, [r2, r3]\n"              /* sum3, [y, step] */
            "    add r2, r2, r3, lsl #1\n"          /* y, y, step, lsl #1 */
            "    vmov s4, r2\n"                     /* y_step.low, y */
            "    vmov r1, r2, d3\n"                 /* plane, y, line_plane_y */
            "    vmov r6, s13\n"                    /* line_step, line_step */
            "    add r2, r2, r6\n"                  /* y, y, line_step */
            "    add r1, r1, #112\n"                /* plane, plane, #112 */
            "    vmov d3, r1, r2\n"                 /* line_plane_y, plane, y */
            "    vmov s2, r1\n"                     /* plane_stream.low, plane */
            "    vmov s4, r2\n"                     /* y_step.low, y */
            "    vmov r0, s15\n"                    /* left, lines_left */
            "    subs r0, r0, #1\n"                 /* left, left, #1 */
            "    vmov s15, r0\n"                    /* lines_left, left */
            "    bne 1b\n"
            "    b 7f\n"
            "2:\n"
            "    bl 6f\n"
            "8:\n"
            "    b 3b\n"
            "4:\n"
            "    mov r6, r0\n"                      /* sum4, sum0 */
            "    mov r4, r0\n"                      /* sum5, sum0 */
            "    bl 6f\n"
            "9:\n"
            "    b 5b\n"
            "6:\n"
            /* No integers round this filter. */
            "    vmov r12, s14\n"                   /* zero, zero_point */
            "    vmov d4, r0, r8\n"                 /* pair, sum0, sum1 */
            "    vmov d5, r9, r7\n"                 /* last, sum2, addend */
            "    vcvt.f32.s32 s8, s8\n"             /* pair.low, pair.low */
            "    vcvt.f32.s32 s9, s9\n"             /* pair.high, pair.high */
            "    vcvt.f32.s32 s10, s10\n"           /* last.low, last.low */
            "    vmul.f32 s8, s8, s11\n"            /* pair.low, pair.low, last.high */
            "    vmul.f32 s9, s9, s11\n"            /* pair.high, pair.high, last.high */
            "    vmul.f32 s10, s10, s11\n"          /* last.low, last.low, last.high */
            "    vcvtr.s32.f32 s8, s8\n"            /* pair.low, pair.low */
            "    vcvtr.s32.f32 s9, s9\n"            /* pair.high, pair.high */
            "    vcvtr.s32.f32 s10, s10\n"          /* last.low, last.low */
            "    vmov r0, r8, d4\n"                 /* sum0, sum1, pair */
            "    vmov r9, s10\n"                    /* sum2, last.low */
            "    vmov d4, r10, r6\n"                /* pair, sum3, sum4 */
            "    vmov d5, r4, r7\n"                 /* last, sum5, addend */
            "    vcvt.f32.s32 s8, s8\n"             /* pair.low, pair.low */
            "    vcvt.f32.s32 s9, s9\n"             /* pair.high, pair.high */
            "    vcvt.f32.s32 s10, s10\n"           /* last.low, last.low */
            "    vmul.f32 s8, s8, s11\n"            /* pair.low, pair.low, last.high */
            "    vmul.f32 s9, s9, s11\n"            /* pair.high, pair.high, last.high */
            "    vmul.f32 s10, s10, s11\n"          /* last.low, last.low, last.high */
            "    vcvtr.s32.f32 s8, s8\n"            /* pair.low, pair.low */
            "    vcvtr.s32.f32 s9, s9\n"            /* pair.high, pair.high */
            "    vcvtr.s32.f32 s10, s10\n"          /* last.low, last.low */
            "    vmov r10, r6, d4\n"                /* sum3, sum4, pair */
            "    vmov r4, s10\n"                    /* sum5, last.low */
            "    qadd r0, r0, r12\n"                /* sum0, sum0, zero */
            "    ssat r0, #8, r0\n"                 /* sum0, #8, sum0 */
            "    qadd r8, r8, r12\n"                /* sum1, sum1, zero */
            "    ssat r8, #8, r8\n"                 /* sum1, #8, sum1 */
            "    qadd r9, r9, r12\n"                /* sum2, sum2, zero */
            "    ssat r9, #8, r9\n"                 /* sum2, #8, sum2 */
            "    qadd r10, r10, r12\n"              /* sum3, sum3, zero */
            "    ssat r10, #8, r10\n"               /* sum3, #8, sum3 */
            "    qadd r6, r6, r12\n"                /* sum4, sum4, zero */
            "    ssat r6, #8, r6\n"                 /* sum4, #8, sum4 */
            "    qadd r4, r4, r12\n"                /* sum5, sum5, zero */
            "    ssat r4, #8, r4\n"                 /* sum5, #8, sum5 */
            "    bx lr\n"
            "7:\n"
            "    pop {r4-r11, pc}\n");
    /* clang-format on */
}

MCU_FUNCTION void _mcu_dsp_depthwise_depthwise5x5_dsp(const int8_t *x, int8_t *y,
                                                      const uint32_t *taps, const int32_t *shape,
                                                      uint8_t *scratch) {
    const int32_t channels = shape[5];
    /* Four channels at a time, whose planes are the scratch. A band's input is in them before its
     * outputs are written, which may lie on it. Padding stays 0 on both sides of the lines. */
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
