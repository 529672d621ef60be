/* ---- Kernels ---- */

/* Those in assembly are one string each, some longer than C99 wants compilers to take. */
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Woverlength-strings"
#endif

MCU_FUNCTION void _mcu_dsp_pools_reorder_64x64_int8(const int8_t *x, int8_t *y) {
    for (int32_t i0 = 0; i0 < 64; i0++) {
        for (int32_t i1 = 0; i1 < 64; i1++) {
            *y++ = x[i0 + i1 * 64];
        }
    }
}

MCU_FUNCTION void _mcu_dsp_pools_slice_8192_int8(const int8_t *x, int8_t *y) {
    for (int32_t i0 = 0; i0 < 8192; i0++) {
        *y++ = x[i0];
    }
}

/* y[p][c] = sat((sum * 2**16 * scale >> 32) + addend >> 20),
 * sum = start + all x[q][c] of the 8x8 window of pixel p. x and y have 64 channels, which lie
 * last.
 * constants: start, in both halves of a word; scale; addend; of float32 the scale of x, a
 * window's pixels, the scale of y.
 * scratch: the sums of a pixel, int16: of four channels the first, third, second, fourth.
 * In place: a window is read before its pixel is written.
 * But what is next to the middle of two outputs is then summed again. */
MCU_KERNEL void _mcu_dsp_pools_avg_pool8x8_64_dsp(const int8_t *x MCU_UNUSED, int8_t *y MCU_UNUSED,
                                                  const uint32_t *constants MCU_UNUSED,
                                                  uint8_t *scratch MCU_UNUSED) {
    /* clang-format off */
    __asm__(".syntax unified\n"
            "    push {r4-r11, lr}\n"
            "    vmov s0, r0\n"                     /* window, x */
            "    vmov s1, r1\n"                     /* pixel_y, y */
            "    vmov s2, r3\n"                     /* sums, scratch */
            /* Of each window the sum of each channel, four channels a word. */
            "    ldr r0, [r2], #4\n"                /* constant, [constants], #4 */
            "    vmov s3, r0\n"                     /* start, constant */
            "    ldr r0, [r2], #4\n"                /* constant, [constants], #4 */
            "    vmov s4, r0\n"                     /* scale, constant */
            "    ldr r0, [r2], #4\n"                /* constant, [constants], #4 */
            "    vmov s5, r0\n"                     /* addend, constant */
            "    ldr r0, [r2], #4\n"                /* constant, [constants], #4 */
            "    vmov s6, r0\n"                     /* x_scale, constant */
            "    ldr r0, [r2], #4\n"                /* constant, [constants], #4 */
            "    vmov s7, r0\n"                     /* count, constant */
            "    ldr r0, [r2], #4\n"                /* constant, [constants], #4 */
            "    vmov s8, r0\n"                     /* y_scale, constant */
            "    vmov r9, s0\n"                     /* x_at, window */
            "    vmov s9, r9\n"                     /* block, x_at */
            "    vmov r5, s2\n"                     /* sums_at, sums */
            "    vmov s10, r5\n"                    /* block_sums, sums_at */
            "    movw r0, #4\n"                     /* count, #4 */
            "    vmov s11, r0\n"                    /* blocks_left, count */
            "1:\n"
            "    vmov r0, s3\n"                     /* even0, start */
            "    mov r1, r0\n"                      /* odd0, even0 */
            "    mov r2, r0\n"                      /* even1, even0 */
            "    mov r3, r0\n"                      /* odd1, even0 */
            "    mov r4, r0\n"                      /* even2, even0 */
            "    mov r6, r0\n"                      /* odd2, even0 */
            "    mov r12, r0\n"                     /* even3, even0 */
            "    mov lr, r0\n"                      /* odd3, even0 */
            "    movw r10, #16\n"                   /* rows_left, #16 */
            "2:\n"
            "    ldmia r9!, {r5, r7, r8, r11}\n"    /* x_at!, {x0, x1, x2, x3} */
            "    sxtab16 r0, r0, r5\n"              /* even0, even0, x0 */
            "    sxtab16 r1, r1, r5, ror #8\n"      /* odd0, odd0, x0, ror #8 */
            "    sxtab16 r2, r2, r7\n"              /* even1, even1, x1 */
            "    sxtab16 r3, r3, r7, ror #8\n"      /* odd1, odd1, x1, ror #8 */
            "    sxtab16 r4, r4, r8\n"              /* even2, even2, x2 */
            "    sxtab16 r6, r6, r8, ror #8\n"      /* odd2, odd2, x2, ror #8 */
            "    sxtab16 r12, r12, r11\n"           /* even3, even3, x3 */
            "    sxtab16 lr, lr, r11, ror #8\n"     /* odd3, odd3, x3, ror #8 */
            "    add r9, r9, #48\n"                 /* x_at, x_at, #48 */
            "    ldmia r9!, {r5, r7, r8, r11}\n"    /* x_at!, {x0, x1, x2, x3} */
            "    sxtab16 r0, r0, r5\n"              /* even0, even0, x0 */
            "    sxtab16 r1, r1, r5, ror #8\n"      /* odd0, odd0, x0, ror #8 */
            "    sxtab16 r2, r2, r7\n"              /* even1, even1, x1 */
            "    sxtab16 r3, r3, r7, ror #8\n"      /* odd1, odd1, x1, ror #8 */
            "    sxtab16 r4, r4, r8\n"              /* even2, even2, x2 */
            "    sxtab16 r6, r6, r8, ror #8\n"      /* odd2, odd2, x2, ror #8 */
            "    sxtab16 r12, r12, r11\n"           /* even3, even3, x3 */
            "    sxtab16 lr, lr, r11, ror #8\n"     /* odd3, odd3, x3, ror #8 */
            "    add r9, r9, #48\n"                 /* x_at, x_at, #48 */
            "    ldmia r9!, {r5, r7, r8, r11}\n"    /* x_at!, {x0, x1, x2, x3} */
            "    sxtab16 r0, r0, r5\n"              /* even0, even0, x0 */
            "    sxtab16 r1, r1, r5, ror #8\n"      /* odd0, odd0, x0, ror #8 */
            "    sxtab16 r2, r2, r7\n"              /* even1, even1, x1 */
            "    sxtab16 r3, r3, r7, ror #8\n"      /* odd1, odd1, x1, ror #8 */
            "    sxtab16 r4, r4, r8\n"              /* even2, even2, x2 */
            "    sxtab16 r6, r6, r8, ror #8\n"      /* odd2, odd2, x2, ror #8 */
            "    sxtab16 r12, r12, r11\n"           /* even3, even3, x3 */
            "    sxtab16 lr, lr, r11, ror #8\n"     /* odd3, odd3, x3, ror #8 */
            "    add r9, r9, #48\n"                 /* x_at, x_at, #48 */
            "    ldmia r9!, {r5, r7, r8, r11}\n"    /* x_at!, {x0, x1, x2, x3} */
            "    sxtab16 r0, r0, r5\n"              /* even0, even0, x0 */
            "    sxtab16 r1, r1, r5, ror #8\n"      /* odd0, odd0, x0, ror #8 */
            "    sxtab16 r2, r2, r7\n"              /* even1, even1, x1 */
            "    sxtab16 r3, r3, r7, ror #8\n"      /* odd1, odd1, x1, ror #8 */
            "    sxtab16 r4, r4, r8\n"              /* even2, even2, x2 */
            "    sxtab16 r6, r6, r8, ror #8\n"      /* odd2, odd2, x2, ror #8 */
            "    sxtab16 r12, r12, r11\n"           /* even3, even3, x3 */
            "    sxtab16 lr, lr, r11, ror #8\n"     /* odd3, odd3, x3, ror #8 */
            "    add r9, r9, #48\n"                 /* x_at, x_at, #48 */
            "    subs r10, r10, #1\n"               /* rows_left, rows_left, #1 */
            "    bne 2b\n"
            "    vmov r5, s10\n"                    /* sums_at, block_sums */
            /* sums_at!, {even0, odd0, even1, odd1, even2, odd2, even3, odd3} */
            "    stmia r5!, {r0-r4, r6, r12, lr}\n"
            "    vmov s10, r5\n"                    /* block_sums, sums_at */
            "    vmov r9, s9\n"                     /* x_at, block */
            "    add r9, r9, #16\n"                 /* x_at, x_at, #16 */
            "    vmov s9, r9\n"                     /* block, x_at */
            "    vmov r0, s11\n"                    /* count, blocks_left */
            "    subs r0, r0, #1\n"                 /* count, count, #1 */
            "    vmov s11, r0\n"                    /* blocks_left, count */
            "    bne 1b\n"
            /* Four outputs of their sums. */
            "    vmov lr, s2\n"                     /* sums_at, sums */
            "    vmov r2, s1\n"                     /* out, pixel_y */
            "    vmov r8, s4\n"                     /* scale, scale */
            "    vmov r9, s5\n"                     /* addend, addend */
            "    mov r5, #0\n"                      /* upper_half, #0 */
            "    movt r5, #0xffff\n"                /* upper_half, #0xffff */
            "    mov r6, r2\n"                      /* out_end, out */
            "    add r6, r6, #64\n"                 /* out_end, out_end, #64 */
            "3:\n"
            "    ldmia lr!, {r0, r3}\n"             /* sums_at!, {y0, y1} */
            "    and r7, r0, r5\n"                  /* y2, y0, upper_half */
            "    and r12, r3, r5\n"                 /* y3, y1, upper_half */
            "    lsl r0, r0, #16\n"                 /* y0, y0, #16 */
            "    lsl r3, r3, #16\n"                 /* y1, y1, #16 */
            "    smmla r0, r0, r8, r9\n"            /* y0, y0, scale, addend */
            "    smmla r3, r3, r8, r9\n"            /* y1, y1, scale, addend */
            "    smmla r7, r7, r8, r9\n"            /* y2, y2, scale, addend */
            "    smmla r12, r12, r8, r9\n"          /* y3, y3, scale, addend */
            "    mov r1, #0\n"                      /* near, #0 */
            "    add r4, r0, #2048\n"               /* moved, y0, #2048 */
            "    tst r4, #0xff000\n"                /* moved, #0xff000 */
            "    it eq\n"
            "    orreq r1, r1, #1\n"                /* near, near, #1 */
            "    add r4, r3, #2048\n"               /* moved, y1, #2048 */
            "    tst r4, #0xff000\n"                /* moved, #0xff000 */
            "    it eq\n"
            "    orreq r1, r1, #2\n"                /* near, near, #2 */
            "    add r4, r7, #2048\n"               /* moved, y2, #2048 */
            "    tst r4, #0xff000\n"                /* moved, #0xff000 */
            "    it eq\n"
            "    orreq r1, r1, #4\n"                /* near, near, #4 */
            "    add r4, r12, #2048\n"              /* moved, y3, #2048 */
            "    tst r4, #0xff000\n"                /* moved, #0xff000 */
            "    it eq\n"
            "    orreq r1, r1, #8\n"                /* near, near, #8 */
            "    ssat r0, #8, r0, asr #20\n"        /* y0, #8, y0, asr #20 */
            "    ssat r3, #8, r3, asr #20\n"        /* y1, #8, y1, asr #20 */
            "    ssat r7, #8, r7, asr #20\n"        /* y2, #8, y2, asr #20 */
            "    ssat r12, #8, r12, asr #20\n"      /* y3, #8, y3, asr #20 */
            "    strb r0, [r2], #4\n"               /* y0, [out], #4 */
            "    strb r3, [r2, #-3]\n"              /* y1, [out, #-3] */
            "    strb r7, [r2, #-2]\n"              /* y2, [out, #-2] */
            "    strb r12, [r2, #-1]\n"             /* y3, [out, #-1] */
            "    cmp r1, #0\n"                      /* near, #0 */
            "    beq 7f\n"
            /* Next to the middle of two outputs: summed in float32, as the model does. */
            "4:\n"
            "    rbit r0, r1\n"                     /* y_at, near */
            "    clz r0, r0\n"                      /* y_at, y_at */
            "    sub r3, r1, #1\n"                  /* less, near, #1 */
            "    and r1, r1, r3\n"                  /* near, near, less */
            "    sub r0, r0, #4\n"                  /* y_at, y_at, #4 */
            "    add r0, r0, r2\n"                  /* y_at, y_at, out */
            "    vmov r3, s1\n"                     /* begin, pixel_y */
            "    sub r4, r0, r3\n"                  /* channel, y_at, begin */
            "    vmov r3, s0\n"                     /* begin, window */
            "    add r3, r4, r3\n"                  /* x_at, channel, begin */
            "    mov r4, #0\n"                      /* zero, #0 */
            "    vmov s2, r4\n"                     /* sum, zero */
            "    movw r7, #16\n"                    /* rows_left, #16 */
            "    movw r12, #64\n"                   /* channels, #64 */
            "5:\n"
            "    movw r10, #4\n"                    /* columns_left, #4 */
            "6:\n"
            "    ldrsb r4, [r3]\n"                  /* element, [x_at] */
            "    add r3, r3, r12\n"                 /* x_at, x_at, channels */
            "    add r4, r4, #128\n"                /* element, element, #128 */
            "    vmov s3, r4\n"                     /* term, element */
            "    vcvt.f32.s32 s3, s3\n"             /* term, term */
            "    vmul.f32 s3, s3, s6\n"             /* term, term, x_scale */
            "    vadd.f32 s2, s2, s3\n"             /* sum, sum, term */
            "    subs r10, r10, #1\n"               /* columns_left, columns_left, #1 */
            "    bne 6b\n"
            "    subs r7, r7, #1\n"                 /* rows_left, rows_left, #1 */
            "    bne 5b\n"
            "    vdiv.f32 s2, s2, s7\n"             /* sum, sum, count */
            "    vdiv.f32 s2, s2, s8\n"             /* sum, sum, y_scale */
            "    vcvtr.s32.f32 s2, s2\n"            /* sum, sum */
            "    vmov r3, s2\n"                     /* y, sum */
            "    sub r3, r3, #128\n"                /* y, y, #128 */
            "    ssat r3, #8, r3\n"                 /* y, #8, y */
            "    strb r3, [r0]\n"                   /* y, [y_at] */
            "    cmp r1, #0\n"                      /* near, #0 */
            "    bne 4b\n"
            "7:\n"
            "    cmp r2, r6\n"                      /* out, out_end */
            "    bne 3b\n"
            "    vmov s1, r2\n"                     /* pixel_y, out */
            "    vmov r0, s0\n"                     /* at, window */
            "    add r0, r0, #64\n"                 /* at, at, #64 */
            "    vmov s0, r0\n"                     /* window, at */
            "    vmov r0, s0\n"                     /* at, window */
            "    add r0, r0, #448\n"                /* at, at, #448 */
            "    vmov s0, r0\n"                     /* window, at */
            "    vmov r0, s0\n"                     /* at, window */
            "    add r0, r0, #3584\n"               /* at, at, #3584 */
            "    vmov s0, r0\n"                     /* window, at */
            "    pop {r4-r11, pc}\n");
    /* clang-format on */
}

