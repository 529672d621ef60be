/* network_dsp_product.c: a neural network, made by mcu-deploy.
 *
 *   source model  layers, SHA-256
 *                 e189074a27409e2f4fe8bd240a651d327a9f2bbfefd12b722ee185ece1b337e4
 *   constants     24 bytes, as a file: SHA-256
 *                 a4780c71617f76a6fa98f61aaa7d7eda178e011ef0272e92739560518383e29c
 *   workspace     96 bytes
 *   layers        2 with 0 multiply-accumulates
 *
 * Everything is static but the descriptor _mcu_network_dsp_product, at the end. To compile this
 * file by hand, in its folder, to the same bytes:
 *
 *   arm-none-eabi-gcc -mcpu=cortex-m4 -mthumb -mfpu=fpv4-sp-d16 -mfloat-abi=hard -std=c99 \
 *       -ffunction-sections -fdata-sections -fno-common -O2 -ffp-contract=off -fno-math-errno \
 *       -frandom-seed=dsp_product -I include -c network_dsp_product.c -o network_dsp_product.o
 *
 * The workspace: what lies where, in bytes, and from which layer to which it is needed.
 *
 *   offset  bytes   from      to  holds
 *        0     62  input       1  int8
 *       64     31      0  output  slice_3_7
 *
 * Shapes have the model's order of axes. NHWC and the like behind a shape say in which order its
 * axes lie in memory, where that is another one.
 */
#include "network_dsp_product.h"

#include "mcu/internal.h"

/* ---- Constants ---- */

/* The assembler takes the file in as it is (from another folder: with -I FOLDER). The arrays are
 * declared extern, as a static array without an initializer would be one of zeros; the names that
 * the assembler gives them are local to the object. Where there is no .incbin, and for -flto, build
 * with --weights array. */
__asm__(".pushsection .rodata._mcu_dsp_product_weights, \"a\", %progbits\n"
        ".balign 16\n"
        ".type _mcu_dsp_product_weights, %object\n"
        ".size _mcu_dsp_product_weights, 24\n"
        "_mcu_dsp_product_weights:\n"
        ".incbin \"network_dsp_product.weights.bin\"\n"
        ".popsection");
