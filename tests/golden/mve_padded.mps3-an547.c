/* ---- Kernels ---- */

/* Those in assembly are one string each, some longer than C99 wants compilers to take. */
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Woverlength-strings"
#endif

/* y[m][c][r] = x[m][r][c]: 1 times 16 rows of 96.
 * 8 neighbours of the input at a time; in the other one they are 16 bytes apart. */
MCU_KERNEL void _mcu_mve_padded_reorder_1x16x96x1_mve(const int8_t *x MCU_UNUSED,
                                                      int8_t *y MCU_UNUSED) {
    /* clang-format off */
    __asm__(".syntax unified\n"
            "    push {r4, lr}\n"
            "    mov r4, #0\n"                      /* elements_of_row, #0 */
            "    vidup.u16 q0, r4, #1\n"            /* offsets, elements_of_row, #1 */
            "    movw r2, #16\n"                    /* bytes_apart, #16 */
            "    vmul.i16 q0, q0, r2\n"             /* offsets, offsets, bytes_apart */
            "    movw r3, #16\n"                    /* rows_left, #16 */
            "1:\n"
            "    mov r2, r1\n"                      /* place, y */
            "    movw r4, #96\n"                    /* elements_of_row, #96 */
            "    dlstp.16 lr, r4\n"                 /* rounds_left, elements_of_row */
            "2:\n"
            "    vldrb.u16 q1, [r0], #8\n"          /* elements, [x], #8 */
            "    vstrb.16 q1, [r2, q0]\n"           /* elements, [place, offsets] */
            "    add r2, r2, #128\n"                /* place, place, #128 */
            "    letp lr, 2b\n"                     /* rounds_left */
            "    add r1, r1, #1\n"                  /* y, y, #1 */
            "    subs r3, r3, #1\n"                 /* rows_left, rows_left, #1 */
            "    bne 1b\n"
            "    pop {r4, pc}\n");
    /* clang-format on */
}

/* y[p][f] = sat(round(float(sum) * factor[f]) + zero), with sum = bias[f] + sum of
 * window[p][k] * w[f][k], both floats rounded to nearest.
 * k: row, column, channel.
 * weights: the number that rounds and the input's zero point, so that layers share the function;
 * of each tile of four filters those of each 16 bytes of a window, then bias[4], factor[4]:
 * float32.
 * scratch, in words: the stream, where the windows' first row begins, its number, a limit of
 * columns, the next window's column, both in bytes, turns that are left; from byte 24 on the
 * windows of two pixels, if they reach beyond the image. */