MCU_FUNCTION void _mcu_dsp_pools_reorder_256x32_int8(const int8_t *x, int8_t *y) {
    for (int32_t i0 = 0; i0 < 256; i0++) {
        for (int32_t i1 = 0; i1 < 32; i1++) {
            *y++ = x[i0 + i1 * 256];
        }
    }
}

/* y[p][c] = the greatest x[q][c] of the 2x2 window of pixel p. x and y have 32 channels, which
 * lie last.
 * constants: the least element, in each byte of a word.
 * In place: of a window 16 channels are read before they are written. */
MCU_KERNEL void _mcu_dsp_pools_max_pool2x2_32_dsp(const int8_t *x MCU_UNUSED, int8_t *y MCU_UNUSED,
                                                  const uint32_t *constants MCU_UNUSED) {
    /* clang-format off */
    __asm__(".syntax unified\n"
            "    push {r4-r8, lr}\n"
            "    vmov s0, r0\n"                     /* window, x */
            "    vmov s1, r1\n"                     /* pixel_y, y */
            /* Of each window the greatest element of each channel, four channels a word. */
            "    ldr r0, [r2], #4\n"                /* constant, [constants], #4 */
            "    vmov s2, r0\n"                     /* start, constant */
            "    movw r0, #8\n"                     /* count, #8 */
            "    vmov s2, r0\n"                     /* y_rows_left, count */
            "1:\n"
            "    movw r0, #8\n"                     /* count, #8 */
            "    vmov s3, r0\n"                     /* y_columns_left, count */
            "2:\n"
            "    vmov r6, s0\n"                     /* x_at, window */
            "    vmov s4, r6\n"                     /* block, x_at */
            "    vmov r12, s1\n"                    /* out, pixel_y */
            "    movw r0, #2\n"                     /* count, #2 */
            "    vmov s1, r0\n"                     /* blocks_left, count */
            "3:\n"
            /* x_at!, {greatest0, greatest1, greatest2, greatest3} */
            "    ldmia r6!, {r0, r2, r4, r7}\n"
            "    add r6, r6, #16\n"                 /* x_at, x_at, #16 */
            "    ldmia r6!, {r1, r3, r5, lr}\n"     /* x_at!, {x0, x1, x2, x3} */
            "    ssub8 r8, r0, r1\n"                /* difference, greatest0, x0 */
            "    sel r0, r0, r1\n"                  /* greatest0, greatest0, x0 */
            "    ssub8 r8, r2, r3\n"                /* difference, greatest1, x1 */
            "    sel r2, r2, r3\n"                  /* greatest1, greatest1, x1 */
            "    ssub8 r8, r4, r5\n"                /* difference, greatest2, x2 */
            "    sel r4, r4, r5\n"                  /* greatest2, greatest2, x2 */
            "    ssub8 r8, r7, lr\n"                /* difference, greatest3, x3 */
            "    sel r7, r7, lr\n"                  /* greatest3, greatest3, x3 */
            "    add r6, r6, #16\n"                 /* x_at, x_at, #16 */
            "    add r6, r6, #448\n"                /* x_at, x_at, #448 */
            "    ldmia r6!, {r1, r3, r5, lr}\n"     /* x_at!, {x0, x1, x2, x3} */
            "    ssub8 r8, r0, r1\n"                /* difference, greatest0, x0 */
            "    sel r0, r0, r1\n"                  /* greatest0, greatest0, x0 */
            "    ssub8 r8, r2, r3\n"                /* difference, greatest1, x1 */
            "    sel r2, r2, r3\n"                  /* greatest1, greatest1, x1 */
            "    ssub8 r8, r4, r5\n"                /* difference, greatest2, x2 */
            "    sel r4, r4, r5\n"                  /* greatest2, greatest2, x2 */
            "    ssub8 r8, r7, lr\n"                /* difference, greatest3, x3 */
            "    sel r7, r7, lr\n"                  /* greatest3, greatest3, x3 */
            "    add r6, r6, #16\n"                 /* x_at, x_at, #16 */
            "    ldmia r6!, {r1, r3, r5, lr}\n"     /* x_at!, {x0, x1, x2, x3} */
            "    ssub8 r8, r0, r1\n"                /* difference, greatest0, x0 */
            "    sel r0, r0, r1\n"                  /* greatest0, greatest0, x0 */
            "    ssub8 r8, r2, r3\n"                /* difference, greatest1, x1 */
            "    sel r2, r2, r3\n"                  /* greatest1, greatest1, x1 */
            "    ssub8 r8, r4, r5\n"                /* difference, greatest2, x2 */
            "    sel r4, r4, r5\n"                  /* greatest2, greatest2, x2 */
            "    ssub8 r8, r7, lr\n"                /* difference, greatest3, x3 */
            "    sel r7, r7, lr\n"                  /* greatest3, greatest3, x3 */
            "    add r6, r6, #16\n"                 /* x_at, x_at, #16 */
            "    add r6, r6, #448\n"                /* x_at, x_at, #448 */
            /* out!, {greatest0, greatest1, greatest2, greatest3} */
            "    stmia r12!, {r0, r2, r4, r7}\n"
            "    vmov r6, s4\n"                     /* x_at, block */
            "    add r6, r6, #16\n"                 /* x_at, x_at, #16 */
            "    vmov s4, r6\n"                     /* block, x_at */
            "    vmov r0, s1\n"                     /* count, blocks_left */
            "    subs r0, r0, #1\n"                 /* count, count, #1 */
            "    vmov s1, r0\n"                     /* blocks_left, count */
            "    bne 3b\n"
            "    vmov s1, r12\n"                    /* pixel_y, out */
            "    vmov r0, s0\n"                     /* at, window */
            "    add r0, r0, #64\n"                 /* at, at, #64 */
            "    vmov s0, r0\n"                     /* window, at */
            "    vmov r0, s3\n"                     /* count, y_columns_left */
            "    subs r0, r0, #1\n"                 /* count, count, #1 */
            "    vmov s3, r0\n"                     /* y_columns_left, count */
            "    bne 2b\n"
            "    vmov r0, s0\n"                     /* at, window */
            "    add r0, r0, #512\n"                /* at, at, #512 */
            "    vmov s0, r0\n"                     /* window, at */
            "    vmov r0, s2\n"                     /* count, y_rows_left */
            "    subs r0, r0, #1\n"                 /* count, count, #1 */
            "    vmov s2, r0\n"                     /* y_rows_left, count */
            "    bne 1b\n"
            "    pop {r4-r8, pc}\n");
    /* clang-format on */
}

