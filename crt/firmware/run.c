/* Tensors in their places, and runs that are watched layer by layer.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>

#include "mcu/internal.h"
#include "mcu/protocol.h"
#include "mcu/runtime.h"

#define NONE 0xFFFFFFFFU

/* What the hook needs to know of the run in progress. */
static struct {
    jmp_buf stop;
    uint64_t began;      /* the counter at the begin of the layer */
    uint64_t last_event; /* the counter at the last sign of life */
    uint32_t model;
    const mcu_partition_t *partition; /* NULL: the whole network */
    uint32_t flags;                   /* MCU_RUN_* */
    uint32_t stop_after;
    uint32_t repetition;
    uint32_t finished; /* layers */
    uint16_t seq;
} run;

static mcu_instance_t *instance;          /* of the model that was last asked for */
static const mcu_firmware_size_t *sized;  /* its inputs and outputs; NULL: its descriptor's */
static volatile uint32_t in_layer = NONE; /* of run.model */
static uint32_t stopped_model = NONE;     /* whose workspace holds the outputs of ... */
static uint32_t stopped_layer;

bool mcu_run_in_layer(uint32_t *model, uint32_t *layer) {
    *model = run.model;
    *layer = in_layer;
    return in_layer != NONE;
}

void mcu_run_forget_layer(void) {
    stopped_model = NONE;
}

static int32_t prepare(const mcu_firmware_model_t *entry) {
    instance = entry->instance;
    sized = entry->size != NULL && entry->size->is_set ? entry->size : NULL;
    return mcu_firmware_prepare(entry);
}

/* A list of tensors that a reference may point into. */
typedef struct mcu_tensor_list {
    const mcu_tensor_info_t *infos;
    uint32_t count;
} mcu_tensor_list_t;

static mcu_tensor_list_t inputs_of(const mcu_model_t *model, const mcu_partition_t *partition) {
    mcu_tensor_list_t list = {model->inputs, model->num_input_tensors};
    if (sized != NULL) {
        list.infos = sized->infos;
    }
    if (partition != NULL) {
        list.infos = partition->inputs;
        list.count = partition->num_input_tensors;
    }
    return list;
}

static mcu_tensor_list_t outputs_of(const mcu_model_t *model, const mcu_partition_t *partition) {
    mcu_tensor_list_t list = {model->outputs, model->num_output_tensors};
    if (sized != NULL) {
        list.infos = sized->infos + model->num_input_tensors;
    }
    if (partition != NULL) {
        list.infos = partition->outputs;
        list.count = partition->num_output_tensors;
    }
    return list;
}

/* The tensor of a reference that is no layer's output. NULL: `reply` says what was wrong. */
static const mcu_tensor_info_t *find_tensor(const mcu_model_t *model, uint32_t kind, uint32_t index,
                                            uint32_t output, mcu_message_t *reply) {
    mcu_tensor_list_t list = {NULL, 0};
    bool is_part = kind == MCU_TENSOR_PARTITION_INPUT || kind == MCU_TENSOR_PARTITION_OUTPUT;
    if (is_part && index >= model->num_partitions) {
        mcu_protocol_error(reply, MCU_PROTOCOL_NO_SUCH_PARTITION, (int32_t)model->num_partitions);
        return NULL;
    }
    if (is_part) {
        const mcu_partition_t *part = &model->partitions[index];
        list =
            kind == MCU_TENSOR_PARTITION_INPUT ? inputs_of(model, part) : outputs_of(model, part);
        index = output;
        output = 0;
    } else if (kind == MCU_TENSOR_INPUT) {
        list = inputs_of(model, NULL);
    } else if (kind == MCU_TENSOR_OUTPUT) {
        list = outputs_of(model, NULL);
    } else if (kind == MCU_TENSOR_KEPT) {
        list.infos = model->kept;
        list.count = model->num_kept;
    } else if (kind == MCU_TENSOR_STATE && index < model->num_states && output == 0U) {
        return &model->states[index].tensor;
    }
    if (index >= list.count || output != 0U) {
        uint32_t count = kind == MCU_TENSOR_STATE ? model->num_states : list.count;
        mcu_protocol_error(reply, MCU_PROTOCOL_NO_SUCH_TENSOR, (int32_t)count);
        return NULL;
    }
    return &list.infos[index];
}