MCU_KERNEL void _mcu_mve_padded_conv3x3_16x20_patches_mve(const int8_t *x MCU_UNUSED,
                                                          int8_t *y MCU_UNUSED,
                                                          const uint32_t *weights MCU_UNUSED,
                                                          uint8_t *scratch MCU_UNUSED) {
    /* clang-format off */
    __asm__(".syntax unified\n"
            "    push {r4-r11, lr}\n"
            "    vpush {d8-d15}\n"
            "    mov r5, r0\n"                      /* window, x */
            "    ldr r11, [r2]\n"                   /* rounding, [weights] */
            "    mov r7, r2\n"                      /* stream, weights */
            "    sub r7, r7, #40\n"                 /* stream, stream, #40 */
            "    str r7, [r3]\n"                    /* stream, [frame] */
            "    str r5, [r3, #4]\n"                /* window, [frame, #4] */
            "    mov r2, #0\n"                      /* row, #0 */
            "    b 7f\n"
            "1:\n"
            /* Windows that reach beyond the image. */
            "    ldr r7, [r3]\n"                    /* stream, [frame] */
            "    ldr r2, [r3, #8]\n"                /* row, [frame, #8] */
            "    ldr r4, [r7, #44]\n"               /* zero_point_of_x, [stream, #44] */
            "    movw r6, #192\n"                   /* bytes, #192 */
            "    vdup.8 q0, r4\n"                   /* padding, zero_point_of_x */
            "    add r4, r3, #24\n"                 /* patch, frame, #24 */
            "    dlstp.8 lr, r6\n"                  /* rounds_left, bytes */
            "2:\n"
            "    vstrb.8 q0, [r4], #16\n"           /* padding, [patch], #16 */
            "    letp lr, 2b\n"                     /* rounds_left */
            "    rsb r7, r0, #0\n"                  /* outside, column, #0 */
            "    bic r7, r7, r7, asr #31\n"         /* outside, outside, outside, asr #31 */
            "    movw r6, #256\n"                   /* bytes, #256 */
            "    sub r6, r6, r0\n"                  /* bytes, bytes, column */
            "    movw r0, #64\n"                    /* most, #64 */
            "    cmp r6, r0\n"                      /* bytes, most */
            "    it gt\n"
            "    movgt r6, r0\n"                    /* bytes, most */
            "    subs r6, r6, r7\n"                 /* bytes, bytes, outside */
            "    ble 6f\n"
            "    add r5, r5, r7\n"                  /* window, window, outside */
            "    add r4, r3, #24\n"                 /* patch, frame, #24 */
            "    add r4, r4, r7\n"                  /* patch, patch, outside */
            "    mov r0, #3\n"                      /* rows_left, #3 */
            "3:\n"
            "    movw r7, #6\n"                     /* height, #6 */
            "    cmp r2, r7\n"                      /* row, height */
            "    bhs 5f\n"
            "    mov r7, r5\n"                      /* from, window */
            "    mov r12, r4\n"                     /* into, patch */
            "    dlstp.8 lr, r6\n"                  /* rounds_left, bytes */
            "4:\n"
            "    vldrb.u8 q0, [r7], #16\n"          /* copied, [from], #16 */
            "    vstrb.8 q0, [r12], #16\n"          /* copied, [into], #16 */
            "    letp lr, 4b\n"                     /* rounds_left */
            "5:\n"
            "    add r5, r5, r9\n"                  /* window, window, pitch */
            "    add r4, r4, #64\n"                 /* patch, patch, #64 */
            "    add r2, r2, #1\n"                  /* row, row, #1 */
            "    subs r0, r0, #1\n"                 /* rows_left, rows_left, #1 */
            "    bne 3b\n"
            "6:\n"
            "    movw r9, #64\n"                    /* pitch, #64 */
            "    add r5, r3, #24\n"                 /* window, frame, #24 */
            "    b 10f\n"
            "7:\n"
            "8:\n"
            "    str r2, [r3, #8]\n"                /* row, [frame, #8] */
            "    movw r4, #193\n"                   /* limit, #193 */
            "    movw r6, #4\n"                     /* free, #4 */
            "    cmp r2, r6\n"                      /* row, free */
            "    it hs\n"
            "    movhs r4, #0\n"                    /* limit, #0 */
            "    str r4, [r3, #12]\n"               /* limit, [frame, #12] */
            "    mov r0, #0\n"                      /* column, #0 */
            "9:\n"
            "    ldr r4, [r3, #12]\n"               /* limit, [frame, #12] */
            "    str r0, [r3, #16]\n"               /* column, [frame, #16] */
            "    movw r9, #256\n"                   /* pitch, #256 */
            "    cmp r0, r4\n"                      /* column, limit */
            "    bhs 1b\n"
            "10:\n"
            "    ldr r7, [r3]\n"                    /* stream, [frame] */
            "    vldrw.u32 q0, [r5]\n"              /* xa, [window] */
            "    mov r0, #5\n"                      /* turns_left, #5 */
            /* Two pixels times four filters, tile by tile. */
            "    vldrw.u32 q2, [r7, #48]!\n"        /* w0, [stream, #48]! */
            "    str r0, [r3, #20]\n"               /* turns_left, [frame, #20] */
            "11:\n"
            "    vmladav.s8 r0, q0, q2\n"           /* suma0, xa, w0 */
            "    vldrw.u32 q1, [r5, #16]\n"         /* xb, [window, #16] */
            "    vmladav.s8 r2, q1, q2\n"           /* sumb0, xb, w0 */
            "    vldrw.u32 q3, [r7, #16]!\n"        /* w1, [stream, #16]! */
            "    vmladav.s8 r4, q0, q3\n"           /* suma1, xa, w1 */
            "    vldrw.u32 q7, [r7, #16]!\n"        /* w2, [stream, #16]! */
            "    vmladav.s8 r6, q1, q3\n"           /* sumb1, xb, w1 */
            "    vldrw.u32 q2, [r7, #16]!\n"        /* w0, [stream, #16]! */
            "    vmladav.s8 r12, q0, q7\n"          /* suma2, xa, w2 */
            "    vldrw.u32 q3, [r7, #16]!\n"        /* w1, [stream, #16]! */
            "    vmladav.s8 lr, q1, q7\n"           /* sumb2, xb, w2 */
            "    vldrw.u32 q7, [r7, #16]!\n"        /* w2, [stream, #16]! */
            "    vmladav.s8 r8, q0, q2\n"           /* suma3, xa, w0 */
            "    vldrw.u32 q0, [r5, #16]\n"         /* xa, [window, #16] */
            "    vmladav.s8 r10, q1, q2\n"          /* sumb3, xb, w0 */
            "    vldrw.u32 q1, [r5, #32]\n"         /* xb, [window, #32] */
            "    vmladava.s8 r0, q0, q3\n"          /* suma0, xa, w1 */
            "    vldrw.u32 q2, [r7, #16]!\n"        /* w0, [stream, #16]! */
            "    vmladava.s8 r2, q1, q3\n"          /* sumb0, xb, w1 */
            "    vldrw.u32 q3, [r7, #16]!\n"        /* w1, [stream, #16]! */
            "    vmladava.s8 r4, q0, q7\n"          /* suma1, xa, w2 */
            "    vmladava.s8 r6, q1, q7\n"          /* sumb1, xb, w2 */
            "    vldrw.u32 q7, [r7, #16]!\n"        /* w2, [stream, #16]! */
            "    vmladava.s8 r12, q0, q2\n"         /* suma2, xa, w0 */
            "    vmladava.s8 lr, q1, q2\n"          /* sumb2, xb, w0 */
            "    vldrw.u32 q2, [r7, #16]!\n"        /* w0, [stream, #16]! */
            "    vmladava.s8 r8, q0, q3\n"          /* suma3, xa, w1 */
            "    vldrw.u32 q0, [r5, #32]\n"         /* xa, [window, #32] */
            "    vmladava.s8 r10, q1, q3\n"         /* sumb3, xb, w1 */
            "    vldrw.u32 q1, [r5, #48]\n"         /* xb, [window, #48] */
            "    vmladava.s8 r0, q0, q7\n"          /* suma0, xa, w2 */
            "    vldrw.u32 q3, [r7, #16]!\n"        /* w1, [stream, #16]! */
            "    vmladava.s8 r2, q1, q7\n"          /* sumb0, xb, w2 */
            "    vldrw.u32 q7, [r7, #16]!\n"        /* w2, [stream, #16]! */
            "    vmladava.s8 r4, q0, q2\n"          /* suma1, xa, w0 */
            "    add r5, r5, r9\n"                  /* window, window, pitch */
            "    vmladava.s8 r6, q1, q2\n"          /* sumb1, xb, w0 */
            "    vldrw.u32 q2, [r7, #16]!\n"        /* w0, [stream, #16]! */
            "    vmladava.s8 r12, q0, q3\n"         /* suma2, xa, w1 */
            "    vmladava.s8 lr, q1, q3\n"          /* sumb2, xb, w1 */
            "    vldrw.u32 q3, [r7, #16]!\n"        /* w1, [stream, #16]! */
            "    vmladava.s8 r8, q0, q7\n"          /* suma3, xa, w2 */
            "    vldrw.u32 q0, [r5]\n"              /* xa, [window] */
            "    vmladava.s8 r10, q1, q7\n"         /* sumb3, xb, w2 */
            "    vldrw.u32 q1, [r5, #16]\n"         /* xb, [window, #16] */
            "    vmladava.s8 r0, q0, q2\n"          /* suma0, xa, w0 */
            "    vldrw.u32 q7, [r7, #16]!\n"        /* w2, [stream, #16]! */
            "    vmladava.s8 r2, q1, q2\n"          /* sumb0, xb, w0 */
            "    vldrw.u32 q2, [r7, #16]!\n"        /* w0, [stream, #16]! */
            "    vmladava.s8 r4, q0, q3\n"          /* suma1, xa, w1 */
            "    vmladava.s8 r6, q1, q3\n"          /* sumb1, xb, w1 */
            "    vldrw.u32 q3, [r7, #16]!\n"        /* w1, [stream, #16]! */
            "    vmladava.s8 r12, q0, q7\n"         /* suma2, xa, w2 */
            "    vmladava.s8 lr, q1, q7\n"          /* sumb2, xb, w2 */
            "    vldrw.u32 q7, [r7, #16]!\n"        /* w2, [stream, #16]! */
            "    vmladava.s8 r8, q0, q2\n"          /* suma3, xa, w0 */
            "    vldrw.u32 q0, [r5, #16]\n"         /* xa, [window, #16] */
            "    vmladava.s8 r10, q1, q2\n"         /* sumb3, xb, w0 */
            "    vldrw.u32 q1, [r5, #32]\n"         /* xb, [window, #32] */
            "    vmladava.s8 r0, q0, q3\n"          /* suma0, xa, w1 */
            "    vldrw.u32 q2, [r7, #16]!\n"        /* w0, [stream, #16]! */
            "    vmladava.s8 r2, q1, q3\n"          /* sumb0, xb, w1 */
            "    vldrw.u32 q3, [r7, #16]!\n"        /* w1, [stream, #16]! */
            "    vmladava.s8 r4, q0, q7\n"          /* suma1, xa, w2 */
            "    vmladava.s8 r6, q1, q7\n"          /* sumb1, xb, w2 */
            "    vldrw.u32 q7, [r7, #16]!\n"        /* w2, [stream, #16]! */
            "    vmladava.s8 r12, q0, q2\n"         /* suma2, xa, w0 */
            "    vmladava.s8 lr, q1, q2\n"          /* sumb2, xb, w0 */
            "    vldrw.u32 q2, [r7, #16]!\n"        /* w0, [stream, #16]! */
            "    vmladava.s8 r8, q0, q3\n"          /* suma3, xa, w1 */
            "    vldrw.u32 q0, [r5, #32]\n"         /* xa, [window, #32] */
            "    vmladava.s8 r10, q1, q3\n"         /* sumb3, xb, w1 */
            "    vldrw.u32 q1, [r5, #48]\n"         /* xb, [window, #48] */
            "    vmladava.s8 r0, q0, q7\n"          /* suma0, xa, w2 */
            "    vldrw.u32 q3, [r7, #16]!\n"        /* w1, [stream, #16]! */
            "    vmladava.s8 r2, q1, q7\n"          /* sumb0, xb, w2 */
            "    vldrw.u32 q7, [r7, #16]!\n"        /* w2, [stream, #16]! */
            "    vmladava.s8 r4, q0, q2\n"          /* suma1, xa, w0 */
            "    add r5, r5, r9\n"                  /* window, window, pitch */
            "    vmladava.s8 r6, q1, q2\n"          /* sumb1, xb, w0 */
            "    vldrw.u32 q2, [r7, #16]!\n"        /* w0, [stream, #16]! */
            "    vmladava.s8 r12, q0, q3\n"         /* suma2, xa, w1 */
            "    vmladava.s8 lr, q1, q3\n"          /* sumb2, xb, w1 */
            "    vldrw.u32 q3, [r7, #16]!\n"        /* w1, [stream, #16]! */
            "    vmladava.s8 r8, q0, q7\n"          /* suma3, xa, w2 */
            "    vldrw.u32 q0, [r5]\n"              /* xa, [window] */
            "    vmladava.s8 r10, q1, q7\n"         /* sumb3, xb, w2 */
            "    vldrw.u32 q1, [r5, #16]\n"         /* xb, [window, #16] */
            "    vmladava.s8 r0, q0, q2\n"          /* suma0, xa, w0 */
            "    vldrw.u32 q7, [r7, #16]!\n"        /* w2, [stream, #16]! */
            "    vmladava.s8 r2, q1, q2\n"          /* sumb0, xb, w0 */
            "    vldrw.u32 q2, [r7, #16]!\n"        /* w0, [stream, #16]! */
            "    vmladava.s8 r4, q0, q3\n"          /* suma1, xa, w1 */
            "    vmladava.s8 r6, q1, q3\n"          /* sumb1, xb, w1 */
            "    vldrw.u32 q3, [r7, #16]!\n"        /* w1, [stream, #16]! */
            "    vmladava.s8 r12, q0, q7\n"         /* suma2, xa, w2 */
            "    vmladava.s8 lr, q1, q7\n"          /* sumb2, xb, w2 */
            "    vldrw.u32 q7, [r7, #16]!\n"        /* w2, [stream, #16]! */
            "    vmladava.s8 r8, q0, q2\n"          /* suma3, xa, w0 */
            "    vldrw.u32 q0, [r5, #16]\n"         /* xa, [window, #16] */
            "    vmladava.s8 r10, q1, q2\n"         /* sumb3, xb, w0 */
            "    vldrw.u32 q1, [r5, #32]\n"         /* xb, [window, #32] */
            "    vmladava.s8 r0, q0, q3\n"          /* suma0, xa, w1 */
            "    vldrw.u32 q2, [r7, #16]!\n"        /* w0, [stream, #16]! */
            "    vmladava.s8 r2, q1, q3\n"          /* sumb0, xb, w1 */
            "    vldrw.u32 q3, [r7, #16]!\n"        /* w1, [stream, #16]! */
            "    vmladava.s8 r4, q0, q7\n"          /* suma1, xa, w2 */
            "    vmladava.s8 r6, q1, q7\n"          /* sumb1, xb, w2 */
            "    vldrw.u32 q7, [r7, #16]!\n"        /* w2, [stream, #16]! */
            "    vmladava.s8 r12, q0, q2\n"         /* suma2, xa, w0 */
            "    vmladava.s8 lr, q1, q2\n"          /* sumb2, xb, w0 */
            "    vldrw.u32 q2, [r7, #16]!\n"        /* w0, [stream, #16]! */
            "    vmladava.s8 r8, q0, q3\n"          /* suma3, xa, w1 */
            "    vldrw.u32 q0, [r5, #32]\n"         /* xa, [window, #32] */
            "    vmladava.s8 r10, q1, q3\n"         /* sumb3, xb, w1 */
            "    vldrw.u32 q1, [r5, #48]\n"         /* xb, [window, #48] */
            "    vmladava.s8 r0, q0, q7\n"          /* suma0, xa, w2 */
            "    vldrw.u32 q3, [r7, #16]!\n"        /* w1, [stream, #16]! */
            "    vmladava.s8 r2, q1, q7\n"          /* sumb0, xb, w2 */
            "    vldrw.u32 q7, [r7, #16]!\n"        /* w2, [stream, #16]! */
            "    vmladava.s8 r4, q0, q2\n"          /* suma1, xa, w0 */
            "    sub r5, r5, r9, lsl #1\n"          /* window, window, pitch, lsl #1 */
            "    vmladava.s8 r6, q1, q2\n"          /* sumb1, xb, w0 */
            "    vldrw.u32 q2, [r7, #48]!\n"        /* w0, [stream, #48]! */
            "    vmladava.s8 r12, q0, q3\n"         /* suma2, xa, w1 */
            "    vldrw.u32 q6, [r7, #-32]\n"        /* end, [stream, #-32] */
            "    vmladava.s8 lr, q1, q3\n"          /* sumb2, xb, w1 */
            "    vmov q4[2], q4[0], r0, r12\n"      /* words_a[2], words_a[0], suma0, suma2 */
            "    vmladava.s8 r8, q0, q7\n"          /* suma3, xa, w2 */
            "    vmov q5[2], q5[0], r2, lr\n"       /* words_b[2], words_b[0], sumb0, sumb2 */
            "    vmladava.s8 r10, q1, q7\n"         /* sumb3, xb, w2 */
            "    vmov q4[3], q4[1], r4, r8\n"       /* words_a[3], words_a[1], suma1, suma3 */
            "    ldr r0, [r3, #20]\n"               /* turns_left, [frame, #20] */
            "    vmov q5[3], q5[1], r6, r10\n"      /* words_b[3], words_b[1], sumb1, sumb3 */
            "    vadd.i32 q4, q4, q6\n"             /* words_a, words_a, end */
            "    vcvt.f32.s32 q4, q4\n"             /* words_a, words_a */
            "    vadd.i32 q5, q5, q6\n"             /* words_b, words_b, end */
            "    vcvt.f32.s32 q5, q5\n"             /* words_b, words_b */
            "    vldrw.u32 q6, [r7, #-16]\n"        /* end, [stream, #-16] */
            "    vmul.f32 q4, q4, q6\n"             /* words_a, words_a, end */
            "    subs r0, r0, #1\n"                 /* turns_left, turns_left, #1 */
            "    vmul.f32 q5, q5, q6\n"             /* words_b, words_b, end */
            "    vldrw.u32 q0, [r5]\n"              /* xa, [window] */
            "    vadd.f32 q4, q4, r11\n"            /* words_a, words_a, rounding */
            "    str r0, [r3, #20]\n"               /* turns_left, [frame, #20] */
            "    vadd.f32 q5, q5, r11\n"            /* words_b, words_b, rounding */
            "    vqmovnb.s16 q4, q4\n"              /* words_a, words_a */
            "    vqmovnb.s16 q5, q5\n"              /* words_b, words_b */
            "    vstrb.32 q5, [r1, #20]\n"          /* words_b, [output, #20] */
            "    vstrb.32 q4, [r1], #4\n"           /* words_a, [output], #4 */
            "    bne 11b\n"
            /* The next two pixels. */
            "    ldr r0, [r3, #16]\n"               /* column, [frame, #16] */
            "    ldr r5, [r3, #4]\n"                /* window, [frame, #4] */
            "    add r1, r1, #20\n"                 /* output, output, #20 */
            "    add r0, r0, #32\n"                 /* column, column, #32 */
            "    add r5, r5, r0\n"                  /* window, window, column */
            "    movw r6, #256\n"                   /* free, #256 */
            "    cmp r0, r6\n"                      /* column, free */
            "    bne 9b\n"
            /* The next row. */
            "    ldr r2, [r3, #8]\n"                /* row, [frame, #8] */
            "    ldr r5, [r3, #4]\n"                /* window, [frame, #4] */
            "    add r2, r2, #1\n"                  /* row, row, #1 */
            "    add r5, r5, #256\n"                /* window, window, #256 */
            "    str r5, [r3, #4]\n"                /* window, [frame, #4] */
            "    movw r6, #4\n"                     /* free, #4 */
            "    cmp r2, r6\n"                      /* row, free */
            "    bne 8b\n"
            "    vpop {d8-d15}\n"
            "    pop {r4-r11, pc}\n");
    /* clang-format on */
}

