/* exponential and hyperbolic_tangent against the C library's of double.
 * SPDX-License-Identifier: Apache-2.0 */
#include "../c/exponential.h"
#include "check.h"

#include <math.h>

static const double NEAR = 2.4e-7; /* 2^-22 */

static void powers_are_near(void) {
    double worst = 0.0;
    for (float x = -87.0F; x <= 87.0F; x += 0.00371F) {
        const double exact = exp((double)x);
        worst = fmax(worst, fabs((double)exponential(x) - exact) / exact);
    }
    CHECK_INT(worst < NEAR, 1);
    for (float x = 87.0F; x < 88.7F; x += 0.00371F) {
        const double exact = exp((double)x);
        worst = fmax(worst, fabs((double)exponential(x) - exact) / exact);
    }
    CHECK_INT(worst < 2 * NEAR, 1);
}

static void tangents_are_near(void) {
    double worst = 0.0;
    for (float x = -12.0F; x < 12.0F; x += 0.000731F) {
        const double exact = tanh((double)x);
        worst = fmax(worst, fabs((double)hyperbolic_tangent(x) - exact) / fabs(exact));
    }
    CHECK_INT(worst < NEAR, 1);
    CHECK_INT(hyperbolic_tangent(1e-20F) == 1e-20F, 1);
    CHECK_INT(hyperbolic_tangent(INFINITY) == 1.0F && hyperbolic_tangent(-INFINITY) == -1.0F, 1);
}

static void ends_are_kept(void) {
    CHECK_INT(exponential(0.0F) == 1.0F, 1);
    CHECK_INT(isinf(exponential(88.73F)) && isinf(exponential(INFINITY)), 1);
    CHECK_INT(exponential(88.72F) < INFINITY, 1);
    CHECK_INT(exponential(-INFINITY) == 0.0F && exponential(-104.5F) == 0.0F, 1);
    CHECK_INT(fabs((double)exponential(-100.0F) - exp(-100.0)) < 2e-45, 1);
    CHECK_INT(isnan(exponential(NAN)) && isnan(hyperbolic_tangent(NAN)), 1);
}

int main(void) {
    RUN_TEST(powers_are_near);
    RUN_TEST(tangents_are_near);
    RUN_TEST(ends_are_kept);
    return check_result();
}
