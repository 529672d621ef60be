/* Pools, partitions, kept tensors and states: what is refused, and that it writes nothing.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "check.h"
#include "mcu/runtime.h"
#include "networks/network_mini.h"
#include "networks/network_parts.h"

/* Everything that a call might write to. */
typedef struct memory {
    MCU_ALIGNED(16) uint8_t workspace[MCU_PARTS_WORKSPACE_SIZE];
    MCU_ALIGNED(16) uint8_t state[MCU_PARTS_STATE_SIZE];
    MCU_ALIGNED(16) int8_t x[4];
    MCU_ALIGNED(16) int8_t mid[4];
    MCU_ALIGNED(16) int8_t out[32];
} memory_t;

static memory_t memory, saved;
static mcu_instance_t instance;
static DLTensor x, mid, out;
static const int64_t shape[1] = {4};
static const DLDataType int8 = {kDLInt, 8, 1};

static void reset(void) {
    const mcu_pool_t pools[2] = {{memory.workspace, sizeof memory.workspace},
                                 {memory.state, sizeof memory.state}};
    memset(&memory, 0x33, sizeof memory);
    CHECK_INT(mcu_instance_init_pools(&instance, mcu_network_parts, pools, 2), MCU_OK);
    for (int8_t i = 0; i < 4; ++i) {
        memory.x[i] = i;
        memory.mid[i] = (int8_t)(10 * i);
    }
    x = mcu_tensor(memory.x, int8, shape, 1);
    mid = mcu_tensor(memory.mid, int8, shape, 1);
    out = mcu_tensor(memory.out, int8, shape, 1);
}

#define CHECK_REFUSED(call, code)                                                                  \
    do {                                                                                           \
        saved = memory;                                                                            \
        CHECK_INT(call, code);                                                                     \
        CHECK(memcmp(&saved, &memory, sizeof memory) == 0);                                        \
    } while (false)

static void init_checks_each_pool(void) {
    const mcu_model_t *model = mcu_network_parts;
    mcu_pool_t pools[2] = {{memory.workspace, sizeof memory.workspace},
                           {memory.state, sizeof memory.state}};
    reset();
    CHECK_REFUSED(mcu_instance_init_pools(&instance, model, NULL, 2), MCU_ERROR_NULL_POINTER);
    CHECK_REFUSED(mcu_instance_init_pools(NULL, model, pools, 2), MCU_ERROR_NULL_POINTER);
    CHECK_REFUSED(mcu_instance_init_pools(&instance, NULL, pools, 2), MCU_ERROR_NULL_POINTER);
    CHECK_REFUSED(mcu_instance_init_pools(&instance, model, pools, 1), MCU_ERROR_POOL_COUNT);
    CHECK_REFUSED(mcu_instance_init_pools(&instance, model, pools, 3), MCU_ERROR_POOL_COUNT);
    CHECK_REFUSED(mcu_instance_init(&instance, model, memory.workspace, 32), MCU_ERROR_POOL_COUNT);
    CHECK_REFUSED(mcu_instance_init_pools(&instance, mcu_network_mini, pools, 2),
                  MCU_ERROR_POOL_COUNT);
    pools[1].data = NULL;
    CHECK_REFUSED(mcu_instance_init_pools(&instance, model, pools, 2), MCU_ERROR_NULL_POINTER);
    pools[1].data = memory.state + 8;
    CHECK_REFUSED(mcu_instance_init_pools(&instance, model, pools, 2), MCU_ERROR_ALIGNMENT);
    pools[1].data = memory.state;
    pools[1].size = sizeof memory.state - 1U;
    CHECK_REFUSED(mcu_instance_init_pools(&instance, model, pools, 2), MCU_ERROR_WORKSPACE_SIZE);
}

static void names_are_found(void) {
    const mcu_model_t *model = mcu_network_parts;
    CHECK_INT(mcu_model_find_partition(model, "head"), 0);
    CHECK_INT(mcu_model_find_partition(model, "tail"), 1);
    CHECK_INT(mcu_model_find_partition(model, "tai"), MCU_ERROR_INDEX);
    CHECK_INT(mcu_model_find_kept(model, "mid"), 0);
    CHECK_INT(mcu_model_find_kept(model, "sum"), MCU_ERROR_INDEX);
    CHECK_INT(mcu_model_find_state(model, "zeros"), 1);
    CHECK_INT(mcu_model_find_state(model, ""), MCU_ERROR_INDEX);
    CHECK_INT(mcu_model_find_state(mcu_network_mini, "sum"), MCU_ERROR_INDEX);
    CHECK_INT(mcu_model_find_partition(NULL, "head"), MCU_ERROR_NULL_POINTER);
    CHECK_INT(mcu_model_find_kept(model, NULL), MCU_ERROR_NULL_POINTER);
    CHECK_INT(mcu_model_find_state(NULL, NULL), MCU_ERROR_NULL_POINTER);
}

