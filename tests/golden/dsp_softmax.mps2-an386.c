/* ---- Kernels ---- */

/* Those in assembly are one string each, some longer than C99 wants compilers to take. */
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Woverlength-strings"
#endif

/* y[r][i] = sat(round(exp(x[r][i] - max) / sum / scale) + zero_point). exponential:
 * 1 / scale, scale, of float32, what rounds, what limits distances, then the table. */
MCU_KERNEL void _mcu_dsp_softmax_softmax_4_int8_dsp(const int8_t *x MCU_UNUSED,
                                                    int8_t *y MCU_UNUSED,
                                                    const uint32_t *exponential MCU_UNUSED,
                                                    uint32_t rows MCU_UNUSED) {
    /* clang-format off */
    __asm__(".syntax unified\n"
            "    push {r4-r8, lr}\n"
            "    vmov s4, r0\n"                     /* row_x, x */
            "    vmov s5, r1\n"                     /* row_y, y */
            "    vmov s6, r3\n"                     /* rows_left, rows */
            /* exponential!, {scales.low, scales.high, rounding.low} */
            "    vldmia r2!, {s0-s2}\n"
            "    ldr r0, [r2], #4\n"                /* limit, [exponential], #4 */
            "1:\n"
            "    vmov r0, s4\n"                     /* x, row_x */
            /* The row's greatest element, to each byte of a word. */
            "    ldr lr, [r0], #4\n"                /* greatest, [x], #4 */
            "    ror r7, lr, #16\n"                 /* word, greatest, #16 */
            "    ssub8 r0, r7, lr\n"                /* difference, word, greatest */
            "    sel lr, r7, lr\n"                  /* greatest, word, greatest */
            "    ror r7, lr, #8\n"                  /* word, greatest, #8 */
            "    ssub8 r0, r7, lr\n"                /* difference, word, greatest */
            "    sel lr, r7, lr\n"                  /* greatest, word, greatest */
            /* The exponentials of all distances to it, from the table; their sum. */
            "    vmov r0, s4\n"                     /* x, row_x */
            "    mov r1, #0\n"                      /* total, #0 */
            "    movw r8, #1\n"                     /* left, #1 */
            "2:\n"
            "    ldr r7, [r0], #4\n"                /* word, [x], #4 */
            "    usub8 r7, lr, r7\n"                /* word, greatest, word */
            "    ubfx r4, r7, #0, #8\n"             /* lane0, word, #0, #8 */
            "    ubfx r5, r7, #8, #8\n"             /* lane1, word, #8, #8 */
            "    ubfx r6, r7, #16, #8\n"            /* lane2, word, #16, #8 */
            "    ubfx r7, r7, #24, #8\n"            /* lane3, word, #24, #8 */
            "    ldr r4, [r2, r4, lsl #2]\n"        /* lane0, [exponential, lane0, lsl #2] */
            "    ldr r5, [r2, r5, lsl #2]\n"        /* lane1, [exponential, lane1, lsl #2] */
            "    ldr r6, [r2, r6, lsl #2]\n"        /* lane2, [exponential, lane2, lsl #2] */
            "    ldr r7, [r2, r7, lsl #2]\n"        /* lane3, [exponential, lane3, lsl #2] */
            "    add r1, r1, r4\n"                  /* total, total, lane0 */
            "    add r1, r1, r5\n"                  /* total, total, lane1 */
            "    add r1, r1, r6\n"                  /* total, total, lane2 */
            "    add r1, r1, r7\n"                  /* total, total, lane3 */
            "    subs r8, r8, #1\n"                 /* left, left, #1 */
            "    bne 2b\n"
            "    vmov s7, r1\n"                     /* term0, total */
            "    vcvt.f32.u32 s8, s7\n"             /* sum, term0 */
            "    vdiv.f32 s9, s0, s8\n"             /* factor, scales.low, sum */
            /* The same again, divided by the sum. */
            "    vmov r0, s4\n"                     /* x, row_x */
            "    vmov r1, s5\n"                     /* y, row_y */
            "    vmov r3, s2\n"                     /* added, rounding.low */
            "    movw r8, #1\n"                     /* left, #1 */
            "3:\n"
            "    ldr r7, [r0], #4\n"                /* word, [x], #4 */
            "    usub8 r7, lr, r7\n"                /* word, greatest, word */
            "    ubfx r4, r7, #0, #8\n"             /* lane0, word, #0, #8 */
            "    ubfx r5, r7, #8, #8\n"             /* lane1, word, #8, #8 */
            "    ubfx r6, r7, #16, #8\n"            /* lane2, word, #16, #8 */
            "    ubfx r7, r7, #24, #8\n"            /* lane3, word, #24, #8 */
            "    ldr r4, [r2, r4, lsl #2]\n"        /* lane0, [exponential, lane0, lsl #2] */
            "    ldr r5, [r2, r5, lsl #2]\n"        /* lane1, [exponential, lane1, lsl #2] */
            "    ldr r6, [r2, r6, lsl #2]\n"        /* lane2, [exponential, lane2, lsl #2] */
            "    ldr r7, [r2, r7, lsl #2]\n"        /* lane3, [exponential, lane3, lsl #2] */
            "    vmov s7, r4\n"                     /* term0, lane0 */
            "    vmov s4, r5\n"                     /* term1, lane1 */
            "    vmov s5, r6\n"                     /* term2, lane2 */
            "    vmov s10, r7\n"                    /* term3, lane3 */
            "    vcvt.f32.u32 s7, s7\n"             /* term0, term0 */
            "    vcvt.f32.u32 s4, s4\n"             /* term1, term1 */
            "    vcvt.f32.u32 s5, s5\n"             /* term2, term2 */
            "    vcvt.f32.u32 s10, s10\n"           /* term3, term3 */
            "    vmul.f32 s11, s7, s9\n"            /* product0, term0, factor */
            "    vmul.f32 s12, s4, s9\n"            /* product1, term1, factor */
            "    vmul.f32 s13, s5, s9\n"            /* product2, term2, factor */
            "    vmul.f32 s14, s10, s9\n"           /* product3, term3, factor */
            "    vcvt.u32.f32 s11, s11, #16\n"      /* product0, product0, #16 */
            "    vcvt.u32.f32 s12, s12, #16\n"      /* product1, product1, #16 */
            "    vcvt.u32.f32 s13, s13, #16\n"      /* product2, product2, #16 */
            "    vcvt.u32.f32 s14, s14, #16\n"      /* product3, product3, #16 */
            "    vmov r4, s11\n"                    /* lane0, product0 */
            "    vmov r5, s12\n"                    /* lane1, product1 */
            "    vmov r6, s13\n"                    /* lane2, product2 */
            "    vmov r7, s14\n"                    /* lane3, product3 */
            "    add r4, r4, r3\n"                  /* lane0, lane0, added */
            "    add r5, r5, r3\n"                  /* lane1, lane1, added */
            "    add r6, r6, r3\n"                  /* lane2, lane2, added */
            "    add r7, r7, r3\n"                  /* lane3, lane3, added */
            "    uxth r12, r4\n"                    /* fraction, lane0 */
            "    cmp r12, #64\n"                    /* fraction, #64 */
            "    blo 5f\n"
            "    uxth r12, r5\n"                    /* fraction, lane1 */
            "    cmp r12, #64\n"                    /* fraction, #64 */
            "    blo 5f\n"
            "    uxth r12, r6\n"                    /* fraction, lane2 */
            "    cmp r12, #64\n"                    /* fraction, #64 */
            "    blo 5f\n"
            "    uxth r12, r7\n"                    /* fraction, lane3 */
            "    cmp r12, #64\n"                    /* fraction, #64 */
            "    blo 5f\n"
            "4:\n"
            "    ssat r4, #8, r4, asr #16\n"        /* lane0, #8, lane0, asr #16 */
            "    strb r4, [r1], #1\n"               /* lane0, [y], #1 */
            "    ssat r5, #8, r5, asr #16\n"        /* lane1, #8, lane1, asr #16 */
            "    strb r5, [r1], #1\n"               /* lane1, [y], #1 */
            "    ssat r6, #8, r6, asr #16\n"        /* lane2, #8, lane2, asr #16 */
            "    strb r6, [r1], #1\n"               /* lane2, [y], #1 */
            "    ssat r7, #8, r7, asr #16\n"        /* lane3, #8, lane3, asr #16 */
            "    strb r7, [r1], #1\n"               /* lane3, [y], #1 */
            "    subs r8, r8, #1\n"                 /* left, left, #1 */
            "    bne 3b\n"
            "    vmov s4, r0\n"                     /* row_x, x */
            "    vmov s5, r1\n"                     /* row_y, y */
            "    vmov r8, s6\n"                     /* left, rows_left */
            "    subs r8, r8, #1\n"                 /* left, left, #1 */
            "    vmov s6, r8\n"                     /* rows_left, left */
            "    bne 1b\n"
            "    b 6f\n"
            /* Quotients that are near to the middle of two elements. */
            "5:\n"
            "    vdiv.f32 s7, s7, s8\n"             /* term0, term0, sum */
            "    vdiv.f32 s4, s4, s8\n"             /* term1, term1, sum */
            "    vdiv.f32 s5, s5, s8\n"             /* term2, term2, sum */
            "    vdiv.f32 s10, s10, s8\n"           /* term3, term3, sum */
            "    vdiv.f32 s7, s7, s1\n"             /* term0, term0, scales.high */
            "    vdiv.f32 s4, s4, s1\n"             /* term1, term1, scales.high */
            "    vdiv.f32 s5, s5, s1\n"             /* term2, term2, scales.high */
            "    vdiv.f32 s10, s10, s1\n"           /* term3, term3, scales.high */
            "    vcvtr.s32.f32 s7, s7\n"            /* term0, term0 */
            "    vcvtr.s32.f32 s4, s4\n"            /* term1, term1 */
            "    vcvtr.s32.f32 s5, s5\n"            /* term2, term2 */
            "    vcvtr.s32.f32 s10, s10\n"          /* term3, term3 */
            "    vmov r4, s7\n"                     /* lane0, term0 */
            "    vmov r5, s4\n"                     /* lane1, term1 */
            "    vmov r6, s5\n"                     /* lane2, term2 */
            "    vmov r7, s10\n"                    /* lane3, term3 */
            "    add r4, r3, r4, lsl #16\n"         /* lane0, added, lane0, lsl #16 */
            "    add r5, r3, r5, lsl #16\n"         /* lane1, added, lane1, lsl #16 */
            "    add r6, r3, r6, lsl #16\n"         /* lane2, added, lane2, lsl #16 */
            "    add r7, r3, r7, lsl #16\n"         /* lane3, added, lane3, lsl #16 */
            "    b 4b\n"
            "6:\n"
            "    pop {r4-r8, pc}\n");
    /* clang-format on */
}

/* ---- The layers, in the order of execution ---- */

/* clang-format off */
static void _mcu_dsp_softmax_layers(mcu_instance_t *instance) {
    uint8_t *const ws = instance->workspace;

    /* softmax_1: Softmax, softmax0 (3 nodes): int8[40,4] -> int8[40,4] */
    int8_t *const int8 = (int8_t *)(ws + 0);
    int8_t *const softmax_1 = (int8_t *)(ws + 0);
    MCU_LAYER(0, _mcu_dsp_softmax_softmax_4_int8_dsp(int8, softmax_1,
                                                     _mcu_dsp_softmax_softmax_1_exponential, 40U));
}

/* clang-format on */

