/* ---- Kernels ---- */

/* Those in assembly are one string each, some longer than C99 wants compilers to take. */
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Woverlength-strings"
#endif

MCU_FUNCTION void _mcu_dsp_product_slice_31_int8(const int8_t *x, int8_t *y) {
    for (int32_t i0 = 0; i0 < 31; i0++) {
        *y++ = x[i0 + 31];
    }
}

/* y = sat((((a - a_zero) * (b - b_zero) + move) * scale >> 32) + addend >> 4).
 * constants: move; -a_zero, twice in a word; -b_zero, the same; scale; the bytes of a
 * run's whole words; addend; the loops'. */
MCU_KERNEL void _mcu_dsp_product_mul_int8_int8_int8_4_and_3_dsp(
    const int8_t *a MCU_UNUSED, const int8_t *b MCU_UNUSED, int8_t *y MCU_UNUSED,
    const int32_t *constants MCU_UNUSED) {
    /* clang-format off */
    __asm__(".syntax unified\n"
            "    push {r4-r11, lr}\n"
            /* constants, {move, minus_a_zero, minus_b_zero, scale, end, addend} */
            "    ldmia r3, {r3-r8}\n"
            "    add r7, r7, r2\n"                  /* end, end, y */
            /* Elements without their zero points, multiplied, scaled, shifted, saturated. */
            "1:\n"
            "    ldr r12, [r0], #4\n"               /* a, [a], #4 */
            "    ldr lr, [r1], #4\n"                /* b, [b], #4 */
            "    sxtab16 r10, r4, r12\n"            /* a_even, minus_a_zero, a */
            "    sxtab16 r12, r4, r12, ror #8\n"    /* a, minus_a_zero, a, ror #8 */
            "    sxtab16 r11, r5, lr\n"             /* b_even, minus_b_zero, b */
            "    sxtab16 lr, r5, lr, ror #8\n"      /* b, minus_b_zero, b, ror #8 */
            "    smlabb r9, r10, r11, r3\n"         /* product, a_even, b_even, move */
            "    smlatt r10, r10, r11, r3\n"        /* a_even, a_even, b_even, move */
            "    smlabb r11, r12, lr, r3\n"         /* b_even, a, b, move */
            "    smlatt r12, r12, lr, r3\n"         /* a, a, b, move */
            "    smmla r9, r9, r6, r8\n"            /* product, product, scale, addend */
            "    smmla r11, r11, r6, r8\n"          /* b_even, b_even, scale, addend */
            "    smmla r10, r10, r6, r8\n"          /* a_even, a_even, scale, addend */
            "    smmla r12, r12, r6, r8\n"          /* a, a, scale, addend */
            "    ssat r9, #8, r9, asr #4\n"         /* product, #8, product, asr #4 */
            "    ssat r11, #8, r11, asr #4\n"       /* b_even, #8, b_even, asr #4 */
            "    ssat r10, #8, r10, asr #4\n"       /* a_even, #8, a_even, asr #4 */
            "    ssat r12, #8, r12, asr #4\n"       /* a, #8, a, asr #4 */
            "    bfi r9, r11, #8, #8\n"             /* product, b_even, #8, #8 */
            "    bfi r10, r12, #8, #8\n"            /* a_even, a, #8, #8 */
            "    pkhbt r9, r9, r10, lsl #16\n"      /* product, product, a_even, lsl #16 */
            "    str r9, [r2], #4\n"                /* product, [y], #4 */
            "    cmp r2, r7\n"                      /* y, end */
            "    bne 1b\n"
            "    ldrb r12, [r0], #1\n"              /* a, [a], #1 */
            "    ldrb lr, [r1], #1\n"               /* b, [b], #1 */
            "    sxtab16 r12, r4, r12\n"            /* a, minus_a_zero, a */
            "    sxtab16 lr, r5, lr\n"              /* b, minus_b_zero, b */
            "    smlabb r12, r12, lr, r3\n"         /* a, a, b, move */
            "    smmla r12, r12, r6, r8\n"          /* a, a, scale, addend */
            "    ssat r12, #8, r12, asr #4\n"       /* a, #8, a, asr #4 */
            "    strb r12, [r2], #1\n"              /* a, [y], #1 */
            "    ldrb r12, [r0], #1\n"              /* a, [a], #1 */
            "    ldrb lr, [r1], #1\n"               /* b, [b], #1 */
            "    sxtab16 r12, r4, r12\n"            /* a, minus_a_zero, a */
            "    sxtab16 lr, r5, lr\n"              /* b, minus_b_zero, b */
            "    smlabb r12, r12, lr, r3\n"         /* a, a, b, move */
            "    smmla r12, r12, r6, r8\n"          /* a, a, scale, addend */
            "    ssat r12, #8, r12, asr #4\n"       /* a, #8, a, asr #4 */
            "    strb r12, [r2], #1\n"              /* a, [y], #1 */
            "    ldrb r12, [r0], #1\n"              /* a, [a], #1 */
            "    ldrb lr, [r1], #1\n"               /* b, [b], #1 */
            "    sxtab16 r12, r4, r12\n"            /* a, minus_a_zero, a */
            "    sxtab16 lr, r5, lr\n"              /* b, minus_b_zero, b */
            "    smlabb r12, r12, lr, r3\n"         /* a, a, b, move */
            "    smmla r12, r12, r6, r8\n"          /* a, a, scale, addend */
            "    ssat r12, #8, r12, asr #4\n"       /* a, #8, a, asr #4 */
            "    strb r12, [r2], #1\n"              /* a, [y], #1 */
            "    pop {r4-r11, pc}\n");
    /* clang-format on */
}

/* ---- The layers, in the order of execution ---- */

/* clang-format off */
static void _mcu_dsp_product_layers(mcu_instance_t *instance) {
    uint8_t *const ws = instance->workspace;

    /* slice_2: Slice, slice_3_7: int8[62] -> int8[31] */
    int8_t *const int8 = (int8_t *)(ws + 0);
    int8_t *const slice_2 = (int8_t *)(ws + 64);
    MCU_LAYER(0, _mcu_dsp_product_slice_31_int8(int8, slice_2));

    /* mul_1: Mul, sum0 (4 nodes): int8[1,31], int8[1,31] -> int8[1,31] */
    int8_t *const slice_0_2 = (int8_t *)(ws + 0);
    int8_t *const mul_1 = (int8_t *)(ws + 64);
    MCU_LAYER(1, _mcu_dsp_product_mul_int8_int8_int8_4_and_3_dsp(slice_0_2, slice_2, mul_1,
                                                                 _mcu_dsp_product_mul_1_constants));
}

/* clang-format on */

