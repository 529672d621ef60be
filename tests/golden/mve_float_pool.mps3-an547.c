/* ---- Kernels ---- */

/* Those in assembly are one string each, some longer than C99 wants compilers to take. */
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Woverlength-strings"
#endif

/* y[m][c][r] = x[m][r][c]: 1 times 6 rows of 24.
 * 4 neighbours of the input at a time; in the other one they are 24 bytes apart. */
MCU_KERNEL void _mcu_mve_float_pool_reorder_1x6x24x4_mve(const float *x MCU_UNUSED,
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
            "    movw r2, #24\n"                    /* elements_of_row, #24 */
            "    dlstp.32 lr, r2\n"                 /* rounds_left, elements_of_row */
            "2:\n"
            "    vldrw.u32 q1, [r0], #16\n"         /* elements, [x], #16 */
            "    vstrw.32 q1, [r3, q0]\n"           /* elements, [place, offsets] */
            "    add r3, r3, #96\n"                 /* place, place, #96 */
            "    letp lr, 2b\n"                     /* rounds_left */
            "    add r1, r1, #4\n"                  /* y, y, #4 */
            "    subs r4, r4, #1\n"                 /* rows_left, rows_left, #1 */
            "    bne 1b\n"
            "    pop {r4, pc}\n");
    /* clang-format on */
}

/* y[p][c] = the average of window[p][k][c], float32, of what lies inside of the image.
 * x: [row][column][channel], y: [p][c].
 * constants: the reciprocals of how many elements there are, by their columns.
 * scratch, in words: where image and output go on, the stream, the next row, its number, what is
 * left of rows, tiles, groups and filters; of the rows of a window that are outside the bytes of
 * their weights in front and behind, how many are inside, the way back over these. In place: as
 * depthwise convolutions. */
