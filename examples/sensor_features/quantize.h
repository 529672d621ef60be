/* Real numbers to the int8 of a network's input, as ONNX's QuantizeLinear and TFLite have it.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef QUANTIZE_H
#define QUANTIZE_H

#include <math.h>
#include <stdint.h>

/* real / scale, rounded half to even, plus the zero point, saturated; NaN is the lowest. scale and
 * zero_point: MCU_<NAME>_INPUT_0_SCALE and _ZERO_POINT of network_<name>.h. */
static inline int8_t quantize_int8(float real, float scale, int32_t zero_point) {
    float steps = real / scale;
    float lowest = (float)(INT8_MIN - zero_point);
    float highest = (float)(INT8_MAX - zero_point);
    if (!(steps > lowest)) {
        return INT8_MIN;
    }
    if (steps > highest) {
        return INT8_MAX;
    }
    return (int8_t)((int32_t)lrintf(steps) + zero_point);
}

/* The real number that an int8 of an output stands for. */
static inline float dequantize_int8(int8_t value, float scale, int32_t zero_point) {
    return scale * (float)(value - zero_point);
}

#endif
