/* Small networks with hand-written descriptors, of the form that the compiler generates.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef NETWORK_MINI_H
#define NETWORK_MINI_H

#include "mcu/model.h"

/* mini: y = 3 * (x + 1); int8 [2,3] to int8 [2,3]; two layers, the sum x + 1 between them. */
extern const mcu_model_t _mcu_network_mini;
#define mcu_network_mini             (&_mcu_network_mini)
#define MCU_MINI_WORKSPACE_SIZE      32u
#define MCU_MINI_WORKSPACE_ALIGNMENT 16u

/* mix: c = a * b element by element (int16 [4], int32 [2,1,2] to int32 [2,1,2], written over b),
 * s = sum of c (float32, no dimensions). */
extern const mcu_model_t _mcu_network_mix;
#define mcu_network_mix             (&_mcu_network_mix)
#define MCU_MIX_WORKSPACE_SIZE      64u
#define MCU_MIX_WORKSPACE_ALIGNMENT 32u

/* wide15, wide16: y = sum of 15 or 16 int8 [1] inputs. */
extern const mcu_model_t _mcu_network_wide15;
extern const mcu_model_t _mcu_network_wide16;
#define mcu_network_wide15           (&_mcu_network_wide15)
#define mcu_network_wide16           (&_mcu_network_wide16)
#define MCU_WIDE_WORKSPACE_SIZE      32u
#define MCU_WIDE_WORKSPACE_ALIGNMENT 4u

#endif /* NETWORK_MINI_H */
