/* The curves of TFLite's integer LSTM. Networks get the functions' text as `static inline` of their
 * own; this comment and the includes stay behind.
 * SPDX-License-Identifier: Apache-2.0 */
#include "lstm.h"

int32_t lstm_table(uint32_t magnitude, int32_t bits, int32_t largest, const uint16_t *table) {
    /* Between two entries on a straight line; `largest` from the last entry on. */
    const uint32_t at = magnitude >> bits;
    if (at >= 255U) {
        return largest;
    }
    const uint32_t rest = magnitude & ((1U << bits) - 1U);
    const uint32_t rise = (uint32_t)table[at + 1U] - table[at];
    return (int32_t)(((uint32_t)table[at] << bits) + rest * rise);
}

int32_t lstm_sigmoid(int32_t v, const uint16_t *table) {
    /* Steps of 2^-12 to steps of 2^-15; an entry of the table covers 1/24. */
    const uint32_t magnitude = (uint32_t)(3 * (v < 0 ? -v : v));
    const int32_t value = lstm_table(magnitude, 9, 0x7FFF << 10, table);
    return ((v < 0 ? (1 << 25) - 1 - value : value) + (1 << 9)) >> 10;
}

int32_t lstm_tanh(int32_t v, int32_t multiplier, int32_t shift, const uint16_t *table) {
    /* 2 * sigmoid(2 * x) - 1, to steps of 2^-15. */
    const int32_t scaled = (v * multiplier + ((1 << shift) >> 1)) >> shift;
    const uint32_t magnitude = (uint32_t)(scaled < 0 ? -scaled : scaled);
    const int32_t value = lstm_table(magnitude, 8, 0xFFFF << 8, table) - (1 << 23);
    return ((scaled < 0 ? -1 - value : value) + (1 << 7)) >> 8;
}
