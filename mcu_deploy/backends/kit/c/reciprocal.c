/* Divides as gemmlowp does, for TFLite's Softmax. Networks get the function's text as a
 * `static inline` of their own; this comment and the includes stay behind.
 * SPDX-License-Identifier: Apache-2.0 */
#include "reciprocal.h"

int32_t reciprocal(int32_t x) {
    /* Three of Newton's steps from 48/17 - 32/17 d, where d = (1 + x) / 2 has 31 fractional bits;
     * 1 / d and the error have 29. Every product is rounded to nearest, ties up. */
    const int64_t tie = 1 << 30;
    const int64_t d = ((int64_t)x + INT32_MAX + 1) >> 1;
    int64_t inverse = 1515870810 + ((d * -1010580540 + tie) >> 31);
    for (int32_t step = 0; step < 3; step++) {
        const int64_t error = (1 << 29) - ((d * inverse + tie) >> 31);
        inverse += ((inverse * error + tie) >> 31) * 4;
    }
    return inverse * 2 > INT32_MAX ? INT32_MAX : (int32_t)(inverse * 2);
}
