/* The C++ header over the C API.
 * SPDX-License-Identifier: Apache-2.0 */
#include "mcu/runtime.hpp"

extern "C" {
#include "check.h"
#include "networks/network_mini.h"
}

static mcu::Workspace<MCU_MINI_WORKSPACE_SIZE, MCU_MINI_WORKSPACE_ALIGNMENT> mini_workspace;
static mcu::Workspace<MCU_MIX_WORKSPACE_SIZE, MCU_MIX_WORKSPACE_ALIGNMENT> mix_workspace;
static mcu::Workspace<MCU_MINI_WORKSPACE_SIZE - 1, 16> small_workspace;
static mcu::Workspace<MCU_WIDE_WORKSPACE_SIZE, MCU_WIDE_WORKSPACE_ALIGNMENT> wide_workspace;

static void an_instance_runs_in_place() {
    mcu::Instance mix;
    CHECK_INT(mix.run(), MCU_ERROR_WRONG_INSTANCE);
    CHECK(mix.input<int16_t>(0) == nullptr);
    CHECK_INT(mix.init(mcu_network_mix, mix_workspace), MCU_OK);
    int16_t *a = mix.input<int16_t>(0);
    int32_t *b = mix.input<int32_t>(1);
    CHECK(a != nullptr && b != nullptr);
    CHECK(mix.input<uint16_t>(0) == nullptr && mix.input<float>(1) == nullptr);
    CHECK(mix.input<int16_t>(2) == nullptr && mix.output<int32_t>(2) == nullptr);
    for (int16_t i = 0; i < 4; ++i) {
        a[i] = i;
        b[i] = 10;
    }
    CHECK_INT(mix.run(), MCU_OK);
    CHECK_INT(mix.output<int32_t>(0)[3], 30);
    CHECK(*mix.output<float>(1) == 60.0F);
}

static void an_instance_runs_on_the_callers_tensors() {
    static const int64_t shape[] = {2, 3};
    int8_t x[6] = {1, 2, 3, 4, 5, 6}, y[6] = {0};
    mcu::Instance mini;
    CHECK_INT(mini.init(mcu_network_mini, mini_workspace), MCU_OK);
    DLTensor inputs[] = {mcu::tensor(x, shape)};
    DLTensor outputs[] = {mcu::tensor(y, shape)};
    CHECK_INT(mini.run(inputs, outputs), MCU_OK);
    CHECK(y[0] == 6 && y[5] == 21);
    outputs[0].dtype = mcu::data_type<uint8_t>();
    CHECK_INT(mini.run(inputs, outputs), MCU_ERROR_DTYPE);
    CHECK(mcu::error_string(MCU_ERROR_DTYPE) == mcu_error_string(MCU_ERROR_DTYPE));
}

static void errors_are_returned() {
    mcu::Instance instance;
    CHECK_INT(instance.init(mcu_network_mini, small_workspace), MCU_ERROR_WORKSPACE_SIZE);
    CHECK_INT(instance.init(nullptr, mini_workspace), MCU_ERROR_NULL_POINTER);
    CHECK_INT(instance.init(mcu_network_wide16, wide_workspace), MCU_OK);
    for (uint32_t i = 0; i < 16; ++i) {
        *instance.input<int8_t>(i) = 3;
    }
    CHECK_INT(instance.run(), MCU_ERROR_TOO_MANY_TENSORS);
    CHECK_INT(*instance.output<int8_t>(0), 0);
    CHECK_INT(instance.run<17>(), MCU_OK);
    CHECK_INT(*instance.output<int8_t>(0), 48);
    CHECK_INT(instance.init(mcu_network_wide15, wide_workspace), MCU_OK);
    for (uint32_t i = 0; i < 15; ++i) {
        *instance.input<int8_t>(i) = 2;
    }
    CHECK_INT(instance.run(), MCU_OK);
    CHECK_INT(*instance.output<int8_t>(0), 30);
}

static void types_have_their_descriptions() {
    CHECK(mcu::data_type<float>().code == kDLFloat && mcu::data_type<float>().bits == 32);
    CHECK(mcu::data_type<double>().bits == 64 && mcu::data_type<int64_t>().bits == 64);
    CHECK(mcu::data_type<bool>().code == kDLBool && mcu::data_type<bool>().bits == 8);
    CHECK(mcu::data_type<uint16_t>().code == kDLUInt && mcu::data_type<uint16_t>().bits == 16);
}

static uint32_t hook_calls;
static void count(mcu_instance_t *, uint32_t, mcu_layer_event_t) {
    ++hook_calls;
}

static void a_hook_can_be_set() {
    mcu::Instance mini;
    CHECK_INT(mini.init(mcu_network_mini, mini_workspace), MCU_OK);
    mini.get()->hook = count;
    CHECK_INT(mini.run(), MCU_OK);
    CHECK_INT(hook_calls, 4);
}

static mcu::StaticInstance for_ever;
static_assert(__has_trivial_destructor(mcu::StaticInstance), "nothing is done at the end");

static void a_static_instance_needs_no_destructor() {
    static mcu::StaticInstance of_a_function;
    mcu::StaticInstance *const both[] = {&for_ever, &of_a_function};
    for (mcu::StaticInstance *mini : both) {
        CHECK_INT(mini->run(), MCU_ERROR_WRONG_INSTANCE);
        CHECK_INT(mini->init(mcu_network_mini, mini_workspace), MCU_OK);
        CHECK_INT(mini->run(), MCU_OK);
        CHECK_INT(mini->deinit(), MCU_OK);
        CHECK_INT(mini->run(), MCU_ERROR_WRONG_INSTANCE);
    }
}

int main() {
    RUN_TEST(an_instance_runs_in_place);
    RUN_TEST(an_instance_runs_on_the_callers_tensors);
    RUN_TEST(errors_are_returned);
    RUN_TEST(types_have_their_descriptions);
    RUN_TEST(a_hook_can_be_set);
    RUN_TEST(a_static_instance_needs_no_destructor);
    return check_result();
}
