/* ---- Kernels ---- */

/* Those in assembly are one string each, some longer than C99 wants compilers to take. */
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Woverlength-strings"
#endif

/* y[m][c][r] = x[m][r][c]: 1 times 20 rows of 35.
 * 8 neighbours of the input at a time; in the other one they are 20 bytes apart. */
MCU_KERNEL void _mcu_mve_depthwise_reorder_1x20x35x1_mve(const int8_t *x MCU_UNUSED,
                                                         int8_t *y MCU_UNUSED) {
    /* clang-format off */
    __asm__(".syntax unified\n"
            "    push {r4, lr}\n"
            "    mov r4, #0\n"                      /* elements_of_row, #0 */
            "    vidup.u16 q0, r4, #1\n"            /* offsets, elements_of_row, #1 */
            "    movw r2, #20\n"                    /* bytes_apart, #20 */
            "    vmul.i16 q0, q0, r2\n"             /* offsets, offsets, bytes_apart */
            "    movw r3, #20\n"                    /* rows_left, #20 */
            "1:\n"
            "    mov r2, r1\n"                      /* place, y */
            "    movw r4, #35\n"                    /* elements_of_row, #35 */
            "    dlstp.16 lr, r4\n"                 /* rounds_left, elements_of_row */
            "2:\n"
            "    vldrb.u16 q1, [r0], #8\n"          /* elements, [x], #8 */
            "    vstrb.16 q1, [r2, q0]\n"           /* elements, [place, offsets] */
            "    add r2, r2, #160\n"                /* place, place, #160 */
            "    letp lr, 2b\n"                     /* rounds_left */
            "    sub r0, r0, #5\n"                  /* x, x, #5 */
            "    add r1, r1, #1\n"                  /* y, y, #1 */
            "    subs r3, r3, #1\n"                 /* rows_left, rows_left, #1 */
            "    bne 1b\n"
            "    pop {r4, pc}\n");
    /* clang-format on */
}

/* y[i][j][c] = sat(round(float(sum) * factor[c]) + zero), with sum = bias[c] +
 * sum of w[k][l][c] * x[i'][j'][c], both floats rounded to nearest.
 * x and y: [row][column][channel].
 * scratch: words of the kernel, 16 zero points, offsets; then strips, [two columns][16 channels]
 * of words, each two by two pixels.
 * stream: how many channels, offsets of a window's words, and of four outputs; then of each
 * channel bias, factor (float32), and for each 16 bytes of a window the weights of its first
 * output. */
