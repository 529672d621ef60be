/* ---- Kernels ---- */

/* Those in assembly are one string each, some longer than C99 wants compilers to take. */
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Woverlength-strings"
#endif

MCU_FUNCTION void _mcu_dsp_float_depthwise_reorder_30x6_float32(const float *x, float *y) {
    for (int32_t i0 = 0; i0 < 30; i0++) {
        for (int32_t i1 = 0; i1 < 6; i1++) {
            *y++ = x[i0 + i1 * 30];
        }
    }
}

/* y[p][c] = clamp(bias[c] + sum of window[p][k][c] * w[k][c]), float32; each product
 * is rounded and added, and what lies outside of the image is left out.
 * x: [row][column][channel], y: [p][c].
 * weights, of each two channels: their biases, then their weights of each k. Of an odd number of
 * channels the last two are the last pair, so one of them is in two pairs.
 * scratch, in words: where image and output go on, the stream, the next row, its number, what is
 * left of rows, tiles, groups and filters; of the rows of a window that are outside the bytes of
 * their weights in front and behind, how many are inside, the way back over these. In place: the
 * windows of a tile are read for two channels, whose outputs are written, then for the next
 * ones. */
MCU_KERNEL void _mcu_dsp_float_depthwise_depthwise3x3_6_f32(const float *x MCU_UNUSED,
                                                            float *y MCU_UNUSED,
                                                            const float *weights MCU_UNUSED,
                                                            uint8_t *scratch MCU_UNUSED) {
    /* clang-format off */
    __asm__(".syntax unified\n"
            "    push {r4-r7, lr}\n"
            "    vpush {d8-d11}\n"
            "    str r1, [r3, #4]\n"                /* y, [frame, #4] */
            "    str r2, [r3, #8]\n"                /* constants, [frame, #8] */
            "    sub r0, r0, #168\n"                /* x, x, #168 */
            "    str r0, [r3]\n"                    /* x, [frame] */
            "    str r0, [r3, #12]\n"               /* x, [frame, #12] */
            "    movw r0, #1\n"                     /* free, #1 */
            "    rsb r0, r0, #0\n"                  /* free, free, #0 */
            "    str r0, [r3, #16]\n"               /* free, [frame, #16] */
            "    movw r0, #5\n"                     /* free, #5 */
            "    str r0, [r3, #20]\n"               /* free, [frame, #20] */
            "1:\n"
            /* The next row of the output. */
            "    ldr r5, [r3, #12]\n"               /* row, [frame, #12] */
            "    add r0, r5, #144\n"                /* free, row, #144 */
            "    str r0, [r3, #12]\n"               /* free, [frame, #12] */
            "    ldr r0, [r3, #16]\n"               /* number, [frame, #16] */
            "    rsb r2, r0, #0\n"                  /* above, number, #0 */
            "    movw r4, #5\n"                     /* by, #5 */
            "    sub r1, r4, r0\n"                  /* inside, by, number */
            "    add r0, r0, #1\n"                  /* number, number, #1 */
            "    str r0, [r3, #16]\n"               /* number, [frame, #16] */
            "    cmp r2, #0\n"                      /* above, #0 */
            "    it lt\n"
            "    movlt r2, #0\n"                    /* above, #0 */
            "    cmp r2, #3\n"                      /* above, #3 */
            "    it gt\n"
            "    movgt r2, #3\n"                    /* above, #3 */
            "    cmp r1, #0\n"                      /* inside, #0 */
            "    it lt\n"
            "    movlt r1, #0\n"                    /* inside, #0 */
            "    cmp r1, #3\n"                      /* inside, #3 */
            "    it gt\n"
            "    movgt r1, #3\n"                    /* inside, #3 */
            "    movw r4, #24\n"                    /* by, #24 */
            "    rsb r0, r1, #3\n"                  /* free, inside, #3 */
            "    mul r0, r0, r4\n"                  /* free, free, by */
            "    str r0, [r3, #40]\n"               /* free, [frame, #40] */
            "    mul r0, r2, r4\n"                  /* free, above, by */
            "    str r0, [r3, #36]\n"               /* free, [frame, #36] */
            "    sub r1, r1, r2\n"                  /* inside, inside, above */
            "    str r1, [r3, #44]\n"               /* inside, [frame, #44] */
            "    movw r4, #144\n"                   /* by, #144 */
            "    mla r5, r2, r4, r5\n"              /* row, above, by, row */
            "    mul r4, r1, r4\n"                  /* by, inside, by */
            "    str r4, [r3, #48]\n"               /* by, [frame, #48] */
            "    str r5, [r3]\n"                    /* row, [frame] */
            /* 6 pixels, two channels at a time. */
            "    ldr r1, [r3]\n"                    /* block, [frame] */
            "    add r0, r1, #144\n"                /* free, block, #144 */
            "    str r0, [r3]\n"                    /* free, [frame] */
            "    ldr r2, [r3, #4]\n"                /* out, [frame, #4] */
            "    add r0, r2, #144\n"                /* free, out, #144 */
            "    str r0, [r3, #4]\n"                /* free, [frame, #4] */
            "    ldr r4, [r3, #8]\n"                /* stream_at, [frame, #8] */
            "    ldr r5, [r3, #44]\n"               /* inside, [frame, #44] */
            "    ldr r6, [r3, #36]\n"               /* skipped, [frame, #36] */
            "    ldr r7, [r3, #40]\n"               /* behind, [frame, #40] */
            "    movw r12, #3\n"                    /* pairs_left, #3 */
            "2:\n"
            "    vldmia r4!, {s6-s7}\n"             /* stream_at!, {sum0_c, sum0_d} */
            "    vmov s8, s6\n"                     /* sum1_c, sum0_c */
            "    vmov s9, s7\n"                     /* sum1_d, sum0_d */
            "    vmov s10, s6\n"                    /* sum2_c, sum0_c */
            "    vmov s11, s7\n"                    /* sum2_d, sum0_d */
            "    vmov s12, s6\n"                    /* sum3_c, sum0_c */
            "    vmov s13, s7\n"                    /* sum3_d, sum0_d */
            "    vmov s14, s6\n"                    /* sum4_c, sum0_c */
            "    vmov s15, s7\n"                    /* sum4_d, sum0_d */
            "    vmov s16, s6\n"                    /* sum5_c, sum0_c */
            "    vmov s17, s7\n"                    /* sum5_d, sum0_d */
            "    mov r0, r1\n"                      /* at, block */
            "    add r4, r4, r6\n"                  /* stream_at, stream_at, skipped */
            "    mov lr, r5\n"                      /* rows_left, inside */
            "3:\n"
            /* stream_at!, {weights0.low, weights0.high, weights1.low, weights1.high, */
            /* weights2.low, weights2.high} */
            "    vldmia r4!, {s0-s5}\n"
            "    vldr s18, [r0, #24]\n"             /* column0_c, [at, #24] */
            "    vldr s19, [r0, #28]\n"             /* column0_d, [at, #28] */
            "    vldr s20, [r0, #48]\n"             /* column1_c, [at, #48] */
            "    vldr s21, [r0, #52]\n"             /* column1_d, [at, #52] */
            "    vmul.f32 s22, s18, s0\n"           /* product0, column0_c, weights0.low */
            "    vmul.f32 s23, s19, s1\n"           /* product1, column0_d, weights0.high */
            "    vadd.f32 s8, s8, s22\n"            /* sum1_c, sum1_c, product0 */
            "    vmul.f32 s22, s18, s2\n"           /* product2, column0_c, weights1.low */
            "    vadd.f32 s9, s9, s23\n"            /* sum1_d, sum1_d, product1 */
            "    vmul.f32 s23, s19, s3\n"           /* product3, column0_d, weights1.high */
            "    vadd.f32 s6, s6, s22\n"            /* sum0_c, sum0_c, product2 */
            "    vadd.f32 s7, s7, s23\n"            /* sum0_d, sum0_d, product3 */
            "    vldr s18, [r0, #72]\n"             /* column0_c, [at, #72] */
            "    vldr s19, [r0, #76]\n"             /* column0_d, [at, #76] */
            "    vmul.f32 s22, s20, s0\n"           /* product0, column1_c, weights0.low */
            "    vmul.f32 s23, s21, s1\n"           /* product1, column1_d, weights0.high */
            "    vadd.f32 s10, s10, s22\n"          /* sum2_c, sum2_c, product0 */
            "    vmul.f32 s22, s20, s2\n"           /* product2, column1_c, weights1.low */
            "    vadd.f32 s11, s11, s23\n"          /* sum2_d, sum2_d, product1 */
            "    vmul.f32 s23, s21, s3\n"           /* product3, column1_d, weights1.high */
            "    vadd.f32 s8, s8, s22\n"            /* sum1_c, sum1_c, product2 */
            "    vmul.f32 s22, s20, s4\n"           /* product0, column1_c, weights2.low */
            "    vadd.f32 s9, s9, s23\n"            /* sum1_d, sum1_d, product3 */
            "    vmul.f32 s23, s21, s5\n"           /* product1, column1_d, weights2.high */
            "    vadd.f32 s6, s6, s22\n"            /* sum0_c, sum0_c, product0 */
            "    vadd.f32 s7, s7, s23\n"            /* sum0_d, sum0_d, product1 */
            "    vldr s20, [r0, #96]\n"             /* column1_c, [at, #96] */
            "    vldr s21, [r0, #100]\n"            /* column1_d, [at, #100] */
            "    vmul.f32 s22, s18, s0\n"           /* product2, column0_c, weights0.low */
            "    vmul.f32 s23, s19, s1\n"           /* product3, column0_d, weights0.high */
            "    vadd.f32 s12, s12, s22\n"          /* sum3_c, sum3_c, product2 */
            "    vmul.f32 s22, s18, s2\n"           /* product0, column0_c, weights1.low */
            "    vadd.f32 s13, s13, s23\n"          /* sum3_d, sum3_d, product3 */
            "    vmul.f32 s23, s19, s3\n"           /* product1, column0_d, weights1.high */
            "    vadd.f32 s10, s10, s22\n"          /* sum2_c, sum2_c, product0 */
            "    vmul.f32 s22, s18, s4\n"           /* product2, column0_c, weights2.low */
            "    vadd.f32 s11, s11, s23\n"          /* sum2_d, sum2_d, product1 */
            "    vmul.f32 s23, s19, s5\n"           /* product3, column0_d, weights2.high */
            "    vadd.f32 s8, s8, s22\n"            /* sum1_c, sum1_c, product2 */
            "    vadd.f32 s9, s9, s23\n"            /* sum1_d, sum1_d, product3 */
            "    vldr s18, [r0, #120]\n"            /* column0_c, [at, #120] */
            "    vldr s19, [r0, #124]\n"            /* column0_d, [at, #124] */
            "    vmul.f32 s22, s20, s0\n"           /* product0, column1_c, weights0.low */
            "    vmul.f32 s23, s21, s1\n"           /* product1, column1_d, weights0.high */
            "    vadd.f32 s14, s14, s22\n"          /* sum4_c, sum4_c, product0 */
            "    vmul.f32 s22, s20, s2\n"           /* product2, column1_c, weights1.low */
            "    vadd.f32 s15, s15, s23\n"          /* sum4_d, sum4_d, product1 */
            "    vmul.f32 s23, s21, s3\n"           /* product3, column1_d, weights1.high */
            "    vadd.f32 s12, s12, s22\n"          /* sum3_c, sum3_c, product2 */
            "    vmul.f32 s22, s20, s4\n"           /* product0, column1_c, weights2.low */
            "    vadd.f32 s13, s13, s23\n"          /* sum3_d, sum3_d, product3 */
            "    vmul.f32 s23, s21, s5\n"           /* product1, column1_d, weights2.high */
            "    vadd.f32 s10, s10, s22\n"          /* sum2_c, sum2_c, product0 */
            "    vadd.f32 s11, s11, s23\n"          /* sum2_d, sum2_d, product1 */
            "    vldr s20, [r0, #144]\n"            /* column1_c, [at, #144] */
            "    vldr s21, [r0, #148]\n"            /* column1_d, [at, #148] */
            "    vmul.f32 s22, s18, s0\n"           /* product2, column0_c, weights0.low */
            "    vmul.f32 s23, s19, s1\n"           /* product3, column0_d, weights0.high */
            "    vadd.f32 s16, s16, s22\n"          /* sum5_c, sum5_c, product2 */
            "    vmul.f32 s22, s18, s2\n"           /* product0, column0_c, weights1.low */
            "    vadd.f32 s17, s17, s23\n"          /* sum5_d, sum5_d, product3 */
            "    vmul.f32 s23, s19, s3\n"           /* product1, column0_d, weights1.high */
            "    vadd.f32 s14, s14, s22\n"          /* sum4_c, sum4_c, product0 */
            "    vmul.f32 s22, s18, s4\n"           /* product2, column0_c, weights2.low */
            "    vadd.f32 s15, s15, s23\n"          /* sum4_d, sum4_d, product1 */
            "    vmul.f32 s23, s19, s5\n"           /* product3, column0_d, weights2.high */
            "    vadd.f32 s12, s12, s22\n"          /* sum3_c, sum3_c, product2 */
            "    vadd.f32 s13, s13, s23\n"          /* sum3_d, sum3_d, product3 */
            "    vmul.f32 s22, s20, s2\n"           /* product0, column1_c, weights1.low */
            "    vmul.f32 s23, s21, s3\n"           /* product1, column1_d, weights1.high */
            "    vadd.f32 s16, s16, s22\n"          /* sum5_c, sum5_c, product0 */
            "    vmul.f32 s22, s20, s4\n"           /* product2, column1_c, weights2.low */
            "    vadd.f32 s17, s17, s23\n"          /* sum5_d, sum5_d, product1 */
            "    vmul.f32 s23, s21, s5\n"           /* product3, column1_d, weights2.high */
            "    vadd.f32 s14, s14, s22\n"          /* sum4_c, sum4_c, product2 */
            "    vadd.f32 s15, s15, s23\n"          /* sum4_d, sum4_d, product3 */
            "    add r0, r0, #144\n"                /* at, at, #144 */
            "    subs lr, lr, #1\n"                 /* rows_left, rows_left, #1 */
            "    bne 3b\n"
            "    add r4, r4, r7\n"                  /* stream_at, stream_at, behind */
            "    movw r0, #0\n"                     /* free, #0 */
            "    vmov s0, r0\n"                     /* least, free */
            "    vcmp.f32 s6, s0\n"                 /* sum0_c, least */
            "    vmrs APSR_nzcv, fpscr\n"
            "    it mi\n"
            "    vmovmi s6, s0\n"                   /* sum0_c, least */
            "    vcmp.f32 s7, s0\n"                 /* sum0_d, least */
            "    vmrs APSR_nzcv, fpscr\n"
            "    it mi\n"
            "    vmovmi s7, s0\n"                   /* sum0_d, least */
            "    vcmp.f32 s8, s0\n"                 /* sum1_c, least */
            "    vmrs APSR_nzcv, fpscr\n"
            "    it mi\n"
            "    vmovmi s8, s0\n"                   /* sum1_c, least */
            "    vcmp.f32 s9, s0\n"                 /* sum1_d, least */
            "    vmrs APSR_nzcv, fpscr\n"
            "    it mi\n"
            "    vmovmi s9, s0\n"                   /* sum1_d, least */
            "    vcmp.f32 s10, s0\n"                /* sum2_c, least */
            "    vmrs APSR_nzcv, fpscr\n"
            "    it mi\n"
            "    vmovmi s10, s0\n"                  /* sum2_c, least */
            "    vcmp.f32 s11, s0\n"                /* sum2_d, least */
            "    vmrs APSR_nzcv, fpscr\n"
            "    it mi\n"
            "    vmovmi s11, s0\n"                  /* sum2_d, least */
            "    vcmp.f32 s12, s0\n"                /* sum3_c, least */
            "    vmrs APSR_nzcv, fpscr\n"
            "    it mi\n"
            "    vmovmi s12, s0\n"                  /* sum3_c, least */
            "    vcmp.f32 s13, s0\n"                /* sum3_d, least */
            "    vmrs APSR_nzcv, fpscr\n"
            "    it mi\n"
            "    vmovmi s13, s0\n"                  /* sum3_d, least */
            "    vcmp.f32 s14, s0\n"                /* sum4_c, least */
            "    vmrs APSR_nzcv, fpscr\n"
            "    it mi\n"
            "    vmovmi s14, s0\n"                  /* sum4_c, least */
            "    vcmp.f32 s15, s0\n"                /* sum4_d, least */
            "    vmrs APSR_nzcv, fpscr\n"
            "    it mi\n"
            "    vmovmi s15, s0\n"                  /* sum4_d, least */
            "    vcmp.f32 s16, s0\n"                /* sum5_c, least */
            "    vmrs APSR_nzcv, fpscr\n"
            "    it mi\n"
            "    vmovmi s16, s0\n"                  /* sum5_c, least */
            "    vcmp.f32 s17, s0\n"                /* sum5_d, least */
            "    vmrs APSR_nzcv, fpscr\n"
            "    it mi\n"
            "    vmovmi s17, s0\n"                  /* sum5_d, least */
            "    vstr s6, [r2]\n"                   /* sum0_c, [out] */
            "    vstr s7, [r2, #4]\n"               /* sum0_d, [out, #4] */
            "    vstr s8, [r2, #24]\n"              /* sum1_c, [out, #24] */
            "    vstr s9, [r2, #28]\n"              /* sum1_d, [out, #28] */
            "    vstr s10, [r2, #48]\n"             /* sum2_c, [out, #48] */
            "    vstr s11, [r2, #52]\n"             /* sum2_d, [out, #52] */
            "    vstr s12, [r2, #72]\n"             /* sum3_c, [out, #72] */
            "    vstr s13, [r2, #76]\n"             /* sum3_d, [out, #76] */
            "    vstr s14, [r2, #96]\n"             /* sum4_c, [out, #96] */
            "    vstr s15, [r2, #100]\n"            /* sum4_d, [out, #100] */
            "    vstr s16, [r2, #120]\n"            /* sum5_c, [out, #120] */
            "    vstr s17, [r2, #124]\n"            /* sum5_d, [out, #124] */
            "    add r1, r1, #8\n"                  /* block, block, #8 */
            "    add r2, r2, #8\n"                  /* out, out, #8 */
            "    subs r12, r12, #1\n"               /* pairs_left, pairs_left, #1 */
            "    bne 2b\n"
            "    ldr r0, [r3, #20]\n"               /* free, [frame, #20] */
            "    subs r0, r0, #1\n"                 /* free, free, #1 */
            "    str r0, [r3, #20]\n"               /* free, [frame, #20] */
            "    bne 1b\n"
            "    vpop {d8-d11}\n"
            "    pop {r4-r7, pc}\n");
    /* clang-format on */
}

