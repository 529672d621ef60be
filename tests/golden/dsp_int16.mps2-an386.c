/* ---- Kernels ---- */

/* Those in assembly are one string each, some longer than C99 wants compilers to take. */
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Woverlength-strings"
#endif

/* y[r][f] = min(max(round(sum * factor[f]), -32768), 32767), with sum = bias[f] + sum of w[f][t]
 * x[r][t], of 1 row r of 64 int16, filters f and taps t.
 * weights: of each 4 filters the biases; of each two taps, for each two filters f and g, bytes
 * w[f][t], w[g][t], w[f][t + 1], w[g][t + 1]; the factors, float32. */
MCU_KERNEL void _mcu_dsp_int16_int16_rows1_64x12_dsp(const int16_t *x MCU_UNUSED,
                                                     int16_t *y MCU_UNUSED,
                                                     const uint32_t *weights MCU_UNUSED) {
    /* clang-format off */
    __asm__(".syntax unified\n"
            "    push {r4-r10, lr}\n"
            "    vmov s8, r1\n"                     /* out, y */
            "    vmov s9, r0\n"                     /* first_taps, x */
            "    mov r7, r2\n"                      /* stream, weights */
            "    add r0, r7, #864\n"                /* at_end, stream, #864 */
            "    vmov s10, r0\n"                    /* stream_end, at_end */
            "1:\n"
            /* 4 filters, 1 row. */
            "    vmov r12, s9\n"                    /* taps, first_taps */
            "    ldmia r7!, {r0, r2, r3, lr}\n"     /* stream!, {f_row0, g_row0, h_row0, i_row0} */
            "    add r1, r12, #128\n"               /* taps_end, taps, #128 */
            "    vmov s0, r1\n"                     /* end_of_taps, taps_end */
            "2:\n"
            "    ldmia r7!, {r1, r4, r5, r8}\n"     /* stream!, {w0, w1, w2, w3} */
            "    ldmia r12!, {r6, r9}\n"            /* taps!, {x0, x1} */
            "    sxtb16 r10, r1\n"                  /* widened, w0 */
            "    smlad r0, r10, r6, r0\n"           /* f_row0, widened, x0, f_row0 */
            "    sxtb16 r1, r1, ror #8\n"           /* w0, w0, ror #8 */
            "    smlad r2, r1, r6, r2\n"            /* g_row0, w0, x0, g_row0 */
            "    sxtb16 r10, r4\n"                  /* widened, w1 */
            "    smlad r3, r10, r6, r3\n"           /* h_row0, widened, x0, h_row0 */
            "    sxtb16 r4, r4, ror #8\n"           /* w1, w1, ror #8 */
            "    smlad lr, r4, r6, lr\n"            /* i_row0, w1, x0, i_row0 */
            "    sxtb16 r10, r5\n"                  /* widened, w2 */
            "    smlad r0, r10, r9, r0\n"           /* f_row0, widened, x1, f_row0 */
            "    sxtb16 r5, r5, ror #8\n"           /* w2, w2, ror #8 */
            "    smlad r2, r5, r9, r2\n"            /* g_row0, w2, x1, g_row0 */
            "    sxtb16 r10, r8\n"                  /* widened, w3 */
            "    smlad r3, r10, r9, r3\n"           /* h_row0, widened, x1, h_row0 */
            "    sxtb16 r8, r8, ror #8\n"           /* w3, w3, ror #8 */
            "    smlad lr, r8, r9, lr\n"            /* i_row0, w3, x1, i_row0 */
            "    ldmia r7!, {r1, r4, r5, r8}\n"     /* stream!, {w0, w1, w2, w3} */
            "    ldmia r12!, {r6, r9}\n"            /* taps!, {x0, x1} */
            "    sxtb16 r10, r1\n"                  /* widened, w0 */
            "    smlad r0, r10, r6, r0\n"           /* f_row0, widened, x0, f_row0 */
            "    sxtb16 r1, r1, ror #8\n"           /* w0, w0, ror #8 */
            "    smlad r2, r1, r6, r2\n"            /* g_row0, w0, x0, g_row0 */
            "    sxtb16 r10, r4\n"                  /* widened, w1 */
            "    smlad r3, r10, r6, r3\n"           /* h_row0, widened, x0, h_row0 */
            "    sxtb16 r4, r4, ror #8\n"           /* w1, w1, ror #8 */
            "    smlad lr, r4, r6, lr\n"            /* i_row0, w1, x0, i_row0 */
            "    sxtb16 r10, r5\n"                  /* widened, w2 */
            "    smlad r0, r10, r9, r0\n"           /* f_row0, widened, x1, f_row0 */
            "    sxtb16 r5, r5, ror #8\n"           /* w2, w2, ror #8 */
            "    smlad r2, r5, r9, r2\n"            /* g_row0, w2, x1, g_row0 */
            "    sxtb16 r10, r8\n"                  /* widened, w3 */
            "    smlad r3, r10, r9, r3\n"           /* h_row0, widened, x1, h_row0 */
            "    sxtb16 r8, r8, ror #8\n"           /* w3, w3, ror #8 */
            "    smlad lr, r8, r9, lr\n"            /* i_row0, w3, x1, i_row0 */
            "    ldmia r7!, {r1, r4, r5, r8}\n"     /* stream!, {w0, w1, w2, w3} */
            "    ldmia r12!, {r6, r9}\n"            /* taps!, {x0, x1} */
            "    sxtb16 r10, r1\n"                  /* widened, w0 */
            "    smlad r0, r10, r6, r0\n"           /* f_row0, widened, x0, f_row0 */
            "    sxtb16 r1, r1, ror #8\n"           /* w0, w0, ror #8 */
            "    smlad r2, r1, r6, r2\n"            /* g_row0, w0, x0, g_row0 */
            "    sxtb16 r10, r4\n"                  /* widened, w1 */
            "    smlad r3, r10, r6, r3\n"           /* h_row0, widened, x0, h_row0 */
            "    sxtb16 r4, r4, ror #8\n"           /* w1, w1, ror #8 */
            "    smlad lr, r4, r6, lr\n"            /* i_row0, w1, x0, i_row0 */
            "    sxtb16 r10, r5\n"                  /* widened, w2 */
            "    smlad r0, r10, r9, r0\n"           /* f_row0, widened, x1, f_row0 */
            "    sxtb16 r5, r5, ror #8\n"           /* w2, w2, ror #8 */
            "    smlad r2, r5, r9, r2\n"            /* g_row0, w2, x1, g_row0 */
            "    sxtb16 r10, r8\n"                  /* widened, w3 */
            "    smlad r3, r10, r9, r3\n"           /* h_row0, widened, x1, h_row0 */
            "    sxtb16 r8, r8, ror #8\n"           /* w3, w3, ror #8 */
            "    smlad lr, r8, r9, lr\n"            /* i_row0, w3, x1, i_row0 */
            "    ldmia r7!, {r1, r4, r5, r8}\n"     /* stream!, {w0, w1, w2, w3} */
            "    ldmia r12!, {r6, r9}\n"            /* taps!, {x0, x1} */
            "    sxtb16 r10, r1\n"                  /* widened, w0 */
            "    smlad r0, r10, r6, r0\n"           /* f_row0, widened, x0, f_row0 */
            "    sxtb16 r1, r1, ror #8\n"           /* w0, w0, ror #8 */
            "    smlad r2, r1, r6, r2\n"            /* g_row0, w0, x0, g_row0 */
            "    sxtb16 r10, r4\n"                  /* widened, w1 */
            "    smlad r3, r10, r6, r3\n"           /* h_row0, widened, x0, h_row0 */
            "    sxtb16 r4, r4, ror #8\n"           /* w1, w1, ror #8 */
            "    smlad lr, r4, r6, lr\n"            /* i_row0, w1, x0, i_row0 */
            "    sxtb16 r10, r5\n"                  /* widened, w2 */
            "    smlad r0, r10, r9, r0\n"           /* f_row0, widened, x1, f_row0 */
            "    sxtb16 r5, r5, ror #8\n"           /* w2, w2, ror #8 */
            "    smlad r2, r5, r9, r2\n"            /* g_row0, w2, x1, g_row0 */
            "    sxtb16 r10, r8\n"                  /* widened, w3 */
            "    smlad r3, r10, r9, r3\n"           /* h_row0, widened, x1, h_row0 */
            "    sxtb16 r8, r8, ror #8\n"           /* w3, w3, ror #8 */
            "    smlad lr, r8, r9, lr\n"            /* i_row0, w3, x1, i_row0 */
            "    ldmia r7!, {r1, r4, r5, r8}\n"     /* stream!, {w0, w1, w2, w3} */
            "    ldmia r12!, {r6, r9}\n"            /* taps!, {x0, x1} */
            "    sxtb16 r10, r1\n"                  /* widened, w0 */
            "    smlad r0, r10, r6, r0\n"           /* f_row0, widened, x0, f_row0 */
            "    sxtb16 r1, r1, ror #8\n"           /* w0, w0, ror #8 */
            "    smlad r2, r1, r6, r2\n"            /* g_row0, w0, x0, g_row0 */
            "    sxtb16 r10, r4\n"                  /* widened, w1 */
            "    smlad r3, r10, r6, r3\n"           /* h_row0, widened, x0, h_row0 */
            "    sxtb16 r4, r4, ror #8\n"           /* w1, w1, ror #8 */
            "    smlad lr, r4, r6, lr\n"            /* i_row0, w1, x0, i_row0 */
            "    sxtb16 r10, r5\n"                  /* widened, w2 */
            "    smlad r0, r10, r9, r0\n"           /* f_row0, widened, x1, f_row0 */
            "    sxtb16 r5, r5, ror #8\n"           /* w2, w2, ror #8 */
            "    smlad r2, r5, r9, r2\n"            /* g_row0, w2, x1, g_row0 */
            "    sxtb16 r10, r8\n"                  /* widened, w3 */
            "    smlad r3, r10, r9, r3\n"           /* h_row0, widened, x1, h_row0 */
            "    sxtb16 r8, r8, ror #8\n"           /* w3, w3, ror #8 */
            "    smlad lr, r8, r9, lr\n"            /* i_row0, w3, x1, i_row0 */
            "    ldmia r7!, {r1, r4, r5, r8}\n"     /* stream!, {w0, w1, w2, w3} */
            "    ldmia r12!, {r6, r9}\n"            /* taps!, {x0, x1} */
            "    sxtb16 r10, r1\n"                  /* widened, w0 */
            "    smlad r0, r10, r6, r0\n"           /* f_row0, widened, x0, f_row0 */
            "    sxtb16 r1, r1, ror #8\n"           /* w0, w0, ror #8 */
            "    smlad r2, r1, r6, r2\n"            /* g_row0, w0, x0, g_row0 */
            "    sxtb16 r10, r4\n"                  /* widened, w1 */
            "    smlad r3, r10, r6, r3\n"           /* h_row0, widened, x0, h_row0 */
            "    sxtb16 r4, r4, ror #8\n"           /* w1, w1, ror #8 */
            "    smlad lr, r4, r6, lr\n"            /* i_row0, w1, x0, i_row0 */
            "    sxtb16 r10, r5\n"                  /* widened, w2 */
            "    smlad r0, r10, r9, r0\n"           /* f_row0, widened, x1, f_row0 */
            "    sxtb16 r5, r5, ror #8\n"           /* w2, w2, ror #8 */
            "    smlad r2, r5, r9, r2\n"            /* g_row0, w2, x1, g_row0 */
            "    sxtb16 r10, r8\n"                  /* widened, w3 */
            "    smlad r3, r10, r9, r3\n"           /* h_row0, widened, x1, h_row0 */
            "    sxtb16 r8, r8, ror #8\n"           /* w3, w3, ror #8 */
            "    smlad lr, r8, r9, lr\n"            /* i_row0, w3, x1, i_row0 */
            "    ldmia r7!, {r1, r4, r5, r8}\n"     /* stream!, {w0, w1, w2, w3} */
            "    ldmia r12!, {r6, r9}\n"            /* taps!, {x0, x1} */
            "    sxtb16 r10, r1\n"                  /* widened, w0 */
            "    smlad r0, r10, r6, r0\n"           /* f_row0, widened, x0, f_row0 */
            "    sxtb16 r1, r1, ror #8\n"           /* w0, w0, ror #8 */
            "    smlad r2, r1, r6, r2\n"            /* g_row0, w0, x0, g_row0 */
            "    sxtb16 r10, r4\n"                  /* widened, w1 */
            "    smlad r3, r10, r6, r3\n"           /* h_row0, widened, x0, h_row0 */
            "    sxtb16 r4, r4, ror #8\n"           /* w1, w1, ror #8 */
            "    smlad lr, r4, r6, lr\n"            /* i_row0, w1, x0, i_row0 */
            "    sxtb16 r10, r5\n"                  /* widened, w2 */
            "    smlad r0, r10, r9, r0\n"           /* f_row0, widened, x1, f_row0 */
            "    sxtb16 r5, r5, ror #8\n"           /* w2, w2, ror #8 */
            "    smlad r2, r5, r9, r2\n"            /* g_row0, w2, x1, g_row0 */
            "    sxtb16 r10, r8\n"                  /* widened, w3 */
            "    smlad r3, r10, r9, r3\n"           /* h_row0, widened, x1, h_row0 */
            "    sxtb16 r8, r8, ror #8\n"           /* w3, w3, ror #8 */
            "    smlad lr, r8, r9, lr\n"            /* i_row0, w3, x1, i_row0 */
            "    ldmia r7!, {r1, r4, r5, r8}\n"     /* stream!, {w0, w1, w2, w3} */
            "    ldmia r12!, {r6, r9}\n"            /* taps!, {x0, x1} */
            "    sxtb16 r10, r1\n"                  /* widened, w0 */
            "    smlad r0, r10, r6, r0\n"           /* f_row0, widened, x0, f_row0 */
            "    sxtb16 r1, r1, ror #8\n"           /* w0, w0, ror #8 */
            "    smlad r2, r1, r6, r2\n"            /* g_row0, w0, x0, g_row0 */
            "    sxtb16 r10, r4\n"                  /* widened, w1 */
            "    smlad r3, r10, r6, r3\n"           /* h_row0, widened, x0, h_row0 */
            "    sxtb16 r4, r4, ror #8\n"           /* w1, w1, ror #8 */
            "    smlad lr, r4, r6, lr\n"            /* i_row0, w1, x0, i_row0 */
            "    sxtb16 r10, r5\n"                  /* widened, w2 */
            "    smlad r0, r10, r9, r0\n"           /* f_row0, widened, x1, f_row0 */
            "    sxtb16 r5, r5, ror #8\n"           /* w2, w2, ror #8 */
            "    smlad r2, r5, r9, r2\n"            /* g_row0, w2, x1, g_row0 */
            "    sxtb16 r10, r8\n"                  /* widened, w3 */
            "    smlad r3, r10, r9, r3\n"           /* h_row0, widened, x1, h_row0 */
            "    sxtb16 r8, r8, ror #8\n"           /* w3, w3, ror #8 */
            "    smlad lr, r8, r9, lr\n"            /* i_row0, w3, x1, i_row0 */
            "    vmov r1, s0\n"                     /* taps_end, end_of_taps */
            "    cmp r12, r1\n"                     /* taps, taps_end */
            "    bne 2b\n"
            /* stream!, {factor0, factor1, factor2, factor3} */
            "    ldmia r7!, {r1, r4-r6}\n"
            "    vmov d0, r0, r2\n"                 /* pair0, f_row0, g_row0 */
            "    vmov d1, r3, lr\n"                 /* pair1, h_row0, i_row0 */
            "    vmov d2, r1, r4\n"                 /* pair2, factor0, factor1 */
            "    vmov d3, r5, r6\n"                 /* pair3, factor2, factor3 */
            "    vcvt.f32.s32 s0, s0\n"             /* pair0.low, pair0.low */
            "    vcvt.f32.s32 s1, s1\n"             /* pair0.high, pair0.high */
            "    vcvt.f32.s32 s2, s2\n"             /* pair1.low, pair1.low */
            "    vcvt.f32.s32 s3, s3\n"             /* pair1.high, pair1.high */
            "    vmul.f32 s0, s0, s4\n"             /* pair0.low, pair0.low, pair2.low */
            "    vmul.f32 s1, s1, s5\n"             /* pair0.high, pair0.high, pair2.high */
            "    vmul.f32 s2, s2, s6\n"             /* pair1.low, pair1.low, pair3.low */
            "    vmul.f32 s3, s3, s7\n"             /* pair1.high, pair1.high, pair3.high */
            "    vcvtr.s32.f32 s0, s0\n"            /* pair0.low, pair0.low */
            "    vcvtr.s32.f32 s1, s1\n"            /* pair0.high, pair0.high */
            "    vcvtr.s32.f32 s2, s2\n"            /* pair1.low, pair1.low */
            "    vcvtr.s32.f32 s3, s3\n"            /* pair1.high, pair1.high */
            "    vmov r0, r2, d0\n"                 /* f_row0, g_row0, pair0 */
            "    vmov r3, lr, d1\n"                 /* h_row0, i_row0, pair1 */
            "    ssat r0, #16, r0\n"                /* f_row0, #16, f_row0 */
            "    ssat r2, #16, r2\n"                /* g_row0, #16, g_row0 */
            "    ssat r3, #16, r3\n"                /* h_row0, #16, h_row0 */
            "    ssat lr, #16, lr\n"                /* i_row0, #16, i_row0 */
            "    vmov r1, s8\n"                     /* y_at, out */
            "    pkhbt r0, r0, r2, lsl #16\n"       /* f_row0, f_row0, g_row0, lsl #16 */
            "    str r0, [r1]\n"                    /* f_row0, [y_at] */
            "    pkhbt r3, r3, lr, lsl #16\n"       /* h_row0, h_row0, i_row0, lsl #16 */
            "    str r3, [r1, #4]\n"                /* h_row0, [y_at, #4] */
            "    add r1, r1, #8\n"                  /* y_at, y_at, #8 */
            "    vmov s8, r1\n"                     /* out, y_at */
            "    vmov r0, s10\n"                    /* at_end, stream_end */
            "    cmp r7, r0\n"                      /* stream, at_end */
            "    bne 1b\n"
            "    pop {r4-r10, pc}\n");
    /* clang-format on */
}

