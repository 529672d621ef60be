/* A backend that proposes: a convolution of 3x3 with the pool of 2x2 behind it as one node.
 *
 *   KERNEL    the file with the function's body
 *
 * What it does wrong is ordered by the environment, as of the mock ("propose no such node").
 *
 * SPDX-License-Identifier: Apache-2.0 */
#define ID "CChain"
#include "../mocks/misdeeds.h"

#include <mcu/backend.h>

extern const char kernel[] __attribute__((visibility("hidden")));
__asm__(".pushsection .rodata\nkernel: .incbin \"" KERNEL "\"\n.byte 0\n.popsection");

/* A layer's constants, in one piece that its answer's handle gives back. */
typedef struct made {
    mcu_workload_t workload;
    mcu_argument_t arguments[11];
    mcu_constant_t constants[3];
    float factor[64];
    int8_t weights[];
} made_t;

typedef struct offered {
    mcu_node_t node;
    mcu_edge_t edges[2];
    mcu_graph_t graph;
    uint32_t part[2];
} offered_t;

static const uint32_t zero = 0;
static const uint32_t one = 1;

static const mcu_edge_t *edge_of(const mcu_graph_t *graph, uint32_t id) {
    for (uint32_t i = 0; i < graph->num_edges; i++) {
        if (graph->edges[i].id == id) {
            return &graph->edges[i];
        }
    }
    return NULL;
}

static const mcu_node_t *node_of(const mcu_graph_t *graph, uint32_t id) {
    for (uint32_t i = 0; i < graph->num_nodes; i++) {
        if (graph->nodes[i].id == id) {
            return &graph->nodes[i];
        }
    }
    return NULL;
}

static int is_pair(const mcu_node_t *node, const char *name, int64_t value) {
    for (uint32_t i = 0; i < node->num_attributes; i++) {
        const mcu_attribute_t *a = &node->attributes[i];
        if (strcmp(a->name, name) == 0) {
            return a->count == 2 && a->ints[0] == value && a->ints[1] == value;
        }
    }
    return 0;
}

/* The pool behind a convolution, if they are what the kernel computes. */
static const mcu_node_t *pool_behind(const mcu_graph_t *graph, const mcu_node_t *conv) {
    const mcu_edge_t *between = edge_of(graph, conv->outputs[0]);
    if (strcmp(conv->op, "Conv") != 0 || between->num_consumers != 1) {
        return NULL;
    }
    const mcu_node_t *pool = node_of(graph, between->consumers[0]);
    const mcu_edge_t *w = edge_of(graph, conv->inputs[1]);
    const int fits = pool != NULL && w->shape[2] == 3 && w->shape[3] == 3 &&
                     strcmp(pool->op, "MaxPool") == 0 && is_pair(pool, "kernel_shape", 2) &&
                     is_pair(pool, "strides", 2);
    return fits ? pool : NULL;
}

static int32_t describe(void *self, mcu_backend_info_t *answer) {
    static const char *const operators[] = {"chain::ConvPool"};
    (void)self;
    answer->rank = 900;
    answer->num_operators = 1;
    answer->operators = operators;
    return MCU_BACKEND_OK;
}

static void offer(offered_t *made, const mcu_graph_t *graph, const mcu_node_t *conv,
                  const mcu_node_t *pool) {
    made->part[0] = conv->id;
    made->part[1] = pool->id;
    made->edges[0] = *edge_of(graph, conv->inputs[0]);
    made->edges[1] = *edge_of(graph, pool->outputs[0]);
    made->edges[0].id = 0;
    made->edges[1].id = 1;
    made->node = (mcu_node_t){.id = 0,
                              .op = "ConvPool",
                              .domain = "chain",
                              .name = "chain",
                              .num_inputs = 1,
                              .inputs = &zero,
                              .num_outputs = 1,
                              .outputs = &one};
    made->graph = (mcu_graph_t){.struct_size = sizeof made->graph,
                                .opset = graph->opset,
                                .num_nodes = 1,
                                .nodes = &made->node,
                                .num_edges = 2,
                                .edges = made->edges,
                                .num_inputs = 1,
                                .inputs = &zero,
                                .num_outputs = 1,
                                .outputs = &one};
}

static int is(const char *deed) {
    return is_deed("propose", deed);
}

