/* network_mve_pool.c: a neural network, made by mcu-deploy.
 *
 *   source model  layers, SHA-256
 *                 e07c09463c4458d38d94ba2466f07ee8c555fbd784a9178954fc34dc9ae9e301
 *   constants     44 bytes, as a file: SHA-256
 *                 feca7f10182c2a3d6b553fe74dd88533c180ae95143a6368f4bb95d80fb68de0
 *   workspace     176 bytes
 *   layers        3 with 0 multiply-accumulates
 *
 * Everything is static but the descriptor _mcu_network_mve_pool, at the end. To compile this file
 * by hand, in its folder, to the same bytes:
 *
 *   arm-none-eabi-gcc -mcpu=cortex-m55 -mthumb -mfpu=auto -mfloat-abi=hard -std=c99 \
 *       -ffunction-sections -fdata-sections -fno-common -O2 -ffp-contract=off -fno-math-errno \
 *       -frandom-seed=mve_pool -I include -c network_mve_pool.c -o network_mve_pool.o
 *
 * The workspace: what lies where, in bytes, and from which layer to which it is needed.
 *
 *   offset  bytes   from      to  holds
 *       80     96  input       0  int8
 *        0     96      0       1  reshape_1_3
 *       96     40      1       1  scratch of avg_pool_1
 *      144     24      1       2  quantizelinear_4_7
 *        0     24      2  output  int8_y
 *
 * Shapes have the model's order of axes. NHWC and the like behind a shape say in which order its
 * axes lie in memory, where that is another one.
 */
#include "network_mve_pool.h"

/* ---- Constants ---- */

/* The assembler takes the file in as it is (from another folder: with -I FOLDER). The arrays are
 * declared extern, as a static array without an initializer would be one of zeros; the names that
 * the assembler gives them are local to the object. Where there is no .incbin, and for -flto, build
 * with --weights array. */
__asm__(".pushsection .rodata._mcu_mve_pool_weights, \"a\", %progbits\n"
        ".balign 16\n"
        ".type _mcu_mve_pool_weights, %object\n"
        ".size _mcu_mve_pool_weights, 44\n"
        "_mcu_mve_pool_weights:\n"
        ".incbin \"network_mve_pool.weights.bin\"\n"
        ".popsection");
