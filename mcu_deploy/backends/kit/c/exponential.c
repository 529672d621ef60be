/* Exponential functions of float32. Networks get the functions' text as `static inline` ones of
 * their own; this comment and the includes stay behind. e^r is a minimax polynomial, within 2^-23
 * up to ln 2 / 2; tanh's near 0 is that of Cephes's tanhf (S. L. Moshier, www.netlib.org/cephes).
 * SPDX-License-Identifier: Apache-2.0 */
#include "exponential.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

float exponential(float x) {
    /* Far from 0 it is the square of e^(x / 2), which ends in infinity and 0. */
    const int is_far = fabsf(x) > 87.0F;
    if (is_far) {
        x = 0.5F * (x > 174.0F ? 174.0F : x < -174.0F ? -174.0F : x);
    }
    /* e^x = 2^n e^r, with the whole number n nearest to x / ln 2: behind a sum with 1.5 * 2^23
     * there is nothing left of a fraction. ln 2 is subtracted in two parts. */
    const float moved = x * 1.44269504F + 12582912.0F;
    const float n = moved - 12582912.0F;
    const float r = x - n * 0.693359375F + n * 2.12194440e-4F;
    float power = 8.3124302e-3F;
    power = power * r + 4.1890986e-2F;
    power = power * r + 0.16667119F;
    power = power * r + 0.49999225F;
    power = power * (r * r) + r + 1.0F;
    /* The bits of `moved` end with n, those of 2^n begin with it. */
    uint32_t bits;
    memcpy(&bits, &moved, sizeof bits);
    bits = (bits - 0x4B400000U + 127U) << 23;
    float scale;
    memcpy(&scale, &bits, sizeof scale);
    power *= scale;
    return is_far ? power * power : power;
}

float hyperbolic_tangent(float x) {
    const float size = fabsf(x);
    if (size < 0.625F) {
        const float square = x * x;
        float odd = -5.70498872745e-3F;
        odd = odd * square + 2.06390887954e-2F;
        odd = odd * square - 5.37397155531e-2F;
        odd = odd * square + 1.33314422036e-1F;
        odd = odd * square - 3.33332819422e-1F;
        return odd * square * x + x;
    }
    return copysignf(1.0F - 2.0F / (exponential(2.0F * size) + 1.0F), x);
}
