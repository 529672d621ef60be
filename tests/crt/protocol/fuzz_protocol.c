/* Unit tests and a fuzzer of the device's parser, on the host, in one process without a line.
 *
 *     fuzz_protocol SEED FRAMES
 *
 * Feeds noise, frames of every type with any payload, and damaged frames; a sanitizer watches the
 * memory. After each, whatever the device sends has to be whole frames of bounded size, and a PING
 * has to be answered.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mcu/protocol.h"

const char mcu_platform_board[] = "fuzz";
const char mcu_platform_core[] = "host";
const uint32_t mcu_platform_clock_hz = 1000;
const uint32_t mcu_platform_baud = 115200;

static uint8_t sent[1U << 20];
static size_t sent_size;
static uint64_t now;
static unsigned resets;

void mcu_platform_init(void) {
}
size_t mcu_platform_read(uint8_t *data, size_t size) {
    (void)data;
    (void)size;
    return 0;
}
void mcu_platform_write(const uint8_t *data, size_t size) {
    if (size > sizeof sent - sent_size) {
        printf("FAILED: the device sends without end\n");
        exit(1);
    }
    memcpy(sent + sent_size, data, size);
    sent_size += size;
}
void mcu_platform_wait(void) {
}
void mcu_platform_allow_stop(bool is_allowed) {
    (void)is_allowed;
}
mcu_counter_kind_t mcu_platform_counter_kind(void) {
    return MCU_COUNTER_TICKS;
}
uint64_t mcu_platform_counter(void) {
    return now += 7;
}
void mcu_platform_reset(void) {
    resets++;
}
size_t mcu_platform_stack_size(void) {
    return 4096;
}
size_t mcu_platform_stack_used(void) {
    return 1024;
}

static uint32_t state;
static uint32_t draw(uint32_t below) {
    state = state * 1664525U + 1013904223U;
    return (uint32_t)(((uint64_t)(state >> 8) * below) >> 24);
}

static void fail(const char *what) {
    printf("FAILED: %s\n", what);
    exit(1);
}

/* Every byte that was sent since the last call: whole frames. Returns how many have that type. */
static unsigned check_sent(uint32_t type) {
    static uint8_t frame[MCU_PROTOCOL_MAX_FRAME];
    mcu_cobs_decoder_t decoder = {frame, sizeof frame, 0, 0, false, false, false};
    unsigned found = 0;
    size_t packet = 0;
    for (size_t i = 0; i < sent_size; i++) {
        bool whole = mcu_cobs_receive(&decoder, sent[i]);
        packet = sent[i] == 0U ? 0 : packet + 1;
        if (sent[i] == 0U && i > 0 && sent[i - 1] != 0U && !whole) {
            fail("the device sent a packet that does not decode");
        }
        if (packet > MCU_PROTOCOL_MAX_FRAME + 2U + MCU_PROTOCOL_MAX_FRAME / 254U) {
            fail("the device sent an endless packet");
        }
        if (!whole) {
            continue;
        }
        mcu_reader_t header = {frame, decoder.size, false};
        (void)mcu_get_u8(&header);
        uint8_t this_type = mcu_get_u8(&header);
        (void)mcu_get_u16(&header);
        size_t payload = mcu_get_u16(&header);
        mcu_reader_t trailer = {frame + decoder.size - 4U, 4, false};
        if (decoder.size < 10U || payload != decoder.size - 10U ||
            mcu_get_u32(&trailer) != mcu_crc32(0, frame, decoder.size - 4U)) {
            fail("the device sent a bad frame");
        }
        found += this_type == type;
    }
    sent_size = 0;
    return found;
}

