/* run_func's contract: what is refused, check by check, and that a refused run writes nothing.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "check.h"
#include "mcu/runtime.h"
#include "networks/network_mini.h"

/* Everything that a refused run might write to, so that it can be compared as a whole. */
typedef struct memory {
    MCU_ALIGNED(64) uint8_t before[64];
    uint8_t workspace[MCU_MIX_WORKSPACE_SIZE];
    uint8_t behind[64];
    int16_t a[8];
    int32_t b[8];
    int32_t c[8];
    float s[4];
} memory_t;

static memory_t memory, saved;
static mcu_instance_t instance;
static int64_t shapes[4][3];
static int64_t strides[4][3];
static DLTensor tensors[4]; /* a, b, c, s */
static mcu_value_t values[4];
static int32_t types[4];

static const mcu_tensor_info_t *info_of(int tensor) {
    return tensor < 2 ? &mcu_network_mix->inputs[tensor] : &mcu_network_mix->outputs[tensor - 2];
}

/* A valid call with all buffers outside of the workspace. */
static void reset(void) {
    for (size_t i = 0; i < sizeof memory; ++i) {
        ((uint8_t *)&memory)[i] = (uint8_t)(i * 7U + 1U);
    }
    CHECK_INT(
        mcu_instance_init(&instance, mcu_network_mix, memory.workspace, sizeof memory.workspace),
        MCU_OK);
    void *data[4] = {memory.a, memory.b, memory.c, memory.s};
    for (int k = 0; k < 4; ++k) {
        const mcu_tensor_info_t *info = info_of(k);
        if (info->ndim > 0) {
            memcpy(shapes[k], info->shape, (size_t)info->ndim * sizeof shapes[k][0]);
        }
        memset(strides[k], 0, sizeof strides[k]);
        tensors[k] = mcu_tensor(data[k], info->dtype, shapes[k], info->ndim);
        values[k].v_handle = &tensors[k];
        types[k] = MCU_TYPE_TENSOR_HANDLE;
    }
    for (int i = 0; i < 4; ++i) {
        memory.a[i] = (int16_t)(i + 1);
        memory.b[i] = 10 * (i + 1);
    }
    saved = memory;
}

static int32_t run(void) {
    return mcu_instance_run(&instance, tensors, 2, tensors + 2, 2);
}

static int32_t run_direct(void *args, int32_t *type_ids, int32_t count, void *resource) {
    return mcu_network_mix->run_func(args, type_ids, count, NULL, NULL, resource);
}

static void expect_refused(int32_t expected) {
    saved = memory;
    CHECK_INT(run(), expected);
    CHECK(memcmp(&saved, &memory, sizeof memory) == 0);
}

static void expect_accepted(void) {
    CHECK_INT(run(), MCU_OK);
    CHECK(((int32_t *)tensors[2].data)[0] == 10 && ((int32_t *)tensors[2].data)[3] == 160);
    CHECK(*(float *)tensors[3].data == 300.0F);
}

static void a_valid_call_is_accepted(void) {
    reset();
    expect_accepted();
    CHECK(memcmp(memory.a, saved.a, sizeof memory.a) == 0);
    CHECK(memcmp(memory.b, saved.b, sizeof memory.b) == 0);
    CHECK(memcmp(&memory.c[4], &saved.c[4], 16) == 0 && memcmp(&memory.s[1], &saved.s[1], 12) == 0);
    CHECK(memcmp(memory.before, saved.before, sizeof memory.before) == 0);
    CHECK(memcmp(memory.behind, saved.behind, sizeof memory.behind) == 0);
}