MCU_FUNCTION void _mcu_dsp_int16_int16_conv1x1_64x12_dsp(const int16_t *x, int16_t *y,
                                                         const uint32_t *weights) {
    _mcu_dsp_int16_int16_rows1_64x12_dsp(x, y, weights);
}

MCU_FUNCTION void _mcu_dsp_int16_reorder_72x3_int16(const int16_t *x, int16_t *y) {
    for (int32_t i0 = 0; i0 < 72; i0++) {
        for (int32_t i1 = 0; i1 < 3; i1++) {
            *y++ = x[i0 + i1 * 72];
        }
    }
}

/* y[r][f] = min(max(round(sum * factor[f]), 0), 32767), with sum = bias[f] + sum of w[f][t]
 * x[r][t], of 3 rows r of 28 int16, filters f and taps t.
 * weights: of each 2 filters the biases; of each two taps, for each two filters f and g, bytes
 * w[f][t], w[g][t], w[f][t + 1], w[g][t + 1]; the factors, float32.
 * scratch: the taps, two a word, of all rows in turn. */
MCU_KERNEL void _mcu_dsp_int16_int16_rows3_28x6_dsp(const int16_t *x MCU_UNUSED,
                                                    int16_t *y MCU_UNUSED,
                                                    const uint32_t *weights MCU_UNUSED,
                                                    uint8_t *scratch MCU_UNUSED) {
    /* clang-format off */
    __asm__(".syntax unified\n"
            "    push {r4-r11, lr}\n"
            "    vmov s4, r1\n"                     /* out, y */
            "    vmov s5, r3\n"                     /* first_taps, scratch */
            "    add r12, r0, #56\n"                /* source1, x, #56 */
            "    add lr, r12, #56\n"                /* source2, source1, #56 */
            "    mov r8, r12\n"                     /* source_end, source1 */
            "1:\n"
            "    ldr r1, [r0], #4\n"                /* a0, [x], #4 */
            "    ldr r4, [r12], #4\n"               /* a1, [source1], #4 */
            "    ldr r5, [lr], #4\n"                /* a2, [source2], #4 */
            "    ldr r6, [r0], #4\n"                /* b0, [x], #4 */
            "    ldr r7, [r12], #4\n"               /* b1, [source1], #4 */
            "    ldr r9, [lr], #4\n"                /* b2, [source2], #4 */
            "    stmia r3!, {r1, r4-r7, r9}\n"      /* scratch!, {a0, a1, a2, b0, b1, b2} */
            "    cmp r0, r8\n"                      /* x, source_end */
            "    bne 1b\n"
            "    mov r4, r2\n"                      /* stream, weights */
            "    add r0, r4, #216\n"                /* at_end, stream, #216 */
            "    vmov s6, r0\n"                     /* stream_end, at_end */
            "2:\n"
            /* 2 filters, 3 rows. */
            "    vmov r12, s5\n"                    /* taps, first_taps */
            "    ldmia r4!, {r1, r5}\n"             /* stream!, {f_row0, g_row0} */
            "    mov r6, r1\n"                      /* f_row1, f_row0 */
            "    mov r7, r1\n"                      /* f_row2, f_row0 */
            "    mov lr, r5\n"                      /* g_row1, g_row0 */
            "    mov r8, r5\n"                      /* g_row2, g_row0 */
            "    ldmia r4!, {r2, r9}\n"             /* stream!, {w0, w1} */
            "    ldmia r12!, {r0, r3, r10}\n"       /* taps!, {x0, x1, x2} */
            "    sxtb16 r11, r2\n"                  /* widened, w0 */
            "    smlad r1, r11, r0, r1\n"           /* f_row0, widened, x0, f_row0 */
            "    smlad r6, r11, r3, r6\n"           /* f_row1, widened, x1, f_row1 */
            "    smlad r7, r11, r10, r7\n"          /* f_row2, widened, x2, f_row2 */
            "    sxtb16 r2, r2, ror #8\n"           /* w0, w0, ror #8 */
            "    smlad r5, r2, r0, r5\n"            /* g_row0, w0, x0, g_row0 */
            "    smlad lr, r2, r3, lr\n"            /* g_row1, w0, x1, g_row1 */
            "    smlad r8, r2, r10, r8\n"           /* g_row2, w0, x2, g_row2 */
            "    ldmia r12!, {r0, r3, r10}\n"       /* taps!, {x0, x1, x2} */
            "    sxtb16 r11, r9\n"                  /* widened, w1 */
            "    smlad r1, r11, r0, r1\n"           /* f_row0, widened, x0, f_row0 */
            "    smlad r6, r11, r3, r6\n"           /* f_row1, widened, x1, f_row1 */
            "    smlad r7, r11, r10, r7\n"          /* f_row2, widened, x2, f_row2 */
            "    sxtb16 r9, r9, ror #8\n"           /* w1, w1, ror #8 */
            "    smlad r5, r9, r0, r5\n"            /* g_row0, w1, x0, g_row0 */
            "    smlad lr, r9, r3, lr\n"            /* g_row1, w1, x1, g_row1 */
            "    smlad r8, r9, r10, r8\n"           /* g_row2, w1, x2, g_row2 */
            "    ldmia r4!, {r2, r9}\n"             /* stream!, {w0, w1} */
            "    ldmia r12!, {r0, r3, r10}\n"       /* taps!, {x0, x1, x2} */
            "    sxtb16 r11, r2\n"                  /* widened, w0 */
            "    smlad r1, r11, r0, r1\n"           /* f_row0, widened, x0, f_row0 */
            "    smlad r6, r11, r3, r6\n"           /* f_row1, widened, x1, f_row1 */
            "    smlad r7, r11, r10, r7\n"          /* f_row2, widened, x2, f_row2 */
            "    sxtb16 r2, r2, ror #8\n"           /* w0, w0, ror #8 */
            "    smlad r5, r2, r0, r5\n"            /* g_row0, w0, x0, g_row0 */
            "    smlad lr, r2, r3, lr\n"            /* g_row1, w0, x1, g_row1 */
            "    smlad r8, r2, r10, r8\n"           /* g_row2, w0, x2, g_row2 */
            "    ldmia r12!, {r0, r3, r10}\n"       /* taps!, {x0, x1, x2} */
            "    sxtb16 r11, r9\n"                  /* widened, w1 */
            "    smlad r1, r11, r0, r1\n"           /* f_row0, widened, x0, f_row0 */
            "    smlad r6, r11, r3, r6\n"           /* f_row1, widened, x1, f_row1 */
            "    smlad r7, r11, r10, r7\n"          /* f_row2, widened, x2, f_row2 */
            "    sxtb16 r9, r9, ror #8\n"           /* w1, w1, ror #8 */
            "    smlad r5, r9, r0, r5\n"            /* g_row0, w1, x0, g_row0 */
            "    smlad lr, r9, r3, lr\n"            /* g_row1, w1, x1, g_row1 */
            "    smlad r8, r9, r10, r8\n"           /* g_row2, w1, x2, g_row2 */
            "    ldmia r4!, {r2, r9}\n"             /* stream!, {w0, w1} */
            "    ldmia r12!, {r0, r3, r10}\n"       /* taps!, {x0, x1, x2} */
            "    sxtb16 r11, r2\n"                  /* widened, w0 */
            "    smlad r1, r11, r0, r1\n"           /* f_row0, widened, x0, f_row0 */
            "    smlad r6, r11, r3, r6\n"           /* f_row1, widened, x1, f_row1 */
            "    smlad r7, r11, r10, r7\n"          /* f_row2, widened, x2, f_row2 */
            "    sxtb16 r2, r2, ror #8\n"           /* w0, w0, ror #8 */
            "    smlad r5, r2, r0, r5\n"            /* g_row0, w0, x0, g_row0 */
            "    smlad lr, r2, r3, lr\n"            /* g_row1, w0, x1, g_row1 */
            "    smlad r8, r2, r10, r8\n"           /* g_row2, w0, x2, g_row2 */
            "    ldmia r12!, {r0, r3, r10}\n"       /* taps!, {x0, x1, x2} */
            "    sxtb16 r11, r9\n"                  /* widened, w1 */
            "    smlad r1, r11, r0, r1\n"           /* f_row0, widened, x0, f_row0 */
            "    smlad r6, r11, r3, r6\n"           /* f_row1, widened, x1, f_row1 */
            "    smlad r7, r11, r10, r7\n"          /* f_row2, widened, x2, f_row2 */
            "    sxtb16 r9, r9, ror #8\n"           /* w1, w1, ror #8 */
            "    smlad r5, r9, r0, r5\n"            /* g_row0, w1, x0, g_row0 */
            "    smlad lr, r9, r3, lr\n"            /* g_row1, w1, x1, g_row1 */
            "    smlad r8, r9, r10, r8\n"           /* g_row2, w1, x2, g_row2 */
            "    ldmia r4!, {r2, r9}\n"             /* stream!, {w0, w1} */
            "    ldmia r12!, {r0, r3, r10}\n"       /* taps!, {x0, x1, x2} */
            "    sxtb16 r11, r2\n"                  /* widened, w0 */
            "    smlad r1, r11, r0, r1\n"           /* f_row0, widened, x0, f_row0 */
            "    smlad r6, r11, r3, r6\n"           /* f_row1, widened, x1, f_row1 */
            "    smlad r7, r11, r10, r7\n"          /* f_row2, widened, x2, f_row2 */
            "    sxtb16 r2, r2, ror #8\n"           /* w0, w0, ror #8 */
            "    smlad r5, r2, r0, r5\n"            /* g_row0, w0, x0, g_row0 */
            "    smlad lr, r2, r3, lr\n"            /* g_row1, w0, x1, g_row1 */
            "    smlad r8, r2, r10, r8\n"           /* g_row2, w0, x2, g_row2 */
            "    ldmia r12!, {r0, r3, r10}\n"       /* taps!, {x0, x1, x2} */
            "    sxtb16 r11, r9\n"                  /* widened, w1 */
            "    smlad r1, r11, r0, r1\n"           /* f_row0, widened, x0, f_row0 */
            "    smlad r6, r11, r3, r6\n"           /* f_row1, widened, x1, f_row1 */
            "    smlad r7, r11, r10, r7\n"          /* f_row2, widened, x2, f_row2 */
            "    sxtb16 r9, r9, ror #8\n"           /* w1, w1, ror #8 */
            "    smlad r5, r9, r0, r5\n"            /* g_row0, w1, x0, g_row0 */
            "    smlad lr, r9, r3, lr\n"            /* g_row1, w1, x1, g_row1 */
            "    smlad r8, r9, r10, r8\n"           /* g_row2, w1, x2, g_row2 */
            "    ldmia r4!, {r2, r9}\n"             /* stream!, {w0, w1} */
            "    ldmia r12!, {r0, r3, r10}\n"       /* taps!, {x0, x1, x2} */
            "    sxtb16 r11, r2\n"                  /* widened, w0 */
            "    smlad r1, r11, r0, r1\n"           /* f_row0, widened, x0, f_row0 */
            "    smlad r6, r11, r3, r6\n"           /* f_row1, widened, x1, f_row1 */
            "    smlad r7, r11, r10, r7\n"          /* f_row2, widened, x2, f_row2 */
            "    sxtb16 r2, r2, ror #8\n"           /* w0, w0, ror #8 */
            "    smlad r5, r2, r0, r5\n"            /* g_row0, w0, x0, g_row0 */
            "    smlad lr, r2, r3, lr\n"            /* g_row1, w0, x1, g_row1 */
            "    smlad r8, r2, r10, r8\n"           /* g_row2, w0, x2, g_row2 */
            "    ldmia r12!, {r0, r3, r10}\n"       /* taps!, {x0, x1, x2} */
            "    sxtb16 r11, r9\n"                  /* widened, w1 */
            "    smlad r1, r11, r0, r1\n"           /* f_row0, widened, x0, f_row0 */
            "    smlad r6, r11, r3, r6\n"           /* f_row1, widened, x1, f_row1 */
            "    smlad r7, r11, r10, r7\n"          /* f_row2, widened, x2, f_row2 */
            "    sxtb16 r9, r9, ror #8\n"           /* w1, w1, ror #8 */
            "    smlad r5, r9, r0, r5\n"            /* g_row0, w1, x0, g_row0 */
            "    smlad lr, r9, r3, lr\n"            /* g_row1, w1, x1, g_row1 */
            "    smlad r8, r9, r10, r8\n"           /* g_row2, w1, x2, g_row2 */
            "    ldmia r4!, {r2, r9}\n"             /* stream!, {w0, w1} */
            "    ldmia r12!, {r0, r3, r10}\n"       /* taps!, {x0, x1, x2} */
            "    sxtb16 r11, r2\n"                  /* widened, w0 */
            "    smlad r1, r11, r0, r1\n"           /* f_row0, widened, x0, f_row0 */
            "    smlad r6, r11, r3, r6\n"           /* f_row1, widened, x1, f_row1 */
            "    smlad r7, r11, r10, r7\n"          /* f_row2, widened, x2, f_row2 */
            "    sxtb16 r2, r2, ror #8\n"           /* w0, w0, ror #8 */
            "    smlad r5, r2, r0, r5\n"            /* g_row0, w0, x0, g_row0 */
            "    smlad lr, r2, r3, lr\n"            /* g_row1, w0, x1, g_row1 */
            "    smlad r8, r2, r10, r8\n"           /* g_row2, w0, x2, g_row2 */
            "    ldmia r12!, {r0, r3, r10}\n"       /* taps!, {x0, x1, x2} */
            "    sxtb16 r11, r9\n"                  /* widened, w1 */
            "    smlad r1, r11, r0, r1\n"           /* f_row0, widened, x0, f_row0 */
            "    smlad r6, r11, r3, r6\n"           /* f_row1, widened, x1, f_row1 */
            "    smlad r7, r11, r10, r7\n"          /* f_row2, widened, x2, f_row2 */
            "    sxtb16 r9, r9, ror #8\n"           /* w1, w1, ror #8 */
            "    smlad r5, r9, r0, r5\n"            /* g_row0, w1, x0, g_row0 */
            "    smlad lr, r9, r3, lr\n"            /* g_row1, w1, x1, g_row1 */
            "    smlad r8, r9, r10, r8\n"           /* g_row2, w1, x2, g_row2 */
            "    ldmia r4!, {r2, r9}\n"             /* stream!, {w0, w1} */
            "    ldmia r12!, {r0, r3, r10}\n"       /* taps!, {x0, x1, x2} */
            "    sxtb16 r11, r2\n"                  /* widened, w0 */
            "    smlad r1, r11, r0, r1\n"           /* f_row0, widened, x0, f_row0 */
            "    smlad r6, r11, r3, r6\n"           /* f_row1, widened, x1, f_row1 */
            "    smlad r7, r11, r10, r7\n"          /* f_row2, widened, x2, f_row2 */
            "    sxtb16 r2, r2, ror #8\n"           /* w0, w0, ror #8 */
            "    smlad r5, r2, r0, r5\n"            /* g_row0, w0, x0, g_row0 */
            "    smlad lr, r2, r3, lr\n"            /* g_row1, w0, x1, g_row1 */
            "    smlad r8, r2, r10, r8\n"           /* g_row2, w0, x2, g_row2 */
            "    ldmia r12!, {r0, r3, r10}\n"       /* taps!, {x0, x1, x2} */
            "    sxtb16 r11, r9\n"                  /* widened, w1 */
            "    smlad r1, r11, r0, r1\n"           /* f_row0, widened, x0, f_row0 */
            "    smlad r6, r11, r3, r6\n"           /* f_row1, widened, x1, f_row1 */
            "    smlad r7, r11, r10, r7\n"          /* f_row2, widened, x2, f_row2 */
            "    sxtb16 r9, r9, ror #8\n"           /* w1, w1, ror #8 */
            "    smlad r5, r9, r0, r5\n"            /* g_row0, w1, x0, g_row0 */
            "    smlad lr, r9, r3, lr\n"            /* g_row1, w1, x1, g_row1 */
            "    smlad r8, r9, r10, r8\n"           /* g_row2, w1, x2, g_row2 */
            "    ldmia r4!, {r0, r2}\n"             /* stream!, {factor0, factor1} */
            "    vmov d0, r1, r6\n"                 /* pair, f_row0, f_row1 */
            "    vmov d1, r7, r0\n"                 /* last, f_row2, factor0 */
            "    vcvt.f32.s32 s0, s0\n"             /* pair.low, pair.low */
            "    vcvt.f32.s32 s1, s1\n"             /* pair.high, pair.high */
            "    vcvt.f32.s32 s2, s2\n"             /* last.low, last.low */
            "    vmul.f32 s0, s0, s3\n"             /* pair.low, pair.low, last.high */
            "    vmul.f32 s1, s1, s3\n"             /* pair.high, pair.high, last.high */
            "    vmul.f32 s2, s2, s3\n"             /* last.low, last.low, last.high */
            "    vcvtr.s32.f32 s0, s0\n"            /* pair.low, pair.low */
            "    vcvtr.s32.f32 s1, s1\n"            /* pair.high, pair.high */
            "    vcvtr.s32.f32 s2, s2\n"            /* last.low, last.low */
            "    vmov r1, r6, d0\n"                 /* f_row0, f_row1, pair */
            "    vmov r7, s2\n"                     /* f_row2, last.low */
            "    vmov d0, r5, lr\n"                 /* pair, g_row0, g_row1 */
            "    vmov d1, r8, r2\n"                 /* last, g_row2, factor1 */
            "    vcvt.f32.s32 s0, s0\n"             /* pair.low, pair.low */
            "    vcvt.f32.s32 s1, s1\n"             /* pair.high, pair.high */
            "    vcvt.f32.s32 s2, s2\n"             /* last.low, last.low */
            "    vmul.f32 s0, s0, s3\n"             /* pair.low, pair.low, last.high */
            "    vmul.f32 s1, s1, s3\n"             /* pair.high, pair.high, last.high */
            "    vmul.f32 s2, s2, s3\n"             /* last.low, last.low, last.high */
            "    vcvtr.s32.f32 s0, s0\n"            /* pair.low, pair.low */
            "    vcvtr.s32.f32 s1, s1\n"            /* pair.high, pair.high */
            "    vcvtr.s32.f32 s2, s2\n"            /* last.low, last.low */
            "    vmov r5, lr, d0\n"                 /* g_row0, g_row1, pair */
            "    vmov r8, s2\n"                     /* g_row2, last.low */
            "    usat r1, #15, r1\n"                /* f_row0, #15, f_row0 */
            "    usat r6, #15, r6\n"                /* f_row1, #15, f_row1 */
            "    usat r7, #15, r7\n"                /* f_row2, #15, f_row2 */
            "    usat r5, #15, r5\n"                /* g_row0, #15, g_row0 */
            "    usat lr, #15, lr\n"                /* g_row1, #15, g_row1 */
            "    usat r8, #15, r8\n"                /* g_row2, #15, g_row2 */
            "    vmov r0, s4\n"                     /* y_at, out */
            "    pkhbt r1, r1, r5, lsl #16\n"       /* f_row0, f_row0, g_row0, lsl #16 */
            "    str r1, [r0]\n"                    /* f_row0, [y_at] */
            "    pkhbt r6, r6, lr, lsl #16\n"       /* f_row1, f_row1, g_row1, lsl #16 */
            "    str r6, [r0, #12]\n"               /* f_row1, [y_at, #12] */
            "    pkhbt r7, r7, r8, lsl #16\n"       /* f_row2, f_row2, g_row2, lsl #16 */
            "    str r7, [r0, #24]\n"               /* f_row2, [y_at, #24] */
            "    add r0, r0, #4\n"                  /* y_at, y_at, #4 */
            "    vmov s4, r0\n"                     /* out, y_at */
            "    vmov r0, s6\n"                     /* at_end, stream_end */
            "    cmp r4, r0\n"                      /* stream, at_end */
            "    bne 2b\n"
            "    pop {r4-r11, pc}\n");
    /* clang-format on */
}

