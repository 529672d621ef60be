/* network_mve_float_pool.c: a neural network, made by mcu-deploy.
 *
 *   source model  floats, SHA-256
 *                 621985f18a98388eed73d5c3511b76522114daa9f35b2e6da8d0f49b0e4214b9
 *   constants     4 bytes, as a file: SHA-256
 *                 75e253f50979177eba47b2d0805ad36038789108924514d2a761a70de057d16f
 *   workspace     1,840 bytes
 *   layers        6 with 0 multiply-accumulates
 *
 * Everything is static but the descriptor _mcu_network_mve_float_pool, at the end. To compile this
 * file by hand, in its folder, to the same bytes:
 *
 *   arm-none-eabi-gcc -mcpu=cortex-m55 -mthumb -mfpu=auto -mfloat-abi=hard -std=c99 \
 *       -ffunction-sections -fdata-sections -fno-common -O2 -ffp-contract=off -fno-math-errno \
 *       -frandom-seed=mve_float_pool -I include -c network_mve_float_pool.c -o \
 *       network_mve_float_pool.o
 *
 * The workspace: what lies where, in bytes, and from which layer to which it is needed.
 *
 *   offset  bytes   from      to  holds
 *        0   1152  input       2  x
 *     1264    576      0       1  of1
 *     1152     52      1       1  scratch of avg_pool_1
 *     1216    144      1       4  of2
 *        0    576      2       3  of5
 *      576     52      3       3  scratch of max_pool_1
 *      640    144      3       5  of6
 *        0    288      4  output  y
 *
 * Shapes have the model's order of axes. NHWC and the like behind a shape say in which order its
 * axes lie in memory, where that is another one.
 */
#include "network_mve_float_pool.h"

#include "mcu/internal.h"

/* ---- Constants ---- */

/* The assembler takes the file in as it is (from another folder: with -I FOLDER). The arrays are
 * declared extern, as a static array without an initializer would be one of zeros; the names that
 * the assembler gives them are local to the object. Where there is no .incbin, and for -flto, build
 * with --weights array. */
__asm__(".pushsection .rodata._mcu_mve_float_pool_weights, \"a\", %progbits\n"
        ".balign 16\n"
        ".type _mcu_mve_float_pool_weights, %object\n"
        ".size _mcu_mve_float_pool_weights, 4\n"
        "_mcu_mve_float_pool_weights:\n"
        ".incbin \"network_mve_float_pool.weights.bin\"\n"
        ".popsection");
