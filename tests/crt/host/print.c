/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "../check.h"

void test_print(const char *text) {
    fputs(text, stdout);
}
