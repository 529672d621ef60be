/* reciprocal against the definition in gemmlowp, operation by operation, and against the division.
 * SPDX-License-Identifier: Apache-2.0 */
#include "../c/reciprocal.h"
#include "check.h"

#include <math.h>

/* SaturatingRoundingDoublingHighMul: the product of two fixed-point numbers. */
static int32_t product(int32_t a, int32_t b) {
    const int64_t exact = (int64_t)a * b;
    const int64_t nudge = exact >= 0 ? INT64_C(1) << 30 : 1 - (INT64_C(1) << 30);
    return a == b && a == INT32_MIN ? INT32_MAX : (int32_t)((exact + nudge) / (INT64_C(1) << 31));
}

/* SaturatingRoundingMultiplyByPOT with a positive exponent. */
static int32_t saturating_shift(int32_t value, int32_t bits) {
    const int64_t exact = (int64_t)value * (1 << bits);
    return exact > INT32_MAX ? INT32_MAX : exact < INT32_MIN ? INT32_MIN : (int32_t)exact;
}

/* one_over_one_plus_x_for_x_in_0_1; RoundingHalfSum of positive numbers is the first line. */
static int32_t expected(int32_t a) {
    const int32_t half_denominator = (int32_t)(((int64_t)a + INT32_MAX + 1) / 2);
    int32_t x = 1515870810 + product(half_denominator, -1010580540);
    for (int i = 0; i < 3; i++) {
        const int32_t one_minus = (1 << 29) - product(half_denominator, x);
        x += saturating_shift(product(x, one_minus), 2);
    }
    return saturating_shift(x, 1);
}

static void is_gemmlowps(void) {
    long count = 0;
    for (int64_t x = 0; x < INT32_MAX; x += 4099) {
        count += reciprocal((int32_t)x) != expected((int32_t)x);
    }
    CHECK_INT(count, 0);
    CHECK_INT(reciprocal(0), expected(0));
    CHECK_INT(reciprocal(INT32_MAX), expected(INT32_MAX));
}

static void is_near_the_quotient(void) {
    double worst = 0.0;
    for (int64_t x = 0; x < INT32_MAX; x += 65537) {
        const double exact = 2147483648.0 / (1.0 + (double)x / 2147483648.0);
        worst = fmax(worst, fabs(exact - reciprocal((int32_t)x)));
    }
    CHECK_INT(worst < 16.0, 1);
}

int main(void) {
    RUN_TEST(is_gemmlowps);
    RUN_TEST(is_near_the_quotient);
    return check_result();
}
