/* Saturates an integer. Networks get the function's text as a `static inline` of their own; this
 * comment and the includes stay behind.
 * SPDX-License-Identifier: Apache-2.0 */
#include "clamp.h"

int32_t clamp(int32_t value, int32_t low, int32_t high) {
    value = value < low ? low : value;
    return value > high ? high : value;
}
