/* ---- Kernels ---- */

/* Those in assembly are one string each, some longer than C99 wants compilers to take. */
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Woverlength-strings"
#endif

MCU_FUNCTION void _mcu_dsp_pointwise_reorder_12x8_int8(const int8_t *x, int8_t *y) {
    for (int32_t i0 = 0; i0 < 12; i0++) {
        for (int32_t i1 = 0; i1 < 8; i1++) {
            *y++ = x[i0 + i1 * 12];
        }
    }
}

/* y[p][f] = sat(round(factor[f] * (bias[f] + sum of w[f][t] x[p][t])) + zero), of pixels p,
 * filters f and taps t. Each f and the next one, g, share a stream of words:
 * bias[f]; 256 bias[g] + bias[f]; for two taps one, in halves 256 w[g] + w[f].
 * Of every second f and g the last taps come first.
 * scale[f], addend[f], scale[g], addend[g]: (sum scale >> 32) + addend, shifted, is rounded as
 * it has to be, for which the biases are a little moved.
 * If addend[f] is 0, three more for each sum that is rounded too late: 0 or 1 for f or g, the
 * sum, addend[f], again 0 but for the last. Or 2: no integers round f and g; the first and the
 * third of the four words are factor[f] and factor[g] / 256, the last one is the zero point.
 * These three are behind the biases of the next f and g; behind the last f and g are two words
 * of 0 for that.
 * x: [p][channel], y: [p][f]; t are channels, of each eight in the order 0 2 4 6 1 3 5 7, of
 * four at the end 0 2 1 3.
 * scratch: the taps of a tile; behind them words: where the next pixels are, where the stream
 * begins, tiles that are left. In place: a tile is read before it is written. */
