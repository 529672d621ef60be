/* Scales a sum of products as TensorFlow Lite does. Networks get the function's text as a
 * `static inline` of their own; this comment and the includes stay behind.
 * SPDX-License-Identifier: Apache-2.0 */
#include "multiply_quantized.h"

int32_t multiply_quantized(int32_t value, int32_t multiplier, int32_t right) {
    /* The product's high half, doubled and rounded to nearest, then the shift, rounded to nearest
     * once more: ties go up at first, and away from zero then. */
    const int32_t high = (int32_t)(((int64_t)value * multiplier + (1 << 30)) >> 31);
    const int32_t mask = (int32_t)(((uint32_t)1 << right) - 1U);
    const int32_t threshold = (mask >> 1) + (high < 0);
    return (high >> right) + ((high & mask) > threshold);
}
