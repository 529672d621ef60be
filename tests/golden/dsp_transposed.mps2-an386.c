/* ---- Kernels ---- */

/* Those in assembly are one string each, some longer than C99 wants compilers to take. */
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Woverlength-strings"
#endif

MCU_FUNCTION void _mcu_dsp_transposed_reorder_28x8_int8(const int8_t *x, int8_t *y) {
    for (int32_t i0 = 0; i0 < 28; i0++) {
        for (int32_t i1 = 0; i1 < 8; i1++) {
            *y++ = x[i0 + i1 * 28];
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
 * 3.
 * x and y: [row][column][channel]. In front of the stream are numbers of the layer: a word of
 * the bytes of a tile's taps; a halfword each, to a whole word, those of the frame from `second`
 * on.
 * scratch: the taps of a tile; the frame, a word each: next, end, second, third, source, column,
 * row, tile columns, tile rows, step, down, tile stride, column end, row end, window step,
 * stride, columns inside, rows inside, column begin, row stride, wrap, filters, rounds, rows,
 * height, down the image, row of a patch, down a patch, width, span, channels, zeros, patch,
 * patches; a word of each window: what leads down its rows, its begin, its patch; bytes for
 * outputs of no pixel; patches, with the zero point where there is no image.
 * Some rows of y: the scratch begins with the rows of the image that the windows of the first of
 * them, and those of the one behind the last, begin at.
 * In place: a tile's windows are read before its outputs are written.
 * The numbers go behind the taps of a tile. */
MCU_KERNEL void _mcu_dsp_transposed_conv2x3_rows_9500c4df_dsp(const int8_t *x MCU_UNUSED,
                                                              int8_t *y MCU_UNUSED,
                                                              const uint32_t *weights MCU_UNUSED,
                                                              uint8_t *scratch MCU_UNUSED) {
    /* clang-format off */
    __asm__(".syntax unified\n"
            "    push {r4-r11, lr}\n"
            "    ldr r4, [r2], #4\n"                /* taps_bytes, [weights], #4 */
            "    add r10, r3, r4\n"                 /* taps, scratch, taps_bytes */
            "    sub r4, r10, r4\n"                 /* begin, taps, taps_bytes */
            "    vmov s4, r4\n"                     /* first_taps, begin */
            "    vmov s5, r10\n"                    /* numbers, taps */
            "    add r6, r10, #8\n"                 /* into, taps, #8 */
            "    add r4, r10, #136\n"               /* end, taps, #136 */
            "1:\n"
            "    ldr r5, [r2], #4\n"                /* high, [weights], #4 */
            "    sxth r7, r5\n"                     /* low, high */
            "    asrs r5, r5, #16\n"                /* high, high, #16 */
            "    strd r7, r5, [r6], #8\n"           /* low, high, [into], #8 */
            "    cmp r6, r4\n"                      /* into, end */
            "    bne 1b\n"
            "    vmov s6, r2\n"                     /* first_weights, weights */
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
            "    ldr r0, [r10, #132]\n"             /* patch0, [taps, #132] */
            "    ldr r2, [r10, #128]\n"             /* patch_bytes, [taps, #128] */
            "    add r0, r0, r10\n"                 /* patch0, patch0, taps */
            "    add r1, r0, r2\n"                  /* patch1, patch0, patch_bytes */
            "    add r2, r1, r2\n"                  /* patch2, patch1, patch_bytes */
            "    add r3, r10, #160\n"               /* at, taps, #160 */
            "    stmia r3, {r0-r2}\n"               /* at, {patch0, patch1, patch2} */
            /* Three windows, begun at once if they are inside of the image and of one row. */
            "2:\n"
            "    add r0, r10, #16\n"                /* at, taps, #16 */
            /* at, {source, column, row, tile_columns, tile_rows, step, down0, tile_stride} */
            "    ldmia r0, {r0-r7}\n"
            "    cmp r1, r3\n"                      /* column, tile_columns */
            "    it lo\n"
            "    cmplo r2, r4\n"                    /* row, tile_rows */
            "    bhs 14f\n"
            "    mov r9, r0\n"                      /* window0, source */
            "    add r1, r1, r7\n"                  /* column, column, tile_stride */
            "    add r12, r9, r5\n"                 /* window1, window0, step */
            "    add lr, r12, r5\n"                 /* window2, window1, step */
            "    add r0, lr, r5\n"                  /* source, window2, step */
            "    mov r7, r6\n"                      /* down1, down0 */
            "    mov r8, r6\n"                      /* down2, down0 */
            "    strd r0, r1, [r10, #16]\n"         /* source, column, [taps, #16] */
            "3:\n"
            "    vmov r10, s4\n"                    /* into, first_taps */
            /* Their taps, widened to int16: two a word, of all three windows in turn. Of each */
            /* four bytes of a row they are 0 and 2, 1 and 3; what is left of a row is in its */
            /* order. */
            "    mov r5, #2\n"                      /* left, #2 */
            "    vmov s2, r5\n"                     /* rows_left, left */
            "4:\n"
            "    vmov r5, s0\n"                     /* left, rounds_rows.low */
            "5:\n"
            "    ldr r0, [r9], #4\n"                /* a0, [window0], #4 */
            "    ldr r1, [r12], #4\n"               /* a1, [window1], #4 */
            "    ldr r2, [lr], #4\n"                /* a2, [window2], #4 */
            "    sxtb16 r3, r0, ror #8\n"           /* b0, a0, ror #8 */
            "    sxtb16 r4, r1, ror #8\n"           /* b1, a1, ror #8 */
            "    sxtb16 r11, r2, ror #8\n"          /* b2, a2, ror #8 */
            "    sxtb16 r0, r0\n"                   /* a0, a0 */
            "    sxtb16 r1, r1\n"                   /* a1, a1 */
            "    sxtb16 r2, r2\n"                   /* a2, a2 */
            "    stmia r10!, {r0-r4, r11}\n"        /* into!, {a0, a1, a2, b0, b1, b2} */
            "    ldr r0, [r9], #4\n"                /* a0, [window0], #4 */
            "    ldr r1, [r12], #4\n"               /* a1, [window1], #4 */
            "    ldr r2, [lr], #4\n"                /* a2, [window2], #4 */
            "    sxtb16 r3, r0, ror #8\n"           /* b0, a0, ror #8 */
            "    sxtb16 r4, r1, ror #8\n"           /* b1, a1, ror #8 */
            "    sxtb16 r11, r2, ror #8\n"          /* b2, a2, ror #8 */
            "    sxtb16 r0, r0\n"                   /* a0, a0 */
            "    sxtb16 r1, r1\n"                   /* a1, a1 */
            "    sxtb16 r2, r2\n"                   /* a2, a2 */
            "    stmia r10!, {r0-r4, r11}\n"        /* into!, {a0, a1, a2, b0, b1, b2} */
            "    ldr r0, [r9], #4\n"                /* a0, [window0], #4 */
            "    ldr r1, [r12], #4\n"               /* a1, [window1], #4 */
            "    ldr r2, [lr], #4\n"                /* a2, [window2], #4 */
            "    sxtb16 r3, r0, ror #8\n"           /* b0, a0, ror #8 */
            "    sxtb16 r4, r1, ror #8\n"           /* b1, a1, ror #8 */
            "    sxtb16 r11, r2, ror #8\n"          /* b2, a2, ror #8 */
            "    sxtb16 r0, r0\n"                   /* a0, a0 */
            "    sxtb16 r1, r1\n"                   /* a1, a1 */
            "    sxtb16 r2, r2\n"                   /* a2, a2 */
            "    stmia r10!, {r0-r4, r11}\n"        /* into!, {a0, a1, a2, b0, b1, b2} */
            "    ldr r0, [r9], #4\n"                /* a0, [window0], #4 */
            "    ldr r1, [r12], #4\n"               /* a1, [window1], #4 */
            "    ldr r2, [lr], #4\n"                /* a2, [window2], #4 */
            "    sxtb16 r3, r0, ror #8\n"           /* b0, a0, ror #8 */
            "    sxtb16 r4, r1, ror #8\n"           /* b1, a1, ror #8 */
            "    sxtb16 r11, r2, ror #8\n"          /* b2, a2, ror #8 */
            "    sxtb16 r0, r0\n"                   /* a0, a0 */
            "    sxtb16 r1, r1\n"                   /* a1, a1 */
            "    sxtb16 r2, r2\n"                   /* a2, a2 */
            "    stmia r10!, {r0-r4, r11}\n"        /* into!, {a0, a1, a2, b0, b1, b2} */
            "    ldr r0, [r9], #4\n"                /* a0, [window0], #4 */
            "    ldr r1, [r12], #4\n"               /* a1, [window1], #4 */
            "    ldr r2, [lr], #4\n"                /* a2, [window2], #4 */
            "    sxtb16 r3, r0, ror #8\n"           /* b0, a0, ror #8 */
            "    sxtb16 r4, r1, ror #8\n"           /* b1, a1, ror #8 */
            "    sxtb16 r11, r2, ror #8\n"          /* b2, a2, ror #8 */
            "    sxtb16 r0, r0\n"                   /* a0, a0 */
            "    sxtb16 r1, r1\n"                   /* a1, a1 */
            "    sxtb16 r2, r2\n"                   /* a2, a2 */
            "    stmia r10!, {r0-r4, r11}\n"        /* into!, {a0, a1, a2, b0, b1, b2} */
            "    ldr r0, [r9], #4\n"                /* a0, [window0], #4 */
            "    ldr r1, [r12], #4\n"               /* a1, [window1], #4 */
            "    ldr r2, [lr], #4\n"                /* a2, [window2], #4 */
            "    sxtb16 r3, r0, ror #8\n"           /* b0, a0, ror #8 */
            "    sxtb16 r4, r1, ror #8\n"           /* b1, a1, ror #8 */
            "    sxtb16 r11, r2, ror #8\n"          /* b2, a2, ror #8 */
            "    sxtb16 r0, r0\n"                   /* a0, a0 */
            "    sxtb16 r1, r1\n"                   /* a1, a1 */
            "    sxtb16 r2, r2\n"                   /* a2, a2 */
            "    stmia r10!, {r0-r4, r11}\n"        /* into!, {a0, a1, a2, b0, b1, b2} */
            "    subs r5, r5, #1\n"                 /* left, left, #1 */
            "    bne 5b\n"
            "    add r9, r9, r6\n"                  /* window0, window0, down0 */
            "    add r12, r12, r7\n"                /* window1, window1, down1 */
            "    add lr, lr, r8\n"                  /* window2, window2, down2 */
            "    vmov r5, s2\n"                     /* left, rows_left */
            "    subs r5, r5, #1\n"                 /* left, left, #1 */
            "    vmov s2, r5\n"                     /* rows_left, left */
            "    bne 4b\n"
            "    vmov r6, s6\n"                     /* stream, first_weights */
            "    ldmia r6!, {r5, r11}\n"            /* stream!, {even_bias, odd_bias} */
            /* Two filters, an even and an odd one, for three outputs. */
            /* Of a word of weights SXTB16 leaves the even filter's. */
            "6:\n"
            "    vmov r10, s4\n"                    /* taps, first_taps */
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
            "    ldr r3, [r6], #4\n"                /* weights0, [stream], #4 */
            "    ldmia r10!, {r0, r1, r4}\n"        /* taps!, {x0, x1, x2} */
            "    smlad r9, r3, r0, r9\n"            /* odd0, weights0, x0, odd0 */
            "    smlad lr, r3, r1, lr\n"            /* odd1, weights0, x1, odd1 */
            "    smlad r2, r3, r4, r2\n"            /* odd2, weights0, x2, odd2 */
            "    sxtb16 r3, r3\n"                   /* weights0, weights0 */
            "    smlad r8, r3, r0, r8\n"            /* even0, weights0, x0, even0 */
            "    smlad r12, r3, r1, r12\n"          /* even1, weights0, x1, even1 */
            "    smlad r7, r3, r4, r7\n"            /* even2, weights0, x2, even2 */
            /* To elements of the output: scaled, shifted, saturated. */
            "    sub r9, r9, r8\n"                  /* odd0, odd0, even0 */
            "    sub lr, lr, r12\n"                 /* odd1, odd1, even1 */
            "    sub r2, r2, r7\n"                  /* odd2, odd2, even2 */
            /* stream!, {even_scale, even_addend, odd_scale, odd_addend, even_bias, odd_bias} */
            "    ldmia r6!, {r0, r1, r3-r5, r11}\n"
            "    cbz r1, 8f\n"                      /* even_addend */
            "7:\n"
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
            "    bne 6b\n"
            "    b 13f\n"
            "8:\n"
            "    vmov d1, r5, r11\n"                /* biases, even_bias, odd_bias */
            /* Sums that are rounded too late, which a word names, become the next. */
            "9:\n"
            "    ldmia r6!, {r1, r5, r11}\n"        /* stream!, {even_addend, late, next_addend} */
            "    cbnz r1, 11f\n"                    /* even_addend */
            "    cmp r5, r8\n"                      /* late, even0 */
            "    itt ne\n"
            "    cmpne r5, r12\n"                   /* late, even1 */
            "    cmpne r5, r7\n"                    /* late, even2 */
            "    beq 12f\n"
            "10:\n"
            "    movs r1, r11\n"                    /* even_addend, next_addend */
            "    beq 9b\n"
            "    vmov r5, r11, d1\n"                /* even_bias, odd_bias, biases */
            "    b 7b\n"
            "11:\n"
            "    cmp r5, r9\n"                      /* late, odd0 */
            "    itt ne\n"
            "    cmpne r5, lr\n"                    /* late, odd1 */
            "    cmpne r5, r2\n"                    /* late, odd2 */
            "    bne 10b\n"
            "    cmp r5, r9\n"                      /* late, odd0 */
            "    it eq\n"
            "    addeq r9, r9, #256\n"              /* odd0, odd0, #256 */
            "    cmp r5, lr\n"                      /* late, odd1 */
            "    it eq\n"
            "    addeq lr, lr, #256\n"              /* odd1, odd1, #256 */
            "    cmp r5, r2\n"                      /* late, odd2 */
            "    it eq\n"
            "    addeq r2, r2, #256\n"              /* odd2, odd2, #256 */
            "    b 10b\n"
            "12:\n"
            "    cmp r5, r8\n"                      /* late, even0 */
            "    it eq\n"
            "    addeq r8, r8, #1\n"                /* even0, even0, #1 */
            "    cmp r5, r12\n"                     /* late, even1 */
            "    it eq\n"
            "    addeq r12, r12, #1\n"              /* even1, even1, #1 */
            "    cmp r5, r7\n"                      /* late, even2 */
            "    it eq\n"
            "    addeq r7, r7, #1\n"                /* even2, even2, #1 */
            "    b 10b\n"
            "13:\n"
            "    ldr r0, [r10]\n"                   /* out, [taps] */
            "    ldr r1, [r10, #84]\n"              /* filters, [taps, #84] */
            "    add r0, r0, r1, lsl #1\n"          /* out, out, filters, lsl #1 */
            "    add r1, r0, r1\n"                  /* end, out, filters */
            "    strd r0, r1, [r10]\n"              /* out, end, [taps] */
            "    b 2b\n"
            "14:\n"
            /* Other windows are begun one by one. */
            "    add r12, r10, #136\n"              /* begun, taps, #136 */
            "    add lr, r10, #48\n"                /* at, taps, #48 */
            /* at, {column_end, row_end, step, stride, columns_inside, rows_inside} */
            "    ldmia lr, {r3-r8}\n"
            "15:\n"
            "    cmp r1, r3\n"                      /* column, column_end */
            "    bne 16f\n"
            "    ldrd r1, lr, [r10, #72]\n"         /* column, row_stride, [taps, #72] */
            "    add r2, r2, lr\n"                  /* row, row, row_stride */
            "    ldr lr, [r10, #80]\n"              /* wrap, [taps, #80] */
            "    add r0, r0, lr\n"                  /* source, source, wrap */
            "16:\n"
            "    cmp r2, r4\n"                      /* row, row_end */
            "    beq 25f\n"
            "    cmp r1, r7\n"                      /* column, columns_inside */
            "    it lo\n"
            "    cmplo r2, r8\n"                    /* row, rows_inside */
            "    blo 22f\n"
            /* One that leaves the image is copied, with the zero point around it. */
            "    ldr r6, [r12, #24]\n"              /* into, [begun, #24] */
            "    ldr r3, [r10, #108]\n"             /* down_patch, [taps, #108] */
            "    str r3, [r12]\n"                   /* down_patch, [begun] */
            "    str r6, [r12, #12]\n"              /* into, [begun, #12] */
            "    ldr r7, [r10, #128]\n"             /* patch_end, [taps, #128] */
            "    add r7, r7, r6\n"                  /* patch_end, patch_end, into */
            "    mov lr, r6\n"                      /* at, into */
            "    ldr r3, [r10, #124]\n"             /* zeros, [taps, #124] */
            "    pkhbt r3, r3, r3, lsl #16\n"       /* zeros, zeros, zeros, lsl #16 */
            "    mov r4, r3\n"                      /* zeros1, zeros */
            "    mov r5, r3\n"                      /* zeros2, zeros */
            "    mov r8, r3\n"                      /* zeros3, zeros */
            "17:\n"
            "    stmia lr!, {r3-r5, r8}\n"          /* at!, {zeros, zeros1, zeros2, zeros3} */
            "    stmia lr!, {r3-r5, r8}\n"          /* at!, {zeros, zeros1, zeros2, zeros3} */
            "    cmp lr, r7\n"                      /* at, patch_end */
            "    bne 17b\n"
            "    rsb r4, r1, #0\n"                  /* outside, column, #0 */
            "    bic r4, r4, r4, asr #31\n"         /* outside, outside, outside, asr #31 */
            "    ldr r3, [r10, #112]\n"             /* inside, [taps, #112] */
            "    sub r3, r3, r1\n"                  /* inside, inside, column */
            "    ldr r5, [r10, #116]\n"             /* span, [taps, #116] */
            "    cmp r3, r5\n"                      /* inside, span */
            "    it gt\n"
            "    movgt r3, r5\n"                    /* inside, span */
            "    subs r3, r3, r4\n"                 /* inside, inside, outside */
            "    ble 21f\n"
            "    ldr r5, [r10, #120]\n"             /* channels, [taps, #120] */
            "    mul r3, r3, r5\n"                  /* inside, inside, channels */
            "    mul r4, r4, r5\n"                  /* outside, outside, channels */
            "    add r5, r0, r4\n"                  /* inside_source, source, outside */
            "    add r6, r6, r4\n"                  /* into, into, outside */
            "    mov r4, r2\n"                      /* patch_row, row */
            "    ldr r7, [r10, #96]\n"              /* height, [taps, #96] */
            "    ldr lr, [r10, #92]\n"              /* rows_left, [taps, #92] */
            "    ldr r8, [r10, #100]\n"             /* pitch, [taps, #100] */
            "    ldr r10, [r10, #104]\n"            /* patch_pitch, [taps, #104] */
            "18:\n"
            "    cmp r4, r7\n"                      /* patch_row, height */
            "    bhs 20f\n"
            "    mov r9, r3\n"                      /* left, inside */
            "    subs r9, r9, #4\n"                 /* left, left, #4 */
            "19:\n"
            "    ldr r11, [r5, r9]\n"               /* copied, [inside_source, left] */
            "    str r11, [r6, r9]\n"               /* copied, [into, left] */
            "    subs r9, r9, #4\n"                 /* left, left, #4 */
            "    bhs 19b\n"
            "20:\n"
            "    add r5, r5, r8\n"                  /* inside_source, inside_source, pitch */
            "    add r6, r6, r10\n"                 /* into, into, patch_pitch */
            "    add r4, r4, #1\n"                  /* patch_row, patch_row, #1 */
            "    subs lr, lr, #1\n"                 /* rows_left, rows_left, #1 */
            "    bne 18b\n"
            "21:\n"
            "    vmov r10, s5\n"                    /* taps, numbers */
            "    add lr, r10, #48\n"                /* at, taps, #48 */
            /* at, {column_end, row_end, step, stride, columns_inside, rows_inside} */
            "    ldmia lr, {r3-r8}\n"
            "    b 23f\n"
            "22:\n"
            "    ldr lr, [r10, #40]\n"              /* down, [taps, #40] */
            "    str lr, [r12]\n"                   /* down, [begun] */
            "    str r0, [r12, #12]\n"              /* source, [begun, #12] */
            "23:\n"
            "    add r0, r0, r5\n"                  /* source, source, step */
            "    add r1, r1, r6\n"                  /* column, column, stride */
            "24:\n"
            "    add r12, r12, #4\n"                /* begun, begun, #4 */
            "    add lr, r10, #148\n"               /* at, taps, #148 */
            "    cmp r12, lr\n"                     /* begun, at */
            "    bne 15b\n"
            "    add lr, r10, #16\n"                /* at, taps, #16 */
            "    stmia lr, {r0-r2}\n"               /* at, {source, column, row} */
            "    add lr, r10, #136\n"               /* at, taps, #136 */
            /* at, {down0, down1, down2, window0, window1, window2} */
            "    ldmia lr, {r6-r9, r12, lr}\n"
            "    b 3b\n"
            "25:\n"
            /* There is no such pixel: it takes the one before it again, for nobody. */
            "    add lr, r10, #136\n"               /* at, taps, #136 */
            "    cmp r12, lr\n"                     /* begun, at */
            "    beq 26f\n"
            "    sub r3, r12, #4\n"                 /* before, begun, #4 */
            "    ldr lr, [r3]\n"                    /* down, [before] */
            "    str lr, [r12]\n"                   /* down, [begun] */
            "    ldr r3, [r3, #12]\n"               /* begin, [before, #12] */
            "    str r3, [r12, #12]\n"              /* begin, [begun, #12] */
            "    add r3, r10, #170\n"               /* nowhere, taps, #170 */
            "    ldr r4, [r10]\n"                   /* next, [taps] */
            "    sub r3, r3, r4\n"                  /* nowhere, nowhere, next */
            "    sub lr, r12, #132\n"               /* at, begun, #132 */
            "    str r3, [lr]\n"                    /* nowhere, [at] */
            "    add lr, r10, #48\n"                /* at, taps, #48 */
            /* at, {column_end, row_end, step, stride, columns_inside, rows_inside} */
            "    ldmia lr, {r3-r8}\n"
            "    b 24b\n"
            "26:\n"
            "    pop {r4-r11, pc}\n");
    /* clang-format on */
}

MCU_FUNCTION void _mcu_dsp_transposed_conv_transpose_8x4_dsp(const int8_t *x, int8_t *y,
                                                             const uint32_t *weights,
                                                             const uint32_t *weights1,
                                                             uint8_t *scratch) {
    /* Each row of the image makes 2 of y. Behind the first pixel of a row of y come those that
     * meet the image between the same columns: they are channels here. */
    /* Where windows begin, in rows of the image: of this row, of the next one. */
    int32_t *const range = (int32_t *)(void *)scratch;
    for (int32_t row = 0; row < 4; row++) {
        range[0] = row - 1;
        range[1] = row;
        _mcu_dsp_transposed_conv2x3_rows_9500c4df_dsp(x, y, weights, scratch);
        y += 56;
        range[0] = row;
        range[1] = row + 1;
        _mcu_dsp_transposed_conv2x3_rows_9500c4df_dsp(x, y, weights1, scratch);
        y += 56;
        x += 56;
    }
}

MCU_FUNCTION void _mcu_dsp_transposed_reorder_4x112_int8(const int8_t *x, int8_t *y) {
    for (int32_t i0 = 0; i0 < 4; i0++) {
        for (int32_t i1 = 0; i1 < 112; i1++) {
            *y++ = x[i0 + i1 * 4];
        }
    }
}

/* ---- The layers, in the order of execution ---- */

/* clang-format off */
static void _mcu_dsp_transposed_layers(mcu_instance_t *instance) {
    uint8_t *const ws = instance->workspace;

    /* reshape_1_reorder: Reorder, reshape_1_3 reordered: int8[1,8,4,7] -> int8[1,8,4,7] NHWC */
    int8_t *const int8 = (int8_t *)(ws + 0);
    int8_t *const reshape_1_reorder = (int8_t *)(ws + 1120);
    MCU_LAYER(0, _mcu_dsp_transposed_reorder_28x8_int8(int8, reshape_1_reorder));

    /* conv_transpose_1: ConvTranspose, up_0 (5 nodes):
     * int8[1,8,4,7] NHWC -> int8[1,4,8,14] NHWC; 14,336 MACs */
    int8_t *const conv_transpose_1 = (int8_t *)(ws + 672);
    uint8_t *const conv_transpose_1_scratch = (uint8_t *)(ws + 0);
    MCU_LAYER(1, _mcu_dsp_transposed_conv_transpose_8x4_dsp(
        reshape_1_reorder, conv_transpose_1, _mcu_dsp_transposed_conv_transpose_1_weights,
        _mcu_dsp_transposed_conv_transpose_1_weights1, conv_transpose_1_scratch));

    /* conv_transpose_1_reorder: Reorder, quantizelinear_6_13 reordered:
     * int8[1,4,8,14] NHWC -> int8[1,4,8,14] */
    int8_t *const conv_transpose_1_reorder = (int8_t *)(ws + 0);
    MCU_LAYER(2, _mcu_dsp_transposed_reorder_4x112_int8(conv_transpose_1,
                                                        conv_transpose_1_reorder));
}

/* clang-format on */

