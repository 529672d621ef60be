/* ---- Kernels ---- */

/* Those in assembly are one string each, some longer than C99 wants compilers to take. */
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Woverlength-strings"
#endif

MCU_FUNCTION void _mcu_dsp_float_pointwise_reorder_35x3_float32(const float *x, float *y) {
    for (int32_t i0 = 0; i0 < 35; i0++) {
        for (int32_t i1 = 0; i1 < 3; i1++) {
            *y++ = x[i0 + i1 * 35];
        }
    }
}

/* y[p][f] = clamp(bias[f] + sum of window[p][k] * w[f][k]), float32; k: row, column,
 * channel, in this order, each product rounded and added; what lies outside of the image is
 * left out. x: [row][column][channel], y: [p][f].
 * weights, of 5 filters at a time: their biases, then their weights of each k.
 * scratch, in words: where image and output go on, the stream, the next row, its number, what is
 * left of rows, tiles, groups and filters; of the rows of a window that are outside the bytes of
 * their weights in front and behind, how many are inside, the way back over these. In place: the
 * windows of a tile are read for some filters, whose outputs are written, then for the next
 * ones. */
MCU_KERNEL void _mcu_dsp_float_pointwise_conv1x1_3x5_f32(const float *x MCU_UNUSED,
                                                         float *y MCU_UNUSED,
                                                         const float *weights MCU_UNUSED,
                                                         uint8_t *scratch MCU_UNUSED) {
    /* clang-format off */
    __asm__(".syntax unified\n"
            "    push {r4}\n"
            "    vpush {d8-d14}\n"
            "    str r1, [r3, #4]\n"                /* y, [frame, #4] */
            "    str r2, [r3, #8]\n"                /* weights, [frame, #8] */
            "    str r0, [r3]\n"                    /* x, [frame] */
            "    movw r0, #11\n"                    /* free, #11 */
            "    str r0, [r3, #24]\n"               /* free, [frame, #24] */
            "1:\n"
            /* 3 pixels, some filters at a time. */
            "    ldr r2, [r3]\n"                    /* window0, [frame] */
            "    add r1, r2, #12\n"                 /* window1, window0, #12 */
            "    add r4, r1, #12\n"                 /* window2, window1, #12 */
            "    add r0, r4, #12\n"                 /* free, window2, #12 */
            "    str r0, [r3]\n"                    /* free, [frame] */
            "    ldr r0, [r3, #8]\n"                /* weights_at, [frame, #8] */
            /* weights_at!, {sum0, sum1, sum2, sum3, sum4} */
            "    vldmia r0!, {s6-s10}\n"
            "    vmov s17, s6\n"                    /* sum5, sum0 */
            "    vmov s18, s7\n"                    /* sum6, sum1 */
            "    vmov s19, s8\n"                    /* sum7, sum2 */
            "    vmov s20, s9\n"                    /* sum8, sum3 */
            "    vmov s21, s10\n"                   /* sum9, sum4 */
            "    vmov s22, s6\n"                    /* sum10, sum0 */
            "    vmov s23, s7\n"                    /* sum11, sum1 */
            "    vmov s24, s8\n"                    /* sum12, sum2 */
            "    vmov s25, s9\n"                    /* sum13, sum3 */
            "    vmov s26, s10\n"                   /* sum14, sum4 */
            "    vldmia r2!, {s11-s12}\n"           /* window0!, {x0_0, x0_1} */
            "    vldmia r1!, {s13-s14}\n"           /* window1!, {x1_0, x1_1} */
            "    vldmia r4!, {s15-s16}\n"           /* window2!, {x2_0, x2_1} */
            /* weights_at!, {weights0.low, weights0.high, weights1.low, weights1.high, */
            /* weights2.low} */
            "    vldmia r0!, {s0-s4}\n"
            "    vmul.f32 s27, s11, s0\n"           /* product0, x0_0, weights0.low */
            "    vmul.f32 s28, s11, s1\n"           /* product1, x0_0, weights0.high */
            "    vadd.f32 s6, s6, s27\n"            /* sum0, sum0, product0 */
            "    vmul.f32 s27, s11, s2\n"           /* product0, x0_0, weights1.low */
            "    vadd.f32 s7, s7, s28\n"            /* sum1, sum1, product1 */
            "    vmul.f32 s28, s11, s3\n"           /* product1, x0_0, weights1.high */
            "    vadd.f32 s8, s8, s27\n"            /* sum2, sum2, product0 */
            "    vmul.f32 s27, s11, s4\n"           /* product0, x0_0, weights2.low */
            "    vadd.f32 s9, s9, s28\n"            /* sum3, sum3, product1 */
            "    vmul.f32 s28, s13, s0\n"           /* product1, x1_0, weights0.low */
            "    vadd.f32 s10, s10, s27\n"          /* sum4, sum4, product0 */
            "    vmul.f32 s27, s13, s1\n"           /* product0, x1_0, weights0.high */
            "    vadd.f32 s17, s17, s28\n"          /* sum5, sum5, product1 */
            "    vmul.f32 s28, s13, s2\n"           /* product1, x1_0, weights1.low */
            "    vadd.f32 s18, s18, s27\n"          /* sum6, sum6, product0 */
            "    vmul.f32 s27, s13, s3\n"           /* product0, x1_0, weights1.high */
            "    vadd.f32 s19, s19, s28\n"          /* sum7, sum7, product1 */
            "    vmul.f32 s28, s13, s4\n"           /* product1, x1_0, weights2.low */
            "    vadd.f32 s20, s20, s27\n"          /* sum8, sum8, product0 */
            "    vmul.f32 s27, s15, s0\n"           /* product0, x2_0, weights0.low */
            "    vadd.f32 s21, s21, s28\n"          /* sum9, sum9, product1 */
            "    vmul.f32 s28, s15, s1\n"           /* product1, x2_0, weights0.high */
            "    vadd.f32 s22, s22, s27\n"          /* sum10, sum10, product0 */
            "    vmul.f32 s27, s15, s2\n"           /* product0, x2_0, weights1.low */
            "    vadd.f32 s23, s23, s28\n"          /* sum11, sum11, product1 */
            "    vmul.f32 s28, s15, s3\n"           /* product1, x2_0, weights1.high */
            "    vadd.f32 s24, s24, s27\n"          /* sum12, sum12, product0 */
            "    vmul.f32 s27, s15, s4\n"           /* product0, x2_0, weights2.low */
            "    vadd.f32 s25, s25, s28\n"          /* sum13, sum13, product1 */
            /* weights_at!, {weights0.low, weights0.high, weights1.low, weights1.high, */
            /* weights2.low} */
            "    vldmia r0!, {s0-s4}\n"
            "    vmul.f32 s28, s12, s0\n"           /* product1, x0_1, weights0.low */
            "    vadd.f32 s26, s26, s27\n"          /* sum14, sum14, product0 */
            "    vmul.f32 s27, s12, s1\n"           /* product0, x0_1, weights0.high */
            "    vadd.f32 s6, s6, s28\n"            /* sum0, sum0, product1 */
            "    vmul.f32 s28, s12, s2\n"           /* product1, x0_1, weights1.low */
            "    vadd.f32 s7, s7, s27\n"            /* sum1, sum1, product0 */
            "    vmul.f32 s27, s12, s3\n"           /* product0, x0_1, weights1.high */
            "    vadd.f32 s8, s8, s28\n"            /* sum2, sum2, product1 */
            "    vmul.f32 s28, s12, s4\n"           /* product1, x0_1, weights2.low */
            "    vadd.f32 s9, s9, s27\n"            /* sum3, sum3, product0 */
            "    vmul.f32 s27, s14, s0\n"           /* product0, x1_1, weights0.low */
            "    vadd.f32 s10, s10, s28\n"          /* sum4, sum4, product1 */
            "    vmul.f32 s28, s14, s1\n"           /* product1, x1_1, weights0.high */
            "    vadd.f32 s17, s17, s27\n"          /* sum5, sum5, product0 */
            "    vmul.f32 s27, s14, s2\n"           /* product0, x1_1, weights1.low */
            "    vadd.f32 s18, s18, s28\n"          /* sum6, sum6, product1 */
            "    vmul.f32 s28, s14, s3\n"           /* product1, x1_1, weights1.high */
            "    vadd.f32 s19, s19, s27\n"          /* sum7, sum7, product0 */
            "    vmul.f32 s27, s14, s4\n"           /* product0, x1_1, weights2.low */
            "    vadd.f32 s20, s20, s28\n"          /* sum8, sum8, product1 */
            "    vmul.f32 s28, s16, s0\n"           /* product1, x2_1, weights0.low */
            "    vadd.f32 s21, s21, s27\n"          /* sum9, sum9, product0 */
            "    vmul.f32 s27, s16, s1\n"           /* product0, x2_1, weights0.high */
            "    vadd.f32 s22, s22, s28\n"          /* sum10, sum10, product1 */
            "    vmul.f32 s28, s16, s2\n"           /* product1, x2_1, weights1.low */
            "    vadd.f32 s23, s23, s27\n"          /* sum11, sum11, product0 */
            "    vmul.f32 s27, s16, s3\n"           /* product0, x2_1, weights1.high */
            "    vadd.f32 s24, s24, s28\n"          /* sum12, sum12, product1 */
            "    vmul.f32 s28, s16, s4\n"           /* product1, x2_1, weights2.low */
            "    vadd.f32 s25, s25, s27\n"          /* sum13, sum13, product0 */
            "    vldmia r2!, {s11}\n"               /* window0!, {x0_0} */
            "    vldmia r1!, {s13}\n"               /* window1!, {x1_0} */
            "    vldmia r4!, {s15}\n"               /* window2!, {x2_0} */
            /* weights_at!, {weights0.low, weights0.high, weights1.low, weights1.high, */
            /* weights2.low} */
            "    vldmia r0!, {s0-s4}\n"
            "    vmul.f32 s27, s11, s0\n"           /* product0, x0_0, weights0.low */
            "    vadd.f32 s26, s26, s28\n"          /* sum14, sum14, product1 */
            "    vmul.f32 s28, s11, s1\n"           /* product1, x0_0, weights0.high */
            "    vadd.f32 s6, s6, s27\n"            /* sum0, sum0, product0 */
            "    vmul.f32 s27, s11, s2\n"           /* product0, x0_0, weights1.low */
            "    vadd.f32 s7, s7, s28\n"            /* sum1, sum1, product1 */
            "    vmul.f32 s28, s11, s3\n"           /* product1, x0_0, weights1.high */
            "    vadd.f32 s8, s8, s27\n"            /* sum2, sum2, product0 */
            "    vmul.f32 s27, s11, s4\n"           /* product0, x0_0, weights2.low */
            "    vadd.f32 s9, s9, s28\n"            /* sum3, sum3, product1 */
            "    vmul.f32 s28, s13, s0\n"           /* product1, x1_0, weights0.low */
            "    vadd.f32 s10, s10, s27\n"          /* sum4, sum4, product0 */
            "    vmul.f32 s27, s13, s1\n"           /* product0, x1_0, weights0.high */
            "    vadd.f32 s17, s17, s28\n"          /* sum5, sum5, product1 */
            "    vmul.f32 s28, s13, s2\n"           /* product1, x1_0, weights1.low */
            "    vadd.f32 s18, s18, s27\n"          /* sum6, sum6, product0 */
            "    vmul.f32 s27, s13, s3\n"           /* product0, x1_0, weights1.high */
            "    vadd.f32 s19, s19, s28\n"          /* sum7, sum7, product1 */
            "    vmul.f32 s28, s13, s4\n"           /* product1, x1_0, weights2.low */
            "    vadd.f32 s20, s20, s27\n"          /* sum8, sum8, product0 */
            "    vmul.f32 s27, s15, s0\n"           /* product0, x2_0, weights0.low */
            "    vadd.f32 s21, s21, s28\n"          /* sum9, sum9, product1 */
            "    vmul.f32 s28, s15, s1\n"           /* product1, x2_0, weights0.high */
            "    vadd.f32 s22, s22, s27\n"          /* sum10, sum10, product0 */
            "    vmul.f32 s27, s15, s2\n"           /* product0, x2_0, weights1.low */
            "    vadd.f32 s23, s23, s28\n"          /* sum11, sum11, product1 */
            "    vmul.f32 s28, s15, s3\n"           /* product1, x2_0, weights1.high */
            "    vadd.f32 s24, s24, s27\n"          /* sum12, sum12, product0 */
            "    vmul.f32 s27, s15, s4\n"           /* product0, x2_0, weights2.low */
            "    vadd.f32 s25, s25, s28\n"          /* sum13, sum13, product1 */
            "    vadd.f32 s26, s26, s27\n"          /* sum14, sum14, product0 */
            "    sub r2, r2, #12\n"                 /* window0, window0, #12 */
            "    sub r1, r1, #12\n"                 /* window1, window1, #12 */
            "    sub r4, r4, #12\n"                 /* window2, window2, #12 */
            "    movw r0, #0\n"                     /* free, #0 */
            "    vmov s0, r0\n"                     /* least, free */
            "    vcmp.f32 s6, s0\n"                 /* sum0, least */
            "    vmrs APSR_nzcv, fpscr\n"
            "    it mi\n"
            "    vmovmi s6, s0\n"                   /* sum0, least */
            "    vcmp.f32 s7, s0\n"                 /* sum1, least */
            "    vmrs APSR_nzcv, fpscr\n"
            "    it mi\n"
            "    vmovmi s7, s0\n"                   /* sum1, least */
            "    vcmp.f32 s8, s0\n"                 /* sum2, least */
            "    vmrs APSR_nzcv, fpscr\n"
            "    it mi\n"
            "    vmovmi s8, s0\n"                   /* sum2, least */
            "    vcmp.f32 s9, s0\n"                 /* sum3, least */
            "    vmrs APSR_nzcv, fpscr\n"
            "    it mi\n"
            "    vmovmi s9, s0\n"                   /* sum3, least */
            "    vcmp.f32 s10, s0\n"                /* sum4, least */
            "    vmrs APSR_nzcv, fpscr\n"
            "    it mi\n"
            "    vmovmi s10, s0\n"                  /* sum4, least */
            "    vcmp.f32 s17, s0\n"                /* sum5, least */
            "    vmrs APSR_nzcv, fpscr\n"
            "    it mi\n"
            "    vmovmi s17, s0\n"                  /* sum5, least */
            "    vcmp.f32 s18, s0\n"                /* sum6, least */
            "    vmrs APSR_nzcv, fpscr\n"
            "    it mi\n"
            "    vmovmi s18, s0\n"                  /* sum6, least */
            "    vcmp.f32 s19, s0\n"                /* sum7, least */
            "    vmrs APSR_nzcv, fpscr\n"
            "    it mi\n"
            "    vmovmi s19, s0\n"                  /* sum7, least */
            "    vcmp.f32 s20, s0\n"                /* sum8, least */
            "    vmrs APSR_nzcv, fpscr\n"
            "    it mi\n"
            "    vmovmi s20, s0\n"                  /* sum8, least */
            "    vcmp.f32 s21, s0\n"                /* sum9, least */
            "    vmrs APSR_nzcv, fpscr\n"
            "    it mi\n"
            "    vmovmi s21, s0\n"                  /* sum9, least */
            "    vcmp.f32 s22, s0\n"                /* sum10, least */
            "    vmrs APSR_nzcv, fpscr\n"
            "    it mi\n"
            "    vmovmi s22, s0\n"                  /* sum10, least */
            "    vcmp.f32 s23, s0\n"                /* sum11, least */
            "    vmrs APSR_nzcv, fpscr\n"
            "    it mi\n"
            "    vmovmi s23, s0\n"                  /* sum11, least */
            "    vcmp.f32 s24, s0\n"                /* sum12, least */
            "    vmrs APSR_nzcv, fpscr\n"
            "    it mi\n"
            "    vmovmi s24, s0\n"                  /* sum12, least */
            "    vcmp.f32 s25, s0\n"                /* sum13, least */
            "    vmrs APSR_nzcv, fpscr\n"
            "    it mi\n"
            "    vmovmi s25, s0\n"                  /* sum13, least */
            "    vcmp.f32 s26, s0\n"                /* sum14, least */
            "    vmrs APSR_nzcv, fpscr\n"
            "    it mi\n"
            "    vmovmi s26, s0\n"                  /* sum14, least */
            "    movw r0, #0\n"                     /* free, #0 */
            "    movt r0, #16576\n"                 /* free, #16576 */
            "    vmov s0, r0\n"                     /* most, free */
            "    vcmp.f32 s6, s0\n"                 /* sum0, most */
            "    vmrs APSR_nzcv, fpscr\n"
            "    it gt\n"
            "    vmovgt s6, s0\n"                   /* sum0, most */
            "    vcmp.f32 s7, s0\n"                 /* sum1, most */
            "    vmrs APSR_nzcv, fpscr\n"
            "    it gt\n"
            "    vmovgt s7, s0\n"                   /* sum1, most */
            "    vcmp.f32 s8, s0\n"                 /* sum2, most */
            "    vmrs APSR_nzcv, fpscr\n"
            "    it gt\n"
            "    vmovgt s8, s0\n"                   /* sum2, most */
            "    vcmp.f32 s9, s0\n"                 /* sum3, most */
            "    vmrs APSR_nzcv, fpscr\n"
            "    it gt\n"
            "    vmovgt s9, s0\n"                   /* sum3, most */
            "    vcmp.f32 s10, s0\n"                /* sum4, most */
            "    vmrs APSR_nzcv, fpscr\n"
            "    it gt\n"
            "    vmovgt s10, s0\n"                  /* sum4, most */
            "    vcmp.f32 s17, s0\n"                /* sum5, most */
            "    vmrs APSR_nzcv, fpscr\n"
            "    it gt\n"
            "    vmovgt s17, s0\n"                  /* sum5, most */
            "    vcmp.f32 s18, s0\n"                /* sum6, most */
            "    vmrs APSR_nzcv, fpscr\n"
            "    it gt\n"
            "    vmovgt s18, s0\n"                  /* sum6, most */
            "    vcmp.f32 s19, s0\n"                /* sum7, most */
            "    vmrs APSR_nzcv, fpscr\n"
            "    it gt\n"
            "    vmovgt s19, s0\n"                  /* sum7, most */
            "    vcmp.f32 s20, s0\n"                /* sum8, most */
            "    vmrs APSR_nzcv, fpscr\n"
            "    it gt\n"
            "    vmovgt s20, s0\n"                  /* sum8, most */
            "    vcmp.f32 s21, s0\n"                /* sum9, most */
            "    vmrs APSR_nzcv, fpscr\n"
            "    it gt\n"
            "    vmovgt s21, s0\n"                  /* sum9, most */
            "    vcmp.f32 s22, s0\n"                /* sum10, most */
            "    vmrs APSR_nzcv, fpscr\n"
            "    it gt\n"
            "    vmovgt s22, s0\n"                  /* sum10, most */
            "    vcmp.f32 s23, s0\n"                /* sum11, most */
            "    vmrs APSR_nzcv, fpscr\n"
            "    it gt\n"
            "    vmovgt s23, s0\n"                  /* sum11, most */
            "    vcmp.f32 s24, s0\n"                /* sum12, most */
            "    vmrs APSR_nzcv, fpscr\n"
            "    it gt\n"
            "    vmovgt s24, s0\n"                  /* sum12, most */
            "    vcmp.f32 s25, s0\n"                /* sum13, most */
            "    vmrs APSR_nzcv, fpscr\n"
            "    it gt\n"
            "    vmovgt s25, s0\n"                  /* sum13, most */
            "    vcmp.f32 s26, s0\n"                /* sum14, most */
            "    vmrs APSR_nzcv, fpscr\n"
            "    it gt\n"
            "    vmovgt s26, s0\n"                  /* sum14, most */
            "    ldr r0, [r3, #4]\n"                /* out, [frame, #4] */
            "    vstr s6, [r0]\n"                   /* sum0, [out] */
            "    vstr s7, [r0, #4]\n"               /* sum1, [out, #4] */
            "    vstr s8, [r0, #8]\n"               /* sum2, [out, #8] */
            "    vstr s9, [r0, #12]\n"              /* sum3, [out, #12] */
            "    vstr s10, [r0, #16]\n"             /* sum4, [out, #16] */
            "    vstr s17, [r0, #20]\n"             /* sum5, [out, #20] */
            "    vstr s18, [r0, #24]\n"             /* sum6, [out, #24] */
            "    vstr s19, [r0, #28]\n"             /* sum7, [out, #28] */
            "    vstr s20, [r0, #32]\n"             /* sum8, [out, #32] */
            "    vstr s21, [r0, #36]\n"             /* sum9, [out, #36] */
            "    vstr s22, [r0, #40]\n"             /* sum10, [out, #40] */
            "    vstr s23, [r0, #44]\n"             /* sum11, [out, #44] */
            "    vstr s24, [r0, #48]\n"             /* sum12, [out, #48] */
            "    vstr s25, [r0, #52]\n"             /* sum13, [out, #52] */
            "    vstr s26, [r0, #56]\n"             /* sum14, [out, #56] */
            "    add r0, r0, #20\n"                 /* out, out, #20 */
            "    str r0, [r3, #4]\n"                /* out, [frame, #4] */
            "    ldr r0, [r3, #4]\n"                /* out, [frame, #4] */
            "    add r0, r0, #40\n"                 /* out, out, #40 */
            "    str r0, [r3, #4]\n"                /* out, [frame, #4] */
            "    ldr r0, [r3, #24]\n"               /* free, [frame, #24] */
            "    subs r0, r0, #1\n"                 /* free, free, #1 */
            "    str r0, [r3, #24]\n"               /* free, [frame, #24] */
            "    bne 1b\n"
            /* 2 pixels, some filters at a time. */
            "    ldr r2, [r3]\n"                    /* window0, [frame] */
            "    add r1, r2, #12\n"                 /* window1, window0, #12 */
            "    add r0, r1, #12\n"                 /* free, window1, #12 */
            "    str r0, [r3]\n"                    /* free, [frame] */
            "    ldr r0, [r3, #8]\n"                /* weights_at, [frame, #8] */
            /* weights_at!, {sum0, sum1, sum2, sum3, sum4} */
            "    vldmia r0!, {s6-s10}\n"
            "    vmov s17, s6\n"                    /* sum5, sum0 */
            "    vmov s18, s7\n"                    /* sum6, sum1 */
            "    vmov s19, s8\n"                    /* sum7, sum2 */
            "    vmov s20, s9\n"                    /* sum8, sum3 */
            "    vmov s21, s10\n"                   /* sum9, sum4 */
            "    vldmia r2!, {s11-s12}\n"           /* window0!, {x0_0, x0_1} */
            "    vldmia r1!, {s13-s14}\n"           /* window1!, {x1_0, x1_1} */
            /* weights_at!, {weights0.low, weights0.high, weights1.low, weights1.high, */
            /* weights2.low} */
            "    vldmia r0!, {s0-s4}\n"
            "    vmul.f32 s28, s11, s0\n"           /* product1, x0_0, weights0.low */
            "    vmul.f32 s27, s11, s1\n"           /* product0, x0_0, weights0.high */
            "    vadd.f32 s6, s6, s28\n"            /* sum0, sum0, product1 */
            "    vmul.f32 s28, s11, s2\n"           /* product1, x0_0, weights1.low */
            "    vadd.f32 s7, s7, s27\n"            /* sum1, sum1, product0 */
            "    vmul.f32 s27, s11, s3\n"           /* product0, x0_0, weights1.high */
            "    vadd.f32 s8, s8, s28\n"            /* sum2, sum2, product1 */
            "    vmul.f32 s28, s11, s4\n"           /* product1, x0_0, weights2.low */
            "    vadd.f32 s9, s9, s27\n"            /* sum3, sum3, product0 */
            "    vmul.f32 s27, s13, s0\n"           /* product0, x1_0, weights0.low */
            "    vadd.f32 s10, s10, s28\n"          /* sum4, sum4, product1 */
            "    vmul.f32 s28, s13, s1\n"           /* product1, x1_0, weights0.high */
            "    vadd.f32 s17, s17, s27\n"          /* sum5, sum5, product0 */
            "    vmul.f32 s27, s13, s2\n"           /* product0, x1_0, weights1.low */
            "    vadd.f32 s18, s18, s28\n"          /* sum6, sum6, product1 */
            "    vmul.f32 s28, s13, s3\n"           /* product1, x1_0, weights1.high */
            "    vadd.f32 s19, s19, s27\n"          /* sum7, sum7, product0 */
            "    vmul.f32 s27, s13, s4\n"           /* product0, x1_0, weights2.low */
            "    vadd.f32 s20, s20, s28\n"          /* sum8, sum8, product1 */
            /* weights_at!, {weights0.low, weights0.high, weights1.low, weights1.high, */
            /* weights2.low} */
            "    vldmia r0!, {s0-s4}\n"
            "    vmul.f32 s28, s12, s0\n"           /* product1, x0_1, weights0.low */
            "    vadd.f32 s21, s21, s27\n"          /* sum9, sum9, product0 */
            "    vmul.f32 s27, s12, s1\n"           /* product0, x0_1, weights0.high */
            "    vadd.f32 s6, s6, s28\n"            /* sum0, sum0, product1 */
            "    vmul.f32 s28, s12, s2\n"           /* product1, x0_1, weights1.low */
            "    vadd.f32 s7, s7, s27\n"            /* sum1, sum1, product0 */
            "    vmul.f32 s27, s12, s3\n"           /* product0, x0_1, weights1.high */
            "    vadd.f32 s8, s8, s28\n"            /* sum2, sum2, product1 */
            "    vmul.f32 s28, s12, s4\n"           /* product1, x0_1, weights2.low */
            "    vadd.f32 s9, s9, s27\n"            /* sum3, sum3, product0 */
            "    vmul.f32 s27, s14, s0\n"           /* product0, x1_1, weights0.low */
            "    vadd.f32 s10, s10, s28\n"          /* sum4, sum4, product1 */
            "    vmul.f32 s28, s14, s1\n"           /* product1, x1_1, weights0.high */
            "    vadd.f32 s17, s17, s27\n"          /* sum5, sum5, product0 */
            "    vmul.f32 s27, s14, s2\n"           /* product0, x1_1, weights1.low */
            "    vadd.f32 s18, s18, s28\n"          /* sum6, sum6, product1 */
            "    vmul.f32 s28, s14, s3\n"           /* product1, x1_1, weights1.high */
            "    vadd.f32 s19, s19, s27\n"          /* sum7, sum7, product0 */
            "    vmul.f32 s27, s14, s4\n"           /* product0, x1_1, weights2.low */
            "    vadd.f32 s20, s20, s28\n"          /* sum8, sum8, product1 */
            "    vldmia r2!, {s11}\n"               /* window0!, {x0_0} */
            "    vldmia r1!, {s13}\n"               /* window1!, {x1_0} */
            /* weights_at!, {weights0.low, weights0.high, weights1.low, weights1.high, */
            /* weights2.low} */
            "    vldmia r0!, {s0-s4}\n"
            "    vmul.f32 s28, s11, s0\n"           /* product1, x0_0, weights0.low */
            "    vadd.f32 s21, s21, s27\n"          /* sum9, sum9, product0 */
            "    vmul.f32 s27, s11, s1\n"           /* product0, x0_0, weights0.high */
            "    vadd.f32 s6, s6, s28\n"            /* sum0, sum0, product1 */
            "    vmul.f32 s28, s11, s2\n"           /* product1, x0_0, weights1.low */
            "    vadd.f32 s7, s7, s27\n"            /* sum1, sum1, product0 */
            "    vmul.f32 s27, s11, s3\n"           /* product0, x0_0, weights1.high */
            "    vadd.f32 s8, s8, s28\n"            /* sum2, sum2, product1 */
            "    vmul.f32 s28, s11, s4\n"           /* product1, x0_0, weights2.low */
            "    vadd.f32 s9, s9, s27\n"            /* sum3, sum3, product0 */
            "    vmul.f32 s27, s13, s0\n"           /* product0, x1_0, weights0.low */
            "    vadd.f32 s10, s10, s28\n"          /* sum4, sum4, product1 */
            "    vmul.f32 s28, s13, s1\n"           /* product1, x1_0, weights0.high */
            "    vadd.f32 s17, s17, s27\n"          /* sum5, sum5, product0 */
            "    vmul.f32 s27, s13, s2\n"           /* product0, x1_0, weights1.low */
            "    vadd.f32 s18, s18, s28\n"          /* sum6, sum6, product1 */
            "    vmul.f32 s28, s13, s3\n"           /* product1, x1_0, weights1.high */
            "    vadd.f32 s19, s19, s27\n"          /* sum7, sum7, product0 */
            "    vmul.f32 s27, s13, s4\n"           /* product0, x1_0, weights2.low */
            "    vadd.f32 s20, s20, s28\n"          /* sum8, sum8, product1 */
            "    vadd.f32 s21, s21, s27\n"          /* sum9, sum9, product0 */
            "    sub r2, r2, #12\n"                 /* window0, window0, #12 */
            "    sub r1, r1, #12\n"                 /* window1, window1, #12 */
            "    movw r0, #0\n"                     /* free, #0 */
            "    vmov s0, r0\n"                     /* least, free */
            "    vcmp.f32 s6, s0\n"                 /* sum0, least */
            "    vmrs APSR_nzcv, fpscr\n"
            "    it mi\n"
            "    vmovmi s6, s0\n"                   /* sum0, least */
            "    vcmp.f32 s7, s0\n"                 /* sum1, least */
            "    vmrs APSR_nzcv, fpscr\n"
            "    it mi\n"
            "    vmovmi s7, s0\n"                   /* sum1, least */
            "    vcmp.f32 s8, s0\n"                 /* sum2, least */
            "    vmrs APSR_nzcv, fpscr\n"
            "    it mi\n"
            "    vmovmi s8, s0\n"                   /* sum2, least */
            "    vcmp.f32 s9, s0\n"                 /* sum3, least */
            "    vmrs APSR_nzcv, fpscr\n"
            "    it mi\n"
            "    vmovmi s9, s0\n"                   /* sum3, least */
            "    vcmp.f32 s10, s0\n"                /* sum4, least */
            "    vmrs APSR_nzcv, fpscr\n"
            "    it mi\n"
            "    vmovmi s10, s0\n"                  /* sum4, least */
            "    vcmp.f32 s17, s0\n"                /* sum5, least */
            "    vmrs APSR_nzcv, fpscr\n"
            "    it mi\n"
            "    vmovmi s17, s0\n"                  /* sum5, least */
            "    vcmp.f32 s18, s0\n"                /* sum6, least */
            "    vmrs APSR_nzcv, fpscr\n"
            "    it mi\n"
            "    vmovmi s18, s0\n"                  /* sum6, least */
            "    vcmp.f32 s19, s0\n"                /* sum7, least */
            "    vmrs APSR_nzcv, fpscr\n"
            "    it mi\n"
            "    vmovmi s19, s0\n"                  /* sum7, least */
            "    vcmp.f32 s20, s0\n"                /* sum8, least */
            "    vmrs APSR_nzcv, fpscr\n"
            "    it mi\n"
            "    vmovmi s20, s0\n"                  /* sum8, least */
            "    vcmp.f32 s21, s0\n"                /* sum9, least */
            "    vmrs APSR_nzcv, fpscr\n"
            "    it mi\n"
            "    vmovmi s21, s0\n"                  /* sum9, least */
            "    movw r0, #0\n"                     /* free, #0 */
            "    movt r0, #16576\n"                 /* free, #16576 */
            "    vmov s0, r0\n"                     /* most, free */
            "    vcmp.f32 s6, s0\n"                 /* sum0, most */
            "    vmrs APSR_nzcv, fpscr\n"
            "    it gt\n"
            "    vmovgt s6, s0\n"                   /* sum0, most */
            "    vcmp.f32 s7, s0\n"                 /* sum1, most */
            "    vmrs APSR_nzcv, fpscr\n"
            "    it gt\n"
            "    vmovgt s7, s0\n"                   /* sum1, most */
            "    vcmp.f32 s8, s0\n"                 /* sum2, most */
            "    vmrs APSR_nzcv, fpscr\n"
            "    it gt\n"
            "    vmovgt s8, s0\n"                   /* sum2, most */
            "    vcmp.f32 s9, s0\n"                 /* sum3, most */
            "    vmrs APSR_nzcv, fpscr\n"
            "    it gt\n"
            "    vmovgt s9, s0\n"                   /* sum3, most */
            "    vcmp.f32 s10, s0\n"                /* sum4, most */
            "    vmrs APSR_nzcv, fpscr\n"
            "    it gt\n"
            "    vmovgt s10, s0\n"                  /* sum4, most */
            "    vcmp.f32 s17, s0\n"                /* sum5, most */
            "    vmrs APSR_nzcv, fpscr\n"
            "    it gt\n"
            "    vmovgt s17, s0\n"                  /* sum5, most */
            "    vcmp.f32 s18, s0\n"                /* sum6, most */
            "    vmrs APSR_nzcv, fpscr\n"
            "    it gt\n"
            "    vmovgt s18, s0\n"                  /* sum6, most */
            "    vcmp.f32 s19, s0\n"                /* sum7, most */
            "    vmrs APSR_nzcv, fpscr\n"
            "    it gt\n"
            "    vmovgt s19, s0\n"                  /* sum7, most */
            "    vcmp.f32 s20, s0\n"                /* sum8, most */
            "    vmrs APSR_nzcv, fpscr\n"
            "    it gt\n"
            "    vmovgt s20, s0\n"                  /* sum8, most */
            "    vcmp.f32 s21, s0\n"                /* sum9, most */
            "    vmrs APSR_nzcv, fpscr\n"
            "    it gt\n"
            "    vmovgt s21, s0\n"                  /* sum9, most */
            "    ldr r0, [r3, #4]\n"                /* out, [frame, #4] */
            "    vstr s6, [r0]\n"                   /* sum0, [out] */
            "    vstr s7, [r0, #4]\n"               /* sum1, [out, #4] */
            "    vstr s8, [r0, #8]\n"               /* sum2, [out, #8] */
            "    vstr s9, [r0, #12]\n"              /* sum3, [out, #12] */
            "    vstr s10, [r0, #16]\n"             /* sum4, [out, #16] */
            "    vstr s17, [r0, #20]\n"             /* sum5, [out, #20] */
            "    vstr s18, [r0, #24]\n"             /* sum6, [out, #24] */
            "    vstr s19, [r0, #28]\n"             /* sum7, [out, #28] */
            "    vstr s20, [r0, #32]\n"             /* sum8, [out, #32] */
            "    vstr s21, [r0, #36]\n"             /* sum9, [out, #36] */
            "    add r0, r0, #20\n"                 /* out, out, #20 */
            "    str r0, [r3, #4]\n"                /* out, [frame, #4] */
            "    ldr r0, [r3, #4]\n"                /* out, [frame, #4] */
            "    add r0, r0, #20\n"                 /* out, out, #20 */
            "    str r0, [r3, #4]\n"                /* out, [frame, #4] */
            "    vpop {d8-d14}\n"
            "    pop {r4}\n"
            "    bx lr\n");
    /* clang-format on */
}

