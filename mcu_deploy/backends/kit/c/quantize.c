/* Rounds without the C library and without touching FPSCR. Networks get the function's text as a
 * `static inline` of their own; this comment and the includes stay behind.
 * SPDX-License-Identifier: Apache-2.0 */
#include "quantize.h"

int32_t quantize(float value, float low, float high) {
    /* Clamp first, then round to nearest, ties to even: 1.5 * 2^23 pushes the fraction out of the
     * significand, and the integer stays in its low bits. A NaN becomes the lower bound. */
    union {
        float real;
        int32_t bits;
    } sum;
    value = value > low ? value : low;
    value = value < high ? value : high;
    sum.real = value + 12582912.0F;
    return sum.bits - 0x4B400000;
}
