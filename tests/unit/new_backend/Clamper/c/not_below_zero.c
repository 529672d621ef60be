/* SPDX-License-Identifier: Apache-2.0 */
#include "not_below_zero.h"

float not_below_zero(float value) {
    return value > 0.0F ? value : 0.0F;
}
