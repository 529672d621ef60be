/* Sizes that a run decides: the shapes that follow from them, and what is refused.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "check.h"
#include "mcu/internal.h"
#include "mcu/runtime.h"

enum { LEAST = 2, MOST = 1 << 29, OUTPUTS = 4 };

/* Of the output n, before + n + 1 of the size are divided by n + 1. */
static const mcu_extent_t extents_of_size[] = {
    {0, 1, 1, 0, 1, 0}, {1, 0, 1, 0, 1, 0},  {2, 0, 1, 1, 2, 0},
    {3, 0, 3, 2, 3, 5}, {4, 1, 2, 3, 4, -1},
};
static const mcu_size_t size_of_runs = {LEAST, MOST, 0, 1, 5, extents_of_size};

static const int64_t shape[2] = {1, MOST};
static const int64_t ones[2] = {1, 1};
#define INFO(of)                                                                                   \
    {                                                                                              \
        .shape = (of), .ndim = 2, .dtype = { kDLInt, 8, 1 }                                        \
    }
static const mcu_tensor_info_t inputs[] = {INFO(shape)};
static const mcu_tensor_info_t outputs[OUTPUTS] = {INFO(ones), INFO(ones), INFO(ones), INFO(ones)};

static mcu_model_t model = {
    .num_input_tensors = 1,
    .num_output_tensors = OUTPUTS,
    .abi_version = MCU_MODEL_ABI_VERSION,
    .inputs = inputs,
    .outputs = outputs,
    .size = &size_of_runs,
};

static mcu_tensor_info_t infos[1 + OUTPUTS];
static int64_t extents[2 * (1 + OUTPUTS)];

static void shapes_follow_from(int64_t size) {
    CHECK_INT(mcu_model_resize(&model, size, infos, extents), MCU_OK);
    CHECK(infos[0].shape[0] == 1 && infos[0].shape[1] == size);
    CHECK_INT(infos[0].place.bytes, size);
    CHECK(infos[1].shape[0] == size && infos[1].shape[1] == 1);
    CHECK(infos[2].shape[0] == (size + 1) / 2);
    CHECK(infos[3].shape[0] == 3 * ((size + 2) / 3) + 5);
    CHECK(infos[4].shape[0] == 1 && infos[4].shape[1] == 2 * ((size + 3) / 4) - 1);
}

static void divisions_are_exact(void) {
    for (int64_t size = LEAST; size < 2000; ++size) {
        shapes_follow_from(size);
    }
    for (int64_t size = MOST - 20; size <= MOST; ++size) {
        shapes_follow_from(size);
    }
}

static void sizes_beyond_the_ends_are_refused(void) {
    static const int64_t wrong[] = {INT64_MIN, -1, 0, LEAST - 1, MOST + 1, 1LL << 33, INT64_MAX};
    memset(infos, 0xA5, sizeof infos);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; ++i) {
        CHECK_INT(mcu_model_resize(&model, wrong[i], infos, extents), MCU_ERROR_SHAPE);
    }
    CHECK_INT(infos[0].ndim, (int32_t)0xA5A5A5A5); /* nothing was written */
}

static void models_without_a_size_are_refused(void) {
    model.size = NULL;
    CHECK_INT(mcu_model_resize(&model, LEAST, infos, extents), MCU_ERROR_SHAPE);
    model.size = &size_of_runs;
    model.abi_version = MCU_MODEL_ABI_VERSION & ~0xFFFFU; /* whose descriptor ends before it */
    CHECK_INT(mcu_model_resize(&model, LEAST, infos, extents), MCU_ERROR_SHAPE);
    model.abi_version = MCU_MODEL_ABI_VERSION + (1U << 16);
    CHECK_INT(mcu_model_resize(&model, LEAST, infos, extents), MCU_ERROR_ABI_VERSION);
    model.abi_version = MCU_MODEL_ABI_VERSION;
    CHECK_INT(mcu_model_resize(NULL, LEAST, infos, extents), MCU_ERROR_NULL_POINTER);
    CHECK_INT(mcu_model_resize(&model, LEAST, NULL, extents), MCU_ERROR_NULL_POINTER);
    CHECK_INT(mcu_model_resize(&model, LEAST, infos, NULL), MCU_ERROR_NULL_POINTER);
}

static void a_run_s_size_is_that_of_its_input(void) {
    int64_t given[3] = {1, MOST, 1};
    int32_t size = 0;
    DLTensor tensor = mcu_tensor(NULL, (DLDataType){kDLInt, 8, 1}, given, 2);
    mcu_value_t values[1 + OUTPUTS] = {{.v_handle = &tensor}};
    CHECK_INT(_mcu_run_size(&model, values, 1 + OUTPUTS, infos, extents, &size), MCU_OK);
    CHECK(size == MOST && infos[0].shape[1] == MOST);
    for (int32_t others = -1; others <= 1; others += 2) {
        CHECK_INT(_mcu_run_size(&model, values, 1 + OUTPUTS + others, infos, extents, &size),
                  MCU_ERROR_ARGUMENT_COUNT);
        tensor.ndim = 2 + others;
        CHECK_INT(_mcu_run_size(&model, values, 1 + OUTPUTS, infos, extents, &size),
                  MCU_ERROR_SHAPE);
    }
    tensor = mcu_tensor(NULL, tensor.dtype, NULL, 2);
    CHECK_INT(_mcu_run_size(&model, values, 1 + OUTPUTS, infos, extents, &size),
              MCU_ERROR_NULL_POINTER);
    values[0].v_handle = NULL;
    CHECK_INT(_mcu_run_size(&model, values, 1 + OUTPUTS, infos, extents, &size),
              MCU_ERROR_NULL_POINTER);
}

int main(void) {
    RUN_TEST(divisions_are_exact);
    RUN_TEST(sizes_beyond_the_ends_are_refused);
    RUN_TEST(models_without_a_size_are_refused);
    RUN_TEST(a_run_s_size_is_that_of_its_input);
    return check_result();
}
