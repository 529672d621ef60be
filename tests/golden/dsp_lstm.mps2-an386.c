/* ---- Kernels ---- */

/* Those in assembly are one string each, some longer than C99 wants compilers to take. */
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Woverlength-strings"
#endif

/* gate = sat16(round(w x[t]) + round(r h[t - 1])); c[t] = clip(round(sigmoid(forget) c[t - 1]) +
 * round(sigmoid(input) tanh(cell))); y[t] = h[t] = sat(round(sigmoid(output) tanh(c[t])) +
 * zero_point).
 * weights: sigmoid's table, a halfword an entry; then of each unit, for x and again for h, what
 * the sums begin with: input; 256 forget + input; cell; 256 output + cell; of each four taps,
 * two a word, in halves 256 forget + input, two words, 256 output + cell, two words, taps in the
 * order 0 2 1 3.
 * scratch: x[t] and h[t - 1], two taps in a word; c, int16. */
MCU_KERNEL void _mcu_dsp_lstm_lstm_4x8_int8_dsp(const int8_t *x MCU_UNUSED, int8_t *y MCU_UNUSED,
                                                const uint32_t *weights MCU_UNUSED,
                                                uint8_t *scratch MCU_UNUSED) {
    /* clang-format off */
    __asm__(".syntax unified\n"
            "    push {r4-r9, lr}\n"
            "    vmov s4, r0\n"                     /* step_x, x */
            "    vmov s5, r1\n"                     /* step_y, y */
            "    vmov s6, r2\n"                     /* stream_begin, weights */
            "    vmov s7, r3\n"                     /* scratch_begin, scratch */
            "    vmov r2, s7\n"                     /* into, scratch_begin */
            "    add r2, r2, #8\n"                  /* into, into, #8 */
            "    mov r0, #0\n"                      /* zero, #0 */
            "    movw r1, #8\n"                     /* left, #8 */
            "1:\n"
            "    strh r0, [r2], #2\n"               /* zero, [into], #2 */
            "    subs r1, r1, #1\n"                 /* left, left, #1 */
            "    bne 1b\n"
            "    mov r0, #0\n"                      /* zero, #0 */
            "    movw r1, #8\n"                     /* left, #8 */
            "2:\n"
            "    strh r0, [r2], #2\n"               /* zero, [into], #2 */
            "    subs r1, r1, #1\n"                 /* left, left, #1 */
            "    bne 2b\n"
            /* A step: the input, widened to int16, in front of the hidden state. */
            "    movw r0, #7\n"                     /* count, #7 */
            "    vmov s8, r0\n"                     /* steps_left, count */
            "3:\n"
            "    vmov r3, s4\n"                     /* source, step_x */
            "    vmov r2, s7\n"                     /* into, scratch_begin */
            "    movw r4, #8\n"                     /* into_end, #8 */
            "    add r4, r4, r2\n"                  /* into_end, into_end, into */
            "4:\n"
            "    ldr r0, [r3], #4\n"                /* x0123, [source], #4 */
            "    sxtb16 r1, r0, ror #8\n"           /* x13, x0123, ror #8 */
            "    sxtb16 r0, r0\n"                   /* x02, x0123 */
            "    stmia r2!, {r0, r1}\n"             /* into!, {x02, x13} */
            "    cmp r2, r4\n"                      /* into, into_end */
            "    bne 4b\n"
            "    vmov s4, r3\n"                     /* step_x, source */
            "    vmov r1, s5\n"                     /* out, step_y */
            "    add r0, r1, #8\n"                  /* out_end, out, #8 */
            "    vmov s9, r0\n"                     /* y_end, out_end */
            "    vmov r3, s7\n"                     /* c_at, scratch_begin */
            "    add r3, r3, #24\n"                 /* c_at, c_at, #24 */
            "    vmov s10, r3\n"                    /* next_c, c_at */
            "    vmov r12, s6\n"                    /* stream, stream_begin */
            "    add r12, r12, #516\n"              /* stream, stream, #516 */
            /* Of each unit the gates, the cell state and the output. */
            "5:\n"
            /* The gates' sums of x, then those of h, four taps at a time, each times its factor. */
            "    vmov lr, s7\n"                     /* taps, scratch_begin */
            "    ldmia r12!, {r0, r2, r4, r7}\n"    /* stream!, {input, forget, cell, output} */
            "    movw r1, #8\n"                     /* taps_end, #8 */
            "    add r1, r1, lr\n"                  /* taps_end, taps_end, taps */
            "    ldmia.w lr!, {r5, r8}\n"           /* taps!, {x02, x13} */
            /* stream!, {gates01_w02, gates01_w13, gates23_w02, gates23_w13} */
            "    ldmia.w r12!, {r1, r3, r6, r9}\n"
            "    smlad r2, r1, r5, r2\n"            /* forget, gates01_w02, x02, forget */
            "    smlad r2, r3, r8, r2\n"            /* forget, gates01_w13, x13, forget */
            "    smlad r7, r6, r5, r7\n"            /* output, gates23_w02, x02, output */
            "    smlad r7, r9, r8, r7\n"            /* output, gates23_w13, x13, output */
            "    sxtb16 r1, r1\n"                   /* gates01_w02, gates01_w02 */
            "    sxtb16 r3, r3\n"                   /* gates01_w13, gates01_w13 */
            "    sxtb16 r6, r6\n"                   /* gates23_w02, gates23_w02 */
            "    sxtb16 r9, r9\n"                   /* gates23_w13, gates23_w13 */
            "    smlad r0, r1, r5, r0\n"            /* input, gates01_w02, x02, input */
            "    smlad r0, r3, r8, r0\n"            /* input, gates01_w13, x13, input */
            "    smlad r4, r6, r5, r4\n"            /* cell, gates23_w02, x02, cell */
            "    smlad r4, r9, r8, r4\n"            /* cell, gates23_w13, x13, cell */
            "    sub r2, r2, r0\n"                  /* forget, forget, input */
            "    sub r7, r7, r4\n"                  /* output, output, cell */
            "    movw r1, #23552\n"                 /* multiplier, #23552 */
            "    movt r1, #20887\n"                 /* multiplier, #20887 */
            "    lsl r0, r0, #2\n"                  /* input, input, #2 */
            "    smmulr r0, r0, r1\n"               /* input, input, multiplier */
            "    ssat r0, #16, r0\n"                /* input, #16, input */
            "    movw r1, #47360\n"                 /* multiplier, #47360 */
            "    movt r1, #21133\n"                 /* multiplier, #21133 */
            "    asr r2, r2, #6\n"                  /* forget, forget, #6 */
            "    smmulr r2, r2, r1\n"               /* forget, forget, multiplier */
            "    ssat r2, #16, r2\n"                /* forget, #16, forget */
            "    movw r1, #35200\n"                 /* multiplier, #35200 */
            "    movt r1, #24875\n"                 /* multiplier, #24875 */
            "    lsl r4, r4, #2\n"                  /* cell, cell, #2 */
            "    smmulr r4, r4, r1\n"               /* cell, cell, multiplier */
            "    ssat r4, #16, r4\n"                /* cell, #16, cell */
            "    movw r1, #46336\n"                 /* multiplier, #46336 */
            "    movt r1, #21998\n"                 /* multiplier, #21998 */
            "    asr r7, r7, #6\n"                  /* output, output, #6 */
            "    smmulr r7, r7, r1\n"               /* output, output, multiplier */
            "    ssat r7, #16, r7\n"                /* output, #16, output */
            "    vmov d0, r0, r2\n"                 /* from_x01, input, forget */
            "    vmov d1, r4, r7\n"                 /* from_x23, cell, output */
            "    ldmia r12!, {r0, r2, r4, r7}\n"    /* stream!, {input, forget, cell, output} */
            "    movw r1, #16\n"                    /* taps_end, #16 */
            "    add r1, r1, lr\n"                  /* taps_end, taps_end, taps */
            "    ldmia.w lr!, {r5, r8}\n"           /* taps!, {x02, x13} */
            /* stream!, {gates01_w02, gates01_w13, gates23_w02, gates23_w13} */
            "    ldmia.w r12!, {r1, r3, r6, r9}\n"
            "    smlad r2, r1, r5, r2\n"            /* forget, gates01_w02, x02, forget */
            "    smlad r2, r3, r8, r2\n"            /* forget, gates01_w13, x13, forget */
            "    smlad r7, r6, r5, r7\n"            /* output, gates23_w02, x02, output */
            "    smlad r7, r9, r8, r7\n"            /* output, gates23_w13, x13, output */
            "    sxtb16 r1, r1\n"                   /* gates01_w02, gates01_w02 */
            "    sxtb16 r3, r3\n"                   /* gates01_w13, gates01_w13 */
            "    sxtb16 r6, r6\n"                   /* gates23_w02, gates23_w02 */
            "    sxtb16 r9, r9\n"                   /* gates23_w13, gates23_w13 */
            "    smlad r0, r1, r5, r0\n"            /* input, gates01_w02, x02, input */
            "    smlad r0, r3, r8, r0\n"            /* input, gates01_w13, x13, input */
            "    smlad r4, r6, r5, r4\n"            /* cell, gates23_w02, x02, cell */
            "    smlad r4, r9, r8, r4\n"            /* cell, gates23_w13, x13, cell */
            "    ldmia.w lr!, {r5, r8}\n"           /* taps!, {x02, x13} */
            /* stream!, {gates01_w02, gates01_w13, gates23_w02, gates23_w13} */
            "    ldmia.w r12!, {r1, r3, r6, r9}\n"
            "    smlad r2, r1, r5, r2\n"            /* forget, gates01_w02, x02, forget */
            "    smlad r2, r3, r8, r2\n"            /* forget, gates01_w13, x13, forget */
            "    smlad r7, r6, r5, r7\n"            /* output, gates23_w02, x02, output */
            "    smlad r7, r9, r8, r7\n"            /* output, gates23_w13, x13, output */
            "    sxtb16 r1, r1\n"                   /* gates01_w02, gates01_w02 */
            "    sxtb16 r3, r3\n"                   /* gates01_w13, gates01_w13 */
            "    sxtb16 r6, r6\n"                   /* gates23_w02, gates23_w02 */
            "    sxtb16 r9, r9\n"                   /* gates23_w13, gates23_w13 */
            "    smlad r0, r1, r5, r0\n"            /* input, gates01_w02, x02, input */
            "    smlad r0, r3, r8, r0\n"            /* input, gates01_w13, x13, input */
            "    smlad r4, r6, r5, r4\n"            /* cell, gates23_w02, x02, cell */
            "    smlad r4, r9, r8, r4\n"            /* cell, gates23_w13, x13, cell */
            "    sub r2, r2, r0\n"                  /* forget, forget, input */
            "    sub r7, r7, r4\n"                  /* output, output, cell */
            "    movw r5, #1152\n"                  /* multiplier, #1152 */
            "    movt r5, #30276\n"                 /* multiplier, #30276 */
            "    mov r3, #1\n"                      /* half, #1 */
            "    lsl r1, r0, #1\n"                  /* high, input, #1 */
            "    smmlar r1, r1, r5, r3\n"           /* high, high, multiplier, half */
            "    add r0, r1, r0, asr #31\n"         /* input, high, input, asr #31 */
            "    ssat r0, #16, r0, asr #1\n"        /* input, #16, input, asr #1 */
            "    movw r5, #27264\n"                 /* multiplier, #27264 */
            "    movt r5, #19364\n"                 /* multiplier, #19364 */
            "    mov r3, #1\n"                      /* half, #1 */
            "    asr r1, r2, #7\n"                  /* high, forget, #7 */
            "    smmlar r1, r1, r5, r3\n"           /* high, high, multiplier, half */
            "    add r2, r1, r2, asr #31\n"         /* forget, high, forget, asr #31 */
            "    ssat r2, #16, r2, asr #1\n"        /* forget, #16, forget, asr #1 */
            "    movw r5, #896\n"                   /* multiplier, #896 */
            "    movt r5, #31259\n"                 /* multiplier, #31259 */
            "    mov r3, #2\n"                      /* half, #2 */
            "    lsl r1, r4, #1\n"                  /* high, cell, #1 */
            "    smmlar r1, r1, r5, r3\n"           /* high, high, multiplier, half */
            "    add r4, r1, r4, asr #31\n"         /* cell, high, cell, asr #31 */
            "    ssat r4, #16, r4, asr #2\n"        /* cell, #16, cell, asr #2 */
            "    movw r5, #5120\n"                  /* multiplier, #5120 */
            "    movt r5, #32582\n"                 /* multiplier, #32582 */
            "    mov r3, #1\n"                      /* half, #1 */
            "    asr r1, r7, #7\n"                  /* high, output, #7 */
            "    smmlar r1, r1, r5, r3\n"           /* high, high, multiplier, half */
            "    add r7, r1, r7, asr #31\n"         /* output, high, output, asr #31 */
            "    ssat r7, #16, r7, asr #1\n"        /* output, #16, output, asr #1 */
            "    vmov r1, r3, d0\n"                 /* input_x, forget_x, from_x01 */
            "    vmov r5, r6, d1\n"                 /* cell_x, output_x, from_x23 */
            "    vmov lr, s6\n"                     /* table, stream_begin */
            "    add r0, r0, r1\n"                  /* input, input, input_x */
            "    ssat r0, #16, r0\n"                /* input, #16, input */
            "    add r2, r2, r3\n"                  /* forget, forget, forget_x */
            "    ssat r2, #16, r2\n"                /* forget, #16, forget */
            "    add r4, r4, r5\n"                  /* cell, cell, cell_x */
            "    ssat r4, #16, r4\n"                /* cell, #16, cell */
            "    add r7, r7, r6\n"                  /* output, output, output_x */
            "    ssat r7, #16, r7\n"                /* output, #16, output */
            /* Sigmoid and tanh: straight lines between entries of the table. */
            "    add r3, r0, r0, lsl #1\n"          /* place, input, input, lsl #1 */
            "    eor r1, r3, r3, asr #31\n"         /* size, place, place, asr #31 */
            "    sub r1, r1, r3, asr #31\n"         /* size, size, place, asr #31 */
            "    lsr r6, r1, #9\n"                  /* entry, size, #9 */
            "    add r6, lr, r6, lsl #1\n"          /* entry, table, entry, lsl #1 */
            "    ldrh r5, [r6]\n"                   /* first, [entry] */
            "    ldrh r6, [r6, #2]\n"               /* rise, [entry, #2] */
            "    ubfx r1, r1, #0, #9\n"             /* value, size, #0, #9 */
            "    sub r6, r6, r5\n"                  /* rise, rise, first */
            "    mul r1, r1, r6\n"                  /* value, value, rise */
            "    add r1, r1, r5, lsl #9\n"          /* value, value, first, lsl #9 */
            "    sub r1, r1, #0x1000000\n"          /* value, value, #0x1000000 */
            "    eor r1, r1, r3, asr #31\n"         /* value, value, place, asr #31 */
            "    add r1, r1, #512\n"                /* value, value, #512 */
            "    asr r1, r1, #10\n"                 /* value, value, #10 */
            "    add r0, r1, #16384\n"              /* input, value, #16384 */
            "    add r3, r2, r2, lsl #1\n"          /* place, forget, forget, lsl #1 */
            "    eor r1, r3, r3, asr #31\n"         /* size, place, place, asr #31 */
            "    sub r1, r1, r3, asr #31\n"         /* size, size, place, asr #31 */
            "    lsr r6, r1, #9\n"                  /* entry, size, #9 */
            "    add r6, lr, r6, lsl #1\n"          /* entry, table, entry, lsl #1 */
            "    ldrh r5, [r6]\n"                   /* first, [entry] */
            "    ldrh r6, [r6, #2]\n"               /* rise, [entry, #2] */
            "    ubfx r1, r1, #0, #9\n"             /* value, size, #0, #9 */
            "    sub r6, r6, r5\n"                  /* rise, rise, first */
            "    mul r1, r1, r6\n"                  /* value, value, rise */
            "    add r1, r1, r5, lsl #9\n"          /* value, value, first, lsl #9 */
            "    sub r1, r1, #0x1000000\n"          /* value, value, #0x1000000 */
            "    eor r1, r1, r3, asr #31\n"         /* value, value, place, asr #31 */
            "    add r1, r1, #512\n"                /* value, value, #512 */
            "    asr r1, r1, #10\n"                 /* value, value, #10 */
            "    add r2, r1, #16384\n"              /* forget, value, #16384 */
            "    add r3, r7, r7, lsl #1\n"          /* place, output, output, lsl #1 */
            "    eor r1, r3, r3, asr #31\n"         /* size, place, place, asr #31 */
            "    sub r1, r1, r3, asr #31\n"         /* size, size, place, asr #31 */
            "    lsr r6, r1, #9\n"                  /* entry, size, #9 */
            "    add r6, lr, r6, lsl #1\n"          /* entry, table, entry, lsl #1 */
            "    ldrh r5, [r6]\n"                   /* first, [entry] */
            "    ldrh r6, [r6, #2]\n"               /* rise, [entry, #2] */
            "    ubfx r1, r1, #0, #9\n"             /* value, size, #0, #9 */
            "    sub r6, r6, r5\n"                  /* rise, rise, first */
            "    mul r1, r1, r6\n"                  /* value, value, rise */
            "    add r1, r1, r5, lsl #9\n"          /* value, value, first, lsl #9 */
            "    sub r1, r1, #0x1000000\n"          /* value, value, #0x1000000 */
            "    eor r1, r1, r3, asr #31\n"         /* value, value, place, asr #31 */
            "    add r1, r1, #512\n"                /* value, value, #512 */
            "    asr r1, r1, #10\n"                 /* value, value, #10 */
            "    add r7, r1, #16384\n"              /* output, value, #16384 */
            "    add r3, r4, r4, lsl #1\n"          /* place, cell, cell, lsl #1 */
            "    eor r1, r3, r3, asr #31\n"         /* size, place, place, asr #31 */
            "    sub r1, r1, r3, asr #31\n"         /* size, size, place, asr #31 */
            "    usat r1, #16, r1\n"                /* size, #16, size */
            "    lsr r6, r1, #8\n"                  /* entry, size, #8 */
            "    add r6, lr, r6, lsl #1\n"          /* entry, table, entry, lsl #1 */
            "    ldrh r5, [r6]\n"                   /* first, [entry] */
            "    ldrh r6, [r6, #2]\n"               /* rise, [entry, #2] */
            "    ubfx r1, r1, #0, #8\n"             /* value, size, #0, #8 */
            "    sub r6, r6, r5\n"                  /* rise, rise, first */
            "    mul r1, r1, r6\n"                  /* value, value, rise */
            "    add r1, r1, r5, lsl #8\n"          /* value, value, first, lsl #8 */
            "    sub r1, r1, #0x800000\n"           /* value, value, #0x800000 */
            "    eor r1, r1, r3, asr #31\n"         /* value, value, place, asr #31 */
            "    add r1, r1, #128\n"                /* value, value, #128 */
            "    asr r4, r1, #8\n"                  /* cell, value, #8 */
            /* The cell state: what the forget gate keeps of it, and what the input gate lets in. */
            "    vmov r3, s10\n"                    /* c_at, next_c */
            "    ldrsh r1, [r3]\n"                  /* c, [c_at] */
            "    mul r2, r2, r1\n"                  /* forget, forget, c */
            "    mul r0, r0, r4\n"                  /* input, input, cell */
            "    movw r5, #0\n"                     /* multiplier, #0 */
            "    movt r5, #16384\n"                 /* multiplier, #16384 */
            "    mov r4, #8192\n"                   /* half, #8192 */
            "    lsl r1, r2, #1\n"                  /* high, forget, #1 */
            "    smmlar r1, r1, r5, r4\n"           /* high, high, multiplier, half */
            "    add r2, r1, r2, asr #31\n"         /* forget, high, forget, asr #31 */
            "    ssat r2, #16, r2, asr #14\n"       /* forget, #16, forget, asr #14 */
            "    movw r5, #0\n"                     /* multiplier, #0 */
            "    movt r5, #16384\n"                 /* multiplier, #16384 */
            "    mov r4, #0x10000\n"                /* half, #0x10000 */
            "    lsl r1, r0, #1\n"                  /* high, input, #1 */
            "    smmlar r1, r1, r5, r4\n"           /* high, high, multiplier, half */
            "    add r0, r1, r0, asr #31\n"         /* input, high, input, asr #31 */
            "    ssat r0, #16, r0, asr #17\n"       /* input, #16, input, asr #17 */
            "    add r1, r2, r0\n"                  /* c, forget, input */
            "    ssat r1, #16, r1\n"                /* c, #16, c */
            "    strh r1, [r3], #2\n"               /* c, [c_at], #2 */
            "    vmov s10, r3\n"                    /* next_c, c_at */
            /* The output: of the cell state's tanh what the output gate lets out. */
            "    add r3, r1, r1, lsl #1\n"          /* place, c, c, lsl #1 */
            "    eor r1, r3, r3, asr #31\n"         /* size, place, place, asr #31 */
            "    sub r1, r1, r3, asr #31\n"         /* size, size, place, asr #31 */
            "    usat r1, #16, r1\n"                /* size, #16, size */
            "    lsr r6, r1, #8\n"                  /* entry, size, #8 */
            "    add r6, lr, r6, lsl #1\n"          /* entry, table, entry, lsl #1 */
            "    ldrh r5, [r6]\n"                   /* first, [entry] */
            "    ldrh r6, [r6, #2]\n"               /* rise, [entry, #2] */
            "    ubfx r1, r1, #0, #8\n"             /* value, size, #0, #8 */
            "    sub r6, r6, r5\n"                  /* rise, rise, first */
            "    mul r1, r1, r6\n"                  /* value, value, rise */
            "    add r1, r1, r5, lsl #8\n"          /* value, value, first, lsl #8 */
            "    sub r1, r1, #0x800000\n"           /* value, value, #0x800000 */
            "    eor r1, r1, r3, asr #31\n"         /* value, value, place, asr #31 */
            "    add r1, r1, #128\n"                /* value, value, #128 */
            "    asr r0, r1, #8\n"                  /* h, value, #8 */
            "    mul r0, r0, r7\n"                  /* h, h, output */
            "    movw r3, #16833\n"                 /* multiplier, #16833 */
            "    movt r3, #16410\n"                 /* multiplier, #16410 */
            "    mov r2, #0x200000\n"               /* half, #0x200000 */
            "    lsl r1, r0, #1\n"                  /* high, h, #1 */
            "    smmlar r1, r1, r3, r2\n"           /* high, high, multiplier, half */
            "    add r0, r1, r0, asr #31\n"         /* h, high, h, asr #31 */
            "    ssat r0, #8, r0, asr #22\n"        /* h, #8, h, asr #22 */
            "    vmov r1, s5\n"                     /* out, step_y */
            "    strb r0, [r1], #1\n"               /* h, [out], #1 */
            "    vmov s5, r1\n"                     /* step_y, out */
            "    vmov r0, s9\n"                     /* out_end, y_end */
            "    cmp r1, r0\n"                      /* out, out_end */
            "    bne 5b\n"
            /* The outputs are the next step's hidden state. */
            "    vmov r3, s5\n"                     /* source, step_y */
            "    sub r3, r3, #8\n"                  /* source, source, #8 */
            "    vmov r2, s7\n"                     /* into, scratch_begin */
            "    add r2, r2, #8\n"                  /* into, into, #8 */
            "    movw r4, #16\n"                    /* into_end, #16 */
            "    add r4, r4, r2\n"                  /* into_end, into_end, into */
            "6:\n"
            "    ldr r0, [r3], #4\n"                /* x0123, [source], #4 */
            "    sxtb16 r1, r0, ror #8\n"           /* x13, x0123, ror #8 */
            "    sxtb16 r0, r0\n"                   /* x02, x0123 */
            "    stmia r2!, {r0, r1}\n"             /* into!, {x02, x13} */
            "    cmp r2, r4\n"                      /* into, into_end */
            "    bne 6b\n"
            "    vmov s5, r3\n"                     /* step_y, source */
            "    vmov r0, s8\n"                     /* count, steps_left */
            "    subs r0, r0, #1\n"                 /* count, count, #1 */
            "    vmov s8, r0\n"                     /* steps_left, count */
            "    bne 3b\n"
            "    pop {r4-r9, pc}\n");
    /* clang-format on */
}

/* ---- The layers, in the order of execution ---- */

/* clang-format off */
static void _mcu_dsp_lstm_layers(mcu_instance_t *instance) {
    uint8_t *const ws = instance->workspace;

    /* lstm_1: UnidirectionalSequenceLstm, y: int8[1,7,4] -> int8[1,7,8]; 2,688 MACs */
    int8_t *const x = (int8_t *)(ws + 80);
    int8_t *const lstm_1 = (int8_t *)(ws + 48);
    uint8_t *const lstm_1_scratch = (uint8_t *)(ws + 0);
    MCU_LAYER(0, _mcu_dsp_lstm_lstm_4x8_int8_dsp(x, lstm_1, _mcu_dsp_lstm_lstm_1_weights,
                                                 lstm_1_scratch));
}

/* clang-format on */

