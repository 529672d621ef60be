/* What a device tests of itself.
 * SPDX-License-Identifier: Apache-2.0 */
#include "mcu/protocol.h"
#include "mcu/runtime.h"

/* Writes and reads back each byte of a pool, and its inverse. */
static bool holds_pattern(const mcu_pool_t *pool, uint32_t flip) {
    volatile uint8_t *data = pool->data;
    bool holds = true;
    for (uint32_t at = 0; at < pool->size; at++) {
        data[at] = (uint8_t)(at ^ (at >> 8) ^ (at >> 16) ^ flip);
    }
    for (uint32_t at = 0; at < pool->size; at++) {
        holds = holds && data[at] == (uint8_t)(at ^ (at >> 8) ^ (at >> 16) ^ flip);
    }
    return holds;
}

uint32_t mcu_self_test(void) {
    static const uint8_t known[9] = {'1', '2', '3', '4', '5', '6', '7', '8', '9'};
    uint32_t failed = mcu_crc32(0, known, sizeof known) == 0xCBF43926U ? 0U : 1U;
    mcu_run_forget_layer();
    for (uint32_t i = 0; i < mcu_firmware_num_models; i++) {
        const mcu_firmware_model_t *entry = &mcu_firmware_models[i];
        int32_t status = mcu_firmware_prepare(entry);
        if (status != MCU_OK) {
            failed |= 2U;
            mcu_log(mcu_error_string(status));
        }
        mcu_firmware_forget(entry); /* before what it holds is overwritten */
        for (uint32_t pool = 0; pool <= entry->model->num_extra_pools; pool++) {
            if (!holds_pattern(&entry->pools[pool], 0U) ||
                !holds_pattern(&entry->pools[pool], 0xFFU)) {
                failed |= 4U;
            }
        }
    }
    return failed;
}
