/* Instances: the checks of run_func's contract, and what a run copies.
 * SPDX-License-Identifier: Apache-2.0 */
#include "mcu/runtime.h"

#include <stdbool.h>
#include <string.h>

#include "mcu/internal.h"

/* Tensors that stay in the caller's buffer are aligned as those in the workspace are. */
#define MCU_CALLER_ALIGNMENT 16U

/* Unsigned differences: no sum that could overflow. */
static bool overlap(const void *data, uint32_t bytes, const uint8_t *pool, uint32_t pool_bytes) {
    uintptr_t behind = (uintptr_t)data - (uintptr_t)pool;
    return behind < pool_bytes || 0U - behind < bytes;
}

static int32_t check_tensor(const mcu_instance_t *instance, const mcu_tensor_info_t *info,
                            const DLTensor *tensor) {
    if (tensor == NULL || tensor->data == NULL) {
        return MCU_ERROR_NULL_POINTER;
    }
    if (tensor->device.device_type != kDLCPU) {
        return MCU_ERROR_DEVICE;
    }
    if (tensor->dtype.code != info->dtype.code || tensor->dtype.bits != info->dtype.bits ||
        tensor->dtype.lanes != info->dtype.lanes) {
        return MCU_ERROR_DTYPE;
    }
    if (tensor->byte_offset != 0) {
        return MCU_ERROR_BYTE_OFFSET;
    }
    if (tensor->ndim != info->ndim) {
        return MCU_ERROR_SHAPE;
    }
    if (tensor->shape == NULL && info->ndim > 0) {
        return MCU_ERROR_NULL_POINTER;
    }
    /* A compact stride is the product of the dimensions behind it. They have been compared by the
     * time that it is needed, so the product is at most the tensor's size and fits 32 bits. */
    uint32_t stride = 1;
    for (int32_t d = info->ndim - 1; d >= 0; --d) {
        int64_t extent = info->shape[d];
        if (tensor->shape[d] != extent) {
            return MCU_ERROR_SHAPE;
        }
        /* A dimension of size 1 is never stepped along. */
        if (tensor->strides != NULL && extent != 1 && tensor->strides[d] != (int64_t)stride) {
            return MCU_ERROR_STRIDES;
        }
        stride *= (uint32_t)extent;
    }
    uint32_t element = (info->dtype.bits + 7U) >> 3;
    if (((uintptr_t)tensor->data & (element - 1U)) != 0) {
        return MCU_ERROR_ALIGNMENT;
    }
    /* A buffer is either the tensor's place or wholly outside of the pools, so that copying one
     * tensor never changes another. */
    const mcu_model_t *model = instance->model;
    bool is_callers = info->place.pool == MCU_POOL_POINTER;
    if (is_callers && ((uintptr_t)tensor->data & (MCU_CALLER_ALIGNMENT - 1U)) != 0) {
        return MCU_ERROR_ALIGNMENT;
    }
    if (!is_callers && tensor->data == _mcu_address(instance, info->place)) {
        return MCU_OK;
    }
    bool overlaps =
        overlap(tensor->data, info->place.bytes, instance->workspace, model->workspace_size);
    for (uint32_t i = 0; i < model->num_extra_pools && !overlaps; ++i) {
        overlaps = overlap(tensor->data, info->place.bytes, instance->extra_pools[i],
                           model->extra_pools[i].bytes);
    }
    return overlaps ? MCU_ERROR_OVERLAP : MCU_OK;
}

/* What is run: the network or one of its partitions. */
typedef struct mcu_signature {
    const mcu_tensor_info_t *inputs;
    const mcu_tensor_info_t *outputs;
    uint32_t num_inputs;
    uint32_t num_outputs;
} mcu_signature_t;

static mcu_signature_t signature_of(const mcu_model_t *model, const mcu_partition_t *partition) {
    mcu_signature_t whole = {model->inputs, model->outputs, model->num_input_tensors,
                             model->num_output_tensors};
    if (partition != NULL) {
        whole.inputs = partition->inputs;
        whole.outputs = partition->outputs;
        whole.num_inputs = partition->num_input_tensors;
        whole.num_outputs = partition->num_output_tensors;
    }
    return whole;
}

