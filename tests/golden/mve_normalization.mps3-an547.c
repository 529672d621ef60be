/* ---- Kernels ---- */

/* Those in assembly are one string each, some longer than C99 wants compilers to take. */
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Woverlength-strings"
#endif

/* y[r][i] = sat(round(normal * gain[i] + bias[i]) + zero), with normal =
 * (20 * x[r][i] - sum) / sqrt(20 * squares - sum * sum + epsilon), of the
 * sums of a row; of float32 each operation is rounded. y may lie on x.
 * constants: epsilon; zero; of each four elements gain[4], bias[4]. */
MCU_KERNEL void _mcu_mve_normalization_layer_normalization_20_mve(
    const int8_t *x MCU_UNUSED, int8_t *y MCU_UNUSED, const uint32_t *constants MCU_UNUSED,
    uint32_t rows MCU_UNUSED) {
    /* clang-format off */
    __asm__(".syntax unified\n"
            "    push {r4-r7, lr}\n"
            "    vpush {d8-d10}\n"
            "    movw r5, #20\n"                    /* size, #20 */
            "    vdup.32 q0, r5\n"                  /* sizes, size */
            "    ldr r5, [r2], #4\n"                /* size, [constants], #4 */
            "    vmov s20, r5\n"                    /* epsilon, size */
            "    ldr r7, [r2], #4\n"                /* zero_point, [constants], #4 */
            "1:\n"
            "    vmov s21, r3\n"                    /* rows_left, rows */
            "    mov r3, r0\n"                      /* x_at, x */
            "    mov r4, #0\n"                      /* sum, #0 */
            "    mov r6, #0\n"                      /* squares, #0 */
            "    movw lr, #20\n"                    /* rounds_left, #20 */
            "    dlstp.8 lr, lr\n"                  /* rounds_left, rounds_left */
            "2:\n"
            "    vldrb.u8 q1, [r3], #16\n"          /* bytes, [x_at], #16 */
            "    vaddva.s8 r4, q1\n"                /* sum, bytes */
            "    vmladava.s8 r6, q1, q1\n"          /* squares, bytes, bytes */
            "    letp lr, 2b\n"                     /* rounds_left */
            "    movw r5, #20\n"                    /* size, #20 */
            "    mul r6, r6, r5\n"                  /* squares, squares, size */
            "    mls r6, r4, r4, r6\n"              /* squares, sum, sum, squares */
            "    vmov s4, r6\n"                     /* spread, squares */
            "    movw r6, #0\n"                     /* inverse, #0 */
            "    vcvt.f32.u32 s4, s4\n"             /* spread, spread */
            "    movt r6, #16256\n"                 /* inverse, #16256 */
            "    vmov s5, r6\n"                     /* one, inverse */
            "    rsb r4, r4, #0\n"                  /* sum, sum, #0 */
            "    vadd.f32 s4, s4, s20\n"            /* spread, spread, epsilon */
            "    mov r3, r2\n"                      /* gains, constants */
            "    lsrs r12, r5, #4\n"                /* rounds, size, #4 */
            "    vsqrt.f32 s4, s4\n"                /* spread, spread */
            "    vdiv.f32 s4, s5, s4\n"             /* spread, one, spread */
            "    vmov r6, s4\n"                     /* inverse, spread */
            "    beq 4f\n"
            "    dls lr, r12\n"                     /* rounds_left, rounds */
            "3:\n"
            "    vldrb.s32 q1, [r0], #4\n"          /* normal0, [x], #4 */
            "    vmlas.s32 q1, q0, r4\n"            /* normal0, sizes, sum */
            "    vldrw.u32 q2, [r3], #16\n"         /* gain, [gains], #16 */
            "    vcvt.f32.s32 q1, q1\n"             /* normal0, normal0 */
            "    vldrb.s32 q3, [r0], #4\n"          /* normal1, [x], #4 */
            "    vmul.f32 q1, q1, r6\n"             /* normal0, normal0, inverse */
            "    vldrb.s32 q4, [r0], #4\n"          /* normal2, [x], #4 */
            "    vmul.f32 q1, q1, q2\n"             /* normal0, normal0, gain */
            "    vldrw.u32 q2, [r3], #16\n"         /* gain, [gains], #16 */
            "    vadd.f32 q1, q1, q2\n"             /* normal0, normal0, gain */
            "    vldrw.u32 q2, [r3], #16\n"         /* gain, [gains], #16 */
            "    vmlas.s32 q3, q0, r4\n"            /* normal1, sizes, sum */
            "    vcvtn.s32.f32 q1, q1\n"            /* normal0, normal0 */
            "    vcvt.f32.s32 q3, q3\n"             /* normal1, normal1 */
            "    vqadd.s32 q1, q1, r7\n"            /* normal0, normal0, zero_point */
            "    vmul.f32 q3, q3, r6\n"             /* normal1, normal1, inverse */
            "    vqmovnb.s32 q1, q1\n"              /* normal0, normal0 */
            "    vmul.f32 q3, q3, q2\n"             /* normal1, normal1, gain */
            "    vqmovnb.s16 q1, q1\n"              /* normal0, normal0 */
            "    vldrw.u32 q2, [r3], #16\n"         /* gain, [gains], #16 */
            "    vadd.f32 q3, q3, q2\n"             /* normal1, normal1, gain */
            "    vstrb.32 q1, [r1], #4\n"           /* normal0, [y], #4 */
            "    vmlas.s32 q4, q0, r4\n"            /* normal2, sizes, sum */
            "    vcvtn.s32.f32 q3, q3\n"            /* normal1, normal1 */
            "    vldrw.u32 q2, [r3], #16\n"         /* gain, [gains], #16 */
            "    vcvt.f32.s32 q4, q4\n"             /* normal2, normal2 */
            "    vqadd.s32 q3, q3, r7\n"            /* normal1, normal1, zero_point */
            "    vmul.f32 q4, q4, r6\n"             /* normal2, normal2, inverse */
            "    vqmovnb.s32 q3, q3\n"              /* normal1, normal1 */
            "    vmul.f32 q4, q4, q2\n"             /* normal2, normal2, gain */
            "    vqmovnb.s16 q3, q3\n"              /* normal1, normal1 */
            "    vldrw.u32 q2, [r3], #16\n"         /* gain, [gains], #16 */
            "    vadd.f32 q4, q4, q2\n"             /* normal2, normal2, gain */
            "    vldrb.s32 q1, [r0], #4\n"          /* normal0, [x], #4 */
            "    vmlas.s32 q1, q0, r4\n"            /* normal0, sizes, sum */
            "    vstrb.32 q3, [r1], #4\n"           /* normal1, [y], #4 */
            "    vcvtn.s32.f32 q4, q4\n"            /* normal2, normal2 */
            "    vcvt.f32.s32 q1, q1\n"             /* normal0, normal0 */
            "    vqadd.s32 q4, q4, r7\n"            /* normal2, normal2, zero_point */
            "    vldrw.u32 q2, [r3], #16\n"         /* gain, [gains], #16 */
            "    vqmovnb.s32 q4, q4\n"              /* normal2, normal2 */
            "    vmul.f32 q1, q1, r6\n"             /* normal0, normal0, inverse */
            "    vqmovnb.s16 q4, q4\n"              /* normal2, normal2 */
            "    vmul.f32 q1, q1, q2\n"             /* normal0, normal0, gain */
            "    vldrw.u32 q2, [r3], #16\n"         /* gain, [gains], #16 */
            "    vadd.f32 q1, q1, q2\n"             /* normal0, normal0, gain */
            "    vstrb.32 q4, [r1], #4\n"           /* normal2, [y], #4 */
            "    vcvtn.s32.f32 q1, q1\n"            /* normal0, normal0 */
            "    vqadd.s32 q1, q1, r7\n"            /* normal0, normal0, zero_point */
            "    vqmovnb.s32 q1, q1\n"              /* normal0, normal0 */
            "    vqmovnb.s16 q1, q1\n"              /* normal0, normal0 */
            "    vstrb.32 q1, [r1], #4\n"           /* normal0, [y], #4 */
            "    le lr, 3b\n"                       /* rounds_left */
            "4:\n"
            "    ands r5, r5, #15\n"                /* size, size, #15 */
            "    beq 6f\n"
            "    dlstp.32 lr, r5\n"                 /* rounds_left, size */
            "5:\n"
            "    vldrb.s32 q1, [r0], #4\n"          /* normal0, [x], #4 */
            "    vmlas.s32 q1, q0, r4\n"            /* normal0, sizes, sum */
            "    vcvt.f32.s32 q1, q1\n"             /* normal0, normal0 */
            "    vldrw.u32 q2, [r3], #16\n"         /* gain, [gains], #16 */
            "    vmul.f32 q1, q1, r6\n"             /* normal0, normal0, inverse */
            "    vmul.f32 q1, q1, q2\n"             /* normal0, normal0, gain */
            "    vldrw.u32 q2, [r3], #16\n"         /* gain, [gains], #16 */
            "    vadd.f32 q1, q1, q2\n"             /* normal0, normal0, gain */
            "    vcvtn.s32.f32 q1, q1\n"            /* normal0, normal0 */
            "    vqadd.s32 q1, q1, r7\n"            /* normal0, normal0, zero_point */
            "    vqmovnb.s32 q1, q1\n"              /* normal0, normal0 */
            "    vqmovnb.s16 q1, q1\n"              /* normal0, normal0 */
            "    vstrb.32 q1, [r1], #4\n"           /* normal0, [y], #4 */
            "    letp lr, 5b\n"                     /* rounds_left */
            "6:\n"
            "    vmov r3, s21\n"                    /* rows, rows_left */
            "    subs r3, r3, #1\n"                 /* rows, rows, #1 */
            "    bne 1b\n"
            "    vpop {d8-d10}\n"
            "    pop {r4-r7, pc}\n");
    /* clang-format on */
}

/* ---- The layers, in the order of execution ---- */

/* clang-format off */
static void _mcu_mve_normalization_layers(mcu_instance_t *instance) {
    uint8_t *const ws = instance->workspace;

    /* layer_norm_1: LayerNormalization, normal0 (3 nodes): int8[6,20] -> int8[6,20] */
    int8_t *const int8 = (int8_t *)(ws + 0);
    int8_t *const layer_norm_1 = (int8_t *)(ws + 0);
    MCU_LAYER(0, _mcu_mve_normalization_layer_normalization_20_mve(
        int8, layer_norm_1, _mcu_mve_normalization_layer_norm_1_constants, 6U));
}

/* clang-format on */

