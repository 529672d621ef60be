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

/* A 3x3 kernel for each channel f: y[i][j][f] = sat((start[f] + gain[f] sum(w[k][l]
 * x[i'][j'][f])) scale[f] >> 40), rounded down, with x[i'][j'] what w[k][l] meets without the
 * zero point of x, or 0 beyond the image. start has the bias times the gain, and the zero point
 * of y and a half, which become its units by the scale. Lines i are rows of the image.
 * x and y: [row][column][channel].
 * taps, words, those in brackets by their bytes from the lowest on: (w[0][0], w[0][1], w[0][2],
 * gain), (w[1][0], w[1][1], w[1][2], number of the channel's first late sum or 0), (w[2][0],
 * w[2][1], w[2][2], 0), start, scale.
 * scratch: 4 lines of four channels, of 128 bytes: of each pair of pixels a word of each
 * channel, two int16.
 * A band's input is in the scratch before its outputs are written, which may lie on it. */
MCU_KERNEL void _mcu_dsp_strips_1x1_depthwise3x3_4_dsp(const uint8_t *x MCU_UNUSED,
                                                       uint8_t *y MCU_UNUSED,
                                                       const uint32_t *taps MCU_UNUSED,
                                                       uint8_t *scratch MCU_UNUSED) {
    /* clang-format off */
    __asm__(".syntax unified\n"
            "    push {r4-r11, lr}\n"
            "    vmov d0, r0, r1\n"                 /* four_x_y, x, y */
            "    vmov s6, r3\n"                     /* planes_begin, scratch */
            "    add r0, r2, #80\n"                 /* end, taps, #80 */
            "    vmov s7, r0\n"                     /* taps_end, end */
            "    vmov s8, r2\n"                     /* next_taps, taps */
            /* Four channels: their lines to the planes, from there to each filter's outputs. */
            "1:\n"
            "    vmov r2, r5, d0\n"                 /* pixels, y, four_x_y */
            "    vmov r3, s6\n"                     /* planes, planes_begin */
            "    vmov d1, r2, r5\n"                 /* band_x_y, pixels, y */
            "    add r0, r3, #512\n"                /* end, planes, #512 */
            "    vmov s4, r0\n"                     /* planes_end, end */
            "    movw r12, #65286\n"                /* minus_zero, #65286 */
            "    movt r12, #65286\n"                /* minus_zero, #65286 */
            "2:\n"
            "    ldr r0, [r2]\n"                    /* left0, [pixels] */
            "    ldr r4, [r2, #4]\n"                /* right0, [pixels, #4] */
            "    ldr r5, [r2, #8]\n"                /* left1, [pixels, #8] */
            "    ldr r6, [r2, #12]\n"               /* right1, [pixels, #12] */
            "    pkhbt r1, r0, r4, lsl #16\n"       /* channels01, left0, right0, lsl #16 */
            "    pkhtb r7, r4, r0, asr #16\n"       /* channels23, right0, left0, asr #16 */
            "    uxtab16 r0, r12, r1\n"             /* channel0, minus_zero, channels01 */
            "    uxtab16 r1, r12, r1, ror #8\n"     /* channel1, minus_zero, channels01, ror #8 */
            "    uxtab16 r4, r12, r7\n"             /* channel2, minus_zero, channels23 */
            "    uxtab16 r7, r12, r7, ror #8\n"     /* channel3, minus_zero, channels23, ror #8 */
            /* planes!, {channel0, channel1, channel2, channel3} */
            "    stmia r3!, {r0, r1, r4, r7}\n"
            "    pkhbt r1, r5, r6, lsl #16\n"       /* channels01, left1, right1, lsl #16 */
            "    pkhtb r7, r6, r5, asr #16\n"       /* channels23, right1, left1, asr #16 */
            "    uxtab16 r0, r12, r1\n"             /* channel0, minus_zero, channels01 */
            "    uxtab16 r1, r12, r1, ror #8\n"     /* channel1, minus_zero, channels01, ror #8 */
            "    uxtab16 r4, r12, r7\n"             /* channel2, minus_zero, channels23 */
            "    uxtab16 r7, r12, r7, ror #8\n"     /* channel3, minus_zero, channels23, ror #8 */
            /* planes!, {channel0, channel1, channel2, channel3} */
            "    stmia r3!, {r0, r1, r4, r7}\n"
            "    ldr r0, [r2, #16]\n"               /* left0, [pixels, #16] */
            "    ldr r4, [r2, #20]\n"               /* right0, [pixels, #20] */
            "    ldr r5, [r2, #24]\n"               /* left1, [pixels, #24] */
            "    ldr r6, [r2, #28]\n"               /* right1, [pixels, #28] */
            "    pkhbt r1, r0, r4, lsl #16\n"       /* channels01, left0, right0, lsl #16 */
            "    pkhtb r7, r4, r0, asr #16\n"       /* channels23, right0, left0, asr #16 */
            "    uxtab16 r0, r12, r1\n"             /* channel0, minus_zero, channels01 */
            "    uxtab16 r1, r12, r1, ror #8\n"     /* channel1, minus_zero, channels01, ror #8 */
            "    uxtab16 r4, r12, r7\n"             /* channel2, minus_zero, channels23 */
            "    uxtab16 r7, r12, r7, ror #8\n"     /* channel3, minus_zero, channels23, ror #8 */
            /* planes!, {channel0, channel1, channel2, channel3} */
            "    stmia r3!, {r0, r1, r4, r7}\n"
            "    pkhbt r1, r5, r6, lsl #16\n"       /* channels01, left1, right1, lsl #16 */
            "    pkhtb r7, r6, r5, asr #16\n"       /* channels23, right1, left1, asr #16 */
            "    uxtab16 r0, r12, r1\n"             /* channel0, minus_zero, channels01 */
            "    uxtab16 r1, r12, r1, ror #8\n"     /* channel1, minus_zero, channels01, ror #8 */
            "    uxtab16 r4, r12, r7\n"             /* channel2, minus_zero, channels23 */
            "    uxtab16 r7, r12, r7, ror #8\n"     /* channel3, minus_zero, channels23, ror #8 */
            /* planes!, {channel0, channel1, channel2, channel3} */
            "    stmia r3!, {r0, r1, r4, r7}\n"
            "    ldr r0, [r2, #32]\n"               /* left0, [pixels, #32] */
            "    ldr r4, [r2, #36]\n"               /* right0, [pixels, #36] */
            "    ldr r5, [r2, #40]\n"               /* left1, [pixels, #40] */
            "    ldr r6, [r2, #44]\n"               /* right1, [pixels, #44] */
            "    pkhbt r1, r0, r4, lsl #16\n"       /* channels01, left0, right0, lsl #16 */
            "    pkhtb r7, r4, r0, asr #16\n"       /* channels23, right0, left0, asr #16 */
            "    uxtab16 r0, r12, r1\n"             /* channel0, minus_zero, channels01 */
            "    uxtab16 r1, r12, r1, ror #8\n"     /* channel1, minus_zero, channels01, ror #8 */
            "    uxtab16 r4, r12, r7\n"             /* channel2, minus_zero, channels23 */
            "    uxtab16 r7, r12, r7, ror #8\n"     /* channel3, minus_zero, channels23, ror #8 */
            /* planes!, {channel0, channel1, channel2, channel3} */
            "    stmia r3!, {r0, r1, r4, r7}\n"
            "    pkhbt r1, r5, r6, lsl #16\n"       /* channels01, left1, right1, lsl #16 */
            "    pkhtb r7, r6, r5, asr #16\n"       /* channels23, right1, left1, asr #16 */
            "    uxtab16 r0, r12, r1\n"             /* channel0, minus_zero, channels01 */
            "    uxtab16 r1, r12, r1, ror #8\n"     /* channel1, minus_zero, channels01, ror #8 */
            "    uxtab16 r4, r12, r7\n"             /* channel2, minus_zero, channels23 */
            "    uxtab16 r7, r12, r7, ror #8\n"     /* channel3, minus_zero, channels23, ror #8 */
            /* planes!, {channel0, channel1, channel2, channel3} */
            "    stmia r3!, {r0, r1, r4, r7}\n"
            "    ldr r0, [r2, #48]\n"               /* left0, [pixels, #48] */
            "    ldr r4, [r2, #52]\n"               /* right0, [pixels, #52] */
            "    pkhbt r1, r0, r4, lsl #16\n"       /* channels01, left0, right0, lsl #16 */
            "    pkhtb r7, r4, r0, asr #16\n"       /* channels23, right0, left0, asr #16 */
            "    uxtab16 r0, r12, r1\n"             /* channel0, minus_zero, channels01 */
            "    uxtab16 r1, r12, r1, ror #8\n"     /* channel1, minus_zero, channels01, ror #8 */
            "    uxtab16 r4, r12, r7\n"             /* channel2, minus_zero, channels23 */
            "    uxtab16 r7, r12, r7, ror #8\n"     /* channel3, minus_zero, channels23, ror #8 */
            /* planes!, {channel0, channel1, channel2, channel3} */
            "    stmia r3!, {r0, r1, r4, r7}\n"
            "    ldr r0, [r2, #56]\n"               /* left0, [pixels, #56] */
            "    movw r4, #64250\n"                 /* right0, #64250 */
            "    movt r4, #64250\n"                 /* right0, #64250 */
            "    pkhbt r1, r0, r4, lsl #16\n"       /* channels01, left0, right0, lsl #16 */
            "    pkhtb r7, r4, r0, asr #16\n"       /* channels23, right0, left0, asr #16 */
            "    uxtab16 r0, r12, r1\n"             /* channel0, minus_zero, channels01 */
            "    uxtab16 r1, r12, r1, ror #8\n"     /* channel1, minus_zero, channels01, ror #8 */
            "    uxtab16 r4, r12, r7\n"             /* channel2, minus_zero, channels23 */
            "    uxtab16 r7, r12, r7, ror #8\n"     /* channel3, minus_zero, channels23, ror #8 */
            /* planes!, {channel0, channel1, channel2, channel3} */
            "    stmia r3!, {r0, r1, r4, r7}\n"
            "    add r2, r2, #60\n"                 /* pixels, pixels, #60 */
            "    vmov r0, s4\n"                     /* end, planes_end */
            "    cmp r3, r0\n"                      /* planes, end */
            "    bne 2b\n"
            "    vmov r4, s6\n"                     /* plane, planes_begin */
            "    vmov r5, s3\n"                     /* y, band_x_y.high */
            "    vmov d1, r4, r5\n"                 /* plane_y, plane, y */
            "3:\n"
            "    vmov r1, s8\n"                     /* taps, next_taps */
            "    add r0, r1, #20\n"                 /* end, taps, #20 */
            "    vmov s8, r0\n"                     /* next_taps, end */
            "    vmov r4, r5, d1\n"                 /* plane, y, plane_y */
            /* The weights times their gain: of each row w0 w1 and w1 w2. */
            "    ldmia r1, {r0-r3, r6}\n"           /* taps, {taps0, taps1, taps2, start, scale} */
            "    vmov d2, r3, r3\n"                 /* starts, start, start */
            "    lsr r3, r0, #24\n"                 /* gain, taps0, #24 */
            "    sxtb16 r7, r0\n"                   /* w0_w2, taps0 */
            "    sxtb16 r0, r0, ror #8\n"           /* w1, taps0, ror #8 */
            "    smulbb r0, r0, r3\n"               /* w1, w1, gain */
            "    smulbb r12, r7, r3\n"              /* row0_w01, w0_w2, gain */
            "    smultb lr, r7, r3\n"               /* row0_w12, w0_w2, gain */
            "    pkhbt r12, r12, r0, lsl #16\n"     /* row0_w01, row0_w01, w1, lsl #16 */
            "    pkhbt lr, r0, lr, lsl #16\n"       /* row0_w12, w1, row0_w12, lsl #16 */
            "    sxtb16 r7, r1\n"                   /* w0_w2, taps1 */
            "    sxtb16 r0, r1, ror #8\n"           /* w1, taps1, ror #8 */
            "    smulbb r0, r0, r3\n"               /* w1, w1, gain */
            "    smulbb r1, r7, r3\n"               /* row1_w01, w0_w2, gain */
            "    smultb r8, r7, r3\n"               /* row1_w12, w0_w2, gain */
            "    pkhbt r1, r1, r0, lsl #16\n"       /* row1_w01, row1_w01, w1, lsl #16 */
            "    pkhbt r8, r0, r8, lsl #16\n"       /* row1_w12, w1, row1_w12, lsl #16 */
            "    sxtb16 r7, r2\n"                   /* w0_w2, taps2 */
            "    sxtb16 r0, r2, ror #8\n"           /* w1, taps2, ror #8 */
            "    smulbb r0, r0, r3\n"               /* w1, w1, gain */
            "    smulbb r2, r7, r3\n"               /* row2_w01, w0_w2, gain */
            "    smultb r3, r7, r3\n"               /* row2_w12, w0_w2, gain */
            "    pkhbt r2, r2, r0, lsl #16\n"       /* row2_w01, row2_w01, w1, lsl #16 */
            "    pkhbt r3, r0, r3, lsl #16\n"       /* row2_w12, w1, row2_w12, lsl #16 */
            /* Output lines that see rows 0, 1, 2 of the kernel. */
            "    add r0, r4, #256\n"                /* end, plane, #256 */
            "    vmov s9, r0\n"                     /* lines_end, end */
            "4:\n"
            "    vmov r0, s4\n"                     /* sum0, starts.low */
            "    ldr r7, [r4]\n"                    /* x0, [plane] */
            "    ldr r9, [r4, #128]\n"              /* x1, [plane, #128] */
            "    ldr r10, [r4, #256]\n"             /* x2, [plane, #256] */
            "    smlad r0, r7, lr, r0\n"            /* sum0, x0, row0_w12, sum0 */
            "    smlad r0, r9, r8, r0\n"            /* sum0, x1, row1_w12, sum0 */
            "    smlad r0, r10, r3, r0\n"           /* sum0, x2, row2_w12, sum0 */
            "    smmul r0, r0, r6\n"                /* sum0, sum0, scale */
            "    usat r0, #8, r0, asr #8\n"         /* sum0, #8, sum0, asr #8 */
            "    strb r0, [r5]\n"                   /* sum0, [y] */
            "    vmov r0, r11, d2\n"                /* sum0, sum1, starts */
            "    smlad r0, r7, r12, r0\n"           /* sum0, x0, row0_w01, sum0 */
            "    smlatb r11, r7, r12, r11\n"        /* sum1, x0, row0_w01, sum1 */
            "    smlad r0, r9, r1, r0\n"            /* sum0, x1, row1_w01, sum0 */
            "    smlatb r11, r9, r1, r11\n"         /* sum1, x1, row1_w01, sum1 */
            "    smlad r0, r10, r2, r0\n"           /* sum0, x2, row2_w01, sum0 */
            "    smlatb r11, r10, r2, r11\n"        /* sum1, x2, row2_w01, sum1 */
            "    ldr r7, [r4, #16]\n"               /* x0, [plane, #16] */
            "    ldr r9, [r4, #144]\n"              /* x1, [plane, #144] */
            "    ldr r10, [r4, #272]\n"             /* x2, [plane, #272] */
            "    smlabt r0, r7, lr, r0\n"           /* sum0, x0, row0_w12, sum0 */
            "    smlad r11, r7, lr, r11\n"          /* sum1, x0, row0_w12, sum1 */
            "    smlabt r0, r9, r8, r0\n"           /* sum0, x1, row1_w12, sum0 */
            "    smlad r11, r9, r8, r11\n"          /* sum1, x1, row1_w12, sum1 */
            "    smlabt r0, r10, r3, r0\n"          /* sum0, x2, row2_w12, sum0 */
            "    smlad r11, r10, r3, r11\n"         /* sum1, x2, row2_w12, sum1 */
            "    smmul r0, r0, r6\n"                /* sum0, sum0, scale */
            "    smmul r11, r11, r6\n"              /* sum1, sum1, scale */
            "    usat r0, #8, r0, asr #8\n"         /* sum0, #8, sum0, asr #8 */
            "    usat r11, #8, r11, asr #8\n"       /* sum1, #8, sum1, asr #8 */
            "    strb r0, [r5, #4]\n"               /* sum0, [y, #4] */
            "    strb r11, [r5, #8]\n"              /* sum1, [y, #8] */
            "    vmov r0, r11, d2\n"                /* sum0, sum1, starts */
            "    smlad r0, r7, r12, r0\n"           /* sum0, x0, row0_w01, sum0 */
            "    smlatb r11, r7, r12, r11\n"        /* sum1, x0, row0_w01, sum1 */
            "    smlad r0, r9, r1, r0\n"            /* sum0, x1, row1_w01, sum0 */
            "    smlatb r11, r9, r1, r11\n"         /* sum1, x1, row1_w01, sum1 */
            "    smlad r0, r10, r2, r0\n"           /* sum0, x2, row2_w01, sum0 */
            "    smlatb r11, r10, r2, r11\n"        /* sum1, x2, row2_w01, sum1 */
            "    ldr r7, [r4, #32]\n"               /* x0, [plane, #32] */
            "    ldr r9, [r4, #160]\n"              /* x1, [plane, #160] */
            "    ldr r10, [r4, #288]\n"             /* x2, [plane, #288] */
            "    smlabt r0, r7, lr, r0\n"           /* sum0, x0, row0_w12, sum0 */
            "    smlad r11, r7, lr, r11\n"          /* sum1, x0, row0_w12, sum1 */
            "    smlabt r0, r9, r8, r0\n"           /* sum0, x1, row1_w12, sum0 */
            "    smlad r11, r9, r8, r11\n"          /* sum1, x1, row1_w12, sum1 */
            "    smlabt r0, r10, r3, r0\n"          /* sum0, x2, row2_w12, sum0 */
            "    smlad r11, r10, r3, r11\n"         /* sum1, x2, row2_w12, sum1 */
            "    smmul r0, r0, r6\n"                /* sum0, sum0, scale */
            "    smmul r11, r11, r6\n"              /* sum1, sum1, scale */
            "    usat r0, #8, r0, asr #8\n"         /* sum0, #8, sum0, asr #8 */
            "    usat r11, #8, r11, asr #8\n"       /* sum1, #8, sum1, asr #8 */
            "    strb r0, [r5, #12]\n"              /* sum0, [y, #12] */
            "    strb r11, [r5, #16]\n"             /* sum1, [y, #16] */
            "    vmov r0, r11, d2\n"                /* sum0, sum1, starts */
            "    smlad r0, r7, r12, r0\n"           /* sum0, x0, row0_w01, sum0 */
            "    smlatb r11, r7, r12, r11\n"        /* sum1, x0, row0_w01, sum1 */
            "    smlad r0, r9, r1, r0\n"            /* sum0, x1, row1_w01, sum0 */
            "    smlatb r11, r9, r1, r11\n"         /* sum1, x1, row1_w01, sum1 */
            "    smlad r0, r10, r2, r0\n"           /* sum0, x2, row2_w01, sum0 */
            "    smlatb r11, r10, r2, r11\n"        /* sum1, x2, row2_w01, sum1 */
            "    ldr r7, [r4, #48]\n"               /* x0, [plane, #48] */
            "    ldr r9, [r4, #176]\n"              /* x1, [plane, #176] */
            "    ldr r10, [r4, #304]\n"             /* x2, [plane, #304] */
            "    smlabt r0, r7, lr, r0\n"           /* sum0, x0, row0_w12, sum0 */
            "    smlad r11, r7, lr, r11\n"          /* sum1, x0, row0_w12, sum1 */
            "    smlabt r0, r9, r8, r0\n"           /* sum0, x1, row1_w12, sum0 */
            "    smlad r11, r9, r8, r11\n"          /* sum1, x1, row1_w12, sum1 */
            "    smlabt r0, r10, r3, r0\n"          /* sum0, x2, row2_w12, sum0 */
            "    smlad r11, r10, r3, r11\n"         /* sum1, x2, row2_w12, sum1 */
            "    smmul r0, r0, r6\n"                /* sum0, sum0, scale */
            "    smmul r11, r11, r6\n"              /* sum1, sum1, scale */
            "    usat r0, #8, r0, asr #8\n"         /* sum0, #8, sum0, asr #8 */
            "    usat r11, #8, r11, asr #8\n"       /* sum1, #8, sum1, asr #8 */
            "    strb r0, [r5, #20]\n"              /* sum0, [y, #20] */
            "    strb r11, [r5, #24]\n"             /* sum1, [y, #24] */
            "    vmov r0, r11, d2\n"                /* sum0, sum1, starts */
            "    smlad r0, r7, r12, r0\n"           /* sum0, x0, row0_w01, sum0 */
            "    smlatb r11, r7, r12, r11\n"        /* sum1, x0, row0_w01, sum1 */
            "    smlad r0, r9, r1, r0\n"            /* sum0, x1, row1_w01, sum0 */
            "    smlatb r11, r9, r1, r11\n"         /* sum1, x1, row1_w01, sum1 */
            "    smlad r0, r10, r2, r0\n"           /* sum0, x2, row2_w01, sum0 */
            "    smlatb r11, r10, r2, r11\n"        /* sum1, x2, row2_w01, sum1 */
            "    ldr r7, [r4, #64]\n"               /* x0, [plane, #64] */
            "    ldr r9, [r4, #192]\n"              /* x1, [plane, #192] */
            "    ldr r10, [r4, #320]\n"             /* x2, [plane, #320] */
            "    smlabt r0, r7, lr, r0\n"           /* sum0, x0, row0_w12, sum0 */
            "    smlad r11, r7, lr, r11\n"          /* sum1, x0, row0_w12, sum1 */
            "    smlabt r0, r9, r8, r0\n"           /* sum0, x1, row1_w12, sum0 */
            "    smlad r11, r9, r8, r11\n"          /* sum1, x1, row1_w12, sum1 */
            "    smlabt r0, r10, r3, r0\n"          /* sum0, x2, row2_w12, sum0 */
            "    smlad r11, r10, r3, r11\n"         /* sum1, x2, row2_w12, sum1 */
            "    smmul r0, r0, r6\n"                /* sum0, sum0, scale */
            "    smmul r11, r11, r6\n"              /* sum1, sum1, scale */
            "    usat r0, #8, r0, asr #8\n"         /* sum0, #8, sum0, asr #8 */
            "    usat r11, #8, r11, asr #8\n"       /* sum1, #8, sum1, asr #8 */
            "    strb r0, [r5, #28]\n"              /* sum0, [y, #28] */
            "    strb r11, [r5, #32]\n"             /* sum1, [y, #32] */
            "    vmov r0, r11, d2\n"                /* sum0, sum1, starts */
            "    smlad r0, r7, r12, r0\n"           /* sum0, x0, row0_w01, sum0 */
            "    smlatb r11, r7, r12, r11\n"        /* sum1, x0, row0_w01, sum1 */
            "    smlad r0, r9, r1, r0\n"            /* sum0, x1, row1_w01, sum0 */
            "    smlatb r11, r9, r1, r11\n"         /* sum1, x1, row1_w01, sum1 */
            "    smlad r0, r10, r2, r0\n"           /* sum0, x2, row2_w01, sum0 */
            "    smlatb r11, r10, r2, r11\n"        /* sum1, x2, row2_w01, sum1 */
            "    ldr r7, [r4, #80]\n"               /* x0, [plane, #80] */
            "    ldr r9, [r4, #208]\n"              /* x1, [plane, #208] */
            "    ldr r10, [r4, #336]\n"             /* x2, [plane, #336] */
            "    smlabt r0, r7, lr, r0\n"           /* sum0, x0, row0_w12, sum0 */
            "    smlad r11, r7, lr, r11\n"          /* sum1, x0, row0_w12, sum1 */
            "    smlabt r0, r9, r8, r0\n"           /* sum0, x1, row1_w12, sum0 */
            "    smlad r11, r9, r8, r11\n"          /* sum1, x1, row1_w12, sum1 */
            "    smlabt r0, r10, r3, r0\n"          /* sum0, x2, row2_w12, sum0 */
            "    smlad r11, r10, r3, r11\n"         /* sum1, x2, row2_w12, sum1 */
            "    smmul r0, r0, r6\n"                /* sum0, sum0, scale */
            "    smmul r11, r11, r6\n"              /* sum1, sum1, scale */
            "    usat r0, #8, r0, asr #8\n"         /* sum0, #8, sum0, asr #8 */
            "    usat r11, #8, r11, asr #8\n"       /* sum1, #8, sum1, asr #8 */
            "    strb r0, [r5, #36]\n"              /* sum0, [y, #36] */
            "    strb r11, [r5, #40]\n"             /* sum1, [y, #40] */
            "    vmov r0, r11, d2\n"                /* sum0, sum1, starts */
            "    smlad r0, r7, r12, r0\n"           /* sum0, x0, row0_w01, sum0 */
            "    smlatb r11, r7, r12, r11\n"        /* sum1, x0, row0_w01, sum1 */
            "    smlad r0, r9, r1, r0\n"            /* sum0, x1, row1_w01, sum0 */
            "    smlatb r11, r9, r1, r11\n"         /* sum1, x1, row1_w01, sum1 */
            "    smlad r0, r10, r2, r0\n"           /* sum0, x2, row2_w01, sum0 */
            "    smlatb r11, r10, r2, r11\n"        /* sum1, x2, row2_w01, sum1 */
            "    ldr r7, [r4, #96]\n"               /* x0, [plane, #96] */
            "    ldr r9, [r4, #224]\n"              /* x1, [plane, #224] */
            "    ldr r10, [r4, #352]\n"             /* x2, [plane, #352] */
            "    smlabt r0, r7, lr, r0\n"           /* sum0, x0, row0_w12, sum0 */
            "    smlad r11, r7, lr, r11\n"          /* sum1, x0, row0_w12, sum1 */
            "    smlabt r0, r9, r8, r0\n"           /* sum0, x1, row1_w12, sum0 */
            "    smlad r11, r9, r8, r11\n"          /* sum1, x1, row1_w12, sum1 */
            "    smlabt r0, r10, r3, r0\n"          /* sum0, x2, row2_w12, sum0 */
            "    smlad r11, r10, r3, r11\n"         /* sum1, x2, row2_w12, sum1 */
            "    smmul r0, r0, r6\n"                /* sum0, sum0, scale */
            "    smmul r11, r11, r6\n"              /* sum1, sum1, scale */
            "    usat r0, #8, r0, asr #8\n"         /* sum0, #8, sum0, asr #8 */
            "    usat r11, #8, r11, asr #8\n"       /* sum1, #8, sum1, asr #8 */
            "    strb r0, [r5, #44]\n"              /* sum0, [y, #44] */
            "    strb r11, [r5, #48]\n"             /* sum1, [y, #48] */
            "    vmov r0, r11, d2\n"                /* sum0, sum1, starts */
            "    smlad r0, r7, r12, r0\n"           /* sum0, x0, row0_w01, sum0 */
            "    smlatb r11, r7, r12, r11\n"        /* sum1, x0, row0_w01, sum1 */
            "    smlad r0, r9, r1, r0\n"            /* sum0, x1, row1_w01, sum0 */
            "    smlatb r11, r9, r1, r11\n"         /* sum1, x1, row1_w01, sum1 */
            "    smlad r0, r10, r2, r0\n"           /* sum0, x2, row2_w01, sum0 */
            "    smlatb r11, r10, r2, r11\n"        /* sum1, x2, row2_w01, sum1 */
            "    ldr r7, [r4, #112]\n"              /* x0, [plane, #112] */
            "    ldr r9, [r4, #240]\n"              /* x1, [plane, #240] */
            "    ldr r10, [r4, #368]\n"             /* x2, [plane, #368] */
            "    smlabt r0, r7, lr, r0\n"           /* sum0, x0, row0_w12, sum0 */
            "    smlad r11, r7, lr, r11\n"          /* sum1, x0, row0_w12, sum1 */
            "    smlabt r0, r9, r8, r0\n"           /* sum0, x1, row1_w12, sum0 */
            "    smlad r11, r9, r8, r11\n"          /* sum1, x1, row1_w12, sum1 */
            "    smlabt r0, r10, r3, r0\n"          /* sum0, x2, row2_w12, sum0 */
            "    smlad r11, r10, r3, r11\n"         /* sum1, x2, row2_w12, sum1 */
            "    smmul r0, r0, r6\n"                /* sum0, sum0, scale */
            "    smmul r11, r11, r6\n"              /* sum1, sum1, scale */
            "    usat r0, #8, r0, asr #8\n"         /* sum0, #8, sum0, asr #8 */
            "    usat r11, #8, r11, asr #8\n"       /* sum1, #8, sum1, asr #8 */
            "    strb r0, [r5, #52]\n"              /* sum0, [y, #52] */
            "    strb r11, [r5, #56]\n"             /* sum1, [y, #56] */
            "    add r4, r4, #128\n"                /* plane, plane, #128 */
            "    add r5, r5, #60\n"                 /* y, y, #60 */
            "    vmov r0, s9\n"                     /* end, lines_end */
            "    cmp r4, r0\n"                      /* plane, end */
            "    bne 4b\n"
            "    vmov r4, r5, d1\n"                 /* plane, y, plane_y */
            "    adds r5, r5, #1\n"                 /* y, y, #1 */
            "    adds r4, r4, #4\n"                 /* plane, plane, #4 */
            "    vmov d1, r4, r5\n"                 /* plane_y, plane, y */
            "    vmov r0, s6\n"                     /* end, planes_begin */
            "    add r0, r0, #16\n"                 /* end, end, #16 */
            "    cmp r4, r0\n"                      /* plane, end */
            "    bne 3b\n"
            "    vmov r2, r5, d0\n"                 /* pixels, y, four_x_y */
            "    adds r2, r2, #4\n"                 /* pixels, pixels, #4 */
            "    add r5, r5, #4\n"                  /* y, y, #4 */
            "    vmov d0, r2, r5\n"                 /* four_x_y, pixels, y */
            "    vmov r1, s8\n"                     /* taps, next_taps */
            "    vmov r0, s7\n"                     /* end, taps_end */
            "    cmp r1, r0\n"                      /* taps, end */
            "    bne 1b\n"
            "    pop {r4-r11, pc}\n");
    /* clang-format on */
}

