/* A stand-in of a few lines for the person-detection network: its shapes and its file's names, so
 * that the examples run without a build. Class: the sum of the pixels, modulo 2.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef NETWORK_VWW_H
#define NETWORK_VWW_H

#include "mcu/model.h"

extern const mcu_model_t _mcu_network_vww;
#define mcu_network_vww             (&_mcu_network_vww)
#define MCU_VWW_WORKSPACE_SIZE      27664u
#define MCU_VWW_WORKSPACE_ALIGNMENT 16u

#endif /* NETWORK_VWW_H */
