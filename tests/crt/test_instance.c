/* Instances, tensors and error texts: what works, in place and by copy, alone and interleaved.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "check.h"
#include "mcu/internal.h"
#include "mcu/runtime.h"
#include "networks/network_mini.h"

MCU_ALIGNED(MCU_MINI_WORKSPACE_ALIGNMENT)
static uint8_t mini_workspaces[2][MCU_MINI_WORKSPACE_SIZE];
MCU_ALIGNED(MCU_MIX_WORKSPACE_ALIGNMENT) static uint8_t mix_workspace[MCU_MIX_WORKSPACE_SIZE];
static int64_t mini_shape[2] = {2, 3};
static int64_t mix_shape_a[1] = {4};
static int64_t mix_shape_b[3] = {2, 1, 2};
static const DLDataType int8 = {kDLInt, 8, 1};
static const DLDataType int16 = {kDLInt, 16, 1};
static const DLDataType int32 = {kDLInt, 32, 1};
static const DLDataType float32 = {kDLFloat, 32, 1};

/* A network's expected result, computed here in another way than the network does. */
static bool is_mini_of(const int8_t *y, const int8_t *x) {
    for (int i = 0; i < 6; ++i) {
        if (y[i] != 3 * x[i] + 3) {
            return false;
        }
    }
    return true;
}

static void init_checks_its_arguments(void) {
    mcu_instance_t instance;
    memset(&instance, 0x5A, sizeof instance);
    const mcu_instance_t untouched = instance;
    uint8_t *workspace = mini_workspaces[0];
    const size_t size = MCU_MINI_WORKSPACE_SIZE;

    CHECK_INT(mcu_instance_init(NULL, mcu_network_mini, workspace, size), MCU_ERROR_NULL_POINTER);
    CHECK_INT(mcu_instance_init(&instance, NULL, workspace, size), MCU_ERROR_NULL_POINTER);
    CHECK_INT(mcu_instance_init(&instance, mcu_network_mini, NULL, size), MCU_ERROR_NULL_POINTER);
    CHECK_INT(mcu_instance_init(&instance, mcu_network_mini, workspace, size - 1),
              MCU_ERROR_WORKSPACE_SIZE);
    CHECK_INT(mcu_instance_init(&instance, mcu_network_mini, workspace, 0),
              MCU_ERROR_WORKSPACE_SIZE);
    for (size_t off = 1; off < MCU_MINI_WORKSPACE_ALIGNMENT; ++off) {
        CHECK_INT(mcu_instance_init(&instance, mcu_network_mini, workspace + off, size),
                  MCU_ERROR_ALIGNMENT);
    }
    mcu_model_t other = *mcu_network_mini;
    other.abi_version = MCU_MODEL_ABI_VERSION + 1U;
    CHECK_INT(mcu_instance_init(&instance, &other, workspace, size), MCU_ERROR_ABI_VERSION);
    other.abi_version = MCU_MODEL_ABI_VERSION + (1U << 16);
    CHECK_INT(mcu_instance_init(&instance, &other, workspace, size), MCU_ERROR_ABI_VERSION);
    other.abi_version = MCU_MODEL_ABI_VERSION - (1U << 16);
    CHECK_INT(mcu_instance_init(&instance, &other, workspace, size), MCU_ERROR_ABI_VERSION);
    other.abi_version = 0;
    CHECK_INT(mcu_instance_init(&instance, &other, workspace, size), MCU_ERROR_ABI_VERSION);
    CHECK(memcmp(&instance, &untouched, sizeof instance) == 0);

    CHECK_INT(mcu_instance_init(&instance, mcu_network_mini, workspace, size), MCU_OK);
    CHECK(instance.model == mcu_network_mini && instance.workspace == workspace);
    CHECK(instance.hook == NULL && instance.hook_context == NULL);
    CHECK_INT(mcu_instance_init(&instance, mcu_network_mini, workspace, size + 100), MCU_OK);
}

