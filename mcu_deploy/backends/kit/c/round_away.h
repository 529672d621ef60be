/* How CpuRef's kernels turn a float into a quantized element in TFLite models.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CPUREF_ROUND_AWAY_H
#define CPUREF_ROUND_AWAY_H

#include <stdint.h>

/* `value`, clamped to low..high and rounded to the nearest integer, ties away from zero; `low` for
 * a NaN. The bounds are integers between -2^24 and 2^24.
 */
int32_t round_away(float value, float low, float high);

#endif /* CPUREF_ROUND_AWAY_H */
