/* ---- Kernels ---- */

/* Those in assembly are one string each, some longer than C99 wants compilers to take. */
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Woverlength-strings"
#endif

MCU_FUNCTION void _mcu_dsp_sum_slice_8_int8(const int8_t *x, int8_t *y) {
    for (int32_t i0 = 0; i0 < 8; i0++) {
        *y++ = x[i0 + 8];
    }
}

/* y = sat((offset + (a_scale * 256 a >> 16) + (b_scale * 256 b >> 16)) >> 21).
 * constants: a_scale; b_scale; offset; the bytes of a run's whole words; the loops'. */
MCU_KERNEL void _mcu_dsp_sum_add_int8_21_dsp(const int8_t *a MCU_UNUSED, const int8_t *b MCU_UNUSED,
                                             int8_t *y MCU_UNUSED,
                                             const int32_t *constants MCU_UNUSED) {
    /* clang-format off */
    __asm__(".syntax unified\n"
            "    push {r4-r11, lr}\n"
            /* constants, {a_scale, b_scale, offset, run_bytes} */
            "    ldmia r3, {r3-r6}\n"
            "    add r6, r6, r2\n"                  /* run_bytes, run_bytes, y */
            "    vmov s0, r6\n"                     /* end, run_bytes */
            "    mov r12, #0xff00ff00\n"            /* odd_bytes, #0xff00ff00 */
            /* Each element times its operand's scale (SMLAW), added, shifted, saturated. */
            "1:\n"
            "    ldmia r0!, {r6, lr}\n"             /* a!, {a0123, a4567} */
            "    ldmia r1!, {r7, r8}\n"             /* b!, {b0123, b4567} */
            "    and r9, r12, r6, lsl #8\n"         /* a_even, odd_bytes, a0123, lsl #8 */
            "    and r6, r6, r12\n"                 /* a0123, a0123, odd_bytes */
            "    and r10, r12, r7, lsl #8\n"        /* b_even, odd_bytes, b0123, lsl #8 */
            "    and r7, r7, r12\n"                 /* b0123, b0123, odd_bytes */
            "    smlawt r11, r3, r9, r5\n"          /* sum, a_scale, a_even, offset */
            "    smlawt r11, r4, r10, r11\n"        /* sum, b_scale, b_even, sum */
            "    smlawb r9, r3, r9, r5\n"           /* a_even, a_scale, a_even, offset */
            "    smlawb r9, r4, r10, r9\n"          /* a_even, b_scale, b_even, a_even */
            "    smlawt r10, r3, r6, r5\n"          /* b_even, a_scale, a0123, offset */
            "    smlawt r10, r4, r7, r10\n"         /* b_even, b_scale, b0123, b_even */
            "    smlawb r6, r3, r6, r5\n"           /* a0123, a_scale, a0123, offset */
            "    smlawb r6, r4, r7, r6\n"           /* a0123, b_scale, b0123, a0123 */
            "    ssat r9, #8, r9, asr #21\n"        /* a_even, #8, a_even, asr #21 */
            "    ssat r11, #8, r11, asr #21\n"      /* sum, #8, sum, asr #21 */
            "    ssat r6, #8, r6, asr #21\n"        /* a0123, #8, a0123, asr #21 */
            "    ssat r10, #8, r10, asr #21\n"      /* b_even, #8, b_even, asr #21 */
            "    bfi r9, r6, #8, #8\n"              /* a_even, a0123, #8, #8 */
            "    bfi r11, r10, #8, #8\n"            /* sum, b_even, #8, #8 */
            "    pkhbt r9, r9, r11, lsl #16\n"      /* a_even, a_even, sum, lsl #16 */
            "    str r9, [r2], #4\n"                /* a_even, [y], #4 */
            "    and r9, r12, lr, lsl #8\n"         /* a_even, odd_bytes, a4567, lsl #8 */
            "    and lr, lr, r12\n"                 /* a4567, a4567, odd_bytes */
            "    and r10, r12, r8, lsl #8\n"        /* b_even, odd_bytes, b4567, lsl #8 */
            "    and r8, r8, r12\n"                 /* b4567, b4567, odd_bytes */
            "    smlawt r11, r3, r9, r5\n"          /* sum, a_scale, a_even, offset */
            "    smlawt r11, r4, r10, r11\n"        /* sum, b_scale, b_even, sum */
            "    smlawb r9, r3, r9, r5\n"           /* a_even, a_scale, a_even, offset */
            "    smlawb r9, r4, r10, r9\n"          /* a_even, b_scale, b_even, a_even */
            "    smlawt r10, r3, lr, r5\n"          /* b_even, a_scale, a4567, offset */
            "    smlawt r10, r4, r8, r10\n"         /* b_even, b_scale, b4567, b_even */
            "    smlawb lr, r3, lr, r5\n"           /* a4567, a_scale, a4567, offset */
            "    smlawb lr, r4, r8, lr\n"           /* a4567, b_scale, b4567, a4567 */
            "    ssat r9, #8, r9, asr #21\n"        /* a_even, #8, a_even, asr #21 */
            "    ssat r11, #8, r11, asr #21\n"      /* sum, #8, sum, asr #21 */
            "    ssat lr, #8, lr, asr #21\n"        /* a4567, #8, a4567, asr #21 */
            "    ssat r10, #8, r10, asr #21\n"      /* b_even, #8, b_even, asr #21 */
            "    bfi r9, lr, #8, #8\n"              /* a_even, a4567, #8, #8 */
            "    bfi r11, r10, #8, #8\n"            /* sum, b_even, #8, #8 */
            "    pkhbt r9, r9, r11, lsl #16\n"      /* a_even, a_even, sum, lsl #16 */
            "    str r9, [r2], #4\n"                /* a_even, [y], #4 */
            "    vmov r11, s0\n"                    /* sum, end */
            "    cmp r2, r11\n"                     /* y, sum */
            "    bne 1b\n"
            "    pop {r4-r11, pc}\n");
    /* clang-format on */
}

/* ---- The layers, in the order of execution ---- */

/* clang-format off */
static void _mcu_dsp_sum_layers(mcu_instance_t *instance) {
    uint8_t *const ws = instance->workspace;

    /* slice_2: Slice, slice_3_7: int8[16] -> int8[8] */
    int8_t *const int8 = (int8_t *)(ws + 0);
    int8_t *const slice_2 = (int8_t *)(ws + 16);
    MCU_LAYER(0, _mcu_dsp_sum_slice_8_int8(int8, slice_2));

    /* add_1: Add, sum0 (4 nodes): int8[1,8], int8[1,8] -> int8[1,8] */
    int8_t *const slice_0_2 = (int8_t *)(ws + 0);
    int8_t *const add_1 = (int8_t *)(ws + 0);
    MCU_LAYER(1, _mcu_dsp_sum_add_int8_21_dsp(slice_0_2, slice_2, add_1,
                                              _mcu_dsp_sum_add_1_constants));
}

/* clang-format on */

