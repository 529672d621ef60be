/* SPDX-License-Identifier: Apache-2.0 */
#include "../c/not_below_zero.h"

int main(void) {
    return not_below_zero(-1.0F) == 0.0F && not_below_zero(2.0F) == 2.0F ? 0 : 1;
}
