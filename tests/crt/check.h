/* What a C unit test needs, and no more: checks that report file and line, named tests, a result.
 * Prints through test_print: host/print.c, and target/startup.c by semihosting.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CHECK_H
#define CHECK_H

#include <stdbool.h>

#define CHECK(condition) check_true((condition), #condition, __FILE__, __LINE__)
#define CHECK_INT(actual, expected)                                                                \
    check_int((long)(actual), (long)(expected), #actual, __FILE__, __LINE__)

void check_true(bool holds, const char *what, const char *file, int line);
void check_int(long actual, long expected, const char *what, const char *file, int line);

/* Runs a test and prints "ok NAME" or "FAILED NAME". */
#define RUN_TEST(function) check_run(#function, function)
void check_run(const char *name, void (*function)(void));

/* Prints the number of tests and of failed ones; the exit code of the program. */
int check_result(void);

void test_print(const char *text);

#endif /* CHECK_H */
