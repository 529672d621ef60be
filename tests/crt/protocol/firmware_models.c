/* Four small networks, written by hand, for the tests of the protocol.
 *
 * "mini": inputs x int8[1,3000] and y float32[4]; outputs z int8[1,3000] and w float32[4].
 *   layer 0: t = x + 1; layer 1: x = reversed t, in x's own place, and s = the sum of t, int32[1];
 *   layer 2: z = x ^ 0x55; w = 2 y.
 * "tiny": input and output uint8[1]; out = in + 1.
 * "failing": as tiny, but its run returns an error.
 * "slow": as tiny, in 6 layers of 60 ms each, none of which changes the output.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "mcu/firmware.h"
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
    int32_t status = _mcu_run_begin(&_mcu_network_mini, args, types, num_args, handle);
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
    return _mcu_run_end(&_mcu_network_mini, args, handle);
}

static int32_t run_tiny(void *args, void *types, int32_t num_args, void *value, void *code,
                        void *handle) {
    extern const mcu_model_t _mcu_network_tiny;
    mcu_instance_t *instance = handle;
    int32_t status = _mcu_run_begin(&_mcu_network_tiny, args, types, num_args, handle);
    (void)value;
    (void)code;
    if (status != MCU_OK) {
        return status;
    }
    _mcu_layer_event(instance, 0, MCU_LAYER_BEGIN);
    instance->workspace[1] = (uint8_t)(instance->workspace[0] + 1U);
    _mcu_layer_event(instance, 0, MCU_LAYER_END);
    return _mcu_run_end(&_mcu_network_tiny, args, handle);
}

static int32_t run_failing(void *args, void *types, int32_t num_args, void *value, void *code,
                           void *handle) {
    (void)args;
    (void)types;
    (void)num_args;
    (void)value;
    (void)code;
    (void)handle;
    return MCU_ERROR_OUT_OF_MEMORY;
}

static int32_t run_slow(void *args, void *types, int32_t num_args, void *value, void *code,
                        void *handle) {
    extern const mcu_model_t _mcu_network_slow;
    mcu_instance_t *instance = handle;
    int32_t status = _mcu_run_begin(&_mcu_network_slow, args, types, num_args, handle);
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
    return _mcu_run_end(&_mcu_network_slow, args, handle);
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
static const mcu_tensor_info_t mini_inputs[] = {{"x", mini_shape, {X, N}, 0.5F, -3, 2, INT8},
                                                {"y", four, {Y, 16}, 0.0F, 0, 1, FLOAT32}};
static const mcu_tensor_info_t mini_outputs[] = {
    {"z \xC3\xA9", mini_shape, {Z, N}, 0.25F, 7, 2, INT8},
    {"w", four, {W, 16}, 0.0F, 0, 1, FLOAT32}};
static const mcu_layer_info_t mini_layers[] = {{0, 1}, {1, 2}, {3, 2}};
static const mcu_region_t mini_regions[] = {{T, N}, {X, N}, {S, 4}, {Z, N}, {W, 16}};
static const mcu_tensor_info_t tiny_inputs[] = {{"in", one, {0, 1}, 0.0F, 0, 1, UINT8}};
static const mcu_tensor_info_t tiny_outputs[] = {{"out", one, {1, 1}, 0.0F, 0, 1, UINT8}};
static const mcu_layer_info_t tiny_layers[] = {{0, 1}};
static const mcu_region_t tiny_regions[] = {{1, 1}};

const mcu_model_t _mcu_network_mini = {
    run_mini, 2,      2,           MCU_MODEL_ABI_VERSION, MINI_BYTES,  16,
    3,        "mini", mini_inputs, mini_outputs,          mini_layers, mini_regions,
    {0, 0},   NULL};
const mcu_model_t _mcu_network_tiny = {
    run_tiny, 1,      1,           MCU_MODEL_ABI_VERSION, 2,           16,
    1,        "tiny", tiny_inputs, tiny_outputs,          tiny_layers, tiny_regions,
    {0, 0},   NULL};
const mcu_model_t _mcu_network_failing = {
    run_failing, 1,         1,           MCU_MODEL_ABI_VERSION, 2,           16,
    1,           "failing", tiny_inputs, tiny_outputs,          tiny_layers, tiny_regions,
    {0, 0},      NULL};

static const mcu_layer_info_t slow_layers[SLOW_LAYERS] = {{0, 1}, {0, 1}, {0, 1},
                                                          {0, 1}, {0, 1}, {0, 1}};
const mcu_model_t _mcu_network_slow = {
    run_slow,    1,      1,           MCU_MODEL_ABI_VERSION, 2,           16,
    SLOW_LAYERS, "slow", tiny_inputs, tiny_outputs,          slow_layers, tiny_regions,
    {0, 0},      NULL};

static uint8_t mini_workspace[MINI_BYTES] MCU_ALIGNED(16);
static uint8_t tiny_workspace[2] MCU_ALIGNED(16);
static uint8_t failing_workspace[2] MCU_ALIGNED(16);
static uint8_t slow_workspace[2] MCU_ALIGNED(16);

const mcu_firmware_model_t mcu_firmware_models[] = {
    {&_mcu_network_mini, mini_workspace, MINI_BYTES, 512, {1, 2, 3}, {4, 5, 6}},
    {&_mcu_network_tiny, tiny_workspace, 2, 256, {7}, {8}},
    {&_mcu_network_failing, failing_workspace, 2, 0, {9}, {10}},
    {&_mcu_network_slow, slow_workspace, 2, 0, {11}, {12}}};
const uint32_t mcu_firmware_num_models = 4;
