/* ---- Kernels ---- */

/* Those in assembly are one string each, some longer than C99 wants compilers to take. */
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Woverlength-strings"
#endif

/* y[p][f] = clamp(bias[f] + sum of window[p][k] * w[f][k]), float32; k: row, column,
 * channel, in this order, each product added with one rounding; what lies outside of
 * the image is left out. x: [row][column][channel], y: [p][f].
 * weights, of some filters at a time, of which four are a vector: their biases, then their
 * weights of each k.
 * scratch, in words: where image and output go on, the stream, the next row, its number, what is
 * left of rows, tiles, groups and filters; of the rows of a window that are outside the bytes of
 * their weights in front and behind, how many are inside, the way back over these. In place: the
 * windows of a tile are read for some filters, whose outputs are written, then for the next
 * ones. */
MCU_KERNEL void _mcu_mve_float_dense_dense_18x21_f32_mve(const float *x MCU_UNUSED,
                                                         float *y MCU_UNUSED,
                                                         const float *weights MCU_UNUSED,
                                                         uint8_t *scratch MCU_UNUSED) {
    /* clang-format off */
    __asm__(".syntax unified\n"
            "    push {r4, lr}\n"
            "    vpush {d8-d15}\n"
            "    str r2, [r3, #8]\n"                /* weights, [frame, #8] */
            "    ldr r2, [r3, #8]\n"                /* weights_at, [frame, #8] */
            "    str r1, [r3, #4]\n"                /* y, [frame, #4] */
            "    str r0, [r3]\n"                    /* x, [frame] */
            /* 1 pixels, four filters at a time. */
            "    ldr r1, [r3]\n"                    /* window0, [frame] */
            "    vldrw.u32 q0, [r2], #16\n"         /* sum0, [weights_at], #16 */
            "    add r0, r1, #72\n"                 /* free, window0, #72 */
            "    vldrw.u32 q1, [r2], #16\n"         /* sum1, [weights_at], #16 */
            "    movw lr, #2\n"                     /* rounds_left, #2 */
            "    vldrw.u32 q2, [r2], #16\n"         /* sum2, [weights_at], #16 */
            "    dls lr, lr\n"                      /* rounds_left, rounds_left */
            "    str r0, [r3]\n"                    /* free, [frame] */
            "    vldrw.u32 q3, [r2], #16\n"         /* sum3, [weights_at], #16 */
            "1:\n"
            "    ldrd r0, r4, [r1], #8\n"           /* word1, next1, [window0], #8 */
            "    vldrw.u32 q4, [r2], #16\n"         /* filters0, [weights_at], #16 */
            "    vfma.f32 q0, q4, r0\n"             /* sum0, filters0, word1 */
            "    vldrw.u32 q5, [r2], #16\n"         /* filters1, [weights_at], #16 */
            "    vfma.f32 q1, q5, r0\n"             /* sum1, filters1, word1 */
            "    vldrw.u32 q6, [r2], #16\n"         /* filters2, [weights_at], #16 */
            "    vfma.f32 q2, q6, r0\n"             /* sum2, filters2, word1 */
            "    vldrw.u32 q7, [r2], #16\n"         /* filters3, [weights_at], #16 */
            "    vfma.f32 q3, q7, r0\n"             /* sum3, filters3, word1 */
            "    vldrw.u32 q4, [r2], #16\n"         /* filters0, [weights_at], #16 */
            "    vfma.f32 q0, q4, r4\n"             /* sum0, filters0, next1 */
            "    vldrw.u32 q5, [r2], #16\n"         /* filters1, [weights_at], #16 */
            "    vfma.f32 q1, q5, r4\n"             /* sum1, filters1, next1 */
            "    vldrw.u32 q6, [r2], #16\n"         /* filters2, [weights_at], #16 */
            "    vfma.f32 q2, q6, r4\n"             /* sum2, filters2, next1 */
            "    vldrw.u32 q7, [r2], #16\n"         /* filters3, [weights_at], #16 */
            "    vfma.f32 q3, q7, r4\n"             /* sum3, filters3, next1 */
            "    ldrd r0, r4, [r1], #8\n"           /* word2, next2, [window0], #8 */
            "    vldrw.u32 q4, [r2], #16\n"         /* filters0, [weights_at], #16 */
            "    vfma.f32 q0, q4, r0\n"             /* sum0, filters0, word2 */
            "    vldrw.u32 q5, [r2], #16\n"         /* filters1, [weights_at], #16 */
            "    vfma.f32 q1, q5, r0\n"             /* sum1, filters1, word2 */
            "    vldrw.u32 q6, [r2], #16\n"         /* filters2, [weights_at], #16 */
            "    vfma.f32 q2, q6, r0\n"             /* sum2, filters2, word2 */
            "    vldrw.u32 q7, [r2], #16\n"         /* filters3, [weights_at], #16 */
            "    vfma.f32 q3, q7, r0\n"             /* sum3, filters3, word2 */
            "    vldrw.u32 q4, [r2], #16\n"         /* filters0, [weights_at], #16 */
            "    vfma.f32 q0, q4, r4\n"             /* sum0, filters0, next2 */
            "    vldrw.u32 q5, [r2], #16\n"         /* filters1, [weights_at], #16 */
            "    vfma.f32 q1, q5, r4\n"             /* sum1, filters1, next2 */
            "    vldrw.u32 q6, [r2], #16\n"         /* filters2, [weights_at], #16 */
            "    vfma.f32 q2, q6, r4\n"             /* sum2, filters2, next2 */
            "    vldrw.u32 q7, [r2], #16\n"         /* filters3, [weights_at], #16 */
            "    vfma.f32 q3, q7, r4\n"             /* sum3, filters3, next2 */
            "    ldrd r0, r4, [r1], #8\n"           /* word0, next0, [window0], #8 */
            "    vldrw.u32 q4, [r2], #16\n"         /* filters0, [weights_at], #16 */
            "    vfma.f32 q0, q4, r0\n"             /* sum0, filters0, word0 */
            "    vldrw.u32 q5, [r2], #16\n"         /* filters1, [weights_at], #16 */
            "    vfma.f32 q1, q5, r0\n"             /* sum1, filters1, word0 */
            "    vldrw.u32 q6, [r2], #16\n"         /* filters2, [weights_at], #16 */
            "    vfma.f32 q2, q6, r0\n"             /* sum2, filters2, word0 */
            "    vldrw.u32 q7, [r2], #16\n"         /* filters3, [weights_at], #16 */
            "    vfma.f32 q3, q7, r0\n"             /* sum3, filters3, word0 */
            "    vldrw.u32 q4, [r2], #16\n"         /* filters0, [weights_at], #16 */
            "    vfma.f32 q0, q4, r4\n"             /* sum0, filters0, next0 */
            "    vldrw.u32 q5, [r2], #16\n"         /* filters1, [weights_at], #16 */
            "    vfma.f32 q1, q5, r4\n"             /* sum1, filters1, next0 */
            "    vldrw.u32 q6, [r2], #16\n"         /* filters2, [weights_at], #16 */
            "    vfma.f32 q2, q6, r4\n"             /* sum2, filters2, next0 */
            "    vldrw.u32 q7, [r2], #16\n"         /* filters3, [weights_at], #16 */
            "    vfma.f32 q3, q7, r4\n"             /* sum3, filters3, next0 */
            "    ldrd r0, r4, [r1], #8\n"           /* word1, next1, [window0], #8 */
            "    vldrw.u32 q4, [r2], #16\n"         /* filters0, [weights_at], #16 */
            "    vfma.f32 q0, q4, r0\n"             /* sum0, filters0, word1 */
            "    vldrw.u32 q5, [r2], #16\n"         /* filters1, [weights_at], #16 */
            "    vfma.f32 q1, q5, r0\n"             /* sum1, filters1, word1 */
            "    vldrw.u32 q6, [r2], #16\n"         /* filters2, [weights_at], #16 */
            "    vfma.f32 q2, q6, r0\n"             /* sum2, filters2, word1 */
            "    vldrw.u32 q7, [r2], #16\n"         /* filters3, [weights_at], #16 */
            "    vfma.f32 q3, q7, r0\n"             /* sum3, filters3, word1 */
            "    vldrw.u32 q4, [r2], #16\n"         /* filters0, [weights_at], #16 */
            "    vfma.f32 q0, q4, r4\n"             /* sum0, filters0, next1 */
            "    vldrw.u32 q5, [r2], #16\n"         /* filters1, [weights_at], #16 */
            "    vfma.f32 q1, q5, r4\n"             /* sum1, filters1, next1 */
            "    vldrw.u32 q6, [r2], #16\n"         /* filters2, [weights_at], #16 */
            "    vfma.f32 q2, q6, r4\n"             /* sum2, filters2, next1 */
            "    vldrw.u32 q7, [r2], #16\n"         /* filters3, [weights_at], #16 */
            "    vfma.f32 q3, q7, r4\n"             /* sum3, filters3, next1 */
            "    le lr, 1b\n"                       /* rounds_left */
            "    ldrd r0, r4, [r1], #8\n"           /* word2, next2, [window0], #8 */
            "    vldrw.u32 q4, [r2], #16\n"         /* filters0, [weights_at], #16 */
            "    vfma.f32 q0, q4, r0\n"             /* sum0, filters0, word2 */
            "    vldrw.u32 q5, [r2], #16\n"         /* filters1, [weights_at], #16 */
            "    vfma.f32 q1, q5, r0\n"             /* sum1, filters1, word2 */
            "    vldrw.u32 q6, [r2], #16\n"         /* filters2, [weights_at], #16 */
            "    vfma.f32 q2, q6, r0\n"             /* sum2, filters2, word2 */
            "    vldrw.u32 q7, [r2], #16\n"         /* filters3, [weights_at], #16 */
            "    vfma.f32 q3, q7, r0\n"             /* sum3, filters3, word2 */
            "    vldrw.u32 q4, [r2], #16\n"         /* filters0, [weights_at], #16 */
            "    vfma.f32 q0, q4, r4\n"             /* sum0, filters0, next2 */
            "    vldrw.u32 q5, [r2], #16\n"         /* filters1, [weights_at], #16 */
            "    vfma.f32 q1, q5, r4\n"             /* sum1, filters1, next2 */
            "    vldrw.u32 q6, [r2], #16\n"         /* filters2, [weights_at], #16 */
            "    vfma.f32 q2, q6, r4\n"             /* sum2, filters2, next2 */
            "    vldrw.u32 q7, [r2], #16\n"         /* filters3, [weights_at], #16 */
            "    vfma.f32 q3, q7, r4\n"             /* sum3, filters3, next2 */
            "    sub r1, r1, #72\n"                 /* window0, window0, #72 */
            "    vmov.i32 q4, #0\n"                 /* filters0, #0 */
            "    ldr r0, [r3, #4]\n"                /* word0, [frame, #4] */
            "    vmax.s32 q0, q0, q4\n"             /* sum0, sum0, filters0 */
            "    mov r4, r0\n"                      /* next0, word0 */
            "    vmax.s32 q1, q1, q4\n"             /* sum1, sum1, filters0 */
            "    vstrw.32 q0, [r4]\n"               /* sum0, [next0] */
            "    vmax.s32 q2, q2, q4\n"             /* sum2, sum2, filters0 */
            "    vstrw.32 q1, [r4, #16]\n"          /* sum1, [next0, #16] */
            "    vmax.s32 q3, q3, q4\n"             /* sum3, sum3, filters0 */
            "    vstrw.32 q2, [r4, #32]\n"          /* sum2, [next0, #32] */
            "    add r0, r0, #64\n"                 /* word0, word0, #64 */
            "    vstrw.32 q3, [r4, #48]\n"          /* sum3, [next0, #48] */
            "    movw lr, #2\n"                     /* rounds_left, #2 */
            "    str r0, [r3, #4]\n"                /* word0, [frame, #4] */
            "    vldrw.u32 q0, [r2], #16\n"         /* sum0, [weights_at], #16 */
            "    dls lr, lr\n"                      /* rounds_left, rounds_left */
            "    vldrw.u32 q1, [r2], #16\n"         /* sum1, [weights_at], #16 */
            "2:\n"
            "    ldrd r0, r4, [r1], #8\n"           /* word0, next0, [window0], #8 */
            "    vldrw.u32 q4, [r2], #16\n"         /* filters0, [weights_at], #16 */
            "    vfma.f32 q0, q4, r0\n"             /* sum0, filters0, word0 */
            "    vldrw.u32 q5, [r2], #16\n"         /* filters1, [weights_at], #16 */
            "    vfma.f32 q1, q5, r0\n"             /* sum1, filters1, word0 */
            "    vldrw.u32 q6, [r2], #16\n"         /* filters2, [weights_at], #16 */
            "    vfma.f32 q0, q6, r4\n"             /* sum0, filters2, next0 */
            "    vldrw.u32 q7, [r2], #16\n"         /* filters3, [weights_at], #16 */
            "    vfma.f32 q1, q7, r4\n"             /* sum1, filters3, next0 */
            "    ldrd r0, r4, [r1], #8\n"           /* word1, next1, [window0], #8 */
            "    vldrw.u32 q4, [r2], #16\n"         /* filters0, [weights_at], #16 */
            "    vfma.f32 q0, q4, r0\n"             /* sum0, filters0, word1 */
            "    vldrw.u32 q5, [r2], #16\n"         /* filters1, [weights_at], #16 */
            "    vfma.f32 q1, q5, r0\n"             /* sum1, filters1, word1 */
            "    vldrw.u32 q6, [r2], #16\n"         /* filters2, [weights_at], #16 */
            "    vfma.f32 q0, q6, r4\n"             /* sum0, filters2, next1 */
            "    vldrw.u32 q7, [r2], #16\n"         /* filters3, [weights_at], #16 */
            "    vfma.f32 q1, q7, r4\n"             /* sum1, filters3, next1 */
            "    ldrd r0, r4, [r1], #8\n"           /* word2, next2, [window0], #8 */
            "    vldrw.u32 q4, [r2], #16\n"         /* filters0, [weights_at], #16 */
            "    vfma.f32 q0, q4, r0\n"             /* sum0, filters0, word2 */
            "    vldrw.u32 q5, [r2], #16\n"         /* filters1, [weights_at], #16 */
            "    vfma.f32 q1, q5, r0\n"             /* sum1, filters1, word2 */
            "    vldrw.u32 q6, [r2], #16\n"         /* filters2, [weights_at], #16 */
            "    vfma.f32 q0, q6, r4\n"             /* sum0, filters2, next2 */
            "    vldrw.u32 q7, [r2], #16\n"         /* filters3, [weights_at], #16 */
            "    vfma.f32 q1, q7, r4\n"             /* sum1, filters3, next2 */
            "    ldrd r0, r4, [r1], #8\n"           /* word0, next0, [window0], #8 */
            "    vldrw.u32 q4, [r2], #16\n"         /* filters0, [weights_at], #16 */
            "    vfma.f32 q0, q4, r0\n"             /* sum0, filters0, word0 */
            "    vldrw.u32 q5, [r2], #16\n"         /* filters1, [weights_at], #16 */
            "    vfma.f32 q1, q5, r0\n"             /* sum1, filters1, word0 */
            "    vldrw.u32 q6, [r2], #16\n"         /* filters2, [weights_at], #16 */
            "    vfma.f32 q0, q6, r4\n"             /* sum0, filters2, next0 */
            "    vldrw.u32 q7, [r2], #16\n"         /* filters3, [weights_at], #16 */
            "    vfma.f32 q1, q7, r4\n"             /* sum1, filters3, next0 */
            "    le lr, 2b\n"                       /* rounds_left */
            "    ldrd r0, r4, [r1], #8\n"           /* word1, next1, [window0], #8 */
            "    vldrw.u32 q4, [r2], #16\n"         /* filters0, [weights_at], #16 */
            "    vfma.f32 q0, q4, r0\n"             /* sum0, filters0, word1 */
            "    vldrw.u32 q5, [r2], #16\n"         /* filters1, [weights_at], #16 */
            "    vfma.f32 q1, q5, r0\n"             /* sum1, filters1, word1 */
            "    vldrw.u32 q6, [r2], #16\n"         /* filters2, [weights_at], #16 */
            "    mov r0, #1\n"                      /* word1, #1 */
            "    vldrw.u32 q7, [r2], #16\n"         /* filters3, [weights_at], #16 */
            "    vctp.32 r0\n"                      /* word1 */
            "    ldr r0, [r3, #4]\n"                /* word0, [frame, #4] */
            "    vfma.f32 q0, q6, r4\n"             /* sum0, filters2, next1 */
            "    vmov.i32 q4, #0\n"                 /* filters0, #0 */
            "    vfma.f32 q1, q7, r4\n"             /* sum1, filters3, next1 */
            "    mov r4, r0\n"                      /* next0, word0 */
            "    add r0, r0, #32\n"                 /* word0, word0, #32 */
            "    str r0, [r3, #4]\n"                /* word0, [frame, #4] */
            "    ldr r0, [r3, #4]\n"                /* word0, [frame, #4] */
            "    vmax.s32 q0, q0, q4\n"             /* sum0, sum0, filters0 */
            "    sub r0, r0, #12\n"                 /* word0, word0, #12 */
            "    vmax.s32 q1, q1, q4\n"             /* sum1, sum1, filters0 */
            "    sub r1, r1, #72\n"                 /* window0, window0, #72 */
            "    vstrw.32 q0, [r4]\n"               /* sum0, [next0] */
            "    vpst\n"
            "    vstrwt.32 q1, [r4, #16]\n"         /* sum1, [next0, #16] */
            "    str r0, [r3, #4]\n"                /* word0, [frame, #4] */
            "    vpop {d8-d15}\n"
            "    pop {r4, pc}\n");
    /* clang-format on */
}

/* ---- The layers, in the order of execution ---- */

/* clang-format off */
static void _mcu_mve_float_dense_layers(mcu_instance_t *instance) {
    uint8_t *const ws = instance->workspace;

    /* dense_1: Gemm, layer0 (2 nodes): float32[1,18] -> float32[1,21]; 378 MACs */
    float *const x = (float *)(ws + 128);
    float *const dense_1 = (float *)(ws + 64);
    uint8_t *const dense_1_scratch = (uint8_t *)(ws + 0);
    MCU_LAYER(0, _mcu_mve_float_dense_dense_18x21_f32_mve(
        x, dense_1, _mcu_mve_float_dense_dense_1_weights, dense_1_scratch));
}

/* clang-format on */

