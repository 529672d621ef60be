/* A graph as a backend sees it, as text: one line for each thing, in the order of the structs.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef DUMP_H
#define DUMP_H

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include <mcu/backend.h>

static char dumped[1 << 16];
static size_t dumped_size;

__attribute__((format(printf, 1, 2))) static void put(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int size = vsnprintf(dumped + dumped_size, sizeof dumped - dumped_size, format, arguments);
    va_end(arguments);
    if (size > 0 && dumped_size + (size_t)size < sizeof dumped) {
        dumped_size += (size_t)size;
    }
}

static void put_ids(const char *what, const uint32_t *ids, uint32_t count) {
    put(" %s", what);
    for (uint32_t i = 0; i < count; i++) {
        if (ids[i] == MCU_NONE) {
            put(" -");
        } else {
            put(" %" PRIu32, ids[i]);
        }
    }
}

static void put_edge(const mcu_edge_t *edge) {
    put(" dtype %" PRId32 " shape", edge->dtype);
    for (uint32_t i = 0; i < edge->rank; i++) {
        put(" %" PRId64, edge->shape[i]);
    }
    if (edge->layout != NULL) {
        put_ids("layout", edge->layout, edge->rank);
    }
    for (uint32_t i = 0; i < edge->num_scales; i++) {
        put(" q %.9g %" PRId32, (double)edge->scales[i], edge->zero_points[i]);
    }
    put(" axis %" PRId32, edge->quantization_axis);
    if (edge->data != NULL) {
        put(" %s", (uintptr_t)edge->data % 16U == 0U ? "data" : "unaligned data");
        for (uint64_t i = 0; i < edge->data_bytes; i++) {
            put(" %02x", ((const unsigned char *)edge->data)[i]);
        }
    }
}

static void put_attribute(const mcu_attribute_t *attribute) {
    put("  %s", attribute->name);
    for (uint32_t i = 0; i < attribute->count; i++) {
        if (attribute->kind == MCU_ATTRIBUTE_INTS) {
            put(" %" PRId64, attribute->ints[i]);
        } else if (attribute->kind == MCU_ATTRIBUTE_FLOATS) {
            put(" %.17g", attribute->floats[i]);
        } else if (attribute->kind == MCU_ATTRIBUTE_STRINGS) {
            put(" '%s'", attribute->strings[i]);
        } else {
            put_edge(attribute->tensor);
        }
    }
    put("\n");
}

static void put_graph(const mcu_graph_t *graph) {
    put("%s opset %" PRIu32 " size %d for %s %d %d %d", graph->name, graph->opset,
        graph->struct_size == sizeof *graph, graph->core, graph->has_fpu, graph->has_dsp,
        graph->has_mve);
    put_ids("in", graph->inputs, graph->num_inputs);
    put_ids("out", graph->outputs, graph->num_outputs);
    put("\n");
    for (uint32_t i = 0; i < graph->num_nodes; i++) {
        const mcu_node_t *node = &graph->nodes[i];
        put("node %" PRIu32 " %s::%s %s", node->id, node->domain, node->op, node->name);
        put_ids("in", node->inputs, node->num_inputs);
        put_ids("out", node->outputs, node->num_outputs);
        put("\n");
        for (uint32_t j = 0; j < node->num_attributes; j++) {
            put_attribute(&node->attributes[j]);
        }
    }
    for (uint32_t i = 0; i < graph->num_edges; i++) {
        const mcu_edge_t *edge = &graph->edges[i];
        put("edge %" PRIu32 " %s", edge->id, edge->name);
        put_edge(edge);
        put_ids("from", &edge->producer, 1);
        put_ids("to", edge->consumers, edge->num_consumers);
        put("\n");
    }
#if MCU_BACKEND_API_MINOR >= 1
    for (uint32_t i = 0; graph->bodies != NULL && i < graph->num_nodes; i++) {
        if (graph->bodies[i] != NULL) {
            put("node %" PRIu32 " is ", graph->nodes[i].id);
            put_graph(graph->bodies[i]);
        }
    }
#endif
}

static const char *dump(const mcu_graph_t *graph) {
    dumped_size = 0;
    put_graph(graph);
    return dumped;
}

#endif /* DUMP_H */
