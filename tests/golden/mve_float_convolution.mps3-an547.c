/* ---- Kernels ---- */

/* Those in assembly are one string each, some longer than C99 wants compilers to take. */
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Woverlength-strings"
#endif

/* y[m][c][r] = x[m][r][c]: 1 times 6 rows of 30.
 * 4 neighbours of the input at a time; in the other one they are 24 bytes apart. */
MCU_KERNEL void _mcu_mve_float_convolution_reorder_1x6x30x4_mve(const float *x MCU_UNUSED,
                                                                float *y MCU_UNUSED) {
    /* clang-format off */
    __asm__(".syntax unified\n"
            "    push {r4, lr}\n"
            "    mov r2, #0\n"                      /* elements_of_row, #0 */
            "    vidup.u32 q0, r2, #1\n"            /* offsets, elements_of_row, #1 */
            "    movw r2, #24\n"                    /* bytes_apart, #24 */
            "    vmul.i32 q0, q0, r2\n"             /* offsets, offsets, bytes_apart */
            "    movw r4, #6\n"                     /* rows_left, #6 */
            "1:\n"
            "    mov r3, r1\n"                      /* place, y */
            "    movw r2, #30\n"                    /* elements_of_row, #30 */
            "    dlstp.32 lr, r2\n"                 /* rounds_left, elements_of_row */
            "2:\n"
            "    vldrw.u32 q1, [r0], #16\n"         /* elements, [x], #16 */
            "    vstrw.32 q1, [r3, q0]\n"           /* elements, [place, offsets] */
            "    add r3, r3, #96\n"                 /* place, place, #96 */
            "    letp lr, 2b\n"                     /* rounds_left */
            "    sub r0, r0, #8\n"                  /* x, x, #8 */
            "    add r1, r1, #4\n"                  /* y, y, #4 */
            "    subs r4, r4, #1\n"                 /* rows_left, rows_left, #1 */
            "    bne 1b\n"
            "    pop {r4, pc}\n");
    /* clang-format on */
}

/* y[p][f] = clamp(bias[f] + sum of window[p][k] * w[f][k]), float32; k: row, column,
 * channel, in this order, each product added with one rounding; what lies outside of
 * the image is left out. x: [row][column][channel], y: [p][f].
 * weights, of some filters at a time, of which four are a vector: their biases, then their
 * weights of each k.
 * scratch, in words: where image and output go on, the stream, the next row, its number, what is
 * left of rows, tiles, groups and filters; of the rows of a window that are outside the bytes of
 * their weights in front and behind, how many are inside, the way back over these. In place: the
 * windows of a tile are read for some filters, whose outputs are written, then for the next
 * ones. */
