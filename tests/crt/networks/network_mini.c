/* SPDX-License-Identifier: Apache-2.0 */
#include "network_mini.h"

#include "mcu/internal.h"
#include "mcu/runtime.h"

#define INT(bits)                                                                                  \
    { kDLInt, bits, 1 }

/* ---- mini ---- */

static const int64_t _mcu_mini_shape[2] = {2, 3};
static const mcu_tensor_info_t _mcu_mini_input = {
    .name = "x", .shape = _mcu_mini_shape, .place = {0, 0, 6}, .ndim = 2, .dtype = INT(8)};
static const mcu_tensor_info_t _mcu_mini_output = {
    .name = "y", .shape = _mcu_mini_shape, .place = {8, 0, 6}, .ndim = 2, .dtype = INT(8)};
static const mcu_layer_info_t _mcu_mini_layers[2] = {{0, 1}, {1, 1}};
static const mcu_region_t _mcu_mini_layer_outputs[2] = {{16, 0, 6}, {8, 0, 6}};

static int32_t _mcu_mini_run(void *args, void *arg_type_ids, int32_t num_args, void *out_ret_value,
                             void *out_ret_tcode, void *resource_handle) {
    (void)out_ret_value;
    (void)out_ret_tcode;
    int32_t status =
        _mcu_run_begin(&_mcu_network_mini, NULL, args, arg_type_ids, num_args, resource_handle);
    if (status != MCU_OK) {
        return status;
    }
    mcu_instance_t *instance = resource_handle;
    const int8_t *x = (const int8_t *)instance->workspace;
    int8_t *y = (int8_t *)instance->workspace + 8;
    int8_t *sum = (int8_t *)instance->workspace + 16;

    _mcu_layer_event(instance, 0, MCU_LAYER_BEGIN);
    for (int i = 0; i < 6; ++i) {
        sum[i] = (int8_t)(x[i] + 1);
    }
    _mcu_layer_event(instance, 0, MCU_LAYER_END);
    _mcu_layer_event(instance, 1, MCU_LAYER_BEGIN);
    for (int i = 0; i < 6; ++i) {
        y[i] = (int8_t)(3 * sum[i]);
    }
    _mcu_layer_event(instance, 1, MCU_LAYER_END);
    return _mcu_run_end(&_mcu_network_mini, NULL, args, resource_handle);
}

const mcu_model_t _mcu_network_mini = {
    .run_func = _mcu_mini_run,
    .num_input_tensors = 1,
    .num_output_tensors = 1,
    .abi_version = MCU_MODEL_ABI_VERSION,
    .workspace_size = MCU_MINI_WORKSPACE_SIZE,
    .workspace_alignment = MCU_MINI_WORKSPACE_ALIGNMENT,
    .num_layers = 2,
    .name = "mini",
    .inputs = &_mcu_mini_input,
    .outputs = &_mcu_mini_output,
    .layers = _mcu_mini_layers,
    .layer_outputs = _mcu_mini_layer_outputs,
};

/* ---- mix ---- */

static const int64_t _mcu_mix_shape_a[1] = {4};
static const int64_t _mcu_mix_shape_b[3] = {2, 1, 2};
static const mcu_tensor_info_t _mcu_mix_inputs[2] = {
    {.name = "a", .shape = _mcu_mix_shape_a, .place = {0, 0, 8}, .ndim = 1, .dtype = INT(16)},
    {.name = "b", .shape = _mcu_mix_shape_b, .place = {16, 0, 16}, .ndim = 3, .dtype = INT(32)},
};
static const mcu_tensor_info_t _mcu_mix_outputs[2] = {
    {.name = "c", .shape = _mcu_mix_shape_b, .place = {16, 0, 16}, .ndim = 3, .dtype = INT(32)},
    {.name = "s", .shape = NULL, .place = {48, 0, 4}, .ndim = 0, .dtype = {kDLFloat, 32, 1}},
};
static const mcu_layer_info_t _mcu_mix_layers[1] = {{0, 2}};
static const mcu_region_t _mcu_mix_layer_outputs[2] = {{16, 0, 16}, {48, 0, 4}};

