/* ---- Kernels ---- */

/* Those in assembly are one string each, some longer than C99 wants compilers to take. */
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Woverlength-strings"
#endif

/* y[m][c][r] = x[m][r][c]: 1 times 8 rows of 528.
 * 8 neighbours of the input at a time; in the other one they are 8 bytes apart. */
MCU_KERNEL void _mcu_mve_chain_reorder_1x8x528x1_mve(const int8_t *x MCU_UNUSED,
                                                     int8_t *y MCU_UNUSED) {
    /* clang-format off */
    __asm__(".syntax unified\n"
            "    push {r4, lr}\n"
            "    mov r4, #0\n"                      /* elements_of_row, #0 */
            "    vidup.u16 q0, r4, #1\n"            /* offsets, elements_of_row, #1 */
            "    movw r2, #8\n"                     /* bytes_apart, #8 */
            "    vmul.i16 q0, q0, r2\n"             /* offsets, offsets, bytes_apart */
            "    movw r3, #8\n"                     /* rows_left, #8 */
            "1:\n"
            "    mov r2, r1\n"                      /* place, y */
            "    movw r4, #528\n"                   /* elements_of_row, #528 */
            "    dlstp.16 lr, r4\n"                 /* rounds_left, elements_of_row */
            "2:\n"
            "    vldrb.u16 q1, [r0], #8\n"          /* elements, [x], #8 */
            "    vstrb.16 q1, [r2, q0]\n"           /* elements, [place, offsets] */
            "    add r2, r2, #64\n"                 /* place, place, #64 */
            "    letp lr, 2b\n"                     /* rounds_left */
            "    add r1, r1, #1\n"                  /* y, y, #1 */
            "    subs r3, r3, #1\n"                 /* rows_left, rows_left, #1 */
            "    bne 1b\n"
            "    pop {r4, pc}\n");
    /* clang-format on */
}

/* z[p][f] = sat(round(float(sum) * factor[f]) + zero), with sum = bias[f] + sum of
 * v[p][k] * u[f][k], both floats rounded to nearest.
 * y from z, which is x of:
 * y[i][j][c] = sat(round(float(sum) * factor[c]) + zero), with sum = bias[c] +
 * sum of w[k][l][c] * x[i'][j'][c], both floats rounded to nearest.
 * x and y: [row][column][channel].
 * scratch: words of the kernel, 16 zero points, offsets; then strips, [two columns][16 channels]
 * of words, each two by two pixels.
 * stream: offsets of a window's words, and of four outputs; then of each channel bias, factor
 * (float32), and for each 16 bytes of a window the weights of each output.
 * In a bias are the bits of the float 2**23: sums below 0 are the least element.
 * weights: the number that rounds and the input's zero point, so that layers share the function;
 * of each tile of four filters those of each 16 bytes of a window, then bias[4], factor[4]:
 * float32.
 * in front of the scratch's words: the stream of weights, pairs that are left; behind
 * the strips: rows of z. */
