/* parts: out = sum = sum + x + 1 (int8 [4]), with everything that a descriptor can hold: a second
 * pool ("state"), a state, a kept tensor, two partitions, and an output at the caller's.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef NETWORK_PARTS_H
#define NETWORK_PARTS_H

#include "mcu/model.h"

/* mid = x + 1, kept; sum = sum + mid, a state that begins with 100, 101, 102, 103; "zeros" is a
 * state that nothing changes. Partitions: "head" (x to mid), "tail" (mid to out). */
extern const mcu_model_t _mcu_network_parts;
#define mcu_network_parts             (&_mcu_network_parts)
#define MCU_PARTS_WORKSPACE_SIZE      32u
#define MCU_PARTS_WORKSPACE_ALIGNMENT 16u
#define MCU_PARTS_STATE_SIZE          48u

#endif /* NETWORK_PARTS_H */
