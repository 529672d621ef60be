/* round_away against the C library's lroundf.
 * SPDX-License-Identifier: Apache-2.0 */
#include "../c/round_away.h"
#include "check.h"

#include <float.h>
#include <math.h>

static long expected(float value, float low, float high) {
    return isnan(value) ? lroundf(low) : lroundf(fminf(fmaxf(value, low), high));
}

static long differences(float value) {
    return (round_away(value, -128.0F, 127.0F) != expected(value, -128.0F, 127.0F)) +
           (round_away(value, 0.0F, 255.0F) != expected(value, 0.0F, 255.0F)) +
           (round_away(value, -65535.0F, 32768.0F) != expected(value, -65535.0F, 32768.0F));
}

static void rounds_as_the_library_beside_every_integer_and_half(void) {
    long count = 0;
    for (int quarter = -2100; quarter <= 2100; ++quarter) {
        float value = (float)quarter * 0.25F;
        count += differences(value);
        count += differences(nextafterf(value, FLT_MAX));
        count += differences(nextafterf(value, -FLT_MAX));
    }
    CHECK_INT(count, 0);
}

static void takes_ties_away_from_zero(void) {
    CHECK_INT(round_away(0.5F, -128.0F, 127.0F), 1);
    CHECK_INT(round_away(2.5F, -128.0F, 127.0F), 3);
    CHECK_INT(round_away(-0.5F, -128.0F, 127.0F), -1);
    CHECK_INT(round_away(-2.5F, -128.0F, 127.0F), -3);
    CHECK_INT(round_away(0.49999997F, -128.0F, 127.0F), 0);
}

static void clamps_before_it_rounds(void) {
    CHECK_INT(round_away(127.5F, -128.0F, 127.0F), 127);
    CHECK_INT(round_away(INFINITY, -128.0F, 127.0F), 127);
    CHECK_INT(round_away(-INFINITY, -128.0F, 127.0F), -128);
    CHECK_INT(round_away(NAN, -128.0F, 127.0F), -128);
}

int main(void) {
    RUN_TEST(rounds_as_the_library_beside_every_integer_and_half);
    RUN_TEST(takes_ties_away_from_zero);
    RUN_TEST(clamps_before_it_rounds);
    return check_result();
}
