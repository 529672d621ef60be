/* Looks up a function of int16 as TensorFlow Lite does. Networks get the function's text as a
 * `static inline` of their own; this comment and the includes stay behind.
 * SPDX-License-Identifier: Apache-2.0 */
#include "looked_up.h"

int32_t looked_up(const int16_t *table, int32_t place) {
    /* On the line between two entries, rounded to nearest, ties up. */
    const int32_t here = table[place >> 7];
    const int32_t slope = table[(place >> 7) + 1] - here;
    return here + ((slope * (place & 127) + 64) >> 7);
}