/* What an instance holds besides tensors, to the byte: zeros, and copies of constants. */
static void init_fills_what_lies_in_the_workspace(void) {
    enum { BEGIN = MCU_MINI_WORKSPACE_SIZE, PRIVATE = 5, FIRST = 7, SECOND = 16, GAP = 0xA5 };
    static const uint8_t first[FIRST] = {1, 2, 3, 4, 5, 6, 7};
    static const uint8_t second[SECOND] = {8, [SECOND - 1] = 9};
    static const mcu_hot_constant_t hot[] = {{first, {BEGIN + 8, 0, FIRST}},
                                             {second, {BEGIN + 16, 0, SECOND}}};
    MCU_ALIGNED(MCU_MINI_WORKSPACE_ALIGNMENT) static uint8_t workspace[BEGIN + 48];
    mcu_model_t model = *mcu_network_mini;
    model.workspace_size = sizeof workspace;
    model.private_place = (mcu_region_t){BEGIN, 0, PRIVATE};
    model.hot = hot;
    model.num_hot = 2;
    mcu_instance_t instance;
    memset(workspace, GAP, sizeof workspace);
    CHECK_INT(mcu_instance_init(&instance, &model, workspace, sizeof workspace), MCU_OK);
    uint8_t wanted[48];
    memset(wanted, GAP, sizeof wanted);
    memset(wanted, 0, PRIVATE);
    memcpy(wanted + 8, first, FIRST);
    memcpy(wanted + 16, second, SECOND);
    CHECK(memcmp(workspace + BEGIN, wanted, sizeof wanted) == 0);
}

static void deinit_ends_an_instance(void) {
    mcu_instance_t instance;
    DLTensor tensor;
    CHECK_INT(
        mcu_instance_init(&instance, mcu_network_mini, mini_workspaces[0], MCU_MINI_WORKSPACE_SIZE),
        MCU_OK);
    CHECK_INT(mcu_instance_deinit(NULL), MCU_ERROR_NULL_POINTER);
    CHECK_INT(mcu_instance_deinit(&instance), MCU_OK);
    CHECK(instance.model == NULL && instance.workspace == NULL);
    CHECK_INT(mcu_instance_input(&instance, 0, &tensor), MCU_ERROR_WRONG_INSTANCE);
    CHECK_INT(mcu_instance_output(&instance, 0, &tensor), MCU_ERROR_WRONG_INSTANCE);
    CHECK_INT(mcu_instance_deinit(&instance), MCU_OK);
}

static int32_t count_arguments(void *args, void *arg_type_ids, int32_t num_args,
                               void *out_ret_value, void *out_ret_tcode, void *resource_handle) {
    (void)args, (void)arg_type_ids, (void)out_ret_value, (void)out_ret_tcode, (void)resource_handle;
    return num_args;
}

static uint8_t *released; /* the workspace at that time */

static void release(mcu_instance_t *instance) {
    released = instance->workspace;
}

static void a_model_may_have_no_tensors_all_pools_and_an_end_of_its_own(void) {
    MCU_ALIGNED(16) static uint8_t memory[16];
    static const mcu_pool_info_t infos[MCU_MAX_POOLS] = {
        {"", 16, 16}, {"", 16, 16}, {"", 16, 16}, {"", 16, 16}};
    mcu_pool_t pools[MCU_MAX_POOLS + 1U];
    for (uint32_t i = 0; i <= MCU_MAX_POOLS; ++i) {
        pools[i] = (mcu_pool_t){memory, sizeof memory};
    }
    mcu_model_t model = {.run_func = count_arguments,
                         .abi_version = MCU_MODEL_ABI_VERSION,
                         .workspace_size = sizeof memory,
                         .workspace_alignment = 16,
                         .extra_pools = infos,
                         .num_extra_pools = MCU_MAX_POOLS - 1U,
                         .release_func = release};
    mcu_instance_t instance;
    CHECK_INT(mcu_instance_init_pools(&instance, &model, pools, MCU_MAX_POOLS), MCU_OK);
    CHECK(instance.extra_pools[MCU_MAX_POOLS - 2U] == memory);
    CHECK_INT(mcu_instance_run(&instance, NULL, 0, NULL, 0), 0);
    CHECK_INT(mcu_instance_deinit(&instance), MCU_OK);
    CHECK(released == memory);
    model.num_extra_pools = MCU_MAX_POOLS;
    CHECK_INT(mcu_instance_init_pools(&instance, &model, pools, MCU_MAX_POOLS + 1U),
              MCU_ERROR_POOL_COUNT);
}

