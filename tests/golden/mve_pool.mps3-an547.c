/* ---- Kernels ---- */

/* Those in assembly are one string each, some longer than C99 wants compilers to take. */
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Woverlength-strings"
#endif

/* y[m][c][r] = x[m][r][c]: 1 times 6 rows of 16.
 * 8 neighbours of the input at a time; in the other one they are 6 bytes apart. */
MCU_KERNEL void _mcu_mve_pool_reorder_1x6x16x1_mve(const int8_t *x MCU_UNUSED,
                                                   int8_t *y MCU_UNUSED) {
    /* clang-format off */
    __asm__(".syntax unified\n"
            "    push {r4, lr}\n"
            "    mov r4, #0\n"                      /* elements_of_row, #0 */
            "    vidup.u16 q0, r4, #1\n"            /* offsets, elements_of_row, #1 */
            "    movw r2, #6\n"                     /* bytes_apart, #6 */
            "    vmul.i16 q0, q0, r2\n"             /* offsets, offsets, bytes_apart */
            "    movw r3, #6\n"                     /* rows_left, #6 */
            "1:\n"
            "    mov r2, r1\n"                      /* place, y */
            "    movw r4, #16\n"                    /* elements_of_row, #16 */
            "    dlstp.16 lr, r4\n"                 /* rounds_left, elements_of_row */
            "2:\n"
            "    vldrb.u16 q1, [r0], #8\n"          /* elements, [x], #8 */
            "    vstrb.16 q1, [r2, q0]\n"           /* elements, [place, offsets] */
            "    add r2, r2, #48\n"                 /* place, place, #48 */
            "    letp lr, 2b\n"                     /* rounds_left */
            "    add r1, r1, #1\n"                  /* y, y, #1 */
            "    subs r3, r3, #1\n"                 /* rows_left, rows_left, #1 */
            "    bne 1b\n"
            "    pop {r4, pc}\n");
    /* clang-format on */
}

/* y[p][c] = sat((sum * 2**16 * scale >> 32) + addend >> 16),
 * sum = start + all x[q][c] of the 2x2 window of pixel p that are inside.
 * x and y have 6 channels, which lie last. constants: start; what it gets for each q inside;
 * scale; addend; of float32 the scale of x, a window's pixels, the scale of y.
 * Then of the windows of each row of y, and of each column, where they begin in bytes, times
 * 256.
 * In place: of a window a block of channels is read before its outputs are written. */
