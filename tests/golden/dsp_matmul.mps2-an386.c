/* ---- Kernels ---- */

/* Those in assembly are one string each, some longer than C99 wants compilers to take. */
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Woverlength-strings"
#endif

/* y[r][c] = sat(((sum of (a[r] - a_zero) * (b[c] - b_zero) + move) * scale >> 32) + addend >>
 * 4).
 * constants: scale; addend; nothing; move; -a_zero, twice in a word; b_zero, the same. scratch:
 * what the sums of three columns begin with, blocks of four taps of each, two in a word; then
 * the constants. */
MCU_KERNEL void _mcu_dsp_matmul_matmul_3x8x7_int8_dsp(const int8_t *a MCU_UNUSED,
                                                      const int8_t *b MCU_UNUSED,
                                                      int8_t *y MCU_UNUSED,
                                                      const uint32_t *constants MCU_UNUSED,
                                                      uint8_t *scratch MCU_UNUSED) {
    /* clang-format off */
    __asm__(".syntax unified\n"
            "    ldr r12, [sp]\n"
            "    push {r4-r11, lr}\n"
            "    vmov s0, r0\n"                     /* all_a, a */
            "    vmov s1, r1\n"                     /* all_b, b */
            "    vmov s2, r2\n"                     /* all_y, y */
            "    vmov s3, r12\n"                    /* panel_begin, scratch */
            /* constants, {scale, addend, y_zero, move, minus_a_zero, b_zero} */
            "    ldmia r3, {r0-r5}\n"
            "    add r6, r12, #60\n"                /* panel, scratch, #60 */
            /* panel, {scale, addend, y_zero, move, minus_a_zero, b_zero} */
            "    stmia r6, {r0-r5}\n"
            "    vmov s4, r6\n"                     /* end_of_panel, panel */
            "    movw r0, #4\n"                     /* count, #4 */
            "    vmov s5, r0\n"                     /* matrices_left0, count */
            "1:\n"
            "    vmov r0, s1\n"                     /* next_b, all_b */
            "    vmov r1, s2\n"                     /* next_y, all_y */
            "    movw r2, #3\n"                     /* count, #3 */
            "    vmov s6, r2\n"                     /* panels_left, count */
            "2:\n"
            "    vmov s7, r0\n"                     /* panel_b, next_b */
            "    vmov s8, r1\n"                     /* panel_y, next_y */
            /* Three columns of b, widened to int16: two taps a word. */
            "    vmov r12, s7\n"                    /* source, panel_b */
            "    vmov r6, s3\n"                     /* panel, panel_begin */
            "    vmov r0, s4\n"                     /* panel_end, end_of_panel */
            "    ldr r3, [r0, #12]\n"               /* start0, [panel_end, #12] */
            "    ldr r11, [r0, #16]\n"              /* minus_a_zero, [panel_end, #16] */
            "    ldr lr, [r0, #20]\n"               /* b_zero, [panel_end, #20] */
            "    vmov s9, lr\n"                     /* b_zero_kept, b_zero */
            "    mov r5, r3\n"                      /* start1, start0 */
            "    mov r9, r3\n"                      /* start2, start0 */
            "    add r6, r6, #12\n"                 /* panel, panel, #12 */
            "3:\n"
            "    ldrsb r0, [r12]\n"                 /* c0_02, [source] */
            "    ldrsb r1, [r12, #1]\n"             /* c1_02, [source, #1] */
            "    ldrsb r2, [r12, #2]\n"             /* c2_02, [source, #2] */
            "    ldrsb r4, [r12, #7]\n"             /* c0_13, [source, #7] */
            "    ldrsb r7, [r12, #8]\n"             /* c1_13, [source, #8] */
            "    ldrsb r10, [r12, #9]\n"            /* c2_13, [source, #9] */
            "    ldrsb lr, [r12, #14]\n"            /* upper, [source, #14] */
            "    ldrsb r8, [r12, #15]\n"            /* next_upper, [source, #15] */
            "    pkhbt r0, r0, lr, lsl #16\n"       /* c0_02, c0_02, upper, lsl #16 */
            "    pkhbt r1, r1, r8, lsl #16\n"       /* c1_02, c1_02, next_upper, lsl #16 */
            "    ldrsb lr, [r12, #16]\n"            /* upper, [source, #16] */
            "    ldrsb r8, [r12, #21]\n"            /* next_upper, [source, #21] */
            "    pkhbt r2, r2, lr, lsl #16\n"       /* c2_02, c2_02, upper, lsl #16 */
            "    pkhbt r4, r4, r8, lsl #16\n"       /* c0_13, c0_13, next_upper, lsl #16 */
            "    ldrsb lr, [r12, #22]\n"            /* upper, [source, #22] */
            "    ldrsb r8, [r12, #23]\n"            /* next_upper, [source, #23] */
            "    pkhbt r7, r7, lr, lsl #16\n"       /* c1_13, c1_13, upper, lsl #16 */
            "    pkhbt r10, r10, r8, lsl #16\n"     /* c2_13, c2_13, next_upper, lsl #16 */
            "    add r12, r12, #28\n"               /* source, source, #28 */
            "    vmov lr, s9\n"                     /* b_zero, b_zero_kept */
            "    ssub16 r0, r0, lr\n"               /* c0_02, c0_02, b_zero */
            "    ssub16 r1, r1, lr\n"               /* c1_02, c1_02, b_zero */
            "    ssub16 r2, r2, lr\n"               /* c2_02, c2_02, b_zero */
            "    ssub16 r4, r4, lr\n"               /* c0_13, c0_13, b_zero */
            "    ssub16 r7, r7, lr\n"               /* c1_13, c1_13, b_zero */
            "    ssub16 r10, r10, lr\n"             /* c2_13, c2_13, b_zero */
            "    smlad r3, r0, r11, r3\n"           /* start0, c0_02, minus_a_zero, start0 */
            "    smlad r5, r1, r11, r5\n"           /* start1, c1_02, minus_a_zero, start1 */
            "    smlad r9, r2, r11, r9\n"           /* start2, c2_02, minus_a_zero, start2 */
            "    smlad r3, r4, r11, r3\n"           /* start0, c0_13, minus_a_zero, start0 */
            "    smlad r5, r7, r11, r5\n"           /* start1, c1_13, minus_a_zero, start1 */
            "    smlad r9, r10, r11, r9\n"          /* start2, c2_13, minus_a_zero, start2 */
            /* panel!, {c0_02, c1_02, c2_02, c0_13, c1_13, c2_13} */
            "    stmia r6!, {r0-r2, r4, r7, r10}\n"
            "    vmov r0, s4\n"                     /* panel_end, end_of_panel */
            "    cmp r6, r0\n"                      /* panel, panel_end */
            "    bne 3b\n"
            "    vmov r6, s3\n"                     /* panel, panel_begin */
            "    stmia r6, {r3, r5, r9}\n"          /* panel, {start0, start1, start2} */
            /* With two rows of a, even and odd: six sums, four taps at a time. */
            "    vmov r4, s0\n"                     /* row, all_a */
            "    vmov r1, s8\n"                     /* out, panel_y */
            "    movw r0, #2\n"                     /* count, #2 */
            "    vmov s9, r0\n"                     /* pairs_left, count */
            "4:\n"
            "    vmov s10, r1\n"                    /* rows_y, out */
            "    vmov r6, s3\n"                     /* panel, panel_begin */
            "    ldmia r6!, {r0, r2, r5}\n"         /* panel!, {even0, even1, even2} */
            "    mov r7, r0\n"                      /* odd0, even0 */
            "    mov r12, r2\n"                     /* odd1, even1 */
            "    mov lr, r5\n"                      /* odd2, even2 */
            "    ldr r8, [r4, #8]\n"                /* odd_bytes, [row, #8] */
            "    ldr r9, [r4], #4\n"                /* even_bytes, [row], #4 */
            "    ldmia r6!, {r1, r3, r10}\n"        /* panel!, {column0, column1, column2} */
            "    sxtb16 r11, r9\n"                  /* pair, even_bytes */
            "    smlad r0, r11, r1, r0\n"           /* even0, pair, column0, even0 */
            "    smlad r2, r11, r3, r2\n"           /* even1, pair, column1, even1 */
            "    smlad r5, r11, r10, r5\n"          /* even2, pair, column2, even2 */
            "    sxtb16 r11, r8\n"                  /* pair, odd_bytes */
            "    smlad r7, r11, r1, r7\n"           /* odd0, pair, column0, odd0 */
            "    smlad r12, r11, r3, r12\n"         /* odd1, pair, column1, odd1 */
            "    smlad lr, r11, r10, lr\n"          /* odd2, pair, column2, odd2 */
            "    ldmia r6!, {r1, r3, r10}\n"        /* panel!, {column0, column1, column2} */
            "    sxtb16 r11, r9, ror #8\n"          /* pair, even_bytes, ror #8 */
            "    smlad r0, r11, r1, r0\n"           /* even0, pair, column0, even0 */
            "    smlad r2, r11, r3, r2\n"           /* even1, pair, column1, even1 */
            "    smlad r5, r11, r10, r5\n"          /* even2, pair, column2, even2 */
            "    sxtb16 r11, r8, ror #8\n"          /* pair, odd_bytes, ror #8 */
            "    smlad r7, r11, r1, r7\n"           /* odd0, pair, column0, odd0 */
            "    smlad r12, r11, r3, r12\n"         /* odd1, pair, column1, odd1 */
            "    smlad lr, r11, r10, lr\n"          /* odd2, pair, column2, odd2 */
            "    ldr r8, [r4, #8]\n"                /* odd_bytes, [row, #8] */
            "    ldr r9, [r4], #4\n"                /* even_bytes, [row], #4 */
            "    ldmia r6!, {r1, r3, r10}\n"        /* panel!, {column0, column1, column2} */
            "    sxtb16 r11, r9\n"                  /* pair, even_bytes */
            "    smlad r0, r11, r1, r0\n"           /* even0, pair, column0, even0 */
            "    smlad r2, r11, r3, r2\n"           /* even1, pair, column1, even1 */
            "    smlad r5, r11, r10, r5\n"          /* even2, pair, column2, even2 */
            "    sxtb16 r11, r8\n"                  /* pair, odd_bytes */
            "    smlad r7, r11, r1, r7\n"           /* odd0, pair, column0, odd0 */
            "    smlad r12, r11, r3, r12\n"         /* odd1, pair, column1, odd1 */
            "    smlad lr, r11, r10, lr\n"          /* odd2, pair, column2, odd2 */
            "    ldmia r6!, {r1, r3, r10}\n"        /* panel!, {column0, column1, column2} */
            "    sxtb16 r11, r9, ror #8\n"          /* pair, even_bytes, ror #8 */
            "    smlad r0, r11, r1, r0\n"           /* even0, pair, column0, even0 */
            "    smlad r2, r11, r3, r2\n"           /* even1, pair, column1, even1 */
            "    smlad r5, r11, r10, r5\n"          /* even2, pair, column2, even2 */
            "    sxtb16 r11, r8, ror #8\n"          /* pair, odd_bytes, ror #8 */
            "    smlad r7, r11, r1, r7\n"           /* odd0, pair, column0, odd0 */
            "    smlad r12, r11, r3, r12\n"         /* odd1, pair, column1, odd1 */
            "    smlad lr, r11, r10, lr\n"          /* odd2, pair, column2, odd2 */
            /* To elements of the output. */
            "    ldmia r6, {r1, r3}\n"              /* panel, {scale, addend} */
            "    smmla r0, r0, r1, r3\n"            /* even0, even0, scale, addend */
            "    smmla r2, r2, r1, r3\n"            /* even1, even1, scale, addend */
            "    smmla r5, r5, r1, r3\n"            /* even2, even2, scale, addend */
            "    smmla r7, r7, r1, r3\n"            /* odd0, odd0, scale, addend */
            "    smmla r12, r12, r1, r3\n"          /* odd1, odd1, scale, addend */
            "    smmla lr, lr, r1, r3\n"            /* odd2, odd2, scale, addend */
            "    ssat r0, #8, r0, asr #4\n"         /* even0, #8, even0, asr #4 */
            "    ssat r2, #8, r2, asr #4\n"         /* even1, #8, even1, asr #4 */
            "    ssat r5, #8, r5, asr #4\n"         /* even2, #8, even2, asr #4 */
            "    ssat r7, #8, r7, asr #4\n"         /* odd0, #8, odd0, asr #4 */
            "    ssat r12, #8, r12, asr #4\n"       /* odd1, #8, odd1, asr #4 */
            "    ssat lr, #8, lr, asr #4\n"         /* odd2, #8, odd2, asr #4 */
            "    vmov r1, s10\n"                    /* out, rows_y */
            "    strb r0, [r1]\n"                   /* even0, [out] */
            "    strb r2, [r1, #1]\n"               /* even1, [out, #1] */
            "    strb r5, [r1, #2]\n"               /* even2, [out, #2] */
            "    strb r7, [r1, #7]\n"               /* odd0, [out, #7] */
            "    strb r12, [r1, #8]\n"              /* odd1, [out, #8] */
            "    strb lr, [r1, #9]\n"               /* odd2, [out, #9] */
            "    add r4, r4, #8\n"                  /* row, row, #8 */
            "    add r1, r1, #14\n"                 /* out, out, #14 */
            "    vmov r0, s9\n"                     /* count, pairs_left */
            "    cmp r0, #2\n"                      /* count, #2 */
            "    itt eq\n"
            "    subeq r4, r4, #8\n"                /* row, row, #8 */
            "    subeq r1, r1, #7\n"                /* out, out, #7 */
            "    subs r0, r0, #1\n"                 /* count, count, #1 */
            "    vmov s9, r0\n"                     /* pairs_left, count */
            "    bne 4b\n"
            "    vmov r0, s7\n"                     /* next_b, panel_b */
            "    vmov r1, s8\n"                     /* next_y, panel_y */
            "    add r0, r0, #3\n"                  /* next_b, next_b, #3 */
            "    add r1, r1, #3\n"                  /* next_y, next_y, #3 */
            "    vmov r2, s6\n"                     /* count, panels_left */
            "    cmp r2, #2\n"                      /* count, #2 */
            "    itt eq\n"
            "    subeq r0, r0, #2\n"                /* next_b, next_b, #2 */
            "    subeq r1, r1, #2\n"                /* next_y, next_y, #2 */
            "    subs r2, r2, #1\n"                 /* count, count, #1 */
            "    vmov s6, r2\n"                     /* panels_left, count */
            "    bne 2b\n"
            "    vmov r0, s0\n"                     /* at, all_a */
            "    add r0, r0, #24\n"                 /* at, at, #24 */
            "    vmov s0, r0\n"                     /* all_a, at */
            "    vmov r0, s1\n"                     /* at, all_b */
            "    add r0, r0, #56\n"                 /* at, at, #56 */
            "    vmov s1, r0\n"                     /* all_b, at */
            "    vmov r0, s2\n"                     /* at, all_y */
            "    add r0, r0, #21\n"                 /* at, at, #21 */
            "    vmov s2, r0\n"                     /* all_y, at */
            "    vmov r0, s5\n"                     /* count, matrices_left0 */
            "    subs r0, r0, #1\n"                 /* count, count, #1 */
            "    vmov s5, r0\n"                     /* matrices_left0, count */
            "    bne 1b\n"
            "    pop {r4-r11, pc}\n");
    /* clang-format on */
}

/* ---- The layers, in the order of execution ---- */

/* clang-format off */
static void _mcu_dsp_matmul_layers(mcu_instance_t *instance) {
    uint8_t *const ws = instance->workspace;

    /* matmul_1: MatMul, product0 (4 nodes): int8[4,3,8], int8[4,8,7] -> int8[4,3,7]; 672 MACs */
    int8_t *const slice_0_2 = (int8_t *)(ws + 128);
    int8_t *const slice_3_7 = (int8_t *)(ws + 224);
    int8_t *const matmul_1 = (int8_t *)(ws + 96);
    uint8_t *const matmul_1_scratch = (uint8_t *)(ws + 0);
    MCU_LAYER(0, _mcu_dsp_matmul_matmul_3x8x7_int8_dsp(
        slice_0_2, slice_3_7, matmul_1, _mcu_dsp_matmul_matmul_1_constants, matmul_1_scratch));
}

/* clang-format on */

