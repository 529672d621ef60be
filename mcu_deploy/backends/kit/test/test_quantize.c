/* quantize against the C library's own rounding.
 * SPDX-License-Identifier: Apache-2.0 */
#include "../c/quantize.h"
#include "check.h"

#include <fenv.h>
#include <float.h>
#include <math.h>
#include <string.h>

/* The bounds of int8 and uint8 less a zero point, with fused activations, and the widest ones. */
static const struct {
    float low, high;
} bounds[] = {
    {-128.0F, 127.0F}, {0.0F, 255.0F}, {-255.0F, 0.0F}, {0.0F, 127.0F},
    {-3.0F, 12.0F},    {-7.0F, -7.0F}, {0.0F, 0.0F},    {-4194304.0F, 4194304.0F},
};
#define NUM_BOUNDS (sizeof bounds / sizeof bounds[0])

static float from_bits(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static long expected(float value, float low, float high) {
    return isnan(value) ? lrintf(low) : lrintf(fminf(fmaxf(value, low), high));
}

/* How many of the bounds give another integer than the C library. */
static long differences(float value) {
    long count = 0;
    for (unsigned i = 0; i < NUM_BOUNDS; ++i) {
        float low = bounds[i].low;
        float high = bounds[i].high;
        count += quantize(value, low, high) != expected(value, low, high);
    }
    return count;
}

static void rounds_as_the_library_over_all_magnitudes(void) {
    long count = 0;
    uint32_t bits = 0;
    /* a prime step, so that every sign, exponent and NaN is met with changing significands */
    for (uint32_t step = 0; step < 2097152U; ++step) {
        count += differences(from_bits(bits));
        bits += 2039U;
    }
    CHECK_INT(count, 0);
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

static void takes_ties_to_the_even_integer(void) {
    CHECK_INT(quantize(0.5F, -128.0F, 127.0F), 0);
    CHECK_INT(quantize(1.5F, -128.0F, 127.0F), 2);
    CHECK_INT(quantize(2.5F, -128.0F, 127.0F), 2);
    CHECK_INT(quantize(-0.5F, -128.0F, 127.0F), 0);
    CHECK_INT(quantize(-1.5F, -128.0F, 127.0F), -2);
    CHECK_INT(quantize(-2.5F, -128.0F, 127.0F), -2);
}

static void clamps_before_it_rounds(void) {
    CHECK_INT(quantize(127.5F, -128.0F, 127.0F), 127);
    CHECK_INT(quantize(-128.5F, -128.0F, 127.0F), -128);
    CHECK_INT(quantize(1e30F, -128.0F, 127.0F), 127);
    CHECK_INT(quantize(-1e30F, -128.0F, 127.0F), -128);
    CHECK_INT(quantize(INFINITY, -128.0F, 127.0F), 127);
    CHECK_INT(quantize(-INFINITY, -128.0F, 127.0F), -128);
    CHECK_INT(quantize(FLT_MAX, -7.0F, -7.0F), -7);
}

static void makes_the_lower_bound_of_a_nan(void) {
    CHECK_INT(quantize(NAN, -128.0F, 127.0F), -128);
    CHECK_INT(quantize(-NAN, 0.0F, 255.0F), 0);
    CHECK_INT(quantize(from_bits(0x7F800001U), -3.0F, 12.0F), -3);
}

static void has_one_zero(void) {
    CHECK_INT(quantize(0.0F, -128.0F, 127.0F), 0);
    CHECK_INT(quantize(-0.0F, -128.0F, 127.0F), 0);
    CHECK_INT(quantize(from_bits(0x80000001U), -128.0F, 127.0F), 0);
    CHECK_INT(quantize(-0.0F, 0.0F, 255.0F), 0);
}

int main(void) {
    /* what `expected` stands on */
    CHECK_INT(fegetround(), FE_TONEAREST);
    RUN_TEST(rounds_as_the_library_over_all_magnitudes);
    RUN_TEST(rounds_as_the_library_beside_every_integer_and_half);
    RUN_TEST(takes_ties_to_the_even_integer);
    RUN_TEST(clamps_before_it_rounds);
    RUN_TEST(makes_the_lower_bound_of_a_nan);
    RUN_TEST(has_one_zero);
    return check_result();
}
