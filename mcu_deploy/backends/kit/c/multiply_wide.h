/* How CpuRef's kernels scale sums of 64 bits in TFLite models.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CPUREF_MULTIPLY_WIDE_H
#define CPUREF_MULTIPLY_WIDE_H

#include <stdint.h>

/* value * multiplier / 2^right, rounded once, ties up: MultiplyByQuantizedMultiplier of
 * TFLite-Micro for int64, whose multiplier has 15 bits. `right` is between 8 and 46, the value
 * below 2^47.
 */
int32_t multiply_wide(int64_t value, int32_t multiplier, int32_t right);

#endif /* CPUREF_MULTIPLY_WIDE_H */
