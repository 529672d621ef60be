/* network_dsp_lstm.c: a neural network, made by mcu-deploy.
 *
 *   source model  main, SHA-256
 *                 bed7c7b89649ac043563de346040f13eaea3f0a97b70c41d6d99a91f658c08ff
 *   constants     1,156 bytes, as a file: SHA-256
 *                 4c113ff796132fd19ab5c2d5575c214f860f0b45a233515a4934a0f92a2be9b2
 *   workspace     112 bytes
 *   layers        1 with 2,688 multiply-accumulates
 *
 * Everything is static but the descriptor _mcu_network_dsp_lstm, at the end. To compile this file
 * by hand, in its folder, to the same bytes:
 *
 *   arm-none-eabi-gcc -mcpu=cortex-m4 -mthumb -mfpu=fpv4-sp-d16 -mfloat-abi=hard -std=c99 \
 *       -ffunction-sections -fdata-sections -fno-common -O2 -ffp-contract=off -fno-math-errno \
 *       -frandom-seed=dsp_lstm -I include -c network_dsp_lstm.c -o network_dsp_lstm.o
 *
 * The workspace: what lies where, in bytes, and from which layer to which it is needed.
 *
 *   offset  bytes   from      to  holds
 *       80     28  input       0  x
 *        0     40      0       0  scratch of lstm_1
 *       48     56      0  output  y
 *
 * Shapes have the model's order of axes. NHWC and the like behind a shape say in which order its
 * axes lie in memory, where that is another one.
 */
#include "network_dsp_lstm.h"

#include <string.h>

/* ---- Constants ---- */

/* The assembler takes the file in as it is (from another folder: with -I FOLDER). The arrays are
 * declared extern, as a static array without an initializer would be one of zeros; the names that
 * the assembler gives them are local to the object. Where there is no .incbin, and for -flto, build
 * with --weights array. */
__asm__(".pushsection .rodata._mcu_dsp_lstm_weights, \"a\", %progbits\n"
        ".balign 16\n"
        ".type _mcu_dsp_lstm_weights, %object\n"
        ".size _mcu_dsp_lstm_weights, 1156\n"
        "_mcu_dsp_lstm_weights:\n"
        ".incbin \"network_dsp_lstm.weights.bin\"\n"
        ".popsection");
