/* Gemm with a Softmax behind it, as one layer.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef DYNAMICREF_OPTIMIZE_H
#define DYNAMICREF_OPTIMIZE_H

#include "layer.h"
#include "text.h"

/* Finds the pairs in a partition, and fills in the answer; memory comes from the arena. */
int32_t fuse_gemm_softmax(const mcu_graph_t *graph, arena_t *arena, mcu_optimization_t *answer);

#endif
