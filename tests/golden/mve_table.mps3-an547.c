/* network_mve_table.c: a neural network, made by mcu-deploy.
 *
 *   source model  layers, SHA-256
 *                 e57ca2b26ac5d508ffd46d001a1df8ca90724c7d160dbabad3717be1268281c8
 *   constants     256 bytes, as a file: SHA-256
 *                 9cd4213925ab83ea8844a5e68da510557d5b00485170de75b41834c0a4208201
 *   workspace     16 bytes
 *   layers        1 with 0 multiply-accumulates
 *
 * Everything is static but the descriptor _mcu_network_mve_table, at the end. To compile this file
 * by hand, in its folder, to the same bytes:
 *
 *   arm-none-eabi-gcc -mcpu=cortex-m55 -mthumb -mfpu=auto -mfloat-abi=hard -std=c99 \
 *       -ffunction-sections -fdata-sections -fno-common -O2 -ffp-contract=off -fno-math-errno \
 *       -frandom-seed=mve_table -I include -c network_mve_table.c -o network_mve_table.o
 *
 * The workspace: what lies where, in bytes, and from which layer to which it is needed.
 *
 *   offset  bytes   from      to  holds
 *        0      1  input  output  int8
 *
 * Shapes have the model's order of axes. NHWC and the like behind a shape say in which order its
 * axes lie in memory, where that is another one.
 */
#include "network_mve_table.h"

#include "mcu/internal.h"

/* ---- Constants ---- */

/* The assembler takes the file in as it is (from another folder: with -I FOLDER). The arrays are
 * declared extern, as a static array without an initializer would be one of zeros; the names that
 * the assembler gives them are local to the object. Where there is no .incbin, and for -flto, build
 * with --weights array. */
__asm__(".pushsection .rodata._mcu_mve_table_weights, \"a\", %progbits\n"
        ".balign 16\n"
        ".type _mcu_mve_table_weights, %object\n"
        ".size _mcu_mve_table_weights, 256\n"
        "_mcu_mve_table_weights:\n"
        ".incbin \"network_mve_table.weights.bin\"\n"
        ".popsection");
/* clang-format off */
#define MCU_CONSTANT(name, type, elements, offset, bytes)            \
    extern const type name[elements];                                \
    __asm__(".set " #name ", _mcu_mve_table_weights + " #offset "\n" \
            ".type " #name ", %object\n"                             \
            ".size " #name ", " #bytes)
MCU_CONSTANT(_mcu_mve_table_tanh_1_table, uint8_t, 256, 0, 256);
#undef MCU_CONSTANT
/* clang-format on */

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
            "    letp lr, 1b\n"                     /* rounds_left, 1 */
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

static int32_t _mcu_mve_table_run_func(void *args, void *arg_type_ids, int32_t num_args,
                                       void *out_ret_value, void *out_ret_tcode,
                                       void *resource_handle) {
    (void)out_ret_value;
    (void)out_ret_tcode;
    const mcu_model_t *const model = &_mcu_network_mve_table;
    const int32_t status =
        _mcu_run_begin(model, NULL, args, arg_type_ids, num_args, resource_handle);
    if (status != MCU_OK) {
        return status;
    }
    _mcu_mve_table_layers(resource_handle);
    return _mcu_run_end(model, NULL, args, resource_handle);
}

/* ---- The descriptor ---- */

static const int64_t _mcu_mve_table_input0_shape[1] = {1};
static const mcu_tensor_info_t _mcu_mve_table_inputs[1] = {
    {
        .name = "int8",
        .shape = _mcu_mve_table_input0_shape,
        .place = {0, 0, 1},
        .scale = 5.0e-2F,
        .zero_point = 3,
        .ndim = 1,
        .dtype = {kDLInt, 8, 1},
    },
};

static const int64_t _mcu_mve_table_output0_shape[1] = {1};
static const mcu_tensor_info_t _mcu_mve_table_outputs[1] = {
    {
        .name = "int8_y",
        .shape = _mcu_mve_table_output0_shape,
        .place = {0, 0, 1},
        .scale = 3.0e-2F,
        .zero_point = -7,
        .ndim = 1,
        .dtype = {kDLInt, 8, 1},
    },
};

/* clang-format off */
/* Where the outputs of each layer lie when it has run: offset, pool and bytes. */
static const mcu_region_t _mcu_mve_table_regions[1] = {
    {0, 0, 1}, /* 0 */
};

/* Of each layer: its first output in the table above, and how many it has. */
static const mcu_layer_info_t _mcu_mve_table_layer_infos[1] = {
    {0, 1},
};
/* clang-format on */

const mcu_model_t _mcu_network_mve_table = {
    .run_func = _mcu_mve_table_run_func,
    .num_input_tensors = 1,
    .num_output_tensors = 1,
    .abi_version = MCU_MODEL_ABI_VERSION,
    .workspace_size = MCU_MVE_TABLE_WORKSPACE_SIZE,
    .workspace_alignment = MCU_MVE_TABLE_WORKSPACE_ALIGNMENT,
    .num_layers = 1,
    .name = "mve_table",
    .inputs = _mcu_mve_table_inputs,
    .outputs = _mcu_mve_table_outputs,
    .layers = _mcu_mve_table_layer_infos,
    .layer_outputs = _mcu_mve_table_regions,
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