/* y[p][f] = sat(round(factor[f] * (bias[f] + sum of w[f][t] x[p][t])) + zero), of pixels p,
 * filters f and taps t. Each f and the next one, g, share a stream of words:
 * bias[f]; 256 bias[g] + bias[f]; for two taps one, in halves 256 w[g] + w[f].
 * Of every second f and g the last taps come first.
 * scale[f], addend[f], scale[g], addend[g]: (sum scale >> 32) + addend, shifted, is rounded as
 * it has to be, for which the biases are a little moved.
 * If addend[f] is 0, three more for each sum that is rounded too late: 0 or 1 for f or g, the
 * sum, addend[f], again 0 but for the last. Or 2: no integers round f and g; the first and the
 * third of the four words are factor[f] and factor[g] / 256, the last one is the zero point.
 * These three are behind the biases of the next f and g; behind the last f and g are two words
 * of 0 for that.
 * x: [p][channel], y: [p][f]; t are channels, of each eight in the order 0 2 4 6 1 3 5 7, of
 * four at the end 0 2 1 3.
 * scratch: the taps of a tile; behind them words: where the next pixels are, where the stream
 * begins, tiles that are left. In place: a tile is read before it is written. */
MCU_KERNEL void _mcu_dsp_strips_1x1_conv1x1_4x4_rows_dsp(const uint8_t *x MCU_UNUSED,
                                                         uint8_t *y MCU_UNUSED,
                                                         const uint32_t *weights MCU_UNUSED,
                                                         uint8_t *scratch MCU_UNUSED) {
    /* clang-format off */
    __asm__(".syntax unified\n"
            "    push {r4-r11, lr}\n"
            "    add lr, r3, #24\n"                 /* taps, scratch, #24 */
            "    str r0, [lr]\n"                    /* x, [taps] */
            "    str r2, [lr, #4]\n"                /* weights, [taps, #4] */
            "    add r0, r1, #2\n"                  /* out, y, #2 */
            "    add r1, r0, #4\n"                  /* end, out, #4 */
            "    vmov d7, r0, r1\n"                 /* out_end, out, end */
            /* Three pixels, widened to int16: two channels a word, of all three in turn. */
            "1:\n"
            "    sub r4, lr, #24\n"                 /* into, taps, #24 */
            "    ldr r2, [lr]\n"                    /* source, [taps] */
            "    ldr r0, [r2]\n"                    /* a0, [source] */
            "    ldr r1, [r2, #4]\n"                /* a1, [source, #4] */
            "    ldr r2, [r2, #8]\n"                /* a2, [source, #8] */
            "    uxtb16 r3, r0, ror #8\n"           /* b0, a0, ror #8 */
            "    uxtb16 r5, r1, ror #8\n"           /* b1, a1, ror #8 */
            "    uxtb16 r6, r2, ror #8\n"           /* b2, a2, ror #8 */
            "    uxtb16 r0, r0\n"                   /* a0, a0 */
            "    uxtb16 r1, r1\n"                   /* a1, a1 */
            "    uxtb16 r2, r2\n"                   /* a2, a2 */
            "    stmia r4!, {r0-r3, r5, r6}\n"      /* into!, {a0, a1, a2, b0, b1, b2} */
            "    mov lr, r4\n"                      /* taps, into */
            "    ldr r0, [lr, #4]\n"                /* stream, [taps, #4] */
            "    ldmia r0!, {r11, r12}\n"           /* stream!, {even_bias, odd_bias} */
            "    sub lr, lr, #24\n"                 /* taps, taps, #24 */
            "2:\n"
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
            "    bne 2b\n"
            "    add lr, lr, #24\n"                 /* taps, taps, #24 */
            /* The next three pixels. */
            "    ldr r1, [lr, #8]\n"                /* tiles, [taps, #8] */
            "    ldr r2, [lr]\n"                    /* source, [taps] */
            "    vmov r0, s14\n"                    /* out, out_end.low */
            "    subs r1, r1, #1\n"                 /* tiles, tiles, #1 */
            "    str r1, [lr, #8]\n"                /* tiles, [taps, #8] */
            "    beq 3f\n"
            "    add r2, r2, #12\n"                 /* source, source, #12 */
            "    add r0, r0, #8\n"                  /* out, out, #8 */
            "    add r1, r0, #4\n"                  /* end, out, #4 */
            "    vmov d7, r0, r1\n"                 /* out_end, out, end */
            "    str r2, [lr]\n"                    /* source, [taps] */
            "    b 1b\n"
            "3:\n"
            "    pop {r4-r11, pc}\n");
    /* clang-format on */
}

