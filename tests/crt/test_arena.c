/* mcu_run and its arena, here of four pages of 32 bytes (see test_crt.py).
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "check.h"
#include "mcu/memory.h"
#include "mcu/runtime.h"
#include "networks/network_mini.h"

static int64_t shape[2] = {2, 3};
static const DLDataType int8 = {kDLInt, 8, 1};

static void mcu_run_runs(void) {
    int8_t x[6] = {-3, 0, 1, 2, 3, 40}, y[6] = {0};
    DLTensor input = mcu_tensor(x, int8, shape, 2);
    DLTensor output = mcu_tensor(y, int8, shape, 2);
    for (int round = 0; round < 10; ++round) {
        memset(y, 0, sizeof y);
        CHECK_INT(mcu_run(mcu_network_mini, &input, 1, &output, 1), MCU_OK);
        CHECK(y[0] == -6 && y[1] == 3 && y[4] == 12 && y[5] == 123);
        CHECK_INT(mcu_arena()->used, 0);
    }
    CHECK_INT(mcu_arena()->peak, 32);
}

static void mcu_run_takes_what_the_model_needs(void) {
    int16_t a[4] = {1, 2, 3, 4};
    int32_t b[4] = {1, 1, 1, -1}, c[4];
    float s;
    int64_t shape_a[1] = {4}, shape_b[3] = {2, 1, 2};
    DLTensor inputs[2] = {mcu_tensor(a, (DLDataType){kDLInt, 16, 1}, shape_a, 1),
                          mcu_tensor(b, (DLDataType){kDLInt, 32, 1}, shape_b, 3)};
    DLTensor outputs[2] = {mcu_tensor(c, (DLDataType){kDLInt, 32, 1}, shape_b, 3),
                           mcu_tensor(&s, (DLDataType){kDLFloat, 32, 1}, NULL, 0)};
    CHECK_INT(mcu_run(mcu_network_mix, inputs, 2, outputs, 2), MCU_OK);
    CHECK(c[0] == 1 && c[3] == -4 && s == 2.0F);
    CHECK_INT(mcu_arena()->peak, 64);
    CHECK_INT(mcu_arena()->used, 0);
}

static void mcu_run_checks_its_arguments(void) {
    int8_t x[6] = {0}, y[6] = {7, 7, 7, 7, 7, 7};
    DLTensor input = mcu_tensor(x, int8, shape, 2);
    DLTensor output = mcu_tensor(y, int8, shape, 2);
    CHECK_INT(mcu_run(NULL, &input, 1, &output, 1), MCU_ERROR_NULL_POINTER);
    CHECK_INT(mcu_run(mcu_network_mini, NULL, 1, &output, 1), MCU_ERROR_NULL_POINTER);
    CHECK_INT(mcu_run(mcu_network_mini, &input, 1, NULL, 1), MCU_ERROR_NULL_POINTER);
    CHECK_INT(mcu_run(mcu_network_mini, &input, 2, &output, 1), MCU_ERROR_ARGUMENT_COUNT);
    mcu_model_t other = *mcu_network_mini;
    other.abi_version = MCU_MODEL_ABI_VERSION + 1U;
    other.workspace_size = UINT32_MAX; /* means something else there, and is not looked at */
    CHECK_INT(mcu_run(&other, &input, 1, &output, 1), MCU_ERROR_ABI_VERSION);
    input.dtype.code = kDLUInt;
    CHECK_INT(mcu_run(mcu_network_mini, &input, 1, &output, 1), MCU_ERROR_DTYPE);
    CHECK_INT(mcu_arena()->used, 0); /* a refused run gives its memory back */
    CHECK_INT(y[0] + y[5], 14);
}

static void an_exhausted_arena_is_reported(void) {
    int8_t x[6] = {0}, y[6] = {7, 7, 7, 7, 7, 7};
    DLTensor input = mcu_tensor(x, int8, shape, 2);
    DLTensor output = mcu_tensor(y, int8, shape, 2);
    mcu_memory_manager_t *arena = mcu_arena();
    void *taken[2];
    CHECK_INT(arena->allocate(arena, 3 * 32, 32, &taken[0]), MCU_OK);
    CHECK_INT(mcu_run(mcu_network_mini, &input, 1, &output, 1), MCU_OK);
    CHECK_INT(y[0], 3);
    y[0] = 7;
    CHECK_INT(arena->allocate(arena, 1, 1, &taken[1]), MCU_OK);
    CHECK_INT(mcu_run(mcu_network_mini, &input, 1, &output, 1), MCU_ERROR_OUT_OF_MEMORY);
    CHECK_INT(y[0], 7);
    CHECK_INT(arena->free(arena, taken[0]), MCU_OK);
    CHECK_INT(arena->free(arena, taken[1]), MCU_OK);
    mcu_model_t large = *mcu_network_mini;
    large.workspace_size = 4 * 32 + 1;
    CHECK_INT(mcu_run(&large, &input, 1, &output, 1), MCU_ERROR_OUT_OF_MEMORY);
    large.workspace_size = UINT32_MAX;
    CHECK_INT(mcu_run(&large, &input, 1, &output, 1), MCU_ERROR_OUT_OF_MEMORY);
    CHECK_INT(mcu_run(mcu_network_mini, &input, 1, &output, 1), MCU_OK);
    CHECK_INT(y[0], 3);
}

/* Tensors may live in the arena too. */
static void buffers_from_the_arena_serve(void) {
    mcu_memory_manager_t *arena = mcu_arena();
    void *x, *y;
    CHECK_INT(arena->allocate(arena, 6, 1, &x), MCU_OK);
    CHECK_INT(arena->allocate(arena, 6, 1, &y), MCU_OK);
    memset(x, 5, 6);
    DLTensor input = mcu_tensor(x, int8, shape, 2);
    DLTensor output = mcu_tensor(y, int8, shape, 2);
    CHECK_INT(mcu_run(mcu_network_mini, &input, 1, &output, 1), MCU_OK);
    CHECK_INT(((int8_t *)y)[5], 18);
    CHECK_INT(arena->free(arena, x), MCU_OK);
    CHECK_INT(arena->free(arena, y), MCU_OK);
}

static unsigned releases;
static void count_release(mcu_instance_t *instance) {
    (void)instance;
    ++releases;
}

static void what_a_run_holds_is_released(void) {
    int8_t x[6] = {0}, y[6] = {0};
    DLTensor input = mcu_tensor(x, int8, shape, 2);
    DLTensor output = mcu_tensor(y, int8, shape, 2);
    mcu_model_t other = *mcu_network_mini;
    other.release_func = count_release;
    /* its code asks for its own descriptor */
    CHECK_INT(mcu_run(&other, &input, 1, &output, 1), MCU_ERROR_WRONG_INSTANCE);
    CHECK_INT(releases, 1);
}

int main(void) {
    RUN_TEST(mcu_run_runs);
    RUN_TEST(mcu_run_takes_what_the_model_needs);
    RUN_TEST(mcu_run_checks_its_arguments);
    RUN_TEST(an_exhausted_arena_is_reported);
    RUN_TEST(buffers_from_the_arena_serve);
    RUN_TEST(what_a_run_holds_is_released);
    return check_result();
}
