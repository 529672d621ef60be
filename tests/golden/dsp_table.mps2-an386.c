/* ---- Kernels ---- */

/* Those in assembly are one string each, some longer than C99 wants compilers to take. */
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Woverlength-strings"
#endif

/* y[i] = table[x[i]]; y may lie on x. */
MCU_KERNEL void _mcu_dsp_table_table_dsp(const int8_t *x MCU_UNUSED, int8_t *y MCU_UNUSED,
                                         const uint8_t *table MCU_UNUSED,
                                         uint32_t elements MCU_UNUSED) {
    /* clang-format off */
    __asm__(".syntax unified\n"
            "    push {r4-r9, lr}\n"
            "    add r4, r1, r3\n"                  /* end, y, elements */
            "    vmov s0, r4\n"                     /* end_of_all, end */
            "    bic r3, r3, #15\n"                 /* elements, elements, #15 */
            "    add r4, r1, r3\n"                  /* end, y, elements */
            "    cmp r1, r4\n"                      /* y, end */
            "    beq 2f\n"
            /* Elements, then what the table has for them. */
            "1:\n"
            "    ldrb r3, [r0]\n"                   /* byte0, [x] */
            "    ldrb r5, [r0, #1]\n"               /* byte1, [x, #1] */
            "    ldrb r6, [r0, #2]\n"               /* byte2, [x, #2] */
            "    ldrb r7, [r0, #3]\n"               /* byte3, [x, #3] */
            "    ldrb r12, [r0, #4]\n"              /* byte4, [x, #4] */
            "    ldrb lr, [r0, #5]\n"               /* byte5, [x, #5] */
            "    ldrb r8, [r0, #6]\n"               /* byte6, [x, #6] */
            "    ldrb r9, [r0, #7]\n"               /* byte7, [x, #7] */
            "    ldrb r3, [r2, r3]\n"               /* byte0, [table, byte0] */
            "    ldrb r5, [r2, r5]\n"               /* byte1, [table, byte1] */
            "    ldrb r6, [r2, r6]\n"               /* byte2, [table, byte2] */
            "    ldrb r7, [r2, r7]\n"               /* byte3, [table, byte3] */
            "    ldrb r12, [r2, r12]\n"             /* byte4, [table, byte4] */
            "    ldrb lr, [r2, lr]\n"               /* byte5, [table, byte5] */
            "    ldrb r8, [r2, r8]\n"               /* byte6, [table, byte6] */
            "    ldrb r9, [r2, r9]\n"               /* byte7, [table, byte7] */
            "    strb r3, [r1]\n"                   /* byte0, [y] */
            "    strb r5, [r1, #1]\n"               /* byte1, [y, #1] */
            "    strb r6, [r1, #2]\n"               /* byte2, [y, #2] */
            "    strb r7, [r1, #3]\n"               /* byte3, [y, #3] */
            "    strb r12, [r1, #4]\n"              /* byte4, [y, #4] */
            "    strb lr, [r1, #5]\n"               /* byte5, [y, #5] */
            "    strb r8, [r1, #6]\n"               /* byte6, [y, #6] */
            "    strb r9, [r1, #7]\n"               /* byte7, [y, #7] */
            "    ldrb r3, [r0, #8]\n"               /* byte0, [x, #8] */
            "    ldrb r5, [r0, #9]\n"               /* byte1, [x, #9] */
            "    ldrb r6, [r0, #10]\n"              /* byte2, [x, #10] */
            "    ldrb r7, [r0, #11]\n"              /* byte3, [x, #11] */
            "    ldrb r12, [r0, #12]\n"             /* byte4, [x, #12] */
            "    ldrb lr, [r0, #13]\n"              /* byte5, [x, #13] */
            "    ldrb r8, [r0, #14]\n"              /* byte6, [x, #14] */
            "    ldrb r9, [r0, #15]\n"              /* byte7, [x, #15] */
            "    ldrb r3, [r2, r3]\n"               /* byte0, [table, byte0] */
            "    ldrb r5, [r2, r5]\n"               /* byte1, [table, byte1] */
            "    ldrb r6, [r2, r6]\n"               /* byte2, [table, byte2] */
            "    ldrb r7, [r2, r7]\n"               /* byte3, [table, byte3] */
            "    ldrb r12, [r2, r12]\n"             /* byte4, [table, byte4] */
            "    ldrb lr, [r2, lr]\n"               /* byte5, [table, byte5] */
            "    ldrb r8, [r2, r8]\n"               /* byte6, [table, byte6] */
            "    ldrb r9, [r2, r9]\n"               /* byte7, [table, byte7] */
            "    strb r3, [r1, #8]\n"               /* byte0, [y, #8] */
            "    strb r5, [r1, #9]\n"               /* byte1, [y, #9] */
            "    strb r6, [r1, #10]\n"              /* byte2, [y, #10] */
            "    strb r7, [r1, #11]\n"              /* byte3, [y, #11] */
            "    strb r12, [r1, #12]\n"             /* byte4, [y, #12] */
            "    strb lr, [r1, #13]\n"              /* byte5, [y, #13] */
            "    strb r8, [r1, #14]\n"              /* byte6, [y, #14] */
            "    strb r9, [r1, #15]\n"              /* byte7, [y, #15] */
            "    add r0, r0, #16\n"                 /* x, x, #16 */
            "    add r1, r1, #16\n"                 /* y, y, #16 */
            "    cmp r1, r4\n"                      /* y, end */
            "    bne 1b\n"
            "2:\n"
            "    vmov r4, s0\n"                     /* end, end_of_all */
            "    cmp r1, r4\n"                      /* y, end */
            "    beq 4f\n"
            "3:\n"
            "    ldrb r3, [r0], #1\n"               /* byte0, [x], #1 */
            "    ldrb r3, [r2, r3]\n"               /* byte0, [table, byte0] */
            "    strb r3, [r1], #1\n"               /* byte0, [y], #1 */
            "    cmp r1, r4\n"                      /* y, end */
            "    bne 3b\n"
            "4:\n"
            "    pop {r4-r9, pc}\n");
    /* clang-format on */
}

/* ---- The layers, in the order of execution ---- */

/* clang-format off */
static void _mcu_dsp_table_layers(mcu_instance_t *instance) {
    uint8_t *const ws = instance->workspace;

    /* tanh_1: Tanh, table0 (3 nodes): int8[1,1] -> int8[1,1] */
    int8_t *const int8 = (int8_t *)(ws + 0);
    int8_t *const tanh_1 = (int8_t *)(ws + 0);
    MCU_LAYER(0, _mcu_dsp_table_table_dsp(int8, tanh_1, _mcu_dsp_table_tanh_1_table, 1U));
}

/* clang-format on */