static void tensors_of_an_instance_are_described(void) {
    mcu_instance_t instance;
    DLTensor tensor;
    mcu_instance_init(&instance, mcu_network_mix, mix_workspace, sizeof mix_workspace);
    CHECK_INT(mcu_instance_input(NULL, 0, &tensor), MCU_ERROR_NULL_POINTER);
    CHECK_INT(mcu_instance_input(&instance, 0, NULL), MCU_ERROR_NULL_POINTER);
    CHECK_INT(mcu_instance_output(NULL, 0, &tensor), MCU_ERROR_NULL_POINTER);
    CHECK_INT(mcu_instance_output(&instance, 0, NULL), MCU_ERROR_NULL_POINTER);
    CHECK_INT(mcu_instance_input(&instance, 2, &tensor), MCU_ERROR_INDEX);
    CHECK_INT(mcu_instance_output(&instance, UINT32_MAX, &tensor), MCU_ERROR_INDEX);

    CHECK_INT(mcu_instance_input(&instance, 1, &tensor), MCU_OK);
    CHECK(tensor.data == mix_workspace + 16 && tensor.ndim == 3 && tensor.strides == NULL);
    CHECK(tensor.dtype.code == kDLInt && tensor.dtype.bits == 32 && tensor.dtype.lanes == 1);
    CHECK(tensor.shape[0] == 2 && tensor.shape[1] == 1 && tensor.shape[2] == 2);
    CHECK(tensor.byte_offset == 0 && tensor.device.device_type == kDLCPU);
    CHECK_INT(mcu_tensor_bytes(&tensor), 16);
    CHECK_INT(mcu_instance_output(&instance, 1, &tensor), MCU_OK);
    CHECK(tensor.data == mix_workspace + 48 && tensor.ndim == 0);
    CHECK_INT(mcu_tensor_bytes(&tensor), 4);
}

static void tensor_bytes_do_not_overflow(void) {
    static const struct {
        int64_t shape[4];
        int32_t ndim;
        DLDataType dtype;
        uint32_t bytes;
    } cases[] = {
        {{0}, 0, {kDLFloat, 32, 1}, 4},
        {{2, 3, 5}, 3, {kDLInt, 8, 1}, 30},
        {{7}, 1, {kDLInt, 4, 1}, 4}, /* DLPack: packed, unless a flag says otherwise */
        {{3}, 1, {kDLFloat, 32, 4}, 48},
        {{65535, 65537}, 2, {kDLInt, 8, 1}, UINT32_MAX},
        {{65536, 65536}, 2, {kDLInt, 8, 1}, 0},
        {{INT64_C(1) << 32}, 1, {kDLInt, 8, 1}, 0},
        {{(INT64_C(1) << 32) + 5}, 1, {kDLInt, 8, 1}, 0},
        {{65536, 65537}, 2, {kDLInt, 8, 1}, 0},
        {{INT64_C(1) << 31}, 1, {kDLInt, 16, 1}, 0},
        {{INT64_C(1) << 62, 4}, 2, {kDLInt, 32, 1}, 0},
        {{-1}, 1, {kDLInt, 8, 1}, 0},
        {{INT64_MIN, 2}, 2, {kDLInt, 8, 1}, 0},
        {{1000000, 1000000, 0}, 3, {kDLInt, 8, 1}, 0},
        {{0}, -1, {kDLInt, 8, 1}, 0},
        {{3}, 1, {kDLInt, 0, 1}, 0},
        {{3}, 1, {kDLInt, 8, 0}, 0},
    };
    uint8_t data[1];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        DLTensor tensor = mcu_tensor(data, cases[i].dtype, cases[i].shape, cases[i].ndim);
        CHECK(mcu_tensor_bytes(&tensor) == cases[i].bytes);
    }
    CHECK_INT(mcu_tensor_bytes(NULL), 0);
    DLTensor without_shape = mcu_tensor(data, int8, NULL, 1);
    CHECK_INT(mcu_tensor_bytes(&without_shape), 0);
}

static void in_place_and_copied_tensors_mix(void) {
    for (unsigned in_place = 0; in_place < 16; ++in_place) {
        int16_t a[4];
        int32_t b[4], c[4] = {0};
        float s = 0;
        DLTensor tensors[4] = {
            mcu_tensor(a, int16, mix_shape_a, 1), mcu_tensor(b, int32, mix_shape_b, 3),
            mcu_tensor(c, int32, mix_shape_b, 3), mcu_tensor(&s, float32, NULL, 0)};
        mcu_instance_t instance;
        memset(mix_workspace, 0xEE, sizeof mix_workspace);
        mcu_instance_init(&instance, mcu_network_mix, mix_workspace, sizeof mix_workspace);
        for (uint32_t k = 0; k < 4; ++k) {
            if ((in_place >> k & 1U) != 0) {
                CHECK_INT(k < 2 ? mcu_instance_input(&instance, k, &tensors[k])
                                : mcu_instance_output(&instance, k - 2, &tensors[k]),
                          MCU_OK);
            }
        }
        for (int i = 0; i < 4; ++i) {
            ((int16_t *)tensors[0].data)[i] = (int16_t)(i - 2);
            ((int32_t *)tensors[1].data)[i] = 1000 * (i + 1);
        }
        CHECK_INT(mcu_instance_run(&instance, tensors, 2, tensors + 2, 2), MCU_OK);
        const int32_t *result = tensors[2].data;
        CHECK(result[0] == -2000 && result[1] == -2000 && result[2] == 0 && result[3] == 4000);
        CHECK(*(const float *)tensors[3].data == 0.0F);
    }
}

