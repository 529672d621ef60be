/* The device side of the serial protocol (docs/protocol.md): one request in, one reply out.
 * SPDX-License-Identifier: Apache-2.0 */
#include "mcu/protocol.h"

#include <string.h>

#include "mcu/firmware.h"
#include "mcu/runtime.h"

static uint8_t received[MCU_PROTOCOL_MAX_FRAME];
static mcu_cobs_decoder_t decoder = {received, sizeof received, 0, 0, false, false, false};

/* The reply to the last request, kept for the case that the request comes again. */
static uint8_t reply_frame[MCU_PROTOCOL_MAX_FRAME];
static mcu_message_t last_reply = {reply_frame, MCU_PROTOCOL_MTU, 0, 0};
static uint16_t last_seq;
static uint32_t last_crc;
static bool is_repeatable; /* what comes again is answered from the copy: HELLO is not */
static bool is_greeted;    /* since its start */

static void hello(mcu_message_t *reply) {
    uint32_t can = MCU_CAN_LAYER_CRC | MCU_CAN_STOP_AFTER | MCU_CAN_SELF_TEST |
                   MCU_CAN_FAULT_FRAMES | MCU_CAN_READ_REPLY | MCU_CAN_RESIZE |
                   (MCU_TEST_COMMANDS ? MCU_CAN_TEST_COMMANDS : 0U);
    mcu_size_forget();
    if (mcu_platform_counter_kind() != MCU_COUNTER_NONE) {
        can |= MCU_CAN_LAYER_TIME;
    }
    mcu_put_u8(reply, MCU_PROTOCOL_VERSION);
    mcu_put_u8(reply, (uint32_t)mcu_platform_counter_kind());
    mcu_put_u16(reply, MCU_PROTOCOL_MTU);
    mcu_put_u32(reply, MCU_RECEIVE_WINDOW);
    mcu_put_u32(reply, can);
    mcu_put_u32(reply, MCU_MODEL_ABI_VERSION);
    mcu_put_u32(reply, mcu_platform_clock_hz);
    mcu_put_u32(reply, mcu_platform_baud);
    mcu_put_u32(reply, (uint32_t)mcu_platform_stack_size());
    mcu_put_u16(reply, mcu_firmware_num_models);
    mcu_put_string(reply, mcu_platform_board);
    mcu_put_string(reply, mcu_platform_core);
}

static void describe(mcu_reader_t *request, mcu_message_t *reply) {
    uint32_t index = 0;
    const mcu_firmware_model_t *entry = mcu_protocol_model(request, reply, &index);
    if (entry == NULL) {
        return;
    }
    mcu_put_u16(reply, index);
    mcu_put_u16(reply, entry->model->num_input_tensors);
    mcu_put_u16(reply, entry->model->num_output_tensors);
    mcu_put_u16(reply, entry->model->num_layers);
    mcu_put_u16(reply, entry->model->num_partitions);
    mcu_put_u16(reply, entry->model->num_kept);
    mcu_put_u16(reply, entry->model->num_states);
    mcu_put_u32(reply, entry->model->workspace_size);
    mcu_put_u32(reply, entry->stack_bytes);
    mcu_put_u32(reply, entry->model->abi_version);
    mcu_put_bytes(reply, entry->source_sha256, sizeof entry->source_sha256);
    mcu_put_bytes(reply, entry->object_sha256, sizeof entry->object_sha256);
    mcu_put_string(reply, entry->model->name);
    mcu_size_describe(entry, reply);
}

static void describe_partition(mcu_reader_t *request, mcu_message_t *reply) {
    uint32_t index = 0;
    const mcu_firmware_model_t *entry = mcu_protocol_model(request, reply, &index);
    uint32_t number = mcu_get_u16(request);
    if (entry == NULL) {
        return;
    }
    if (number >= entry->model->num_partitions) {
        mcu_protocol_error(reply, MCU_PROTOCOL_NO_SUCH_PARTITION,
                           (int32_t)entry->model->num_partitions);
        return;
    }
    const mcu_partition_t *partition = &entry->model->partitions[number];
    mcu_put_u16(reply, partition->num_input_tensors);
    mcu_put_u16(reply, partition->num_output_tensors);
    mcu_put_string(reply, partition->name);
}