MCU_FUNCTION void _mcu_dsp_float_depthwise_reorder_6x30_float32(const float *x, float *y) {
    for (int32_t i0 = 0; i0 < 6; i0++) {
        for (int32_t i1 = 0; i1 < 30; i1++) {
            *y++ = x[i0 + i1 * 6];
        }
    }
}

/* ---- The layers, in the order of execution ---- */

/* clang-format off */
static void _mcu_dsp_float_depthwise_layers(mcu_instance_t *instance) {
    uint8_t *const ws = instance->workspace;

    /* reshape_1_reorder: Reorder, of1 reordered: float32[1,6,5,6] -> float32[1,6,5,6] NHWC */
    float *const x = (float *)(ws + 0);
    float *const reshape_1_reorder = (float *)(ws + 720);
    MCU_LAYER(0, _mcu_dsp_float_depthwise_reorder_30x6_float32(x, reshape_1_reorder));

    /* depthwise_1: Conv, layer0 (2 nodes):
     * float32[1,6,5,6] NHWC -> float32[1,6,5,6] NHWC; 1,620 MACs */
    float *const depthwise_1 = (float *)(ws + 0);
    uint8_t *const depthwise_1_scratch = (uint8_t *)(ws + 1440);
    MCU_LAYER(1, _mcu_dsp_float_depthwise_depthwise3x3_6_f32(
        reshape_1_reorder, depthwise_1, _mcu_dsp_float_depthwise_depthwise_1_weights,
        depthwise_1_scratch));

    /* depthwise_1_reorder: Reorder, of3 reordered: float32[1,6,5,6] NHWC -> float32[1,6,5,6] */
    float *const depthwise_1_reorder = (float *)(ws + 720);
    MCU_LAYER(2, _mcu_dsp_float_depthwise_reorder_6x30_float32(depthwise_1, depthwise_1_reorder));
}

/* clang-format on */

