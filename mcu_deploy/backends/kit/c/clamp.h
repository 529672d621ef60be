/* How CpuRef's kernels saturate integers.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CPUREF_CLAMP_H
#define CPUREF_CLAMP_H

#include <stdint.h>

/* The value, or the bound that it lies beyond. */
int32_t clamp(int32_t value, int32_t low, int32_t high);

#endif /* CPUREF_CLAMP_H */
