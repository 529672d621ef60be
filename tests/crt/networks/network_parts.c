/* SPDX-License-Identifier: Apache-2.0 */
#include "network_parts.h"

#include "mcu/internal.h"
#include "mcu/runtime.h"

enum { X = 0, MID = 16, SUM = 0, ZEROS = 16, POINTERS = 32, STATE_POOL = 1 };

static const int64_t _mcu_parts_shape[1] = {4};
#define TENSOR(tensor_name, at, in_pool)                                                           \
    {                                                                                              \
        .name = tensor_name, .shape = _mcu_parts_shape, .place = {at, in_pool, 4}, .ndim = 1,      \
        .dtype = {                                                                                 \
            kDLInt,                                                                                \
            8,                                                                                     \
            1                                                                                      \
        }                                                                                          \
    }
static const mcu_tensor_info_t _mcu_parts_x = TENSOR("x", X, 0);
static const mcu_tensor_info_t _mcu_parts_mid = TENSOR("mid", MID, 0);
static const mcu_tensor_info_t _mcu_parts_out = TENSOR("out", 0, MCU_POOL_POINTER);
static const int8_t _mcu_parts_initial[4] = {100, 101, 102, 103};
static const mcu_state_info_t _mcu_parts_states[2] = {
    {.tensor = TENSOR("sum", SUM, STATE_POOL), .initial = _mcu_parts_initial},
    {.tensor = TENSOR("zeros", ZEROS, STATE_POOL), .initial = NULL},
};
static const mcu_pool_info_t _mcu_parts_pools[1] = {{"state", MCU_PARTS_STATE_SIZE, 16}};

static void _mcu_parts_head(mcu_instance_t *instance) {
    const int8_t *x = (const int8_t *)instance->workspace + X;
    int8_t *mid = (int8_t *)instance->workspace + MID;
    for (int i = 0; i < 4; ++i) {
        mid[i] = (int8_t)(x[i] + 1);
    }
}

static void _mcu_parts_tail(mcu_instance_t *instance) {
    const int8_t *mid = (const int8_t *)instance->workspace + MID;
    int8_t *sum = (int8_t *)instance->extra_pools[STATE_POOL - 1] + SUM;
    int8_t *out = (int8_t *)_mcu_pointers(instance)[0];
    for (int i = 0; i < 4; ++i) {
        sum[i] = (int8_t)(sum[i] + mid[i]);
        out[i] = sum[i];
    }
}

static int32_t run(const mcu_partition_t *partition, const void *args, const void *types,
                   int32_t num_args, void *resource_handle) {
    const mcu_partition_t *parts = _mcu_network_parts.partitions;
    int32_t status =
        _mcu_run_begin(&_mcu_network_parts, partition, args, types, num_args, resource_handle);
    if (status != MCU_OK) {
        return status;
    }
    if (partition != &parts[1]) {
        _mcu_parts_head(resource_handle);
    }
    if (partition != &parts[0]) {
        _mcu_parts_tail(resource_handle);
    }
    return _mcu_run_end(&_mcu_network_parts, partition, args, resource_handle);
}

#define RUN_FUNC(function_name, partition)                                                         \
    static int32_t function_name(void *args, void *types, int32_t num_args, void *value,           \
                                 void *code, void *resource_handle) {                              \
        (void)value;                                                                               \
        (void)code;                                                                                \
        return run(partition, args, types, num_args, resource_handle);                             \
    }
RUN_FUNC(_mcu_parts_run, NULL)
RUN_FUNC(_mcu_parts_run_head, &_mcu_network_parts.partitions[0])
RUN_FUNC(_mcu_parts_run_tail, &_mcu_network_parts.partitions[1])

static const mcu_partition_t _mcu_parts_partitions[2] = {
    {_mcu_parts_run_head, 1, 1, "head", &_mcu_parts_x, &_mcu_parts_mid},
    {_mcu_parts_run_tail, 1, 1, "tail", &_mcu_parts_mid, &_mcu_parts_out},
};

const mcu_model_t _mcu_network_parts = {
    .run_func = _mcu_parts_run,
    .num_input_tensors = 1,
    .num_output_tensors = 1,
    .abi_version = MCU_MODEL_ABI_VERSION,
    .workspace_size = MCU_PARTS_WORKSPACE_SIZE,
    .workspace_alignment = MCU_PARTS_WORKSPACE_ALIGNMENT,
    .name = "parts",
    .inputs = &_mcu_parts_x,
    .outputs = &_mcu_parts_out,
    .extra_pools = _mcu_parts_pools,
    .partitions = _mcu_parts_partitions,
    .kept = &_mcu_parts_mid,
    .states = _mcu_parts_states,
    .num_extra_pools = 1,
    .num_partitions = 2,
    .num_kept = 1,
    .num_states = 2,
    .pointers = {POINTERS, STATE_POOL, sizeof(void *)},
};
