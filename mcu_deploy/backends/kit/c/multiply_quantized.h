/* How CpuRef's kernels scale integers in TFLite models.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CPUREF_MULTIPLY_QUANTIZED_H
#define CPUREF_MULTIPLY_QUANTIZED_H

#include <stdint.h>

/* value * multiplier / 2^(31 + right), rounded twice: MultiplyByQuantizedMultiplier of TFLite-Micro
 * with a shift of -right. The multiplier is not negative, `right` between 0 and 31.
 */
int32_t multiply_quantized(int32_t value, int32_t multiplier, int32_t right);

#endif /* CPUREF_MULTIPLY_QUANTIZED_H */