MCU_KERNEL void _mcu_mve_float_convolution_conv3x3_6x7_f32_mve(const float *x MCU_UNUSED,
                                                               float *y MCU_UNUSED,
                                                               const float *weights MCU_UNUSED,
                                                               uint8_t *scratch MCU_UNUSED) {
    /* clang-format off */
    __asm__(".syntax unified\n"
            "    push {r4-r9, lr}\n"
            "    vpush {d8-d9}\n"
            "    str r1, [r3, #4]\n"                /* y, [frame, #4] */
            "    str r2, [r3, #8]\n"                /* weights, [frame, #8] */
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
            "    movw r4, #5\n"                     /* by, #5 */
            "    add r0, r5, #144\n"                /* free, row, #144 */
            "    str r0, [r3, #12]\n"               /* free, [frame, #12] */
            "    ldr r0, [r3, #16]\n"               /* number, [frame, #16] */
            "    rsb r2, r0, #0\n"                  /* above, number, #0 */
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
            "    movw r4, #288\n"                   /* by, #288 */
            "    rsb r0, r1, #3\n"                  /* free, inside, #3 */
            "    mul r0, r0, r4\n"                  /* free, free, by */
            "    str r0, [r3, #40]\n"               /* free, [frame, #40] */
            "    mul r0, r2, r4\n"                  /* free, above, by */
            "    movw r4, #144\n"                   /* by, #144 */
            "    sub r1, r1, r2\n"                  /* inside, inside, above */
            "    mla r5, r2, r4, r5\n"              /* row, above, by, row */
            "    str r1, [r3, #44]\n"               /* inside, [frame, #44] */
            "    mul r4, r1, r4\n"                  /* by, inside, by */
            "    str r5, [r3]\n"                    /* row, [frame] */
            /* 3 pixels, four filters at a time. */
            "    ldr r1, [r3]\n"                    /* window0, [frame] */
            "    str r4, [r3, #48]\n"               /* by, [frame, #48] */
            "    add r4, r1, #24\n"                 /* window1, window0, #24 */
            "    add r2, r4, #24\n"                 /* window2, window1, #24 */
            "    str r0, [r3, #36]\n"               /* free, [frame, #36] */
            "    add r0, r2, #24\n"                 /* free, window2, #24 */
            "    str r0, [r3]\n"                    /* free, [frame] */
            "    movw r0, #7\n"                     /* free, #7 */
            "    ldr r5, [r3, #8]\n"                /* weights_at, [frame, #8] */
            "    str r0, [r3, #32]\n"               /* free, [frame, #32] */
            "2:\n"
            "    ldr r0, [r3, #36]\n"               /* free, [frame, #36] */
            "    vldrw.u32 q0, [r5], #16\n"         /* sum0, [weights_at], #16 */
            "    vmov q1, q0\n"                     /* sum1, sum0 */
            "    add r5, r5, r0\n"                  /* weights_at, weights_at, free */
            "    vmov q2, q0\n"                     /* sum2, sum0 */
            "    ldr r7, [r3, #44]\n"               /* rows_left, [frame, #44] */
            "3:\n"
            "    ldrd r6, lr, [r4], #8\n"           /* word1, next1, [window1], #8 */
            "    vldrw.u32 q3, [r5], #16\n"         /* filters0, [weights_at], #16 */
            "    vfma.f32 q1, q3, r6\n"             /* sum1, filters0, word1 */
            "    ldrd r8, r9, [r2], #8\n"           /* word2, next2, [window2], #8 */
            "    vldrw.u32 q4, [r5], #16\n"         /* filters1, [weights_at], #16 */
            "    vfma.f32 q2, q3, r8\n"             /* sum2, filters0, word2 */
            "    ldrd r0, r12, [r4], #8\n"          /* word0, next0, [window1], #8 */
            "    vfma.f32 q1, q4, lr\n"             /* sum1, filters1, next1 */
            "    vldrw.u32 q3, [r5], #16\n"         /* filters2, [weights_at], #16 */
            "    vfma.f32 q2, q4, r9\n"             /* sum2, filters1, next2 */
            "    ldrd r6, lr, [r2], #8\n"           /* word1, next1, [window2], #8 */
            "    vfma.f32 q1, q3, r0\n"             /* sum1, filters2, word0 */
            "    vldrw.u32 q4, [r5], #16\n"         /* filters3, [weights_at], #16 */
            "    vfma.f32 q2, q3, r6\n"             /* sum2, filters2, word1 */
            "    ldrd r8, r9, [r4], #8\n"           /* word2, next2, [window1], #8 */
            "    vfma.f32 q1, q4, r12\n"            /* sum1, filters3, next0 */
            "    vldrw.u32 q3, [r5], #16\n"         /* filters0, [weights_at], #16 */
            "    vfma.f32 q2, q4, lr\n"             /* sum2, filters3, next1 */
            "    ldrd r0, r12, [r2], #8\n"          /* word0, next0, [window2], #8 */
            "    vfma.f32 q1, q3, r8\n"             /* sum1, filters0, word2 */
            "    vldrw.u32 q4, [r5], #16\n"         /* filters1, [weights_at], #16 */
            "    vfma.f32 q2, q3, r0\n"             /* sum2, filters0, word0 */
            "    add r1, r1, #24\n"                 /* window0, window0, #24 */
            "    vfma.f32 q1, q4, r9\n"             /* sum1, filters1, next2 */
            "    ldrd r6, lr, [r1], #8\n"           /* word1, next1, [window0], #8 */
            "    vfma.f32 q2, q4, r12\n"            /* sum2, filters1, next0 */
            "    vldrw.u32 q3, [r5], #16\n"         /* filters2, [weights_at], #16 */
            "    vfma.f32 q0, q3, r6\n"             /* sum0, filters2, word1 */
            "    ldrd r8, r9, [r4], #8\n"           /* word2, next2, [window1], #8 */
            "    vldrw.u32 q4, [r5], #16\n"         /* filters3, [weights_at], #16 */
            "    vfma.f32 q1, q3, r8\n"             /* sum1, filters2, word2 */
            "    ldrd r0, r12, [r2], #8\n"          /* word0, next0, [window2], #8 */
            "    vfma.f32 q0, q4, lr\n"             /* sum0, filters3, next1 */
            "    ldrd r6, lr, [r1], #8\n"           /* word1, next1, [window0], #8 */
            "    vfma.f32 q1, q4, r9\n"             /* sum1, filters3, next2 */
            "    ldrd r8, r9, [r4], #8\n"           /* word2, next2, [window1], #8 */
            "    vfma.f32 q2, q3, r0\n"             /* sum2, filters2, word0 */
            "    vldrw.u32 q3, [r5], #16\n"         /* filters0, [weights_at], #16 */
            "    vfma.f32 q2, q4, r12\n"            /* sum2, filters3, next0 */
            "    vldrw.u32 q4, [r5], #16\n"         /* filters1, [weights_at], #16 */
            "    vfma.f32 q0, q3, r6\n"             /* sum0, filters0, word1 */
            "    ldrd r0, r12, [r2], #8\n"          /* word0, next0, [window2], #8 */
            "    vfma.f32 q1, q3, r8\n"             /* sum1, filters0, word2 */
            "    subs r7, r7, #1\n"                 /* rows_left, rows_left, #1 */
            "    vfma.f32 q0, q4, lr\n"             /* sum0, filters1, next1 */
            "    ldrd r6, lr, [r1], #8\n"           /* word1, next1, [window0], #8 */
            "    vfma.f32 q1, q4, r9\n"             /* sum1, filters1, next2 */
            "    ldrd r8, r9, [r4], #8\n"           /* word2, next2, [window1], #8 */
            "    vfma.f32 q2, q3, r0\n"             /* sum2, filters0, word0 */
            "    vldrw.u32 q3, [r5], #16\n"         /* filters2, [weights_at], #16 */
            "    vfma.f32 q2, q4, r12\n"            /* sum2, filters1, next0 */
            "    vldrw.u32 q4, [r5], #16\n"         /* filters3, [weights_at], #16 */
            "    vfma.f32 q0, q3, r6\n"             /* sum0, filters2, word1 */
            "    ldrd r0, r12, [r2], #8\n"          /* word0, next0, [window2], #8 */
            "    vfma.f32 q1, q3, r8\n"             /* sum1, filters2, word2 */
            "    vfma.f32 q0, q4, lr\n"             /* sum0, filters3, next1 */
            "    ldrd r6, lr, [r1], #8\n"           /* word1, next1, [window0], #8 */
            "    vfma.f32 q1, q4, r9\n"             /* sum1, filters3, next2 */
            "    ldrd r8, r9, [r4], #8\n"           /* word2, next2, [window1], #8 */
            "    vfma.f32 q2, q3, r0\n"             /* sum2, filters2, word0 */
            "    vldrw.u32 q3, [r5], #16\n"         /* filters0, [weights_at], #16 */
            "    vfma.f32 q2, q4, r12\n"            /* sum2, filters3, next0 */
            "    vldrw.u32 q4, [r5], #16\n"         /* filters1, [weights_at], #16 */
            "    vfma.f32 q0, q3, r6\n"             /* sum0, filters0, word1 */
            "    ldrd r0, r12, [r2], #8\n"          /* word0, next0, [window2], #8 */
            "    vfma.f32 q1, q3, r8\n"             /* sum1, filters0, word2 */
            "    vfma.f32 q0, q4, lr\n"             /* sum0, filters1, next1 */
            "    ldrd r6, lr, [r1], #8\n"           /* word1, next1, [window0], #8 */
            "    vfma.f32 q1, q4, r9\n"             /* sum1, filters1, next2 */
            "    ldrd r8, r9, [r4], #8\n"           /* word2, next2, [window1], #8 */
            "    vfma.f32 q2, q3, r0\n"             /* sum2, filters0, word0 */
            "    vldrw.u32 q3, [r5], #16\n"         /* filters2, [weights_at], #16 */
            "    vfma.f32 q2, q4, r12\n"            /* sum2, filters1, next0 */
            "    vldrw.u32 q4, [r5], #16\n"         /* filters3, [weights_at], #16 */
            "    vfma.f32 q0, q3, r6\n"             /* sum0, filters2, word1 */
            "    ldrd r0, r12, [r2], #8\n"          /* word0, next0, [window2], #8 */
            "    vfma.f32 q1, q3, r8\n"             /* sum1, filters2, word2 */
            "    vfma.f32 q0, q4, lr\n"             /* sum0, filters3, next1 */
            "    ldrd r6, lr, [r1], #8\n"           /* word1, next1, [window0], #8 */
            "    vfma.f32 q1, q4, r9\n"             /* sum1, filters3, next2 */
            "    ldrd r8, r9, [r4], #8\n"           /* word2, next2, [window1], #8 */
            "    vfma.f32 q2, q3, r0\n"             /* sum2, filters2, word0 */
            "    vldrw.u32 q3, [r5], #16\n"         /* filters0, [weights_at], #16 */
            "    vfma.f32 q2, q4, r12\n"            /* sum2, filters3, next0 */
            "    vldrw.u32 q4, [r5], #16\n"         /* filters1, [weights_at], #16 */
            "    vfma.f32 q0, q3, r6\n"             /* sum0, filters0, word1 */
            "    ldrd r0, r12, [r2], #8\n"          /* word0, next0, [window2], #8 */
            "    vfma.f32 q1, q3, r8\n"             /* sum1, filters0, word2 */
            "    add r1, r1, #72\n"                 /* window0, window0, #72 */
            "    vfma.f32 q0, q4, lr\n"             /* sum0, filters1, next1 */
            "    add r4, r4, #72\n"                 /* window1, window1, #72 */
            "    vfma.f32 q1, q4, r9\n"             /* sum1, filters1, next2 */
            "    add r2, r2, #72\n"                 /* window2, window2, #72 */
            "    vfma.f32 q2, q3, r0\n"             /* sum2, filters0, word0 */
            "    vfma.f32 q2, q4, r12\n"            /* sum2, filters1, next0 */
            "    bne 3b\n"
            "    ldr r0, [r3, #40]\n"               /* free, [frame, #40] */
            "    vmov.i32 q3, #0\n"                 /* filters0, #0 */
            "    add r5, r5, r0\n"                  /* weights_at, weights_at, free */
            "    ldr r0, [r3, #48]\n"               /* free, [frame, #48] */
            "    vmax.s32 q0, q0, q3\n"             /* sum0, sum0, filters0 */
            "    sub r1, r1, r0\n"                  /* window0, window0, free */
            "    sub r4, r4, r0\n"                  /* window1, window1, free */
            "    sub r2, r2, r0\n"                  /* window2, window2, free */
            "    vmax.s32 q1, q1, q3\n"             /* sum1, sum1, filters0 */
            "    movw r7, #0\n"                     /* rows_left, #0 */
            "    vmax.s32 q2, q2, q3\n"             /* sum2, sum2, filters0 */
            "    movt r7, #16576\n"                 /* rows_left, #16576 */
            "    vcmp.f32 gt, q0, r7\n"             /* gt, sum0, rows_left */
            "    ldr r6, [r3, #32]\n"               /* word1, [frame, #32] */
            "    vpst\n"
            "    vdupt.32 q0, r7\n"                 /* sum0, rows_left */
            "    vcmp.f32 gt, q1, r7\n"             /* gt, sum1, rows_left */
            "    ldr r0, [r3, #4]\n"                /* word0, [frame, #4] */
            "    vpst\n"
            "    vdupt.32 q1, r7\n"                 /* sum1, rows_left */
            "    vcmp.f32 gt, q2, r7\n"             /* gt, sum2, rows_left */
            "    mov r12, r0\n"                     /* next0, word0 */
            "    vpst\n"
            "    vdupt.32 q2, r7\n"                 /* sum2, rows_left */
            "    vctp.32 r6\n"                      /* word1 */
            "    add r0, r0, #16\n"                 /* word0, word0, #16 */
            "    vpst\n"
            "    vstrwt.32 q0, [r12]\n"             /* sum0, [next0] */
            "    add r12, r12, #28\n"               /* next0, next0, #28 */
            "    vpst\n"
            "    vstrwt.32 q1, [r12]\n"             /* sum1, [next0] */
            "    add r12, r12, #28\n"               /* next0, next0, #28 */
            "    vpst\n"
            "    vstrwt.32 q2, [r12]\n"             /* sum2, [next0] */
            "    subs r6, r6, #4\n"                 /* word1, word1, #4 */
            "    str r0, [r3, #4]\n"                /* word0, [frame, #4] */
            "    str r6, [r3, #32]\n"               /* word1, [frame, #32] */
            "    bgt 2b\n"
            /* 3 pixels, four filters at a time. */
            "    ldr r1, [r3]\n"                    /* window0, [frame] */
            "    ldr r0, [r3, #4]\n"                /* word0, [frame, #4] */
            "    add r4, r1, #24\n"                 /* window1, window0, #24 */
            "    add r0, r0, #52\n"                 /* word0, word0, #52 */
            "    add r2, r4, #24\n"                 /* window2, window1, #24 */
            "    str r0, [r3, #4]\n"                /* word0, [frame, #4] */
            "    add r0, r2, #24\n"                 /* free, window2, #24 */
            "    str r0, [r3]\n"                    /* free, [frame] */
            "    movw r0, #7\n"                     /* free, #7 */
            "    ldr r5, [r3, #8]\n"                /* weights_at, [frame, #8] */
            "    str r0, [r3, #32]\n"               /* free, [frame, #32] */
            "4:\n"
            "    ldr r0, [r3, #36]\n"               /* free, [frame, #36] */
            "    vldrw.u32 q0, [r5], #16\n"         /* sum0, [weights_at], #16 */
            "    vmov q1, q0\n"                     /* sum1, sum0 */
            "    add r5, r5, r0\n"                  /* weights_at, weights_at, free */
            "    vmov q2, q0\n"                     /* sum2, sum0 */
            "    ldr r7, [r3, #44]\n"               /* rows_left, [frame, #44] */
            "5:\n"
            "    ldrd r6, lr, [r1], #8\n"           /* word1, next1, [window0], #8 */
            "    vldrw.u32 q3, [r5], #16\n"         /* filters2, [weights_at], #16 */
            "    vfma.f32 q0, q3, r6\n"             /* sum0, filters2, word1 */
            "    ldrd r8, r9, [r4], #8\n"           /* word2, next2, [window1], #8 */
            "    vldrw.u32 q4, [r5], #16\n"         /* filters3, [weights_at], #16 */
            "    vfma.f32 q1, q3, r8\n"             /* sum1, filters2, word2 */
            "    ldrd r0, r12, [r2], #8\n"          /* word0, next0, [window2], #8 */
            "    vfma.f32 q0, q4, lr\n"             /* sum0, filters3, next1 */
            "    ldrd r6, lr, [r1], #8\n"           /* word1, next1, [window0], #8 */
            "    vfma.f32 q1, q4, r9\n"             /* sum1, filters3, next2 */
            "    ldrd r8, r9, [r4], #8\n"           /* word2, next2, [window1], #8 */
            "    vfma.f32 q2, q3, r0\n"             /* sum2, filters2, word0 */
            "    vldrw.u32 q3, [r5], #16\n"         /* filters0, [weights_at], #16 */
            "    vfma.f32 q2, q4, r12\n"            /* sum2, filters3, next0 */
            "    vldrw.u32 q4, [r5], #16\n"         /* filters1, [weights_at], #16 */
            "    vfma.f32 q0, q3, r6\n"             /* sum0, filters0, word1 */
            "    ldrd r0, r12, [r2], #8\n"          /* word0, next0, [window2], #8 */
            "    vfma.f32 q1, q3, r8\n"             /* sum1, filters0, word2 */
            "    subs r7, r7, #1\n"                 /* rows_left, rows_left, #1 */
            "    vfma.f32 q0, q4, lr\n"             /* sum0, filters1, next1 */
            "    ldrd r6, lr, [r1], #8\n"           /* word1, next1, [window0], #8 */
            "    vfma.f32 q1, q4, r9\n"             /* sum1, filters1, next2 */
            "    ldrd r8, r9, [r4], #8\n"           /* word2, next2, [window1], #8 */
            "    vfma.f32 q2, q3, r0\n"             /* sum2, filters0, word0 */
            "    vldrw.u32 q3, [r5], #16\n"         /* filters2, [weights_at], #16 */
            "    vfma.f32 q2, q4, r12\n"            /* sum2, filters1, next0 */
            "    vldrw.u32 q4, [r5], #16\n"         /* filters3, [weights_at], #16 */
            "    vfma.f32 q0, q3, r6\n"             /* sum0, filters2, word1 */
            "    ldrd r0, r12, [r2], #8\n"          /* word0, next0, [window2], #8 */
            "    vfma.f32 q1, q3, r8\n"             /* sum1, filters2, word2 */
            "    vfma.f32 q0, q4, lr\n"             /* sum0, filters3, next1 */
            "    ldrd r6, lr, [r1], #8\n"           /* word1, next1, [window0], #8 */
            "    vfma.f32 q1, q4, r9\n"             /* sum1, filters3, next2 */
            "    ldrd r8, r9, [r4], #8\n"           /* word2, next2, [window1], #8 */
            "    vfma.f32 q2, q3, r0\n"             /* sum2, filters2, word0 */
            "    vldrw.u32 q3, [r5], #16\n"         /* filters0, [weights_at], #16 */
            "    vfma.f32 q2, q4, r12\n"            /* sum2, filters3, next0 */
            "    vldrw.u32 q4, [r5], #16\n"         /* filters1, [weights_at], #16 */
            "    vfma.f32 q0, q3, r6\n"             /* sum0, filters0, word1 */
            "    ldrd r0, r12, [r2], #8\n"          /* word0, next0, [window2], #8 */
            "    vfma.f32 q1, q3, r8\n"             /* sum1, filters0, word2 */
            "    vfma.f32 q0, q4, lr\n"             /* sum0, filters1, next1 */
            "    ldrd r6, lr, [r1], #8\n"           /* word1, next1, [window0], #8 */
            "    vfma.f32 q1, q4, r9\n"             /* sum1, filters1, next2 */
            "    ldrd r8, r9, [r4], #8\n"           /* word2, next2, [window1], #8 */
            "    vfma.f32 q2, q3, r0\n"             /* sum2, filters0, word0 */
            "    vldrw.u32 q3, [r5], #16\n"         /* filters2, [weights_at], #16 */
            "    vfma.f32 q2, q4, r12\n"            /* sum2, filters1, next0 */
            "    vldrw.u32 q4, [r5], #16\n"         /* filters3, [weights_at], #16 */
            "    vfma.f32 q0, q3, r6\n"             /* sum0, filters2, word1 */
            "    ldrd r0, r12, [r2], #8\n"          /* word0, next0, [window2], #8 */
            "    vfma.f32 q1, q3, r8\n"             /* sum1, filters2, word2 */
            "    vfma.f32 q0, q4, lr\n"             /* sum0, filters3, next1 */
            "    ldrd r6, lr, [r1], #8\n"           /* word1, next1, [window0], #8 */
            "    vfma.f32 q1, q4, r9\n"             /* sum1, filters3, next2 */
            "    ldrd r8, r9, [r4], #8\n"           /* word2, next2, [window1], #8 */
            "    vfma.f32 q2, q3, r0\n"             /* sum2, filters2, word0 */
            "    vldrw.u32 q3, [r5], #16\n"         /* filters0, [weights_at], #16 */
            "    vfma.f32 q2, q4, r12\n"            /* sum2, filters3, next0 */
            "    vldrw.u32 q4, [r5], #16\n"         /* filters1, [weights_at], #16 */
            "    vfma.f32 q0, q3, r6\n"             /* sum0, filters0, word1 */
            "    ldrd r0, r12, [r2], #8\n"          /* word0, next0, [window2], #8 */
            "    vfma.f32 q1, q3, r8\n"             /* sum1, filters0, word2 */
            "    add r2, r2, #96\n"                 /* window2, window2, #96 */
            "    vfma.f32 q0, q4, lr\n"             /* sum0, filters1, next1 */
            "    ldrd r6, lr, [r1], #8\n"           /* word1, next1, [window0], #8 */
            "    vfma.f32 q1, q4, r9\n"             /* sum1, filters1, next2 */
            "    ldrd r8, r9, [r4], #8\n"           /* word2, next2, [window1], #8 */
            "    vfma.f32 q2, q3, r0\n"             /* sum2, filters0, word0 */
            "    vldrw.u32 q3, [r5], #16\n"         /* filters2, [weights_at], #16 */
            "    vfma.f32 q2, q4, r12\n"            /* sum2, filters1, next0 */
            "    vldrw.u32 q4, [r5], #16\n"         /* filters3, [weights_at], #16 */
            "    vfma.f32 q0, q3, r6\n"             /* sum0, filters2, word1 */
            "    ldrd r0, r12, [r1], #8\n"          /* word0, next0, [window0], #8 */
            "    vfma.f32 q1, q3, r8\n"             /* sum1, filters2, word2 */
            "    vldrw.u32 q3, [r5], #16\n"         /* filters0, [weights_at], #16 */
            "    vfma.f32 q0, q4, lr\n"             /* sum0, filters3, next1 */
            "    ldrd r6, lr, [r4], #8\n"           /* word1, next1, [window1], #8 */
            "    vfma.f32 q1, q4, r9\n"             /* sum1, filters3, next2 */
            "    vldrw.u32 q4, [r5], #16\n"         /* filters1, [weights_at], #16 */
            "    vfma.f32 q0, q3, r0\n"             /* sum0, filters0, word0 */
            "    ldrd r8, r9, [r1], #8\n"           /* word2, next2, [window0], #8 */
            "    vfma.f32 q1, q3, r6\n"             /* sum1, filters0, word1 */
            "    vldrw.u32 q3, [r5], #16\n"         /* filters2, [weights_at], #16 */
            "    vfma.f32 q0, q4, r12\n"            /* sum0, filters1, next0 */
            "    ldrd r0, r12, [r4], #8\n"          /* word0, next0, [window1], #8 */
            "    vfma.f32 q1, q4, lr\n"             /* sum1, filters1, next1 */
            "    vldrw.u32 q4, [r5], #16\n"         /* filters3, [weights_at], #16 */
            "    vfma.f32 q0, q3, r8\n"             /* sum0, filters2, word2 */
            "    add r1, r1, #72\n"                 /* window0, window0, #72 */
            "    vfma.f32 q1, q3, r0\n"             /* sum1, filters2, word0 */
            "    add r4, r4, #72\n"                 /* window1, window1, #72 */
            "    vfma.f32 q0, q4, r9\n"             /* sum0, filters3, next2 */
            "    vfma.f32 q1, q4, r12\n"            /* sum1, filters3, next0 */
            "    bne 5b\n"
            "    ldr r0, [r3, #40]\n"               /* free, [frame, #40] */
            "    vmov.i32 q3, #0\n"                 /* filters0, #0 */
            "    add r5, r5, r0\n"                  /* weights_at, weights_at, free */
            "    ldr r0, [r3, #48]\n"               /* free, [frame, #48] */
            "    vmax.s32 q0, q0, q3\n"             /* sum0, sum0, filters0 */
            "    sub r1, r1, r0\n"                  /* window0, window0, free */
            "    sub r4, r4, r0\n"                  /* window1, window1, free */
            "    sub r2, r2, r0\n"                  /* window2, window2, free */
            "    vmax.s32 q1, q1, q3\n"             /* sum1, sum1, filters0 */
            "    movw r7, #0\n"                     /* rows_left, #0 */
            "    vmax.s32 q2, q2, q3\n"             /* sum2, sum2, filters0 */
            "    movt r7, #16576\n"                 /* rows_left, #16576 */
            "    vcmp.f32 gt, q0, r7\n"             /* gt, sum0, rows_left */
            "    ldr r6, [r3, #32]\n"               /* word1, [frame, #32] */
            "    vpst\n"
            "    vdupt.32 q0, r7\n"                 /* sum0, rows_left */
            "    vcmp.f32 gt, q1, r7\n"             /* gt, sum1, rows_left */
            "    ldr r0, [r3, #4]\n"                /* word0, [frame, #4] */
            "    vpst\n"
            "    vdupt.32 q1, r7\n"                 /* sum1, rows_left */
            "    vcmp.f32 gt, q2, r7\n"             /* gt, sum2, rows_left */
            "    mov r12, r0\n"                     /* next0, word0 */
            "    vpst\n"
            "    vdupt.32 q2, r7\n"                 /* sum2, rows_left */
            "    vctp.32 r6\n"                      /* word1 */
            "    add r0, r0, #16\n"                 /* word0, word0, #16 */
            "    vpst\n"
            "    vstrwt.32 q0, [r12]\n"             /* sum0, [next0] */
            "    add r12, r12, #28\n"               /* next0, next0, #28 */
            "    vpst\n"
            "    vstrwt.32 q1, [r12]\n"             /* sum1, [next0] */
            "    add r12, r12, #28\n"               /* next0, next0, #28 */
            "    vpst\n"
            "    vstrwt.32 q2, [r12]\n"             /* sum2, [next0] */
            "    subs r6, r6, #4\n"                 /* word1, word1, #4 */
            "    str r0, [r3, #4]\n"                /* word0, [frame, #4] */
            "    str r6, [r3, #32]\n"               /* word1, [frame, #32] */
            "    bgt 4b\n"
            "    ldr r0, [r3, #4]\n"                /* word0, [frame, #4] */
            "    add r0, r0, #52\n"                 /* word0, word0, #52 */
            "    str r0, [r3, #4]\n"                /* word0, [frame, #4] */
            "    ldr r0, [r3, #20]\n"               /* free, [frame, #20] */
            "    subs r0, r0, #1\n"                 /* free, free, #1 */
            "    str r0, [r3, #20]\n"               /* free, [frame, #20] */
            "    bne 1b\n"
            "    vpop {d8-d9}\n"
            "    pop {r4-r9, pc}\n");
    /* clang-format on */
}