/* The bytes of a frame on the line, by the device's own encoder. */
static size_t encode(uint8_t *line, size_t room, uint32_t version, uint32_t type, uint32_t seq,
                     const uint8_t *payload, size_t size) {
    static uint8_t frame[MCU_PROTOCOL_MAX_FRAME + 64U];
    mcu_message_t message = {frame, sizeof frame - 10U, 0, 0};
    sent_size = 0;
    mcu_message_start(&message, type, (uint16_t)seq);
    frame[0] = (uint8_t)version;
    mcu_put_bytes(&message, payload, size);
    mcu_message_send(&message);
    size_t bytes = sent_size < room ? sent_size : room;
    memcpy(line, sent, bytes);
    sent_size = 0;
    return bytes;
}

static void test_crc(void) {
    if (mcu_crc32(0, (const uint8_t *)"123456789", 9) != 0xCBF43926U ||
        mcu_crc32(mcu_crc32(0, (const uint8_t *)"1234", 4), (const uint8_t *)"56789", 5) !=
            0xCBF43926U) {
        fail("CRC-32");
    }
}

static void test_cobs(void) {
    static uint8_t data[1100], back[1100];
    for (size_t size = 1; size <= sizeof data; size++) {
        for (unsigned pattern = 0; pattern < 4U; pattern++) {
            mcu_cobs_decoder_t decoder = {back, sizeof back, 0, 0, false, false, false};
            bool whole = false;
            for (size_t i = 0; i < size; i++) {
                bool zero = pattern == 1U || (pattern == 2U && i % 254U == 253U) ||
                            (pattern == 3U && draw(9) == 0U);
                data[i] = zero ? 0U : (uint8_t)(1U + draw(255));
            }
            sent_size = 0;
            mcu_cobs_send(data, size);
            if (sent_size > size + 3U + size / 254U) {
                fail("COBS is longer than promised");
            }
            for (size_t i = 0; i < sent_size; i++) {
                bool now_whole = mcu_cobs_receive(&decoder, sent[i]);
                if (now_whole != (i == sent_size - 1U)) {
                    fail("COBS ends at the wrong place");
                }
                whole = now_whole;
            }
            if (!whole || decoder.size != size || memcmp(data, back, size) != 0) {
                fail("COBS does not come back");
            }
        }
    }
    sent_size = 0;
}

/* Blocks as the host's half expects them (tests/unit/test_protocol_framing.py has the same): a
 * block of 254 bytes has no zero behind it, nor a block after it where it is the last. */
static void test_cobs_blocks(void) {
    static uint8_t data[510];
    static const struct {
        size_t size, zero;   /* bytes; where a zero is, or none */
        size_t codes, at[3]; /* of blocks: how many, at which byte of the line */
        uint8_t code[3];
    } cases[] = {
        {253, 510, 1, {1}, {254}},           {254, 510, 1, {1}, {255}},
        {255, 510, 2, {1, 256}, {255, 2}},   {255, 254, 3, {1, 256, 257}, {255, 1, 1}},
        {255, 0, 2, {1, 2}, {1, 255}},       {255, 253, 2, {1, 255}, {254, 2}},
        {508, 510, 2, {1, 256}, {255, 255}}, {509, 510, 3, {1, 256, 511}, {255, 255, 2}},
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        memset(data, 7, sizeof data);
        if (cases[k].zero < sizeof data) {
            data[cases[k].zero] = 0;
        }
        sent_size = 0;
        mcu_cobs_send(data, cases[k].size);
        bool zero = cases[k].zero < sizeof data;
        if (sent_size != 2U + cases[k].codes + cases[k].size - (zero ? 1U : 0U) || sent[0] != 0U ||
            sent[sent_size - 1U] != 0U) {
            fail("COBS has another length");
        }
        for (size_t i = 0; i < cases[k].codes; i++) {
            if (sent[cases[k].at[i]] != cases[k].code[i]) {
                fail("COBS has other blocks");
            }
        }
    }
    sent_size = 0;
}

