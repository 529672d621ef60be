/* See listen.h. The network is called "listener"; its input is int8 of [..., rows, LOG_MEL_BANDS],
 * the newest row last.
 * SPDX-License-Identifier: Apache-2.0 */
#include "listen.h"

#include <string.h>

#include "frames.h"
#include "log_mel.h"
#include "mcu/runtime.h"
#include "network_listener.h"
#include "quantize.h"

enum { ROWS = MCU_LISTENER_INPUT_0_BYTES / LOG_MEL_BANDS };
MCU_STATIC_ASSERT(ROWS *LOG_MEL_BANDS == MCU_LISTENER_INPUT_0_BYTES,
                  the_input_is_no_rows_of_these_bands);

static int16_t window[LOG_MEL_WINDOW];
static frames_t frames = {window, LOG_MEL_WINDOW, LOG_MEL_HOP, 0};
static log_mel_t mel;
static int8_t features[ROWS][LOG_MEL_BANDS];
static int rows;
static mcu_instance_t network;
MCU_ALIGNED(MCU_LISTENER_WORKSPACE_ALIGNMENT)
static uint8_t workspace[MCU_LISTENER_WORKSPACE_SIZE];

int32_t listen_init(void) {
    if (log_mel_init(&mel) != ARM_MATH_SUCCESS) {
        return MCU_ERROR_CONFIGURATION;
    }
    return mcu_instance_init(&network, mcu_network_listener, workspace, sizeof workspace);
}

/* The window's features become the last row, the oldest row goes. */
static void add_row(void) {
    float32_t bands[LOG_MEL_BANDS];
    log_mel(&mel, window, bands);
    memmove(features, features + 1, sizeof features - sizeof features[0]);
    for (int i = 0; i < LOG_MEL_BANDS; i++) {
        features[ROWS - 1][i] =
            quantize_int8(bands[i], MCU_LISTENER_INPUT_0_SCALE, MCU_LISTENER_INPUT_0_ZERO_POINT);
    }
    rows += rows < ROWS;
}

static int32_t run(void (*answer)(const int8_t *scores)) {
    DLTensor input;
    DLTensor output;
    mcu_instance_input(&network, 0, &input);
    mcu_instance_output(&network, 0, &output);
    memcpy(input.data, features, sizeof features);
    int32_t status = mcu_instance_run(&network, &input, 1, &output, 1);
    if (status == MCU_OK) {
        answer(output.data);
    }
    return status;
}

int32_t listen_to(const int16_t *samples, size_t count, void (*answer)(const int8_t *scores)) {
    int32_t status = MCU_OK;
    while (count > 0 && status == MCU_OK) {
        size_t taken = frames_add(&frames, samples, count);
        samples += taken;
        count -= taken;
        if (frames_ready(&frames)) {
            add_row();
            frames_next(&frames);
            if (rows == ROWS) {
                status = run(answer);
            }
        }
    }
    return status;
}
