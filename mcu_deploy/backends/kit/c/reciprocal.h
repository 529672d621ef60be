/* How CpuRef's kernels divide in TFLite models.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CPUREF_RECIPROCAL_H
#define CPUREF_RECIPROCAL_H

#include <stdint.h>

/* 1 / (1 + x), both with 31 fractional bits, for 0 <= x < 1: one_over_one_plus_x_for_x_in_0_1 of
 * gemmlowp, bit for bit.
 */
int32_t reciprocal(int32_t x);

#endif /* CPUREF_RECIPROCAL_H */
