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

/* y[p][f] = sat(round(factor[f] * (bias[f] + sum of w[f][t] x[p][t])) + zero), of pixels p,
 * filters f and taps t. Each f and the next one, g, share a stream of words:
 * bias[f]; 256 bias[g] + bias[f]; for two taps one, in halves 256 w[g] + w[f].
 * scale[f], addend[f], scale[g], addend[g]: (sum scale >> 32) + addend, shifted, is rounded as
 * it has to be, for which the biases are a little moved.
 * If addend[f] is 0, three more for each sum that is rounded too late: 0 or 1 for f or g, the
 * sum, addend[f], again 0 but for the last. Or 2: no integers round f and g; the first and the
 * third of the four words are factor[f] and factor[g] / 256, the last one is the zero point.
 * t are rows of a window, of each four channels of a row 0 and 2 of each column, then 1 and 3.
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
MCU_KERNEL void _mcu_dsp_conv_pool_conv3x3_rows_3fa03a6c_dsp(const int8_t *x MCU_UNUSED,
                                                             int8_t *y MCU_UNUSED,
                                                             const uint32_t *weights MCU_UNUSED,
                                                             uint8_t *scratch MCU_UNUSED) {
    /* clang-format off */
    __asm__(".syntax unified\n"
            "    push {r4-r11, lr}\n"
            "    ldr r4, [r2], #4\n"                /* taps_bytes, [weights], #4 */
            "    add r6, r3, r4\n"                  /* taps, scratch, taps_bytes */
            "    sub r4, r6, r4\n"                  /* begin, taps, taps_bytes */
            "    vmov s2, r4\n"                     /* first_taps, begin */
            "    vmov s3, r6\n"                     /* numbers, taps */
            "    add r7, r6, #8\n"                  /* into, taps, #8 */
            "    add r4, r6, #136\n"                /* end, taps, #136 */
            "1:\n"
            "    ldr r5, [r2], #4\n"                /* high, [weights], #4 */
            "    sxth r12, r5\n"                    /* low, high */
            "    asrs r5, r5, #16\n"                /* high, high, #16 */
            "    strd r12, r5, [r7], #8\n"          /* low, high, [into], #8 */
            "    cmp r7, r4\n"                      /* into, end */
            "    bne 1b\n"
            "    vmov s4, r2\n"                     /* first_weights, weights */
            "    ldr r2, [r6, #84]\n"               /* filters, [taps, #84] */
            "    add r4, r1, r2\n"                  /* end, y, filters */
            "    strd r1, r4, [r6]\n"               /* y, end, [taps] */
            "    ldr r1, [r6, #16]\n"               /* source, [taps, #16] */
            "    add r1, r0, r1\n"                  /* source, x, source */
            "    str r1, [r6, #16]\n"               /* source, [taps, #16] */
            "    add r0, r6, #88\n"                 /* at, taps, #88 */
            "    ldmia r0, {r0, r1}\n"              /* at, {rounds, rows} */
            "    vmov d0, r0, r1\n"                 /* rounds_rows, rounds, rows */
            "    ldrd r0, r1, [r3]\n"               /* row, row_end, [scratch] */
            "    str r0, [r6, #24]\n"               /* row, [taps, #24] */
            "    str r1, [r6, #52]\n"               /* row_end, [taps, #52] */
            "    ldr r0, [r6, #132]\n"              /* patch0, [taps, #132] */
            "    add r0, r0, r6\n"                  /* patch0, patch0, taps */
            "    str r0, [r6, #144]\n"              /* patch0, [taps, #144] */
            /* Three windows, begun at once if they are inside of the image and of one row. */
            "2:\n"
            "    add r0, r6, #16\n"                 /* at, taps, #16 */
            /* at, {source, column, row, tile_columns, tile_rows, step, down0, tile_stride} */
            "    ldmia r0, {r0-r5, r8, lr}\n"
            "    cmp r1, r3\n"                      /* column, tile_columns */
            "    it lo\n"
            "    cmplo r2, r4\n"                    /* row, tile_rows */
            "    bhs 13f\n"
            "    mov r12, r0\n"                     /* window0, source */
            "    add r1, r1, lr\n"                  /* column, column, tile_stride */
            "    add r0, r12, r5\n"                 /* source, window0, step */
            "    strd r0, r1, [r6, #16]\n"          /* source, column, [taps, #16] */
            "3:\n"
            "    vmov r10, s2\n"                    /* into, first_taps */
            /* Five columns that three windows share, widened to int16, two channels a word: of */
            /* each four of a row 0 and 2 of all columns, then 1 and 3. */
            "    mov lr, #3\n"                      /* left, #3 */
            "4:\n"
            "    ldr r0, [r12], #4\n"               /* a0, [window0], #4 */
            "    ldr r1, [r12]\n"                   /* a1, [window0] */
            "    ldr r2, [r12, #4]\n"               /* a2, [window0, #4] */
            "    ldr r3, [r12, #8]\n"               /* a3, [window0, #8] */
            "    ldr r4, [r12, #12]\n"              /* a4, [window0, #12] */
            "    sxtb16 r5, r0, ror #8\n"           /* b0, a0, ror #8 */
            "    sxtb16 r6, r1, ror #8\n"           /* b1, a1, ror #8 */
            "    sxtb16 r7, r2, ror #8\n"           /* b2, a2, ror #8 */
            "    sxtb16 r9, r3, ror #8\n"           /* b3, a3, ror #8 */
            "    sxtb16 r11, r4, ror #8\n"          /* b4, a4, ror #8 */
            "    sxtb16 r0, r0\n"                   /* a0, a0 */
            "    sxtb16 r1, r1\n"                   /* a1, a1 */
            "    sxtb16 r2, r2\n"                   /* a2, a2 */
            "    sxtb16 r3, r3\n"                   /* a3, a3 */
            "    sxtb16 r4, r4\n"                   /* a4, a4 */
            /* into!, {a0, a1, a2, a3, a4, b0, b1, b2, b3, b4} */
            "    stmia r10!, {r0-r7, r9, r11}\n"
            "    add r12, r12, r8\n"                /* window0, window0, down0 */
            "    subs lr, lr, #1\n"                 /* left, left, #1 */
            "    bne 4b\n"
            "    vmov r12, s4\n"                    /* stream, first_weights */
            /* Two filters, an even and an odd one, for three outputs. */
            /* Of a word of weights SXTB16 leaves the even filter's. */
            "5:\n"
            "    vmov r6, s2\n"                     /* taps, first_taps */
            "    ldmia r12!, {r3, r5}\n"            /* stream!, {even2, odd2} */
            "    ldmia r6!, {r0-r2, r4, r10}\n"     /* taps!, {x0, x1, x2, x3, x4} */
            "    ldr r11, [r12], #4\n"              /* weights0, [stream], #4 */
            "    smlad r9, r11, r0, r5\n"           /* odd0, weights0, x0, odd2 */
            "    smlad lr, r11, r1, r5\n"           /* odd1, weights0, x1, odd2 */
            "    smlad r5, r11, r2, r5\n"           /* odd2, weights0, x2, odd2 */
            "    sxtb16 r11, r11\n"                 /* weights0, weights0 */
            "    smlad r8, r11, r0, r3\n"           /* even0, weights0, x0, even2 */
            "    smlad r7, r11, r1, r3\n"           /* even1, weights0, x1, even2 */
            "    smlad r3, r11, r2, r3\n"           /* even2, weights0, x2, even2 */
            "    ldr r11, [r12], #4\n"              /* weights0, [stream], #4 */
            "    smlad r9, r11, r1, r9\n"           /* odd0, weights0, x1, odd0 */
            "    smlad lr, r11, r2, lr\n"           /* odd1, weights0, x2, odd1 */
            "    smlad r5, r11, r4, r5\n"           /* odd2, weights0, x3, odd2 */
            "    sxtb16 r11, r11\n"                 /* weights0, weights0 */
            "    smlad r8, r11, r1, r8\n"           /* even0, weights0, x1, even0 */
            "    smlad r7, r11, r2, r7\n"           /* even1, weights0, x2, even1 */
            "    smlad r3, r11, r4, r3\n"           /* even2, weights0, x3, even2 */
            "    ldr r11, [r12], #4\n"              /* weights0, [stream], #4 */
            "    smlad r9, r11, r2, r9\n"           /* odd0, weights0, x2, odd0 */
            "    smlad lr, r11, r4, lr\n"           /* odd1, weights0, x3, odd1 */
            "    smlad r5, r11, r10, r5\n"          /* odd2, weights0, x4, odd2 */
            "    sxtb16 r11, r11\n"                 /* weights0, weights0 */
            "    smlad r8, r11, r2, r8\n"           /* even0, weights0, x2, even0 */
            "    smlad r7, r11, r4, r7\n"           /* even1, weights0, x3, even1 */
            "    smlad r3, r11, r10, r3\n"          /* even2, weights0, x4, even2 */
            "    ldmia r6!, {r0-r2, r4, r10}\n"     /* taps!, {x0, x1, x2, x3, x4} */
            "    ldr r11, [r12], #4\n"              /* weights0, [stream], #4 */
            "    smlad r9, r11, r0, r9\n"           /* odd0, weights0, x0, odd0 */
            "    smlad lr, r11, r1, lr\n"           /* odd1, weights0, x1, odd1 */
            "    smlad r5, r11, r2, r5\n"           /* odd2, weights0, x2, odd2 */
            "    sxtb16 r11, r11\n"                 /* weights0, weights0 */
            "    smlad r8, r11, r0, r8\n"           /* even0, weights0, x0, even0 */
            "    smlad r7, r11, r1, r7\n"           /* even1, weights0, x1, even1 */
            "    smlad r3, r11, r2, r3\n"           /* even2, weights0, x2, even2 */
            "    ldr r11, [r12], #4\n"              /* weights0, [stream], #4 */
            "    smlad r9, r11, r1, r9\n"           /* odd0, weights0, x1, odd0 */
            "    smlad lr, r11, r2, lr\n"           /* odd1, weights0, x2, odd1 */
            "    smlad r5, r11, r4, r5\n"           /* odd2, weights0, x3, odd2 */
            "    sxtb16 r11, r11\n"                 /* weights0, weights0 */
            "    smlad r8, r11, r1, r8\n"           /* even0, weights0, x1, even0 */
            "    smlad r7, r11, r2, r7\n"           /* even1, weights0, x2, even1 */
            "    smlad r3, r11, r4, r3\n"           /* even2, weights0, x3, even2 */
            "    ldr r11, [r12], #4\n"              /* weights0, [stream], #4 */
            "    smlad r9, r11, r2, r9\n"           /* odd0, weights0, x2, odd0 */
            "    smlad lr, r11, r4, lr\n"           /* odd1, weights0, x3, odd1 */
            "    smlad r5, r11, r10, r5\n"          /* odd2, weights0, x4, odd2 */
            "    sxtb16 r11, r11\n"                 /* weights0, weights0 */
            "    smlad r8, r11, r2, r8\n"           /* even0, weights0, x2, even0 */
            "    smlad r7, r11, r4, r7\n"           /* even1, weights0, x3, even1 */
            "    smlad r3, r11, r10, r3\n"          /* even2, weights0, x4, even2 */
            "    ldmia r6!, {r0-r2, r4, r10}\n"     /* taps!, {x0, x1, x2, x3, x4} */
            "    ldr r11, [r12], #4\n"              /* weights0, [stream], #4 */
            "    smlad r9, r11, r0, r9\n"           /* odd0, weights0, x0, odd0 */
            "    smlad lr, r11, r1, lr\n"           /* odd1, weights0, x1, odd1 */
            "    smlad r5, r11, r2, r5\n"           /* odd2, weights0, x2, odd2 */
            "    sxtb16 r11, r11\n"                 /* weights0, weights0 */
            "    smlad r8, r11, r0, r8\n"           /* even0, weights0, x0, even0 */
            "    smlad r7, r11, r1, r7\n"           /* even1, weights0, x1, even1 */
            "    smlad r3, r11, r2, r3\n"           /* even2, weights0, x2, even2 */
            "    ldr r11, [r12], #4\n"              /* weights0, [stream], #4 */
            "    smlad r9, r11, r1, r9\n"           /* odd0, weights0, x1, odd0 */
            "    smlad lr, r11, r2, lr\n"           /* odd1, weights0, x2, odd1 */
            "    smlad r5, r11, r4, r5\n"           /* odd2, weights0, x3, odd2 */
            "    sxtb16 r11, r11\n"                 /* weights0, weights0 */
            "    smlad r8, r11, r1, r8\n"           /* even0, weights0, x1, even0 */
            "    smlad r7, r11, r2, r7\n"           /* even1, weights0, x2, even1 */
            "    smlad r3, r11, r4, r3\n"           /* even2, weights0, x3, even2 */
            "    ldr r11, [r12], #4\n"              /* weights0, [stream], #4 */
            "    smlad r9, r11, r2, r9\n"           /* odd0, weights0, x2, odd0 */
            "    smlad lr, r11, r4, lr\n"           /* odd1, weights0, x3, odd1 */
            "    smlad r5, r11, r10, r5\n"          /* odd2, weights0, x4, odd2 */
            "    sxtb16 r11, r11\n"                 /* weights0, weights0 */
            "    smlad r8, r11, r2, r8\n"           /* even0, weights0, x2, even0 */
            "    smlad r7, r11, r4, r7\n"           /* even1, weights0, x3, even1 */
            "    smlad r3, r11, r10, r3\n"          /* even2, weights0, x4, even2 */
            "    ldmia r6!, {r0-r2, r4, r10}\n"     /* taps!, {x0, x1, x2, x3, x4} */
            "    ldr r11, [r12], #4\n"              /* weights0, [stream], #4 */
            "    smlad r9, r11, r0, r9\n"           /* odd0, weights0, x0, odd0 */
            "    smlad lr, r11, r1, lr\n"           /* odd1, weights0, x1, odd1 */
            "    smlad r5, r11, r2, r5\n"           /* odd2, weights0, x2, odd2 */
            "    sxtb16 r11, r11\n"                 /* weights0, weights0 */
            "    smlad r8, r11, r0, r8\n"           /* even0, weights0, x0, even0 */
            "    smlad r7, r11, r1, r7\n"           /* even1, weights0, x1, even1 */
            "    smlad r3, r11, r2, r3\n"           /* even2, weights0, x2, even2 */
            "    ldr r11, [r12], #4\n"              /* weights0, [stream], #4 */
            "    smlad r9, r11, r1, r9\n"           /* odd0, weights0, x1, odd0 */
            "    smlad lr, r11, r2, lr\n"           /* odd1, weights0, x2, odd1 */
            "    smlad r5, r11, r4, r5\n"           /* odd2, weights0, x3, odd2 */
            "    sxtb16 r11, r11\n"                 /* weights0, weights0 */
            "    smlad r8, r11, r1, r8\n"           /* even0, weights0, x1, even0 */
            "    smlad r7, r11, r2, r7\n"           /* even1, weights0, x2, even1 */
            "    smlad r3, r11, r4, r3\n"           /* even2, weights0, x3, even2 */
            "    ldr r11, [r12], #4\n"              /* weights0, [stream], #4 */
            "    smlad r9, r11, r2, r9\n"           /* odd0, weights0, x2, odd0 */
            "    smlad lr, r11, r4, lr\n"           /* odd1, weights0, x3, odd1 */
            "    smlad r5, r11, r10, r5\n"          /* odd2, weights0, x4, odd2 */
            "    sxtb16 r11, r11\n"                 /* weights0, weights0 */
            "    smlad r8, r11, r2, r8\n"           /* even0, weights0, x2, even0 */
            "    smlad r7, r11, r4, r7\n"           /* even1, weights0, x3, even1 */
            "    smlad r3, r11, r10, r3\n"          /* even2, weights0, x4, even2 */
            "    ldmia r6!, {r0-r2, r4, r10}\n"     /* taps!, {x0, x1, x2, x3, x4} */
            "    ldr r11, [r12], #4\n"              /* weights0, [stream], #4 */
            "    smlad r9, r11, r0, r9\n"           /* odd0, weights0, x0, odd0 */
            "    smlad lr, r11, r1, lr\n"           /* odd1, weights0, x1, odd1 */
            "    smlad r5, r11, r2, r5\n"           /* odd2, weights0, x2, odd2 */
            "    sxtb16 r11, r11\n"                 /* weights0, weights0 */
            "    smlad r8, r11, r0, r8\n"           /* even0, weights0, x0, even0 */
            "    smlad r7, r11, r1, r7\n"           /* even1, weights0, x1, even1 */
            "    smlad r3, r11, r2, r3\n"           /* even2, weights0, x2, even2 */
            "    ldr r11, [r12], #4\n"              /* weights0, [stream], #4 */
            "    smlad r9, r11, r1, r9\n"           /* odd0, weights0, x1, odd0 */
            "    smlad lr, r11, r2, lr\n"           /* odd1, weights0, x2, odd1 */
            "    smlad r5, r11, r4, r5\n"           /* odd2, weights0, x3, odd2 */
            "    sxtb16 r11, r11\n"                 /* weights0, weights0 */
            "    smlad r8, r11, r1, r8\n"           /* even0, weights0, x1, even0 */
            "    smlad r7, r11, r2, r7\n"           /* even1, weights0, x2, even1 */
            "    smlad r3, r11, r4, r3\n"           /* even2, weights0, x3, even2 */
            "    ldr r11, [r12], #4\n"              /* weights0, [stream], #4 */
            "    smlad r9, r11, r2, r9\n"           /* odd0, weights0, x2, odd0 */
            "    smlad lr, r11, r4, lr\n"           /* odd1, weights0, x3, odd1 */
            "    smlad r5, r11, r10, r5\n"          /* odd2, weights0, x4, odd2 */
            "    sxtb16 r11, r11\n"                 /* weights0, weights0 */
            "    smlad r8, r11, r2, r8\n"           /* even0, weights0, x2, even0 */
            "    smlad r7, r11, r4, r7\n"           /* even1, weights0, x3, even1 */
            "    smlad r3, r11, r10, r3\n"          /* even2, weights0, x4, even2 */
            "    ldmia r6!, {r0-r2, r4, r10}\n"     /* taps!, {x0, x1, x2, x3, x4} */
            "    ldr r11, [r12], #4\n"              /* weights0, [stream], #4 */
            "    smlad r9, r11, r0, r9\n"           /* odd0, weights0, x0, odd0 */
            "    smlad lr, r11, r1, lr\n"           /* odd1, weights0, x1, odd1 */
            "    smlad r5, r11, r2, r5\n"           /* odd2, weights0, x2, odd2 */
            "    sxtb16 r11, r11\n"                 /* weights0, weights0 */
            "    smlad r8, r11, r0, r8\n"           /* even0, weights0, x0, even0 */
            "    smlad r7, r11, r1, r7\n"           /* even1, weights0, x1, even1 */
            "    smlad r3, r11, r2, r3\n"           /* even2, weights0, x2, even2 */
            "    ldr r11, [r12], #4\n"              /* weights0, [stream], #4 */
            "    smlad r9, r11, r1, r9\n"           /* odd0, weights0, x1, odd0 */
            "    smlad lr, r11, r2, lr\n"           /* odd1, weights0, x2, odd1 */
            "    smlad r5, r11, r4, r5\n"           /* odd2, weights0, x3, odd2 */
            "    sxtb16 r11, r11\n"                 /* weights0, weights0 */
            "    smlad r8, r11, r1, r8\n"           /* even0, weights0, x1, even0 */
            "    smlad r7, r11, r2, r7\n"           /* even1, weights0, x2, even1 */
            "    smlad r3, r11, r4, r3\n"           /* even2, weights0, x3, even2 */
            "    ldr r11, [r12], #4\n"              /* weights0, [stream], #4 */
            "    smlad r9, r11, r2, r9\n"           /* odd0, weights0, x2, odd0 */
            "    smlad lr, r11, r4, lr\n"           /* odd1, weights0, x3, odd1 */
            "    smlad r5, r11, r10, r5\n"          /* odd2, weights0, x4, odd2 */
            "    sxtb16 r11, r11\n"                 /* weights0, weights0 */
            "    smlad r8, r11, r2, r8\n"           /* even0, weights0, x2, even0 */
            "    smlad r7, r11, r4, r7\n"           /* even1, weights0, x3, even1 */
            "    smlad r3, r11, r10, r3\n"          /* even2, weights0, x4, even2 */
            /* To elements of the output: scaled, shifted, saturated. */
            "    sub r9, r9, r8\n"                  /* odd0, odd0, even0 */
            "    sub lr, lr, r7\n"                  /* odd1, odd1, even1 */
            "    sub r5, r5, r3\n"                  /* odd2, odd2, even2 */
            /* stream!, {even_scale, even_addend, odd_scale, odd_addend} */
            "    ldmia r12!, {r0, r1, r4, r11}\n"
            "    cbz r1, 7f\n"                      /* even_addend */
            "6:\n"
            "    smmla r8, r8, r0, r1\n"            /* even0, even0, even_scale, even_addend */
            "    smmla r7, r7, r0, r1\n"            /* even1, even1, even_scale, even_addend */
            "    smmla r3, r3, r0, r1\n"            /* even2, even2, even_scale, even_addend */
            "    ssat r8, #8, r8, asr #4\n"         /* even0, #8, even0, asr #4 */
            "    ssat r7, #8, r7, asr #4\n"         /* even1, #8, even1, asr #4 */
            "    ssat r3, #8, r3, asr #4\n"         /* even2, #8, even2, asr #4 */
            "    smmla r9, r9, r4, r11\n"           /* odd0, odd0, odd_scale, odd_addend */
            "    smmla lr, lr, r4, r11\n"           /* odd1, odd1, odd_scale, odd_addend */
            "    smmla r5, r5, r4, r11\n"           /* odd2, odd2, odd_scale, odd_addend */
            "    ssat r9, #8, r9, asr #12\n"        /* odd0, #8, odd0, asr #12 */
            "    ssat lr, #8, lr, asr #12\n"        /* odd1, #8, odd1, asr #12 */
            "    ssat r5, #8, r5, asr #12\n"        /* odd2, #8, odd2, asr #12 */
            "    ldmia r6, {r0-r2, r4}\n"           /* taps, {out, end, second, third} */
            /* Stored: of each pixel both filters at once. */
            "    bfi r8, r9, #8, #8\n"              /* even0, odd0, #8, #8 */
            "    bfi r7, lr, #8, #8\n"              /* even1, odd1, #8, #8 */
            "    bfi r3, r5, #8, #8\n"              /* even2, odd2, #8, #8 */
            "    strh r8, [r0], #2\n"               /* even0, [out], #2 */
            "    strh r7, [r0, r2]\n"               /* even1, [out, second] */
            "    strh r3, [r0, r4]\n"               /* even2, [out, third] */
            "    str r0, [r6]\n"                    /* out, [taps] */
            "    cmp r0, r1\n"                      /* out, end */
            "    bne 5b\n"
            "    b 12f\n"
            "7:\n"
            /* Sums that are rounded too late, which a word names, become the next. */
            "8:\n"
            "    ldmia r12!, {r1, r2, r10}\n"       /* stream!, {even_addend, late, next_addend} */
            "    cbnz r1, 10f\n"                    /* even_addend */
            "    cmp r2, r8\n"                      /* late, even0 */
            "    itt ne\n"
            "    cmpne r2, r7\n"                    /* late, even1 */
            "    cmpne r2, r3\n"                    /* late, even2 */
            "    beq 11f\n"
            "9:\n"
            "    movs r1, r10\n"                    /* even_addend, next_addend */
            "    beq 8b\n"
            "    b 6b\n"
            "10:\n"
            "    cmp r2, r9\n"                      /* late, odd0 */
            "    itt ne\n"
            "    cmpne r2, lr\n"                    /* late, odd1 */
            "    cmpne r2, r5\n"                    /* late, odd2 */
            "    bne 9b\n"
            "    cmp r2, r9\n"                      /* late, odd0 */
            "    it eq\n"
            "    addeq r9, r9, #256\n"              /* odd0, odd0, #256 */
            "    cmp r2, lr\n"                      /* late, odd1 */
            "    it eq\n"
            "    addeq lr, lr, #256\n"              /* odd1, odd1, #256 */
            "    cmp r2, r5\n"                      /* late, odd2 */
            "    it eq\n"
            "    addeq r5, r5, #256\n"              /* odd2, odd2, #256 */
            "    b 9b\n"
            "11:\n"
            "    cmp r2, r8\n"                      /* late, even0 */
            "    it eq\n"
            "    addeq r8, r8, #1\n"                /* even0, even0, #1 */
            "    cmp r2, r7\n"                      /* late, even1 */
            "    it eq\n"
            "    addeq r7, r7, #1\n"                /* even1, even1, #1 */
            "    cmp r2, r3\n"                      /* late, even2 */
            "    it eq\n"
            "    addeq r3, r3, #1\n"                /* even2, even2, #1 */
            "    b 9b\n"
            "12:\n"
            "    ldr r0, [r6]\n"                    /* out, [taps] */
            "    ldr r1, [r6, #84]\n"               /* filters, [taps, #84] */
            "    add r0, r0, r1, lsl #1\n"          /* out, out, filters, lsl #1 */
            "    add r1, r0, r1\n"                  /* end, out, filters */
            "    strd r0, r1, [r6]\n"               /* out, end, [taps] */
            "    b 2b\n"
            "13:\n"
            /* Other windows are begun one by one. */
            "    add r8, r6, #136\n"                /* begun, taps, #136 */
            "    add r3, r6, #48\n"                 /* at, taps, #48 */
            /* at, {column_end, row_end, step, stride, columns_inside, rows_inside} */
            "    ldmia r3, {r3-r5, r7, r12, lr}\n"
            "    cmp r1, r3\n"                      /* column, column_end */
            "    bne 14f\n"
            "    ldrd r1, r3, [r6, #72]\n"          /* column, row_stride, [taps, #72] */
            "    add r2, r2, r3\n"                  /* row, row, row_stride */
            "    ldr r3, [r6, #80]\n"               /* wrap, [taps, #80] */
            "    add r0, r0, r3\n"                  /* source, source, wrap */
            "14:\n"
            "    cmp r2, r4\n"                      /* row, row_end */
            "    beq 22f\n"
            "    cmp r1, r12\n"                     /* column, columns_inside */
            "    it lo\n"
            "    cmplo r2, lr\n"                    /* row, rows_inside */
            "    blo 20f\n"
            /* One that leaves the image is copied, with the zero point around it. */
            "    ldr r5, [r8, #8]\n"                /* into, [begun, #8] */
            "    ldr r3, [r6, #108]\n"              /* down_patch, [taps, #108] */
            "    str r3, [r8]\n"                    /* down_patch, [begun] */
            "    str r5, [r8, #4]\n"                /* into, [begun, #4] */
            "    ldr r12, [r6, #128]\n"             /* patch_end, [taps, #128] */
            "    add r12, r12, r5\n"                /* patch_end, patch_end, into */
            "    mov lr, r5\n"                      /* at, into */
            "    ldr r3, [r6, #124]\n"              /* zeros, [taps, #124] */
            "    pkhbt r3, r3, r3, lsl #16\n"       /* zeros, zeros, zeros, lsl #16 */
            "    mov r4, r3\n"                      /* zeros1, zeros */
            "    mov r7, r3\n"                      /* zeros2, zeros */
            "    mov r8, r3\n"                      /* zeros3, zeros */
            "15:\n"
            "    stmia lr!, {r3, r4, r7, r8}\n"     /* at!, {zeros, zeros1, zeros2, zeros3} */
            "    stmia lr!, {r3, r4, r7, r8}\n"     /* at!, {zeros, zeros1, zeros2, zeros3} */
            "    cmp lr, r12\n"                     /* at, patch_end */
            "    bne 15b\n"
            "    rsb r4, r1, #0\n"                  /* outside, column, #0 */
            "    bic r4, r4, r4, asr #31\n"         /* outside, outside, outside, asr #31 */
            "    ldr r3, [r6, #112]\n"              /* inside, [taps, #112] */
            "    sub r3, r3, r1\n"                  /* inside, inside, column */
            "    ldr r7, [r6, #116]\n"              /* span, [taps, #116] */
            "    cmp r3, r7\n"                      /* inside, span */
            "    it gt\n"
            "    movgt r3, r7\n"                    /* inside, span */
            "    subs r3, r3, r4\n"                 /* inside, inside, outside */
            "    ble 19f\n"
            "    ldr r7, [r6, #120]\n"              /* channels, [taps, #120] */
            "    mul r3, r3, r7\n"                  /* inside, inside, channels */
            "    mul r4, r4, r7\n"                  /* outside, outside, channels */
            "    add r7, r0, r4\n"                  /* inside_source, source, outside */
            "    add r5, r5, r4\n"                  /* into, into, outside */
            "    mov r4, r2\n"                      /* patch_row, row */
            "    ldr r12, [r6, #96]\n"              /* height, [taps, #96] */
            "    ldr lr, [r6, #92]\n"               /* rows_left, [taps, #92] */
            "    ldr r8, [r6, #100]\n"              /* pitch, [taps, #100] */
            "    ldr r9, [r6, #104]\n"              /* patch_pitch, [taps, #104] */
            "16:\n"
            "    cmp r4, r12\n"                     /* patch_row, height */
            "    bhs 18f\n"
            "    mov r6, r3\n"                      /* left, inside */
            "    subs r6, r6, #4\n"                 /* left, left, #4 */
            "17:\n"
            "    ldr r10, [r7, r6]\n"               /* copied, [inside_source, left] */
            "    str r10, [r5, r6]\n"               /* copied, [into, left] */
            "    subs r6, r6, #4\n"                 /* left, left, #4 */
            "    bhs 17b\n"
            "18:\n"
            "    add r7, r7, r8\n"                  /* inside_source, inside_source, pitch */
            "    add r5, r5, r9\n"                  /* into, into, patch_pitch */
            "    add r4, r4, #1\n"                  /* patch_row, patch_row, #1 */
            "    subs lr, lr, #1\n"                 /* rows_left, rows_left, #1 */
            "    bne 16b\n"
            "19:\n"
            "    vmov r6, s3\n"                     /* taps, numbers */
            "    add r3, r6, #48\n"                 /* at, taps, #48 */
            /* at, {column_end, row_end, step, stride, columns_inside, rows_inside} */
            "    ldmia r3, {r3-r5, r7, r12, lr}\n"
            "    b 21f\n"
            "20:\n"
            "    ldr r3, [r6, #40]\n"               /* down, [taps, #40] */
            "    str r3, [r8]\n"                    /* down, [begun] */
            "    str r0, [r8, #4]\n"                /* source, [begun, #4] */
            "21:\n"
            "    add r0, r0, r5\n"                  /* source, source, step */
            "    add r1, r1, r7\n"                  /* column, column, stride */
            "    add r3, r6, #16\n"                 /* at, taps, #16 */
            "    stmia r3, {r0-r2}\n"               /* at, {source, column, row} */
            "    add r3, r6, #136\n"                /* at, taps, #136 */
            "    ldmia r3, {r8, r12}\n"             /* at, {down0, window0} */
            "    b 3b\n"
            "22:\n"
            "    pop {r4-r11, pc}\n");
    /* clang-format on */
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
    /* clang-format off */
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
            "    movw r0, #2\n"                     /* count, #2 */
            "    vmov s9, r0\n"                     /* y_rows_left, count */
            "1:\n"
            "    movw r0, #7\n"                     /* count, #7 */
            "    vmov s10, r0\n"                    /* y_columns_left, count */
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
            "    beq 8f\n"
            /* Next to the middle of two outputs: summed in float32, as the model does. */
            "5:\n"
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
            "6:\n"
            "    movw r10, #2\n"                    /* columns_left, #2 */
            "7:\n"
            "    ldrsb r4, [r3]\n"                  /* element, [x_at] */
            "    add r3, r3, r12\n"                 /* x_at, x_at, channels */
            "    add r4, r4, #7\n"                  /* element, element, #7 */
            "    vmov s12, r4\n"                    /* term, element */
            "    vcvt.f32.s32 s12, s12\n"           /* term, term */
            "    vmul.f32 s12, s12, s6\n"           /* term, term, x_scale */
            "    vadd.f32 s11, s11, s12\n"          /* sum, sum, term */
            "    subs r10, r10, #1\n"               /* columns_left, columns_left, #1 */
            "    bne 7b\n"
            "    add r3, r3, #104\n"                /* x_at, x_at, #104 */
            "    subs r7, r7, #1\n"                 /* rows_left, rows_left, #1 */
            "    bne 6b\n"
            "    vdiv.f32 s11, s11, s7\n"           /* sum, sum, count */
            "    vdiv.f32 s11, s11, s8\n"           /* sum, sum, y_scale */
            "    vcvtr.s32.f32 s11, s11\n"          /* sum, sum */
            "    vmov r3, s11\n"                    /* y, sum */
            "    add r3, r3, #9\n"                  /* y, y, #9 */
            "    ssat r3, #8, r3\n"                 /* y, #8, y */
            "    strb r3, [r0]\n"                   /* y, [y_at] */
            "    cmp r1, #0\n"                      /* near, #0 */
            "    bne 5b\n"
            "8:\n"
            "    cmp r2, r6\n"                      /* out, out_end */
            "    bne 4b\n"
            "    vmov s1, r2\n"                     /* pixel_y, out */
            "    vmov r0, s0\n"                     /* at, window */
            "    add r0, r0, #16\n"                 /* at, at, #16 */
            "    vmov s0, r0\n"                     /* window, at */
            "    vmov r0, s10\n"                    /* count, y_columns_left */
            "    subs r0, r0, #1\n"                 /* count, count, #1 */
            "    vmov s10, r0\n"                    /* y_columns_left, count */
            "    bne 2b\n"
            "    vmov r0, s0\n"                     /* at, window */
            "    add r0, r0, #128\n"                /* at, at, #128 */
            "    vmov s0, r0\n"                     /* window, at */
            "    vmov r0, s9\n"                     /* count, y_rows_left */
            "    subs r0, r0, #1\n"                 /* count, count, #1 */
            "    vmov s9, r0\n"                     /* y_rows_left, count */
            "    bne 1b\n"
            "    pop {r4-r10, pc}\n");
    /* clang-format on */
}

