/* Payloads, little-endian on any machine and bounds-checked in both directions; events, the log.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "mcu/protocol.h"

static uint32_t get(mcu_reader_t *reader, size_t size) {
    uint32_t value = 0;
    if (reader->left < size) {
        reader->bad = true;
        reader->left = 0;
        return 0;
    }
    for (size_t i = 0; i < size; i++) {
        value |= (uint32_t)reader->at[i] << (8U * i);
    }
    reader->at += size;
    reader->left -= size;
    return value;
}

uint8_t mcu_get_u8(mcu_reader_t *reader) {
    return (uint8_t)get(reader, 1);
}
uint16_t mcu_get_u16(mcu_reader_t *reader) {
    return (uint16_t)get(reader, 2);
}
uint32_t mcu_get_u32(mcu_reader_t *reader) {
    return get(reader, 4);
}

static void store(uint8_t *at, uint64_t value, size_t size) {
    for (size_t i = 0; i < size; i++) {
        at[i] = (uint8_t)(value >> (8U * i));
    }
}

static void put(mcu_message_t *message, uint64_t value, size_t size) {
    if (message->capacity - message->size >= size) {
        store(message->frame + MCU_PROTOCOL_HEADER + message->size, value, size);
        message->size += size;
    }
}

void mcu_message_start(mcu_message_t *message, uint32_t type, uint16_t seq) {
    message->frame[0] = MCU_PROTOCOL_VERSION;
    message->frame[1] = (uint8_t)type;
    store(message->frame + 2, seq, 2);
    message->size = 0;
    message->frame_size = 0;
}

void mcu_put_u8(mcu_message_t *message, uint32_t value) {
    put(message, value, 1);
}
void mcu_put_u16(mcu_message_t *message, uint32_t value) {
    put(message, value, 2);
}
void mcu_put_u32(mcu_message_t *message, uint32_t value) {
    put(message, value, 4);
}
void mcu_put_u64(mcu_message_t *message, uint64_t value) {
    put(message, value, 8);
}

void mcu_put_bytes(mcu_message_t *message, const void *data, size_t size) {
    if (message->capacity - message->size >= size) {
        memcpy(message->frame + MCU_PROTOCOL_HEADER + message->size, data, size);
        message->size += size;
    }
}

void mcu_put_string(mcu_message_t *message, const char *text) {
    size_t size = 0;
    while (size < MCU_PROTOCOL_MAX_STRING && text[size] != '\0') {
        size++;
    }
    mcu_put_u8(message, (uint32_t)size);
    mcu_put_bytes(message, text, size);
}

void mcu_message_send(mcu_message_t *message) {
    size_t size = MCU_PROTOCOL_HEADER + message->size;
    store(message->frame + 4, message->size, 2);
    store(message->frame + size, mcu_crc32(0, message->frame, size), MCU_PROTOCOL_CRC);
    message->frame_size = size + MCU_PROTOCOL_CRC;
    mcu_cobs_send(message->frame, message->frame_size);
}

mcu_message_t *mcu_event_start(uint32_t type, uint16_t seq) {
    static uint8_t frame[MCU_PROTOCOL_HEADER + MCU_PROTOCOL_MAX_EVENT + MCU_PROTOCOL_CRC];
    static mcu_message_t event = {frame, MCU_PROTOCOL_MAX_EVENT, 0, 0};
    mcu_message_start(&event, type, seq);
    return &event;
}

void mcu_log(const char *text) {
    mcu_message_t *event = mcu_event_start(MCU_EVENT_LOG, 0);
    size_t size = strlen(text);
    mcu_put_bytes(event, text, size < MCU_PROTOCOL_MAX_EVENT ? size : MCU_PROTOCOL_MAX_EVENT);
    mcu_message_send(event);
}
