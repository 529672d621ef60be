/* How CpuRef's kernels look up a function of int16 in TFLite models.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CPUREF_LOOKED_UP_H
#define CPUREF_LOOKED_UP_H

#include <stdint.h>

/* The function at `place`, 0 to 65535, of which a table has every 128th value and the one behind
 * the last.
 */
int32_t looked_up(const int16_t *table, int32_t place);

#endif /* CPUREF_LOOKED_UP_H */
