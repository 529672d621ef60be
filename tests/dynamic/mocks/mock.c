/* A backend for tests, Arm NN's TestDynamicBackend: well-behaved as it stands, and malformed in one
 * way by each -D switch. What it does wrong while it runs is in misdeeds.h.
 *
 *   MAJOR, MINOR            what GetVersion says; GetBackendId says NULL for an id of "0"
 *   WITHOUT_ID, WITHOUT_VERSION, WITHOUT_FACTORY, WITHOUT_ANYTHING   symbols that are not there
 *   NO_TABLE                BackendFactory returns NULL
 *   TABLE_SIZE, TABLE_MAJOR, TABLE_MINOR, LACKS   what the table says of itself; LACKS: a method
 *   BARE                    a table without optional methods
 *   CALLS_UNKNOWN, NEEDS_UNKNOWN   an undefined function that is never called; undefined data
 *
 * It computes Relu and takes no other operator. Compiled with the header of version 1.0 it leaves
 * nonsense wherever that version has nothing, or lets a field be.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "dump.h"
#include "misdeeds.h"

#include <mcu/backend.h>

#ifndef MAJOR
#define MAJOR MCU_BACKEND_API_MAJOR
#endif
#ifndef MINOR
#define MINOR MCU_BACKEND_API_MINOR
#endif
#ifndef TABLE_SIZE
#define TABLE_SIZE sizeof(mcu_backend_t)
#endif
#ifndef TABLE_MAJOR
#define TABLE_MAJOR MAJOR
#endif
#ifndef TABLE_MINOR
#define TABLE_MINOR MINOR
#endif

/* Handles that were given out and not released yet, and calls of the context. */
static int64_t outstanding;
static int64_t context_calls;
static int64_t options_seen;
static const char *reason = "the mock has no reason";

static void *handle(void) {
    outstanding++;
    return malloc(16);
}

static void release(void *self, void *given) {
    (void)self;
    misbehave("release");
    outstanding--;
    free(given);
}

__attribute__((constructor)) static void load(void) {
    misbehave("load");
}

static int32_t describe(void *self, mcu_backend_info_t *answer) {
    static const char *const cores[] = {"host", "cortex-m4"};
    static const char *const operators[] = {"Relu"};
    (void)self;
    misbehave("describe");
    answer->handle = handle();
    answer->rank = 200;
    answer->num_cores = 2;
    answer->cores = cores;
    answer->num_operators = 1;
    answer->operators = operators;
    if (is_deed("describe", "many cores")) {
        answer->num_cores = UINT32_MAX;
    } else if (is_deed("describe", "null cores")) {
        answer->cores = NULL;
    } else if (is_deed("describe", "not UTF-8")) {
        static const char *const broken[] = {"\xC3\x28"};
        answer->operators = broken;
    } else if (is_deed("describe", "error")) {
        reason = "the mock is out of order";
        return MCU_BACKEND_ERROR;
    }
    return MCU_BACKEND_OK;
}

static int32_t is_layer_supported(void *self, const mcu_graph_t *graph, mcu_support_t *answer) {
    (void)self;
    misbehave("is_layer_supported");
    answer->handle = handle();
    answer->layout = MCU_LAYOUT_SAME;
    answer->supported = strcmp(graph->nodes[0].op, "Relu") == 0;
    answer->reason = "the mock computes Relu only";
    if (is_deed("is_layer_supported", "false layout")) {
        answer->layout = 9;
    } else if (is_deed("is_layer_supported", "dump")) {
        answer->reason = dump(graph);
    } else if (is_deed("is_layer_supported", "maybe")) {
        answer->supported = 2;
    } else if (is_deed("is_layer_supported", "false status")) {
        return 77;
    } else if (is_deed("is_layer_supported", "unsupported")) {
        return MCU_BACKEND_UNSUPPORTED;
    }
    return MCU_BACKEND_OK;
}

#if MCU_BACKEND_API_MINOR >= 1
/* What the one node of a replacement stands for, as the test has ordered. */
static void give_bodies(mcu_graph_t *replacement) {
    static mcu_node_t nodes[512];
    static mcu_graph_t body, wide;
    static const mcu_graph_t *bodies[512];
    body = wide = *replacement;
    nodes[0] = replacement->nodes[0];
    nodes[0].op = "Relu";
    nodes[0].domain = "";
    body.nodes = nodes;
    bodies[0] = &body;
    if (is_deed("optimize_subgraph", "body")) {
        replacement->bodies = bodies;
    } else if (is_deed("optimize_subgraph", "body in itself")) {
        body.bodies = replacement->bodies = bodies;
    } else if (is_deed("optimize_subgraph", "many bodies")) {
        static const mcu_graph_t *const outer[] = {&wide};
        for (uint32_t i = 0; i < 512; i++) {
            nodes[i] = nodes[0];
            bodies[i] = &body;
        }
        wide.num_nodes = body.num_nodes = 512;
        wide.nodes = nodes;
        wide.bodies = bodies;
        replacement->bodies = outer;
    }
}