MCU_FUNCTION void _mcu_dsp_int16_int16_conv3x3_3x6_s2_dsp(const int16_t *x, int16_t *y,
                                                          const uint32_t *weights,
                                                          uint8_t *scratch) {
    int16_t *const gathered = (int16_t *)(void *)(scratch + 168);
    int16_t *const written = (int16_t *)(void *)(scratch + 336);
    /* Windows side by side, with zeros where there is no image. */
    int16_t *to = gathered;
    for (int32_t oy = 0; oy < 4; oy++) {
        for (int32_t ox = 0; ox < 4; ox++) {
            for (int32_t ky = 0; ky < 3; ky++) {
                const int32_t iy = oy * 2 + ky;
                memset(to, 0, 18);
                if (iy >= 0 && iy < 8) {
                    memcpy(to, x + (iy * 9 + ox * 2) * 3, 18);
                }
                to += 9;
            }
            to += 1;
            if (to == gathered + 84) {
                _mcu_dsp_int16_int16_rows3_28x6_dsp(gathered, y, weights, scratch);
                y += 18;
                to = gathered;
            }
        }
    }
    _mcu_dsp_int16_int16_rows3_28x6_dsp(gathered, written, weights, scratch);
    memcpy(y, written, 12);
}

MCU_FUNCTION void _mcu_dsp_int16_reorder_12x64_int16(const int16_t *x, int16_t *y) {
    for (int32_t i0 = 0; i0 < 12; i0++) {
        for (int32_t i1 = 0; i1 < 64; i1++) {
            *y++ = x[i0 + i1 * 12];
        }
    }
}

