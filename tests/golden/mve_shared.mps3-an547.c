/* ---- Kernels ---- */

/* Those in assembly are one string each, some longer than C99 wants compilers to take. */
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Woverlength-strings"
#endif

/* y[m][c][r] = x[m][r][c]: 1 times 12 rows of 5.
 * 8 neighbours of the output at a time; in the other one they are 5 bytes apart. */
MCU_KERNEL void _mcu_mve_shared_reorder_1x12x5x1_mve(const int8_t *x MCU_UNUSED,
                                                     int8_t *y MCU_UNUSED) {
    /* clang-format off */
    __asm__(".syntax unified\n"
            "    push {r4, lr}\n"
            "    mov r4, #0\n"                      /* elements_of_row, #0 */
            "    vidup.u16 q0, r4, #1\n"            /* offsets, elements_of_row, #1 */
            "    movw r2, #5\n"                     /* bytes_apart, #5 */
            "    vmul.i16 q0, q0, r2\n"             /* offsets, offsets, bytes_apart */
            "    movw r3, #5\n"                     /* rows_left, #5 */
            "1:\n"
            "    mov r2, r0\n"                      /* place, x */
            "    movw r4, #12\n"                    /* elements_of_row, #12 */
            "    dlstp.16 lr, r4\n"                 /* rounds_left, elements_of_row */
            "2:\n"
            "    vldrb.u16 q1, [r2, q0]\n"          /* elements, [place, offsets] */
            "    add r2, r2, #40\n"                 /* place, place, #40 */
            "    vstrb.16 q1, [r1], #8\n"           /* elements, [y], #8 */
            "    letp lr, 2b\n"                     /* rounds_left */
            "    sub r1, r1, #4\n"                  /* y, y, #4 */
            "    add r0, r0, #1\n"                  /* x, x, #1 */
            "    subs r3, r3, #1\n"                 /* rows_left, rows_left, #1 */
            "    bne 1b\n"
            "    pop {r4, pc}\n");
    /* clang-format on */
}

/* y[m][c][r] = x[m][r][c]: 1 times 8 rows of 12.
 * 8 neighbours of the input at a time; in the other one they are 8 bytes apart. */
MCU_KERNEL void _mcu_mve_shared_reorder_1x8x12x1_mve(const int8_t *x MCU_UNUSED,
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
            "    movw r4, #12\n"                    /* elements_of_row, #12 */
            "    dlstp.16 lr, r4\n"                 /* rounds_left, elements_of_row */
            "2:\n"
            "    vldrb.u16 q1, [r0], #8\n"          /* elements, [x], #8 */
            "    vstrb.16 q1, [r2, q0]\n"           /* elements, [place, offsets] */
            "    add r2, r2, #64\n"                 /* place, place, #64 */
            "    letp lr, 2b\n"                     /* rounds_left */
            "    sub r0, r0, #4\n"                  /* x, x, #4 */
            "    add r1, r1, #1\n"                  /* y, y, #1 */
            "    subs r3, r3, #1\n"                 /* rows_left, rows_left, #1 */
            "    bne 1b\n"
            "    pop {r4, pc}\n");
    /* clang-format on */
}

/* y[p][f] = sat(round(float(sum) * factor[f]) + zero), with sum = bias[f] + sum of
 * x[p][c] * w[f][c], both floats rounded to nearest.
 * x: [p][channel], y: [p][f].
 * weights: words: how many channels, filters and pixels there are, the output's zero point. Then
 * the number that rounds and the input's zero point; of each tile of four filters those of each
 * 16 channels, then bias[4], factor[4]: float32. */
