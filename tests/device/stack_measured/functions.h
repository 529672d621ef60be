/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>

typedef struct stack_test {
    const char *name;
    void (*function)(void);
} stack_test_t;

extern const stack_test_t tests[];
extern const uint32_t num_tests;

/* Each test runs on several values, to take the branches for overflow, NaN and large arguments. */
extern const uint32_t num_values;
void choose_value(uint32_t index);