MCU_KERNEL void _mcu_mve_pool_avg_pool2x2_6_mve(const int8_t *x MCU_UNUSED, int8_t *y MCU_UNUSED,
                                                const uint32_t *constants MCU_UNUSED) {
    /* clang-format off */
    __asm__(".syntax unified\n"
            "    push {r4-r9, lr}\n"
            "    vpush {d8-d10}\n"
            "    vmov s16, r0\n"                    /* x_at, x */
            "    movw r12, #6\n"                    /* channels, #6 */
            "    add r0, r2, #28\n"                 /* free, constants_at, #28 */
            "    vmov s17, r0\n"                    /* row_place, free */
            "    movw r0, #2\n"                     /* free, #2 */
            "    vmov s18, r0\n"                    /* y_rows_left, free */
            "1:\n"
            "    vmov r0, s17\n"                    /* free, row_place */
            "    vmov r4, s16\n"                    /* line, x_at */
            "    ldr r3, [r0], #4\n"                /* block, [free], #4 */
            "    vmov s17, r0\n"                    /* row_place, free */
            "    add r0, r2, #36\n"                 /* free, constants_at, #36 */
            "    add r4, r4, r3, lsr #8\n"          /* line, line, block, lsr #8 */
            "    vmov s20, r0\n"                    /* column_place, free */
            "    movw r0, #2\n"                     /* free, #2 */
            "    vmov s0, r3\n"                     /* row_count, block */
            "    vmov s19, r4\n"                    /* row_start, line */
            "    vmov s21, r0\n"                    /* y_columns_left, free */
            "2:\n"
            "    vmov r0, s20\n"                    /* free, column_place */
            "    vmov r3, s19\n"                    /* block, row_start */
            "    ldr r5, [r0], #4\n"                /* columns, [free], #4 */
            "    movw r8, #2\n"                     /* rows, #2 */
            "    vmov s20, r0\n"                    /* column_place, free */
            "    mov r0, #6\n"                      /* channels_left, #6 */
            "    vctp.16 r0\n"                      /* channels_left */
            "    ldr r0, [r2]\n"                    /* start, [constants_at] */
            "    add r3, r3, r5, lsr #8\n"          /* block, block, columns, lsr #8 */
            "    movw r5, #2\n"                     /* columns, #2 */
            "    vdup.16 q0, r0\n"                  /* sum0, start */
            "    mov r4, r3\n"                      /* line, block */
            "    mov r6, r8\n"                      /* rows_left, rows */
            "3:\n"
            "    mov r0, r4\n"                      /* pixel, line */
            "    dls lr, r5\n"                      /* rounds_left, columns */
            "4:\n"
            "    vpst\n"
            "    vldrbt.s16 q1, [r0]\n"             /* bytes, [pixel] */
            "    vadd.i16 q0, q0, q1\n"             /* sum0, sum0, bytes */
            "    add r0, r0, r12\n"                 /* pixel, pixel, channels */
            "    le lr, 4b\n"                       /* rounds_left */
            "    add r4, r4, #24\n"                 /* line, line, #24 */
            "    subs r6, r6, #1\n"                 /* rows_left, rows_left, #1 */
            "    bne 3b\n"
            "    ldr r0, [r2, #8]\n"                /* scale, [constants_at, #8] */
            "    vshl.i32 q2, q0, #16\n"            /* even, sum0, #16 */
            "    ldr r4, [r2, #12]\n"               /* addend, [constants_at, #12] */
            "    vdup.32 q1, r0\n"                  /* scales, scale */
            "    vmulh.s32 q2, q2, q1\n"            /* even, even, scales */
            "    vmovlt.s16 q0, q0\n"               /* odd, sum0 */
            "    movw r0, #65280\n"                 /* free, #65280 */
            "    vshl.i32 q0, q0, #16\n"            /* odd, odd, #16 */
            "    vmulh.s32 q0, q0, q1\n"            /* odd, odd, scales */
            "    vadd.i32 q2, q2, r4\n"             /* even, even, addend */
            "    vdup.32 q1, r0\n"                  /* mask, free */
            "    movw r0, #128\n"                   /* free, #128 */
            "    vadd.i32 q3, q2, r0\n"             /* moved, even, free */
            "    vadd.i32 q0, q0, r4\n"             /* odd, odd, addend */
            "    mvn r4, #0\n"                      /* nearest, #0 */
            "    vand q3, q3, q1\n"                 /* moved, moved, mask */
            "    vpst\n"
            "    vminvt.u32 r4, q3\n"               /* nearest, moved */
            "    vadd.i32 q3, q0, r0\n"             /* moved, odd, free */
            "    vand q3, q3, q1\n"                 /* moved, moved, mask */
            "    vpst\n"
            "    vminvt.u32 r4, q3\n"               /* nearest, moved */
            "    cmp r4, #0\n"                      /* nearest, #0 */
            "    bne 7f\n"
            /* A sum is next to the middle of two outputs: all again, in floats. */
            "    mov r0, #2\n"                      /* channels_left, #2 */
            "    movw r9, #65408\n"                 /* zero_point, #65408 */
            "    vctp.32 r0\n"                      /* channels_left */
            "    ldr r7, [r2, #16]\n"               /* x_scale, [constants_at, #16] */
            "    movt r9, #0xffff\n"                /* zero_point, #0xffff */
            "    vmov.i32 q0, #0\n"                 /* sum0, #0 */
            "    mov r4, r3\n"                      /* line, block */
            "    vmov.i32 q1, #0\n"                 /* sum1, #0 */
            "    mov r6, r8\n"                      /* rows_left, rows */
            "5:\n"
            "    mov r0, r4\n"                      /* pixel, line */
            "    dls lr, r5\n"                      /* rounds_left, columns */
            "6:\n"
            "    vldrb.s32 q2, [r0]\n"              /* bytes, [pixel] */
            "    vsub.i32 q2, q2, r9\n"             /* bytes, bytes, zero_point */
            "    vcvt.f32.s32 q2, q2\n"             /* bytes, bytes */
            "    vmul.f32 q2, q2, r7\n"             /* bytes, bytes, x_scale */
            "    vadd.f32 q0, q0, q2\n"             /* sum0, sum0, bytes */
            "    vpst\n"
            "    vldrbt.s32 q2, [r0, #4]\n"         /* bytes, [pixel, #4] */
            "    vsub.i32 q2, q2, r9\n"             /* bytes, bytes, zero_point */
            "    vcvt.f32.s32 q2, q2\n"             /* bytes, bytes */
            "    add r0, r0, r12\n"                 /* pixel, pixel, channels */
            "    vmul.f32 q2, q2, r7\n"             /* bytes, bytes, x_scale */
            "    vadd.f32 q1, q1, q2\n"             /* sum1, sum1, bytes */
            "    le lr, 6b\n"                       /* rounds_left */
            "    add r4, r4, #24\n"                 /* line, line, #24 */
            "    subs r6, r6, #1\n"                 /* rows_left, rows_left, #1 */
            "    bne 5b\n"
            "    ldr r0, [r2, #20]\n"               /* free, [constants_at, #20] */
            "    ldr r7, [r2, #24]\n"               /* x_scale, [constants_at, #24] */
            "    vmov s8, r0\n"                     /* count, free */
            "    vmov s9, r7\n"                     /* y_scale, x_scale */
            "    vdiv.f32 s0, s0, s8\n"             /* sum0.0, sum0.0, count */
            "    movw r9, #65408\n"                 /* zero_point, #65408 */
            "    movt r9, #0xffff\n"                /* zero_point, #0xffff */
            "    vdiv.f32 s1, s1, s8\n"             /* sum0.1, sum0.1, count */
            "    vdiv.f32 s2, s2, s8\n"             /* sum0.2, sum0.2, count */
            "    vdiv.f32 s3, s3, s8\n"             /* sum0.3, sum0.3, count */
            "    vdiv.f32 s4, s4, s8\n"             /* sum1.0, sum1.0, count */
            "    vdiv.f32 s5, s5, s8\n"             /* sum1.1, sum1.1, count */
            "    vdiv.f32 s6, s6, s8\n"             /* sum1.2, sum1.2, count */
            "    vdiv.f32 s7, s7, s8\n"             /* sum1.3, sum1.3, count */
            "    vdiv.f32 s0, s0, s9\n"             /* sum0.0, sum0.0, y_scale */
            "    vdiv.f32 s1, s1, s9\n"             /* sum0.1, sum0.1, y_scale */
            "    vdiv.f32 s2, s2, s9\n"             /* sum0.2, sum0.2, y_scale */
            "    vdiv.f32 s3, s3, s9\n"             /* sum0.3, sum0.3, y_scale */
            "    vcvtn.s32.f32 q0, q0\n"            /* sum0, sum0 */
            "    vdiv.f32 s4, s4, s9\n"             /* sum1.0, sum1.0, y_scale */
            "    vqadd.s32 q0, q0, r9\n"            /* sum0, sum0, zero_point */
            "    vqmovnb.s32 q0, q0\n"              /* sum0, sum0 */
            "    vqmovnb.s16 q0, q0\n"              /* sum0, sum0 */
            "    vstrb.32 q0, [r1], #4\n"           /* sum0, [y_at], #4 */
            "    vdiv.f32 s5, s5, s9\n"             /* sum1.1, sum1.1, y_scale */
            "    vdiv.f32 s6, s6, s9\n"             /* sum1.2, sum1.2, y_scale */
            "    vdiv.f32 s7, s7, s9\n"             /* sum1.3, sum1.3, y_scale */
            "    vcvtn.s32.f32 q1, q1\n"            /* sum1, sum1 */
            "    vqadd.s32 q1, q1, r9\n"            /* sum1, sum1, zero_point */
            "    vqmovnb.s32 q1, q1\n"              /* sum1, sum1 */
            "    vqmovnb.s16 q1, q1\n"              /* sum1, sum1 */
            "    vpst\n"
            "    vstrbt.32 q1, [r1]\n"              /* sum1, [y_at] */
            "    add r1, r1, #2\n"                  /* y_at, y_at, #2 */
            "    b 8f\n"
            "7:\n"
            "    vshr.s32 q2, q2, #16\n"            /* even, even, #16 */
            "    vshr.s32 q0, q0, #16\n"            /* odd, odd, #16 */
            "    vqmovnb.s32 q2, q2\n"              /* even, even */
            "    vqmovnt.s32 q2, q0\n"              /* even, odd */
            "    vqmovnb.s16 q2, q2\n"              /* even, even */
            "    vpst\n"
            "    vstrbt.16 q2, [r1]\n"              /* even, [y_at] */
            "    add r1, r1, #6\n"                  /* y_at, y_at, #6 */
            "8:\n"
            "    vmov r0, s21\n"                    /* free, y_columns_left */
            "    subs r0, r0, #1\n"                 /* free, free, #1 */
            "    vmov s21, r0\n"                    /* y_columns_left, free */
            "    bne 2b\n"
            "    vmov r0, s18\n"                    /* free, y_rows_left */
            "    subs r0, r0, #1\n"                 /* free, free, #1 */
            "    vmov s18, r0\n"                    /* y_rows_left, free */
            "    bne 1b\n"
            "    vpop {d8-d10}\n"
            "    pop {r4-r9, pc}\n");
    /* clang-format on */
}

