/* Small graphs that the table's methods are asked about. All are constant.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GRAPHS_H
#define GRAPHS_H

#include "mcu/backend.h"

/* int8 Conv with padding and strides: x [1, 2, 4, 5], three 3x3 filters, y [1, 3, 4, 3]. */
enum {
    CHANNELS = 2,
    HEIGHT = 4,
    WIDTH = 5,
    FILTERS = 3,
    KERNEL = 3,
    OUT_HEIGHT = 4,
    OUT_WIDTH = 3,
    STRIDE_X = 2,
    X_ZERO = 7,
    Y_ZERO = -3
};
extern const mcu_graph_t conv;
extern const int8_t conv_weights[FILTERS][CHANNELS][KERNEL][KERNEL];
extern const int32_t conv_bias[FILTERS];
extern const float conv_weight_scales[FILTERS];
extern const float conv_x_scale, conv_y_scale;

extern const mcu_graph_t float_conv;   /* the same in float32 */
extern const mcu_graph_t unknown;      /* one node, "example::Wobble" */
extern const mcu_graph_t missing_edge; /* a node whose input is not among the edges */

/* Reshape, Gemm, Softmax: x [1, 2, 2], 3 columns. Node ids 10, 11, 12; and the Reshape alone. */
enum { RESHAPE = 10, GEMM = 11, SOFTMAX = 12, DEPTH = 4, COLUMNS = 3 };
extern const mcu_graph_t classifier;
extern const mcu_graph_t reshape;
extern const mcu_graph_t gemm_softmax; /* the two behind it */

#endif
