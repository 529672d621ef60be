/* ---- Kernels ---- */

/* Those in assembly are one string each, some longer than C99 wants compilers to take. */
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Woverlength-strings"
#endif

/* y[f] = sat(round(float(sum) * factor[f]) + zero), with sum = bias[f] + sum of
 * x[k] * w[f][k], both floats rounded to nearest.
 * weights: four words: how many bytes a row has, how many parts follow, how many times a part
 * has two tiles, and how many times 16 filters. A part: of each two tiles of four filters
 * bias[8], then of each 16 bytes of a row those of the eight filters; of each 16 filters tile t
 * has t, 4 + t, 8 + t, 12 + t; the last 4 filters four by four in their order; behind these the
 * factor and the number that rounds.
 * scratch: the sums of a part. */
MCU_KERNEL void _mcu_mve_dense_dense_mve(const int8_t *x MCU_UNUSED, int8_t *y MCU_UNUSED,
                                         const uint32_t *weights MCU_UNUSED,
                                         uint8_t *scratch MCU_UNUSED) {
    /* clang-format off */
    __asm__(".syntax unified\n"
            "    push {r4-r8, r10, lr}\n"
            "    vpush {d8-d15}\n"
            "    vmov s28, r1\n"                    /* kept_y, y */
            "    mov r1, r2\n"                      /* stream, weights */
            "    mov r5, r0\n"                      /* row, x */
            "    ldr r0, [r1], #4\n"                /* row_bytes, [stream], #4 */
            "    vmov s29, r3\n"                    /* kept_sums, scratch */
            "    ldr r0, [r1], #4\n"                /* parts, [stream], #4 */
            "    mov r0, #8\n"                      /* bytes_left, #8 */
            "    ldr r7, [r1], #4\n"                /* pairs_left, [stream], #4 */
            "    vctp.8 r0\n"                       /* bytes_left */
            "    ldr r2, [r1], #4\n"                /* groups, [stream], #4 */
            /* Eight filters. */
            "    vmov r3, s29\n"                    /* sums, kept_sums */
            "    vmov s30, r2\n"                    /* kept_groups, groups */
            "1:\n"
            /* stream!, {sum0, sum1, sum2, sum3, sum4, sum5, sum6, sum7} */
            "    ldmia r1!, {r0, r2, r4, r6, r8, r10, r12, lr}\n"
            "    vldrb.u8 q0, [r5], #16\n"          /* x, [row], #16 */
            "    subs r7, r7, #1\n"                 /* pairs_left, pairs_left, #1 */
            "    vldrw.u32 q1, [r1], #16\n"         /* weights, [stream], #16 */
            "    vmladava.s8 r0, q0, q1\n"          /* sum0, x, weights */
            "    vldrw.u32 q2, [r1], #16\n"         /* weights, [stream], #16 */
            "    vmladava.s8 r2, q0, q2\n"          /* sum1, x, weights */
            "    vldrw.u32 q3, [r1], #16\n"         /* weights, [stream], #16 */
            "    vmladava.s8 r4, q0, q3\n"          /* sum2, x, weights */
            "    vldrw.u32 q4, [r1], #16\n"         /* weights, [stream], #16 */
            "    vmladava.s8 r6, q0, q4\n"          /* sum3, x, weights */
            "    vldrw.u32 q5, [r1], #16\n"         /* weights, [stream], #16 */
            "    vmladava.s8 r8, q0, q5\n"          /* sum4, x, weights */
            "    vldrw.u32 q6, [r1], #16\n"         /* weights, [stream], #16 */
            "    vmladava.s8 r10, q0, q6\n"         /* sum5, x, weights */
            "    vldrw.u32 q1, [r1], #16\n"         /* weights, [stream], #16 */
            "    vmladava.s8 r12, q0, q1\n"         /* sum6, x, weights */
            "    vldrw.u32 q2, [r1], #16\n"         /* weights, [stream], #16 */
            "    vmladava.s8 lr, q0, q2\n"          /* sum7, x, weights */
            "    vldrb.u8 q4, [r1], #8\n"           /* weights, [stream], #8 */
            "    vpst\n"
            "    vldrbt.u8 q3, [r5], #16\n"         /* x, [row], #16 */
            "    vmladava.s8 r0, q3, q4\n"          /* sum0, x, weights */
            "    vldrb.u8 q5, [r1], #8\n"           /* weights, [stream], #8 */
            "    vmladava.s8 r2, q3, q5\n"          /* sum1, x, weights */
            "    vldrb.u8 q6, [r1], #8\n"           /* weights, [stream], #8 */
            "    vmladava.s8 r4, q3, q6\n"          /* sum2, x, weights */
            "    vldrb.u8 q0, [r1], #8\n"           /* weights, [stream], #8 */
            "    vmladava.s8 r6, q3, q0\n"          /* sum3, x, weights */
            "    vldrb.u8 q1, [r1], #8\n"           /* weights, [stream], #8 */
            "    vmladava.s8 r8, q3, q1\n"          /* sum4, x, weights */
            "    vldrb.u8 q2, [r1], #8\n"           /* weights, [stream], #8 */
            "    vmladava.s8 r10, q3, q2\n"         /* sum5, x, weights */
            "    vldrb.u8 q4, [r1], #8\n"           /* weights, [stream], #8 */
            "    vmladava.s8 r12, q3, q4\n"         /* sum6, x, weights */
            "    vldrb.u8 q5, [r1], #8\n"           /* weights, [stream], #8 */
            "    vmladava.s8 lr, q3, q5\n"          /* sum7, x, weights */
            "    sub r5, r5, #32\n"                 /* row, row, #32 */
            /* sums!, {sum0, sum1, sum2, sum3, sum4, sum5, sum6, sum7} */
            "    stmia r3!, {r0, r2, r4, r6, r8, r10, r12, lr}\n"
            "    bne 1b\n"
            "    vmov r0, s28\n"                    /* output, kept_y */
            "    vmov r3, s29\n"                    /* sums, kept_sums */
            "    vmov r2, s30\n"                    /* groups, kept_groups */
            /* To elements of the output: scaled, rounded, saturated. */
            "    ldrd r4, r5, [r1], #8\n"           /* factor, rounding, [stream], #8 */
            "    movw r1, #3\n"                     /* zero_point, #3 */
            "    dls lr, r2\n"                      /* rounds_left, groups */
            "2:\n"
            "    vldrw.u32 q0, [r3]\n"              /* even, [sums] */
            "    vcvt.f32.s32 q0, q0\n"             /* even, even */
            "    vldrw.u32 q4, [r3, #32]\n"         /* other_even, [sums, #32] */
            "    vmul.f32 q0, q0, r4\n"             /* even, even, factor */
            "    vldrw.u32 q2, [r3, #16]\n"         /* odd, [sums, #16] */
            "    vadd.f32 q0, q0, r5\n"             /* even, even, rounding */
            "    vldrw.u32 q5, [r3, #48]\n"         /* other_odd, [sums, #48] */
            "    vcvt.f32.s32 q4, q4\n"             /* other_even, other_even */
            "    add r3, r3, #64\n"                 /* sums, sums, #64 */
            "    vmul.f32 q4, q4, r4\n"             /* other_even, other_even, factor */
            "    vadd.f32 q4, q4, r5\n"             /* other_even, other_even, rounding */
            "    vcvt.f32.s32 q2, q2\n"             /* odd, odd */
            "    vmovnt.i32 q0, q4\n"               /* even, other_even */
            "    vcvt.f32.s32 q5, q5\n"             /* other_odd, other_odd */
            "    vadd.i16 q0, q0, r1\n"             /* even, even, zero_point */
            "    vmul.f32 q2, q2, r4\n"             /* odd, odd, factor */
            "    vqmovnb.s16 q0, q0\n"              /* even, even */
            "    vmul.f32 q5, q5, r4\n"             /* other_odd, other_odd, factor */
            "    vadd.f32 q2, q2, r5\n"             /* odd, odd, rounding */
            "    vadd.f32 q5, q5, r5\n"             /* other_odd, other_odd, rounding */
            "    vmovnt.i32 q2, q5\n"               /* odd, other_odd */
            "    vadd.i16 q2, q2, r1\n"             /* odd, odd, zero_point */
            "    vqmovnt.s16 q0, q2\n"              /* even, odd */
            "    vstrb.8 q0, [r0], #16\n"           /* even, [output], #16 */
            "    le lr, 2b\n"                       /* rounds_left */
            "    vldrw.u32 q4, [r3]\n"              /* other_even, [sums] */
            "    vcvt.f32.s32 q4, q4\n"             /* other_even, other_even */
            "    add r3, r3, #16\n"                 /* sums, sums, #16 */
            "    vmul.f32 q4, q4, r4\n"             /* other_even, other_even, factor */
            "    vadd.f32 q4, q4, r5\n"             /* other_even, other_even, rounding */
            "    vadd.i16 q4, q4, r1\n"             /* other_even, other_even, zero_point */
            "    vqmovnb.s16 q4, q4\n"              /* other_even, other_even */
            "    vstrb.32 q4, [r0], #4\n"           /* other_even, [output], #4 */
            "    vpop {d8-d15}\n"
            "    pop {r4-r8, r10, pc}\n");
    /* clang-format on */
}

/* ---- The layers, in the order of execution ---- */

/* clang-format off */
static void _mcu_mve_dense_layers(mcu_instance_t *instance) {
    uint8_t *const ws = instance->workspace;

    /* dense_1: Gemm, gemm_5_11 (5 nodes): int8[1,24] -> int8[1,20]; 480 MACs */
    int8_t *const int8 = (int8_t *)(ws + 0);
    int8_t *const dense_1 = (int8_t *)(ws + 0);
    uint8_t *const dense_1_scratch = (uint8_t *)(ws + 32);
    MCU_LAYER(0, _mcu_mve_dense_dense_mve(int8, dense_1, _mcu_mve_dense_dense_1_weights,
                                          dense_1_scratch));
}

/* clang-format on */

