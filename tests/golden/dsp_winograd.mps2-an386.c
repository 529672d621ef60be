/* ---- Kernels ---- */

/* Those in assembly are one string each, some longer than C99 wants compilers to take. */
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Woverlength-strings"
#endif

MCU_FUNCTION void _mcu_dsp_winograd_reorder_48x8_int8(const int8_t *x, int8_t *y) {
    for (int32_t i0 = 0; i0 < 48; i0++) {
        for (int32_t i1 = 0; i1 < 8; i1++) {
            *y++ = x[i0 + i1 * 48];
        }
    }
}

/* y[p][f] = sat(round(factor[f] * (bias[f] + sum of w[f][t] x[p][t])) + zero), of pixels p,
 * filters f and 3x3 taps t, by Winograd's F(2x2, 3x3): 4 times the sums of 2x2 pixels are A' M
 * A, M the sum over channels of U V, element by element, where U = 2G w (2G)' and, of a window d
 * of 4x4 pixels, V = B' d B.
 * A' = 1 1 1 0, 0 1 -1 -1; B' = 1 0 -1 0, 0 1 1 0, 0 -1 1 0, 0 1 0 -1;
 * 2G = 2 0 0, 1 1 1, 1 -1 1, 0 0 2, row by row.
 * x and y: [row][column][channel]. weights: numbers of the layer, a word each, as the frame has
 * them from `groups` on; then, of each two filters, f and the next one, g:
 * 4 bias[f]; 4 bias[g];
 * of each position and each two channels a word of U[f] and one of U[g], in halves, -U where
 * either the row or the column is 3. Rows are 1, 2, 0, 3, of each the columns 1, 2, 0, 3; of
 * four channels 0 and 2, then 1 and 3;
 * scale[f], addend[f], scale[g], addend[g]: (4 sum scale >> 32) + addend, shifted, is rounded as
 * it has to be, for which the biases are a little moved.
 * If addend[f] is 0, three more for each sum that is rounded too late: 0 or 1 for f or g, 4
 * times the sum, addend[f], again 0 but for the last.
 * scratch: the frame, a word each: of each window where the second pixel of its output is; the
 * same of the row below; pairs of filters that are left; groups, source, column, row, target,
 * last column, last row, wrap, target wrap, first column, pitch, target pitch, three pitches,
 * columns inside, rows inside, width, height, zeros. Then V of three windows: of each position
 * and each two channels, as above, a word of each; a patch of 4x4 pixels.
 * In place: three windows are read before their outputs are written. */
