/* What of a model is reached beside its inputs and outputs: partitions, kept tensors, states.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "mcu/internal.h"
#include "mcu/runtime.h"

static int32_t place_tensor(const mcu_instance_t *instance, const mcu_tensor_info_t *info,
                            DLTensor *tensor) {
    if (tensor == NULL) {
        return MCU_ERROR_NULL_POINTER;
    }
    *tensor = mcu_tensor(_mcu_address(instance, info->place), info->dtype, info->shape, info->ndim);
    return MCU_OK;
}

/* What every call here asks for first. */
static int32_t check(const mcu_instance_t *instance) {
    if (instance == NULL) {
        return MCU_ERROR_NULL_POINTER;
    }
    return instance->model == NULL ? MCU_ERROR_WRONG_INSTANCE : MCU_OK;
}

int32_t mcu_instance_partition_input(const mcu_instance_t *instance, uint32_t partition,
                                     uint32_t index, DLTensor *tensor) {
    int32_t status = check(instance);
    if (status != MCU_OK) {
        return status;
    }
    const mcu_model_t *model = instance->model;
    if (partition >= model->num_partitions ||
        index >= model->partitions[partition].num_input_tensors) {
        return MCU_ERROR_INDEX;
    }
    return place_tensor(instance, &model->partitions[partition].inputs[index], tensor);
}

int32_t mcu_instance_partition_output(const mcu_instance_t *instance, uint32_t partition,
                                      uint32_t index, DLTensor *tensor) {
    int32_t status = check(instance);
    if (status != MCU_OK) {
        return status;
    }
    const mcu_model_t *model = instance->model;
    if (partition >= model->num_partitions ||
        index >= model->partitions[partition].num_output_tensors) {
        return MCU_ERROR_INDEX;
    }
    return place_tensor(instance, &model->partitions[partition].outputs[index], tensor);
}

int32_t mcu_instance_kept(const mcu_instance_t *instance, uint32_t index, DLTensor *tensor) {
    int32_t status = check(instance);
    if (status != MCU_OK) {
        return status;
    }
    if (index >= instance->model->num_kept) {
        return MCU_ERROR_INDEX;
    }
    return place_tensor(instance, &instance->model->kept[index], tensor);
}

int32_t mcu_instance_state(const mcu_instance_t *instance, uint32_t index, DLTensor *tensor) {
    int32_t status = check(instance);
    if (status != MCU_OK) {
        return status;
    }
    if (index >= instance->model->num_states) {
        return MCU_ERROR_INDEX;
    }
    return place_tensor(instance, &instance->model->states[index].tensor, tensor);
}

/* The bytes of a state, for a caller's buffer of `bytes`. */
static int32_t find_state(const mcu_instance_t *instance, uint32_t index, const void *data,
                          size_t bytes, uint8_t **state) {
    DLTensor tensor;
    int32_t status = mcu_instance_state(instance, index, &tensor);
    if (status != MCU_OK) {
        return status;
    }
    if (data == NULL) {
        return MCU_ERROR_NULL_POINTER;
    }
    *state = tensor.data;
    return bytes == instance->model->states[index].tensor.place.bytes ? MCU_OK : MCU_ERROR_SHAPE;
}

int32_t mcu_instance_get_state(const mcu_instance_t *instance, uint32_t index, void *data,
                               size_t bytes) {
    uint8_t *state = NULL;
    int32_t status = find_state(instance, index, data, bytes, &state);
    if (status == MCU_OK) {
        memcpy(data, state, bytes);
    }
    return status;
}

int32_t mcu_instance_set_state(mcu_instance_t *instance, uint32_t index, const void *data,
                               size_t bytes) {
    uint8_t *state = NULL;
    int32_t status = find_state(instance, index, data, bytes, &state);
    if (status == MCU_OK) {
        memcpy(state, data, bytes);
    }
    return status;
}

int32_t mcu_model_find_partition(const mcu_model_t *model, const char *name) {
    if (model == NULL || name == NULL) {
        return MCU_ERROR_NULL_POINTER;
    }
    for (uint32_t i = 0; i < model->num_partitions; ++i) {
        if (strcmp(model->partitions[i].name, name) == 0) {
            return (int32_t)i;
        }
    }
    return MCU_ERROR_INDEX;
}

int32_t mcu_model_find_kept(const mcu_model_t *model, const char *name) {
    if (model == NULL || name == NULL) {
        return MCU_ERROR_NULL_POINTER;
    }
    for (uint32_t i = 0; i < model->num_kept; ++i) {
        if (strcmp(model->kept[i].name, name) == 0) {
            return (int32_t)i;
        }
    }
    return MCU_ERROR_INDEX;
}

int32_t mcu_model_find_state(const mcu_model_t *model, const char *name) {
    if (model == NULL || name == NULL) {
        return MCU_ERROR_NULL_POINTER;
    }
    for (uint32_t i = 0; i < model->num_states; ++i) {
        if (strcmp(model->states[i].tensor.name, name) == 0) {
            return (int32_t)i;
        }
    }
    return MCU_ERROR_INDEX;
}