/* y[m][c][r] = x[m][r][c]: 1 times 30 rows of 7.
 * 4 neighbours of the output at a time; in the other one they are 28 bytes apart. */
MCU_KERNEL void _mcu_mve_float_convolution_reorder_1x30x7x4_mve(const float *x MCU_UNUSED,
                                                                float *y MCU_UNUSED) {
    /* clang-format off */
    __asm__(".syntax unified\n"
            "    push {r4, lr}\n"
            "    mov r2, #0\n"                      /* elements_of_row, #0 */
            "    vidup.u32 q0, r2, #1\n"            /* offsets, elements_of_row, #1 */
            "    movw r2, #28\n"                    /* bytes_apart, #28 */
            "    vmul.i32 q0, q0, r2\n"             /* offsets, offsets, bytes_apart */
            "    movw r4, #7\n"                     /* rows_left, #7 */
            "1:\n"
            "    mov r3, r0\n"                      /* place, x */
            "    movw r2, #30\n"                    /* elements_of_row, #30 */
            "    dlstp.32 lr, r2\n"                 /* rounds_left, elements_of_row */
            "2:\n"
            "    vldrw.u32 q1, [r3, q0]\n"          /* elements, [place, offsets] */
            "    add r3, r3, #112\n"                /* place, place, #112 */
            "    vstrw.32 q1, [r1], #16\n"          /* elements, [y], #16 */
            "    letp lr, 2b\n"                     /* rounds_left */
            "    sub r1, r1, #8\n"                  /* y, y, #8 */
            "    add r0, r0, #4\n"                  /* x, x, #4 */
            "    subs r4, r4, #1\n"                 /* rows_left, rows_left, #1 */
            "    bne 1b\n"
            "    pop {r4, pc}\n");
    /* clang-format on */
}

