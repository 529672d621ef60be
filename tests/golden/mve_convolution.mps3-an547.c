/* ---- Kernels ---- */

/* Those in assembly are one string each, some longer than C99 wants compilers to take. */
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Woverlength-strings"
#endif

/* y[m][c][r] = x[m][r][c]: 1 times 4 rows of 36.
 * 8 neighbours of the input at a time; in the other one they are 4 bytes apart. */
MCU_KERNEL void _mcu_mve_convolution_reorder_1x4x36x1_mve(const int8_t *x MCU_UNUSED,
                                                          int8_t *y MCU_UNUSED) {
    /* clang-format off */
    __asm__(".syntax unified\n"
            "    push {r4, lr}\n"
            "    mov r4, #0\n"                      /* elements_of_row, #0 */
            "    vidup.u16 q0, r4, #1\n"            /* offsets, elements_of_row, #1 */
            "    movw r2, #4\n"                     /* bytes_apart, #4 */
            "    vmul.i16 q0, q0, r2\n"             /* offsets, offsets, bytes_apart */
            "    movw r3, #4\n"                     /* rows_left, #4 */
            "1:\n"
            "    mov r2, r1\n"                      /* place, y */
            "    movw r4, #36\n"                    /* elements_of_row, #36 */
            "    dlstp.16 lr, r4\n"                 /* rounds_left, elements_of_row */
            "2:\n"
            "    vldrb.u16 q1, [r0], #8\n"          /* elements, [x], #8 */
            "    vstrb.16 q1, [r2, q0]\n"           /* elements, [place, offsets] */
            "    add r2, r2, #32\n"                 /* place, place, #32 */
            "    letp lr, 2b\n"                     /* rounds_left */
            "    sub r0, r0, #4\n"                  /* x, x, #4 */
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
 * scratch, in words: the stream, pairs that are left of a run, runs, or windows of a row, the
 * next window, the image's next row, where that is, bands that are left, its zero point; from
 * byte 40 on 8 rows of the image, with its padding. */
MCU_KERNEL void _mcu_mve_convolution_conv3x3_4x20_mve(const int8_t *x MCU_UNUSED,
                                                      int8_t *y MCU_UNUSED,
                                                      const uint32_t *weights MCU_UNUSED,
                                                      uint8_t *scratch MCU_UNUSED) {
    /* clang-format off */
    __asm__(".syntax unified\n"
            "    push {r4-r11, lr}\n"
            "    vpush {d8-d15}\n"
            "    ldr r4, [r2, #4]\n"                /* zero_point_of_x, [weights, #4] */
            "    mov r5, r2\n"                      /* stream, weights */
            "    str r4, [r3, #28]\n"               /* zero_point_of_x, [frame, #28] */
            "    ldr r12, [r3, #28]\n"              /* number, [frame, #28] */
            "    ldr r11, [r2]\n"                   /* rounding, [weights] */
            "    sub r5, r5, #40\n"                 /* stream, stream, #40 */
            "    mov r2, #0\n"                      /* next_row, #0 */
            "    add r4, r3, #40\n"                 /* band, frame, #40 */
            "    str r5, [r3]\n"                    /* stream, [frame] */
            /* A band of the image: its padding, which stays, then its rows. */
            "    sub r0, r0, #24\n"                 /* source, source, #24 */
            "    sub r2, r2, #1\n"                  /* next_row, next_row, #1 */
            "    vdup.8 q0, r12\n"                  /* padding, number */
            "    mov r5, r4\n"                      /* copied_to, band */
            "    movw r12, #272\n"                  /* number, #272 */
            "    dlstp.8 lr, r12\n"                 /* rounds_left, number */
            "1:\n"
            "    vstrb.8 q0, [r5], #16\n"           /* padding, [copied_to], #16 */
            "    letp lr, 1b\n"                     /* rounds_left */
            "    ldr r12, [r3, #28]\n"              /* number, [frame, #28] */
            "    mov r6, #8\n"                      /* rows_left, #8 */
            "    vdup.8 q0, r12\n"                  /* padding, number */
            "2:\n"
            "    mov r5, r4\n"                      /* copied_to, band */
            "    add r5, r5, #4\n"                  /* copied_to, copied_to, #4 */
            "    cmp r2, #6\n"                      /* next_row, #6 */
            "    bcs 4f\n"
            "    mov r7, r0\n"                      /* copied, source */
            "    movw r12, #24\n"                   /* number, #24 */
            "    dlstp.8 lr, r12\n"                 /* rounds_left, number */
            "3:\n"
            "    vldrb.u8 q1, [r7], #16\n"          /* copied0, [copied], #16 */
            "    vstrb.8 q1, [r5], #16\n"           /* copied0, [copied_to], #16 */
            "    letp lr, 3b\n"                     /* rounds_left */
            "    b 6f\n"
            "4:\n"
            "    movw r12, #24\n"                   /* number, #24 */
            "    dlstp.8 lr, r12\n"                 /* rounds_left, number */
            "5:\n"
            "    vstrb.8 q0, [r5], #16\n"           /* padding, [copied_to], #16 */
            "    letp lr, 5b\n"                     /* rounds_left */
            "6:\n"
            "    add r2, r2, #1\n"                  /* next_row, next_row, #1 */
            "    add r0, r0, #24\n"                 /* source, source, #24 */
            "    add r4, r4, #32\n"                 /* band, band, #32 */
            "    subs r6, r6, #1\n"                 /* rows_left, rows_left, #1 */
            "    bne 2b\n"
            "    sub r2, r2, #2\n"                  /* next_row, next_row, #2 */
            "    sub r0, r0, #48\n"                 /* source, source, #48 */
            "    add r7, r3, #40\n"                 /* window, frame, #40 */
            "    mov r0, #6\n"                      /* runs_left, #6 */
            "    str r0, [r3, #8]\n"                /* runs_left, [frame, #8] */
            "7:\n"
            "    mov r0, #3\n"                      /* pairs_left, #3 */
            "    str r0, [r3, #4]\n"                /* pairs_left, [frame, #4] */
            "8:\n"
            "    ldr r5, [r3]\n"                    /* stream, [frame] */
            "    vldrw.u32 q0, [r7]\n"              /* xa, [window] */
            "    mov r9, #5\n"                      /* turns_left, #5 */
            /* Two pixels times four filters, tile by tile. */
            "    vldrw.u32 q2, [r5, #48]!\n"        /* w0, [stream, #48]! */
            "9:\n"
            "    vmladav.s8 r0, q0, q2\n"           /* suma0, xa, w0 */
            "    vldrw.u32 q1, [r7, #4]\n"          /* xb, [window, #4] */
            "    vmladav.s8 r2, q1, q2\n"           /* sumb0, xb, w0 */
            "    vldrw.u32 q3, [r5, #16]!\n"        /* w1, [stream, #16]! */
            "    vmladav.s8 r4, q0, q3\n"           /* suma1, xa, w1 */
            "    vldrw.u32 q7, [r5, #16]!\n"        /* w2, [stream, #16]! */
            "    vmladav.s8 r6, q1, q3\n"           /* sumb1, xb, w1 */
            "    vldrw.u32 q2, [r5, #16]!\n"        /* w0, [stream, #16]! */
            "    vmladav.s8 r12, q0, q7\n"          /* suma2, xa, w2 */
            "    vldrw.u32 q3, [r5, #16]!\n"        /* w1, [stream, #16]! */
            "    vmladav.s8 lr, q1, q7\n"           /* sumb2, xb, w2 */
            "    vldrw.u32 q7, [r5, #16]!\n"        /* w2, [stream, #16]! */
            "    vmladav.s8 r8, q0, q2\n"           /* suma3, xa, w0 */
            "    vldrw.u32 q0, [r7, #32]\n"         /* xa, [window, #32] */
            "    vmladav.s8 r10, q1, q2\n"          /* sumb3, xb, w0 */
            "    vldrw.u32 q1, [r7, #36]\n"         /* xb, [window, #36] */
            "    vmladava.s8 r0, q0, q3\n"          /* suma0, xa, w1 */
            "    vldrw.u32 q2, [r5, #16]!\n"        /* w0, [stream, #16]! */
            "    vmladava.s8 r2, q1, q3\n"          /* sumb0, xb, w1 */
            "    vldrw.u32 q3, [r5, #16]!\n"        /* w1, [stream, #16]! */
            "    vmladava.s8 r4, q0, q7\n"          /* suma1, xa, w2 */
            "    subs r9, r9, #1\n"                 /* turns_left, turns_left, #1 */
            "    vmladava.s8 r6, q1, q7\n"          /* sumb1, xb, w2 */
            "    vldrw.u32 q7, [r5, #16]!\n"        /* w2, [stream, #16]! */
            "    vmladava.s8 r12, q0, q2\n"         /* suma2, xa, w0 */
            "    vmladava.s8 lr, q1, q2\n"          /* sumb2, xb, w0 */
            "    vldrw.u32 q2, [r5, #16]!\n"        /* w0, [stream, #16]! */
            "    vmladava.s8 r8, q0, q3\n"          /* suma3, xa, w1 */
            "    vldrw.u32 q0, [r7, #64]\n"         /* xa, [window, #64] */
            "    vmladava.s8 r10, q1, q3\n"         /* sumb3, xb, w1 */
            "    vldrw.u32 q1, [r7, #68]\n"         /* xb, [window, #68] */
            "    vmladava.s8 r0, q0, q7\n"          /* suma0, xa, w2 */
            "    vldrw.u32 q3, [r5, #16]!\n"        /* w1, [stream, #16]! */
            "    vmladava.s8 r2, q1, q7\n"          /* sumb0, xb, w2 */
            "    vldrw.u32 q7, [r5, #16]!\n"        /* w2, [stream, #16]! */
            "    vmladava.s8 r4, q0, q2\n"          /* suma1, xa, w0 */
            "    vmladava.s8 r6, q1, q2\n"          /* sumb1, xb, w0 */
            "    vldrw.u32 q2, [r5, #48]!\n"        /* w0, [stream, #48]! */
            "    vmladava.s8 r12, q0, q3\n"         /* suma2, xa, w1 */
            "    vldrw.u32 q6, [r5, #-32]\n"        /* end, [stream, #-32] */
            "    vmladava.s8 lr, q1, q3\n"          /* sumb2, xb, w1 */
            "    vmov q4[2], q4[0], r0, r12\n"      /* words_a[2], words_a[0], suma0, suma2 */
            "    vmladava.s8 r8, q0, q7\n"          /* suma3, xa, w2 */
            "    vmov q5[2], q5[0], r2, lr\n"       /* words_b[2], words_b[0], sumb0, sumb2 */
            "    vmladava.s8 r10, q1, q7\n"         /* sumb3, xb, w2 */
            "    vmov q4[3], q4[1], r4, r8\n"       /* words_a[3], words_a[1], suma1, suma3 */
            "    vldrw.u32 q0, [r7]\n"              /* xa, [window] */
            "    vmov q5[3], q5[1], r6, r10\n"      /* words_b[3], words_b[1], sumb1, sumb3 */
            "    vadd.i32 q4, q4, q6\n"             /* words_a, words_a, end */
            "    vcvt.f32.s32 q4, q4\n"             /* words_a, words_a */
            "    vadd.i32 q5, q5, q6\n"             /* words_b, words_b, end */
            "    vcvt.f32.s32 q5, q5\n"             /* words_b, words_b */
            "    vldrw.u32 q6, [r5, #-16]\n"        /* end, [stream, #-16] */
            "    vfmas.f32 q4, q6, r11\n"           /* words_a, end, rounding */
            "    vfmas.f32 q5, q6, r11\n"           /* words_b, end, rounding */
            "    vqmovnb.s16 q4, q4\n"              /* words_a, words_a */
            "    vqmovnb.s16 q5, q5\n"              /* words_b, words_b */
            "    vstrb.32 q5, [r1, #20]\n"          /* words_b, [output, #20] */
            "    vstrb.32 q4, [r1], #4\n"           /* words_a, [output], #4 */
            "    bne 9b\n"
            /* The next two pixels. */
            "    ldr r0, [r3, #4]\n"                /* pairs_left, [frame, #4] */
            "    add r1, r1, #20\n"                 /* output, output, #20 */
            "    add r7, r7, #8\n"                  /* window, window, #8 */
            "    subs r0, r0, #1\n"                 /* pairs_left, pairs_left, #1 */
            "    str r0, [r3, #4]\n"                /* pairs_left, [frame, #4] */
            "    bne 8b\n"
            "    ldr r0, [r3, #8]\n"                /* runs_left, [frame, #8] */
            "    add r7, r7, #8\n"                  /* window, window, #8 */
            "    subs r0, r0, #1\n"                 /* runs_left, runs_left, #1 */
            "    str r0, [r3, #8]\n"                /* runs_left, [frame, #8] */
            "    bne 7b\n"
            "    vpop {d8-d15}\n"
            "    pop {r4-r11, pc}\n");
    /* clang-format on */
}

/* y[m][c][r] = x[m][r][c]: 1 times 36 rows of 20.
 * 8 neighbours of the output at a time; in the other one they are 20 bytes apart. */
MCU_KERNEL void _mcu_mve_convolution_reorder_1x36x20x1_mve(const int8_t *x MCU_UNUSED,
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
            "    movw r4, #36\n"                    /* elements_of_row, #36 */
            "    dlstp.16 lr, r4\n"                 /* rounds_left, elements_of_row */
            "2:\n"
            "    vldrb.u16 q1, [r2, q0]\n"          /* elements, [place, offsets] */
            "    add r2, r2, #160\n"                /* place, place, #160 */
            "    vstrb.16 q1, [r1], #8\n"           /* elements, [y], #8 */
            "    letp lr, 2b\n"                     /* rounds_left */
            "    sub r1, r1, #4\n"                  /* y, y, #4 */
            "    add r0, r0, #1\n"                  /* x, x, #1 */
            "    subs r3, r3, #1\n"                 /* rows_left, rows_left, #1 */
            "    bne 1b\n"
            "    pop {r4, pc}\n");
    /* clang-format on */
}

/* ---- The layers, in the order of execution ---- */

/* clang-format off */
static void _mcu_mve_convolution_layers(mcu_instance_t *instance) {
    uint8_t *const ws = instance->workspace;

    /* reshape_1_reorder: Reorder, x0 reordered: int8[1,4,6,6] -> int8[1,4,6,6] NHWC */
    int8_t *const int8 = (int8_t *)(ws + 0);
    int8_t *const reshape_1_reorder = (int8_t *)(ws + 320);
    MCU_LAYER(0, _mcu_mve_convolution_reorder_1x4x36x1_mve(int8, reshape_1_reorder));

    /* conv_1: Conv, Conv_5 (5 nodes): int8[1,4,6,6] NHWC -> int8[1,20,6,6] NHWC; 25,920 MACs */
    int8_t *const conv_1 = (int8_t *)(ws + 672);
    uint8_t *const conv_1_scratch = (uint8_t *)(ws + 0);
    MCU_LAYER(1, _mcu_mve_convolution_conv3x3_4x20_mve(
        reshape_1_reorder, conv_1, _mcu_mve_convolution_conv_1_weights, conv_1_scratch));

    /* conv_1_reorder: Reorder, y0 reordered: int8[1,20,6,6] NHWC -> int8[1,20,6,6] */
    int8_t *const conv_1_reorder = (int8_t *)(ws + 0);
    MCU_LAYER(2, _mcu_mve_convolution_reorder_1x36x20x1_mve(conv_1, conv_1_reorder));
}

/* clang-format on */