/* The place of a layer's output. false: `reply` says why it cannot be read. */
static bool find_layer_output(const mcu_model_t *model, uint32_t model_index, uint32_t index,
                              uint32_t output, mcu_message_t *reply, mcu_region_t *place) {
    if (index >= model->num_layers) {
        mcu_protocol_error(reply, MCU_PROTOCOL_NO_SUCH_LAYER, (int32_t)model->num_layers);
        return false;
    }
    const mcu_layer_info_t *layer = &model->layers[index];
    if (output >= layer->num_outputs) {
        mcu_protocol_error(reply, MCU_PROTOCOL_NO_SUCH_TENSOR, (int32_t)layer->num_outputs);
        return false;
    }
    if (stopped_model != model_index || stopped_layer != index) {
        mcu_protocol_error(reply, MCU_PROTOCOL_NOT_THERE, (int32_t)index);
        return false;
    }
    *place = model->layer_outputs[layer->first_output + output];
    return true;
}

bool mcu_run_tensor(mcu_reader_t *request, mcu_message_t *reply, mcu_tensor_place_t *tensor) {
    size_t size = request->left;
    uint32_t model_index = 0;
    const mcu_firmware_model_t *entry = mcu_protocol_model(request, reply, &model_index);
    uint32_t kind = mcu_get_u16(request); /* the byte behind it is 0 */
    uint32_t index = mcu_get_u16(request);
    uint32_t output = mcu_get_u16(request);
    int32_t status = entry == NULL ? MCU_OK : prepare(entry);
    mcu_region_t place = {0, 0, 0};
    if (request->bad) {
        mcu_protocol_error(reply, MCU_PROTOCOL_BAD_LENGTH, (int32_t)size);
    }
    if (status != MCU_OK) {
        mcu_protocol_error(reply, MCU_PROTOCOL_RUN_FAILED, status);
    }
    if (request->bad || entry == NULL || status != MCU_OK) {
        return false;
    }
    const mcu_model_t *model = entry->model;
    tensor->info = NULL;
    tensor->is_writable =
        kind == MCU_TENSOR_INPUT || kind == MCU_TENSOR_PARTITION_INPUT || kind == MCU_TENSOR_STATE;
    if (kind == MCU_TENSOR_LAYER) {
        if (!find_layer_output(model, model_index, index, output, reply, &place)) {
            return false;
        }
    } else {
        tensor->info = find_tensor(model, kind, index, output, reply);
        if (tensor->info == NULL) {
            return false;
        }
        place = tensor->info->place;
    }
    tensor->data = _mcu_address(instance, place);
    tensor->bytes = place.bytes;
    return true;
}

static mcu_message_t *start_event(uint32_t type) {
    mcu_message_t *event = mcu_event_start(type, run.seq);
    mcu_put_u16(event, run.model);
    return event;
}

static void send_event(mcu_message_t *event) {
    mcu_message_send(event);
    run.last_event = mcu_platform_counter();
}

static void send_busy(void) {
    mcu_message_t *event = start_event(MCU_EVENT_BUSY);
    mcu_put_u16(event, run.finished);
    send_event(event);
}

static void send_layer_time(uint32_t layer, uint64_t took) {
    mcu_message_t *event = start_event(MCU_EVENT_LAYER_TIME);
    mcu_put_u16(event, layer);
    mcu_put_u16(event, run.repetition);
    mcu_put_u16(event, 0);
    mcu_put_u64(event, took);
    send_event(event);
}

static void send_layer_crcs(uint32_t layer) {
    const mcu_layer_info_t *info = &instance->model->layers[layer];
    for (uint32_t i = 0; i < info->num_outputs; i++) {
        mcu_region_t place = instance->model->layer_outputs[info->first_output + i];
        mcu_message_t *event = start_event(MCU_EVENT_LAYER_CRC);
        mcu_put_u16(event, layer);
        mcu_put_u16(event, i);
        mcu_put_u16(event, info->num_outputs);
        mcu_put_u32(event, place.bytes);
        mcu_put_u32(event, mcu_crc32(0, _mcu_address(instance, place), place.bytes));
        send_event(event);
    }
}

