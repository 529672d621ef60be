/* A layer: the one node of a graph, its tensors and its attributes.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef DYNAMICREF_LAYER_H
#define DYNAMICREF_LAYER_H

#include <stdbool.h>

#include "mcu/backend.h"

enum { MOST_INPUTS = 3 };

typedef struct layer {
    const mcu_graph_t *graph;
    const mcu_node_t *node;
    const mcu_edge_t *inputs[MOST_INPUTS]; /* the first ones; NULL where there is none */
    const mcu_edge_t *output;              /* the first one */
} layer_t;

/* false: the node has no output, or an edge that the graph does not hold. */
bool layer_of(const mcu_graph_t *graph, const mcu_node_t *node, layer_t *layer);

/* The first layer of what a fused one stands for; false: it has no body. */
bool first_of_body(const layer_t *layer, layer_t *first);

/* The edge of this id, or NULL. */
const mcu_edge_t *edge_of(const mcu_graph_t *graph, uint32_t id);

/* Whether the node is this operator of this domain ("" is ONNX's). */
bool node_is(const mcu_node_t *node, const char *domain, const char *op);

/* Attributes by name; the last argument is what it is where the node does not say. */
const mcu_attribute_t *attribute_of(const layer_t *layer, const char *name);
int64_t attribute_int(const layer_t *layer, const char *name, uint32_t index, int64_t otherwise);
double attribute_real(const layer_t *layer, const char *name, uint32_t index, double otherwise);

bool is_constant(const mcu_edge_t *edge);
int64_t elements_of(const mcu_edge_t *edge);

/* A dimension, the last ones by -1, -2; 1 where the tensor has not so many. */
int32_t dimension_of(const mcu_edge_t *edge, int index);

/* int8 with one scale. */
bool is_quantized(const mcu_edge_t *edge);

/* A fused activation's bounds in steps of the output; those of int8 where there is none. */
typedef struct bounds {
    int32_t low, high;
} bounds_t;
bounds_t bounds_of(const layer_t *layer);

/* How a window moves over the rows and columns of the first input. */
typedef struct window {
    int32_t batch, height, width, channels, out_height, out_width;
    int32_t kernel_height, kernel_width, stride_y, stride_x, dilation_y, dilation_x;
    int32_t pad_top, pad_left;
    bool is_padded; /* some position reads outside of the input */
} window_t;
window_t window_of(const layer_t *layer);

/* Multiply-accumulates in one run. */
int64_t macs_of(const layer_t *layer);

#endif