/* A number that is small, near a border, or anything. */
static uint32_t interesting(void) {
    static const uint32_t borders[] = {
        0,    1,    2,    3,           15,          16,          255,         2999,
        3000, 3001, 9036, 0x7FFFFFFFU, 0x80000000U, 0xFFFFFFFEU, 0xFFFFFFFFU, 0xFFFFU};
    return draw(2) != 0U ? borders[draw(sizeof borders / sizeof borders[0])]
                         : draw(1U << 24) * 259U;
}

/* Half of the time with the size that the request has, so that more than its length is tested. */
static size_t random_payload(uint8_t *payload, uint32_t type) {
    static const uint8_t right[] = {0, 0, 0, 5, 2, 8, 40, 14, 8, 10, 0, 0, 6, 4, 2, 6, 6};
    size_t size = draw(8) == 0U ? draw(MCU_PROTOCOL_MTU + 1U) : draw(24);
    if (type < sizeof right && draw(2) == 0U) {
        size = right[type];
    }
    bool small = draw(4) != 0U; /* mostly 16-bit numbers that exist */
    for (size_t i = 0; i < size; i++) {
        payload[i] = small ? (uint8_t)(i % 2U == 0U ? draw(6) : 0U) : (uint8_t)draw(256);
    }
    for (size_t i = 8; i + 4U <= size && draw(4) == 0U; i += 4U) {
        uint32_t value = interesting();
        memcpy(payload + i, &value, 4);
    }
    return size;
}

int main(int argc, char **argv) {
    static uint8_t payload[MCU_PROTOCOL_MTU], line[2U * MCU_PROTOCOL_MAX_FRAME];
    unsigned long frames = argc > 2 ? strtoul(argv[2], NULL, 0) : 0;
    unsigned long replies = 0;
    state = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 0) : 1U;
    test_crc();
    test_cobs();
    test_cobs_blocks();
    for (unsigned long i = 0; i < frames; i++) {
        uint32_t version = draw(50) == 0U ? draw(256) : MCU_PROTOCOL_VERSION;
        uint32_t type = draw(10) == 0U ? draw(256) : 1U + draw(16);
        uint32_t seq = draw(4);
        size_t size = random_payload(payload, type);
        if (type == MCU_RUN && size >= 8U) {
            payload[7] = 0; /* at most 255 repetitions */
            if (draw(2) == 0U) {
                payload[2] = payload[3] = 0xFFU; /* the whole network */
            }
        }
        if (type == MCU_RESIZE && size == 6U && draw(2) == 0U) {
            const uint8_t sizes[6] = {5, 0, (uint8_t)draw(12), 0, 0, 0}; /* of the model "sized" */
            memcpy(payload, sizes, sizeof sizes);
        }
        size_t bytes = encode(line, sizeof line, version, type, seq, payload, size);
        unsigned damage = draw(4);
        if (damage == 1U) {
            line[draw((uint32_t)bytes)] = (uint8_t)draw(256);
        } else if (damage == 2U) {
            bytes = draw((uint32_t)bytes + 1U);
        } else if (damage == 3U && draw(4) == 0U) {
            bytes = draw(sizeof line);
            for (size_t at = 0; at < bytes; at++) {
                line[at] = (uint8_t)draw(256);
            }
        }
        mcu_protocol_receive(line, bytes);
        bool request = version == MCU_PROTOCOL_VERSION && type < MCU_EVENT_LOG && type != MCU_PING;
        unsigned answers = check_sent(MCU_REPLY | type);
        replies += answers;
        if (damage == 0U && request && answers > 1U) {
            fail("two replies to one request");
        }
        bytes = encode(line, sizeof line, MCU_PROTOCOL_VERSION, MCU_PING, i & 0xFFFFU, payload, 0);
        mcu_protocol_receive(line, bytes);
        if (check_sent(MCU_REPLY | MCU_PING) == 0U) { /* two, where the first lacked its end */
            fail("a PING was not answered");
        }
    }
    printf("ok: %lu frames, %lu replies, %u resets\n", frames, replies, resets);
    return 0;
}