MCU_FUNCTION void _mcu_dsp_conv_pool_conv_pool_strips_dsp(const int8_t *x, int8_t *y,
                                                          const uint32_t *weights,
                                                          const uint32_t *more_weights,
                                                          uint8_t *scratch) {
    /* A strip: rows of what is between, then output rows. `next` is behind the rows that are there
     * from the strip before. */
    uint8_t *const work = scratch + 480;
    int8_t *const strip = (int8_t *)scratch;
    /* Where windows begin, in rows of their image: of the first row, of the one behind the last. */
    int32_t *const range = (int32_t *)(void *)work;
    int8_t *next = strip;
    const int8_t *source = x;
    int8_t *target = y;
    int32_t made = 0;
    for (int32_t first = 0; first < 8; first += 2) {
        const int32_t last = first + 2;
        const int32_t wanted = 2 * last;
        const int32_t until = wanted < 16 ? wanted : 16;
        range[0] = made - 1;
        range[1] = until - 1;
        _mcu_dsp_conv_pool_conv3x3_rows_3fa03a6c_dsp(source, next, weights, work);
        source += 60 * (until - made);
        made = until;
        next = strip;
        _mcu_dsp_conv_pool_avg_pool2x2_8_rows_9cba53ac_dsp(strip, target, more_weights, work);
        target += 112;
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

