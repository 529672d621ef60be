/* AveragePool, channels last: sums in float32, row by row; the padding does not count.
 * scales: of x, of y.
 * SPDX-License-Identifier: Apache-2.0 */
#include "quantize.c"

static inline void dynref_average_pool(const int8_t *x, int8_t *y, const float *scales,
                                       int32_t batch, int32_t height, int32_t width,
                                       int32_t channels, int32_t out_height, int32_t out_width,
                                       int32_t kernel_height, int32_t kernel_width,
                                       int32_t stride_y, int32_t stride_x, int32_t dilation_y,
                                       int32_t dilation_x, int32_t pad_top, int32_t pad_left,
                                       int32_t x_zero, int32_t y_zero, int32_t low, int32_t high) {
    for (int32_t n = 0; n < batch; n++, x += height * width * channels) {
        for (int32_t position = 0; position < out_height * out_width; position++) {
            const int32_t top = position / out_width * stride_y - pad_top;
            const int32_t left = position % out_width * stride_x - pad_left;
            for (int32_t c = 0; c < channels; c++) {
                float sum = 0.0F;
                int32_t count = 0;
                for (int32_t tap = 0; tap < kernel_height * kernel_width; tap++) {
                    const int32_t row = top + tap / kernel_width * dilation_y;
                    const int32_t column = left + tap % kernel_width * dilation_x;
                    if (row < 0 || row >= height || column < 0 || column >= width) {
                        continue;
                    }
                    sum += (float)(x[(row * width + column) * channels + c] - x_zero) * scales[0];
                    count++;
                }
                *y++ = dynref_quantize(sum / (float)count / scales[1], y_zero, low, high);
            }
        }
    }
}