/* clang-format off */
#define MCU_CONSTANT(name, type, elements, offset, bytes)           \
    extern const type name[elements];                               \
    __asm__(".set " #name ", _mcu_mve_pool_weights + " #offset "\n" \
            ".type " #name ", %object\n"                            \
            ".size " #name ", " #bytes)
MCU_CONSTANT(_mcu_mve_pool_avg_pool_1_constants, uint32_t, 11, 0, 44);
#undef MCU_CONSTANT
/* clang-format on */

/* ---- Kernels ---- */

/* Those in assembly are one string each, some longer than C99 wants compilers to take. */
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Woverlength-strings"
#endif

MCU_FUNCTION void _mcu_mve_pool_reorder_16x6_int8(const int8_t *x, int8_t *y) {
    for (int32_t i0 = 0; i0 < 16; i0++) {
        for (int32_t i1 = 0; i1 < 6; i1++) {
            *y++ = x[i0 + i1 * 16];
        }
    }
}

/* y[p][c] = sat((sum * 2**16 * scale >> 32) + addend >> 16),
 * sum = start + all x[q][c] of the 2x2 window of pixel p that are inside.
 * x and y have 6 channels, which lie last. constants: start; what it gets for each q inside;
 * scale; addend; of float32 the scale of x, a window's pixels, the scale of y.
 * Then of the windows of each row of y, and of each column, where they begin in bytes, times
 * 256.
 * scratch, in words: the image; the next row's window; where it begins; its rows; the next
 * column's window; constants; images, rows, columns and blocks of channels that are left.
 * In place: of a window a block of channels is read before its outputs are written. */
MCU_KERNEL void _mcu_mve_pool_avg_pool2x2_6_mve(const int8_t *x MCU_UNUSED, int8_t *y MCU_UNUSED,
                                                const uint32_t *constants MCU_UNUSED,
                                                uint8_t *scratch MCU_UNUSED) {
    /* clang-format off */
    __asm__(".syntax unified\n"
            "    push {r4-r9, lr}\n"
            "    mov r3, r3\n"                      /* frame, scratch */
            "    str r0, [r3]\n"                    /* x, [frame] */
            "    str r2, [r3, #20]\n"               /* constants, [frame, #20] */
            "    ldr r0, [r3, #20]\n"               /* free, [frame, #20] */
            "    mov r1, r1\n"                      /* y_at, y */
            "    add r0, r0, #28\n"                 /* free, free, #28 */
            "    str r0, [r3, #4]\n"                /* free, [frame, #4] */
            "    movw r0, #2\n"                     /* free, #2 */
            "    movw r12, #6\n"                    /* channels, #6 */
            "    str r0, [r3, #28]\n"               /* free, [frame, #28] */
            "1:\n"
            "    ldr r0, [r3, #4]\n"                /* free, [frame, #4] */
            "    ldr r4, [r3]\n"                    /* line, [frame] */
            "    ldr r2, [r0]\n"                    /* block, [free] */
            "    ldr r0, [r3, #20]\n"               /* free, [frame, #20] */
            "    add r4, r4, r2, lsr #8\n"          /* line, line, block, lsr #8 */
            "    add r0, r0, #36\n"                 /* free, free, #36 */
            "    str r0, [r3, #16]\n"               /* free, [frame, #16] */
            "    movw r0, #2\n"                     /* free, #2 */
            "    str r2, [r3, #12]\n"               /* block, [frame, #12] */
            "    str r4, [r3, #8]\n"                /* line, [frame, #8] */
            "    str r0, [r3, #32]\n"               /* free, [frame, #32] */
            "2:\n"
            "    ldr r0, [r3, #16]\n"               /* free, [frame, #16] */
            "    ldr r2, [r3, #8]\n"                /* block, [frame, #8] */
            "    ldr r5, [r0]\n"                    /* columns, [free] */
            "    mov r0, #2\n"                      /* free, #2 */
            "    vctp.32 r0\n"                      /* free */
            "    ldr r0, [r3, #20]\n"               /* free, [frame, #20] */
            "    add r2, r2, r5, lsr #8\n"          /* block, block, columns, lsr #8 */
            "    ldr r0, [r0]\n"                    /* start, [free] */
            "    movw r8, #2\n"                     /* rows, #2 */
            "    movw r5, #2\n"                     /* columns, #2 */
            "    vdup.32 q0, r0\n"                  /* sum0, start */
            "    mov r4, r2\n"                      /* line, block */
            "    vdup.32 q1, r0\n"                  /* sum1, start */
            "    mov r6, r8\n"                      /* rows_left, rows */
            "3:\n"
            "    mov r0, r4\n"                      /* pixel, line */
            "    dls lr, r5\n"                      /* rounds_left, columns */
            "4:\n"
            "    vldrb.s32 q2, [r0]\n"              /* load0, [pixel] */
            "    vadd.i32 q0, q0, q2\n"             /* sum0, sum0, load0 */
            "    vpst\n"
            "    vldrbt.s32 q2, [r0, #4]\n"         /* load1, [pixel, #4] */
            "    vadd.i32 q1, q1, q2\n"             /* sum1, sum1, load1 */
            "    add r0, r0, r12\n"                 /* pixel, pixel, channels */
            "    le lr, 4b\n"                       /* rounds_left, 4 */
            "    add r4, r4, #24\n"                 /* line, line, #24 */
            "    subs r6, r6, #1\n"                 /* rows_left, rows_left, #1 */
            "    bne 3b\n"
            "    ldr r0, [r3, #20]\n"               /* free, [frame, #20] */
            "    vshl.i32 q0, q0, #16\n"            /* sum0, sum0, #16 */
            "    ldr r4, [r0, #8]\n"                /* scale, [free, #8] */
            "    ldr r0, [r0, #12]\n"               /* addend, [free, #12] */
            "    vdup.32 q2, r4\n"                  /* load1, scale */
            "    vmulh.s32 q0, q0, q2\n"            /* sum0, sum0, load1 */
            "    vshl.i32 q1, q1, #16\n"            /* sum1, sum1, #16 */
            "    vmulh.s32 q1, q1, q2\n"            /* sum1, sum1, load1 */
            "    vadd.i32 q0, q0, r0\n"             /* sum0, sum0, addend */
            "    mvn r4, #0\n"                      /* nearest, #0 */
            "    vadd.i32 q1, q1, r0\n"             /* sum1, sum1, addend */
            "    movw r0, #65280\n"                 /* free, #65280 */
            "    vdup.32 q3, r0\n"                  /* load2, free */
            "    movw r0, #128\n"                   /* free, #128 */
            "    vadd.i32 q2, q0, r0\n"             /* load0, sum0, free */
            "    vand q2, q2, q3\n"                 /* load0, load0, load2 */
            "    vminv.u32 r4, q2\n"                /* nearest, load0 */
            "    vadd.i32 q2, q1, r0\n"             /* load0, sum1, free */
            "    vand q2, q2, q3\n"                 /* load0, load0, load2 */
            "    vpst\n"
            "    vminvt.u32 r4, q2\n"               /* nearest, load0 */
            "    cmp r4, #0\n"                      /* nearest, #0 */
            "    bne 6f\n"
            /* A sum is next to the middle of two outputs: all again, in floats. */
            "    ldr r0, [r3, #20]\n"               /* free, [frame, #20] */
            "    movw r9, #65408\n"                 /* zero_point, #65408 */
            "    ldr r7, [r0, #16]\n"               /* x_scale, [free, #16] */
            "    movt r9, #0xffff\n"                /* zero_point, #0xffff */
            "    vmov.i32 q0, #0\n"                 /* sum0, #0 */
            "    mov r4, r2\n"                      /* line, block */
            "    vmov.i32 q1, #0\n"                 /* sum1, #0 */
            "    mov r6, r8\n"                      /* rows_left, rows */
            "7:\n"
            "    mov r0, r4\n"                      /* pixel, line */
            "    dls lr, r5\n"                      /* rounds_left, columns */
            "8:\n"
            "    vldrb.s32 q2, [r0]\n"              /* load0, [pixel] */
            "    vsub.i32 q2, q2, r9\n"             /* load0, load0, zero_point */
            "    vcvt.f32.s32 q2, q2\n"             /* load0, load0 */
            "    vmul.f32 q2, q2, r7\n"             /* load0, load0, x_scale */
            "    vadd.f32 q0, q0, q2\n"             /* sum0, sum0, load0 */
            "    vpst\n"
            "    vldrbt.s32 q2, [r0, #4]\n"         /* load1, [pixel, #4] */
            "    vsub.i32 q2, q2, r9\n"             /* load1, load1, zero_point */
            "    vcvt.f32.s32 q2, q2\n"             /* load1, load1 */
            "    add r0, r0, r12\n"                 /* pixel, pixel, channels */
            "    vmul.f32 q2, q2, r7\n"             /* load1, load1, x_scale */
            "    vadd.f32 q1, q1, q2\n"             /* sum1, sum1, load1 */
            "    le lr, 8b\n"                       /* rounds_left, 8 */
            "    add r4, r4, #24\n"                 /* line, line, #24 */
            "    subs r6, r6, #1\n"                 /* rows_left, rows_left, #1 */
            "    bne 7b\n"
            "    ldr r0, [r3, #20]\n"               /* free, [frame, #20] */
            "    ldr r7, [r0, #24]\n"               /* x_scale, [free, #24] */
            "    ldr r0, [r0, #20]\n"               /* free, [free, #20] */
            "    vmov s8, r0\n"                     /* load0.0, free */
            "    vmov s9, r7\n"                     /* load0.1, x_scale */
            "    vdiv.f32 s0, s0, s8\n"             /* sum0.0, sum0.0, load0.0 */
            "    vdiv.f32 s0, s0, s9\n"             /* sum0.0, sum0.0, load0.1 */
            "    vdiv.f32 s1, s1, s8\n"             /* sum0.1, sum0.1, load0.0 */
            "    vdiv.f32 s1, s1, s9\n"             /* sum0.1, sum0.1, load0.1 */
            "    vdiv.f32 s2, s2, s8\n"             /* sum0.2, sum0.2, load0.0 */
            "    vdiv.f32 s2, s2, s9\n"             /* sum0.2, sum0.2, load0.1 */
            "    vdiv.f32 s3, s3, s8\n"             /* sum0.3, sum0.3, load0.0 */
            "    vdiv.f32 s3, s3, s9\n"             /* sum0.3, sum0.3, load0.1 */
            "    vdiv.f32 s4, s4, s8\n"             /* sum1.0, sum1.0, load0.0 */
            "    vdiv.f32 s4, s4, s9\n"             /* sum1.0, sum1.0, load0.1 */
            "    vdiv.f32 s5, s5, s8\n"             /* sum1.1, sum1.1, load0.0 */
            "    vdiv.f32 s5, s5, s9\n"             /* sum1.1, sum1.1, load0.1 */
            "    vdiv.f32 s6, s6, s8\n"             /* sum1.2, sum1.2, load0.0 */
            "    vdiv.f32 s6, s6, s9\n"             /* sum1.2, sum1.2, load0.1 */
            "    vdiv.f32 s7, s7, s8\n"             /* sum1.3, sum1.3, load0.0 */
            "    vdiv.f32 s7, s7, s9\n"             /* sum1.3, sum1.3, load0.1 */
            "    movw r9, #65408\n"                 /* zero_point, #65408 */
            "    movt r9, #0xffff\n"                /* zero_point, #0xffff */
            "    vcvtn.s32.f32 q0, q0\n"            /* sum0, sum0 */
            "    vqadd.s32 q0, q0, r9\n"            /* sum0, sum0, zero_point */
            "    vcvtn.s32.f32 q1, q1\n"            /* sum1, sum1 */
            "    vqadd.s32 q1, q1, r9\n"            /* sum1, sum1, zero_point */
            "    b 5f\n"
            "6:\n"
            "    vshr.s32 q0, q0, #16\n"            /* sum0, sum0, #16 */
            "    vshr.s32 q1, q1, #16\n"            /* sum1, sum1, #16 */
            "5:\n"
            "    ldr r0, [r3, #16]\n"               /* free, [frame, #16] */
            "    vqmovnb.s32 q0, q0\n"              /* sum0, sum0 */
            "    add r0, r0, #4\n"                  /* free, free, #4 */
            "    vqmovnb.s32 q1, q1\n"              /* sum1, sum1 */
            "    str r0, [r3, #16]\n"               /* free, [frame, #16] */
            "    vqmovnb.s16 q0, q0\n"              /* sum0, sum0 */
            "    ldr r0, [r3, #32]\n"               /* free, [frame, #32] */
            "    vqmovnb.s16 q1, q1\n"              /* sum1, sum1 */
            "    vstrb.32 q0, [r1], #4\n"           /* sum0, [y_at], #4 */
            "    subs r0, r0, #1\n"                 /* free, free, #1 */
            "    vpst\n"
            "    vstrbt.32 q1, [r1]\n"              /* sum1, [y_at] */
            "    add r1, r1, #2\n"                  /* y_at, y_at, #2 */
            "    str r0, [r3, #32]\n"               /* free, [frame, #32] */
            "    bne 2b\n"
            "    ldr r0, [r3, #4]\n"                /* free, [frame, #4] */
            "    add r0, r0, #4\n"                  /* free, free, #4 */
            "    str r0, [r3, #4]\n"                /* free, [frame, #4] */
            "    ldr r0, [r3, #28]\n"               /* free, [frame, #28] */
            "    subs r0, r0, #1\n"                 /* free, free, #1 */
            "    str r0, [r3, #28]\n"               /* free, [frame, #28] */
            "    bne 1b\n"
            "    pop {r4-r9, pc}\n");
    /* clang-format on */
}

MCU_FUNCTION void _mcu_mve_pool_reorder_6x4_int8(const int8_t *x, int8_t *y) {
    for (int32_t i0 = 0; i0 < 6; i0++) {
        for (int32_t i1 = 0; i1 < 4; i1++) {
            *y++ = x[i0 + i1 * 6];
        }
    }
}

/* ---- The layers, in the order of execution ---- */

/* clang-format off */
static void _mcu_mve_pool_layers(mcu_instance_t *instance) {
    uint8_t *const ws = instance->workspace;

    /* reshape_1_reorder: Reorder, reshape_1_3 reordered: int8[1,6,4,4] -> int8[1,6,4,4] NHWC */
    int8_t *const int8 = (int8_t *)(ws + 80);
    int8_t *const reshape_1_reorder = (int8_t *)(ws + 0);
    MCU_LAYER(0, _mcu_mve_pool_reorder_16x6_int8(int8, reshape_1_reorder));

    /* avg_pool_1: AveragePool, pool0 (3 nodes): int8[1,6,4,4] NHWC -> int8[1,6,2,2] NHWC */
    int8_t *const avg_pool_1 = (int8_t *)(ws + 144);
    uint8_t *const avg_pool_1_scratch = (uint8_t *)(ws + 96);
    MCU_LAYER(1, _mcu_mve_pool_avg_pool2x2_6_mve(
        reshape_1_reorder, avg_pool_1, _mcu_mve_pool_avg_pool_1_constants, avg_pool_1_scratch));

    /* avg_pool_1_reorder: Reorder, quantizelinear_4_7 reordered:
     * int8[1,6,2,2] NHWC -> int8[1,6,2,2] */
    int8_t *const avg_pool_1_reorder = (int8_t *)(ws + 0);
    MCU_LAYER(2, _mcu_mve_pool_reorder_6x4_int8(avg_pool_1, avg_pool_1_reorder));
}

/* clang-format on */

static int32_t _mcu_mve_pool_run_func(void *args, void *arg_type_ids, int32_t num_args,
                                      void *out_ret_value, void *out_ret_tcode,
                                      void *resource_handle) {
    (void)out_ret_value;
    (void)out_ret_tcode;
    const mcu_model_t *const model = &_mcu_network_mve_pool;
    const int32_t status =
        _mcu_run_begin(model, NULL, args, arg_type_ids, num_args, resource_handle);
    if (status != MCU_OK) {
        return status;
    }
    _mcu_mve_pool_layers(resource_handle);
    return _mcu_run_end(model, NULL, args, resource_handle);
}

/* ---- The descriptor ---- */

static const int64_t _mcu_mve_pool_input0_shape[1] = {96};
static const mcu_tensor_info_t _mcu_mve_pool_inputs[1] = {
    {
        .name = "int8",
        .shape = _mcu_mve_pool_input0_shape,
        .place = {80, 0, 96},
        .scale = 2.31e-2F,
        .zero_point = -128,
        .ndim = 1,
        .dtype = {kDLInt, 8, 1},
    },
};

static const int64_t _mcu_mve_pool_output0_shape[1] = {24};
static const mcu_tensor_info_t _mcu_mve_pool_outputs[1] = {
    {
        .name = "int8_y",
        .shape = _mcu_mve_pool_output0_shape,
        .place = {0, 0, 24},
        .scale = 2.31e-2F,
        .zero_point = -128,
        .ndim = 1,
        .dtype = {kDLInt, 8, 1},
    },
};

/* clang-format off */
/* Where the outputs of each layer lie when it has run: offset, pool and bytes. */
static const mcu_region_t _mcu_mve_pool_regions[3] = {
    {0,   0, 96}, /* 0 */
    {144, 0, 24}, /* 1 */
    {0,   0, 24}, /* 2 */
};

/* Of each layer: its first output in the table above, and how many it has. */
static const mcu_layer_info_t _mcu_mve_pool_layer_infos[3] = {
    {0, 1}, {1, 1}, {2, 1},
};
/* clang-format on */

const mcu_model_t _mcu_network_mve_pool = {
    .run_func = _mcu_mve_pool_run_func,
    .num_input_tensors = 1,
    .num_output_tensors = 1,
    .abi_version = MCU_MODEL_ABI_VERSION,
    .workspace_size = MCU_MVE_POOL_WORKSPACE_SIZE,
    .workspace_alignment = MCU_MVE_POOL_WORKSPACE_ALIGNMENT,
    .num_layers = 3,
    .name = "mve_pool",
    .inputs = _mcu_mve_pool_inputs,
    .outputs = _mcu_mve_pool_outputs,
    .layers = _mcu_mve_pool_layer_infos,
    .layer_outputs = _mcu_mve_pool_regions,
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
