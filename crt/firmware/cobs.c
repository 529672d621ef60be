/* Consistent overhead byte stuffing: frames without a zero, between zeros.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "mcu/protocol.h"

void mcu_cobs_send(const uint8_t *data, size_t size) {
    /* A fault report may break into this function and call it again. It never returns to the first
     * call, so they may share the buffer; its delimiter ends the broken frame. */
    static uint8_t line[1 + 255 + 1];
    size_t used = 0;
    size_t at = 0;
    bool more = true;
    line[used++] = 0;
    while (more) {
        size_t run = 0;
        while (run < 254U && at + run < size && data[at + run] != 0U) {
            run++;
        }
        line[used++] = (uint8_t)(run + 1U);
        memcpy(line + used, data + at, run);
        used += run;
        at += run;
        more = at < size;
        if (run < 254U) {
            at++; /* the zero: this block's code stands for it, and a block follows */
        }
        if (!more) {
            line[used++] = 0;
        }
        mcu_platform_write(line, used);
        used = 0;
    }
}

static void append(mcu_cobs_decoder_t *decoder, uint8_t byte) {
    if (decoder->size < decoder->capacity) {
        decoder->buffer[decoder->size++] = byte;
    } else {
        decoder->broken = true;
    }
}

bool mcu_cobs_receive(mcu_cobs_decoder_t *decoder, uint8_t byte) {
    if (!decoder->open) {
        decoder->size = 0;
        decoder->left = 0;
        decoder->zero_after = false;
        decoder->broken = false;
        decoder->open = true;
    }
    if (byte == 0U) {
        decoder->open = false;
        return !decoder->broken && decoder->left == 0U && decoder->size > 0U;
    }
    if (decoder->left > 0U) {
        append(decoder, byte);
        decoder->left--;
    } else {
        if (decoder->zero_after) {
            append(decoder, 0);
        }
        decoder->left = (uint8_t)(byte - 1U);
        decoder->zero_after = byte != 255U;
    }
    return false;
}