static void each_field_of_each_tensor_is_checked(void) {
    for (int k = 0; k < 4; ++k) {
        DLTensor *tensor = &tensors[k];
        reset();
        tensor->data = NULL;
        expect_refused(MCU_ERROR_NULL_POINTER);

        reset();
        tensor->device.device_type = (DLDeviceType)2; /* DLPack's kDLCUDA */
        expect_refused(MCU_ERROR_DEVICE);

        reset();
        tensor->dtype.code = (uint8_t)(tensor->dtype.code == kDLInt ? kDLUInt : kDLInt);
        expect_refused(MCU_ERROR_DTYPE);
        reset();
        tensor->dtype.bits = (uint8_t)(tensor->dtype.bits / 2U);
        expect_refused(MCU_ERROR_DTYPE);
        reset();
        tensor->dtype.lanes = 2;
        expect_refused(MCU_ERROR_DTYPE);

        reset();
        tensor->byte_offset = 1;
        expect_refused(MCU_ERROR_BYTE_OFFSET);
        reset();
        tensor->byte_offset = UINT64_C(1) << 32;
        expect_refused(MCU_ERROR_BYTE_OFFSET);

        reset();
        tensor->ndim += 1;
        expect_refused(MCU_ERROR_SHAPE);
        reset();
        tensor->ndim -= 1;
        expect_refused(MCU_ERROR_SHAPE);
        reset();
        tensor->ndim = INT32_MIN;
        expect_refused(MCU_ERROR_SHAPE);

        /* The address is one off, for elements of two and four bytes alike. */
        reset();
        tensor->data = (uint8_t *)tensor->data + 1;
        expect_refused(MCU_ERROR_ALIGNMENT);
    }
}

static void each_dimension_is_checked(void) {
    for (int k = 0; k < 3; ++k) {
        reset();
        tensors[k].shape = NULL;
        expect_refused(MCU_ERROR_NULL_POINTER);
        for (int d = 0; d < info_of(k)->ndim; ++d) {
            const int64_t wrong[] = {shapes[k][d] + 1, shapes[k][d] - 1,
                                     -shapes[k][d],    shapes[k][d] + (INT64_C(1) << 32),
                                     INT64_MAX,        INT64_MIN};
            for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; ++i) {
                reset();
                shapes[k][d] = wrong[i];
                expect_refused(MCU_ERROR_SHAPE);
            }
        }
    }
    reset(); /* the same number of elements in another order */
    shapes[1][0] = 1;
    shapes[1][1] = 2;
    expect_refused(MCU_ERROR_SHAPE);
    reset(); /* a tensor without dimensions needs no shape */
    tensors[3].shape = NULL;
    expect_accepted();
}

static void strides_are_null_or_compact(void) {
    static const int64_t compact[4][3] = {{1, 0, 0}, {2, 2, 1}, {2, 2, 1}, {0, 0, 0}};
    for (int k = 0; k < 4; ++k) {
        reset();
        memcpy(strides[k], compact[k], sizeof compact[k]);
        tensors[k].strides = strides[k];
        expect_accepted();
        for (int d = 0; d < info_of(k)->ndim; ++d) {
            const int64_t others[] = {compact[k][d] + 1, 0, -compact[k][d],
                                      compact[k][d] + (INT64_C(1) << 32)};
            for (size_t i = 0; i < sizeof others / sizeof others[0]; ++i) {
                reset();
                memcpy(strides[k], compact[k], sizeof compact[k]);
                tensors[k].strides = strides[k];
                strides[k][d] = others[i];
                if (shapes[k][d] == 1) {
                    expect_accepted(); /* never stepped along, so irrelevant */
                } else {
                    expect_refused(MCU_ERROR_STRIDES);
                }
            }
        }
    }
    reset(); /* column-major */
    tensors[1].strides = strides[1];
    strides[1][0] = 1;
    strides[1][1] = 2;
    strides[1][2] = 2;
    expect_refused(MCU_ERROR_STRIDES);
}

