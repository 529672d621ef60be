/* network_dsp_softmax.c: a neural network, made by mcu-deploy.
 *
 *   source model  layers, SHA-256
 *                 6667cf7635f475b172ee1bbd35b9f8e4b6b99fbb88afeb507656e6c9a15a7432
 *   constants     1,040 bytes, as a file: SHA-256
 *                 9ce197449e1e93d6c81b98d559503ef4a978cbec8fc8ca6efa94b6ffa6129b45
 *   workspace     160 bytes
 *   layers        1 with 0 multiply-accumulates
 *
 * Everything is static but the descriptor _mcu_network_dsp_softmax, at the end. To compile this
 * file by hand, in its folder, to the same bytes:
 *
 *   arm-none-eabi-gcc -mcpu=cortex-m4 -mthumb -mfpu=fpv4-sp-d16 -mfloat-abi=hard -std=c99 \
 *       -ffunction-sections -fdata-sections -fno-common -O2 -ffp-contract=off -fno-math-errno \
 *       -frandom-seed=dsp_softmax -I include -c network_dsp_softmax.c -o network_dsp_softmax.o
 *
 * The workspace: what lies where, in bytes, and from which layer to which it is needed.
 *
 *   offset  bytes   from      to  holds
 *        0    160  input  output  int8
 *
 * Shapes have the model's order of axes. NHWC and the like behind a shape say in which order its
 * axes lie in memory, where that is another one.
 */
#include "network_dsp_softmax.h"

/* ---- Constants ---- */

/* The assembler takes the file in as it is (from another folder: with -I FOLDER). The arrays are
 * declared extern, as a static array without an initializer would be one of zeros; the names that
 * the assembler gives them are local to the object. Where there is no .incbin, and for -flto, build
 * with --weights array. */
__asm__(".pushsection .rodata._mcu_dsp_softmax_weights, \"a\", %progbits\n"
        ".balign 16\n"
        ".type _mcu_dsp_softmax_weights, %object\n"
        ".size _mcu_dsp_softmax_weights, 1040\n"
        "_mcu_dsp_softmax_weights:\n"
        ".incbin \"network_dsp_softmax.weights.bin\"\n"
        ".popsection");