MCU_KERNEL void _mcu_mve_chain_conv1x1_8_depthwise3x3_16_mve(const int8_t *x MCU_UNUSED,
                                                             int8_t *y MCU_UNUSED,
                                                             const uint32_t *weights MCU_UNUSED,
                                                             const uint32_t *stream MCU_UNUSED,
                                                             uint8_t *scratch MCU_UNUSED) {
    /* clang-format off */
    __asm__(".syntax unified\n"
            "    ldr r12, [sp]\n"
            "    push {r4-r10, lr}\n"
            "    vpush {d8-d15}\n"
            "    add r12, r12, #16\n"               /* scratch, scratch, #16 */
            "    movw r6, #128\n"                   /* number, #128 */
            "    mov r5, r12\n"                     /* frame, scratch */
            "    vdup.8 q0, r6\n"                   /* vector, number */
            "    vstrw.32 q0, [r5, #80]\n"          /* vector, [frame, #80] */
            "    movw r4, #16\n"                    /* number, #16 */
            "    movw lr, #4\n"                     /* rounds_left, #4 */
            "    vldrw.u32 q0, [r3], #16\n"         /* vector, [stream], #16 */
            "    dls lr, lr\n"                      /* rounds_left, rounds_left */
            "    vstrw.32 q0, [r5, #96]\n"          /* vector, [frame, #96] */
            "    str r0, [r5]\n"                    /* x, [frame] */
            "    vldrw.u32 q0, [r3], #16\n"         /* vector, [stream], #16 */
            "    add r0, r5, #208\n"                /* at, frame, #208 */
            "    vstrw.32 q0, [r5, #112]\n"         /* vector, [frame, #112] */
            "    str r1, [r5, #4]\n"                /* y, [frame, #4] */
            "    vldrw.u32 q0, [r3], #16\n"         /* vector, [stream], #16 */
            "    vstrw.32 q0, [r5, #128]\n"         /* vector, [frame, #128] */
            "    str r4, [r5, #12]\n"               /* number, [frame, #12] */
            "    vldrw.u32 q0, [r3], #16\n"         /* vector, [stream], #16 */
            "    vstrw.32 q0, [r5, #144]\n"         /* vector, [frame, #144] */
            "    str r4, [r5, #16]\n"               /* number, [frame, #16] */
            "    vldrw.u32 q0, [r3], #16\n"         /* vector, [stream], #16 */
            "    vstrw.32 q0, [r5, #160]\n"         /* vector, [frame, #160] */
            "    str r2, [r5, #76]\n"               /* weights, [frame, #76] */
            "    vldrw.u32 q0, [r3], #16\n"         /* vector, [stream], #16 */
            "    vstrw.32 q0, [r5, #176]\n"         /* vector, [frame, #176] */
            "    vldrw.u32 q0, [r3], #16\n"         /* vector, [stream], #16 */
            "    vstrw.32 q0, [r5, #192]\n"         /* vector, [frame, #192] */
            "    str r3, [r5, #8]\n"                /* stream, [frame, #8] */
            "    vldrw.u32 q0, [r5, #80]\n"         /* padding, [frame, #80] */
            "1:\n"
            "    add r0, r0, #1408\n"               /* at, at, #1408 */
            "    vstrw.32 q0, [r0], #16\n"          /* padding, [at], #16 */
            "    vstrw.32 q0, [r0], #16\n"          /* padding, [at], #16 */
            "    vstrw.32 q0, [r0], #16\n"          /* padding, [at], #16 */
            "    vstrw.32 q0, [r0], #16\n"          /* padding, [at], #16 */
            "    le lr, 1b\n"                       /* rounds_left */
            /* Sixteen channels. */
            "    mov r0, #16\n"                     /* of_group, #16 */
            "    str r0, [r5, #20]\n"               /* of_group, [frame, #20] */
            "    ldr r0, [r5]\n"                    /* x, [frame] */
            "    str r0, [r5, #28]\n"               /* x, [frame, #28] */
            "    movw r0, #0\n"                     /* number, #0 */
            "    str r0, [r5, #32]\n"               /* number, [frame, #32] */
            "    ldr r0, [r5, #4]\n"                /* y, [frame, #4] */
            "    str r0, [r5, #52]\n"               /* y, [frame, #52] */
            "    add r0, r5, #208\n"                /* strips, frame, #208 */
            "    str r0, [r5, #44]\n"               /* strips, [frame, #44] */
            "    movw r0, #1\n"                     /* number, #1 */
            "    str r0, [r5, #48]\n"               /* number, [frame, #48] */
            "    movw r0, #6\n"                     /* number, #6 */
            "    str r0, [r5, #36]\n"               /* number, [frame, #36] */
            "2:\n"
            "    ldr r1, [r5, #36]\n"               /* turns_left, [frame, #36] */
            "    ldr r0, [r5, #48]\n"               /* strips_left, [frame, #48] */
            "    mov r2, #3\n"                      /* taken, #3 */
            "    cmp r1, #3\n"                      /* turns_left, #3 */
            "    it le\n"
            "    movle r2, r1\n"                    /* taken, turns_left */
            "    mov r1, #1\n"                      /* more, #1 */
            "    mla r0, r2, r1, r0\n"              /* strips_left, taken, more, strips_left */
            "    str r2, [r5, #40]\n"               /* taken, [frame, #40] */
            /* Rows that the strips need. */
            "    str r0, [r5, #68]\n"               /* strips_left, [frame, #68] */
            "    ldr r2, [r5, #32]\n"               /* row, [frame, #32] */
            "    add r0, r0, r0\n"                  /* rows, strips_left, strips_left */
            "    mov r1, #0\n"                      /* rows_of_image, #0 */
            "    cmp r2, #0\n"                      /* row, #0 */
            "    itt lt\n"
            "    addlt r0, r0, r2\n"                /* rows, rows, row */
            "    movlt r1, r2\n"                    /* rows_of_image, row */
            "    movw r3, #704\n"                   /* row_bytes, #704 */
            "    mul r3, r3, r1\n"                  /* row_bytes, row_bytes, rows_of_image */
            "    add r3, r3, r5\n"                  /* row_bytes, row_bytes, frame */
            "    add r3, r3, #4095\n"               /* row_bytes, row_bytes, #4095 */
            "    add r3, r3, #3473\n"               /* row_bytes, row_bytes, #3473 */
            "    str r3, [r5, #28]\n"               /* row_bytes, [frame, #28] */
            "    sub r2, r2, r1\n"                  /* row, row, rows_of_image */
            "    rsb r1, r2, #12\n"                 /* rows_of_image, row, #12 */
            "    cmp r0, r1\n"                      /* rows, rows_of_image */
            "    it gt\n"
            "    movgt r0, r1\n"                    /* rows, rows_of_image */
            "    cmp r0, #0\n"                      /* rows, #0 */
            "    ble 4f\n"
            "    ldr r1, [r5, #76]\n"               /* weights, [frame, #76] */
            "    mov r2, #22\n"                     /* pairs_left, #22 */
            "    ldr r9, [r1]\n"                    /* rounding, [weights] */
            "    mov r3, r1\n"                      /* stream, weights */
            "    mov r1, r5\n"                      /* output, frame */
            "    sub r3, r3, #40\n"                 /* stream, stream, #40 */
            "    add r1, r1, #4095\n"               /* output, output, #4095 */
            "    mul r2, r2, r0\n"                  /* pairs_left, pairs_left, rows */
            "    str r3, [r5, #-16]\n"              /* stream, [frame, #-16] */
            "    ldr r7, [r5]\n"                    /* window, [frame] */
            "    add r1, r1, #3473\n"               /* output, output, #3473 */
            "    str r2, [r5, #-12]\n"              /* pairs_left, [frame, #-12] */
            "3:\n"
            "    ldr r3, [r5, #-16]\n"              /* stream, [frame, #-16] */
            /* Two pixels times four filters, tile by tile. */
            "    mov r0, #8\n"                      /* bytes_of_row, #8 */
            "    vctp.8 r0\n"                       /* bytes_of_row */
            "    vldrw.u32 q2, [r3, #48]!\n"        /* w0, [stream, #48]! */
            "    vpst\n"
            "    vldrwt.u32 q0, [r7]\n"             /* xa, [window] */
            "    vmladav.s8 lr, q0, q2\n"           /* suma0, xa, w0 */
            "    vldrw.u32 q3, [r3, #16]!\n"        /* w1, [stream, #16]! */
            "    vmladav.s8 r10, q0, q3\n"          /* suma1, xa, w1 */
            "    vldrw.u32 q7, [r3, #16]!\n"        /* w2, [stream, #16]! */
            "    vmladav.s8 r0, q0, q7\n"           /* suma2, xa, w2 */
            "    vpst\n"
            "    vldrwt.u32 q1, [r7, #8]\n"         /* xb, [window, #8] */
            "    vmladav.s8 r8, q1, q2\n"           /* sumb0, xb, w0 */
            "    vldrw.u32 q2, [r3, #16]!\n"        /* w0, [stream, #16]! */
            "    vmladav.s8 r6, q1, q3\n"           /* sumb1, xb, w1 */
            "    vldrw.u32 q3, [r3, #48]!\n"        /* w1, [stream, #48]! */
            "    vmladav.s8 r12, q1, q7\n"          /* sumb2, xb, w2 */
            "    vmov q4[2], q4[0], lr, r0\n"       /* words_a[2], words_a[0], suma0, suma2 */
            "    vmladav.s8 r2, q0, q2\n"           /* suma3, xa, w0 */
            "    vmov q5[2], q5[0], r8, r12\n"      /* words_b[2], words_b[0], sumb0, sumb2 */
            "    vmladav.s8 r4, q1, q2\n"           /* sumb3, xb, w0 */
            "    vmov q4[3], q4[1], r10, r2\n"      /* words_a[3], words_a[1], suma1, suma3 */
            "    vldrw.u32 q7, [r3, #16]!\n"        /* w2, [stream, #16]! */
            "    vmov q5[3], q5[1], r6, r4\n"       /* words_b[3], words_b[1], sumb1, sumb3 */
            "    vldrw.u32 q6, [r3, #-48]\n"        /* end, [stream, #-48] */
            "    vadd.i32 q4, q4, q6\n"             /* words_a, words_a, end */
            "    vcvt.f32.s32 q4, q4\n"             /* words_a, words_a */
            "    vadd.i32 q5, q5, q6\n"             /* words_b, words_b, end */
            "    vcvt.f32.s32 q5, q5\n"             /* words_b, words_b */
            "    vldrw.u32 q2, [r3, #16]!\n"        /* w0, [stream, #16]! */
            "    vmladav.s8 lr, q0, q3\n"           /* suma0, xa, w1 */
            "    vldrw.u32 q6, [r3, #-48]\n"        /* end, [stream, #-48] */
            "    vmladav.s8 r8, q1, q3\n"           /* sumb0, xb, w1 */
            "    vldrw.u32 q3, [r3, #16]!\n"        /* w1, [stream, #16]! */
            "    vfmas.f32 q4, q6, r9\n"            /* words_a, end, rounding */
            "    add r7, r7, #16\n"                 /* window, window, #16 */
            "    vfmas.f32 q5, q6, r9\n"            /* words_b, end, rounding */
            "    vqmovnb.s16 q4, q4\n"              /* words_a, words_a */
            "    vmladav.s8 r10, q0, q7\n"          /* suma1, xa, w2 */
            "    vqmovnb.s16 q5, q5\n"              /* words_b, words_b */
            "    vmladav.s8 r6, q1, q7\n"           /* sumb1, xb, w2 */
            "    vldrw.u32 q7, [r3, #48]!\n"        /* w2, [stream, #48]! */
            "    vmladav.s8 r0, q0, q2\n"           /* suma2, xa, w0 */
            "    vstrb.32 q5, [r1, #16]\n"          /* words_b, [output, #16] */
            "    vmladav.s8 r12, q1, q2\n"          /* sumb2, xb, w0 */
            "    vstrb.32 q4, [r1], #4\n"           /* words_a, [output], #4 */
            "    vmladav.s8 r2, q0, q3\n"           /* suma3, xa, w1 */
            "    vmov q4[2], q4[0], lr, r0\n"       /* words_a[2], words_a[0], suma0, suma2 */
            "    vmladav.s8 r4, q1, q3\n"           /* sumb3, xb, w1 */
            "    vmov q5[2], q5[0], r8, r12\n"      /* words_b[2], words_b[0], sumb0, sumb2 */
            "    vmov q4[3], q4[1], r10, r2\n"      /* words_a[3], words_a[1], suma1, suma3 */
            "    vmov q5[3], q5[1], r6, r4\n"       /* words_b[3], words_b[1], sumb1, sumb3 */
            "    vldrw.u32 q2, [r3, #16]!\n"        /* w0, [stream, #16]! */
            "    vmladav.s8 lr, q0, q7\n"           /* suma0, xa, w2 */
            "    vldrw.u32 q6, [r3, #-48]\n"        /* end, [stream, #-48] */
            "    vadd.i32 q4, q4, q6\n"             /* words_a, words_a, end */
            "    vcvt.f32.s32 q4, q4\n"             /* words_a, words_a */
            "    vadd.i32 q5, q5, q6\n"             /* words_b, words_b, end */
            "    vcvt.f32.s32 q5, q5\n"             /* words_b, words_b */
            "    vldrw.u32 q3, [r3, #16]!\n"        /* w1, [stream, #16]! */
            "    vmladav.s8 r8, q1, q7\n"           /* sumb0, xb, w2 */
            "    vldrw.u32 q6, [r3, #-48]\n"        /* end, [stream, #-48] */
            "    vfmas.f32 q4, q6, r9\n"            /* words_a, end, rounding */
            "    vldrw.u32 q7, [r3, #16]!\n"        /* w2, [stream, #16]! */
            "    vfmas.f32 q5, q6, r9\n"            /* words_b, end, rounding */
            "    vqmovnb.s16 q4, q4\n"              /* words_a, words_a */
            "    vmladav.s8 r10, q0, q2\n"          /* suma1, xa, w0 */
            "    vqmovnb.s16 q5, q5\n"              /* words_b, words_b */
            "    vmladav.s8 r6, q1, q2\n"           /* sumb1, xb, w0 */
            "    vldrw.u32 q2, [r3, #48]!\n"        /* w0, [stream, #48]! */
            "    vmladav.s8 r0, q0, q3\n"           /* suma2, xa, w1 */
            "    vstrb.32 q5, [r1, #16]\n"          /* words_b, [output, #16] */
            "    vmladav.s8 r12, q1, q3\n"          /* sumb2, xb, w1 */
            "    vstrb.32 q4, [r1], #4\n"           /* words_a, [output], #4 */
            "    vmladav.s8 r2, q0, q7\n"           /* suma3, xa, w2 */
            "    vmov q4[2], q4[0], lr, r0\n"       /* words_a[2], words_a[0], suma0, suma2 */
            "    vmladav.s8 r4, q1, q7\n"           /* sumb3, xb, w2 */
            "    vmov q5[2], q5[0], r8, r12\n"      /* words_b[2], words_b[0], sumb0, sumb2 */
            "    vmov q4[3], q4[1], r10, r2\n"      /* words_a[3], words_a[1], suma1, suma3 */
            "    vmov q5[3], q5[1], r6, r4\n"       /* words_b[3], words_b[1], sumb1, sumb3 */
            "    vldrw.u32 q3, [r3, #16]!\n"        /* w1, [stream, #16]! */
            "    vmladav.s8 lr, q0, q2\n"           /* suma0, xa, w0 */
            "    vldrw.u32 q6, [r3, #-48]\n"        /* end, [stream, #-48] */
            "    vadd.i32 q4, q4, q6\n"             /* words_a, words_a, end */
            "    vcvt.f32.s32 q4, q4\n"             /* words_a, words_a */
            "    vadd.i32 q5, q5, q6\n"             /* words_b, words_b, end */
            "    vcvt.f32.s32 q5, q5\n"             /* words_b, words_b */
            "    vldrw.u32 q7, [r3, #16]!\n"        /* w2, [stream, #16]! */
            "    vmladav.s8 r8, q1, q2\n"           /* sumb0, xb, w0 */
            "    vldrw.u32 q6, [r3, #-48]\n"        /* end, [stream, #-48] */
            "    vfmas.f32 q4, q6, r9\n"            /* words_a, end, rounding */
            "    vldrw.u32 q2, [r3, #16]!\n"        /* w0, [stream, #16]! */
            "    vfmas.f32 q5, q6, r9\n"            /* words_b, end, rounding */
            "    vqmovnb.s16 q4, q4\n"              /* words_a, words_a */
            "    vmladav.s8 r10, q0, q3\n"          /* suma1, xa, w1 */
            "    vqmovnb.s16 q5, q5\n"              /* words_b, words_b */
            "    vmladav.s8 r6, q1, q3\n"           /* sumb1, xb, w1 */
            "    vstrb.32 q5, [r1, #16]\n"          /* words_b, [output, #16] */
            "    vmladav.s8 r0, q0, q7\n"           /* suma2, xa, w2 */
            "    vstrb.32 q4, [r1], #4\n"           /* words_a, [output], #4 */
            "    vmladav.s8 r12, q1, q7\n"          /* sumb2, xb, w2 */
            "    vmov q4[2], q4[0], lr, r0\n"       /* words_a[2], words_a[0], suma0, suma2 */
            "    vmladav.s8 r2, q0, q2\n"           /* suma3, xa, w0 */
            "    vmov q5[2], q5[0], r8, r12\n"      /* words_b[2], words_b[0], sumb0, sumb2 */
            "    vmladav.s8 r4, q1, q2\n"           /* sumb3, xb, w0 */
            "    vmov q4[3], q4[1], r10, r2\n"      /* words_a[3], words_a[1], suma1, suma3 */
            "    vldrw.u32 q6, [r3, #16]\n"         /* end, [stream, #16] */
            "    vmov q5[3], q5[1], r6, r4\n"       /* words_b[3], words_b[1], sumb1, sumb3 */
            "    vadd.i32 q4, q4, q6\n"             /* words_a, words_a, end */
            "    vcvt.f32.s32 q4, q4\n"             /* words_a, words_a */
            "    vadd.i32 q5, q5, q6\n"             /* words_b, words_b, end */
            "    vcvt.f32.s32 q5, q5\n"             /* words_b, words_b */
            "    vldrw.u32 q6, [r3, #32]\n"         /* end, [stream, #32] */
            "    vfmas.f32 q4, q6, r9\n"            /* words_a, end, rounding */
            /* The next two pixels. */
            "    ldr r2, [r5, #-12]\n"              /* pairs_left, [frame, #-12] */
            "    vfmas.f32 q5, q6, r9\n"            /* words_b, end, rounding */
            "    vqmovnb.s16 q4, q4\n"              /* words_a, words_a */
            "    subs r2, r2, #1\n"                 /* pairs_left, pairs_left, #1 */
            "    vqmovnb.s16 q5, q5\n"              /* words_b, words_b */
            "    str r2, [r5, #-12]\n"              /* pairs_left, [frame, #-12] */
            "    vstrb.32 q5, [r1, #16]\n"          /* words_b, [output, #16] */
            "    vstrb.32 q4, [r1], #4\n"           /* words_a, [output], #4 */
            "    add r1, r1, #16\n"                 /* output, output, #16 */
            "    bne 3b\n"
            "    str r7, [r5]\n"                    /* window, [frame] */
            "4:\n"
            "    ldr r0, [r5, #68]\n"               /* strips_left, [frame, #68] */
            "    ldr r1, [r5, #44]\n"               /* to, [frame, #44] */
            /* Strips: two rows of 16 channels, words of four pixels. */
            "    ldr r2, [r5, #28]\n"               /* row_at, [frame, #28] */
            "    ldr r3, [r5, #32]\n"               /* row, [frame, #32] */
            "    add r4, r5, #80\n"                 /* padding, frame, #80 */
            "    movw r9, #12\n"                    /* height, #12 */
            "5:\n"
            "    mov r6, r2\n"                      /* above, row_at */
            "    movw r12, #16\n"                   /* above_step, #16 */
            "    cmp r3, r9\n"                      /* row, height */
            "    itt hs\n"
            "    movhs r6, r4\n"                    /* above, padding */
            "    movhs r12, #0\n"                   /* above_step, #0 */
            "    add r2, r2, #704\n"                /* row_at, row_at, #704 */
            "    add r3, r3, #1\n"                  /* row, row, #1 */
            "    mov r7, r2\n"                      /* below, row_at */
            "    movw r8, #16\n"                    /* below_step, #16 */
            "    cmp r3, r9\n"                      /* row, height */
            "    itt hs\n"
            "    movhs r7, r4\n"                    /* below, padding */
            "    movhs r8, #0\n"                    /* below_step, #0 */
            "    add r2, r2, #704\n"                /* row_at, row_at, #704 */
            "    add r3, r3, #1\n"                  /* row, row, #1 */
            "    movw lr, #22\n"                    /* rounds_left, #22 */
            "    dls lr, lr\n"                      /* rounds_left, rounds_left */
            "6:\n"
            "    vldrb.u8 q0, [r6]\n"               /* q0, [above] */
            "    add r6, r6, r12\n"                 /* above, above, above_step */
            "    vldrb.u8 q1, [r7]\n"               /* q1, [below] */
            "    add r7, r7, r8\n"                  /* below, below, below_step */
            "    vldrb.u8 q2, [r6]\n"               /* q2, [above] */
            "    add r6, r6, r12\n"                 /* above, above, above_step */
            "    vldrb.u8 q3, [r7]\n"               /* q3, [below] */
            "    add r7, r7, r8\n"                  /* below, below, below_step */
            "    vst40.8 {q0, q1, q2, q3}, [r1]\n"  /* {q0, q1, q2, q3}, [to] */
            "    vst41.8 {q0, q1, q2, q3}, [r1]\n"  /* {q0, q1, q2, q3}, [to] */
            "    vst42.8 {q0, q1, q2, q3}, [r1]\n"  /* {q0, q1, q2, q3}, [to] */
            "    vst43.8 {q0, q1, q2, q3}, [r1]\n"  /* {q0, q1, q2, q3}, [to] */
            "    add r1, r1, #64\n"                 /* to, to, #64 */
            "    le lr, 6b\n"                       /* rounds_left */
            "    add r1, r1, #64\n"                 /* to, to, #64 */
            "    subs r0, r0, #1\n"                 /* strips_left, strips_left, #1 */
            "    bne 5b\n"
            /* Channel by channel. */
            "    ldr r0, [r5, #8]\n"                /* stream, [frame, #8] */
            "    movw r9, #65408\n"                 /* rounding, #65408 */
            "    str r0, [r5, #56]\n"               /* stream, [frame, #56] */
            "    add r0, r5, #208\n"                /* first, frame, #208 */
            "    str r0, [r5, #60]\n"               /* first, [frame, #60] */
            "    ldr r0, [r5, #52]\n"               /* output_at, [frame, #52] */
            "    str r2, [r5, #28]\n"               /* row_at, [frame, #28] */
            "    str r0, [r5, #64]\n"               /* output_at, [frame, #64] */
            "    ldr r0, [r5, #20]\n"               /* of_group, [frame, #20] */
            "    str r3, [r5, #32]\n"               /* row, [frame, #32] */
            "    str r0, [r5, #68]\n"               /* of_group, [frame, #68] */
            "    movt r9, #19263\n"                 /* rounding, #19263 */
            "7:\n"
            "    ldr r1, [r5, #56]\n"               /* taps, [frame, #56] */
            "    vldrw.u32 q1, [r5, #96]\n"         /* words0, [frame, #96] */
            "    add r0, r1, #24\n"                 /* following, taps, #24 */
            "    ldrd r10, r7, [r1]\n"              /* bias, factor, [taps] */
            "    ldr r12, [r5, #40]\n"              /* taken, [frame, #40] */
            "    add r1, r1, #8\n"                  /* taps, taps, #8 */
            "    vldrw.u32 q0, [r1]\n"              /* w0, [taps] */
            /* -2**23 times the factor: the bits of floats. */
            "    add r3, r7, #0xb800000\n"          /* less, factor, #0xb800000 */
            "    ldr r1, [r5, #60]\n"               /* window, [frame, #60] */
            "    str r0, [r5, #56]\n"               /* following, [frame, #56] */
            "    vadd.i32 q1, q1, r1\n"             /* words0, words0, window */
            "    vldrw.u32 q3, [q1]\n"              /* x1, [words0] */
            "    add r0, r1, #4\n"                  /* following, window, #4 */
            "    eor r3, r3, #0x80000000\n"         /* less, less, #0x80000000 */
            "    dls lr, r12\n"                     /* rounds_left, taken */
            "    vldrw.u32 q4, [q1, #64]!\n"        /* x2, [words0, #64]! */
            "    vmladav.s8 r2, q4, q0\n"           /* sum1, x2, w0 */
            "    vldrw.u32 q5, [q1, #64]!\n"        /* x3, [words0, #64]! */
            "    vmladav.s8 r4, q5, q0\n"           /* sum2, x3, w0 */
            "    ldr r1, [r5, #64]\n"               /* output, [frame, #64] */
            "    vldrw.u32 q2, [q1, #64]!\n"        /* x0, [words0, #64]! */
            "    vmladav.s8 r6, q2, q0\n"           /* sum3, x0, w0 */
            "    str r0, [r5, #60]\n"               /* following, [frame, #60] */
            "    add r0, r1, #1\n"                  /* following, output, #1 */
            "    str r0, [r5, #64]\n"               /* following, [frame, #64] */
            "    vmladav.s8 r0, q3, q0\n"           /* sum0, x1, w0 */
            "8:\n"
            "    vldrw.u32 q3, [q1, #64]!\n"        /* x1, [words0, #64]! */
            "    vmov q6[2], q6[0], r0, r4\n"       /* y0[2], y0[0], sum0, sum2 */
            "    vmov q6[3], q6[1], r2, r6\n"       /* y0[3], y0[1], sum1, sum3 */
            "    vdup.32 q7, r3\n"                  /* y1, less */
            "    vldrw.u32 q4, [q1, #64]!\n"        /* x2, [words0, #64]! */
            "    vadd.i32 q6, q6, r10\n"            /* y0, y0, bias */
            "    vmladav.s8 r8, q3, q0\n"           /* sum4, x1, w0 */
            "    vldrw.u32 q5, [q1, #64]!\n"        /* x3, [words0, #64]! */
            "    vfma.f32 q7, q6, r7\n"             /* y1, y0, factor */
            "    vmladav.s8 r12, q4, q0\n"          /* sum5, x2, w0 */
            "    vldrw.u32 q2, [q1, #64]!\n"        /* x0, [words0, #64]! */
            "    vadd.f32 q7, q7, r9\n"             /* y1, y1, rounding */
            "    vmladav.s8 r0, q5, q0\n"           /* sum0, x3, w0 */
            "    vldrw.u32 q3, [q1, #64]!\n"        /* x1, [words0, #64]! */
            "    vmladav.s8 r2, q2, q0\n"           /* sum1, x0, w0 */
            "    vqmovnb.s16 q7, q7\n"              /* y1, y1 */
            "    vmladav.s8 r4, q3, q0\n"           /* sum2, x1, w0 */
            "    vldrw.u32 q4, [q1, #64]!\n"        /* x2, [words0, #64]! */
            "    vmladav.s8 r6, q4, q0\n"           /* sum3, x2, w0 */
            "    vldrw.u32 q6, [r5, #112]\n"        /* y0, [frame, #112] */
            "    vldrw.u32 q5, [q1, #64]!\n"        /* x3, [words0, #64]! */
            "    vstrb.32 q7, [r1, q6]\n"           /* y1, [output, y0] */
            "    vmov q6[2], q6[0], r8, r0\n"       /* y0[2], y0[0], sum4, sum0 */
            "    vmov q6[3], q6[1], r12, r2\n"      /* y0[3], y0[1], sum5, sum1 */
            "    vdup.32 q7, r3\n"                  /* y1, less */
            "    vldrw.u32 q2, [q1, #64]!\n"        /* x0, [words0, #64]! */
            "    vadd.i32 q6, q6, r10\n"            /* y0, y0, bias */
            "    vfma.f32 q7, q6, r7\n"             /* y1, y0, factor */
            "    vldrw.u32 q3, [q1, #64]!\n"        /* x1, [words0, #64]! */
            "    vadd.f32 q7, q7, r9\n"             /* y1, y1, rounding */
            "    vmladav.s8 r8, q5, q0\n"           /* sum4, x3, w0 */
            "    vldrw.u32 q4, [q1, #64]!\n"        /* x2, [words0, #64]! */
            "    vmladav.s8 r12, q2, q0\n"          /* sum5, x0, w0 */
            "    vqmovnb.s16 q7, q7\n"              /* y1, y1 */
            "    vmladav.s8 r0, q3, q0\n"           /* sum0, x1, w0 */
            "    vldrw.u32 q6, [r5, #128]\n"        /* y0, [frame, #128] */
            "    vmladav.s8 r2, q4, q0\n"           /* sum1, x2, w0 */
            "    vstrb.32 q7, [r1, q6]\n"           /* y1, [output, y0] */
            "    vmov q6[2], q6[0], r4, r8\n"       /* y0[2], y0[0], sum2, sum4 */
            "    vmov q6[3], q6[1], r6, r12\n"      /* y0[3], y0[1], sum3, sum5 */
            "    vdup.32 q7, r3\n"                  /* y1, less */
            "    vldrw.u32 q5, [q1, #64]!\n"        /* x3, [words0, #64]! */
            "    vadd.i32 q6, q6, r10\n"            /* y0, y0, bias */
            "    vfma.f32 q7, q6, r7\n"             /* y1, y0, factor */
            "    vldrw.u32 q2, [q1, #64]!\n"        /* x0, [words0, #64]! */
            "    vadd.f32 q7, q7, r9\n"             /* y1, y1, rounding */
            "    vmladav.s8 r4, q5, q0\n"           /* sum2, x3, w0 */
            "    vldrw.u32 q3, [q1, #64]!\n"        /* x1, [words0, #64]! */
            "    vmladav.s8 r6, q2, q0\n"           /* sum3, x0, w0 */
            "    vqmovnb.s16 q7, q7\n"              /* y1, y1 */
            "    vmladav.s8 r8, q3, q0\n"           /* sum4, x1, w0 */
            "    vldrw.u32 q4, [q1, #64]!\n"        /* x2, [words0, #64]! */
            "    vmladav.s8 r12, q4, q0\n"          /* sum5, x2, w0 */
            "    vldrw.u32 q6, [r5, #144]\n"        /* y0, [frame, #144] */
            "    vstrb.32 q7, [r1, q6]\n"           /* y1, [output, y0] */
            "    vmov q6[2], q6[0], r0, r4\n"       /* y0[2], y0[0], sum0, sum2 */
            "    vmov q6[3], q6[1], r2, r6\n"       /* y0[3], y0[1], sum1, sum3 */
            "    vdup.32 q7, r3\n"                  /* y1, less */
            "    vldrw.u32 q5, [q1, #64]!\n"        /* x3, [words0, #64]! */
            "    vadd.i32 q6, q6, r10\n"            /* y0, y0, bias */
            "    vfma.f32 q7, q6, r7\n"             /* y1, y0, factor */
            "    vldrw.u32 q2, [q1, #64]!\n"        /* x0, [words0, #64]! */
            "    vadd.f32 q7, q7, r9\n"             /* y1, y1, rounding */
            "    vmladav.s8 r0, q5, q0\n"           /* sum0, x3, w0 */
            "    vqmovnb.s16 q7, q7\n"              /* y1, y1 */
            "    vmladav.s8 r2, q2, q0\n"           /* sum1, x0, w0 */
            "    vldrw.u32 q6, [r5, #160]\n"        /* y0, [frame, #160] */
            "    vstrb.32 q7, [r1, q6]\n"           /* y1, [output, y0] */
            "    vmov q6[2], q6[0], r8, r0\n"       /* y0[2], y0[0], sum4, sum0 */
            "    vmov q6[3], q6[1], r12, r2\n"      /* y0[3], y0[1], sum5, sum1 */
            "    vdup.32 q7, r3\n"                  /* y1, less */
            "    vldrw.u32 q3, [q1, #64]!\n"        /* x1, [words0, #64]! */
            "    vadd.i32 q6, q6, r10\n"            /* y0, y0, bias */
            "    vfma.f32 q7, q6, r7\n"             /* y1, y0, factor */
            "    vldrw.u32 q4, [q1, #64]!\n"        /* x2, [words0, #64]! */
            "    vadd.f32 q7, q7, r9\n"             /* y1, y1, rounding */
            "    vmladav.s8 r4, q3, q0\n"           /* sum2, x1, w0 */
            "    vqmovnb.s16 q7, q7\n"              /* y1, y1 */
            "    vmladav.s8 r6, q4, q0\n"           /* sum3, x2, w0 */
            "    vldrw.u32 q5, [q1, #128]!\n"       /* x3, [words0, #128]! */
            "    vmladav.s8 r0, q5, q0\n"           /* sum0, x3, w0 */
            "    vldrw.u32 q6, [r5, #176]\n"        /* y0, [frame, #176] */
            "    vstrb.32 q7, [r1, q6]\n"           /* y1, [output, y0] */
            "    vmov q6[2], q6[0], r4, r6\n"       /* y0[2], y0[0], sum2, sum3 */
            "    vmov q6[3], q6[1], r6, r6\n"       /* y0[3], y0[1], sum3, sum3 */
            "    vdup.32 q7, r3\n"                  /* y1, less */
            "    vldrw.u32 q2, [q1, #64]!\n"        /* x0, [words0, #64]! */
            "    vadd.i32 q6, q6, r10\n"            /* y0, y0, bias */
            "    vfma.f32 q7, q6, r7\n"             /* y1, y0, factor */
            "    vldrw.u32 q3, [q1, #64]!\n"        /* x1, [words0, #64]! */
            "    vadd.f32 q7, q7, r9\n"             /* y1, y1, rounding */
            "    vqmovnb.s16 q7, q7\n"              /* y1, y1 */
            "    vldrw.u32 q4, [q1, #64]!\n"        /* x2, [words0, #64]! */
            "    vmladav.s8 r2, q2, q0\n"           /* sum1, x0, w0 */
            "    vmladav.s8 r4, q3, q0\n"           /* sum2, x1, w0 */
            "    vldrw.u32 q6, [r5, #192]\n"        /* y0, [frame, #192] */
            "    vmladav.s8 r6, q4, q0\n"           /* sum3, x2, w0 */
            "    vstrb.32 q7, [r1, q6]\n"           /* y1, [output, y0] */
            "    add r1, r1, #352\n"                /* output, output, #352 */
            "    le lr, 8b\n"                       /* rounds_left */
            "    ldr r0, [r5, #68]\n"               /* left, [frame, #68] */
            "    subs r0, r0, #1\n"                 /* left, left, #1 */
            "    str r0, [r5, #68]\n"               /* left, [frame, #68] */
            "    bne 7b\n"
            /* The next band begins with strips of this one. */
            "    add r1, r5, #208\n"                /* to, frame, #208 */
            "    mov r0, r1\n"                      /* from, to */
            "    add r0, r0, #4095\n"               /* from, from, #4095 */
            "    add r0, r0, #321\n"                /* from, from, #321 */
            "    movw lr, #23\n"                    /* rounds_left, #23 */
            "    dls lr, lr\n"                      /* rounds_left, rounds_left */
            "9:\n"
            "    vldrw.u32 q0, [r0], #16\n"         /* words0, [from], #16 */
            "    vldrw.u32 q1, [r0], #16\n"         /* words1, [from], #16 */
            "    vldrw.u32 q2, [r0], #16\n"         /* words2, [from], #16 */
            "    vldrw.u32 q3, [r0], #16\n"         /* words3, [from], #16 */
            "    vstrw.32 q0, [r1], #16\n"          /* words0, [to], #16 */
            "    vstrw.32 q1, [r1], #16\n"          /* words1, [to], #16 */
            "    vstrw.32 q2, [r1], #16\n"          /* words2, [to], #16 */
            "    vstrw.32 q3, [r1], #16\n"          /* words3, [to], #16 */
            "    le lr, 9b\n"                       /* rounds_left */
            "    add r1, r5, #208\n"                /* to, frame, #208 */
            "    add r1, r1, #1472\n"               /* to, to, #1472 */
            "    movw r0, #0\n"                     /* number, #0 */
            "    str r1, [r5, #44]\n"               /* to, [frame, #44] */
            "    str r0, [r5, #48]\n"               /* number, [frame, #48] */
            "    ldr r0, [r5, #52]\n"               /* output_at, [frame, #52] */
            "    ldr r1, [r5, #36]\n"               /* turns_left, [frame, #36] */
            "    add r0, r0, #1056\n"               /* output_at, output_at, #1056 */
            "    subs r1, r1, #3\n"                 /* turns_left, turns_left, #3 */
            "    str r0, [r5, #52]\n"               /* output_at, [frame, #52] */
            "    str r1, [r5, #36]\n"               /* turns_left, [frame, #36] */
            "    bgt 2b\n"
            "    vpop {d8-d15}\n"
            "    pop {r4-r10, pc}\n");
    /* clang-format on */
}

