/* ---- Kernels ---- */

/* Those in assembly are one string each, some longer than C99 wants compilers to take. */
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Woverlength-strings"
#endif

/* y[i] = sat(round(x[i] / scale) + zero_point); y may lie on x.
 * constants: scale, float32; zero_point; -1 / scale, float32. */
MCU_KERNEL void _mcu_mve_conversion_quantize_int8_mve(const float *x MCU_UNUSED,
                                                      int8_t *y MCU_UNUSED,
                                                      const int32_t *constants MCU_UNUSED,
                                                      uint32_t elements MCU_UNUSED) {
    /* clang-format off */
    __asm__(".syntax unified\n"
            "    push {r4, r5, lr}\n"
            "    vpush {d8-d13}\n"
            "    ldmia r2, {r2, r4, r5}\n"          /* constants, {scale, zero_point, reciprocal} */
            "    vdup.32 q0, r4\n"                  /* zero_points, zero_point */
            "    movw r4, #0\n"                     /* zero_point, #0 */
            "    movt r4, #17792\n"                 /* zero_point, #17792 */
            "    vdup.32 q1, r4\n"                  /* far, zero_point */
            "    movw r4, #0\n"                     /* zero_point, #0 */
            "    movt r4, #50560\n"                 /* zero_point, #50560 */
            "    vdup.32 q2, r4\n"                  /* far_below, zero_point */
            /* Quotients by the reciprocal, negated, corrected by their remainders. */
            "    lsrs r4, r3, #5\n"                 /* rounds, elements, #5 */
            "    beq 2f\n"
            "    dls lr, r4\n"                      /* rounds_left, rounds */
            "1:\n"
            "    vldrw.u32 q3, [r0], #16\n"         /* number, [x], #16 */
            "    vmul.f32 q4, q3, r5\n"             /* quotient0, number, reciprocal */
            "    vmin.u32 q4, q4, q2\n"             /* quotient0, quotient0, far_below */
            "    vfma.f32 q3, q4, r2\n"             /* number, quotient0, scale */
            "    vfma.f32 q4, q3, r5\n"             /* quotient0, number, reciprocal */
            "    vldrw.u32 q3, [r0], #16\n"         /* number, [x], #16 */
            "    vmin.s32 q4, q4, q1\n"             /* quotient0, quotient0, far */
            "    vcvtn.s32.f32 q4, q4\n"            /* quotient0, quotient0 */
            "    vmul.f32 q5, q3, r5\n"             /* quotient1, number, reciprocal */
            "    vqsub.s32 q4, q0, q4\n"            /* quotient0, zero_points, quotient0 */
            "    vmin.u32 q5, q5, q2\n"             /* quotient1, quotient1, far_below */
            "    vfma.f32 q3, q5, r2\n"             /* number, quotient1, scale */
            "    vqmovnb.s32 q4, q4\n"              /* quotient0, quotient0 */
            "    vfma.f32 q5, q3, r5\n"             /* quotient1, number, reciprocal */
            "    vqmovnb.s16 q4, q4\n"              /* quotient0, quotient0 */
            "    vldrw.u32 q3, [r0], #16\n"         /* number, [x], #16 */
            "    vmin.s32 q5, q5, q1\n"             /* quotient1, quotient1, far */
            "    vcvtn.s32.f32 q5, q5\n"            /* quotient1, quotient1 */
            "    vmul.f32 q6, q3, r5\n"             /* quotient2, number, reciprocal */
            "    vqsub.s32 q5, q0, q5\n"            /* quotient1, zero_points, quotient1 */
            "    vstrb.32 q4, [r1], #4\n"           /* quotient0, [y], #4 */
            "    vmin.u32 q6, q6, q2\n"             /* quotient2, quotient2, far_below */
            "    vfma.f32 q3, q6, r2\n"             /* number, quotient2, scale */
            "    vqmovnb.s32 q5, q5\n"              /* quotient1, quotient1 */
            "    vfma.f32 q6, q3, r5\n"             /* quotient2, number, reciprocal */
            "    vqmovnb.s16 q5, q5\n"              /* quotient1, quotient1 */
            "    vldrw.u32 q3, [r0], #16\n"         /* number, [x], #16 */
            "    vmin.s32 q6, q6, q1\n"             /* quotient2, quotient2, far */
            "    vcvtn.s32.f32 q6, q6\n"            /* quotient2, quotient2 */
            "    vmul.f32 q4, q3, r5\n"             /* quotient0, number, reciprocal */
            "    vqsub.s32 q6, q0, q6\n"            /* quotient2, zero_points, quotient2 */
            "    vstrb.32 q5, [r1], #4\n"           /* quotient1, [y], #4 */
            "    vmin.u32 q4, q4, q2\n"             /* quotient0, quotient0, far_below */
            "    vfma.f32 q3, q4, r2\n"             /* number, quotient0, scale */
            "    vqmovnb.s32 q6, q6\n"              /* quotient2, quotient2 */
            "    vfma.f32 q4, q3, r5\n"             /* quotient0, number, reciprocal */
            "    vqmovnb.s16 q6, q6\n"              /* quotient2, quotient2 */
            "    vldrw.u32 q3, [r0], #16\n"         /* number, [x], #16 */
            "    vmin.s32 q4, q4, q1\n"             /* quotient0, quotient0, far */
            "    vcvtn.s32.f32 q4, q4\n"            /* quotient0, quotient0 */
            "    vmul.f32 q5, q3, r5\n"             /* quotient1, number, reciprocal */
            "    vqsub.s32 q4, q0, q4\n"            /* quotient0, zero_points, quotient0 */
            "    vstrb.32 q6, [r1], #4\n"           /* quotient2, [y], #4 */
            "    vmin.u32 q5, q5, q2\n"             /* quotient1, quotient1, far_below */
            "    vfma.f32 q3, q5, r2\n"             /* number, quotient1, scale */
            "    vqmovnb.s32 q4, q4\n"              /* quotient0, quotient0 */
            "    vfma.f32 q5, q3, r5\n"             /* quotient1, number, reciprocal */
            "    vqmovnb.s16 q4, q4\n"              /* quotient0, quotient0 */
            "    vldrw.u32 q3, [r0], #16\n"         /* number, [x], #16 */
            "    vmin.s32 q5, q5, q1\n"             /* quotient1, quotient1, far */
            "    vcvtn.s32.f32 q5, q5\n"            /* quotient1, quotient1 */
            "    vmul.f32 q6, q3, r5\n"             /* quotient2, number, reciprocal */
            "    vqsub.s32 q5, q0, q5\n"            /* quotient1, zero_points, quotient1 */
            "    vstrb.32 q4, [r1], #4\n"           /* quotient0, [y], #4 */
            "    vmin.u32 q6, q6, q2\n"             /* quotient2, quotient2, far_below */
            "    vfma.f32 q3, q6, r2\n"             /* number, quotient2, scale */
            "    vqmovnb.s32 q5, q5\n"              /* quotient1, quotient1 */
            "    vfma.f32 q6, q3, r5\n"             /* quotient2, number, reciprocal */
            "    vqmovnb.s16 q5, q5\n"              /* quotient1, quotient1 */
            "    vldrw.u32 q3, [r0], #16\n"         /* number, [x], #16 */
            "    vmin.s32 q6, q6, q1\n"             /* quotient2, quotient2, far */
            "    vcvtn.s32.f32 q6, q6\n"            /* quotient2, quotient2 */
            "    vmul.f32 q4, q3, r5\n"             /* quotient0, number, reciprocal */
            "    vqsub.s32 q6, q0, q6\n"            /* quotient2, zero_points, quotient2 */
            "    vstrb.32 q5, [r1], #4\n"           /* quotient1, [y], #4 */
            "    vmin.u32 q4, q4, q2\n"             /* quotient0, quotient0, far_below */
            "    vfma.f32 q3, q4, r2\n"             /* number, quotient0, scale */
            "    vqmovnb.s32 q6, q6\n"              /* quotient2, quotient2 */
            "    vfma.f32 q4, q3, r5\n"             /* quotient0, number, reciprocal */
            "    vqmovnb.s16 q6, q6\n"              /* quotient2, quotient2 */
            "    vldrw.u32 q3, [r0], #16\n"         /* number, [x], #16 */
            "    vmin.s32 q4, q4, q1\n"             /* quotient0, quotient0, far */
            "    vcvtn.s32.f32 q4, q4\n"            /* quotient0, quotient0 */
            "    vmul.f32 q5, q3, r5\n"             /* quotient1, number, reciprocal */
            "    vqsub.s32 q4, q0, q4\n"            /* quotient0, zero_points, quotient0 */
            "    vstrb.32 q6, [r1], #4\n"           /* quotient2, [y], #4 */
            "    vmin.u32 q5, q5, q2\n"             /* quotient1, quotient1, far_below */
            "    vfma.f32 q3, q5, r2\n"             /* number, quotient1, scale */
            "    vqmovnb.s32 q4, q4\n"              /* quotient0, quotient0 */
            "    vfma.f32 q5, q3, r5\n"             /* quotient1, number, reciprocal */
            "    vqmovnb.s16 q4, q4\n"              /* quotient0, quotient0 */
            "    vmin.s32 q5, q5, q1\n"             /* quotient1, quotient1, far */
            "    vcvtn.s32.f32 q5, q5\n"            /* quotient1, quotient1 */
            "    vqsub.s32 q5, q0, q5\n"            /* quotient1, zero_points, quotient1 */
            "    vstrb.32 q4, [r1], #4\n"           /* quotient0, [y], #4 */
            "    vqmovnb.s32 q5, q5\n"              /* quotient1, quotient1 */
            "    vqmovnb.s16 q5, q5\n"              /* quotient1, quotient1 */
            "    vstrb.32 q5, [r1], #4\n"           /* quotient1, [y], #4 */
            "    le lr, 1b\n"                       /* rounds_left */
            "2:\n"
            "    ands r3, r3, #31\n"                /* elements, elements, #31 */
            "    beq 4f\n"
            "    dlstp.32 lr, r3\n"                 /* rounds_left, elements */
            "3:\n"
            "    vldrw.u32 q3, [r0], #16\n"         /* number, [x], #16 */
            "    vmul.f32 q4, q3, r5\n"             /* quotient0, number, reciprocal */
            "    vmin.u32 q4, q4, q2\n"             /* quotient0, quotient0, far_below */
            "    vfma.f32 q3, q4, r2\n"             /* number, quotient0, scale */
            "    vfma.f32 q4, q3, r5\n"             /* quotient0, number, reciprocal */
            "    vmin.s32 q4, q4, q1\n"             /* quotient0, quotient0, far */
            "    vcvtn.s32.f32 q4, q4\n"            /* quotient0, quotient0 */
            "    vqsub.s32 q4, q0, q4\n"            /* quotient0, zero_points, quotient0 */
            "    vqmovnb.s32 q4, q4\n"              /* quotient0, quotient0 */
            "    vqmovnb.s16 q4, q4\n"              /* quotient0, quotient0 */
            "    vstrb.32 q4, [r1], #4\n"           /* quotient0, [y], #4 */
            "    letp lr, 3b\n"                     /* rounds_left */
            "4:\n"
            "    vpop {d8-d13}\n"
            "    pop {r4, r5, pc}\n");
    /* clang-format on */
}

