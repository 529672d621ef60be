/* Two networks in one program: one listens for a word, the other computes a sine.
 * SPDX-License-Identifier: Apache-2.0 */
#include "board.h"
#include "mcu/runtime.h"
#include "network_kws.h"
#include "network_sine.h"

MCU_ALIGNED(MCU_KWS_WORKSPACE_ALIGNMENT)
static uint8_t kws_workspace[MCU_KWS_WORKSPACE_SIZE];
MCU_ALIGNED(MCU_SINE_WORKSPACE_ALIGNMENT)
static uint8_t sine_workspace[MCU_SINE_WORKSPACE_SIZE];

static mcu_instance_t kws, sine;

int main(void);

/* printf would want a heap. */
static void print_number(const char *before, int number, const char *behind) {
    char text[8], *at = text + sizeof text - 1;
    unsigned rest = number < 0 ? 0u - (unsigned)number : (unsigned)number;
    *at = '\0';
    do {
        *--at = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest != 0 && at > text + 1);
    if (number < 0) {
        *--at = '-';
    }
    board_print(before);
    board_print(at);
    board_print(behind);
}

/* Runs a network with one input of bytes, all of which are `value`; its output, or NULL. */
static const int8_t *run(mcu_instance_t *network, int8_t value) {
    DLTensor input, output;
    int32_t status = mcu_instance_input(network, 0, &input);
    if (status == MCU_OK) {
        status = mcu_instance_output(network, 0, &output);
    }
    if (status == MCU_OK) {
        int8_t *bytes = input.data;
        for (size_t i = 0; i < mcu_tensor_bytes(&input); i++) {
            bytes[i] = value;
        }
        status = mcu_instance_run(network, &input, 1, &output, 1);
    }
    if (status != MCU_OK) {
        board_print(mcu_error_string(status));
        return NULL;
    }
    return output.data;
}

int main(void) {
    if (mcu_instance_init(&kws, mcu_network_kws, kws_workspace, sizeof kws_workspace) != MCU_OK ||
        mcu_instance_init(&sine, mcu_network_sine, sine_workspace, sizeof sine_workspace) !=
            MCU_OK) {
        return 1;
    }
    const int8_t *scores = run(&kws, 0);
    if (scores == NULL) {
        return 2;
    }
    int best = 0;
    for (int i = 1; i < (int)MCU_KWS_OUTPUT_0_BYTES; i++) {
        best = scores[i] > scores[best] ? i : best;
    }
    print_number("class ", best, ", ");
    print_number("score ", scores[best], "\n");
    for (int x = -128; x < 128; x += 64) {
        const int8_t *y = run(&sine, (int8_t)x);
        if (y == NULL) {
            return 3;
        }
        print_number("sine ", x, " is ");
        print_number("", *y, "\n");
    }
    return 0;
}
