/* Gemm and MatMul: rows times a constant matrix. weights: column by column.
 * SPDX-License-Identifier: Apache-2.0 */
#include "quantize.c"

static inline void dynref_gemm(const int8_t *x, int8_t *y, const int8_t *weights,
                               const int32_t *bias, const float *factor, int32_t rows,
                               int32_t depth, int32_t columns, int32_t x_zero, int32_t y_zero,
                               int32_t low, int32_t high) {
    for (int32_t r = 0; r < rows; r++, x += depth) {
        const int8_t *column = weights;
        for (int32_t n = 0; n < columns; n++, column += depth) {
            int32_t sum = bias[n];
            for (int32_t k = 0; k < depth; k++) {
                sum += (x[k] - x_zero) * column[k];
            }
            *y++ = dynref_quantize((float)sum * factor[n], y_zero, low, high);
        }
    }
}
