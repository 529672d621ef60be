/* ---- Kernels ---- */

/* Those in assembly are one string each, some longer than C99 wants compilers to take. */
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Woverlength-strings"
#endif

/* y[n] = x[n] * clamp(x[n] / 6 + 0.5), from 0 to 1, float32; NaN stays. y may lie on x. */
MCU_KERNEL void _mcu_mve_float_activation_hardswish_f32_mve(const float *x MCU_UNUSED,
                                                            float *y MCU_UNUSED,
                                                            uint32_t elements MCU_UNUSED) {
    /* clang-format off */
    __asm__(".syntax unified\n"
            "    push {r4, r5, lr}\n"
            "    movw r3, #43691\n"                 /* factor, #43691 */
            "    movt r3, #15914\n"                 /* factor, #15914 */
            "    movw r4, #0\n"                     /* addend, #0 */
            "    movt r4, #16128\n"                 /* addend, #16128 */
            "    lsrs r5, r2, #4\n"                 /* rounds, elements, #4 */
            "    beq 2f\n"
            "    dls lr, r5\n"                      /* rounds_left, rounds */
            "1:\n"
            "    vldrw.u32 q0, [r0], #16\n"         /* x0, [x], #16 */
            "    vmul.f32 q1, q0, r3\n"             /* free0, x0, factor */
            "    vmov.i32 q2, #0\n"                 /* bound, #0 */
            "    vadd.f32 q1, q1, r4\n"             /* free0, free0, addend */
            "    movw r5, #0\n"                     /* number, #0 */
            "    vmax.s32 q1, q1, q2\n"             /* free0, free0, bound */
            "    movt r5, #16256\n"                 /* number, #16256 */
            "    vcmp.f32 gt, q1, r5\n"             /* gt, free0, number */
            "    vmov.i32 q2, #0\n"                 /* bound, #0 */
            "    vpst\n"
            "    vdupt.32 q1, r5\n"                 /* free0, number */
            "    vmul.f32 q0, q0, q1\n"             /* x0, x0, free0 */
            "    vldrw.u32 q1, [r0], #16\n"         /* x1, [x], #16 */
            "    movw r5, #0\n"                     /* number, #0 */
            "    vstrw.32 q0, [r1], #16\n"          /* x0, [y], #16 */
            "    vmul.f32 q0, q1, r3\n"             /* free1, x1, factor */
            "    movt r5, #16256\n"                 /* number, #16256 */
            "    vadd.f32 q0, q0, r4\n"             /* free1, free1, addend */
            "    vldrw.u32 q3, [r0], #16\n"         /* x2, [x], #16 */
            "    vmax.s32 q0, q0, q2\n"             /* free1, free1, bound */
            "    vcmp.f32 gt, q0, r5\n"             /* gt, free1, number */
            "    vmov.i32 q2, #0\n"                 /* bound, #0 */
            "    vpst\n"
            "    vdupt.32 q0, r5\n"                 /* free1, number */
            "    vmul.f32 q1, q1, q0\n"             /* x1, x1, free1 */
            "    movw r5, #0\n"                     /* number, #0 */
            "    vmul.f32 q0, q3, r3\n"             /* free2, x2, factor */
            "    movt r5, #16256\n"                 /* number, #16256 */
            "    vadd.f32 q0, q0, r4\n"             /* free2, free2, addend */
            "    vstrw.32 q1, [r1], #16\n"          /* x1, [y], #16 */
            "    vmax.s32 q0, q0, q2\n"             /* free2, free2, bound */
            "    vcmp.f32 gt, q0, r5\n"             /* gt, free2, number */
            "    vmov.i32 q2, #0\n"                 /* bound, #0 */
            "    vpst\n"
            "    vdupt.32 q0, r5\n"                 /* free2, number */
            "    vmul.f32 q3, q3, q0\n"             /* x2, x2, free2 */
            "    vldrw.u32 q0, [r0], #16\n"         /* x0, [x], #16 */
            "    vmul.f32 q1, q0, r3\n"             /* free0, x0, factor */
            "    movw r5, #0\n"                     /* number, #0 */
            "    vadd.f32 q1, q1, r4\n"             /* free0, free0, addend */
            "    movt r5, #16256\n"                 /* number, #16256 */
            "    vmax.s32 q1, q1, q2\n"             /* free0, free0, bound */
            "    vcmp.f32 gt, q1, r5\n"             /* gt, free0, number */
            "    vstrw.32 q3, [r1], #16\n"          /* x2, [y], #16 */
            "    vpst\n"
            "    vdupt.32 q1, r5\n"                 /* free0, number */
            "    vmul.f32 q0, q0, q1\n"             /* x0, x0, free0 */
            "    vstrw.32 q0, [r1], #16\n"          /* x0, [y], #16 */
            "    le lr, 1b\n"                       /* rounds_left */
            "2:\n"
            "    ands r2, r2, #15\n"                /* elements, elements, #15 */
            "    beq 4f\n"
            "    dlstp.32 lr, r2\n"                 /* rounds_left, elements */
            "3:\n"
            "    vldrw.u32 q0, [r0], #16\n"         /* x0, [x], #16 */
            "    vmul.f32 q1, q0, r3\n"             /* free0, x0, factor */
            "    vmov.i32 q2, #0\n"                 /* bound, #0 */
            "    vadd.f32 q1, q1, r4\n"             /* free0, free0, addend */
            "    movw r5, #0\n"                     /* number, #0 */
            "    vmax.s32 q1, q1, q2\n"             /* free0, free0, bound */
            "    movt r5, #16256\n"                 /* number, #16256 */
            "    vcmp.f32 gt, q1, r5\n"             /* gt, free0, number */
            "    vpst\n"
            "    vdupt.32 q1, r5\n"                 /* free0, number */
            "    vmul.f32 q0, q0, q1\n"             /* x0, x0, free0 */
            "    vstrw.32 q0, [r1], #16\n"          /* x0, [y], #16 */
            "    letp lr, 3b\n"                     /* rounds_left */
            "4:\n"
            "    pop {r4, r5, pc}\n");
    /* clang-format on */
}

/* ---- The layers, in the order of execution ---- */

/* clang-format off */
static void _mcu_mve_float_activation_layers(mcu_instance_t *instance) {
    uint8_t *const ws = instance->workspace;

    /* hard_swish_1: HardSwish, layer0: float32[1,6,5,5] -> float32[1,6,5,5] */
    float *const x = (float *)(ws + 0);
    float *const hard_swish_1 = (float *)(ws + 0);
    MCU_LAYER(0, _mcu_mve_float_activation_hardswish_f32_mve(x, hard_swish_1, 150U));
}

/* clang-format on */