static void buffers_lie_at_their_place_or_outside(void) {
    for (int k = 0; k < 4; ++k) {
        size_t bytes = info_of(k)->place.bytes;
        size_t place = info_of(k)->place.offset;
        size_t element = info_of(k)->dtype.bits / 8U;
        for (size_t offset = 0; offset < sizeof memory.workspace; offset += element) {
            if (offset != place) {
                reset();
                tensors[k].data = memory.workspace + offset;
                expect_refused(MCU_ERROR_OVERLAP);
            }
        }
        for (size_t back = element; back < bytes; back += element) {
            reset();
            tensors[k].data = memory.workspace - back;
            expect_refused(MCU_ERROR_OVERLAP);
        }
        /* Touching the workspace on either side is no overlap. */
        void *outside[] = {memory.workspace - bytes, memory.workspace + sizeof memory.workspace};
        for (int i = 0; i < 2; ++i) {
            reset();
            memcpy(outside[i], tensors[k].data, bytes);
            tensors[k].data = outside[i];
            expect_accepted();
        }
    }
}

/* One byte is the least that can overlap; the tensors of mix have elements of two and four. */
static void an_overlap_of_one_byte_is_refused(void) {
    static MCU_ALIGNED(16) uint8_t bytes[16 + MCU_MINI_WORKSPACE_SIZE + 16];
    uint8_t *const workspace = bytes + 16;
    uint8_t *const behind = workspace + MCU_MINI_WORKSPACE_SIZE;
    int64_t shape[2] = {2, 3};
    const DLDataType int8 = {kDLInt, 8, 1};
    mcu_instance_t mini;
    int8_t elsewhere[6];
    for (int is_output = 0; is_output < 2; ++is_output) {
        uint8_t *const places[4] = {workspace - 5, behind - 1, workspace - 6, behind};
        for (int i = 0; i < 4; ++i) {
            CHECK_INT(
                mcu_instance_init(&mini, mcu_network_mini, workspace, MCU_MINI_WORKSPACE_SIZE),
                MCU_OK);
            DLTensor moved = mcu_tensor(places[i], int8, shape, 2);
            DLTensor other = mcu_tensor(elsewhere, int8, shape, 2);
            CHECK_INT(mcu_instance_run(&mini, is_output ? &other : &moved, 1,
                                       is_output ? &moved : &other, 1),
                      i < 2 ? MCU_ERROR_OVERLAP : MCU_OK);
        }
    }
}

static void the_arguments_of_mcu_instance_run_are_checked(void) {
    reset();
    CHECK_INT(mcu_instance_run(NULL, tensors, 2, tensors + 2, 2), MCU_ERROR_NULL_POINTER);
    CHECK_INT(mcu_instance_run(&instance, NULL, 2, tensors + 2, 2), MCU_ERROR_NULL_POINTER);
    CHECK_INT(mcu_instance_run(&instance, tensors, 2, NULL, 2), MCU_ERROR_NULL_POINTER);
    CHECK_INT(mcu_instance_run(&instance, NULL, 0, tensors, 2), MCU_ERROR_ARGUMENT_COUNT);
    CHECK_INT(mcu_instance_run(&instance, tensors, 2, NULL, 0), MCU_ERROR_ARGUMENT_COUNT);
    static const uint32_t counts[][2] = {{1, 2}, {3, 2}, {2, 1}, {2, 3}, {1, 3}, {UINT32_MAX, 5}};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; ++i) {
        CHECK_INT(mcu_instance_run(&instance, tensors, counts[i][0], tensors, counts[i][1]),
                  MCU_ERROR_ARGUMENT_COUNT);
    }
    CHECK(memcmp(&saved, &memory, sizeof memory) == 0);
    CHECK_INT(mcu_instance_deinit(&instance), MCU_OK);
    expect_refused(MCU_ERROR_WRONG_INSTANCE);
}