/* Changes the first proposal as the test has ordered. */
static int32_t spoil(mcu_proposals_t *answer, mcu_proposal_t *first, offered_t *made,
                     mcu_refusal_t *refusal) {
    static const mcu_in_place_t no_input = {7, 0, 0};
    static const mcu_code_t nameless = {NULL, 8};
    static const mcu_code_t endless = {"f", UINT64_MAX};
    static const int32_t no_layout = 9;
    if (is("negative cycles")) {
        first->costs.cycles = -5;
    } else if (is("endless cycles")) {
        first->costs.cycles = INT64_MAX;
    } else if (is("no such node")) {
        made->part[1] = 4711;
    } else if (is("no nodes")) {
        first->part.num_nodes = 0;
    } else if (is("nodes at NULL")) {
        first->part.nodes = NULL;
    } else if (is("nothing in place")) {
        first->replacement = NULL;
    } else if (is("no such input")) {
        first->num_in_place = 1;
        first->in_place = &no_input;
    } else if (is("no such layout")) {
        first->layouts = &no_layout;
    } else if (is("no layouts")) {
        first->num_layouts = 0;
    } else if (is("no such goal")) {
        first->only_for = "fame";
    } else if (is("title")) {
        first->title = "\xC3\x28";
    } else if (is("nameless code")) {
        first->num_code = 1;
        first->code = &nameless;
    } else if (is("endless code")) {
        first->num_code = 1;
        first->code = &endless;
    } else if (is("much scratch")) {
        first->scratch_bytes = UINT32_MAX;
    } else if (is("cycle")) {
        made->node.inputs = &one; /* it reads what it writes */
    } else if (is("other type")) {
        made->edges[1].dtype = MCU_UINT8;
    } else if (is("scale")) {
        static const float infinite = 1.0F / 0.0F;
        static const int32_t zero_point = 0;
        made->edges[1].num_scales = 1;
        made->edges[1].scales = &infinite;
        made->edges[1].zero_points = &zero_point;
    } else if (is("many")) {
        answer->num_proposals = UINT32_MAX;
    } else if (is("at NULL")) {
        answer->proposals = NULL;
    } else if (is("strange refusal")) {
        refusal->node = 4711;
    } else if (is("error")) {
        return MCU_BACKEND_ERROR;
    }
    return MCU_BACKEND_OK;
}

static int32_t propose(void *self, const mcu_graph_t *graph, mcu_proposals_t *answer) {
    static const int32_t layout = MCU_LAYOUT_CHANNELS_LAST;
    static offered_t offered[8];
    static mcu_proposal_t proposals[8];
    static mcu_refusal_t refusals[64];
    (void)self;
    for (uint32_t i = 0; i < graph->num_nodes && answer->num_proposals < 8; i++) {
        const mcu_node_t *conv = &graph->nodes[i];
        const mcu_node_t *pool = pool_behind(graph, conv);
        if (pool == NULL) {
            if (answer->num_refused < 64) {
                refusals[answer->num_refused++] =
                    (mcu_refusal_t){conv->id, 0, "it computes convolutions with a pool"};
            }
            continue;
        }
        offered_t *made = &offered[answer->num_proposals];
        offer(made, graph, conv, pool);
        const int64_t *shape = edge_of(graph, conv->outputs[0])->shape;
        const int64_t macs = shape[1] * shape[2] * shape[3] * 9 * made->edges[0].shape[1];
        proposals[answer->num_proposals] =
            (mcu_proposal_t){.part = {.num_nodes = 2, .nodes = made->part},
                             .replacement = &made->graph,
                             .key = 40 + answer->num_proposals,
                             .num_layouts = 1,
                             .layouts = &layout,
                             .title = "conv + pool",
                             .costs = {.macs = macs, .cycles = macs / 12, .flash_bytes = 1000}};
        answer->num_proposals++;
    }
    answer->proposals = proposals;
    answer->refused = refusals;
    misbehave("propose");
    return spoil(answer, &proposals[0], &offered[0], &refusals[0]);
}

