/* ---- Kernels ---- */

/* Those in assembly are one string each, some longer than C99 wants compilers to take. */
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Woverlength-strings"
#endif

/* y[m][c][r] = x[m][r][c]: 1 times 52 rows of 9.
 * 8 neighbours of the output at a time; in the other one they are 9 bytes apart. */
MCU_KERNEL void _mcu_mve_pointwise_reorder_1x52x9x1_mve(const int8_t *x MCU_UNUSED,
                                                        int8_t *y MCU_UNUSED) {
    /* clang-format off */
    __asm__(".syntax unified\n"
            "    push {r4, lr}\n"
            "    mov r4, #0\n"                      /* elements_of_row, #0 */
            "    vidup.u16 q0, r4, #1\n"            /* offsets, elements_of_row, #1 */
            "    movw r2, #9\n"                     /* bytes_apart, #9 */
            "    vmul.i16 q0, q0, r2\n"             /* offsets, offsets, bytes_apart */
            "    movw r3, #9\n"                     /* rows_left, #9 */
            "1:\n"
            "    mov r2, r0\n"                      /* place, x */
            "    movw r4, #52\n"                    /* elements_of_row, #52 */
            "    dlstp.16 lr, r4\n"                 /* rounds_left, elements_of_row */
            "2:\n"
            "    vldrb.u16 q1, [r2, q0]\n"          /* elements, [place, offsets] */
            "    add r2, r2, #72\n"                 /* place, place, #72 */
            "    vstrb.16 q1, [r1], #8\n"           /* elements, [y], #8 */
            "    letp lr, 2b\n"                     /* rounds_left */
            "    sub r1, r1, #4\n"                  /* y, y, #4 */
            "    add r0, r0, #1\n"                  /* x, x, #1 */
            "    subs r3, r3, #1\n"                 /* rows_left, rows_left, #1 */
            "    bne 1b\n"
            "    pop {r4, pc}\n");
    /* clang-format on */
}

/* y[p][f] = sat(round(float(sum) * factor[f]) + zero), with sum = bias[f] + sum of
 * x[p][c] * w[f][c], both floats rounded to nearest.
 * x: [p][channel], y: [p][f].
 * weights: the number that rounds and the input's zero point, so that layers share the function;
 * of each tile of four filters those of each 16 bytes of a window, then bias[4], factor[4]:
 * float32.
 * scratch, in words: the stream, pairs that are left of a run, runs, or windows of a row, the
 * next window. */