#endif
static int32_t optimize_subgraph(void *self, const mcu_graph_t *graph, mcu_optimization_t *answer) {
    static uint32_t edges_of_node[2] = {0U, 1U};
    static uint32_t nodes[64];
    static mcu_edge_t edges[2];
    static mcu_node_t node;
    static mcu_graph_t replacements[2];
    static mcu_substitution_t substitution;
    static mcu_subgraph_t failed;
    (void)self;
    misbehave("optimize_subgraph");
    answer->handle = handle();
    if (strcmp(deed_at("optimize_subgraph"), "") == 0) {
        return MCU_BACKEND_OK;
    }
    for (uint32_t i = 0; i < graph->num_nodes; i++) {
        nodes[i] = graph->nodes[i].id;
    }
    if (is_deed("optimize_subgraph", "fail")) {
        failed = (mcu_subgraph_t){graph->num_nodes, 0, nodes};
        answer->num_failed = 1;
        answer->failed = &failed;
        return MCU_BACKEND_OK;
    }
    /* one node in place of all: its input and its output are as the first and last edge */
    for (uint32_t i = 0; i < graph->num_edges; i++) {
        if (graph->edges[i].id == graph->inputs[0]) {
            edges[0] = graph->edges[i];
        } else if (graph->edges[i].id == graph->outputs[0]) {
            edges[1] = graph->edges[i];
        }
    }
    edges[0].id = 0;
    edges[1].id = 1;
    node = (mcu_node_t){.id = 0,
                        .op = "Relus",
                        .domain = "mock",
                        .name = "fused",
                        .num_inputs = 1,
                        .inputs = &edges_of_node[0],
                        .num_outputs = 1,
                        .outputs = &edges_of_node[1]};
    replacements[0] = (mcu_graph_t){.struct_size = sizeof replacements[0],
                                    .opset = graph->opset,
                                    .name = "fused",
                                    .num_nodes = 1,
                                    .nodes = &node,
                                    .num_edges = 2,
                                    .edges = edges,
                                    .num_inputs = 1,
                                    .inputs = &edges_of_node[0],
                                    .num_outputs = 1,
                                    .outputs = &edges_of_node[1]};
#if MCU_BACKEND_API_MINOR >= 1
    give_bodies(&replacements[0]);
#else
    replacements[0].struct_size = sizeof replacements;
    memset(&replacements[1], 0xA5, sizeof replacements[1]);
#endif
    substitution.substitutable = (mcu_subgraph_t){graph->num_nodes, 0, nodes};
    substitution.replacement = &replacements[0];
    answer->num_substitutions = 1;
    answer->substitutions = &substitution;
    return MCU_BACKEND_OK;
}

