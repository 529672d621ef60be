/* Conv, channels last. weights: filter, kernel row, kernel column, channel.
 * SPDX-License-Identifier: Apache-2.0 */
#include "quantize.c"

static inline void dynref_conv(const int8_t *x, int8_t *y, const int8_t *weights,
                               const int32_t *bias, const float *factor, int16_t *patch,
                               int32_t filters, int32_t batch, int32_t height, int32_t width,
                               int32_t channels, int32_t out_height, int32_t out_width,
                               int32_t kernel_height, int32_t kernel_width, int32_t stride_y,
                               int32_t stride_x, int32_t dilation_y, int32_t dilation_x,
                               int32_t pad_top, int32_t pad_left, int32_t x_zero, int32_t y_zero,
                               int32_t low, int32_t high) {
    const int32_t depth = kernel_height * kernel_width * channels;
    for (int32_t n = 0; n < batch; n++, x += height * width * channels) {
        for (int32_t position = 0; position < out_height * out_width; position++) {
            /* What lies under the kernel, once for all filters. The padding's value is 0. */
            const int32_t top = position / out_width * stride_y - pad_top;
            const int32_t left = position % out_width * stride_x - pad_left;
            int16_t *next = patch;
            for (int32_t tap = 0; tap < kernel_height * kernel_width; tap++) {
                const int32_t row = top + tap / kernel_width * dilation_y;
                const int32_t column = left + tap % kernel_width * dilation_x;
                if (row < 0 || row >= height || column < 0 || column >= width) {
                    for (int32_t c = 0; c < channels; c++) {
                        *next++ = 0;
                    }
                    continue;
                }
                const int8_t *pixel = x + (row * width + column) * channels;
                for (int32_t c = 0; c < channels; c++) {
                    *next++ = (int16_t)(pixel[c] - x_zero);
                }
            }
            const int8_t *weight = weights;
            for (int32_t m = 0; m < filters; m++) {
                int32_t sum = bias[m];
                for (int32_t k = 0; k < depth; k++) {
                    sum += patch[k] * *weight++;
                }
                *y++ = dynref_quantize((float)sum * factor[m], y_zero, low, high);
            }
        }
    }
}