/* y[i] = float32(x[i] - zero_point) * scale. constants: scale, float32; -zero_point. */
MCU_KERNEL void _mcu_mve_conversion_dequantize_int8_mve(const int8_t *x MCU_UNUSED,
                                                        float *y MCU_UNUSED,
                                                        const int32_t *constants MCU_UNUSED,
                                                        uint32_t elements MCU_UNUSED) {
    /* clang-format off */
    __asm__(".syntax unified\n"
            "    push {r4, r5, lr}\n"
            "    ldmia r2, {r2, r4}\n"              /* constants, {scale, minus_zero_point} */
            "    lsrs r5, r3, #5\n"                 /* rounds, elements, #5 */
            "    beq 2f\n"
            "    dls lr, r5\n"                      /* rounds_left, rounds */
            "1:\n"
            "    vldrb.s32 q0, [r0], #4\n"          /* number0, [x], #4 */
            "    vadd.i32 q0, q0, r4\n"             /* number0, number0, minus_zero_point */
            "    vcvt.f32.s32 q0, q0\n"             /* number0, number0 */
            "    vldrb.s32 q1, [r0], #4\n"          /* number1, [x], #4 */
            "    vmul.f32 q0, q0, r2\n"             /* number0, number0, scale */
            "    vadd.i32 q1, q1, r4\n"             /* number1, number1, minus_zero_point */
            "    vcvt.f32.s32 q1, q1\n"             /* number1, number1 */
            "    vldrb.s32 q2, [r0], #4\n"          /* number2, [x], #4 */
            "    vmul.f32 q1, q1, r2\n"             /* number1, number1, scale */
            "    vstrw.32 q0, [r1], #16\n"          /* number0, [y], #16 */
            "    vadd.i32 q2, q2, r4\n"             /* number2, number2, minus_zero_point */
            "    vcvt.f32.s32 q2, q2\n"             /* number2, number2 */
            "    vldrb.s32 q0, [r0], #4\n"          /* number0, [x], #4 */
            "    vmul.f32 q2, q2, r2\n"             /* number2, number2, scale */
            "    vstrw.32 q1, [r1], #16\n"          /* number1, [y], #16 */
            "    vadd.i32 q0, q0, r4\n"             /* number0, number0, minus_zero_point */
            "    vcvt.f32.s32 q0, q0\n"             /* number0, number0 */
            "    vldrb.s32 q1, [r0], #4\n"          /* number1, [x], #4 */
            "    vmul.f32 q0, q0, r2\n"             /* number0, number0, scale */
            "    vstrw.32 q2, [r1], #16\n"          /* number2, [y], #16 */
            "    vadd.i32 q1, q1, r4\n"             /* number1, number1, minus_zero_point */
            "    vcvt.f32.s32 q1, q1\n"             /* number1, number1 */
            "    vldrb.s32 q2, [r0], #4\n"          /* number2, [x], #4 */
            "    vmul.f32 q1, q1, r2\n"             /* number1, number1, scale */
            "    vstrw.32 q0, [r1], #16\n"          /* number0, [y], #16 */
            "    vadd.i32 q2, q2, r4\n"             /* number2, number2, minus_zero_point */
            "    vcvt.f32.s32 q2, q2\n"             /* number2, number2 */
            "    vldrb.s32 q0, [r0], #4\n"          /* number0, [x], #4 */
            "    vmul.f32 q2, q2, r2\n"             /* number2, number2, scale */
            "    vstrw.32 q1, [r1], #16\n"          /* number1, [y], #16 */
            "    vadd.i32 q0, q0, r4\n"             /* number0, number0, minus_zero_point */
            "    vcvt.f32.s32 q0, q0\n"             /* number0, number0 */
            "    vldrb.s32 q1, [r0], #4\n"          /* number1, [x], #4 */
            "    vmul.f32 q0, q0, r2\n"             /* number0, number0, scale */
            "    vstrw.32 q2, [r1], #16\n"          /* number2, [y], #16 */
            "    vadd.i32 q1, q1, r4\n"             /* number1, number1, minus_zero_point */
            "    vcvt.f32.s32 q1, q1\n"             /* number1, number1 */
            "    vstrw.32 q0, [r1], #16\n"          /* number0, [y], #16 */
            "    vmul.f32 q1, q1, r2\n"             /* number1, number1, scale */
            "    vstrw.32 q1, [r1], #16\n"          /* number1, [y], #16 */
            "    le lr, 1b\n"                       /* rounds_left */
            "2:\n"
            "    ands r3, r3, #31\n"                /* elements, elements, #31 */
            "    beq 4f\n"
            "    dlstp.32 lr, r3\n"                 /* rounds_left, elements */
            "3:\n"
            "    vldrb.s32 q0, [r0], #4\n"          /* number0, [x], #4 */
            "    vadd.i32 q0, q0, r4\n"             /* number0, number0, minus_zero_point */
            "    vcvt.f32.s32 q0, q0\n"             /* number0, number0 */
            "    vmul.f32 q0, q0, r2\n"             /* number0, number0, scale */
            "    vstrw.32 q0, [r1], #16\n"          /* number0, [y], #16 */
            "    letp lr, 3b\n"                     /* rounds_left */
            "4:\n"
            "    pop {r4, r5, pc}\n");
    /* clang-format on */
}

/* ---- The layers, in the order of execution ---- */

/* clang-format off */
static void _mcu_mve_conversion_layers(mcu_instance_t *instance) {
    uint8_t *const ws = instance->workspace;

    /* quantize_1: QuantizeLinear, layer0: float32[1,12] -> int8[1,12] */
    float *const x0 = (float *)(ws + 0);
    int8_t *const quantize_1 = (int8_t *)(ws + 48);
    MCU_LAYER(0, _mcu_mve_conversion_quantize_int8_mve(
        x0, quantize_1, _mcu_mve_conversion_quantize_1_constants, 12U));

    /* dequantize_1: DequantizeLinear, layer1: int8[1,12] -> float32[1,12] */
    int8_t *const x1 = (int8_t *)(ws + 64);
    float *const dequantize_1 = (float *)(ws + 0);
    MCU_LAYER(1, _mcu_mve_conversion_dequantize_int8_mve(
        x1, dequantize_1, _mcu_mve_conversion_dequantize_1_constants, 12U));
}

/* clang-format on */

