/* The end of every kernel: a real number, counted in steps of the output's scale, as int8.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef DYNREF_QUANTIZE
#define DYNREF_QUANTIZE

#include <stdint.h>

static inline int8_t dynref_quantize(float steps, int32_t zero, int32_t low, int32_t high) {
    /* Clamped first: the bounds are integers, so the order does not matter. */
    const float least = (float)(low - zero);
    const float most = (float)(high - zero);
    steps = steps > least ? steps : least;
    steps = steps < most ? steps : most;
    /* To nearest, ties to even: beside 1.5 * 2^23 a float has no bits left for a fraction, and the
     * integer stands in its low bits. */
    union {
        float real;
        int32_t bits;
    } sum;
    sum.real = steps + 12582912.0F;
    return (int8_t)(sum.bits - 0x4B400000 + zero);
}

#endif
