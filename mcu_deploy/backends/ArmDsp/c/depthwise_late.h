/* Of the depthwise kernel: channels of which a few sums are rounded too late.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef ARMDSP_DEPTHWISE_LATE_H
#define ARMDSP_DEPTHWISE_LATE_H

#include <stdint.h>

/* Adds one to the outputs of a late sum, in one channel's output lines y, bytes; the planes have an
 * int16 of each of its pixels at 8 * (pair of pixels) + (0 or 1).
 *
 * taps: three words with a row of weights in bytes 0..2 each. late: the output as it is, in the
 * lowest byte, and the sum of products. shape: of the planes lines and pixels; stride; padding
 * before lines and before pixels; of the output lines, pixels, bytes from line to line and from
 * pixel to pixel.
 */
void depthwise_late(const uint32_t *taps, const uint32_t *late, const void *plane,
                    const int32_t *shape, void *y);

#endif /* ARMDSP_DEPTHWISE_LATE_H */