/* y[m][c][r] = x[m][r][c]: 1 times 132 rows of 16.
 * 8 neighbours of the output at a time; in the other one they are 16 bytes apart. */
MCU_KERNEL void _mcu_mve_chain_reorder_1x132x16x1_mve(const int8_t *x MCU_UNUSED,
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
            "    mov r2, r0\n"                      /* place, x */
            "    movw r4, #132\n"                   /* elements_of_row, #132 */
            "    dlstp.16 lr, r4\n"                 /* rounds_left, elements_of_row */
            "2:\n"
            "    vldrb.u16 q1, [r2, q0]\n"          /* elements, [place, offsets] */
            "    add r2, r2, #128\n"                /* place, place, #128 */
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
static void _mcu_mve_chain_layers(mcu_instance_t *instance) {
    uint8_t *const ws = instance->workspace;

    /* reshape_1_reorder: Reorder, reshape_1_3 reordered: int8[1,8,12,44] -> int8[1,8,12,44] NHWC */
    int8_t *const int8 = (int8_t *)(ws + 0);
    int8_t *const reshape_1_reorder = (int8_t *)(ws + 13216);
    MCU_LAYER(0, _mcu_mve_chain_reorder_1x8x528x1_mve(int8, reshape_1_reorder));

    /* conv_1: PointwiseDepthwise, conv_5_11 + conv_10_21 (10 nodes):
     * int8[1,8,12,44] NHWC -> int8[1,16,6,22] NHWC; 86,592 MACs */
    int8_t *const conv_1 = (int8_t *)(ws + 13216);
    uint8_t *const conv_1_scratch = (uint8_t *)(ws + 0);
    MCU_LAYER(1, _mcu_mve_chain_conv1x1_8_depthwise3x3_16_mve(
        reshape_1_reorder, conv_1, _mcu_mve_chain_conv_1_weights, _mcu_mve_chain_conv_1_stream,
        conv_1_scratch));

    /* conv_1_reorder: Reorder, quantizelinear_11_23 reordered:
     * int8[1,16,6,22] NHWC -> int8[1,16,6,22] */
    int8_t *const conv_1_reorder = (int8_t *)(ws + 0);
    MCU_LAYER(2, _mcu_mve_chain_reorder_1x132x16x1_mve(conv_1, conv_1_reorder));
}

/* clang-format on */

