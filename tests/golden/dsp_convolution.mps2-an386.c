/* ---- Kernels ---- */

/* Those in assembly are one string each, some longer than C99 wants compilers to take. */
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Woverlength-strings"
#endif

MCU_FUNCTION void _mcu_dsp_convolution_reorder_144x3_int8(const int8_t *x, int8_t *y) {
    for (int32_t i0 = 0; i0 < 144; i0++) {
        for (int32_t i1 = 0; i1 < 3; i1++) {
            *y++ = x[i0 + i1 * 144];
        }
    }
}

/* y[p][f] = sat(round(factor[f] * (bias[f] + sum of w[f][t] x[p][t])) + zero), of pixels p,
 * filters f and taps t. Each f and the next one, g, share a stream of words:
 * bias[f]; 256 bias[g] + bias[f]; for two taps one, in halves 256 w[g] + w[f].
 * scale[f], addend[f], scale[g], addend[g]: (sum scale >> 32) + addend, shifted, is rounded as
 * it has to be, for which the biases are a little moved.
 * If addend[f] is 0, three more for each sum that is rounded too late: 0 or 1 for f or g, the
 * sum, addend[f], again 0 but for the last. Or 2: no integers round f and g; the first and the
 * third of the four words are factor[f] and factor[g] / 256, the last one is the zero point.
 * These three are behind the biases of the next f and g; behind the last f and g are two words
 * of 0 for that.
 * t are rows of a window, of each row the bytes that lie in x, of each four in the order 0 2 1
 * 3, behind those of all rows what is left of each.
 * x and y: [row][column][channel]. In front of the stream are numbers of the layer: a word of
 * the bytes of a tile's taps; a halfword each, to a whole word, those of the frame from `second`
 * on.
 * scratch: the taps of a tile; the frame, a word each: next, end, second, third, source, column,
 * row, tile columns, tile rows, step, down, tile stride, column end, row end, window step,
 * stride, columns inside, rows inside, column begin, row stride, wrap, filters, rounds, rows; a
 * word of each window: what leads down its rows, its begin, its patch; bytes for outputs of no
 * pixel; patches, with the zero point where there is no image.
 * Some rows of y: the scratch begins with the rows of the image that the windows of the first of
 * them, and those of the one behind the last, begin at.
 * In place: a tile's windows are read before its outputs are written. */
