/* ---- Kernels ---- */

/* Those in assembly are one string each, some longer than C99 wants compilers to take. */
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Woverlength-strings"
#endif

/* y[r][k] = sat((sum * scale >> 32) + addend >> shift), with sum = start[k] + sum of x[r] *
 * w[k].
 * weights: bytes of a row, to a whole block; of code that the first blocks skip; count of
 * outputs. Then of each four outputs a, b, c and d: start[a]; 256 start[b] + start[a]; start[c];
 * 256 start[d] + start[c]; of each eight taps, two a word, in halves 256 w[b] + w[a], four
 * words, 256 w[d] + w[c], four words, taps in the order 0 2 1 3 4 6 5 7; scale[a], addend[a],
 * scale[b], addend[b], scale[c], addend[c], scale[d], addend[d]. If scale[a] is 0, their
 * factors, float32, those of b and d 256 times too small, stand behind it instead.
 * scratch: what its outputs need. */
MCU_KERNEL void _mcu_dsp_dense_dense_direct_dsp(const int8_t *x MCU_UNUSED, int8_t *y MCU_UNUSED,
                                                const uint32_t *weights MCU_UNUSED,
                                                uint8_t *scratch MCU_UNUSED) {
    /* clang-format off */
    __asm__(".syntax unified\n"
            "    push {r4-r11, lr}\n"
            "    vmov s0, r0\n"                     /* row_x, x */
            "    vmov s8, r0\n"                     /* row_begin, x */
            "    vmov s9, r3\n"                     /* state, scratch */
            "    mov r9, r2\n"                      /* stream, weights */
            "    ldmia r9!, {r2-r4}\n"              /* stream!, {row_bytes, skipped, outputs} */
            "    add r0, r0, r2\n"                  /* row_end, x, row_bytes */
            "    vmov s10, r0\n"                    /* end_of_row, row_end */
            "    mov r0, r1\n"                      /* out, y */
            "    add r1, r1, r4\n"                  /* out_end, y, outputs */
            "    adr.w r2, 1f\n"                    /* entry */
            "    add r2, r2, r3\n"                  /* entry, entry, skipped */
            "    orr r2, r2, #1\n"                  /* entry, entry, #1 */
            "    vmov s0, r9\n"                     /* stream_begin, stream */
            "    vmov r3, s9\n"                     /* state_begin, state */
            "    stmia r3, {r0-r2}\n"               /* state_begin, {out, out_end, entry} */
            "    vmov r9, s0\n"                     /* stream, stream_begin */
            "    vmov r10, s8\n"                    /* taps, row_begin */
            "    ldmia r9!, {r4, r6, r12, lr}\n"    /* stream!, {even0, odd0, even1, odd1} */
            "    bx r2\n"                           /* entry */
            "_mcu_dsp_dense_dense_direct_dsp.to1:\n"
            "1:\n"
            /* Four outputs, eight taps at a time. A word of weights has 256 odd + even, */
            /* twice; by SXTB16 it has the even ones. */
            "2:\n"
            "    ldmia.w r10!, {r2, r5}\n"          /* taps!, {x02, x46} */
            "    sxtb16 r8, r2, ror #8\n"           /* x13, x02, ror #8 */
            "    sxtb16 r2, r2\n"                   /* x02, x02 */
            "    sxtb16 r11, r5, ror #8\n"          /* x57, x46, ror #8 */
            "    sxtb16 r5, r5\n"                   /* x46, x46 */
            "    ldmia.w r9!, {r0, r1, r3, r7}\n"   /* stream!, {w02, w13, w46, w57} */
            "    smlad r6, r0, r2, r6\n"            /* odd0, w02, x02, odd0 */
            "    smlad r6, r1, r8, r6\n"            /* odd0, w13, x13, odd0 */
            "    smlad r6, r3, r5, r6\n"            /* odd0, w46, x46, odd0 */
            "    smlad r6, r7, r11, r6\n"           /* odd0, w57, x57, odd0 */
            "    sxtb16 r0, r0\n"                   /* w02, w02 */
            "    sxtb16 r1, r1\n"                   /* w13, w13 */
            "    sxtb16 r3, r3\n"                   /* w46, w46 */
            "    sxtb16 r7, r7\n"                   /* w57, w57 */
            "    smlad r4, r0, r2, r4\n"            /* even0, w02, x02, even0 */
            "    smlad r4, r1, r8, r4\n"            /* even0, w13, x13, even0 */
            "    smlad r4, r3, r5, r4\n"            /* even0, w46, x46, even0 */
            "    smlad r4, r7, r11, r4\n"           /* even0, w57, x57, even0 */
            "    ldmia.w r9!, {r0, r1, r3, r7}\n"   /* stream!, {w02, w13, w46, w57} */
            "    smlad lr, r0, r2, lr\n"            /* odd1, w02, x02, odd1 */
            "    smlad lr, r1, r8, lr\n"            /* odd1, w13, x13, odd1 */
            "    smlad lr, r3, r5, lr\n"            /* odd1, w46, x46, odd1 */
            "    smlad lr, r7, r11, lr\n"           /* odd1, w57, x57, odd1 */
            "    sxtb16 r0, r0\n"                   /* w02, w02 */
            "    sxtb16 r1, r1\n"                   /* w13, w13 */
            "    sxtb16 r3, r3\n"                   /* w46, w46 */
            "    sxtb16 r7, r7\n"                   /* w57, w57 */
            "    smlad r12, r0, r2, r12\n"          /* even1, w02, x02, even1 */
            "    smlad r12, r1, r8, r12\n"          /* even1, w13, x13, even1 */
            "    smlad r12, r3, r5, r12\n"          /* even1, w46, x46, even1 */
            "    smlad r12, r7, r11, r12\n"         /* even1, w57, x57, even1 */
            "    vmov r0, s10\n"                    /* limit, end_of_row */
            "    cmp r10, r0\n"                     /* taps, limit */
            "    bne 2b\n"
            "    sub r6, r6, r4\n"                  /* odd0, odd0, even0 */
            "    sub lr, lr, r12\n"                 /* odd1, odd1, even1 */
            /* To elements of the output. */
            "    vmov r10, s9\n"                    /* taps, state */
            /* stream!, {scale0, addend0, scale1, addend1, scale2, addend2, scale3, addend3} */
            "    ldmia r9!, {r0-r3, r5, r7, r8, r11}\n"
            "    cbz r0, 4f\n"                      /* scale0 */
            "    smmla r4, r4, r0, r1\n"            /* even0, even0, scale0, addend0 */
            "    smmla r6, r6, r2, r3\n"            /* odd0, odd0, scale1, addend1 */
            "    smmla r12, r12, r5, r7\n"          /* even1, even1, scale2, addend2 */
            "    smmla lr, lr, r8, r11\n"           /* odd1, odd1, scale3, addend3 */
            "    ssat r4, #8, r4, asr #4\n"         /* even0, #8, even0, asr #4 */
            "    ssat r6, #8, r6, asr #12\n"        /* odd0, #8, odd0, asr #12 */
            "    ssat r12, #8, r12, asr #4\n"       /* even1, #8, even1, asr #4 */
            "    ssat lr, #8, lr, asr #12\n"        /* odd1, #8, odd1, asr #12 */
            "3:\n"
            "    ldmia r10, {r0-r2}\n"              /* taps, {out, out_end, entry} */
            "    strb r4, [r0], #4\n"               /* even0, [out], #4 */
            "    cmp r0, r1\n"                      /* out, out_end */
            "    strb r6, [r0, #-3]\n"              /* odd0, [out, #-3] */
            "    strb r12, [r0, #-2]\n"             /* even1, [out, #-2] */
            "    strb lr, [r0, #-1]\n"              /* odd1, [out, #-1] */
            "    str r0, [r10]\n"                   /* out, [taps] */
            "    beq 5f\n"
            "    vmov r10, s8\n"                    /* taps, row_begin */
            "    ldmia r9!, {r4, r6, r12, lr}\n"    /* stream!, {even0, odd0, even1, odd1} */
            "    bx r2\n"                           /* entry */
            "4:\n"
            /* No integers round these outputs at once. */
            "    vmov d0, r4, r6\n"                 /* pair0, even0, odd0 */
            "    vmov d1, r12, lr\n"                /* pair1, even1, odd1 */
            "    vmov d2, r1, r2\n"                 /* pair2, addend0, scale1 */
            "    vmov d3, r3, r5\n"                 /* pair3, addend1, scale2 */
            "    vcvt.f32.s32 s0, s0\n"             /* pair0.low, pair0.low */
            "    vcvt.f32.s32 s1, s1\n"             /* pair0.high, pair0.high */
            "    vcvt.f32.s32 s2, s2\n"             /* pair1.low, pair1.low */
            "    vcvt.f32.s32 s3, s3\n"             /* pair1.high, pair1.high */
            "    vmul.f32 s0, s0, s4\n"             /* pair0.low, pair0.low, pair2.low */
            "    vmul.f32 s1, s1, s5\n"             /* pair0.high, pair0.high, pair2.high */
            "    vmul.f32 s2, s2, s6\n"             /* pair1.low, pair1.low, pair3.low */
            "    vmul.f32 s3, s3, s7\n"             /* pair1.high, pair1.high, pair3.high */
            "    vcvtr.s32.f32 s0, s0\n"            /* pair0.low, pair0.low */
            "    vcvtr.s32.f32 s1, s1\n"            /* pair0.high, pair0.high */
            "    vcvtr.s32.f32 s2, s2\n"            /* pair1.low, pair1.low */
            "    vcvtr.s32.f32 s3, s3\n"            /* pair1.high, pair1.high */
            "    vmov r4, r6, d0\n"                 /* even0, odd0, pair0 */
            "    vmov r12, lr, d1\n"                /* even1, odd1, pair1 */
            "    sub r4, r4, #5\n"                  /* even0, even0, #5 */
            "    ssat r4, #8, r4\n"                 /* even0, #8, even0 */
            "    sub r6, r6, #5\n"                  /* odd0, odd0, #5 */
            "    ssat r6, #8, r6\n"                 /* odd0, #8, odd0 */
            "    sub r12, r12, #5\n"                /* even1, even1, #5 */
            "    ssat r12, #8, r12\n"               /* even1, #8, even1 */
            "    sub lr, lr, #5\n"                  /* odd1, odd1, #5 */
            "    ssat lr, #8, lr\n"                 /* odd1, #8, odd1 */
            "    b 3b\n"
            "5:\n"
            "    pop {r4-r11, pc}\n");
    /* clang-format on */
}

/* ---- The layers, in the order of execution ---- */

/* clang-format off */
static void _mcu_dsp_dense_layers(mcu_instance_t *instance) {
    uint8_t *const ws = instance->workspace;

    /* dense_1: Gemm, gemm_5_11 (5 nodes): int8[1,64] -> int8[1,12]; 768 MACs */
    int8_t *const int8 = (int8_t *)(ws + 0);
    int8_t *const dense_1 = (int8_t *)(ws + 64);
    uint8_t *const dense_1_scratch = (uint8_t *)(ws + 80);
    MCU_LAYER(0, _mcu_dsp_dense_dense_direct_dsp(int8, dense_1, _mcu_dsp_dense_dense_1_weights,
                                                 dense_1_scratch));
}

/* clang-format on */

