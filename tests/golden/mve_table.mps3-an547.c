/* ---- Kernels ---- */

/* Those in assembly are one string each, some longer than C99 wants compilers to take. */
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Woverlength-strings"
#endif

/* y[i] = table[x[i]]; y may lie on x. */
MCU_KERNEL void _mcu_mve_table_table_mve(const int8_t *x MCU_UNUSED, int8_t *y MCU_UNUSED,
                                         const uint8_t *table MCU_UNUSED,
                                         uint32_t elements MCU_UNUSED) {
    /* clang-format off */
    __asm__(".syntax unified\n"
            "    push {lr}\n"
            "    dlstp.8 lr, r3\n"                  /* rounds_left, elements */
            "1:\n"
            "    vldrb.u8 q0, [r0], #16\n"          /* bytes, [x], #16 */
            "    vldrb.u8 q1, [r2, q0]\n"           /* found, [table, bytes] */
            "    vstrb.8 q1, [r1], #16\n"           /* found, [y], #16 */
            "    letp lr, 1b\n"                     /* rounds_left */
            "    pop {pc}\n");
    /* clang-format on */
}

/* ---- The layers, in the order of execution ---- */

/* clang-format off */
static void _mcu_mve_table_layers(mcu_instance_t *instance) {
    uint8_t *const ws = instance->workspace;

    /* tanh_1: Tanh, table0 (3 nodes): int8[1,1] -> int8[1,1] */
    int8_t *const int8 = (int8_t *)(ws + 0);
    int8_t *const tanh_1 = (int8_t *)(ws + 0);
    MCU_LAYER(0, _mcu_mve_table_table_mve(int8, tanh_1, _mcu_mve_table_tanh_1_table, 1U));
}

/* clang-format on */

