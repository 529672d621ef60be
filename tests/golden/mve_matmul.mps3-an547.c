/* ---- Kernels ---- */

/* Those in assembly are one string each, some longer than C99 wants compilers to take. */
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Woverlength-strings"
#endif

MCU_FUNCTION void _mcu_mve_matmul_slice_120_int8(const int8_t *x, int8_t *y) {
    for (int32_t i0 = 0; i0 < 120; i0++) {
        *y++ = x[i0];
    }
}

MCU_FUNCTION void _mcu_mve_matmul_slice_200_int8(const int8_t *x, int8_t *y) {
    for (int32_t i0 = 0; i0 < 200; i0++) {
        *y++ = x[i0 + 120];
    }
}

/* y[r][c] = sat(round(float(sum) * factor) + y_zero), with sum = sum of
 * (a[r][t] - a_zero) * (b[t][c] - b_zero), both floats rounded to nearest.
 * constants: factor, y_zero, -a_zero, 20 * a_zero * b_zero, -b_zero. scratch: sixteen taps of
 * each of four columns, then the next. */
MCU_KERNEL void _mcu_mve_matmul_matmul_6x20x10_mve(const int8_t *a MCU_UNUSED,
                                                   const int8_t *b MCU_UNUSED, int8_t *y MCU_UNUSED,
                                                   const uint32_t *constants MCU_UNUSED,
                                                   uint8_t *scratch MCU_UNUSED) {
    /* clang-format off */
    __asm__(".syntax unified\n"
            "    ldr r12, [sp]\n"
            "    push {r4-r9, lr}\n"
            "    vpush {d8-d12}\n"
            "    vmov s20, r0\n"                    /* all_a, a */
            "    vmov s0, r1\n"                     /* all_b, b */
            "    vmov s1, r2\n"                     /* all_y, y */
            "    vmov s21, r3\n"                    /* constants_at, constants */
            "    vmov s22, r12\n"                   /* panel_begin, scratch */
            "    vmov r0, s0\n"                     /* next_b, all_b */
            "    vmov r1, s1\n"                     /* next_y, all_y */
            "    movw r2, #3\n"                     /* count, #3 */
            "    vmov s23, r2\n"                    /* columns_left, count */
            "1:\n"
            "    vmov s24, r0\n"                    /* columns_b, next_b */
            "    vmov s25, r1\n"                    /* columns_y, next_y */
            /* Four columns of b: a word a tap, then sixteen taps of each side by side. */
            "    vmov r1, s24\n"                    /* b_at, columns_b */
            "    vmov r3, s22\n"                    /* panel, panel_begin */
            "    movw lr, #20\n"                    /* rounds_left, #20 */
            "    dls lr, lr\n"                      /* rounds_left, rounds_left */
            "2:\n"
            "    ldr r0, [r1], #10\n"               /* word, [b_at], #10 */
            "    str r0, [r3], #4\n"                /* word, [panel], #4 */
            "    le lr, 2b\n"                       /* rounds_left */
            "    vmov r3, s22\n"                    /* panel, panel_begin */
            "    movw lr, #2\n"                     /* rounds_left, #2 */
            "    dls lr, lr\n"                      /* rounds_left, rounds_left */
            "3:\n"
            "    vldrw.u32 q0, [r3]\n"              /* q0, [panel] */
            "    vldrw.u32 q1, [r3, #16]\n"         /* q1, [panel, #16] */
            "    vldrw.u32 q2, [r3, #32]\n"         /* q2, [panel, #32] */
            "    vldrw.u32 q3, [r3, #48]\n"         /* q3, [panel, #48] */
            "    vst40.8 {q0, q1, q2, q3}, [r3]\n"  /* {q0, q1, q2, q3}, [panel] */
            "    vst41.8 {q0, q1, q2, q3}, [r3]\n"  /* {q0, q1, q2, q3}, [panel] */
            "    vst42.8 {q0, q1, q2, q3}, [r3]\n"  /* {q0, q1, q2, q3}, [panel] */
            "    vst43.8 {q0, q1, q2, q3}, [r3]\n"  /* {q0, q1, q2, q3}, [panel] */
            "    vldrw.u32 q0, [r3]\n"              /* q0, [panel] */
            "    vldrw.u32 q1, [r3, #16]\n"         /* q1, [panel, #16] */
            "    vldrw.u32 q2, [r3, #32]\n"         /* q2, [panel, #32] */
            "    vldrw.u32 q3, [r3, #48]\n"         /* q3, [panel, #48] */
            "    vst40.8 {q0, q1, q2, q3}, [r3]\n"  /* {q0, q1, q2, q3}, [panel] */
            "    vst41.8 {q0, q1, q2, q3}, [r3]\n"  /* {q0, q1, q2, q3}, [panel] */
            "    vst42.8 {q0, q1, q2, q3}, [r3]\n"  /* {q0, q1, q2, q3}, [panel] */
            "    vst43.8 {q0, q1, q2, q3}, [r3]\n"  /* {q0, q1, q2, q3}, [panel] */
            "    add r3, r3, #64\n"                 /* panel, panel, #64 */
            "    le lr, 3b\n"                       /* rounds_left */
            "    vmov r0, s21\n"                    /* constants, constants_at */
            "    vmov r3, s22\n"                    /* panel, panel_begin */
            "    ldrd r0, r1, [r0, #8]\n"           /* a_zero, both, [constants, #8] */
            "    mov r2, #0\n"                      /* sum0, #0 */
            "    mov r4, #0\n"                      /* sum1, #0 */
            "    mov r6, #0\n"                      /* sum2, #0 */
            "    mov r12, #0\n"                     /* sum3, #0 */
            "    movw lr, #20\n"                    /* rounds_left, #20 */
            "    dlstp.8 lr, lr\n"                  /* rounds_left, rounds_left */
            "4:\n"
            "    vldrb.u8 q0, [r3], #16\n"          /* column, [panel], #16 */
            "    vaddva.s8 r2, q0\n"                /* sum0, column */
            "    vldrb.u8 q0, [r3], #16\n"          /* column, [panel], #16 */
            "    vaddva.s8 r4, q0\n"                /* sum1, column */
            "    vldrb.u8 q0, [r3], #16\n"          /* column, [panel], #16 */
            "    vaddva.s8 r6, q0\n"                /* sum2, column */
            "    vldrb.u8 q0, [r3], #16\n"          /* column, [panel], #16 */
            "    vaddva.s8 r12, q0\n"               /* sum3, column */
            "    letp lr, 4b\n"                     /* rounds_left */
            "    mla r2, r2, r0, r1\n"              /* sum0, sum0, a_zero, both */
            "    mla r4, r4, r0, r1\n"              /* sum1, sum1, a_zero, both */
            "    mla r6, r6, r0, r1\n"              /* sum2, sum2, a_zero, both */
            "    mla r12, r12, r0, r1\n"            /* sum3, sum3, a_zero, both */
            /* All rows of a with them. */
            "    vmov r0, s21\n"                    /* constants, constants_at */
            "    vmov q1[2], q1[0], r2, r6\n"       /* starts[2], starts[0], sum0, sum2 */
            "    ldrd r8, r9, [r0]\n"               /* a_at, rows_left, [constants] */
            "    vmov q1[3], q1[1], r4, r12\n"      /* starts[3], starts[1], sum1, sum3 */
            "    vdup.32 q2, r8\n"                  /* factor, a_at */
            "    ldr r5, [r0, #16]\n"               /* minus_b_zero, [constants, #16] */
            "    vdup.32 q3, r9\n"                  /* y_zero, rows_left */
            "    vmov r7, s20\n"                    /* row, all_a */
            "    vmov r1, s25\n"                    /* y_at, columns_y */
            "    movw r9, #6\n"                     /* rows_left, #6 */
            "5:\n"
            "    mov r8, r7\n"                      /* a_at, row */
            "    mov r0, #0\n"                      /* sum_of_row, #0 */
            "    vmov r3, s22\n"                    /* panel, panel_begin */
            "    mov r2, #0\n"                      /* sum0, #0 */
            "    mov r4, #0\n"                      /* sum1, #0 */
            "    mov r6, #0\n"                      /* sum2, #0 */
            "    mov r12, #0\n"                     /* sum3, #0 */
            "    movw lr, #20\n"                    /* rounds_left, #20 */
            "    dlstp.8 lr, lr\n"                  /* rounds_left, rounds_left */
            "6:\n"
            "    vldrb.u8 q4, [r8], #16\n"          /* taps, [a_at], #16 */
            "    vaddva.s8 r0, q4\n"                /* sum_of_row, taps */
            "    vldrb.u8 q0, [r3], #16\n"          /* column, [panel], #16 */
            "    vmladava.s8 r2, q4, q0\n"          /* sum0, taps, column */
            "    vldrb.u8 q0, [r3], #16\n"          /* column, [panel], #16 */
            "    vmladava.s8 r4, q4, q0\n"          /* sum1, taps, column */
            "    vldrb.u8 q0, [r3], #16\n"          /* column, [panel], #16 */
            "    vmladava.s8 r6, q4, q0\n"          /* sum2, taps, column */
            "    vldrb.u8 q0, [r3], #16\n"          /* column, [panel], #16 */
            "    vmladava.s8 r12, q4, q0\n"         /* sum3, taps, column */
            "    letp lr, 6b\n"                     /* rounds_left */
            "    vmov q0[2], q0[0], r2, r6\n"       /* words[2], words[0], sum0, sum2 */
            "    vmov q0[3], q0[1], r4, r12\n"      /* words[3], words[1], sum1, sum3 */
            "    mul r0, r0, r5\n"                  /* sum_of_row, sum_of_row, minus_b_zero */
            "    vadd.i32 q0, q0, q1\n"             /* words, words, starts */
            "    add r7, r7, #20\n"                 /* row, row, #20 */
            "    vadd.i32 q0, q0, r0\n"             /* words, words, sum_of_row */
            "    vcvt.f32.s32 q0, q0\n"             /* words, words */
            "    subs r9, r9, #1\n"                 /* rows_left, rows_left, #1 */
            "    vmul.f32 q0, q0, q2\n"             /* words, words, factor */
            "    vcvtn.s32.f32 q0, q0\n"            /* words, words */
            "    vqadd.s32 q0, q0, q3\n"            /* words, words, y_zero */
            "    vqmovnb.s32 q0, q0\n"              /* words, words */
            "    vqmovnb.s16 q0, q0\n"              /* words, words */
            "    vstrb.32 q0, [r1]\n"               /* words, [y_at] */
            "    add r1, r1, #10\n"                 /* y_at, y_at, #10 */
            "    bne 5b\n"
            "    vmov r0, s24\n"                    /* next_b, columns_b */
            "    vmov r1, s25\n"                    /* next_y, columns_y */
            "    vmov r2, s23\n"                    /* count, columns_left */
            "    add r0, r0, #4\n"                  /* next_b, next_b, #4 */
            "    add r1, r1, #4\n"                  /* next_y, next_y, #4 */
            "    cmp r2, #2\n"                      /* count, #2 */
            "    itt eq\n"
            "    subeq r0, r0, #2\n"                /* next_b, next_b, #2 */
            "    subeq r1, r1, #2\n"                /* next_y, next_y, #2 */
            "    subs r2, r2, #1\n"                 /* count, count, #1 */
            "    vmov s23, r2\n"                    /* columns_left, count */
            "    bne 1b\n"
            "    vpop {d8-d12}\n"
            "    pop {r4-r9, pc}\n");
    /* clang-format on */
}

