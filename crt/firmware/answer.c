/* What requests have in common: the error that each may end in, the model that most are about, and
 * the restart, which answers two.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "mcu/protocol.h"
#include "mcu/runtime.h"

void mcu_protocol_error(mcu_message_t *reply, uint32_t code, int32_t detail) {
    static const char *const texts[] = {
        "",
        "the firmware speaks another version of the protocol",
        "no such request",
        "the request's payload has the wrong length",
        "the firmware has fewer models",
        "no such tensor, or none that can be used so",
        "offset and count leave the tensor, or the reply would be longer than the MTU",
        "a number of the request has no meaning here",
        "the model has fewer layers",
        "the input in memory is not the one that was sent: write it again",
        "",
        "the layer's output is not in memory: run with STOP_AFTER this layer first",
        "the model has fewer partitions",
        "the device has started since it was last greeted",
        "the model has not this size"};
    uint32_t request = reply->frame[1] & ~(uint32_t)MCU_REPLY;
    const char *text = code == MCU_PROTOCOL_RUN_FAILED ? mcu_error_string(detail) : texts[code];
    reply->frame[1] = MCU_REPLY_ERROR;
    reply->size = 0;
    mcu_put_u16(reply, code);
    mcu_put_u16(reply, request);
    mcu_put_u32(reply, (uint32_t)detail);
    mcu_put_bytes(reply, text, strlen(text));
}

const mcu_firmware_model_t *mcu_protocol_model(mcu_reader_t *request, mcu_message_t *reply,
                                               uint32_t *index) {
    *index = mcu_get_u16(request);
    if (*index < mcu_firmware_num_models) {
        return &mcu_firmware_models[*index];
    }
    mcu_protocol_error(reply, MCU_PROTOCOL_NO_SUCH_MODEL, (int32_t)mcu_firmware_num_models);
    return NULL;
}

void mcu_protocol_restart(void) {
    static const uint8_t padding[16] = {0};
    mcu_platform_write(padding, sizeof padding); /* what a transmitter loses in a reset */
    mcu_platform_reset();
}