MCU_KERNEL void _mcu_dsp_convolution_conv3x3_dsp(const int8_t *x MCU_UNUSED, int8_t *y MCU_UNUSED,
                                                 const uint32_t *weights MCU_UNUSED,
                                                 uint8_t *scratch MCU_UNUSED) {
    /* clang-format off */
    __asm__(".syntax unified\n"
            "    push {r4-r11, lr}\n"
            "    vmov s2, r0\n"                     /* image, x */
            "    vmov s3, r1\n"                     /* output, y */
            "    vmov s4, r2\n"                     /* stream_begin, weights */
            "    vmov s5, r3\n"                     /* scratch_begin, scratch */
            "    movw r0, #2\n"                     /* count, #2 */
            "    vmov s6, r0\n"                     /* halves_left, count */
            "1:\n"
            "    vmov r0, s2\n"                     /* x, image */
            "    vmov r1, s3\n"                     /* y, output */
            "    vmov r2, s4\n"                     /* weights, stream_begin */
            "    vmov r3, s5\n"                     /* scratch, scratch_begin */
            /* What a half of the output needs of the image is copied with its padding. */
            "    add r5, r3, #308\n"                /* into, scratch, #308 */
            "    mov r6, r5\n"                      /* copy, into */
            "    add r7, r5, #280\n"                /* end, into, #280 */
            "    movw r4, #32896\n"                 /* zeros, #32896 */
            "    movt r4, #32896\n"                 /* zeros, #32896 */
            "    mov r12, r4\n"                     /* more_zeros, zeros */
            "2:\n"
            "    stmia r5!, {r4, r12}\n"            /* into!, {zeros, more_zeros} */
            "    cmp r5, r7\n"                      /* into, end */
            "    bne 2b\n"
            "    vmov r4, s6\n"                     /* halves, halves_left */
            "    add r5, r6, #0\n"                  /* into, copy, #0 */
            "    movw r8, #6\n"                     /* rows_left, #6 */
            "    movw r7, #6\n"                     /* row_end, #6 */
            "    cmp r4, #2\n"                      /* halves, #2 */
            "    itt eq\n"
            "    moveq r8, #7\n"                    /* rows_left, #7 */
            "    moveq r7, #6\n"                    /* row_end, #6 */
            "    mov r4, #0\n"                      /* first_row, #0 */
            "    strd r4, r7, [r3]\n"               /* first_row, row_end, [scratch] */
            "3:\n"
            "    ldr r4, [r0]\n"                    /* a, [x] */
            "    ldr r7, [r0, #4]\n"                /* b, [x, #4] */
            "    ldr r12, [r0, #8]\n"               /* c, [x, #8] */
            "    ldr lr, [r0, #12]\n"               /* d, [x, #12] */
            "    str r4, [r5]\n"                    /* a, [into] */
            "    str r7, [r5, #4]\n"                /* b, [into, #4] */
            "    str r12, [r5, #8]\n"               /* c, [into, #8] */
            "    str lr, [r5, #12]\n"               /* d, [into, #12] */
            "    ldr r4, [r0, #16]\n"               /* a, [x, #16] */
            "    ldr r7, [r0, #20]\n"               /* b, [x, #20] */
            "    ldr r12, [r0, #24]\n"              /* c, [x, #24] */
            "    ldr lr, [r0, #28]\n"               /* d, [x, #28] */
            "    str r4, [r5, #16]\n"               /* a, [into, #16] */
            "    str r7, [r5, #20]\n"               /* b, [into, #20] */
            "    str r12, [r5, #24]\n"              /* c, [into, #24] */
            "    str lr, [r5, #28]\n"               /* d, [into, #28] */
            "    ldr r4, [r0, #32]\n"               /* a, [x, #32] */
            "    str r4, [r5, #32]\n"               /* a, [into, #32] */
            "    add r0, r0, #36\n"                 /* x, x, #36 */
            "    add r5, r5, #39\n"                 /* into, into, #39 */
            "    subs r8, r8, #1\n"                 /* rows_left, rows_left, #1 */
            "    bne 3b\n"
            "    sub r0, r0, #36\n"                 /* next, x, #36 */
            "    vmov s2, r0\n"                     /* image, next */
            "    add r0, r1, #144\n"                /* next, y, #144 */
            "    vmov s3, r0\n"                     /* output, next */
            "    mov r0, r6\n"                      /* x, copy */
            /* The numbers go behind the taps of a tile. */
            "    ldr r4, [r2], #4\n"                /* taps_bytes, [weights], #4 */
            "    add r10, r3, r4\n"                 /* taps, scratch, taps_bytes */
            "    sub r4, r10, r4\n"                 /* begin, taps, taps_bytes */
            "    vmov s7, r4\n"                     /* first_taps, begin */
            "    vmov s0, r10\n"                    /* numbers, taps */
            "    add r6, r10, #8\n"                 /* into, taps, #8 */
            "    add r4, r10, #96\n"                /* end, taps, #96 */
            "4:\n"
            "    ldr r5, [r2], #4\n"                /* high, [weights], #4 */
            "    sxth r7, r5\n"                     /* low, high */
            "    asrs r5, r5, #16\n"                /* high, high, #16 */
            "    strd r7, r5, [r6], #8\n"           /* low, high, [into], #8 */
            "    cmp r6, r4\n"                      /* into, end */
            "    bne 4b\n"
            "    vmov s8, r2\n"                     /* first_weights, weights */
            "    ldr r2, [r10, #84]\n"              /* filters, [taps, #84] */
            "    add r4, r1, r2\n"                  /* end, y, filters */
            "    strd r1, r4, [r10]\n"              /* y, end, [taps] */
            "    ldr r1, [r10, #16]\n"              /* source, [taps, #16] */
            "    add r1, r0, r1\n"                  /* source, x, source */
            "    str r1, [r10, #16]\n"              /* source, [taps, #16] */
            "    add r0, r10, #88\n"                /* at, taps, #88 */
            "    ldmia r0, {r0, r1}\n"              /* at, {rounds, rows} */
            "    vmov d0, r0, r1\n"                 /* rounds_rows, rounds, rows */
            "    ldrd r1, r0, [r3]\n"               /* row, row_end, [scratch] */
            "    str r1, [r10, #24]\n"              /* row, [taps, #24] */
            "    str r0, [r10, #52]\n"              /* row_end, [taps, #52] */
            "    ldr r1, [r10, #32]\n"              /* tile_rows, [taps, #32] */
            "    cmp r0, r1\n"                      /* row_end, tile_rows */
            "    it lo\n"
            "    strlo r0, [r10, #32]\n"            /* row_end, [taps, #32] */
            /* Three windows, begun at once if they are inside of the image and of one row. */
            "5:\n"
            "    add r0, r10, #16\n"                /* at, taps, #16 */
            /* at, {source, column, row, tile_columns, tile_rows, step, down0, tile_stride} */
            "    ldmia r0, {r0-r7}\n"
            "    cmp r1, r3\n"                      /* column, tile_columns */
            "    it lo\n"
            "    cmplo r2, r4\n"                    /* row, tile_rows */
            "    bhs 15f\n"
            "    mov r9, r0\n"                      /* window0, source */
            "    add r1, r1, r7\n"                  /* column, column, tile_stride */
            "    add r12, r9, r5\n"                 /* window1, window0, step */
            "    add lr, r12, r5\n"                 /* window2, window1, step */
            "    add r0, lr, r5\n"                  /* source, window2, step */
            "    mov r7, r6\n"                      /* down1, down0 */
            "    mov r8, r6\n"                      /* down2, down0 */
            "    strd r0, r1, [r10, #16]\n"         /* source, column, [taps, #16] */
            "6:\n"
            "    vmov r5, s7\n"                     /* into, first_taps */
            /* Their taps, widened to int16: two a word, of all three windows in turn. Of each */
            /* four bytes of a row they are 0 and 2, 1 and 3; what is left of a row is in its */
            /* order. */
            "    ldr r0, [r9], #4\n"                /* a0, [window0], #4 */
            "    ldr r1, [r12], #4\n"               /* a1, [window1], #4 */
            "    ldr r2, [lr], #4\n"                /* a2, [window2], #4 */
            "    sxtb16 r3, r0, ror #8\n"           /* b0, a0, ror #8 */
            "    sxtb16 r4, r1, ror #8\n"           /* b1, a1, ror #8 */
            "    sxtb16 r10, r2, ror #8\n"          /* b2, a2, ror #8 */
            "    sxtb16 r0, r0\n"                   /* a0, a0 */
            "    sxtb16 r1, r1\n"                   /* a1, a1 */
            "    sxtb16 r2, r2\n"                   /* a2, a2 */
            "    stmia r5!, {r0-r4, r10}\n"         /* into!, {a0, a1, a2, b0, b1, b2} */
            "    ldr r0, [r9], #4\n"                /* a0, [window0], #4 */
            "    ldr r1, [r12], #4\n"               /* a1, [window1], #4 */
            "    ldr r2, [lr], #4\n"                /* a2, [window2], #4 */
            "    sxtb16 r3, r0, ror #8\n"           /* b0, a0, ror #8 */
            "    sxtb16 r4, r1, ror #8\n"           /* b1, a1, ror #8 */
            "    sxtb16 r10, r2, ror #8\n"          /* b2, a2, ror #8 */
            "    sxtb16 r0, r0\n"                   /* a0, a0 */
            "    sxtb16 r1, r1\n"                   /* a1, a1 */
            "    sxtb16 r2, r2\n"                   /* a2, a2 */
            "    stmia r5!, {r0-r4, r10}\n"         /* into!, {a0, a1, a2, b0, b1, b2} */
            "    ldrsb r0, [r9], #1\n"              /* a0, [window0], #1 */
            "    ldrsb r1, [r12], #1\n"             /* a1, [window1], #1 */
            "    ldrsb r2, [lr], #1\n"              /* a2, [window2], #1 */
            "    strh r0, [r5, #96]\n"              /* a0, [into, #96] */
            "    strh r1, [r5, #100]\n"             /* a1, [into, #100] */
            "    strh r2, [r5, #104]\n"             /* a2, [into, #104] */
            "    add r9, r9, r6\n"                  /* window0, window0, down0 */
            "    add r12, r12, r7\n"                /* window1, window1, down1 */
            "    add lr, lr, r8\n"                  /* window2, window2, down2 */
            "    ldr r0, [r9], #4\n"                /* a0, [window0], #4 */
            "    ldr r1, [r12], #4\n"               /* a1, [window1], #4 */
            "    ldr r2, [lr], #4\n"                /* a2, [window2], #4 */
            "    sxtb16 r3, r0, ror #8\n"           /* b0, a0, ror #8 */
            "    sxtb16 r4, r1, ror #8\n"           /* b1, a1, ror #8 */
            "    sxtb16 r10, r2, ror #8\n"          /* b2, a2, ror #8 */
            "    sxtb16 r0, r0\n"                   /* a0, a0 */
            "    sxtb16 r1, r1\n"                   /* a1, a1 */
            "    sxtb16 r2, r2\n"                   /* a2, a2 */
            "    stmia r5!, {r0-r4, r10}\n"         /* into!, {a0, a1, a2, b0, b1, b2} */
            "    ldr r0, [r9], #4\n"                /* a0, [window0], #4 */
            "    ldr r1, [r12], #4\n"               /* a1, [window1], #4 */
            "    ldr r2, [lr], #4\n"                /* a2, [window2], #4 */
            "    sxtb16 r3, r0, ror #8\n"           /* b0, a0, ror #8 */
            "    sxtb16 r4, r1, ror #8\n"           /* b1, a1, ror #8 */
            "    sxtb16 r10, r2, ror #8\n"          /* b2, a2, ror #8 */
            "    sxtb16 r0, r0\n"                   /* a0, a0 */
            "    sxtb16 r1, r1\n"                   /* a1, a1 */
            "    sxtb16 r2, r2\n"                   /* a2, a2 */
            "    stmia r5!, {r0-r4, r10}\n"         /* into!, {a0, a1, a2, b0, b1, b2} */
            "    ldrsb r0, [r9], #1\n"              /* a0, [window0], #1 */
            "    ldrsb r1, [r12], #1\n"             /* a1, [window1], #1 */
            "    ldrsb r2, [lr], #1\n"              /* a2, [window2], #1 */
            "    strh r0, [r5, #50]\n"              /* a0, [into, #50] */
            "    strh r1, [r5, #54]\n"              /* a1, [into, #54] */
            "    strh r2, [r5, #58]\n"              /* a2, [into, #58] */
            "    add r9, r9, r6\n"                  /* window0, window0, down0 */
            "    add r12, r12, r7\n"                /* window1, window1, down1 */
            "    add lr, lr, r8\n"                  /* window2, window2, down2 */
            "    ldr r0, [r9], #4\n"                /* a0, [window0], #4 */
            "    ldr r1, [r12], #4\n"               /* a1, [window1], #4 */
            "    ldr r2, [lr], #4\n"                /* a2, [window2], #4 */
            "    sxtb16 r3, r0, ror #8\n"           /* b0, a0, ror #8 */
            "    sxtb16 r4, r1, ror #8\n"           /* b1, a1, ror #8 */
            "    sxtb16 r10, r2, ror #8\n"          /* b2, a2, ror #8 */
            "    sxtb16 r0, r0\n"                   /* a0, a0 */
            "    sxtb16 r1, r1\n"                   /* a1, a1 */
            "    sxtb16 r2, r2\n"                   /* a2, a2 */
            "    stmia r5!, {r0-r4, r10}\n"         /* into!, {a0, a1, a2, b0, b1, b2} */
            "    ldr r0, [r9], #4\n"                /* a0, [window0], #4 */
            "    ldr r1, [r12], #4\n"               /* a1, [window1], #4 */
            "    ldr r2, [lr], #4\n"                /* a2, [window2], #4 */
            "    sxtb16 r3, r0, ror #8\n"           /* b0, a0, ror #8 */
            "    sxtb16 r4, r1, ror #8\n"           /* b1, a1, ror #8 */
            "    sxtb16 r10, r2, ror #8\n"          /* b2, a2, ror #8 */
            "    sxtb16 r0, r0\n"                   /* a0, a0 */
            "    sxtb16 r1, r1\n"                   /* a1, a1 */
            "    sxtb16 r2, r2\n"                   /* a2, a2 */
            "    stmia r5!, {r0-r4, r10}\n"         /* into!, {a0, a1, a2, b0, b1, b2} */
            "    ldrsb r0, [r9], #1\n"              /* a0, [window0], #1 */
            "    ldrsb r1, [r12], #1\n"             /* a1, [window1], #1 */
            "    ldrsb r2, [lr], #1\n"              /* a2, [window2], #1 */
            "    strh r0, [r5, #12]\n"              /* a0, [into, #12] */
            "    strh r1, [r5, #16]\n"              /* a1, [into, #16] */
            "    strh r2, [r5, #20]\n"              /* a2, [into, #20] */
            "    vmov r6, s8\n"                     /* stream, first_weights */
            "    ldmia r6!, {r5, r11}\n"            /* stream!, {even_bias, odd_bias} */
            /* Two filters, an even and an odd one, for three outputs. */
            /* Of a word of weights SXTB16 leaves the even filter's. */
            "7:\n"
            "    vmov r10, s7\n"                    /* taps, first_taps */
            "    ldmia r6!, {r2, r3}\n"             /* stream!, {odd2, weights0} */
            "    ldmia r10!, {r0, r1, r4}\n"        /* taps!, {x0, x1, x2} */
            "    sxtb16 r7, r2\n"                   /* even2, odd2 */
            "    smlad r9, r2, r0, r11\n"           /* odd0, odd2, x0, odd_bias */
            "    smlad lr, r2, r1, r11\n"           /* odd1, odd2, x1, odd_bias */
            "    smlad r2, r2, r4, r11\n"           /* odd2, odd2, x2, odd_bias */
            "    smlad r8, r7, r0, r5\n"            /* even0, even2, x0, even_bias */
            "    smlad r12, r7, r1, r5\n"           /* even1, even2, x1, even_bias */
            "    smlad r7, r7, r4, r5\n"            /* even2, even2, x2, even_bias */
            "    ldmia r10!, {r0, r1, r4}\n"        /* taps!, {x0, x1, x2} */
            "    smlad r9, r3, r0, r9\n"            /* odd0, weights0, x0, odd0 */
            "    smlad lr, r3, r1, lr\n"            /* odd1, weights0, x1, odd1 */
            "    smlad r2, r3, r4, r2\n"            /* odd2, weights0, x2, odd2 */
            "    sxtb16 r3, r3\n"                   /* weights0, weights0 */
            "    smlad r8, r3, r0, r8\n"            /* even0, weights0, x0, even0 */
            "    smlad r12, r3, r1, r12\n"          /* even1, weights0, x1, even1 */
            "    smlad r7, r3, r4, r7\n"            /* even2, weights0, x2, even2 */
            "    ldmia r6!, {r3, r5, r11}\n"        /* stream!, {weights0, weights1, weights2} */
            "    ldmia r10!, {r0, r1, r4}\n"        /* taps!, {x0, x1, x2} */
            "    smlad r9, r3, r0, r9\n"            /* odd0, weights0, x0, odd0 */
            "    smlad lr, r3, r1, lr\n"            /* odd1, weights0, x1, odd1 */
            "    smlad r2, r3, r4, r2\n"            /* odd2, weights0, x2, odd2 */
            "    sxtb16 r3, r3\n"                   /* weights0, weights0 */
            "    smlad r8, r3, r0, r8\n"            /* even0, weights0, x0, even0 */
            "    smlad r12, r3, r1, r12\n"          /* even1, weights0, x1, even1 */
            "    smlad r7, r3, r4, r7\n"            /* even2, weights0, x2, even2 */
            "    ldmia r10!, {r0, r1, r4}\n"        /* taps!, {x0, x1, x2} */
            "    smlad r9, r5, r0, r9\n"            /* odd0, weights1, x0, odd0 */
            "    smlad lr, r5, r1, lr\n"            /* odd1, weights1, x1, odd1 */
            "    smlad r2, r5, r4, r2\n"            /* odd2, weights1, x2, odd2 */
            "    sxtb16 r5, r5\n"                   /* weights1, weights1 */
            "    smlad r8, r5, r0, r8\n"            /* even0, weights1, x0, even0 */
            "    smlad r12, r5, r1, r12\n"          /* even1, weights1, x1, even1 */
            "    smlad r7, r5, r4, r7\n"            /* even2, weights1, x2, even2 */
            "    ldmia r10!, {r0, r1, r4}\n"        /* taps!, {x0, x1, x2} */
            "    smlad r9, r11, r0, r9\n"           /* odd0, weights2, x0, odd0 */
            "    smlad lr, r11, r1, lr\n"           /* odd1, weights2, x1, odd1 */
            "    smlad r2, r11, r4, r2\n"           /* odd2, weights2, x2, odd2 */
            "    sxtb16 r11, r11\n"                 /* weights2, weights2 */
            "    smlad r8, r11, r0, r8\n"           /* even0, weights2, x0, even0 */
            "    smlad r12, r11, r1, r12\n"         /* even1, weights2, x1, even1 */
            "    smlad r7, r11, r4, r7\n"           /* even2, weights2, x2, even2 */
            "    ldmia r6!, {r3, r5, r11}\n"        /* stream!, {weights0, weights1, weights2} */
            "    ldmia r10!, {r0, r1, r4}\n"        /* taps!, {x0, x1, x2} */
            "    smlad r9, r3, r0, r9\n"            /* odd0, weights0, x0, odd0 */
            "    smlad lr, r3, r1, lr\n"            /* odd1, weights0, x1, odd1 */
            "    smlad r2, r3, r4, r2\n"            /* odd2, weights0, x2, odd2 */
            "    sxtb16 r3, r3\n"                   /* weights0, weights0 */
            "    smlad r8, r3, r0, r8\n"            /* even0, weights0, x0, even0 */
            "    smlad r12, r3, r1, r12\n"          /* even1, weights0, x1, even1 */
            "    smlad r7, r3, r4, r7\n"            /* even2, weights0, x2, even2 */
            "    ldmia r10!, {r0, r1, r4}\n"        /* taps!, {x0, x1, x2} */
            "    smlad r9, r5, r0, r9\n"            /* odd0, weights1, x0, odd0 */
            "    smlad lr, r5, r1, lr\n"            /* odd1, weights1, x1, odd1 */
            "    smlad r2, r5, r4, r2\n"            /* odd2, weights1, x2, odd2 */
            "    sxtb16 r5, r5\n"                   /* weights1, weights1 */
            "    smlad r8, r5, r0, r8\n"            /* even0, weights1, x0, even0 */
            "    smlad r12, r5, r1, r12\n"          /* even1, weights1, x1, even1 */
            "    smlad r7, r5, r4, r7\n"            /* even2, weights1, x2, even2 */
            "    ldmia r10!, {r0, r1, r4}\n"        /* taps!, {x0, x1, x2} */
            "    smlad r9, r11, r0, r9\n"           /* odd0, weights2, x0, odd0 */
            "    smlad lr, r11, r1, lr\n"           /* odd1, weights2, x1, odd1 */
            "    smlad r2, r11, r4, r2\n"           /* odd2, weights2, x2, odd2 */
            "    sxtb16 r11, r11\n"                 /* weights2, weights2 */
            "    smlad r8, r11, r0, r8\n"           /* even0, weights2, x0, even0 */
            "    smlad r12, r11, r1, r12\n"         /* even1, weights2, x1, even1 */
            "    smlad r7, r11, r4, r7\n"           /* even2, weights2, x2, even2 */
            "    ldmia r6!, {r3, r5, r11}\n"        /* stream!, {weights0, weights1, weights2} */
            "    ldmia r10!, {r0, r1, r4}\n"        /* taps!, {x0, x1, x2} */
            "    smlad r9, r3, r0, r9\n"            /* odd0, weights0, x0, odd0 */
            "    smlad lr, r3, r1, lr\n"            /* odd1, weights0, x1, odd1 */
            "    smlad r2, r3, r4, r2\n"            /* odd2, weights0, x2, odd2 */
            "    sxtb16 r3, r3\n"                   /* weights0, weights0 */
            "    smlad r8, r3, r0, r8\n"            /* even0, weights0, x0, even0 */
            "    smlad r12, r3, r1, r12\n"          /* even1, weights0, x1, even1 */
            "    smlad r7, r3, r4, r7\n"            /* even2, weights0, x2, even2 */
            "    ldmia r10!, {r0, r1, r4}\n"        /* taps!, {x0, x1, x2} */
            "    smlad r9, r5, r0, r9\n"            /* odd0, weights1, x0, odd0 */
            "    smlad lr, r5, r1, lr\n"            /* odd1, weights1, x1, odd1 */
            "    smlad r2, r5, r4, r2\n"            /* odd2, weights1, x2, odd2 */
            "    sxtb16 r5, r5\n"                   /* weights1, weights1 */
            "    smlad r8, r5, r0, r8\n"            /* even0, weights1, x0, even0 */
            "    smlad r12, r5, r1, r12\n"          /* even1, weights1, x1, even1 */
            "    smlad r7, r5, r4, r7\n"            /* even2, weights1, x2, even2 */
            "    ldmia r10!, {r0, r1, r4}\n"        /* taps!, {x0, x1, x2} */
            "    smlad r9, r11, r0, r9\n"           /* odd0, weights2, x0, odd0 */
            "    smlad lr, r11, r1, lr\n"           /* odd1, weights2, x1, odd1 */
            "    smlad r2, r11, r4, r2\n"           /* odd2, weights2, x2, odd2 */
            "    sxtb16 r11, r11\n"                 /* weights2, weights2 */
            "    smlad r8, r11, r0, r8\n"           /* even0, weights2, x0, even0 */
            "    smlad r12, r11, r1, r12\n"         /* even1, weights2, x1, even1 */
            "    smlad r7, r11, r4, r7\n"           /* even2, weights2, x2, even2 */
            "    ldmia r6!, {r3, r5, r11}\n"        /* stream!, {weights0, weights1, weights2} */
            "    ldmia r10!, {r0, r1, r4}\n"        /* taps!, {x0, x1, x2} */
            "    smlad r9, r3, r0, r9\n"            /* odd0, weights0, x0, odd0 */
            "    smlad lr, r3, r1, lr\n"            /* odd1, weights0, x1, odd1 */
            "    smlad r2, r3, r4, r2\n"            /* odd2, weights0, x2, odd2 */
            "    sxtb16 r3, r3\n"                   /* weights0, weights0 */
            "    smlad r8, r3, r0, r8\n"            /* even0, weights0, x0, even0 */
            "    smlad r12, r3, r1, r12\n"          /* even1, weights0, x1, even1 */
            "    smlad r7, r3, r4, r7\n"            /* even2, weights0, x2, even2 */
            "    ldmia r10!, {r0, r1, r4}\n"        /* taps!, {x0, x1, x2} */
            "    smlad r9, r5, r0, r9\n"            /* odd0, weights1, x0, odd0 */
            "    smlad lr, r5, r1, lr\n"            /* odd1, weights1, x1, odd1 */
            "    smlad r2, r5, r4, r2\n"            /* odd2, weights1, x2, odd2 */
            "    sxtb16 r5, r5\n"                   /* weights1, weights1 */
            "    smlad r8, r5, r0, r8\n"            /* even0, weights1, x0, even0 */
            "    smlad r12, r5, r1, r12\n"          /* even1, weights1, x1, even1 */
            "    smlad r7, r5, r4, r7\n"            /* even2, weights1, x2, even2 */
            "    ldmia r10!, {r0, r1, r4}\n"        /* taps!, {x0, x1, x2} */
            "    smlad r9, r11, r0, r9\n"           /* odd0, weights2, x0, odd0 */
            "    smlad lr, r11, r1, lr\n"           /* odd1, weights2, x1, odd1 */
            "    smlad r2, r11, r4, r2\n"           /* odd2, weights2, x2, odd2 */
            "    sxtb16 r11, r11\n"                 /* weights2, weights2 */
            "    smlad r8, r11, r0, r8\n"           /* even0, weights2, x0, even0 */
            "    smlad r12, r11, r1, r12\n"         /* even1, weights2, x1, even1 */
            "    smlad r7, r11, r4, r7\n"           /* even2, weights2, x2, even2 */
            /* To elements of the output: scaled, shifted, saturated. */
            "    sub r9, r9, r8\n"                  /* odd0, odd0, even0 */
            "    sub lr, lr, r12\n"                 /* odd1, odd1, even1 */
            "    sub r2, r2, r7\n"                  /* odd2, odd2, even2 */
            /* stream!, {even_scale, even_addend, odd_scale, odd_addend, even_bias, odd_bias} */
            "    ldmia r6!, {r0, r1, r3-r5, r11}\n"
            "    cbz r1, 9f\n"                      /* even_addend */
            "8:\n"
            "    smmla r8, r8, r0, r1\n"            /* even0, even0, even_scale, even_addend */
            "    smmla r12, r12, r0, r1\n"          /* even1, even1, even_scale, even_addend */
            "    smmla r7, r7, r0, r1\n"            /* even2, even2, even_scale, even_addend */
            "    ssat r8, #8, r8, asr #4\n"         /* even0, #8, even0, asr #4 */
            "    ssat r12, #8, r12, asr #4\n"       /* even1, #8, even1, asr #4 */
            "    ssat r7, #8, r7, asr #4\n"         /* even2, #8, even2, asr #4 */
            "    smmla r9, r9, r3, r4\n"            /* odd0, odd0, odd_scale, odd_addend */
            "    smmla lr, lr, r3, r4\n"            /* odd1, odd1, odd_scale, odd_addend */
            "    smmla r2, r2, r3, r4\n"            /* odd2, odd2, odd_scale, odd_addend */
            "    ssat r9, #8, r9, asr #12\n"        /* odd0, #8, odd0, asr #12 */
            "    ssat lr, #8, lr, asr #12\n"        /* odd1, #8, odd1, asr #12 */
            "    ssat r2, #8, r2, asr #12\n"        /* odd2, #8, odd2, asr #12 */
            "    ldmia r10, {r0, r1, r3, r4}\n"     /* taps, {out, end, second, third} */
            /* Stored: of each pixel both filters at once. */
            "    bfi r8, r9, #8, #8\n"              /* even0, odd0, #8, #8 */
            "    bfi r12, lr, #8, #8\n"             /* even1, odd1, #8, #8 */
            "    bfi r7, r2, #8, #8\n"              /* even2, odd2, #8, #8 */
            "    strh r8, [r0], #2\n"               /* even0, [out], #2 */
            "    strh r12, [r0, r3]\n"              /* even1, [out, second] */
            "    strh r7, [r0, r4]\n"               /* even2, [out, third] */
            "    str r0, [r10]\n"                   /* out, [taps] */
            "    cmp r0, r1\n"                      /* out, end */
            "    bne 7b\n"
            "    b 14f\n"
            "9:\n"
            "    vmov d0, r5, r11\n"                /* biases, even_bias, odd_bias */
            /* Sums that are rounded too late, which a word names, become the next. */
            "10:\n"
            "    ldmia r6!, {r1, r5, r11}\n"        /* stream!, {even_addend, late, next_addend} */
            "    cbnz r1, 12f\n"                    /* even_addend */
            "    cmp r5, r8\n"                      /* late, even0 */
            "    itt ne\n"
            "    cmpne r5, r12\n"                   /* late, even1 */
            "    cmpne r5, r7\n"                    /* late, even2 */
            "    beq 13f\n"
            "11:\n"
            "    movs r1, r11\n"                    /* even_addend, next_addend */
            "    beq 10b\n"
            "    vmov r5, r11, d0\n"                /* even_bias, odd_bias, biases */
            "    b 8b\n"
            "12:\n"
            "    cmp r5, r9\n"                      /* late, odd0 */
            "    itt ne\n"
            "    cmpne r5, lr\n"                    /* late, odd1 */
            "    cmpne r5, r2\n"                    /* late, odd2 */
            "    bne 11b\n"
            "    cmp r5, r9\n"                      /* late, odd0 */
            "    it eq\n"
            "    addeq r9, r9, #256\n"              /* odd0, odd0, #256 */
            "    cmp r5, lr\n"                      /* late, odd1 */
            "    it eq\n"
            "    addeq lr, lr, #256\n"              /* odd1, odd1, #256 */
            "    cmp r5, r2\n"                      /* late, odd2 */
            "    it eq\n"
            "    addeq r2, r2, #256\n"              /* odd2, odd2, #256 */
            "    b 11b\n"
            "13:\n"
            "    cmp r5, r8\n"                      /* late, even0 */
            "    it eq\n"
            "    addeq r8, r8, #1\n"                /* even0, even0, #1 */
            "    cmp r5, r12\n"                     /* late, even1 */
            "    it eq\n"
            "    addeq r12, r12, #1\n"              /* even1, even1, #1 */
            "    cmp r5, r7\n"                      /* late, even2 */
            "    it eq\n"
            "    addeq r7, r7, #1\n"                /* even2, even2, #1 */
            "    b 11b\n"
            "14:\n"
            "    ldr r0, [r10]\n"                   /* out, [taps] */
            "    ldr r1, [r10, #84]\n"              /* filters, [taps, #84] */
            "    add r0, r0, r1, lsl #1\n"          /* out, out, filters, lsl #1 */
            "    add r1, r0, r1\n"                  /* end, out, filters */
            "    strd r0, r1, [r10]\n"              /* out, end, [taps] */
            "    b 5b\n"
            "15:\n"
            /* Other windows are begun one by one. */
            "    add r12, r10, #96\n"               /* begun, taps, #96 */
            "    add r7, r10, #48\n"                /* at, taps, #48 */
            /* at, {column_end, row_end, step, stride, columns_inside, rows_inside} */
            "    ldmia r7, {r3-r7, lr}\n"
            "16:\n"
            "    cmp r1, r3\n"                      /* column, column_end */
            "    bne 17f\n"
            "    ldrd r1, r7, [r10, #72]\n"         /* column, row_stride, [taps, #72] */
            "    add r2, r2, r7\n"                  /* row, row, row_stride */
            "    ldr r7, [r10, #80]\n"              /* wrap, [taps, #80] */
            "    add r0, r0, r7\n"                  /* source, source, wrap */
            "17:\n"
            "    cmp r2, r4\n"                      /* row, row_end */
            "    beq 19f\n"
            "    ldr r7, [r10, #40]\n"              /* down, [taps, #40] */
            "    str r7, [r12]\n"                   /* down, [begun] */
            "    str r0, [r12, #12]\n"              /* source, [begun, #12] */
            "    add r0, r0, r5\n"                  /* source, source, step */
            "    add r1, r1, r6\n"                  /* column, column, stride */
            "18:\n"
            "    add r12, r12, #4\n"                /* begun, begun, #4 */
            "    add r7, r10, #108\n"               /* at, taps, #108 */
            "    cmp r12, r7\n"                     /* begun, at */
            "    bne 16b\n"
            "    add r7, r10, #16\n"                /* at, taps, #16 */
            "    stmia r7, {r0-r2}\n"               /* at, {source, column, row} */
            "    add r7, r10, #96\n"                /* at, taps, #96 */
            /* at, {down0, down1, down2, window0, window1, window2} */
            "    ldmia r7, {r6-r9, r12, lr}\n"
            "    b 6b\n"
            "19:\n"
            /* There is no such pixel: it takes the one before it again, for nobody. */
            "    add r7, r10, #96\n"                /* at, taps, #96 */
            "    cmp r12, r7\n"                     /* begun, at */
            "    beq 20f\n"
            "    sub r3, r12, #4\n"                 /* before, begun, #4 */
            "    ldr r7, [r3]\n"                    /* down, [before] */
            "    str r7, [r12]\n"                   /* down, [begun] */
            "    ldr r3, [r3, #12]\n"               /* begin, [before, #12] */
            "    str r3, [r12, #12]\n"              /* begin, [begun, #12] */
            "    add r3, r10, #130\n"               /* nowhere, taps, #130 */
            "    ldr r4, [r10]\n"                   /* next, [taps] */
            "    sub r3, r3, r4\n"                  /* nowhere, nowhere, next */
            "    sub r7, r12, #92\n"                /* at, begun, #92 */
            "    str r3, [r7]\n"                    /* nowhere, [at] */
            "    add r7, r10, #48\n"                /* at, taps, #48 */
            /* at, {column_end, row_end, step, stride, columns_inside, rows_inside} */
            "    ldmia r7, {r3-r7, lr}\n"
            "    b 18b\n"
            "20:\n"
            "    vmov r0, s6\n"                     /* count, halves_left */
            "    subs r0, r0, #1\n"                 /* count, count, #1 */
            "    vmov s6, r0\n"                     /* halves_left, count */
            "    bne 1b\n"
            "    pop {r4-r11, pc}\n");
    /* clang-format on */
}