MCU_KERNEL void _mcu_mve_float_pool_avg_pool2x2_6_f32_mve(const float *x MCU_UNUSED,
                                                          float *y MCU_UNUSED,
                                                          const float *reciprocals MCU_UNUSED,
                                                          uint8_t *scratch MCU_UNUSED) {
    /* clang-format off */
    __asm__(".syntax unified\n"
            "    push {r4, r5, lr}\n"
            "    str r1, [r3, #4]\n"                /* y, [frame, #4] */
            "    str r2, [r3, #8]\n"                /* constants, [frame, #8] */
            "    str r0, [r3]\n"                    /* x, [frame] */
            "    str r0, [r3, #12]\n"               /* x, [frame, #12] */
            "    movw r2, #2\n"                     /* free, #2 */
            "    str r2, [r3, #20]\n"               /* free, [frame, #20] */
            "1:\n"
            /* The next row of the output. */
            "    ldr r0, [r3, #12]\n"               /* row, [frame, #12] */
            "    ldr r1, [r3, #4]\n"                /* out, [frame, #4] */
            "    add r2, r0, #288\n"                /* free, row, #288 */
            "    str r0, [r3]\n"                    /* row, [frame] */
            /* 3 pixels, four channels at a time. */
            "    ldr r0, [r3]\n"                    /* block, [frame] */
            "    str r2, [r3, #12]\n"               /* free, [frame, #12] */
            "    add r2, r0, #144\n"                /* free, block, #144 */
            "    str r2, [r3]\n"                    /* free, [frame] */
            "    add r2, r1, #72\n"                 /* free, out, #72 */
            "    str r2, [r3, #4]\n"                /* free, [frame, #4] */
            "    ldr r2, [r3, #8]\n"                /* stream_at, [frame, #8] */
            "    movw r4, #6\n"                     /* channels, #6 */
            "    dlstp.32 lr, r4\n"                 /* rounds_left, channels */
            "2:\n"
            "    vmov.i32 q0, #0\n"                 /* sum0, #0 */
            "    mov r4, r0\n"                      /* at, block */
            "    vmov.i32 q1, #0\n"                 /* sum1, #0 */
            "    movw r5, #2\n"                     /* rows_left, #2 */
            "    vmov.i32 q2, #0\n"                 /* sum2, #0 */
            "3:\n"
            "    vldrw.u32 q3, [r4], #24\n"         /* column0, [at], #24 */
            "    vadd.f32 q0, q0, q3\n"             /* sum0, sum0, column0 */
            "    vldrw.u32 q3, [r4], #24\n"         /* column1, [at], #24 */
            "    vadd.f32 q0, q0, q3\n"             /* sum0, sum0, column1 */
            "    vldrw.u32 q3, [r4], #24\n"         /* column2, [at], #24 */
            "    vadd.f32 q1, q1, q3\n"             /* sum1, sum1, column2 */
            "    vldrw.u32 q3, [r4], #24\n"         /* column0, [at], #24 */
            "    vadd.f32 q1, q1, q3\n"             /* sum1, sum1, column0 */
            "    vldrw.u32 q3, [r4], #24\n"         /* column1, [at], #24 */
            "    vadd.f32 q2, q2, q3\n"             /* sum2, sum2, column1 */
            "    vldrw.u32 q3, [r4], #24\n"         /* column2, [at], #24 */
            "    vadd.f32 q2, q2, q3\n"             /* sum2, sum2, column2 */
            "    subs r5, r5, #1\n"                 /* rows_left, rows_left, #1 */
            "    bne 3b\n"
            "    ldr r4, [r2]\n"                    /* reciprocal, [stream_at] */
            "    add r0, r0, #16\n"                 /* block, block, #16 */
            "    vmul.f32 q0, q0, r4\n"             /* sum0, sum0, reciprocal */
            "    vstrw.32 q0, [r1]\n"               /* sum0, [out] */
            "    vmul.f32 q1, q1, r4\n"             /* sum1, sum1, reciprocal */
            "    vstrw.32 q1, [r1, #24]\n"          /* sum1, [out, #24] */
            "    vmul.f32 q2, q2, r4\n"             /* sum2, sum2, reciprocal */
            "    vstrw.32 q2, [r1, #48]\n"          /* sum2, [out, #48] */
            "    add r1, r1, #16\n"                 /* out, out, #16 */
            "    letp lr, 2b\n"                     /* rounds_left */
            "    ldr r2, [r3, #20]\n"               /* free, [frame, #20] */
            "    subs r2, r2, #1\n"                 /* free, free, #1 */
            "    str r2, [r3, #20]\n"               /* free, [frame, #20] */
            "    bne 1b\n"
            "    pop {r4, r5, pc}\n");
    /* clang-format on */
}

/* y[p][c] = the greatest of window[p][k][c], float32, of what lies inside of the image.
 * x: [row][column][channel], y: [p][c].
 * scratch, in words: where image and output go on, the stream, the next row, its number, what is
 * left of rows, tiles, groups and filters; of the rows of a window that are outside the bytes of
 * their weights in front and behind, how many are inside, the way back over these. In place: as
 * depthwise convolutions. */
