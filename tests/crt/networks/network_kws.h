/* A stand-in of a few lines for the keyword-spotting network: its shapes and its file's names, so
 * that the examples run without a build. Class: the sum of the features, modulo 12.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef NETWORK_KWS_H
#define NETWORK_KWS_H

#include "mcu/model.h"

extern const mcu_model_t _mcu_network_kws;
#define mcu_network_kws             (&_mcu_network_kws)
#define MCU_KWS_WORKSPACE_SIZE      512u
#define MCU_KWS_WORKSPACE_ALIGNMENT 16u

#endif /* NETWORK_KWS_H */
