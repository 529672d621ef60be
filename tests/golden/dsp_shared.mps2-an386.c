/* ---- Kernels ---- */

/* Those in assembly are one string each, some longer than C99 wants compilers to take. */
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Woverlength-strings"
#endif

MCU_FUNCTION void _mcu_dsp_shared_reorder_12x8_int8(const int8_t *x, int8_t *y) {
    for (int32_t i0 = 0; i0 < 12; i0++) {
        for (int32_t i1 = 0; i1 < 8; i1++) {
            *y++ = x[i0 + i1 * 12];
        }
    }
}

/* y[p][f] = sat(round(factor[f] * (bias[f] + sum of w[f][t] x[p][t])) + zero), of pixels p,
 * filters f and taps t. Each f and the next one, g, share a stream of words:
 * bias[f]; 256 bias[g] + bias[f]; for two taps one, in halves 256 w[g] + w[f].
 * factor[f] and factor[g] / 256, float32.
 * x: [p][channel], y: [p][f]; t are channels, of each four in the order 0 2 1 3. In front of the
 * stream are words of the layer: the bytes of a tile's taps, filters, `second`, `third`, tiles,
 * bytes that the last tile goes back, channels, and how far in front of the loop's end its first
 * round begins.
 * scratch: the taps of a tile; words: `next` and `end` of the output, how far `second` and
 * `third` pixels are behind, x, the stream, tiles, bytes back, channels, filters; bytes for
 * outputs of no pixel. In place: a tile is read before it is written.
 * The layer's words go behind the taps of a tile. */