/* ---- The layers, in the order of execution ---- */

/* clang-format off */
static void _mcu_mve_matmul_layers(mcu_instance_t *instance) {
    uint8_t *const ws = instance->workspace;

    /* slice_1: Slice, slice_0_2: int8[320] -> int8[120] */
    int8_t *const int8 = (int8_t *)(ws + 80);
    int8_t *const slice_1 = (int8_t *)(ws + 400);
    MCU_LAYER(0, _mcu_mve_matmul_slice_120_int8(int8, slice_1));

    /* slice_2: Slice, slice_3_7: int8[320] -> int8[200] */
    int8_t *const slice_2 = (int8_t *)(ws + 192);
    MCU_LAYER(1, _mcu_mve_matmul_slice_200_int8(int8, slice_2));

    /* matmul_1: MatMul, product0 (4 nodes): int8[6,20], int8[20,10] -> int8[6,10]; 1,200 MACs */
    int8_t *const matmul_1 = (int8_t *)(ws + 128);
    uint8_t *const matmul_1_scratch = (uint8_t *)(ws + 0);
    MCU_LAYER(2, _mcu_mve_matmul_matmul_6x20x10_mve(
        slice_1, slice_2, matmul_1, _mcu_mve_matmul_matmul_1_constants, matmul_1_scratch));
}

/* clang-format on */

