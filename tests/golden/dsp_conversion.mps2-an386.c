/* ---- Kernels ---- */

/* Those in assembly are one string each, some longer than C99 wants compilers to take. */
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Woverlength-strings"
#endif

/* y[i] = sat(round(x[i] / scale) + zero_point). constants: 1 / scale and scale, of
 * float32, and what is added to the integer. y may lie on x. */
MCU_KERNEL void _mcu_dsp_conversion_quantize_int8_dsp(const float *x MCU_UNUSED,
                                                      int8_t *y MCU_UNUSED,
                                                      const int32_t *constants MCU_UNUSED,
                                                      uint32_t elements MCU_UNUSED) {
    /* clang-format off */
    __asm__(".syntax unified\n"
            "    push {r4-r7}\n"
            "    vldmia r2!, {s4-s5}\n"             /* constants!, {factors.low, factors.high} */
            "    ldr r4, [r2]\n"                    /* added, [constants] */
            "    add r2, r1, r3\n"                  /* end, y, elements */
            "    bic r3, r3, #3\n"                  /* elements, elements, #3 */
            "    add r6, r1, r3\n"                  /* end_of_groups, y, elements */
            "    cmp r1, r6\n"                      /* y, end_of_groups */
            "    beq 3f\n"
            /* Quotients by the reciprocal, corrected by their remainders; what is no number */
            /* shows */
            /* in their sum, and these four are divided one by one. */
            "1:\n"
            "    vldmia r0!, {s0-s3}\n"             /* x!, {x01.low, x01.high, x23.low, x23.high} */
            "    vmul.f32 s6, s0, s4\n"             /* q01.low, x01.low, factors.low */
            "    vmul.f32 s7, s1, s4\n"             /* q01.high, x01.high, factors.low */
            "    vmul.f32 s8, s2, s4\n"             /* q23.low, x23.low, factors.low */
            "    vmul.f32 s9, s3, s4\n"             /* q23.high, x23.high, factors.low */
            "    vfms.f32 s0, s6, s5\n"             /* x01.low, q01.low, factors.high */
            "    vfms.f32 s1, s7, s5\n"             /* x01.high, q01.high, factors.high */
            "    vfms.f32 s2, s8, s5\n"             /* x23.low, q23.low, factors.high */
            "    vfms.f32 s3, s9, s5\n"             /* x23.high, q23.high, factors.high */
            "    vfma.f32 s6, s0, s4\n"             /* q01.low, x01.low, factors.low */
            "    vfma.f32 s7, s1, s4\n"             /* q01.high, x01.high, factors.low */
            "    vfma.f32 s8, s2, s4\n"             /* q23.low, x23.low, factors.low */
            "    vfma.f32 s9, s3, s4\n"             /* q23.high, x23.high, factors.low */
            "    vadd.f32 s0, s6, s7\n"             /* sums.low, q01.low, q01.high */
            "    vadd.f32 s1, s8, s9\n"             /* sums.high, q23.low, q23.high */
            "    vadd.f32 s0, s0, s1\n"             /* sums.low, sums.low, sums.high */
            "    vcmp.f32 s0, s0\n"                 /* sums.low, sums.low */
            "    vmrs APSR_nzcv, fpscr\n"
            "    bvs 6f\n"
            "    vcvtr.s32.f32 s6, s6\n"            /* q01.low, q01.low */
            "    vcvtr.s32.f32 s7, s7\n"            /* q01.high, q01.high */
            "    vcvtr.s32.f32 s8, s8\n"            /* q23.low, q23.low */
            "    vcvtr.s32.f32 s9, s9\n"            /* q23.high, q23.high */
            "    vmov r3, r5, d3\n"                 /* y0, y1, q01 */
            "    vmov r7, r12, d4\n"                /* y2, y3, q23 */
            "    qadd r3, r3, r4\n"                 /* y0, y0, added */
            "    ssat r3, #8, r3\n"                 /* y0, #8, y0 */
            "    qadd r5, r5, r4\n"                 /* y1, y1, added */
            "    ssat r5, #8, r5\n"                 /* y1, #8, y1 */
            "    qadd r7, r7, r4\n"                 /* y2, y2, added */
            "    ssat r7, #8, r7\n"                 /* y2, #8, y2 */
            "    qadd r12, r12, r4\n"               /* y3, y3, added */
            "    ssat r12, #8, r12\n"               /* y3, #8, y3 */
            "    bfi r3, r5, #8, #8\n"              /* y0, y1, #8, #8 */
            "    bfi r7, r12, #8, #8\n"             /* y2, y3, #8, #8 */
            "    pkhbt r3, r3, r7, lsl #16\n"       /* y0, y0, y2, lsl #16 */
            "    str r3, [r1], #4\n"                /* y0, [y], #4 */
            "2:\n"
            "    cmp r1, r6\n"                      /* y, end_of_groups */
            "    bne 1b\n"
            "3:\n"
            "    mov r5, r2\n"                      /* end_of_these, end */
            "    cmp r1, r2\n"                      /* y, end */
            "    beq 7f\n"
            "4:\n"
            "5:\n"
            "    vldmia r0!, {s6}\n"                /* x!, {q01.low} */
            "    vdiv.f32 s6, s6, s5\n"             /* q01.low, q01.low, factors.high */
            "    vcmp.f32 s6, s6\n"                 /* q01.low, q01.low */
            "    vmrs APSR_nzcv, fpscr\n"
            "    vcvtr.s32.f32 s6, s6\n"            /* q01.low, q01.low */
            "    vmov r3, s6\n"                     /* y0, q01.low */
            "    it vs\n"
            "    mvnvs r3, #4096\n"                 /* y0, #4096 */
            "    qadd r3, r3, r4\n"                 /* y0, y0, added */
            "    ssat r3, #8, r3\n"                 /* y0, #8, y0 */
            "    strb r3, [r1], #1\n"               /* y0, [y], #1 */
            "    cmp r1, r5\n"                      /* y, end_of_these */
            "    bne 5b\n"
            "    cmp r1, r6\n"                      /* y, end_of_groups */
            "    bls 2b\n"
            "    b 7f\n"
            "6:\n"
            "    sub r0, r0, #16\n"                 /* x, x, #16 */
            "    add r5, r1, #4\n"                  /* end_of_these, y, #4 */
            "    b 4b\n"
            "7:\n"
            "    pop {r4-r7}\n"
            "    bx lr\n");
    /* clang-format on */
}