/* y[r][f] = min(max(round(sum * factor[f]), 0), 32767), with sum = bias[f] + sum of w[f][t]
 * x[r][t], of 3 rows r of 64 int16, filters f and taps t.
 * weights: of each 2 filters the biases; of each two taps, for each two filters f and g, bytes
 * w[f][t], w[g][t], w[f][t + 1], w[g][t + 1]; the factors, float32.
 * scratch: the taps, two a word, of all rows in turn. */
MCU_KERNEL void _mcu_dsp_int16_int16_rows3_64x6_dsp(const int16_t *x MCU_UNUSED,
                                                    int16_t *y MCU_UNUSED,
                                                    const uint32_t *weights MCU_UNUSED,
                                                    uint8_t *scratch MCU_UNUSED) {
    /* clang-format off */
    __asm__(".syntax unified\n"
            "    push {r4-r11, lr}\n"
            "    vmov s4, r1\n"                     /* out, y */
            "    vmov s5, r3\n"                     /* first_taps, scratch */
            "    add r12, r0, #128\n"               /* source1, x, #128 */
            "    add lr, r12, #128\n"               /* source2, source1, #128 */
            "    mov r8, r12\n"                     /* source_end, source1 */
            "1:\n"
            "    ldr r1, [r0], #4\n"                /* a0, [x], #4 */
            "    ldr r4, [r12], #4\n"               /* a1, [source1], #4 */
            "    ldr r5, [lr], #4\n"                /* a2, [source2], #4 */
            "    ldr r6, [r0], #4\n"                /* b0, [x], #4 */
            "    ldr r7, [r12], #4\n"               /* b1, [source1], #4 */
            "    ldr r9, [lr], #4\n"                /* b2, [source2], #4 */
            "    stmia r3!, {r1, r4-r7, r9}\n"      /* scratch!, {a0, a1, a2, b0, b1, b2} */
            "    cmp r0, r8\n"                      /* x, source_end */
            "    bne 1b\n"
            "    mov r4, r2\n"                      /* stream, weights */
            "    add r0, r4, #432\n"                /* at_end, stream, #432 */
            "    vmov s6, r0\n"                     /* stream_end, at_end */
            "2:\n"
            /* 2 filters, 3 rows. */
            "    vmov r5, s5\n"                     /* taps, first_taps */
            "    ldmia r4!, {r1, r6}\n"             /* stream!, {f_row0, g_row0} */
            "    mov r7, r1\n"                      /* f_row1, f_row0 */
            "    mov r12, r1\n"                     /* f_row2, f_row0 */
            "    mov lr, r6\n"                      /* g_row1, g_row0 */
            "    mov r8, r6\n"                      /* g_row2, g_row0 */
            "    add r0, r5, #384\n"                /* taps_end, taps, #384 */
            "    vmov s0, r0\n"                     /* end_of_taps, taps_end */
            "3:\n"
            "    ldmia r4!, {r2, r9}\n"             /* stream!, {w0, w1} */
            "    ldmia r5!, {r0, r3, r10}\n"        /* taps!, {x0, x1, x2} */
            "    sxtb16 r11, r2\n"                  /* widened, w0 */
            "    smlad r1, r11, r0, r1\n"           /* f_row0, widened, x0, f_row0 */
            "    smlad r7, r11, r3, r7\n"           /* f_row1, widened, x1, f_row1 */
            "    smlad r12, r11, r10, r12\n"        /* f_row2, widened, x2, f_row2 */
            "    sxtb16 r2, r2, ror #8\n"           /* w0, w0, ror #8 */
            "    smlad r6, r2, r0, r6\n"            /* g_row0, w0, x0, g_row0 */
            "    smlad lr, r2, r3, lr\n"            /* g_row1, w0, x1, g_row1 */
            "    smlad r8, r2, r10, r8\n"           /* g_row2, w0, x2, g_row2 */
            "    ldmia r5!, {r0, r3, r10}\n"        /* taps!, {x0, x1, x2} */
            "    sxtb16 r11, r9\n"                  /* widened, w1 */
            "    smlad r1, r11, r0, r1\n"           /* f_row0, widened, x0, f_row0 */
            "    smlad r7, r11, r3, r7\n"           /* f_row1, widened, x1, f_row1 */
            "    smlad r12, r11, r10, r12\n"        /* f_row2, widened, x2, f_row2 */
            "    sxtb16 r9, r9, ror #8\n"           /* w1, w1, ror #8 */
            "    smlad r6, r9, r0, r6\n"            /* g_row0, w1, x0, g_row0 */
            "    smlad lr, r9, r3, lr\n"            /* g_row1, w1, x1, g_row1 */
            "    smlad r8, r9, r10, r8\n"           /* g_row2, w1, x2, g_row2 */
            "    ldmia r4!, {r2, r9}\n"             /* stream!, {w0, w1} */
            "    ldmia r5!, {r0, r3, r10}\n"        /* taps!, {x0, x1, x2} */
            "    sxtb16 r11, r2\n"                  /* widened, w0 */
            "    smlad r1, r11, r0, r1\n"           /* f_row0, widened, x0, f_row0 */
            "    smlad r7, r11, r3, r7\n"           /* f_row1, widened, x1, f_row1 */
            "    smlad r12, r11, r10, r12\n"        /* f_row2, widened, x2, f_row2 */
            "    sxtb16 r2, r2, ror #8\n"           /* w0, w0, ror #8 */
            "    smlad r6, r2, r0, r6\n"            /* g_row0, w0, x0, g_row0 */
            "    smlad lr, r2, r3, lr\n"            /* g_row1, w0, x1, g_row1 */
            "    smlad r8, r2, r10, r8\n"           /* g_row2, w0, x2, g_row2 */
            "    ldmia r5!, {r0, r3, r10}\n"        /* taps!, {x0, x1, x2} */
            "    sxtb16 r11, r9\n"                  /* widened, w1 */
            "    smlad r1, r11, r0, r1\n"           /* f_row0, widened, x0, f_row0 */
            "    smlad r7, r11, r3, r7\n"           /* f_row1, widened, x1, f_row1 */
            "    smlad r12, r11, r10, r12\n"        /* f_row2, widened, x2, f_row2 */
            "    sxtb16 r9, r9, ror #8\n"           /* w1, w1, ror #8 */
            "    smlad r6, r9, r0, r6\n"            /* g_row0, w1, x0, g_row0 */
            "    smlad lr, r9, r3, lr\n"            /* g_row1, w1, x1, g_row1 */
            "    smlad r8, r9, r10, r8\n"           /* g_row2, w1, x2, g_row2 */
            "    ldmia r4!, {r2, r9}\n"             /* stream!, {w0, w1} */
            "    ldmia r5!, {r0, r3, r10}\n"        /* taps!, {x0, x1, x2} */
            "    sxtb16 r11, r2\n"                  /* widened, w0 */
            "    smlad r1, r11, r0, r1\n"           /* f_row0, widened, x0, f_row0 */
            "    smlad r7, r11, r3, r7\n"           /* f_row1, widened, x1, f_row1 */
            "    smlad r12, r11, r10, r12\n"        /* f_row2, widened, x2, f_row2 */
            "    sxtb16 r2, r2, ror #8\n"           /* w0, w0, ror #8 */
            "    smlad r6, r2, r0, r6\n"            /* g_row0, w0, x0, g_row0 */
            "    smlad lr, r2, r3, lr\n"            /* g_row1, w0, x1, g_row1 */
            "    smlad r8, r2, r10, r8\n"           /* g_row2, w0, x2, g_row2 */
            "    ldmia r5!, {r0, r3, r10}\n"        /* taps!, {x0, x1, x2} */
            "    sxtb16 r11, r9\n"                  /* widened, w1 */
            "    smlad r1, r11, r0, r1\n"           /* f_row0, widened, x0, f_row0 */
            "    smlad r7, r11, r3, r7\n"           /* f_row1, widened, x1, f_row1 */
            "    smlad r12, r11, r10, r12\n"        /* f_row2, widened, x2, f_row2 */
            "    sxtb16 r9, r9, ror #8\n"           /* w1, w1, ror #8 */
            "    smlad r6, r9, r0, r6\n"            /* g_row0, w1, x0, g_row0 */
            "    smlad lr, r9, r3, lr\n"            /* g_row1, w1, x1, g_row1 */
            "    smlad r8, r9, r10, r8\n"           /* g_row2, w1, x2, g_row2 */
            "    ldmia r4!, {r2, r9}\n"             /* stream!, {w0, w1} */
            "    ldmia r5!, {r0, r3, r10}\n"        /* taps!, {x0, x1, x2} */
            "    sxtb16 r11, r2\n"                  /* widened, w0 */
            "    smlad r1, r11, r0, r1\n"           /* f_row0, widened, x0, f_row0 */
            "    smlad r7, r11, r3, r7\n"           /* f_row1, widened, x1, f_row1 */
            "    smlad r12, r11, r10, r12\n"        /* f_row2, widened, x2, f_row2 */
            "    sxtb16 r2, r2, ror #8\n"           /* w0, w0, ror #8 */
            "    smlad r6, r2, r0, r6\n"            /* g_row0, w0, x0, g_row0 */
            "    smlad lr, r2, r3, lr\n"            /* g_row1, w0, x1, g_row1 */
            "    smlad r8, r2, r10, r8\n"           /* g_row2, w0, x2, g_row2 */
            "    ldmia r5!, {r0, r3, r10}\n"        /* taps!, {x0, x1, x2} */
            "    sxtb16 r11, r9\n"                  /* widened, w1 */
            "    smlad r1, r11, r0, r1\n"           /* f_row0, widened, x0, f_row0 */
            "    smlad r7, r11, r3, r7\n"           /* f_row1, widened, x1, f_row1 */
            "    smlad r12, r11, r10, r12\n"        /* f_row2, widened, x2, f_row2 */
            "    sxtb16 r9, r9, ror #8\n"           /* w1, w1, ror #8 */
            "    smlad r6, r9, r0, r6\n"            /* g_row0, w1, x0, g_row0 */
            "    smlad lr, r9, r3, lr\n"            /* g_row1, w1, x1, g_row1 */
            "    smlad r8, r9, r10, r8\n"           /* g_row2, w1, x2, g_row2 */
            "    ldmia r4!, {r2, r9}\n"             /* stream!, {w0, w1} */
            "    ldmia r5!, {r0, r3, r10}\n"        /* taps!, {x0, x1, x2} */
            "    sxtb16 r11, r2\n"                  /* widened, w0 */
            "    smlad r1, r11, r0, r1\n"           /* f_row0, widened, x0, f_row0 */
            "    smlad r7, r11, r3, r7\n"           /* f_row1, widened, x1, f_row1 */
            "    smlad r12, r11, r10, r12\n"        /* f_row2, widened, x2, f_row2 */
            "    sxtb16 r2, r2, ror #8\n"           /* w0, w0, ror #8 */
            "    smlad r6, r2, r0, r6\n"            /* g_row0, w0, x0, g_row0 */
            "    smlad lr, r2, r3, lr\n"            /* g_row1, w0, x1, g_row1 */
            "    smlad r8, r2, r10, r8\n"           /* g_row2, w0, x2, g_row2 */
            "    ldmia r5!, {r0, r3, r10}\n"        /* taps!, {x0, x1, x2} */
            "    sxtb16 r11, r9\n"                  /* widened, w1 */
            "    smlad r1, r11, r0, r1\n"           /* f_row0, widened, x0, f_row0 */
            "    smlad r7, r11, r3, r7\n"           /* f_row1, widened, x1, f_row1 */
            "    smlad r12, r11, r10, r12\n"        /* f_row2, widened, x2, f_row2 */
            "    sxtb16 r9, r9, ror #8\n"           /* w1, w1, ror #8 */
            "    smlad r6, r9, r0, r6\n"            /* g_row0, w1, x0, g_row0 */
            "    smlad lr, r9, r3, lr\n"            /* g_row1, w1, x1, g_row1 */
            "    smlad r8, r9, r10, r8\n"           /* g_row2, w1, x2, g_row2 */
            "    ldmia r4!, {r2, r9}\n"             /* stream!, {w0, w1} */
            "    ldmia r5!, {r0, r3, r10}\n"        /* taps!, {x0, x1, x2} */
            "    sxtb16 r11, r2\n"                  /* widened, w0 */
            "    smlad r1, r11, r0, r1\n"           /* f_row0, widened, x0, f_row0 */
            "    smlad r7, r11, r3, r7\n"           /* f_row1, widened, x1, f_row1 */
            "    smlad r12, r11, r10, r12\n"        /* f_row2, widened, x2, f_row2 */
            "    sxtb16 r2, r2, ror #8\n"           /* w0, w0, ror #8 */
            "    smlad r6, r2, r0, r6\n"            /* g_row0, w0, x0, g_row0 */
            "    smlad lr, r2, r3, lr\n"            /* g_row1, w0, x1, g_row1 */
            "    smlad r8, r2, r10, r8\n"           /* g_row2, w0, x2, g_row2 */
            "    ldmia r5!, {r0, r3, r10}\n"        /* taps!, {x0, x1, x2} */
            "    sxtb16 r11, r9\n"                  /* widened, w1 */
            "    smlad r1, r11, r0, r1\n"           /* f_row0, widened, x0, f_row0 */
            "    smlad r7, r11, r3, r7\n"           /* f_row1, widened, x1, f_row1 */
            "    smlad r12, r11, r10, r12\n"        /* f_row2, widened, x2, f_row2 */
            "    sxtb16 r9, r9, ror #8\n"           /* w1, w1, ror #8 */
            "    smlad r6, r9, r0, r6\n"            /* g_row0, w1, x0, g_row0 */
            "    smlad lr, r9, r3, lr\n"            /* g_row1, w1, x1, g_row1 */
            "    smlad r8, r9, r10, r8\n"           /* g_row2, w1, x2, g_row2 */
            "    ldmia r4!, {r2, r9}\n"             /* stream!, {w0, w1} */
            "    ldmia r5!, {r0, r3, r10}\n"        /* taps!, {x0, x1, x2} */
            "    sxtb16 r11, r2\n"                  /* widened, w0 */
            "    smlad r1, r11, r0, r1\n"           /* f_row0, widened, x0, f_row0 */
            "    smlad r7, r11, r3, r7\n"           /* f_row1, widened, x1, f_row1 */
            "    smlad r12, r11, r10, r12\n"        /* f_row2, widened, x2, f_row2 */
            "    sxtb16 r2, r2, ror #8\n"           /* w0, w0, ror #8 */
            "    smlad r6, r2, r0, r6\n"            /* g_row0, w0, x0, g_row0 */
            "    smlad lr, r2, r3, lr\n"            /* g_row1, w0, x1, g_row1 */
            "    smlad r8, r2, r10, r8\n"           /* g_row2, w0, x2, g_row2 */
            "    ldmia r5!, {r0, r3, r10}\n"        /* taps!, {x0, x1, x2} */
            "    sxtb16 r11, r9\n"                  /* widened, w1 */
            "    smlad r1, r11, r0, r1\n"           /* f_row0, widened, x0, f_row0 */
            "    smlad r7, r11, r3, r7\n"           /* f_row1, widened, x1, f_row1 */
            "    smlad r12, r11, r10, r12\n"        /* f_row2, widened, x2, f_row2 */
            "    sxtb16 r9, r9, ror #8\n"           /* w1, w1, ror #8 */
            "    smlad r6, r9, r0, r6\n"            /* g_row0, w1, x0, g_row0 */
            "    smlad lr, r9, r3, lr\n"            /* g_row1, w1, x1, g_row1 */
            "    smlad r8, r9, r10, r8\n"           /* g_row2, w1, x2, g_row2 */
            "    ldmia r4!, {r2, r9}\n"             /* stream!, {w0, w1} */
            "    ldmia r5!, {r0, r3, r10}\n"        /* taps!, {x0, x1, x2} */
            "    sxtb16 r11, r2\n"                  /* widened, w0 */
            "    smlad r1, r11, r0, r1\n"           /* f_row0, widened, x0, f_row0 */
            "    smlad r7, r11, r3, r7\n"           /* f_row1, widened, x1, f_row1 */
            "    smlad r12, r11, r10, r12\n"        /* f_row2, widened, x2, f_row2 */
            "    sxtb16 r2, r2, ror #8\n"           /* w0, w0, ror #8 */
            "    smlad r6, r2, r0, r6\n"            /* g_row0, w0, x0, g_row0 */
            "    smlad lr, r2, r3, lr\n"            /* g_row1, w0, x1, g_row1 */
            "    smlad r8, r2, r10, r8\n"           /* g_row2, w0, x2, g_row2 */
            "    ldmia r5!, {r0, r3, r10}\n"        /* taps!, {x0, x1, x2} */
            "    sxtb16 r11, r9\n"                  /* widened, w1 */
            "    smlad r1, r11, r0, r1\n"           /* f_row0, widened, x0, f_row0 */
            "    smlad r7, r11, r3, r7\n"           /* f_row1, widened, x1, f_row1 */
            "    smlad r12, r11, r10, r12\n"        /* f_row2, widened, x2, f_row2 */
            "    sxtb16 r9, r9, ror #8\n"           /* w1, w1, ror #8 */
            "    smlad r6, r9, r0, r6\n"            /* g_row0, w1, x0, g_row0 */
            "    smlad lr, r9, r3, lr\n"            /* g_row1, w1, x1, g_row1 */
            "    smlad r8, r9, r10, r8\n"           /* g_row2, w1, x2, g_row2 */
            "    vmov r0, s0\n"                     /* taps_end, end_of_taps */
            "    cmp r5, r0\n"                      /* taps, taps_end */
            "    bne 3b\n"
            "    ldmia r4!, {r0, r2}\n"             /* stream!, {factor0, factor1} */
            "    vmov d0, r1, r7\n"                 /* pair, f_row0, f_row1 */
            "    vmov d1, r12, r0\n"                /* last, f_row2, factor0 */
            "    vcvt.f32.s32 s0, s0\n"             /* pair.low, pair.low */
            "    vcvt.f32.s32 s1, s1\n"             /* pair.high, pair.high */
            "    vcvt.f32.s32 s2, s2\n"             /* last.low, last.low */
            "    vmul.f32 s0, s0, s3\n"             /* pair.low, pair.low, last.high */
            "    vmul.f32 s1, s1, s3\n"             /* pair.high, pair.high, last.high */
            "    vmul.f32 s2, s2, s3\n"             /* last.low, last.low, last.high */
            "    vcvtr.s32.f32 s0, s0\n"            /* pair.low, pair.low */
            "    vcvtr.s32.f32 s1, s1\n"            /* pair.high, pair.high */
            "    vcvtr.s32.f32 s2, s2\n"            /* last.low, last.low */
            "    vmov r1, r7, d0\n"                 /* f_row0, f_row1, pair */
            "    vmov r12, s2\n"                    /* f_row2, last.low */
            "    vmov d0, r6, lr\n"                 /* pair, g_row0, g_row1 */
            "    vmov d1, r8, r2\n"                 /* last, g_row2, factor1 */
            "    vcvt.f32.s32 s0, s0\n"             /* pair.low, pair.low */
            "    vcvt.f32.s32 s1, s1\n"             /* pair.high, pair.high */
            "    vcvt.f32.s32 s2, s2\n"             /* last.low, last.low */
            "    vmul.f32 s0, s0, s3\n"             /* pair.low, pair.low, last.high */
            "    vmul.f32 s1, s1, s3\n"             /* pair.high, pair.high, last.high */
            "    vmul.f32 s2, s2, s3\n"             /* last.low, last.low, last.high */
            "    vcvtr.s32.f32 s0, s0\n"            /* pair.low, pair.low */
            "    vcvtr.s32.f32 s1, s1\n"            /* pair.high, pair.high */
            "    vcvtr.s32.f32 s2, s2\n"            /* last.low, last.low */
            "    vmov r6, lr, d0\n"                 /* g_row0, g_row1, pair */
            "    vmov r8, s2\n"                     /* g_row2, last.low */
            "    usat r1, #15, r1\n"                /* f_row0, #15, f_row0 */
            "    usat r7, #15, r7\n"                /* f_row1, #15, f_row1 */
            "    usat r12, #15, r12\n"              /* f_row2, #15, f_row2 */
            "    usat r6, #15, r6\n"                /* g_row0, #15, g_row0 */
            "    usat lr, #15, lr\n"                /* g_row1, #15, g_row1 */
            "    usat r8, #15, r8\n"                /* g_row2, #15, g_row2 */
            "    vmov r0, s4\n"                     /* y_at, out */
            "    pkhbt r1, r1, r6, lsl #16\n"       /* f_row0, f_row0, g_row0, lsl #16 */
            "    str r1, [r0]\n"                    /* f_row0, [y_at] */
            "    pkhbt r7, r7, lr, lsl #16\n"       /* f_row1, f_row1, g_row1, lsl #16 */
            "    str r7, [r0, #12]\n"               /* f_row1, [y_at, #12] */
            "    pkhbt r12, r12, r8, lsl #16\n"     /* f_row2, f_row2, g_row2, lsl #16 */
            "    str r12, [r0, #24]\n"              /* f_row2, [y_at, #24] */
            "    add r0, r0, #4\n"                  /* y_at, y_at, #4 */
            "    vmov s4, r0\n"                     /* out, y_at */
            "    vmov r0, s6\n"                     /* at_end, stream_end */
            "    cmp r4, r0\n"                      /* stream, at_end */
            "    bne 2b\n"
            "    pop {r4-r11, pc}\n");
    /* clang-format on */
}

