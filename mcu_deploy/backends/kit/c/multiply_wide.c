/* Scales a sum of 64 bits as TensorFlow Lite does. Networks get the function's text as a
 * `static inline` of their own; this comment and the includes stay behind.
 * SPDX-License-Identifier: Apache-2.0 */
#include "multiply_wide.h"

int32_t multiply_wide(int64_t value, int32_t multiplier, int32_t right) {
    /* Rounded to nearest, ties up. */
    return (int32_t)((value * multiplier + ((int64_t)1 << (right - 1))) >> right);
}
