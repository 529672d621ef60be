/* ---- Kernels ---- */

/* Those in assembly are one string each, some longer than C99 wants compilers to take. */
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Woverlength-strings"
#endif

MCU_FUNCTION void _mcu_mve_float_sum_slice_105_float32(const float *x, float *y) {
    for (int32_t i0 = 0; i0 < 105; i0++) {
        *y++ = x[i0 + 105];
    }
}

/* y[n] = clamp(a[n] + b[n]), float32. y may lie on a or b. */
MCU_KERNEL void _mcu_mve_float_sum_add_f32_clamped_mve(const float *a MCU_UNUSED,
                                                       const float *b MCU_UNUSED,
                                                       float *y MCU_UNUSED,
                                                       uint32_t elements MCU_UNUSED) {
    /* clang-format off */
    __asm__(".syntax unified\n"
            "    push {r4, lr}\n"
            "    lsrs r4, r3, #4\n"                 /* rounds, elements, #4 */
            "    beq 2f\n"
            "    dls lr, r4\n"                      /* rounds_left, rounds */
            "1:\n"
            "    vldrw.u32 q0, [r0], #16\n"         /* a0, [a], #16 */
            "    vmov.i32 q3, #0\n"                 /* bound, #0 */
            "    vldrw.u32 q1, [r1], #16\n"         /* b0, [b], #16 */
            "    vadd.f32 q0, q0, q1\n"             /* a0, a0, b0 */
            "    vldrw.u32 q1, [r0], #16\n"         /* a1, [a], #16 */
            "    vmax.s32 q0, q0, q3\n"             /* a0, a0, bound */
            "    vldrw.u32 q2, [r1], #16\n"         /* b1, [b], #16 */
            "    vadd.f32 q1, q1, q2\n"             /* a1, a1, b1 */
            "    vstrw.32 q0, [r2], #16\n"          /* a0, [y], #16 */
            "    vmov.i32 q3, #0\n"                 /* bound, #0 */
            "    vldrw.u32 q2, [r0], #16\n"         /* a2, [a], #16 */
            "    vmax.s32 q1, q1, q3\n"             /* a1, a1, bound */
            "    vldrw.u32 q0, [r1], #16\n"         /* b2, [b], #16 */
            "    vadd.f32 q2, q2, q0\n"             /* a2, a2, b2 */
            "    vstrw.32 q1, [r2], #16\n"          /* a1, [y], #16 */
            "    vmov.i32 q3, #0\n"                 /* bound, #0 */
            "    vldrw.u32 q0, [r0], #16\n"         /* a0, [a], #16 */
            "    vmax.s32 q2, q2, q3\n"             /* a2, a2, bound */
            "    vldrw.u32 q1, [r1], #16\n"         /* b0, [b], #16 */
            "    vadd.f32 q0, q0, q1\n"             /* a0, a0, b0 */
            "    vmov.i32 q3, #0\n"                 /* bound, #0 */
            "    vstrw.32 q2, [r2], #16\n"          /* a2, [y], #16 */
            "    vmax.s32 q0, q0, q3\n"             /* a0, a0, bound */
            "    vstrw.32 q0, [r2], #16\n"          /* a0, [y], #16 */
            "    le lr, 1b\n"                       /* rounds_left */
            "2:\n"
            "    ands r3, r3, #15\n"                /* elements, elements, #15 */
            "    beq 4f\n"
            "    dlstp.32 lr, r3\n"                 /* rounds_left, elements */
            "3:\n"
            "    vldrw.u32 q0, [r0], #16\n"         /* a0, [a], #16 */
            "    vmov.i32 q3, #0\n"                 /* bound, #0 */
            "    vldrw.u32 q1, [r1], #16\n"         /* b0, [b], #16 */
            "    vadd.f32 q0, q0, q1\n"             /* a0, a0, b0 */
            "    vmax.s32 q0, q0, q3\n"             /* a0, a0, bound */
            "    vstrw.32 q0, [r2], #16\n"          /* a0, [y], #16 */
            "    letp lr, 3b\n"                     /* rounds_left */
            "4:\n"
            "    pop {r4, pc}\n");
    /* clang-format on */
}

/* ---- The layers, in the order of execution ---- */

/* clang-format off */
static void _mcu_mve_float_sum_layers(mcu_instance_t *instance) {
    uint8_t *const ws = instance->workspace;

    /* slice_2: Slice, of2: float32[210] -> float32[105] */
    float *const x = (float *)(ws + 0);
    float *const slice_2 = (float *)(ws + 848);
    MCU_LAYER(0, _mcu_mve_float_sum_slice_105_float32(x, slice_2));

    /* add_1: Add, layer0 (2 nodes): float32[1,3,5,7], float32[1,3,5,7] -> float32[1,3,5,7] */
    float *const of0 = (float *)(ws + 0);
    float *const add_1 = (float *)(ws + 848);
    MCU_LAYER(1, _mcu_mve_float_sum_add_f32_clamped_mve(of0, slice_2, add_1, 105U));
}

/* clang-format on */

