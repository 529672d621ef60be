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

/* A 5x5 kernel for each filter f: y[i][j][f] = sat((sum scale >> 32) + addend >> 4), rounded
 * down, with sum = bias + sum(w[k][l] x[i'][j'][c]), x[i'][j'][c] what w[k][l] meets without the
 * zero point of x, or 0 beyond the image. Where scale is not above 0, y[i][j][f] = sat(round(sum
 * addend) + zero point), with addend a float32. Lines i are rows of the image.
 * x and y: [row][column][channel or filter]. In front of taps are words: channels; bytes from an
 * output to the next, and from a line of outputs to the next; the zero point of y; bytes from a
 * pixel to the next, and from behind a line to the next.
 * taps, words, those in brackets by their bytes from the lowest on: bias, scale, addend, for k
 * of 0 to 4: (w[k][0], w[k][2], w[k][1], w[k][3]), (w[k][1], w[k][3], w[k][2], w[k][4]).
 * scratch: 12 lines of four channels, of 112 bytes: of each pair of pixels a word of each
 * channel, two int16.
 * A band's input is in the scratch before its outputs are written, which may lie on it where
 * there are as many filters as channels. */
MCU_KERNEL void _mcu_dsp_depthwise_depthwise5x5_dsp(const int8_t *x MCU_UNUSED,
                                                    int8_t *y MCU_UNUSED,
                                                    const uint32_t *taps MCU_UNUSED,
                                                    uint8_t *scratch MCU_UNUSED) {
    /* clang-format off */
    __asm__(".syntax unified\n"
            "    push {r4-r11, lr}\n"
            "    vpush {d8-d11}\n"
            "    vmov d0, r0, r1\n"                 /* four_x_y, x, y */
            "    vmov s16, r3\n"                    /* planes_begin, scratch */
            "    vmov s17, r2\n"                    /* numbers, taps */
            "    ldr r1, [r2]\n"                    /* channels, [taps] */
            "    add r2, r2, #24\n"                 /* taps, taps, #24 */
            "    movw r3, #52\n"                    /* filters_bytes, #52 */
            "    mla r3, r1, r3, r2\n"              /* end, channels, filters_bytes, taps */
            "    add r0, r0, r1\n"                  /* x, x, channels */
            "    sub r0, r0, #4\n"                  /* x, x, #4 */
            "    vmov s18, r0\n"                    /* last_four, x */
            "    vmov s19, r3\n"                    /* taps_end, end */
            "    vmov s20, r2\n"                    /* next_taps, taps */
            /* The planes are 0 where they get no pixel. */
            "    vmov r4, s16\n"                    /* planes, planes_begin */
            "    add r3, r4, #1344\n"               /* end, planes, #1344 */
            "    movs r0, #0\n"                     /* zero0, #0 */
            "    movs r1, #0\n"                     /* zero1, #0 */
            "    movs r2, #0\n"                     /* zero2, #0 */
            "    movs r5, #0\n"                     /* zero3, #0 */
            "1:\n"
            "    stmia r4!, {r0-r2, r5}\n"          /* planes!, {zero0, zero1, zero2, zero3} */
            "    cmp r4, r3\n"                      /* planes, end */
            "    bne 1b\n"
            "    vmov r0, s17\n"                    /* numbers, numbers */
            "    ldrd r1, r0, [r0, #4]\n"           /* step, line_step, [numbers, #4] */
            "    vmov s3, r1\n"                     /* y_step.high, step */
            "    vmov s21, r0\n"                    /* line_step, line_step */
            /* Four channels: their lines to the planes, from there to each filter's outputs. */
            "2:\n"
            "    vmov r2, r3, d0\n"                 /* pixels, y, four_x_y */
            "    vmov r4, s16\n"                    /* planes, planes_begin */
            /* Where less than four are left, those before them come again. */
            "    vmov r0, s18\n"                    /* free, last_four */
            "    subs r0, r2, r0\n"                 /* free, pixels, free */
            "    bic r0, r0, r0, asr #31\n"         /* free, free, free, asr #31 */
            "    subs r2, r2, r0\n"                 /* pixels, pixels, free */
            "    vmov d2, r2, r3\n"                 /* band_x_y, pixels, y */
            "    add r4, r4, #224\n"                /* planes, planes, #224 */
            "    add r3, r4, #896\n"                /* end, planes, #896 */
            "    vmov s6, r3\n"                     /* planes_end, end */
            "    movw r7, #128\n"                   /* minus_zero, #128 */
            "    movt r7, #128\n"                   /* minus_zero, #128 */
            "    vmov r0, s17\n"                    /* end, numbers */
            "    ldrd r5, r0, [r0, #16]\n"          /* pixel_bytes, between, [end, #16] */
            "    vmov s7, r0\n"                     /* between_lines, between */
            "3:\n"
            "    add r4, r4, #16\n"                 /* planes, planes, #16 */
            "    ldr r0, [r2]\n"                    /* left0, [pixels] */
            "    ldr r3, [r2, r5]\n"                /* right0, [pixels, pixel_bytes] */
            "    add r2, r2, r5, lsl #1\n"          /* pixels, pixels, pixel_bytes, lsl #1 */
            "    pkhbt r1, r0, r3, lsl #16\n"       /* channels01, left0, right0, lsl #16 */
            "    pkhtb r6, r3, r0, asr #16\n"       /* channels23, right0, left0, asr #16 */
            "    sxtab16 r0, r7, r1\n"              /* channel0, minus_zero, channels01 */
            "    sxtab16 r1, r7, r1, ror #8\n"      /* channel1, minus_zero, channels01, ror #8 */
            "    sxtab16 r3, r7, r6\n"              /* channel2, minus_zero, channels23 */
            "    sxtab16 r6, r7, r6, ror #8\n"      /* channel3, minus_zero, channels23, ror #8 */
            /* planes!, {channel0, channel1, channel2, channel3} */
            "    stmia r4!, {r0, r1, r3, r6}\n"
            "    ldr r0, [r2]\n"                    /* left0, [pixels] */
            "    ldr r3, [r2, r5]\n"                /* right0, [pixels, pixel_bytes] */
            "    add r2, r2, r5, lsl #1\n"          /* pixels, pixels, pixel_bytes, lsl #1 */
            "    pkhbt r1, r0, r3, lsl #16\n"       /* channels01, left0, right0, lsl #16 */
            "    pkhtb r6, r3, r0, asr #16\n"       /* channels23, right0, left0, asr #16 */
            "    sxtab16 r0, r7, r1\n"              /* channel0, minus_zero, channels01 */
            "    sxtab16 r1, r7, r1, ror #8\n"      /* channel1, minus_zero, channels01, ror #8 */
            "    sxtab16 r3, r7, r6\n"              /* channel2, minus_zero, channels23 */
            "    sxtab16 r6, r7, r6, ror #8\n"      /* channel3, minus_zero, channels23, ror #8 */
            /* planes!, {channel0, channel1, channel2, channel3} */
            "    stmia r4!, {r0, r1, r3, r6}\n"
            "    ldr r0, [r2]\n"                    /* left0, [pixels] */
            "    ldr r3, [r2, r5]\n"                /* right0, [pixels, pixel_bytes] */
            "    add r2, r2, r5, lsl #1\n"          /* pixels, pixels, pixel_bytes, lsl #1 */
            "    pkhbt r1, r0, r3, lsl #16\n"       /* channels01, left0, right0, lsl #16 */
            "    pkhtb r6, r3, r0, asr #16\n"       /* channels23, right0, left0, asr #16 */
            "    sxtab16 r0, r7, r1\n"              /* channel0, minus_zero, channels01 */
            "    sxtab16 r1, r7, r1, ror #8\n"      /* channel1, minus_zero, channels01, ror #8 */
            "    sxtab16 r3, r7, r6\n"              /* channel2, minus_zero, channels23 */
            "    sxtab16 r6, r7, r6, ror #8\n"      /* channel3, minus_zero, channels23, ror #8 */
            /* planes!, {channel0, channel1, channel2, channel3} */
            "    stmia r4!, {r0, r1, r3, r6}\n"
            "    ldr r0, [r2]\n"                    /* left0, [pixels] */
            "    ldr r3, [r2, r5]\n"                /* right0, [pixels, pixel_bytes] */
            "    add r2, r2, r5, lsl #1\n"          /* pixels, pixels, pixel_bytes, lsl #1 */
            "    pkhbt r1, r0, r3, lsl #16\n"       /* channels01, left0, right0, lsl #16 */
            "    pkhtb r6, r3, r0, asr #16\n"       /* channels23, right0, left0, asr #16 */
            "    sxtab16 r0, r7, r1\n"              /* channel0, minus_zero, channels01 */
            "    sxtab16 r1, r7, r1, ror #8\n"      /* channel1, minus_zero, channels01, ror #8 */
            "    sxtab16 r3, r7, r6\n"              /* channel2, minus_zero, channels23 */
            "    sxtab16 r6, r7, r6, ror #8\n"      /* channel3, minus_zero, channels23, ror #8 */
            /* planes!, {channel0, channel1, channel2, channel3} */
            "    stmia r4!, {r0, r1, r3, r6}\n"
            "    ldr r0, [r2]\n"                    /* left0, [pixels] */
            "    ldr r3, [r2, r5]\n"                /* right0, [pixels, pixel_bytes] */
            "    add r2, r2, r5, lsl #1\n"          /* pixels, pixels, pixel_bytes, lsl #1 */
            "    pkhbt r1, r0, r3, lsl #16\n"       /* channels01, left0, right0, lsl #16 */
            "    pkhtb r6, r3, r0, asr #16\n"       /* channels23, right0, left0, asr #16 */
            "    sxtab16 r0, r7, r1\n"              /* channel0, minus_zero, channels01 */
            "    sxtab16 r1, r7, r1, ror #8\n"      /* channel1, minus_zero, channels01, ror #8 */
            "    sxtab16 r3, r7, r6\n"              /* channel2, minus_zero, channels23 */
            "    sxtab16 r6, r7, r6, ror #8\n"      /* channel3, minus_zero, channels23, ror #8 */
            /* planes!, {channel0, channel1, channel2, channel3} */
            "    stmia r4!, {r0, r1, r3, r6}\n"
            "    add r4, r4, #16\n"                 /* planes, planes, #16 */
            "    vmov r0, s7\n"                     /* between, between_lines */
            "    add r2, r2, r0\n"                  /* pixels, pixels, between */
            "    vmov r0, s6\n"                     /* end, planes_end */
            "    cmp r4, r0\n"                      /* planes, end */
            "    bne 3b\n"
            "    vmov r4, s16\n"                    /* plane, planes_begin */
            "    vmov r3, s5\n"                     /* y, band_x_y.high */
            "    vmov r2, s0\n"                     /* pixels, four_x_y.low */
            "    vmov r0, s18\n"                    /* free, last_four */
            "    subs r0, r2, r0\n"                 /* free, pixels, free */
            "    bic r0, r0, r0, asr #31\n"         /* free, free, free, asr #31 */
            "    add r4, r4, r0, lsl #2\n"          /* plane, plane, free, lsl #2 */
            "    vmov d2, r4, r3\n"                 /* plane_y, plane, y */
            "4:\n"
            "    vmov r5, s20\n"                    /* taps, next_taps */
            "    add r3, r5, #52\n"                 /* end, taps, #52 */
            "    vmov s20, r3\n"                    /* next_taps, end */
            "    vmov r4, r3, d2\n"                 /* plane, y, plane_y */
            "    ldmia r5!, {r0-r2}\n"              /* taps!, {bias, scale, addend} */
            "    vmov s22, r0\n"                    /* bias, bias */
            "    vmov d3, r1, r2\n"                 /* scale_addend, scale, addend */
            "    vmov d4, r4, r5\n"                 /* plane_stream, plane, taps */
            "    vmov s2, r3\n"                     /* y_step.low, y */
            "    vmov d5, r4, r3\n"                 /* line_plane_y, plane, y */
            /* Lines of outputs: a row of the kernel adds to 6 neighbours' sums. */
            "    movw r0, #8\n"                     /* count, #8 */
            "    vmov s23, r0\n"                    /* lines_left, count */
            "5:\n"
            "    vmov r4, lr, d4\n"                 /* plane, stream, plane_stream */
            "    vmov r5, s22\n"                    /* sum5, bias */
            "    ldmia lr!, {r1, r9}\n"             /* stream!, {w0_1, w1_2} */
            "    sxtb16 r10, r1, ror #8\n"          /* w2_3, w0_1, ror #8 */
            "    sxtb16 r1, r1\n"                   /* w0_1, w0_1 */
            "    sxtb16 r11, r9, ror #8\n"          /* w3_4, w1_2, ror #8 */
            "    sxtb16 r9, r9\n"                   /* w1_2, w1_2 */
            "    ldr r2, [r4]\n"                    /* x0, [plane] */
            "    ldr r3, [r4, #16]\n"               /* x1, [plane, #16] */
            "    smlad r0, r1, r2, r5\n"            /* sum0, w0_1, x0, sum5 */
            "    smlabt r7, r1, r2, r5\n"           /* sum1, w0_1, x0, sum5 */
            "    smlad r0, r10, r3, r0\n"           /* sum0, w2_3, x1, sum0 */
            "    smlad r7, r9, r3, r7\n"            /* sum1, w1_2, x1, sum1 */
            "    smlad r12, r1, r3, r5\n"           /* sum2, w0_1, x1, sum5 */
            "    smlabt r8, r1, r3, r5\n"           /* sum3, w0_1, x1, sum5 */
            "    ldr r2, [r4, #32]\n"               /* x0, [plane, #32] */
            "    ldr r3, [r4, #48]\n"               /* x1, [plane, #48] */
            "    smlatb r0, r11, r2, r0\n"          /* sum0, w3_4, x0, sum0 */
            "    smlad r7, r11, r2, r7\n"           /* sum1, w3_4, x0, sum1 */
            "    smlad r12, r10, r2, r12\n"         /* sum2, w2_3, x0, sum2 */
            "    smlad r8, r9, r2, r8\n"            /* sum3, w1_2, x0, sum3 */
            "    smlad r6, r1, r2, r5\n"            /* sum4, w0_1, x0, sum5 */
            "    smlabt r5, r1, r2, r5\n"           /* sum5, w0_1, x0, sum5 */
            "    smlatb r12, r11, r3, r12\n"        /* sum2, w3_4, x1, sum2 */
            "    smlad r8, r11, r3, r8\n"           /* sum3, w3_4, x1, sum3 */
            "    smlad r6, r10, r3, r6\n"           /* sum4, w2_3, x1, sum4 */
            "    smlad r5, r9, r3, r5\n"            /* sum5, w1_2, x1, sum5 */
            "    ldr r2, [r4, #64]\n"               /* x0, [plane, #64] */
            "    smlatb r6, r11, r2, r6\n"          /* sum4, w3_4, x0, sum4 */
            "    smlad r5, r11, r2, r5\n"           /* sum5, w3_4, x0, sum5 */
            "    add r4, r4, #112\n"                /* plane, plane, #112 */
            "    ldmia lr!, {r1, r9}\n"             /* stream!, {w0_1, w1_2} */
            "    sxtb16 r10, r1, ror #8\n"          /* w2_3, w0_1, ror #8 */
            "    sxtb16 r1, r1\n"                   /* w0_1, w0_1 */
            "    sxtb16 r11, r9, ror #8\n"          /* w3_4, w1_2, ror #8 */
            "    sxtb16 r9, r9\n"                   /* w1_2, w1_2 */
            "    ldr r2, [r4]\n"                    /* x0, [plane] */
            "    ldr r3, [r4, #16]\n"               /* x1, [plane, #16] */
            "    smlad r0, r1, r2, r0\n"            /* sum0, w0_1, x0, sum0 */
            "    smlabt r7, r1, r2, r7\n"           /* sum1, w0_1, x0, sum1 */
            "    smlad r0, r10, r3, r0\n"           /* sum0, w2_3, x1, sum0 */
            "    smlad r7, r9, r3, r7\n"            /* sum1, w1_2, x1, sum1 */
            "    smlad r12, r1, r3, r12\n"          /* sum2, w0_1, x1, sum2 */
            "    smlabt r8, r1, r3, r8\n"           /* sum3, w0_1, x1, sum3 */
            "    ldr r2, [r4, #32]\n"               /* x0, [plane, #32] */
            "    ldr r3, [r4, #48]\n"               /* x1, [plane, #48] */
            "    smlatb r0, r11, r2, r0\n"          /* sum0, w3_4, x0, sum0 */
            "    smlad r7, r11, r2, r7\n"           /* sum1, w3_4, x0, sum1 */
            "    smlad r12, r10, r2, r12\n"         /* sum2, w2_3, x0, sum2 */
            "    smlad r8, r9, r2, r8\n"            /* sum3, w1_2, x0, sum3 */
            "    smlad r6, r1, r2, r6\n"            /* sum4, w0_1, x0, sum4 */
            "    smlabt r5, r1, r2, r5\n"           /* sum5, w0_1, x0, sum5 */
            "    smlatb r12, r11, r3, r12\n"        /* sum2, w3_4, x1, sum2 */
            "    smlad r8, r11, r3, r8\n"           /* sum3, w3_4, x1, sum3 */
            "    smlad r6, r10, r3, r6\n"           /* sum4, w2_3, x1, sum4 */
            "    smlad r5, r9, r3, r5\n"            /* sum5, w1_2, x1, sum5 */
            "    ldr r2, [r4, #64]\n"               /* x0, [plane, #64] */
            "    smlatb r6, r11, r2, r6\n"          /* sum4, w3_4, x0, sum4 */
            "    smlad r5, r11, r2, r5\n"           /* sum5, w3_4, x0, sum5 */
            "    add r4, r4, #112\n"                /* plane, plane, #112 */
            "    ldmia lr!, {r1, r9}\n"             /* stream!, {w0_1, w1_2} */
            "    sxtb16 r10, r1, ror #8\n"          /* w2_3, w0_1, ror #8 */
            "    sxtb16 r1, r1\n"                   /* w0_1, w0_1 */
            "    sxtb16 r11, r9, ror #8\n"          /* w3_4, w1_2, ror #8 */
            "    sxtb16 r9, r9\n"                   /* w1_2, w1_2 */
            "    ldr r2, [r4]\n"                    /* x0, [plane] */
            "    ldr r3, [r4, #16]\n"               /* x1, [plane, #16] */
            "    smlad r0, r1, r2, r0\n"            /* sum0, w0_1, x0, sum0 */
            "    smlabt r7, r1, r2, r7\n"           /* sum1, w0_1, x0, sum1 */
            "    smlad r0, r10, r3, r0\n"           /* sum0, w2_3, x1, sum0 */
            "    smlad r7, r9, r3, r7\n"            /* sum1, w1_2, x1, sum1 */
            "    smlad r12, r1, r3, r12\n"          /* sum2, w0_1, x1, sum2 */
            "    smlabt r8, r1, r3, r8\n"           /* sum3, w0_1, x1, sum3 */
            "    ldr r2, [r4, #32]\n"               /* x0, [plane, #32] */
            "    ldr r3, [r4, #48]\n"               /* x1, [plane, #48] */
            "    smlatb r0, r11, r2, r0\n"          /* sum0, w3_4, x0, sum0 */
            "    smlad r7, r11, r2, r7\n"           /* sum1, w3_4, x0, sum1 */
            "    smlad r12, r10, r2, r12\n"         /* sum2, w2_3, x0, sum2 */
            "    smlad r8, r9, r2, r8\n"            /* sum3, w1_2, x0, sum3 */
            "    smlad r6, r1, r2, r6\n"            /* sum4, w0_1, x0, sum4 */
            "    smlabt r5, r1, r2, r5\n"           /* sum5, w0_1, x0, sum5 */
            "    smlatb r12, r11, r3, r12\n"        /* sum2, w3_4, x1, sum2 */
            "    smlad r8, r11, r3, r8\n"           /* sum3, w3_4, x1, sum3 */
            "    smlad r6, r10, r3, r6\n"           /* sum4, w2_3, x1, sum4 */
            "    smlad r5, r9, r3, r5\n"            /* sum5, w1_2, x1, sum5 */
            "    ldr r2, [r4, #64]\n"               /* x0, [plane, #64] */
            "    smlatb r6, r11, r2, r6\n"          /* sum4, w3_4, x0, sum4 */
            "    smlad r5, r11, r2, r5\n"           /* sum5, w3_4, x0, sum5 */
            "    add r4, r4, #112\n"                /* plane, plane, #112 */
            "    ldmia lr!, {r1, r9}\n"             /* stream!, {w0_1, w1_2} */
            "    sxtb16 r10, r1, ror #8\n"          /* w2_3, w0_1, ror #8 */
            "    sxtb16 r1, r1\n"                   /* w0_1, w0_1 */
            "    sxtb16 r11, r9, ror #8\n"          /* w3_4, w1_2, ror #8 */
            "    sxtb16 r9, r9\n"                   /* w1_2, w1_2 */
            "    ldr r2, [r4]\n"                    /* x0, [plane] */
            "    ldr r3, [r4, #16]\n"               /* x1, [plane, #16] */
            "    smlad r0, r1, r2, r0\n"            /* sum0, w0_1, x0, sum0 */
            "    smlabt r7, r1, r2, r7\n"           /* sum1, w0_1, x0, sum1 */
            "    smlad r0, r10, r3, r0\n"           /* sum0, w2_3, x1, sum0 */
            "    smlad r7, r9, r3, r7\n"            /* sum1, w1_2, x1, sum1 */
            "    smlad r12, r1, r3, r12\n"          /* sum2, w0_1, x1, sum2 */
            "    smlabt r8, r1, r3, r8\n"           /* sum3, w0_1, x1, sum3 */
            "    ldr r2, [r4, #32]\n"               /* x0, [plane, #32] */
            "    ldr r3, [r4, #48]\n"               /* x1, [plane, #48] */
            "    smlatb r0, r11, r2, r0\n"          /* sum0, w3_4, x0, sum0 */
            "    smlad r7, r11, r2, r7\n"           /* sum1, w3_4, x0, sum1 */
            "    smlad r12, r10, r2, r12\n"         /* sum2, w2_3, x0, sum2 */
            "    smlad r8, r9, r2, r8\n"            /* sum3, w1_2, x0, sum3 */
            "    smlad r6, r1, r2, r6\n"            /* sum4, w0_1, x0, sum4 */
            "    smlabt r5, r1, r2, r5\n"           /* sum5, w0_1, x0, sum5 */
            "    smlatb r12, r11, r3, r12\n"        /* sum2, w3_4, x1, sum2 */
            "    smlad r8, r11, r3, r8\n"           /* sum3, w3_4, x1, sum3 */
            "    smlad r6, r10, r3, r6\n"           /* sum4, w2_3, x1, sum4 */
            "    smlad r5, r9, r3, r5\n"            /* sum5, w1_2, x1, sum5 */
            "    ldr r2, [r4, #64]\n"               /* x0, [plane, #64] */
            "    smlatb r6, r11, r2, r6\n"          /* sum4, w3_4, x0, sum4 */
            "    smlad r5, r11, r2, r5\n"           /* sum5, w3_4, x0, sum5 */
            "    add r4, r4, #112\n"                /* plane, plane, #112 */
            "    ldmia lr!, {r1, r9}\n"             /* stream!, {w0_1, w1_2} */
            "    sxtb16 r10, r1, ror #8\n"          /* w2_3, w0_1, ror #8 */
            "    sxtb16 r1, r1\n"                   /* w0_1, w0_1 */
            "    sxtb16 r11, r9, ror #8\n"          /* w3_4, w1_2, ror #8 */
            "    sxtb16 r9, r9\n"                   /* w1_2, w1_2 */
            "    ldr r2, [r4]\n"                    /* x0, [plane] */
            "    ldr r3, [r4, #16]\n"               /* x1, [plane, #16] */
            "    smlad r0, r1, r2, r0\n"            /* sum0, w0_1, x0, sum0 */
            "    smlabt r7, r1, r2, r7\n"           /* sum1, w0_1, x0, sum1 */
            "    smlad r0, r10, r3, r0\n"           /* sum0, w2_3, x1, sum0 */
            "    smlad r7, r9, r3, r7\n"            /* sum1, w1_2, x1, sum1 */
            "    smlad r12, r1, r3, r12\n"          /* sum2, w0_1, x1, sum2 */
            "    smlabt r8, r1, r3, r8\n"           /* sum3, w0_1, x1, sum3 */
            "    ldr r2, [r4, #32]\n"               /* x0, [plane, #32] */
            "    ldr r3, [r4, #48]\n"               /* x1, [plane, #48] */
            "    smlatb r0, r11, r2, r0\n"          /* sum0, w3_4, x0, sum0 */
            "    smlad r7, r11, r2, r7\n"           /* sum1, w3_4, x0, sum1 */
            "    smlad r12, r10, r2, r12\n"         /* sum2, w2_3, x0, sum2 */
            "    smlad r8, r9, r2, r8\n"            /* sum3, w1_2, x0, sum3 */
            "    smlad r6, r1, r2, r6\n"            /* sum4, w0_1, x0, sum4 */
            "    smlabt r5, r1, r2, r5\n"           /* sum5, w0_1, x0, sum5 */
            "    smlatb r12, r11, r3, r12\n"        /* sum2, w3_4, x1, sum2 */
            "    smlad r8, r11, r3, r8\n"           /* sum3, w3_4, x1, sum3 */
            "    smlad r6, r10, r3, r6\n"           /* sum4, w2_3, x1, sum4 */
            "    smlad r5, r9, r3, r5\n"            /* sum5, w1_2, x1, sum5 */
            "    ldr r2, [r4, #64]\n"               /* x0, [plane, #64] */
            "    smlatb r6, r11, r2, r6\n"          /* sum4, w3_4, x0, sum4 */
            "    smlad r5, r11, r2, r5\n"           /* sum5, w3_4, x0, sum5 */
            "    vmov r1, r2, d3\n"                 /* scale, addend, scale_addend */
            "    cmp r1, #0\n"                      /* scale, #0 */
            "    ble 8f\n"
            "    smmla r0, r0, r1, r2\n"            /* sum0, sum0, scale, addend */
            "    smmla r7, r7, r1, r2\n"            /* sum1, sum1, scale, addend */
            "    smmla r12, r12, r1, r2\n"          /* sum2, sum2, scale, addend */
            "    smmla r8, r8, r1, r2\n"            /* sum3, sum3, scale, addend */
            "    smmla r6, r6, r1, r2\n"            /* sum4, sum4, scale, addend */
            "    smmla r5, r5, r1, r2\n"            /* sum5, sum5, scale, addend */
            "    ssat r0, #8, r0, asr #4\n"         /* sum0, #8, sum0, asr #4 */
            "    ssat r7, #8, r7, asr #4\n"         /* sum1, #8, sum1, asr #4 */
            "    ssat r12, #8, r12, asr #4\n"       /* sum2, #8, sum2, asr #4 */
            "    ssat r8, #8, r8, asr #4\n"         /* sum3, #8, sum3, asr #4 */
            "    ssat r6, #8, r6, asr #4\n"         /* sum4, #8, sum4, asr #4 */
            "    ssat r5, #8, r5, asr #4\n"         /* sum5, #8, sum5, asr #4 */
            "6:\n"
            "    vmov r3, r1, d1\n"                 /* y, step, y_step */
            "    strb r0, [r3]\n"                   /* sum0, [y] */
            "    strb r7, [r3, r1]\n"               /* sum1, [y, step] */
            "    add r3, r3, r1, lsl #1\n"          /* y, y, step, lsl #1 */
            "    strb r12, [r3]\n"                  /* sum2, [y] */
            "    strb r8, [r3, r1]\n"               /* sum3, [y, step] */
            "    add r3, r3, r1, lsl #1\n"          /* y, y, step, lsl #1 */
            "    strb r6, [r3]\n"                   /* sum4, [y] */
            "    strb r5, [r3, r1]\n"               /* sum5, [y, step] */
            "    add r3, r3, r1, lsl #1\n"          /* y, y, step, lsl #1 */
            "    vmov s2, r3\n"                     /* y_step.low, y */
            "    vmov r4, s8\n"                     /* plane, plane_stream.low */
            "    addw r4, r4, #48\n"                /* plane, plane, #48 */
            "    vmov s8, r4\n"                     /* plane_stream.low, plane */
            "    vmov r4, lr, d4\n"                 /* plane, stream, plane_stream */
            "    vmov r8, s22\n"                    /* sum3, bias */
            "    ldmia lr!, {r1, r9}\n"             /* stream!, {w0_1, w1_2} */
            "    sxtb16 r10, r1, ror #8\n"          /* w2_3, w0_1, ror #8 */
            "    sxtb16 r1, r1\n"                   /* w0_1, w0_1 */
            "    sxtb16 r11, r9, ror #8\n"          /* w3_4, w1_2, ror #8 */
            "    sxtb16 r9, r9\n"                   /* w1_2, w1_2 */
            "    ldr r2, [r4]\n"                    /* x0, [plane] */
            "    ldr r3, [r4, #16]\n"               /* x1, [plane, #16] */
            "    ldr r5, [r4, #32]\n"               /* x2, [plane, #32] */
            "    ldr r6, [r4, #48]\n"               /* x3, [plane, #48] */
            "    smlad r0, r1, r2, r8\n"            /* sum0, w0_1, x0, sum3 */
            "    smlabt r7, r1, r2, r8\n"           /* sum1, w0_1, x0, sum3 */
            "    smlad r0, r10, r3, r0\n"           /* sum0, w2_3, x1, sum0 */
            "    smlad r7, r9, r3, r7\n"            /* sum1, w1_2, x1, sum1 */
            "    smlad r12, r1, r3, r8\n"           /* sum2, w0_1, x1, sum3 */
            "    smlabt r8, r1, r3, r8\n"           /* sum3, w0_1, x1, sum3 */
            "    smlatb r0, r11, r5, r0\n"          /* sum0, w3_4, x2, sum0 */
            "    smlad r7, r11, r5, r7\n"           /* sum1, w3_4, x2, sum1 */
            "    smlad r12, r10, r5, r12\n"         /* sum2, w2_3, x2, sum2 */
            "    smlad r8, r9, r5, r8\n"            /* sum3, w1_2, x2, sum3 */
            "    smlatb r12, r11, r6, r12\n"        /* sum2, w3_4, x3, sum2 */
            "    smlad r8, r11, r6, r8\n"           /* sum3, w3_4, x3, sum3 */
            "    add r4, r4, #112\n"                /* plane, plane, #112 */
            "    ldmia lr!, {r1, r9}\n"             /* stream!, {w0_1, w1_2} */
            "    sxtb16 r10, r1, ror #8\n"          /* w2_3, w0_1, ror #8 */
            "    sxtb16 r1, r1\n"                   /* w0_1, w0_1 */
            "    sxtb16 r11, r9, ror #8\n"          /* w3_4, w1_2, ror #8 */
            "    sxtb16 r9, r9\n"                   /* w1_2, w1_2 */
            "    ldr r2, [r4]\n"                    /* x0, [plane] */
            "    ldr r3, [r4, #16]\n"               /* x1, [plane, #16] */
            "    ldr r5, [r4, #32]\n"               /* x2, [plane, #32] */
            "    ldr r6, [r4, #48]\n"               /* x3, [plane, #48] */
            "    smlad r0, r1, r2, r0\n"            /* sum0, w0_1, x0, sum0 */
            "    smlabt r7, r1, r2, r7\n"           /* sum1, w0_1, x0, sum1 */
            "    smlad r0, r10, r3, r0\n"           /* sum0, w2_3, x1, sum0 */
            "    smlad r7, r9, r3, r7\n"            /* sum1, w1_2, x1, sum1 */
            "    smlad r12, r1, r3, r12\n"          /* sum2, w0_1, x1, sum2 */
            "    smlabt r8, r1, r3, r8\n"           /* sum3, w0_1, x1, sum3 */
            "    smlatb r0, r11, r5, r0\n"          /* sum0, w3_4, x2, sum0 */
            "    smlad r7, r11, r5, r7\n"           /* sum1, w3_4, x2, sum1 */
            "    smlad r12, r10, r5, r12\n"         /* sum2, w2_3, x2, sum2 */
            "    smlad r8, r9, r5, r8\n"            /* sum3, w1_2, x2, sum3 */
            "    smlatb r12, r11, r6, r12\n"        /* sum2, w3_4, x3, sum2 */
            "    smlad r8, r11, r6, r8\n"           /* sum3, w3_4, x3, sum3 */
            "    add r4, r4, #112\n"                /* plane, plane, #112 */
            "    ldmia lr!, {r1, r9}\n"             /* stream!, {w0_1, w1_2} */
            "    sxtb16 r10, r1, ror #8\n"          /* w2_3, w0_1, ror #8 */
            "    sxtb16 r1, r1\n"                   /* w0_1, w0_1 */
            "    sxtb16 r11, r9, ror #8\n"          /* w3_4, w1_2, ror #8 */
            "    sxtb16 r9, r9\n"                   /* w1_2, w1_2 */
            "    ldr r2, [r4]\n"                    /* x0, [plane] */
            "    ldr r3, [r4, #16]\n"               /* x1, [plane, #16] */
            "    ldr r5, [r4, #32]\n"               /* x2, [plane, #32] */
            "    ldr r6, [r4, #48]\n"               /* x3, [plane, #48] */
            "    smlad r0, r1, r2, r0\n"            /* sum0, w0_1, x0, sum0 */
            "    smlabt r7, r1, r2, r7\n"           /* sum1, w0_1, x0, sum1 */
            "    smlad r0, r10, r3, r0\n"           /* sum0, w2_3, x1, sum0 */
            "    smlad r7, r9, r3, r7\n"            /* sum1, w1_2, x1, sum1 */
            "    smlad r12, r1, r3, r12\n"          /* sum2, w0_1, x1, sum2 */
            "    smlabt r8, r1, r3, r8\n"           /* sum3, w0_1, x1, sum3 */
            "    smlatb r0, r11, r5, r0\n"          /* sum0, w3_4, x2, sum0 */
            "    smlad r7, r11, r5, r7\n"           /* sum1, w3_4, x2, sum1 */
            "    smlad r12, r10, r5, r12\n"         /* sum2, w2_3, x2, sum2 */
            "    smlad r8, r9, r5, r8\n"            /* sum3, w1_2, x2, sum3 */
            "    smlatb r12, r11, r6, r12\n"        /* sum2, w3_4, x3, sum2 */
            "    smlad r8, r11, r6, r8\n"           /* sum3, w3_4, x3, sum3 */
            "    add r4, r4, #112\n"                /* plane, plane, #112 */
            "    ldmia lr!, {r1, r9}\n"             /* stream!, {w0_1, w1_2} */
            "    sxtb16 r10, r1, ror #8\n"          /* w2_3, w0_1, ror #8 */
            "    sxtb16 r1, r1\n"                   /* w0_1, w0_1 */
            "    sxtb16 r11, r9, ror #8\n"          /* w3_4, w1_2, ror #8 */
            "    sxtb16 r9, r9\n"                   /* w1_2, w1_2 */
            "    ldr r2, [r4]\n"                    /* x0, [plane] */
            "    ldr r3, [r4, #16]\n"               /* x1, [plane, #16] */
            "    ldr r5, [r4, #32]\n"               /* x2, [plane, #32] */
            "    ldr r6, [r4, #48]\n"               /* x3, [plane, #48] */
            "    smlad r0, r1, r2, r0\n"            /* sum0, w0_1, x0, sum0 */
            "    smlabt r7, r1, r2, r7\n"           /* sum1, w0_1, x0, sum1 */
            "    smlad r0, r10, r3, r0\n"           /* sum0, w2_3, x1, sum0 */
            "    smlad r7, r9, r3, r7\n"            /* sum1, w1_2, x1, sum1 */
            "    smlad r12, r1, r3, r12\n"          /* sum2, w0_1, x1, sum2 */
            "    smlabt r8, r1, r3, r8\n"           /* sum3, w0_1, x1, sum3 */
            "    smlatb r0, r11, r5, r0\n"          /* sum0, w3_4, x2, sum0 */
            "    smlad r7, r11, r5, r7\n"           /* sum1, w3_4, x2, sum1 */
            "    smlad r12, r10, r5, r12\n"         /* sum2, w2_3, x2, sum2 */
            "    smlad r8, r9, r5, r8\n"            /* sum3, w1_2, x2, sum3 */
            "    smlatb r12, r11, r6, r12\n"        /* sum2, w3_4, x3, sum2 */
            "    smlad r8, r11, r6, r8\n"           /* sum3, w3_4, x3, sum3 */
            "    add r4, r4, #112\n"                /* plane, plane, #112 */
            "    ldmia lr!, {r1, r9}\n"             /* stream!, {w0_1, w1_2} */
            "    sxtb16 r10, r1, ror #8\n"          /* w2_3, w0_1, ror #8 */
            "    sxtb16 r1, r1\n"                   /* w0_1, w0_1 */
            "    sxtb16 r11, r9, ror #8\n"          /* w3_4, w1_2, ror #8 */
            "    sxtb16 r9, r9\n"                   /* w1_2, w1_2 */
            "    ldr r2, [r4]\n"                    /* x0, [plane] */
            "    ldr r3, [r4, #16]\n"               /* x1, [plane, #16] */
            "    ldr r5, [r4, #32]\n"               /* x2, [plane, #32] */
            "    ldr r6, [r4, #48]\n"               /* x3, [plane, #48] */
            "    smlad r0, r1, r2, r0\n"            /* sum0, w0_1, x0, sum0 */
            "    smlabt r7, r1, r2, r7\n"           /* sum1, w0_1, x0, sum1 */
            "    smlad r0, r10, r3, r0\n"           /* sum0, w2_3, x1, sum0 */
            "    smlad r7, r9, r3, r7\n"            /* sum1, w1_2, x1, sum1 */
            "    smlad r12, r1, r3, r12\n"          /* sum2, w0_1, x1, sum2 */
            "    smlabt r8, r1, r3, r8\n"           /* sum3, w0_1, x1, sum3 */
            "    smlatb r0, r11, r5, r0\n"          /* sum0, w3_4, x2, sum0 */
            "    smlad r7, r11, r5, r7\n"           /* sum1, w3_4, x2, sum1 */
            "    smlad r12, r10, r5, r12\n"         /* sum2, w2_3, x2, sum2 */
            "    smlad r8, r9, r5, r8\n"            /* sum3, w1_2, x2, sum3 */
            "    smlatb r12, r11, r6, r12\n"        /* sum2, w3_4, x3, sum2 */
            "    smlad r8, r11, r6, r8\n"           /* sum3, w3_4, x3, sum3 */
            "    vmov r1, r2, d3\n"                 /* scale, addend, scale_addend */
            "    cmp r1, #0\n"                      /* scale, #0 */
            "    ble 10f\n"
            "    smmla r0, r0, r1, r2\n"            /* sum0, sum0, scale, addend */
            "    smmla r7, r7, r1, r2\n"            /* sum1, sum1, scale, addend */
            "    smmla r12, r12, r1, r2\n"          /* sum2, sum2, scale, addend */
            "    smmla r8, r8, r1, r2\n"            /* sum3, sum3, scale, addend */
            "    ssat r0, #8, r0, asr #4\n"         /* sum0, #8, sum0, asr #4 */
            "    ssat r7, #8, r7, asr #4\n"         /* sum1, #8, sum1, asr #4 */
            "    ssat r12, #8, r12, asr #4\n"       /* sum2, #8, sum2, asr #4 */
            "    ssat r8, #8, r8, asr #4\n"         /* sum3, #8, sum3, asr #4 */
            "7:\n"
            "    vmov r3, r1, d1\n"                 /* y, step, y_step */
            "    strb r0, [r3]\n"                   /* sum0, [y] */
            "    strb r7, [r3, r1]\n"               /* sum1, [y, step] */
            "    add r3, r3, r1, lsl #1\n"          /* y, y, step, lsl #1 */
            "    strb r12, [r3]\n"                  /* sum2, [y] */
            "    strb r8, [r3, r1]\n"               /* sum3, [y, step] */
            "    add r3, r3, r1, lsl #1\n"          /* y, y, step, lsl #1 */
            "    vmov s2, r3\n"                     /* y_step.low, y */
            "    vmov r4, r3, d5\n"                 /* plane, y, line_plane_y */
            "    vmov r0, s21\n"                    /* line_step, line_step */
            "    add r3, r3, r0\n"                  /* y, y, line_step */
            "    add r4, r4, #112\n"                /* plane, plane, #112 */
            "    vmov d5, r4, r3\n"                 /* line_plane_y, plane, y */
            "    vmov s8, r4\n"                     /* plane_stream.low, plane */
            "    vmov s2, r3\n"                     /* y_step.low, y */
            "    vmov r0, s23\n"                    /* count, lines_left */
            "    subs r0, r0, #1\n"                 /* count, count, #1 */
            "    vmov s23, r0\n"                    /* lines_left, count */
            "    bne 5b\n"
            "    vmov r4, r3, d2\n"                 /* plane, y, plane_y */
            "    adds r3, r3, #1\n"                 /* y, y, #1 */
            "    adds r4, r4, #4\n"                 /* plane, plane, #4 */
            "    vmov d2, r4, r3\n"                 /* plane_y, plane, y */
            "    vmov r3, s16\n"                    /* end, planes_begin */
            "    add r3, r3, #16\n"                 /* end, end, #16 */
            "    cmp r4, r3\n"                      /* plane, end */
            "    bne 4b\n"
            "    vmov r2, r3, d0\n"                 /* pixels, y, four_x_y */
            "    adds r2, r2, #4\n"                 /* pixels, pixels, #4 */
            "    add r3, r3, #4\n"                  /* y, y, #4 */
            "    vmov d0, r2, r3\n"                 /* four_x_y, pixels, y */
            "    vmov r5, s20\n"                    /* taps, next_taps */
            "    vmov r3, s19\n"                    /* end, taps_end */
            "    cmp r5, r3\n"                      /* taps, end */
            "    bne 2b\n"
            "    b 13f\n"
            "8:\n"
            "    bl 12f\n"
            "9:\n"
            "    b 6b\n"
            "10:\n"
            "    mov r6, r0\n"                      /* sum4, sum0 */
            "    mov r5, r0\n"                      /* sum5, sum0 */
            "    bl 12f\n"
            "11:\n"
            "    b 7b\n"
            "12:\n"
            /* No integers round this filter. */
            "    vmov r1, s17\n"                    /* zero, numbers */
            "    ldr r1, [r1, #12]\n"               /* zero, [zero, #12] */
            "    vmov d6, r0, r7\n"                 /* pair, sum0, sum1 */
            "    vmov d7, r12, r2\n"                /* last, sum2, addend */
            "    vcvt.f32.s32 s12, s12\n"           /* pair.low, pair.low */
            "    vcvt.f32.s32 s13, s13\n"           /* pair.high, pair.high */
            "    vcvt.f32.s32 s14, s14\n"           /* last.low, last.low */
            "    vmul.f32 s12, s12, s15\n"          /* pair.low, pair.low, last.high */
            "    vmul.f32 s13, s13, s15\n"          /* pair.high, pair.high, last.high */
            "    vmul.f32 s14, s14, s15\n"          /* last.low, last.low, last.high */
            "    vcvtr.s32.f32 s12, s12\n"          /* pair.low, pair.low */
            "    vcvtr.s32.f32 s13, s13\n"          /* pair.high, pair.high */
            "    vcvtr.s32.f32 s14, s14\n"          /* last.low, last.low */
            "    vmov r0, r7, d6\n"                 /* sum0, sum1, pair */
            "    vmov r12, s14\n"                   /* sum2, last.low */
            "    vmov d6, r8, r6\n"                 /* pair, sum3, sum4 */
            "    vmov d7, r5, r2\n"                 /* last, sum5, addend */
            "    vcvt.f32.s32 s12, s12\n"           /* pair.low, pair.low */
            "    vcvt.f32.s32 s13, s13\n"           /* pair.high, pair.high */
            "    vcvt.f32.s32 s14, s14\n"           /* last.low, last.low */
            "    vmul.f32 s12, s12, s15\n"          /* pair.low, pair.low, last.high */
            "    vmul.f32 s13, s13, s15\n"          /* pair.high, pair.high, last.high */
            "    vmul.f32 s14, s14, s15\n"          /* last.low, last.low, last.high */
            "    vcvtr.s32.f32 s12, s12\n"          /* pair.low, pair.low */
            "    vcvtr.s32.f32 s13, s13\n"          /* pair.high, pair.high */
            "    vcvtr.s32.f32 s14, s14\n"          /* last.low, last.low */
            "    vmov r8, r6, d6\n"                 /* sum3, sum4, pair */
            "    vmov r5, s14\n"                    /* sum5, last.low */
            "    qadd r0, r0, r1\n"                 /* sum0, sum0, zero */
            "    ssat r0, #8, r0\n"                 /* sum0, #8, sum0 */
            "    qadd r7, r7, r1\n"                 /* sum1, sum1, zero */
            "    ssat r7, #8, r7\n"                 /* sum1, #8, sum1 */
            "    qadd r12, r12, r1\n"               /* sum2, sum2, zero */
            "    ssat r12, #8, r12\n"               /* sum2, #8, sum2 */
            "    qadd r8, r8, r1\n"                 /* sum3, sum3, zero */
            "    ssat r8, #8, r8\n"                 /* sum3, #8, sum3 */
            "    qadd r6, r6, r1\n"                 /* sum4, sum4, zero */
            "    ssat r6, #8, r6\n"                 /* sum4, #8, sum4 */
            "    qadd r5, r5, r1\n"                 /* sum5, sum5, zero */
            "    ssat r5, #8, r5\n"                 /* sum5, #8, sum5 */
            "    bx lr\n"
            "13:\n"
            "    vpop {d8-d11}\n"
            "    pop {r4-r11, pc}\n");
    /* clang-format on */
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
        reshape_1_reorder, depthwise_1, _mcu_dsp_depthwise_depthwise_1_taps, depthwise_1_scratch));

    /* depthwise_1_reorder: Reorder, y0 reordered: int8[1,4,8,10] NHWC -> int8[1,4,8,10] */
    int8_t *const depthwise_1_reorder = (int8_t *)(ws + 0);
    MCU_LAYER(2, _mcu_dsp_depthwise_reorder_4x80_int8(depthwise_1, depthwise_1_reorder));
}

/* clang-format on */

