/* SPDX-License-Identifier: Apache-2.0 */
#include "graphs.h"

#define LENGTH(array) (sizeof(array) / sizeof(array)[0])
#define GRAPH(nodes_, edges_, inputs_, outputs_)                                                   \
    {                                                                                              \
        .struct_size = sizeof(mcu_graph_t), .opset = 17, .name = "sample", .core = "host",         \
        .has_fpu = 1, .num_nodes = LENGTH(nodes_), .nodes = (nodes_), .num_edges = LENGTH(edges_), \
        .edges = (edges_), .num_inputs = LENGTH(inputs_), .inputs = (inputs_),                     \
        .num_outputs = LENGTH(outputs_), .outputs = (outputs_)                                     \
    }
#define SHAPE(...)                                                                                 \
    .rank = LENGTH(((int64_t[]){__VA_ARGS__})), .shape = (const int64_t[]) {                       \
        __VA_ARGS__                                                                                \
    }
#define IDS(...)                                                                                   \
    (const uint32_t[]) {                                                                           \
        __VA_ARGS__                                                                                \
    }
#define INTS(name_, ...)                                                                           \
    {                                                                                              \
        .name = (name_), .kind = MCU_ATTRIBUTE_INTS, .count = LENGTH(((int64_t[]){__VA_ARGS__})),  \
        .ints = (const int64_t[]) {                                                                \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }
#define QUANTIZED(scale_, zero_)                                                                   \
    .dtype = MCU_INT8, .num_scales = 1, .quantization_axis = -1, .scales = (scale_),               \
    .zero_points = (const int32_t[]) {                                                             \
        zero_                                                                                      \
    }

#define GIVEN_TO(node_) .producer = MCU_NONE, .num_consumers = 1, .consumers = IDS(node_)
#define DATA(array_)    .data = (array_), .data_bytes = sizeof(array_)
#define READS(...)      .num_inputs = LENGTH(((uint32_t[]){__VA_ARGS__})), .inputs = IDS(__VA_ARGS__)
#define WRITES(edge_)   .num_outputs = 1, .outputs = IDS(edge_)

/* ---- Conv ---- */

const int8_t conv_weights[FILTERS][CHANNELS][KERNEL][KERNEL] = {
    {{{1, -2, 3}, {-4, 5, -6}, {7, -8, 9}}, {{-128, 0, 127}, {1, 0, -1}, {64, -64, 32}}},
    {{{10, 20, 30}, {40, 50, 60}, {70, 80, 90}}, {{-1, -2, -3}, {-4, -5, -6}, {-7, -8, -9}}},
    {{{0, 0, 0}, {0, 100, 0}, {0, 0, 0}}, {{5, 0, 5}, {0, 5, 0}, {5, 0, 5}}},
};
const int32_t conv_bias[FILTERS] = {1000, -2000, 30};
const float conv_weight_scales[FILTERS] = {0.003F, 0.0071F, 0.0049F};
const float conv_x_scale = 0.05F, conv_y_scale = 0.11F;

static const int32_t zeros[FILTERS];
static const mcu_edge_t conv_edges[] = {
    {.id = 3,
     .name = "x",
     QUANTIZED(&conv_x_scale, X_ZERO),
     SHAPE(1, CHANNELS, HEIGHT, WIDTH),
     .layout = IDS(0, 2, 3, 1),
     GIVEN_TO(2)},
    {.id = 5,
     .name = "w",
     .dtype = MCU_INT8,
     SHAPE(FILTERS, CHANNELS, KERNEL, KERNEL),
     .num_scales = FILTERS,
     .quantization_axis = 0,
     .scales = conv_weight_scales,
     .zero_points = zeros,
     DATA(conv_weights),
     GIVEN_TO(2)},
    {.id = 6,
     .name = "bias",
     .dtype = MCU_INT32,
     SHAPE(FILTERS),
     .quantization_axis = -1,
     DATA(conv_bias),
     GIVEN_TO(2)},
    {.id = 9,
     .name = "y",
     QUANTIZED(&conv_y_scale, Y_ZERO),
     SHAPE(1, FILTERS, OUT_HEIGHT, OUT_WIDTH),
     .layout = IDS(0, 2, 3, 1),
     .producer = 2},
};
static const mcu_attribute_t conv_attributes[] = {
    INTS("strides", 1, STRIDE_X), INTS("pads", 1, 1, 1, 1), INTS("kernel_shape", KERNEL, KERNEL)};
static const mcu_node_t conv_nodes[] = {{.id = 2,
                                         .op = "Conv",
                                         .domain = "",
                                         .name = "first conv",
                                         READS(3, 5, 6),
                                         WRITES(9),
                                         .num_attributes = LENGTH(conv_attributes),
                                         .attributes = conv_attributes}};
static const uint32_t conv_inputs[] = {3}, conv_outputs[] = {9};
const mcu_graph_t conv = GRAPH(conv_nodes, conv_edges, conv_inputs, conv_outputs);

static const float float_weights[FILTERS * CHANNELS * KERNEL * KERNEL];
static const mcu_edge_t float_edges[] = {
    {.id = 3,
     .name = "x",
     .dtype = MCU_FLOAT32,
     SHAPE(1, CHANNELS, HEIGHT, WIDTH),
     .quantization_axis = -1,
     GIVEN_TO(2)},
    {.id = 5,
     .name = "w",
     .dtype = MCU_FLOAT32,
     SHAPE(FILTERS, CHANNELS, KERNEL, KERNEL),
     .quantization_axis = -1,
     DATA(float_weights),
     GIVEN_TO(2)},
    {.id = 9,
     .name = "y",
     .dtype = MCU_FLOAT32,
     SHAPE(1, FILTERS, OUT_HEIGHT, OUT_WIDTH),
     .quantization_axis = -1,
     .producer = 2},
};
static const mcu_node_t float_nodes[] = {{.id = 2,
                                          .op = "Conv",
                                          .domain = "",
                                          .name = "float conv",
                                          READS(3, 5, MCU_NONE),
                                          WRITES(9),
                                          .num_attributes = LENGTH(conv_attributes),
                                          .attributes = conv_attributes}};
const mcu_graph_t float_conv = GRAPH(float_nodes, float_edges, conv_inputs, conv_outputs);

static const mcu_node_t unknown_nodes[] = {
    {.id = 2, .op = "Wobble", .domain = "example", .name = "wobble", READS(3), WRITES(9)}};
const mcu_graph_t unknown = GRAPH(unknown_nodes, float_edges, conv_inputs, conv_outputs);

static const mcu_node_t lost_nodes[] = {
    {.id = 2, .op = "Conv", .domain = "", .name = "lost conv", READS(3, 77), WRITES(9)}};
const mcu_graph_t missing_edge = GRAPH(lost_nodes, float_edges, conv_inputs, conv_outputs);

/* ---- Reshape, Gemm, Softmax ---- */

static const float scale_a = 0.5F, scale_w = 0.25F, scale_b = 0.125F, scale_y = 0.00390625F;
static const int64_t new_shape[] = {1, DEPTH};
static const int8_t gemm_weights[DEPTH][COLUMNS] = {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}, {1, 1, 1}};
static const mcu_edge_t classifier_edges[] = {
    {.id = 20, .name = "x", QUANTIZED(&scale_a, 0), SHAPE(1, 2, 2), GIVEN_TO(RESHAPE)},
    {.id = 21,
     .name = "shape",
     .dtype = MCU_INT64,
     SHAPE(2),
     .quantization_axis = -1,
     DATA(new_shape),
     GIVEN_TO(RESHAPE)},
    {.id = 22,
     .name = "flat",
     QUANTIZED(&scale_a, 0),
     SHAPE(1, DEPTH),
     .producer = RESHAPE,
     .num_consumers = 1,
     .consumers = IDS(GEMM)},
    {.id = 23,
     .name = "w",
     QUANTIZED(&scale_w, 0),
     SHAPE(DEPTH, COLUMNS),
     DATA(gemm_weights),
     GIVEN_TO(GEMM)},
    {.id = 24,
     .name = "logits",
     QUANTIZED(&scale_b, 4),
     SHAPE(1, COLUMNS),
     .producer = GEMM,
     .num_consumers = 1,
     .consumers = IDS(SOFTMAX)},
    {.id = 25, .name = "y", QUANTIZED(&scale_y, -128), SHAPE(1, COLUMNS), .producer = SOFTMAX},
};
static const mcu_attribute_t softmax_attributes[] = {INTS("axis", -1)};
static const mcu_node_t classifier_nodes[] = {
    {.id = RESHAPE, .op = "Reshape", .domain = "", .name = "reshape", READS(20, 21), WRITES(22)},
    {.id = GEMM, .op = "MatMul", .domain = "", .name = "dense", READS(22, 23), WRITES(24)},
    {.id = SOFTMAX,
     .op = "Softmax",
     .domain = "",
     .name = "softmax",
     READS(24),
     WRITES(25),
     .num_attributes = 1,
     .attributes = softmax_attributes},
};
static const mcu_node_t reshape_nodes[] = {
    {.id = RESHAPE, .op = "Reshape", .domain = "", .name = "reshape", READS(20, 21), WRITES(22)}};
static const uint32_t classifier_inputs[] = {20}, classifier_outputs[] = {25};
static const uint32_t reshape_outputs[] = {22}, flat_inputs[] = {22};
const mcu_graph_t classifier =
    GRAPH(classifier_nodes, classifier_edges, classifier_inputs, classifier_outputs);
const mcu_graph_t reshape =
    GRAPH(reshape_nodes, classifier_edges, classifier_inputs, reshape_outputs);
const mcu_graph_t gemm_softmax = {.struct_size = sizeof(mcu_graph_t),
                                  .opset = 17,
                                  .name = "sample",
                                  .core = "host",
                                  .has_fpu = 1,
                                  .num_nodes = 2,
                                  .nodes = classifier_nodes + 1,
                                  .num_edges = LENGTH(classifier_edges),
                                  .edges = classifier_edges,
                                  .num_inputs = 1,
                                  .inputs = flat_inputs,
                                  .num_outputs = 1,
                                  .outputs = classifier_outputs};