static int32_t _mcu_mix_run(void *args, void *arg_type_ids, int32_t num_args, void *out_ret_value,
                            void *out_ret_tcode, void *resource_handle) {
    (void)out_ret_value;
    (void)out_ret_tcode;
    int32_t status =
        _mcu_run_begin(&_mcu_network_mix, NULL, args, arg_type_ids, num_args, resource_handle);
    if (status != MCU_OK) {
        return status;
    }
    mcu_instance_t *instance = resource_handle;
    const int16_t *a = (const int16_t *)(void *)instance->workspace;
    int32_t *b = (int32_t *)(void *)(instance->workspace + 16);
    float *s = (float *)(void *)(instance->workspace + 48);

    _mcu_layer_event(instance, 0, MCU_LAYER_BEGIN);
    *s = 0.0F;
    for (int i = 0; i < 4; ++i) {
        b[i] = a[i] * b[i];
        *s += (float)b[i];
    }
    _mcu_layer_event(instance, 0, MCU_LAYER_END);
    return _mcu_run_end(&_mcu_network_mix, NULL, args, resource_handle);
}

const mcu_model_t _mcu_network_mix = {
    .run_func = _mcu_mix_run,
    .num_input_tensors = 2,
    .num_output_tensors = 2,
    .abi_version = MCU_MODEL_ABI_VERSION,
    .workspace_size = MCU_MIX_WORKSPACE_SIZE,
    .workspace_alignment = MCU_MIX_WORKSPACE_ALIGNMENT,
    .num_layers = 1,
    .name = "mix",
    .inputs = _mcu_mix_inputs,
    .outputs = _mcu_mix_outputs,
    .layers = _mcu_mix_layers,
    .layer_outputs = _mcu_mix_layer_outputs,
};

/* ---- wide15, wide16 ---- */

static const int64_t _mcu_wide_shape[1] = {1};
#define WIDE(i)                                                                                    \
    { .name = "x", .shape = _mcu_wide_shape, .place = {i, 0, 1}, .ndim = 1, .dtype = INT(8) }
static const mcu_tensor_info_t _mcu_wide_tensors[17] = {
    WIDE(0), WIDE(1),  WIDE(2),  WIDE(3),  WIDE(4),  WIDE(5),  WIDE(6),  WIDE(7), WIDE(8),
    WIDE(9), WIDE(10), WIDE(11), WIDE(12), WIDE(13), WIDE(14), WIDE(15), WIDE(31)};

static int32_t wide_run(const mcu_model_t *model, void *args, void *types, int32_t num_args,
                        void *resource_handle) {
    int32_t status = _mcu_run_begin(model, NULL, args, types, num_args, resource_handle);
    if (status != MCU_OK) {
        return status;
    }
    int8_t *x = (int8_t *)((mcu_instance_t *)resource_handle)->workspace;
    int sum = 0;
    for (uint32_t i = 0; i < model->num_input_tensors; ++i) {
        sum += x[i];
    }
    x[31] = (int8_t)sum;
    return _mcu_run_end(model, NULL, args, resource_handle);
}

static int32_t _mcu_wide15_run(void *args, void *arg_type_ids, int32_t num_args,
                               void *out_ret_value, void *out_ret_tcode, void *resource_handle) {
    (void)out_ret_value;
    (void)out_ret_tcode;
    return wide_run(&_mcu_network_wide15, args, arg_type_ids, num_args, resource_handle);
}

static int32_t _mcu_wide16_run(void *args, void *arg_type_ids, int32_t num_args,
                               void *out_ret_value, void *out_ret_tcode, void *resource_handle) {
    (void)out_ret_value;
    (void)out_ret_tcode;
    return wide_run(&_mcu_network_wide16, args, arg_type_ids, num_args, resource_handle);
}

#define WIDE_MODEL(run, number_of_inputs, model_name)                                              \
    {                                                                                              \
        .run_func = run, .num_input_tensors = number_of_inputs, .num_output_tensors = 1,           \
        .abi_version = MCU_MODEL_ABI_VERSION, .workspace_size = MCU_WIDE_WORKSPACE_SIZE,           \
        .workspace_alignment = MCU_WIDE_WORKSPACE_ALIGNMENT, .name = model_name,                   \
        .inputs = _mcu_wide_tensors, .outputs = &_mcu_wide_tensors[16]                             \
    }
const mcu_model_t _mcu_network_wide15 = WIDE_MODEL(_mcu_wide15_run, 15, "wide15");
const mcu_model_t _mcu_network_wide16 = WIDE_MODEL(_mcu_wide16_run, 16, "wide16");