MCU_FUNCTION void _mcu_dsp_int16_int16_conv1x1_64x6_dsp(const int16_t *x, int16_t *y,
                                                        const uint32_t *weights, uint8_t *scratch) {
    for (int32_t r = 0; r < 4; r++) {
        _mcu_dsp_int16_int16_rows3_64x6_dsp(x + r * 192, y + r * 18, weights, scratch);
    }
}

MCU_FUNCTION void _mcu_dsp_int16_reorder_25x64_int16(const int16_t *x, int16_t *y) {
    for (int32_t i0 = 0; i0 < 25; i0++) {
        for (int32_t i1 = 0; i1 < 64; i1++) {
            *y++ = x[i0 + i1 * 25];
        }
    }
}

/* y[p][f] = min(max(round(sum * factor[f]), 0), 32767), with sum = bias[f] + sum of w[f][t]
 * times f of x, of 5 pixels p, 64 channels f and 3 x 3 taps t. Windows are 1 pixels apart, and
 * rows of x 448 int16.
 * weights: of each two channels f and g the biases; of each two taps bytes w[f][t], w[f][t + 1],
 * w[g][t], w[g][t + 1]; the factors, float32. */
MCU_KERNEL void _mcu_dsp_int16_int16_depthwise_64_dsp(const int16_t *x MCU_UNUSED,
                                                      int16_t *y MCU_UNUSED,
                                                      const uint32_t *weights MCU_UNUSED) {
    /* clang-format off */
    __asm__(".syntax unified\n"
            "    push {r4-r10, lr}\n"
            "    vmov s4, r0\n"                     /* x_of_two, x */
            "    vmov s5, r1\n"                     /* y_of_two, y */
            "    vmov s6, r2\n"                     /* stream_of_two, weights */
            "    add r0, r2, #1152\n"               /* at, weights, #1152 */
            "    vmov s7, r0\n"                     /* stream_end, at */
            "1:\n"
            "    vmov r0, s4\n"                     /* at, x_of_two */
            "    vmov s8, r0\n"                     /* x_at, at */
            "    vmov r0, s5\n"                     /* at, y_of_two */
            "    vmov s9, r0\n"                     /* y_at, at */
            "    movw r1, #2\n"                     /* count, #2 */
            "    vmov s10, r1\n"                    /* groups_left, count */
            "2:\n"
            "    vmov r2, s6\n"                     /* stream, stream_of_two */
            "    vmov r1, s8\n"                     /* x_row, x_at */
            "    ldmia r2!, {r0, r3}\n"             /* stream!, {even0, odd0} */
            "    mov r4, r0\n"                      /* even1, even0 */
            "    mov r5, r0\n"                      /* even2, even0 */
            "    mov r6, r3\n"                      /* odd1, odd0 */
            "    mov r7, r3\n"                      /* odd2, odd0 */
            "    ldr r9, [r2], #4\n"                /* w, [stream], #4 */
            "    ldr r12, [r1]\n"                   /* x0, [x_row] */
            "    ldr lr, [r1, #128]\n"              /* x1, [x_row, #128] */
            "    ldr r8, [r1, #256]\n"              /* x2, [x_row, #256] */
            "    sxtb16 r10, r9\n"                  /* w_turned, w */
            "    smlabb r0, r10, r12, r0\n"         /* even0, w_turned, x0, even0 */
            "    smlatt r3, r10, r12, r3\n"         /* odd0, w_turned, x0, odd0 */
            "    smlabb r4, r10, lr, r4\n"          /* even1, w_turned, x1, even1 */
            "    smlatt r6, r10, lr, r6\n"          /* odd1, w_turned, x1, odd1 */
            "    smlabb r5, r10, r8, r5\n"          /* even2, w_turned, x2, even2 */
            "    smlatt r7, r10, r8, r7\n"          /* odd2, w_turned, x2, odd2 */
            "    ldr r12, [r1, #128]\n"             /* x0, [x_row, #128] */
            "    ldr lr, [r1, #256]\n"              /* x1, [x_row, #256] */
            "    ldr r8, [r1, #384]\n"              /* x2, [x_row, #384] */
            "    sxtb16 r9, r9, ror #8\n"           /* w, w, ror #8 */
            "    smlabb r0, r9, r12, r0\n"          /* even0, w, x0, even0 */
            "    smlatt r3, r9, r12, r3\n"          /* odd0, w, x0, odd0 */
            "    smlabb r4, r9, lr, r4\n"           /* even1, w, x1, even1 */
            "    smlatt r6, r9, lr, r6\n"           /* odd1, w, x1, odd1 */
            "    smlabb r5, r9, r8, r5\n"           /* even2, w, x2, even2 */
            "    smlatt r7, r9, r8, r7\n"           /* odd2, w, x2, odd2 */
            "    ldr r9, [r2], #4\n"                /* w, [stream], #4 */
            "    ldr r12, [r1, #256]\n"             /* x0, [x_row, #256] */
            "    ldr lr, [r1, #384]\n"              /* x1, [x_row, #384] */
            "    ldr r8, [r1, #512]\n"              /* x2, [x_row, #512] */
            "    sxtb16 r10, r9\n"                  /* w_turned, w */
            "    smlabb r0, r10, r12, r0\n"         /* even0, w_turned, x0, even0 */
            "    smlatt r3, r10, r12, r3\n"         /* odd0, w_turned, x0, odd0 */
            "    smlabb r4, r10, lr, r4\n"          /* even1, w_turned, x1, even1 */
            "    smlatt r6, r10, lr, r6\n"          /* odd1, w_turned, x1, odd1 */
            "    smlabb r5, r10, r8, r5\n"          /* even2, w_turned, x2, even2 */
            "    smlatt r7, r10, r8, r7\n"          /* odd2, w_turned, x2, odd2 */
            "    ldr r12, [r1, #896]\n"             /* x0, [x_row, #896] */
            "    ldr lr, [r1, #1024]\n"             /* x1, [x_row, #1024] */
            "    ldr r8, [r1, #1152]\n"             /* x2, [x_row, #1152] */
            "    sxtb16 r9, r9, ror #8\n"           /* w, w, ror #8 */
            "    smlabb r0, r9, r12, r0\n"          /* even0, w, x0, even0 */
            "    smlatt r3, r9, r12, r3\n"          /* odd0, w, x0, odd0 */
            "    smlabb r4, r9, lr, r4\n"           /* even1, w, x1, even1 */
            "    smlatt r6, r9, lr, r6\n"           /* odd1, w, x1, odd1 */
            "    smlabb r5, r9, r8, r5\n"           /* even2, w, x2, even2 */
            "    smlatt r7, r9, r8, r7\n"           /* odd2, w, x2, odd2 */
            "    ldr r9, [r2], #4\n"                /* w, [stream], #4 */
            "    ldr r12, [r1, #1024]\n"            /* x0, [x_row, #1024] */
            "    ldr lr, [r1, #1152]\n"             /* x1, [x_row, #1152] */
            "    ldr r8, [r1, #1280]\n"             /* x2, [x_row, #1280] */
            "    sxtb16 r10, r9\n"                  /* w_turned, w */
            "    smlabb r0, r10, r12, r0\n"         /* even0, w_turned, x0, even0 */
            "    smlatt r3, r10, r12, r3\n"         /* odd0, w_turned, x0, odd0 */
            "    smlabb r4, r10, lr, r4\n"          /* even1, w_turned, x1, even1 */
            "    smlatt r6, r10, lr, r6\n"          /* odd1, w_turned, x1, odd1 */
            "    smlabb r5, r10, r8, r5\n"          /* even2, w_turned, x2, even2 */
            "    smlatt r7, r10, r8, r7\n"          /* odd2, w_turned, x2, odd2 */
            "    ldr r12, [r1, #1152]\n"            /* x0, [x_row, #1152] */
            "    ldr lr, [r1, #1280]\n"             /* x1, [x_row, #1280] */
            "    ldr r8, [r1, #1408]\n"             /* x2, [x_row, #1408] */
            "    sxtb16 r9, r9, ror #8\n"           /* w, w, ror #8 */
            "    smlabb r0, r9, r12, r0\n"          /* even0, w, x0, even0 */
            "    smlatt r3, r9, r12, r3\n"          /* odd0, w, x0, odd0 */
            "    smlabb r4, r9, lr, r4\n"           /* even1, w, x1, even1 */
            "    smlatt r6, r9, lr, r6\n"           /* odd1, w, x1, odd1 */
            "    smlabb r5, r9, r8, r5\n"           /* even2, w, x2, even2 */
            "    smlatt r7, r9, r8, r7\n"           /* odd2, w, x2, odd2 */
            "    ldr r9, [r2], #4\n"                /* w, [stream], #4 */
            "    ldr r12, [r1, #1792]\n"            /* x0, [x_row, #1792] */
            "    ldr lr, [r1, #1920]\n"             /* x1, [x_row, #1920] */
            "    ldr r8, [r1, #2048]\n"             /* x2, [x_row, #2048] */
            "    sxtb16 r10, r9\n"                  /* w_turned, w */
            "    smlabb r0, r10, r12, r0\n"         /* even0, w_turned, x0, even0 */
            "    smlatt r3, r10, r12, r3\n"         /* odd0, w_turned, x0, odd0 */
            "    smlabb r4, r10, lr, r4\n"          /* even1, w_turned, x1, even1 */
            "    smlatt r6, r10, lr, r6\n"          /* odd1, w_turned, x1, odd1 */
            "    smlabb r5, r10, r8, r5\n"          /* even2, w_turned, x2, even2 */
            "    smlatt r7, r10, r8, r7\n"          /* odd2, w_turned, x2, odd2 */
            "    ldr r12, [r1, #1920]\n"            /* x0, [x_row, #1920] */
            "    ldr lr, [r1, #2048]\n"             /* x1, [x_row, #2048] */
            "    ldr r8, [r1, #2176]\n"             /* x2, [x_row, #2176] */
            "    sxtb16 r9, r9, ror #8\n"           /* w, w, ror #8 */
            "    smlabb r0, r9, r12, r0\n"          /* even0, w, x0, even0 */
            "    smlatt r3, r9, r12, r3\n"          /* odd0, w, x0, odd0 */
            "    smlabb r4, r9, lr, r4\n"           /* even1, w, x1, even1 */
            "    smlatt r6, r9, lr, r6\n"           /* odd1, w, x1, odd1 */
            "    smlabb r5, r9, r8, r5\n"           /* even2, w, x2, even2 */
            "    smlatt r7, r9, r8, r7\n"           /* odd2, w, x2, odd2 */
            "    ldr r9, [r2], #4\n"                /* w, [stream], #4 */
            "    ldr r12, [r1, #2048]\n"            /* x0, [x_row, #2048] */
            "    ldr lr, [r1, #2176]\n"             /* x1, [x_row, #2176] */
            "    ldr r8, [r1, #2304]\n"             /* x2, [x_row, #2304] */
            "    sxtb16 r9, r9\n"                   /* w, w */
            "    smlabb r0, r9, r12, r0\n"          /* even0, w, x0, even0 */
            "    smlatt r3, r9, r12, r3\n"          /* odd0, w, x0, odd0 */
            "    smlabb r4, r9, lr, r4\n"           /* even1, w, x1, even1 */
            "    smlatt r6, r9, lr, r6\n"           /* odd1, w, x1, odd1 */
            "    smlabb r5, r9, r8, r5\n"           /* even2, w, x2, even2 */
            "    smlatt r7, r9, r8, r7\n"           /* odd2, w, x2, odd2 */
            "    ldmia r2!, {r1, r12}\n"            /* stream!, {factor_even, factor_odd} */
            "    vmov d0, r0, r4\n"                 /* pair, even0, even1 */
            "    vmov d1, r5, r1\n"                 /* last, even2, factor_even */
            "    vcvt.f32.s32 s0, s0\n"             /* pair.low, pair.low */
            "    vcvt.f32.s32 s1, s1\n"             /* pair.high, pair.high */
            "    vcvt.f32.s32 s2, s2\n"             /* last.low, last.low */
            "    vmul.f32 s0, s0, s3\n"             /* pair.low, pair.low, last.high */
            "    vmul.f32 s1, s1, s3\n"             /* pair.high, pair.high, last.high */
            "    vmul.f32 s2, s2, s3\n"             /* last.low, last.low, last.high */
            "    vcvtr.s32.f32 s0, s0\n"            /* pair.low, pair.low */
            "    vcvtr.s32.f32 s1, s1\n"            /* pair.high, pair.high */
            "    vcvtr.s32.f32 s2, s2\n"            /* last.low, last.low */
            "    vmov r0, r4, d0\n"                 /* even0, even1, pair */
            "    vmov r5, s2\n"                     /* even2, last.low */
            "    vmov d0, r3, r6\n"                 /* pair, odd0, odd1 */
            "    vmov d1, r7, r12\n"                /* last, odd2, factor_odd */
            "    vcvt.f32.s32 s0, s0\n"             /* pair.low, pair.low */
            "    vcvt.f32.s32 s1, s1\n"             /* pair.high, pair.high */
            "    vcvt.f32.s32 s2, s2\n"             /* last.low, last.low */
            "    vmul.f32 s0, s0, s3\n"             /* pair.low, pair.low, last.high */
            "    vmul.f32 s1, s1, s3\n"             /* pair.high, pair.high, last.high */
            "    vmul.f32 s2, s2, s3\n"             /* last.low, last.low, last.high */
            "    vcvtr.s32.f32 s0, s0\n"            /* pair.low, pair.low */
            "    vcvtr.s32.f32 s1, s1\n"            /* pair.high, pair.high */
            "    vcvtr.s32.f32 s2, s2\n"            /* last.low, last.low */
            "    vmov r3, r6, d0\n"                 /* odd0, odd1, pair */
            "    vmov r7, s2\n"                     /* odd2, last.low */
            "    usat r0, #15, r0\n"                /* even0, #15, even0 */
            "    usat r4, #15, r4\n"                /* even1, #15, even1 */
            "    usat r5, #15, r5\n"                /* even2, #15, even2 */
            "    usat r3, #15, r3\n"                /* odd0, #15, odd0 */
            "    usat r6, #15, r6\n"                /* odd1, #15, odd1 */
            "    usat r7, #15, r7\n"                /* odd2, #15, odd2 */
            "    vmov r1, s9\n"                     /* x_row, y_at */
            "    pkhbt r0, r0, r3, lsl #16\n"       /* even0, even0, odd0, lsl #16 */
            "    str r0, [r1]\n"                    /* even0, [x_row] */
            "    pkhbt r4, r4, r6, lsl #16\n"       /* even1, even1, odd1, lsl #16 */
            "    str r4, [r1, #128]\n"              /* even1, [x_row, #128] */
            "    pkhbt r5, r5, r7, lsl #16\n"       /* even2, even2, odd2, lsl #16 */
            "    str r5, [r1, #256]\n"              /* even2, [x_row, #256] */
            "    vmov r0, s8\n"                     /* at, x_at */
            "    add r0, r0, #384\n"                /* at, at, #384 */
            "    vmov s8, r0\n"                     /* x_at, at */
            "    vmov r0, s9\n"                     /* at, y_at */
            "    add r0, r0, #384\n"                /* at, at, #384 */
            "    vmov s9, r0\n"                     /* y_at, at */
            "    vmov r1, s10\n"                    /* count, groups_left */
            "    cmp r1, #2\n"                      /* count, #2 */
            "    vmov r0, s8\n"                     /* at, x_at */
            "    it eq\n"
            "    subeq r0, r0, #128\n"              /* at, at, #128 */
            "    vmov s8, r0\n"                     /* x_at, at */
            "    vmov r0, s9\n"                     /* at, y_at */
            "    it eq\n"
            "    subeq r0, r0, #128\n"              /* at, at, #128 */
            "    vmov s9, r0\n"                     /* y_at, at */
            "    subs r1, r1, #1\n"                 /* count, count, #1 */
            "    vmov s10, r1\n"                    /* groups_left, count */
            "    bne 2b\n"
            /* The next two channels. */
            "    vmov r0, s4\n"                     /* at, x_of_two */
            "    add r0, r0, #4\n"                  /* at, at, #4 */
            "    vmov s4, r0\n"                     /* x_of_two, at */
            "    vmov r0, s5\n"                     /* at, y_of_two */
            "    add r0, r0, #4\n"                  /* at, at, #4 */
            "    vmov s5, r0\n"                     /* y_of_two, at */
            "    vmov s6, r2\n"                     /* stream_of_two, stream */
            "    vmov r0, s7\n"                     /* at, stream_end */
            "    cmp r2, r0\n"                      /* stream, at */
            "    bne 1b\n"
            "    pop {r4-r10, pc}\n");
    /* clang-format on */
}