MCU_KERNEL void _mcu_dsp_shared_conv1x1_any_small_real_dsp(const int8_t *x MCU_UNUSED,
                                                           int8_t *y MCU_UNUSED,
                                                           const uint32_t *weights MCU_UNUSED,
                                                           uint8_t *scratch MCU_UNUSED) {
    /* clang-format off */
    __asm__(".syntax unified\n"
            "    push {r4-r10, lr}\n"
            /* weights!, {size, filters, second, third, tiles, back, channels, behind} */
            "    ldmia r2!, {r4-r9, r12, lr}\n"
            "    add r4, r3, r4\n"                  /* taps, scratch, size */
            "    vmov s4, r3\n"                     /* first_taps, scratch */
            "    add r3, r1, r5\n"                  /* end, y, filters */
            "    strd r1, r3, [r4]\n"               /* y, end, [taps] */
            "    strd r6, r7, [r4, #8]\n"           /* second, third, [taps, #8] */
            "    strd r8, r9, [r4, #24]\n"          /* tiles, back, [taps, #24] */
            "    str r0, [r4, #16]\n"               /* x, [taps, #16] */
            "    str r2, [r4, #20]\n"               /* weights, [taps, #20] */
            "    strd r12, r5, [r4, #32]\n"         /* channels, filters, [taps, #32] */
            "    vmov s5, r4\n"                     /* taps_end, taps */
            /* Three pixels, widened to int16: two channels a word, of all three in turn; of each */
            /* four channels 0 and 2, 1 and 3. */
            "1:\n"
            "    ldr r5, [r4, #16]\n"               /* pixel0, [taps, #16] */
            "    ldr r1, [r4, #32]\n"               /* channels, [taps, #32] */
            "    add r6, r5, r1\n"                  /* pixel1, pixel0, channels */
            "    add r7, r6, r1\n"                  /* pixel2, pixel1, channels */
            "    mov r12, r6\n"                     /* pixel0_end, pixel1 */
            "    vmov lr, s4\n"                     /* into, first_taps */
            "2:\n"
            "    ldr r0, [r5], #4\n"                /* a0, [pixel0], #4 */
            "    ldr r1, [r6], #4\n"                /* a1, [pixel1], #4 */
            "    ldr r2, [r7], #4\n"                /* a2, [pixel2], #4 */
            "    sxtb16 r3, r0, ror #8\n"           /* b0, a0, ror #8 */
            "    sxtb16 r4, r1, ror #8\n"           /* b1, a1, ror #8 */
            "    sxtb16 r8, r2, ror #8\n"           /* b2, a2, ror #8 */
            "    sxtb16 r0, r0\n"                   /* a0, a0 */
            "    sxtb16 r1, r1\n"                   /* a1, a1 */
            "    sxtb16 r2, r2\n"                   /* a2, a2 */
            "    stmia lr!, {r0-r4, r8}\n"          /* into!, {a0, a1, a2, b0, b1, b2} */
            "    cmp r5, r12\n"                     /* pixel0, pixel0_end */
            "    bne 2b\n"
            "    mov r4, lr\n"                      /* taps, into */
            "    ldr r5, [r4, #20]\n"               /* stream, [taps, #20] */
            /* Two filters, an even and an odd one, for three outputs. */
            /* Of a word of weights SXTB16 leaves the even filter's. */
            "3:\n"
            "    vmov r4, s4\n"                     /* taps, first_taps */
            "    ldmia r5!, {r2, r6}\n"             /* stream!, {even2, odd2} */
            "    mov r7, r2\n"                      /* even0, even2 */
            "    mov r12, r2\n"                     /* even1, even2 */
            "    mov lr, r6\n"                      /* odd0, odd2 */
            "    mov r8, r6\n"                      /* odd1, odd2 */
            "4:\n"
            "    ldmia.w r5!, {r1, r9}\n"           /* stream!, {weights0, weights1} */
            "    ldmia.w r4!, {r0, r3, r10}\n"      /* taps!, {x0, x1, x2} */
            "    smlad lr, r1, r0, lr\n"            /* odd0, weights0, x0, odd0 */
            "    smlad r8, r1, r3, r8\n"            /* odd1, weights0, x1, odd1 */
            "    smlad r6, r1, r10, r6\n"           /* odd2, weights0, x2, odd2 */
            "    sxtb16 r1, r1\n"                   /* weights0, weights0 */
            "    smlad r7, r1, r0, r7\n"            /* even0, weights0, x0, even0 */
            "    smlad r12, r1, r3, r12\n"          /* even1, weights0, x1, even1 */
            "    smlad r2, r1, r10, r2\n"           /* even2, weights0, x2, even2 */
            "    ldmia.w r4!, {r0, r3, r10}\n"      /* taps!, {x0, x1, x2} */
            "    smlad lr, r9, r0, lr\n"            /* odd0, weights1, x0, odd0 */
            "    smlad r8, r9, r3, r8\n"            /* odd1, weights1, x1, odd1 */
            "    smlad r6, r9, r10, r6\n"           /* odd2, weights1, x2, odd2 */
            "    sxtb16 r9, r9\n"                   /* weights1, weights1 */
            "    smlad r7, r9, r0, r7\n"            /* even0, weights1, x0, even0 */
            "    smlad r12, r9, r3, r12\n"          /* even1, weights1, x1, even1 */
            "    smlad r2, r9, r10, r2\n"           /* even2, weights1, x2, even2 */
            "    vmov r0, s5\n"                     /* until, taps_end */
            "    cmp r4, r0\n"                      /* taps, until */
            "    bne 4b\n"
            /* To elements of the output: scaled, shifted, saturated. */
            "    sub lr, lr, r7\n"                  /* odd0, odd0, even0 */
            "    sub r8, r8, r12\n"                 /* odd1, odd1, even1 */
            "    sub r6, r6, r2\n"                  /* odd2, odd2, even2 */
            "    ldmia r5!, {r0, r1}\n"             /* stream!, {even_scale, odd_scale} */
            "    mvn r3, #4\n"                      /* odd_addend, #4 */
            "    vmov d0, r7, r12\n"                /* pair, even0, even1 */
            "    vmov d1, r2, r0\n"                 /* last, even2, even_scale */
            "    vcvt.f32.s32 s0, s0\n"             /* pair.low, pair.low */
            "    vcvt.f32.s32 s1, s1\n"             /* pair.high, pair.high */
            "    vcvt.f32.s32 s2, s2\n"             /* last.low, last.low */
            "    vmul.f32 s0, s0, s3\n"             /* pair.low, pair.low, last.high */
            "    vmul.f32 s1, s1, s3\n"             /* pair.high, pair.high, last.high */
            "    vmul.f32 s2, s2, s3\n"             /* last.low, last.low, last.high */
            "    vcvtr.s32.f32 s0, s0\n"            /* pair.low, pair.low */
            "    vcvtr.s32.f32 s1, s1\n"            /* pair.high, pair.high */
            "    vcvtr.s32.f32 s2, s2\n"            /* last.low, last.low */
            "    vmov r7, r12, d0\n"                /* even0, even1, pair */
            "    vmov r2, s2\n"                     /* even2, last.low */
            "    vmov d0, lr, r8\n"                 /* pair, odd0, odd1 */
            "    vmov d1, r6, r1\n"                 /* last, odd2, odd_scale */
            "    vcvt.f32.s32 s0, s0\n"             /* pair.low, pair.low */
            "    vcvt.f32.s32 s1, s1\n"             /* pair.high, pair.high */
            "    vcvt.f32.s32 s2, s2\n"             /* last.low, last.low */
            "    vmul.f32 s0, s0, s3\n"             /* pair.low, pair.low, last.high */
            "    vmul.f32 s1, s1, s3\n"             /* pair.high, pair.high, last.high */
            "    vmul.f32 s2, s2, s3\n"             /* last.low, last.low, last.high */
            "    vcvtr.s32.f32 s0, s0\n"            /* pair.low, pair.low */
            "    vcvtr.s32.f32 s1, s1\n"            /* pair.high, pair.high */
            "    vcvtr.s32.f32 s2, s2\n"            /* last.low, last.low */
            "    vmov lr, r8, d0\n"                 /* odd0, odd1, pair */
            "    vmov r6, s2\n"                     /* odd2, last.low */
            "    qadd r7, r7, r3\n"                 /* even0, even0, odd_addend */
            "    ssat r7, #8, r7\n"                 /* even0, #8, even0 */
            "    qadd r12, r12, r3\n"               /* even1, even1, odd_addend */
            "    ssat r12, #8, r12\n"               /* even1, #8, even1 */
            "    qadd r2, r2, r3\n"                 /* even2, even2, odd_addend */
            "    ssat r2, #8, r2\n"                 /* even2, #8, even2 */
            "    qadd lr, lr, r3\n"                 /* odd0, odd0, odd_addend */
            "    ssat lr, #8, lr\n"                 /* odd0, #8, odd0 */
            "    qadd r8, r8, r3\n"                 /* odd1, odd1, odd_addend */
            "    ssat r8, #8, r8\n"                 /* odd1, #8, odd1 */
            "    qadd r6, r6, r3\n"                 /* odd2, odd2, odd_addend */
            "    ssat r6, #8, r6\n"                 /* odd2, #8, odd2 */
            "    ldmia r4, {r0, r1, r3, r9}\n"      /* taps, {out, end, second, third} */
            /* Stored: of each pixel both filters at once. */
            "    bfi r7, lr, #8, #8\n"              /* even0, odd0, #8, #8 */
            "    bfi r12, r8, #8, #8\n"             /* even1, odd1, #8, #8 */
            "    bfi r2, r6, #8, #8\n"              /* even2, odd2, #8, #8 */
            "    strh r7, [r0], #2\n"               /* even0, [out], #2 */
            "    strh r12, [r0, r3]\n"              /* even1, [out, second] */
            "    strh r2, [r0, r9]\n"               /* even2, [out, third] */
            "    str r0, [r4]\n"                    /* out, [taps] */
            "    cmp r0, r1\n"                      /* out, end */
            "    bne 3b\n"
            /* The next three pixels. */
            "    ldrd r5, r0, [r4, #24]\n"          /* tiles, back, [taps, #24] */
            "    ldr r2, [r4]\n"                    /* out, [taps] */
            "    ldr r3, [r4, #16]\n"               /* source, [taps, #16] */
            "    ldrd r1, r6, [r4, #32]\n"          /* channels, filters, [taps, #32] */
            "    subs r5, r5, #1\n"                 /* tiles, tiles, #1 */
            "    str r5, [r4, #24]\n"               /* tiles, [taps, #24] */
            "    beq 7f\n"
            "    add r1, r1, r1, lsl #1\n"          /* channels, channels, channels, lsl #1 */
            "    add r3, r3, r1\n"                  /* source, source, channels */
            "    add r2, r2, r6, lsl #1\n"          /* out, out, filters, lsl #1 */
            "    cmp r5, #1\n"                      /* tiles, #1 */
            "    bne 6f\n"
            "    cbz r0, 6f\n"                      /* back */
            "    sub r3, r3, r0\n"                  /* source, source, back */
            "    add r5, r4, #40\n"                 /* nowhere, taps, #40 */
            "    sub r1, r2, r5\n"                  /* third, out, nowhere */
            "    sub r1, r1, #2\n"                  /* third, third, #2 */
            "    mov r2, r5\n"                      /* out, nowhere */
            "    ldr r5, [r4, #32]\n"               /* second, [taps, #32] */
            "    cmp r0, r5\n"                      /* back, second */
            "    mvn r5, #1\n"                      /* second, #1 */
            "    bne 5f\n"
            "    mov r5, r1\n"                      /* second, third */
            "    add r1, r1, r6\n"                  /* third, third, filters */
            "5:\n"
            "    strd r5, r1, [r4, #8]\n"           /* second, third, [taps, #8] */
            "6:\n"
            "    add r0, r2, r6\n"                  /* end, out, filters */
            "    strd r2, r0, [r4]\n"               /* out, end, [taps] */
            "    str r3, [r4, #16]\n"               /* source, [taps, #16] */
            "    b 1b\n"
            "7:\n"
            "    pop {r4-r10, pc}\n");
    /* clang-format on */
}

