/* Which layers this backend computes, and how.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef DYNAMICREF_LAYERS_H
#define DYNAMICREF_LAYERS_H

#include "layer.h"
#include "workloads/workload.h"

typedef struct operator_support {
    const char *domain;
    const char *op;
    uint32_t num_inputs; /* that must be there, from the first */
    int32_t layout; /* mcu_layout_rule_t: how the layer's computed tensors must lie in memory */

    /* Why the backend does not compute this layer, a clause that completes "DynamicRef: ..."; NULL:
     * it does. */
    const char *(*refuse)(const layer_t *layer);

    int32_t (*build)(const layer_t *layer, builder_t *builder);
} operator_support_t;

extern const operator_support_t operators[];
extern const size_t num_operators;

/* The operator of a layer that the backend computes; else NULL, and the reason. */
const operator_support_t *find_operator(const layer_t *layer, const char **reason);

#endif