static bool is_silent_for_long(uint64_t now) {
    mcu_counter_kind_t kind = mcu_platform_counter_kind();
    uint64_t second = kind == MCU_COUNTER_NANOSECONDS ? 1000000000U : mcu_platform_clock_hz;
    return kind == MCU_COUNTER_NONE || now - run.last_event >= second / 10U;
}

static void watch(mcu_instance_t *watched, uint32_t layer, mcu_layer_event_t what) {
    uint64_t now = mcu_platform_counter();
    (void)watched;
    if (what == MCU_LAYER_BEGIN) {
        in_layer = layer;
#if MCU_TEST_COMMANDS
        mcu_provoke_in_layer(run.model, layer);
#endif
        run.began = mcu_platform_counter();
        return;
    }
    in_layer = NONE;
    run.finished++;
    if ((run.flags & MCU_RUN_LAYER_TIME) != 0U) {
        send_layer_time(layer, now - run.began);
    }
    if ((run.flags & MCU_RUN_LAYER_CRC) != 0U) {
        send_layer_crcs(layer);
    }
    if (is_silent_for_long(now)) {
        send_busy();
    }
    if ((run.flags & MCU_RUN_STOP_AFTER) != 0U && layer == run.stop_after) {
        longjmp(run.stop, 1); /* a network holds nothing outside of its workspace */
    }
}

static uint32_t differing_input(mcu_reader_t crcs) {
    const mcu_tensor_list_t inputs = inputs_of(instance->model, run.partition);
    for (uint32_t i = 0; i < inputs.count && crcs.left != 0U; i++) {
        mcu_region_t place = inputs.infos[i].place;
        if (mcu_crc32(0, _mcu_address(instance, place), place.bytes) != mcu_get_u32(&crcs)) {
            return i;
        }
    }
    return NONE;
}

static void take_tensors(const mcu_tensor_list_t *list, DLTensor *into) {
    for (uint32_t i = 0; i < list->count; i++) {
        const mcu_tensor_info_t *info = &list->infos[i];
        into[i] =
            mcu_tensor(_mcu_address(instance, info->place), info->dtype, info->shape, info->ndim);
    }
}

/* One repetition. A function of its own: nothing in it lives across the longjmp. */
static int32_t run_once(void) {
    const mcu_tensor_list_t inputs = inputs_of(instance->model, run.partition);
    const mcu_tensor_list_t outputs = outputs_of(instance->model, run.partition);
    DLTensor *const tensors = mcu_firmware_tensors;
    take_tensors(&inputs, tensors);
    take_tensors(&outputs, tensors + inputs.count);
    if (setjmp(run.stop) != 0) {
        stopped_model = run.model;
        stopped_layer = run.stop_after;
        return MCU_OK;
    }
    if (run.partition == NULL) {
        return mcu_instance_run(instance, tensors, inputs.count, tensors + inputs.count,
                                outputs.count);
    }
    const uint32_t number = (uint32_t)(run.partition - instance->model->partitions);
    return mcu_instance_run_partition(instance, number, tensors, inputs.count,
                                      tensors + inputs.count, outputs.count);
}

