/* The size of models that let each run decide one: RESIZE sets it, HELLO takes it back.
 * SPDX-License-Identifier: Apache-2.0 */
#include "mcu/protocol.h"
#include "mcu/runtime.h"

void mcu_size_describe(const mcu_firmware_model_t *entry, mcu_message_t *reply) {
    const mcu_size_t none = {0, 0, 0, 0, 0, NULL};
    const mcu_size_t *size = entry->size != NULL ? entry->model->size : &none;
    mcu_put_u32(reply, (uint32_t)size->least);
    mcu_put_u32(reply, (uint32_t)size->most);
    mcu_put_u16(reply, size->tensor);
    mcu_put_u16(reply, size->axis);
}

void mcu_size_request(mcu_reader_t *request, mcu_message_t *reply) {
    uint32_t index = 0;
    const mcu_firmware_model_t *entry = mcu_protocol_model(request, reply, &index);
    const uint32_t size = mcu_get_u32(request);
    if (entry == NULL) {
        return;
    }
    mcu_firmware_size_t *const sized = entry->size;
    /* What is refused is not written. */
    if (sized == NULL ||
        mcu_model_resize(entry->model, size, sized->infos, sized->extents) != MCU_OK) {
        const int32_t most = sized == NULL ? 0 : entry->model->size->most;
        mcu_protocol_error(reply, MCU_PROTOCOL_BAD_SIZE, most);
        return;
    }
    sized->is_set = true;
    mcu_run_forget_layer();
}

void mcu_size_forget(void) {
    for (uint32_t i = 0; i < mcu_firmware_num_models; i++) {
        if (mcu_firmware_models[i].size != NULL) {
            mcu_firmware_models[i].size->is_set = false;
        }
    }
}
