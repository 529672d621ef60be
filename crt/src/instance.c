/* The life of an instance, and the tensors in its workspace.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <string.h>

#include "mcu/internal.h"
#include "mcu/runtime.h"

int32_t mcu_instance_reset(mcu_instance_t *instance) {
    if (instance == NULL) {
        return MCU_ERROR_NULL_POINTER;
    }
    const mcu_model_t *model = instance->model;
    if (model == NULL) {
        return MCU_ERROR_WRONG_INSTANCE;
    }
    for (uint32_t i = 0; i < model->num_states; ++i) {
        const mcu_state_info_t *state = &model->states[i];
        uint8_t *data = _mcu_address(instance, state->tensor.place);
        if (state->initial != NULL) {
            memcpy(data, state->initial, state->tensor.place.bytes);
        } else {
            memset(data, 0, state->tensor.place.bytes);
        }
    }
    return MCU_OK;
}

static int32_t check_block(const mcu_pool_t *block, size_t size, uint32_t alignment) {
    if (block->data == NULL) {
        return MCU_ERROR_NULL_POINTER;
    }
    if (block->size < size) {
        return MCU_ERROR_WORKSPACE_SIZE;
    }
    return ((uintptr_t)block->data & (alignment - 1U)) != 0 ? MCU_ERROR_ALIGNMENT : MCU_OK;
}

int32_t mcu_instance_init_pools(mcu_instance_t *instance, const mcu_model_t *model,
                                const mcu_pool_t *pools, uint32_t num_pools) {
    if (instance == NULL || model == NULL || pools == NULL) {
        return MCU_ERROR_NULL_POINTER;
    }
    /* First of all: in another version the fields behind it may be elsewhere. */
    if (!_mcu_abi_fits(model->abi_version)) {
        return MCU_ERROR_ABI_VERSION;
    }
    if (num_pools != 1U + model->num_extra_pools || num_pools > MCU_MAX_POOLS) {
        return MCU_ERROR_POOL_COUNT;
    }
    int32_t status = check_block(&pools[0], model->workspace_size, model->workspace_alignment);
    for (uint32_t i = 1; i < num_pools && status == MCU_OK; ++i) {
        const mcu_pool_info_t *info = &model->extra_pools[i - 1U];
        status = check_block(&pools[i], info->bytes, info->alignment);
    }
    if (status != MCU_OK) {
        return status;
    }
    instance->model = model;
    instance->workspace = pools[0].data;
    for (uint32_t i = 1; i < MCU_MAX_POOLS; ++i) {
        instance->extra_pools[i - 1U] = i < num_pools ? pools[i].data : NULL;
    }
    instance->hook = NULL;
    instance->hook_context = NULL;
    if (model->private_place.bytes != 0) {
        memset(_mcu_address(instance, model->private_place), 0, model->private_place.bytes);
    }
    if (model->pointers.bytes != 0) {
        memset(_mcu_pointers(instance), 0, model->pointers.bytes);
    }
    for (uint32_t i = 0; i < model->num_hot; ++i) {
        const mcu_hot_constant_t *hot = &model->hot[i];
        memcpy(_mcu_address(instance, hot->place), hot->source, hot->place.bytes);
    }
    (void)mcu_instance_reset(instance);
    return MCU_OK;
}

int32_t mcu_instance_init(mcu_instance_t *instance, const mcu_model_t *model, void *workspace,
                          size_t workspace_size) {
    const mcu_pool_t pool = {workspace, workspace_size};
    return mcu_instance_init_pools(instance, model, &pool, 1);
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

static int32_t place_tensor(const mcu_instance_t *instance, const mcu_tensor_info_t *infos,
                            uint32_t count, uint32_t index, DLTensor *tensor) {
    if (tensor == NULL) {
        return MCU_ERROR_NULL_POINTER;
    }
    if (index >= count) {
        return MCU_ERROR_INDEX;
    }
    const mcu_tensor_info_t *info = &infos[index];
    *tensor = mcu_tensor(_mcu_address(instance, info->place), info->dtype, info->shape, info->ndim);
    return MCU_OK;
}

int32_t mcu_instance_input(const mcu_instance_t *instance, uint32_t index, DLTensor *tensor) {
    if (instance == NULL) {
        return MCU_ERROR_NULL_POINTER;
    }
    const mcu_model_t *model = instance->model;
    if (model == NULL) {
        return MCU_ERROR_WRONG_INSTANCE;
    }
    return place_tensor(instance, model->inputs, model->num_input_tensors, index, tensor);
}

int32_t mcu_instance_output(const mcu_instance_t *instance, uint32_t index, DLTensor *tensor) {
    if (instance == NULL) {
        return MCU_ERROR_NULL_POINTER;
    }
    const mcu_model_t *model = instance->model;
    if (model == NULL) {
        return MCU_ERROR_WRONG_INSTANCE;
    }
    return place_tensor(instance, model->outputs, model->num_output_tensors, index, tensor);
}
