/* network_dsp_matmul.c: a neural network, made by mcu-deploy.
 *
 *   source model  layers, SHA-256
 *                 55c7e330a28eeb163afe429c464773c60c610e991417ba3985d90355eacbe04f
 *   constants     24 bytes, as a file: SHA-256
 *                 8cfb6518cd992ea85e8f685193dc91cc24f3d7848c137a9da52807ab7bcae3b9
 *   workspace     448 bytes
 *   layers        1 with 672 multiply-accumulates
 *
 * Everything is static but the descriptor _mcu_network_dsp_matmul, at the end. To compile this file
 * by hand, in its folder, to the same bytes:
 *
 *   arm-none-eabi-gcc -mcpu=cortex-m4 -mthumb -mfpu=fpv4-sp-d16 -mfloat-abi=hard -std=c99 \
 *       -ffunction-sections -fdata-sections -fno-common -O2 -ffp-contract=off -fno-math-errno \
 *       -frandom-seed=dsp_matmul -I include -c network_dsp_matmul.c -o network_dsp_matmul.o
 *
 * The workspace: what lies where, in bytes, and from which layer to which it is needed.
 *
 *   offset  bytes   from      to  holds
 *      128    320  input       0  int8
 *        0     84      0       0  scratch of matmul_1
 *       96     84      0  output  int8_y
 *
 * Shapes have the model's order of axes. NHWC and the like behind a shape say in which order its
 * axes lie in memory, where that is another one.
 */
#include "network_dsp_matmul.h"

#include <string.h>

/* ---- Constants ---- */

/* The assembler takes the file in as it is (from another folder: with -I FOLDER). The arrays are
 * declared extern, as a static array without an initializer would be one of zeros; the names that
 * the assembler gives them are local to the object. Where there is no .incbin, and for -flto, build
 * with --weights array. */
__asm__(".pushsection .rodata._mcu_dsp_matmul_weights, \"a\", %progbits\n"
        ".balign 16\n"
        ".type _mcu_dsp_matmul_weights, %object\n"
        ".size _mcu_dsp_matmul_weights, 24\n"
        "_mcu_dsp_matmul_weights:\n"
        ".incbin \"network_dsp_matmul.weights.bin\"\n"
        ".popsection");
