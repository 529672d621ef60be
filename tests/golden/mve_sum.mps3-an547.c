/* ---- Kernels ---- */

/* Those in assembly are one string each, some longer than C99 wants compilers to take. */
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Woverlength-strings"
#endif

MCU_FUNCTION void _mcu_mve_sum_slice_13_int8(const int8_t *x, int8_t *y) {
    for (int32_t i0 = 0; i0 < 13; i0++) {
        *y++ = x[i0 + 13];
    }
}

/* y = sat((a_scale * a + b_scale * b + offset) >> 21); y may lie on a or b.
 * constants: a_scale; b_scale; offset, less 2**20, as the last shift rounds. */
MCU_KERNEL void _mcu_mve_sum_add_int8_21_mve(const int8_t *a MCU_UNUSED, const int8_t *b MCU_UNUSED,
                                             int8_t *y MCU_UNUSED,
                                             const int32_t *constants MCU_UNUSED,
                                             uint32_t elements MCU_UNUSED) {
    /* clang-format off */
    __asm__(".syntax unified\n"
            "    ldr r12, [sp]\n"
            "    push {r4, r5, lr}\n"
            "    vpush {d8-d11}\n"
            "    ldmia r3, {r3-r5}\n"               /* constants, {a_scale, b_scale, offset} */
            "    vdup.32 q0, r3\n"                  /* a_scales, a_scale */
            "    lsrs r3, r12, #5\n"                /* rounds, elements, #5 */
            "    beq 2f\n"
            "    dls lr, r3\n"                      /* rounds_left, rounds */
            "1:\n"
            "    vldrb.s32 q1, [r0], #4\n"          /* a0, [a], #4 */
            "    vmlas.s32 q1, q0, r5\n"            /* a0, a_scales, offset */
            "    vldrb.s32 q2, [r1], #4\n"          /* b0, [b], #4 */
            "    vmla.s32 q1, q2, r4\n"             /* a0, b0, b_scale */
            "    vldrb.s32 q3, [r0], #4\n"          /* a1, [a], #4 */
            "    vshrnb.i32 q1, q1, #16\n"          /* a0, a0, #16 */
            "    vldrb.s32 q4, [r1], #4\n"          /* b1, [b], #4 */
            "    vmlas.s32 q3, q0, r5\n"            /* a1, a_scales, offset */
            "    vldrb.s32 q5, [r0], #4\n"          /* a2, [a], #4 */
            "    vqrshrnb.s16 q1, q1, #5\n"         /* a0, a0, #5 */
            "    vldrb.s32 q2, [r1], #4\n"          /* b0, [b], #4 */
            "    vmla.s32 q3, q4, r4\n"             /* a1, b1, b_scale */
            "    vstrb.32 q1, [r2], #4\n"           /* a0, [y], #4 */
            "    vshrnb.i32 q3, q3, #16\n"          /* a1, a1, #16 */
            "    vmlas.s32 q5, q0, r5\n"            /* a2, a_scales, offset */
            "    vldrb.s32 q1, [r0], #4\n"          /* a0, [a], #4 */
            "    vqrshrnb.s16 q3, q3, #5\n"         /* a1, a1, #5 */
            "    vldrb.s32 q4, [r1], #4\n"          /* b1, [b], #4 */
            "    vmla.s32 q5, q2, r4\n"             /* a2, b0, b_scale */
            "    vstrb.32 q3, [r2], #4\n"           /* a1, [y], #4 */
            "    vshrnb.i32 q5, q5, #16\n"          /* a2, a2, #16 */
            "    vmlas.s32 q1, q0, r5\n"            /* a0, a_scales, offset */
            "    vldrb.s32 q3, [r0], #4\n"          /* a1, [a], #4 */
            "    vqrshrnb.s16 q5, q5, #5\n"         /* a2, a2, #5 */
            "    vldrb.s32 q2, [r1], #4\n"          /* b0, [b], #4 */
            "    vmla.s32 q1, q4, r4\n"             /* a0, b1, b_scale */
            "    vstrb.32 q5, [r2], #4\n"           /* a2, [y], #4 */
            "    vshrnb.i32 q1, q1, #16\n"          /* a0, a0, #16 */
            "    vmlas.s32 q3, q0, r5\n"            /* a1, a_scales, offset */
            "    vldrb.s32 q5, [r0], #4\n"          /* a2, [a], #4 */
            "    vqrshrnb.s16 q1, q1, #5\n"         /* a0, a0, #5 */
            "    vldrb.s32 q4, [r1], #4\n"          /* b1, [b], #4 */
            "    vmla.s32 q3, q2, r4\n"             /* a1, b0, b_scale */
            "    vstrb.32 q1, [r2], #4\n"           /* a0, [y], #4 */
            "    vshrnb.i32 q3, q3, #16\n"          /* a1, a1, #16 */
            "    vmlas.s32 q5, q0, r5\n"            /* a2, a_scales, offset */
            "    vldrb.s32 q1, [r0], #4\n"          /* a0, [a], #4 */
            "    vqrshrnb.s16 q3, q3, #5\n"         /* a1, a1, #5 */
            "    vldrb.s32 q2, [r1], #4\n"          /* b0, [b], #4 */
            "    vmla.s32 q5, q4, r4\n"             /* a2, b1, b_scale */
            "    vstrb.32 q3, [r2], #4\n"           /* a1, [y], #4 */
            "    vshrnb.i32 q5, q5, #16\n"          /* a2, a2, #16 */
            "    vmlas.s32 q1, q0, r5\n"            /* a0, a_scales, offset */
            "    vldrb.s32 q3, [r0], #4\n"          /* a1, [a], #4 */
            "    vqrshrnb.s16 q5, q5, #5\n"         /* a2, a2, #5 */
            "    vldrb.s32 q4, [r1], #4\n"          /* b1, [b], #4 */
            "    vmla.s32 q1, q2, r4\n"             /* a0, b0, b_scale */
            "    vstrb.32 q5, [r2], #4\n"           /* a2, [y], #4 */
            "    vshrnb.i32 q1, q1, #16\n"          /* a0, a0, #16 */
            "    vmlas.s32 q3, q0, r5\n"            /* a1, a_scales, offset */
            "    vqrshrnb.s16 q1, q1, #5\n"         /* a0, a0, #5 */
            "    vmla.s32 q3, q4, r4\n"             /* a1, b1, b_scale */
            "    vstrb.32 q1, [r2], #4\n"           /* a0, [y], #4 */
            "    vshrnb.i32 q3, q3, #16\n"          /* a1, a1, #16 */
            "    vqrshrnb.s16 q3, q3, #5\n"         /* a1, a1, #5 */
            "    vstrb.32 q3, [r2], #4\n"           /* a1, [y], #4 */
            "    le lr, 1b\n"                       /* rounds_left */
            "2:\n"
            "    ands r12, r12, #31\n"              /* elements, elements, #31 */
            "    beq 4f\n"
            "    dlstp.32 lr, r12\n"                /* rounds_left, elements */
            "3:\n"
            "    vldrb.s32 q1, [r0], #4\n"          /* a0, [a], #4 */
            "    vmlas.s32 q1, q0, r5\n"            /* a0, a_scales, offset */
            "    vldrb.s32 q2, [r1], #4\n"          /* b0, [b], #4 */
            "    vmla.s32 q1, q2, r4\n"             /* a0, b0, b_scale */
            "    vshrnb.i32 q1, q1, #16\n"          /* a0, a0, #16 */
            "    vqrshrnb.s16 q1, q1, #5\n"         /* a0, a0, #5 */
            "    vstrb.32 q1, [r2], #4\n"           /* a0, [y], #4 */
            "    letp lr, 3b\n"                     /* rounds_left */
            "4:\n"
            "    vpop {d8-d11}\n"
            "    pop {r4, r5, pc}\n");
    /* clang-format on */
}

/* ---- The layers, in the order of execution ---- */

/* clang-format off */
static void _mcu_mve_sum_layers(mcu_instance_t *instance) {
    uint8_t *const ws = instance->workspace;

    /* slice_2: Slice, slice_3_7: int8[26] -> int8[13] */
    int8_t *const int8 = (int8_t *)(ws + 0);
    int8_t *const slice_2 = (int8_t *)(ws + 32);
    MCU_LAYER(0, _mcu_mve_sum_slice_13_int8(int8, slice_2));

    /* add_1: Add, sum0 (4 nodes): int8[1,13], int8[1,13] -> int8[1,13] */
    int8_t *const slice_0_2 = (int8_t *)(ws + 0);
    int8_t *const add_1 = (int8_t *)(ws + 32);
    MCU_LAYER(1, _mcu_mve_sum_add_int8_21_mve(slice_0_2, slice_2, add_1,
                                              _mcu_mve_sum_add_1_constants, 13U));
}

/* clang-format on */

