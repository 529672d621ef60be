/* multiply_wide against the quotient, by division instead of a shift.
 * SPDX-License-Identifier: Apache-2.0 */
#include "../c/multiply_wide.h"
#include "check.h"

/* The quotient rounded down, whatever the sign. */
static int64_t floor_quotient(int64_t value, int64_t divisor) {
    const int64_t towards_zero = value / divisor;
    return towards_zero - (value % divisor < 0);
}

static void is_the_nearest_integer_ties_up(void) {
    long count = 0;
    for (int32_t right = 8; right <= 46; right++) {
        const int64_t divisor = INT64_C(1) << right;
        /* Results that int32 holds. */
        const int64_t most = right < 32 ? INT64_C(1) << (right + 15) : (INT64_C(1) << 47) - 1;
        for (int64_t step = -1000; step <= 1000; step++) {
            const int64_t value = most / 1000 * step;
            const int64_t wanted = floor_quotient(value * 32767 + divisor / 2, divisor);
            count += multiply_wide(value, 32767, right) != wanted;
        }
    }
    CHECK_INT(count, 0);
    CHECK_INT(multiply_wide(1, 16384, 15), 1);
    CHECK_INT(multiply_wide(-1, 16384, 15), 0);
    CHECK_INT(multiply_wide(-3, 16384, 15), -1);
}

int main(void) {
    RUN_TEST(is_the_nearest_integer_ties_up);
    return check_result();
}
