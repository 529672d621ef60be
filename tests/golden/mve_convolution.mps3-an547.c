/* network_mve_convolution.c: a neural network, made by mcu-deploy.
 *
 *   source model  convolutions, SHA-256
 *                 3abfb665f1c291fd38532cae90cc7776ddbc21c772e12de410cec535d9efcf50
 *   constants     1,128 bytes, as a file: SHA-256
 *                 4a22043e072814c882653b2ed8e85c1669a7964787155954b89c691de2849491
 *   workspace     1,392 bytes
 *   layers        3 with 25,920 multiply-accumulates
 *
 * Everything is static but the descriptor _mcu_network_mve_convolution, at the end. To compile this
 * file by hand, in its folder, to the same bytes:
 *
 *   arm-none-eabi-gcc -mcpu=cortex-m55 -mthumb -mfpu=auto -mfloat-abi=hard -std=c99 \
 *       -ffunction-sections -fdata-sections -fno-common -O2 -ffp-contract=off -fno-math-errno \
 *       -frandom-seed=mve_convolution -I include -c network_mve_convolution.c -o \
 *       network_mve_convolution.o
 *
 * The workspace: what lies where, in bytes, and from which layer to which it is needed.
 *
 *   offset  bytes   from      to  holds
 *        0    144  input       0  int8
 *      512    144      0       1  x0
 *        0    512      1       1  scratch of conv_1
 *      672    720      1       2  y0
 *        0    720      2  output  int8_y
 *
 * Shapes have the model's order of axes. NHWC and the like behind a shape say in which order its
 * axes lie in memory, where that is another one.
 */
#include "network_mve_convolution.h"

#include "mcu/internal.h"

/* ---- Constants ---- */

/* The assembler takes the file in as it is (from another folder: with -I FOLDER). The arrays are
 * declared extern, as a static array without an initializer would be one of zeros; the names that
 * the assembler gives them are local to the object. Where there is no .incbin, and for -flto, build
 * with --weights array. */
__asm__(".pushsection .rodata._mcu_mve_convolution_weights, \"a\", %progbits\n"
        ".balign 16\n"
        ".type _mcu_mve_convolution_weights, %object\n"
        ".size _mcu_mve_convolution_weights, 1128\n"
        "_mcu_mve_convolution_weights:\n"
        ".incbin \"network_mve_convolution.weights.bin\"\n"
        ".popsection");
