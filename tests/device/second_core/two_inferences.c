/* Two inferences of one network with different inputs: on two cores at once, and, with ALONE, one
 * after the other. What they give is compared with what each gave before, on the first core.
 * samples.h, which the test writes, has the inputs.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "marks.h"
#include "mcu/parallel.h"
#include "mcu/runtime.h"
#include "network_kws.h"
#include "samples.h"

typedef struct workspace {
    MCU_ALIGNED(MCU_KWS_WORKSPACE_ALIGNMENT) uint8_t bytes[MCU_KWS_WORKSPACE_SIZE];
} workspace_t;

static workspace_t workspaces[2];
static mcu_instance_t instances[2];
static DLTensor outputs[2];
static int8_t before[2][12];

static void run(unsigned which) {
    DLTensor input;
    int32_t status = mcu_instance_input(&instances[which], 0, &input);
    memcpy(input.data, samples[which], sizeof samples[which]);
    status |= mcu_instance_run(&instances[which], &input, 1, &outputs[which], 1);
    if (status != MCU_OK) {
        mcu_bench_failed();
    }
}

static void first(void *context) {
    (void)context;
    run(0);
}

static void second(void *context) {
    (void)context;
    run(1);
}

void mcu_firmware_main(void);
void mcu_firmware_main(void) {
    for (unsigned i = 0; i < 2; ++i) {
        mcu_instance_init(&instances[i], mcu_network_kws, &workspaces[i], sizeof workspaces[i]);
        mcu_instance_output(&instances[i], 0, &outputs[i]);
        run(i);
        memcpy(before[i], outputs[i].data, sizeof before[i]);
        memset(outputs[i].data, 0, sizeof before[i]);
    }
    mcu_bench_begin();
#ifdef ALONE
    first(NULL);
    second(NULL);
#else
    _mcu_parallel(first, second, NULL);
#endif
    mcu_bench_end();
    for (unsigned i = 0; i < 2; ++i) {
        if (memcmp(before[i], outputs[i].data, sizeof before[i]) != 0) {
            mcu_bench_failed();
        }
    }
    mcu_bench_done();
    for (;;) {
    }
}
