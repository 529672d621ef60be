/* Runs a network with lanes, and says how deep the second core's stack was: a tick for each word.
 * SPDX-License-Identifier: Apache-2.0 */
#include "marks.h"
#include "mcu/platform.h"
#include "mcu/runtime.h"
#include "network_net.h"

static MCU_ALIGNED(MCU_NET_WORKSPACE_ALIGNMENT) uint8_t workspace[MCU_NET_WORKSPACE_SIZE];
static mcu_instance_t instance;
static DLTensor input, output;

static void infer(void) {
    if (mcu_instance_run(&instance, &input, 1, &output, 1) != MCU_OK) {
        mcu_bench_failed();
    }
}

void mcu_firmware_main(void);
void mcu_firmware_main(void) {
    mcu_instance_init(&instance, mcu_network_net, workspace, sizeof workspace);
    mcu_instance_input(&instance, 0, &input);
    mcu_instance_output(&instance, 0, &output);
    infer();
    mcu_bench_begin();
    infer();
    mcu_bench_end();
    for (size_t bytes = mcu_platform_second_core_stack_used(); bytes >= 4; bytes -= 4) {
        mcu_bench_tick();
    }
    mcu_bench_done();
    for (;;) {
    }
}
