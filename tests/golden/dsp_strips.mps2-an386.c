/* ---- Kernels ---- */

/* Those in assembly are one string each, some longer than C99 wants compilers to take. */
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Woverlength-strings"
#endif

MCU_FUNCTION void _mcu_dsp_strips_reorder_384x16_int8(const int8_t *x, int8_t *y) {
    for (int32_t i0 = 0; i0 < 384; i0++) {
        for (int32_t i1 = 0; i1 < 16; i1++) {
            *y++ = x[i0 + i1 * 384];
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
 * behind, last column, behind the rest, height, down the image, row of a patch, down a patch,
 * width, span, channels, zeros, patch, patches; a word of each window: what leads down its rows,
 * its begin, its patch; bytes for outputs of no pixel; patches, with the zero point where there
 * is no image.
 * Some rows of y: the scratch begins with the rows of the image that the windows of the first of
 * them, and those of the one behind the last, begin at.
 * In place: a tile's windows are read before its outputs are written.
 * The numbers go behind the taps of a tile. */
MCU_KERNEL void _mcu_dsp_strips_conv3x3_rows_fd52f153_dsp(const int8_t *x MCU_UNUSED,
                                                          int8_t *y MCU_UNUSED,
                                                          const uint32_t *weights MCU_UNUSED,
                                                          uint8_t *scratch MCU_UNUSED) {
    /* clang-format off */
    __asm__(".syntax unified\n"
            "    push {r4-r11, lr}\n"
            "    ldr r4, [r2], #4\n"                /* taps_bytes, [weights], #4 */
            "    add r6, r3, r4\n"                  /* taps, scratch, taps_bytes */
            "    add r6, r6, #7\n"                  /* taps, taps, #7 */
            "    bic r6, r6, #7\n"                  /* taps, taps, #7 */
            "    sub r4, r6, r4\n"                  /* begin, taps, taps_bytes */
            "    vmov s4, r4\n"                     /* first_taps, begin */
            "    vmov s5, r6\n"                     /* numbers, taps */
            "    add r7, r6, #8\n"                  /* into, taps, #8 */
            "    add r4, r6, #152\n"                /* end, taps, #152 */
            "1:\n"
            "    ldr r5, [r2], #4\n"                /* high, [weights], #4 */
            "    sxth r12, r5\n"                    /* low, high */
            "    asrs r5, r5, #16\n"                /* high, high, #16 */
            "    strd r12, r5, [r7], #8\n"          /* low, high, [into], #8 */
            "    cmp r7, r4\n"                      /* into, end */
            "    bne 1b\n"
            "    vmov s6, r2\n"                     /* first_weights, weights */
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
            "    ldr r0, [r6, #144]\n"              /* patch0, [taps, #144] */
            "    add r0, r0, r6\n"                  /* patch0, patch0, taps */
            "    str r0, [r6, #156]\n"              /* patch0, [taps, #156] */
            /* Three windows, begun at once if they are inside of the image and of one row. */
            "2:\n"
            "    add r0, r6, #16\n"                 /* at, taps, #16 */
            /* at, {source, column, row, tile_columns, tile_rows, step, down0, tile_stride} */
            "    ldmia r0, {r0-r5, r8, lr}\n"
            "    cmp r1, r3\n"                      /* column, tile_columns */
            "    it lo\n"
            "    cmplo r2, r4\n"                    /* row, tile_rows */
            "    bhs 14f\n"
            "    mov r12, r0\n"                     /* window0, source */
            "    add r1, r1, lr\n"                  /* column, column, tile_stride */
            "    add r0, r12, r5\n"                 /* source, window0, step */
            "    strd r0, r1, [r6, #16]\n"          /* source, column, [taps, #16] */
            "3:\n"
            "    vmov r10, s4\n"                    /* into, first_taps */
            /* Five columns that three windows share, widened to int16, two channels a word: of */
            /* each four of a row 0 and 2 of all columns, then 1 and 3. */
            "    mov lr, #3\n"                      /* left, #3 */
            "4:\n"
            "    ldr r0, [r12], #4\n"               /* a0, [window0], #4 */
            "    ldr r1, [r12, #12]\n"              /* a1, [window0, #12] */
            "    ldr r2, [r12, #28]\n"              /* a2, [window0, #28] */
            "    ldr r3, [r12, #44]\n"              /* a3, [window0, #44] */
            "    ldr r4, [r12, #60]\n"              /* a4, [window0, #60] */
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
            "    ldr r0, [r12], #4\n"               /* a0, [window0], #4 */
            "    ldr r1, [r12, #12]\n"              /* a1, [window0, #12] */
            "    ldr r2, [r12, #28]\n"              /* a2, [window0, #28] */
            "    ldr r3, [r12, #44]\n"              /* a3, [window0, #44] */
            "    ldr r4, [r12, #60]\n"              /* a4, [window0, #60] */
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
            "    ldr r0, [r12], #4\n"               /* a0, [window0], #4 */
            "    ldr r1, [r12, #12]\n"              /* a1, [window0, #12] */
            "    ldr r2, [r12, #28]\n"              /* a2, [window0, #28] */
            "    ldr r3, [r12, #44]\n"              /* a3, [window0, #44] */
            "    ldr r4, [r12, #60]\n"              /* a4, [window0, #60] */
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
            "    ldr r0, [r12], #4\n"               /* a0, [window0], #4 */
            "    ldr r1, [r12, #12]\n"              /* a1, [window0, #12] */
            "    ldr r2, [r12, #28]\n"              /* a2, [window0, #28] */
            "    ldr r3, [r12, #44]\n"              /* a3, [window0, #44] */
            "    ldr r4, [r12, #60]\n"              /* a4, [window0, #60] */
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
            "    vmov r5, s6\n"                     /* stream, first_weights */
            /* Two filters, an even and an odd one, for three outputs. */
            /* Of a word of weights SXTB16 leaves the even filter's. */
            "5:\n"
            "    vmov r6, s4\n"                     /* taps, first_taps */
            "    ldmia r5!, {r3, r7}\n"             /* stream!, {even2, odd2} */
            "    ldmia r6!, {r0-r2, r4, r10}\n"     /* taps!, {x0, x1, x2, x3, x4} */
            "    ldr r11, [r5], #4\n"               /* weights0, [stream], #4 */
            "    smlad r9, r11, r0, r7\n"           /* odd0, weights0, x0, odd2 */
            "    smlad lr, r11, r1, r7\n"           /* odd1, weights0, x1, odd2 */
            "    smlad r7, r11, r2, r7\n"           /* odd2, weights0, x2, odd2 */
            "    sxtb16 r11, r11\n"                 /* weights0, weights0 */
            "    smlad r8, r11, r0, r3\n"           /* even0, weights0, x0, even2 */
            "    smlad r12, r11, r1, r3\n"          /* even1, weights0, x1, even2 */
            "    smlad r3, r11, r2, r3\n"           /* even2, weights0, x2, even2 */
            "    ldr r11, [r5], #4\n"               /* weights0, [stream], #4 */
            "    smlad r9, r11, r1, r9\n"           /* odd0, weights0, x1, odd0 */
            "    smlad lr, r11, r2, lr\n"           /* odd1, weights0, x2, odd1 */
            "    smlad r7, r11, r4, r7\n"           /* odd2, weights0, x3, odd2 */
            "    sxtb16 r11, r11\n"                 /* weights0, weights0 */
            "    smlad r8, r11, r1, r8\n"           /* even0, weights0, x1, even0 */
            "    smlad r12, r11, r2, r12\n"         /* even1, weights0, x2, even1 */
            "    smlad r3, r11, r4, r3\n"           /* even2, weights0, x3, even2 */
            "    ldr r11, [r5], #4\n"               /* weights0, [stream], #4 */
            "    smlad r9, r11, r2, r9\n"           /* odd0, weights0, x2, odd0 */
            "    smlad lr, r11, r4, lr\n"           /* odd1, weights0, x3, odd1 */
            "    smlad r7, r11, r10, r7\n"          /* odd2, weights0, x4, odd2 */
            "    sxtb16 r11, r11\n"                 /* weights0, weights0 */
            "    smlad r8, r11, r2, r8\n"           /* even0, weights0, x2, even0 */
            "    smlad r12, r11, r4, r12\n"         /* even1, weights0, x3, even1 */
            "    smlad r3, r11, r10, r3\n"          /* even2, weights0, x4, even2 */
            "    ldmia r6!, {r0-r2, r4, r10}\n"     /* taps!, {x0, x1, x2, x3, x4} */
            "    ldr r11, [r5], #4\n"               /* weights0, [stream], #4 */
            "    smlad r9, r11, r0, r9\n"           /* odd0, weights0, x0, odd0 */
            "    smlad lr, r11, r1, lr\n"           /* odd1, weights0, x1, odd1 */
            "    smlad r7, r11, r2, r7\n"           /* odd2, weights0, x2, odd2 */
            "    sxtb16 r11, r11\n"                 /* weights0, weights0 */
            "    smlad r8, r11, r0, r8\n"           /* even0, weights0, x0, even0 */
            "    smlad r12, r11, r1, r12\n"         /* even1, weights0, x1, even1 */
            "    smlad r3, r11, r2, r3\n"           /* even2, weights0, x2, even2 */
            "    ldr r11, [r5], #4\n"               /* weights0, [stream], #4 */
            "    smlad r9, r11, r1, r9\n"           /* odd0, weights0, x1, odd0 */
            "    smlad lr, r11, r2, lr\n"           /* odd1, weights0, x2, odd1 */
            "    smlad r7, r11, r4, r7\n"           /* odd2, weights0, x3, odd2 */
            "    sxtb16 r11, r11\n"                 /* weights0, weights0 */
            "    smlad r8, r11, r1, r8\n"           /* even0, weights0, x1, even0 */
            "    smlad r12, r11, r2, r12\n"         /* even1, weights0, x2, even1 */
            "    smlad r3, r11, r4, r3\n"           /* even2, weights0, x3, even2 */
            "    ldr r11, [r5], #4\n"               /* weights0, [stream], #4 */
            "    smlad r9, r11, r2, r9\n"           /* odd0, weights0, x2, odd0 */
            "    smlad lr, r11, r4, lr\n"           /* odd1, weights0, x3, odd1 */
            "    smlad r7, r11, r10, r7\n"          /* odd2, weights0, x4, odd2 */
            "    sxtb16 r11, r11\n"                 /* weights0, weights0 */
            "    smlad r8, r11, r2, r8\n"           /* even0, weights0, x2, even0 */
            "    smlad r12, r11, r4, r12\n"         /* even1, weights0, x3, even1 */
            "    smlad r3, r11, r10, r3\n"          /* even2, weights0, x4, even2 */
            "6:\n"
            "    ldmia r6!, {r0-r2, r4, r10}\n"     /* taps!, {x0, x1, x2, x3, x4} */
            "    ldr r11, [r5], #4\n"               /* weights0, [stream], #4 */
            "    smlad r9, r11, r0, r9\n"           /* odd0, weights0, x0, odd0 */
            "    smlad lr, r11, r1, lr\n"           /* odd1, weights0, x1, odd1 */
            "    smlad r7, r11, r2, r7\n"           /* odd2, weights0, x2, odd2 */
            "    sxtb16 r11, r11\n"                 /* weights0, weights0 */
            "    smlad r8, r11, r0, r8\n"           /* even0, weights0, x0, even0 */
            "    smlad r12, r11, r1, r12\n"         /* even1, weights0, x1, even1 */
            "    smlad r3, r11, r2, r3\n"           /* even2, weights0, x2, even2 */
            "    ldr r11, [r5], #4\n"               /* weights0, [stream], #4 */
            "    smlad r9, r11, r1, r9\n"           /* odd0, weights0, x1, odd0 */
            "    smlad lr, r11, r2, lr\n"           /* odd1, weights0, x2, odd1 */
            "    smlad r7, r11, r4, r7\n"           /* odd2, weights0, x3, odd2 */
            "    sxtb16 r11, r11\n"                 /* weights0, weights0 */
            "    smlad r8, r11, r1, r8\n"           /* even0, weights0, x1, even0 */
            "    smlad r12, r11, r2, r12\n"         /* even1, weights0, x2, even1 */
            "    smlad r3, r11, r4, r3\n"           /* even2, weights0, x3, even2 */
            "    ldr r11, [r5], #4\n"               /* weights0, [stream], #4 */
            "    smlad r9, r11, r2, r9\n"           /* odd0, weights0, x2, odd0 */
            "    smlad lr, r11, r4, lr\n"           /* odd1, weights0, x3, odd1 */
            "    smlad r7, r11, r10, r7\n"          /* odd2, weights0, x4, odd2 */
            "    sxtb16 r11, r11\n"                 /* weights0, weights0 */
            "    smlad r8, r11, r2, r8\n"           /* even0, weights0, x2, even0 */
            "    smlad r12, r11, r4, r12\n"         /* even1, weights0, x3, even1 */
            "    smlad r3, r11, r10, r3\n"          /* even2, weights0, x4, even2 */
            "    ldmia r6!, {r0-r2, r4, r10}\n"     /* taps!, {x0, x1, x2, x3, x4} */
            "    ldr r11, [r5], #4\n"               /* weights0, [stream], #4 */
            "    smlad r9, r11, r0, r9\n"           /* odd0, weights0, x0, odd0 */
            "    smlad lr, r11, r1, lr\n"           /* odd1, weights0, x1, odd1 */
            "    smlad r7, r11, r2, r7\n"           /* odd2, weights0, x2, odd2 */
            "    sxtb16 r11, r11\n"                 /* weights0, weights0 */
            "    smlad r8, r11, r0, r8\n"           /* even0, weights0, x0, even0 */
            "    smlad r12, r11, r1, r12\n"         /* even1, weights0, x1, even1 */
            "    smlad r3, r11, r2, r3\n"           /* even2, weights0, x2, even2 */
            "    ldr r11, [r5], #4\n"               /* weights0, [stream], #4 */
            "    smlad r9, r11, r1, r9\n"           /* odd0, weights0, x1, odd0 */
            "    smlad lr, r11, r2, lr\n"           /* odd1, weights0, x2, odd1 */
            "    smlad r7, r11, r4, r7\n"           /* odd2, weights0, x3, odd2 */
            "    sxtb16 r11, r11\n"                 /* weights0, weights0 */
            "    smlad r8, r11, r1, r8\n"           /* even0, weights0, x1, even0 */
            "    smlad r12, r11, r2, r12\n"         /* even1, weights0, x2, even1 */
            "    smlad r3, r11, r4, r3\n"           /* even2, weights0, x3, even2 */
            "    ldr r11, [r5], #4\n"               /* weights0, [stream], #4 */
            "    smlad r9, r11, r2, r9\n"           /* odd0, weights0, x2, odd0 */
            "    smlad lr, r11, r4, lr\n"           /* odd1, weights0, x3, odd1 */
            "    smlad r7, r11, r10, r7\n"          /* odd2, weights0, x4, odd2 */
            "    sxtb16 r11, r11\n"                 /* weights0, weights0 */
            "    smlad r8, r11, r2, r8\n"           /* even0, weights0, x2, even0 */
            "    smlad r12, r11, r4, r12\n"         /* even1, weights0, x3, even1 */
            "    smlad r3, r11, r10, r3\n"          /* even2, weights0, x4, even2 */
            "    ldmia r6!, {r0-r2, r4, r10}\n"     /* taps!, {x0, x1, x2, x3, x4} */
            "    ldr r11, [r5], #4\n"               /* weights0, [stream], #4 */
            "    smlad r9, r11, r0, r9\n"           /* odd0, weights0, x0, odd0 */
            "    smlad lr, r11, r1, lr\n"           /* odd1, weights0, x1, odd1 */
            "    smlad r7, r11, r2, r7\n"           /* odd2, weights0, x2, odd2 */
            "    sxtb16 r11, r11\n"                 /* weights0, weights0 */
            "    smlad r8, r11, r0, r8\n"           /* even0, weights0, x0, even0 */
            "    smlad r12, r11, r1, r12\n"         /* even1, weights0, x1, even1 */
            "    smlad r3, r11, r2, r3\n"           /* even2, weights0, x2, even2 */
            "    ldr r11, [r5], #4\n"               /* weights0, [stream], #4 */
            "    smlad r9, r11, r1, r9\n"           /* odd0, weights0, x1, odd0 */
            "    smlad lr, r11, r2, lr\n"           /* odd1, weights0, x2, odd1 */
            "    smlad r7, r11, r4, r7\n"           /* odd2, weights0, x3, odd2 */
            "    sxtb16 r11, r11\n"                 /* weights0, weights0 */
            "    smlad r8, r11, r1, r8\n"           /* even0, weights0, x1, even0 */
            "    smlad r12, r11, r2, r12\n"         /* even1, weights0, x2, even1 */
            "    smlad r3, r11, r4, r3\n"           /* even2, weights0, x3, even2 */
            "    ldr r11, [r5], #4\n"               /* weights0, [stream], #4 */
            "    smlad r9, r11, r2, r9\n"           /* odd0, weights0, x2, odd0 */
            "    smlad lr, r11, r4, lr\n"           /* odd1, weights0, x3, odd1 */
            "    smlad r7, r11, r10, r7\n"          /* odd2, weights0, x4, odd2 */
            "    sxtb16 r11, r11\n"                 /* weights0, weights0 */
            "    smlad r8, r11, r2, r8\n"           /* even0, weights0, x2, even0 */
            "    smlad r12, r11, r4, r12\n"         /* even1, weights0, x3, even1 */
            "    smlad r3, r11, r10, r3\n"          /* even2, weights0, x4, even2 */
            "    ldmia r6!, {r0-r2, r4, r10}\n"     /* taps!, {x0, x1, x2, x3, x4} */
            "    ldr r11, [r5], #4\n"               /* weights0, [stream], #4 */
            "    smlad r9, r11, r0, r9\n"           /* odd0, weights0, x0, odd0 */
            "    smlad lr, r11, r1, lr\n"           /* odd1, weights0, x1, odd1 */
            "    smlad r7, r11, r2, r7\n"           /* odd2, weights0, x2, odd2 */
            "    sxtb16 r11, r11\n"                 /* weights0, weights0 */
            "    smlad r8, r11, r0, r8\n"           /* even0, weights0, x0, even0 */
            "    smlad r12, r11, r1, r12\n"         /* even1, weights0, x1, even1 */
            "    smlad r3, r11, r2, r3\n"           /* even2, weights0, x2, even2 */
            "    ldr r11, [r5], #4\n"               /* weights0, [stream], #4 */
            "    smlad r9, r11, r1, r9\n"           /* odd0, weights0, x1, odd0 */
            "    smlad lr, r11, r2, lr\n"           /* odd1, weights0, x2, odd1 */
            "    smlad r7, r11, r4, r7\n"           /* odd2, weights0, x3, odd2 */
            "    sxtb16 r11, r11\n"                 /* weights0, weights0 */
            "    smlad r8, r11, r1, r8\n"           /* even0, weights0, x1, even0 */
            "    smlad r12, r11, r2, r12\n"         /* even1, weights0, x2, even1 */
            "    smlad r3, r11, r4, r3\n"           /* even2, weights0, x3, even2 */
            "    ldr r11, [r5], #4\n"               /* weights0, [stream], #4 */
            "    smlad r9, r11, r2, r9\n"           /* odd0, weights0, x2, odd0 */
            "    smlad lr, r11, r4, lr\n"           /* odd1, weights0, x3, odd1 */
            "    smlad r7, r11, r10, r7\n"          /* odd2, weights0, x4, odd2 */
            "    sxtb16 r11, r11\n"                 /* weights0, weights0 */
            "    smlad r8, r11, r2, r8\n"           /* even0, weights0, x2, even0 */
            "    smlad r12, r11, r4, r12\n"         /* even1, weights0, x3, even1 */
            "    smlad r3, r11, r10, r3\n"          /* even2, weights0, x4, even2 */
            "    ldmia r6!, {r0-r2, r4, r10}\n"     /* taps!, {x0, x1, x2, x3, x4} */
            "    ldr r11, [r5], #4\n"               /* weights0, [stream], #4 */
            "    smlad r9, r11, r0, r9\n"           /* odd0, weights0, x0, odd0 */
            "    smlad lr, r11, r1, lr\n"           /* odd1, weights0, x1, odd1 */
            "    smlad r7, r11, r2, r7\n"           /* odd2, weights0, x2, odd2 */
            "    sxtb16 r11, r11\n"                 /* weights0, weights0 */
            "    smlad r8, r11, r0, r8\n"           /* even0, weights0, x0, even0 */
            "    smlad r12, r11, r1, r12\n"         /* even1, weights0, x1, even1 */
            "    smlad r3, r11, r2, r3\n"           /* even2, weights0, x2, even2 */
            "    ldr r11, [r5], #4\n"               /* weights0, [stream], #4 */
            "    smlad r9, r11, r1, r9\n"           /* odd0, weights0, x1, odd0 */
            "    smlad lr, r11, r2, lr\n"           /* odd1, weights0, x2, odd1 */
            "    smlad r7, r11, r4, r7\n"           /* odd2, weights0, x3, odd2 */
            "    sxtb16 r11, r11\n"                 /* weights0, weights0 */
            "    smlad r8, r11, r1, r8\n"           /* even0, weights0, x1, even0 */
            "    smlad r12, r11, r2, r12\n"         /* even1, weights0, x2, even1 */
            "    smlad r3, r11, r4, r3\n"           /* even2, weights0, x3, even2 */
            "    ldr r11, [r5], #4\n"               /* weights0, [stream], #4 */
            "    smlad r9, r11, r2, r9\n"           /* odd0, weights0, x2, odd0 */
            "    smlad lr, r11, r4, lr\n"           /* odd1, weights0, x3, odd1 */
            "    smlad r7, r11, r10, r7\n"          /* odd2, weights0, x4, odd2 */
            "    sxtb16 r11, r11\n"                 /* weights0, weights0 */
            "    smlad r8, r11, r2, r8\n"           /* even0, weights0, x2, even0 */
            "    smlad r12, r11, r4, r12\n"         /* even1, weights0, x3, even1 */
            "    smlad r3, r11, r10, r3\n"          /* even2, weights0, x4, even2 */
            "    ldmia r6!, {r0-r2, r4, r10}\n"     /* taps!, {x0, x1, x2, x3, x4} */
            "    ldr r11, [r5], #4\n"               /* weights0, [stream], #4 */
            "    smlad r9, r11, r0, r9\n"           /* odd0, weights0, x0, odd0 */
            "    smlad lr, r11, r1, lr\n"           /* odd1, weights0, x1, odd1 */
            "    smlad r7, r11, r2, r7\n"           /* odd2, weights0, x2, odd2 */
            "    sxtb16 r11, r11\n"                 /* weights0, weights0 */
            "    smlad r8, r11, r0, r8\n"           /* even0, weights0, x0, even0 */
            "    smlad r12, r11, r1, r12\n"         /* even1, weights0, x1, even1 */
            "    smlad r3, r11, r2, r3\n"           /* even2, weights0, x2, even2 */
            "    ldr r11, [r5], #4\n"               /* weights0, [stream], #4 */
            "    smlad r9, r11, r1, r9\n"           /* odd0, weights0, x1, odd0 */
            "    smlad lr, r11, r2, lr\n"           /* odd1, weights0, x2, odd1 */
            "    smlad r7, r11, r4, r7\n"           /* odd2, weights0, x3, odd2 */
            "    sxtb16 r11, r11\n"                 /* weights0, weights0 */
            "    smlad r8, r11, r1, r8\n"           /* even0, weights0, x1, even0 */
            "    smlad r12, r11, r2, r12\n"         /* even1, weights0, x2, even1 */
            "    smlad r3, r11, r4, r3\n"           /* even2, weights0, x3, even2 */
            "    ldr r11, [r5], #4\n"               /* weights0, [stream], #4 */
            "    smlad r9, r11, r2, r9\n"           /* odd0, weights0, x2, odd0 */
            "    smlad lr, r11, r4, lr\n"           /* odd1, weights0, x3, odd1 */
            "    smlad r7, r11, r10, r7\n"          /* odd2, weights0, x4, odd2 */
            "    sxtb16 r11, r11\n"                 /* weights0, weights0 */
            "    smlad r8, r11, r2, r8\n"           /* even0, weights0, x2, even0 */
            "    smlad r12, r11, r4, r12\n"         /* even1, weights0, x3, even1 */
            "    smlad r3, r11, r10, r3\n"          /* even2, weights0, x4, even2 */
            "    ldmia r6!, {r0-r2, r4, r10}\n"     /* taps!, {x0, x1, x2, x3, x4} */
            "    ldr r11, [r5], #4\n"               /* weights0, [stream], #4 */
            "    smlad r9, r11, r0, r9\n"           /* odd0, weights0, x0, odd0 */
            "    smlad lr, r11, r1, lr\n"           /* odd1, weights0, x1, odd1 */
            "    smlad r7, r11, r2, r7\n"           /* odd2, weights0, x2, odd2 */
            "    sxtb16 r11, r11\n"                 /* weights0, weights0 */
            "    smlad r8, r11, r0, r8\n"           /* even0, weights0, x0, even0 */
            "    smlad r12, r11, r1, r12\n"         /* even1, weights0, x1, even1 */
            "    smlad r3, r11, r2, r3\n"           /* even2, weights0, x2, even2 */
            "    ldr r11, [r5], #4\n"               /* weights0, [stream], #4 */
            "    smlad r9, r11, r1, r9\n"           /* odd0, weights0, x1, odd0 */
            "    smlad lr, r11, r2, lr\n"           /* odd1, weights0, x2, odd1 */
            "    smlad r7, r11, r4, r7\n"           /* odd2, weights0, x3, odd2 */
            "    sxtb16 r11, r11\n"                 /* weights0, weights0 */
            "    smlad r8, r11, r1, r8\n"           /* even0, weights0, x1, even0 */
            "    smlad r12, r11, r2, r12\n"         /* even1, weights0, x2, even1 */
            "    smlad r3, r11, r4, r3\n"           /* even2, weights0, x3, even2 */
            "    ldr r11, [r5], #4\n"               /* weights0, [stream], #4 */
            "    smlad r9, r11, r2, r9\n"           /* odd0, weights0, x2, odd0 */
            "    smlad lr, r11, r4, lr\n"           /* odd1, weights0, x3, odd1 */
            "    smlad r7, r11, r10, r7\n"          /* odd2, weights0, x4, odd2 */
            "    sxtb16 r11, r11\n"                 /* weights0, weights0 */
            "    smlad r8, r11, r2, r8\n"           /* even0, weights0, x2, even0 */
            "    smlad r12, r11, r4, r12\n"         /* even1, weights0, x3, even1 */
            "    smlad r3, r11, r10, r3\n"          /* even2, weights0, x4, even2 */
            "    ldmia r6!, {r0-r2, r4, r10}\n"     /* taps!, {x0, x1, x2, x3, x4} */
            "    ldr r11, [r5], #4\n"               /* weights0, [stream], #4 */
            "    smlad r9, r11, r0, r9\n"           /* odd0, weights0, x0, odd0 */
            "    smlad lr, r11, r1, lr\n"           /* odd1, weights0, x1, odd1 */
            "    smlad r7, r11, r2, r7\n"           /* odd2, weights0, x2, odd2 */
            "    sxtb16 r11, r11\n"                 /* weights0, weights0 */
            "    smlad r8, r11, r0, r8\n"           /* even0, weights0, x0, even0 */
            "    smlad r12, r11, r1, r12\n"         /* even1, weights0, x1, even1 */
            "    smlad r3, r11, r2, r3\n"           /* even2, weights0, x2, even2 */
            "    ldr r11, [r5], #4\n"               /* weights0, [stream], #4 */
            "    smlad r9, r11, r1, r9\n"           /* odd0, weights0, x1, odd0 */
            "    smlad lr, r11, r2, lr\n"           /* odd1, weights0, x2, odd1 */
            "    smlad r7, r11, r4, r7\n"           /* odd2, weights0, x3, odd2 */
            "    sxtb16 r11, r11\n"                 /* weights0, weights0 */
            "    smlad r8, r11, r1, r8\n"           /* even0, weights0, x1, even0 */
            "    smlad r12, r11, r2, r12\n"         /* even1, weights0, x2, even1 */
            "    smlad r3, r11, r4, r3\n"           /* even2, weights0, x3, even2 */
            "    ldr r11, [r5], #4\n"               /* weights0, [stream], #4 */
            "    smlad r9, r11, r2, r9\n"           /* odd0, weights0, x2, odd0 */
            "    smlad lr, r11, r4, lr\n"           /* odd1, weights0, x3, odd1 */
            "    smlad r7, r11, r10, r7\n"          /* odd2, weights0, x4, odd2 */
            "    sxtb16 r11, r11\n"                 /* weights0, weights0 */
            "    smlad r8, r11, r2, r8\n"           /* even0, weights0, x2, even0 */
            "    smlad r12, r11, r4, r12\n"         /* even1, weights0, x3, even1 */
            "    smlad r3, r11, r10, r3\n"          /* even2, weights0, x4, even2 */
            "    ldmia r6!, {r0-r2, r4, r10}\n"     /* taps!, {x0, x1, x2, x3, x4} */
            "    ldr r11, [r5], #4\n"               /* weights0, [stream], #4 */
            "    smlad r9, r11, r0, r9\n"           /* odd0, weights0, x0, odd0 */
            "    smlad lr, r11, r1, lr\n"           /* odd1, weights0, x1, odd1 */
            "    smlad r7, r11, r2, r7\n"           /* odd2, weights0, x2, odd2 */
            "    sxtb16 r11, r11\n"                 /* weights0, weights0 */
            "    smlad r8, r11, r0, r8\n"           /* even0, weights0, x0, even0 */
            "    smlad r12, r11, r1, r12\n"         /* even1, weights0, x1, even1 */
            "    smlad r3, r11, r2, r3\n"           /* even2, weights0, x2, even2 */
            "    ldr r11, [r5], #4\n"               /* weights0, [stream], #4 */
            "    smlad r9, r11, r1, r9\n"           /* odd0, weights0, x1, odd0 */
            "    smlad lr, r11, r2, lr\n"           /* odd1, weights0, x2, odd1 */
            "    smlad r7, r11, r4, r7\n"           /* odd2, weights0, x3, odd2 */
            "    sxtb16 r11, r11\n"                 /* weights0, weights0 */
            "    smlad r8, r11, r1, r8\n"           /* even0, weights0, x1, even0 */
            "    smlad r12, r11, r2, r12\n"         /* even1, weights0, x2, even1 */
            "    smlad r3, r11, r4, r3\n"           /* even2, weights0, x3, even2 */
            "    ldr r11, [r5], #4\n"               /* weights0, [stream], #4 */
            "    smlad r9, r11, r2, r9\n"           /* odd0, weights0, x2, odd0 */
            "    smlad lr, r11, r4, lr\n"           /* odd1, weights0, x3, odd1 */
            "    smlad r7, r11, r10, r7\n"          /* odd2, weights0, x4, odd2 */
            "    sxtb16 r11, r11\n"                 /* weights0, weights0 */
            "    smlad r8, r11, r2, r8\n"           /* even0, weights0, x2, even0 */
            "    smlad r12, r11, r4, r12\n"         /* even1, weights0, x3, even1 */
            "    smlad r3, r11, r10, r3\n"          /* even2, weights0, x4, even2 */
            "    ldmia r6!, {r0-r2, r4, r10}\n"     /* taps!, {x0, x1, x2, x3, x4} */
            "    ldr r11, [r5], #4\n"               /* weights0, [stream], #4 */
            "    smlad r9, r11, r0, r9\n"           /* odd0, weights0, x0, odd0 */
            "    smlad lr, r11, r1, lr\n"           /* odd1, weights0, x1, odd1 */
            "    smlad r7, r11, r2, r7\n"           /* odd2, weights0, x2, odd2 */
            "    sxtb16 r11, r11\n"                 /* weights0, weights0 */
            "    smlad r8, r11, r0, r8\n"           /* even0, weights0, x0, even0 */
            "    smlad r12, r11, r1, r12\n"         /* even1, weights0, x1, even1 */
            "    smlad r3, r11, r2, r3\n"           /* even2, weights0, x2, even2 */
            "    ldr r11, [r5], #4\n"               /* weights0, [stream], #4 */
            "    smlad r9, r11, r1, r9\n"           /* odd0, weights0, x1, odd0 */
            "    smlad lr, r11, r2, lr\n"           /* odd1, weights0, x2, odd1 */
            "    smlad r7, r11, r4, r7\n"           /* odd2, weights0, x3, odd2 */
            "    sxtb16 r11, r11\n"                 /* weights0, weights0 */
            "    smlad r8, r11, r1, r8\n"           /* even0, weights0, x1, even0 */
            "    smlad r12, r11, r2, r12\n"         /* even1, weights0, x2, even1 */
            "    smlad r3, r11, r4, r3\n"           /* even2, weights0, x3, even2 */
            "    ldr r11, [r5], #4\n"               /* weights0, [stream], #4 */
            "    smlad r9, r11, r2, r9\n"           /* odd0, weights0, x2, odd0 */
            "    smlad lr, r11, r4, lr\n"           /* odd1, weights0, x3, odd1 */
            "    smlad r7, r11, r10, r7\n"          /* odd2, weights0, x4, odd2 */
            "    sxtb16 r11, r11\n"                 /* weights0, weights0 */
            "    smlad r8, r11, r2, r8\n"           /* even0, weights0, x2, even0 */
            "    smlad r12, r11, r4, r12\n"         /* even1, weights0, x3, even1 */
            "    smlad r3, r11, r10, r3\n"          /* even2, weights0, x4, even2 */
            "    ldmia r6!, {r0-r2, r4, r10}\n"     /* taps!, {x0, x1, x2, x3, x4} */
            "    ldr r11, [r5], #4\n"               /* weights0, [stream], #4 */
            "    smlad r9, r11, r0, r9\n"           /* odd0, weights0, x0, odd0 */
            "    smlad lr, r11, r1, lr\n"           /* odd1, weights0, x1, odd1 */
            "    smlad r7, r11, r2, r7\n"           /* odd2, weights0, x2, odd2 */
            "    sxtb16 r11, r11\n"                 /* weights0, weights0 */
            "    smlad r8, r11, r0, r8\n"           /* even0, weights0, x0, even0 */
            "    smlad r12, r11, r1, r12\n"         /* even1, weights0, x1, even1 */
            "    smlad r3, r11, r2, r3\n"           /* even2, weights0, x2, even2 */
            "    ldr r11, [r5], #4\n"               /* weights0, [stream], #4 */
            "    smlad r9, r11, r1, r9\n"           /* odd0, weights0, x1, odd0 */
            "    smlad lr, r11, r2, lr\n"           /* odd1, weights0, x2, odd1 */
            "    smlad r7, r11, r4, r7\n"           /* odd2, weights0, x3, odd2 */
            "    sxtb16 r11, r11\n"                 /* weights0, weights0 */
            "    smlad r8, r11, r1, r8\n"           /* even0, weights0, x1, even0 */
            "    smlad r12, r11, r2, r12\n"         /* even1, weights0, x2, even1 */
            "    smlad r3, r11, r4, r3\n"           /* even2, weights0, x3, even2 */
            "    ldr r11, [r5], #4\n"               /* weights0, [stream], #4 */
            "    smlad r9, r11, r2, r9\n"           /* odd0, weights0, x2, odd0 */
            "    smlad lr, r11, r4, lr\n"           /* odd1, weights0, x3, odd1 */
            "    smlad r7, r11, r10, r7\n"          /* odd2, weights0, x4, odd2 */
            "    sxtb16 r11, r11\n"                 /* weights0, weights0 */
            "    smlad r8, r11, r2, r8\n"           /* even0, weights0, x2, even0 */
            "    smlad r12, r11, r4, r12\n"         /* even1, weights0, x3, even1 */
            "    smlad r3, r11, r10, r3\n"          /* even2, weights0, x4, even2 */
            "    tst r6, #7\n"                      /* taps, #7 */
            "    bne 6b\n"
            /* To elements of the output: scaled, shifted, saturated. */
            "    sub r9, r9, r8\n"                  /* odd0, odd0, even0 */
            "    sub lr, lr, r12\n"                 /* odd1, odd1, even1 */
            "    sub r7, r7, r3\n"                  /* odd2, odd2, even2 */
            /* stream!, {even_scale, even_addend, odd_scale, odd_addend} */
            "    ldmia r5!, {r0, r1, r4, r11}\n"
            "    cbz r1, 8f\n"                      /* even_addend */
            "7:\n"
            "    smmla r8, r8, r0, r1\n"            /* even0, even0, even_scale, even_addend */
            "    smmla r12, r12, r0, r1\n"          /* even1, even1, even_scale, even_addend */
            "    smmla r3, r3, r0, r1\n"            /* even2, even2, even_scale, even_addend */
            "    ssat r8, #8, r8, asr #4\n"         /* even0, #8, even0, asr #4 */
            "    ssat r12, #8, r12, asr #4\n"       /* even1, #8, even1, asr #4 */
            "    ssat r3, #8, r3, asr #4\n"         /* even2, #8, even2, asr #4 */
            "    smmla r9, r9, r4, r11\n"           /* odd0, odd0, odd_scale, odd_addend */
            "    smmla lr, lr, r4, r11\n"           /* odd1, odd1, odd_scale, odd_addend */
            "    smmla r7, r7, r4, r11\n"           /* odd2, odd2, odd_scale, odd_addend */
            "    ssat r9, #8, r9, asr #12\n"        /* odd0, #8, odd0, asr #12 */
            "    ssat lr, #8, lr, asr #12\n"        /* odd1, #8, odd1, asr #12 */
            "    ssat r7, #8, r7, asr #12\n"        /* odd2, #8, odd2, asr #12 */
            "    ldmia r6, {r0-r2, r4}\n"           /* taps, {out, end, second, third} */
            /* Stored: of each pixel both filters at once. */
            "    bfi r8, r9, #8, #8\n"              /* even0, odd0, #8, #8 */
            "    bfi r12, lr, #8, #8\n"             /* even1, odd1, #8, #8 */
            "    bfi r3, r7, #8, #8\n"              /* even2, odd2, #8, #8 */
            "    strh r8, [r0], #2\n"               /* even0, [out], #2 */
            "    strh r12, [r0, r2]\n"              /* even1, [out, second] */
            "    strh r3, [r0, r4]\n"               /* even2, [out, third] */
            "    str r0, [r6]\n"                    /* out, [taps] */
            "    cmp r0, r1\n"                      /* out, end */
            "    bne 5b\n"
            "    b 13f\n"
            "8:\n"
            /* Sums that are rounded too late, which a word names, become the next. */
            "9:\n"
            "    ldmia r5!, {r1, r2, r10}\n"        /* stream!, {even_addend, late, next_addend} */
            "    cbnz r1, 11f\n"                    /* even_addend */
            "    cmp r2, r8\n"                      /* late, even0 */
            "    itt ne\n"
            "    cmpne r2, r12\n"                   /* late, even1 */
            "    cmpne r2, r3\n"                    /* late, even2 */
            "    beq 12f\n"
            "10:\n"
            "    movs r1, r10\n"                    /* even_addend, next_addend */
            "    beq 9b\n"
            "    b 7b\n"
            "11:\n"
            "    cmp r2, r9\n"                      /* late, odd0 */
            "    itt ne\n"
            "    cmpne r2, lr\n"                    /* late, odd1 */
            "    cmpne r2, r7\n"                    /* late, odd2 */
            "    bne 10b\n"
            "    cmp r2, r9\n"                      /* late, odd0 */
            "    it eq\n"
            "    addeq r9, r9, #256\n"              /* odd0, odd0, #256 */
            "    cmp r2, lr\n"                      /* late, odd1 */
            "    it eq\n"
            "    addeq lr, lr, #256\n"              /* odd1, odd1, #256 */
            "    cmp r2, r7\n"                      /* late, odd2 */
            "    it eq\n"
            "    addeq r7, r7, #256\n"              /* odd2, odd2, #256 */
            "    b 10b\n"
            "12:\n"
            "    cmp r2, r8\n"                      /* late, even0 */
            "    it eq\n"
            "    addeq r8, r8, #1\n"                /* even0, even0, #1 */
            "    cmp r2, r12\n"                     /* late, even1 */
            "    it eq\n"
            "    addeq r12, r12, #1\n"              /* even1, even1, #1 */
            "    cmp r2, r3\n"                      /* late, even2 */
            "    it eq\n"
            "    addeq r3, r3, #1\n"                /* even2, even2, #1 */
            "    b 10b\n"
            "13:\n"
            "    ldr r0, [r6]\n"                    /* out, [taps] */
            "    ldr r1, [r6, #84]\n"               /* filters, [taps, #84] */
            "    ldr r2, [r6, #96]\n"               /* behind, [taps, #96] */
            "    add r0, r0, r2\n"                  /* out, out, behind */
            "    add r1, r0, r1\n"                  /* end, out, filters */
            "    strd r0, r1, [r6]\n"               /* out, end, [taps] */
            "    b 2b\n"
            "14:\n"
            /* Other windows are begun one by one. */
            "    add r8, r6, #148\n"                /* begun, taps, #148 */
            "    add r3, r6, #48\n"                 /* at, taps, #48 */
            /* at, {column_end, row_end, step, stride, columns_inside, rows_inside} */
            "    ldmia r3, {r3-r5, r7, r12, lr}\n"
            "    cmp r1, r3\n"                      /* column, column_end */
            "    bne 15f\n"
            "    ldrd r1, r3, [r6, #72]\n"          /* column, row_stride, [taps, #72] */
            "    add r2, r2, r3\n"                  /* row, row, row_stride */
            "    ldr r3, [r6, #80]\n"               /* wrap, [taps, #80] */
            "    add r0, r0, r3\n"                  /* source, source, wrap */
            "15:\n"
            "    cmp r2, r4\n"                      /* row, row_end */
            "    beq 24f\n"
            "    ldr r3, [r6, #84]\n"               /* filters, [taps, #84] */
            "    sub r4, r3, #2\n"                  /* second, filters, #2 */
            "    str r4, [r6, #8]\n"                /* second, [taps, #8] */
            "    add r4, r4, r3\n"                  /* third, second, filters */
            "    str r4, [r6, #12]\n"               /* third, [taps, #12] */
            "    lsl r3, r3, #1\n"                  /* behind, filters, #1 */
            "    str r3, [r6, #96]\n"               /* behind, [taps, #96] */
            "    ldr r3, [r6, #100]\n"              /* last_column, [taps, #100] */
            "    cmp r1, r3\n"                      /* column, last_column */
            "    bne 16f\n"
            "    ldr r3, [r6, #104]\n"              /* behind, [taps, #104] */
            "    str r3, [r6, #96]\n"               /* behind, [taps, #96] */
            "    add r3, r6, #158\n"                /* nowhere, taps, #158 */
            "    ldr r4, [r6]\n"                    /* next, [taps] */
            "    sub r3, r3, r4\n"                  /* nowhere, nowhere, next */
            "    str r3, [r6, #12]\n"               /* nowhere, [taps, #12] */
            "16:\n"
            "    cmp r1, r12\n"                     /* column, columns_inside */
            "    it lo\n"
            "    cmplo r2, lr\n"                    /* row, rows_inside */
            "    blo 22f\n"
            /* One that leaves the image is copied, with the zero point around it. */
            "    ldr r7, [r8, #8]\n"                /* into, [begun, #8] */
            "    ldr r3, [r6, #120]\n"              /* down_patch, [taps, #120] */
            "    str r3, [r8]\n"                    /* down_patch, [begun] */
            "    str r7, [r8, #4]\n"                /* into, [begun, #4] */
            "    ldr r12, [r6, #140]\n"             /* patch_end, [taps, #140] */
            "    add r12, r12, r7\n"                /* patch_end, patch_end, into */
            "    mov lr, r7\n"                      /* at, into */
            "    ldr r3, [r6, #136]\n"              /* zeros, [taps, #136] */
            "    pkhbt r3, r3, r3, lsl #16\n"       /* zeros, zeros, zeros, lsl #16 */
            "    mov r4, r3\n"                      /* zeros1, zeros */
            "    mov r5, r3\n"                      /* zeros2, zeros */
            "    mov r9, r3\n"                      /* zeros3, zeros */
            "17:\n"
            "    stmia lr!, {r3-r5, r9}\n"          /* at!, {zeros, zeros1, zeros2, zeros3} */
            "    stmia lr!, {r3-r5, r9}\n"          /* at!, {zeros, zeros1, zeros2, zeros3} */
            "    cmp lr, r12\n"                     /* at, patch_end */
            "    bne 17b\n"
            "    rsb r4, r1, #0\n"                  /* outside, column, #0 */
            "    bic r4, r4, r4, asr #31\n"         /* outside, outside, outside, asr #31 */
            "    ldr r3, [r6, #124]\n"              /* inside, [taps, #124] */
            "    sub r3, r3, r1\n"                  /* inside, inside, column */
            "    ldr r5, [r6, #128]\n"              /* span, [taps, #128] */
            "    cmp r3, r5\n"                      /* inside, span */
            "    it gt\n"
            "    movgt r3, r5\n"                    /* inside, span */
            "    subs r3, r3, r4\n"                 /* inside, inside, outside */
            "    ble 21f\n"
            "    ldr r5, [r6, #132]\n"              /* channels, [taps, #132] */
            "    mul r3, r3, r5\n"                  /* inside, inside, channels */
            "    mul r4, r4, r5\n"                  /* outside, outside, channels */
            "    add r5, r0, r4\n"                  /* inside_source, source, outside */
            "    add r7, r7, r4\n"                  /* into, into, outside */
            "    mov r4, r2\n"                      /* patch_row, row */
            "    ldr r12, [r6, #108]\n"             /* height, [taps, #108] */
            "    ldr lr, [r6, #92]\n"               /* rows_left, [taps, #92] */
            "    ldr r9, [r6, #112]\n"              /* pitch, [taps, #112] */
            "    ldr r6, [r6, #116]\n"              /* patch_pitch, [taps, #116] */
            "    vmov d0, r0, r1\n"                 /* saved0, source, column */
            "    vmov d1, r2, r8\n"                 /* saved1, row, begun */
            "18:\n"
            "    cmp r4, r12\n"                     /* patch_row, height */
            "    bhs 20f\n"
            "    add r8, r5, r3\n"                  /* row_end, inside_source, inside */
            "19:\n"
            "    ldmia r5!, {r0-r2, r10}\n"         /* inside_source!, {a, b, c, d} */
            "    stmia r7!, {r0-r2, r10}\n"         /* into!, {a, b, c, d} */
            "    cmp r5, r8\n"                      /* inside_source, row_end */
            "    bne 19b\n"
            "    sub r5, r5, r3\n"                  /* inside_source, inside_source, inside */
            "    sub r7, r7, r3\n"                  /* into, into, inside */
            "20:\n"
            "    add r5, r5, r9\n"                  /* inside_source, inside_source, pitch */
            "    add r7, r7, r6\n"                  /* into, into, patch_pitch */
            "    add r4, r4, #1\n"                  /* patch_row, patch_row, #1 */
            "    subs lr, lr, #1\n"                 /* rows_left, rows_left, #1 */
            "    bne 18b\n"
            "    vmov r0, r1, d0\n"                 /* source, column, saved0 */
            "    vmov r2, r8, d1\n"                 /* row, begun, saved1 */
            "21:\n"
            "    vmov r6, s5\n"                     /* taps, numbers */
            "    add r3, r6, #48\n"                 /* at, taps, #48 */
            /* at, {column_end, row_end, step, stride, columns_inside, rows_inside} */
            "    ldmia r3, {r3-r5, r7, r12, lr}\n"
            "    b 23f\n"
            "22:\n"
            "    ldr r3, [r6, #40]\n"               /* down, [taps, #40] */
            "    str r3, [r8]\n"                    /* down, [begun] */
            "    str r0, [r8, #4]\n"                /* source, [begun, #4] */
            "23:\n"
            "    add r0, r0, r5\n"                  /* source, source, step */
            "    add r1, r1, r7\n"                  /* column, column, stride */
            "    add r3, r6, #16\n"                 /* at, taps, #16 */
            "    stmia r3, {r0-r2}\n"               /* at, {source, column, row} */
            "    add r3, r6, #148\n"                /* at, taps, #148 */
            "    ldmia r3, {r8, r12}\n"             /* at, {down0, window0} */
            "    b 3b\n"
            "24:\n"
            "    pop {r4-r11, pc}\n");
    /* clang-format on */
}

/* y = sat((offset + (a_scale * 256 a >> 16) + (b_scale * 256 b >> 16)) >> 21).
 * constants: a_scale; b_scale; offset; the bytes of a run's whole words; the loops'. */
MCU_KERNEL void _mcu_dsp_strips_add_int8_21_dsp(const int8_t *a MCU_UNUSED,
                                                const int8_t *b MCU_UNUSED, int8_t *y MCU_UNUSED,
                                                const int32_t *constants MCU_UNUSED) {
    /* clang-format off */
    __asm__(".syntax unified\n"
            "    push {r4-r11, lr}\n"
            /* constants, {a_scale, b_scale, offset, run_bytes} */
            "    ldmia r3, {r3-r6}\n"
            "    add r6, r6, r2\n"                  /* run_bytes, run_bytes, y */
            "    vmov s0, r6\n"                     /* end, run_bytes */
            "    mov r12, #0xff00ff00\n"            /* odd_bytes, #0xff00ff00 */
            /* Each element times its operand's scale (SMLAW), added, shifted, saturated. */
            "1:\n"
            "    ldmia r0!, {r6, lr}\n"             /* a!, {a0123, a4567} */
            "    ldmia r1!, {r7, r8}\n"             /* b!, {b0123, b4567} */
            "    and r9, r12, r6, lsl #8\n"         /* a_even, odd_bytes, a0123, lsl #8 */
            "    and r6, r6, r12\n"                 /* a0123, a0123, odd_bytes */
            "    and r10, r12, r7, lsl #8\n"        /* b_even, odd_bytes, b0123, lsl #8 */
            "    and r7, r7, r12\n"                 /* b0123, b0123, odd_bytes */
            "    smlawt r11, r3, r9, r5\n"          /* sum, a_scale, a_even, offset */
            "    smlawt r11, r4, r10, r11\n"        /* sum, b_scale, b_even, sum */
            "    smlawb r9, r3, r9, r5\n"           /* a_even, a_scale, a_even, offset */
            "    smlawb r9, r4, r10, r9\n"          /* a_even, b_scale, b_even, a_even */
            "    smlawt r10, r3, r6, r5\n"          /* b_even, a_scale, a0123, offset */
            "    smlawt r10, r4, r7, r10\n"         /* b_even, b_scale, b0123, b_even */
            "    smlawb r6, r3, r6, r5\n"           /* a0123, a_scale, a0123, offset */
            "    smlawb r6, r4, r7, r6\n"           /* a0123, b_scale, b0123, a0123 */
            "    ssat r9, #8, r9, asr #21\n"        /* a_even, #8, a_even, asr #21 */
            "    ssat r11, #8, r11, asr #21\n"      /* sum, #8, sum, asr #21 */
            "    ssat r6, #8, r6, asr #21\n"        /* a0123, #8, a0123, asr #21 */
            "    ssat r10, #8, r10, asr #21\n"      /* b_even, #8, b_even, asr #21 */
            "    bfi r9, r6, #8, #8\n"              /* a_even, a0123, #8, #8 */
            "    bfi r11, r10, #8, #8\n"            /* sum, b_even, #8, #8 */
            "    pkhbt r9, r9, r11, lsl #16\n"      /* a_even, a_even, sum, lsl #16 */
            "    str r9, [r2], #4\n"                /* a_even, [y], #4 */
            "    and r9, r12, lr, lsl #8\n"         /* a_even, odd_bytes, a4567, lsl #8 */
            "    and lr, lr, r12\n"                 /* a4567, a4567, odd_bytes */
            "    and r10, r12, r8, lsl #8\n"        /* b_even, odd_bytes, b4567, lsl #8 */
            "    and r8, r8, r12\n"                 /* b4567, b4567, odd_bytes */
            "    smlawt r11, r3, r9, r5\n"          /* sum, a_scale, a_even, offset */
            "    smlawt r11, r4, r10, r11\n"        /* sum, b_scale, b_even, sum */
            "    smlawb r9, r3, r9, r5\n"           /* a_even, a_scale, a_even, offset */
            "    smlawb r9, r4, r10, r9\n"          /* a_even, b_scale, b_even, a_even */
            "    smlawt r10, r3, lr, r5\n"          /* b_even, a_scale, a4567, offset */
            "    smlawt r10, r4, r8, r10\n"         /* b_even, b_scale, b4567, b_even */
            "    smlawb lr, r3, lr, r5\n"           /* a4567, a_scale, a4567, offset */
            "    smlawb lr, r4, r8, lr\n"           /* a4567, b_scale, b4567, a4567 */
            "    ssat r9, #8, r9, asr #21\n"        /* a_even, #8, a_even, asr #21 */
            "    ssat r11, #8, r11, asr #21\n"      /* sum, #8, sum, asr #21 */
            "    ssat lr, #8, lr, asr #21\n"        /* a4567, #8, a4567, asr #21 */
            "    ssat r10, #8, r10, asr #21\n"      /* b_even, #8, b_even, asr #21 */
            "    bfi r9, lr, #8, #8\n"              /* a_even, a4567, #8, #8 */
            "    bfi r11, r10, #8, #8\n"            /* sum, b_even, #8, #8 */
            "    pkhbt r9, r9, r11, lsl #16\n"      /* a_even, a_even, sum, lsl #16 */
            "    str r9, [r2], #4\n"                /* a_even, [y], #4 */
            "    vmov r11, s0\n"                    /* sum, end */
            "    cmp r2, r11\n"                     /* y, sum */
            "    bne 1b\n"
            "    pop {r4-r11, pc}\n");
    /* clang-format on */
}

MCU_FUNCTION void _mcu_dsp_strips_conv_conv_add_strips_dsp(const int8_t *x, int8_t *y,
                                                           const uint32_t *weights,
                                                           const uint32_t *more_weights,
                                                           const int32_t *constants,
                                                           uint8_t *scratch) {
    /* A strip: rows of what is between, then output rows. `next` is behind the rows that are there
     * from the strip before. */
    uint8_t *const work = scratch + 2064;
    int8_t *const strip = (int8_t *)(scratch + 16);
    /* Where windows begin, in rows of their image: of the first row, of the one behind the last. */
    int32_t *const range = (int32_t *)(void *)work;
    int8_t *next = strip + 512;
    const int8_t *source = x;
    int8_t *target = y;
    int32_t made = 0;
    for (int32_t first = 0; first < 12; first += 2) {
        const int32_t last = first + 2;
        const int32_t wanted = last + 1;
        const int32_t until = wanted < 12 ? wanted : 12;
        range[0] = made - 1;
        range[1] = until - 1;
        _mcu_dsp_strips_conv3x3_rows_fd52f153_dsp(source, next, weights, work);
        source += 512 * (until - made);
        made = until;
        next = strip + 1024;
        range[0] = first - 1;
        range[1] = last - 1;
        int8_t *const rows = (int8_t *)scratch;
        _mcu_dsp_strips_conv3x3_rows_fd52f153_dsp(strip + 512, rows, more_weights, work);
        _mcu_dsp_strips_add_int8_21_dsp(x, rows, target, constants);
        x += 1024;
        target += 1024;
        memcpy(strip, strip + 1024, 1024);
    }
}

MCU_FUNCTION void _mcu_dsp_strips_reorder_16x384_int8(const int8_t *x, int8_t *y) {
    for (int32_t i0 = 0; i0 < 16; i0++) {
        for (int32_t i1 = 0; i1 < 384; i1++) {
            *y++ = x[i0 + i1 * 16];
        }
    }
}

/* ---- The layers, in the order of execution ---- */

/* clang-format off */
static void _mcu_dsp_strips_layers(mcu_instance_t *instance) {
    uint8_t *const ws = instance->workspace;

    /* reshape_1_reorder: Reorder, reshape_1_3 reordered:
     * int8[1,16,12,32] -> int8[1,16,12,32] NHWC */
    int8_t *const int8 = (int8_t *)(ws + 0);
    int8_t *const reshape_1_reorder = (int8_t *)(ws + 6144);
    MCU_LAYER(0, _mcu_dsp_strips_reorder_384x16_int8(int8, reshape_1_reorder));

    /* conv_1: ConvolutionStrips, conv_5_11 + conv_10_21 + add_13_25 (14 nodes):
     * int8[1,16,12,32] NHWC -> int8[1,16,12,32] NHWC; 1,769,472 MACs */
    int8_t *const conv_1 = (int8_t *)(ws + 6144);
    uint8_t *const conv_1_scratch = (uint8_t *)(ws + 0);
    MCU_LAYER(1, _mcu_dsp_strips_conv_conv_add_strips_dsp(
        reshape_1_reorder, conv_1, _mcu_dsp_strips_conv_1_weights,
        _mcu_dsp_strips_conv_1_more_weights, _mcu_dsp_strips_conv_1_constants, conv_1_scratch));

    /* conv_1_reorder: Reorder, quantizelinear_14_27 reordered:
     * int8[1,16,12,32] NHWC -> int8[1,16,12,32] */
    int8_t *const conv_1_reorder = (int8_t *)(ws + 0);
    MCU_LAYER(2, _mcu_dsp_strips_reorder_16x384_int8(conv_1, conv_1_reorder));
}

/* clang-format on */

