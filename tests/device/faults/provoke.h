/* One forbidden thing a letter; for Cortex-M in provoke_cortexm.c, for the host in provoke_host.c.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef PROVOKE_H
#define PROVOKE_H

#include <stdint.h>

/* Does what `letter` stands for; returns a number only if that was allowed. */
uint32_t provoke(uint8_t letter);

/* The functions in which a fault's PC must lie. */
#define CULPRIT __attribute__((noinline, noclone, used)) static

#endif /* PROVOKE_H */