MCU_FUNCTION void _mcu_dsp_int16_int16_depthwise3x3_64_dsp(const int16_t *x, int16_t *y,
                                                           const uint32_t *weights,
                                                           uint8_t *scratch) {
    /* The lines that a row of windows needs, between zeros where there is no image. */
    int16_t *const lines = (int16_t *)(void *)scratch;
    memset(lines, 0, 2688);
    for (int32_t oy = 0; oy < 5; oy++) {
        for (int32_t ky = 0; ky < 3; ky++) {
            int16_t *const to = lines + ky * 448;
            const int32_t iy = oy + ky - 1;
            if (iy >= 0 && iy < 5) {
                memcpy(to + 64, x + iy * 320, 640);
            } else {
                memset(to, 0, 896);
            }
        }
        _mcu_dsp_int16_int16_depthwise_64_dsp(lines, y + oy * 320, weights);
    }
}

MCU_FUNCTION void _mcu_dsp_int16_reorder_6x16_int16(const int16_t *x, int16_t *y) {
    for (int32_t i0 = 0; i0 < 6; i0++) {
        for (int32_t i1 = 0; i1 < 16; i1++) {
            *y++ = x[i0 + i1 * 6];
        }
    }
}

MCU_FUNCTION void _mcu_dsp_int16_reorder_6x12_int16(const int16_t *x, int16_t *y) {
    for (int32_t i0 = 0; i0 < 6; i0++) {
        for (int32_t i1 = 0; i1 < 12; i1++) {
            *y++ = x[i0 + i1 * 6];
        }
    }
}

