/* A channel of a depthwise convolution of which no integers round all sums as float32 does: outputs
 * that may be wrong, or all, are computed again. Networks get the function's text; this comment and
 * the includes stay behind.
 * SPDX-License-Identifier: Apache-2.0 */
#include "depthwise_in_float.h"

void depthwise_in_float(const uint32_t *taps, const uint32_t *rounding, const void *plane,
                        const int32_t *shape, void *y) {
    const int32_t stride = shape[2], pitch = 8 * ((shape[1] + 1) / 2), step = shape[8];
    const uint32_t lines = (uint32_t)shape[0], pixels = (uint32_t)shape[1];
    const int32_t bias = (int32_t)rounding[0], zero = shape[11];
    const float low = (float)shape[9], high = (float)shape[10];
    union {
        uint32_t bits;
        float real;
    } factor;
    factor.bits = rounding[1];
    for (int32_t line = 0; line < shape[5]; line++) {
        uint8_t *out = (uint8_t *)y + line * shape[7];
        for (int32_t pixel = 0; pixel < shape[6]; pixel++, out += step) {
            if (!(rounding[2 + (*out >> 5)] >> (*out & 31) & 1)) {
                continue;
            }
            const int32_t above = line * stride - shape[3], x = pixel * stride - shape[4];
            /* Two pixels are neighbours, and four channels on are the next two. */
            const int32_t a = 4 * x - 3 * (x & 1), b = 4 * x + 3 * (x & 1) + 1, c = a + 8;
            int32_t sum = bias;
            for (int32_t row = 0; row < 3; row++) {
                if ((uint32_t)(above + row) < lines) {
                    const int16_t *at = (const int16_t *)plane + pitch * (above + row);
                    const uint32_t w = taps[row];
                    if ((uint32_t)x < pixels) {
                        sum += (int8_t)w * at[a];
                    }
                    if ((uint32_t)(x + 1) < pixels) {
                        sum += (int8_t)(w >> 8) * at[b];
                    }
                    if ((uint32_t)(x + 2) < pixels) {
                        sum += (int8_t)(w >> 16) * at[c];
                    }
                }
            }
            /* Clamped, then rounded to nearest, ties to even, by 1.5 * 2^23. */
            union {
                float real;
                int32_t bits;
            } rounded;
            rounded.real = (float)sum * factor.real;
            rounded.real = rounded.real > low ? rounded.real : low;
            rounded.real = rounded.real < high ? rounded.real : high;
            rounded.real += 12582912.0F;
            *out = (uint8_t)(rounded.bits - 0x4B400000 + zero);
        }
    }
}