/* clang-format off */
#define MCU_CONSTANT(name, type, elements, offset, bytes)                  \
    extern const type name[elements];                                      \
    __asm__(".set " #name ", _mcu_mve_convolution_weights + " #offset "\n" \
            ".type " #name ", %object\n"                                   \
            ".size " #name ", " #bytes)
MCU_CONSTANT(_mcu_mve_convolution_conv_1_weights, uint32_t, 282, 0, 1128);
#undef MCU_CONSTANT
/* clang-format on */

/* ---- Kernels ---- */

/* Those in assembly are one string each, some longer than C99 wants compilers to take. */
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Woverlength-strings"
#endif

/* y[m][c][r] = x[m][r][c]: 1 times 4 rows of 36.
 * 8 neighbours of the input at a time; in the other one they are 4 bytes apart. */
MCU_KERNEL void _mcu_mve_convolution_reorder_1x4x36x1_mve(const int8_t *x MCU_UNUSED,
                                                          int8_t *y MCU_UNUSED) {
    /* clang-format off */
    __asm__(".syntax unified\n"
            "    push {r4, lr}\n"
            "    mov r4, #0\n"                      /* elements_of_row, #0 */
            "    vidup.u16 q0, r4, #1\n"            /* offsets, elements_of_row, #1 */
            "    movw r2, #4\n"                     /* bytes_apart, #4 */
            "    vmul.i16 q0, q0, r2\n"             /* offsets, offsets, bytes_apart */
            "    movw r3, #4\n"                     /* rows_left, #4 */
            "1:\n"
            "    mov r2, r1\n"                      /* place, y */
            "    movw r4, #36\n"                    /* elements_of_row, #36 */
            "    dlstp.16 lr, r4\n"                 /* rounds_left, elements_of_row */
            "2:\n"
            "    vldrb.u16 q1, [r0], #8\n"          /* elements, [x], #8 */
            "    vstrb.16 q1, [r2, q0]\n"           /* elements, [place, offsets] */
            "    add r2, r2, #32\n"                 /* place, place, #32 */
            "    letp lr, 2b\n"                     /* rounds_left, 2 */
            "    sub r0, r0, #4\n"                  /* x, x, #4 */
            "    add r1, r1, #1\n"                  /* y, y, #1 */
            "    subs r3, r3, #1\n"                 /* rows_left, rows_left, #1 */
            "    bne 1b\n"
            "    pop {r4, pc}\n");
    /* clang-format on */
}

/* y[p][f] = sat(round(float(sum) * factor[f]) + zero), with sum = bias[f] + sum of
 * window[p][k] * w[f][k], both floats rounded to nearest.
 * k: row, column, channel.
 * weights: the number that rounds and the input's zero point, so that layers share the function;
 * of each tile of four filters and of each 16 bytes of a window those of the four filters; of
 * each 16 filters tile t has t, 4 + t, 8 + t, 12 + t; the last 4 filters four by four in their
 * order. Then of each tile, of 16 filters in the order 0 2 1 3, bias[4], factor[4]: float32.
 * scratch, in words: the next window, windows left in its row, or rows, y, the stream, pairs
 * that are left, the image's next row, where that is, bands that are left, the input's zero
 * point; behind 44 bytes that nothing reads, of each tile the sums of one pixel and of the
 * other; 8 rows of the image, with its padding. */
MCU_KERNEL void _mcu_mve_convolution_conv3x3_4x20_mve(const int8_t *x MCU_UNUSED,
                                                      int8_t *y MCU_UNUSED,
                                                      const uint32_t *weights MCU_UNUSED,
                                                      uint8_t *scratch MCU_UNUSED) {
    /* clang-format off */
    __asm__(".syntax unified\n"
            "    push {r4-r11, lr}\n"
            "    vpush {d8-d15}\n"
            "    mov r4, r3\n"                      /* frame, scratch */
            "    str r1, [r4, #8]\n"                /* y, [frame, #8] */
            "    add r1, r2, #8\n"                  /* stream_begin, weights, #8 */
            "    str r1, [r4, #12]\n"               /* stream_begin, [frame, #12] */
            "    ldr r1, [r2, #4]\n"                /* zero_point_of_x, [weights, #4] */
            /* A band of the image: its padding, which stays, then its rows. */
            "    mov r0, r0\n"                      /* source, x */
            "    str r1, [r4, #32]\n"               /* zero_point_of_x, [frame, #32] */
            "    ldr r7, [r4, #32]\n"               /* number, [frame, #32] */
            "    mov r1, #0\n"                      /* next_row, #0 */
            "    add r2, r4, #240\n"                /* band, frame, #240 */
            "    sub r0, r0, #24\n"                 /* source, source, #24 */
            "    sub r1, r1, #1\n"                  /* next_row, next_row, #1 */
            "    vdup.8 q0, r7\n"                   /* padding, number */
            "    mov r3, r2\n"                      /* copied_to, band */
            "    movw r7, #272\n"                   /* number, #272 */
            "    dlstp.8 lr, r7\n"                  /* rounds_left, number */
            "1:\n"
            "    vstrb.8 q0, [r3], #16\n"           /* padding, [copied_to], #16 */
            "    letp lr, 1b\n"                     /* rounds_left, 1 */
            "    ldr r7, [r4, #32]\n"               /* number, [frame, #32] */
            "    mov r5, #8\n"                      /* rows_left, #8 */
            "    vdup.8 q0, r7\n"                   /* padding, number */
            "4:\n"
            "    mov r3, r2\n"                      /* copied_to, band */
            "    add r3, r3, #4\n"                  /* copied_to, copied_to, #4 */
            "    cmp r1, #6\n"                      /* next_row, #6 */
            "    bcs 2f\n"
            "    mov r6, r0\n"                      /* copied, source */
            "    movw r7, #24\n"                    /* number, #24 */
            "    dlstp.8 lr, r7\n"                  /* rounds_left, number */
            "5:\n"
            "    vldrb.u8 q1, [r6], #16\n"          /* copied0, [copied], #16 */
            "    vstrb.8 q1, [r3], #16\n"           /* copied0, [copied_to], #16 */
            "    letp lr, 5b\n"                     /* rounds_left, 5 */
            "    b 3f\n"
            "2:\n"
            "    movw r7, #24\n"                    /* number, #24 */
            "    dlstp.8 lr, r7\n"                  /* rounds_left, number */
            "6:\n"
            "    vstrb.8 q0, [r3], #16\n"           /* padding, [copied_to], #16 */
            "    letp lr, 6b\n"                     /* rounds_left, 6 */
            "3:\n"
            "    add r1, r1, #1\n"                  /* next_row, next_row, #1 */
            "    add r0, r0, #24\n"                 /* source, source, #24 */
            "    add r2, r2, #32\n"                 /* band, band, #32 */
            "    subs r5, r5, #1\n"                 /* rows_left, rows_left, #1 */
            "    bne 4b\n"
            "    sub r1, r1, #2\n"                  /* next_row, next_row, #2 */
            "    ldr r1, [r4, #12]\n"               /* stream_begin, [frame, #12] */
            "    sub r0, r0, #48\n"                 /* source, source, #48 */
            "    sub r1, r1, #8\n"                  /* stream_begin, stream_begin, #8 */
            "    add r0, r4, #240\n"                /* next_window, frame, #240 */
            "    ldr r7, [r1]\n"                    /* rounding, [stream_begin] */
            "    mov r1, #6\n"                      /* columns_left, #6 */
            "    strd r0, r1, [r4]\n"               /* next_window, columns_left, [frame] */
            "7:\n"
            "    mov r2, #3\n"                      /* pairs_left, #3 */
            "    str r2, [r4, #16]\n"               /* pairs_left, [frame, #16] */
            "8:\n"
            /* The windows of two pixels. */
            "    ldr r1, [r4]\n"                    /* window0, [frame] */
            "    ldr r5, [r4, #12]\n"               /* stream, [frame, #12] */
            "    vldrw.u32 q4, [r1]\n"              /* v4, [window0] */
            "    add r0, r1, #8\n"                  /* next_window, window0, #8 */
            "    add r11, r1, #4\n"                 /* window1, window0, #4 */
            "    str r0, [r4]\n"                    /* next_window, [frame] */
            /* Two pixels times four filters, tile by tile. */
            "    ldrd r0, r2, [r5]\n"               /* sumb0, sumb1, [stream] */
            "    add r3, r4, #80\n"                 /* sums, frame, #80 */
            "    ldrd r4, r6, [r5, #8]\n"           /* sumb2, sumb3, [stream, #8] */
            "    vldrw.u32 q0, [r5], #16\n"         /* v0, [stream], #16 */
            "    mov r9, #5\n"                      /* turns_left, #5 */
            "9:\n"
            "    vldrw.u32 q1, [r5], #16\n"         /* v1, [stream], #16 */
            "    vmladav.s8 r12, q4, q0\n"          /* suma0, v4, v0 */
            "    vldrw.u32 q2, [r5], #16\n"         /* v2, [stream], #16 */
            "    vmladav.s8 lr, q4, q1\n"           /* suma1, v4, v1 */
            "    vldrw.u32 q3, [r5], #16\n"         /* v3, [stream], #16 */
            "    vmladav.s8 r10, q4, q3\n"          /* suma3, v4, v3 */
            "    vldrw.u32 q5, [r11]\n"             /* v5, [window1] */
            "    vmladav.s8 r8, q4, q2\n"           /* suma2, v4, v2 */
            "    vldrw.u32 q6, [r5], #16\n"         /* v6, [stream], #16 */
            "    subs r9, r9, #1\n"                 /* turns_left, turns_left, #1 */
            "    strd r0, r2, [r3, #-16]\n"         /* sumb0, sumb1, [sums, #-16] */
            "    strd r4, r6, [r3, #-8]\n"          /* sumb2, sumb3, [sums, #-8] */
            "    vmladav.s8 r0, q5, q0\n"           /* sumb0, v5, v0 */
            "    vldrw.u32 q7, [r5], #16\n"         /* v7, [stream], #16 */
            "    vmladav.s8 r6, q5, q3\n"           /* sumb3, v5, v3 */
            "    vldrw.u32 q0, [r5], #16\n"         /* v0, [stream], #16 */
            "    vmladav.s8 r2, q5, q1\n"           /* sumb1, v5, v1 */
            "    vldrw.u32 q1, [r5], #16\n"         /* v1, [stream], #16 */
            "    vmladav.s8 r4, q5, q2\n"           /* sumb2, v5, v2 */
            "    vldrw.u32 q2, [r1, #32]\n"         /* v2, [window0, #32] */
            "    vmladava.s8 r10, q2, q1\n"         /* suma3, v2, v1 */
            "    vldrw.u32 q3, [r11, #32]\n"        /* v3, [window1, #32] */
            "    vmladava.s8 r6, q3, q1\n"          /* sumb3, v3, v1 */
            "    vldrw.u32 q1, [r5], #16\n"         /* v1, [stream], #16 */
            "    vmladava.s8 r12, q2, q6\n"         /* suma0, v2, v6 */
            "    vldrw.u32 q4, [r1]\n"              /* v4, [window0] */
            "    vmladava.s8 lr, q2, q7\n"          /* suma1, v2, v7 */
            "    vmladava.s8 r8, q2, q0\n"          /* suma2, v2, v0 */
            "    vldrw.u32 q2, [r5], #16\n"         /* v2, [stream], #16 */
            "    vmladava.s8 r0, q3, q6\n"          /* sumb0, v3, v6 */
            "    vldrw.u32 q6, [r1, #64]\n"         /* v6, [window0, #64] */
            "    vmladava.s8 r2, q3, q7\n"          /* sumb1, v3, v7 */
            "    vldrw.u32 q7, [r11, #64]\n"        /* v7, [window1, #64] */
            "    vmladava.s8 r4, q3, q0\n"          /* sumb2, v3, v0 */
            "    vldrw.u32 q3, [r5], #16\n"         /* v3, [stream], #16 */
            "    vmladava.s8 r12, q6, q1\n"         /* suma0, v6, v1 */
            "    vldrw.u32 q5, [r5], #16\n"         /* v5, [stream], #16 */
            "    vmladava.s8 lr, q6, q2\n"          /* suma1, v6, v2 */
            "    vldrw.u32 q0, [r5], #16\n"         /* v0, [stream], #16 */
            "    vmladava.s8 r8, q6, q3\n"          /* suma2, v6, v3 */
            "    strd r12, lr, [r3]\n"              /* suma0, suma1, [sums] */
            "    vmladava.s8 r10, q6, q5\n"         /* suma3, v6, v5 */
            "    vmladava.s8 r0, q7, q1\n"          /* sumb0, v7, v1 */
            "    strd r8, r10, [r3, #8]\n"          /* suma2, suma3, [sums, #8] */
            "    vmladava.s8 r2, q7, q2\n"          /* sumb1, v7, v2 */
            "    add r3, r3, #32\n"                 /* sums, sums, #32 */
            "    vmladava.s8 r4, q7, q3\n"          /* sumb2, v7, v3 */
            "    vmladava.s8 r6, q7, q5\n"          /* sumb3, v7, v5 */
            "    bne 9b\n"
            "    sub r5, r5, #16\n"                 /* stream, stream, #16 */
            "    strd r0, r2, [r3, #-16]\n"         /* sumb0, sumb1, [sums, #-16] */
            "    strd r4, r6, [r3, #-8]\n"          /* sumb2, sumb3, [sums, #-8] */
            "    sub r3, r3, #160\n"                /* sums, sums, #160 */
            /* To elements of the output: scaled, rounded, saturated. */
            "    vldrw.u32 q6, [r5], #16\n"         /* bias, [stream], #16 */
            "    sub r4, r3, #80\n"                 /* frame, sums, #80 */
            "    vldrw.u32 q7, [r5], #16\n"         /* factor, [stream], #16 */
            "    vldrw.u32 q0, [r3]\n"              /* even0, [sums] */
            "    vadd.i32 q0, q0, q6\n"             /* even0, even0, bias */
            "    vldrw.u32 q1, [r3, #16]\n"         /* even1, [sums, #16] */
            "    vadd.i32 q1, q1, q6\n"             /* even1, even1, bias */
            "    vldrw.u32 q6, [r5], #16\n"         /* bias, [stream], #16 */
            "    vcvt.f32.s32 q0, q0\n"             /* even0, even0 */
            "    vldrw.u32 q4, [r3, #64]\n"         /* other0, [sums, #64] */
            "    vcvt.f32.s32 q1, q1\n"             /* even1, even1 */
            "    vldrw.u32 q5, [r3, #80]\n"         /* other1, [sums, #80] */
            "    vadd.i32 q4, q4, q6\n"             /* other0, other0, bias */
            "    vcvt.f32.s32 q4, q4\n"             /* other0, other0 */
            "    vadd.i32 q5, q5, q6\n"             /* other1, other1, bias */
            "    vcvt.f32.s32 q5, q5\n"             /* other1, other1 */
            "    vldrw.u32 q2, [r3, #32]\n"         /* odd0, [sums, #32] */
            "    vfmas.f32 q0, q7, r7\n"            /* even0, factor, rounding */
            "    vldrw.u32 q3, [r3, #48]\n"         /* odd1, [sums, #48] */
            "    vfmas.f32 q1, q7, r7\n"            /* even1, factor, rounding */
            "    vldrw.u32 q7, [r5], #16\n"         /* factor, [stream], #16 */
            "    vfmas.f32 q4, q7, r7\n"            /* other0, factor, rounding */
            "    vldrw.u32 q6, [r5], #16\n"         /* bias, [stream], #16 */
            "    vfmas.f32 q5, q7, r7\n"            /* other1, factor, rounding */
            "    vldrw.u32 q7, [r5], #16\n"         /* factor, [stream], #16 */
            "    vmovnt.i32 q0, q4\n"               /* even0, other0 */
            "    vldrw.u32 q4, [r3, #96]\n"         /* other0, [sums, #96] */
            "    vmovnt.i32 q1, q5\n"               /* even1, other1 */
            "    vldrw.u32 q5, [r3, #112]\n"        /* other1, [sums, #112] */
            "    vadd.i32 q2, q2, q6\n"             /* odd0, odd0, bias */
            "    vcvt.f32.s32 q2, q2\n"             /* odd0, odd0 */
            "    vadd.i32 q3, q3, q6\n"             /* odd1, odd1, bias */
            "    vldrw.u32 q6, [r5], #16\n"         /* bias, [stream], #16 */
            "    vcvt.f32.s32 q3, q3\n"             /* odd1, odd1 */
            "    vadd.i32 q4, q4, q6\n"             /* other0, other0, bias */
            "    vcvt.f32.s32 q4, q4\n"             /* other0, other0 */
            "    vadd.i32 q5, q5, q6\n"             /* other1, other1, bias */
            "    vcvt.f32.s32 q5, q5\n"             /* other1, other1 */
            "    add r3, r3, #128\n"                /* sums, sums, #128 */
            "    vfmas.f32 q2, q7, r7\n"            /* odd0, factor, rounding */
            "    vqmovnb.s16 q0, q0\n"              /* even0, even0 */
            "    vfmas.f32 q3, q7, r7\n"            /* odd1, factor, rounding */
            "    vldrw.u32 q7, [r5], #16\n"         /* factor, [stream], #16 */
            "    vfmas.f32 q4, q7, r7\n"            /* other0, factor, rounding */
            "    vldrw.u32 q6, [r5], #16\n"         /* bias, [stream], #16 */
            "    vfmas.f32 q5, q7, r7\n"            /* other1, factor, rounding */
            "    vmovnt.i32 q2, q4\n"               /* odd0, other0 */
            "    vldrw.u32 q4, [r3]\n"              /* other0, [sums] */
            "    vmovnt.i32 q3, q5\n"               /* odd1, other1 */
            "    vldrw.u32 q5, [r3, #16]\n"         /* other1, [sums, #16] */
            "    vadd.i32 q4, q4, q6\n"             /* other0, other0, bias */
            "    vcvt.f32.s32 q4, q4\n"             /* other0, other0 */
            "    vadd.i32 q5, q5, q6\n"             /* other1, other1, bias */
            "    vcvt.f32.s32 q5, q5\n"             /* other1, other1 */
            "    vqmovnb.s16 q1, q1\n"              /* even1, even1 */
            "    vldrw.u32 q7, [r5], #16\n"         /* factor, [stream], #16 */
            "    vfmas.f32 q4, q7, r7\n"            /* other0, factor, rounding */
            "    ldr r0, [r4, #8]\n"                /* output0, [frame, #8] */
            "    vfmas.f32 q5, q7, r7\n"            /* other1, factor, rounding */
            "    vqmovnt.s16 q0, q2\n"              /* even0, odd0 */
            "    ldr r2, [r4, #16]\n"               /* pairs_left, [frame, #16] */
            "    vqmovnt.s16 q1, q3\n"              /* even1, odd1 */
            "    add r1, r0, #20\n"                 /* output1, output0, #20 */
            "    vqmovnb.s16 q4, q4\n"              /* other0, other0 */
            "    vstrb.8 q0, [r0], #16\n"           /* even0, [output0], #16 */
            "    vqmovnb.s16 q5, q5\n"              /* other1, other1 */
            "    vstrb.8 q1, [r1], #16\n"           /* even1, [output1], #16 */
            "    subs r2, r2, #1\n"                 /* pairs_left, pairs_left, #1 */
            "    vstrb.32 q4, [r0], #4\n"           /* other0, [output0], #4 */
            "    add r3, r3, #32\n"                 /* sums, sums, #32 */
            "    vstrb.32 q5, [r1], #4\n"           /* other1, [output1], #4 */
            /* The next two pixels. */
            "    str r1, [r4, #8]\n"                /* output1, [frame, #8] */
            "    str r2, [r4, #16]\n"               /* pairs_left, [frame, #16] */
            "    bne 8b\n"
            "    ldrd r0, r1, [r4]\n"               /* next_window, columns_left, [frame] */
            "    add r0, r0, #8\n"                  /* next_window, next_window, #8 */
            "    subs r1, r1, #1\n"                 /* columns_left, columns_left, #1 */
            "    strd r0, r1, [r4]\n"               /* next_window, columns_left, [frame] */
            "    bne 7b\n"
            "    vpop {d8-d15}\n"
            "    pop {r4-r11, pc}\n");
    /* clang-format on */
}

/* y[m][c][r] = x[m][r][c]: 1 times 36 rows of 20.
 * 8 neighbours of the output at a time; in the other one they are 20 bytes apart. */
MCU_KERNEL void _mcu_mve_convolution_reorder_1x36x20x1_mve(const int8_t *x MCU_UNUSED,
                                                           int8_t *y MCU_UNUSED) {
    /* clang-format off */
    __asm__(".syntax unified\n"
            "    push {r4, lr}\n"
            "    mov r4, #0\n"                      /* elements_of_row, #0 */
            "    vidup.u16 q0, r4, #1\n"            /* offsets, elements_of_row, #1 */
            "    movw r2, #20\n"                    /* bytes_apart, #20 */
            "    vmul.i16 q0, q0, r2\n"             /* offsets, offsets, bytes_apart */
            "    movw r3, #20\n"                    /* rows_left, #20 */
            "1:\n"
            "    mov r2, r0\n"                      /* place, x */
            "    movw r4, #36\n"                    /* elements_of_row, #36 */
            "    dlstp.16 lr, r4\n"                 /* rounds_left, elements_of_row */
            "2:\n"
            "    vldrb.u16 q1, [r2, q0]\n"          /* elements, [place, offsets] */
            "    add r2, r2, #160\n"                /* place, place, #160 */
            "    vstrb.16 q1, [r1], #8\n"           /* elements, [y], #8 */
            "    letp lr, 2b\n"                     /* rounds_left, 2 */
            "    sub r1, r1, #4\n"                  /* y, y, #4 */
            "    add r0, r0, #1\n"                  /* x, x, #1 */
            "    subs r3, r3, #1\n"                 /* rows_left, rows_left, #1 */
            "    bne 1b\n"
            "    pop {r4, pc}\n");
    /* clang-format on */
}

/* ---- The layers, in the order of execution ---- */

/* clang-format off */
static void _mcu_mve_convolution_layers(mcu_instance_t *instance) {
    uint8_t *const ws = instance->workspace;

    /* reshape_1_reorder: Reorder, x0 reordered: int8[1,4,6,6] -> int8[1,4,6,6] NHWC */
    int8_t *const int8 = (int8_t *)(ws + 0);
    int8_t *const reshape_1_reorder = (int8_t *)(ws + 512);
    MCU_LAYER(0, _mcu_mve_convolution_reorder_1x4x36x1_mve(int8, reshape_1_reorder));

    /* conv_1: Conv, Conv_5 (5 nodes): int8[1,4,6,6] NHWC -> int8[1,20,6,6] NHWC; 25,920 MACs */
    int8_t *const conv_1 = (int8_t *)(ws + 672);
    uint8_t *const conv_1_scratch = (uint8_t *)(ws + 0);
    MCU_LAYER(1, _mcu_mve_convolution_conv3x3_4x20_mve(
        reshape_1_reorder, conv_1, _mcu_mve_convolution_conv_1_weights, conv_1_scratch));

    /* conv_1_reorder: Reorder, y0 reordered: int8[1,20,6,6] NHWC -> int8[1,20,6,6] */
    int8_t *const conv_1_reorder = (int8_t *)(ws + 0);
    MCU_LAYER(2, _mcu_mve_convolution_reorder_1x36x20x1_mve(conv_1, conv_1_reorder));
}

/* clang-format on */

static int32_t _mcu_mve_convolution_run_func(void *args, void *arg_type_ids, int32_t num_args,
                                             void *out_ret_value, void *out_ret_tcode,
                                             void *resource_handle) {
    (void)out_ret_value;
    (void)out_ret_tcode;
    const mcu_model_t *const model = &_mcu_network_mve_convolution;
    const int32_t status =
        _mcu_run_begin(model, NULL, args, arg_type_ids, num_args, resource_handle);
    if (status != MCU_OK) {
        return status;
    }
    _mcu_mve_convolution_layers(resource_handle);
    return _mcu_run_end(model, NULL, args, resource_handle);
}

/* ---- The descriptor ---- */

static const int64_t _mcu_mve_convolution_input0_shape[1] = {144};
static const mcu_tensor_info_t _mcu_mve_convolution_inputs[1] = {
    {
        .name = "int8",
        .shape = _mcu_mve_convolution_input0_shape,
        .place = {0, 0, 144},
        .scale = 1.0e+0F,
        .zero_point = -128,
        .ndim = 1,
        .dtype = {kDLInt, 8, 1},
    },
};

static const int64_t _mcu_mve_convolution_output0_shape[1] = {720};
static const mcu_tensor_info_t _mcu_mve_convolution_outputs[1] = {
    {
        .name = "int8_y",
        .shape = _mcu_mve_convolution_output0_shape,
        .place = {0, 0, 720},
        .scale = 2.4e+2F,
        .zero_point = 4,
        .ndim = 1,
        .dtype = {kDLInt, 8, 1},
    },
};

/* clang-format off */
/* Where the outputs of each layer lie when it has run: offset, pool and bytes. */
static const mcu_region_t _mcu_mve_convolution_regions[3] = {
    {512, 0, 144}, /* 0 */
    {672, 0, 720}, /* 1 */
    {0,   0, 720}, /* 2 */
};

/* Of each layer: its first output in the table above, and how many it has. */
static const mcu_layer_info_t _mcu_mve_convolution_layer_infos[3] = {
    {0, 1}, {1, 1}, {2, 1},
};
/* clang-format on */

const mcu_model_t _mcu_network_mve_convolution = {
    .run_func = _mcu_mve_convolution_run_func,
    .num_input_tensors = 1,
    .num_output_tensors = 1,
    .abi_version = MCU_MODEL_ABI_VERSION,
    .workspace_size = MCU_MVE_CONVOLUTION_WORKSPACE_SIZE,
    .workspace_alignment = MCU_MVE_CONVOLUTION_WORKSPACE_ALIGNMENT,
    .num_layers = 3,
    .name = "mve_convolution",
    .inputs = _mcu_mve_convolution_inputs,
    .outputs = _mcu_mve_convolution_outputs,
    .layers = _mcu_mve_convolution_layer_infos,
    .layer_outputs = _mcu_mve_convolution_regions,
    .extra_pools = NULL,
    .partitions = NULL,
    .kept = NULL,
    .states = NULL,
    .num_extra_pools = 0,
    .num_partitions = 0,
    .num_kept = 0,
    .num_states = 0,
    .private_place = {0, 0, 0},
    .pointers = {0, 0, 0},
    .hot = NULL,
    .num_hot = 0,
    .release_func = NULL,
};