int32_t _mcu_run_begin(const mcu_model_t *model, const mcu_partition_t *partition, const void *args,
                       const void *arg_type_ids, int32_t num_args, const void *resource_handle) {
    const mcu_instance_t *instance = resource_handle;
    const int32_t *types = arg_type_ids;
    const mcu_signature_t run = signature_of(model, partition);
    uint32_t count = run.num_inputs + run.num_outputs;

    if (instance == NULL || args == NULL) {
        return MCU_ERROR_NULL_POINTER;
    }
    if (instance->model != model || instance->workspace == NULL) {
        return MCU_ERROR_WRONG_INSTANCE;
    }
    if ((uint32_t)num_args != count) {
        return MCU_ERROR_ARGUMENT_COUNT;
    }
    for (uint32_t i = 0; i < count; ++i) {
        if (types != NULL && types[i] != MCU_TYPE_TENSOR_HANDLE) {
            return MCU_ERROR_ARGUMENT_TYPE;
        }
        const mcu_tensor_info_t *info =
            i < run.num_inputs ? &run.inputs[i] : &run.outputs[i - run.num_inputs];
        int32_t status = check_tensor(instance, info, _mcu_argument(args, run.num_inputs, i));
        if (status != MCU_OK) {
            return status;
        }
    }
    /* All is well: from here on bytes are written. */
    for (uint32_t i = 0; i < count; ++i) {
        bool is_input = i < run.num_inputs;
        mcu_region_t place = is_input ? run.inputs[i].place : run.outputs[i - run.num_inputs].place;
        if (!is_input && place.pool != MCU_POOL_POINTER) {
            continue; /* it is copied when the run has ended */
        }
        const DLTensor *tensor = _mcu_argument(args, run.num_inputs, i);
        if (place.pool == MCU_POOL_POINTER) {
            _mcu_pointers(instance)[place.offset] = tensor->data;
        } else if (tensor->data != _mcu_address(instance, place)) {
            memcpy(_mcu_address(instance, place), tensor->data, place.bytes);
        }
    }
    return MCU_OK;
}

int32_t _mcu_run_end(const mcu_model_t *model, const mcu_partition_t *partition, const void *args,
                     const void *resource_handle) {
    const mcu_instance_t *instance = resource_handle;
    const mcu_signature_t run = signature_of(model, partition);

    for (uint32_t i = 0; i < run.num_outputs; ++i) {
        const DLTensor *tensor = _mcu_argument(args, run.num_inputs, run.num_inputs + i);
        const uint8_t *place = _mcu_address(instance, run.outputs[i].place);
        if (tensor->data != place) {
            memcpy(tensor->data, place, run.outputs[i].place.bytes);
        }
    }
    return MCU_OK;
}

/* The arguments of a run_func: the three values that _mcu_argument knows. */
static int32_t pack(const mcu_signature_t *run, DLTensor *inputs, DLTensor *outputs,
                    mcu_value_t *values) {
    if ((inputs == NULL && run->num_inputs != 0) || (outputs == NULL && run->num_outputs != 0)) {
        return MCU_ERROR_NULL_POINTER;
    }
    values[0].v_handle = values;
    values[1].v_handle = inputs;
    values[2].v_handle = outputs;
    return MCU_OK;
}

int32_t mcu_instance_run(mcu_instance_t *instance, DLTensor *inputs, uint32_t num_inputs,
                         DLTensor *outputs, uint32_t num_outputs) {
    mcu_value_t values[3];

    if (instance == NULL) {
        return MCU_ERROR_NULL_POINTER;
    }
    const mcu_model_t *model = instance->model;
    if (model == NULL) {
        return MCU_ERROR_WRONG_INSTANCE;
    }
    const mcu_signature_t run = signature_of(model, NULL);
    if (num_inputs != run.num_inputs || num_outputs != run.num_outputs) {
        return MCU_ERROR_ARGUMENT_COUNT;
    }
    int32_t status = pack(&run, inputs, outputs, values);
    if (status != MCU_OK) {
        return status;
    }
    return model->run_func(values, NULL, (int32_t)(num_inputs + num_outputs), NULL, NULL, instance);
}

int32_t mcu_instance_run_partition(mcu_instance_t *instance, uint32_t partition, DLTensor *inputs,
                                   uint32_t num_inputs, DLTensor *outputs, uint32_t num_outputs) {
    mcu_value_t values[3];

    if (instance == NULL) {
        return MCU_ERROR_NULL_POINTER;
    }
    const mcu_model_t *model = instance->model;
    if (model == NULL) {
        return MCU_ERROR_WRONG_INSTANCE;
    }
    if (partition >= model->num_partitions) {
        return MCU_ERROR_INDEX;
    }
    const mcu_partition_t *part = &model->partitions[partition];
    const mcu_signature_t run = signature_of(model, part);
    if (num_inputs != run.num_inputs || num_outputs != run.num_outputs) {
        return MCU_ERROR_ARGUMENT_COUNT;
    }
    int32_t status = pack(&run, inputs, outputs, values);
    if (status != MCU_OK) {
        return status;
    }
    return part->run_func(values, NULL, (int32_t)(num_inputs + num_outputs), NULL, NULL, instance);
}