static int32_t create_workload(void *self, const mcu_graph_t *graph, mcu_workloads_t *answer) {
    static const mcu_parameter_t parameters[] = {
        {"const float *", "x"}, {"float *", "y"}, {"const int32_t *", "n"}, {"uint32_t *", "runs"}};
    static const mcu_parameter_t helper_parameters[] = {{"float", "x"}};
    static const mcu_argument_t arguments[] = {
        {MCU_ROLE_INPUT, 0}, {MCU_ROLE_OUTPUT, 0}, {MCU_ROLE_CONSTANT, 0}, {MCU_ROLE_REGION, 0}};
    static const mcu_function_t helper = {
        "mock_relu1", "float", 1, 1, helper_parameters, "{\n    return x > 0.0f ? x : 0.0f;\n}"};
    static const mcu_function_t function = {
        "mock_relu",
        "void",
        4,
        0,
        parameters,
        "{\n    for (int32_t i = 0; i < *n; i++) {\n        y[i] = $mock_relu1(x[i]);\n    }\n"
        "    (*runs)++;\n}"};
    static const char *const headers[] = {"stdint.h"};
    static const mcu_in_place_t in_place = {0, 0, 0};
    static const mcu_private_region_t region[] = {{"runs", 4}, {"room", 32}};
    static int32_t elements;
    static mcu_constant_t constant;
    static mcu_workload_t workload;
    const mcu_edge_t *input = &graph->edges[0];
    (void)self;
    misbehave("create_workload");
    answer->handle = handle();
    elements = 1;
    for (uint32_t axis = 0; axis < input->rank; axis++) {
        elements *= (int32_t)input->shape[axis];
    }
    constant = (mcu_constant_t){"count", MCU_INT32, 4, 1, &elements};
    workload = (mcu_workload_t){.function = &function,
                                .num_arguments = 4,
                                .arguments = arguments,
                                .num_constants = 1,
                                .constants = &constant,
                                .num_helpers = 1,
                                .helpers = &helper,
                                .num_headers = 1,
                                .headers = headers,
                                .num_in_place = 1,
                                .in_place = &in_place,
                                .num_regions = 1,
                                .regions = region,
                                .costs = {sizeof(mcu_costs_t), 0, 0, 5 * elements, -1, 60}};
#if MCU_BACKEND_API_MINOR >= 1
    static const mcu_parameter_t more_parameters[] = {{"const float *", "x"},
                                                      {"float *", "y"},
                                                      {"const int32_t *", "n"},
                                                      {"uint32_t *", "runs"},
                                                      {"float *", "room"}};
    static const mcu_argument_t more_arguments[] = {{MCU_ROLE_INPUT, 0},
                                                    {MCU_ROLE_OUTPUT, 0},
                                                    {MCU_ROLE_CONSTANT, 0},
                                                    {MCU_ROLE_REGION, 0},
                                                    {MCU_ROLE_REGION, 1}};
    static const mcu_function_t with_room = {
        "mock_relu",
        "void",
        5,
        0,
        more_parameters,
        "{\n    for (int32_t i = 0; i < *n; i++) {\n        room[i] = $mock_relu1(x[i]);\n    }\n"
        "    for (int32_t i = 0; i < *n; i++) {\n        y[i] = room[i];\n    }\n    "
        "(*runs)++;\n}"};
    if (strncmp(deed_at("create_workload"), "scratch", 7) == 0) {
        workload.function = &with_room;
        workload.num_arguments = 5;
        workload.arguments = more_arguments;
        workload.num_regions = 2;
        workload.num_scratch_regions = is_deed("create_workload", "scratch too much") ? 3 : 1;
    }
#else
    workload.reserved = 1;
#endif
    if (is_deed("create_workload", "none")) {
        return MCU_BACKEND_OK;
    }
    answer->num_workloads = 1;
    answer->workloads = &workload;
    if (is_deed("create_workload", "false type")) {
        constant.dtype = 99;
    } else if (is_deed("create_workload", "endless constant")) {
        constant.num_elements = UINT64_MAX / 2U;
    } else if (is_deed("create_workload", "null constant")) {
        constant.data = NULL;
    } else if (is_deed("create_workload", "null arguments")) {
        workload.arguments = NULL;
    } else if (is_deed("create_workload", "few arguments")) {
        workload.num_arguments = 2;
    } else if (is_deed("create_workload", "error")) {
        reason = "no \xE2\x82\xAC left";
        return MCU_BACKEND_ERROR;
    } else if (is_deed("create_workload", "wild pointer")) {
        workload.headers = (const char *const *)0x1000;
    }
    return MCU_BACKEND_OK;
}

static const char *error(void *self) {
    (void)self;
    return reason;
}

static void free_all(void *self) {
    (void)self;
    misbehave("free");
}

#ifndef BARE
static int32_t estimate(void *self, const mcu_graph_t *graph, mcu_costs_t *answer) {
    (void)self;
    (void)graph;
    misbehave("estimate");
    answer->instructions = 1234;
    answer->cycles = -1;
    return MCU_BACKEND_OK;
}

static int32_t memory(void *self, mcu_memory_t *answer) {
    static const mcu_parameter_t parameters[] = {{"uint32_t *", "runs"}};
    static const mcu_function_t function = {"mock_acquire",        "void", 1, 0, parameters,
                                            "{\n    *runs = 0;\n}"};
    static const mcu_private_region_t region = {"runs", 4};
    (void)self;
    misbehave("memory");
    answer->handle = handle();
    answer->acquire =
        (mcu_region_call_t){.function = &function, .num_regions = 1, .regions = &region};
    return MCU_BACKEND_OK;
}

