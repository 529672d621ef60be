/* Views, copies, and another memory order: elements move, and never change.
 * SPDX-License-Identifier: Apache-2.0 */
#include "workload.h"

static const char *const headers[] = {"string.h"};

static int bytes_each(const mcu_edge_t *edge) {
    switch (edge->dtype) {
    case MCU_BOOL:
    case MCU_INT8:
    case MCU_UINT8:
        return 1;
    case MCU_INT16:
    case MCU_UINT16:
        return 2;
    case MCU_INT64:
    case MCU_UINT64:
    case MCU_FLOAT64:
        return 8;
    default:
        return 4;
    }
}

/* Reshape and its like: the output is the input's memory. */
int32_t build_view(const layer_t *layer, builder_t *builder) {
    builder->workload.costs = costs_of(layer);
    return MCU_BACKEND_OK;
}

/* Identity; mcu-deploy also inserts it where an output of the model is a constant. */
int32_t build_copy(const layer_t *layer, builder_t *builder) {
    const mcu_edge_t *x = layer->inputs[0];
    const long long bytes = (long long)elements_of(x) * bytes_each(x);
    if (is_constant(x)) {
        int8_t *data = add_constant(builder, "const int8_t *", "x", MCU_INT8, bytes);
        if (data == NULL) {
            return MCU_BACKEND_OUT_OF_MEMORY;
        }
        for (long long i = 0; i < bytes; i++) {
            data[i] = ((const int8_t *)x->data)[i];
        }
    } else {
        add_input(builder, "const int8_t *", "x");
    }
    add_output(builder, "int8_t *", "y");
    builder->workload.headers = headers;
    builder->workload.num_headers = 1;
    text_add(&builder->body, "{\n    memcpy(y, x, %lld);\n}", bytes);
    return workload_finish(builder, layer, "copy");
}

/* How far apart the elements along an axis lie in memory. */
static int32_t step_of(const mcu_edge_t *edge, uint32_t axis) {
    int32_t step = 1;
    for (uint32_t i = edge->rank; i-- > 0;) {
        const uint32_t inner = edge->layout == NULL ? i : edge->layout[i];
        if (inner == axis) {
            break;
        }
        step *= dimension_of(edge, (int)inner);
    }
    return step;
}

int32_t build_reorder(const layer_t *layer, builder_t *builder) {
    const mcu_edge_t *x = layer->inputs[0], *y = layer->output;
    int sizes[4] = {1, 1, 1, 1}, steps[4] = {0, 0, 0, 0};
    for (uint32_t i = 0; i < y->rank;
         i++) { /* y's axes in memory order, the last ones at the end */
        const uint32_t axis = y->layout == NULL ? i : y->layout[i];
        sizes[4 - y->rank + i] = dimension_of(y, (int)axis);
        steps[4 - y->rank + i] = step_of(x, axis);
    }
    add_input(builder, "const uint8_t *", "x");
    add_output(builder, "uint8_t *", "y");
    add_helper(builder, KERNEL_REORDER);
    builder->workload.headers = headers;
    builder->workload.num_headers = 1;
    text_add(&builder->body,
             "{\n    $dynref_reorder(x, y, %d, /* bytes of an element */\n"
             "        %d, %d, %d, %d, /* sizes */\n"
             "        %d, %d, %d, %d /* steps */\n    );\n}",
             bytes_each(x), sizes[0], sizes[1], sizes[2], sizes[3], steps[0], steps[1], steps[2],
             steps[3]);
    return workload_finish(builder, layer, "reorder");
}