MCU_KERNEL void _mcu_mve_shared_conv1x1_any_mve(const int8_t *x MCU_UNUSED, int8_t *y MCU_UNUSED,
                                                const uint32_t *weights MCU_UNUSED) {
    /* clang-format off */
    __asm__(".syntax unified\n"
            "    push {r4-r10, lr}\n"
            /* weights!, {channels, filters, pixels, zero_point, rounding} */
            "    ldmia r2!, {r3-r7}\n"
            "    add r2, r2, #4\n"                  /* weights, weights, #4 */
            "    vmov s8, r2\n"                     /* kept_stream, weights */
            "1:\n"
            "    vmov s9, r5\n"                     /* pixels_left, pixels */
            "    vmov r10, s8\n"                    /* stream, kept_stream */
            "    mov r5, r4\n"                      /* filters_left, filters */
            "2:\n"
            "    mov r9, r0\n"                      /* taps_at, x */
            "    mov r2, #0\n"                      /* sum0, #0 */
            "    mov r6, #0\n"                      /* sum1, #0 */
            "    mov r12, #0\n"                     /* sum2, #0 */
            "    mov r8, #0\n"                      /* sum3, #0 */
            "    dlstp.8 lr, r3\n"                  /* rounds_left, channels */
            "3:\n"
            "    vldrb.u8 q0, [r9], #16\n"          /* taps, [taps_at], #16 */
            "    vldrb.u8 q1, [r10], #16\n"         /* filter, [stream], #16 */
            "    vmladava.s8 r2, q0, q1\n"          /* sum0, taps, filter */
            "    vldrb.u8 q1, [r10], #16\n"         /* filter, [stream], #16 */
            "    vmladava.s8 r6, q0, q1\n"          /* sum1, taps, filter */
            "    vldrb.u8 q1, [r10], #16\n"         /* filter, [stream], #16 */
            "    vmladava.s8 r12, q0, q1\n"         /* sum2, taps, filter */
            "    vldrb.u8 q1, [r10], #16\n"         /* filter, [stream], #16 */
            "    vmladava.s8 r8, q0, q1\n"          /* sum3, taps, filter */
            "    letp lr, 3b\n"                     /* rounds_left */
            "    vmov q0[2], q0[0], r2, r12\n"      /* words[2], words[0], sum0, sum2 */
            "    vmov q0[3], q0[1], r6, r8\n"       /* words[3], words[1], sum1, sum3 */
            "    vldrw.u32 q1, [r10], #16\n"        /* end, [stream], #16 */
            "    vadd.i32 q0, q0, q1\n"             /* words, words, end */
            "    vcvt.f32.s32 q0, q0\n"             /* words, words */
            "    vldrw.u32 q1, [r10], #16\n"        /* end, [stream], #16 */
            "    vfmas.f32 q0, q1, r7\n"            /* words, end, rounding */
            "    vctp.32 r5\n"                      /* filters_left */
            "    vqmovnb.s16 q0, q0\n"              /* words, words */
            "    subs r5, r5, #4\n"                 /* filters_left, filters_left, #4 */
            "    vpst\n"
            "    vstrbt.32 q0, [r1], #4\n"          /* words, [y], #4 */
            "    bgt 2b\n"
            /* The next pixel. The output went on by whole tiles. */
            "    add r1, r1, r5\n"                  /* y, y, filters_left */
            "    vmov r5, s9\n"                     /* pixels, pixels_left */
            "    add r0, r0, r3\n"                  /* x, x, channels */
            "    subs r5, r5, #1\n"                 /* pixels, pixels, #1 */
            "    bne 1b\n"
            "    pop {r4-r10, pc}\n");
    /* clang-format on */
}

/* y[m][c][r] = x[m][r][c]: 1 times 12 rows of 16.
 * 8 neighbours of the input at a time; in the other one they are 12 bytes apart. */
MCU_KERNEL void _mcu_mve_shared_reorder_1x12x16x1_mve(const int8_t *x MCU_UNUSED,
                                                      int8_t *y MCU_UNUSED) {
    /* clang-format off */
    __asm__(".syntax unified\n"
            "    push {r4, lr}\n"
            "    mov r4, #0\n"                      /* elements_of_row, #0 */
            "    vidup.u16 q0, r4, #1\n"            /* offsets, elements_of_row, #1 */
            "    movw r2, #12\n"                    /* bytes_apart, #12 */
            "    vmul.i16 q0, q0, r2\n"             /* offsets, offsets, bytes_apart */
            "    movw r3, #12\n"                    /* rows_left, #12 */
            "1:\n"
            "    mov r2, r1\n"                      /* place, y */
            "    movw r4, #16\n"                    /* elements_of_row, #16 */
            "    dlstp.16 lr, r4\n"                 /* rounds_left, elements_of_row */
            "2:\n"
            "    vldrb.u16 q1, [r0], #8\n"          /* elements, [x], #8 */
            "    vstrb.16 q1, [r2, q0]\n"           /* elements, [place, offsets] */
            "    add r2, r2, #96\n"                 /* place, place, #96 */
            "    letp lr, 2b\n"                     /* rounds_left */
            "    add r1, r1, #1\n"                  /* y, y, #1 */
            "    subs r3, r3, #1\n"                 /* rows_left, rows_left, #1 */
            "    bne 1b\n"
            "    pop {r4, pc}\n");
    /* clang-format on */
}

