/* ---- Kernels ---- */

/* Those in assembly are one string each, some longer than C99 wants compilers to take. */
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Woverlength-strings"
#endif

/* y[i][j][c] = sat((sum * factor[c] >> 31 >> shift[c]) + zero), with sum =
 * bias[c] + sum of w[k][l][c] * x[i'][j'][c]; what is shifted is rounded to nearest,
 * ties first up, then away from zero.
 * x and y: [row][column][channel].
 * scratch: words of the kernel, 16 zero points, offsets; then strips, [two columns][16 channels]
 * of words, each two by two pixels.
 * stream: how many channels, offsets of a window's words, and of four outputs; then of each
 * channel bias, factor, -shift (int32), and for each 16 bytes of a window the weights of its
 * first output. */
MCU_KERNEL void _mcu_mve_tflite_depthwise3x3_any_mve(const int8_t *x MCU_UNUSED,
                                                     int8_t *y MCU_UNUSED,
                                                     const uint32_t *stream MCU_UNUSED,
                                                     uint8_t *scratch MCU_UNUSED) {
    /* clang-format off */
    __asm__(".syntax unified\n"
            "    push {r4-r10, lr}\n"
            "    vpush {d8-d15}\n"
            "    movw r5, #3\n"                     /* number, #3 */
            "    ldr r4, [r2], #4\n"                /* number, [stream], #4 */
            "    vdup.8 q0, r5\n"                   /* vector, number */
            "    vstrw.32 q0, [r3, #80]\n"          /* vector, [frame, #80] */
            "    vmov.i32 q0, #0\n"                 /* vector, #0 */
            "    vstrw.32 q0, [r3, #96]\n"          /* vector, [frame, #96] */
            "    movw lr, #3\n"                     /* rounds_left, #3 */
            "    str r0, [r3]\n"                    /* x, [frame] */
            "    vldrw.u32 q0, [r2], #16\n"         /* vector, [stream], #16 */
            "    movw r0, #3\n"                     /* size, #3 */
            "    vstrw.32 q0, [r3, #144]\n"         /* vector, [frame, #144] */
            "    mul r0, r0, r4\n"                  /* size, size, number */
            "    str r0, [r3, #24]\n"               /* size, [frame, #24] */
            "    vldrw.u32 q0, [r2], #16\n"         /* vector, [stream], #16 */
            "    movw r0, #6\n"                     /* size, #6 */
            "    vstrw.32 q0, [r3, #160]\n"         /* vector, [frame, #160] */
            "    mul r0, r0, r4\n"                  /* size, size, number */
            "    str r1, [r3, #4]\n"                /* y, [frame, #4] */
            "    vldrw.u32 q0, [r2], #16\n"         /* vector, [stream], #16 */
            "    dls lr, lr\n"                      /* rounds_left, rounds_left */
            "    vstrw.32 q0, [r3, #176]\n"         /* vector, [frame, #176] */
            "    str r4, [r3, #12]\n"               /* number, [frame, #12] */
            "    vldrw.u32 q0, [r2], #16\n"         /* vector, [stream], #16 */
            "    vstrw.32 q0, [r3, #192]\n"         /* vector, [frame, #192] */
            "    str r2, [r3, #8]\n"                /* stream, [frame, #8] */
            "    str r4, [r3, #16]\n"               /* number, [frame, #16] */
            "    str r0, [r3, #72]\n"               /* size, [frame, #72] */
            "    add r0, r3, #208\n"                /* at, frame, #208 */
            "    vldrw.u32 q0, [r3, #80]\n"         /* padding, [frame, #80] */
            "1:\n"
            "    add r0, r0, #64\n"                 /* at, at, #64 */
            "    add r0, r0, #64\n"                 /* at, at, #64 */
            "    vstrw.32 q0, [r0], #16\n"          /* padding, [at], #16 */
            "    vstrw.32 q0, [r0], #16\n"          /* padding, [at], #16 */
            "    vstrw.32 q0, [r0], #16\n"          /* padding, [at], #16 */
            "    vstrw.32 q0, [r0], #16\n"          /* padding, [at], #16 */
            "    le lr, 1b\n"                       /* rounds_left */
            "2:\n"
            "    ldr r1, [r3, #16]\n"               /* channels_left, [frame, #16] */
            /* Sixteen channels, or the last. */
            "    mov r0, #16\n"                     /* of_group, #16 */
            "    cmp r1, #16\n"                     /* channels_left, #16 */
            "    it lt\n"
            "    movlt r0, r1\n"                    /* of_group, channels_left */
            "    vctp.8 r0\n"                       /* of_group */
            "    str r0, [r3, #20]\n"               /* of_group, [frame, #20] */
            "    ldr r0, [r3]\n"                    /* row_at, [frame] */
            "    ldr r1, [r3, #24]\n"               /* row_bytes, [frame, #24] */
            "    add r12, r3, #208\n"               /* strips, frame, #208 */
            "    sub r0, r0, r1\n"                  /* row_at, row_at, row_bytes */
            "    str r0, [r3, #28]\n"               /* row_at, [frame, #28] */
            "    movw r0, #0xffff\n"                /* number, #0xffff */
            "    movt r0, #0xffff\n"                /* number, #0xffff */
            "    str r0, [r3, #32]\n"               /* number, [frame, #32] */
            "    ldr r0, [r3, #4]\n"                /* y, [frame, #4] */
            /* Strips: two rows of 16 channels, words of four pixels. */
            "    movw r8, #3\n"                     /* strips_left, #3 */
            "    str r0, [r3, #52]\n"               /* y, [frame, #52] */
            "    ldr r0, [r3, #28]\n"               /* row_at, [frame, #28] */
            "    ldr r1, [r3, #32]\n"               /* row, [frame, #32] */
            "    add r2, r3, #80\n"                 /* padding, frame, #80 */
            "    ldr lr, [r3, #24]\n"               /* row_bytes, [frame, #24] */
            "    movw r9, #3\n"                     /* height, #3 */
            "3:\n"
            "    mov r4, r0\n"                      /* above, row_at */
            "    ldr r5, [r3, #12]\n"               /* above_step, [frame, #12] */
            "    cmp r1, r9\n"                      /* row, height */
            "    itt hs\n"
            "    movhs r4, r2\n"                    /* above, padding */
            "    movhs r5, #0\n"                    /* above_step, #0 */
            "    add r0, r0, lr\n"                  /* row_at, row_at, row_bytes */
            "    add r1, r1, #1\n"                  /* row, row, #1 */
            "    mov r6, r0\n"                      /* below, row_at */
            "    ldr r7, [r3, #12]\n"               /* below_step, [frame, #12] */
            "    cmp r1, r9\n"                      /* row, height */
            "    itt hs\n"
            "    movhs r6, r2\n"                    /* below, padding */
            "    movhs r7, #0\n"                    /* below_step, #0 */
            "    vldrb.u8 q0, [r2]\n"               /* q0, [padding] */
            "    add r0, r0, lr\n"                  /* row_at, row_at, row_bytes */
            "    vldrb.u8 q1, [r2]\n"               /* q1, [padding] */
            "    add r1, r1, #1\n"                  /* row, row, #1 */
            "    vpst\n"
            "    vldrbt.u8 q2, [r4]\n"              /* q2, [above] */
            "    add r4, r4, r5\n"                  /* above, above, above_step */
            "    vpst\n"
            "    vldrbt.u8 q3, [r6]\n"              /* q3, [below] */
            "    add r6, r6, r7\n"                  /* below, below, below_step */
            "    vst40.8 {q0, q1, q2, q3}, [r12]\n" /* {q0, q1, q2, q3}, [strips] */
            "    subs r8, r8, #1\n"                 /* strips_left, strips_left, #1 */
            "    vst41.8 {q0, q1, q2, q3}, [r12]\n" /* {q0, q1, q2, q3}, [strips] */
            "    vst42.8 {q0, q1, q2, q3}, [r12]\n" /* {q0, q1, q2, q3}, [strips] */
            "    vst43.8 {q0, q1, q2, q3}, [r12]\n" /* {q0, q1, q2, q3}, [strips] */
            "    add r12, r12, #64\n"               /* strips, strips, #64 */
            "    vpst\n"
            "    vldrbt.u8 q0, [r4]\n"              /* q0, [above] */
            "    add r4, r4, r5\n"                  /* above, above, above_step */
            "    vpst\n"
            "    vldrbt.u8 q1, [r6]\n"              /* q1, [below] */
            "    add r6, r6, r7\n"                  /* below, below, below_step */
            "    vpst\n"
            "    vldrbt.u8 q2, [r4]\n"              /* q2, [above] */
            "    add r4, r4, r5\n"                  /* above, above, above_step */
            "    vpst\n"
            "    vldrbt.u8 q3, [r6]\n"              /* q3, [below] */
            "    add r6, r6, r7\n"                  /* below, below, below_step */
            "    vst40.8 {q0, q1, q2, q3}, [r12]\n" /* {q0, q1, q2, q3}, [strips] */
            "    vst41.8 {q0, q1, q2, q3}, [r12]\n" /* {q0, q1, q2, q3}, [strips] */
            "    vst42.8 {q0, q1, q2, q3}, [r12]\n" /* {q0, q1, q2, q3}, [strips] */
            "    vst43.8 {q0, q1, q2, q3}, [r12]\n" /* {q0, q1, q2, q3}, [strips] */
            "    add r12, r12, #64\n"               /* strips, strips, #64 */
            "    add r12, r12, #64\n"               /* strips, strips, #64 */
            "    bne 3b\n"
            /* Channel by channel. */
            "    ldr r0, [r3, #8]\n"                /* stream, [frame, #8] */
            "    movw lr, #65531\n"                 /* zero_point, #65531 */
            "    str r0, [r3, #56]\n"               /* stream, [frame, #56] */
            "    add r0, r3, #208\n"                /* first, frame, #208 */
            "    str r0, [r3, #60]\n"               /* first, [frame, #60] */
            "    ldr r0, [r3, #52]\n"               /* output_at, [frame, #52] */
            "    ldr r5, [r3, #72]\n"               /* next_output, [frame, #72] */
            "    str r0, [r3, #64]\n"               /* output_at, [frame, #64] */
            "    ldr r0, [r3, #20]\n"               /* of_group, [frame, #20] */
            "    str r0, [r3, #68]\n"               /* of_group, [frame, #68] */
            "4:\n"
            "    ldr r1, [r3, #56]\n"               /* taps, [frame, #56] */
            "    vldrw.u32 q4, [r3, #144]\n"        /* words0, [frame, #144] */
            "    add r0, r1, #28\n"                 /* following, taps, #28 */
            "    ldrd r9, r10, [r1]\n"              /* bias, factor, [taps] */
            "    ldr r7, [r1, #8]\n"                /* shift, [taps, #8] */
            "    add r1, r1, #12\n"                 /* taps, taps, #12 */
            "    vldrw.u32 q0, [r1]\n"              /* w0, [taps] */
            "    vshl.i16 q2, q0, #8\n"             /* w2, w0, #8 */
            "    ldr r1, [r3, #60]\n"               /* window, [frame, #60] */
            "    vstrw.32 q0, [r3, #112]\n"         /* w0, [frame, #112] */
            "    vadd.i32 q4, q4, r1\n"             /* words0, words0, window */
            "    str r0, [r3, #56]\n"               /* following, [frame, #56] */
            "    vldrb.u8 q7, [r3, #104]\n"         /* y1, [frame, #104] */
            "    vshr.u16 q7, q7, #8\n"             /* y1, y1, #8 */
            "    add r0, r1, #4\n"                  /* following, window, #4 */
            "    ldr r1, [r3, #64]\n"               /* output, [frame, #64] */
            "    vldrw.u32 q5, [q4]\n"              /* x0, [words0] */
            "    vorr q2, q2, q7\n"                 /* w2, w2, y1 */
            "    vmladav.s8 r4, q5, q2\n"           /* sum2, x0, w2 */
            "    vldrb.u8 q1, [r3, #110]\n"         /* w1, [frame, #110] */
            "    vmladav.s8 r2, q5, q1\n"           /* sum1, x0, w1 */
            "    vstrw.32 q2, [r3, #128]\n"         /* w2, [frame, #128] */
            "    str r0, [r3, #60]\n"               /* following, [frame, #60] */
            "    vldrb.u8 q3, [r3, #126]\n"         /* w3, [frame, #126] */
            "    add r0, r1, #1\n"                  /* following, output, #1 */
            "    str r0, [r3, #64]\n"               /* following, [frame, #64] */
            "    vmladav.s8 r0, q5, q0\n"           /* sum0, x0, w0 */
            "    vmladav.s8 r6, q5, q3\n"           /* sum3, x0, w3 */
            "    vmov q6[2], q6[0], r0, r4\n"       /* y0[2], y0[0], sum0, sum2 */
            "    vldrw.u32 q5, [q4, #64]!\n"        /* x0, [words0, #64]! */
            "    vmov q6[3], q6[1], r2, r6\n"       /* y0[3], y0[1], sum1, sum3 */
            "    vadd.i32 q6, q6, r9\n"             /* y0, y0, bias */
            "    vqrdmulh.s32 q6, q6, r10\n"        /* y0, y0, factor */
            "    vshr.s32 q7, q6, #31\n"            /* y1, y0, #31 */
            "    vmladav.s8 r8, q5, q0\n"           /* sum4, x0, w0 */
            "    vadd.i32 q6, q6, q7\n"             /* y0, y0, y1 */
            "    vmladav.s8 r12, q5, q2\n"          /* sum5, x0, w2 */
            "    vrshl.s32 q6, q6, r7\n"            /* y0, y0, shift */
            "    vldrw.u32 q7, [r3, #160]\n"        /* y1, [frame, #160] */
            "    vadd.i16 q6, q6, lr\n"             /* y0, y0, zero_point */
            "    vldrw.u32 q5, [q4, #128]!\n"       /* x0, [words0, #128]! */
            "    vqmovnb.s16 q6, q6\n"              /* y0, y0 */
            "    vmladav.s8 r0, q5, q0\n"           /* sum0, x0, w0 */
            "    vstrb.32 q6, [r1, q7]\n"           /* y0, [output, y1] */
            "    vmov q6[2], q6[0], r8, r12\n"      /* y0[2], y0[0], sum4, sum5 */
            "    vmov q6[3], q6[1], r12, r12\n"     /* y0[3], y0[1], sum5, sum5 */
            "    vmladav.s8 r2, q5, q1\n"           /* sum1, x0, w1 */
            "    vadd.i32 q6, q6, r9\n"             /* y0, y0, bias */
            "    vqrdmulh.s32 q6, q6, r10\n"        /* y0, y0, factor */
            "    vldrw.u32 q5, [q4, #64]!\n"        /* x0, [words0, #64]! */
            "    vshr.s32 q7, q6, #31\n"            /* y1, y0, #31 */
            "    vadd.i32 q6, q6, q7\n"             /* y0, y0, y1 */
            "    vmladav.s8 r4, q5, q0\n"           /* sum2, x0, w0 */
            "    vrshl.s32 q6, q6, r7\n"            /* y0, y0, shift */
            "    vldrw.u32 q7, [r3, #176]\n"        /* y1, [frame, #176] */
            "    vadd.i16 q6, q6, lr\n"             /* y0, y0, zero_point */
            "    vqmovnb.s16 q6, q6\n"              /* y0, y0 */
            "    vstrb.32 q6, [r1, q7]\n"           /* y0, [output, y1] */
            "    vmov q6[2], q6[0], r0, r4\n"       /* y0[2], y0[0], sum0, sum2 */
            "    vmov q6[3], q6[1], r2, r4\n"       /* y0[3], y0[1], sum1, sum2 */
            "    add r1, r1, r5\n"                  /* output, output, next_output */
            "    vadd.i32 q6, q6, r9\n"             /* y0, y0, bias */
            "    vqrdmulh.s32 q6, q6, r10\n"        /* y0, y0, factor */
            "    ldr r0, [r3, #68]\n"               /* left, [frame, #68] */
            "    vshr.s32 q7, q6, #31\n"            /* y1, y0, #31 */
            "    subs r0, r0, #1\n"                 /* left, left, #1 */
            "    vadd.i32 q6, q6, q7\n"             /* y0, y0, y1 */
            "    vldrw.u32 q7, [r3, #192]\n"        /* y1, [frame, #192] */
            "    vrshl.s32 q6, q6, r7\n"            /* y0, y0, shift */
            "    str r0, [r3, #68]\n"               /* left, [frame, #68] */
            "    vadd.i16 q6, q6, lr\n"             /* y0, y0, zero_point */
            "    vqmovnb.s16 q6, q6\n"              /* y0, y0 */
            "    vstrb.32 q6, [r1, q7]\n"           /* y0, [output, y1] */
            "    bne 4b\n"
            /* The next channels. */
            "    ldr r0, [r3]\n"                    /* x, [frame] */
            "    ldr r4, [r3, #16]\n"               /* number, [frame, #16] */
            "    add r0, r0, #16\n"                 /* x, x, #16 */
            "    str r0, [r3]\n"                    /* x, [frame] */
            "    ldr r0, [r3, #4]\n"                /* y, [frame, #4] */
            "    subs r4, r4, #16\n"                /* number, number, #16 */
            "    add r0, r0, #16\n"                 /* y, y, #16 */
            "    str r0, [r3, #4]\n"                /* y, [frame, #4] */
            "    ldr r0, [r3, #56]\n"               /* taps, [frame, #56] */
            "    str r4, [r3, #16]\n"               /* number, [frame, #16] */
            "    str r0, [r3, #8]\n"                /* taps, [frame, #8] */
            "    bgt 2b\n"
            "    vpop {d8-d15}\n"
            "    pop {r4-r10, pc}\n");
    /* clang-format on */
}