MCU_KERNEL void _mcu_dsp_winograd_winograd_8x4_dsp(const int8_t *x MCU_UNUSED, int8_t *y MCU_UNUSED,
                                                   const uint32_t *weights MCU_UNUSED,
                                                   uint8_t *scratch MCU_UNUSED) {
    /* clang-format off */
    __asm__(".syntax unified\n"
            "    push {r4-r11, lr}\n"
            "    vpush {d8-d15}\n"
            "    vmov s30, r3\n"                    /* frame_kept, scratch */
            "    add r8, r3, #28\n"                 /* numbers, scratch, #28 */
            /* weights!, {number0, number1, number2, number3, number4, number5} */
            "    ldmia r2!, {r4-r7, r12, lr}\n"
            /* numbers!, {number0, number1, number2, number3, number4, number5} */
            "    stmia r8!, {r4-r7, r12, lr}\n"
            /* weights!, {number0, number1, number2, number3, number4, number5} */
            "    ldmia r2!, {r4-r7, r12, lr}\n"
            /* numbers!, {number0, number1, number2, number3, number4, number5} */
            "    stmia r8!, {r4-r7, r12, lr}\n"
            /* weights!, {number0, number1, number2, number3, number4, number5} */
            "    ldmia r2!, {r4-r7, r12, lr}\n"
            /* numbers!, {number0, number1, number2, number3, number4, number5} */
            "    stmia r8!, {r4-r7, r12, lr}\n"
            "    vmov s31, r2\n"                    /* stream_begin, weights */
            "    mov r8, r3\n"                      /* frame, scratch */
            "    ldr r2, [r8, #32]\n"               /* address, [frame, #32] */
            "    add r2, r2, r0\n"                  /* address, address, x */
            "    str r2, [r8, #32]\n"               /* address, [frame, #32] */
            "    ldr r2, [r8, #44]\n"               /* address, [frame, #44] */
            "    add r2, r2, r1\n"                  /* address, address, y */
            "    str r2, [r8, #44]\n"               /* address, [frame, #44] */
            "1:\n"
            "    add r9, r8, #100\n"                /* into, frame, #100 */
            /* Three windows of 4x4 pixels to V = B' d B: two channels a word, of all three. */
            "2:\n"
            "    add r10, r8, #32\n"                /* state, frame, #32 */
            "    ldmia r10, {r0-r3}\n"              /* state, {source, column, row, target} */
            "    str r3, [r9, #-100]\n"             /* target, [into, #-100] */
            "    ldr lr, [r8, #72]\n"               /* target_pitch, [frame, #72] */
            "    add r3, r3, lr\n"                  /* target, target, target_pitch */
            "    str r3, [r9, #-88]\n"              /* target, [into, #-88] */
            "    ldr r3, [r8, #80]\n"               /* columns_inside, [frame, #80] */
            "    ldr r4, [r8, #84]\n"               /* rows_inside, [frame, #84] */
            "    cmp r1, r3\n"                      /* column, columns_inside */
            "    it lo\n"
            "    cmplo r2, r4\n"                    /* row, rows_inside */
            "    bhs 8f\n"
            "    ldr r12, [r8, #68]\n"              /* pitch, [frame, #68] */
            "    ldr r1, [r8, #76]\n"               /* three_pitches, [frame, #76] */
            /* pitches.low, pitches.high, pitch, three_pitches */
            "    vmov s0, s1, r12, r1\n"
            "3:\n"
            "    add r1, r0, #8\n"                  /* channels_end, source, #8 */
            "    vmov s2, r1\n"                     /* end_kept, channels_end */
            "4:\n"
            /* Of four channels 0 and 2. */
            "    vmov r12, s0\n"                    /* pitch, pitches.low */
            "    add r1, r0, r12\n"                 /* line, source, pitch */
            "    ldr r2, [r1]\n"                    /* x10, [line] */
            "    ldr r3, [r1, #8]\n"                /* x11, [line, #8] */
            "    ldr r4, [r1, #16]\n"               /* x12, [line, #16] */
            "    ldr r5, [r1, #24]\n"               /* x13, [line, #24] */
            "    sxtb16 r2, r2\n"                   /* x10, x10 */
            "    sxtb16 r3, r3\n"                   /* x11, x11 */
            "    sxtb16 r4, r4\n"                   /* x12, x12 */
            "    sxtb16 r5, r5\n"                   /* x13, x13 */
            "    add r1, r1, r12\n"                 /* line, line, pitch */
            "    ldr lr, [r1]\n"                    /* x20, [line] */
            "    ldr r8, [r1, #8]\n"                /* x21, [line, #8] */
            "    ldr r10, [r1, #16]\n"              /* x22, [line, #16] */
            "    ldr r11, [r1, #24]\n"              /* x23, [line, #24] */
            "    sxtb16 lr, lr\n"                   /* x20, x20 */
            "    sxtb16 r8, r8\n"                   /* x21, x21 */
            "    sxtb16 r10, r10\n"                 /* x22, x22 */
            "    sxtb16 r11, r11\n"                 /* x23, x23 */
            /* Row 1 of V. */
            "    sadd16 r6, r2, lr\n"               /* t0, x10, x20 */
            "    sadd16 r7, r3, r8\n"               /* t1, x11, x21 */
            "    sadd16 r12, r4, r10\n"             /* t2, x12, x22 */
            "    sadd16 r1, r5, r11\n"              /* t3, x13, x23 */
            "    ssub16 r6, r6, r12\n"              /* v, t0, t2 */
            "    str r6, [r9, #96]\n"               /* v, [into, #96] */
            "    sadd16 r6, r7, r12\n"              /* v, t1, t2 */
            "    str r6, [r9]\n"                    /* v, [into] */
            "    ssub16 r6, r12, r7\n"              /* v, t2, t1 */
            "    str r6, [r9, #48]\n"               /* v, [into, #48] */
            "    ssub16 r6, r7, r1\n"               /* v, t1, t3 */
            "    str r6, [r9, #144]\n"              /* v, [into, #144] */
            /* Row 2 of V. */
            "    ssub16 r6, lr, r2\n"               /* t0, x20, x10 */
            "    ssub16 r7, r8, r3\n"               /* t1, x21, x11 */
            "    ssub16 r12, r10, r4\n"             /* t2, x22, x12 */
            "    ssub16 r1, r11, r5\n"              /* t3, x23, x13 */
            "    ssub16 r6, r6, r12\n"              /* v, t0, t2 */
            "    str r6, [r9, #288]\n"              /* v, [into, #288] */
            "    sadd16 r6, r7, r12\n"              /* v, t1, t2 */
            "    str r6, [r9, #192]\n"              /* v, [into, #192] */
            "    ssub16 r6, r12, r7\n"              /* v, t2, t1 */
            "    str r6, [r9, #240]\n"              /* v, [into, #240] */
            "    ssub16 r6, r7, r1\n"               /* v, t1, t3 */
            "    str r6, [r9, #336]\n"              /* v, [into, #336] */
            "    ldr r6, [r0]\n"                    /* outer0, [source] */
            "    ldr r7, [r0, #8]\n"                /* outer1, [source, #8] */
            "    ldr r12, [r0, #16]\n"              /* outer2, [source, #16] */
            "    ldr r1, [r0, #24]\n"               /* outer3, [source, #24] */
            "    sxtb16 r6, r6\n"                   /* outer0, outer0 */
            "    sxtb16 r7, r7\n"                   /* outer1, outer1 */
            "    sxtb16 r12, r12\n"                 /* outer2, outer2 */
            "    sxtb16 r1, r1\n"                   /* outer3, outer3 */
            /* Row 0 of V. */
            "    ssub16 r6, r6, lr\n"               /* t0, outer0, x20 */
            "    ssub16 r7, r7, r8\n"               /* t1, outer1, x21 */
            "    ssub16 r12, r12, r10\n"            /* t2, outer2, x22 */
            "    ssub16 r1, r1, r11\n"              /* t3, outer3, x23 */
            "    ssub16 r6, r6, r12\n"              /* v, t0, t2 */
            "    str r6, [r9, #480]\n"              /* v, [into, #480] */
            "    sadd16 r6, r7, r12\n"              /* v, t1, t2 */
            "    str r6, [r9, #384]\n"              /* v, [into, #384] */
            "    ssub16 r6, r12, r7\n"              /* v, t2, t1 */
            "    str r6, [r9, #432]\n"              /* v, [into, #432] */
            "    ssub16 r6, r7, r1\n"               /* v, t1, t3 */
            "    str r6, [r9, #528]\n"              /* v, [into, #528] */
            "    vmov r1, s1\n"                     /* line, pitches.high */
            "    add r1, r0, r1\n"                  /* line, source, line */
            "    ldr r6, [r1]\n"                    /* outer0, [line] */
            "    ldr r7, [r1, #8]\n"                /* outer1, [line, #8] */
            "    ldr r12, [r1, #16]\n"              /* outer2, [line, #16] */
            "    ldr r1, [r1, #24]\n"               /* outer3, [line, #24] */
            "    sxtb16 r6, r6\n"                   /* outer0, outer0 */
            "    sxtb16 r7, r7\n"                   /* outer1, outer1 */
            "    sxtb16 r12, r12\n"                 /* outer2, outer2 */
            "    sxtb16 r1, r1\n"                   /* outer3, outer3 */
            /* Row 3 of V. */
            "    ssub16 r6, r2, r6\n"               /* t0, x10, outer0 */
            "    ssub16 r7, r3, r7\n"               /* t1, x11, outer1 */
            "    ssub16 r12, r4, r12\n"             /* t2, x12, outer2 */
            "    ssub16 r1, r5, r1\n"               /* t3, x13, outer3 */
            "    ssub16 r6, r6, r12\n"              /* v, t0, t2 */
            "    str r6, [r9, #672]\n"              /* v, [into, #672] */
            "    sadd16 r6, r7, r12\n"              /* v, t1, t2 */
            "    str r6, [r9, #576]\n"              /* v, [into, #576] */
            "    ssub16 r6, r12, r7\n"              /* v, t2, t1 */
            "    str r6, [r9, #624]\n"              /* v, [into, #624] */
            "    ssub16 r6, r7, r1\n"               /* v, t1, t3 */
            "    str r6, [r9, #720]\n"              /* v, [into, #720] */
            "    add r9, r9, #12\n"                 /* into, into, #12 */
            /* Of four channels 1 and 3. */
            "    vmov r12, s0\n"                    /* pitch, pitches.low */
            "    add r1, r0, r12\n"                 /* line, source, pitch */
            "    ldr r2, [r1]\n"                    /* x10, [line] */
            "    ldr r3, [r1, #8]\n"                /* x11, [line, #8] */
            "    ldr r4, [r1, #16]\n"               /* x12, [line, #16] */
            "    ldr r5, [r1, #24]\n"               /* x13, [line, #24] */
            "    sxtb16 r2, r2, ror #8\n"           /* x10, x10, ror #8 */
            "    sxtb16 r3, r3, ror #8\n"           /* x11, x11, ror #8 */
            "    sxtb16 r4, r4, ror #8\n"           /* x12, x12, ror #8 */
            "    sxtb16 r5, r5, ror #8\n"           /* x13, x13, ror #8 */
            "    add r1, r1, r12\n"                 /* line, line, pitch */
            "    ldr lr, [r1]\n"                    /* x20, [line] */
            "    ldr r8, [r1, #8]\n"                /* x21, [line, #8] */
            "    ldr r10, [r1, #16]\n"              /* x22, [line, #16] */
            "    ldr r11, [r1, #24]\n"              /* x23, [line, #24] */
            "    sxtb16 lr, lr, ror #8\n"           /* x20, x20, ror #8 */
            "    sxtb16 r8, r8, ror #8\n"           /* x21, x21, ror #8 */
            "    sxtb16 r10, r10, ror #8\n"         /* x22, x22, ror #8 */
            "    sxtb16 r11, r11, ror #8\n"         /* x23, x23, ror #8 */
            /* Row 1 of V. */
            "    sadd16 r6, r2, lr\n"               /* t0, x10, x20 */
            "    sadd16 r7, r3, r8\n"               /* t1, x11, x21 */
            "    sadd16 r12, r4, r10\n"             /* t2, x12, x22 */
            "    sadd16 r1, r5, r11\n"              /* t3, x13, x23 */
            "    ssub16 r6, r6, r12\n"              /* v, t0, t2 */
            "    str r6, [r9, #96]\n"               /* v, [into, #96] */
            "    sadd16 r6, r7, r12\n"              /* v, t1, t2 */
            "    str r6, [r9]\n"                    /* v, [into] */
            "    ssub16 r6, r12, r7\n"              /* v, t2, t1 */
            "    str r6, [r9, #48]\n"               /* v, [into, #48] */
            "    ssub16 r6, r7, r1\n"               /* v, t1, t3 */
            "    str r6, [r9, #144]\n"              /* v, [into, #144] */
            /* Row 2 of V. */
            "    ssub16 r6, lr, r2\n"               /* t0, x20, x10 */
            "    ssub16 r7, r8, r3\n"               /* t1, x21, x11 */
            "    ssub16 r12, r10, r4\n"             /* t2, x22, x12 */
            "    ssub16 r1, r11, r5\n"              /* t3, x23, x13 */
            "    ssub16 r6, r6, r12\n"              /* v, t0, t2 */
            "    str r6, [r9, #288]\n"              /* v, [into, #288] */
            "    sadd16 r6, r7, r12\n"              /* v, t1, t2 */
            "    str r6, [r9, #192]\n"              /* v, [into, #192] */
            "    ssub16 r6, r12, r7\n"              /* v, t2, t1 */
            "    str r6, [r9, #240]\n"              /* v, [into, #240] */
            "    ssub16 r6, r7, r1\n"               /* v, t1, t3 */
            "    str r6, [r9, #336]\n"              /* v, [into, #336] */
            "    ldr r6, [r0]\n"                    /* outer0, [source] */
            "    ldr r7, [r0, #8]\n"                /* outer1, [source, #8] */
            "    ldr r12, [r0, #16]\n"              /* outer2, [source, #16] */
            "    ldr r1, [r0, #24]\n"               /* outer3, [source, #24] */
            "    sxtb16 r6, r6, ror #8\n"           /* outer0, outer0, ror #8 */
            "    sxtb16 r7, r7, ror #8\n"           /* outer1, outer1, ror #8 */
            "    sxtb16 r12, r12, ror #8\n"         /* outer2, outer2, ror #8 */
            "    sxtb16 r1, r1, ror #8\n"           /* outer3, outer3, ror #8 */
            /* Row 0 of V. */
            "    ssub16 r6, r6, lr\n"               /* t0, outer0, x20 */
            "    ssub16 r7, r7, r8\n"               /* t1, outer1, x21 */
            "    ssub16 r12, r12, r10\n"            /* t2, outer2, x22 */
            "    ssub16 r1, r1, r11\n"              /* t3, outer3, x23 */
            "    ssub16 r6, r6, r12\n"              /* v, t0, t2 */
            "    str r6, [r9, #480]\n"              /* v, [into, #480] */
            "    sadd16 r6, r7, r12\n"              /* v, t1, t2 */
            "    str r6, [r9, #384]\n"              /* v, [into, #384] */
            "    ssub16 r6, r12, r7\n"              /* v, t2, t1 */
            "    str r6, [r9, #432]\n"              /* v, [into, #432] */
            "    ssub16 r6, r7, r1\n"               /* v, t1, t3 */
            "    str r6, [r9, #528]\n"              /* v, [into, #528] */
            "    vmov r1, s1\n"                     /* line, pitches.high */
            "    add r1, r0, r1\n"                  /* line, source, line */
            "    ldr r6, [r1]\n"                    /* outer0, [line] */
            "    ldr r7, [r1, #8]\n"                /* outer1, [line, #8] */
            "    ldr r12, [r1, #16]\n"              /* outer2, [line, #16] */
            "    ldr r1, [r1, #24]\n"               /* outer3, [line, #24] */
            "    sxtb16 r6, r6, ror #8\n"           /* outer0, outer0, ror #8 */
            "    sxtb16 r7, r7, ror #8\n"           /* outer1, outer1, ror #8 */
            "    sxtb16 r12, r12, ror #8\n"         /* outer2, outer2, ror #8 */
            "    sxtb16 r1, r1, ror #8\n"           /* outer3, outer3, ror #8 */
            /* Row 3 of V. */
            "    ssub16 r6, r2, r6\n"               /* t0, x10, outer0 */
            "    ssub16 r7, r3, r7\n"               /* t1, x11, outer1 */
            "    ssub16 r12, r4, r12\n"             /* t2, x12, outer2 */
            "    ssub16 r1, r5, r1\n"               /* t3, x13, outer3 */
            "    ssub16 r6, r6, r12\n"              /* v, t0, t2 */
            "    str r6, [r9, #672]\n"              /* v, [into, #672] */
            "    sadd16 r6, r7, r12\n"              /* v, t1, t2 */
            "    str r6, [r9, #576]\n"              /* v, [into, #576] */
            "    ssub16 r6, r12, r7\n"              /* v, t2, t1 */
            "    str r6, [r9, #624]\n"              /* v, [into, #624] */
            "    ssub16 r6, r7, r1\n"               /* v, t1, t3 */
            "    str r6, [r9, #720]\n"              /* v, [into, #720] */
            "    add r9, r9, #12\n"                 /* into, into, #12 */
            "    add r0, r0, #4\n"                  /* source, source, #4 */
            "    vmov r1, s2\n"                     /* channels_end, end_kept */
            "    cmp r0, r1\n"                      /* source, channels_end */
            "    bne 4b\n"
            /* To the next window, two columns on, or at the end of the row to the next row. */
            "    sub r9, r9, #44\n"                 /* into, into, #44 */
            "    vmov r8, s30\n"                    /* frame, frame_kept */
            "    add r10, r8, #32\n"                /* state, frame, #32 */
            /* state, {source, column, row, target, last_column, last_row, wrap, target_wrap, */
            /* first_column, pitch, target_pitch} */
            "    ldmia r10, {r0-r7, r11, r12, lr}\n"
            "    cmp r1, r4\n"                      /* column, last_column */
            "    beq 7f\n"
            "    add r1, r1, #2\n"                  /* column, column, #2 */
            "    add r0, r0, #16\n"                 /* source, source, #16 */
            "    add r3, r3, #8\n"                  /* target, target, #8 */
            "    cmp r1, r4\n"                      /* column, last_column */
            "    ittt gt\n"
            "    subgt r1, r1, #1\n"                /* column, column, #1 */
            "    subgt r0, r0, #8\n"                /* source, source, #8 */
            "    subgt r3, r3, #4\n"                /* target, target, #4 */
            "5:\n"
            "    stmia r10, {r0-r3}\n"              /* state, {source, column, row, target} */
            "6:\n"
            "    add r0, r8, #112\n"                /* into_end, frame, #112 */
            "    cmp r9, r0\n"                      /* into, into_end */
            "    bne 2b\n"
            "    b 14f\n"
            /* The next row of windows. Behind the last one of all it comes again, for nobody. */
            "7:\n"
            "    cmp r2, r5\n"                      /* row, last_row */
            "    beq 6b\n"
            "    mov r1, r11\n"                     /* column, first_column */
            "    add r2, r2, #2\n"                  /* row, row, #2 */
            "    add r0, r0, r6\n"                  /* source, source, wrap */
            "    add r3, r3, r7\n"                  /* target, target, target_wrap */
            "    cmp r2, r5\n"                      /* row, last_row */
            "    ittt gt\n"
            "    subgt r2, r2, #1\n"                /* row, row, #1 */
            "    subgt r0, r0, r12\n"               /* source, source, pitch */
            "    subgt r3, r3, lr\n"                /* target, target, target_pitch */
            "    b 5b\n"
            "8:\n"
            /* A window that leaves the image is copied, with the zero point around it. */
            "    movw r6, #868\n"                   /* patch, #868 */
            "    add r6, r8, r6\n"                  /* patch, frame, patch */
            "    movw r12, #128\n"                  /* patch_end, #128 */
            "    add r12, r12, r6\n"                /* patch_end, patch_end, patch */
            "    mov r7, r6\n"                      /* at, patch */
            "    ldr r3, [r8, #96]\n"               /* zeros, [frame, #96] */
            "    pkhbt r3, r3, r3, lsl #16\n"       /* zeros, zeros, zeros, lsl #16 */
            "    mov r4, r3\n"                      /* zeros1, zeros */
            "    mov r5, r3\n"                      /* zeros2, zeros */
            "    mov lr, r3\n"                      /* zeros3, zeros */
            "9:\n"
            "    stmia r7!, {r3-r5, lr}\n"          /* at!, {zeros, zeros1, zeros2, zeros3} */
            "    stmia r7!, {r3-r5, lr}\n"          /* at!, {zeros, zeros1, zeros2, zeros3} */
            "    cmp r7, r12\n"                     /* at, patch_end */
            "    bne 9b\n"
            "    rsb r4, r1, #0\n"                  /* outside, column, #0 */
            "    bic r4, r4, r4, asr #31\n"         /* outside, outside, outside, asr #31 */
            "    ldr r3, [r8, #88]\n"               /* inside, [frame, #88] */
            "    sub r3, r3, r1\n"                  /* inside, inside, column */
            "    movw r1, #4\n"                     /* span, #4 */
            "    cmp r3, r1\n"                      /* inside, span */
            "    it gt\n"
            "    movgt r3, r1\n"                    /* inside, span */
            "    subs r3, r3, r4\n"                 /* inside, inside, outside */
            "    ble 13f\n"
            "    movw r1, #8\n"                     /* channels, #8 */
            "    mul r3, r3, r1\n"                  /* inside, inside, channels */
            "    mul r4, r4, r1\n"                  /* outside, outside, channels */
            "    add r0, r0, r4\n"                  /* inside_source, source, outside */
            "    add r6, r6, r4\n"                  /* patch, patch, outside */
            "    mov r1, r2\n"                      /* patch_row, row */
            "    ldr r2, [r8, #92]\n"               /* height, [frame, #92] */
            "    movw r4, #4\n"                     /* rows_left, #4 */
            "    ldr r7, [r8, #68]\n"               /* pitch, [frame, #68] */
            "    movw lr, #32\n"                    /* patch_pitch, #32 */
            "10:\n"
            "    cmp r1, r2\n"                      /* patch_row, height */
            "    bhs 12f\n"
            "    mov r5, r3\n"                      /* left, inside */
            "    subs r5, r5, #4\n"                 /* left, left, #4 */
            "11:\n"
            "    ldr r12, [r0, r5]\n"               /* copied, [inside_source, left] */
            "    str r12, [r6, r5]\n"               /* copied, [patch, left] */
            "    subs r5, r5, #4\n"                 /* left, left, #4 */
            "    bhs 11b\n"
            "12:\n"
            "    add r0, r0, r7\n"                  /* inside_source, inside_source, pitch */
            "    add r6, r6, lr\n"                  /* patch, patch, patch_pitch */
            "    add r1, r1, #1\n"                  /* patch_row, patch_row, #1 */
            "    subs r4, r4, #1\n"                 /* rows_left, rows_left, #1 */
            "    bne 10b\n"
            "13:\n"
            "    vmov r8, s30\n"                    /* frame, frame_kept */
            "    movw r6, #868\n"                   /* patch, #868 */
            "    add r0, r8, r6\n"                  /* source, frame, patch */
            "    mov r12, #32\n"                    /* pitch, #32 */
            "    mov r1, #96\n"                     /* three_pitches, #96 */
            "    vmov d0, r12, r1\n"                /* pitches, pitch, three_pitches */
            "    b 3b\n"
            "14:\n"
            "    mov r0, #2\n"                      /* filters_left, #2 */
            "    str r0, [r8, #24]\n"               /* filters_left, [frame, #24] */
            "    vmov r2, s31\n"                    /* stream, stream_begin */
            "    add r10, r8, #100\n"               /* position, frame, #100 */
            /* Two filters: products of 16 positions, which give four outputs of each window. */
            "15:\n"
            "    ldmia r2!, {r6, r12}\n"            /* stream!, {even_bias, odd_bias} */
            /* Row 1, columns 1 and 2: their sum and difference. */
            "    ldmia r2!, {r0, r3, r9}\n"         /* stream!, {u0, u1, u2} */
            "    ldmia r10!, {r1, r4, r11}\n"       /* position!, {v0, v1, v2} */
            "    smlad lr, r0, r1, r6\n"            /* even0, u0, v0, even_bias */
            "    smlad r5, r0, r4, r6\n"            /* even1, u0, v1, even_bias */
            "    smlad r6, r0, r11, r6\n"           /* even2, u0, v2, even_bias */
            "    smlad r8, r3, r1, r12\n"           /* odd0, u1, v0, odd_bias */
            "    smlad r7, r3, r4, r12\n"           /* odd1, u1, v1, odd_bias */
            "    smlad r12, r3, r11, r12\n"         /* odd2, u1, v2, odd_bias */
            "    ldmia r10!, {r1, r4, r11}\n"       /* position!, {v0, v1, v2} */
            "    smlad lr, r9, r1, lr\n"            /* even0, u2, v0, even0 */
            "    smlad r5, r9, r4, r5\n"            /* even1, u2, v1, even1 */
            "    smlad r6, r9, r11, r6\n"           /* even2, u2, v2, even2 */
            "    ldmia r2!, {r0, r3, r9}\n"         /* stream!, {u0, u1, u2} */
            "    smlad r8, r0, r1, r8\n"            /* odd0, u0, v0, odd0 */
            "    smlad r7, r0, r4, r7\n"            /* odd1, u0, v1, odd1 */
            "    smlad r12, r0, r11, r12\n"         /* odd2, u0, v2, odd2 */
            "    ldmia r10!, {r1, r4, r11}\n"       /* position!, {v0, v1, v2} */
            "    smlad lr, r3, r1, lr\n"            /* even0, u1, v0, even0 */
            "    smlad r5, r3, r4, r5\n"            /* even1, u1, v1, even1 */
            "    smlad r6, r3, r11, r6\n"           /* even2, u1, v2, even2 */
            "    smlad r8, r9, r1, r8\n"            /* odd0, u2, v0, odd0 */
            "    smlad r7, r9, r4, r7\n"            /* odd1, u2, v1, odd1 */
            "    smlad r12, r9, r11, r12\n"         /* odd2, u2, v2, odd2 */
            "    ldmia r2!, {r0, r3}\n"             /* stream!, {u0, u1} */
            "    ldmia r10!, {r1, r4, r11}\n"       /* position!, {v0, v1, v2} */
            "    smlad lr, r0, r1, lr\n"            /* even0, u0, v0, even0 */
            "    smlad r5, r0, r4, r5\n"            /* even1, u0, v1, even1 */
            "    smlad r6, r0, r11, r6\n"           /* even2, u0, v2, even2 */
            "    smlad r8, r3, r1, r8\n"            /* odd0, u1, v0, odd0 */
            "    smlad r7, r3, r4, r7\n"            /* odd1, u1, v1, odd1 */
            "    smlad r12, r3, r11, r12\n"         /* odd2, u1, v2, odd2 */
            "    vmov d0, lr, r5\n"                 /* difference0, even0, even1 */
            "    vmov d1, r6, r8\n"                 /* difference1, even2, odd0 */
            "    vmov d2, r7, r12\n"                /* difference2, odd1, odd2 */
            "    ldmia r2!, {r0, r3, r9}\n"         /* stream!, {u0, u1, u2} */
            "    ldmia r10!, {r1, r4, r11}\n"       /* position!, {v0, v1, v2} */
            "    smlad lr, r0, r1, lr\n"            /* even0, u0, v0, even0 */
            "    smlad r5, r0, r4, r5\n"            /* even1, u0, v1, even1 */
            "    smlad r6, r0, r11, r6\n"           /* even2, u0, v2, even2 */
            "    smlad r8, r3, r1, r8\n"            /* odd0, u1, v0, odd0 */
            "    smlad r7, r3, r4, r7\n"            /* odd1, u1, v1, odd1 */
            "    smlad r12, r3, r11, r12\n"         /* odd2, u1, v2, odd2 */
            "    ldmia r10!, {r1, r4, r11}\n"       /* position!, {v0, v1, v2} */
            "    smlad lr, r9, r1, lr\n"            /* even0, u2, v0, even0 */
            "    smlad r5, r9, r4, r5\n"            /* even1, u2, v1, even1 */
            "    smlad r6, r9, r11, r6\n"           /* even2, u2, v2, even2 */
            "    ldmia r2!, {r0, r3, r9}\n"         /* stream!, {u0, u1, u2} */
            "    smlad r8, r0, r1, r8\n"            /* odd0, u0, v0, odd0 */
            "    smlad r7, r0, r4, r7\n"            /* odd1, u0, v1, odd1 */
            "    smlad r12, r0, r11, r12\n"         /* odd2, u0, v2, odd2 */
            "    ldmia r10!, {r1, r4, r11}\n"       /* position!, {v0, v1, v2} */
            "    smlad lr, r3, r1, lr\n"            /* even0, u1, v0, even0 */
            "    smlad r5, r3, r4, r5\n"            /* even1, u1, v1, even1 */
            "    smlad r6, r3, r11, r6\n"           /* even2, u1, v2, even2 */
            "    smlad r8, r9, r1, r8\n"            /* odd0, u2, v0, odd0 */
            "    smlad r7, r9, r4, r7\n"            /* odd1, u2, v1, odd1 */
            "    smlad r12, r9, r11, r12\n"         /* odd2, u2, v2, odd2 */
            "    ldmia r2!, {r0, r3}\n"             /* stream!, {u0, u1} */
            "    ldmia r10!, {r1, r4, r11}\n"       /* position!, {v0, v1, v2} */
            "    smlad lr, r0, r1, lr\n"            /* even0, u0, v0, even0 */
            "    smlad r5, r0, r4, r5\n"            /* even1, u0, v1, even1 */
            "    smlad r6, r0, r11, r6\n"           /* even2, u0, v2, even2 */
            "    smlad r8, r3, r1, r8\n"            /* odd0, u1, v0, odd0 */
            "    smlad r7, r3, r4, r7\n"            /* odd1, u1, v1, odd1 */
            "    smlad r12, r3, r11, r12\n"         /* odd2, u1, v2, odd2 */
            "    vmov r0, r1, d0\n"                 /* held0, held1, difference0 */
            "    vmov r3, r4, d1\n"                 /* held2, held3, difference1 */
            "    vmov r9, r11, d2\n"                /* held4, held5, difference2 */
            "    rsb r0, lr, r0, lsl #1\n"          /* held0, even0, held0, lsl #1 */
            "    rsb r1, r5, r1, lsl #1\n"          /* held1, even1, held1, lsl #1 */
            "    rsb r3, r6, r3, lsl #1\n"          /* held2, even2, held2, lsl #1 */
            "    rsb r4, r8, r4, lsl #1\n"          /* held3, odd0, held3, lsl #1 */
            "    rsb r9, r7, r9, lsl #1\n"          /* held4, odd1, held4, lsl #1 */
            "    rsb r11, r12, r11, lsl #1\n"       /* held5, odd2, held5, lsl #1 */
            "    vmov d0, r0, r1\n"                 /* difference0, held0, held1 */
            "    vmov d1, r3, r4\n"                 /* difference1, held2, held3 */
            "    vmov d2, r9, r11\n"                /* difference2, held4, held5 */
            /* Row 1, column 0. */
            "    ldmia r2!, {r0, r3, r9}\n"         /* stream!, {u0, u1, u2} */
            "    ldmia r10!, {r1, r4, r11}\n"       /* position!, {v0, v1, v2} */
            "    smlad lr, r0, r1, lr\n"            /* even0, u0, v0, even0 */
            "    smlad r5, r0, r4, r5\n"            /* even1, u0, v1, even1 */
            "    smlad r6, r0, r11, r6\n"           /* even2, u0, v2, even2 */
            "    smlad r8, r3, r1, r8\n"            /* odd0, u1, v0, odd0 */
            "    smlad r7, r3, r4, r7\n"            /* odd1, u1, v1, odd1 */
            "    smlad r12, r3, r11, r12\n"         /* odd2, u1, v2, odd2 */
            "    ldmia r10!, {r1, r4, r11}\n"       /* position!, {v0, v1, v2} */
            "    smlad lr, r9, r1, lr\n"            /* even0, u2, v0, even0 */
            "    smlad r5, r9, r4, r5\n"            /* even1, u2, v1, even1 */
            "    smlad r6, r9, r11, r6\n"           /* even2, u2, v2, even2 */
            "    ldmia r2!, {r0, r3, r9}\n"         /* stream!, {u0, u1, u2} */
            "    smlad r8, r0, r1, r8\n"            /* odd0, u0, v0, odd0 */
            "    smlad r7, r0, r4, r7\n"            /* odd1, u0, v1, odd1 */
            "    smlad r12, r0, r11, r12\n"         /* odd2, u0, v2, odd2 */
            "    ldmia r10!, {r1, r4, r11}\n"       /* position!, {v0, v1, v2} */
            "    smlad lr, r3, r1, lr\n"            /* even0, u1, v0, even0 */
            "    smlad r5, r3, r4, r5\n"            /* even1, u1, v1, even1 */
            "    smlad r6, r3, r11, r6\n"           /* even2, u1, v2, even2 */
            "    smlad r8, r9, r1, r8\n"            /* odd0, u2, v0, odd0 */
            "    smlad r7, r9, r4, r7\n"            /* odd1, u2, v1, odd1 */
            "    smlad r12, r9, r11, r12\n"         /* odd2, u2, v2, odd2 */
            "    ldmia r2!, {r0, r3}\n"             /* stream!, {u0, u1} */
            "    ldmia r10!, {r1, r4, r11}\n"       /* position!, {v0, v1, v2} */
            "    smlad lr, r0, r1, lr\n"            /* even0, u0, v0, even0 */
            "    smlad r5, r0, r4, r5\n"            /* even1, u0, v1, even1 */
            "    smlad r6, r0, r11, r6\n"           /* even2, u0, v2, even2 */
            "    smlad r8, r3, r1, r8\n"            /* odd0, u1, v0, odd0 */
            "    smlad r7, r3, r4, r7\n"            /* odd1, u1, v1, odd1 */
            "    smlad r12, r3, r11, r12\n"         /* odd2, u1, v2, odd2 */
            "    vmov d3, lr, r5\n"                 /* above_left0, even0, even1 */
            "    vmov d4, r6, r8\n"                 /* above_left1, even2, odd0 */
            "    vmov d5, r7, r12\n"                /* above_left2, odd1, odd2 */
            /* Row 1, column 3. */
            "    vmov lr, r5, d0\n"                 /* even0, even1, difference0 */
            "    vmov r6, r8, d1\n"                 /* even2, odd0, difference1 */
            "    vmov r7, r12, d2\n"                /* odd1, odd2, difference2 */
            "    ldmia r2!, {r0, r3, r9}\n"         /* stream!, {u0, u1, u2} */
            "    ldmia r10!, {r1, r4, r11}\n"       /* position!, {v0, v1, v2} */
            "    smlad lr, r0, r1, lr\n"            /* even0, u0, v0, even0 */
            "    smlad r5, r0, r4, r5\n"            /* even1, u0, v1, even1 */
            "    smlad r6, r0, r11, r6\n"           /* even2, u0, v2, even2 */
            "    smlad r8, r3, r1, r8\n"            /* odd0, u1, v0, odd0 */
            "    smlad r7, r3, r4, r7\n"            /* odd1, u1, v1, odd1 */
            "    smlad r12, r3, r11, r12\n"         /* odd2, u1, v2, odd2 */
            "    ldmia r10!, {r1, r4, r11}\n"       /* position!, {v0, v1, v2} */
            "    smlad lr, r9, r1, lr\n"            /* even0, u2, v0, even0 */
            "    smlad r5, r9, r4, r5\n"            /* even1, u2, v1, even1 */
            "    smlad r6, r9, r11, r6\n"           /* even2, u2, v2, even2 */
            "    ldmia r2!, {r0, r3, r9}\n"         /* stream!, {u0, u1, u2} */
            "    smlad r8, r0, r1, r8\n"            /* odd0, u0, v0, odd0 */
            "    smlad r7, r0, r4, r7\n"            /* odd1, u0, v1, odd1 */
            "    smlad r12, r0, r11, r12\n"         /* odd2, u0, v2, odd2 */
            "    ldmia r10!, {r1, r4, r11}\n"       /* position!, {v0, v1, v2} */
            "    smlad lr, r3, r1, lr\n"            /* even0, u1, v0, even0 */
            "    smlad r5, r3, r4, r5\n"            /* even1, u1, v1, even1 */
            "    smlad r6, r3, r11, r6\n"           /* even2, u1, v2, even2 */
            "    smlad r8, r9, r1, r8\n"            /* odd0, u2, v0, odd0 */
            "    smlad r7, r9, r4, r7\n"            /* odd1, u2, v1, odd1 */
            "    smlad r12, r9, r11, r12\n"         /* odd2, u2, v2, odd2 */
            "    ldmia r2!, {r0, r3}\n"             /* stream!, {u0, u1} */
            "    ldmia r10!, {r1, r4, r11}\n"       /* position!, {v0, v1, v2} */
            "    smlad lr, r0, r1, lr\n"            /* even0, u0, v0, even0 */
            "    smlad r5, r0, r4, r5\n"            /* even1, u0, v1, even1 */
            "    smlad r6, r0, r11, r6\n"           /* even2, u0, v2, even2 */
            "    smlad r8, r3, r1, r8\n"            /* odd0, u1, v0, odd0 */
            "    smlad r7, r3, r4, r7\n"            /* odd1, u1, v1, odd1 */
            "    smlad r12, r3, r11, r12\n"         /* odd2, u1, v2, odd2 */
            "    vmov d6, lr, r5\n"                 /* above_right0, even0, even1 */
            "    vmov d7, r6, r8\n"                 /* above_right1, even2, odd0 */
            "    vmov d8, r7, r12\n"                /* above_right2, odd1, odd2 */
            /* Row 2, columns 1 and 2: their sum and difference. */
            "    ldmia r2!, {r0, r3, r9}\n"         /* stream!, {u0, u1, u2} */
            "    ldmia r10!, {r1, r4, r11}\n"       /* position!, {v0, v1, v2} */
            "    smuad lr, r0, r1\n"                /* even0, u0, v0 */
            "    smuad r5, r0, r4\n"                /* even1, u0, v1 */
            "    smuad r6, r0, r11\n"               /* even2, u0, v2 */
            "    smuad r8, r3, r1\n"                /* odd0, u1, v0 */
            "    smuad r7, r3, r4\n"                /* odd1, u1, v1 */
            "    smuad r12, r3, r11\n"              /* odd2, u1, v2 */
            "    ldmia r10!, {r1, r4, r11}\n"       /* position!, {v0, v1, v2} */
            "    smlad lr, r9, r1, lr\n"            /* even0, u2, v0, even0 */
            "    smlad r5, r9, r4, r5\n"            /* even1, u2, v1, even1 */
            "    smlad r6, r9, r11, r6\n"           /* even2, u2, v2, even2 */
            "    ldmia r2!, {r0, r3, r9}\n"         /* stream!, {u0, u1, u2} */
            "    smlad r8, r0, r1, r8\n"            /* odd0, u0, v0, odd0 */
            "    smlad r7, r0, r4, r7\n"            /* odd1, u0, v1, odd1 */
            "    smlad r12, r0, r11, r12\n"         /* odd2, u0, v2, odd2 */
            "    ldmia r10!, {r1, r4, r11}\n"       /* position!, {v0, v1, v2} */
            "    smlad lr, r3, r1, lr\n"            /* even0, u1, v0, even0 */
            "    smlad r5, r3, r4, r5\n"            /* even1, u1, v1, even1 */
            "    smlad r6, r3, r11, r6\n"           /* even2, u1, v2, even2 */
            "    smlad r8, r9, r1, r8\n"            /* odd0, u2, v0, odd0 */
            "    smlad r7, r9, r4, r7\n"            /* odd1, u2, v1, odd1 */
            "    smlad r12, r9, r11, r12\n"         /* odd2, u2, v2, odd2 */
            "    ldmia r2!, {r0, r3}\n"             /* stream!, {u0, u1} */
            "    ldmia r10!, {r1, r4, r11}\n"       /* position!, {v0, v1, v2} */
            "    smlad lr, r0, r1, lr\n"            /* even0, u0, v0, even0 */
            "    smlad r5, r0, r4, r5\n"            /* even1, u0, v1, even1 */
            "    smlad r6, r0, r11, r6\n"           /* even2, u0, v2, even2 */
            "    smlad r8, r3, r1, r8\n"            /* odd0, u1, v0, odd0 */
            "    smlad r7, r3, r4, r7\n"            /* odd1, u1, v1, odd1 */
            "    smlad r12, r3, r11, r12\n"         /* odd2, u1, v2, odd2 */
            "    vmov d0, lr, r5\n"                 /* difference0, even0, even1 */
            "    vmov d1, r6, r8\n"                 /* difference1, even2, odd0 */
            "    vmov d2, r7, r12\n"                /* difference2, odd1, odd2 */
            "    ldmia r2!, {r0, r3, r9}\n"         /* stream!, {u0, u1, u2} */
            "    ldmia r10!, {r1, r4, r11}\n"       /* position!, {v0, v1, v2} */
            "    smlad lr, r0, r1, lr\n"            /* even0, u0, v0, even0 */
            "    smlad r5, r0, r4, r5\n"            /* even1, u0, v1, even1 */
            "    smlad r6, r0, r11, r6\n"           /* even2, u0, v2, even2 */
            "    smlad r8, r3, r1, r8\n"            /* odd0, u1, v0, odd0 */
            "    smlad r7, r3, r4, r7\n"            /* odd1, u1, v1, odd1 */
            "    smlad r12, r3, r11, r12\n"         /* odd2, u1, v2, odd2 */
            "    ldmia r10!, {r1, r4, r11}\n"       /* position!, {v0, v1, v2} */
            "    smlad lr, r9, r1, lr\n"            /* even0, u2, v0, even0 */
            "    smlad r5, r9, r4, r5\n"            /* even1, u2, v1, even1 */
            "    smlad r6, r9, r11, r6\n"           /* even2, u2, v2, even2 */
            "    ldmia r2!, {r0, r3, r9}\n"         /* stream!, {u0, u1, u2} */
            "    smlad r8, r0, r1, r8\n"            /* odd0, u0, v0, odd0 */
            "    smlad r7, r0, r4, r7\n"            /* odd1, u0, v1, odd1 */
            "    smlad r12, r0, r11, r12\n"         /* odd2, u0, v2, odd2 */
            "    ldmia r10!, {r1, r4, r11}\n"       /* position!, {v0, v1, v2} */
            "    smlad lr, r3, r1, lr\n"            /* even0, u1, v0, even0 */
            "    smlad r5, r3, r4, r5\n"            /* even1, u1, v1, even1 */
            "    smlad r6, r3, r11, r6\n"           /* even2, u1, v2, even2 */
            "    smlad r8, r9, r1, r8\n"            /* odd0, u2, v0, odd0 */
            "    smlad r7, r9, r4, r7\n"            /* odd1, u2, v1, odd1 */
            "    smlad r12, r9, r11, r12\n"         /* odd2, u2, v2, odd2 */
            "    ldmia r2!, {r0, r3}\n"             /* stream!, {u0, u1} */
            "    ldmia r10!, {r1, r4, r11}\n"       /* position!, {v0, v1, v2} */
            "    smlad lr, r0, r1, lr\n"            /* even0, u0, v0, even0 */
            "    smlad r5, r0, r4, r5\n"            /* even1, u0, v1, even1 */
            "    smlad r6, r0, r11, r6\n"           /* even2, u0, v2, even2 */
            "    smlad r8, r3, r1, r8\n"            /* odd0, u1, v0, odd0 */
            "    smlad r7, r3, r4, r7\n"            /* odd1, u1, v1, odd1 */
            "    smlad r12, r3, r11, r12\n"         /* odd2, u1, v2, odd2 */
            "    vmov r0, r1, d0\n"                 /* held0, held1, difference0 */
            "    vmov r3, r4, d1\n"                 /* held2, held3, difference1 */
            "    vmov r9, r11, d2\n"                /* held4, held5, difference2 */
            "    rsb r0, lr, r0, lsl #1\n"          /* held0, even0, held0, lsl #1 */
            "    rsb r1, r5, r1, lsl #1\n"          /* held1, even1, held1, lsl #1 */
            "    rsb r3, r6, r3, lsl #1\n"          /* held2, even2, held2, lsl #1 */
            "    rsb r4, r8, r4, lsl #1\n"          /* held3, odd0, held3, lsl #1 */
            "    rsb r9, r7, r9, lsl #1\n"          /* held4, odd1, held4, lsl #1 */
            "    rsb r11, r12, r11, lsl #1\n"       /* held5, odd2, held5, lsl #1 */
            "    vmov d0, r0, r1\n"                 /* difference0, held0, held1 */
            "    vmov d1, r3, r4\n"                 /* difference1, held2, held3 */
            "    vmov d2, r9, r11\n"                /* difference2, held4, held5 */
            /* Row 2, column 0. */
            "    ldmia r2!, {r0, r3, r9}\n"         /* stream!, {u0, u1, u2} */
            "    ldmia r10!, {r1, r4, r11}\n"       /* position!, {v0, v1, v2} */
            "    smlad lr, r0, r1, lr\n"            /* even0, u0, v0, even0 */
            "    smlad r5, r0, r4, r5\n"            /* even1, u0, v1, even1 */
            "    smlad r6, r0, r11, r6\n"           /* even2, u0, v2, even2 */
            "    smlad r8, r3, r1, r8\n"            /* odd0, u1, v0, odd0 */
            "    smlad r7, r3, r4, r7\n"            /* odd1, u1, v1, odd1 */
            "    smlad r12, r3, r11, r12\n"         /* odd2, u1, v2, odd2 */
            "    ldmia r10!, {r1, r4, r11}\n"       /* position!, {v0, v1, v2} */
            "    smlad lr, r9, r1, lr\n"            /* even0, u2, v0, even0 */
            "    smlad r5, r9, r4, r5\n"            /* even1, u2, v1, even1 */
            "    smlad r6, r9, r11, r6\n"           /* even2, u2, v2, even2 */
            "    ldmia r2!, {r0, r3, r9}\n"         /* stream!, {u0, u1, u2} */
            "    smlad r8, r0, r1, r8\n"            /* odd0, u0, v0, odd0 */
            "    smlad r7, r0, r4, r7\n"            /* odd1, u0, v1, odd1 */
            "    smlad r12, r0, r11, r12\n"         /* odd2, u0, v2, odd2 */
            "    ldmia r10!, {r1, r4, r11}\n"       /* position!, {v0, v1, v2} */
            "    smlad lr, r3, r1, lr\n"            /* even0, u1, v0, even0 */
            "    smlad r5, r3, r4, r5\n"            /* even1, u1, v1, even1 */
            "    smlad r6, r3, r11, r6\n"           /* even2, u1, v2, even2 */
            "    smlad r8, r9, r1, r8\n"            /* odd0, u2, v0, odd0 */
            "    smlad r7, r9, r4, r7\n"            /* odd1, u2, v1, odd1 */
            "    smlad r12, r9, r11, r12\n"         /* odd2, u2, v2, odd2 */
            "    ldmia r2!, {r0, r3}\n"             /* stream!, {u0, u1} */
            "    ldmia r10!, {r1, r4, r11}\n"       /* position!, {v0, v1, v2} */
            "    smlad lr, r0, r1, lr\n"            /* even0, u0, v0, even0 */
            "    smlad r5, r0, r4, r5\n"            /* even1, u0, v1, even1 */
            "    smlad r6, r0, r11, r6\n"           /* even2, u0, v2, even2 */
            "    smlad r8, r3, r1, r8\n"            /* odd0, u1, v0, odd0 */
            "    smlad r7, r3, r4, r7\n"            /* odd1, u1, v1, odd1 */
            "    smlad r12, r3, r11, r12\n"         /* odd2, u1, v2, odd2 */
            /* Of rows 1 and 2 the difference, for below, and the sum, for above. */
            "    vmov r0, r1, d3\n"                 /* held0, held1, above_left0 */
            "    vmov r3, r4, d4\n"                 /* held2, held3, above_left1 */
            "    vmov r9, r11, d5\n"                /* held4, held5, above_left2 */
            "    sub r0, r0, lr\n"                  /* held0, held0, even0 */
            "    sub r1, r1, r5\n"                  /* held1, held1, even1 */
            "    sub r3, r3, r6\n"                  /* held2, held2, even2 */
            "    sub r4, r4, r8\n"                  /* held3, held3, odd0 */
            "    sub r9, r9, r7\n"                  /* held4, held4, odd1 */
            "    sub r11, r11, r12\n"               /* held5, held5, odd2 */
            "    add lr, r0, lr, lsl #1\n"          /* even0, held0, even0, lsl #1 */
            "    add r5, r1, r5, lsl #1\n"          /* even1, held1, even1, lsl #1 */
            "    add r6, r3, r6, lsl #1\n"          /* even2, held2, even2, lsl #1 */
            "    add r8, r4, r8, lsl #1\n"          /* odd0, held3, odd0, lsl #1 */
            "    add r7, r9, r7, lsl #1\n"          /* odd1, held4, odd1, lsl #1 */
            "    add r12, r11, r12, lsl #1\n"       /* odd2, held5, odd2, lsl #1 */
            "    vmov d9, r0, r1\n"                 /* below_left0, held0, held1 */
            "    vmov d10, r3, r4\n"                /* below_left1, held2, held3 */
            "    vmov d11, r9, r11\n"               /* below_left2, held4, held5 */
            "    vmov d3, lr, r5\n"                 /* above_left0, even0, even1 */
            "    vmov d4, r6, r8\n"                 /* above_left1, even2, odd0 */
            "    vmov d5, r7, r12\n"                /* above_left2, odd1, odd2 */
            /* Row 2, column 3. */
            "    vmov lr, r5, d0\n"                 /* even0, even1, difference0 */
            "    vmov r6, r8, d1\n"                 /* even2, odd0, difference1 */
            "    vmov r7, r12, d2\n"                /* odd1, odd2, difference2 */
            "    ldmia r2!, {r0, r3, r9}\n"         /* stream!, {u0, u1, u2} */
            "    ldmia r10!, {r1, r4, r11}\n"       /* position!, {v0, v1, v2} */
            "    smlad lr, r0, r1, lr\n"            /* even0, u0, v0, even0 */
            "    smlad r5, r0, r4, r5\n"            /* even1, u0, v1, even1 */
            "    smlad r6, r0, r11, r6\n"           /* even2, u0, v2, even2 */
            "    smlad r8, r3, r1, r8\n"            /* odd0, u1, v0, odd0 */
            "    smlad r7, r3, r4, r7\n"            /* odd1, u1, v1, odd1 */
            "    smlad r12, r3, r11, r12\n"         /* odd2, u1, v2, odd2 */
            "    ldmia r10!, {r1, r4, r11}\n"       /* position!, {v0, v1, v2} */
            "    smlad lr, r9, r1, lr\n"            /* even0, u2, v0, even0 */
            "    smlad r5, r9, r4, r5\n"            /* even1, u2, v1, even1 */
            "    smlad r6, r9, r11, r6\n"           /* even2, u2, v2, even2 */
            "    ldmia r2!, {r0, r3, r9}\n"         /* stream!, {u0, u1, u2} */
            "    smlad r8, r0, r1, r8\n"            /* odd0, u0, v0, odd0 */
            "    smlad r7, r0, r4, r7\n"            /* odd1, u0, v1, odd1 */
            "    smlad r12, r0, r11, r12\n"         /* odd2, u0, v2, odd2 */
            "    ldmia r10!, {r1, r4, r11}\n"       /* position!, {v0, v1, v2} */
            "    smlad lr, r3, r1, lr\n"            /* even0, u1, v0, even0 */
            "    smlad r5, r3, r4, r5\n"            /* even1, u1, v1, even1 */
            "    smlad r6, r3, r11, r6\n"           /* even2, u1, v2, even2 */
            "    smlad r8, r9, r1, r8\n"            /* odd0, u2, v0, odd0 */
            "    smlad r7, r9, r4, r7\n"            /* odd1, u2, v1, odd1 */
            "    smlad r12, r9, r11, r12\n"         /* odd2, u2, v2, odd2 */
            "    ldmia r2!, {r0, r3}\n"             /* stream!, {u0, u1} */
            "    ldmia r10!, {r1, r4, r11}\n"       /* position!, {v0, v1, v2} */
            "    smlad lr, r0, r1, lr\n"            /* even0, u0, v0, even0 */
            "    smlad r5, r0, r4, r5\n"            /* even1, u0, v1, even1 */
            "    smlad r6, r0, r11, r6\n"           /* even2, u0, v2, even2 */
            "    smlad r8, r3, r1, r8\n"            /* odd0, u1, v0, odd0 */
            "    smlad r7, r3, r4, r7\n"            /* odd1, u1, v1, odd1 */
            "    smlad r12, r3, r11, r12\n"         /* odd2, u1, v2, odd2 */
            /* Of rows 1 and 2 the difference, for below, and the sum, for above. */
            "    vmov r0, r1, d6\n"                 /* held0, held1, above_right0 */
            "    vmov r3, r4, d7\n"                 /* held2, held3, above_right1 */
            "    vmov r9, r11, d8\n"                /* held4, held5, above_right2 */
            "    sub r0, r0, lr\n"                  /* held0, held0, even0 */
            "    sub r1, r1, r5\n"                  /* held1, held1, even1 */
            "    sub r3, r3, r6\n"                  /* held2, held2, even2 */
            "    sub r4, r4, r8\n"                  /* held3, held3, odd0 */
            "    sub r9, r9, r7\n"                  /* held4, held4, odd1 */
            "    sub r11, r11, r12\n"               /* held5, held5, odd2 */
            "    add lr, r0, lr, lsl #1\n"          /* even0, held0, even0, lsl #1 */
            "    add r5, r1, r5, lsl #1\n"          /* even1, held1, even1, lsl #1 */
            "    add r6, r3, r6, lsl #1\n"          /* even2, held2, even2, lsl #1 */
            "    add r8, r4, r8, lsl #1\n"          /* odd0, held3, odd0, lsl #1 */
            "    add r7, r9, r7, lsl #1\n"          /* odd1, held4, odd1, lsl #1 */
            "    add r12, r11, r12, lsl #1\n"       /* odd2, held5, odd2, lsl #1 */
            "    vmov d12, r0, r1\n"                /* below_right0, held0, held1 */
            "    vmov d13, r3, r4\n"                /* below_right1, held2, held3 */
            "    vmov d14, r9, r11\n"               /* below_right2, held4, held5 */
            "    vmov d6, lr, r5\n"                 /* above_right0, even0, even1 */
            "    vmov d7, r6, r8\n"                 /* above_right1, even2, odd0 */
            "    vmov d8, r7, r12\n"                /* above_right2, odd1, odd2 */
            /* Row 0, columns 1 and 2: their sum and difference. */
            "    ldmia r2!, {r0, r3, r9}\n"         /* stream!, {u0, u1, u2} */
            "    ldmia r10!, {r1, r4, r11}\n"       /* position!, {v0, v1, v2} */
            "    smuad lr, r0, r1\n"                /* even0, u0, v0 */
            "    smuad r5, r0, r4\n"                /* even1, u0, v1 */
            "    smuad r6, r0, r11\n"               /* even2, u0, v2 */
            "    smuad r8, r3, r1\n"                /* odd0, u1, v0 */
            "    smuad r7, r3, r4\n"                /* odd1, u1, v1 */
            "    smuad r12, r3, r11\n"              /* odd2, u1, v2 */
            "    ldmia r10!, {r1, r4, r11}\n"       /* position!, {v0, v1, v2} */
            "    smlad lr, r9, r1, lr\n"            /* even0, u2, v0, even0 */
            "    smlad r5, r9, r4, r5\n"            /* even1, u2, v1, even1 */
            "    smlad r6, r9, r11, r6\n"           /* even2, u2, v2, even2 */
            "    ldmia r2!, {r0, r3, r9}\n"         /* stream!, {u0, u1, u2} */
            "    smlad r8, r0, r1, r8\n"            /* odd0, u0, v0, odd0 */
            "    smlad r7, r0, r4, r7\n"            /* odd1, u0, v1, odd1 */
            "    smlad r12, r0, r11, r12\n"         /* odd2, u0, v2, odd2 */
            "    ldmia r10!, {r1, r4, r11}\n"       /* position!, {v0, v1, v2} */
            "    smlad lr, r3, r1, lr\n"            /* even0, u1, v0, even0 */
            "    smlad r5, r3, r4, r5\n"            /* even1, u1, v1, even1 */
            "    smlad r6, r3, r11, r6\n"           /* even2, u1, v2, even2 */
            "    smlad r8, r9, r1, r8\n"            /* odd0, u2, v0, odd0 */
            "    smlad r7, r9, r4, r7\n"            /* odd1, u2, v1, odd1 */
            "    smlad r12, r9, r11, r12\n"         /* odd2, u2, v2, odd2 */
            "    ldmia r2!, {r0, r3}\n"             /* stream!, {u0, u1} */
            "    ldmia r10!, {r1, r4, r11}\n"       /* position!, {v0, v1, v2} */
            "    smlad lr, r0, r1, lr\n"            /* even0, u0, v0, even0 */
            "    smlad r5, r0, r4, r5\n"            /* even1, u0, v1, even1 */
            "    smlad r6, r0, r11, r6\n"           /* even2, u0, v2, even2 */
            "    smlad r8, r3, r1, r8\n"            /* odd0, u1, v0, odd0 */
            "    smlad r7, r3, r4, r7\n"            /* odd1, u1, v1, odd1 */
            "    smlad r12, r3, r11, r12\n"         /* odd2, u1, v2, odd2 */
            "    vmov d0, lr, r5\n"                 /* difference0, even0, even1 */
            "    vmov d1, r6, r8\n"                 /* difference1, even2, odd0 */
            "    vmov d2, r7, r12\n"                /* difference2, odd1, odd2 */
            "    ldmia r2!, {r0, r3, r9}\n"         /* stream!, {u0, u1, u2} */
            "    ldmia r10!, {r1, r4, r11}\n"       /* position!, {v0, v1, v2} */
            "    smlad lr, r0, r1, lr\n"            /* even0, u0, v0, even0 */
            "    smlad r5, r0, r4, r5\n"            /* even1, u0, v1, even1 */
            "    smlad r6, r0, r11, r6\n"           /* even2, u0, v2, even2 */
            "    smlad r8, r3, r1, r8\n"            /* odd0, u1, v0, odd0 */
            "    smlad r7, r3, r4, r7\n"            /* odd1, u1, v1, odd1 */
            "    smlad r12, r3, r11, r12\n"         /* odd2, u1, v2, odd2 */
            "    ldmia r10!, {r1, r4, r11}\n"       /* position!, {v0, v1, v2} */
            "    smlad lr, r9, r1, lr\n"            /* even0, u2, v0, even0 */
            "    smlad r5, r9, r4, r5\n"            /* even1, u2, v1, even1 */
            "    smlad r6, r9, r11, r6\n"           /* even2, u2, v2, even2 */
            "    ldmia r2!, {r0, r3, r9}\n"         /* stream!, {u0, u1, u2} */
            "    smlad r8, r0, r1, r8\n"            /* odd0, u0, v0, odd0 */
            "    smlad r7, r0, r4, r7\n"            /* odd1, u0, v1, odd1 */
            "    smlad r12, r0, r11, r12\n"         /* odd2, u0, v2, odd2 */
            "    ldmia r10!, {r1, r4, r11}\n"       /* position!, {v0, v1, v2} */
            "    smlad lr, r3, r1, lr\n"            /* even0, u1, v0, even0 */
            "    smlad r5, r3, r4, r5\n"            /* even1, u1, v1, even1 */
            "    smlad r6, r3, r11, r6\n"           /* even2, u1, v2, even2 */
            "    smlad r8, r9, r1, r8\n"            /* odd0, u2, v0, odd0 */
            "    smlad r7, r9, r4, r7\n"            /* odd1, u2, v1, odd1 */
            "    smlad r12, r9, r11, r12\n"         /* odd2, u2, v2, odd2 */
            "    ldmia r2!, {r0, r3}\n"             /* stream!, {u0, u1} */
            "    ldmia r10!, {r1, r4, r11}\n"       /* position!, {v0, v1, v2} */
            "    smlad lr, r0, r1, lr\n"            /* even0, u0, v0, even0 */
            "    smlad r5, r0, r4, r5\n"            /* even1, u0, v1, even1 */
            "    smlad r6, r0, r11, r6\n"           /* even2, u0, v2, even2 */
            "    smlad r8, r3, r1, r8\n"            /* odd0, u1, v0, odd0 */
            "    smlad r7, r3, r4, r7\n"            /* odd1, u1, v1, odd1 */
            "    smlad r12, r3, r11, r12\n"         /* odd2, u1, v2, odd2 */
            "    vmov r0, r1, d0\n"                 /* held0, held1, difference0 */
            "    vmov r3, r4, d1\n"                 /* held2, held3, difference1 */
            "    vmov r9, r11, d2\n"                /* held4, held5, difference2 */
            "    rsb r0, lr, r0, lsl #1\n"          /* held0, even0, held0, lsl #1 */
            "    rsb r1, r5, r1, lsl #1\n"          /* held1, even1, held1, lsl #1 */
            "    rsb r3, r6, r3, lsl #1\n"          /* held2, even2, held2, lsl #1 */
            "    rsb r4, r8, r4, lsl #1\n"          /* held3, odd0, held3, lsl #1 */
            "    rsb r9, r7, r9, lsl #1\n"          /* held4, odd1, held4, lsl #1 */
            "    rsb r11, r12, r11, lsl #1\n"       /* held5, odd2, held5, lsl #1 */
            "    vmov d0, r0, r1\n"                 /* difference0, held0, held1 */
            "    vmov d1, r3, r4\n"                 /* difference1, held2, held3 */
            "    vmov d2, r9, r11\n"                /* difference2, held4, held5 */
            /* Row 0, column 0. */
            "    vmov r0, r1, d3\n"                 /* held0, held1, above_left0 */
            "    vmov r3, r4, d4\n"                 /* held2, held3, above_left1 */
            "    vmov r9, r11, d5\n"                /* held4, held5, above_left2 */
            "    add lr, lr, r0\n"                  /* even0, even0, held0 */
            "    add r5, r5, r1\n"                  /* even1, even1, held1 */
            "    add r6, r6, r3\n"                  /* even2, even2, held2 */
            "    add r8, r8, r4\n"                  /* odd0, odd0, held3 */
            "    add r7, r7, r9\n"                  /* odd1, odd1, held4 */
            "    add r12, r12, r11\n"               /* odd2, odd2, held5 */
            "    ldmia r2!, {r0, r3, r9}\n"         /* stream!, {u0, u1, u2} */
            "    ldmia r10!, {r1, r4, r11}\n"       /* position!, {v0, v1, v2} */
            "    smlad lr, r0, r1, lr\n"            /* even0, u0, v0, even0 */
            "    smlad r5, r0, r4, r5\n"            /* even1, u0, v1, even1 */
            "    smlad r6, r0, r11, r6\n"           /* even2, u0, v2, even2 */
            "    smlad r8, r3, r1, r8\n"            /* odd0, u1, v0, odd0 */
            "    smlad r7, r3, r4, r7\n"            /* odd1, u1, v1, odd1 */
            "    smlad r12, r3, r11, r12\n"         /* odd2, u1, v2, odd2 */
            "    ldmia r10!, {r1, r4, r11}\n"       /* position!, {v0, v1, v2} */
            "    smlad lr, r9, r1, lr\n"            /* even0, u2, v0, even0 */
            "    smlad r5, r9, r4, r5\n"            /* even1, u2, v1, even1 */
            "    smlad r6, r9, r11, r6\n"           /* even2, u2, v2, even2 */
            "    ldmia r2!, {r0, r3, r9}\n"         /* stream!, {u0, u1, u2} */
            "    smlad r8, r0, r1, r8\n"            /* odd0, u0, v0, odd0 */
            "    smlad r7, r0, r4, r7\n"            /* odd1, u0, v1, odd1 */
            "    smlad r12, r0, r11, r12\n"         /* odd2, u0, v2, odd2 */
            "    ldmia r10!, {r1, r4, r11}\n"       /* position!, {v0, v1, v2} */
            "    smlad lr, r3, r1, lr\n"            /* even0, u1, v0, even0 */
            "    smlad r5, r3, r4, r5\n"            /* even1, u1, v1, even1 */
            "    smlad r6, r3, r11, r6\n"           /* even2, u1, v2, even2 */
            "    smlad r8, r9, r1, r8\n"            /* odd0, u2, v0, odd0 */
            "    smlad r7, r9, r4, r7\n"            /* odd1, u2, v1, odd1 */
            "    smlad r12, r9, r11, r12\n"         /* odd2, u2, v2, odd2 */
            "    ldmia r2!, {r0, r3}\n"             /* stream!, {u0, u1} */
            "    ldmia r10!, {r1, r4, r11}\n"       /* position!, {v0, v1, v2} */
            "    smlad lr, r0, r1, lr\n"            /* even0, u0, v0, even0 */
            "    smlad r5, r0, r4, r5\n"            /* even1, u0, v1, even1 */
            "    smlad r6, r0, r11, r6\n"           /* even2, u0, v2, even2 */
            "    smlad r8, r3, r1, r8\n"            /* odd0, u1, v0, odd0 */
            "    smlad r7, r3, r4, r7\n"            /* odd1, u1, v1, odd1 */
            "    smlad r12, r3, r11, r12\n"         /* odd2, u1, v2, odd2 */
            /* Each window's upper left output: scaled, shifted, saturated. */
            "    add r0, r2, #160\n"                /* scales, stream, #160 */
            /* scales, {even_scale, even_addend, odd_scale, odd_addend} */
            "    ldmia r0, {r0, r1, r4, r9}\n"
            "    cmp r1, #0\n"                      /* even_addend, #0 */
            "    beq 20f\n"
            "16:\n"
            "    smmla lr, lr, r0, r1\n"            /* even0, even0, even_scale, even_addend */
            "    smmla r5, r5, r0, r1\n"            /* even1, even1, even_scale, even_addend */
            "    smmla r6, r6, r0, r1\n"            /* even2, even2, even_scale, even_addend */
            "    ssat lr, #8, lr, asr #6\n"         /* even0, #8, even0, asr #6 */
            "    ssat r5, #8, r5, asr #6\n"         /* even1, #8, even1, asr #6 */
            "    ssat r6, #8, r6, asr #6\n"         /* even2, #8, even2, asr #6 */
            "    smmla r8, r8, r4, r9\n"            /* odd0, odd0, odd_scale, odd_addend */
            "    smmla r7, r7, r4, r9\n"            /* odd1, odd1, odd_scale, odd_addend */
            "    smmla r12, r12, r4, r9\n"          /* odd2, odd2, odd_scale, odd_addend */
            "    ssat r8, #8, r8, asr #6\n"         /* odd0, #8, odd0, asr #6 */
            "    ssat r7, #8, r7, asr #6\n"         /* odd1, #8, odd1, asr #6 */
            "    ssat r12, #8, r12, asr #6\n"       /* odd2, #8, odd2, asr #6 */
            /* Stored: of each window both filters at once. */
            "    bfi lr, r8, #8, #8\n"              /* even0, odd0, #8, #8 */
            "    bfi r5, r7, #8, #8\n"              /* even1, odd1, #8, #8 */
            "    bfi r6, r12, #8, #8\n"             /* even2, odd2, #8, #8 */
            "    vmov r3, s30\n"                    /* targets, frame_kept */
            "    ldmia r3, {r0, r1, r4}\n"          /* targets, {target0, target1, target2} */
            "    strh lr, [r0, #-4]\n"              /* even0, [target0, #-4] */
            "    strh r5, [r1, #-4]\n"              /* even1, [target1, #-4] */
            "    strh r6, [r4, #-4]\n"              /* even2, [target2, #-4] */
            /* Row 0, column 3. */
            "    vmov lr, r5, d0\n"                 /* even0, even1, difference0 */
            "    vmov r6, r8, d1\n"                 /* even2, odd0, difference1 */
            "    vmov r7, r12, d2\n"                /* odd1, odd2, difference2 */
            "    vmov r0, r1, d6\n"                 /* held0, held1, above_right0 */
            "    vmov r3, r4, d7\n"                 /* held2, held3, above_right1 */
            "    vmov r9, r11, d8\n"                /* held4, held5, above_right2 */
            "    add lr, lr, r0\n"                  /* even0, even0, held0 */
            "    add r5, r5, r1\n"                  /* even1, even1, held1 */
            "    add r6, r6, r3\n"                  /* even2, even2, held2 */
            "    add r8, r8, r4\n"                  /* odd0, odd0, held3 */
            "    add r7, r7, r9\n"                  /* odd1, odd1, held4 */
            "    add r12, r12, r11\n"               /* odd2, odd2, held5 */
            "    ldmia r2!, {r0, r3, r9}\n"         /* stream!, {u0, u1, u2} */
            "    ldmia r10!, {r1, r4, r11}\n"       /* position!, {v0, v1, v2} */
            "    smlad lr, r0, r1, lr\n"            /* even0, u0, v0, even0 */
            "    smlad r5, r0, r4, r5\n"            /* even1, u0, v1, even1 */
            "    smlad r6, r0, r11, r6\n"           /* even2, u0, v2, even2 */
            "    smlad r8, r3, r1, r8\n"            /* odd0, u1, v0, odd0 */
            "    smlad r7, r3, r4, r7\n"            /* odd1, u1, v1, odd1 */
            "    smlad r12, r3, r11, r12\n"         /* odd2, u1, v2, odd2 */
            "    ldmia r10!, {r1, r4, r11}\n"       /* position!, {v0, v1, v2} */
            "    smlad lr, r9, r1, lr\n"            /* even0, u2, v0, even0 */
            "    smlad r5, r9, r4, r5\n"            /* even1, u2, v1, even1 */
            "    smlad r6, r9, r11, r6\n"           /* even2, u2, v2, even2 */
            "    ldmia r2!, {r0, r3, r9}\n"         /* stream!, {u0, u1, u2} */
            "    smlad r8, r0, r1, r8\n"            /* odd0, u0, v0, odd0 */
            "    smlad r7, r0, r4, r7\n"            /* odd1, u0, v1, odd1 */
            "    smlad r12, r0, r11, r12\n"         /* odd2, u0, v2, odd2 */
            "    ldmia r10!, {r1, r4, r11}\n"       /* position!, {v0, v1, v2} */
            "    smlad lr, r3, r1, lr\n"            /* even0, u1, v0, even0 */
            "    smlad r5, r3, r4, r5\n"            /* even1, u1, v1, even1 */
            "    smlad r6, r3, r11, r6\n"           /* even2, u1, v2, even2 */
            "    smlad r8, r9, r1, r8\n"            /* odd0, u2, v0, odd0 */
            "    smlad r7, r9, r4, r7\n"            /* odd1, u2, v1, odd1 */
            "    smlad r12, r9, r11, r12\n"         /* odd2, u2, v2, odd2 */
            "    ldmia r2!, {r0, r3}\n"             /* stream!, {u0, u1} */
            "    ldmia r10!, {r1, r4, r11}\n"       /* position!, {v0, v1, v2} */
            "    smlad lr, r0, r1, lr\n"            /* even0, u0, v0, even0 */
            "    smlad r5, r0, r4, r5\n"            /* even1, u0, v1, even1 */
            "    smlad r6, r0, r11, r6\n"           /* even2, u0, v2, even2 */
            "    smlad r8, r3, r1, r8\n"            /* odd0, u1, v0, odd0 */
            "    smlad r7, r3, r4, r7\n"            /* odd1, u1, v1, odd1 */
            "    smlad r12, r3, r11, r12\n"         /* odd2, u1, v2, odd2 */
            /* Each window's upper right output: scaled, shifted, saturated. */
            "    add r0, r2, #128\n"                /* scales, stream, #128 */
            /* scales, {even_scale, even_addend, odd_scale, odd_addend} */
            "    ldmia r0, {r0, r1, r4, r9}\n"
            "    cmp r1, #0\n"                      /* even_addend, #0 */
            "    beq 25f\n"
            "17:\n"
            "    smmla lr, lr, r0, r1\n"            /* even0, even0, even_scale, even_addend */
            "    smmla r5, r5, r0, r1\n"            /* even1, even1, even_scale, even_addend */
            "    smmla r6, r6, r0, r1\n"            /* even2, even2, even_scale, even_addend */
            "    ssat lr, #8, lr, asr #6\n"         /* even0, #8, even0, asr #6 */
            "    ssat r5, #8, r5, asr #6\n"         /* even1, #8, even1, asr #6 */
            "    ssat r6, #8, r6, asr #6\n"         /* even2, #8, even2, asr #6 */
            "    smmla r8, r8, r4, r9\n"            /* odd0, odd0, odd_scale, odd_addend */
            "    smmla r7, r7, r4, r9\n"            /* odd1, odd1, odd_scale, odd_addend */
            "    smmla r12, r12, r4, r9\n"          /* odd2, odd2, odd_scale, odd_addend */
            "    ssat r8, #8, r8, asr #6\n"         /* odd0, #8, odd0, asr #6 */
            "    ssat r7, #8, r7, asr #6\n"         /* odd1, #8, odd1, asr #6 */
            "    ssat r12, #8, r12, asr #6\n"       /* odd2, #8, odd2, asr #6 */
            /* Stored: of each window both filters at once. */
            "    bfi lr, r8, #8, #8\n"              /* even0, odd0, #8, #8 */
            "    bfi r5, r7, #8, #8\n"              /* even1, odd1, #8, #8 */
            "    bfi r6, r12, #8, #8\n"             /* even2, odd2, #8, #8 */
            "    vmov r3, s30\n"                    /* targets, frame_kept */
            "    ldmia r3, {r0, r1, r4}\n"          /* targets, {target0, target1, target2} */
            "    strh lr, [r0], #2\n"               /* even0, [target0], #2 */
            "    strh r5, [r1], #2\n"               /* even1, [target1], #2 */
            "    strh r6, [r4], #2\n"               /* even2, [target2], #2 */
            "    stmia r3, {r0, r1, r4}\n"          /* targets, {target0, target1, target2} */
            /* Row 3, columns 1 and 2: their sum and difference. */
            "    ldmia r2!, {r0, r3, r9}\n"         /* stream!, {u0, u1, u2} */
            "    ldmia r10!, {r1, r4, r11}\n"       /* position!, {v0, v1, v2} */
            "    smuad lr, r0, r1\n"                /* even0, u0, v0 */
            "    smuad r5, r0, r4\n"                /* even1, u0, v1 */
            "    smuad r6, r0, r11\n"               /* even2, u0, v2 */
            "    smuad r8, r3, r1\n"                /* odd0, u1, v0 */
            "    smuad r7, r3, r4\n"                /* odd1, u1, v1 */
            "    smuad r12, r3, r11\n"              /* odd2, u1, v2 */
            "    ldmia r10!, {r1, r4, r11}\n"       /* position!, {v0, v1, v2} */
            "    smlad lr, r9, r1, lr\n"            /* even0, u2, v0, even0 */
            "    smlad r5, r9, r4, r5\n"            /* even1, u2, v1, even1 */
            "    smlad r6, r9, r11, r6\n"           /* even2, u2, v2, even2 */
            "    ldmia r2!, {r0, r3, r9}\n"         /* stream!, {u0, u1, u2} */
            "    smlad r8, r0, r1, r8\n"            /* odd0, u0, v0, odd0 */
            "    smlad r7, r0, r4, r7\n"            /* odd1, u0, v1, odd1 */
            "    smlad r12, r0, r11, r12\n"         /* odd2, u0, v2, odd2 */
            "    ldmia r10!, {r1, r4, r11}\n"       /* position!, {v0, v1, v2} */
            "    smlad lr, r3, r1, lr\n"            /* even0, u1, v0, even0 */
            "    smlad r5, r3, r4, r5\n"            /* even1, u1, v1, even1 */
            "    smlad r6, r3, r11, r6\n"           /* even2, u1, v2, even2 */
            "    smlad r8, r9, r1, r8\n"            /* odd0, u2, v0, odd0 */
            "    smlad r7, r9, r4, r7\n"            /* odd1, u2, v1, odd1 */
            "    smlad r12, r9, r11, r12\n"         /* odd2, u2, v2, odd2 */
            "    ldmia r2!, {r0, r3}\n"             /* stream!, {u0, u1} */
            "    ldmia r10!, {r1, r4, r11}\n"       /* position!, {v0, v1, v2} */
            "    smlad lr, r0, r1, lr\n"            /* even0, u0, v0, even0 */
            "    smlad r5, r0, r4, r5\n"            /* even1, u0, v1, even1 */
            "    smlad r6, r0, r11, r6\n"           /* even2, u0, v2, even2 */
            "    smlad r8, r3, r1, r8\n"            /* odd0, u1, v0, odd0 */
            "    smlad r7, r3, r4, r7\n"            /* odd1, u1, v1, odd1 */
            "    smlad r12, r3, r11, r12\n"         /* odd2, u1, v2, odd2 */
            "    vmov d0, lr, r5\n"                 /* difference0, even0, even1 */
            "    vmov d1, r6, r8\n"                 /* difference1, even2, odd0 */
            "    vmov d2, r7, r12\n"                /* difference2, odd1, odd2 */
            "    ldmia r2!, {r0, r3, r9}\n"         /* stream!, {u0, u1, u2} */
            "    ldmia r10!, {r1, r4, r11}\n"       /* position!, {v0, v1, v2} */
            "    smlad lr, r0, r1, lr\n"            /* even0, u0, v0, even0 */
            "    smlad r5, r0, r4, r5\n"            /* even1, u0, v1, even1 */
            "    smlad r6, r0, r11, r6\n"           /* even2, u0, v2, even2 */
            "    smlad r8, r3, r1, r8\n"            /* odd0, u1, v0, odd0 */
            "    smlad r7, r3, r4, r7\n"            /* odd1, u1, v1, odd1 */
            "    smlad r12, r3, r11, r12\n"         /* odd2, u1, v2, odd2 */
            "    ldmia r10!, {r1, r4, r11}\n"       /* position!, {v0, v1, v2} */
            "    smlad lr, r9, r1, lr\n"            /* even0, u2, v0, even0 */
            "    smlad r5, r9, r4, r5\n"            /* even1, u2, v1, even1 */
            "    smlad r6, r9, r11, r6\n"           /* even2, u2, v2, even2 */
            "    ldmia r2!, {r0, r3, r9}\n"         /* stream!, {u0, u1, u2} */
            "    smlad r8, r0, r1, r8\n"            /* odd0, u0, v0, odd0 */
            "    smlad r7, r0, r4, r7\n"            /* odd1, u0, v1, odd1 */
            "    smlad r12, r0, r11, r12\n"         /* odd2, u0, v2, odd2 */
            "    ldmia r10!, {r1, r4, r11}\n"       /* position!, {v0, v1, v2} */
            "    smlad lr, r3, r1, lr\n"            /* even0, u1, v0, even0 */
            "    smlad r5, r3, r4, r5\n"            /* even1, u1, v1, even1 */
            "    smlad r6, r3, r11, r6\n"           /* even2, u1, v2, even2 */
            "    smlad r8, r9, r1, r8\n"            /* odd0, u2, v0, odd0 */
            "    smlad r7, r9, r4, r7\n"            /* odd1, u2, v1, odd1 */
            "    smlad r12, r9, r11, r12\n"         /* odd2, u2, v2, odd2 */
            "    ldmia r2!, {r0, r3}\n"             /* stream!, {u0, u1} */
            "    ldmia r10!, {r1, r4, r11}\n"       /* position!, {v0, v1, v2} */
            "    smlad lr, r0, r1, lr\n"            /* even0, u0, v0, even0 */
            "    smlad r5, r0, r4, r5\n"            /* even1, u0, v1, even1 */
            "    smlad r6, r0, r11, r6\n"           /* even2, u0, v2, even2 */
            "    smlad r8, r3, r1, r8\n"            /* odd0, u1, v0, odd0 */
            "    smlad r7, r3, r4, r7\n"            /* odd1, u1, v1, odd1 */
            "    smlad r12, r3, r11, r12\n"         /* odd2, u1, v2, odd2 */
            "    vmov r0, r1, d0\n"                 /* held0, held1, difference0 */
            "    vmov r3, r4, d1\n"                 /* held2, held3, difference1 */
            "    vmov r9, r11, d2\n"                /* held4, held5, difference2 */
            "    rsb r0, lr, r0, lsl #1\n"          /* held0, even0, held0, lsl #1 */
            "    rsb r1, r5, r1, lsl #1\n"          /* held1, even1, held1, lsl #1 */
            "    rsb r3, r6, r3, lsl #1\n"          /* held2, even2, held2, lsl #1 */
            "    rsb r4, r8, r4, lsl #1\n"          /* held3, odd0, held3, lsl #1 */
            "    rsb r9, r7, r9, lsl #1\n"          /* held4, odd1, held4, lsl #1 */
            "    rsb r11, r12, r11, lsl #1\n"       /* held5, odd2, held5, lsl #1 */
            "    vmov d0, r0, r1\n"                 /* difference0, held0, held1 */
            "    vmov d1, r3, r4\n"                 /* difference1, held2, held3 */
            "    vmov d2, r9, r11\n"                /* difference2, held4, held5 */
            /* Row 3, column 0. */
            "    vmov r0, r1, d9\n"                 /* held0, held1, below_left0 */
            "    vmov r3, r4, d10\n"                /* held2, held3, below_left1 */
            "    vmov r9, r11, d11\n"               /* held4, held5, below_left2 */
            "    add lr, lr, r0\n"                  /* even0, even0, held0 */
            "    add r5, r5, r1\n"                  /* even1, even1, held1 */
            "    add r6, r6, r3\n"                  /* even2, even2, held2 */
            "    add r8, r8, r4\n"                  /* odd0, odd0, held3 */
            "    add r7, r7, r9\n"                  /* odd1, odd1, held4 */
            "    add r12, r12, r11\n"               /* odd2, odd2, held5 */
            "    ldmia r2!, {r0, r3, r9}\n"         /* stream!, {u0, u1, u2} */
            "    ldmia r10!, {r1, r4, r11}\n"       /* position!, {v0, v1, v2} */
            "    smlad lr, r0, r1, lr\n"            /* even0, u0, v0, even0 */
            "    smlad r5, r0, r4, r5\n"            /* even1, u0, v1, even1 */
            "    smlad r6, r0, r11, r6\n"           /* even2, u0, v2, even2 */
            "    smlad r8, r3, r1, r8\n"            /* odd0, u1, v0, odd0 */
            "    smlad r7, r3, r4, r7\n"            /* odd1, u1, v1, odd1 */
            "    smlad r12, r3, r11, r12\n"         /* odd2, u1, v2, odd2 */
            "    ldmia r10!, {r1, r4, r11}\n"       /* position!, {v0, v1, v2} */
            "    smlad lr, r9, r1, lr\n"            /* even0, u2, v0, even0 */
            "    smlad r5, r9, r4, r5\n"            /* even1, u2, v1, even1 */
            "    smlad r6, r9, r11, r6\n"           /* even2, u2, v2, even2 */
            "    ldmia r2!, {r0, r3, r9}\n"         /* stream!, {u0, u1, u2} */
            "    smlad r8, r0, r1, r8\n"            /* odd0, u0, v0, odd0 */
            "    smlad r7, r0, r4, r7\n"            /* odd1, u0, v1, odd1 */
            "    smlad r12, r0, r11, r12\n"         /* odd2, u0, v2, odd2 */
            "    ldmia r10!, {r1, r4, r11}\n"       /* position!, {v0, v1, v2} */
            "    smlad lr, r3, r1, lr\n"            /* even0, u1, v0, even0 */
            "    smlad r5, r3, r4, r5\n"            /* even1, u1, v1, even1 */
            "    smlad r6, r3, r11, r6\n"           /* even2, u1, v2, even2 */
            "    smlad r8, r9, r1, r8\n"            /* odd0, u2, v0, odd0 */
            "    smlad r7, r9, r4, r7\n"            /* odd1, u2, v1, odd1 */
            "    smlad r12, r9, r11, r12\n"         /* odd2, u2, v2, odd2 */
            "    ldmia r2!, {r0, r3}\n"             /* stream!, {u0, u1} */
            "    ldmia r10!, {r1, r4, r11}\n"       /* position!, {v0, v1, v2} */
            "    smlad lr, r0, r1, lr\n"            /* even0, u0, v0, even0 */
            "    smlad r5, r0, r4, r5\n"            /* even1, u0, v1, even1 */
            "    smlad r6, r0, r11, r6\n"           /* even2, u0, v2, even2 */
            "    smlad r8, r3, r1, r8\n"            /* odd0, u1, v0, odd0 */
            "    smlad r7, r3, r4, r7\n"            /* odd1, u1, v1, odd1 */
            "    smlad r12, r3, r11, r12\n"         /* odd2, u1, v2, odd2 */
            /* Each window's lower left output: scaled, shifted, saturated. */
            "    add r0, r2, #32\n"                 /* scales, stream, #32 */
            /* scales, {even_scale, even_addend, odd_scale, odd_addend} */
            "    ldmia r0, {r0, r1, r4, r9}\n"
            "    cmp r1, #0\n"                      /* even_addend, #0 */
            "    beq 30f\n"
            "18:\n"
            "    smmla lr, lr, r0, r1\n"            /* even0, even0, even_scale, even_addend */
            "    smmla r5, r5, r0, r1\n"            /* even1, even1, even_scale, even_addend */
            "    smmla r6, r6, r0, r1\n"            /* even2, even2, even_scale, even_addend */
            "    ssat lr, #8, lr, asr #6\n"         /* even0, #8, even0, asr #6 */
            "    ssat r5, #8, r5, asr #6\n"         /* even1, #8, even1, asr #6 */
            "    ssat r6, #8, r6, asr #6\n"         /* even2, #8, even2, asr #6 */
            "    smmla r8, r8, r4, r9\n"            /* odd0, odd0, odd_scale, odd_addend */
            "    smmla r7, r7, r4, r9\n"            /* odd1, odd1, odd_scale, odd_addend */
            "    smmla r12, r12, r4, r9\n"          /* odd2, odd2, odd_scale, odd_addend */
            "    ssat r8, #8, r8, asr #6\n"         /* odd0, #8, odd0, asr #6 */
            "    ssat r7, #8, r7, asr #6\n"         /* odd1, #8, odd1, asr #6 */
            "    ssat r12, #8, r12, asr #6\n"       /* odd2, #8, odd2, asr #6 */
            /* Stored: of each window both filters at once. */
            "    bfi lr, r8, #8, #8\n"              /* even0, odd0, #8, #8 */
            "    bfi r5, r7, #8, #8\n"              /* even1, odd1, #8, #8 */
            "    bfi r6, r12, #8, #8\n"             /* even2, odd2, #8, #8 */
            "    vmov r3, s30\n"                    /* targets, frame_kept */
            "    add r3, r3, #12\n"                 /* targets, targets, #12 */
            "    ldmia r3, {r0, r1, r4}\n"          /* targets, {target0, target1, target2} */
            "    strh lr, [r0, #-4]\n"              /* even0, [target0, #-4] */
            "    strh r5, [r1, #-4]\n"              /* even1, [target1, #-4] */
            "    strh r6, [r4, #-4]\n"              /* even2, [target2, #-4] */
            /* Row 3, column 3. */
            "    vmov lr, r5, d0\n"                 /* even0, even1, difference0 */
            "    vmov r6, r8, d1\n"                 /* even2, odd0, difference1 */
            "    vmov r7, r12, d2\n"                /* odd1, odd2, difference2 */
            "    vmov r0, r1, d12\n"                /* held0, held1, below_right0 */
            "    vmov r3, r4, d13\n"                /* held2, held3, below_right1 */
            "    vmov r9, r11, d14\n"               /* held4, held5, below_right2 */
            "    add lr, lr, r0\n"                  /* even0, even0, held0 */
            "    add r5, r5, r1\n"                  /* even1, even1, held1 */
            "    add r6, r6, r3\n"                  /* even2, even2, held2 */
            "    add r8, r8, r4\n"                  /* odd0, odd0, held3 */
            "    add r7, r7, r9\n"                  /* odd1, odd1, held4 */
            "    add r12, r12, r11\n"               /* odd2, odd2, held5 */
            "    ldmia r2!, {r0, r3, r9}\n"         /* stream!, {u0, u1, u2} */
            "    ldmia r10!, {r1, r4, r11}\n"       /* position!, {v0, v1, v2} */
            "    smlad lr, r0, r1, lr\n"            /* even0, u0, v0, even0 */
            "    smlad r5, r0, r4, r5\n"            /* even1, u0, v1, even1 */
            "    smlad r6, r0, r11, r6\n"           /* even2, u0, v2, even2 */
            "    smlad r8, r3, r1, r8\n"            /* odd0, u1, v0, odd0 */
            "    smlad r7, r3, r4, r7\n"            /* odd1, u1, v1, odd1 */
            "    smlad r12, r3, r11, r12\n"         /* odd2, u1, v2, odd2 */
            "    ldmia r10!, {r1, r4, r11}\n"       /* position!, {v0, v1, v2} */
            "    smlad lr, r9, r1, lr\n"            /* even0, u2, v0, even0 */
            "    smlad r5, r9, r4, r5\n"            /* even1, u2, v1, even1 */
            "    smlad r6, r9, r11, r6\n"           /* even2, u2, v2, even2 */
            "    ldmia r2!, {r0, r3, r9}\n"         /* stream!, {u0, u1, u2} */
            "    smlad r8, r0, r1, r8\n"            /* odd0, u0, v0, odd0 */
            "    smlad r7, r0, r4, r7\n"            /* odd1, u0, v1, odd1 */
            "    smlad r12, r0, r11, r12\n"         /* odd2, u0, v2, odd2 */
            "    ldmia r10!, {r1, r4, r11}\n"       /* position!, {v0, v1, v2} */
            "    smlad lr, r3, r1, lr\n"            /* even0, u1, v0, even0 */
            "    smlad r5, r3, r4, r5\n"            /* even1, u1, v1, even1 */
            "    smlad r6, r3, r11, r6\n"           /* even2, u1, v2, even2 */
            "    smlad r8, r9, r1, r8\n"            /* odd0, u2, v0, odd0 */
            "    smlad r7, r9, r4, r7\n"            /* odd1, u2, v1, odd1 */
            "    smlad r12, r9, r11, r12\n"         /* odd2, u2, v2, odd2 */
            "    ldmia r2!, {r0, r3}\n"             /* stream!, {u0, u1} */
            "    ldmia r10!, {r1, r4, r11}\n"       /* position!, {v0, v1, v2} */
            "    smlad lr, r0, r1, lr\n"            /* even0, u0, v0, even0 */
            "    smlad r5, r0, r4, r5\n"            /* even1, u0, v1, even1 */
            "    smlad r6, r0, r11, r6\n"           /* even2, u0, v2, even2 */
            "    smlad r8, r3, r1, r8\n"            /* odd0, u1, v0, odd0 */
            "    smlad r7, r3, r4, r7\n"            /* odd1, u1, v1, odd1 */
            "    smlad r12, r3, r11, r12\n"         /* odd2, u1, v2, odd2 */
            /* Each window's lower right output: scaled, shifted, saturated. */
            /* stream!, {even_scale, even_addend, odd_scale, odd_addend} */
            "    ldmia r2!, {r0, r1, r4, r9}\n"
            "    cmp r1, #0\n"                      /* even_addend, #0 */
            "    beq 35f\n"
            "19:\n"
            "    smmla lr, lr, r0, r1\n"            /* even0, even0, even_scale, even_addend */
            "    smmla r5, r5, r0, r1\n"            /* even1, even1, even_scale, even_addend */
            "    smmla r6, r6, r0, r1\n"            /* even2, even2, even_scale, even_addend */
            "    ssat lr, #8, lr, asr #6\n"         /* even0, #8, even0, asr #6 */
            "    ssat r5, #8, r5, asr #6\n"         /* even1, #8, even1, asr #6 */
            "    ssat r6, #8, r6, asr #6\n"         /* even2, #8, even2, asr #6 */
            "    smmla r8, r8, r4, r9\n"            /* odd0, odd0, odd_scale, odd_addend */
            "    smmla r7, r7, r4, r9\n"            /* odd1, odd1, odd_scale, odd_addend */
            "    smmla r12, r12, r4, r9\n"          /* odd2, odd2, odd_scale, odd_addend */
            "    ssat r8, #8, r8, asr #6\n"         /* odd0, #8, odd0, asr #6 */
            "    ssat r7, #8, r7, asr #6\n"         /* odd1, #8, odd1, asr #6 */
            "    ssat r12, #8, r12, asr #6\n"       /* odd2, #8, odd2, asr #6 */
            /* Stored: of each window both filters at once. */
            "    bfi lr, r8, #8, #8\n"              /* even0, odd0, #8, #8 */
            "    bfi r5, r7, #8, #8\n"              /* even1, odd1, #8, #8 */
            "    bfi r6, r12, #8, #8\n"             /* even2, odd2, #8, #8 */
            "    vmov r3, s30\n"                    /* targets, frame_kept */
            "    add r3, r3, #12\n"                 /* targets, targets, #12 */
            "    ldmia r3, {r0, r1, r4}\n"          /* targets, {target0, target1, target2} */
            "    strh lr, [r0], #2\n"               /* even0, [target0], #2 */
            "    strh r5, [r1], #2\n"               /* even1, [target1], #2 */
            "    strh r6, [r4], #2\n"               /* even2, [target2], #2 */
            "    stmia r3, {r0, r1, r4}\n"          /* targets, {target0, target1, target2} */
            "    sub r10, r10, #768\n"              /* position, position, #768 */
            "    ldr r0, [r3, #12]\n"               /* filters_left, [targets, #12] */
            "    subs r0, r0, #1\n"                 /* filters_left, filters_left, #1 */
            "    str r0, [r3, #12]\n"               /* filters_left, [targets, #12] */
            "    bne 15b\n"
            "    b 40f\n"
            "20:\n"
            "    vmov s6, r2\n"                     /* resumed, stream */
            "    add r2, r2, #176\n"                /* stream, stream, #176 */
            /* Sums that are rounded too late, which a word names, become the next. */
            "21:\n"
            "    ldmia r2!, {r1, r3, r11}\n"        /* stream!, {even_addend, late, next_addend} */
            "    cbnz r1, 23f\n"                    /* even_addend */
            "    cmp r3, lr\n"                      /* late, even0 */
            "    itt ne\n"
            "    cmpne r3, r5\n"                    /* late, even1 */
            "    cmpne r3, r6\n"                    /* late, even2 */
            "    beq 24f\n"
            "22:\n"
            "    movs r1, r11\n"                    /* even_addend, next_addend */
            "    beq 21b\n"
            "    vmov r2, s6\n"                     /* stream, resumed */
            "    b 16b\n"
            "23:\n"
            "    cmp r3, r8\n"                      /* late, odd0 */
            "    itt ne\n"
            "    cmpne r3, r7\n"                    /* late, odd1 */
            "    cmpne r3, r12\n"                   /* late, odd2 */
            "    bne 22b\n"
            "    cmp r3, r8\n"                      /* late, odd0 */
            "    it eq\n"
            "    addeq r8, r8, #4\n"                /* odd0, odd0, #4 */
            "    cmp r3, r7\n"                      /* late, odd1 */
            "    it eq\n"
            "    addeq r7, r7, #4\n"                /* odd1, odd1, #4 */
            "    cmp r3, r12\n"                     /* late, odd2 */
            "    it eq\n"
            "    addeq r12, r12, #4\n"              /* odd2, odd2, #4 */
            "    b 22b\n"
            "24:\n"
            "    cmp r3, lr\n"                      /* late, even0 */
            "    it eq\n"
            "    addeq lr, lr, #4\n"                /* even0, even0, #4 */
            "    cmp r3, r5\n"                      /* late, even1 */
            "    it eq\n"
            "    addeq r5, r5, #4\n"                /* even1, even1, #4 */
            "    cmp r3, r6\n"                      /* late, even2 */
            "    it eq\n"
            "    addeq r6, r6, #4\n"                /* even2, even2, #4 */
            "    b 22b\n"
            "25:\n"
            "    vmov s6, r2\n"                     /* resumed, stream */
            "    add r2, r2, #144\n"                /* stream, stream, #144 */
            /* Sums that are rounded too late, which a word names, become the next. */
            "26:\n"
            "    ldmia r2!, {r1, r3, r11}\n"        /* stream!, {even_addend, late, next_addend} */
            "    cbnz r1, 28f\n"                    /* even_addend */
            "    cmp r3, lr\n"                      /* late, even0 */
            "    itt ne\n"
            "    cmpne r3, r5\n"                    /* late, even1 */
            "    cmpne r3, r6\n"                    /* late, even2 */
            "    beq 29f\n"
            "27:\n"
            "    movs r1, r11\n"                    /* even_addend, next_addend */
            "    beq 26b\n"
            "    vmov r2, s6\n"                     /* stream, resumed */
            "    b 17b\n"
            "28:\n"
            "    cmp r3, r8\n"                      /* late, odd0 */
            "    itt ne\n"
            "    cmpne r3, r7\n"                    /* late, odd1 */
            "    cmpne r3, r12\n"                   /* late, odd2 */
            "    bne 27b\n"
            "    cmp r3, r8\n"                      /* late, odd0 */
            "    it eq\n"
            "    addeq r8, r8, #4\n"                /* odd0, odd0, #4 */
            "    cmp r3, r7\n"                      /* late, odd1 */
            "    it eq\n"
            "    addeq r7, r7, #4\n"                /* odd1, odd1, #4 */
            "    cmp r3, r12\n"                     /* late, odd2 */
            "    it eq\n"
            "    addeq r12, r12, #4\n"              /* odd2, odd2, #4 */
            "    b 27b\n"
            "29:\n"
            "    cmp r3, lr\n"                      /* late, even0 */
            "    it eq\n"
            "    addeq lr, lr, #4\n"                /* even0, even0, #4 */
            "    cmp r3, r5\n"                      /* late, even1 */
            "    it eq\n"
            "    addeq r5, r5, #4\n"                /* even1, even1, #4 */
            "    cmp r3, r6\n"                      /* late, even2 */
            "    it eq\n"
            "    addeq r6, r6, #4\n"                /* even2, even2, #4 */
            "    b 27b\n"
            "30:\n"
            "    vmov s6, r2\n"                     /* resumed, stream */
            "    add r2, r2, #48\n"                 /* stream, stream, #48 */
            /* Sums that are rounded too late, which a word names, become the next. */
            "31:\n"
            "    ldmia r2!, {r1, r3, r11}\n"        /* stream!, {even_addend, late, next_addend} */
            "    cbnz r1, 33f\n"                    /* even_addend */
            "    cmp r3, lr\n"                      /* late, even0 */
            "    itt ne\n"
            "    cmpne r3, r5\n"                    /* late, even1 */
            "    cmpne r3, r6\n"                    /* late, even2 */
            "    beq 34f\n"
            "32:\n"
            "    movs r1, r11\n"                    /* even_addend, next_addend */
            "    beq 31b\n"
            "    vmov r2, s6\n"                     /* stream, resumed */
            "    b 18b\n"
            "33:\n"
            "    cmp r3, r8\n"                      /* late, odd0 */
            "    itt ne\n"
            "    cmpne r3, r7\n"                    /* late, odd1 */
            "    cmpne r3, r12\n"                   /* late, odd2 */
            "    bne 32b\n"
            "    cmp r3, r8\n"                      /* late, odd0 */
            "    it eq\n"
            "    addeq r8, r8, #4\n"                /* odd0, odd0, #4 */
            "    cmp r3, r7\n"                      /* late, odd1 */
            "    it eq\n"
            "    addeq r7, r7, #4\n"                /* odd1, odd1, #4 */
            "    cmp r3, r12\n"                     /* late, odd2 */
            "    it eq\n"
            "    addeq r12, r12, #4\n"              /* odd2, odd2, #4 */
            "    b 32b\n"
            "34:\n"
            "    cmp r3, lr\n"                      /* late, even0 */
            "    it eq\n"
            "    addeq lr, lr, #4\n"                /* even0, even0, #4 */
            "    cmp r3, r5\n"                      /* late, even1 */
            "    it eq\n"
            "    addeq r5, r5, #4\n"                /* even1, even1, #4 */
            "    cmp r3, r6\n"                      /* late, even2 */
            "    it eq\n"
            "    addeq r6, r6, #4\n"                /* even2, even2, #4 */
            "    b 32b\n"
            "35:\n"
            /* Sums that are rounded too late, which a word names, become the next. */
            "36:\n"
            "    ldmia r2!, {r1, r3, r11}\n"        /* stream!, {even_addend, late, next_addend} */
            "    cbnz r1, 38f\n"                    /* even_addend */
            "    cmp r3, lr\n"                      /* late, even0 */
            "    itt ne\n"
            "    cmpne r3, r5\n"                    /* late, even1 */
            "    cmpne r3, r6\n"                    /* late, even2 */
            "    beq 39f\n"
            "37:\n"
            "    movs r1, r11\n"                    /* even_addend, next_addend */
            "    beq 36b\n"
            "    b 19b\n"
            "38:\n"
            "    cmp r3, r8\n"                      /* late, odd0 */
            "    itt ne\n"
            "    cmpne r3, r7\n"                    /* late, odd1 */
            "    cmpne r3, r12\n"                   /* late, odd2 */
            "    bne 37b\n"
            "    cmp r3, r8\n"                      /* late, odd0 */
            "    it eq\n"
            "    addeq r8, r8, #4\n"                /* odd0, odd0, #4 */
            "    cmp r3, r7\n"                      /* late, odd1 */
            "    it eq\n"
            "    addeq r7, r7, #4\n"                /* odd1, odd1, #4 */
            "    cmp r3, r12\n"                     /* late, odd2 */
            "    it eq\n"
            "    addeq r12, r12, #4\n"              /* odd2, odd2, #4 */
            "    b 37b\n"
            "39:\n"
            "    cmp r3, lr\n"                      /* late, even0 */
            "    it eq\n"
            "    addeq lr, lr, #4\n"                /* even0, even0, #4 */
            "    cmp r3, r5\n"                      /* late, even1 */
            "    it eq\n"
            "    addeq r5, r5, #4\n"                /* even1, even1, #4 */
            "    cmp r3, r6\n"                      /* late, even2 */
            "    it eq\n"
            "    addeq r6, r6, #4\n"                /* even2, even2, #4 */
            "    b 37b\n"
            "40:\n"
            "    vmov r8, s30\n"                    /* frame, frame_kept */
            "    ldr r0, [r8, #28]\n"               /* groups_left, [frame, #28] */
            "    subs r0, r0, #1\n"                 /* groups_left, groups_left, #1 */
            "    str r0, [r8, #28]\n"               /* groups_left, [frame, #28] */
            "    bne 1b\n"
            "    vpop {d8-d15}\n"
            "    pop {r4-r11, pc}\n");
    /* clang-format on */
}

