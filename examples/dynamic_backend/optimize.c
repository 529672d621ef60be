/* A Gemm whose result only a Softmax reads becomes one layer with it, DynamicRef::GemmSoftmax: one
 * call less, and the tensor between them needs no place in the arena. What it computes is the same
 * to the bit: the two are the body of the new one, and say all that there is to know.
 * SPDX-License-Identifier: Apache-2.0 */
#include "optimize.h"

#include <string.h>

/* The node that follows `gemm` if the two can be one; else NULL. */
static const mcu_node_t *softmax_behind(const mcu_graph_t *graph, const mcu_node_t *gemm) {
    layer_t layer;
    if (!(node_is(gemm, "", "Gemm") || node_is(gemm, "", "MatMul")) ||
        !layer_of(graph, gemm, &layer) || layer.inputs[0] == NULL || is_constant(layer.inputs[0]) ||
        !is_quantized(layer.output) || layer.output->num_consumers != 1) {
        return NULL;
    }
    for (uint32_t i = 0; i < graph->num_outputs; i++) {
        if (graph->outputs[i] == layer.output->id) { /* it is read outside, too */
            return NULL;
        }
    }
    for (uint32_t n = 0; n < graph->num_nodes; n++) {
        const mcu_node_t *node = &graph->nodes[n];
        if (node->id == layer.output->consumers[0] && node_is(node, "", "Softmax")) {
            return node;
        }
    }
    return NULL;
}

/* A copy of an edge for the one node of a graph of its own; false: there is no memory. */
static bool copy_edge(arena_t *arena, mcu_edge_t *copy, const mcu_edge_t *edge, uint32_t id,
                      bool is_output) {
    static const uint32_t the_node = 0;
    *copy = *edge;
    copy->id = id;
    copy->name = arena_text(arena, edge->name, edge->name + strlen(edge->name));
    copy->shape = arena_copy(arena, edge->shape, edge->rank, sizeof *edge->shape);
    copy->layout = NULL;
    copy->scales = arena_copy(arena, edge->scales, edge->num_scales, sizeof *edge->scales);
    copy->zero_points =
        arena_copy(arena, edge->zero_points, edge->num_scales, sizeof *edge->zero_points);
    copy->data = arena_copy(arena, edge->data, (size_t)edge->data_bytes, 1);
    copy->producer = is_output ? the_node : MCU_NONE;
    copy->num_consumers = is_output ? 0 : 1;
    copy->consumers = is_output ? NULL : &the_node;
    return copy->name != NULL && (edge->rank == 0 || copy->shape != NULL) &&
           (edge->num_scales == 0 || (copy->scales != NULL && copy->zero_points != NULL)) &&
           (edge->data == NULL || copy->data != NULL);
}

/* All that a replacement consists of, but for what its edges point to. */
typedef struct replacement {
    mcu_graph_t graph;
    mcu_node_t node;
    mcu_edge_t edges[MOST_INPUTS + 1];
    uint32_t inputs[MOST_INPUTS];
    uint32_t output;
    uint32_t nodes[2];
} replacement_t;

static bool replace(const mcu_graph_t *graph, const mcu_node_t *gemm, const mcu_node_t *softmax,
                    arena_t *arena, mcu_substitution_t *substitution) {
    layer_t first, second;
    replacement_t *r = arena_take(arena, 1, sizeof *r);
    if (r == NULL || !layer_of(graph, gemm, &first) || !layer_of(graph, softmax, &second)) {
        return false;
    }
    uint32_t edges = 0;
    for (uint32_t i = 0; i < MOST_INPUTS; i++) {
        r->inputs[i] = first.inputs[i] == NULL ? MCU_NONE : edges;
        if (first.inputs[i] != NULL) {
            if (!copy_edge(arena, &r->edges[edges], first.inputs[i], edges, false)) {
                return false;
            }
            edges++;
        }
    }
    r->output = edges;
    if (!copy_edge(arena, &r->edges[edges], second.output, edges, true)) {
        return false;
    }
    const char *name = arena_text(arena, softmax->name, softmax->name + strlen(softmax->name));
    if (name == NULL) {
        return false;
    }
    r->node = (mcu_node_t){.op = "GemmSoftmax",
                           .domain = "DynamicRef",
                           .name = name,
                           .num_inputs = r->inputs[2] == MCU_NONE ? 2 : 3,
                           .inputs = r->inputs,
                           .num_outputs = 1,
                           .outputs = &r->output};
    r->graph = (mcu_graph_t){.struct_size = sizeof r->graph,
                             .opset = graph->opset,
                             .name = "gemm_softmax",
                             .core = "",
                             .num_nodes = 1,
                             .nodes = &r->node,
                             .num_edges = edges + 1,
                             .edges = r->edges,
                             .num_inputs = 1, /* the others are constants */
                             .inputs = r->inputs,
                             .num_outputs = 1,
                             .outputs = &r->output};
    r->nodes[0] = gemm->id;
    r->nodes[1] = softmax->id;
    substitution->substitutable = (mcu_subgraph_t){.num_nodes = 2, .nodes = r->nodes};
    substitution->replacement = &r->graph;
    return true;
}

int32_t fuse_gemm_softmax(const mcu_graph_t *graph, arena_t *arena, mcu_optimization_t *answer) {
    mcu_substitution_t *found = arena_take(arena, graph->num_nodes, sizeof *found);
    uint32_t *rest = arena_take(arena, graph->num_nodes, sizeof *rest);
    bool *is_taken = arena_take(arena, graph->num_nodes, sizeof *is_taken);
    mcu_subgraph_t *untouched = arena_take(arena, 1, sizeof *untouched);
    if (found == NULL || rest == NULL || is_taken == NULL || untouched == NULL) {
        return MCU_BACKEND_OUT_OF_MEMORY;
    }
    uint32_t num_found = 0;
    for (uint32_t n = 0; n < graph->num_nodes; n++) {
        const mcu_node_t *softmax = softmax_behind(graph, &graph->nodes[n]);
        if (softmax != NULL) {
            if (!replace(graph, &graph->nodes[n], softmax, arena, &found[num_found])) {
                return MCU_BACKEND_OUT_OF_MEMORY;
            }
            num_found++;
            is_taken[n] = true;
            is_taken[softmax - graph->nodes] = true;
        }
    }
    for (uint32_t n = 0; n < graph->num_nodes; n++) {
        if (!is_taken[n]) {
            rest[untouched->num_nodes++] = graph->nodes[n].id;
        }
    }
    untouched->nodes = rest;
    answer->substitutions = found;
    answer->num_substitutions = num_found;
    answer->untouched = untouched;
    answer->num_untouched = untouched->num_nodes == 0 ? 0 : 1;
    return MCU_BACKEND_OK;
}