static void reset_state(mcu_reader_t *request, mcu_message_t *reply) {
    uint32_t index = 0;
    const mcu_firmware_model_t *entry = mcu_protocol_model(request, reply, &index);
    if (entry != NULL) {
        mcu_firmware_forget(entry);
    }
}

static void describe_tensor(const mcu_tensor_info_t *info, mcu_message_t *reply) {
    uint32_t scale = 0;
    memcpy(&scale, &info->scale, sizeof scale);
    mcu_put_u8(reply, info->dtype.code);
    mcu_put_u8(reply, info->dtype.bits);
    mcu_put_u16(reply, (uint32_t)info->ndim);
    mcu_put_u32(reply, info->place.bytes);
    mcu_put_u32(reply, scale);
    mcu_put_u32(reply, (uint32_t)info->zero_point);
    for (int32_t i = 0; i < info->ndim; i++) {
        mcu_put_u32(reply, (uint32_t)info->shape[i]);
    }
    mcu_put_string(reply, info->name);
}

/* The requests that begin with a tensor reference. */
static void use_tensor(uint8_t type, mcu_reader_t *request, mcu_message_t *reply) {
    size_t size = request->left;
    mcu_tensor_place_t tensor;
    if (!mcu_run_tensor(request, reply, &tensor)) {
        return;
    }
    bool has_stretch = type == MCU_READ || type == MCU_WRITE;
    uint32_t offset = has_stretch ? mcu_get_u32(request) : 0U;
    uint32_t count = type == MCU_READ ? mcu_get_u16(request) : 0U;
    if (request->bad || (type != MCU_WRITE && request->left != 0U)) {
        mcu_protocol_error(reply, MCU_PROTOCOL_BAD_LENGTH, (int32_t)size);
        return;
    }
    count = type == MCU_WRITE ? (uint32_t)request->left : count;
    if (offset > tensor.bytes || count > tensor.bytes - offset ||
        (type == MCU_READ && count > MCU_PROTOCOL_MTU - 8U)) {
        mcu_protocol_error(reply, MCU_PROTOCOL_OUT_OF_RANGE, (int32_t)tensor.bytes);
    } else if ((type == MCU_DESCRIBE_TENSOR && tensor.info == NULL) ||
               (type == MCU_WRITE && !tensor.is_writable)) {
        mcu_protocol_error(reply, MCU_PROTOCOL_NO_SUCH_TENSOR, 0);
    } else if (type == MCU_DESCRIBE_TENSOR) {
        describe_tensor(tensor.info, reply);
    } else if (type == MCU_WRITE) {
        memcpy(tensor.data + offset, request->at, count);
        mcu_run_forget_layer();
    } else if (type == MCU_READ) {
        mcu_put_u32(reply, offset);
        mcu_put_u32(reply, tensor.bytes);
        mcu_put_bytes(reply, tensor.data + offset, count);
    } else {
        mcu_put_u32(reply, mcu_crc32(0, tensor.data, tensor.bytes));
        mcu_put_u32(reply, tensor.bytes);
    }
}

static void handle(uint8_t type, uint16_t seq, mcu_reader_t *request, mcu_message_t *reply) {
    size_t size = request->left;
    bool empty =
        type == MCU_HELLO || type == MCU_PING || type == MCU_SELF_TEST || type == MCU_RESET;
    if ((empty && size != 0U) || (type == MCU_DESCRIBE && size != 2U) ||
        (type == MCU_RESET_STATE && size != 2U) || (type == MCU_DESCRIBE_PARTITION && size != 4U) ||
        (type == MCU_RESIZE && size != 6U) ||
        type == MCU_READ_REPLY) { /* one of the right length does not come here */
        mcu_protocol_error(reply, MCU_PROTOCOL_BAD_LENGTH, (int32_t)size);
        return;
    }
    switch (type) {
    case MCU_HELLO:
        hello(reply);
        break;
    case MCU_ECHO:
        mcu_put_bytes(reply, request->at, size);
        break;
    case MCU_DESCRIBE:
        describe(request, reply);
        break;
    case MCU_DESCRIBE_PARTITION:
        describe_partition(request, reply);
        break;
    case MCU_RESET_STATE:
        reset_state(request, reply);
        break;
    case MCU_DESCRIBE_TENSOR:
    case MCU_WRITE:
    case MCU_READ:
    case MCU_TENSOR_CRC:
        use_tensor(type, request, reply);
        break;
    case MCU_RUN:
        mcu_run_request(request, reply, seq);
        break;
    case MCU_SELF_TEST:
        mcu_put_u32(reply, mcu_self_test());
        break;
    case MCU_RESIZE:
        mcu_size_request(request, reply);
        break;
    case MCU_RESET:
        break;
#if MCU_TEST_COMMANDS
    case MCU_PROVOKE:
        mcu_provoke_request(request, reply);
        break;
#endif
    default:
        mcu_protocol_error(reply, MCU_PROTOCOL_UNKNOWN_TYPE, type);
        break;
    }
}