MCU_FUNCTION void _mcu_dsp_int16_reorder_64x25_int16(const int16_t *x, int16_t *y) {
    for (int32_t i0 = 0; i0 < 64; i0++) {
        for (int32_t i1 = 0; i1 < 25; i1++) {
            *y++ = x[i0 + i1 * 64];
        }
    }
}

MCU_FUNCTION void _mcu_dsp_int16_concat_1780_int16(const int16_t *x0, const int16_t *x1,
                                                   const int16_t *x2, const int16_t *x3,
                                                   int16_t *y) {
    memcpy(y, x0, 192);
    y += 96;
    memcpy(y, x1, 144);
    y += 72;
    memcpy(y, x2, 24);
    y += 12;
    memcpy(y, x3, 3200);
}

/* ---- The layers, in the order of execution ---- */

/* clang-format off */
static void _mcu_dsp_int16_layers(mcu_instance_t *instance) {
    uint8_t *const ws = instance->workspace;

    /* dense_1: Gemm, Gemm_23 (5 nodes): int16[1,64] -> int16[1,12]; 768 MACs */
    int16_t *const part2 = (int16_t *)(ws + 3888);
    int16_t *const dense_1 = (int16_t *)(ws + 7216);
    MCU_LAYER(0, _mcu_dsp_int16_int16_conv1x1_64x12_dsp(part2, dense_1,
                                                        _mcu_dsp_int16_dense_1_weights));

    /* reshape_1_reorder: Reorder, x0 reordered: int16[1,3,8,9] -> int16[1,3,8,9] NHWC */
    int16_t *const part0 = (int16_t *)(ws + 1920);
    int16_t *const reshape_1_reorder = (int16_t *)(ws + 0);
    MCU_LAYER(1, _mcu_dsp_int16_reorder_72x3_int16(part0, reshape_1_reorder));

    /* conv_1: Conv, Conv_5 (6 nodes): int16[1,3,8,9] NHWC -> int16[1,6,4,4] NHWC; 2,592 MACs */
    int16_t *const conv_1 = (int16_t *)(ws + 7248);
    uint8_t *const conv_1_scratch = (uint8_t *)(ws + 432);
    MCU_LAYER(2, _mcu_dsp_int16_int16_conv3x3_3x6_s2_dsp(
        reshape_1_reorder, conv_1, _mcu_dsp_int16_conv_1_weights, conv_1_scratch));

    /* reshape_3_reorder: Reorder, x1 reordered: int16[1,64,3,4] -> int16[1,64,3,4] NHWC */
    int16_t *const part1 = (int16_t *)(ws + 2352);
    int16_t *const reshape_3_reorder = (int16_t *)(ws + 0);
    MCU_LAYER(3, _mcu_dsp_int16_reorder_12x64_int16(part1, reshape_3_reorder));

    /* conv_2: Conv, Conv_14 (6 nodes): int16[1,64,3,4] NHWC -> int16[1,6,3,4] NHWC; 4,608 MACs */
    int16_t *const conv_2 = (int16_t *)(ws + 0);
    uint8_t *const conv_2_scratch = (uint8_t *)(ws + 1536);
    MCU_LAYER(4, _mcu_dsp_int16_int16_conv1x1_64x6_dsp(
        reshape_3_reorder, conv_2, _mcu_dsp_int16_conv_2_weights, conv_2_scratch));

    /* reshape_7_reorder: Reorder, x3 reordered: int16[1,64,5,5] -> int16[1,64,5,5] NHWC */
    int16_t *const part3 = (int16_t *)(ws + 4016);
    int16_t *const reshape_7_reorder = (int16_t *)(ws + 784);
    MCU_LAYER(5, _mcu_dsp_int16_reorder_25x64_int16(part3, reshape_7_reorder));

    /* depthwise_1: Conv, Conv_31 (6 nodes):
     * int16[1,64,5,5] NHWC -> int16[1,64,5,5] NHWC; 14,400 MACs */
    int16_t *const depthwise_1 = (int16_t *)(ws + 144);
    uint8_t *const depthwise_1_scratch = (uint8_t *)(ws + 3984);
    MCU_LAYER(6, _mcu_dsp_int16_int16_depthwise3x3_64_dsp(
        reshape_7_reorder, depthwise_1, _mcu_dsp_int16_depthwise_1_weights, depthwise_1_scratch));

    /* conv_1_bit_cast_reorder: Reorder, y0 reordered: int16[1,6,4,4] NHWC -> int16[1,6,4,4] */
    int16_t *const conv_1_bit_cast_reorder = (int16_t *)(ws + 3344);
    MCU_LAYER(7, _mcu_dsp_int16_reorder_6x16_int16(conv_1, conv_1_bit_cast_reorder));

    /* conv_2_bit_cast_reorder: Reorder, y1 reordered: int16[1,6,3,4] NHWC -> int16[1,6,3,4] */
    int16_t *const conv_2_bit_cast_reorder = (int16_t *)(ws + 6768);
    MCU_LAYER(8, _mcu_dsp_int16_reorder_6x12_int16(conv_2, conv_2_bit_cast_reorder));

    /* depthwise_1_bit_cast_reorder: Reorder, y3 reordered:
     * int16[1,64,5,5] NHWC -> int16[1,64,5,5] */
    int16_t *const depthwise_1_bit_cast_reorder = (int16_t *)(ws + 3568);
    MCU_LAYER(9, _mcu_dsp_int16_reorder_64x25_int16(depthwise_1, depthwise_1_bit_cast_reorder));

    /* concat_1: Concat, Concat_35: int16[96], int16[72], int16[12], int16[1600] -> int16[1780] */
    int16_t *const concat_1 = (int16_t *)(ws + 0);
    MCU_LAYER(10, _mcu_dsp_int16_concat_1780_int16(conv_1_bit_cast_reorder, conv_2_bit_cast_reorder,
                                                   dense_1, depthwise_1_bit_cast_reorder,
                                                   concat_1));
}

/* clang-format on */

