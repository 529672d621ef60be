/* Two models in one program: keyword spotting on two microphones, and a camera that sees persons.
 *
 * Both microphones share the code and the weights of one network_kws.o; each has an instance with a
 * workspace of its own. Inputs are written, and outputs read, where the networks keep them, so that
 * nothing is copied and no arena is needed: network_kws.o, network_vww.o and libmcu_crt.a suffice.
 *
 * main returns 0, or 100 and more where something was refused (see bare_main.c).
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "mcu/runtime.h"
#include "network_kws.h"
#include "network_vww.h"

enum { LEFT, RIGHT, NUM_MICROPHONES };

MCU_ALIGNED(MCU_KWS_WORKSPACE_ALIGNMENT)
static uint8_t left_workspace[MCU_KWS_WORKSPACE_SIZE];
MCU_ALIGNED(MCU_KWS_WORKSPACE_ALIGNMENT)
static uint8_t right_workspace[MCU_KWS_WORKSPACE_SIZE];
MCU_ALIGNED(MCU_VWW_WORKSPACE_ALIGNMENT)
static uint8_t camera_workspace[MCU_VWW_WORKSPACE_SIZE];

/* The results, for a debugger or another task. */
int32_t heard[NUM_MICROPHONES];
int32_t seen;

/* Stands for the sound and the picture that a real program gets from its sensors. */
static void read_sensor(DLTensor *tensor, uint8_t value) {
    memset(tensor->data, value, mcu_tensor_bytes(tensor));
}

/* The index of the largest score, or a negative error code. */
static int32_t classify(mcu_instance_t *instance, uint8_t value) {
    DLTensor input, output;
    int32_t status = mcu_instance_input(instance, 0, &input);
    if (status == MCU_OK) {
        status = mcu_instance_output(instance, 0, &output);
    }
    if (status == MCU_OK) {
        read_sensor(&input, value);
        status = mcu_instance_run(instance, &input, 1, &output, 1);
    }
    if (status != MCU_OK) {
        return status;
    }
    const int8_t *scores = output.data;
    int32_t best = 0;
    for (int32_t i = 1; i < (int32_t)mcu_tensor_bytes(&output); ++i) {
        if (scores[i] > scores[best]) {
            best = i;
        }
    }
    return best;
}

int main(void) {
    mcu_instance_t microphones[NUM_MICROPHONES], camera;
    int32_t status = mcu_instance_init(&microphones[LEFT], mcu_network_kws, left_workspace,
                                       sizeof left_workspace);
    if (status == MCU_OK) {
        status = mcu_instance_init(&microphones[RIGHT], mcu_network_kws, right_workspace,
                                   sizeof right_workspace);
    }
    if (status == MCU_OK) {
        status =
            mcu_instance_init(&camera, mcu_network_vww, camera_workspace, sizeof camera_workspace);
    }
    if (status != MCU_OK) {
        return 100 - (int)status;
    }
    for (uint8_t moment = 0; moment < 3; ++moment) {
        heard[LEFT] = classify(&microphones[LEFT], moment);
        seen = classify(&camera, (uint8_t)(2U * moment));
        heard[RIGHT] = classify(&microphones[RIGHT], (uint8_t)(3U * moment));
        if (heard[LEFT] < 0 || heard[RIGHT] < 0 || seen < 0) {
            return 100 - (int)(heard[LEFT] < 0 ? heard[LEFT] : seen < 0 ? seen : heard[RIGHT]);
        }
    }
    return 0;
}