/* y[m][c][r] = x[m][r][c]: 1 times 4 rows of 6.
 * 8 neighbours of the input at a time; in the other one they are 4 bytes apart. */
MCU_KERNEL void _mcu_mve_pool_reorder_1x4x6x1_mve(const int8_t *x MCU_UNUSED,
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
            "    movw r4, #6\n"                     /* elements_of_row, #6 */
            "    dlstp.16 lr, r4\n"                 /* rounds_left, elements_of_row */
            "2:\n"
            "    vldrb.u16 q1, [r0], #8\n"          /* elements, [x], #8 */
            "    vstrb.16 q1, [r2, q0]\n"           /* elements, [place, offsets] */
            "    add r2, r2, #32\n"                 /* place, place, #32 */
            "    letp lr, 2b\n"                     /* rounds_left */
            "    sub r0, r0, #2\n"                  /* x, x, #2 */
            "    add r1, r1, #1\n"                  /* y, y, #1 */
            "    subs r3, r3, #1\n"                 /* rows_left, rows_left, #1 */
            "    bne 1b\n"
            "    pop {r4, pc}\n");
    /* clang-format on */
}

/* ---- The layers, in the order of execution ---- */

/* clang-format off */
static void _mcu_mve_pool_layers(mcu_instance_t *instance) {
    uint8_t *const ws = instance->workspace;

    /* reshape_1_reorder: Reorder, reshape_1_3 reordered: int8[1,6,4,4] -> int8[1,6,4,4] NHWC */
    int8_t *const int8 = (int8_t *)(ws + 80);
    int8_t *const reshape_1_reorder = (int8_t *)(ws + 0);
    MCU_LAYER(0, _mcu_mve_pool_reorder_1x6x16x1_mve(int8, reshape_1_reorder));

    /* avg_pool_1: AveragePool, pool0 (3 nodes): int8[1,6,4,4] NHWC -> int8[1,6,2,2] NHWC */
    int8_t *const avg_pool_1 = (int8_t *)(ws + 96);
    MCU_LAYER(1, _mcu_mve_pool_avg_pool2x2_6_mve(reshape_1_reorder, avg_pool_1,
                                                 _mcu_mve_pool_avg_pool_1_constants));

    /* avg_pool_1_reorder: Reorder, quantizelinear_4_7 reordered:
     * int8[1,6,2,2] NHWC -> int8[1,6,2,2] */
    int8_t *const avg_pool_1_reorder = (int8_t *)(ws + 0);
    MCU_LAYER(2, _mcu_mve_pool_reorder_1x4x6x1_mve(avg_pool_1, avg_pool_1_reorder));
}

/* clang-format on */