MCU_FUNCTION void _mcu_dsp_pools_reorder_32x64_int8(const int8_t *x, int8_t *y) {
    for (int32_t i0 = 0; i0 < 32; i0++) {
        for (int32_t i1 = 0; i1 < 64; i1++) {
            *y++ = x[i0 + i1 * 32];
        }
    }
}

MCU_FUNCTION void _mcu_dsp_pools_concat_2112_int8(const int8_t *x0, const int8_t *x1, int8_t *y) {
    memcpy(y, x0, 2048);
    y += 2048;
    memcpy(y, x1, 64);
}

/* ---- The layers, in the order of execution ---- */

/* clang-format off */
static void _mcu_dsp_pools_layers(mcu_instance_t *instance) {
    uint8_t *const ws = instance->workspace;

    /* reshape_3_bit_cast_reorder: Reorder, reshape_7_11 reordered:
     * int8[1,64,8,8] -> int8[1,64,8,8] NHWC */
    int8_t *const slice_6_10 = (int8_t *)(ws + 8192);
    int8_t *const reshape_3_bit_cast_reorder = (int8_t *)(ws + 12288);
    MCU_LAYER(0, _mcu_dsp_pools_reorder_64x64_int8(slice_6_10, reshape_3_bit_cast_reorder));

    /* slice_1: Slice, slice_0_2: int8[12288] -> int8[8192] */
    int8_t *const int8 = (int8_t *)(ws + 0);
    int8_t *const slice_1 = (int8_t *)(ws + 0);
    MCU_LAYER(1, _mcu_dsp_pools_slice_8192_int8(int8, slice_1));

    /* avg_pool_1: AveragePool, pool1 (3 nodes): int8[1,64,8,8] NHWC -> int8[1,64,1,1] */
    int8_t *const avg_pool_1 = (int8_t *)(ws + 8192);
    uint8_t *const avg_pool_1_scratch = (uint8_t *)(ws + 8256);
    MCU_LAYER(2, _mcu_dsp_pools_avg_pool8x8_64_dsp(reshape_3_bit_cast_reorder, avg_pool_1,
                                                   _mcu_dsp_pools_avg_pool_1_constants,
                                                   avg_pool_1_scratch));

    /* reshape_1_reorder: Reorder, reshape_1_3 reordered:
     * int8[1,32,16,16] -> int8[1,32,16,16] NHWC */
    int8_t *const reshape_1_reorder = (int8_t *)(ws + 8256);
    MCU_LAYER(3, _mcu_dsp_pools_reorder_256x32_int8(slice_1, reshape_1_reorder));

    /* max_pool_1: MaxPool, pool0: int8[1,32,16,16] NHWC -> int8[1,32,8,8] NHWC */
    int8_t *const max_pool_1 = (int8_t *)(ws + 0);
    MCU_LAYER(4, _mcu_dsp_pools_max_pool2x2_32_dsp(reshape_1_reorder, max_pool_1,
                                                   _mcu_dsp_pools_max_pool_1_constants));

    /* max_pool_1_bit_cast_reorder: Reorder, quantizelinear_4_7 reordered:
     * int8[1,32,8,8] NHWC -> int8[1,32,8,8] */
    int8_t *const max_pool_1_bit_cast_reorder = (int8_t *)(ws + 2048);
    MCU_LAYER(5, _mcu_dsp_pools_reorder_32x64_int8(max_pool_1, max_pool_1_bit_cast_reorder));

    /* concat_1: Concat, Concat_12: int8[2048], int8[64] -> int8[2112] */
    int8_t *const concat_1 = (int8_t *)(ws + 0);
    MCU_LAYER(6, _mcu_dsp_pools_concat_2112_int8(max_pool_1_bit_cast_reorder, avg_pool_1,
                                                 concat_1));
}

/* clang-format on */

