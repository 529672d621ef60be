/* The instances of the firmware's models.
 * SPDX-License-Identifier: Apache-2.0 */
#include "mcu/firmware.h"
#include "mcu/internal.h"

/* Lets the table of pointers point to the firmware's own buffers, so that mcu_instance_input and
 * mcu_instance_output find them. */
static void give_buffers(const mcu_instance_t *instance, const mcu_tensor_info_t *infos,
                         uint32_t count, uint8_t *const *buffers) {
    for (uint32_t i = 0; i < count; i++) {
        if (infos[i].place.pool == MCU_POOL_POINTER) {
            _mcu_pointers(instance)[infos[i].place.offset] = buffers[i];
        }
    }
}

int32_t mcu_firmware_prepare(const mcu_firmware_model_t *entry) {
    const mcu_model_t *model = entry->model;
    mcu_instance_t *instance = entry->instance;
    if (instance->model == model) {
        return MCU_OK;
    }
    int32_t status =
        mcu_instance_init_pools(instance, model, entry->pools, 1U + model->num_extra_pools);
    if (status == MCU_OK && entry->callers != NULL) {
        const uint32_t inputs = model->num_input_tensors;
        give_buffers(instance, model->inputs, inputs, entry->callers);
        give_buffers(instance, model->outputs, model->num_output_tensors, entry->callers + inputs);
    }
    return status;
}

void mcu_firmware_forget(const mcu_firmware_model_t *entry) {
    (void)mcu_instance_deinit(entry->instance);
}