MCU_KERNEL void _mcu_mve_float_pool_max_pool2x2_6_f32_mve(const float *x MCU_UNUSED,
                                                          float *y MCU_UNUSED,
                                                          uint8_t *scratch MCU_UNUSED) {
    /* clang-format off */
    __asm__(".syntax unified\n"
            "    push {r4, r5, lr}\n"
            "    str r1, [r2, #4]\n"                /* y, [frame, #4] */
            "    str r0, [r2]\n"                    /* x, [frame] */
            "    str r0, [r2, #12]\n"               /* x, [frame, #12] */
            "    movw r3, #2\n"                     /* free, #2 */
            "    str r3, [r2, #20]\n"               /* free, [frame, #20] */
            "1:\n"
            /* The next row of the output. */
            "    ldr r0, [r2, #12]\n"               /* row, [frame, #12] */
            "    ldr r1, [r2, #4]\n"                /* out, [frame, #4] */
            "    add r3, r0, #288\n"                /* free, row, #288 */
            "    str r0, [r2]\n"                    /* row, [frame] */
            /* 3 pixels, four channels at a time. */
            "    ldr r0, [r2]\n"                    /* block, [frame] */
            "    str r3, [r2, #12]\n"               /* free, [frame, #12] */
            "    add r3, r0, #144\n"                /* free, block, #144 */
            "    str r3, [r2]\n"                    /* free, [frame] */
            "    add r3, r1, #72\n"                 /* free, out, #72 */
            "    movw r5, #0\n"                     /* lowest, #0 */
            "    str r3, [r2, #4]\n"                /* free, [frame, #4] */
            "    movt r5, #65408\n"                 /* lowest, #65408 */
            "    movw r3, #6\n"                     /* channels, #6 */
            "    dlstp.32 lr, r3\n"                 /* rounds_left, channels */
            "2:\n"
            "    vdup.32 q0, r5\n"                  /* sum0, lowest */
            "    mov r3, r0\n"                      /* at, block */
            "    vdup.32 q1, r5\n"                  /* sum1, lowest */
            "    movw r4, #2\n"                     /* rows_left, #2 */
            "    vdup.32 q2, r5\n"                  /* sum2, lowest */
            "3:\n"
            "    vcmp.f32 eq, q0, q0\n"             /* eq, sum0, sum0 */
            "    vldrw.u32 q3, [r3], #24\n"         /* column0, [at], #24 */
            "    vpstt\n"
            "    vcmpt.f32 lt, q0, q3\n"            /* lt, sum0, column0 */
            "    vmovt q0, q3\n"                    /* sum0, column0 */
            "    vcmp.f32 eq, q0, q0\n"             /* eq, sum0, sum0 */
            "    vldrw.u32 q3, [r3], #24\n"         /* column1, [at], #24 */
            "    vpstt\n"
            "    vcmpt.f32 lt, q0, q3\n"            /* lt, sum0, column1 */
            "    vmovt q0, q3\n"                    /* sum0, column1 */
            "    vcmp.f32 eq, q1, q1\n"             /* eq, sum1, sum1 */
            "    vldrw.u32 q3, [r3], #24\n"         /* column2, [at], #24 */
            "    vpstt\n"
            "    vcmpt.f32 lt, q1, q3\n"            /* lt, sum1, column2 */
            "    vmovt q1, q3\n"                    /* sum1, column2 */
            "    vcmp.f32 eq, q1, q1\n"             /* eq, sum1, sum1 */
            "    vldrw.u32 q3, [r3], #24\n"         /* column0, [at], #24 */
            "    vpstt\n"
            "    vcmpt.f32 lt, q1, q3\n"            /* lt, sum1, column0 */
            "    vmovt q1, q3\n"                    /* sum1, column0 */
            "    vcmp.f32 eq, q2, q2\n"             /* eq, sum2, sum2 */
            "    vldrw.u32 q3, [r3], #24\n"         /* column1, [at], #24 */
            "    vpstt\n"
            "    vcmpt.f32 lt, q2, q3\n"            /* lt, sum2, column1 */
            "    vmovt q2, q3\n"                    /* sum2, column1 */
            "    vcmp.f32 eq, q2, q2\n"             /* eq, sum2, sum2 */
            "    vldrw.u32 q3, [r3], #24\n"         /* column2, [at], #24 */
            "    vpstt\n"
            "    vcmpt.f32 lt, q2, q3\n"            /* lt, sum2, column2 */
            "    vmovt q2, q3\n"                    /* sum2, column2 */
            "    subs r4, r4, #1\n"                 /* rows_left, rows_left, #1 */
            "    bne 3b\n"
            "    vstrw.32 q0, [r1]\n"               /* sum0, [out] */
            "    add r0, r0, #16\n"                 /* block, block, #16 */
            "    vstrw.32 q1, [r1, #24]\n"          /* sum1, [out, #24] */
            "    vstrw.32 q2, [r1, #48]\n"          /* sum2, [out, #48] */
            "    add r1, r1, #16\n"                 /* out, out, #16 */
            "    letp lr, 2b\n"                     /* rounds_left */
            "    ldr r3, [r2, #20]\n"               /* free, [frame, #20] */
            "    subs r3, r3, #1\n"                 /* free, free, #1 */
            "    str r3, [r2, #20]\n"               /* free, [frame, #20] */
            "    bne 1b\n"
            "    pop {r4, r5, pc}\n");
    /* clang-format on */
}

