/* ---- Kernels ---- */

/* Those in assembly are one string each, some longer than C99 wants compilers to take. */
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Woverlength-strings"
#endif

MCU_FUNCTION void _mcu_mve_broadcast_slice_6_int8(const int8_t *x, int8_t *y) {
    for (int32_t i0 = 0; i0 < 6; i0++) {
        *y++ = x[i0 + 120];
    }
}

/* y = sat(round((a - a_zero) * (b - b_zero) * factor) + zero_point), the product
 * of integers a float32. constants: -a_zero; -b_zero; zero_point; factor, float32.
 * y may lie on a or b.
 * Of a run b is one element. */
MCU_KERNEL void _mcu_mve_broadcast_mul_int8_product_floats_fixed_runs_mve(
    const int8_t *a MCU_UNUSED, const int8_t *b MCU_UNUSED, int8_t *y MCU_UNUSED,
    const int32_t *constants MCU_UNUSED) {
    /* clang-format off */
    __asm__(".syntax unified\n"
            "    push {r4-r8, lr}\n"
            "    vpush {d8-d15}\n"
            /* constants, {minus_a_zero, minus_b_zero, zero_point, factor} */
            "    ldmia r3, {r3-r5, r12}\n"
            "    movw r8, #0\n"                     /* rounding, #0 */
            "    movt r8, #19264\n"                 /* rounding, #19264 */
            "    movw r6, #6\n"                     /* turns_left, #6 */
            "    vmov s31, r6\n"                    /* inner_left, turns_left */
            "1:\n"
            "    ldrsb r7, [r1]\n"                  /* element, [b] */
            "    movw r6, #20\n"                    /* elements, #20 */
            "    add r7, r7, r4\n"                  /* element, element, minus_b_zero */
            "    lsrs lr, r6, #5\n"                 /* rounds, elements, #5 */
            "    beq 3f\n"
            "    dls lr, lr\n"                      /* rounds_left, rounds */
            "2:\n"
            "    vldrb.s32 q0, [r0], #4\n"          /* a0, [a], #4 */
            "    vadd.i32 q0, q0, r3\n"             /* a0, a0, minus_a_zero */
            "    vmul.i32 q0, q0, r7\n"             /* a0, a0, element */
            "    vldrb.s32 q1, [r0], #4\n"          /* a1, [a], #4 */
            "    vcvt.f32.s32 q0, q0\n"             /* a0, a0 */
            "    vadd.i32 q1, q1, r3\n"             /* a1, a1, minus_a_zero */
            "    vmul.f32 q0, q0, r12\n"            /* a0, a0, factor */
            "    vldrb.s32 q2, [r0], #4\n"          /* a2, [a], #4 */
            "    vmul.i32 q1, q1, r7\n"             /* a1, a1, element */
            "    vadd.i32 q2, q2, r3\n"             /* a2, a2, minus_a_zero */
            "    vadd.f32 q0, q0, r8\n"             /* a0, a0, rounding */
            "    vldrb.s32 q3, [r0], #4\n"          /* b0, [a], #4 */
            "    vcvt.f32.s32 q1, q1\n"             /* a1, a1 */
            "    vadd.i32 q3, q3, r3\n"             /* b0, b0, minus_a_zero */
            "    vmul.f32 q1, q1, r12\n"            /* a1, a1, factor */
            "    vadd.i16 q0, q0, r5\n"             /* a0, a0, zero_point */
            "    vmul.i32 q2, q2, r7\n"             /* a2, a2, element */
            "    vqmovnb.s16 q0, q0\n"              /* a0, a0 */
            "    vadd.f32 q1, q1, r8\n"             /* a1, a1, rounding */
            "    vstrb.32 q0, [r2], #4\n"           /* a0, [y], #4 */
            "    vcvt.f32.s32 q2, q2\n"             /* a2, a2 */
            "    vadd.i16 q1, q1, r5\n"             /* a1, a1, zero_point */
            "    vmul.f32 q2, q2, r12\n"            /* a2, a2, factor */
            "    vldrb.s32 q0, [r0], #4\n"          /* a0, [a], #4 */
            "    vmul.i32 q3, q3, r7\n"             /* b0, b0, element */
            "    vadd.i32 q0, q0, r3\n"             /* a0, a0, minus_a_zero */
            "    vadd.f32 q2, q2, r8\n"             /* a2, a2, rounding */
            "    vqmovnb.s16 q1, q1\n"              /* a1, a1 */
            "    vcvt.f32.s32 q3, q3\n"             /* b0, b0 */
            "    vstrb.32 q1, [r2], #4\n"           /* a1, [y], #4 */
            "    vmul.f32 q3, q3, r12\n"            /* b0, b0, factor */
            "    vadd.i16 q2, q2, r5\n"             /* a2, a2, zero_point */
            "    vmul.i32 q0, q0, r7\n"             /* a0, a0, element */
            "    vldrb.s32 q1, [r0], #4\n"          /* a1, [a], #4 */
            "    vadd.f32 q3, q3, r8\n"             /* b0, b0, rounding */
            "    vadd.i32 q1, q1, r3\n"             /* a1, a1, minus_a_zero */
            "    vcvt.f32.s32 q0, q0\n"             /* a0, a0 */
            "    vqmovnb.s16 q2, q2\n"              /* a2, a2 */
            "    vmul.f32 q0, q0, r12\n"            /* a0, a0, factor */
            "    vstrb.32 q2, [r2], #4\n"           /* a2, [y], #4 */
            "    vmul.i32 q1, q1, r7\n"             /* a1, a1, element */
            "    vadd.i16 q3, q3, r5\n"             /* b0, b0, zero_point */
            "    vadd.f32 q0, q0, r8\n"             /* a0, a0, rounding */
            "    vldrb.s32 q2, [r0], #4\n"          /* a2, [a], #4 */
            "    vcvt.f32.s32 q1, q1\n"             /* a1, a1 */
            "    vadd.i32 q2, q2, r3\n"             /* a2, a2, minus_a_zero */
            "    vmul.f32 q1, q1, r12\n"            /* a1, a1, factor */
            "    vqmovnb.s16 q3, q3\n"              /* b0, b0 */
            "    vmul.i32 q2, q2, r7\n"             /* a2, a2, element */
            "    vstrb.32 q3, [r2], #4\n"           /* b0, [y], #4 */
            "    vadd.f32 q1, q1, r8\n"             /* a1, a1, rounding */
            "    vadd.i16 q0, q0, r5\n"             /* a0, a0, zero_point */
            "    vcvt.f32.s32 q2, q2\n"             /* a2, a2 */
            "    vldrb.s32 q3, [r0], #4\n"          /* b0, [a], #4 */
            "    vadd.i32 q3, q3, r3\n"             /* b0, b0, minus_a_zero */
            "    vmul.f32 q2, q2, r12\n"            /* a2, a2, factor */
            "    vqmovnb.s16 q0, q0\n"              /* a0, a0 */
            "    vmul.i32 q3, q3, r7\n"             /* b0, b0, element */
            "    vadd.i16 q1, q1, r5\n"             /* a1, a1, zero_point */
            "    vcvt.f32.s32 q3, q3\n"             /* b0, b0 */
            "    vqmovnb.s16 q1, q1\n"              /* a1, a1 */
            "    vadd.f32 q2, q2, r8\n"             /* a2, a2, rounding */
            "    vstrb.32 q0, [r2], #4\n"           /* a0, [y], #4 */
            "    vmul.f32 q3, q3, r12\n"            /* b0, b0, factor */
            "    vadd.i16 q2, q2, r5\n"             /* a2, a2, zero_point */
            "    vadd.f32 q3, q3, r8\n"             /* b0, b0, rounding */
            "    vqmovnb.s16 q2, q2\n"              /* a2, a2 */
            "    vstrb.32 q1, [r2], #4\n"           /* a1, [y], #4 */
            "    vadd.i16 q3, q3, r5\n"             /* b0, b0, zero_point */
            "    vstrb.32 q2, [r2], #4\n"           /* a2, [y], #4 */
            "    vqmovnb.s16 q3, q3\n"              /* b0, b0 */
            "    vstrb.32 q3, [r2], #4\n"           /* b0, [y], #4 */
            "    le lr, 2b\n"                       /* rounds_left */
            "3:\n"
            "    ands r6, r6, #31\n"                /* elements, elements, #31 */
            "    beq 5f\n"
            "    dlstp.32 lr, r6\n"                 /* rounds_left, elements */
            "4:\n"
            "    vldrb.s32 q0, [r0], #4\n"          /* a0, [a], #4 */
            "    vadd.i32 q0, q0, r3\n"             /* a0, a0, minus_a_zero */
            "    vmul.i32 q0, q0, r7\n"             /* a0, a0, element */
            "    vcvt.f32.s32 q0, q0\n"             /* a0, a0 */
            "    vmul.f32 q0, q0, r12\n"            /* a0, a0, factor */
            "    vadd.f32 q0, q0, r8\n"             /* a0, a0, rounding */
            "    vadd.i16 q0, q0, r5\n"             /* a0, a0, zero_point */
            "    vqmovnb.s16 q0, q0\n"              /* a0, a0 */
            "    vstrb.32 q0, [r2], #4\n"           /* a0, [y], #4 */
            "    letp lr, 4b\n"                     /* rounds_left */
            "5:\n"
            "    vmov r6, s31\n"                    /* turns_left, inner_left */
            "    add r1, r1, #1\n"                  /* b, b, #1 */
            "    subs r6, r6, #1\n"                 /* turns_left, turns_left, #1 */
            "    vmov s31, r6\n"                    /* inner_left, turns_left */
            "    bne 1b\n"
            "    vpop {d8-d15}\n"
            "    pop {r4-r8, pc}\n");
    /* clang-format on */
}

/* ---- The layers, in the order of execution ---- */

/* clang-format off */
static void _mcu_mve_broadcast_layers(mcu_instance_t *instance) {
    uint8_t *const ws = instance->workspace;

    /* slice_2: Slice, slice_3_7: int8[126] -> int8[6] */
    int8_t *const int8 = (int8_t *)(ws + 0);
    int8_t *const slice_2 = (int8_t *)(ws + 128);
    MCU_LAYER(0, _mcu_mve_broadcast_slice_6_int8(int8, slice_2));

    /* mul_1: Mul, sum0 (4 nodes): int8[1,6,4,5], int8[1,6,1,1] -> int8[1,6,4,5] */
    int8_t *const slice_0_2 = (int8_t *)(ws + 0);
    int8_t *const mul_1 = (int8_t *)(ws + 0);
    MCU_LAYER(1, _mcu_mve_broadcast_mul_int8_product_floats_fixed_runs_mve(
        slice_0_2, slice_2, mul_1, _mcu_mve_broadcast_mul_1_constants));
}

/* clang-format on */

