/* The life of an instance, and the tensors in its workspace.
 * SPDX-License-Identifier: Apache-2.0 */
#include "mcu/runtime.h"

int32_t mcu_instance_init(mcu_instance_t *instance, const mcu_model_t *model, void *workspace,
                          size_t workspace_size) {
    if (instance == NULL || model == NULL || workspace == NULL) {
        return MCU_ERROR_NULL_POINTER;
    }
    /* First of all: in another version the fields behind it may be elsewhere. */
    if (model->abi_version != MCU_MODEL_ABI_VERSION) {
        return MCU_ERROR_ABI_VERSION;
    }
    if (workspace_size < model->workspace_size) {
        return MCU_ERROR_WORKSPACE_SIZE;
    }
    if (((uintptr_t)workspace & (model->workspace_alignment - 1U)) != 0) {
        return MCU_ERROR_ALIGNMENT;
    }
    instance->model = model;
    instance->workspace = workspace;
    instance->hook = NULL;
    instance->hook_context = NULL;
    return MCU_OK;
}

int32_t mcu_instance_deinit(mcu_instance_t *instance) {
    if (instance == NULL) {
        return MCU_ERROR_NULL_POINTER;
    }
    instance->model = NULL;
    instance->workspace = NULL;
    return MCU_OK;
}

static int32_t place_tensor(const mcu_instance_t *instance, uint32_t index, uint32_t count,
                            const mcu_tensor_info_t *infos, DLTensor *tensor) {
    if (index >= count) {
        return MCU_ERROR_INDEX;
    }
    const mcu_tensor_info_t *info = &infos[index];
    *tensor =
        mcu_tensor(instance->workspace + info->place.offset, info->dtype, info->shape, info->ndim);
    return MCU_OK;
}

static int32_t check_instance(const mcu_instance_t *instance, const DLTensor *tensor) {
    if (instance == NULL || tensor == NULL) {
        return MCU_ERROR_NULL_POINTER;
    }
    return instance->model == NULL ? MCU_ERROR_WRONG_INSTANCE : MCU_OK;
}

int32_t mcu_instance_input(const mcu_instance_t *instance, uint32_t index, DLTensor *tensor) {
    int32_t status = check_instance(instance, tensor);
    if (status != MCU_OK) {
        return status;
    }
    const mcu_model_t *model = instance->model;
    return place_tensor(instance, index, model->num_input_tensors, model->inputs, tensor);
}

int32_t mcu_instance_output(const mcu_instance_t *instance, uint32_t index, DLTensor *tensor) {
    int32_t status = check_instance(instance, tensor);
    if (status != MCU_OK) {
        return status;
    }
    const mcu_model_t *model = instance->model;
    return place_tensor(instance, index, model->num_output_tensors, model->outputs, tensor);
}
