/* network_dsp_sum.c: a neural network, made by mcu-deploy.
 *
 *   source model  layers, SHA-256
 *                 94221178e75eedca4117d6abbe096e5c706f5249cb95c1b55f50a8710567990f
 *   constants     16 bytes, as a file: SHA-256
 *                 8bf5ee4c2e57637d53f483d1e3390094b84b15cd1a450dff6ad8fa6cb93b9b98
 *   workspace     32 bytes
 *   layers        2 with 0 multiply-accumulates
 *
 * Everything is static but the descriptor _mcu_network_dsp_sum, at the end. To compile this file by
 * hand, in its folder, to the same bytes:
 *
 *   arm-none-eabi-gcc -mcpu=cortex-m4 -mthumb -mfpu=fpv4-sp-d16 -mfloat-abi=hard -std=c99 \
 *       -ffunction-sections -fdata-sections -fno-common -O2 -ffp-contract=off -fno-math-errno \
 *       -frandom-seed=dsp_sum -I include -c network_dsp_sum.c -o network_dsp_sum.o
 *
 * The workspace: what lies where, in bytes, and from which layer to which it is needed.
 *
 *   offset  bytes   from      to  holds
 *        0     16  input  output  int8
 *       16      8      0       1  slice_3_7
 *
 * Shapes have the model's order of axes. NHWC and the like behind a shape say in which order its
 * axes lie in memory, where that is another one.
 */
#include "network_dsp_sum.h"

#include "mcu/internal.h"

/* ---- Constants ---- */

/* The assembler takes the file in as it is (from another folder: with -I FOLDER). The arrays are
 * declared extern, as a static array without an initializer would be one of zeros; the names that
 * the assembler gives them are local to the object. Where there is no .incbin, and for -flto, build
 * with --weights array. */
__asm__(".pushsection .rodata._mcu_dsp_sum_weights, \"a\", %progbits\n"
        ".balign 16\n"
        ".type _mcu_dsp_sum_weights, %object\n"
        ".size _mcu_dsp_sum_weights, 16\n"
        "_mcu_dsp_sum_weights:\n"
        ".incbin \"network_dsp_sum.weights.bin\"\n"
        ".popsection");
/* clang-format off */
#define MCU_CONSTANT(name, type, elements, offset, bytes)          \
    extern const type name[elements];                              \
    __asm__(".set " #name ", _mcu_dsp_sum_weights + " #offset "\n" \
            ".type " #name ", %object\n"                           \
            ".size " #name ", " #bytes)
MCU_CONSTANT(_mcu_dsp_sum_add_1_constants, int32_t, 4, 0, 16);
#undef MCU_CONSTANT
/* clang-format on */

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

static int32_t _mcu_dsp_sum_run_func(void *args, void *arg_type_ids, int32_t num_args,
                                     void *out_ret_value, void *out_ret_tcode,
                                     void *resource_handle) {
    (void)out_ret_value;
    (void)out_ret_tcode;
    const mcu_model_t *const model = &_mcu_network_dsp_sum;
    const int32_t status =
        _mcu_run_begin(model, NULL, args, arg_type_ids, num_args, resource_handle);
    if (status != MCU_OK) {
        return status;
    }
    _mcu_dsp_sum_layers(resource_handle);
    return _mcu_run_end(model, NULL, args, resource_handle);
}

/* ---- The descriptor ---- */

static const int64_t _mcu_dsp_sum_input0_shape[1] = {16};
static const mcu_tensor_info_t _mcu_dsp_sum_inputs[1] = {
    {
        .name = "int8",
        .shape = _mcu_dsp_sum_input0_shape,
        .place = {0, 0, 16},
        .scale = 5.0e-2F,
        .zero_point = 0,
        .ndim = 1,
        .dtype = {kDLInt, 8, 1},
    },
};

static const int64_t _mcu_dsp_sum_output0_shape[1] = {8};
static const mcu_tensor_info_t _mcu_dsp_sum_outputs[1] = {
    {
        .name = "int8_y",
        .shape = _mcu_dsp_sum_output0_shape,
        .place = {0, 0, 8},
        .scale = 5.0e-2F,
        .zero_point = 0,
        .ndim = 1,
        .dtype = {kDLInt, 8, 1},
    },
};

/* clang-format off */
/* Where the outputs of each layer lie when it has run: offset, pool and bytes. */
static const mcu_region_t _mcu_dsp_sum_regions[2] = {
    {16, 0, 8}, /* 0 */
    {0,  0, 8}, /* 1 */
};

/* Of each layer: its first output in the table above, and how many it has. */
static const mcu_layer_info_t _mcu_dsp_sum_layer_infos[2] = {
    {0, 1}, {1, 1},
};
/* clang-format on */

const mcu_model_t _mcu_network_dsp_sum = {
    .run_func = _mcu_dsp_sum_run_func,
    .num_input_tensors = 1,
    .num_output_tensors = 1,
    .abi_version = MCU_MODEL_ABI_VERSION,
    .workspace_size = MCU_DSP_SUM_WORKSPACE_SIZE,
    .workspace_alignment = MCU_DSP_SUM_WORKSPACE_ALIGNMENT,
    .num_layers = 2,
    .name = "dsp_sum",
    .inputs = _mcu_dsp_sum_inputs,
    .outputs = _mcu_dsp_sum_outputs,
    .layers = _mcu_dsp_sum_layer_infos,
    .layer_outputs = _mcu_dsp_sum_regions,
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