/* clang-format off */
#define MCU_CONSTANT(name, type, elements, offset, bytes)           \
    extern const type name[elements];                               \
    __asm__(".set " #name ", _mcu_dsp_lstm_weights + " #offset "\n" \
            ".type " #name ", %object\n"                            \
            ".size " #name ", " #bytes)
MCU_CONSTANT(_mcu_dsp_lstm_lstm_1_weights, uint32_t, 289, 0, 1156);
#undef MCU_CONSTANT
/* clang-format on */

/* ---- Kernels ---- */

/* Those in assembly are one string each, some longer than C99 wants compilers to take. */
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Woverlength-strings"
#endif

MCU_KERNEL void _mcu_dsp_lstm_lstm_4x8_int8_dsp(const int8_t *x MCU_UNUSED, int8_t *y MCU_UNUSED,
                                                const uint32_t *weights MCU_UNUSED,
                                                uint8_t *scratch MCU_UNUSED) {
    __asm__(".syntax unified\n"
            "    push {r4-r11, lr}\n"
            "    vmov s8, r0\n"
            "    vmov s9, r1\n"
            "    vmov s10, r2\n"
            "    vmov s11, r3\n"
            "    movw r4, #7\n"
            "    vmov s12, r4\n"
            "    vmov r12, s11\n"
            "    movw r4, #8\n"
            "    add r12, r12, r4\n"
            "    mov r4, #0\n"
            "    movw r6, #8\n"
            "    mov r5, #0\n"
            "1:\n"
            "    strh r4, [r12], #2\n"
            "    subs r6, r6, #1\n"
            "    bne 1b\n"
            "    movw r6, #8\n"
            "    mov r5, #0\n"
            "2:\n"
            "    strh r5, [r12], #2\n"
            "    subs r6, r6, #1\n"
            "    bne 2b\n"
            /* A step: the input, widened to int16, in front of the hidden state. */
            "3:\n"
            "    vmov r11, s8\n"
            "    vmov r12, s11\n"
            "    movw r3, #1\n"
            "4:\n"
            "    ldr r0, [r11], #4\n"
            "    sxtb16 r1, r0\n"
            "    sxtb16 r2, r0, ror #8\n"
            "    stmia r12!, {r1, r2}\n"
            "    subs r3, r3, #1\n"
            "    bne 4b\n"
            "    movw r4, #0\n"
            "    add r11, r11, r4\n"
            "    vmov s8, r11\n"
            "    vmov r4, s9\n"
            "    movw r5, #8\n"
            "    add r5, r4, r5\n"
            "    vmov s14, r5\n"
            "    vmov r4, s11\n"
            "    movw r5, #24\n"
            "    add r4, r4, r5\n"
            "    vmov s13, r4\n"
            "    vmov lr, s10\n"
            "    add lr, lr, #516\n"
            /* Of each unit the gates, the cell state and the output. */
            "5:\n"
            "    vmov r12, s11\n"
            "    ldmia lr!, {r0-r3}\n"
            "    movw r11, #8\n"
            "    add r11, r11, r12\n"
            "    ldmia r12!, {r4, r5}\n"
            "    ldmia lr!, {r6-r9}\n"
            "    sxtb16 r10, r6\n"
            "    sxtb16 r6, r6, ror #8\n"
            "    smlad r0, r10, r4, r0\n"
            "    smlad r0, r6, r5, r0\n"
            "    sxtb16 r10, r7\n"
            "    sxtb16 r7, r7, ror #8\n"
            "    smlad r1, r10, r4, r1\n"
            "    smlad r1, r7, r5, r1\n"
            "    sxtb16 r10, r8\n"
            "    sxtb16 r8, r8, ror #8\n"
            "    smlad r2, r10, r4, r2\n"
            "    smlad r2, r8, r5, r2\n"
            "    sxtb16 r10, r9\n"
            "    sxtb16 r9, r9, ror #8\n"
            "    smlad r3, r10, r4, r3\n"
            "    smlad r3, r9, r5, r3\n"
            "    movw r5, #23552\n"
            "    movt r5, #20887\n"
            "    lsl r4, r0, #2\n"
            "    smmulr r0, r4, r5\n"
            "    ssat r0, #16, r0\n"
            "    movw r5, #47360\n"
            "    movt r5, #21133\n"
            "    lsl r4, r1, #2\n"
            "    smmulr r1, r4, r5\n"
            "    ssat r1, #16, r1\n"
            "    movw r5, #35200\n"
            "    movt r5, #24875\n"
            "    lsl r4, r2, #2\n"
            "    smmulr r2, r4, r5\n"
            "    ssat r2, #16, r2\n"
            "    movw r5, #46336\n"
            "    movt r5, #21998\n"
            "    lsl r4, r3, #2\n"
            "    smmulr r3, r4, r5\n"
            "    ssat r3, #16, r3\n"
            "    vmov d0, r0, r1\n"
            "    vmov d1, r2, r3\n"
            "    ldmia lr!, {r0-r3}\n"
            "    movw r11, #16\n"
            "    add r11, r11, r12\n"
            "    ldmia r12!, {r4, r5}\n"
            "    ldmia lr!, {r6-r9}\n"
            "    sxtb16 r10, r6\n"
            "    sxtb16 r6, r6, ror #8\n"
            "    smlad r0, r10, r4, r0\n"
            "    smlad r0, r6, r5, r0\n"
            "    sxtb16 r10, r7\n"
            "    sxtb16 r7, r7, ror #8\n"
            "    smlad r1, r10, r4, r1\n"
            "    smlad r1, r7, r5, r1\n"
            "    sxtb16 r10, r8\n"
            "    sxtb16 r8, r8, ror #8\n"
            "    smlad r2, r10, r4, r2\n"
            "    smlad r2, r8, r5, r2\n"
            "    sxtb16 r10, r9\n"
            "    sxtb16 r9, r9, ror #8\n"
            "    smlad r3, r10, r4, r3\n"
            "    smlad r3, r9, r5, r3\n"
            "    ldmia r12!, {r4, r5}\n"
            "    ldmia lr!, {r6-r9}\n"
            "    sxtb16 r10, r6\n"
            "    sxtb16 r6, r6, ror #8\n"
            "    smlad r0, r10, r4, r0\n"
            "    smlad r0, r6, r5, r0\n"
            "    sxtb16 r10, r7\n"
            "    sxtb16 r7, r7, ror #8\n"
            "    smlad r1, r10, r4, r1\n"
            "    smlad r1, r7, r5, r1\n"
            "    sxtb16 r10, r8\n"
            "    sxtb16 r8, r8, ror #8\n"
            "    smlad r2, r10, r4, r2\n"
            "    smlad r2, r8, r5, r2\n"
            "    sxtb16 r10, r9\n"
            "    sxtb16 r9, r9, ror #8\n"
            "    smlad r3, r10, r4, r3\n"
            "    smlad r3, r9, r5, r3\n"
            "    movw r5, #1152\n"
            "    movt r5, #30276\n"
            "    lsl r4, r0, #1\n"
            "    mov r6, #1\n"
            "    smmlar r4, r4, r5, r6\n"
            "    add r0, r4, r0, asr #31\n"
            "    ssat r0, #16, r0, asr #1\n"
            "    movw r5, #27264\n"
            "    movt r5, #19364\n"
            "    lsl r4, r1, #1\n"
            "    mov r6, #1\n"
            "    smmlar r4, r4, r5, r6\n"
            "    add r1, r4, r1, asr #31\n"
            "    ssat r1, #16, r1, asr #1\n"
            "    movw r5, #896\n"
            "    movt r5, #31259\n"
            "    lsl r4, r2, #1\n"
            "    mov r6, #2\n"
            "    smmlar r4, r4, r5, r6\n"
            "    add r2, r4, r2, asr #31\n"
            "    ssat r2, #16, r2, asr #2\n"
            "    movw r5, #5120\n"
            "    movt r5, #32582\n"
            "    lsl r4, r3, #1\n"
            "    mov r6, #1\n"
            "    smmlar r4, r4, r5, r6\n"
            "    add r3, r4, r3, asr #31\n"
            "    ssat r3, #16, r3, asr #1\n"
            "    vmov r4, r5, d0\n"
            "    vmov r6, r7, d1\n"
            "    vmov r12, s10\n"
            "    add r0, r0, r4\n"
            "    ssat r0, #16, r0\n"
            "    add r1, r1, r5\n"
            "    ssat r1, #16, r1\n"
            "    add r2, r2, r6\n"
            "    ssat r2, #16, r2\n"
            "    add r3, r3, r7\n"
            "    ssat r3, #16, r3\n"
            "    add r4, r0, r0, lsl #1\n"
            "    eor r5, r4, r4, asr #31\n"
            "    sub r5, r5, r4, asr #31\n"
            "    lsr r6, r5, #9\n"
            "    add r6, r12, r6, lsl #1\n"
            "    ldrh r7, [r6]\n"
            "    ldrh r8, [r6, #2]\n"
            "    ubfx r5, r5, #0, #9\n"
            "    sub r8, r8, r7\n"
            "    mul r5, r5, r8\n"
            "    add r5, r5, r7, lsl #9\n"
            "    sub r5, r5, #0x1000000\n"
            "    eor r5, r5, r4, asr #31\n"
            "    add r5, r5, #512\n"
            "    asr r5, r5, #10\n"
            "    add r0, r5, #16384\n"
            "    add r4, r1, r1, lsl #1\n"
            "    eor r5, r4, r4, asr #31\n"
            "    sub r5, r5, r4, asr #31\n"
            "    lsr r6, r5, #9\n"
            "    add r6, r12, r6, lsl #1\n"
            "    ldrh r7, [r6]\n"
            "    ldrh r8, [r6, #2]\n"
            "    ubfx r5, r5, #0, #9\n"
            "    sub r8, r8, r7\n"
            "    mul r5, r5, r8\n"
            "    add r5, r5, r7, lsl #9\n"
            "    sub r5, r5, #0x1000000\n"
            "    eor r5, r5, r4, asr #31\n"
            "    add r5, r5, #512\n"
            "    asr r5, r5, #10\n"
            "    add r1, r5, #16384\n"
            "    add r4, r3, r3, lsl #1\n"
            "    eor r5, r4, r4, asr #31\n"
            "    sub r5, r5, r4, asr #31\n"
            "    lsr r6, r5, #9\n"
            "    add r6, r12, r6, lsl #1\n"
            "    ldrh r7, [r6]\n"
            "    ldrh r8, [r6, #2]\n"
            "    ubfx r5, r5, #0, #9\n"
            "    sub r8, r8, r7\n"
            "    mul r5, r5, r8\n"
            "    add r5, r5, r7, lsl #9\n"
            "    sub r5, r5, #0x1000000\n"
            "    eor r5, r5, r4, asr #31\n"
            "    add r5, r5, #512\n"
            "    asr r5, r5, #10\n"
            "    add r3, r5, #16384\n"
            "    add r4, r2, r2, lsl #1\n"
            "    eor r5, r4, r4, asr #31\n"
            "    sub r5, r5, r4, asr #31\n"
            "    usat r5, #16, r5\n"
            "    lsr r6, r5, #8\n"
            "    add r6, r12, r6, lsl #1\n"
            "    ldrh r7, [r6]\n"
            "    ldrh r8, [r6, #2]\n"
            "    ubfx r5, r5, #0, #8\n"
            "    sub r8, r8, r7\n"
            "    mul r5, r5, r8\n"
            "    add r5, r5, r7, lsl #8\n"
            "    sub r5, r5, #0x800000\n"
            "    eor r5, r5, r4, asr #31\n"
            "    add r5, r5, #128\n"
            "    asr r2, r5, #8\n"
            "    vmov r9, s13\n"
            "    ldrsh r4, [r9]\n"
            "    mul r1, r1, r4\n"
            "    mul r0, r0, r2\n"
            "    movw r5, #0\n"
            "    movt r5, #16384\n"
            "    lsl r4, r1, #1\n"
            "    mov r6, #8192\n"
            "    smmlar r4, r4, r5, r6\n"
            "    add r1, r4, r1, asr #31\n"
            "    ssat r1, #16, r1, asr #14\n"
            "    movw r5, #0\n"
            "    movt r5, #16384\n"
            "    lsl r4, r0, #1\n"
            "    mov r6, #0x10000\n"
            "    smmlar r4, r4, r5, r6\n"
            "    add r0, r4, r0, asr #31\n"
            "    ssat r0, #16, r0, asr #17\n"
            "    add r0, r1, r0\n"
            "    ssat r0, #16, r0\n"
            "    strh r0, [r9], #2\n"
            "    vmov s13, r9\n"
            "    add r4, r0, r0, lsl #1\n"
            "    eor r5, r4, r4, asr #31\n"
            "    sub r5, r5, r4, asr #31\n"
            "    usat r5, #16, r5\n"
            "    lsr r6, r5, #8\n"
            "    add r6, r12, r6, lsl #1\n"
            "    ldrh r7, [r6]\n"
            "    ldrh r8, [r6, #2]\n"
            "    ubfx r5, r5, #0, #8\n"
            "    sub r8, r8, r7\n"
            "    mul r5, r5, r8\n"
            "    add r5, r5, r7, lsl #8\n"
            "    sub r5, r5, #0x800000\n"
            "    eor r5, r5, r4, asr #31\n"
            "    add r5, r5, #128\n"
            "    asr r0, r5, #8\n"
            "    mul r0, r0, r3\n"
            "    movw r5, #16833\n"
            "    movt r5, #16410\n"
            "    lsl r4, r0, #1\n"
            "    mov r6, #0x200000\n"
            "    smmlar r4, r4, r5, r6\n"
            "    add r0, r4, r0, asr #31\n"
            "    ssat r0, #8, r0, asr #22\n"
            "    vmov r4, s9\n"
            "    strb r0, [r4], #1\n"
            "    vmov s9, r4\n"
            "    vmov r5, s14\n"
            "    cmp r4, r5\n"
            "    bne 5b\n"
            /* The outputs are the next step's hidden state. */
            "    vmov r11, s9\n"
            "    movw r4, #8\n"
            "    sub r11, r11, r4\n"
            "    vmov r12, s11\n"
            "    movw r4, #8\n"
            "    add r12, r12, r4\n"
            "    movw r3, #2\n"
            "6:\n"
            "    ldr r0, [r11], #4\n"
            "    sxtb16 r1, r0\n"
            "    sxtb16 r2, r0, ror #8\n"
            "    stmia r12!, {r1, r2}\n"
            "    subs r3, r3, #1\n"
            "    bne 6b\n"
            "    movw r4, #0\n"
            "    add r11, r11, r4\n"
            "    vmov s9, r11\n"
            "    vmov r4, s12\n"
            "    subs r4, r4, #1\n"
            "    vmov s12, r4\n"
            "    bne 3b\n"
            "    pop {r4-r11, pc}\n");
}

/* ---- The layers, in the order of execution ---- */

/* clang-format off */
static void _mcu_dsp_lstm_layers(mcu_instance_t *instance) {
    uint8_t *const ws = instance->workspace;

    /* lstm_1: UnidirectionalSequenceLstm, y: int8[1,7,4] -> int8[1,7,8]; 2,688 MACs */
    int8_t *const x = (int8_t *)(ws + 80);
    int8_t *const lstm_1 = (int8_t *)(ws + 48);
    uint8_t *const lstm_1_scratch = (uint8_t *)(ws + 0);
    MCU_LAYER(0, _mcu_dsp_lstm_lstm_4x8_int8_dsp(x, lstm_1, _mcu_dsp_lstm_lstm_1_weights,
                                                 lstm_1_scratch));
}

/* clang-format on */

static int32_t _mcu_dsp_lstm_run_func(void *args, void *arg_type_ids, int32_t num_args,
                                      void *out_ret_value, void *out_ret_tcode,
                                      void *resource_handle) {
    (void)out_ret_value;
    (void)out_ret_tcode;
    const mcu_model_t *const model = &_mcu_network_dsp_lstm;
    const int32_t status =
        _mcu_run_begin(model, NULL, args, arg_type_ids, num_args, resource_handle);
    if (status != MCU_OK) {
        return status;
    }
    _mcu_dsp_lstm_layers(resource_handle);
    return _mcu_run_end(model, NULL, args, resource_handle);
}

/* ---- The descriptor ---- */

static const int64_t _mcu_dsp_lstm_input0_shape[3] = {1, 7, 4};
static const mcu_tensor_info_t _mcu_dsp_lstm_inputs[1] = {
    {
        .name = "x",
        .shape = _mcu_dsp_lstm_input0_shape,
        .place = {80, 0, 28},
        .scale = 2.0e-2F,
        .zero_point = -128,
        .ndim = 3,
        .dtype = {kDLInt, 8, 1},
    },
};

static const int64_t _mcu_dsp_lstm_output0_shape[3] = {1, 7, 8};
static const mcu_tensor_info_t _mcu_dsp_lstm_outputs[1] = {
    {
        .name = "y",
        .shape = _mcu_dsp_lstm_output0_shape,
        .place = {48, 0, 56},
        .scale = 7.8e-3F,
        .zero_point = 0,
        .ndim = 3,
        .dtype = {kDLInt, 8, 1},
    },
};

/* clang-format off */
/* Where the outputs of each layer lie when it has run: offset, pool and bytes. */
static const mcu_region_t _mcu_dsp_lstm_regions[1] = {
    {48, 0, 56}, /* 0 */
};

/* Of each layer: its first output in the table above, and how many it has. */
static const mcu_layer_info_t _mcu_dsp_lstm_layer_infos[1] = {
    {0, 1},
};
/* clang-format on */

const mcu_model_t _mcu_network_dsp_lstm = {
    .run_func = _mcu_dsp_lstm_run_func,
    .num_input_tensors = 1,
    .num_output_tensors = 1,
    .abi_version = MCU_MODEL_ABI_VERSION,
    .workspace_size = MCU_DSP_LSTM_WORKSPACE_SIZE,
    .workspace_alignment = MCU_DSP_LSTM_WORKSPACE_ALIGNMENT,
    .num_layers = 1,
    .name = "dsp_lstm",
    .inputs = _mcu_dsp_lstm_inputs,
    .outputs = _mcu_dsp_lstm_outputs,
    .layers = _mcu_dsp_lstm_layer_infos,
    .layer_outputs = _mcu_dsp_lstm_regions,
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