MCU_FUNCTION void _mcu_dsp_convolution_reorder_8x36_int8(const int8_t *x, int8_t *y) {
    for (int32_t i0 = 0; i0 < 8; i0++) {
        for (int32_t i1 = 0; i1 < 36; i1++) {
            *y++ = x[i0 + i1 * 8];
        }
    }
}

/* ---- The layers, in the order of execution ---- */

/* clang-format off */
static void _mcu_dsp_convolution_layers(mcu_instance_t *instance) {
    uint8_t *const ws = instance->workspace;

    /* reshape_1_reorder: Reorder, x0 reordered: int8[1,3,12,12] -> int8[1,3,12,12] NHWC */
    int8_t *const int8 = (int8_t *)(ws + 0);
    int8_t *const reshape_1_reorder = (int8_t *)(ws + 592);
    MCU_LAYER(0, _mcu_dsp_convolution_reorder_144x3_int8(int8, reshape_1_reorder));

    /* conv_1: Conv, Conv_5 (5 nodes): int8[1,3,12,12] NHWC -> int8[1,8,6,6] NHWC; 7,776 MACs */
    int8_t *const conv_1 = (int8_t *)(ws + 592);
    uint8_t *const conv_1_scratch = (uint8_t *)(ws + 0);
    MCU_LAYER(1, _mcu_dsp_convolution_conv3x3_dsp(
        reshape_1_reorder, conv_1, _mcu_dsp_convolution_conv_1_weights, conv_1_scratch));

    /* conv_1_reorder: Reorder, y0 reordered: int8[1,8,6,6] NHWC -> int8[1,8,6,6] */
    int8_t *const conv_1_reorder = (int8_t *)(ws + 0);
    MCU_LAYER(2, _mcu_dsp_convolution_reorder_8x36_int8(conv_1, conv_1_reorder));
}

/* clang-format on */

