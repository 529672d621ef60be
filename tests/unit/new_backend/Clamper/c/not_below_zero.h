/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NOT_BELOW_ZERO_H
#define NOT_BELOW_ZERO_H

float not_below_zero(float value);

#endif
