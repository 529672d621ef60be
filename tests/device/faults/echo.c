/* Sends back each byte that it receives.
 * SPDX-License-Identifier: Apache-2.0 */
#include "mcu/platform.h"

void mcu_firmware_main(void);

void mcu_firmware_main(void) {
    static uint8_t buffer[256];
    mcu_platform_init();
    mcu_platform_write((const uint8_t *)"ready\n", 6);
    for (;;) {
        size_t size = mcu_platform_read(buffer, sizeof buffer);
        if (size == 0) {
            mcu_platform_wait();
        } else {
            mcu_platform_write(buffer, size);
        }
    }
}