MCU_FUNCTION void _mcu_dsp_winograd_reorder_4x48_int8(const int8_t *x, int8_t *y) {
    for (int32_t i0 = 0; i0 < 4; i0++) {
        for (int32_t i1 = 0; i1 < 48; i1++) {
            *y++ = x[i0 + i1 * 4];
        }
    }
}

/* ---- The layers, in the order of execution ---- */

/* clang-format off */
static void _mcu_dsp_winograd_layers(mcu_instance_t *instance) {
    uint8_t *const ws = instance->workspace;

    /* reshape_1_reorder: Reorder, x0 reordered: int8[1,8,6,8] -> int8[1,8,6,8] NHWC */
    int8_t *const int8 = (int8_t *)(ws + 0);
    int8_t *const reshape_1_reorder = (int8_t *)(ws + 1040);
    MCU_LAYER(0, _mcu_dsp_winograd_reorder_48x8_int8(int8, reshape_1_reorder));

    /* conv_1: Conv, Conv_5 (5 nodes): int8[1,8,6,8] NHWC -> int8[1,4,6,8] NHWC; 13,824 MACs */
    int8_t *const conv_1 = (int8_t *)(ws + 1008);
    uint8_t *const conv_1_scratch = (uint8_t *)(ws + 0);
    MCU_LAYER(1, _mcu_dsp_winograd_winograd_8x4_dsp(
        reshape_1_reorder, conv_1, _mcu_dsp_winograd_conv_1_weights, conv_1_scratch));

    /* conv_1_reorder: Reorder, y0 reordered: int8[1,4,6,8] NHWC -> int8[1,4,6,8] */
    int8_t *const conv_1_reorder = (int8_t *)(ws + 0);
    MCU_LAYER(2, _mcu_dsp_winograd_reorder_4x48_int8(conv_1, conv_1_reorder));
}

/* clang-format on */