static int32_t create_context(void *self, const mcu_option_t *options, uint32_t num_options) {
    (void)self;
    misbehave("create_context");
    for (uint32_t i = 0; i < num_options; i++) {
        options_seen += strcmp(options[i].name, "speed") == 0 && strcmp(options[i].value, "9") == 0;
    }
    return MCU_BACKEND_OK;
}

static int32_t before_load(void *self, uint32_t network) {
    (void)self;
    misbehave("before_load_network");
    context_calls += 1 + 100 * (int64_t)network;
    return MCU_BACKEND_OK;
}

static int32_t after_unload(void *self, uint32_t network) {
    (void)self;
    (void)network;
    misbehave("after_unload_network");
    context_calls++;
    return MCU_BACKEND_OK;
}

#if MCU_BACKEND_API_MINOR >= 1
/* Saves the graph as it sees it, and takes nothing else back. */
static int32_t save_data(void *self, const mcu_graph_t *graph, mcu_saved_t *answer) {
    (void)self;
    misbehave("save_data");
    answer->handle = handle();
    answer->data = is_deed("save_data", "nothing") ? NULL : dump(graph);
    answer->data_bytes = is_deed("save_data", "endless") ? UINT64_MAX : strlen(dump(graph));
    return MCU_BACKEND_OK;
}

static int32_t load_data(void *self, uint32_t network, const mcu_graph_t *graph, const void *data,
                         uint64_t data_bytes) {
    (void)self;
    misbehave("load_data");
    const char *expected = dump(graph);
    if (network != 1 || data_bytes != strlen(expected) || memcmp(data, expected, data_bytes) != 0 ||
        is_deed("load_data", "refuse")) {
        reason = "version 2 of its data is not known.";
        return MCU_BACKEND_ERROR;
    }
    return MCU_BACKEND_OK;
}
#endif

static int32_t layers_measured(void *self, const char *network, const mcu_layer_count_t *counts,
                               uint32_t num_counts, mcu_counters_t *answer) {
    static mcu_counter_t counters[5];
    (void)self;
    misbehave("layers_measured");
    answer->handle = malloc(16);
    outstanding++;
    counters[0] = (mcu_counter_t){"outstanding", outstanding};
    counters[1] = (mcu_counter_t){"context calls", context_calls};
    counters[2] = (mcu_counter_t){"options", options_seen};
    counters[3] = (mcu_counter_t){"length of the name", (int64_t)strlen(network)};
    counters[4] = (mcu_counter_t){"total", 0};
    for (uint32_t i = 0; i < num_counts; i++) {
        counters[4].value += (int64_t)counts[i].count;
    }
    answer->num_counters = 5;
    answer->counters = counters;
    return MCU_BACKEND_OK;
}
#endif

#if !defined(WITHOUT_ID) && !defined(WITHOUT_ANYTHING)
const char *GetBackendId(void) {
    misbehave("GetBackendId");
    return mock_id[0] == '0' ? NULL : mock_id;
}
#endif

#if !defined(WITHOUT_VERSION) && !defined(WITHOUT_ANYTHING)
void GetVersion(uint32_t *outMajor, uint32_t *outMinor) {
    misbehave("GetVersion");
    *outMajor = MAJOR;
    *outMinor = MINOR;
}
#endif

#ifdef CALLS_UNKNOWN
void nobody_has_this_function(void);
void never_called(void) {
    nobody_has_this_function();
}
#endif
#ifdef NEEDS_UNKNOWN
extern int nobody_has_this_variable;
int *needed(void) {
    return &nobody_has_this_variable;
}
#endif

#if !defined(WITHOUT_FACTORY) && !defined(WITHOUT_ANYTHING)
void *BackendFactory(void) {
    static mcu_backend_t table;
    misbehave("BackendFactory");
    table = (mcu_backend_t) {
        .struct_size = TABLE_SIZE, .api_major = TABLE_MAJOR, .api_minor = TABLE_MINOR,
        .describe = describe, .is_layer_supported = is_layer_supported,
        .create_workload = create_workload,
#ifndef BARE
        .optimize_subgraph = optimize_subgraph, .estimate = estimate, .memory = memory,
        .create_context = create_context, .before_load_network = before_load,
        .after_unload_network = after_unload, .layers_measured = layers_measured, .error = error,
#if MCU_BACKEND_API_MINOR >= 1
        .save_data = save_data, .load_data = load_data,
#endif
#endif
        .release = release, .free = free_all
    };
#ifdef LACKS
    table.LACKS = NULL;
#endif
#ifdef NO_TABLE
    return NULL;
#else
    return &table;
#endif
}
#endif