MCU_FUNCTION void _mcu_dsp_strips_1x1_conv1x1_4x4_depthwise3x3_dsp(const uint8_t *x, uint8_t *y,
                                                                   const uint32_t *weights,
                                                                   const uint32_t *taps,
                                                                   uint8_t *scratch) {
    /* A strip: rows of what is between, then output rows. `next` is behind the rows that are there
     * from the strip before, or zero points above the image. */
    uint8_t *const work = scratch + 240;
    uint8_t *const strip = (uint8_t *)scratch;
    uint8_t *next = strip + 60;
    const uint8_t *source = x;
    uint8_t *target = y;
    int32_t made = 0;
    memset(strip, 250, 60);
    for (int32_t first = 0; first < 26; first += 2) {
        const int32_t last = first + 2;
        const int32_t wanted = last + 1;
        const int32_t until = wanted < 26 ? wanted : 26;
        *(int32_t *)(void *)(work + 32) = 5 * (until - made);
        _mcu_dsp_strips_1x1_conv1x1_4x4_rows_dsp(source, next, weights, work);
        memset(next + 60 * (until - made), 250, (size_t)(60 * (wanted - until)));
        source += 60 * (until - made);
        made = until;
        next = strip + 120;
        _mcu_dsp_strips_1x1_depthwise3x3_4_dsp(strip, target, taps, work);
        target += 120;
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
        reshape_1_reorder, conv_1, _mcu_dsp_strips_1x1_conv_1_weights,
        _mcu_dsp_strips_1x1_conv_1_taps, conv_1_scratch));

    /* conv_1_reorder: Reorder, d0 reordered: uint8[1,4,26,15] NHWC -> uint8[1,4,26,15] */
    uint8_t *const conv_1_reorder = (uint8_t *)(ws + 0);
    MCU_LAYER(2, _mcu_dsp_strips_1x1_reorder_4x390_uint8(conv_1, conv_1_reorder));
}

/* clang-format on */

