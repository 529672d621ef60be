/* How CpuRef's kernels turn a float into a quantized element.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CPUREF_QUANTIZE_H
#define CPUREF_QUANTIZE_H

#include <stdint.h>

/* `value`, clamped to low..high and rounded to the nearest integer, ties to even; `low` for a NaN.
 * The bounds are integers between -2^22 and 2^22, which is ample for 8 bits and their zero point.
 */
int32_t quantize(float value, float low, float high);

#endif /* CPUREF_QUANTIZE_H */