static void callers_buffers_may_alias_one_another(void) {
    mcu_instance_t instance;
    float s = 0;
    MCU_ALIGNED(4) int32_t buffer[4] = {3, 2, 1, 7};
    /* a (int16) is the first half of b; c overwrites both, after they have been copied in. */
    DLTensor inputs[2] = {mcu_tensor(buffer, int16, mix_shape_a, 1),
                          mcu_tensor(buffer, int32, mix_shape_b, 3)};
    DLTensor outputs[2] = {mcu_tensor(buffer, int32, mix_shape_b, 3),
                           mcu_tensor(&s, float32, NULL, 0)};
    mcu_instance_init(&instance, mcu_network_mix, mix_workspace, sizeof mix_workspace);
    CHECK_INT(mcu_instance_run(&instance, inputs, 2, outputs, 2), MCU_OK);
    CHECK(buffer[0] == 9 && buffer[1] == 0 && buffer[2] == 2 && buffer[3] == 0);
    CHECK(s == 11.0F);
}

static void begin_writes_no_output(void) {
    mcu_instance_t instance;
    int8_t x[6] = {1, 2, 3, 4, 5, 6}, y[6] = {9, 9, 9, 9, 9, 9};
    DLTensor input = mcu_tensor(x, int8, mini_shape, 2),
             output = mcu_tensor(y, int8, mini_shape, 2);
    mcu_value_t values[2] = {{.v_handle = &input}, {.v_handle = &output}};
    memset(mini_workspaces[0], 0, sizeof mini_workspaces[0]);
    mcu_instance_init(&instance, mcu_network_mini, mini_workspaces[0], MCU_MINI_WORKSPACE_SIZE);
    CHECK_INT(_mcu_run_begin(mcu_network_mini, NULL, values, NULL, 2, &instance), MCU_OK);
    CHECK(memcmp(mini_workspaces[0], x, 6) == 0 && mini_workspaces[0][6] == 0);
    CHECK_INT(y[0] + y[1] + y[2] + y[3] + y[4] + y[5], 54);
    memset(mini_workspaces[0] + 8, 4, 6);
    CHECK_INT(_mcu_run_end(mcu_network_mini, NULL, values, &instance), MCU_OK);
    CHECK_INT(y[0] + y[1] + y[2] + y[3] + y[4] + y[5], 24);
}

/* ---- hooks ---- */

typedef struct trace {
    uint32_t length;
    uint32_t layers[8];
    mcu_layer_event_t events[8];
    int8_t first_bytes[8]; /* of the layer's output, at its end */
    mcu_instance_t *nested[2];
} trace_t;

static void record(mcu_instance_t *instance, uint32_t layer, mcu_layer_event_t event) {
    trace_t *trace = instance->hook_context;
    if (trace->length < 8) {
        const mcu_region_t *region =
            &instance->model->layer_outputs[instance->model->layers[layer].first_output];
        trace->layers[trace->length] = layer;
        trace->events[trace->length] = event;
        trace->first_bytes[trace->length++] = (int8_t)instance->workspace[region->offset];
    }
}

static void a_hook_sees_each_layer(void) {
    mcu_instance_t instance;
    trace_t trace = {0};
    int8_t x[6] = {5, 0, 0, 0, 0, 0}, y[6];
    DLTensor input = mcu_tensor(x, int8, mini_shape, 2),
             output = mcu_tensor(y, int8, mini_shape, 2);
    mcu_instance_init(&instance, mcu_network_mini, mini_workspaces[0], MCU_MINI_WORKSPACE_SIZE);
    instance.hook = record;
    instance.hook_context = &trace;
    CHECK_INT(mcu_instance_run(&instance, &input, 1, &output, 1), MCU_OK);
    CHECK_INT(trace.length, 4);
    for (uint32_t i = 0; i < 4; ++i) {
        CHECK_INT(trace.layers[i], i / 2);
        CHECK_INT(trace.events[i], i % 2 == 0 ? MCU_LAYER_BEGIN : MCU_LAYER_END);
    }
    CHECK_INT(trace.first_bytes[1], 6);
    CHECK_INT(trace.first_bytes[3], 18);

    x[0] = 1;
    output.ndim = 1; /* a refused run calls no hook */
    CHECK_INT(mcu_instance_run(&instance, &input, 1, &output, 1), MCU_ERROR_SHAPE);
    CHECK_INT(trace.length, 4);
    output.ndim = 2;
    instance.hook = NULL;
    CHECK_INT(mcu_instance_run(&instance, &input, 1, &output, 1), MCU_OK);
    CHECK_INT(trace.length, 4);
}

