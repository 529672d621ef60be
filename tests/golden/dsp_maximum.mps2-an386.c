/* ---- Kernels ---- */

/* Those in assembly are one string each, some longer than C99 wants compilers to take. */
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Woverlength-strings"
#endif

MCU_FUNCTION void _mcu_dsp_maximum_slice_38_int8(const int8_t *x, int8_t *y) {
    for (int32_t i0 = 0; i0 < 38; i0++) {
        *y++ = x[i0 + 38];
    }
}

/* y = max(a, b). constants: the bytes of a run's whole words; the loops'. */
MCU_KERNEL void _mcu_dsp_maximum_max_int8_and_2_dsp(const int8_t *a MCU_UNUSED,
                                                    const int8_t *b MCU_UNUSED,
                                                    int8_t *y MCU_UNUSED,
                                                    const int32_t *constants MCU_UNUSED) {
    /* clang-format off */
    __asm__(".syntax unified\n"
            "    push {r4-r6}\n"
            "    ldmia r3, {r4}\n"                  /* constants, {end} */
            "    add r4, r4, r2\n"                  /* end, end, y */
            "1:\n"
            "    ldr r3, [r0], #4\n"                /* a_word, [a], #4 */
            "    ldr r5, [r1], #4\n"                /* b_word, [b], #4 */
            "    ssub8 r6, r3, r5\n"                /* difference, a_word, b_word */
            "    sel r3, r3, r5\n"                  /* a_word, a_word, b_word */
            "    str r3, [r2], #4\n"                /* a_word, [y], #4 */
            "    cmp r2, r4\n"                      /* y, end */
            "    bne 1b\n"
            "    ldrb r3, [r0], #1\n"               /* a_word, [a], #1 */
            "    ldrb r5, [r1], #1\n"               /* b_word, [b], #1 */
            "    ssub8 r6, r3, r5\n"                /* difference, a_word, b_word */
            "    sel r3, r3, r5\n"                  /* a_word, a_word, b_word */
            "    strb r3, [r2], #1\n"               /* a_word, [y], #1 */
            "    ldrb r3, [r0], #1\n"               /* a_word, [a], #1 */
            "    ldrb r5, [r1], #1\n"               /* b_word, [b], #1 */
            "    ssub8 r6, r3, r5\n"                /* difference, a_word, b_word */
            "    sel r3, r3, r5\n"                  /* a_word, a_word, b_word */
            "    strb r3, [r2], #1\n"               /* a_word, [y], #1 */
            "    pop {r4-r6}\n"
            "    bx lr\n");
    /* clang-format on */
}

/* ---- The layers, in the order of execution ---- */

/* clang-format off */
static void _mcu_dsp_maximum_layers(mcu_instance_t *instance) {
    uint8_t *const ws = instance->workspace;

    /* slice_2: Slice, slice_3_7: int8[76] -> int8[38] */
    int8_t *const int8 = (int8_t *)(ws + 0);
    int8_t *const slice_2 = (int8_t *)(ws + 80);
    MCU_LAYER(0, _mcu_dsp_maximum_slice_38_int8(int8, slice_2));

    /* max_1: Max, sum0 (4 nodes): int8[1,38], int8[1,38] -> int8[1,38] */
    int8_t *const slice_0_2 = (int8_t *)(ws + 0);
    int8_t *const max_1 = (int8_t *)(ws + 80);
    MCU_LAYER(1, _mcu_dsp_maximum_max_int8_and_2_dsp(slice_0_2, slice_2, max_1,
                                                     _mcu_dsp_maximum_max_1_constants));
}

/* clang-format on */

