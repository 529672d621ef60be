/* ---- Kernels ---- */

/* Those in assembly are one string each, some longer than C99 wants compilers to take. */
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Woverlength-strings"
#endif

MCU_FUNCTION void _mcu_dsp_chain_reorder_20x8_int8(const int8_t *x, int8_t *y) {
    for (int32_t i0 = 0; i0 < 20; i0++) {
        for (int32_t i1 = 0; i1 < 8; i1++) {
            *y++ = x[i0 + i1 * 20];
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
 * w[2][1], w[2][2], 0), start, scale. Behind those of all channels are late sums, whose output
 * is one too small: that output, with 256 where another one of the channel follows, and the sum
 * of products.
 * scratch: 5 lines of four channels, of 32 bytes: of each pair of pixels a word of each channel,
 * two int16.
 * A band's input is in the scratch before its outputs are written, which may lie on it. */
MCU_KERNEL void _mcu_dsp_chain_depthwise3x3_8_dsp(const int8_t *x MCU_UNUSED, int8_t *y MCU_UNUSED,
                                                  const uint32_t *taps MCU_UNUSED,
                                                  uint8_t *scratch MCU_UNUSED) {
    /* clang-format off */
    __asm__(".syntax unified\n"
            "    push {r4-r11, lr}\n"
            "    vmov d0, r0, r1\n"                 /* four_x_y, x, y */
            "    vmov s6, r3\n"                     /* planes_begin, scratch */
            "    add r1, r2, #160\n"                /* end, taps, #160 */
            "    vmov s7, r1\n"                     /* taps_end, end */
            "    vmov s8, r2\n"                     /* next_taps, taps */
            /* Four channels: their lines to the planes, from there to each filter's outputs. */
            "1:\n"
            "    vmov r2, r5, d0\n"                 /* pixels, y, four_x_y */
            "    vmov r3, s6\n"                     /* planes, planes_begin */
            "    vmov d1, r2, r5\n"                 /* band_x_y, pixels, y */
            "    add r1, r3, #160\n"                /* end, planes, #160 */
            "    vmov s4, r1\n"                     /* planes_end, end */
            "    movw r12, #65533\n"                /* minus_zero, #65533 */
            "    movt r12, #65533\n"                /* minus_zero, #65533 */
            "2:\n"
            "    ldr r0, [r2]\n"                    /* left0, [pixels] */
            "    ldr r4, [r2, #8]\n"                /* right0, [pixels, #8] */
            "    ldr r5, [r2, #16]\n"               /* left1, [pixels, #16] */
            "    ldr r6, [r2, #24]\n"               /* right1, [pixels, #24] */
            "    pkhbt r1, r0, r4, lsl #16\n"       /* channels01, left0, right0, lsl #16 */
            "    pkhtb r7, r4, r0, asr #16\n"       /* channels23, right0, left0, asr #16 */
            "    sxtab16 r0, r12, r1\n"             /* channel0, minus_zero, channels01 */
            "    sxtab16 r1, r12, r1, ror #8\n"     /* channel1, minus_zero, channels01, ror #8 */
            "    sxtab16 r4, r12, r7\n"             /* channel2, minus_zero, channels23 */
            "    sxtab16 r7, r12, r7, ror #8\n"     /* channel3, minus_zero, channels23, ror #8 */
            /* planes!, {channel0, channel1, channel2, channel3} */
            "    stmia r3!, {r0, r1, r4, r7}\n"
            "    pkhbt r1, r5, r6, lsl #16\n"       /* channels01, left1, right1, lsl #16 */
            "    pkhtb r7, r6, r5, asr #16\n"       /* channels23, right1, left1, asr #16 */
            "    sxtab16 r0, r12, r1\n"             /* channel0, minus_zero, channels01 */
            "    sxtab16 r1, r12, r1, ror #8\n"     /* channel1, minus_zero, channels01, ror #8 */
            "    sxtab16 r4, r12, r7\n"             /* channel2, minus_zero, channels23 */
            "    sxtab16 r7, r12, r7, ror #8\n"     /* channel3, minus_zero, channels23, ror #8 */
            /* planes!, {channel0, channel1, channel2, channel3} */
            "    stmia r3!, {r0, r1, r4, r7}\n"
            "    add r2, r2, #32\n"                 /* pixels, pixels, #32 */
            "    vmov r0, s4\n"                     /* end, planes_end */
            "    cmp r3, r0\n"                      /* planes, end */
            "    bne 2b\n"
            "    vmov r0, s6\n"                     /* plane, planes_begin */
            "    vmov r5, s3\n"                     /* y, band_x_y.high */
            "    vmov d1, r0, r5\n"                 /* plane_y, plane, y */
            "3:\n"
            "    vmov r2, s8\n"                     /* taps, next_taps */
            "    add r1, r2, #20\n"                 /* end, taps, #20 */
            "    vmov s8, r1\n"                     /* next_taps, end */
            "    vmov r0, r5, d1\n"                 /* plane, y, plane_y */
            /* The weights times their gain: of each row w0 w1 and w1 w2. */
            "    ldmia r2, {r1-r4, r6}\n"           /* taps, {taps0, taps1, taps2, start, scale} */
            "    sub r0, r0, #32\n"                 /* plane, plane, #32 */
            "    vmov d2, r4, r4\n"                 /* starts, start, start */
            "    lsr r4, r1, #24\n"                 /* gain, taps0, #24 */
            "    sxtb16 r7, r1\n"                   /* w0_w2, taps0 */
            "    sxtb16 lr, r1, ror #8\n"           /* w1, taps0, ror #8 */
            "    smulbb lr, lr, r4\n"               /* w1, w1, gain */
            "    smulbb r1, r7, r4\n"               /* row0_w01, w0_w2, gain */
            "    smultb r12, r7, r4\n"              /* row0_w12, w0_w2, gain */
            "    pkhbt r1, r1, lr, lsl #16\n"       /* row0_w01, row0_w01, w1, lsl #16 */
            "    pkhbt r12, lr, r12, lsl #16\n"     /* row0_w12, w1, row0_w12, lsl #16 */
            "    sxtb16 r7, r2\n"                   /* w0_w2, taps1 */
            "    sxtb16 lr, r2, ror #8\n"           /* w1, taps1, ror #8 */
            "    smulbb lr, lr, r4\n"               /* w1, w1, gain */
            "    smulbb r2, r7, r4\n"               /* row1_w01, w0_w2, gain */
            "    smultb r8, r7, r4\n"               /* row1_w12, w0_w2, gain */
            "    pkhbt r2, r2, lr, lsl #16\n"       /* row1_w01, row1_w01, w1, lsl #16 */
            "    pkhbt r8, lr, r8, lsl #16\n"       /* row1_w12, w1, row1_w12, lsl #16 */
            "    sxtb16 r7, r3\n"                   /* w0_w2, taps2 */
            "    sxtb16 lr, r3, ror #8\n"           /* w1, taps2, ror #8 */
            "    smulbb lr, lr, r4\n"               /* w1, w1, gain */
            "    smulbb r3, r7, r4\n"               /* row2_w01, w0_w2, gain */
            "    smultb r7, r7, r4\n"               /* row2_w12, w0_w2, gain */
            "    pkhbt r3, r3, lr, lsl #16\n"       /* row2_w01, row2_w01, w1, lsl #16 */
            "    pkhbt r7, lr, r7, lsl #16\n"       /* row2_w12, w1, row2_w12, lsl #16 */
            "    add r0, r0, #32\n"                 /* plane, plane, #32 */
            "    add r5, r5, #32\n"                 /* y, y, #32 */
            /* Output lines that see rows 0, 1, 2 of the kernel. */
            "    add r4, r0, #96\n"                 /* end, plane, #96 */
            "    vmov s9, r4\n"                     /* lines_end, end */
            "4:\n"
            "    vmov lr, s4\n"                     /* sum0, starts.low */
            "    ldr r4, [r0]\n"                    /* x0, [plane] */
            "    ldr r9, [r0, #32]\n"               /* x1, [plane, #32] */
            "    ldr r10, [r0, #64]\n"              /* x2, [plane, #64] */
            "    smlad lr, r4, r12, lr\n"           /* sum0, x0, row0_w12, sum0 */
            "    smlad lr, r9, r8, lr\n"            /* sum0, x1, row1_w12, sum0 */
            "    smlad lr, r10, r7, lr\n"           /* sum0, x2, row2_w12, sum0 */
            "    smmul lr, lr, r6\n"                /* sum0, sum0, scale */
            "    ssat lr, #8, lr, asr #8\n"         /* sum0, #8, sum0, asr #8 */
            "    strb lr, [r5]\n"                   /* sum0, [y] */
            "    vmov lr, r11, d2\n"                /* sum0, sum1, starts */
            "    smlad lr, r4, r1, lr\n"            /* sum0, x0, row0_w01, sum0 */
            "    smlatb r11, r4, r1, r11\n"         /* sum1, x0, row0_w01, sum1 */
            "    smlad lr, r9, r2, lr\n"            /* sum0, x1, row1_w01, sum0 */
            "    smlatb r11, r9, r2, r11\n"         /* sum1, x1, row1_w01, sum1 */
            "    smlad lr, r10, r3, lr\n"           /* sum0, x2, row2_w01, sum0 */
            "    smlatb r11, r10, r3, r11\n"        /* sum1, x2, row2_w01, sum1 */
            "    ldr r4, [r0, #16]\n"               /* x0, [plane, #16] */
            "    ldr r9, [r0, #48]\n"               /* x1, [plane, #48] */
            "    ldr r10, [r0, #80]\n"              /* x2, [plane, #80] */
            "    smlabt lr, r4, r12, lr\n"          /* sum0, x0, row0_w12, sum0 */
            "    smlad r11, r4, r12, r11\n"         /* sum1, x0, row0_w12, sum1 */
            "    smlabt lr, r9, r8, lr\n"           /* sum0, x1, row1_w12, sum0 */
            "    smlad r11, r9, r8, r11\n"          /* sum1, x1, row1_w12, sum1 */
            "    smlabt lr, r10, r7, lr\n"          /* sum0, x2, row2_w12, sum0 */
            "    smlad r11, r10, r7, r11\n"         /* sum1, x2, row2_w12, sum1 */
            "    smmul lr, lr, r6\n"                /* sum0, sum0, scale */
            "    smmul r11, r11, r6\n"              /* sum1, sum1, scale */
            "    ssat lr, #8, lr, asr #8\n"         /* sum0, #8, sum0, asr #8 */
            "    ssat r11, #8, r11, asr #8\n"       /* sum1, #8, sum1, asr #8 */
            "    strb lr, [r5, #8]\n"               /* sum0, [y, #8] */
            "    strb r11, [r5, #16]\n"             /* sum1, [y, #16] */
            "    vmov lr, s4\n"                     /* sum0, starts.low */
            "    smlad lr, r4, r1, lr\n"            /* sum0, x0, row0_w01, sum0 */
            "    smlad lr, r9, r2, lr\n"            /* sum0, x1, row1_w01, sum0 */
            "    smlad lr, r10, r3, lr\n"           /* sum0, x2, row2_w01, sum0 */
            "    smmul lr, lr, r6\n"                /* sum0, sum0, scale */
            "    ssat lr, #8, lr, asr #8\n"         /* sum0, #8, sum0, asr #8 */
            "    strb lr, [r5, #24]\n"              /* sum0, [y, #24] */
            "    add r0, r0, #32\n"                 /* plane, plane, #32 */
            "    add r5, r5, #32\n"                 /* y, y, #32 */
            "    vmov r4, s9\n"                     /* end, lines_end */
            "    cmp r0, r4\n"                      /* plane, end */
            "    bne 4b\n"
            /* The last line, and by the same code the first one. */
            "    sub r4, r0, #32\n"                 /* last, plane, #32 */
            "    vmov s9, r4\n"                     /* last_plane, last */
            "    vmov s10, r5\n"                    /* last_y, y */
            "    sub r0, r0, #128\n"                /* plane, plane, #128 */
            "    sub r5, r5, #128\n"                /* y, y, #128 */
            "5:\n"
            "    vmov r4, s4\n"                     /* start, starts.low */
            "    ldr r9, [r0, #32]\n"               /* x1, [plane, #32] */
            "    ldr r10, [r0, #64]\n"              /* x2, [plane, #64] */
            "    smlad lr, r9, r8, r4\n"            /* sum0, x1, row1_w12, start */
            "    smlad lr, r10, r7, lr\n"           /* sum0, x2, row2_w12, sum0 */
            "    smmul lr, lr, r6\n"                /* sum0, sum0, scale */
            "    ssat lr, #8, lr, asr #8\n"         /* sum0, #8, sum0, asr #8 */
            "    strb lr, [r5]\n"                   /* sum0, [y] */
            "    smlad lr, r9, r2, r4\n"            /* sum0, x1, row1_w01, start */
            "    smlatb r11, r9, r2, r4\n"          /* sum1, x1, row1_w01, start */
            "    smlad lr, r10, r3, lr\n"           /* sum0, x2, row2_w01, sum0 */
            "    smlatb r11, r10, r3, r11\n"        /* sum1, x2, row2_w01, sum1 */
            "    ldr r9, [r0, #48]\n"               /* x1, [plane, #48] */
            "    ldr r10, [r0, #80]\n"              /* x2, [plane, #80] */
            "    smlabt lr, r9, r8, lr\n"           /* sum0, x1, row1_w12, sum0 */
            "    smlad r11, r9, r8, r11\n"          /* sum1, x1, row1_w12, sum1 */
            "    smlabt lr, r10, r7, lr\n"          /* sum0, x2, row2_w12, sum0 */
            "    smlad r11, r10, r7, r11\n"         /* sum1, x2, row2_w12, sum1 */
            "    smmul lr, lr, r6\n"                /* sum0, sum0, scale */
            "    smmul r11, r11, r6\n"              /* sum1, sum1, scale */
            "    ssat lr, #8, lr, asr #8\n"         /* sum0, #8, sum0, asr #8 */
            "    ssat r11, #8, r11, asr #8\n"       /* sum1, #8, sum1, asr #8 */
            "    strb lr, [r5, #8]\n"               /* sum0, [y, #8] */
            "    strb r11, [r5, #16]\n"             /* sum1, [y, #16] */
            "    smlad lr, r9, r2, r4\n"            /* sum0, x1, row1_w01, start */
            "    smlad lr, r10, r3, lr\n"           /* sum0, x2, row2_w01, sum0 */
            "    smmul lr, lr, r6\n"                /* sum0, sum0, scale */
            "    ssat lr, #8, lr, asr #8\n"         /* sum0, #8, sum0, asr #8 */
            "    strb lr, [r5, #24]\n"              /* sum0, [y, #24] */
            "    add r0, r0, #32\n"                 /* plane, plane, #32 */
            "    add r5, r5, #32\n"                 /* y, y, #32 */
            "    vmov r0, s9\n"                     /* plane, last_plane */
            "    cbz r0, 6f\n"                      /* plane */
            "    vmov r5, s10\n"                    /* y, last_y */
            "    mov r3, #0\n"                      /* none, #0 */
            "    vmov s9, r3\n"                     /* last_plane, none */
            "    mov r3, r2\n"                      /* row2_w01, row1_w01 */
            "    mov r7, r8\n"                      /* row2_w12, row1_w12 */
            "    mov r2, r1\n"                      /* row1_w01, row0_w01 */
            "    mov r8, r12\n"                     /* row1_w12, row0_w12 */
            "    b 5b\n"
            "6:\n"
            "    vmov r2, s8\n"                     /* taps, next_taps */
            "    ldrb r3, [r2, #-13]\n"             /* late, [taps, #-13] */
            "    cmp r3, #0\n"                      /* late, #0 */
            "    bne 8f\n"
            "7:\n"
            "    vmov r0, r5, d1\n"                 /* plane, y, plane_y */
            "    adds r5, r5, #1\n"                 /* y, y, #1 */
            "    adds r0, r0, #4\n"                 /* plane, plane, #4 */
            "    vmov d1, r0, r5\n"                 /* plane_y, plane, y */
            "    vmov r1, s6\n"                     /* end, planes_begin */
            "    add r1, r1, #16\n"                 /* end, end, #16 */
            "    cmp r0, r1\n"                      /* plane, end */
            "    bne 3b\n"
            "    vmov r2, r5, d0\n"                 /* pixels, y, four_x_y */
            "    adds r2, r2, #4\n"                 /* pixels, pixels, #4 */
            "    add r5, r5, #4\n"                  /* y, y, #4 */
            "    vmov d0, r2, r5\n"                 /* four_x_y, pixels, y */
            "    vmov r2, s8\n"                     /* taps, next_taps */
            "    vmov r1, s7\n"                     /* end, taps_end */
            "    cmp r2, r1\n"                      /* taps, end */
            "    bne 1b\n"
            "    b 18f\n"
            "8:\n"
            /* Sums that are rounded too late: outputs that look like theirs. */
            "    sub r2, r2, #20\n"                 /* taps, taps, #20 */
            "    vmov r1, s7\n"                     /* value, taps_end */
            "    add r3, r1, r3, lsl #3\n"          /* late, value, late, lsl #3 */
            "9:\n"
            "    vmov r0, r5, d1\n"                 /* plane, y, plane_y */
            "    ldrb r10, [r3, #-8]\n"             /* small, [late, #-8] */
            "    movs r12, #0\n"                    /* line, #0 */
            "10:\n"
            "    movs r6, #0\n"                     /* column, #0 */
            "11:\n"
            "    ldrb r1, [r5]\n"                   /* value, [y] */
            "    cmp r1, r10\n"                     /* value, small */
            "    beq 13f\n"
            "12:\n"
            "    add r5, r5, #8\n"                  /* y, y, #8 */
            "    adds r6, r6, #1\n"                 /* column, column, #1 */
            "    cmp r6, #4\n"                      /* column, #4 */
            "    bne 11b\n"
            "    adds r12, r12, #1\n"               /* line, line, #1 */
            "    cmp r12, #5\n"                     /* line, #5 */
            "    bne 10b\n"
            "    adds r3, r3, #8\n"                 /* late, late, #8 */
            "    ldrb r1, [r3, #-15]\n"             /* value, [late, #-15] */
            "    cmp r1, #0\n"                      /* value, #0 */
            "    bne 9b\n"
            "    b 7b\n"
            "13:\n"
            "    ldr r11, [r3, #-4]\n"              /* left, [late, #-4] */
            "    movs r7, #0\n"                     /* row, #0 */
            "14:\n"
            "    adds lr, r12, r7\n"                /* place, line, row */
            "    subs lr, lr, #1\n"                 /* place, place, #1 */
            "    cmp lr, #5\n"                      /* place, #5 */
            "    bhs 17f\n"
            "    movw r1, #32\n"                    /* value, #32 */
            "    mla lr, lr, r1, r0\n"              /* place, place, value, plane */
            "    ldr r9, [r2, r7, lsl #2]\n"        /* taps3, [taps, row, lsl #2] */
            "    subs r4, r6, #1\n"                 /* tap_column, column, #1 */
            "15:\n"
            "    cmp r4, #4\n"                      /* tap_column, #4 */
            "    bhs 16f\n"
            "    and r1, r4, #1\n"                  /* value, tap_column, #1 */
            "    add r8, lr, r4, lsl #3\n"          /* x, place, tap_column, lsl #3 */
            "    sub r8, r8, r1, lsl #2\n"          /* x, x, value, lsl #2 */
            "    sub r8, r8, r1, lsl #1\n"          /* x, x, value, lsl #1 */
            "    ldrsh r8, [r8]\n"                  /* x, [x] */
            "    sxtb r1, r9\n"                     /* value, taps3 */
            "    mls r11, r8, r1, r11\n"            /* left, x, value, left */
            "16:\n"
            "    lsrs r9, r9, #8\n"                 /* taps3, taps3, #8 */
            "    adds r4, r4, #1\n"                 /* tap_column, tap_column, #1 */
            "    subs r1, r4, r6\n"                 /* value, tap_column, column */
            "    cmp r1, #2\n"                      /* value, #2 */
            "    bne 15b\n"
            "17:\n"
            "    adds r7, r7, #1\n"                 /* row, row, #1 */
            "    cmp r7, #3\n"                      /* row, #3 */
            "    bne 14b\n"
            "    cmp r11, #0\n"                     /* left, #0 */
            "    bne 12b\n"
            "    ldrb r1, [r5]\n"                   /* value, [y] */
            "    adds r1, r1, #1\n"                 /* value, value, #1 */
            "    strb r1, [r5]\n"                   /* value, [y] */
            "    b 12b\n"
            "18:\n"
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
 * begins, tiles that are left, where the last tile's outputs go; these, until they are copied
 * there. In place: a tile is read before it is written. */
MCU_KERNEL void _mcu_dsp_chain_conv1x1_8x8_dsp(const int8_t *x MCU_UNUSED, int8_t *y MCU_UNUSED,
                                               const uint32_t *weights MCU_UNUSED,
                                               uint8_t *scratch MCU_UNUSED) {
    /* clang-format off */
    __asm__(".syntax unified\n"
            "    push {r4-r11, lr}\n"
            "    add r3, r3, #48\n"                 /* taps, scratch, #48 */
            "    str r0, [r3]\n"                    /* x, [taps] */
            "    str r2, [r3, #4]\n"                /* weights, [taps, #4] */
            "    add r0, r1, #2\n"                  /* out, y, #2 */
            "    add r1, r0, #8\n"                  /* end, out, #8 */
            "    vmov d7, r0, r1\n"                 /* out_end, out, end */
            "    mov r1, #7\n"                      /* tiles, #7 */
            "    str r1, [r3, #8]\n"                /* tiles, [taps, #8] */
            /* Three pixels, widened to int16: two channels a word, of all three in turn. */
            "1:\n"
            "    sub r10, r3, #48\n"                /* into, taps, #48 */
            "    ldr r2, [r3]\n"                    /* source, [taps] */
            "    ldrd r0, r3, [r2]\n"               /* a0, b0, [source] */
            "    ldrd r1, r4, [r2, #8]\n"           /* a1, b1, [source, #8] */
            "    ldrd r2, r5, [r2, #16]\n"          /* a2, b2, [source, #16] */
            "    sxtb16 r6, r0, ror #8\n"           /* c0, a0, ror #8 */
            "    sxtb16 r7, r1, ror #8\n"           /* c1, a1, ror #8 */
            "    sxtb16 r8, r2, ror #8\n"           /* c2, a2, ror #8 */
            "    sxtb16 r9, r3, ror #8\n"           /* d0, b0, ror #8 */
            "    sxtb16 r12, r4, ror #8\n"          /* d1, b1, ror #8 */
            "    sxtb16 lr, r5, ror #8\n"           /* d2, b2, ror #8 */
            "    sxtb16 r0, r0\n"                   /* a0, a0 */
            "    sxtb16 r1, r1\n"                   /* a1, a1 */
            "    sxtb16 r2, r2\n"                   /* a2, a2 */
            "    sxtb16 r3, r3\n"                   /* b0, b0 */
            "    sxtb16 r4, r4\n"                   /* b1, b1 */
            "    sxtb16 r5, r5\n"                   /* b2, b2 */
            /* into!, {a0, a1, a2, b0, b1, b2, c0, c1, c2, d0, d1, d2} */
            "    stmia r10!, {r0-r9, r12, lr}\n"
            "    mov r3, r10\n"                     /* taps, into */
            "    ldr lr, [r3, #4]\n"                /* stream, [taps, #4] */
            "    ldmia lr!, {r11, r12}\n"           /* stream!, {even_bias, odd_bias} */
            "    sub r3, r3, #48\n"                 /* taps, taps, #48 */
            "2:\n"
            /* Two filters, an even and an odd one, for three outputs. */
            /* Of a word of weights SXTB16 leaves the even filter's. */
            "    ldmia lr!, {r5, r6}\n"             /* stream!, {odd2, weights0} */
            "    ldmia r3!, {r8-r10}\n"             /* taps!, {x0, x1, x2} */
            "    sxtb16 r2, r5\n"                   /* even2, odd2 */
            "    smlad r7, r5, r8, r12\n"           /* odd0, odd2, x0, odd_bias */
            "    smlad r0, r5, r9, r12\n"           /* odd1, odd2, x1, odd_bias */
            "    smlad r5, r5, r10, r12\n"          /* odd2, odd2, x2, odd_bias */
            "    smlad r1, r2, r8, r11\n"           /* even0, even2, x0, even_bias */
            "    smlad r4, r2, r9, r11\n"           /* even1, even2, x1, even_bias */
            "    smlad r2, r2, r10, r11\n"          /* even2, even2, x2, even_bias */
            "    ldmia r3!, {r8-r10}\n"             /* taps!, {x0, x1, x2} */
            "    smlad r7, r6, r8, r7\n"            /* odd0, weights0, x0, odd0 */
            "    smlad r0, r6, r9, r0\n"            /* odd1, weights0, x1, odd1 */
            "    smlad r5, r6, r10, r5\n"           /* odd2, weights0, x2, odd2 */
            "    sxtb16 r6, r6\n"                   /* weights0, weights0 */
            "    smlad r1, r6, r8, r1\n"            /* even0, weights0, x0, even0 */
            "    smlad r4, r6, r9, r4\n"            /* even1, weights0, x1, even1 */
            "    smlad r2, r6, r10, r2\n"           /* even2, weights0, x2, even2 */
            "    ldmia lr!, {r6, r12}\n"            /* stream!, {weights0, weights1} */
            "    ldmia r3!, {r8-r10}\n"             /* taps!, {x0, x1, x2} */
            "    smlad r7, r6, r8, r7\n"            /* odd0, weights0, x0, odd0 */
            "    smlad r0, r6, r9, r0\n"            /* odd1, weights0, x1, odd1 */
            "    smlad r5, r6, r10, r5\n"           /* odd2, weights0, x2, odd2 */
            "    sxtb16 r6, r6\n"                   /* weights0, weights0 */
            "    smlad r1, r6, r8, r1\n"            /* even0, weights0, x0, even0 */
            "    smlad r4, r6, r9, r4\n"            /* even1, weights0, x1, even1 */
            "    smlad r2, r6, r10, r2\n"           /* even2, weights0, x2, even2 */
            "    ldmia r3!, {r8-r10}\n"             /* taps!, {x0, x1, x2} */
            "    smlad r7, r12, r8, r7\n"           /* odd0, weights1, x0, odd0 */
            "    smlad r0, r12, r9, r0\n"           /* odd1, weights1, x1, odd1 */
            "    smlad r5, r12, r10, r5\n"          /* odd2, weights1, x2, odd2 */
            "    sxtb16 r12, r12\n"                 /* weights1, weights1 */
            "    smlad r1, r12, r8, r1\n"           /* even0, weights1, x0, even0 */
            "    smlad r4, r12, r9, r4\n"           /* even1, weights1, x1, even1 */
            "    smlad r2, r12, r10, r2\n"          /* even2, weights1, x2, even2 */
            /* To elements of the output: scaled, shifted, saturated. */
            "    sub r7, r7, r1\n"                  /* odd0, odd0, even0 */
            "    sub r0, r0, r4\n"                  /* odd1, odd1, even1 */
            "    sub r5, r5, r2\n"                  /* odd2, odd2, even2 */
            /* stream!, {even_scale, even_addend, odd_scale, odd_addend, even_bias, odd_bias} */
            "    ldmia lr!, {r6, r8-r12}\n"
            "    smmla r1, r1, r6, r8\n"            /* even0, even0, even_scale, even_addend */
            "    smmla r4, r4, r6, r8\n"            /* even1, even1, even_scale, even_addend */
            "    smmla r2, r2, r6, r8\n"            /* even2, even2, even_scale, even_addend */
            "    ssat r1, #8, r1, asr #4\n"         /* even0, #8, even0, asr #4 */
            "    ssat r4, #8, r4, asr #4\n"         /* even1, #8, even1, asr #4 */
            "    ssat r2, #8, r2, asr #4\n"         /* even2, #8, even2, asr #4 */
            "    smmla r7, r7, r9, r10\n"           /* odd0, odd0, odd_scale, odd_addend */
            "    smmla r0, r0, r9, r10\n"           /* odd1, odd1, odd_scale, odd_addend */
            "    smmla r5, r5, r9, r10\n"           /* odd2, odd2, odd_scale, odd_addend */
            "    ssat r7, #8, r7, asr #12\n"        /* odd0, #8, odd0, asr #12 */
            "    ssat r0, #8, r0, asr #12\n"        /* odd1, #8, odd1, asr #12 */
            "    ssat r5, #8, r5, asr #12\n"        /* odd2, #8, odd2, asr #12 */
            "    vmov r6, s14\n"                    /* out, out_end.low */
            /* Stored: of each pixel both filters at once. */
            "    bfi r1, r7, #8, #8\n"              /* even0, odd0, #8, #8 */
            "    bfi r4, r0, #8, #8\n"              /* even1, odd1, #8, #8 */
            "    bfi r2, r5, #8, #8\n"              /* even2, odd2, #8, #8 */
            "    strh r1, [r6, #-2]\n"              /* even0, [out, #-2] */
            "    strh r4, [r6, #6]\n"               /* even1, [out, #6] */
            "    strh r2, [r6, #14]\n"              /* even2, [out, #14] */
            /* Two filters, an even and an odd one, for three outputs. */
            /* Of a word of weights SXTB16 leaves the even filter's. */
            /* These two meet the activations backwards. */
            "    ldmia lr!, {r5, r9}\n"             /* stream!, {odd2, weights0} */
            "    ldmdb r3!, {r6, r8, r10}\n"        /* taps!, {x0, x1, x2} */
            "    sxtb16 r2, r5\n"                   /* even2, odd2 */
            "    smlad r7, r5, r6, r12\n"           /* odd0, odd2, x0, odd_bias */
            "    smlad r0, r5, r8, r12\n"           /* odd1, odd2, x1, odd_bias */
            "    smlad r5, r5, r10, r12\n"          /* odd2, odd2, x2, odd_bias */
            "    smlad r1, r2, r6, r11\n"           /* even0, even2, x0, even_bias */
            "    smlad r4, r2, r8, r11\n"           /* even1, even2, x1, even_bias */
            "    smlad r2, r2, r10, r11\n"          /* even2, even2, x2, even_bias */
            "    ldmdb r3!, {r6, r8, r10}\n"        /* taps!, {x0, x1, x2} */
            "    smlad r7, r9, r6, r7\n"            /* odd0, weights0, x0, odd0 */
            "    smlad r0, r9, r8, r0\n"            /* odd1, weights0, x1, odd1 */
            "    smlad r5, r9, r10, r5\n"           /* odd2, weights0, x2, odd2 */
            "    sxtb16 r9, r9\n"                   /* weights0, weights0 */
            "    smlad r1, r9, r6, r1\n"            /* even0, weights0, x0, even0 */
            "    smlad r4, r9, r8, r4\n"            /* even1, weights0, x1, even1 */
            "    smlad r2, r9, r10, r2\n"           /* even2, weights0, x2, even2 */
            "    ldmia lr!, {r9, r12}\n"            /* stream!, {weights0, weights1} */
            "    ldmdb r3!, {r6, r8, r10}\n"        /* taps!, {x0, x1, x2} */
            "    smlad r7, r9, r6, r7\n"            /* odd0, weights0, x0, odd0 */
            "    smlad r0, r9, r8, r0\n"            /* odd1, weights0, x1, odd1 */
            "    smlad r5, r9, r10, r5\n"           /* odd2, weights0, x2, odd2 */
            "    sxtb16 r9, r9\n"                   /* weights0, weights0 */
            "    smlad r1, r9, r6, r1\n"            /* even0, weights0, x0, even0 */
            "    smlad r4, r9, r8, r4\n"            /* even1, weights0, x1, even1 */
            "    smlad r2, r9, r10, r2\n"           /* even2, weights0, x2, even2 */
            "    ldmdb r3!, {r6, r8, r10}\n"        /* taps!, {x0, x1, x2} */
            "    smlad r7, r12, r6, r7\n"           /* odd0, weights1, x0, odd0 */
            "    smlad r0, r12, r8, r0\n"           /* odd1, weights1, x1, odd1 */
            "    smlad r5, r12, r10, r5\n"          /* odd2, weights1, x2, odd2 */
            "    sxtb16 r12, r12\n"                 /* weights1, weights1 */
            "    smlad r1, r12, r6, r1\n"           /* even0, weights1, x0, even0 */
            "    smlad r4, r12, r8, r4\n"           /* even1, weights1, x1, even1 */
            "    smlad r2, r12, r10, r2\n"          /* even2, weights1, x2, even2 */
            /* To elements of the output: scaled, shifted, saturated. */
            "    sub r7, r7, r1\n"                  /* odd0, odd0, even0 */
            "    sub r0, r0, r4\n"                  /* odd1, odd1, even1 */
            "    sub r5, r5, r2\n"                  /* odd2, odd2, even2 */
            /* stream!, {even_scale, even_addend, odd_scale, odd_addend, even_bias, odd_bias} */
            "    ldmia lr!, {r6, r8-r12}\n"
            "    smmla r1, r1, r6, r8\n"            /* even0, even0, even_scale, even_addend */
            "    smmla r4, r4, r6, r8\n"            /* even1, even1, even_scale, even_addend */
            "    smmla r2, r2, r6, r8\n"            /* even2, even2, even_scale, even_addend */
            "    ssat r1, #8, r1, asr #4\n"         /* even0, #8, even0, asr #4 */
            "    ssat r4, #8, r4, asr #4\n"         /* even1, #8, even1, asr #4 */
            "    ssat r2, #8, r2, asr #4\n"         /* even2, #8, even2, asr #4 */
            "    smmla r7, r7, r9, r10\n"           /* odd0, odd0, odd_scale, odd_addend */
            "    smmla r0, r0, r9, r10\n"           /* odd1, odd1, odd_scale, odd_addend */
            "    smmla r5, r5, r9, r10\n"           /* odd2, odd2, odd_scale, odd_addend */
            "    ssat r7, #8, r7, asr #12\n"        /* odd0, #8, odd0, asr #12 */
            "    ssat r0, #8, r0, asr #12\n"        /* odd1, #8, odd1, asr #12 */
            "    ssat r5, #8, r5, asr #12\n"        /* odd2, #8, odd2, asr #12 */
            "    vmov r6, r8, d7\n"                 /* out, end, out_end */
            /* Stored: of each pixel both filters at once. */
            "    bfi r1, r7, #8, #8\n"              /* even0, odd0, #8, #8 */
            "    bfi r4, r0, #8, #8\n"              /* even1, odd1, #8, #8 */
            "    bfi r2, r5, #8, #8\n"              /* even2, odd2, #8, #8 */
            "    strh r1, [r6], #4\n"               /* even0, [out], #4 */
            "    strh r4, [r6, #4]\n"               /* even1, [out, #4] */
            "    strh r2, [r6, #12]\n"              /* even2, [out, #12] */
            "    vmov s14, r6\n"                    /* out_end.low, out */
            "    cmp r6, r8\n"                      /* out, end */
            "    bne 2b\n"
            "    add r3, r3, #48\n"                 /* taps, taps, #48 */
            /* The next three pixels. */
            "    ldr r1, [r3, #8]\n"                /* tiles, [taps, #8] */
            "    ldr r2, [r3]\n"                    /* source, [taps] */
            "    vmov r0, s14\n"                    /* out, out_end.low */
            "    subs r1, r1, #1\n"                 /* tiles, tiles, #1 */
            "    str r1, [r3, #8]\n"                /* tiles, [taps, #8] */
            "    beq 4f\n"
            "    add r2, r2, #24\n"                 /* source, source, #24 */
            "    add r0, r0, #16\n"                 /* out, out, #16 */
            /* The last three pixels are taken again, and go behind the scratch first. */
            "    cmp r1, #1\n"                      /* tiles, #1 */
            "    bne 3f\n"
            "    sub r2, r2, #8\n"                  /* source, source, #8 */
            "    str r0, [r3, #12]\n"               /* out, [taps, #12] */
            "    add r0, r3, #18\n"                 /* out, taps, #18 */
            "3:\n"
            "    add r1, r0, #8\n"                  /* end, out, #8 */
            "    vmov d7, r0, r1\n"                 /* out_end, out, end */
            "    str r2, [r3]\n"                    /* source, [taps] */
            "    b 1b\n"
            "4:\n"
            "    ldr r0, [r3, #12]\n"               /* out, [taps, #12] */
            "    add r2, r3, #24\n"                 /* last, taps, #24 */
            "    mov r1, #16\n"                     /* left, #16 */
            "    sub r0, r0, #2\n"                  /* out, out, #2 */
            "5:\n"
            "    subs r1, r1, #2\n"                 /* left, left, #2 */
            "    ldrh r3, [r2, r1]\n"               /* element, [last, left] */
            "    strh r3, [r0, r1]\n"               /* element, [out, left] */
            "    bne 5b\n"
            "    pop {r4-r11, pc}\n");
    /* clang-format on */
}

MCU_FUNCTION void _mcu_dsp_chain_reorder_8x20_int8(const int8_t *x, int8_t *y) {
    for (int32_t i0 = 0; i0 < 8; i0++) {
        for (int32_t i1 = 0; i1 < 20; i1++) {
            *y++ = x[i0 + i1 * 8];
        }
    }
}

/* ---- The layers, in the order of execution ---- */

/* clang-format off */
static void _mcu_dsp_chain_layers(mcu_instance_t *instance) {
    uint8_t *const ws = instance->workspace;

    /* reshape_1_reorder: Reorder, x0 reordered: int8[1,8,5,4] -> int8[1,8,5,4] NHWC */
    int8_t *const int8 = (int8_t *)(ws + 0);
    int8_t *const reshape_1_reorder = (int8_t *)(ws + 160);
    MCU_LAYER(0, _mcu_dsp_chain_reorder_20x8_int8(int8, reshape_1_reorder));

    /* depthwise_1: Conv, d0 (5 nodes): int8[1,8,5,4] NHWC -> int8[1,8,5,4] NHWC; 1,440 MACs */
    int8_t *const depthwise_1 = (int8_t *)(ws + 160);
    uint8_t *const depthwise_1_scratch = (uint8_t *)(ws + 0);
    MCU_LAYER(1, _mcu_dsp_chain_depthwise3x3_8_dsp(
        reshape_1_reorder, depthwise_1, _mcu_dsp_chain_depthwise_1_taps, depthwise_1_scratch));

    /* conv_1: Conv, p0 (5 nodes): int8[1,8,5,4] NHWC -> int8[1,8,5,4] NHWC; 1,280 MACs */
    int8_t *const conv_1 = (int8_t *)(ws + 160);
    uint8_t *const conv_1_scratch = (uint8_t *)(ws + 0);
    MCU_LAYER(2, _mcu_dsp_chain_conv1x1_8x8_dsp(depthwise_1, conv_1, _mcu_dsp_chain_conv_1_weights,
                                                conv_1_scratch));

    /* conv_1_reorder: Reorder, p0 reordered: int8[1,8,5,4] NHWC -> int8[1,8,5,4] */
    int8_t *const conv_1_reorder = (int8_t *)(ws + 0);
    MCU_LAYER(3, _mcu_dsp_chain_reorder_8x20_int8(conv_1, conv_1_reorder));
}

/* clang-format on */