/* ---- several instances ---- */

static int8_t nested_x[6], nested_y[6];
static int32_t nested_c[4];

/* Between two layers of one instance, runs another instance of the same model and another model. */
static void run_others(mcu_instance_t *instance, uint32_t layer, mcu_layer_event_t event) {
    trace_t *trace = instance->hook_context;
    float s;
    int16_t a[4] = {1, 2, 3, 4};
    int32_t b[4] = {5, 6, 7, 8};
    DLTensor x = mcu_tensor(nested_x, int8, mini_shape, 2);
    DLTensor y = mcu_tensor(nested_y, int8, mini_shape, 2);
    DLTensor in[2] = {mcu_tensor(a, int16, mix_shape_a, 1), mcu_tensor(b, int32, mix_shape_b, 3)};
    DLTensor out[2] = {mcu_tensor(nested_c, int32, mix_shape_b, 3),
                       mcu_tensor(&s, float32, NULL, 0)};
    for (int i = 0; i < 6; ++i) {
        nested_x[i] = (int8_t)(i + (int)layer * 4 + (int)event * 2);
    }
    CHECK_INT(mcu_instance_run(trace->nested[0], &x, 1, &y, 1), MCU_OK);
    CHECK_INT(mcu_instance_run(trace->nested[1], in, 2, out, 2), MCU_OK);
    CHECK(is_mini_of(nested_y, nested_x));
    CHECK(nested_c[0] == 5 && nested_c[3] == 32 && s == 70.0F);
    ++trace->length;
}

static void instances_run_interleaved(void) {
    mcu_instance_t first, second, mix;
    trace_t trace = {.nested = {&second, &mix}};
    CHECK_INT(mcu_instance_init(&first, mcu_network_mini, mini_workspaces[0], 32), MCU_OK);
    CHECK_INT(mcu_instance_init(&second, mcu_network_mini, mini_workspaces[1], 32), MCU_OK);
    CHECK_INT(mcu_instance_init(&mix, mcu_network_mix, mix_workspace, 64), MCU_OK);
    first.hook = run_others;
    first.hook_context = &trace;
    for (int8_t round = 0; round < 5; ++round) {
        DLTensor x, y;
        int8_t expected[6];
        mcu_instance_input(&first, 0, &x);
        mcu_instance_output(&first, 0, &y);
        for (int8_t i = 0; i < 6; ++i) {
            expected[i] = (int8_t)(10 * round - 7 * i);
        }
        memcpy(x.data, expected, 6);
        CHECK_INT(mcu_instance_run(&first, &x, 1, &y, 1), MCU_OK);
        CHECK(is_mini_of(y.data, expected));
    }
    CHECK_INT(trace.length, 20);
}

static void every_error_has_a_text(void) {
    const char *unknown = mcu_error_string(1);
    static const int32_t others[] = {2, -22, -1000, INT32_MIN, INT32_MAX};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; ++i) {
        CHECK(mcu_error_string(others[i]) == unknown);
    }
    for (int32_t code = 0; code >= MCU_ERROR_OPERAND; --code) {
        const char *text = mcu_error_string(code);
        size_t length = strlen(text);
        CHECK(length > 5 && length <= 100 && text[length - 1] == '.' && text != unknown);
        for (int32_t other = 0; other > code; --other) {
            CHECK(strcmp(text, mcu_error_string(other)) != 0);
        }
    }
}

int main(void) {
    RUN_TEST(init_checks_its_arguments);
    RUN_TEST(init_fills_what_lies_in_the_workspace);
    RUN_TEST(deinit_ends_an_instance);
    RUN_TEST(a_model_may_have_no_tensors_all_pools_and_an_end_of_its_own);
    RUN_TEST(tensors_of_an_instance_are_described);
    RUN_TEST(tensor_bytes_do_not_overflow);
    RUN_TEST(in_place_and_copied_tensors_mix);
    RUN_TEST(callers_buffers_may_alias_one_another);
    RUN_TEST(begin_writes_no_output);
    RUN_TEST(a_hook_sees_each_layer);
    RUN_TEST(instances_run_interleaved);
    RUN_TEST(every_error_has_a_text);
    return check_result();
}
