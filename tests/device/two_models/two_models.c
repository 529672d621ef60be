/* Two real networks, and two instances of one, in one program: alone, in turn, and one inside of
 * the other's layers. samples.h, which the test writes, has inputs and the oracle's outputs.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "check.h"
#include "mcu/runtime.h"
#include "network_ad.h"
#include "network_kws.h"
#include "samples.h"

enum { KWS_IN = 490, KWS_OUT = 12, AD_BYTES = 640 };

MCU_ALIGNED(MCU_KWS_WORKSPACE_ALIGNMENT) static uint8_t left_memory[MCU_KWS_WORKSPACE_SIZE];
MCU_ALIGNED(MCU_KWS_WORKSPACE_ALIGNMENT) static uint8_t right_memory[MCU_KWS_WORKSPACE_SIZE];
MCU_ALIGNED(MCU_AD_WORKSPACE_ALIGNMENT) static uint8_t machine_memory[MCU_AD_WORKSPACE_SIZE];

static mcu_instance_t left, right, machine;

static void prepare(void) {
    /* dirt: nothing may depend on what the memory held before */
    memset(left_memory, 0xA5, sizeof left_memory);
    memset(right_memory, 0x5A, sizeof right_memory);
    memset(machine_memory, 0xFF, sizeof machine_memory);
    CHECK_INT(mcu_instance_init(&left, mcu_network_kws, left_memory, sizeof left_memory), 0);
    CHECK_INT(mcu_instance_init(&right, mcu_network_kws, right_memory, sizeof right_memory), 0);
    CHECK_INT(mcu_instance_init(&machine, mcu_network_ad, machine_memory, sizeof machine_memory),
              0);
}

/* Runs with the input in the workspace; the output stays there. */
static void run_in_place(mcu_instance_t *instance, const int8_t *values) {
    DLTensor input, output;
    CHECK_INT(mcu_instance_input(instance, 0, &input), MCU_OK);
    CHECK_INT(mcu_instance_output(instance, 0, &output), MCU_OK);
    memcpy(input.data, values, mcu_tensor_bytes(&input));
    CHECK_INT(mcu_instance_run(instance, &input, 1, &output, 1), MCU_OK);
}

static bool output_is(const mcu_instance_t *instance, const int8_t *expected) {
    DLTensor output;
    return mcu_instance_output(instance, 0, &output) == MCU_OK &&
           memcmp(output.data, expected, mcu_tensor_bytes(&output)) == 0;
}

static void each_alone_gives_what_the_oracle_says(void) {
    prepare();
    for (int sample = 0; sample < 2; ++sample) {
        run_in_place(&left, kws_inputs[sample]);
        CHECK(output_is(&left, kws_outputs[sample]));
        run_in_place(&machine, ad_inputs[sample]);
        CHECK(output_is(&machine, ad_outputs[sample]));
    }
    CHECK(memcmp(kws_outputs[0], kws_outputs[1], KWS_OUT) != 0); /* the test can fail */
    CHECK(memcmp(ad_outputs[0], ad_outputs[1], AD_BYTES) != 0);
}

static void runs_in_turn_do_not_disturb_each_other(void) {
    prepare();
    for (int round = 0; round < 2; ++round) {
        const int other = 1 - round;
        run_in_place(&left, kws_inputs[round]);
        run_in_place(&machine, ad_inputs[other]);
        run_in_place(&right, kws_inputs[other]);
        CHECK(output_is(&left, kws_outputs[round])); /* still there */
        CHECK(output_is(&machine, ad_outputs[other]));
        CHECK(output_is(&right, kws_outputs[other]));
    }
}

static void inputs_may_all_be_written_before_the_first_run(void) {
    prepare();
    mcu_instance_t *const instances[3] = {&left, &machine, &right};
    const int8_t *const values[3] = {kws_inputs[1], ad_inputs[0], kws_inputs[0]};
    DLTensor inputs[3], outputs[3];
    for (int i = 0; i < 3; ++i) {
        CHECK_INT(mcu_instance_input(instances[i], 0, &inputs[i]), MCU_OK);
        CHECK_INT(mcu_instance_output(instances[i], 0, &outputs[i]), MCU_OK);
        memcpy(inputs[i].data, values[i], mcu_tensor_bytes(&inputs[i]));
    }
    for (int i = 2; i >= 0; --i) {
        CHECK_INT(mcu_instance_run(instances[i], &inputs[i], 1, &outputs[i], 1), MCU_OK);
    }
    CHECK(output_is(&left, kws_outputs[1]));
    CHECK(output_is(&machine, ad_outputs[0]));
    CHECK(output_is(&right, kws_outputs[0]));
}