MCU_KERNEL void _mcu_dsp_pointwise_conv1x1_8x8_dsp(const int8_t *x MCU_UNUSED, int8_t *y MCU_UNUSED,
                                                   const uint32_t *weights MCU_UNUSED,
                                                   uint8_t *scratch MCU_UNUSED) {
    /* clang-format off */
    __asm__(".syntax unified\n"
            "    push {r4-r11, lr}\n"
            "    add r3, r3, #48\n"                 /* taps, scratch, #48 */
            "    str r0, [r3]\n"                    /* x, [taps] */
            "    str r2, [r3, #4]\n"                /* weights, [taps, #4] */
            "    add r1, r1, #2\n"                  /* out, y, #2 */
            "    add r0, r1, #8\n"                  /* end, out, #8 */
            "    vmov d7, r1, r0\n"                 /* out_end, out, end */
            "    mov r0, #4\n"                      /* tiles, #4 */
            "    str r0, [r3, #8]\n"                /* tiles, [taps, #8] */
            /* Three pixels, widened to int16: two channels a word, of all three in turn. */
            "1:\n"
            "    sub r10, r3, #48\n"                /* into, taps, #48 */
            "    ldr r2, [r3]\n"                    /* source, [taps] */
            "    ldrd r0, r3, [r2]\n"               /* a0, b0, [source] */
            "    ldrd r1, r4, [r2, #8]\n"           /* a1, b1, [source, #8] */
            "    ldrd r2, r5, [r2, #16]\n"          /* a2, b2, [source, #16] */
            "    sxtb16 r6, r0, ror #8\n"           /* c0, a0, ror #8 */
            "    sxtb16 r7, r1, ror #8\n"           /* c1, a1, ror #8 */
            "    sxtb16 r8, r2, ror #8\n"           /* c2, a2, ror #8 */
            "    sxtb16 r9, r3, ror #8\n"           /* d0, b0, ror #8 */
            "    sxtb16 r12, r4, ror #8\n"          /* d1, b1, ror #8 */
            "    sxtb16 lr, r5, ror #8\n"           /* d2, b2, ror #8 */
            "    sxtb16 r0, r0\n"                   /* a0, a0 */
            "    sxtb16 r1, r1\n"                   /* a1, a1 */
            "    sxtb16 r2, r2\n"                   /* a2, a2 */
            "    sxtb16 r3, r3\n"                   /* b0, b0 */
            "    sxtb16 r4, r4\n"                   /* b1, b1 */
            "    sxtb16 r5, r5\n"                   /* b2, b2 */
            /* into!, {a0, a1, a2, b0, b1, b2, c0, c1, c2, d0, d1, d2} */
            "    stmia r10!, {r0-r9, r12, lr}\n"
            "    mov r3, r10\n"                     /* taps, into */
            "    ldr lr, [r3, #4]\n"                /* stream, [taps, #4] */
            "    ldmia lr!, {r11, r12}\n"           /* stream!, {even_bias, odd_bias} */
            "    sub r3, r3, #48\n"                 /* taps, taps, #48 */
            "2:\n"
            /* Two filters, an even and an odd one, for three outputs. */
            /* Of a word of weights SXTB16 leaves the even filter's. */
            "    ldmia lr!, {r5, r6}\n"             /* stream!, {odd2, weights0} */
            "    ldmia r3!, {r8-r10}\n"             /* taps!, {x0, x1, x2} */
            "    sxtb16 r2, r5\n"                   /* even2, odd2 */
            "    smlad r7, r5, r8, r12\n"           /* odd0, odd2, x0, odd_bias */
            "    smlad r0, r5, r9, r12\n"           /* odd1, odd2, x1, odd_bias */
            "    smlad r5, r5, r10, r12\n"          /* odd2, odd2, x2, odd_bias */
            "    smlad r1, r2, r8, r11\n"           /* even0, even2, x0, even_bias */
            "    smlad r4, r2, r9, r11\n"           /* even1, even2, x1, even_bias */
            "    smlad r2, r2, r10, r11\n"          /* even2, even2, x2, even_bias */
            "    ldmia r3!, {r8-r10}\n"             /* taps!, {x0, x1, x2} */
            "    smlad r7, r6, r8, r7\n"            /* odd0, weights0, x0, odd0 */
            "    smlad r0, r6, r9, r0\n"            /* odd1, weights0, x1, odd1 */
            "    smlad r5, r6, r10, r5\n"           /* odd2, weights0, x2, odd2 */
            "    sxtb16 r6, r6\n"                   /* weights0, weights0 */
            "    smlad r1, r6, r8, r1\n"            /* even0, weights0, x0, even0 */
            "    smlad r4, r6, r9, r4\n"            /* even1, weights0, x1, even1 */
            "    smlad r2, r6, r10, r2\n"           /* even2, weights0, x2, even2 */
            "    ldmia lr!, {r6, r12}\n"            /* stream!, {weights0, weights1} */
            "    ldmia r3!, {r8-r10}\n"             /* taps!, {x0, x1, x2} */
            "    smlad r7, r6, r8, r7\n"            /* odd0, weights0, x0, odd0 */
            "    smlad r0, r6, r9, r0\n"            /* odd1, weights0, x1, odd1 */
            "    smlad r5, r6, r10, r5\n"           /* odd2, weights0, x2, odd2 */
            "    sxtb16 r6, r6\n"                   /* weights0, weights0 */
            "    smlad r1, r6, r8, r1\n"            /* even0, weights0, x0, even0 */
            "    smlad r4, r6, r9, r4\n"            /* even1, weights0, x1, even1 */
            "    smlad r2, r6, r10, r2\n"           /* even2, weights0, x2, even2 */
            "    ldmia r3!, {r8-r10}\n"             /* taps!, {x0, x1, x2} */
            "    smlad r7, r12, r8, r7\n"           /* odd0, weights1, x0, odd0 */
            "    smlad r0, r12, r9, r0\n"           /* odd1, weights1, x1, odd1 */
            "    smlad r5, r12, r10, r5\n"          /* odd2, weights1, x2, odd2 */
            "    sxtb16 r12, r12\n"                 /* weights1, weights1 */
            "    smlad r1, r12, r8, r1\n"           /* even0, weights1, x0, even0 */
            "    smlad r4, r12, r9, r4\n"           /* even1, weights1, x1, even1 */
            "    smlad r2, r12, r10, r2\n"          /* even2, weights1, x2, even2 */
            /* To elements of the output: scaled, shifted, saturated. */
            "    sub r7, r7, r1\n"                  /* odd0, odd0, even0 */
            "    sub r0, r0, r4\n"                  /* odd1, odd1, even1 */
            "    sub r5, r5, r2\n"                  /* odd2, odd2, even2 */
            /* stream!, {even_scale, even_addend, odd_scale, odd_addend, even_bias, odd_bias} */
            "    ldmia lr!, {r6, r8-r12}\n"
            "    smmla r1, r1, r6, r8\n"            /* even0, even0, even_scale, even_addend */
            "    smmla r4, r4, r6, r8\n"            /* even1, even1, even_scale, even_addend */
            "    smmla r2, r2, r6, r8\n"            /* even2, even2, even_scale, even_addend */
            "    ssat r1, #8, r1, asr #4\n"         /* even0, #8, even0, asr #4 */
            "    ssat r4, #8, r4, asr #4\n"         /* even1, #8, even1, asr #4 */
            "    ssat r2, #8, r2, asr #4\n"         /* even2, #8, even2, asr #4 */
            "    smmla r7, r7, r9, r10\n"           /* odd0, odd0, odd_scale, odd_addend */
            "    smmla r0, r0, r9, r10\n"           /* odd1, odd1, odd_scale, odd_addend */
            "    smmla r5, r5, r9, r10\n"           /* odd2, odd2, odd_scale, odd_addend */
            "    ssat r7, #8, r7, asr #12\n"        /* odd0, #8, odd0, asr #12 */
            "    ssat r0, #8, r0, asr #12\n"        /* odd1, #8, odd1, asr #12 */
            "    ssat r5, #8, r5, asr #12\n"        /* odd2, #8, odd2, asr #12 */
            "    vmov r6, s14\n"                    /* out, out_end.low */
            /* Stored: of each pixel both filters at once. */
            "    bfi r1, r7, #8, #8\n"              /* even0, odd0, #8, #8 */
            "    bfi r4, r0, #8, #8\n"              /* even1, odd1, #8, #8 */
            "    bfi r2, r5, #8, #8\n"              /* even2, odd2, #8, #8 */
            "    strh r1, [r6, #-2]\n"              /* even0, [out, #-2] */
            "    strh r4, [r6, #6]\n"               /* even1, [out, #6] */
            "    strh r2, [r6, #14]\n"              /* even2, [out, #14] */
            /* Two filters, an even and an odd one, for three outputs. */
            /* Of a word of weights SXTB16 leaves the even filter's. */
            /* These two meet the activations backwards. */
            "    ldmia lr!, {r5, r9}\n"             /* stream!, {odd2, weights0} */
            "    ldmdb r3!, {r6, r8, r10}\n"        /* taps!, {x0, x1, x2} */
            "    sxtb16 r2, r5\n"                   /* even2, odd2 */
            "    smlad r7, r5, r6, r12\n"           /* odd0, odd2, x0, odd_bias */
            "    smlad r0, r5, r8, r12\n"           /* odd1, odd2, x1, odd_bias */
            "    smlad r5, r5, r10, r12\n"          /* odd2, odd2, x2, odd_bias */
            "    smlad r1, r2, r6, r11\n"           /* even0, even2, x0, even_bias */
            "    smlad r4, r2, r8, r11\n"           /* even1, even2, x1, even_bias */
            "    smlad r2, r2, r10, r11\n"          /* even2, even2, x2, even_bias */
            "    ldmdb r3!, {r6, r8, r10}\n"        /* taps!, {x0, x1, x2} */
            "    smlad r7, r9, r6, r7\n"            /* odd0, weights0, x0, odd0 */
            "    smlad r0, r9, r8, r0\n"            /* odd1, weights0, x1, odd1 */
            "    smlad r5, r9, r10, r5\n"           /* odd2, weights0, x2, odd2 */
            "    sxtb16 r9, r9\n"                   /* weights0, weights0 */
            "    smlad r1, r9, r6, r1\n"            /* even0, weights0, x0, even0 */
            "    smlad r4, r9, r8, r4\n"            /* even1, weights0, x1, even1 */
            "    smlad r2, r9, r10, r2\n"           /* even2, weights0, x2, even2 */
            "    ldmia lr!, {r9, r12}\n"            /* stream!, {weights0, weights1} */
            "    ldmdb r3!, {r6, r8, r10}\n"        /* taps!, {x0, x1, x2} */
            "    smlad r7, r9, r6, r7\n"            /* odd0, weights0, x0, odd0 */
            "    smlad r0, r9, r8, r0\n"            /* odd1, weights0, x1, odd1 */
            "    smlad r5, r9, r10, r5\n"           /* odd2, weights0, x2, odd2 */
            "    sxtb16 r9, r9\n"                   /* weights0, weights0 */
            "    smlad r1, r9, r6, r1\n"            /* even0, weights0, x0, even0 */
            "    smlad r4, r9, r8, r4\n"            /* even1, weights0, x1, even1 */
            "    smlad r2, r9, r10, r2\n"           /* even2, weights0, x2, even2 */
            "    ldmdb r3!, {r6, r8, r10}\n"        /* taps!, {x0, x1, x2} */
            "    smlad r7, r12, r6, r7\n"           /* odd0, weights1, x0, odd0 */
            "    smlad r0, r12, r8, r0\n"           /* odd1, weights1, x1, odd1 */
            "    smlad r5, r12, r10, r5\n"          /* odd2, weights1, x2, odd2 */
            "    sxtb16 r12, r12\n"                 /* weights1, weights1 */
            "    smlad r1, r12, r6, r1\n"           /* even0, weights1, x0, even0 */
            "    smlad r4, r12, r8, r4\n"           /* even1, weights1, x1, even1 */
            "    smlad r2, r12, r10, r2\n"          /* even2, weights1, x2, even2 */
            /* To elements of the output: scaled, shifted, saturated. */
            "    sub r7, r7, r1\n"                  /* odd0, odd0, even0 */
            "    sub r0, r0, r4\n"                  /* odd1, odd1, even1 */
            "    sub r5, r5, r2\n"                  /* odd2, odd2, even2 */
            /* stream!, {even_scale, even_addend, odd_scale, odd_addend, even_bias, odd_bias} */
            "    ldmia lr!, {r6, r8-r12}\n"
            "    smmla r1, r1, r6, r8\n"            /* even0, even0, even_scale, even_addend */
            "    smmla r4, r4, r6, r8\n"            /* even1, even1, even_scale, even_addend */
            "    smmla r2, r2, r6, r8\n"            /* even2, even2, even_scale, even_addend */
            "    ssat r1, #8, r1, asr #4\n"         /* even0, #8, even0, asr #4 */
            "    ssat r4, #8, r4, asr #4\n"         /* even1, #8, even1, asr #4 */
            "    ssat r2, #8, r2, asr #4\n"         /* even2, #8, even2, asr #4 */
            "    smmla r7, r7, r9, r10\n"           /* odd0, odd0, odd_scale, odd_addend */
            "    smmla r0, r0, r9, r10\n"           /* odd1, odd1, odd_scale, odd_addend */
            "    smmla r5, r5, r9, r10\n"           /* odd2, odd2, odd_scale, odd_addend */
            "    ssat r7, #8, r7, asr #12\n"        /* odd0, #8, odd0, asr #12 */
            "    ssat r0, #8, r0, asr #12\n"        /* odd1, #8, odd1, asr #12 */
            "    ssat r5, #8, r5, asr #12\n"        /* odd2, #8, odd2, asr #12 */
            "    vmov r6, r8, d7\n"                 /* out, end, out_end */
            /* Stored: of each pixel both filters at once. */
            "    bfi r1, r7, #8, #8\n"              /* even0, odd0, #8, #8 */
            "    bfi r4, r0, #8, #8\n"              /* even1, odd1, #8, #8 */
            "    bfi r2, r5, #8, #8\n"              /* even2, odd2, #8, #8 */
            "    strh r1, [r6], #4\n"               /* even0, [out], #4 */
            "    strh r4, [r6, #4]\n"               /* even1, [out, #4] */
            "    strh r2, [r6, #12]\n"              /* even2, [out, #12] */
            "    vmov s14, r6\n"                    /* out_end.low, out */
            "    cmp r6, r8\n"                      /* out, end */
            "    bne 2b\n"
            "    add r3, r3, #48\n"                 /* taps, taps, #48 */
            /* The next three pixels. */
            "    ldr r0, [r3, #8]\n"                /* tiles, [taps, #8] */
            "    ldr r2, [r3]\n"                    /* source, [taps] */
            "    vmov r1, s14\n"                    /* out, out_end.low */
            "    subs r0, r0, #1\n"                 /* tiles, tiles, #1 */
            "    str r0, [r3, #8]\n"                /* tiles, [taps, #8] */
            "    beq 3f\n"
            "    add r2, r2, #24\n"                 /* source, source, #24 */
            "    add r1, r1, #16\n"                 /* out, out, #16 */
            "    add r0, r1, #8\n"                  /* end, out, #8 */
            "    vmov d7, r1, r0\n"                 /* out_end, out, end */
            "    str r2, [r3]\n"                    /* source, [taps] */
            "    b 1b\n"
            "3:\n"
            "    pop {r4-r11, pc}\n");
    /* clang-format on */
}

