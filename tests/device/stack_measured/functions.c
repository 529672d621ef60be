/* Calls of the C library and of libgcc's helpers, whose stack is bounded and measured.
 * SPDX-License-Identifier: Apache-2.0 */
#include "functions.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

static volatile float f, g;
static volatile double d, e;
static volatile int64_t l, m;
static volatile int32_t i;
static char to[64], from[64];

static const float values[] = {0.5F,  -0.5F,  1.0F,   2.0F,     -3.0F,     100.0F, -100.0F,
                               1e30F, 1e-30F, 1e-42F, INFINITY, -INFINITY, NAN,    12345.6F};
const uint32_t num_values = sizeof values / sizeof values[0];

void choose_value(uint32_t index) {
    f = values[index];
    g = values[(index + 3U) % num_values];
    d = (double)f;
    e = (double)g;
    i = (int32_t)(index * 5U) % 31 + 1;
    l = index % 2U == 0U ? INT64_C(-0x123456789ABCDEF) : 77;
    m = index % 3U == 0U ? 3 : INT64_C(0x1234567890);
}

#define TEST(name, statement)                                                                      \
    void test_##name(void);                                                                        \
    void test_##name(void) {                                                                       \
        statement;                                                                                 \
    }
#define ALL(X)                                                                                     \
    X(memcpy, memcpy(to, from, (size_t)i))                                                         \
    X(memset, memset(to, 1, (size_t)i))                                                            \
    X(memmove, memmove(to + i % 2, to + 1 - i % 2, (size_t)i))                                     \
    X(expf, f = expf(f))                                                                           \
    X(logf, f = logf(f))                                                                           \
    X(sinf, f = sinf(f))                                                                           \
    X(tanhf, f = tanhf(f))                                                                         \
    X(erff, f = erff(f))                                                                           \
    X(powf, f = powf(f, g))                                                                        \
    X(sqrtf, f = sqrtf(f))                                                                         \
    X(floorf, f = floorf(f))                                                                       \
    X(rintf, f = rintf(f))                                                                         \
    X(float_divide, f = f / g)                                                                     \
    X(float_multiply, f = f * g)                                                                   \
    X(float_add, f = f + g)                                                                        \
    X(float_compare, i = f < g)                                                                    \
    X(float_from_long, f = (float)l)                                                               \
    X(double_divide, d = d / e)                                                                    \
    X(double_multiply, d = d * e)                                                                  \
    X(double_add, d = d + e)                                                                       \
    X(exp, d = exp(d))                                                                             \
    X(long_divide, l = l / m)                                                                      \
    X(long_remainder, l = (int64_t)((uint64_t)l % (uint64_t)m))                                    \
    X(long_multiply, l = l * m)                                                                    \
    X(variadic, i = sum(4, i, i, i, i))                                                            \
    X(switched, i = switched(i))                                                                   \
    X(saved_floats, saved_floats())

static __attribute__((noinline)) int32_t sum(int32_t count, ...) {
    va_list list;
    va_start(list, count);
    int32_t total = 0;
    while (count-- > 0) {
        total += va_arg(list, int32_t);
    }
    va_end(list);
    return total;
}

static __attribute__((noinline)) int32_t array(int32_t x) {
    volatile int32_t words[25];
    for (int32_t k = 0; k < 25; k++) {
        words[k] = x;
    }
    return words[x % 25];
}

static __attribute__((noinline)) int32_t switched(int32_t x) {
    switch (x) {
    case 1:
        return 7;
    case 2:
        return i * 3;
    case 3:
        return i + 9;
    case 4:
        return m > 0 ? 3 : 4;
    case 5:
        return 11;
    case 6:
        return array(x) + array(x + 1);
    default:
        return array(x);
    }
}

/* Many values that live across a call: the FPU's registers are saved. */
static __attribute__((noinline)) void saved_floats(void) {
    float a = f, b = g, c = a * b, h = a + c, j = b + h, k = j * c;
    f = expf(a);
    f = f + a + b * c + h * j - k;
    g = sinf(b) + a * b * c * h * j * k;
}

ALL(TEST)

#define ENTRY(name, statement) {#name, test_##name},
const stack_test_t tests[] = {ALL(ENTRY)};
const uint32_t num_tests = sizeof tests / sizeof tests[0];
