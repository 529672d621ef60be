/* SPDX-License-Identifier: Apache-2.0 */
#include "layer.h"

#include <math.h>
#include <string.h>

const mcu_edge_t *edge_of(const mcu_graph_t *graph, uint32_t id) {
    for (uint32_t e = 0; e < graph->num_edges; e++) {
        if (graph->edges[e].id == id) {
            return &graph->edges[e];
        }
    }
    return NULL;
}

bool node_is(const mcu_node_t *node, const char *domain, const char *op) {
    return strcmp(node->domain, domain) == 0 && strcmp(node->op, op) == 0;
}

bool layer_of(const mcu_graph_t *graph, const mcu_node_t *node, layer_t *layer) {
    memset(layer, 0, sizeof *layer);
    layer->graph = graph;
    layer->node = node;
    for (uint32_t i = 0; i < node->num_inputs; i++) {
        const mcu_edge_t *edge = edge_of(graph, node->inputs[i]);
        if (edge == NULL && node->inputs[i] != MCU_NONE) {
            return false;
        }
        if (i < MOST_INPUTS) {
            layer->inputs[i] = edge;
        }
    }
    layer->output = node->num_outputs == 0 ? NULL : edge_of(graph, node->outputs[0]);
    return layer->output != NULL;
}

bool first_of_body(const layer_t *layer, layer_t *first) {
    const mcu_graph_t *graph = layer->graph;
    const mcu_graph_t *body =
        graph->bodies == NULL ? NULL : graph->bodies[layer->node - graph->nodes];
    return body != NULL && body->num_nodes > 0 && layer_of(body, body->nodes, first);
}

const mcu_attribute_t *attribute_of(const layer_t *layer, const char *name) {
    for (uint32_t a = 0; a < layer->node->num_attributes; a++) {
        if (strcmp(layer->node->attributes[a].name, name) == 0) {
            return &layer->node->attributes[a];
        }
    }
    return NULL;
}

int64_t attribute_int(const layer_t *layer, const char *name, uint32_t index, int64_t otherwise) {
    const mcu_attribute_t *found = attribute_of(layer, name);
    const bool is_there =
        found != NULL && found->kind == MCU_ATTRIBUTE_INTS && index < found->count;
    return is_there ? found->ints[index] : otherwise;
}

double attribute_real(const layer_t *layer, const char *name, uint32_t index, double otherwise) {
    const mcu_attribute_t *found = attribute_of(layer, name);
    const bool is_there =
        found != NULL && found->kind == MCU_ATTRIBUTE_FLOATS && index < found->count;
    return is_there ? found->floats[index] : otherwise;
}

bool is_constant(const mcu_edge_t *edge) {
    return edge->data != NULL;
}

int64_t elements_of(const mcu_edge_t *edge) {
    int64_t elements = 1;
    for (uint32_t i = 0; i < edge->rank; i++) {
        elements *= edge->shape[i];
    }
    return elements;
}

int32_t dimension_of(const mcu_edge_t *edge, int index) {
    const int at = index < 0 ? (int)edge->rank + index : index;
    return at < 0 || at >= (int)edge->rank ? 1 : (int32_t)edge->shape[at];
}

bool is_quantized(const mcu_edge_t *edge) {
    return edge->dtype == MCU_INT8 && edge->num_scales == 1;
}

/* A real number as the oracle quantizes it: the bound of an activation. */
static int32_t quantized(double real, const mcu_edge_t *edge) {
    const float zero = (float)edge->zero_points[0];
    float steps = (float)real / edge->scales[0];
    steps = steps > -128.0F - zero ? steps : -128.0F - zero;
    steps = steps < 127.0F - zero ? steps : 127.0F - zero;
    return (int32_t)(nearbyintf(steps) + zero);
}

bounds_t bounds_of(const layer_t *layer) {
    const double low = attribute_real(layer, "activation", 0, -INFINITY);
    const double high = attribute_real(layer, "activation", 1, INFINITY);
    return (bounds_t){isfinite(low) ? quantized(low, layer->output) : -128,
                      isfinite(high) ? quantized(high, layer->output) : 127};
}

/* The padding before the rows (axis 0) or columns (axis 1), in elements. */
static int32_t padding_of(const layer_t *layer, uint32_t axis, int32_t size, int32_t out_size,
                          int32_t reach, int32_t stride) {
    const mcu_attribute_t *found = attribute_of(layer, "auto_pad");
    const char *mode = found == NULL || found->count == 0 ? "NOTSET" : found->strings[0];
    if (strncmp(mode, "SAME_", 5) == 0) {
        const int32_t needed = (out_size - 1) * stride + reach - size;
        const int32_t total = needed > 0 ? needed : 0;
        return strcmp(mode, "SAME_LOWER") == 0 ? total - total / 2 : total / 2;
    }
    return strcmp(mode, "VALID") == 0 ? 0 : (int32_t)attribute_int(layer, "pads", axis, 0);
}

window_t window_of(const layer_t *layer) {
    const mcu_edge_t *x = layer->inputs[0], *y = layer->output;
    const bool is_conv = node_is(layer->node, "", "Conv");
    window_t w = {
        .batch = dimension_of(x, 0),
        .channels = dimension_of(x, 1),
        .height = dimension_of(x, 2),
        .width = dimension_of(x, 3),
        .out_height = dimension_of(y, 2),
        .out_width = dimension_of(y, 3),
        .stride_y = (int32_t)attribute_int(layer, "strides", 0, 1),
        .stride_x = (int32_t)attribute_int(layer, "strides", 1, 1),
        .dilation_y = (int32_t)attribute_int(layer, "dilations", 0, 1),
        .dilation_x = (int32_t)attribute_int(layer, "dilations", 1, 1),
    };
    if (is_conv) {
        w.kernel_height = dimension_of(layer->inputs[1], 2);
        w.kernel_width = dimension_of(layer->inputs[1], 3);
    } else { /* a global pool has no kernel_shape: its window is the whole plane */
        w.kernel_height = (int32_t)attribute_int(layer, "kernel_shape", 0, w.height);
        w.kernel_width = (int32_t)attribute_int(layer, "kernel_shape", 1, w.width);
    }
    const int32_t reach_y = (w.kernel_height - 1) * w.dilation_y + 1;
    const int32_t reach_x = (w.kernel_width - 1) * w.dilation_x + 1;
    w.pad_top = padding_of(layer, 0, w.height, w.out_height, reach_y, w.stride_y);
    w.pad_left = padding_of(layer, 1, w.width, w.out_width, reach_x, w.stride_x);
    w.is_padded = w.pad_top > 0 || w.pad_left > 0 ||
                  (w.out_height - 1) * w.stride_y + reach_y - w.pad_top > w.height ||
                  (w.out_width - 1) * w.stride_x + reach_x - w.pad_left > w.width;
    return w;
}

int64_t macs_of(const layer_t *layer) {
    const mcu_node_t *node = layer->node;
    if (node_is(node, "", "Conv")) { /* for each output what one filter reads */
        return elements_of(layer->output) * elements_of(layer->inputs[1]) /
               dimension_of(layer->inputs[1], 0);
    }
    if (node_is(node, "", "Gemm") || node_is(node, "", "MatMul") ||
        node_is(node, "DynamicRef", "GemmSoftmax")) {
        const mcu_edge_t *x = layer->inputs[0];
        return elements_of(layer->output) * dimension_of(x, -1);
    }
    return 0;
}
