/* SPDX-License-Identifier: Apache-2.0 */
#include "check.h"

static unsigned long num_checks;
static unsigned long num_failures;
static unsigned long num_tests;
static unsigned long num_failed_tests;

static void print_number(long number) {
    char text[24];
    char *digit = &text[sizeof text - 1];
    unsigned long rest = number < 0 ? 0UL - (unsigned long)number : (unsigned long)number;
    *digit = '\0';
    do {
        *--digit = (char)('0' + (int)(rest % 10UL));
        rest /= 10UL;
    } while (rest != 0);
    if (number < 0) {
        *--digit = '-';
    }
    test_print(digit);
}

static void print_place(const char *file, int line) {
    ++num_failures;
    test_print(file);
    test_print(":");
    print_number(line);
    test_print(": ");
}

void check_true(bool holds, const char *what, const char *file, int line) {
    ++num_checks;
    if (!holds) {
        print_place(file, line);
        test_print(what);
        test_print(" does not hold\n");
    }
}

void check_int(long actual, long expected, const char *what, const char *file, int line) {
    ++num_checks;
    if (actual != expected) {
        print_place(file, line);
        test_print(what);
        test_print(" is ");
        print_number(actual);
        test_print(", expected ");
        print_number(expected);
        test_print("\n");
    }
}

void check_run(const char *name, void (*function)(void)) {
    unsigned long before = num_failures;
    function();
    ++num_tests;
    num_failed_tests += num_failures != before;
    test_print(num_failures != before ? "FAILED " : "ok ");
    test_print(name);
    test_print("\n");
}

int check_result(void) {
    print_number((long)num_tests);
    test_print(" tests, ");
    print_number((long)num_checks);
    test_print(" checks, ");
    print_number((long)num_failed_tests);
    test_print(" failed\n");
    return num_failed_tests == 0 ? 0 : 1;
}
