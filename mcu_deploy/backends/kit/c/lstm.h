/* Sigmoid and tanh as TFLite's integer LSTM has them, by a table of 256 entries.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef KIT_LSTM_H
#define KIT_LSTM_H

#include <stdint.h>

/* The table at magnitude / 2^bits, times 2^bits; `largest` from its last entry on. */
int32_t lstm_table(uint32_t magnitude, int32_t bits, int32_t largest, const uint16_t *table);

/* Of v in steps of 2^-12 the sigmoid in steps of 2^-15. table: mcu_deploy's `sigmoid_table`. */
int32_t lstm_sigmoid(int32_t v, const uint16_t *table);

/* Of v, times multiplier / 2^shift in steps of 1 / (3 * 2^12) / 2, the tanh in steps of 2^-15. */
int32_t lstm_tanh(int32_t v, int32_t multiplier, int32_t shift, const uint16_t *table);

#endif /* KIT_LSTM_H */
