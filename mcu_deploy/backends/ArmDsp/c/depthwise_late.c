/* A channel of a depthwise convolution of which integers round all sums as float32 does but a few.
 * Networks get the function's text; this comment and the includes stay behind.
 * SPDX-License-Identifier: Apache-2.0 */
#include "depthwise_late.h"

void depthwise_late(const uint32_t *taps, const uint32_t *late, const void *plane,
                    const int32_t *shape, void *y) {
    const int32_t stride = shape[2], pitch = 8 * ((shape[1] + 1) / 2), step = shape[8];
    const uint32_t lines = (uint32_t)shape[0], pixels = (uint32_t)shape[1];
    const uint32_t small = late[0] & 0xFF;
    for (int32_t line = 0; line < shape[5]; line++) {
        uint8_t *out = (uint8_t *)y + line * shape[7];
        for (int32_t pixel = 0; pixel < shape[6]; pixel++, out += step) {
            /* Few outputs are what a late sum gives; of these the sum is looked at. */
            if (*out != small) {
                continue;
            }
            const int32_t above = line * stride - shape[3], x = pixel * stride - shape[4];
            /* Two pixels are neighbours, and four channels on are the next two. */
            const int32_t a = 4 * x - 3 * (x & 1), b = 4 * x + 3 * (x & 1) + 1, c = a + 8;
            int32_t sum = 0;
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
            if (sum == (int32_t)late[1]) {
                *out = (uint8_t)(small + 1);
            }
        }
    }
}
