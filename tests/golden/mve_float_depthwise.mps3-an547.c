/* ---- Kernels ---- */

/* Those in assembly are one string each, some longer than C99 wants compilers to take. */
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Woverlength-strings"
#endif

/* y[m][c][r] = x[m][r][c]: 1 times 6 rows of 30.
 * 4 neighbours of the input at a time; in the other one they are 24 bytes apart. */
MCU_KERNEL void _mcu_mve_float_depthwise_reorder_1x6x30x4_mve(const float *x MCU_UNUSED,
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

/* y[p][c] = clamp(bias[c] + sum of window[p][k][c] * w[k][c]), float32; each product
 * is added with one rounding, and what lies outside of the image is left out.
 * x: [row][column][channel], y: [p][c].
 * weights, of four channels: their biases, then their weights of each k.
 * scratch, in words: where image and output go on, the stream, the next row, its number, what is
 * left of rows, tiles, groups and filters; of the rows of a window that are outside the bytes of
 * their weights in front and behind, how many are inside, the way back over these. In place: the
 * windows of a tile are read for some channels, whose outputs are written, then for the next
 * ones. */
MCU_KERNEL void _mcu_mve_float_depthwise_depthwise3x3_6_f32_mve(const float *x MCU_UNUSED,
                                                                float *y MCU_UNUSED,
                                                                const float *weights MCU_UNUSED,
                                                                uint8_t *scratch MCU_UNUSED) {
    /* clang-format off */
    __asm__(".syntax unified\n"
            "    push {r4-r7, lr}\n"
            "    vpush {d8-d15}\n"
            "    str r1, [r3, #4]\n"                /* y, [frame, #4] */
            "    str r2, [r3, #8]\n"                /* constants, [frame, #8] */
            "    sub r0, r0, #168\n"                /* x, x, #168 */
            "    str r0, [r3]\n"                    /* x, [frame] */
            "    str r0, [r3, #12]\n"               /* x, [frame, #12] */
            "    movw r2, #1\n"                     /* free, #1 */
            "    rsb r2, r2, #0\n"                  /* free, free, #0 */
            "    str r2, [r3, #16]\n"               /* free, [frame, #16] */
            "    movw r2, #5\n"                     /* free, #5 */
            "    str r2, [r3, #20]\n"               /* free, [frame, #20] */
            "1:\n"
            /* The next row of the output. */
            "    ldr r5, [r3, #12]\n"               /* row, [frame, #12] */
            "    movw r4, #5\n"                     /* by, #5 */
            "    add r2, r5, #144\n"                /* free, row, #144 */
            "    str r2, [r3, #12]\n"               /* free, [frame, #12] */
            "    ldr r2, [r3, #16]\n"               /* number, [frame, #16] */
            "    rsb r1, r2, #0\n"                  /* above, number, #0 */
            "    sub r0, r4, r2\n"                  /* inside, by, number */
            "    add r2, r2, #1\n"                  /* number, number, #1 */
            "    str r2, [r3, #16]\n"               /* number, [frame, #16] */
            "    cmp r1, #0\n"                      /* above, #0 */
            "    it lt\n"
            "    movlt r1, #0\n"                    /* above, #0 */
            "    cmp r1, #3\n"                      /* above, #3 */
            "    it gt\n"
            "    movgt r1, #3\n"                    /* above, #3 */
            "    cmp r0, #0\n"                      /* inside, #0 */
            "    it lt\n"
            "    movlt r0, #0\n"                    /* inside, #0 */
            "    cmp r0, #3\n"                      /* inside, #3 */
            "    it gt\n"
            "    movgt r0, #3\n"                    /* inside, #3 */
            "    movw r4, #48\n"                    /* by, #48 */
            "    rsb r2, r0, #3\n"                  /* free, inside, #3 */
            "    mul r2, r2, r4\n"                  /* free, free, by */
            "    str r2, [r3, #40]\n"               /* free, [frame, #40] */
            "    mul r2, r1, r4\n"                  /* free, above, by */
            "    movw r4, #144\n"                   /* by, #144 */
            "    sub r0, r0, r1\n"                  /* inside, inside, above */
            "    mla r5, r1, r4, r5\n"              /* row, above, by, row */
            "    str r0, [r3, #44]\n"               /* inside, [frame, #44] */
            "    mul r4, r0, r4\n"                  /* by, inside, by */
            "    str r5, [r3]\n"                    /* row, [frame] */
            /* 6 pixels, four channels at a time. */
            "    ldr r0, [r3]\n"                    /* block, [frame] */
            "    ldr r1, [r3, #4]\n"                /* out, [frame, #4] */
            "    str r2, [r3, #36]\n"               /* free, [frame, #36] */
            "    add r2, r0, #144\n"                /* free, block, #144 */
            "    str r2, [r3]\n"                    /* free, [frame] */
            "    add r2, r1, #144\n"                /* free, out, #144 */
            "    str r4, [r3, #48]\n"               /* by, [frame, #48] */
            "    str r2, [r3, #4]\n"                /* free, [frame, #4] */
            "    ldr r2, [r3, #8]\n"                /* stream_at, [frame, #8] */
            "    ldr r4, [r3, #44]\n"               /* inside, [frame, #44] */
            "    ldr r5, [r3, #36]\n"               /* skipped, [frame, #36] */
            "    ldr r6, [r3, #40]\n"               /* behind, [frame, #40] */
            "    movw r7, #6\n"                     /* channels, #6 */
            "    dlstp.32 lr, r7\n"                 /* rounds_left, channels */
            "2:\n"
            "    vldrw.u32 q0, [r2], #16\n"         /* sum0, [stream_at], #16 */
            "    vmov q1, q0\n"                     /* sum1, sum0 */
            "    mov r7, r0\n"                      /* at, block */
            "    vmov q2, q0\n"                     /* sum2, sum0 */
            "    add r2, r2, r5\n"                  /* stream_at, stream_at, skipped */
            "    vmov q3, q0\n"                     /* sum3, sum0 */
            "    mov r12, r4\n"                     /* rows_left, inside */
            "    vmov q4, q0\n"                     /* sum4, sum0 */
            "    vmov q5, q0\n"                     /* sum5, sum0 */
            "3:\n"
            "    vldrw.u32 q6, [r2], #16\n"         /* weights0, [stream_at], #16 */
            "    subs r12, r12, #1\n"               /* rows_left, rows_left, #1 */
            "    vldrw.u32 q7, [r7, #24]\n"         /* column0, [at, #24] */
            "    vfma.f32 q1, q7, q6\n"             /* sum1, column0, weights0 */
            "    vldrw.u32 q7, [r7, #48]\n"         /* column0, [at, #48] */
            "    vfma.f32 q2, q7, q6\n"             /* sum2, column0, weights0 */
            "    vldrw.u32 q7, [r7, #72]\n"         /* column0, [at, #72] */
            "    vfma.f32 q3, q7, q6\n"             /* sum3, column0, weights0 */
            "    vldrw.u32 q7, [r7, #96]\n"         /* column0, [at, #96] */
            "    vfma.f32 q4, q7, q6\n"             /* sum4, column0, weights0 */
            "    vldrw.u32 q7, [r7, #120]\n"        /* column0, [at, #120] */
            "    vfma.f32 q5, q7, q6\n"             /* sum5, column0, weights0 */
            "    vldrw.u32 q6, [r2], #16\n"         /* weights0, [stream_at], #16 */
            "    vldrw.u32 q7, [r7, #24]\n"         /* column0, [at, #24] */
            "    vfma.f32 q0, q7, q6\n"             /* sum0, column0, weights0 */
            "    vldrw.u32 q7, [r7, #48]\n"         /* column0, [at, #48] */
            "    vfma.f32 q1, q7, q6\n"             /* sum1, column0, weights0 */
            "    vldrw.u32 q7, [r7, #72]\n"         /* column0, [at, #72] */
            "    vfma.f32 q2, q7, q6\n"             /* sum2, column0, weights0 */
            "    vldrw.u32 q7, [r7, #96]\n"         /* column0, [at, #96] */
            "    vfma.f32 q3, q7, q6\n"             /* sum3, column0, weights0 */
            "    vldrw.u32 q7, [r7, #120]\n"        /* column0, [at, #120] */
            "    vfma.f32 q4, q7, q6\n"             /* sum4, column0, weights0 */
            "    vldrw.u32 q7, [r7, #144]\n"        /* column0, [at, #144] */
            "    vfma.f32 q5, q7, q6\n"             /* sum5, column0, weights0 */
            "    vldrw.u32 q6, [r2], #16\n"         /* weights0, [stream_at], #16 */
            "    vldrw.u32 q7, [r7, #48]\n"         /* column0, [at, #48] */
            "    vfma.f32 q0, q7, q6\n"             /* sum0, column0, weights0 */
            "    vldrw.u32 q7, [r7, #72]\n"         /* column0, [at, #72] */
            "    vfma.f32 q1, q7, q6\n"             /* sum1, column0, weights0 */
            "    vldrw.u32 q7, [r7, #96]\n"         /* column0, [at, #96] */
            "    vfma.f32 q2, q7, q6\n"             /* sum2, column0, weights0 */
            "    vldrw.u32 q7, [r7, #120]\n"        /* column0, [at, #120] */
            "    vfma.f32 q3, q7, q6\n"             /* sum3, column0, weights0 */
            "    vldrw.u32 q7, [r7, #144]\n"        /* column0, [at, #144] */
            "    vfma.f32 q4, q7, q6\n"             /* sum4, column0, weights0 */
            "    add r7, r7, #144\n"                /* at, at, #144 */
            "    bne 3b\n"
            "    vmov.i32 q7, #0\n"                 /* column0, #0 */
            "    add r2, r2, r6\n"                  /* stream_at, stream_at, behind */
            "    vmax.s32 q0, q0, q7\n"             /* sum0, sum0, column0 */
            "    vstrw.32 q0, [r1]\n"               /* sum0, [out] */
            "    vmax.s32 q1, q1, q7\n"             /* sum1, sum1, column0 */
            "    vstrw.32 q1, [r1, #24]\n"          /* sum1, [out, #24] */
            "    vmax.s32 q2, q2, q7\n"             /* sum2, sum2, column0 */
            "    vstrw.32 q2, [r1, #48]\n"          /* sum2, [out, #48] */
            "    vmax.s32 q3, q3, q7\n"             /* sum3, sum3, column0 */
            "    vstrw.32 q3, [r1, #72]\n"          /* sum3, [out, #72] */
            "    vmax.s32 q4, q4, q7\n"             /* sum4, sum4, column0 */
            "    vstrw.32 q4, [r1, #96]\n"          /* sum4, [out, #96] */
            "    vmax.s32 q5, q5, q7\n"             /* sum5, sum5, column0 */
            "    vstrw.32 q5, [r1, #120]\n"         /* sum5, [out, #120] */
            "    add r0, r0, #16\n"                 /* block, block, #16 */
            "    add r1, r1, #16\n"                 /* out, out, #16 */
            "    letp lr, 2b\n"                     /* rounds_left */
            "    ldr r2, [r3, #20]\n"               /* free, [frame, #20] */
            "    subs r2, r2, #1\n"                 /* free, free, #1 */
            "    str r2, [r3, #20]\n"               /* free, [frame, #20] */
            "    bne 1b\n"
            "    vpop {d8-d15}\n"
            "    pop {r4-r7, pc}\n");
    /* clang-format on */
}

/* y[m][c][r] = x[m][r][c]: 1 times 30 rows of 6.
 * 4 neighbours of the output at a time; in the other one they are 24 bytes apart. */
MCU_KERNEL void _mcu_mve_float_depthwise_reorder_1x30x6x4_mve(const float *x MCU_UNUSED,
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
            "    mov r3, r0\n"                      /* place, x */
            "    movw r2, #30\n"                    /* elements_of_row, #30 */
            "    dlstp.32 lr, r2\n"                 /* rounds_left, elements_of_row */
            "2:\n"
            "    vldrw.u32 q1, [r3, q0]\n"          /* elements, [place, offsets] */
            "    add r3, r3, #96\n"                 /* place, place, #96 */
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
static void _mcu_mve_float_depthwise_layers(mcu_instance_t *instance) {
    uint8_t *const ws = instance->workspace;

    /* reshape_1_reorder: Reorder, of1 reordered: float32[1,6,5,6] -> float32[1,6,5,6] NHWC */
    float *const x = (float *)(ws + 0);
    float *const reshape_1_reorder = (float *)(ws + 720);
    MCU_LAYER(0, _mcu_mve_float_depthwise_reorder_1x6x30x4_mve(x, reshape_1_reorder));

    /* depthwise_1: Conv, layer0 (2 nodes):
     * float32[1,6,5,6] NHWC -> float32[1,6,5,6] NHWC; 1,620 MACs */
    float *const depthwise_1 = (float *)(ws + 0);
    uint8_t *const depthwise_1_scratch = (uint8_t *)(ws + 1440);
    MCU_LAYER(1, _mcu_mve_float_depthwise_depthwise3x3_6_f32_mve(
        reshape_1_reorder, depthwise_1, _mcu_mve_float_depthwise_depthwise_1_weights,
        depthwise_1_scratch));

    /* depthwise_1_reorder: Reorder, of3 reordered: float32[1,6,5,6] NHWC -> float32[1,6,5,6] */
    float *const depthwise_1_reorder = (float *)(ws + 720);
    MCU_LAYER(2, _mcu_mve_float_depthwise_reorder_1x30x6x4_mve(depthwise_1, depthwise_1_reorder));
}

/* clang-format on */