static void the_arguments_of_run_func_are_checked(void) {
    reset();
    CHECK_INT(run_direct(NULL, types, 4, &instance), MCU_ERROR_NULL_POINTER);
    CHECK_INT(run_direct(values, types, 4, NULL), MCU_ERROR_NULL_POINTER);
    static const int32_t counts[] = {3, 5, 0, -4, INT32_MIN, INT32_MAX};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; ++i) {
        CHECK_INT(run_direct(values, types, counts[i], &instance), MCU_ERROR_ARGUMENT_COUNT);
    }
    for (int k = 0; k < 4; ++k) {
        values[k].v_handle = NULL;
        CHECK_INT(run_direct(values, types, 4, &instance), MCU_ERROR_NULL_POINTER);
        values[k].v_handle = &tensors[k];
        for (int32_t other = -1; other <= 1; ++other) {
            types[k] = MCU_TYPE_TENSOR_HANDLE + (other == 0 ? -MCU_TYPE_TENSOR_HANDLE : other);
            CHECK_INT(run_direct(values, types, 4, &instance), MCU_ERROR_ARGUMENT_TYPE);
        }
        types[k] = MCU_TYPE_TENSOR_HANDLE;
    }
    /* An instance of another model, and one that has ended. */
    MCU_ALIGNED(MCU_MINI_WORKSPACE_ALIGNMENT) uint8_t workspace[MCU_MINI_WORKSPACE_SIZE];
    mcu_instance_t mini;
    CHECK_INT(mcu_instance_init(&mini, mcu_network_mini, workspace, sizeof workspace), MCU_OK);
    CHECK_INT(run_direct(values, types, 4, &mini), MCU_ERROR_WRONG_INSTANCE);
    mcu_instance_deinit(&mini);
    CHECK_INT(run_direct(values, types, 4, &mini), MCU_ERROR_WRONG_INSTANCE);
    mini.model = mcu_network_mix;
    CHECK_INT(run_direct(values, types, 4, &mini), MCU_ERROR_WRONG_INSTANCE);
    CHECK(memcmp(&saved, &memory, sizeof memory) == 0);

    CHECK_INT(run_direct(values, types, 4, &instance), MCU_OK);
    CHECK(memory.c[3] == 160 && memory.s[0] == 300.0F);
    reset();
    CHECK_INT(run_direct(values, NULL, 4, &instance), MCU_OK);
    CHECK(memory.c[3] == 160 && memory.s[0] == 300.0F);
    reset(); /* what is returned elsewhere stays as it is */
    int64_t value = 42;
    int32_t code = 43;
    CHECK_INT(mcu_network_mix->run_func(values, NULL, 4, &value, &code, &instance), MCU_OK);
    CHECK(value == 42 && code == 43);
}

/* By mcu_instance_run, and by run_func itself with a value for each. */
static void any_number_of_tensors_is_taken(void) {
    MCU_ALIGNED(MCU_WIDE_WORKSPACE_ALIGNMENT) uint8_t workspace[MCU_WIDE_WORKSPACE_SIZE] = {0};
    mcu_instance_t wide;
    int64_t shape[1] = {1};
    int8_t data[17] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, -16, 0};
    const DLDataType int8 = {kDLInt, 8, 1};
    DLTensor many[17];
    mcu_value_t each[17];
    for (int i = 0; i < 17; ++i) {
        many[i] = mcu_tensor(&data[i], int8, shape, 1);
        each[i].v_handle = &many[i];
    }
    CHECK_INT(mcu_instance_init(&wide, mcu_network_wide16, workspace, sizeof workspace), MCU_OK);
    CHECK_INT(mcu_instance_run(&wide, many, 16, many + 16, 1), MCU_OK);
    CHECK_INT(data[16], 104);
    data[16] = 0;
    CHECK_INT(mcu_network_wide16->run_func(each, NULL, 17, NULL, NULL, &wide), MCU_OK);
    CHECK_INT(data[16], 104);
}

int main(void) {
    RUN_TEST(a_valid_call_is_accepted);
    RUN_TEST(each_field_of_each_tensor_is_checked);
    RUN_TEST(each_dimension_is_checked);
    RUN_TEST(strides_are_null_or_compact);
    RUN_TEST(buffers_lie_at_their_place_or_outside);
    RUN_TEST(an_overlap_of_one_byte_is_refused);
    RUN_TEST(the_arguments_of_mcu_instance_run_are_checked);
    RUN_TEST(the_arguments_of_run_func_are_checked);
    RUN_TEST(any_number_of_tensors_is_taken);
    return check_result();
}
