/* ---- Kernels ---- */

/* Those in assembly are one string each, some longer than C99 wants compilers to take. */
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Woverlength-strings"
#endif

MCU_FUNCTION void _mcu_dsp_difference_floats_slice_66_int8(const int8_t *x, int8_t *y) {
    for (int32_t i0 = 0; i0 < 66; i0++) {
        *y++ = x[i0 + 66];
    }
}

/* y = sat(round(((a - a_zero) * a_scale - (b - b_zero) * b_scale) / scale) + zero_point),
 * float32. constants: 1 / scale, a_scale, b_scale, -scale; -a_zero; -b_zero;
 * zero_point; the bytes of a run's whole words; the loops'. */
MCU_KERNEL void _mcu_dsp_difference_floats_sub_int8_int8_int8_corrected_floats_and_2_dsp(
    const int8_t *a MCU_UNUSED, const int8_t *b MCU_UNUSED, int8_t *y MCU_UNUSED,
    const int32_t *constants MCU_UNUSED) {
    /* clang-format off */
    __asm__(".syntax unified\n"
            "    push {r4-r8, lr}\n"
            /* constants!, {float0, float1, float2, float3} */
            "    ldmia r3!, {r4-r7}\n"
            "    vmov s8, r4\n"                     /* reciprocal, float0 */
            "    vmov s9, r5\n"                     /* a_scale, float1 */
            "    vmov s10, r6\n"                    /* b_scale, float2 */
            "    vmov s11, r7\n"                    /* minus_scale, float3 */
            /* constants, {minus_a_zero, minus_b_zero, zero_point, end} */
            "    ldmia r3, {r3-r5, r8}\n"
            "    add r8, r8, r2\n"                  /* end, end, y */
            "1:\n"
            "    ldrsb r6, [r0], #1\n"              /* e0, [a], #1 */
            "    add r6, r6, r3\n"                  /* e0, e0, minus_a_zero */
            "    ldrsb r7, [r0], #1\n"              /* e1, [a], #1 */
            "    add r7, r7, r3\n"                  /* e1, e1, minus_a_zero */
            "    ldrsb r12, [r0], #1\n"             /* e2, [a], #1 */
            "    add r12, r12, r3\n"                /* e2, e2, minus_a_zero */
            "    ldrsb lr, [r0], #1\n"              /* e3, [a], #1 */
            "    add lr, lr, r3\n"                  /* e3, e3, minus_a_zero */
            "    vmov s0, r6\n"                     /* a01.low, e0 */
            "    vmov s1, r7\n"                     /* a01.high, e1 */
            "    vmov s2, r12\n"                    /* a23.low, e2 */
            "    vmov s3, lr\n"                     /* a23.high, e3 */
            "    vcvt.f32.s32 s0, s0\n"             /* a01.low, a01.low */
            "    vcvt.f32.s32 s1, s1\n"             /* a01.high, a01.high */
            "    vcvt.f32.s32 s2, s2\n"             /* a23.low, a23.low */
            "    vcvt.f32.s32 s3, s3\n"             /* a23.high, a23.high */
            "    vmul.f32 s0, s0, s9\n"             /* a01.low, a01.low, a_scale */
            "    vmul.f32 s1, s1, s9\n"             /* a01.high, a01.high, a_scale */
            "    vmul.f32 s2, s2, s9\n"             /* a23.low, a23.low, a_scale */
            "    vmul.f32 s3, s3, s9\n"             /* a23.high, a23.high, a_scale */
            "    ldrsb r6, [r1], #1\n"              /* e0, [b], #1 */
            "    add r6, r6, r4\n"                  /* e0, e0, minus_b_zero */
            "    ldrsb r7, [r1], #1\n"              /* e1, [b], #1 */
            "    add r7, r7, r4\n"                  /* e1, e1, minus_b_zero */
            "    ldrsb r12, [r1], #1\n"             /* e2, [b], #1 */
            "    add r12, r12, r4\n"                /* e2, e2, minus_b_zero */
            "    ldrsb lr, [r1], #1\n"              /* e3, [b], #1 */
            "    add lr, lr, r4\n"                  /* e3, e3, minus_b_zero */
            "    vmov s4, r6\n"                     /* b01.low, e0 */
            "    vmov s5, r7\n"                     /* b01.high, e1 */
            "    vmov s6, r12\n"                    /* b23.low, e2 */
            "    vmov s7, lr\n"                     /* b23.high, e3 */
            "    vcvt.f32.s32 s4, s4\n"             /* b01.low, b01.low */
            "    vcvt.f32.s32 s5, s5\n"             /* b01.high, b01.high */
            "    vcvt.f32.s32 s6, s6\n"             /* b23.low, b23.low */
            "    vcvt.f32.s32 s7, s7\n"             /* b23.high, b23.high */
            "    vmul.f32 s4, s4, s10\n"            /* b01.low, b01.low, b_scale */
            "    vmul.f32 s5, s5, s10\n"            /* b01.high, b01.high, b_scale */
            "    vmul.f32 s6, s6, s10\n"            /* b23.low, b23.low, b_scale */
            "    vmul.f32 s7, s7, s10\n"            /* b23.high, b23.high, b_scale */
            "    vsub.f32 s0, s0, s4\n"             /* a01.low, a01.low, b01.low */
            "    vsub.f32 s1, s1, s5\n"             /* a01.high, a01.high, b01.high */
            "    vsub.f32 s2, s2, s6\n"             /* a23.low, a23.low, b23.low */
            "    vsub.f32 s3, s3, s7\n"             /* a23.high, a23.high, b23.high */
            "    vmul.f32 s4, s0, s8\n"             /* q0, a01.low, reciprocal */
            "    vmul.f32 s5, s1, s8\n"             /* q1, a01.high, reciprocal */
            "    vmul.f32 s6, s2, s8\n"             /* q2, a23.low, reciprocal */
            "    vmul.f32 s7, s3, s8\n"             /* q3, a23.high, reciprocal */
            "    vfma.f32 s0, s4, s11\n"            /* a01.low, q0, minus_scale */
            "    vfma.f32 s1, s5, s11\n"            /* a01.high, q1, minus_scale */
            "    vfma.f32 s2, s6, s11\n"            /* a23.low, q2, minus_scale */
            "    vfma.f32 s3, s7, s11\n"            /* a23.high, q3, minus_scale */
            "    vfma.f32 s4, s0, s8\n"             /* q0, a01.low, reciprocal */
            "    vfma.f32 s5, s1, s8\n"             /* q1, a01.high, reciprocal */
            "    vfma.f32 s6, s2, s8\n"             /* q2, a23.low, reciprocal */
            "    vfma.f32 s7, s3, s8\n"             /* q3, a23.high, reciprocal */
            "    vcvtr.s32.f32 s4, s4\n"            /* q0, q0 */
            "    vcvtr.s32.f32 s5, s5\n"            /* q1, q1 */
            "    vcvtr.s32.f32 s6, s6\n"            /* q2, q2 */
            "    vcvtr.s32.f32 s7, s7\n"            /* q3, q3 */
            "    vmov r6, s4\n"                     /* e0, q0 */
            "    vmov r7, s5\n"                     /* e1, q1 */
            "    vmov r12, s6\n"                    /* e2, q2 */
            "    vmov lr, s7\n"                     /* e3, q3 */
            "    add r6, r6, r5\n"                  /* e0, e0, zero_point */
            "    add r7, r7, r5\n"                  /* e1, e1, zero_point */
            "    add r12, r12, r5\n"                /* e2, e2, zero_point */
            "    add lr, lr, r5\n"                  /* e3, e3, zero_point */
            "    ssat r6, #8, r6\n"                 /* e0, #8, e0 */
            "    strb r6, [r2], #1\n"               /* e0, [y], #1 */
            "    ssat r7, #8, r7\n"                 /* e1, #8, e1 */
            "    strb r7, [r2], #1\n"               /* e1, [y], #1 */
            "    ssat r12, #8, r12\n"               /* e2, #8, e2 */
            "    strb r12, [r2], #1\n"              /* e2, [y], #1 */
            "    ssat lr, #8, lr\n"                 /* e3, #8, e3 */
            "    strb lr, [r2], #1\n"               /* e3, [y], #1 */
            "    cmp r2, r8\n"                      /* y, end */
            "    bne 1b\n"
            "    ldrsb r6, [r0], #1\n"              /* e0, [a], #1 */
            "    add r6, r6, r3\n"                  /* e0, e0, minus_a_zero */
            "    ldrsb r7, [r0], #1\n"              /* e1, [a], #1 */
            "    add r7, r7, r3\n"                  /* e1, e1, minus_a_zero */
            "    vmov s0, r6\n"                     /* a01.low, e0 */
            "    vmov s1, r7\n"                     /* a01.high, e1 */
            "    vcvt.f32.s32 s0, s0\n"             /* a01.low, a01.low */
            "    vcvt.f32.s32 s1, s1\n"             /* a01.high, a01.high */
            "    vmul.f32 s0, s0, s9\n"             /* a01.low, a01.low, a_scale */
            "    vmul.f32 s1, s1, s9\n"             /* a01.high, a01.high, a_scale */
            "    ldrsb r6, [r1], #1\n"              /* e0, [b], #1 */
            "    add r6, r6, r4\n"                  /* e0, e0, minus_b_zero */
            "    ldrsb r7, [r1], #1\n"              /* e1, [b], #1 */
            "    add r7, r7, r4\n"                  /* e1, e1, minus_b_zero */
            "    vmov s4, r6\n"                     /* b01.low, e0 */
            "    vmov s5, r7\n"                     /* b01.high, e1 */
            "    vcvt.f32.s32 s4, s4\n"             /* b01.low, b01.low */
            "    vcvt.f32.s32 s5, s5\n"             /* b01.high, b01.high */
            "    vmul.f32 s4, s4, s10\n"            /* b01.low, b01.low, b_scale */
            "    vmul.f32 s5, s5, s10\n"            /* b01.high, b01.high, b_scale */
            "    vsub.f32 s0, s0, s4\n"             /* a01.low, a01.low, b01.low */
            "    vsub.f32 s1, s1, s5\n"             /* a01.high, a01.high, b01.high */
            "    vmul.f32 s2, s0, s8\n"             /* q0, a01.low, reciprocal */
            "    vmul.f32 s3, s1, s8\n"             /* q1, a01.high, reciprocal */
            "    vfma.f32 s0, s2, s11\n"            /* a01.low, q0, minus_scale */
            "    vfma.f32 s1, s3, s11\n"            /* a01.high, q1, minus_scale */
            "    vfma.f32 s2, s0, s8\n"             /* q0, a01.low, reciprocal */
            "    vfma.f32 s3, s1, s8\n"             /* q1, a01.high, reciprocal */
            "    vcvtr.s32.f32 s2, s2\n"            /* q0, q0 */
            "    vcvtr.s32.f32 s3, s3\n"            /* q1, q1 */
            "    vmov r6, s2\n"                     /* e0, q0 */
            "    vmov r7, s3\n"                     /* e1, q1 */
            "    add r6, r6, r5\n"                  /* e0, e0, zero_point */
            "    add r7, r7, r5\n"                  /* e1, e1, zero_point */
            "    ssat r6, #8, r6\n"                 /* e0, #8, e0 */
            "    strb r6, [r2], #1\n"               /* e0, [y], #1 */
            "    ssat r7, #8, r7\n"                 /* e1, #8, e1 */
            "    strb r7, [r2], #1\n"               /* e1, [y], #1 */
            "    pop {r4-r8, pc}\n");
    /* clang-format on */
}

/* ---- The layers, in the order of execution ---- */

/* clang-format off */
static void _mcu_dsp_difference_floats_layers(mcu_instance_t *instance) {
    uint8_t *const ws = instance->workspace;

    /* slice_2: Slice, slice_3_7: int8[132] -> int8[66] */
    int8_t *const int8 = (int8_t *)(ws + 0);
    int8_t *const slice_2 = (int8_t *)(ws + 144);
    MCU_LAYER(0, _mcu_dsp_difference_floats_slice_66_int8(int8, slice_2));

    /* sub_1: Sub, sum0 (4 nodes): int8[1,66], int8[1,66] -> int8[1,66] */
    int8_t *const slice_0_2 = (int8_t *)(ws + 0);
    int8_t *const sub_1 = (int8_t *)(ws + 144);
    MCU_LAYER(1, _mcu_dsp_difference_floats_sub_int8_int8_int8_corrected_floats_and_2_dsp(
        slice_0_2, slice_2, sub_1, _mcu_dsp_difference_floats_sub_1_constants));
}

/* clang-format on */