MCU_KERNEL void _mcu_mve_pointwise_conv1x1_52x20_mve(const int8_t *x MCU_UNUSED,
                                                     int8_t *y MCU_UNUSED,
                                                     const uint32_t *weights MCU_UNUSED,
                                                     uint8_t *scratch MCU_UNUSED) {
    /* clang-format off */
    __asm__(".syntax unified\n"
            "    push {r4-r11, lr}\n"
            "    vpush {d8-d15}\n"
            "    movw r11, #65519\n"                /* rounding, #65519 */
            "    vdup.16 q7, r11\n"                 /* zero_points, rounding */
            "    ldr r11, [r2]\n"                   /* rounding, [weights] */
            "    mov r5, r2\n"                      /* stream, weights */
            "    sub r5, r5, #40\n"                 /* stream, stream, #40 */
            "    str r5, [r3]\n"                    /* stream, [frame] */
            "    mov r7, r0\n"                      /* window, x */
            "    mov r0, #5\n"                      /* pairs_left, #5 */
            "    str r0, [r3, #4]\n"                /* pairs_left, [frame, #4] */
            "1:\n"
            "    ldr r5, [r3]\n"                    /* stream, [frame] */
            "    vldrw.u32 q0, [r7]\n"              /* xa, [window] */
            "    mov r9, #5\n"                      /* turns_left, #5 */
            /* Two pixels times four filters, tile by tile. */
            "    vldrw.u32 q2, [r5, #48]!\n"        /* w0, [stream, #48]! */
            "2:\n"
            "    vmladav.s8 r0, q0, q2\n"           /* suma0, xa, w0 */
            "    vldrw.u32 q1, [r7, #52]\n"         /* xb, [window, #52] */
            "    vmladav.s8 r2, q1, q2\n"           /* sumb0, xb, w0 */
            "    vldrw.u32 q3, [r5, #16]!\n"        /* w1, [stream, #16]! */
            "    vmladav.s8 r4, q0, q3\n"           /* suma1, xa, w1 */
            "    vldrw.u32 q2, [r5, #16]!\n"        /* w0, [stream, #16]! */
            "    vmladav.s8 r6, q1, q3\n"           /* sumb1, xb, w1 */
            "    vldrw.u32 q3, [r5, #16]!\n"        /* w1, [stream, #16]! */
            "    vmladav.s8 r12, q0, q2\n"          /* suma2, xa, w0 */
            "    subs r9, r9, #1\n"                 /* turns_left, turns_left, #1 */
            "    vmladav.s8 lr, q1, q2\n"           /* sumb2, xb, w0 */
            "    vldrw.u32 q2, [r5, #16]!\n"        /* w0, [stream, #16]! */
            "    vmladav.s8 r8, q0, q3\n"           /* suma3, xa, w1 */
            "    vldrw.u32 q0, [r7, #16]\n"         /* xa, [window, #16] */
            "    vmladav.s8 r10, q1, q3\n"          /* sumb3, xb, w1 */
            "    vldrw.u32 q1, [r7, #68]\n"         /* xb, [window, #68] */
            "    vmladava.s8 r0, q0, q2\n"          /* suma0, xa, w0 */
            "    vldrw.u32 q3, [r5, #16]!\n"        /* w1, [stream, #16]! */
            "    vmladava.s8 r2, q1, q2\n"          /* sumb0, xb, w0 */
            "    vldrw.u32 q2, [r5, #16]!\n"        /* w0, [stream, #16]! */
            "    vmladava.s8 r4, q0, q3\n"          /* suma1, xa, w1 */
            "    vmladava.s8 r6, q1, q3\n"          /* sumb1, xb, w1 */
            "    vldrw.u32 q3, [r5, #16]!\n"        /* w1, [stream, #16]! */
            "    vmladava.s8 r12, q0, q2\n"         /* suma2, xa, w0 */
            "    vmladava.s8 lr, q1, q2\n"          /* sumb2, xb, w0 */
            "    vldrw.u32 q2, [r5, #16]!\n"        /* w0, [stream, #16]! */
            "    vmladava.s8 r8, q0, q3\n"          /* suma3, xa, w1 */
            "    vldrw.u32 q0, [r7, #32]\n"         /* xa, [window, #32] */
            "    vmladava.s8 r10, q1, q3\n"         /* sumb3, xb, w1 */
            "    vldrw.u32 q1, [r7, #84]\n"         /* xb, [window, #84] */
            "    vmladava.s8 r0, q0, q2\n"          /* suma0, xa, w0 */
            "    vldrw.u32 q3, [r5, #16]!\n"        /* w1, [stream, #16]! */
            "    vmladava.s8 r2, q1, q2\n"          /* sumb0, xb, w0 */
            "    vldrw.u32 q2, [r5, #16]!\n"        /* w0, [stream, #16]! */
            "    vmladava.s8 r4, q0, q3\n"          /* suma1, xa, w1 */
            "    vmladava.s8 r6, q1, q3\n"          /* sumb1, xb, w1 */
            "    vldrw.u32 q3, [r5, #16]!\n"        /* w1, [stream, #16]! */
            "    vmladava.s8 r12, q0, q2\n"         /* suma2, xa, w0 */
            "    vmladava.s8 lr, q1, q2\n"          /* sumb2, xb, w0 */
            "    vldrw.u32 q2, [r5, #16]!\n"        /* w0, [stream, #16]! */
            "    vmladava.s8 r8, q0, q3\n"          /* suma3, xa, w1 */
            "    vldrw.u32 q0, [r7, #36]\n"         /* xa, [window, #36] */
            "    vmladava.s8 r10, q1, q3\n"         /* sumb3, xb, w1 */
            "    vldrw.u32 q1, [r7, #88]\n"         /* xb, [window, #88] */
            "    vmladava.s8 r0, q0, q2\n"          /* suma0, xa, w0 */
            "    vldrw.u32 q3, [r5, #16]!\n"        /* w1, [stream, #16]! */
            "    vmladava.s8 r2, q1, q2\n"          /* sumb0, xb, w0 */
            "    vldrw.u32 q2, [r5, #16]!\n"        /* w0, [stream, #16]! */
            "    vmladava.s8 r4, q0, q3\n"          /* suma1, xa, w1 */
            "    vmladava.s8 r6, q1, q3\n"          /* sumb1, xb, w1 */
            "    vldrw.u32 q3, [r5, #16]!\n"        /* w1, [stream, #16]! */
            "    vmladava.s8 r12, q0, q2\n"         /* suma2, xa, w0 */
            "    vmladava.s8 lr, q1, q2\n"          /* sumb2, xb, w0 */
            "    vldrw.u32 q2, [r5, #48]!\n"        /* w0, [stream, #48]! */
            "    vmladava.s8 r8, q0, q3\n"          /* suma3, xa, w1 */
            "    vmov q4[2], q4[0], r0, r12\n"      /* words_a[2], words_a[0], suma0, suma2 */
            "    vmladava.s8 r10, q1, q3\n"         /* sumb3, xb, w1 */
            "    vmov q4[3], q4[1], r4, r8\n"       /* words_a[3], words_a[1], suma1, suma3 */
            "    vmov q5[2], q5[0], r2, lr\n"       /* words_b[2], words_b[0], sumb0, sumb2 */
            "    vmov q5[3], q5[1], r6, r10\n"      /* words_b[3], words_b[1], sumb1, sumb3 */
            "    vldrw.u32 q6, [r5, #-32]\n"        /* end, [stream, #-32] */
            "    vadd.i32 q4, q4, q6\n"             /* words_a, words_a, end */
            "    vcvt.f32.s32 q4, q4\n"             /* words_a, words_a */
            "    vadd.i32 q5, q5, q6\n"             /* words_b, words_b, end */
            "    vcvt.f32.s32 q5, q5\n"             /* words_b, words_b */
            "    vldrw.u32 q6, [r5, #-16]\n"        /* end, [stream, #-16] */
            "    vfmas.f32 q4, q6, r11\n"           /* words_a, end, rounding */
            "    vldrw.u32 q0, [r7]\n"              /* xa, [window] */
            "    vfmas.f32 q5, q6, r11\n"           /* words_b, end, rounding */
            "    vadd.i16 q4, q4, q7\n"             /* words_a, words_a, zero_points */
            "    vadd.i16 q5, q5, q7\n"             /* words_b, words_b, zero_points */
            "    vqmovnb.s16 q4, q4\n"              /* words_a, words_a */
            "    vqmovnb.s16 q5, q5\n"              /* words_b, words_b */
            "    vstrb.32 q5, [r1, #20]\n"          /* words_b, [output, #20] */
            "    vstrb.32 q4, [r1], #4\n"           /* words_a, [output], #4 */
            "    bne 2b\n"
            /* The next two pixels. */
            "    ldr r0, [r3, #4]\n"                /* pairs_left, [frame, #4] */
            "    add r7, r7, #52\n"                 /* window, window, #52 */
            "    cmp r0, #5\n"                      /* pairs_left, #5 */
            "    beq 3f\n"
            "    add r1, r1, #20\n"                 /* output, output, #20 */
            "    add r7, r7, #52\n"                 /* window, window, #52 */
            "3:\n"
            "    subs r0, r0, #1\n"                 /* pairs_left, pairs_left, #1 */
            "    str r0, [r3, #4]\n"                /* pairs_left, [frame, #4] */
            "    bne 1b\n"
            "    vpop {d8-d15}\n"
            "    pop {r4-r11, pc}\n");
    /* clang-format on */
}

