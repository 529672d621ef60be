/* Six small networks, written by hand, for the tests of the protocol.
 *
 * "mini": inputs x int8[1,3000] and y float32[4]; outputs z int8[1,3000] and w float32[4].
 *   layer 0: t = x + 1; layer 1: x = reversed t, in x's own place, and s = the sum of t, int32[1];
 *   layer 2: z = x ^ 0x55; w = 2 y.
 * "tiny": input and output uint8[1]; out = in + 1.
 * "failing": as tiny, but its run logs more than an event holds and returns an error; -D may give
 * its output a longer name.
 * "slow": as tiny, in 6 layers of 60 ms each, none of which changes the output.
 * "parts": input and output uint8[1]. Layer 0: mid = in + 1, kept; layer 1: sum = sum + mid, a
 * state that begins with 100, and out = sum. Partitions "head" (in to mid) and "tail" (mid to out).
 * "sized": input uint8[2,N], N of 2 to 9 decided by each run; outputs uint8[2,N], in + 1, and
 * uint8[(N + 1) / 2], every other element of the first row. One layer.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "mcu/firmware.h"
#include "mcu/internal.h"
#include "mcu/platform.h"
#include "mcu/runtime.h"

enum {
    N = 3000,
    X = 0,
    Y = 3000,
    T = 3016,
    S = 6016,
    Z = 6020,
    W = 9020,
    MINI_BYTES = 9036,
    SLOW_LAYERS = 6
};

static int32_t run_mini(void *args, void *types, int32_t num_args, void *value, void *code,
                        void *handle) {
    extern const mcu_model_t _mcu_network_mini;
    mcu_instance_t *instance = handle;
    int32_t status = _mcu_run_begin(&_mcu_network_mini, NULL, args, types, num_args, handle);
    (void)value;
    (void)code;
    if (status != MCU_OK) {
        return status;
    }
    int8_t *x = (int8_t *)(instance->workspace + X);
    int8_t *t = (int8_t *)(instance->workspace + T);
    int8_t *z = (int8_t *)(instance->workspace + Z);
    int32_t sum = 0;
    _mcu_layer_event(instance, 0, MCU_LAYER_BEGIN);
    for (int i = 0; i < N; i++) {
        t[i] = (int8_t)(uint8_t)((uint8_t)x[i] + 1U);
    }
    _mcu_layer_event(instance, 0, MCU_LAYER_END);
    _mcu_layer_event(instance, 1, MCU_LAYER_BEGIN);
    for (int i = 0; i < N; i++) {
        x[i] = t[N - 1 - i];
        sum += t[i];
    }
    memcpy(instance->workspace + S, &sum, sizeof sum);
    _mcu_layer_event(instance, 1, MCU_LAYER_END);
    _mcu_layer_event(instance, 2, MCU_LAYER_BEGIN);
    for (int i = 0; i < N; i++) {
        z[i] = (int8_t)(x[i] ^ 0x55);
    }
    for (int i = 0; i < 4; i++) {
        float value_of_y;
        memcpy(&value_of_y, instance->workspace + Y + 4 * i, 4);
        value_of_y *= 2.0F;
        memcpy(instance->workspace + W + 4 * i, &value_of_y, 4);
    }
    _mcu_layer_event(instance, 2, MCU_LAYER_END);
    return _mcu_run_end(&_mcu_network_mini, NULL, args, handle);
}

static int32_t run_tiny(void *args, void *types, int32_t num_args, void *value, void *code,
                        void *handle) {
    extern const mcu_model_t _mcu_network_tiny;
    mcu_instance_t *instance = handle;
    int32_t status = _mcu_run_begin(&_mcu_network_tiny, NULL, args, types, num_args, handle);
    (void)value;
    (void)code;
    if (status != MCU_OK) {
        return status;
    }
    _mcu_layer_event(instance, 0, MCU_LAYER_BEGIN);
    instance->workspace[1] = (uint8_t)(instance->workspace[0] + 1U);
    _mcu_layer_event(instance, 0, MCU_LAYER_END);
    return _mcu_run_end(&_mcu_network_tiny, NULL, args, handle);
}

static int32_t run_failing(void *args, void *types, int32_t num_args, void *value, void *code,
                           void *handle) {
    (void)args;
    (void)types;
    (void)num_args;
    (void)value;
    (void)code;
    (void)handle;
    mcu_log("0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
            "0123456789abcdefg");
    return MCU_ERROR_OUT_OF_MEMORY;
}

static int32_t run_slow(void *args, void *types, int32_t num_args, void *value, void *code,
                        void *handle) {
    extern const mcu_model_t _mcu_network_slow;
    mcu_instance_t *instance = handle;
    int32_t status = _mcu_run_begin(&_mcu_network_slow, NULL, args, types, num_args, handle);
    uint64_t second = mcu_platform_counter_kind() == MCU_COUNTER_NANOSECONDS
                          ? 1000000000U
                          : mcu_platform_clock_hz;
    (void)value;
    (void)code;
    if (status != MCU_OK) {
        return status;
    }
    instance->workspace[1] = (uint8_t)(instance->workspace[0] + 1U);
    for (uint32_t layer = 0; layer < SLOW_LAYERS; layer++) {
        uint64_t began = mcu_platform_counter();
        _mcu_layer_event(instance, layer, MCU_LAYER_BEGIN);
        while (mcu_platform_counter_kind() != MCU_COUNTER_NONE &&
               mcu_platform_counter() - began < second * 60U / 1000U) {
        }
        _mcu_layer_event(instance, layer, MCU_LAYER_END);
    }
    return _mcu_run_end(&_mcu_network_slow, NULL, args, handle);
}

enum { PARTS_IN = 0, PARTS_MID = 1, PARTS_SUM = 2, PARTS_OUT = 3 };

static void head_layer(mcu_instance_t *instance) {
    _mcu_layer_event(instance, 0, MCU_LAYER_BEGIN);
    instance->workspace[PARTS_MID] = (uint8_t)(instance->workspace[PARTS_IN] + 1U);
    _mcu_layer_event(instance, 0, MCU_LAYER_END);
}

static void tail_layer(mcu_instance_t *instance) {
    uint8_t *memory = instance->workspace;
    _mcu_layer_event(instance, 1, MCU_LAYER_BEGIN);
    memory[PARTS_SUM] = (uint8_t)(memory[PARTS_SUM] + memory[PARTS_MID]);
    memory[PARTS_OUT] = memory[PARTS_SUM];
    _mcu_layer_event(instance, 1, MCU_LAYER_END);
}

static int32_t run_parts(void *args, void *types, int32_t num_args, void *handle,
                         const mcu_partition_t *partition) {
    extern const mcu_model_t _mcu_network_parts;
    const mcu_model_t *model = &_mcu_network_parts;
    int32_t status = _mcu_run_begin(model, partition, args, types, num_args, handle);
    if (status != MCU_OK) {
        return status;
    }
    if (partition != &model->partitions[1]) {
        head_layer(handle);
    }
    if (partition != &model->partitions[0]) {
        tail_layer(handle);
    }
    return _mcu_run_end(model, partition, args, handle);
}

static int32_t run_whole(void *args, void *types, int32_t num_args, void *value, void *code,
                         void *handle) {
    (void)value;
    (void)code;
    return run_parts(args, types, num_args, handle, NULL);
}

static int32_t run_head(void *args, void *types, int32_t num_args, void *value, void *code,
                        void *handle) {
    extern const mcu_model_t _mcu_network_parts;
    (void)value;
    (void)code;
    return run_parts(args, types, num_args, handle, &_mcu_network_parts.partitions[0]);
}

static int32_t run_tail(void *args, void *types, int32_t num_args, void *value, void *code,
                        void *handle) {
    extern const mcu_model_t _mcu_network_parts;
    (void)value;
    (void)code;
    return run_parts(args, types, num_args, handle, &_mcu_network_parts.partitions[1]);
}

enum { SIZED_LEAST = 2, SIZED_MOST = 9, SIZED_OUT = 32, SIZED_HALF = 64, SIZED_BYTES = 80 };

static int32_t run_sized(void *args, void *types, int32_t num_args, void *value, void *code,
                         void *handle) {
    extern const mcu_model_t _mcu_network_sized;
    const mcu_model_t *model = &_mcu_network_sized;
    mcu_instance_t *instance = handle;
    mcu_tensor_info_t infos[3];
    int64_t extents[5];
    int32_t size = 0;
    (void)value;
    (void)code;
    int32_t status = _mcu_run_size(model, args, num_args, infos, extents, &size);
    const mcu_partition_t whole = {
        .num_input_tensors = 1, .num_output_tensors = 2, .inputs = infos, .outputs = infos + 1};
    if (status == MCU_OK) {
        status = _mcu_run_begin(model, &whole, args, types, num_args, handle);
    }
    if (status != MCU_OK) {
        return status;
    }
    uint8_t *memory = instance->workspace;
    _mcu_layer_event(instance, 0, MCU_LAYER_BEGIN);
    for (int32_t i = 0; i < 2 * size; i++) {
        memory[SIZED_OUT + i] = (uint8_t)(memory[i] + 1U);
    }
    for (int32_t i = 0; i < size; i += 2) {
        memory[SIZED_HALF + i / 2] = memory[i];
    }
    _mcu_layer_event(instance, 0, MCU_LAYER_END);
    return _mcu_run_end(model, &whole, args, handle);
}

#define INT8                                                                                       \
    { kDLInt, 8, 1 }
#define UINT8                                                                                      \
    { kDLUInt, 8, 1 }
#define FLOAT32                                                                                    \
    { kDLFloat, 32, 1 }

static const int64_t mini_shape[] = {1, N};
static const int64_t four[] = {4};
static const int64_t one[] = {1};
static const mcu_tensor_info_t mini_inputs[] = {{"x", mini_shape, {X, 0, N}, 0.5F, -3, 2, INT8},
                                                {"y", four, {Y, 0, 16}, 0.0F, 0, 1, FLOAT32}};
static const mcu_tensor_info_t mini_outputs[] = {
    {"z \xC3\xA9", mini_shape, {Z, 0, N}, 0.25F, 7, 2, INT8},
    {"w", four, {W, 0, 16}, 0.0F, 0, 1, FLOAT32}};
static const mcu_layer_info_t mini_layers[] = {{0, 1}, {1, 2}, {3, 2}};
static const mcu_region_t mini_regions[] = {{T, 0, N}, {X, 0, N}, {S, 0, 4}, {Z, 0, N}, {W, 0, 16}};
static const mcu_tensor_info_t tiny_inputs[] = {{"in", one, {0, 0, 1}, 0.0F, 0, 1, UINT8}};
static const mcu_tensor_info_t tiny_outputs[] = {{"out", one, {1, 0, 1}, 0.0F, 0, 1, UINT8}};
#ifndef FAILING_OUTPUT
#define FAILING_OUTPUT "out"
#endif
static const mcu_tensor_info_t failing_outputs[] = {
    {FAILING_OUTPUT, one, {1, 0, 1}, 0.0F, 0, 1, UINT8}};
static const mcu_layer_info_t tiny_layers[] = {{0, 1}};
static const mcu_region_t tiny_regions[] = {{1, 0, 1}};

static const mcu_layer_info_t slow_layers[SLOW_LAYERS] = {{0, 1}, {0, 1}, {0, 1},
                                                          {0, 1}, {0, 1}, {0, 1}};

const mcu_model_t _mcu_network_mini = {.run_func = run_mini,
                                       .num_input_tensors = 2,
                                       .num_output_tensors = 2,
                                       .abi_version = MCU_MODEL_ABI_VERSION,
                                       .workspace_size = MINI_BYTES,
                                       .workspace_alignment = 16,
                                       .num_layers = 3,
                                       .name = "mini",
                                       .inputs = mini_inputs,
                                       .outputs = mini_outputs,
                                       .layers = mini_layers,
                                       .layer_outputs = mini_regions};

#define OF_ONE_BYTE(model_name, run, model_outputs, number_of_layers, layer_infos)                 \
    {                                                                                              \
        .run_func = run, .num_input_tensors = 1, .num_output_tensors = 1,                          \
        .abi_version = MCU_MODEL_ABI_VERSION, .workspace_size = 2, .workspace_alignment = 16,      \
        .num_layers = number_of_layers, .name = model_name, .inputs = tiny_inputs,                 \
        .outputs = model_outputs, .layers = layer_infos, .layer_outputs = tiny_regions             \
    }
const mcu_model_t _mcu_network_tiny = OF_ONE_BYTE("tiny", run_tiny, tiny_outputs, 1, tiny_layers);
const mcu_model_t _mcu_network_failing =
    OF_ONE_BYTE("failing", run_failing, failing_outputs, 1, tiny_layers);
const mcu_model_t _mcu_network_slow =
    OF_ONE_BYTE("slow", run_slow, tiny_outputs, SLOW_LAYERS, slow_layers);

#define BYTE(tensor_name, at)                                                                      \
    { tensor_name, one, {at, 0, 1}, 0.0F, 0, 1, UINT8 }
static const mcu_tensor_info_t parts_input = BYTE("in", PARTS_IN);
static const mcu_tensor_info_t parts_mid = BYTE("mid", PARTS_MID);
static const mcu_tensor_info_t parts_output = BYTE("out", PARTS_OUT);
static const mcu_tensor_info_t tail_outputs[] = {BYTE("out", PARTS_OUT), BYTE("mid", PARTS_MID)};
static const uint8_t parts_initial = 100;
static const mcu_state_info_t parts_state = {BYTE("sum", PARTS_SUM), &parts_initial};
static const mcu_layer_info_t parts_layers[] = {{0, 1}, {1, 1}};
static const mcu_region_t parts_regions[] = {{PARTS_MID, 0, 1}, {PARTS_OUT, 0, 1}};
static const mcu_partition_t parts_partitions[] = {
    {run_head, 1, 1, "head", &parts_input, &parts_mid},
    {run_tail, 1, 2, "tail", &parts_mid, tail_outputs}};
const mcu_model_t _mcu_network_parts = {.run_func = run_whole,
                                        .num_input_tensors = 1,
                                        .num_output_tensors = 1,
                                        .abi_version = MCU_MODEL_ABI_VERSION,
                                        .workspace_size = 4,
                                        .workspace_alignment = 16,
                                        .num_layers = 2,
                                        .name = "parts",
                                        .inputs = &parts_input,
                                        .outputs = &parts_output,
                                        .layers = parts_layers,
                                        .layer_outputs = parts_regions,
                                        .partitions = parts_partitions,
                                        .kept = &parts_mid,
                                        .states = &parts_state,
                                        .num_partitions = 2,
                                        .num_kept = 1,
                                        .num_states = 1};

static const int64_t sized_shape[] = {2, SIZED_MOST};
static const int64_t sized_half[] = {(SIZED_MOST + 1) / 2};
static const mcu_tensor_info_t sized_inputs[] = {
    {"in", sized_shape, {0, 0, 2 * SIZED_MOST}, 0.0F, 0, 2, UINT8}};
static const mcu_tensor_info_t sized_outputs[] = {
    {"out", sized_shape, {SIZED_OUT, 0, 2 * SIZED_MOST}, 0.0F, 0, 2, UINT8},
    {"half", sized_half, {SIZED_HALF, 0, (SIZED_MOST + 1) / 2}, 0.0F, 0, 1, UINT8}};
static const mcu_layer_info_t sized_layers[] = {{0, 2}};
static const mcu_region_t sized_regions[] = {{SIZED_OUT, 0, 2 * SIZED_MOST},
                                             {SIZED_HALF, 0, (SIZED_MOST + 1) / 2}};
static const mcu_extent_t sized_extents[] = {
    {0, 1, 1, 0, 1, 0}, {1, 1, 1, 0, 1, 0}, {2, 0, 1, 1, 2, 0}};
static const mcu_size_t sized_size = {SIZED_LEAST, SIZED_MOST, 0, 1, 3, sized_extents};
const mcu_model_t _mcu_network_sized = {.run_func = run_sized,
                                        .num_input_tensors = 1,
                                        .num_output_tensors = 2,
                                        .abi_version = MCU_MODEL_ABI_VERSION,
                                        .workspace_size = SIZED_BYTES,
                                        .workspace_alignment = 16,
                                        .num_layers = 1,
                                        .name = "sized",
                                        .inputs = sized_inputs,
                                        .outputs = sized_outputs,
                                        .layers = sized_layers,
                                        .layer_outputs = sized_regions,
                                        .size = &sized_size};

static uint8_t sized_workspace[SIZED_BYTES] MCU_ALIGNED(16);
static mcu_tensor_info_t sized_infos[3];
static int64_t sized_room[5];
static mcu_firmware_size_t sized_set = {sized_infos, sized_room, false};
static uint8_t parts_workspace[4] MCU_ALIGNED(16);
static uint8_t mini_workspace[MINI_BYTES] MCU_ALIGNED(16);
static uint8_t tiny_workspace[2] MCU_ALIGNED(16);
static uint8_t failing_workspace[2] MCU_ALIGNED(16);
static uint8_t slow_workspace[2] MCU_ALIGNED(16);
static const mcu_pool_t mini_pools[] = {{mini_workspace, MINI_BYTES}};
static const mcu_pool_t tiny_pools[] = {{tiny_workspace, 2}};
static const mcu_pool_t failing_pools[] = {{failing_workspace, 2}};
static const mcu_pool_t slow_pools[] = {{slow_workspace, 2}};
static const mcu_pool_t parts_pools[] = {{parts_workspace, 4}};
static const mcu_pool_t sized_pools[] = {{sized_workspace, SIZED_BYTES}};
static mcu_instance_t instances[6];

const mcu_firmware_model_t mcu_firmware_models[] = {
    {&_mcu_network_mini, &instances[0], mini_pools, NULL, 512, {1, 2, 3}, {4, 5, 6}, NULL},
    {&_mcu_network_tiny, &instances[1], tiny_pools, NULL, 256, {7}, {8}, NULL},
    {&_mcu_network_failing, &instances[2], failing_pools, NULL, 0, {9}, {10}, NULL},
    {&_mcu_network_slow, &instances[3], slow_pools, NULL, 0, {11}, {12}, NULL},
    {&_mcu_network_parts, &instances[4], parts_pools, NULL, 0, {13}, {14}, NULL},
    {&_mcu_network_sized, &instances[5], sized_pools, NULL, 0, {15}, {16}, &sized_set}};
const uint32_t mcu_firmware_num_models = 6;
DLTensor mcu_firmware_tensors[4];