MCU_KERNEL void _mcu_mve_depthwise_depthwise3x3_any_mve(const int8_t *x MCU_UNUSED,
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
            "    movw lr, #5\n"                     /* rounds_left, #5 */
            "    str r0, [r3]\n"                    /* x, [frame] */
            "    vldrw.u32 q0, [r2], #16\n"         /* vector, [stream], #16 */
            "    movw r0, #5\n"                     /* size, #5 */
            "    vstrw.32 q0, [r3, #144]\n"         /* vector, [frame, #144] */
            "    mul r0, r0, r4\n"                  /* size, size, number */
            "    str r0, [r3, #24]\n"               /* size, [frame, #24] */
            "    vldrw.u32 q0, [r2], #16\n"         /* vector, [stream], #16 */
            "    movw r0, #20\n"                    /* size, #20 */
            "    vstrw.32 q0, [r3, #160]\n"         /* vector, [frame, #160] */
            "    mul r0, r0, r4\n"                  /* size, size, number */
            "    str r1, [r3, #4]\n"                /* y, [frame, #4] */
            "    vldrw.u32 q0, [r2], #16\n"         /* vector, [stream], #16 */
            "    dls lr, lr\n"                      /* rounds_left, rounds_left */
            "    vstrw.32 q0, [r3, #176]\n"         /* vector, [frame, #176] */
            "    str r4, [r3, #12]\n"               /* number, [frame, #12] */
            "    vldrw.u32 q0, [r2], #16\n"         /* vector, [stream], #16 */
            "    vstrw.32 q0, [r3, #192]\n"         /* vector, [frame, #192] */
            "    str r4, [r3, #16]\n"               /* number, [frame, #16] */
            "    vldrw.u32 q0, [r2], #16\n"         /* vector, [stream], #16 */
            "    vstrw.32 q0, [r3, #208]\n"         /* vector, [frame, #208] */
            "    str r0, [r3, #72]\n"               /* size, [frame, #72] */
            "    vldrw.u32 q0, [r2], #16\n"         /* vector, [stream], #16 */
            "    add r0, r3, #272\n"                /* at, frame, #272 */
            "    vstrw.32 q0, [r3, #224]\n"         /* vector, [frame, #224] */
            "    vldrw.u32 q0, [r2], #16\n"         /* vector, [stream], #16 */
            "    vstrw.32 q0, [r3, #240]\n"         /* vector, [frame, #240] */
            "    vldrw.u32 q0, [r2], #16\n"         /* vector, [stream], #16 */
            "    vstrw.32 q0, [r3, #256]\n"         /* vector, [frame, #256] */
            "    str r2, [r3, #8]\n"                /* stream, [frame, #8] */
            "    vldrw.u32 q0, [r3, #80]\n"         /* padding, [frame, #80] */
            "1:\n"
            "    add r0, r0, #64\n"                 /* at, at, #64 */
            "    add r0, r0, #128\n"                /* at, at, #128 */
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
            "    add r12, r3, #272\n"               /* strips, frame, #272 */
            "    sub r0, r0, r1\n"                  /* row_at, row_at, row_bytes */
            "    str r0, [r3, #28]\n"               /* row_at, [frame, #28] */
            "    movw r0, #0xffff\n"                /* number, #0xffff */
            "    movt r0, #0xffff\n"                /* number, #0xffff */
            "    str r0, [r3, #32]\n"               /* number, [frame, #32] */
            "    ldr r0, [r3, #4]\n"                /* y, [frame, #4] */
            /* Strips: two rows of 16 channels, words of four pixels. */
            "    movw r9, #5\n"                     /* strips_left, #5 */
            "    str r0, [r3, #52]\n"               /* y, [frame, #52] */
            "    ldr r0, [r3, #28]\n"               /* row_at, [frame, #28] */
            "    ldr r1, [r3, #32]\n"               /* row, [frame, #32] */
            "    add r2, r3, #80\n"                 /* padding, frame, #80 */
            "    ldr r8, [r3, #24]\n"               /* row_bytes, [frame, #24] */
            "    movw r10, #7\n"                    /* height, #7 */
            "3:\n"
            "    mov r4, r0\n"                      /* above, row_at */
            "    ldr r5, [r3, #12]\n"               /* above_step, [frame, #12] */
            "    cmp r1, r10\n"                     /* row, height */
            "    itt hs\n"
            "    movhs r4, r2\n"                    /* above, padding */
            "    movhs r5, #0\n"                    /* above_step, #0 */
            "    add r0, r0, r8\n"                  /* row_at, row_at, row_bytes */
            "    add r1, r1, #1\n"                  /* row, row, #1 */
            "    mov r6, r0\n"                      /* below, row_at */
            "    ldr r7, [r3, #12]\n"               /* below_step, [frame, #12] */
            "    cmp r1, r10\n"                     /* row, height */
            "    itt hs\n"
            "    movhs r6, r2\n"                    /* below, padding */
            "    movhs r7, #0\n"                    /* below_step, #0 */
            "    add r0, r0, r8\n"                  /* row_at, row_at, row_bytes */
            "    add r1, r1, #1\n"                  /* row, row, #1 */
            "    vldrb.u8 q0, [r2]\n"               /* q0, [padding] */
            "    vpst\n"
            "    vldrbt.u8 q2, [r4]\n"              /* q2, [above] */
            "    add r4, r4, r5\n"                  /* above, above, above_step */
            "    vldrb.u8 q1, [r2]\n"               /* q1, [padding] */
            "    vpst\n"
            "    vldrbt.u8 q3, [r6]\n"              /* q3, [below] */
            "    add r6, r6, r7\n"                  /* below, below, below_step */
            "    vst40.8 {q0, q1, q2, q3}, [r12]\n" /* {q0, q1, q2, q3}, [strips] */
            "    movw lr, #2\n"                     /* rounds_left, #2 */
            "    vst41.8 {q0, q1, q2, q3}, [r12]\n" /* {q0, q1, q2, q3}, [strips] */
            "    dls lr, lr\n"                      /* rounds_left, rounds_left */
            "    vst42.8 {q0, q1, q2, q3}, [r12]\n" /* {q0, q1, q2, q3}, [strips] */
            "    vst43.8 {q0, q1, q2, q3}, [r12]\n" /* {q0, q1, q2, q3}, [strips] */
            "    add r12, r12, #64\n"               /* strips, strips, #64 */
            "4:\n"
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
            "    le lr, 4b\n"                       /* rounds_left */
            "    add r12, r12, #64\n"               /* strips, strips, #64 */
            "    subs r9, r9, #1\n"                 /* strips_left, strips_left, #1 */
            "    bne 3b\n"
            /* Channel by channel. */
            "    ldr r0, [r3, #8]\n"                /* stream, [frame, #8] */
            "    movw r7, #0\n"                     /* rounding, #0 */
            "    str r0, [r3, #56]\n"               /* stream, [frame, #56] */
            "    add r0, r3, #272\n"                /* first, frame, #272 */
            "    str r0, [r3, #60]\n"               /* first, [frame, #60] */
            "    ldr r0, [r3, #52]\n"               /* output_at, [frame, #52] */
            "    movt r7, #19264\n"                 /* rounding, #19264 */
            "    str r0, [r3, #64]\n"               /* output_at, [frame, #64] */
            "    ldr r0, [r3, #20]\n"               /* of_group, [frame, #20] */
            "    movw lr, #65519\n"                 /* zero_point, #65519 */
            "    str r0, [r3, #68]\n"               /* of_group, [frame, #68] */
            "    ldr r5, [r3, #72]\n"               /* next_output, [frame, #72] */
            "5:\n"
            "    ldr r1, [r3, #56]\n"               /* taps, [frame, #56] */
            "    vldrw.u32 q4, [r3, #144]\n"        /* words0, [frame, #144] */
            "    add r0, r1, #24\n"                 /* following, taps, #24 */
            "    ldrd r9, r10, [r1]\n"              /* bias, factor, [taps] */
            "    add r1, r1, #8\n"                  /* taps, taps, #8 */
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
            "    vmladav.s8 r6, q5, q3\n"           /* sum3, x0, w3 */
            "    add r0, r1, #1\n"                  /* following, output, #1 */
            "    str r0, [r3, #64]\n"               /* following, [frame, #64] */
            "    vmladav.s8 r0, q5, q0\n"           /* sum0, x0, w0 */
            "    vmov q6[3], q6[1], r2, r6\n"       /* y0[3], y0[1], sum1, sum3 */
            "    vldrw.u32 q5, [q4, #64]!\n"        /* x0, [words0, #64]! */
            "    vmov q6[2], q6[0], r0, r4\n"       /* y0[2], y0[0], sum0, sum2 */
            "    vmladav.s8 r8, q5, q0\n"           /* sum4, x0, w0 */
            "    vadd.i32 q6, q6, r9\n"             /* y0, y0, bias */
            "    vcvt.f32.s32 q6, q6\n"             /* y0, y0 */
            "    vldrw.u32 q7, [r3, #160]\n"        /* y1, [frame, #160] */
            "    vmul.f32 q6, q6, r10\n"            /* y0, y0, factor */
            "    vadd.f32 q6, q6, r7\n"             /* y0, y0, rounding */
            "    vmladav.s8 r12, q5, q1\n"          /* sum5, x0, w1 */
            "    vadd.i16 q6, q6, lr\n"             /* y0, y0, zero_point */
            "    vmladav.s8 r0, q5, q2\n"           /* sum0, x0, w2 */
            "    vqmovnb.s16 q6, q6\n"              /* y0, y0 */
            "    vmladav.s8 r2, q5, q3\n"           /* sum1, x0, w3 */
            "    vstrb.32 q6, [r1, q7]\n"           /* y0, [output, y1] */
            "    vmov q6[2], q6[0], r8, r0\n"       /* y0[2], y0[0], sum4, sum0 */
            "    vmov q6[3], q6[1], r12, r2\n"      /* y0[3], y0[1], sum5, sum1 */
            "    vadd.i32 q6, q6, r9\n"             /* y0, y0, bias */
            "    vcvt.f32.s32 q6, q6\n"             /* y0, y0 */
            "    vldrw.u32 q5, [q4, #64]!\n"        /* x0, [words0, #64]! */
            "    vmul.f32 q6, q6, r10\n"            /* y0, y0, factor */
            "    vmladav.s8 r4, q5, q0\n"           /* sum2, x0, w0 */
            "    vldrw.u32 q7, [r3, #176]\n"        /* y1, [frame, #176] */
            "    vmladav.s8 r6, q5, q2\n"           /* sum3, x0, w2 */
            "    vldrw.u32 q5, [q4, #256]!\n"       /* x0, [words0, #256]! */
            "    vadd.f32 q6, q6, r7\n"             /* y0, y0, rounding */
            "    vmladav.s8 r8, q5, q0\n"           /* sum4, x0, w0 */
            "    vadd.i16 q6, q6, lr\n"             /* y0, y0, zero_point */
            "    vmladav.s8 r12, q5, q2\n"          /* sum5, x0, w2 */
            "    vqmovnb.s16 q6, q6\n"              /* y0, y0 */
            "    vldrw.u32 q5, [q4, #-64]!\n"       /* x0, [words0, #-64]! */
            "    vmladav.s8 r0, q5, q0\n"           /* sum0, x0, w0 */
            "    vstrb.32 q6, [r1, q7]\n"           /* y0, [output, y1] */
            "    vmladav.s8 r2, q5, q1\n"           /* sum1, x0, w1 */
            "    vmov q6[2], q6[0], r4, r8\n"       /* y0[2], y0[0], sum2, sum4 */
            "    vmladav.s8 r4, q5, q2\n"           /* sum2, x0, w2 */
            "    vmov q6[3], q6[1], r6, r12\n"      /* y0[3], y0[1], sum3, sum5 */
            "    vmladav.s8 r6, q5, q3\n"           /* sum3, x0, w3 */
            "    vadd.i32 q6, q6, r9\n"             /* y0, y0, bias */
            "    vcvt.f32.s32 q6, q6\n"             /* y0, y0 */
            "    vldrw.u32 q7, [r3, #192]\n"        /* y1, [frame, #192] */
            "    vmul.f32 q6, q6, r10\n"            /* y0, y0, factor */
            "    vldrw.u32 q5, [q4, #-64]!\n"       /* x0, [words0, #-64]! */
            "    vadd.f32 q6, q6, r7\n"             /* y0, y0, rounding */
            "    vmladav.s8 r8, q5, q0\n"           /* sum4, x0, w0 */
            "    vadd.i16 q6, q6, lr\n"             /* y0, y0, zero_point */
            "    vmladav.s8 r12, q5, q1\n"          /* sum5, x0, w1 */
            "    vqmovnb.s16 q6, q6\n"              /* y0, y0 */
            "    vstrb.32 q6, [r1, q7]\n"           /* y0, [output, y1] */
            "    vmov q6[2], q6[0], r0, r4\n"       /* y0[2], y0[0], sum0, sum2 */
            "    vmladav.s8 r0, q5, q2\n"           /* sum0, x0, w2 */
            "    vmov q6[3], q6[1], r2, r6\n"       /* y0[3], y0[1], sum1, sum3 */
            "    vmladav.s8 r2, q5, q3\n"           /* sum1, x0, w3 */
            "    vadd.i32 q6, q6, r9\n"             /* y0, y0, bias */
            "    vcvt.f32.s32 q6, q6\n"             /* y0, y0 */
            "    vldrw.u32 q7, [r3, #208]\n"        /* y1, [frame, #208] */
            "    vmul.f32 q6, q6, r10\n"            /* y0, y0, factor */
            "    vldrw.u32 q5, [q4, #256]!\n"       /* x0, [words0, #256]! */
            "    vadd.f32 q6, q6, r7\n"             /* y0, y0, rounding */
            "    vmladav.s8 r4, q5, q0\n"           /* sum2, x0, w0 */
            "    vadd.i16 q6, q6, lr\n"             /* y0, y0, zero_point */
            "    vmladav.s8 r6, q5, q1\n"           /* sum3, x0, w1 */
            "    vqmovnb.s16 q6, q6\n"              /* y0, y0 */
            "    vstrb.32 q6, [r1, q7]\n"           /* y0, [output, y1] */
            "    vmov q6[2], q6[0], r8, r0\n"       /* y0[2], y0[0], sum4, sum0 */
            "    vmladav.s8 r8, q5, q2\n"           /* sum4, x0, w2 */
            "    vmov q6[3], q6[1], r12, r2\n"      /* y0[3], y0[1], sum5, sum1 */
            "    vmladav.s8 r12, q5, q3\n"          /* sum5, x0, w3 */
            "    vadd.i32 q6, q6, r9\n"             /* y0, y0, bias */
            "    vcvt.f32.s32 q6, q6\n"             /* y0, y0 */
            "    vldrw.u32 q7, [r3, #224]\n"        /* y1, [frame, #224] */
            "    vmul.f32 q6, q6, r10\n"            /* y0, y0, factor */
            "    vldrw.u32 q5, [q4, #64]!\n"        /* x0, [words0, #64]! */
            "    vadd.f32 q6, q6, r7\n"             /* y0, y0, rounding */
            "    vmladav.s8 r0, q5, q0\n"           /* sum0, x0, w0 */
            "    vadd.i16 q6, q6, lr\n"             /* y0, y0, zero_point */
            "    vmladav.s8 r2, q5, q1\n"           /* sum1, x0, w1 */
            "    vqmovnb.s16 q6, q6\n"              /* y0, y0 */
            "    vstrb.32 q6, [r1, q7]\n"           /* y0, [output, y1] */
            "    vmov q6[2], q6[0], r4, r8\n"       /* y0[2], y0[0], sum2, sum4 */
            "    vmladav.s8 r4, q5, q2\n"           /* sum2, x0, w2 */
            "    vmov q6[3], q6[1], r6, r12\n"      /* y0[3], y0[1], sum3, sum5 */
            "    vmladav.s8 r6, q5, q3\n"           /* sum3, x0, w3 */
            "    vadd.i32 q6, q6, r9\n"             /* y0, y0, bias */
            "    vcvt.f32.s32 q6, q6\n"             /* y0, y0 */
            "    add r1, r1, r5\n"                  /* output, output, next_output */
            "    vmul.f32 q6, q6, r10\n"            /* y0, y0, factor */
            "    vldrw.u32 q7, [r3, #160]\n"        /* y1, [frame, #160] */
            "    vadd.f32 q6, q6, r7\n"             /* y0, y0, rounding */
            "    vldrw.u32 q5, [q4, #64]!\n"        /* x0, [words0, #64]! */
            "    vadd.i16 q6, q6, lr\n"             /* y0, y0, zero_point */
            "    vmladav.s8 r8, q5, q0\n"           /* sum4, x0, w0 */
            "    vqmovnb.s16 q6, q6\n"              /* y0, y0 */
            "    vmladav.s8 r12, q5, q2\n"          /* sum5, x0, w2 */
            "    vstrb.32 q6, [r1, q7]\n"           /* y0, [output, y1] */
            "    vmov q6[2], q6[0], r0, r4\n"       /* y0[2], y0[0], sum0, sum2 */
            "    vmov q6[3], q6[1], r2, r6\n"       /* y0[3], y0[1], sum1, sum3 */
            "    vadd.i32 q6, q6, r9\n"             /* y0, y0, bias */
            "    vcvt.f32.s32 q6, q6\n"             /* y0, y0 */
            "    vldrw.u32 q5, [q4, #128]!\n"       /* x0, [words0, #128]! */
            "    vmul.f32 q6, q6, r10\n"            /* y0, y0, factor */
            "    vadd.f32 q6, q6, r7\n"             /* y0, y0, rounding */
            "    vldrw.u32 q7, [r3, #176]\n"        /* y1, [frame, #176] */
            "    vmladav.s8 r0, q5, q0\n"           /* sum0, x0, w0 */
            "    vadd.i16 q6, q6, lr\n"             /* y0, y0, zero_point */
            "    vmladav.s8 r2, q5, q1\n"           /* sum1, x0, w1 */
            "    vqmovnb.s16 q6, q6\n"              /* y0, y0 */
            "    vldrw.u32 q5, [q4, #64]!\n"        /* x0, [words0, #64]! */
            "    vmladav.s8 r4, q5, q0\n"           /* sum2, x0, w0 */
            "    vstrb.32 q6, [r1, q7]\n"           /* y0, [output, y1] */
            "    vmladav.s8 r6, q5, q1\n"           /* sum3, x0, w1 */
            "    vmov q6[2], q6[0], r8, r0\n"       /* y0[2], y0[0], sum4, sum0 */
            "    vmov q6[3], q6[1], r12, r2\n"      /* y0[3], y0[1], sum5, sum1 */
            "    vldrw.u32 q5, [q4, #64]!\n"        /* x0, [words0, #64]! */
            "    vadd.i32 q6, q6, r9\n"             /* y0, y0, bias */
            "    vcvt.f32.s32 q6, q6\n"             /* y0, y0 */
            "    vmul.f32 q6, q6, r10\n"            /* y0, y0, factor */
            "    vldrw.u32 q7, [r3, #240]\n"        /* y1, [frame, #240] */
            "    vadd.f32 q6, q6, r7\n"             /* y0, y0, rounding */
            "    ldr r0, [r3, #68]\n"               /* left, [frame, #68] */
            "    vmladav.s8 r8, q5, q0\n"           /* sum4, x0, w0 */
            "    vadd.i16 q6, q6, lr\n"             /* y0, y0, zero_point */
            "    subs r0, r0, #1\n"                 /* left, left, #1 */
            "    vqmovnb.s16 q6, q6\n"              /* y0, y0 */
            "    str r0, [r3, #68]\n"               /* left, [frame, #68] */
            "    vstrb.32 q6, [r1, q7]\n"           /* y0, [output, y1] */
            "    vmov q6[2], q6[0], r4, r8\n"       /* y0[2], y0[0], sum2, sum4 */
            "    vmov q6[3], q6[1], r6, r8\n"       /* y0[3], y0[1], sum3, sum4 */
            "    vadd.i32 q6, q6, r9\n"             /* y0, y0, bias */
            "    vcvt.f32.s32 q6, q6\n"             /* y0, y0 */
            "    vldrw.u32 q7, [r3, #256]\n"        /* y1, [frame, #256] */
            "    vmul.f32 q6, q6, r10\n"            /* y0, y0, factor */
            "    vadd.f32 q6, q6, r7\n"             /* y0, y0, rounding */
            "    vadd.i16 q6, q6, lr\n"             /* y0, y0, zero_point */
            "    vqmovnb.s16 q6, q6\n"              /* y0, y0 */
            "    vstrb.32 q6, [r1, q7]\n"           /* y0, [output, y1] */
            "    bne 5b\n"
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

/* y[m][c][r] = x[m][r][c]: 1 times 35 rows of 20.
 * 8 neighbours of the output at a time; in the other one they are 20 bytes apart. */
MCU_KERNEL void _mcu_mve_depthwise_reorder_1x35x20x1_mve(const int8_t *x MCU_UNUSED,
                                                         int8_t *y MCU_UNUSED) {
    /* clang-format off */
    __asm__(".syntax unified\n"
            "    push {r4, lr}\n"
            "    mov r4, #0\n"                      /* elements_of_row, #0 */
            "    vidup.u16 q0, r4, #1\n"            /* offsets, elements_of_row, #1 */
            "    movw r2, #20\n"                    /* bytes_apart, #20 */
            "    vmul.i16 q0, q0, r2\n"             /* offsets, offsets, bytes_apart */
            "    movw r3, #20\n"                    /* rows_left, #20 */
            "1:\n"
            "    mov r2, r0\n"                      /* place, x */
            "    movw r4, #35\n"                    /* elements_of_row, #35 */
            "    dlstp.16 lr, r4\n"                 /* rounds_left, elements_of_row */
            "2:\n"
            "    vldrb.u16 q1, [r2, q0]\n"          /* elements, [place, offsets] */
            "    add r2, r2, #160\n"                /* place, place, #160 */
            "    vstrb.16 q1, [r1], #8\n"           /* elements, [y], #8 */
            "    letp lr, 2b\n"                     /* rounds_left */
            "    sub r1, r1, #5\n"                  /* y, y, #5 */
            "    add r0, r0, #1\n"                  /* x, x, #1 */
            "    subs r3, r3, #1\n"                 /* rows_left, rows_left, #1 */
            "    bne 1b\n"
            "    pop {r4, pc}\n");
    /* clang-format on */
}

/* ---- The layers, in the order of execution ---- */

/* clang-format off */
static void _mcu_mve_depthwise_layers(mcu_instance_t *instance) {
    uint8_t *const ws = instance->workspace;

    /* reshape_1_reorder: Reorder, x0 reordered: int8[1,20,7,5] -> int8[1,20,7,5] NHWC */
    int8_t *const int8 = (int8_t *)(ws + 0);
    int8_t *const reshape_1_reorder = (int8_t *)(ws + 1552);
    MCU_LAYER(0, _mcu_mve_depthwise_reorder_1x20x35x1_mve(int8, reshape_1_reorder));

    /* depthwise_1: Conv, Conv_5 (5 nodes):
     * int8[1,20,7,5] NHWC -> int8[1,20,7,5] NHWC; 6,300 MACs */
    int8_t *const depthwise_1 = (int8_t *)(ws + 1552);
    uint8_t *const depthwise_1_scratch = (uint8_t *)(ws + 0);
    MCU_LAYER(1, _mcu_mve_depthwise_depthwise3x3_any_mve(reshape_1_reorder, depthwise_1,
                                                         _mcu_mve_depthwise_depthwise_1_stream,
                                                         depthwise_1_scratch));

    /* depthwise_1_reorder: Reorder, y0 reordered: int8[1,20,7,5] NHWC -> int8[1,20,7,5] */
    int8_t *const depthwise_1_reorder = (int8_t *)(ws + 0);
    MCU_LAYER(2, _mcu_mve_depthwise_reorder_1x35x20x1_mve(depthwise_1, depthwise_1_reorder));
}

/* clang-format on */