/* ---- The layers, in the order of execution ---- */

/* clang-format off */
static void _mcu_mve_float_convolution_layers(mcu_instance_t *instance) {
    uint8_t *const ws = instance->workspace;

    /* reshape_1_reorder: Reorder, of1 reordered: float32[1,6,5,6] -> float32[1,6,5,6] NHWC */
    float *const x = (float *)(ws + 592);
    float *const reshape_1_reorder = (float *)(ws + 0);
    MCU_LAYER(0, _mcu_mve_float_convolution_reorder_1x6x30x4_mve(x, reshape_1_reorder));

    /* conv_1: Conv, layer0 (2 nodes):
     * float32[1,6,5,6] NHWC -> float32[1,7,5,6] NHWC; 11,340 MACs */
    float *const conv_1 = (float *)(ws + 720);
    uint8_t *const conv_1_scratch = (uint8_t *)(ws + 1568);
    MCU_LAYER(1, _mcu_mve_float_convolution_conv3x3_6x7_f32_mve(
        reshape_1_reorder, conv_1, _mcu_mve_float_convolution_conv_1_weights, conv_1_scratch));

    /* conv_1_reorder: Reorder, of3 reordered: float32[1,7,5,6] NHWC -> float32[1,7,5,6] */
    float *const conv_1_reorder = (float *)(ws + 0);
    MCU_LAYER(2, _mcu_mve_float_convolution_reorder_1x30x7x4_mve(conv_1, conv_1_reorder));
}

/* clang-format on */

