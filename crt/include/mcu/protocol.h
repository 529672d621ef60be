/* The serial protocol's numbers and the device side's inner doors. docs/protocol.md is the
 * specification.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MCU_PROTOCOL_H
#define MCU_PROTOCOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mcu/firmware.h"
#include "mcu/model.h"
#include "mcu/platform.h"

#define MCU_PROTOCOL_VERSION 2U

/* The largest payload. Two buffers of this size are the protocol's RAM; chips of 64 KB want less.
 */
#ifndef MCU_PROTOCOL_MTU
#define MCU_PROTOCOL_MTU 1024U
#endif
#if MCU_PROTOCOL_MTU < 256 || MCU_PROTOCOL_MTU > 32768
#error "MCU_PROTOCOL_MTU must be 256 ... 32768"
#endif

/* Bytes that the platform's receive buffer holds while a request is handled; 0: stop and wait. The
 * default is the size of the ring in boards/common/receive.c. */
#ifndef MCU_RECEIVE_WINDOW
#ifdef MCU_SERIAL_RING_BYTES
#define MCU_RECEIVE_WINDOW MCU_SERIAL_RING_BYTES
#else
#define MCU_RECEIVE_WINDOW 4096U
#endif
#endif

/* Requests that provoke faults, for the tests of the fault handler. */
#ifndef MCU_TEST_COMMANDS
#define MCU_TEST_COMMANDS 1
#endif

#define MCU_PROTOCOL_HEADER     6U
#define MCU_PROTOCOL_CRC        4U
#define MCU_PROTOCOL_MAX_FRAME  (MCU_PROTOCOL_HEADER + MCU_PROTOCOL_MTU + MCU_PROTOCOL_CRC)
#define MCU_PROTOCOL_MAX_EVENT  96U /* bytes of an event's payload */
#define MCU_PROTOCOL_MAX_STRING 63U

enum {
    MCU_HELLO = 0x01,
    MCU_PING = 0x02,
    MCU_ECHO = 0x03,
    MCU_DESCRIBE = 0x04,
    MCU_DESCRIBE_TENSOR = 0x05,
    MCU_WRITE = 0x06,
    MCU_READ = 0x07,
    MCU_TENSOR_CRC = 0x08,
    MCU_RUN = 0x09,
    MCU_SELF_TEST = 0x0A,
    MCU_RESET = 0x0B,
    MCU_PROVOKE = 0x0C,
    MCU_DESCRIBE_PARTITION = 0x0D,
    MCU_RESET_STATE = 0x0E,
    MCU_READ_REPLY = 0x0F,
    MCU_RESIZE = 0x10,
    MCU_EVENT_LOG = 0x40,
    MCU_EVENT_FAULT = 0x41,
    MCU_EVENT_BUSY = 0x42,
    MCU_EVENT_LAYER_CRC = 0x43,
    MCU_EVENT_LAYER_TIME = 0x44,
    MCU_EVENT_READY = 0x45,
    MCU_REPLY = 0x80, /* added to the request's type */
    MCU_REPLY_ERROR = 0xFF
};

enum {
    MCU_PROTOCOL_BAD_VERSION = 1,
    MCU_PROTOCOL_UNKNOWN_TYPE = 2,
    MCU_PROTOCOL_BAD_LENGTH = 3,
    MCU_PROTOCOL_NO_SUCH_MODEL = 4,
    MCU_PROTOCOL_NO_SUCH_TENSOR = 5,
    MCU_PROTOCOL_OUT_OF_RANGE = 6,
    MCU_PROTOCOL_BAD_VALUE = 7,
    MCU_PROTOCOL_NO_SUCH_LAYER = 8,
    MCU_PROTOCOL_INPUT_CRC = 9,
    MCU_PROTOCOL_RUN_FAILED = 10,
    MCU_PROTOCOL_NOT_THERE = 11,
    MCU_PROTOCOL_NO_SUCH_PARTITION = 12,
    MCU_PROTOCOL_NOT_GREETED = 13,
    MCU_PROTOCOL_BAD_SIZE = 14
};

enum {
    MCU_CAN_LAYER_CRC = 1U << 0,
    MCU_CAN_LAYER_TIME = 1U << 1,
    MCU_CAN_STOP_AFTER = 1U << 2,
    MCU_CAN_SELF_TEST = 1U << 3,
    MCU_CAN_TEST_COMMANDS = 1U << 4,
    MCU_CAN_FAULT_FRAMES = 1U << 5,
    MCU_CAN_READ_REPLY = 1U << 6,
    MCU_CAN_RESIZE = 1U << 7
};

enum {
    MCU_TENSOR_INPUT = 0,
    MCU_TENSOR_OUTPUT = 1,
    MCU_TENSOR_LAYER = 2,
    MCU_TENSOR_KEPT = 3,
    MCU_TENSOR_STATE = 4,
    MCU_TENSOR_PARTITION_INPUT = 5,
    MCU_TENSOR_PARTITION_OUTPUT = 6
};

#define MCU_WHOLE_NETWORK 0xFFFFU /* instead of a partition */