/* clang-format off */
#define MCU_CONSTANT(name, type, elements, offset, bytes)                 \
    extern const type name[elements];                                     \
    __asm__(".set " #name ", _mcu_mve_float_pool_weights + " #offset "\n" \
            ".type " #name ", %object\n"                                  \
            ".size " #name ", " #bytes)
MCU_CONSTANT(_mcu_mve_float_pool_avg_pool_1_reciprocals, float, 1, 0, 4);
#undef MCU_CONSTANT
/* clang-format on */

/* ---- Kernels ---- */

/* Those in assembly are one string each, some longer than C99 wants compilers to take. */
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Woverlength-strings"
#endif

/* y[m][c][r] = x[m][r][c]: 1 times 6 rows of 24.
 * 4 neighbours of the input at a time; in the other one they are 24 bytes apart. */
MCU_KERNEL void _mcu_mve_float_pool_reorder_1x6x24x4_mve(const float *x MCU_UNUSED,
                                                         float *y MCU_UNUSED) {
    /* clang-format off */
    __asm__(".syntax unified\n"
            "    push {r4, lr}\n"
            "    mov r2, #0\n"                      /* elements_of_row, #0 */
            "    vidup.u32 q0, r2, #1\n"            /* offsets, elements_of_row, #1 */
            "    movw r2, #24\n"                    /* bytes_apart, #24 */
            "    vmul.i32 q0, q0, r2\n"             /* offsets, offsets, bytes_apart */
            "    movw r4, #6\n"                     /* rows_left, #6 */
            "1:\n"
            "    mov r3, r1\n"                      /* place, y */
            "    movw r2, #24\n"                    /* elements_of_row, #24 */
            "    dlstp.32 lr, r2\n"                 /* rounds_left, elements_of_row */
            "2:\n"
            "    vldrw.u32 q1, [r0], #16\n"         /* elements, [x], #16 */
            "    vstrw.32 q1, [r3, q0]\n"           /* elements, [place, offsets] */
            "    add r3, r3, #96\n"                 /* place, place, #96 */
            "    letp lr, 2b\n"                     /* rounds_left, 2 */
            "    add r1, r1, #4\n"                  /* y, y, #4 */
            "    subs r4, r4, #1\n"                 /* rows_left, rows_left, #1 */
            "    bne 1b\n"
            "    pop {r4, pc}\n");
    /* clang-format on */
}

/* y[p][c] = the average of window[p][k][c], float32, of what lies inside of the image.
 * x: [row][column][channel], y: [p][c].
 * constants: the reciprocals of how many elements there are, by their columns.
 * scratch, in words: where image and output go on, the stream, the next row, its number, what is
 * left of rows, tiles, groups and filters; of the rows of a window that are outside the bytes of
 * their weights in front and behind, how many are inside, the way back over these. In place: as
 * depthwise convolutions. */
MCU_KERNEL void _mcu_mve_float_pool_avg_pool2x2_6_f32_mve(const float *x MCU_UNUSED,
                                                          float *y MCU_UNUSED,
                                                          const float *reciprocals MCU_UNUSED,
                                                          uint8_t *scratch MCU_UNUSED) {
    /* clang-format off */
    __asm__(".syntax unified\n"
            "    push {r4, r5, lr}\n"
            "    mov r3, r3\n"                      /* frame, scratch */
            "    str r1, [r3, #4]\n"                /* y, [frame, #4] */
            "    str r2, [r3, #8]\n"                /* constants, [frame, #8] */
            "    str r0, [r3]\n"                    /* x, [frame] */
            "    str r0, [r3, #12]\n"               /* x, [frame, #12] */
            "    movw r2, #2\n"                     /* free, #2 */
            "    str r2, [r3, #20]\n"               /* free, [frame, #20] */
            "1:\n"
            /* The next row of the output. */
            "    ldr r0, [r3, #12]\n"               /* row, [frame, #12] */
            "    ldr r1, [r3, #4]\n"                /* out, [frame, #4] */
            "    add r2, r0, #288\n"                /* free, row, #288 */
            "    str r0, [r3]\n"                    /* row, [frame] */
            /* 3 pixels, four channels at a time. */
            "    ldr r0, [r3]\n"                    /* block, [frame] */
            "    str r2, [r3, #12]\n"               /* free, [frame, #12] */
            "    add r2, r0, #144\n"                /* free, block, #144 */
            "    str r2, [r3]\n"                    /* free, [frame] */
            "    add r2, r1, #72\n"                 /* free, out, #72 */
            "    str r2, [r3, #4]\n"                /* free, [frame, #4] */
            "    ldr r2, [r3, #8]\n"                /* stream_at, [frame, #8] */
            "    movw r4, #6\n"                     /* channels, #6 */
            "    dlstp.32 lr, r4\n"                 /* rounds_left, channels */
            "2:\n"
            "    vmov.i32 q0, #0\n"                 /* sum0, #0 */
            "    mov r4, r0\n"                      /* at, block */
            "    vmov.i32 q1, #0\n"                 /* sum1, #0 */
            "    movw r5, #2\n"                     /* rows_left, #2 */
            "    vmov.i32 q2, #0\n"                 /* sum2, #0 */
            "4:\n"
            "    vldrw.u32 q3, [r4], #24\n"         /* column0, [at], #24 */
            "    vadd.f32 q0, q0, q3\n"             /* sum0, sum0, column0 */
            "    vldrw.u32 q3, [r4], #24\n"         /* column1, [at], #24 */
            "    vadd.f32 q0, q0, q3\n"             /* sum0, sum0, column1 */
            "    vldrw.u32 q3, [r4], #24\n"         /* column2, [at], #24 */
            "    vadd.f32 q1, q1, q3\n"             /* sum1, sum1, column2 */
            "    vldrw.u32 q3, [r4], #24\n"         /* column0, [at], #24 */
            "    vadd.f32 q1, q1, q3\n"             /* sum1, sum1, column0 */
            "    vldrw.u32 q3, [r4], #24\n"         /* column1, [at], #24 */
            "    vadd.f32 q2, q2, q3\n"             /* sum2, sum2, column1 */
            "    vldrw.u32 q3, [r4], #24\n"         /* column2, [at], #24 */
            "    vadd.f32 q2, q2, q3\n"             /* sum2, sum2, column2 */
            "    subs r5, r5, #1\n"                 /* rows_left, rows_left, #1 */
            "    bne 4b\n"
            "    ldr r4, [r2]\n"                    /* reciprocal, [stream_at] */
            "    add r0, r0, #16\n"                 /* block, block, #16 */
            "    vmul.f32 q0, q0, r4\n"             /* sum0, sum0, reciprocal */
            "    vstrw.32 q0, [r1]\n"               /* sum0, [out] */
            "    vmul.f32 q1, q1, r4\n"             /* sum1, sum1, reciprocal */
            "    vstrw.32 q1, [r1, #24]\n"          /* sum1, [out, #24] */
            "    vmul.f32 q2, q2, r4\n"             /* sum2, sum2, reciprocal */
            "    vstrw.32 q2, [r1, #48]\n"          /* sum2, [out, #48] */
            "    add r1, r1, #16\n"                 /* out, out, #16 */
            "    letp lr, 2b\n"                     /* rounds_left, 2 */
            "    ldr r2, [r3, #20]\n"               /* free, [frame, #20] */
            "    subs r2, r2, #1\n"                 /* free, free, #1 */
            "    str r2, [r3, #20]\n"               /* free, [frame, #20] */
            "    bne 1b\n"
            "    pop {r4, r5, pc}\n");
    /* clang-format on */
}

/* y[p][c] = the greatest of window[p][k][c], float32, of what lies inside of the image.
 * x: [row][column][channel], y: [p][c].
 * scratch, in words: where image and output go on, the stream, the next row, its number, what is
 * left of rows, tiles, groups and filters; of the rows of a window that are outside the bytes of
 * their weights in front and behind, how many are inside, the way back over these. In place: as
 * depthwise convolutions. */
MCU_KERNEL void _mcu_mve_float_pool_max_pool2x2_6_f32_mve(const float *x MCU_UNUSED,
                                                          float *y MCU_UNUSED,
                                                          uint8_t *scratch MCU_UNUSED) {
    /* clang-format off */
    __asm__(".syntax unified\n"
            "    push {r4, r5, lr}\n"
            "    mov r2, r2\n"                      /* frame, scratch */
            "    str r1, [r2, #4]\n"                /* y, [frame, #4] */
            "    str r0, [r2]\n"                    /* x, [frame] */
            "    str r0, [r2, #12]\n"               /* x, [frame, #12] */
            "    movw r3, #2\n"                     /* free, #2 */
            "    str r3, [r2, #20]\n"               /* free, [frame, #20] */
            "1:\n"
            /* The next row of the output. */
            "    ldr r0, [r2, #12]\n"               /* row, [frame, #12] */
            "    ldr r1, [r2, #4]\n"                /* out, [frame, #4] */
            "    add r3, r0, #288\n"                /* free, row, #288 */
            "    str r0, [r2]\n"                    /* row, [frame] */
            /* 3 pixels, four channels at a time. */
            "    ldr r0, [r2]\n"                    /* block, [frame] */
            "    str r3, [r2, #12]\n"               /* free, [frame, #12] */
            "    add r3, r0, #144\n"                /* free, block, #144 */
            "    str r3, [r2]\n"                    /* free, [frame] */
            "    add r3, r1, #72\n"                 /* free, out, #72 */
            "    movw r5, #0\n"                     /* lowest, #0 */
            "    str r3, [r2, #4]\n"                /* free, [frame, #4] */
            "    movt r5, #65408\n"                 /* lowest, #65408 */
            "    movw r3, #6\n"                     /* channels, #6 */
            "    dlstp.32 lr, r3\n"                 /* rounds_left, channels */
            "2:\n"
            "    vdup.32 q0, r5\n"                  /* sum0, lowest */
            "    mov r3, r0\n"                      /* at, block */
            "    vdup.32 q1, r5\n"                  /* sum1, lowest */
            "    movw r4, #2\n"                     /* rows_left, #2 */
            "    vdup.32 q2, r5\n"                  /* sum2, lowest */
            "4:\n"
            "    vcmp.f32 eq, q0, q0\n"             /* eq, sum0, sum0 */
            "    vldrw.u32 q3, [r3], #24\n"         /* column0, [at], #24 */
            "    vpstt\n"
            "    vcmpt.f32 lt, q0, q3\n"            /* lt, sum0, column0 */
            "    vmovt q0, q3\n"                    /* sum0, column0 */
            "    vcmp.f32 eq, q0, q0\n"             /* eq, sum0, sum0 */
            "    vldrw.u32 q3, [r3], #24\n"         /* column1, [at], #24 */
            "    vpstt\n"
            "    vcmpt.f32 lt, q0, q3\n"            /* lt, sum0, column1 */
            "    vmovt q0, q3\n"                    /* sum0, column1 */
            "    vcmp.f32 eq, q1, q1\n"             /* eq, sum1, sum1 */
            "    vldrw.u32 q3, [r3], #24\n"         /* column2, [at], #24 */
            "    vpstt\n"
            "    vcmpt.f32 lt, q1, q3\n"            /* lt, sum1, column2 */
            "    vmovt q1, q3\n"                    /* sum1, column2 */
            "    vcmp.f32 eq, q1, q1\n"             /* eq, sum1, sum1 */
            "    vldrw.u32 q3, [r3], #24\n"         /* column0, [at], #24 */
            "    vpstt\n"
            "    vcmpt.f32 lt, q1, q3\n"            /* lt, sum1, column0 */
            "    vmovt q1, q3\n"                    /* sum1, column0 */
            "    vcmp.f32 eq, q2, q2\n"             /* eq, sum2, sum2 */
            "    vldrw.u32 q3, [r3], #24\n"         /* column1, [at], #24 */
            "    vpstt\n"
            "    vcmpt.f32 lt, q2, q3\n"            /* lt, sum2, column1 */
            "    vmovt q2, q3\n"                    /* sum2, column1 */
            "    vcmp.f32 eq, q2, q2\n"             /* eq, sum2, sum2 */
            "    vldrw.u32 q3, [r3], #24\n"         /* column2, [at], #24 */
            "    vpstt\n"
            "    vcmpt.f32 lt, q2, q3\n"            /* lt, sum2, column2 */
            "    vmovt q2, q3\n"                    /* sum2, column2 */
            "    subs r4, r4, #1\n"                 /* rows_left, rows_left, #1 */
            "    bne 4b\n"
            "    vstrw.32 q0, [r1]\n"               /* sum0, [out] */
            "    add r0, r0, #16\n"                 /* block, block, #16 */
            "    vstrw.32 q1, [r1, #24]\n"          /* sum1, [out, #24] */
            "    vstrw.32 q2, [r1, #48]\n"          /* sum2, [out, #48] */
            "    add r1, r1, #16\n"                 /* out, out, #16 */
            "    letp lr, 2b\n"                     /* rounds_left, 2 */
            "    ldr r3, [r2, #20]\n"               /* free, [frame, #20] */
            "    subs r3, r3, #1\n"                 /* free, free, #1 */
            "    str r3, [r2, #20]\n"               /* free, [frame, #20] */
            "    bne 1b\n"
            "    pop {r4, r5, pc}\n");
    /* clang-format on */
}

/* y[m][c][r] = x[m][r][c]: 1 times 6 rows of 6.
 * 4 neighbours of the input at a time; in the other one they are 24 bytes apart. */
MCU_KERNEL void _mcu_mve_float_pool_reorder_1x6x6x4_mve(const float *x MCU_UNUSED,
                                                        float *y MCU_UNUSED) {
    /* clang-format off */
    __asm__(".syntax unified\n"
            "    push {r4, lr}\n"
            "    mov r2, #0\n"                      /* elements_of_row, #0 */
            "    vidup.u32 q0, r2, #1\n"            /* offsets, elements_of_row, #1 */
            "    movw r2, #24\n"                    /* bytes_apart, #24 */
            "    vmul.i32 q0, q0, r2\n"             /* offsets, offsets, bytes_apart */
            "    movw r4, #6\n"                     /* rows_left, #6 */
            "1:\n"
            "    mov r3, r1\n"                      /* place, y */
            "    movw r2, #6\n"                     /* elements_of_row, #6 */
            "    dlstp.32 lr, r2\n"                 /* rounds_left, elements_of_row */
            "2:\n"
            "    vldrw.u32 q1, [r0], #16\n"         /* elements, [x], #16 */
            "    vstrw.32 q1, [r3, q0]\n"           /* elements, [place, offsets] */
            "    add r3, r3, #96\n"                 /* place, place, #96 */
            "    letp lr, 2b\n"                     /* rounds_left, 2 */
            "    sub r0, r0, #8\n"                  /* x, x, #8 */
            "    add r1, r1, #4\n"                  /* y, y, #4 */
            "    subs r4, r4, #1\n"                 /* rows_left, rows_left, #1 */
            "    bne 1b\n"
            "    pop {r4, pc}\n");
    /* clang-format on */
}

/* ---- The layers, in the order of execution ---- */

/* clang-format off */
static void _mcu_mve_float_pool_layers(mcu_instance_t *instance) {
    uint8_t *const ws = instance->workspace;

    /* reshape_1_reorder: Reorder, of1 reordered: float32[1,6,4,6] -> float32[1,6,4,6] NHWC */
    float *const of0 = (float *)(ws + 0);
    float *const reshape_1_reorder = (float *)(ws + 1264);
    MCU_LAYER(0, _mcu_mve_float_pool_reorder_1x6x24x4_mve(of0, reshape_1_reorder));

    /* avg_pool_1: AveragePool, layer0: float32[1,6,4,6] NHWC -> float32[1,6,2,3] NHWC */
    float *const avg_pool_1 = (float *)(ws + 1216);
    uint8_t *const avg_pool_1_scratch = (uint8_t *)(ws + 1152);
    MCU_LAYER(1, _mcu_mve_float_pool_avg_pool2x2_6_f32_mve(
        reshape_1_reorder, avg_pool_1, _mcu_mve_float_pool_avg_pool_1_reciprocals,
        avg_pool_1_scratch));

    /* reshape_3_reorder: Reorder, of5 reordered: float32[1,6,4,6] -> float32[1,6,4,6] NHWC */
    float *const of4 = (float *)(ws + 576);
    float *const reshape_3_reorder = (float *)(ws + 0);
    MCU_LAYER(2, _mcu_mve_float_pool_reorder_1x6x24x4_mve(of4, reshape_3_reorder));

    /* max_pool_1: MaxPool, layer1: float32[1,6,4,6] NHWC -> float32[1,6,2,3] NHWC */
    float *const max_pool_1 = (float *)(ws + 640);
    uint8_t *const max_pool_1_scratch = (uint8_t *)(ws + 576);
    MCU_LAYER(3, _mcu_mve_float_pool_max_pool2x2_6_f32_mve(reshape_3_reorder, max_pool_1,
                                                           max_pool_1_scratch));

    /* avg_pool_1_reorder: Reorder, of2 reordered: float32[1,6,2,3] NHWC -> float32[1,6,2,3] */
    float *const avg_pool_1_reorder = (float *)(ws + 0);
    MCU_LAYER(4, _mcu_mve_float_pool_reorder_1x6x6x4_mve(avg_pool_1, avg_pool_1_reorder));

    /* max_pool_1_reorder: Reorder, of6 reordered: float32[1,6,2,3] NHWC -> float32[1,6,2,3] */
    float *const max_pool_1_reorder = (float *)(ws + 144);
    MCU_LAYER(5, _mcu_mve_float_pool_reorder_1x6x6x4_mve(max_pool_1, max_pool_1_reorder));
}

/* clang-format on */

static int32_t _mcu_mve_float_pool_run_func(void *args, void *arg_type_ids, int32_t num_args,
                                            void *out_ret_value, void *out_ret_tcode,
                                            void *resource_handle) {
    (void)out_ret_value;
    (void)out_ret_tcode;
    const mcu_model_t *const model = &_mcu_network_mve_float_pool;
    const int32_t status =
        _mcu_run_begin(model, NULL, args, arg_type_ids, num_args, resource_handle);
    if (status != MCU_OK) {
        return status;
    }
    _mcu_mve_float_pool_layers(resource_handle);
    return _mcu_run_end(model, NULL, args, resource_handle);
}

/* ---- The descriptor ---- */

static const int64_t _mcu_mve_float_pool_input0_shape[1] = {288};
static const mcu_tensor_info_t _mcu_mve_float_pool_inputs[1] = {
    {
        .name = "x",
        .shape = _mcu_mve_float_pool_input0_shape,
        .place = {0, 0, 1152},
        .scale = 0.0F,
        .zero_point = 0,
        .ndim = 1,
        .dtype = {kDLFloat, 32, 1},
    },
};

static const int64_t _mcu_mve_float_pool_output0_shape[1] = {72};
static const mcu_tensor_info_t _mcu_mve_float_pool_outputs[1] = {
    {
        .name = "y",
        .shape = _mcu_mve_float_pool_output0_shape,
        .place = {0, 0, 288},
        .scale = 0.0F,
        .zero_point = 0,
        .ndim = 1,
        .dtype = {kDLFloat, 32, 1},
    },
};

/* clang-format off */
/* Where the outputs of each layer lie when it has run: offset, pool and bytes. */
static const mcu_region_t _mcu_mve_float_pool_regions[6] = {
    {1264, 0, 576}, /* 0 */
    {1216, 0, 144}, /* 1 */
    {0,    0, 576}, /* 2 */
    {640,  0, 144}, /* 3 */
    {0,    0, 144}, /* 4 */
    {144,  0, 144}, /* 5 */
};

/* Of each layer: its first output in the table above, and how many it has. */
static const mcu_layer_info_t _mcu_mve_float_pool_layer_infos[6] = {
    {0, 1}, {1, 1}, {2, 1}, {3, 1}, {4, 1}, {5, 1},
};
/* clang-format on */

const mcu_model_t _mcu_network_mve_float_pool = {
    .run_func = _mcu_mve_float_pool_run_func,
    .num_input_tensors = 1,
    .num_output_tensors = 1,
    .abi_version = MCU_MODEL_ABI_VERSION,
    .workspace_size = MCU_MVE_FLOAT_POOL_WORKSPACE_SIZE,
    .workspace_alignment = MCU_MVE_FLOAT_POOL_WORKSPACE_ALIGNMENT,
    .num_layers = 6,
    .name = "mve_float_pool",
    .inputs = _mcu_mve_float_pool_inputs,
    .outputs = _mcu_mve_float_pool_outputs,
    .layers = _mcu_mve_float_pool_layer_infos,
    .layer_outputs = _mcu_mve_float_pool_regions,
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