static void a_partition_checks_its_arguments(void) {
    reset();
    mcu_instance_t none = {0};
    DLTensor wide = mid;
    wide.dtype.bits = 16;
    DLTensor inside = mid;
    inside.data = memory.workspace + 20;
    DLTensor odd = out;
    odd.data = memory.out + 1;
    DLTensor on_state = out;
    on_state.data = memory.state;
    CHECK_REFUSED(mcu_instance_run_partition(NULL, 0, &x, 1, &mid, 1), MCU_ERROR_NULL_POINTER);
    CHECK_REFUSED(mcu_instance_run_partition(&none, 0, &x, 1, &mid, 1), MCU_ERROR_WRONG_INSTANCE);
    CHECK_REFUSED(mcu_instance_run_partition(&instance, 2, &x, 1, &mid, 1), MCU_ERROR_INDEX);
    CHECK_REFUSED(mcu_instance_run_partition(&instance, 0, &x, 2, &mid, 1),
                  MCU_ERROR_ARGUMENT_COUNT);
    CHECK_REFUSED(mcu_instance_run_partition(&instance, 0, &x, 1, &mid, 0),
                  MCU_ERROR_ARGUMENT_COUNT);
    CHECK_REFUSED(mcu_instance_run_partition(&instance, 0, &x, 2, &mid, 0),
                  MCU_ERROR_ARGUMENT_COUNT);
    CHECK_REFUSED(mcu_instance_run_partition(&instance, 0, NULL, 1, &mid, 1),
                  MCU_ERROR_NULL_POINTER);
    CHECK_REFUSED(mcu_instance_run_partition(&instance, 0, &x, 1, NULL, 1), MCU_ERROR_NULL_POINTER);
    CHECK_REFUSED(mcu_instance_run_partition(&instance, 0, &x, 1, &wide, 1), MCU_ERROR_DTYPE);
    CHECK_REFUSED(mcu_instance_run_partition(&instance, 1, &wide, 1, &out, 1), MCU_ERROR_DTYPE);
    CHECK_REFUSED(mcu_instance_run_partition(&instance, 0, &x, 1, &inside, 1), MCU_ERROR_OVERLAP);
    CHECK_REFUSED(mcu_instance_run_partition(&instance, 1, &mid, 1, &odd, 1), MCU_ERROR_ALIGNMENT);
    odd.data = memory.out + 8; /* what stays at the caller's lies as the workspace does */
    CHECK_REFUSED(mcu_instance_run_partition(&instance, 1, &mid, 1, &odd, 1), MCU_ERROR_ALIGNMENT);
    CHECK_REFUSED(mcu_instance_run_partition(&instance, 1, &mid, 1, &on_state, 1),
                  MCU_ERROR_OVERLAP);
}

static void parts_make_up_the_whole(void) {
    DLTensor there, here;
    reset();
    CHECK_INT(mcu_instance_run(&instance, &x, 1, &out, 1), MCU_OK);
    CHECK(memory.out[0] == 101 && memory.out[3] == 107);
    reset();
    CHECK_INT(mcu_instance_run_partition(&instance, 0, &x, 1, &mid, 1), MCU_OK);
    CHECK(memory.mid[0] == 1 && memory.mid[3] == 4);
    CHECK(memory.state[0] == 100); /* the head does not touch the state */
    CHECK_INT(mcu_instance_partition_output(&instance, 0, 0, &there), MCU_OK);
    CHECK_INT(mcu_instance_partition_input(&instance, 1, 0, &here), MCU_OK);
    CHECK(there.data == here.data && here.data == memory.workspace + 16);
    CHECK_INT(mcu_instance_run_partition(&instance, 1, &here, 1, &out, 1), MCU_OK);
    CHECK(memory.out[0] == 101 && memory.out[3] == 107 && memory.out[4] == 0x33);
    CHECK_INT(mcu_instance_partition_input(&instance, 2, 0, &here), MCU_ERROR_INDEX);
    CHECK_INT(mcu_instance_partition_input(&instance, 0, 1, &here), MCU_ERROR_INDEX);
    CHECK_INT(mcu_instance_partition_output(&instance, 1, 1, &here), MCU_ERROR_INDEX);
    CHECK_INT(mcu_instance_partition_output(&instance, 0, 0, NULL), MCU_ERROR_NULL_POINTER);
    CHECK_INT(mcu_instance_partition_output(NULL, 0, 0, &here), MCU_ERROR_NULL_POINTER);
}

