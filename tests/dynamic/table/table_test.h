/* What the two files of tests share.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TABLE_TEST_H
#define TABLE_TEST_H

#include "check.h"
#include "graphs.h"
#include "mcu/backend.h"

/* BackendFactory of the library under test. */
extern void *(*factory)(void);

bool same(const char *actual, const char *expected);
bool holds(const char *text, const char *part);

/* The answer of is_layer_supported, which must give one. */
mcu_support_t ask(mcu_backend_t *b, const mcu_graph_t *graph);

void run_layer_tests(void); /* table_layers.c */

#endif