/* A part of the last reply's frame, where a line lets no frame through that is as long. Like PING
 * it leaves that reply as it is. */
static void read_reply(uint16_t seq, mcu_reader_t *request) {
    mcu_message_t *part = mcu_event_start(MCU_REPLY + MCU_READ_REPLY, seq);
    bool is_last = is_greeted && mcu_get_u16(request) == last_seq;
    size_t offset = mcu_get_u16(request);
    size_t count = mcu_get_u16(request);
    size_t total = is_last ? last_reply.frame_size : 0U;
    size_t most = MCU_PROTOCOL_MAX_EVENT - 2U;
    offset = offset < total ? offset : total;
    count = count < total - offset ? count : total - offset;
    mcu_put_u16(part, (uint32_t)total);
    mcu_put_bytes(part, reply_frame + offset, count < most ? count : most);
    mcu_message_send(part);
}

static void handle_frame(const uint8_t *frame, size_t size) {
    mcu_reader_t header = {frame, size, false};
    if (size < MCU_PROTOCOL_HEADER + MCU_PROTOCOL_CRC) {
        return;
    }
    mcu_reader_t trailer = {frame + size - MCU_PROTOCOL_CRC, MCU_PROTOCOL_CRC, false};
    uint8_t version = mcu_get_u8(&header);
    uint8_t type = mcu_get_u8(&header);
    uint16_t seq = mcu_get_u16(&header);
    size_t payload = mcu_get_u16(&header);
    uint32_t crc = mcu_get_u32(&trailer);
    if (payload != size - MCU_PROTOCOL_HEADER - MCU_PROTOCOL_CRC ||
        crc != mcu_crc32(0, frame, size - MCU_PROTOCOL_CRC) || type >= MCU_EVENT_LOG) {
        return; /* noise, or a line that echoes what this device has sent */
    }
    mcu_reader_t request = {header.at, payload, false};
    if (version == MCU_PROTOCOL_VERSION && type == MCU_PING && payload == 0U) {
        mcu_message_send(mcu_event_start(MCU_REPLY + MCU_PING, seq));
        return;
    }
    if (version == MCU_PROTOCOL_VERSION && type == MCU_READ_REPLY && payload == 6U) {
        read_reply(seq, &request);
        return;
    }
    if (is_repeatable && seq == last_seq && crc == last_crc) {
        mcu_cobs_send(reply_frame, last_reply.frame_size);
        return;
    }
    mcu_message_start(&last_reply, MCU_REPLY | type, seq);
    if (version != MCU_PROTOCOL_VERSION) {
        mcu_protocol_error(&last_reply, MCU_PROTOCOL_BAD_VERSION, MCU_PROTOCOL_VERSION);
    } else if (!is_greeted && type != MCU_HELLO) {
        mcu_protocol_error(&last_reply, MCU_PROTOCOL_NOT_GREETED, 0);
    } else {
        handle(type, seq, &request, &last_reply);
    }
    last_seq = seq;
    last_crc = crc;
    is_repeatable = type != MCU_HELLO;
    mcu_message_send(&last_reply);
    if (last_reply.frame[1] == (MCU_REPLY | MCU_RESET)) {
        mcu_protocol_restart();
    }
    if (type == MCU_HELLO) {
        is_greeted = true;
    }
}

void mcu_protocol_receive(const uint8_t *data, size_t size) {
    for (size_t i = 0; i < size; i++) {
        if (mcu_cobs_receive(&decoder, data[i])) {
            handle_frame(received, decoder.size);
        }
    }
}
