/* A network beside a sensor: the acceleration that an ADXL345 measures goes into a sine, and out of
 * the serial port.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "board.h"
#include "mcu/runtime.h"
#include "network_sine.h"

/* Analog Devices, ADXL345 data sheet. At its standard setting, 10 bits for +-2 g, 256 are 1 g. */
enum { ADXL345 = 0x53, DEVID = 0x00, POWER_CTL = 0x2D, DATAX0 = 0x32, FIFO_CTL = 0x38 };
enum { FIFO_STATUS = 0x39, IS_ADXL345 = 0xE5, MEASURE = 0x08, STREAM = 0x80, ENTRIES = 0x3F };

MCU_ALIGNED(MCU_SINE_WORKSPACE_ALIGNMENT)
static uint8_t workspace[MCU_SINE_WORKSPACE_SIZE];

static mcu_instance_t network;

int main(void);

/* printf would want a heap. */
static void print_number(const char *before, int number) {
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
}

/* One inference. False where the runtime refuses it. */
static bool sine(int8_t x, int8_t *y) {
    DLTensor input, output;
    if (mcu_instance_input(&network, 0, &input) != MCU_OK ||
        mcu_instance_output(&network, 0, &output) != MCU_OK) {
        return false;
    }
    memcpy(input.data, &x, 1);
    if (mcu_instance_run(&network, &input, 1, &output, 1) != MCU_OK) {
        return false;
    }
    memcpy(y, output.data, 1);
    return true;
}

int main(void) {
    board_init();
    uint8_t id = 0;
    if (!i2c_read(ADXL345, DEVID, &id, 1) || id != IS_ADXL345) {
        board_print("no sensor\n");
        return 1;
    }
    if (!i2c_write(ADXL345, FIFO_CTL, STREAM) || !i2c_write(ADXL345, POWER_CTL, MEASURE) ||
        mcu_instance_init(&network, mcu_network_sine, workspace, sizeof workspace) != MCU_OK) {
        return 2;
    }
    board_print("ready\n");
    for (;;) {
        uint8_t waiting = 0, axes[6];
        int8_t x, y;
        if (!i2c_read(ADXL345, FIFO_STATUS, &waiting, 1)) {
            board_print("the sensor is gone\n");
            return 3;
        }
        if ((waiting & ENTRIES) == 0 || !i2c_read(ADXL345, DATAX0, axes, sizeof axes)) {
            continue;
        }
        x = (int8_t)((int16_t)(axes[0] | axes[1] << 8) >> 2); /* of 10 bits the upper 8 */
        if (!sine(x, &y)) {
            return 4;
        }
        print_number("x ", x);
        print_number(" y ", y);
        board_print("\n");
    }
}