MCU_FUNCTION void _mcu_dsp_pointwise_reorder_8x12_int8(const int8_t *x, int8_t *y) {
    for (int32_t i0 = 0; i0 < 8; i0++) {
        for (int32_t i1 = 0; i1 < 12; i1++) {
            *y++ = x[i0 + i1 * 8];
        }
    }
}

/* ---- The layers, in the order of execution ---- */

/* clang-format off */
static void _mcu_dsp_pointwise_layers(mcu_instance_t *instance) {
    uint8_t *const ws = instance->workspace;

    /* reshape_1_reorder: Reorder, x0 reordered: int8[1,8,4,3] -> int8[1,8,4,3] NHWC */
    int8_t *const int8 = (int8_t *)(ws + 0);
    int8_t *const reshape_1_reorder = (int8_t *)(ws + 96);
    MCU_LAYER(0, _mcu_dsp_pointwise_reorder_12x8_int8(int8, reshape_1_reorder));

    /* conv_1: Conv, p0 (5 nodes): int8[1,8,4,3] NHWC -> int8[1,8,4,3] NHWC; 768 MACs */
    int8_t *const conv_1 = (int8_t *)(ws + 96);
    uint8_t *const conv_1_scratch = (uint8_t *)(ws + 0);
    MCU_LAYER(1, _mcu_dsp_pointwise_conv1x1_8x8_dsp(
        reshape_1_reorder, conv_1, _mcu_dsp_pointwise_conv_1_weights, conv_1_scratch));

    /* conv_1_reorder: Reorder, p0 reordered: int8[1,8,4,3] NHWC -> int8[1,8,4,3] */
    int8_t *const conv_1_reorder = (int8_t *)(ws + 0);
    MCU_LAYER(2, _mcu_dsp_pointwise_reorder_8x12_int8(conv_1, conv_1_reorder));
}

/* clang-format on */