/* y[i] = float32(x[i] - zero_point) * scale. constants: 1 / scale and scale, of float32,
 * and the zero point's complement. */
MCU_KERNEL void _mcu_dsp_conversion_dequantize_int8_dsp(const int8_t *x MCU_UNUSED,
                                                        float *y MCU_UNUSED,
                                                        const int32_t *constants MCU_UNUSED,
                                                        uint32_t elements MCU_UNUSED) {
    /* clang-format off */
    __asm__(".syntax unified\n"
            "    push {r4-r7, lr}\n"
            "    vldmia r2!, {s8-s9}\n"             /* constants!, {factors.low, factors.high} */
            "    ldr r5, [r2]\n"                    /* added, [constants] */
            "    add r2, r0, r3\n"                  /* end, x, elements */
            "    bic r3, r3, #7\n"                  /* elements, elements, #7 */
            "    add r4, r0, r3\n"                  /* end_of_groups, x, elements */
            "    cmp r0, r4\n"                      /* x, end_of_groups */
            "    beq 2f\n"
            /* Without the zero point, as float32, times the scale. */
            "1:\n"
            "    ldmia r0!, {r3, r6}\n"             /* x!, {x0123, x4567} */
            "    sxtab r7, r5, r3\n"                /* x0, added, x0123 */
            "    sxtab r12, r5, r3, ror #8\n"       /* x1, added, x0123, ror #8 */
            "    sxtab lr, r5, r3, ror #16\n"       /* x2, added, x0123, ror #16 */
            "    sxtab r3, r5, r3, ror #24\n"       /* x3, added, x0123, ror #24 */
            "    vmov d0, r7, r12\n"                /* y01, x0, x1 */
            "    vmov d1, lr, r3\n"                 /* y23, x2, x3 */
            "    sxtab r7, r5, r6\n"                /* x0, added, x4567 */
            "    sxtab r12, r5, r6, ror #8\n"       /* x1, added, x4567, ror #8 */
            "    sxtab lr, r5, r6, ror #16\n"       /* x2, added, x4567, ror #16 */
            "    sxtab r3, r5, r6, ror #24\n"       /* x3, added, x4567, ror #24 */
            "    vmov d2, r7, r12\n"                /* y45, x0, x1 */
            "    vmov d3, lr, r3\n"                 /* y67, x2, x3 */
            "    vcvt.f32.s32 s0, s0\n"             /* y01.low, y01.low */
            "    vcvt.f32.s32 s1, s1\n"             /* y01.high, y01.high */
            "    vcvt.f32.s32 s2, s2\n"             /* y23.low, y23.low */
            "    vcvt.f32.s32 s3, s3\n"             /* y23.high, y23.high */
            "    vcvt.f32.s32 s4, s4\n"             /* y45.low, y45.low */
            "    vcvt.f32.s32 s5, s5\n"             /* y45.high, y45.high */
            "    vcvt.f32.s32 s6, s6\n"             /* y67.low, y67.low */
            "    vcvt.f32.s32 s7, s7\n"             /* y67.high, y67.high */
            "    vmul.f32 s0, s0, s9\n"             /* y01.low, y01.low, factors.high */
            "    vmul.f32 s1, s1, s9\n"             /* y01.high, y01.high, factors.high */
            "    vmul.f32 s2, s2, s9\n"             /* y23.low, y23.low, factors.high */
            "    vmul.f32 s3, s3, s9\n"             /* y23.high, y23.high, factors.high */
            "    vmul.f32 s4, s4, s9\n"             /* y45.low, y45.low, factors.high */
            "    vmul.f32 s5, s5, s9\n"             /* y45.high, y45.high, factors.high */
            "    vmul.f32 s6, s6, s9\n"             /* y67.low, y67.low, factors.high */
            "    vmul.f32 s7, s7, s9\n"             /* y67.high, y67.high, factors.high */
            /* y!, {y01.low, y01.high, y23.low, y23.high, y45.low, y45.high, y67.low, y67.high} */
            "    vstmia r1!, {s0-s7}\n"
            "    cmp r0, r4\n"                      /* x, end_of_groups */
            "    bne 1b\n"
            "2:\n"
            "    cmp r0, r2\n"                      /* x, end */
            "    beq 4f\n"
            "3:\n"
            "    ldrb r3, [r0], #1\n"               /* x0123, [x], #1 */
            "    sxtab r3, r5, r3\n"                /* x0123, added, x0123 */
            "    vmov s0, r3\n"                     /* y01.low, x0123 */
            "    vcvt.f32.s32 s0, s0\n"             /* y01.low, y01.low */
            "    vmul.f32 s0, s0, s9\n"             /* y01.low, y01.low, factors.high */
            "    vstmia r1!, {s0}\n"                /* y!, {y01.low} */
            "    cmp r0, r2\n"                      /* x, end */
            "    bne 3b\n"
            "4:\n"
            "    pop {r4-r7, pc}\n");
    /* clang-format on */
}

/* ---- The layers, in the order of execution ---- */

/* clang-format off */
static void _mcu_dsp_conversion_layers(mcu_instance_t *instance) {
    uint8_t *const ws = instance->workspace;

    /* quantize_1: QuantizeLinear, layer0: float32[1,12] -> int8[1,12] */
    float *const x0 = (float *)(ws + 0);
    int8_t *const quantize_1 = (int8_t *)(ws + 48);
    MCU_LAYER(0, _mcu_dsp_conversion_quantize_int8_dsp(
        x0, quantize_1, _mcu_dsp_conversion_quantize_1_constants, 12U));

    /* dequantize_1: DequantizeLinear, layer1: int8[1,12] -> float32[1,12] */
    int8_t *const x1 = (int8_t *)(ws + 64);
    float *const dequantize_1 = (float *)(ws + 0);
    MCU_LAYER(1, _mcu_dsp_conversion_dequantize_int8_dsp(
        x1, dequantize_1, _mcu_dsp_conversion_dequantize_1_constants, 12U));
}

/* clang-format on */