/* y[m][c][r] = x[m][r][c]: 1 times 5 rows of 10.
 * 8 neighbours of the input at a time; in the other one they are 5 bytes apart. */
MCU_KERNEL void _mcu_mve_shared_reorder_1x5x10x1_mve(const int8_t *x MCU_UNUSED,
                                                     int8_t *y MCU_UNUSED) {
    /* clang-format off */
    __asm__(".syntax unified\n"
            "    push {r4, lr}\n"
            "    mov r4, #0\n"                      /* elements_of_row, #0 */
            "    vidup.u16 q0, r4, #1\n"            /* offsets, elements_of_row, #1 */
            "    movw r2, #5\n"                     /* bytes_apart, #5 */
            "    vmul.i16 q0, q0, r2\n"             /* offsets, offsets, bytes_apart */
            "    movw r3, #5\n"                     /* rows_left, #5 */
            "1:\n"
            "    mov r2, r1\n"                      /* place, y */
            "    movw r4, #10\n"                    /* elements_of_row, #10 */
            "    dlstp.16 lr, r4\n"                 /* rounds_left, elements_of_row */
            "2:\n"
            "    vldrb.u16 q1, [r0], #8\n"          /* elements, [x], #8 */
            "    vstrb.16 q1, [r2, q0]\n"           /* elements, [place, offsets] */
            "    add r2, r2, #40\n"                 /* place, place, #40 */
            "    letp lr, 2b\n"                     /* rounds_left */
            "    sub r0, r0, #6\n"                  /* x, x, #6 */
            "    add r1, r1, #1\n"                  /* y, y, #1 */
            "    subs r3, r3, #1\n"                 /* rows_left, rows_left, #1 */
            "    bne 1b\n"
            "    pop {r4, pc}\n");
    /* clang-format on */
}

/* ---- The layers, in the order of execution ---- */

/* clang-format off */
static void _mcu_mve_shared_layers(mcu_instance_t *instance) {
    uint8_t *const ws = instance->workspace;

    /* reshape_3_bit_cast_reorder: Reorder, x1 reordered: int8[1,12,5,1] -> int8[1,12,5,1] NHWC */
    int8_t *const s1 = (int8_t *)(ws + 256);
    int8_t *const reshape_3_bit_cast_reorder = (int8_t *)(ws + 96);
    MCU_LAYER(0, _mcu_mve_shared_reorder_1x12x5x1_mve(s1, reshape_3_bit_cast_reorder));

    /* reshape_1_reorder: Reorder, x0 reordered: int8[1,8,4,3] -> int8[1,8,4,3] NHWC */
    int8_t *const s0 = (int8_t *)(ws + 160);
    int8_t *const reshape_1_reorder = (int8_t *)(ws + 0);
    MCU_LAYER(1, _mcu_mve_shared_reorder_1x8x12x1_mve(s0, reshape_1_reorder));

    /* conv_2: Conv, p1 (5 nodes): int8[1,12,5,1] NHWC -> int8[1,10,5,1] NHWC; 600 MACs */
    int8_t *const conv_2 = (int8_t *)(ws + 368);
    MCU_LAYER(2, _mcu_mve_shared_conv1x1_any_mve(reshape_3_bit_cast_reorder, conv_2,
                                                 _mcu_mve_shared_conv_2_weights));

    /* conv_1: Conv, p0 (5 nodes): int8[1,8,4,3] NHWC -> int8[1,16,4,3] NHWC; 1,536 MACs */
    int8_t *const conv_1 = (int8_t *)(ws + 176);
    MCU_LAYER(3, _mcu_mve_shared_conv1x1_any_mve(reshape_1_reorder, conv_1,
                                                 _mcu_mve_shared_conv_1_weights));

    /* conv_1_bit_cast_reorder: Reorder, p0 reordered: int8[1,16,4,3] NHWC -> int8[1,16,4,3] */
    int8_t *const conv_1_bit_cast_reorder = (int8_t *)(ws + 0);
    MCU_LAYER(4, _mcu_mve_shared_reorder_1x12x16x1_mve(conv_1, conv_1_bit_cast_reorder));

    /* conv_2_bit_cast_reorder: Reorder, p1 reordered: int8[1,10,5,1] NHWC -> int8[1,10,5,1] */
    int8_t *const conv_2_bit_cast_reorder = (int8_t *)(ws + 192);
    MCU_LAYER(5, _mcu_mve_shared_reorder_1x5x10x1_mve(conv_2, conv_2_bit_cast_reorder));
}

/* clang-format on */