/* y[m][c][r] = x[m][r][c]: 1 times 6 rows of 6.
 * 4 neighbours of the input at a time; in the other one they are 24 bytes apart. */
MCU_KERNEL void _mcu_mve_float_pool_reorder_1x6x6x4_mve(const float *x MCU_UNUSED,
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
            "    movw r2, #6\n"                     /* elements_of_row, #6 */
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

/* ---- The layers, in the order of execution ---- */

/* clang-format off */
static void _mcu_mve_float_pool_layers(mcu_instance_t *instance) {
    uint8_t *const ws = instance->workspace;

    /* reshape_1_reorder: Reorder, of1 reordered: float32[1,6,4,6] -> float32[1,6,4,6] NHWC */
    float *const of0 = (float *)(ws + 0);
    float *const reshape_1_reorder = (float *)(ws + 1264);
    MCU_LAYER(0, _mcu_mve_float_pool_reorder_1x6x24x4_mve(of0, reshape_1_reorder));

    /* avg_pool_1: AveragePool, layer0: float32[1,6,4,6] NHWC -> float32[1,6,2,3] NHWC */
    float *const avg_pool_1 = (float *)(ws + 1216);
    uint8_t *const avg_pool_1_scratch = (uint8_t *)(ws + 1152);
    MCU_LAYER(1, _mcu_mve_float_pool_avg_pool2x2_6_f32_mve(
        reshape_1_reorder, avg_pool_1, _mcu_mve_float_pool_avg_pool_1_reciprocals,
        avg_pool_1_scratch));

    /* reshape_3_reorder: Reorder, of5 reordered: float32[1,6,4,6] -> float32[1,6,4,6] NHWC */
    float *const of4 = (float *)(ws + 576);
    float *const reshape_3_reorder = (float *)(ws + 0);
    MCU_LAYER(2, _mcu_mve_float_pool_reorder_1x6x24x4_mve(of4, reshape_3_reorder));

    /* max_pool_1: MaxPool, layer1: float32[1,6,4,6] NHWC -> float32[1,6,2,3] NHWC */
    float *const max_pool_1 = (float *)(ws + 640);
    uint8_t *const max_pool_1_scratch = (uint8_t *)(ws + 576);
    MCU_LAYER(3, _mcu_mve_float_pool_max_pool2x2_6_f32_mve(reshape_3_reorder, max_pool_1,
                                                           max_pool_1_scratch));

    /* avg_pool_1_reorder: Reorder, of2 reordered: float32[1,6,2,3] NHWC -> float32[1,6,2,3] */
    float *const avg_pool_1_reorder = (float *)(ws + 0);
    MCU_LAYER(4, _mcu_mve_float_pool_reorder_1x6x6x4_mve(avg_pool_1, avg_pool_1_reorder));

    /* max_pool_1_reorder: Reorder, of6 reordered: float32[1,6,2,3] NHWC -> float32[1,6,2,3] */
    float *const max_pool_1_reorder = (float *)(ws + 144);
    MCU_LAYER(5, _mcu_mve_float_pool_reorder_1x6x6x4_mve(max_pool_1, max_pool_1_reorder));
}

/* clang-format on */