MCU_FUNCTION void _mcu_dsp_float_pointwise_reorder_5x35_float32(const float *x, float *y) {
    for (int32_t i0 = 0; i0 < 5; i0++) {
        for (int32_t i1 = 0; i1 < 35; i1++) {
            *y++ = x[i0 + i1 * 5];
        }
    }
}

/* ---- The layers, in the order of execution ---- */

/* clang-format off */
static void _mcu_dsp_float_pointwise_layers(mcu_instance_t *instance) {
    uint8_t *const ws = instance->workspace;

    /* reshape_1_reorder: Reorder, of1 reordered: float32[1,3,5,7] -> float32[1,3,5,7] NHWC */
    float *const x = (float *)(ws + 336);
    float *const reshape_1_reorder = (float *)(ws + 64);
    MCU_LAYER(0, _mcu_dsp_float_pointwise_reorder_35x3_float32(x, reshape_1_reorder));

    /* conv_1: Conv, layer0 (2 nodes): float32[1,3,5,7] NHWC -> float32[1,5,5,7] NHWC; 525 MACs */
    float *const conv_1 = (float *)(ws + 544);
    uint8_t *const conv_1_scratch = (uint8_t *)(ws + 0);
    MCU_LAYER(1, _mcu_dsp_float_pointwise_conv1x1_3x5_f32(
        reshape_1_reorder, conv_1, _mcu_dsp_float_pointwise_conv_1_weights, conv_1_scratch));

    /* conv_1_reorder: Reorder, of3 reordered: float32[1,5,5,7] NHWC -> float32[1,5,5,7] */
    float *const conv_1_reorder = (float *)(ws + 0);
    MCU_LAYER(2, _mcu_dsp_float_pointwise_reorder_5x35_float32(conv_1, conv_1_reorder));
}

/* clang-format on */