/* clang-format off */
#define MCU_CONSTANT(name, type, elements, offset, bytes)             \
    extern const type name[elements];                                 \
    __asm__(".set " #name ", _mcu_dsp_matmul_weights + " #offset "\n" \
            ".type " #name ", %object\n"                              \
            ".size " #name ", " #bytes)
MCU_CONSTANT(_mcu_dsp_matmul_matmul_1_constants, uint32_t, 6, 0, 24);
#undef MCU_CONSTANT
/* clang-format on */

/* ---- Kernels ---- */

/* Those in assembly are one string each, some longer than C99 wants compilers to take. */
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Woverlength-strings"
#endif

MCU_KERNEL void _mcu_dsp_matmul_matmul_3x8x7_int8_dsp_one(const int8_t *a MCU_UNUSED,
                                                          const int8_t *b MCU_UNUSED,
                                                          int8_t *y MCU_UNUSED,
                                                          uint8_t *scratch MCU_UNUSED) {
    __asm__(".syntax unified\n"
            "    push {r4-r11, lr}\n"
            "    vmov s8, r0\n"
            "    vmov s9, r1\n"
            "    vmov s10, r2\n"
            "    vmov s11, r3\n"
            "    vmov r4, s11\n"
            "    movw r5, #60\n"
            "    add r4, r4, r5\n"
            "    vmov s13, r4\n"
            "    movw r4, #3\n"
            "    vmov s15, r4\n"
            "1:\n"
            /* Three columns of b, widened to int16: two taps a word. */
            "    vmov r12, s9\n"
            "    vmov lr, s11\n"
            "    vmov r6, s13\n"
            "    ldr r8, [r6, #12]\n"
            "    ldr r11, [r6, #16]\n"
            "    ldr r7, [r6, #20]\n"
            "    vmov s0, r7\n"
            "    mov r9, r8\n"
            "    mov r10, r8\n"
            "    add lr, lr, #12\n"
            "2:\n"
            "    ldrsb r0, [r12]\n"
            "    ldrsb r1, [r12, #1]\n"
            "    ldrsb r2, [r12, #2]\n"
            "    ldrsb r3, [r12, #7]\n"
            "    ldrsb r4, [r12, #8]\n"
            "    ldrsb r5, [r12, #9]\n"
            "    ldrsb r6, [r12, #14]\n"
            "    ldrsb r7, [r12, #15]\n"
            "    pkhbt r0, r0, r6, lsl #16\n"
            "    pkhbt r1, r1, r7, lsl #16\n"
            "    ldrsb r6, [r12, #16]\n"
            "    ldrsb r7, [r12, #21]\n"
            "    pkhbt r2, r2, r6, lsl #16\n"
            "    pkhbt r3, r3, r7, lsl #16\n"
            "    ldrsb r6, [r12, #22]\n"
            "    ldrsb r7, [r12, #23]\n"
            "    pkhbt r4, r4, r6, lsl #16\n"
            "    pkhbt r5, r5, r7, lsl #16\n"
            "    add r12, r12, #28\n"
            "    vmov r6, s0\n"
            "    ssub16 r0, r0, r6\n"
            "    ssub16 r1, r1, r6\n"
            "    ssub16 r2, r2, r6\n"
            "    ssub16 r3, r3, r6\n"
            "    ssub16 r4, r4, r6\n"
            "    ssub16 r5, r5, r6\n"
            "    smlad r8, r0, r11, r8\n"
            "    smlad r9, r1, r11, r9\n"
            "    smlad r10, r2, r11, r10\n"
            "    smlad r8, r3, r11, r8\n"
            "    smlad r9, r4, r11, r9\n"
            "    smlad r10, r5, r11, r10\n"
            "    stmia lr!, {r0-r5}\n"
            "    vmov r6, s13\n"
            "    cmp lr, r6\n"
            "    bne 2b\n"
            "    vmov lr, s11\n"
            "    stmia lr, {r8-r10}\n"
            /* With two rows of a: six sums, r0-r5, four taps at a time. */
            "    vmov r12, s8\n"
            "    vmov r6, s10\n"
            "    vmov s12, r6\n"
            "    movw r6, #2\n"
            "    vmov s14, r6\n"
            "3:\n"
            "    vmov lr, s11\n"
            "    ldmia lr!, {r0-r2}\n"
            "    mov r3, r0\n"
            "    mov r4, r1\n"
            "    mov r5, r2\n"
            "    ldr r10, [r12, #8]\n"
            "    ldr r9, [r12], #4\n"
            "    ldmia lr!, {r6-r8}\n"
            "    sxtb16 r11, r9\n"
            "    smlad r0, r11, r6, r0\n"
            "    smlad r1, r11, r7, r1\n"
            "    smlad r2, r11, r8, r2\n"
            "    sxtb16 r11, r10\n"
            "    smlad r3, r11, r6, r3\n"
            "    smlad r4, r11, r7, r4\n"
            "    smlad r5, r11, r8, r5\n"
            "    ldmia lr!, {r6-r8}\n"
            "    sxtb16 r11, r9, ror #8\n"
            "    smlad r0, r11, r6, r0\n"
            "    smlad r1, r11, r7, r1\n"
            "    smlad r2, r11, r8, r2\n"
            "    sxtb16 r11, r10, ror #8\n"
            "    smlad r3, r11, r6, r3\n"
            "    smlad r4, r11, r7, r4\n"
            "    smlad r5, r11, r8, r5\n"
            "    ldr r10, [r12, #8]\n"
            "    ldr r9, [r12], #4\n"
            "    ldmia lr!, {r6-r8}\n"
            "    sxtb16 r11, r9\n"
            "    smlad r0, r11, r6, r0\n"
            "    smlad r1, r11, r7, r1\n"
            "    smlad r2, r11, r8, r2\n"
            "    sxtb16 r11, r10\n"
            "    smlad r3, r11, r6, r3\n"
            "    smlad r4, r11, r7, r4\n"
            "    smlad r5, r11, r8, r5\n"
            "    ldmia lr!, {r6-r8}\n"
            "    sxtb16 r11, r9, ror #8\n"
            "    smlad r0, r11, r6, r0\n"
            "    smlad r1, r11, r7, r1\n"
            "    smlad r2, r11, r8, r2\n"
            "    sxtb16 r11, r10, ror #8\n"
            "    smlad r3, r11, r6, r3\n"
            "    smlad r4, r11, r7, r4\n"
            "    smlad r5, r11, r8, r5\n"
            /* To elements of the output. */
            "    ldmia lr, {r7-r9}\n"
            "    smmla r0, r0, r7, r8\n"
            "    smmla r1, r1, r7, r8\n"
            "    smmla r2, r2, r7, r8\n"
            "    smmla r3, r3, r7, r8\n"
            "    smmla r4, r4, r7, r8\n"
            "    smmla r5, r5, r7, r8\n"
            "    ssat r0, #8, r0, asr #4\n"
            "    ssat r1, #8, r1, asr #4\n"
            "    ssat r2, #8, r2, asr #4\n"
            "    ssat r3, #8, r3, asr #4\n"
            "    ssat r4, #8, r4, asr #4\n"
            "    ssat r5, #8, r5, asr #4\n"
            "    vmov r6, s12\n"
            "    strb r0, [r6]\n"
            "    strb r1, [r6, #1]\n"
            "    strb r2, [r6, #2]\n"
            "    strb r3, [r6, #7]\n"
            "    strb r4, [r6, #8]\n"
            "    strb r5, [r6, #9]\n"
            "    add r12, r12, #8\n"
            "    add r6, r6, #14\n"
            "    vmov r7, s14\n"
            "    sub r7, r7, #1\n"
            "    cmp r7, #1\n"
            "    itt eq\n"
            "    subeq r12, r12, #8\n"
            "    subeq r6, r6, #7\n"
            "    vmov s12, r6\n"
            "    vmov s14, r7\n"
            "    cmp r7, #0\n"
            "    bne 3b\n"
            "    vmov r6, s9\n"
            "    vmov r7, s10\n"
            "    vmov r8, s15\n"
            "    add r6, r6, #3\n"
            "    add r7, r7, #3\n"
            "    sub r8, r8, #1\n"
            "    cmp r8, #1\n"
            "    itt eq\n"
            "    subeq r6, r6, #2\n"
            "    subeq r7, r7, #2\n"
            "    vmov s9, r6\n"
            "    vmov s10, r7\n"
            "    vmov s15, r8\n"
            "    cmp r8, #0\n"
            "    bne 1b\n"
            "    pop {r4-r11, pc}\n");
}

MCU_FUNCTION void _mcu_dsp_matmul_matmul_3x8x7_int8_dsp(const int8_t *a, const int8_t *b, int8_t *y,
                                                        const uint32_t *constants,
                                                        uint8_t *scratch) {
    memcpy(scratch + 60, constants, 24);
    for (int32_t i0 = 0; i0 < 4; i0++) {
        _mcu_dsp_matmul_matmul_3x8x7_int8_dsp_one(a + i0 * 24, b + i0 * 56, y + i0 * 21, scratch);
    }
}

/* ---- The layers, in the order of execution ---- */

/* clang-format off */
static void _mcu_dsp_matmul_layers(mcu_instance_t *instance) {
    uint8_t *const ws = instance->workspace;

    /* matmul_1: MatMul, product0 (4 nodes): int8[4,3,8], int8[4,8,7] -> int8[4,3,7]; 672 MACs */
    int8_t *const slice_0_2 = (int8_t *)(ws + 128);
    int8_t *const slice_3_7 = (int8_t *)(ws + 224);
    int8_t *const matmul_1 = (int8_t *)(ws + 96);
    uint8_t *const matmul_1_scratch = (uint8_t *)(ws + 0);
    MCU_LAYER(0, _mcu_dsp_matmul_matmul_3x8x7_int8_dsp(
        slice_0_2, slice_3_7, matmul_1, _mcu_dsp_matmul_matmul_1_constants, matmul_1_scratch));
}

/* clang-format on */

static int32_t _mcu_dsp_matmul_run_func(void *args, void *arg_type_ids, int32_t num_args,
                                        void *out_ret_value, void *out_ret_tcode,
                                        void *resource_handle) {
    (void)out_ret_value;
    (void)out_ret_tcode;
    const mcu_model_t *const model = &_mcu_network_dsp_matmul;
    const int32_t status =
        _mcu_run_begin(model, NULL, args, arg_type_ids, num_args, resource_handle);
    if (status != MCU_OK) {
        return status;
    }
    _mcu_dsp_matmul_layers(resource_handle);
    return _mcu_run_end(model, NULL, args, resource_handle);
}

/* ---- The descriptor ---- */

static const int64_t _mcu_dsp_matmul_input0_shape[1] = {320};
static const mcu_tensor_info_t _mcu_dsp_matmul_inputs[1] = {
    {
        .name = "int8",
        .shape = _mcu_dsp_matmul_input0_shape,
        .place = {128, 0, 320},
        .scale = 1.0e+0F,
        .zero_point = 3,
        .ndim = 1,
        .dtype = {kDLInt, 8, 1},
    },
};

static const int64_t _mcu_dsp_matmul_output0_shape[1] = {84};
static const mcu_tensor_info_t _mcu_dsp_matmul_outputs[1] = {
    {
        .name = "int8_y",
        .shape = _mcu_dsp_matmul_output0_shape,
        .place = {96, 0, 84},
        .scale = 1.7358057e+2F,
        .zero_point = 7,
        .ndim = 1,
        .dtype = {kDLInt, 8, 1},
    },
};

/* clang-format off */
/* Where the outputs of each layer lie when it has run: offset, pool and bytes. */
static const mcu_region_t _mcu_dsp_matmul_regions[1] = {
    {96, 0, 84}, /* 0 */
};

/* Of each layer: its first output in the table above, and how many it has. */
static const mcu_layer_info_t _mcu_dsp_matmul_layer_infos[1] = {
    {0, 1},
};
/* clang-format on */

const mcu_model_t _mcu_network_dsp_matmul = {
    .run_func = _mcu_dsp_matmul_run_func,
    .num_input_tensors = 1,
    .num_output_tensors = 1,
    .abi_version = MCU_MODEL_ABI_VERSION,
    .workspace_size = MCU_DSP_MATMUL_WORKSPACE_SIZE,
    .workspace_alignment = MCU_DSP_MATMUL_WORKSPACE_ALIGNMENT,
    .num_layers = 1,
    .name = "dsp_matmul",
    .inputs = _mcu_dsp_matmul_inputs,
    .outputs = _mcu_dsp_matmul_outputs,
    .layers = _mcu_dsp_matmul_layer_infos,
    .layer_outputs = _mcu_dsp_matmul_regions,
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
