/* multiply_quantized and clamp against gemmlowp's definitions, written out in 64 bits.
 * SPDX-License-Identifier: Apache-2.0 */
#include "../c/clamp.h"
#include "../c/multiply_quantized.h"
#include "check.h"

/* SaturatingRoundingDoublingHighMul: a nudge by the product's sign, then C's own division. */
static int64_t high_product(int64_t a, int64_t b) {
    const int64_t product = a * b;
    const int64_t nudge = product >= 0 ? INT64_C(1) << 30 : 1 - (INT64_C(1) << 30);
    return (product + nudge) / (INT64_C(1) << 31);
}

/* RoundingDivideByPOT: half of the divisor away from zero, then C's own division. */
static int64_t divide(int64_t value, int32_t bits) {
    const int64_t half = (INT64_C(1) << bits) / 2;
    return (value + (value < 0 ? -half : half)) / (INT64_C(1) << bits);
}

static const int32_t values[] = {
    INT32_MIN,
    INT32_MIN + 1,
    -1073741825,
    -1073741824,
    -65537,
    -129,
    -128,
    -3,
    -2,
    -1,
    0,
    1,
    2,
    3,
    127,
    128,
    255,
    65535,
    1073741823,
    1073741824,
    INT32_MAX - 1,
    INT32_MAX,
};
static const int32_t multipliers[] = {
    0, 1, 1073741823, 1073741824, 1073741825, 1234567890, 1610612736, 2147483646, INT32_MAX,
};
#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static long differences(int32_t value, int32_t multiplier) {
    long count = 0;
    for (int32_t right = 0; right <= 31; ++right) {
        const int64_t expected = divide(high_product(value, multiplier), right);
        count += multiply_quantized(value, multiplier, right) != expected;
    }
    return count;
}

static void rounds_twice_at_the_ends_of_the_range(void) {
    long count = 0;
    for (unsigned v = 0; v < COUNT(values); ++v) {
        for (unsigned m = 0; m < COUNT(multipliers); ++m) {
            count += differences(values[v], multipliers[m]);
        }
    }
    CHECK_INT(count, 0);
}

static void rounds_twice_over_the_whole_range(void) {
    long count = 0;
    uint32_t state = 1;
    for (uint32_t step = 0; step < 100000U; ++step) {
        state = state * 1664525U + 1013904223U;
        const int32_t value = (int32_t)(state ^ (state >> 15)) >> (step % 24U);
        state = state * 1664525U + 1013904223U;
        count += differences(value, (int32_t)(state >> 1));
    }
    CHECK_INT(count, 0);
}

static void rounds_ties_of_the_shift_away_from_zero(void) {
    /* one half times two, by a multiplier of a half */
    CHECK_INT(multiply_quantized(6, 1073741824, 1), 2);
    CHECK_INT(multiply_quantized(-6, 1073741824, 1), -2);
    CHECK_INT(multiply_quantized(10, 1073741824, 1), 3);
}

static void rounds_ties_of_the_product_up(void) {
    CHECK_INT(multiply_quantized(3, 1073741824, 0), 2);
    CHECK_INT(multiply_quantized(-3, 1073741824, 0), -1);
}

static void clamps(void) {
    CHECK_INT(clamp(-129, -128, 127), -128);
    CHECK_INT(clamp(-128, -128, 127), -128);
    CHECK_INT(clamp(5, -128, 127), 5);
    CHECK_INT(clamp(128, -128, 127), 127);
    CHECK_INT(clamp(INT32_MAX, 3, 3), 3);
    CHECK_INT(clamp(INT32_MIN, 3, 3), 3);
}

int main(void) {
    RUN_TEST(rounds_twice_at_the_ends_of_the_range);
    RUN_TEST(rounds_twice_over_the_whole_range);
    RUN_TEST(rounds_ties_of_the_shift_away_from_zero);
    RUN_TEST(rounds_ties_of_the_product_up);
    RUN_TEST(clamps);
    return check_result();
}