/* y[m][c][r] = x[m][r][c]: 1 times 64 rows of 20.
 * 8 neighbours of the output at a time; in the other one they are 20 bytes apart. */
MCU_KERNEL void _mcu_mve_padded_reorder_1x64x20x1_mve(const int8_t *x MCU_UNUSED,
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
            "    movw r4, #64\n"                    /* elements_of_row, #64 */
            "    dlstp.16 lr, r4\n"                 /* rounds_left, elements_of_row */
            "2:\n"
            "    vldrb.u16 q1, [r2, q0]\n"          /* elements, [place, offsets] */
            "    add r2, r2, #160\n"                /* place, place, #160 */
            "    vstrb.16 q1, [r1], #8\n"           /* elements, [y], #8 */
            "    letp lr, 2b\n"                     /* rounds_left */
            "    add r0, r0, #1\n"                  /* x, x, #1 */
            "    subs r3, r3, #1\n"                 /* rows_left, rows_left, #1 */
            "    bne 1b\n"
            "    pop {r4, pc}\n");
    /* clang-format on */
}

/* ---- The layers, in the order of execution ---- */

/* clang-format off */
static void _mcu_mve_padded_layers(mcu_instance_t *instance) {
    uint8_t *const ws = instance->workspace;

    /* reshape_1_reorder: Reorder, x0 reordered: int8[1,16,6,16] -> int8[1,16,6,16] NHWC */
    int8_t *const int8 = (int8_t *)(ws + 1440);
    int8_t *const reshape_1_reorder = (int8_t *)(ws + 0);
    MCU_LAYER(0, _mcu_mve_padded_reorder_1x16x96x1_mve(int8, reshape_1_reorder));

    /* conv_1: Conv, Conv_5 (5 nodes): int8[1,16,6,16] NHWC -> int8[1,20,4,16] NHWC; 184,320 MACs */
    int8_t *const conv_1 = (int8_t *)(ws + 1536);
    uint8_t *const conv_1_scratch = (uint8_t *)(ws + 2816);
    MCU_LAYER(1, _mcu_mve_padded_conv3x3_16x20_patches_mve(
        reshape_1_reorder, conv_1, _mcu_mve_padded_conv_1_weights, conv_1_scratch));

    /* conv_1_reorder: Reorder, y0 reordered: int8[1,20,4,16] NHWC -> int8[1,20,4,16] */
    int8_t *const conv_1_reorder = (int8_t *)(ws + 0);
    MCU_LAYER(2, _mcu_mve_padded_reorder_1x64x20x1_mve(conv_1, conv_1_reorder));
}

/* clang-format on */