/* y[p][f] = sat((sum * factor[f] >> 31 >> shift[f]) + zero), with sum = bias[f] + sum of
 * x[p][c] * w[f][c]; what is shifted is rounded to nearest, ties first up, then away from zero.
 * x: [p][channel], y: [p][f].
 * weights: 0 and the input's zero point, so that layers share the function; of each tile of four
 * filters those of each 16 bytes of a window, then bias[4], factor[4], -shift[4]: int32.
 * scratch, in words: the stream, pairs that are left of a run, runs, or windows of a row, the
 * next window. */
MCU_KERNEL void _mcu_mve_tflite_conv1x1_8x20_mve(const int8_t *x MCU_UNUSED, int8_t *y MCU_UNUSED,
                                                 const uint32_t *weights MCU_UNUSED,
                                                 uint8_t *scratch MCU_UNUSED) {
    /* clang-format off */
    __asm__(".syntax unified\n"
            "    push {r4-r10, lr}\n"
            "    vpush {d8-d15}\n"
            "    movw r4, #65531\n"                 /* rounding, #65531 */
            "    vdup.16 q7, r4\n"                  /* zero_points, rounding */
            "    mov r5, r2\n"                      /* stream, weights */
            "    sub r5, r5, #56\n"                 /* stream, stream, #56 */
            "    str r5, [r3]\n"                    /* stream, [frame] */
            "    mov r7, r0\n"                      /* window, x */
            "    mov r0, #5\n"                      /* pairs_left, #5 */
            "    str r0, [r3, #4]\n"                /* pairs_left, [frame, #4] */
            "1:\n"
            /* Two pixels times four filters, tile by tile. */
            "    mov r0, #8\n"                      /* bytes_of_row, #8 */
            "    ldr r5, [r3]\n"                    /* stream, [frame] */
            "    vctp.8 r0\n"                       /* bytes_of_row */
            "    vldrw.u32 q2, [r5, #64]!\n"        /* w0, [stream, #64]! */
            "    vpst\n"
            "    vldrwt.u32 q0, [r7]\n"             /* xa, [window] */
            "    vpst\n"
            "    vldrwt.u32 q1, [r7, #8]\n"         /* xb, [window, #8] */
            "    mov r9, #5\n"                      /* turns_left, #5 */
            "2:\n"
            "    vmladav.s8 r0, q0, q2\n"           /* suma0, xa, w0 */
            "    vldrw.u32 q3, [r5, #16]!\n"        /* w1, [stream, #16]! */
            "    vmladav.s8 r2, q1, q2\n"           /* sumb0, xb, w0 */
            "    vldrw.u32 q2, [r5, #16]!\n"        /* w0, [stream, #16]! */
            "    vmladav.s8 r4, q0, q3\n"           /* suma1, xa, w1 */
            "    subs r9, r9, #1\n"                 /* turns_left, turns_left, #1 */
            "    vmladav.s8 r6, q1, q3\n"           /* sumb1, xb, w1 */
            "    vldrw.u32 q3, [r5, #16]!\n"        /* w1, [stream, #16]! */
            "    vmladav.s8 r12, q0, q2\n"          /* suma2, xa, w0 */
            "    vmladav.s8 lr, q1, q2\n"           /* sumb2, xb, w0 */
            "    vldrw.u32 q2, [r5, #64]!\n"        /* w0, [stream, #64]! */
            "    vmladav.s8 r8, q0, q3\n"           /* suma3, xa, w1 */
            "    vmov q4[2], q4[0], r0, r12\n"      /* words_a[2], words_a[0], suma0, suma2 */
            "    vmladav.s8 r10, q1, q3\n"          /* sumb3, xb, w1 */
            "    vmov q5[2], q5[0], r2, lr\n"       /* words_b[2], words_b[0], sumb0, sumb2 */
            "    vmov q4[3], q4[1], r4, r8\n"       /* words_a[3], words_a[1], suma1, suma3 */
            "    vmov q5[3], q5[1], r6, r10\n"      /* words_b[3], words_b[1], sumb1, sumb3 */
            "    vldrw.u32 q6, [r5, #-48]\n"        /* end, [stream, #-48] */
            "    vadd.i32 q4, q4, q6\n"             /* words_a, words_a, end */
            "    vadd.i32 q5, q5, q6\n"             /* words_b, words_b, end */
            "    vldrw.u32 q6, [r5, #-32]\n"        /* end, [stream, #-32] */
            "    vqrdmulh.s32 q4, q4, q6\n"         /* words_a, words_a, end */
            "    vqrdmulh.s32 q5, q5, q6\n"         /* words_b, words_b, end */
            "    vshr.s32 q6, q4, #31\n"            /* end, words_a, #31 */
            "    vadd.i32 q4, q4, q6\n"             /* words_a, words_a, end */
            "    vshr.s32 q6, q5, #31\n"            /* end, words_b, #31 */
            "    vadd.i32 q5, q5, q6\n"             /* words_b, words_b, end */
            "    vldrw.u32 q6, [r5, #-16]\n"        /* end, [stream, #-16] */
            "    vrshl.s32 q4, q4, q6\n"            /* words_a, words_a, end */
            "    vrshl.s32 q5, q5, q6\n"            /* words_b, words_b, end */
            "    vadd.i16 q4, q4, q7\n"             /* words_a, words_a, zero_points */
            "    vadd.i16 q5, q5, q7\n"             /* words_b, words_b, zero_points */
            "    vqmovnb.s16 q4, q4\n"              /* words_a, words_a */
            "    vqmovnb.s16 q5, q5\n"              /* words_b, words_b */
            "    vstrb.32 q5, [r1, #20]\n"          /* words_b, [output, #20] */
            "    vstrb.32 q4, [r1], #4\n"           /* words_a, [output], #4 */
            "    bne 2b\n"
            /* The next two pixels. */
            "    ldr r0, [r3, #4]\n"                /* pairs_left, [frame, #4] */
            "    add r7, r7, #8\n"                  /* window, window, #8 */
            "    cmp r0, #5\n"                      /* pairs_left, #5 */
            "    beq 3f\n"
            "    add r1, r1, #20\n"                 /* output, output, #20 */
            "    add r7, r7, #8\n"                  /* window, window, #8 */
            "3:\n"
            "    subs r0, r0, #1\n"                 /* pairs_left, pairs_left, #1 */
            "    str r0, [r3, #4]\n"                /* pairs_left, [frame, #4] */
            "    bne 1b\n"
            "    vpop {d8-d15}\n"
            "    pop {r4-r10, pc}\n");
    /* clang-format on */
}