/* y[m][c][r] = x[m][r][c]: 1 times 9 rows of 20.
 * 8 neighbours of the input at a time; in the other one they are 9 bytes apart. */
MCU_KERNEL void _mcu_mve_pointwise_reorder_1x9x20x1_mve(const int8_t *x MCU_UNUSED,
                                                        int8_t *y MCU_UNUSED) {
    /* clang-format off */
    __asm__(".syntax unified\n"
            "    push {r4, lr}\n"
            "    mov r4, #0\n"                      /* elements_of_row, #0 */
            "    vidup.u16 q0, r4, #1\n"            /* offsets, elements_of_row, #1 */
            "    movw r2, #9\n"                     /* bytes_apart, #9 */
            "    vmul.i16 q0, q0, r2\n"             /* offsets, offsets, bytes_apart */
            "    movw r3, #9\n"                     /* rows_left, #9 */
            "1:\n"
            "    mov r2, r1\n"                      /* place, y */
            "    movw r4, #20\n"                    /* elements_of_row, #20 */
            "    dlstp.16 lr, r4\n"                 /* rounds_left, elements_of_row */
            "2:\n"
            "    vldrb.u16 q1, [r0], #8\n"          /* elements, [x], #8 */
            "    vstrb.16 q1, [r2, q0]\n"           /* elements, [place, offsets] */
            "    add r2, r2, #72\n"                 /* place, place, #72 */
            "    letp lr, 2b\n"                     /* rounds_left */
            "    sub r0, r0, #4\n"                  /* x, x, #4 */
            "    add r1, r1, #1\n"                  /* y, y, #1 */
            "    subs r3, r3, #1\n"                 /* rows_left, rows_left, #1 */
            "    bne 1b\n"
            "    pop {r4, pc}\n");
    /* clang-format on */
}

/* ---- The layers, in the order of execution ---- */

/* clang-format off */
static void _mcu_mve_pointwise_layers(mcu_instance_t *instance) {
    uint8_t *const ws = instance->workspace;

    /* reshape_1_reorder: Reorder, x0 reordered: int8[1,52,3,3] -> int8[1,52,3,3] NHWC */
    int8_t *const int8 = (int8_t *)(ws + 416);
    int8_t *const reshape_1_reorder = (int8_t *)(ws + 0);
    MCU_LAYER(0, _mcu_mve_pointwise_reorder_1x52x9x1_mve(int8, reshape_1_reorder));

    /* conv_1: Conv, p0 (5 nodes): int8[1,52,3,3] NHWC -> int8[1,20,3,3] NHWC; 9,360 MACs */
    int8_t *const conv_1 = (int8_t *)(ws + 480);
    uint8_t *const conv_1_scratch = (uint8_t *)(ws + 672);
    MCU_LAYER(1, _mcu_mve_pointwise_conv1x1_52x20_mve(
        reshape_1_reorder, conv_1, _mcu_mve_pointwise_conv_1_weights, conv_1_scratch));

    /* conv_1_reorder: Reorder, p0 reordered: int8[1,20,3,3] NHWC -> int8[1,20,3,3] */
    int8_t *const conv_1_reorder = (int8_t *)(ws + 0);
    MCU_LAYER(2, _mcu_mve_pointwise_reorder_1x9x20x1_mve(conv_1, conv_1_reorder));
}

/* clang-format on */