/* 0, or the code of what is wrong with the request; `detail` is what the error says. */
static uint32_t check(const mcu_model_t *model, uint32_t repeat, size_t crcs, uint32_t *detail) {
    uint32_t watched = MCU_RUN_LAYER_CRC | MCU_RUN_LAYER_TIME | MCU_RUN_STOP_AFTER;
    uint32_t known = watched | MCU_RUN_BARE;
    bool is_torn = (run.flags & MCU_RUN_BARE) != 0U && (run.flags & watched) != 0U;
    bool stops = (run.flags & MCU_RUN_STOP_AFTER) != 0U;
    bool once = stops || (run.flags & MCU_RUN_LAYER_CRC) != 0U;
    bool times = (run.flags & MCU_RUN_LAYER_TIME) != 0U;
    *detail = run.flags;
    if ((run.flags & ~known) != 0U || is_torn || (!stops && run.stop_after != 0U) || repeat == 0U ||
        (once && repeat != 1U) || (times && mcu_platform_counter_kind() == MCU_COUNTER_NONE)) {
        return MCU_PROTOCOL_BAD_VALUE;
    }
    *detail = model->num_layers;
    if (stops && run.stop_after >= model->num_layers) {
        return MCU_PROTOCOL_NO_SUCH_LAYER;
    }
    *detail = 10U + (uint32_t)crcs;
    const size_t expected = 4U * (size_t)inputs_of(model, run.partition).count;
    return crcs == 0U || crcs == expected ? 0U : MCU_PROTOCOL_BAD_LENGTH;
}

void mcu_run_request(mcu_reader_t *request, mcu_message_t *reply, uint16_t seq) {
    size_t size = request->left;
    const mcu_firmware_model_t *entry = mcu_protocol_model(request, reply, &run.model);
    uint32_t partition = mcu_get_u16(request);
    run.flags = mcu_get_u16(request);
    uint32_t repeat = mcu_get_u16(request);
    run.stop_after = mcu_get_u16(request);
    run.seq = seq;
    run.finished = 0;
    if (request->bad) {
        mcu_protocol_error(reply, MCU_PROTOCOL_BAD_LENGTH, (int32_t)size);
    }
    if (request->bad || entry == NULL) {
        return;
    }
    if (partition != MCU_WHOLE_NETWORK && partition >= entry->model->num_partitions) {
        mcu_protocol_error(reply, MCU_PROTOCOL_NO_SUCH_PARTITION,
                           (int32_t)entry->model->num_partitions);
        return;
    }
    run.partition = partition == MCU_WHOLE_NETWORK ? NULL : &entry->model->partitions[partition];
    uint32_t detail = 0;
    uint32_t code = check(entry->model, repeat, request->left, &detail);
    if (code != 0U) {
        mcu_protocol_error(reply, code, (int32_t)detail);
        return;
    }
    int32_t status = prepare(entry);
    uint32_t differs = status == MCU_OK ? differing_input(*request) : NONE;
    if (differs != NONE) {
        mcu_protocol_error(reply, MCU_PROTOCOL_INPUT_CRC, (int32_t)differs);
        return;
    }
    uint64_t total = 0, least = UINT64_MAX, most = 0;
    bool checked = request->left != 0U;
    mcu_run_forget_layer();
    instance->hook = (run.flags & MCU_RUN_BARE) != 0U ? NULL : watch;
    send_busy();
    mcu_platform_allow_stop(true);
    for (run.repetition = 0; run.repetition < repeat && status == MCU_OK; run.repetition++) {
        differs = run.repetition == 0U ? NONE : differing_input(*request);
        run.finished = 0;
        uint64_t began = mcu_platform_counter();
        status = run_once();
        uint64_t took = mcu_platform_counter() - began;
        in_layer = NONE;
        total += took;
        least = took < least ? took : least;
        most = took > most ? took : most;
    }
    mcu_platform_allow_stop(false);
    if (status != MCU_OK) {
        mcu_protocol_error(reply, MCU_PROTOCOL_RUN_FAILED, status);
        return;
    }
    mcu_put_u16(reply, run.model);
    mcu_put_u16(reply, (stopped_model == run.model ? MCU_RAN_STOPPED : 0U) |
                           (checked ? MCU_RAN_CHECKED : 0U) |
                           (checked && differs == NONE ? MCU_RAN_INTACT : 0U));
    mcu_put_u16(reply, run.repetition);
    mcu_put_u16(reply, run.finished);
    mcu_put_u64(reply, total);
    mcu_put_u64(reply, least);
    mcu_put_u64(reply, most);
    mcu_put_u32(reply, (uint32_t)mcu_platform_stack_used());
    mcu_put_u32(reply, (uint32_t)mcu_platform_stack_size());
}
