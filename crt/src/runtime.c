/* Instances: the checks of run_func's contract, and what a run copies.
 * SPDX-License-Identifier: Apache-2.0 */
#include "mcu/runtime.h"

#include <string.h>

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
    /* A buffer is either the tensor's place or wholly outside of the workspace, so that copying
     * one tensor never changes another. Unsigned differences: no sum that could overflow. */
    uintptr_t behind = (uintptr_t)tensor->data - (uintptr_t)instance->workspace;
    if (behind != info->place.offset &&
        (behind < instance->model->workspace_size || 0U - behind < info->place.bytes)) {
        return MCU_ERROR_OVERLAP;
    }
    return MCU_OK;
}

int32_t _mcu_run_begin(const mcu_model_t *model, const void *args, const void *arg_type_ids,
                       int32_t num_args, const void *resource_handle) {
    const mcu_instance_t *instance = resource_handle;
    const mcu_value_t *values = args;
    const int32_t *types = arg_type_ids;
    uint32_t num_inputs = model->num_input_tensors;
    uint32_t count = num_inputs + model->num_output_tensors;

    if (instance == NULL || values == NULL) {
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
            i < num_inputs ? &model->inputs[i] : &model->outputs[i - num_inputs];
        int32_t status = check_tensor(instance, info, values[i].v_handle);
        if (status != MCU_OK) {
            return status;
        }
    }
    /* All is well: from here on bytes are written. */
    for (uint32_t i = 0; i < num_inputs; ++i) {
        const DLTensor *tensor = values[i].v_handle;
        uint8_t *place = instance->workspace + model->inputs[i].place.offset;
        if (tensor->data != place) {
            memcpy(place, tensor->data, model->inputs[i].place.bytes);
        }
    }
    return MCU_OK;
}

int32_t _mcu_run_end(const mcu_model_t *model, const void *args, const void *resource_handle) {
    const mcu_instance_t *instance = resource_handle;
    const mcu_value_t *values = (const mcu_value_t *)args + model->num_input_tensors;

    for (uint32_t i = 0; i < model->num_output_tensors; ++i) {
        const DLTensor *tensor = values[i].v_handle;
        const uint8_t *place = instance->workspace + model->outputs[i].place.offset;
        if (tensor->data != place) {
            memcpy(tensor->data, place, model->outputs[i].place.bytes);
        }
    }
    return MCU_OK;
}

int32_t mcu_instance_run(mcu_instance_t *instance, DLTensor *inputs, uint32_t num_inputs,
                         DLTensor *outputs, uint32_t num_outputs) {
    mcu_value_t values[MCU_MAX_TENSORS];

    if (instance == NULL || (inputs == NULL && num_inputs != 0) ||
        (outputs == NULL && num_outputs != 0)) {
        return MCU_ERROR_NULL_POINTER;
    }
    const mcu_model_t *model = instance->model;
    if (model == NULL) {
        return MCU_ERROR_WRONG_INSTANCE;
    }
    if (num_inputs != model->num_input_tensors || num_outputs != model->num_output_tensors) {
        return MCU_ERROR_ARGUMENT_COUNT;
    }
    if (num_inputs + num_outputs > MCU_MAX_TENSORS) {
        return MCU_ERROR_TOO_MANY_TENSORS;
    }
    mcu_value_t *value = values;
    for (uint32_t i = 0; i < num_inputs; ++i) {
        (value++)->v_handle = &inputs[i];
    }
    for (uint32_t i = 0; i < num_outputs; ++i) {
        (value++)->v_handle = &outputs[i];
    }
    return model->run_func(values, NULL, (int32_t)(num_inputs + num_outputs), NULL, NULL, instance);
}