/* ---- The layers, in the order of execution ---- */

/* clang-format off */
static void _mcu_mve_tflite_layers(mcu_instance_t *instance) {
    uint8_t *const ws = instance->workspace;

    /* depthwise_1: Conv, y1: int8[1,4,3,3] NHWC -> int8[1,4,3,3] NHWC; 324 MACs */
    int8_t *const y1_x = (int8_t *)(ws + 80);
    int8_t *const depthwise_1 = (int8_t *)(ws + 80);
    uint8_t *const depthwise_1_scratch = (uint8_t *)(ws + 128);
    MCU_LAYER(0, _mcu_mve_tflite_depthwise3x3_any_mve(
        y1_x, depthwise_1, _mcu_mve_tflite_depthwise_1_stream, depthwise_1_scratch));

    /* conv_1: Conv, y0: int8[1,8,3,3] NHWC -> int8[1,20,3,3] NHWC; 1,440 MACs */
    int8_t *const y0_x = (int8_t *)(ws + 0);
    int8_t *const conv_1 = (int8_t *)(ws + 128);
    uint8_t *const conv_1_scratch = (uint8_t *)(ws + 320);
    MCU_LAYER(1, _mcu_mve_tflite_conv1x1_8x20_mve(y0_x, conv_1, _mcu_mve_tflite_conv_1_weights,
                                                  conv_1_scratch));
}

/* clang-format on */

