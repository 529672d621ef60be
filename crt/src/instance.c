/* The life of an instance, and the tensors in its workspace.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <string.h>

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
    if (model->private_place.bytes != 0) {
        memset(instance->workspace + model->private_place.offset, 0, model->private_place.bytes);
    }
    return MCU_OK;
}

int32_t mcu_instance_deinit(mcu_instance_t *instance) {
    if (instance == NULL) {
        return MCU_ERROR_NULL_POINTER;
    }
    if (instance->model != NULL && instance->model->release_func != NULL) {
        instance->model->release_func(instance);
    }
    instance->model = NULL;
    instance->workspace = NULL;
    return MCU_OK;
}

static int32_t place_tensor(const mcu_instance_t *instance, bool is_output, uint32_t index,
                            DLTensor *tensor) {
    if (instance == NULL || tensor == NULL) {
        return MCU_ERROR_NULL_POINTER;
    }
    const mcu_model_t *model = instance->model;
    if (model == NULL) {
        return MCU_ERROR_WRONG_INSTANCE;
    }
    if (index >= (is_output ? model->num_output_tensors : model->num_input_tensors)) {
        return MCU_ERROR_INDEX;
    }
    const mcu_tensor_info_t *info = &(is_output ? model->outputs : model->inputs)[index];
    *tensor =
        mcu_tensor(instance->workspace + info->place.offset, info->dtype, info->shape, info->ndim);
    return MCU_OK;
}

int32_t mcu_instance_input(const mcu_instance_t *instance, uint32_t index, DLTensor *tensor) {
    return place_tensor(instance, false, index, tensor);
}

int32_t mcu_instance_output(const mcu_instance_t *instance, uint32_t index, DLTensor *tensor) {
    return place_tensor(instance, true, index, tensor);
}