static void kept_tensors_and_states_are_reached(void) {
    DLTensor tensor;
    int8_t value[4] = {1, 2, 3, 4};
    mcu_instance_t none = {0};
    reset();
    CHECK_INT(mcu_instance_kept(&none, 0, &tensor), MCU_ERROR_WRONG_INSTANCE);
    CHECK_INT(mcu_instance_run(&instance, &x, 1, &out, 1), MCU_OK);
    CHECK_INT(mcu_instance_kept(&instance, 0, &tensor), MCU_OK);
    CHECK(((const int8_t *)tensor.data)[3] == 4 && tensor.ndim == 1 && tensor.shape[0] == 4);
    CHECK_INT(mcu_instance_kept(&instance, 1, &tensor), MCU_ERROR_INDEX);
    CHECK_INT(mcu_instance_kept(&instance, 0, NULL), MCU_ERROR_NULL_POINTER);
    CHECK_INT(mcu_instance_state(&instance, 2, &tensor), MCU_ERROR_INDEX);
    CHECK_REFUSED(mcu_instance_set_state(&instance, 0, value, 3), MCU_ERROR_SHAPE);
    CHECK_REFUSED(mcu_instance_set_state(&instance, 0, value, 5), MCU_ERROR_SHAPE);
    CHECK_REFUSED(mcu_instance_set_state(&instance, 0, NULL, 4), MCU_ERROR_NULL_POINTER);
    CHECK_REFUSED(mcu_instance_set_state(&instance, 2, value, 4), MCU_ERROR_INDEX);
    CHECK_REFUSED(mcu_instance_set_state(NULL, 0, value, 4), MCU_ERROR_NULL_POINTER);
    CHECK_REFUSED(mcu_instance_get_state(&instance, 0, memory.out, 3), MCU_ERROR_SHAPE);
    CHECK_REFUSED(mcu_instance_get_state(&instance, 0, NULL, 4), MCU_ERROR_NULL_POINTER);
    CHECK_INT(mcu_instance_set_state(&instance, 0, value, 4), MCU_OK);
    CHECK_INT(mcu_instance_run(&instance, &x, 1, &out, 1), MCU_OK);
    CHECK(memory.out[0] == 2 && memory.out[3] == 8);
    CHECK_INT(mcu_instance_get_state(&instance, 0, value, 4), MCU_OK);
    CHECK(memcmp(value, memory.out, 4) == 0);
}

static void a_reset_gives_initial_values(void) {
    mcu_instance_t none = {0};
    int8_t value[4];
    reset();
    CHECK_INT(mcu_instance_get_state(&instance, 1, value, 4), MCU_OK);
    CHECK(value[0] == 0 && value[3] == 0);
    memset(memory.state, 0x7F, 32);
    CHECK_INT(mcu_instance_reset(&instance), MCU_OK);
    CHECK_INT(mcu_instance_get_state(&instance, 0, value, 4), MCU_OK);
    CHECK(value[0] == 100 && value[3] == 103);
    CHECK_INT(mcu_instance_get_state(&instance, 1, value, 4), MCU_OK);
    CHECK(value[0] == 0 && value[3] == 0);
    CHECK_INT(mcu_instance_reset(NULL), MCU_ERROR_NULL_POINTER);
    CHECK_INT(mcu_instance_reset(&none), MCU_ERROR_WRONG_INSTANCE);
}

static void an_output_at_the_callers_is_where_the_last_run_put_it(void) {
    DLTensor tensor;
    reset();
    CHECK_INT(mcu_instance_output(&instance, 0, &tensor), MCU_OK);
    CHECK(tensor.data == NULL);
    CHECK_REFUSED(mcu_instance_run(&instance, &x, 1, &tensor, 1), MCU_ERROR_NULL_POINTER);
    CHECK_INT(mcu_instance_run(&instance, &x, 1, &out, 1), MCU_OK);
    CHECK_INT(mcu_instance_output(&instance, 0, &tensor), MCU_OK);
    CHECK(tensor.data == memory.out);
}

int main(void) {
    RUN_TEST(init_checks_each_pool);
    RUN_TEST(names_are_found);
    RUN_TEST(a_partition_checks_its_arguments);
    RUN_TEST(parts_make_up_the_whole);
    RUN_TEST(kept_tensors_and_states_are_reached);
    RUN_TEST(a_reset_gives_initial_values);
    RUN_TEST(an_output_at_the_callers_is_where_the_last_run_put_it);
    return check_result();
}