/* clang-format off */
#define MCU_CONSTANT(name, type, elements, offset, bytes)              \
    extern const type name[elements];                                  \
    __asm__(".set " #name ", _mcu_dsp_product_weights + " #offset "\n" \
            ".type " #name ", %object\n"                               \
            ".size " #name ", " #bytes)
MCU_CONSTANT(_mcu_dsp_product_mul_1_constants, int32_t, 6, 0, 24);
#undef MCU_CONSTANT
/* clang-format on */

/* ---- Kernels ---- */

/* Those in assembly are one string each, some longer than C99 wants compilers to take. */
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Woverlength-strings"
#endif

MCU_FUNCTION void _mcu_dsp_product_slice_31_int8(const int8_t *x, int8_t *y) {
    for (int32_t i0 = 0; i0 < 31; i0++) {
        *y++ = x[i0 + 31];
    }
}

/* y = sat((((a - a_zero) * (b - b_zero) + move) * scale >> 32) + addend >> 4).
 * constants: move; -a_zero, twice in a word; -b_zero, the same; scale; the bytes of a
 * run's whole words; addend; the loops'. */
MCU_KERNEL void _mcu_dsp_product_mul_int8_int8_int8_4_and_3_dsp(
    const int8_t *a MCU_UNUSED, const int8_t *b MCU_UNUSED, int8_t *y MCU_UNUSED,
    const int32_t *constants MCU_UNUSED) {
    /* clang-format off */
    __asm__(".syntax unified\n"
            "    push {r4-r11, lr}\n"
            /* constants, {move, minus_a_zero, minus_b_zero, scale, end, addend} */
            "    ldmia r3, {r3-r8}\n"
            "    add r7, r7, r2\n"                  /* end, end, y */
            /* Elements without their zero points, multiplied, scaled, shifted, saturated. */
            "1:\n"
            "    ldr r12, [r0], #4\n"               /* a, [a], #4 */
            "    ldr lr, [r1], #4\n"                /* b, [b], #4 */
            "    sxtab16 r10, r4, r12\n"            /* a_even, minus_a_zero, a */
            "    sxtab16 r12, r4, r12, ror #8\n"    /* a, minus_a_zero, a, ror #8 */
            "    sxtab16 r11, r5, lr\n"             /* b_even, minus_b_zero, b */
            "    sxtab16 lr, r5, lr, ror #8\n"      /* b, minus_b_zero, b, ror #8 */
            "    smlabb r9, r10, r11, r3\n"         /* product, a_even, b_even, move */
            "    smlatt r10, r10, r11, r3\n"        /* a_even, a_even, b_even, move */
            "    smlabb r11, r12, lr, r3\n"         /* b_even, a, b, move */
            "    smlatt r12, r12, lr, r3\n"         /* a, a, b, move */
            "    smmla r9, r9, r6, r8\n"            /* product, product, scale, addend */
            "    smmla r11, r11, r6, r8\n"          /* b_even, b_even, scale, addend */
            "    smmla r10, r10, r6, r8\n"          /* a_even, a_even, scale, addend */
            "    smmla r12, r12, r6, r8\n"          /* a, a, scale, addend */
            "    ssat r9, #8, r9, asr #4\n"         /* product, #8, product, asr #4 */
            "    ssat r11, #8, r11, asr #4\n"       /* b_even, #8, b_even, asr #4 */
            "    ssat r10, #8, r10, asr #4\n"       /* a_even, #8, a_even, asr #4 */
            "    ssat r12, #8, r12, asr #4\n"       /* a, #8, a, asr #4 */
            "    bfi r9, r11, #8, #8\n"             /* product, b_even, #8, #8 */
            "    bfi r10, r12, #8, #8\n"            /* a_even, a, #8, #8 */
            "    pkhbt r9, r9, r10, lsl #16\n"      /* product, product, a_even, lsl #16 */
            "    str r9, [r2], #4\n"                /* product, [y], #4 */
            "    cmp r2, r7\n"                      /* y, end */
            "    bne 1b\n"
            "    ldrb r12, [r0], #1\n"              /* a, [a], #1 */
            "    ldrb lr, [r1], #1\n"               /* b, [b], #1 */
            "    sxtab16 r12, r4, r12\n"            /* a, minus_a_zero, a */
            "    sxtab16 lr, r5, lr\n"              /* b, minus_b_zero, b */
            "    smlabb r12, r12, lr, r3\n"         /* a, a, b, move */
            "    smmla r12, r12, r6, r8\n"          /* a, a, scale, addend */
            "    ssat r12, #8, r12, asr #4\n"       /* a, #8, a, asr #4 */
            "    strb r12, [r2], #1\n"              /* a, [y], #1 */
            "    ldrb r12, [r0], #1\n"              /* a, [a], #1 */
            "    ldrb lr, [r1], #1\n"               /* b, [b], #1 */
            "    sxtab16 r12, r4, r12\n"            /* a, minus_a_zero, a */
            "    sxtab16 lr, r5, lr\n"              /* b, minus_b_zero, b */
            "    smlabb r12, r12, lr, r3\n"         /* a, a, b, move */
            "    smmla r12, r12, r6, r8\n"          /* a, a, scale, addend */
            "    ssat r12, #8, r12, asr #4\n"       /* a, #8, a, asr #4 */
            "    strb r12, [r2], #1\n"              /* a, [y], #1 */
            "    ldrb r12, [r0], #1\n"              /* a, [a], #1 */
            "    ldrb lr, [r1], #1\n"               /* b, [b], #1 */
            "    sxtab16 r12, r4, r12\n"            /* a, minus_a_zero, a */
            "    sxtab16 lr, r5, lr\n"              /* b, minus_b_zero, b */
            "    smlabb r12, r12, lr, r3\n"         /* a, a, b, move */
            "    smmla r12, r12, r6, r8\n"          /* a, a, scale, addend */
            "    ssat r12, #8, r12, asr #4\n"       /* a, #8, a, asr #4 */
            "    strb r12, [r2], #1\n"              /* a, [y], #1 */
            "    pop {r4-r11, pc}\n");
    /* clang-format on */
}

/* ---- The layers, in the order of execution ---- */

/* clang-format off */
static void _mcu_dsp_product_layers(mcu_instance_t *instance) {
    uint8_t *const ws = instance->workspace;

    /* slice_2: Slice, slice_3_7: int8[62] -> int8[31] */
    int8_t *const int8 = (int8_t *)(ws + 0);
    int8_t *const slice_2 = (int8_t *)(ws + 64);
    MCU_LAYER(0, _mcu_dsp_product_slice_31_int8(int8, slice_2));

    /* mul_1: Mul, sum0 (4 nodes): int8[1,31], int8[1,31] -> int8[1,31] */
    int8_t *const slice_0_2 = (int8_t *)(ws + 0);
    int8_t *const mul_1 = (int8_t *)(ws + 64);
    MCU_LAYER(1, _mcu_dsp_product_mul_int8_int8_int8_4_and_3_dsp(slice_0_2, slice_2, mul_1,
                                                                 _mcu_dsp_product_mul_1_constants));
}

/* clang-format on */

static int32_t _mcu_dsp_product_run_func(void *args, void *arg_type_ids, int32_t num_args,
                                         void *out_ret_value, void *out_ret_tcode,
                                         void *resource_handle) {
    (void)out_ret_value;
    (void)out_ret_tcode;
    const mcu_model_t *const model = &_mcu_network_dsp_product;
    const int32_t status =
        _mcu_run_begin(model, NULL, args, arg_type_ids, num_args, resource_handle);
    if (status != MCU_OK) {
        return status;
    }
    _mcu_dsp_product_layers(resource_handle);
    return _mcu_run_end(model, NULL, args, resource_handle);
}

/* ---- The descriptor ---- */

static const int64_t _mcu_dsp_product_input0_shape[1] = {62};
static const mcu_tensor_info_t _mcu_dsp_product_inputs[1] = {
    {
        .name = "int8",
        .shape = _mcu_dsp_product_input0_shape,
        .place = {0, 0, 62},
        .scale = 1.23127e-2F,
        .zero_point = 127,
        .ndim = 1,
        .dtype = {kDLInt, 8, 1},
    },
};

static const int64_t _mcu_dsp_product_output0_shape[1] = {31};
static const mcu_tensor_info_t _mcu_dsp_product_outputs[1] = {
    {
        .name = "int8_y",
        .shape = _mcu_dsp_product_output0_shape,
        .place = {64, 0, 31},
        .scale = 4.11337e-2F,
        .zero_point = -128,
        .ndim = 1,
        .dtype = {kDLInt, 8, 1},
    },
};

/* clang-format off */
/* Where the outputs of each layer lie when it has run: offset, pool and bytes. */
static const mcu_region_t _mcu_dsp_product_regions[2] = {
    {64, 0, 31}, /* 0 */
    {64, 0, 31}, /* 1 */
};

/* Of each layer: its first output in the table above, and how many it has. */
static const mcu_layer_info_t _mcu_dsp_product_layer_infos[2] = {
    {0, 1}, {1, 1},
};
/* clang-format on */

const mcu_model_t _mcu_network_dsp_product = {
    .run_func = _mcu_dsp_product_run_func,
    .num_input_tensors = 1,
    .num_output_tensors = 1,
    .abi_version = MCU_MODEL_ABI_VERSION,
    .workspace_size = MCU_DSP_PRODUCT_WORKSPACE_SIZE,
    .workspace_alignment = MCU_DSP_PRODUCT_WORKSPACE_ALIGNMENT,
    .num_layers = 2,
    .name = "dsp_product",
    .inputs = _mcu_dsp_product_inputs,
    .outputs = _mcu_dsp_product_outputs,
    .layers = _mcu_dsp_product_layer_infos,
    .layer_outputs = _mcu_dsp_product_regions,
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
