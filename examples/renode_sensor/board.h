/* What main.c asks of the board.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef BOARD_H
#define BOARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The serial port and the I2C bus. */
void board_init(void);

void board_print(const char *text);

/* Registers of a device on the bus; false where it does not answer. */
bool i2c_read(uint8_t device, uint8_t first, uint8_t *values, size_t count);
bool i2c_write(uint8_t device, uint8_t first, uint8_t value);

#endif