static int32_t create_workload(void *self, const mcu_graph_t *graph, mcu_workloads_t *answer) {
    static const mcu_parameter_t parameters[] = {
        {"const int8_t *", "x"},     {"int8_t *", "y"},           {"const int8_t *", "weights"},
        {"const int32_t *", "bias"}, {"const float *", "factor"}, {"int32_t", "height"},
        {"int32_t", "width"},        {"int32_t", "channels"},     {"int32_t", "filters"},
        {"int32_t", "x_zero"},       {"int32_t", "y_zero"}};
    static mcu_function_t function = {"chain", "void", 11, 0, parameters, kernel};
    static const char *const headers[] = {"stdint.h"};
    (void)self;
    const mcu_graph_t *body = graph->bodies == NULL ? NULL : graph->bodies[0];
    if (body == NULL || graph->key < 40) {
        return MCU_BACKEND_UNSUPPORTED;
    }
    const mcu_node_t *conv = &body->nodes[0];
    const mcu_edge_t *x = edge_of(body, conv->inputs[0]);
    const mcu_edge_t *w = edge_of(body, conv->inputs[1]);
    const mcu_edge_t *bias = edge_of(body, conv->inputs[2]);
    const mcu_edge_t *y = edge_of(body, conv->outputs[0]);
    const int64_t filters = w->shape[0];
    const int64_t channels = w->shape[1];
    made_t *made = calloc(1, sizeof *made + (size_t)w->data_bytes);
    if (made == NULL || filters > 64) {
        free(made);
        return MCU_BACKEND_OUT_OF_MEMORY;
    }
    for (int64_t m = 0; m < filters; m++) {
        const float product = x->scales[0] * w->scales[w->num_scales == 1 ? 0 : m];
        made->factor[m] = product / y->scales[0];
        for (int64_t c = 0; c < channels; c++) {
            for (int64_t tap = 0; tap < 9; tap++) {
                made->weights[(m * 9 + tap) * channels + c] =
                    ((const int8_t *)w->data)[(m * channels + c) * 9 + tap];
            }
        }
    }
    const int64_t numbers[] = {x->shape[2], x->shape[3],       channels,
                               filters,     x->zero_points[0], y->zero_points[0]};
    made->arguments[0] = (mcu_argument_t){MCU_ROLE_INPUT, 0};
    made->arguments[1] = (mcu_argument_t){MCU_ROLE_OUTPUT, 0};
    for (uint32_t i = 0; i < 3; i++) {
        made->arguments[2 + i] = (mcu_argument_t){MCU_ROLE_CONSTANT, i};
    }
    for (uint32_t i = 0; i < 6; i++) {
        made->arguments[5 + i] = (mcu_argument_t){MCU_ROLE_SCALAR, (uint32_t)numbers[i]};
    }
    made->constants[0] = (mcu_constant_t){"weights", MCU_INT8, 0, w->data_bytes, made->weights};
    made->constants[1] = (mcu_constant_t){"bias", MCU_INT32, 0, (uint64_t)filters, bias->data};
    made->constants[2] =
        (mcu_constant_t){"factor", MCU_FLOAT32, 0, (uint64_t)filters, made->factor};
    made->workload = (mcu_workload_t){.function = &function,
                                      .num_arguments = 11,
                                      .arguments = made->arguments,
                                      .num_constants = 3,
                                      .constants = made->constants,
                                      .num_headers = 1,
                                      .headers = headers};
    answer->handle = made;
    answer->num_workloads = 1;
    answer->workloads = &made->workload;
    misbehave("create_workload");
    if (is_deed("create_workload", "two ways")) {
        static mcu_workload_t ways[2];
        ways[0] = ways[1] = made->workload;
        answer->num_workloads = 2;
        answer->workloads = ways;
    }
    return MCU_BACKEND_OK;
}

static void release(void *self, void *handle) {
    (void)self;
    free(handle);
}

static void end(void *self) {
    (void)self;
}

const char *GetBackendId(void) {
    return "CChain";
}

void GetVersion(uint32_t *outMajor, uint32_t *outMinor) {
    *outMajor = MCU_BACKEND_API_MAJOR;
    *outMinor = MCU_BACKEND_API_MINOR;
}

void *BackendFactory(void) {
    static mcu_backend_t table = {.struct_size = sizeof table,
                                  .api_major = MCU_BACKEND_API_MAJOR,
                                  .api_minor = MCU_BACKEND_API_MINOR,
                                  .describe = describe,
                                  .create_workload = create_workload,
                                  .release = release,
                                  .free = end,
                                  .propose = propose};
    return &table;
}