enum {
    MCU_RUN_LAYER_CRC = 1U << 0,
    MCU_RUN_LAYER_TIME = 1U << 1,
    MCU_RUN_STOP_AFTER = 1U << 2,
    MCU_RUN_BARE = 1U << 3 /* without a hook: no sign of life, and lanes run at once */
};
enum { MCU_RAN_STOPPED = 1U << 0, MCU_RAN_CHECKED = 1U << 1, MCU_RAN_INTACT = 1U << 2 };

/* ---- crc32.c, cobs.c ---- */

/* Continues a CRC-32 (IEEE 802.3, as zlib's crc32): start with crc 0. */
uint32_t mcu_crc32(uint32_t crc, const uint8_t *data, size_t size);

/* Sends `size` bytes, encoded, between two delimiters. */
void mcu_cobs_send(const uint8_t *data, size_t size);

typedef struct mcu_cobs_decoder {
    uint8_t *buffer;
    size_t capacity;
    size_t size;     /* decoded so far */
    uint8_t left;    /* bytes of the block that are still to come */
    bool zero_after; /* the block ends with a zero, unless it is the last */
    bool broken;     /* longer than the buffer: skip to the delimiter */
    bool open;       /* a packet has begun */
} mcu_cobs_decoder_t;

/* Takes one byte from the line. Returns true at the delimiter of a whole packet: its `size` bytes
 * are in `buffer` until the next call. */
bool mcu_cobs_receive(mcu_cobs_decoder_t *decoder, uint8_t byte);

/* ---- message.c: payloads, bounds-checked in both directions ---- */

typedef struct mcu_reader {
    const uint8_t *at;
    size_t left;
    bool bad; /* asked for more than there was; what was read then is 0 */
} mcu_reader_t;

uint8_t mcu_get_u8(mcu_reader_t *reader);
uint16_t mcu_get_u16(mcu_reader_t *reader);
uint32_t mcu_get_u32(mcu_reader_t *reader);

typedef struct mcu_message {
    uint8_t *frame;    /* header, payload, room for the CRC */
    size_t capacity;   /* of the payload */
    size_t size;       /* of the payload */
    size_t frame_size; /* of the finished frame; 0: never finished */
} mcu_message_t;

void mcu_message_start(mcu_message_t *message, uint32_t type, uint16_t seq);
void mcu_put_u8(mcu_message_t *message, uint32_t value);
void mcu_put_u16(mcu_message_t *message, uint32_t value);
void mcu_put_u32(mcu_message_t *message, uint32_t value);
void mcu_put_u64(mcu_message_t *message, uint64_t value);
void mcu_put_bytes(mcu_message_t *message, const void *data, size_t size);
void mcu_put_string(mcu_message_t *message, const char *text);
void mcu_message_send(mcu_message_t *message);

/* The one buffer for events; the reply to the request in progress has its own. */
mcu_message_t *mcu_event_start(uint32_t type, uint16_t seq);

/* ---- answer.c ---- */

/* Makes `reply` an ERROR: one of MCU_PROTOCOL_*, and the number that docs/protocol.md gives it. */
void mcu_protocol_error(mcu_message_t *reply, uint32_t code, int32_t detail);

/* Reads a model's index. NULL: there is no such model, and `reply` says so. */
const mcu_firmware_model_t *mcu_protocol_model(mcu_reader_t *request, mcu_message_t *reply,
                                               uint32_t *index);

/* Sends what a transmitter may lose in a reset, and restarts. */
void mcu_protocol_restart(void);

/* ---- protocol.c ---- */

/* Takes bytes from the line and answers the requests that they complete. Total: any bytes. */
void mcu_protocol_receive(const uint8_t *data, size_t size);

/* ---- run.c ---- */

typedef struct mcu_tensor_place {
    uint8_t *data;
    uint32_t bytes;
    const mcu_tensor_info_t *info; /* NULL: a layer's output */
    bool is_writable;
} mcu_tensor_place_t;

/* Reads a tensor reference. false: `reply` says what was wrong with it. */
bool mcu_run_tensor(mcu_reader_t *request, mcu_message_t *reply, mcu_tensor_place_t *tensor);
/* An input was written: no layer's output is in memory any more. */
void mcu_run_forget_layer(void);
void mcu_run_request(mcu_reader_t *request, mcu_message_t *reply, uint16_t seq);

/* The layer in progress, for the fault report; false between layers. */
bool mcu_run_in_layer(uint32_t *model, uint32_t *layer);

/* ---- self_test.c ---- */

/* A bit for each test that failed (docs/protocol.md); overwrites every workspace. */
uint32_t mcu_self_test(void);

/* ---- size.c ---- */

/* What DESCRIBE says of a model's size, and RESIZE, which sets it. */
void mcu_size_describe(const mcu_firmware_model_t *entry, mcu_message_t *reply);
void mcu_size_request(mcu_reader_t *request, mcu_message_t *reply);
/* Every model has its largest size again. */
void mcu_size_forget(void);

/* ---- provoke.c ---- */

#if MCU_TEST_COMMANDS
void mcu_provoke_request(mcu_reader_t *request, mcu_message_t *reply);
void mcu_provoke_in_layer(uint32_t model, uint32_t layer); /* called at a layer's begin */
#endif

#endif /* MCU_PROTOCOL_H */