static void callers_buffers_are_copied(void) {
    static int8_t features[KWS_IN], scores[KWS_OUT], frame[AD_BYTES], decoded[AD_BYTES];
    prepare();
    DLTensor kws_in, kws_out, ad_in, ad_out;
    mcu_instance_input(&left, 0, &kws_in);
    mcu_instance_output(&left, 0, &kws_out);
    mcu_instance_input(&machine, 0, &ad_in);
    mcu_instance_output(&machine, 0, &ad_out);
    memcpy(features, kws_inputs[0], KWS_IN);
    memcpy(frame, ad_inputs[1], AD_BYTES);
    kws_in.data = features;
    kws_out.data = scores;
    ad_in.data = frame;
    ad_out.data = decoded;
    CHECK_INT(mcu_instance_run(&left, &kws_in, 1, &kws_out, 1), MCU_OK);
    CHECK_INT(mcu_instance_run(&machine, &ad_in, 1, &ad_out, 1), MCU_OK);
    CHECK(memcmp(scores, kws_outputs[0], KWS_OUT) == 0);
    CHECK(memcmp(decoded, ad_outputs[1], AD_BYTES) == 0);
    CHECK(memcmp(features, kws_inputs[0], KWS_IN) == 0); /* a caller's input is read only */
    CHECK(memcmp(frame, ad_inputs[1], AD_BYTES) == 0);
    /* the other model's tensors, and the other model's instance, are refused */
    CHECK_INT(mcu_instance_run(&left, &ad_in, 1, &kws_out, 1), MCU_ERROR_SHAPE);
    CHECK_INT(mcu_network_ad->run_func(NULL, NULL, 2, NULL, NULL, &left), MCU_ERROR_NULL_POINTER);
    mcu_value_t arguments[2] = {{.v_handle = &ad_in}, {.v_handle = &ad_out}};
    CHECK_INT(mcu_network_ad->run_func(arguments, NULL, 2, NULL, NULL, &left),
              MCU_ERROR_WRONG_INSTANCE);
}

/* ---- Runs inside of runs ---- */

static uint32_t nested_kws, nested_ad, nested_deep;

static void run_machine(mcu_instance_t *instance, uint32_t layer, mcu_layer_event_t event) {
    (void)instance;
    if (event == MCU_LAYER_END && layer % 5 == 2) {
        run_in_place(&machine, ad_inputs[layer & 1U]);
        CHECK(output_is(&machine, ad_outputs[layer & 1U]));
        ++nested_deep;
    }
}

static void run_others(mcu_instance_t *instance, uint32_t layer, mcu_layer_event_t event) {
    CHECK(instance == &left);
    CHECK(instance->hook_context == &nested_kws);
    if (event == MCU_LAYER_BEGIN) {
        right.hook = layer == 4 ? run_machine : NULL;
        run_in_place(&right, kws_inputs[layer & 1U]);
        CHECK(output_is(&right, kws_outputs[layer & 1U]));
        ++nested_kws;
    } else {
        run_in_place(&machine, ad_inputs[~layer & 1U]);
        CHECK(output_is(&machine, ad_outputs[~layer & 1U]));
        ++nested_ad;
    }
}

static void runs_nest_inside_of_each_layer(void) {
    prepare();
    nested_kws = nested_ad = nested_deep = 0;
    left.hook = run_others;
    left.hook_context = &nested_kws;
    run_in_place(&left, kws_inputs[0]);
    CHECK(output_is(&left, kws_outputs[0]));
    CHECK_INT(nested_kws, mcu_network_kws->num_layers);
    CHECK_INT(nested_ad, mcu_network_kws->num_layers);
    CHECK(nested_deep >= 2);
    CHECK(output_is(&right, kws_outputs[(mcu_network_kws->num_layers - 1) & 1U]));
    left.hook = right.hook = NULL;
    run_in_place(&left, kws_inputs[1]);
    CHECK(output_is(&left, kws_outputs[1]));
    CHECK_INT(nested_kws, mcu_network_kws->num_layers);
}

int main(void) {
    RUN_TEST(each_alone_gives_what_the_oracle_says);
    RUN_TEST(runs_in_turn_do_not_disturb_each_other);
    RUN_TEST(inputs_may_all_be_written_before_the_first_run);
    RUN_TEST(callers_buffers_are_copied);
    RUN_TEST(runs_nest_inside_of_each_layer);
    return check_result();
}
