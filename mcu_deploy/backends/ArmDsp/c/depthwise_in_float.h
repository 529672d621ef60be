/* Of the depthwise kernel: channels that are rounded in float32.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef ARMDSP_DEPTHWISE_IN_FLOAT_H
#define ARMDSP_DEPTHWISE_IN_FLOAT_H

#include <stdint.h>

/* The doubtful outputs of one channel's output lines y, bytes, of one channel of the planes, of
 * which a pixel has the int16 at 8 * (pair of pixels) + (0 or 1).
 *
 * taps: three words with a row of weights in bytes 0..2 each. rounding: the bias, the bits of the
 * factor, and eight words with a bit for each byte that an output may be: whether it is doubtful.
 * shape: of the planes lines and pixels; stride; padding before lines and before pixels; of the
 * output lines, pixels, bytes from line to line and from pixel to pixel; the output's least and
 * greatest value without the zero point, and the zero point.
 */
void depthwise_in_float(const uint32_t *taps, const uint32_t *rounding, const void *plane,
                        const int32_t *shape, void *y);

#endif /* ARMDSP_DEPTHWISE_IN_FLOAT_H */