MCU_FUNCTION void _mcu_dsp_shared_reorder_12x16_int8(const int8_t *x, int8_t *y) {
    for (int32_t i0 = 0; i0 < 12; i0++) {
        for (int32_t i1 = 0; i1 < 16; i1++) {
            *y++ = x[i0 + i1 * 12];
        }
    }
}

MCU_FUNCTION void _mcu_dsp_shared_reorder_8x12_int8(const int8_t *x, int8_t *y) {
    for (int32_t i0 = 0; i0 < 8; i0++) {
        for (int32_t i1 = 0; i1 < 12; i1++) {
            *y++ = x[i0 + i1 * 8];
        }
    }
}

MCU_FUNCTION void _mcu_dsp_shared_reorder_12x12_int8(const int8_t *x, int8_t *y) {
    for (int32_t i0 = 0; i0 < 12; i0++) {
        for (int32_t i1 = 0; i1 < 12; i1++) {
            *y++ = x[i0 + i1 * 12];
        }
    }
}

/* ---- The layers, in the order of execution ---- */

/* clang-format off */
static void _mcu_dsp_shared_layers(mcu_instance_t *instance) {
    uint8_t *const ws = instance->workspace;

    /* reshape_1_reorder: Reorder, x0 reordered: int8[1,8,4,3] -> int8[1,8,4,3] NHWC */
    int8_t *const s0 = (int8_t *)(ws + 96);
    int8_t *const reshape_1_reorder = (int8_t *)(ws + 384);
    MCU_LAYER(0, _mcu_dsp_shared_reorder_12x8_int8(s0, reshape_1_reorder));

    /* conv_1: Conv, p0 (5 nodes): int8[1,8,4,3] NHWC -> int8[1,8,4,3] NHWC; 768 MACs */
    int8_t *const conv_1 = (int8_t *)(ws + 384);
    uint8_t *const conv_1_scratch = (uint8_t *)(ws + 0);
    MCU_LAYER(1, _mcu_dsp_shared_conv1x1_any_small_real_dsp(
        reshape_1_reorder, conv_1, _mcu_dsp_shared_conv_1_weights, conv_1_scratch));

    /* reshape_3_reorder: Reorder, x1 reordered: int8[1,16,4,3] -> int8[1,16,4,3] NHWC */
    int8_t *const s1 = (int8_t *)(ws + 192);
    int8_t *const reshape_3_reorder = (int8_t *)(ws + 0);
    MCU_LAYER(2, _mcu_dsp_shared_reorder_12x16_int8(s1, reshape_3_reorder));

    /* conv_2: Conv, p1 (5 nodes): int8[1,16,4,3] NHWC -> int8[1,12,4,3] NHWC; 2,304 MACs */
    int8_t *const conv_2 = (int8_t *)(ws + 0);
    uint8_t *const conv_2_scratch = (uint8_t *)(ws + 192);
    MCU_LAYER(3, _mcu_dsp_shared_conv1x1_any_small_real_dsp(
        reshape_3_reorder, conv_2, _mcu_dsp_shared_conv_2_weights, conv_2_scratch));

    /* conv_1_bit_cast_reorder: Reorder, p0 reordered: int8[1,8,4,3] NHWC -> int8[1,8,4,3] */
    int8_t *const conv_1_bit_cast_reorder = (int8_t *)(ws + 144);
    MCU_LAYER(4, _mcu_dsp_shared_reorder_8x12_int8(conv_1, conv_1_bit_cast_reorder));

    /* conv_2_bit_cast_reorder: Reorder, p1 reordered: int8[1,12,4,3] NHWC -> int8[1,12,4,3] */
    int8_t *const conv_2_bit_cast_reorder = (int8_t *)(ws + 240);
    MCU_LAYER(5, _mcu_dsp_shared_reorder_12x12_int8(conv_2, conv_2_bit_cast_reorder));
}

/* clang-format on */