/* clang-format off */
#define MCU_CONSTANT(name, type, elements, offset, bytes)              \
    extern const type name[elements];                                  \
    __asm__(".set " #name ", _mcu_dsp_softmax_weights + " #offset "\n" \
            ".type " #name ", %object\n"                               \
            ".size " #name ", " #bytes)
MCU_CONSTANT(_mcu_dsp_softmax_softmax_1_exponential, uint32_t, 260, 0, 1040);
#undef MCU_CONSTANT
/* clang-format on */

/* ---- Kernels ---- */

/* Those in assembly are one string each, some longer than C99 wants compilers to take. */
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Woverlength-strings"
#endif

MCU_KERNEL void _mcu_dsp_softmax_softmax_4_int8_dsp(const int8_t *x MCU_UNUSED,
                                                    int8_t *y MCU_UNUSED,
                                                    const uint32_t *exponential MCU_UNUSED,
                                                    uint32_t rows MCU_UNUSED) {
    __asm__(".syntax unified\n"
            "    push {r4-r11}\n"
            "    vmov s4, r0\n"
            "    vmov s5, r1\n"
            "    vmov s6, r3\n"
            "    vldmia r2!, {s9-s11}\n"
            "    ldr r9, [r2], #4\n"
            "1:\n"
            "    vmov r0, s4\n"
            /* The row's greatest element, to each byte of r5. */
            "    ldr r5, [r0], #4\n"
            "    ror r4, r5, #16\n"
            "    ssub8 r7, r4, r5\n"
            "    sel r5, r4, r5\n"
            "    ror r4, r5, #8\n"
            "    ssub8 r7, r4, r5\n"
            "    sel r5, r4, r5\n"
            /* The exponentials of all distances to it, from the table; their sum. */
            "    vmov r0, s4\n"
            "    mov r8, #0\n"
            "    movw r3, #1\n"
            "2:\n"
            "    ldr r4, [r0], #4\n"
            "    usub8 r4, r5, r4\n"
            "    ubfx r6, r4, #0, #8\n"
            "    ubfx r7, r4, #8, #8\n"
            "    ubfx r10, r4, #16, #8\n"
            "    ubfx r11, r4, #24, #8\n"
            "    ldr r6, [r2, r6, lsl #2]\n"
            "    ldr r7, [r2, r7, lsl #2]\n"
            "    ldr r10, [r2, r10, lsl #2]\n"
            "    ldr r11, [r2, r11, lsl #2]\n"
            "    add r8, r8, r6\n"
            "    add r8, r8, r7\n"
            "    add r8, r8, r10\n"
            "    add r8, r8, r11\n"
            "    subs r3, r3, #1\n"
            "    bne 2b\n"
            "    vmov s0, r8\n"
            "    vcvt.f32.u32 s7, s0\n"
            "    vdiv.f32 s8, s9, s7\n"
            /* The same again, divided by the sum. */
            "    vmov r0, s4\n"
            "    vmov r1, s5\n"
            "    vmov r8, s11\n"
            "    movw r3, #1\n"
            "3:\n"
            "    ldr r4, [r0], #4\n"
            "    usub8 r4, r5, r4\n"
            "    ubfx r6, r4, #0, #8\n"
            "    ubfx r7, r4, #8, #8\n"
            "    ubfx r10, r4, #16, #8\n"
            "    ubfx r11, r4, #24, #8\n"
            "    ldr r6, [r2, r6, lsl #2]\n"
            "    ldr r7, [r2, r7, lsl #2]\n"
            "    ldr r10, [r2, r10, lsl #2]\n"
            "    ldr r11, [r2, r11, lsl #2]\n"
            "    vmov s0, r6\n"
            "    vmov s1, r7\n"
            "    vmov s2, r10\n"
            "    vmov s3, r11\n"
            "    vcvt.f32.u32 s0, s0\n"
            "    vcvt.f32.u32 s1, s1\n"
            "    vcvt.f32.u32 s2, s2\n"
            "    vcvt.f32.u32 s3, s3\n"
            "    vmul.f32 s12, s0, s8\n"
            "    vmul.f32 s13, s1, s8\n"
            "    vmul.f32 s14, s2, s8\n"
            "    vmul.f32 s15, s3, s8\n"
            "    vcvt.u32.f32 s12, s12, #16\n"
            "    vcvt.u32.f32 s13, s13, #16\n"
            "    vcvt.u32.f32 s14, s14, #16\n"
            "    vcvt.u32.f32 s15, s15, #16\n"
            "    vmov r6, s12\n"
            "    vmov r7, s13\n"
            "    vmov r10, s14\n"
            "    vmov r11, s15\n"
            "    add r6, r6, r8\n"
            "    add r7, r7, r8\n"
            "    add r10, r10, r8\n"
            "    add r11, r11, r8\n"
            "    uxth r12, r6\n"
            "    cmp r12, #64\n"
            "    blo 4f\n"
            "    uxth r12, r7\n"
            "    cmp r12, #64\n"
            "    blo 4f\n"
            "    uxth r12, r10\n"
            "    cmp r12, #64\n"
            "    blo 4f\n"
            "    uxth r12, r11\n"
            "    cmp r12, #64\n"
            "    blo 4f\n"
            "5:\n"
            "    ssat r6, #8, r6, asr #16\n"
            "    strb r6, [r1], #1\n"
            "    ssat r7, #8, r7, asr #16\n"
            "    strb r7, [r1], #1\n"
            "    ssat r10, #8, r10, asr #16\n"
            "    strb r10, [r1], #1\n"
            "    ssat r11, #8, r11, asr #16\n"
            "    strb r11, [r1], #1\n"
            "    subs r3, r3, #1\n"
            "    bne 3b\n"
            "    vmov s4, r0\n"
            "    vmov s5, r1\n"
            "    vmov r3, s6\n"
            "    subs r3, r3, #1\n"
            "    vmov s6, r3\n"
            "    bne 1b\n"
            "    b 6f\n"
            /* Quotients that are near to the middle of two elements. */
            "4:\n"
            "    vdiv.f32 s0, s0, s7\n"
            "    vdiv.f32 s1, s1, s7\n"
            "    vdiv.f32 s2, s2, s7\n"
            "    vdiv.f32 s3, s3, s7\n"
            "    vdiv.f32 s0, s0, s10\n"
            "    vdiv.f32 s1, s1, s10\n"
            "    vdiv.f32 s2, s2, s10\n"
            "    vdiv.f32 s3, s3, s10\n"
            "    vcvtr.s32.f32 s0, s0\n"
            "    vcvtr.s32.f32 s1, s1\n"
            "    vcvtr.s32.f32 s2, s2\n"
            "    vcvtr.s32.f32 s3, s3\n"
            "    vmov r6, s0\n"
            "    vmov r7, s1\n"
            "    vmov r10, s2\n"
            "    vmov r11, s3\n"
            "    add r6, r8, r6, lsl #16\n"
            "    add r7, r8, r7, lsl #16\n"
            "    add r10, r8, r10, lsl #16\n"
            "    add r11, r8, r11, lsl #16\n"
            "    b 5b\n"
            "6:\n"
            "    pop {r4-r11}\n"
            "    bx lr\n");
}

/* ---- The layers, in the order of execution ---- */

/* clang-format off */
static void _mcu_dsp_softmax_layers(mcu_instance_t *instance) {
    uint8_t *const ws = instance->workspace;

    /* softmax_1: Softmax, softmax0 (3 nodes): int8[40,4] -> int8[40,4] */
    int8_t *const int8 = (int8_t *)(ws + 0);
    int8_t *const softmax_1 = (int8_t *)(ws + 0);
    MCU_LAYER(0, _mcu_dsp_softmax_softmax_4_int8_dsp(int8, softmax_1,
                                                     _mcu_dsp_softmax_softmax_1_exponential, 40U));
}

/* clang-format on */

static int32_t _mcu_dsp_softmax_run_func(void *args, void *arg_type_ids, int32_t num_args,
                                         void *out_ret_value, void *out_ret_tcode,
                                         void *resource_handle) {
    (void)out_ret_value;
    (void)out_ret_tcode;
    const mcu_model_t *const model = &_mcu_network_dsp_softmax;
    const int32_t status =
        _mcu_run_begin(model, NULL, args, arg_type_ids, num_args, resource_handle);
    if (status != MCU_OK) {
        return status;
    }
    _mcu_dsp_softmax_layers(resource_handle);
    return _mcu_run_end(model, NULL, args, resource_handle);
}

/* ---- The descriptor ---- */

static const int64_t _mcu_dsp_softmax_input0_shape[1] = {160};
static const mcu_tensor_info_t _mcu_dsp_softmax_inputs[1] = {
    {
        .name = "int8",
        .shape = _mcu_dsp_softmax_input0_shape,
        .place = {0, 0, 160},
        .scale = 2.0e-2F,
        .zero_point = -128,
        .ndim = 1,
        .dtype = {kDLInt, 8, 1},
    },
};

static const int64_t _mcu_dsp_softmax_output0_shape[1] = {160};
static const mcu_tensor_info_t _mcu_dsp_softmax_outputs[1] = {
    {
        .name = "int8_y",
        .shape = _mcu_dsp_softmax_output0_shape,
        .place = {0, 0, 160},
        .scale = 3.90625e-3F,
        .zero_point = -128,
        .ndim = 1,
        .dtype = {kDLInt, 8, 1},
    },
};

/* clang-format off */
/* Where the outputs of each layer lie when it has run: offset, pool and bytes. */
static const mcu_region_t _mcu_dsp_softmax_regions[1] = {
    {0, 0, 160}, /* 0 */
};

/* Of each layer: its first output in the table above, and how many it has. */
static const mcu_layer_info_t _mcu_dsp_softmax_layer_infos[1] = {
    {0, 1},
};
/* clang-format on */

const mcu_model_t _mcu_network_dsp_softmax = {
    .run_func = _mcu_dsp_softmax_run_func,
    .num_input_tensors = 1,
    .num_output_tensors = 1,
    .abi_version = MCU_MODEL_ABI_VERSION,
    .workspace_size = MCU_DSP_SOFTMAX_WORKSPACE_SIZE,
    .workspace_alignment = MCU_DSP_SOFTMAX_WORKSPACE_ALIGNMENT,
    .num_layers = 1,
    .name = "dsp_softmax",
    .inputs = _mcu_dsp_softmax_inputs,
    .outputs = _mcu_dsp_softmax_outputs,
    .layers = _mcu_dsp_softmax_layer_infos,
    .layer_outputs = _mcu_dsp_softmax_regions,
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
