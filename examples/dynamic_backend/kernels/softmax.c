/* Softmax over rows. exponential: round(2^bits * exp(-d * scale of x)) for d = 0..255, made when
 * the model is compiled; its bits leave room for the sum of a row. scale: of y. x may be y.
 * SPDX-License-Identifier: Apache-2.0 */
#include "quantize.c"

static inline void dynref_softmax(const int8_t *x, int8_t *y, const uint32_t *exponential,
                                  const float *scale, int32_t rows, int32_t size, int32_t y_zero) {
    for (int32_t r = 0; r < rows; r++, x += size, y += size) {
        int32_t largest = x[0];
        for (int32_t k = 1; k < size; k++) {
            largest = x[k] > largest ? x[k] : largest;
        }
        uint32_t total = 0;
        for (int32_t k = 0; k < size; k++) {
            total += exponential[largest - x[k]];
        }
        for (int32_t k = 0; k < size; k++) {
            const float share = (float)exponential[largest - x[k]] / (float)total;
            y[k] = dynref_quantize(share / scale[0], y_zero, -128, 127);
        }
    }
}
