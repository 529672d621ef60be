/* network_dsp_table.c: a neural network, made by mcu-deploy.
 *
 *   source model  layers, SHA-256
 *                 e57ca2b26ac5d508ffd46d001a1df8ca90724c7d160dbabad3717be1268281c8
 *   constants     256 bytes, as a file: SHA-256
 *                 9cd4213925ab83ea8844a5e68da510557d5b00485170de75b41834c0a4208201
 *   workspace     16 bytes
 *   layers        1 with 0 multiply-accumulates
 *
 * Everything is static but the descriptor _mcu_network_dsp_table, at the end. To compile this file
 * by hand, in its folder, to the same bytes:
 *
 *   arm-none-eabi-gcc -mcpu=cortex-m4 -mthumb -mfpu=fpv4-sp-d16 -mfloat-abi=hard -std=c99 \
 *       -ffunction-sections -fdata-sections -fno-common -O2 -ffp-contract=off -fno-math-errno \
 *       -frandom-seed=dsp_table -I include -c network_dsp_table.c -o network_dsp_table.o
 *
 * The workspace: what lies where, in bytes, and from which layer to which it is needed.
 *
 *   offset  bytes   from      to  holds
 *        0      1  input  output  int8
 *
 * Shapes have the model's order of axes. NHWC and the like behind a shape say in which order its
 * axes lie in memory, where that is another one.
 */
#include "network_dsp_table.h"

#include "mcu/internal.h"

/* ---- Constants ---- */

/* The assembler takes the file in as it is (from another folder: with -I FOLDER). The arrays are
 * declared extern, as a static array without an initializer would be one of zeros; the names that
 * the assembler gives them are local to the object. Where there is no .incbin, and for -flto, build
 * with --weights array. */
__asm__(".pushsection .rodata._mcu_dsp_table_weights, \"a\", %progbits\n"
        ".balign 16\n"
        ".type _mcu_dsp_table_weights, %object\n"
        ".size _mcu_dsp_table_weights, 256\n"
        "_mcu_dsp_table_weights:\n"
        ".incbin \"network_dsp_table.weights.bin\"\n"
        ".popsection");
/* clang-format off */
#define MCU_CONSTANT(name, type, elements, offset, bytes)            \
    extern const type name[elements];                                \
    __asm__(".set " #name ", _mcu_dsp_table_weights + " #offset "\n" \
            ".type " #name ", %object\n"                             \
            ".size " #name ", " #bytes)
MCU_CONSTANT(_mcu_dsp_table_tanh_1_table, uint8_t, 256, 0, 256);
#undef MCU_CONSTANT
/* clang-format on */

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
            "    beq 1f\n"
            /* Elements, then what the table has for them. */
            "3:\n"
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
            "    bne 3b\n"
            "1:\n"
            "    vmov r4, s0\n"                     /* end, end_of_all */
            "    cmp r1, r4\n"                      /* y, end */
            "    beq 2f\n"
            "4:\n"
            "    ldrb r3, [r0], #1\n"               /* byte0, [x], #1 */
            "    ldrb r3, [r2, r3]\n"               /* byte0, [table, byte0] */
            "    strb r3, [r1], #1\n"               /* byte0, [y], #1 */
            "    cmp r1, r4\n"                      /* y, end */
            "    bne 4b\n"
            "2:\n"
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

static int32_t _mcu_dsp_table_run_func(void *args, void *arg_type_ids, int32_t num_args,
                                       void *out_ret_value, void *out_ret_tcode,
                                       void *resource_handle) {
    (void)out_ret_value;
    (void)out_ret_tcode;
    const mcu_model_t *const model = &_mcu_network_dsp_table;
    const int32_t status =
        _mcu_run_begin(model, NULL, args, arg_type_ids, num_args, resource_handle);
    if (status != MCU_OK) {
        return status;
    }
    _mcu_dsp_table_layers(resource_handle);
    return _mcu_run_end(model, NULL, args, resource_handle);
}

/* ---- The descriptor ---- */

static const int64_t _mcu_dsp_table_input0_shape[1] = {1};
static const mcu_tensor_info_t _mcu_dsp_table_inputs[1] = {
    {
        .name = "int8",
        .shape = _mcu_dsp_table_input0_shape,
        .place = {0, 0, 1},
        .scale = 5.0e-2F,
        .zero_point = 3,
        .ndim = 1,
        .dtype = {kDLInt, 8, 1},
    },
};

static const int64_t _mcu_dsp_table_output0_shape[1] = {1};
static const mcu_tensor_info_t _mcu_dsp_table_outputs[1] = {
    {
        .name = "int8_y",
        .shape = _mcu_dsp_table_output0_shape,
        .place = {0, 0, 1},
        .scale = 3.0e-2F,
        .zero_point = -7,
        .ndim = 1,
        .dtype = {kDLInt, 8, 1},
    },
};

/* clang-format off */
/* Where the outputs of each layer lie when it has run: offset, pool and bytes. */
static const mcu_region_t _mcu_dsp_table_regions[1] = {
    {0, 0, 1}, /* 0 */
};

/* Of each layer: its first output in the table above, and how many it has. */
static const mcu_layer_info_t _mcu_dsp_table_layer_infos[1] = {
    {0, 1},
};
/* clang-format on */

const mcu_model_t _mcu_network_dsp_table = {
    .run_func = _mcu_dsp_table_run_func,
    .num_input_tensors = 1,
    .num_output_tensors = 1,
    .abi_version = MCU_MODEL_ABI_VERSION,
    .workspace_size = MCU_DSP_TABLE_WORKSPACE_SIZE,
    .workspace_alignment = MCU_DSP_TABLE_WORKSPACE_ALIGNMENT,
    .num_layers = 1,
    .name = "dsp_table",
    .inputs = _mcu_dsp_table_inputs,
    .outputs = _mcu_dsp_table_outputs,
    .layers = _mcu_dsp_table_layer_infos,
    .layer_outputs = _mcu_dsp_table_regions,
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
