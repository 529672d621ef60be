/* Rounds as TFLite's QUANTIZE does. Networks get the function's text as a `static inline` of their
 * own; this comment and the includes stay behind.
 * SPDX-License-Identifier: Apache-2.0 */
#include "round_away.h"

int32_t round_away(float value, float low, float high) {
    /* Clamp first, so that the integer holds it; a NaN becomes the lower bound. What the integer
     * leaves of the value is exact. */
    value = value > low ? value : low;
    value = value < high ? value : high;
    const int32_t whole = (int32_t)value;
    const float rest = value - (float)whole;
    return whole + (rest >= 0.5F) - (rest <= -0.5F);
}
