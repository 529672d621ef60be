/* A backend's memory manager at work: its private regions, and the calls of acquire and release.
 * The network's one layer writes how often acquire was called in this instance.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "check.h"
#include "mcu/runtime.h"
#include "network_counted.h"

/* The private regions, in the order in which the backend asked for them. */
enum { ACQUIRED = 0, RELEASED = 16, LAST = 32 };

MCU_ALIGNED(MCU_COUNTED_WORKSPACE_ALIGNMENT) static uint8_t one_memory[MCU_COUNTED_WORKSPACE_SIZE];
MCU_ALIGNED(MCU_COUNTED_WORKSPACE_ALIGNMENT) static uint8_t two_memory[MCU_COUNTED_WORKSPACE_SIZE];

static uint32_t private_word(const uint8_t *memory, uint32_t region) {
    uint32_t value;
    memcpy(&value, memory + mcu_network_counted->private_place.offset + region, sizeof value);
    return value;
}

static void run(mcu_instance_t *instance, float expected) {
    DLTensor input, output;
    CHECK_INT(mcu_instance_input(instance, 0, &input), MCU_OK);
    CHECK_INT(mcu_instance_output(instance, 0, &output), MCU_OK);
    memset(input.data, 0, mcu_tensor_bytes(&input));
    CHECK_INT(mcu_instance_run(instance, &input, 1, &output, 1), MCU_OK);
    for (int i = 0; i < 4; ++i) {
        CHECK(((const float *)output.data)[i] == expected);
    }
}

static void acquire_is_called_in_every_run_and_release_at_the_end(void) {
    mcu_instance_t one, two;
    memset(one_memory, 0xA5, sizeof one_memory);
    memset(two_memory, 0x5A, sizeof two_memory);
    CHECK_INT(mcu_instance_init(&one, mcu_network_counted, one_memory, sizeof one_memory), 0);
    CHECK_INT(mcu_instance_init(&two, mcu_network_counted, two_memory, sizeof two_memory), 0);
    CHECK_INT(private_word(one_memory, ACQUIRED), 0); /* cleared */
    run(&one, 1.0F);
    run(&one, 2.0F);
    run(&two, 1.0F); /* each instance has its own */
    run(&one, 3.0F);
    CHECK_INT(private_word(one_memory, ACQUIRED), 3);
    CHECK_INT(private_word(two_memory, ACQUIRED), 1);
    CHECK_INT(private_word(one_memory, RELEASED), 0);
    CHECK_INT(private_word(one_memory, LAST), 3); /* the last value that the layer wrote */
    CHECK_INT(mcu_instance_deinit(&one), MCU_OK);
    CHECK_INT(private_word(one_memory, RELEASED), 1);
    CHECK_INT(mcu_instance_deinit(&one), MCU_OK); /* it has ended: nothing more to release */
    CHECK_INT(private_word(one_memory, RELEASED), 1);
    CHECK_INT(private_word(two_memory, RELEASED), 0);
    run(&two, 2.0F);
    CHECK_INT(mcu_instance_deinit(&two), MCU_OK);
    CHECK_INT(private_word(two_memory, RELEASED), 1);
}

static void a_new_instance_in_the_same_memory_begins_anew(void) {
    mcu_instance_t one;
    CHECK_INT(mcu_instance_init(&one, mcu_network_counted, one_memory, sizeof one_memory), 0);
    run(&one, 1.0F);
    CHECK_INT(private_word(one_memory, RELEASED), 0);
    CHECK_INT(mcu_instance_deinit(&one), MCU_OK);
}

static void an_instance_of_zeros_can_be_ended(void) {
    mcu_instance_t one;
    memset(&one, 0, sizeof one);
    CHECK_INT(mcu_instance_init(&one, mcu_network_counted, one_memory, 1),
              MCU_ERROR_WORKSPACE_SIZE);
    CHECK_INT(mcu_instance_deinit(&one), MCU_OK);
}

int main(void) {
    RUN_TEST(acquire_is_called_in_every_run_and_release_at_the_end);
    RUN_TEST(a_new_instance_in_the_same_memory_begins_anew);
    RUN_TEST(an_instance_of_zeros_can_be_ended);
    return check_result();
}
