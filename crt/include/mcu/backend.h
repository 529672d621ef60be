/* The C interface of a dynamic backend: a shared object <vendor>_<name>_backend.so that mcu-deploy
 * loads while it compiles. It runs on the machine that compiles, never on the microcontroller.
 *
 * A shared object exports three functions (below, "What the shared object exports"). BackendFactory
 * returns a table of methods. docs/backends.md teaches how to write one; examples/dynamic_backend
 * is one.
 *
 * Rules for all methods:
 *  - Text is UTF-8, ended by a zero byte.
 *  - What the caller passes is the caller's, constant, and valid during the call only.
 *  - What a method puts into its answer is the backend's, and stays valid until the caller gives
 * the answer's handle to `release`. A handle of NULL needs no release.
 *  - Answers come zeroed, but for struct_size. A method fills in what it has to say.
 *  - A method returns MCU_BACKEND_OK or another mcu_backend_status_t. It must return: a call that
 *    takes longer than the session's time-out (10 seconds) ends the backend's process.
 *  - Calls come from one thread. Whatever goes wrong in a method (a crash, exit(), an exception)
 *    ends the backend's own process only; its layers go to the next backend.
 *
 * Versions: a change that breaks backends raises MCU_BACKEND_API_MAJOR, one that does not raises
 * MCU_BACKEND_API_MINOR. In a minor version only the structures that begin with struct_size may
 * grow, at their end; those that come in arrays or inside of others keep their size. What is
 * newer than 1.0 says so. Fields that are newer than a table's own version are not read from it.
 *   1.1  bodies of graphs, scratch regions, MCU_ROLE_SCALAR, save_data and load_data
 *   1.2  propose, and the key of a graph
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MCU_BACKEND_H
#define MCU_BACKEND_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define MCU_BACKEND_EXPORT __attribute__((visibility("default")))
#else
#define MCU_BACKEND_EXPORT
#endif

/* ---- Declarations ---- (up to the line that ends them: mcu-deploy reads these very lines) */

#define MCU_BACKEND_API_MAJOR 1U
#define MCU_BACKEND_API_MINOR 2U

/* An absent optional input or output, and the producer of an edge that has none here. */
#define MCU_NONE 0xFFFFFFFFU

typedef enum mcu_backend_status {
    MCU_BACKEND_OK = 0,
    MCU_BACKEND_ERROR = -1,       /* `error` of the table, if there, gives the reason */
    MCU_BACKEND_UNSUPPORTED = -2, /* the method has nothing for this layer */
    MCU_BACKEND_OUT_OF_MEMORY = -3
} mcu_backend_status_t;

/* ---- The graph ---- */

typedef enum mcu_dtype {
    MCU_BOOL = 0, /* one byte an element */
    MCU_INT8 = 1,
    MCU_UINT8 = 2,
    MCU_INT16 = 3,
    MCU_UINT16 = 4,
    MCU_INT32 = 5,
    MCU_UINT32 = 6,
    MCU_INT64 = 7,
    MCU_UINT64 = 8,
    MCU_FLOAT32 = 9,
    MCU_FLOAT64 = 10
} mcu_dtype_t;

/* A tensor between nodes. Shapes are logical, in ONNX's order of axes (N, C, H, W). */
typedef struct mcu_edge {
    uint32_t id;
    const char *name;
    int32_t dtype; /* mcu_dtype_t */
    uint32_t rank;
    const int64_t *shape;   /* rank numbers */
    const uint32_t *layout; /* the axes in memory order, outermost first; NULL: natural order */
    /* real = scale * (q - zero_point). num_scales: 0 not quantized, 1 per tensor, else the size of
     * axis quantization_axis. */
    uint32_t num_scales;
    int32_t quantization_axis; /* -1 unless there are several scales */
    const float *scales;
    const int32_t *zero_points;
    /* A constant's elements, row-major in the order of `shape`, little-endian; else NULL and 0. */
    const void *data;
    uint64_t data_bytes;
    uint32_t producer; /* the node of this graph that writes it, or MCU_NONE */
    uint32_t num_consumers;
    const uint32_t *consumers; /* the nodes of this graph that read it */
} mcu_edge_t;

typedef enum mcu_attribute_kind {
    MCU_ATTRIBUTE_INTS = 0,
    MCU_ATTRIBUTE_FLOATS = 1,
    MCU_ATTRIBUTE_STRINGS = 2,
    MCU_ATTRIBUTE_TENSOR = 3
} mcu_attribute_kind_t;

/* An attribute by ONNX's name. A single number is a list of one. "activation", made by fusing Relu
 * or Clip, is two floats: the bounds that the result is clamped to, infinite where there is none.
 */
typedef struct mcu_attribute {
    const char *name;
    int32_t kind;   /* mcu_attribute_kind_t */
    uint32_t count; /* elements of the list that `kind` says */
    const int64_t *ints;
    const double *floats;
    const char *const *strings;
    const mcu_edge_t *tensor; /* a constant without id and name */
} mcu_attribute_t;

/* An operator; op and domain are ONNX's names. Domain "mcu" is of the compiler's own operators:
 * Reorder copies its input into another memory order. */
typedef struct mcu_node {
    uint32_t id;
    const char *op;
    const char *domain;
    const char *name;
    uint32_t num_inputs;
    const uint32_t *inputs; /* ids of edges, MCU_NONE where an optional one is absent */
    uint32_t num_outputs;
    const uint32_t *outputs;
    uint32_t num_attributes;
    const mcu_attribute_t *attributes;
} mcu_node_t;

/* A graph, or the part of one that a backend sees: its own nodes in topological order, all edges
 * that they touch. Ids are those of the whole graph; they need not be dense. */
typedef struct mcu_graph {
    uint32_t struct_size;
    uint32_t opset;
    const char *name;
    /* What the code is made for: "cortex-m4", "host". The flags are 0 or 1. */
    const char *core;
    uint8_t has_fpu;
    uint8_t has_dsp;
    uint8_t has_mve;
    uint8_t reserved;
    uint32_t num_nodes;
    const mcu_node_t *nodes;
    uint32_t num_edges;
    const mcu_edge_t *edges;
    uint32_t num_inputs;
    const uint32_t *inputs; /* edges that come from outside and are not constant */
    uint32_t num_outputs;
    const uint32_t *outputs; /* edges that are read outside */
    /* Since 1.1. What fused nodes stand for: bodies[i] is that of nodes[i], a graph whose inputs
     * are some of the node's and whose outputs are the node's, by their ids; or NULL. Bodies may
     * hold fused nodes with bodies: at most 16 lie in one another (deeper ones are left out), and
     * those of a replacement have 16,384 nodes together at most. NULL: no node has a body. */
    const struct mcu_graph *const *bodies;
    /* Since 1.2. In create_workload the key of the proposal that won; elsewhere 0. */
    uint32_t key;
    uint32_t reserved_2;
} mcu_graph_t;

/* ---- Answers ---- */

/* describe: what the backend is for. */
typedef struct mcu_backend_info {
    uint32_t struct_size;
    int32_t rank; /* the lower, the earlier in the default preference; CpuRef has 1000 */
    void *handle;
    uint32_t num_cores; /* 0: all */
    const char *const *cores;
    uint32_t num_operators;
    const char *const *operators; /* "Conv", "domain::Name"; shown to people */
} mcu_backend_info_t;

typedef enum mcu_layout_rule {
    MCU_LAYOUT_NATURAL = 0,       /* in the order of the axes */
    MCU_LAYOUT_CHANNELS_LAST = 1, /* N, spatial axes, C */
    MCU_LAYOUT_SAME = 2,          /* any, all inputs and outputs alike */
    MCU_LAYOUT_VIEW = 3           /* the output is the input's memory under another shape */
} mcu_layout_rule_t;

/* is_layer_supported: yes with a layout, or no with a reason, a clause without full stop. */
typedef struct mcu_support {
    uint32_t struct_size;
    int32_t supported; /* 0 or 1 */
    void *handle;
    const char *reason;
    int32_t layout; /* mcu_layout_rule_t: how the layer's computed tensors must lie in memory */
} mcu_support_t;

/* estimate, and a part of a workload. 0 or less: not known (but for a workload without a function,
 * which costs nothing). Instructions and cycles are the backend's own model of one call. Cycles on
 * the target's core are what is compared: CpuRef states them for every layer. Instructions are
 * compared where no backend states cycles; elsewhere a backend without cycles competes by rank. */
typedef struct mcu_costs {
    uint32_t struct_size;
    uint32_t reserved;
    int64_t macs;
    int64_t instructions;
    int64_t cycles;
    int64_t flash_bytes;
} mcu_costs_t;

typedef struct mcu_parameter {
    const char *type; /* "const int8_t *" */
    const char *name;
} mcu_parameter_t;

/* A static C99 function. `body` begins with { and ends with }. In it, $word stands for the
 * network's own symbol "word". stem: of its name; equal functions are emitted once. is_helper: it
 * is `static inline`, which helpers may be: others call them by $stem. */
typedef struct mcu_function {
    const char *stem;
    const char *result; /* "void", or of a kernel "int32_t": MCU_OK, or what ends the run */
    uint32_t num_parameters;
    uint32_t is_helper;
    const mcu_parameter_t *parameters;
    const char *body;
} mcu_function_t;

/* A constant array, in the order in which the function reads it. */
typedef struct mcu_constant {
    const char *stem;
    int32_t dtype;      /* mcu_dtype_t */
    uint32_t alignment; /* of its address, a power of two; 0: 4 */
    uint64_t num_elements;
    const void *data;
} mcu_constant_t;

typedef enum mcu_role {
    MCU_ROLE_INPUT = 0,
    MCU_ROLE_OUTPUT = 1,
    MCU_ROLE_CONSTANT = 2,
    MCU_ROLE_SCRATCH = 3,
    MCU_ROLE_REGION = 4,
    MCU_ROLE_SCALAR = 5 /* since 1.1 */
} mcu_role_t;

/* One argument of the call: which input, output, constant or region; for the scratch buffer 0; of a
 * scalar the 32 bits of the int32_t, uint32_t or float that the parameter is. */
typedef struct mcu_argument {
    int32_t role; /* mcu_role_t */
    uint32_t index;
} mcu_argument_t;

/* The output may share bytes with the input as long as offset(output) + distance <= offset(input).
 * distance: the maximum over all writes to the output of the end of the written bytes, counted from
 * the output's start, minus the lowest byte of the input, counted from its start, that is read at
 * or after the completion of that write. 0: element by element, both at the same place. Positive:
 * the output must start so many bytes before the input. Negative: it may start so many bytes behind
 * the input's start. Writes that no read follows demand nothing. Facts of different inputs may be
 * used at once. No pointer may be `restrict`; both have elements of one type, or one has bytes. */
typedef struct mcu_in_place {
    uint32_t input;
    uint32_t output;
    int32_t distance;
} mcu_in_place_t;

/* A region of an instance's workspace. A private one is the backend's own: zeroed by
 * mcu_instance_init, and never written by anything else; those of equal name in one network are one
 * region. A scratch region may be overwritten by the call, and is lost after it. */
typedef struct mcu_region {
    const char *name;
    uint32_t bytes;
} mcu_region_t;
typedef mcu_region_t mcu_private_region_t; /* its name in 1.0, when all were private */

/* One way of computing a layer. function NULL: the output is the first input's memory. */
typedef struct mcu_workload {
    const mcu_function_t *function;
    uint32_t num_arguments; /* as many as the function has parameters */
    uint32_t num_constants;
    const mcu_argument_t *arguments;
    const mcu_constant_t *constants;
    uint32_t num_helpers;
    uint32_t num_headers;
    const mcu_function_t *helpers; /* a helper stands behind those that it calls */
    const char *const *headers;    /* "string.h" */
    uint32_t scratch_bytes;        /* memory that the call may overwrite, aligned to 16 bytes */
    uint32_t num_in_place;
    const mcu_in_place_t *in_place;
    uint32_t num_regions;
    uint32_t num_scratch_regions; /* since 1.1: so many of them, the last ones, are scratch */
    const mcu_region_t *regions;
    mcu_costs_t costs;
} mcu_workload_t;

/* create_workload: the ways that there are, one at least. */
typedef struct mcu_workloads {
    uint32_t struct_size;
    uint32_t num_workloads;
    void *handle;
    const mcu_workload_t *workloads;
} mcu_workloads_t;

/* Some nodes of a view, by their ids. */
typedef struct mcu_subgraph {
    uint32_t num_nodes;
    uint32_t reserved;
    const uint32_t *nodes;
} mcu_subgraph_t;

/* Replaces nodes of a view by a graph of its own ids, whose inputs and outputs stand for those of
 * the nodes in the order in which mcu_graph_t would list them, and are of the same types. One node
 * in place of several keeps them as its body. */
typedef struct mcu_substitution {
    mcu_subgraph_t substitutable;
    const mcu_graph_t *replacement;
} mcu_substitution_t;

/* optimize_subgraph: each node of the view is in exactly one part. All zero: all is untouched. */
typedef struct mcu_optimization {
    uint32_t struct_size;
    uint32_t num_substitutions;
    void *handle;
    const mcu_substitution_t *substitutions;
    uint32_t num_failed; /* what the backend cannot compute after all */
    uint32_t num_untouched;
    const mcu_subgraph_t *failed;
    const mcu_subgraph_t *untouched;
} mcu_optimization_t;

/* Since 1.2. Bytes of a function that others may share: of equal keys the network has one. */
typedef struct mcu_code {
    const char *key;
    uint64_t bytes;
} mcu_code_t;

/* Since 1.2. A convex part of a view (no path leaves it and comes back), what would compute it, and
 * at what price. Proposals compete with all others before anything is applied; they may share
 * nodes. The workloads of one that wins are made by create_workload, for each node of the
 * replacement by itself, with its layouts and `key`: one each. It may be asked for more often than
 * once. */
typedef struct mcu_proposal {
    mcu_subgraph_t part;
    const mcu_graph_t *replacement; /* as in mcu_substitution_t; NULL: one node stays as it is */
    uint32_t key;                   /* of the backend's own: it comes back if this wins */
    uint32_t num_layouts;           /* as many as the replacement has nodes; 1 without one */
    const char *title;              /* for people: "conv + pool"; may be NULL */
    const char *only_for;   /* the goal without which it does not compete: "speed"; or NULL */
    const int32_t *layouts; /* mcu_layout_rule_t: how the tensors of each node must lie */
    mcu_costs_t costs; /* 0: not known; flash_bytes: of constants, and code that nothing shares */
    uint32_t num_code;
    uint32_t scratch_bytes; /* of the workload, as all below */
    const mcu_code_t *code;
    uint32_t num_in_place;
    uint32_t reserved;
    const mcu_in_place_t *in_place; /* by the inputs and outputs of the part */
} mcu_proposal_t;

/* Since 1.2. Why there is nothing for a node of the view. */
typedef struct mcu_refusal {
    uint32_t node;
    uint32_t reserved;
    const char *reason; /* a clause without full stop */
} mcu_refusal_t;

/* Since 1.2. propose: every alternative that could be best. All zero: nothing. */
typedef struct mcu_proposals {
    uint32_t struct_size;
    uint32_t num_proposals;
    void *handle;
    const mcu_proposal_t *proposals;
    uint32_t num_refused;
    uint32_t reserved;
    const mcu_refusal_t *refused;
} mcu_proposals_t;

/* memory: functions that the network calls with pointers to private regions, in this order. */
typedef struct mcu_region_call {
    const mcu_function_t *function; /* NULL: no call */
    uint32_t num_regions;           /* as many as the function has parameters */
    uint32_t num_helpers;
    const mcu_region_t *regions;
    const mcu_function_t *helpers;
    uint32_t num_headers;
    uint32_t reserved;
    const char *const *headers; /* "string.h" */
} mcu_region_call_t;

typedef struct mcu_memory {
    uint32_t struct_size;
    uint32_t reserved;
    void *handle;
    mcu_region_call_t acquire; /* at the begin of every run */
    mcu_region_call_t release; /* in mcu_instance_deinit */
} mcu_memory_t;

/* What was measured of one layer. unit: "instructions", "cycles" or "ticks". */
typedef struct mcu_layer_count {
    uint32_t index;
    uint32_t reserved;
    const char *name;
    const char *op;
    const char *unit;
    uint64_t macs;
    uint64_t count;
} mcu_layer_count_t;

typedef struct mcu_counter {
    const char *name;
    int64_t value;
} mcu_counter_t;

/* layers_measured: counters of the backend's own for the report. */
typedef struct mcu_counters {
    uint32_t struct_size;
    uint32_t num_counters;
    void *handle;
    const mcu_counter_t *counters;
} mcu_counters_t;

/* Since 1.1. save_data: what is to be kept. */
typedef struct mcu_saved {
    uint32_t struct_size;
    uint32_t reserved;
    void *handle;
    const void *data; /* NULL: nothing */
    uint64_t data_bytes;
} mcu_saved_t;

/* An option of the session for this backend. */
typedef struct mcu_option {
    const char *name;
    const char *value;
} mcu_option_t;

/* ---- The table of methods ---- */

/* What BackendFactory returns. Methods that may be NULL say so. `self` is passed to each. */
typedef struct mcu_backend {
    uint32_t struct_size; /* sizeof(mcu_backend_t) of the header that it was built with */
    uint16_t api_major; /* MCU_BACKEND_API_MAJOR and _MINOR of that header: what GetVersion says */
    uint16_t api_minor;
    void *self;

    int32_t (*describe)(void *self, mcu_backend_info_t *answer);

    /* `graph` holds one node, the layer; its layouts are not assigned yet. May be NULL beside
     * `propose` (since 1.2). */
    int32_t (*is_layer_supported)(void *self, const mcu_graph_t *graph, mcu_support_t *answer);

    /* `graph` holds a partition that was given to the backend. May be NULL: all is untouched. */
    int32_t (*optimize_subgraph)(void *self, const mcu_graph_t *graph, mcu_optimization_t *answer);

    /* `graph` holds one node, the layer, with its layouts. */
    int32_t (*create_workload)(void *self, const mcu_graph_t *graph, mcu_workloads_t *answer);

    /* What a supported layer would cost. May be NULL: not known. */
    int32_t (*estimate)(void *self, const mcu_graph_t *graph, mcu_costs_t *answer);

    /* What is emitted beside the layers. May be NULL: nothing. Called behind create_workload of all
     * layers of a network. */
    int32_t (*memory)(void *self, mcu_memory_t *answer);

    /* The context. Each may be NULL. create_context comes once, before any network. */
    int32_t (*create_context)(void *self, const mcu_option_t *options, uint32_t num_options);
    int32_t (*before_load_network)(void *self, uint32_t network);
    int32_t (*after_load_network)(void *self, uint32_t network);
    int32_t (*before_unload_network)(void *self, uint32_t network);
    int32_t (*after_unload_network)(void *self, uint32_t network);

    /* What a profile measured of the backend's layers. May be NULL. */
    int32_t (*layers_measured)(void *self, const char *network, const mcu_layer_count_t *counts,
                               uint32_t num_counts, mcu_counters_t *answer);

    /* The reason of the last MCU_BACKEND_ERROR, valid until the next call. May be NULL. */
    const char *(*error)(void *self);

    /* Gives an answer's memory back. */
    void (*release)(void *self, void *handle);

    /* The end: frees the table and all that it owns. */
    void (*free)(void *self);

    /* Since 1.1. What a .pmx file shall keep of the backend beside its workloads; it begins best
     * with a version of its own. `graph` holds the backend's nodes, with the ids that they will
     * have when the file is loaded; it says nothing of the target: its core is "". May be NULL:
     * nothing.
     */
    int32_t (*save_data)(void *self, const mcu_graph_t *graph, mcu_saved_t *answer);

    /* Since 1.1. Gives back what save_data saved, between before_load_network and
     * after_load_network; data is aligned to 16 bytes. MCU_BACKEND_ERROR for what it does not
     * understand. The workloads are in the file, and are not made again. May be NULL. */
    int32_t (*load_data)(void *self, uint32_t network, const mcu_graph_t *graph, const void *data,
                         uint64_t data_bytes);

    /* Since 1.2. What the backend would compute of a view, in place of what is_layer_supported,
     * estimate and optimize_subgraph say. Asked again where the graph changed. May be NULL. */
    int32_t (*propose)(void *self, const mcu_graph_t *graph, mcu_proposals_t *answer);
} mcu_backend_t;

/* ---- What the shared object exports ----
 *
 *     const char *GetBackendId(void);
 *     void GetVersion(uint32_t *outMajor, uint32_t *outMinor);
 *     void *BackendFactory(void);
 *
 * GetBackendId: letters, digits and underscores; unique among all backends.
 * GetVersion: MCU_BACKEND_API_MAJOR and _MINOR. The same major version, and no newer minor version
 * than mcu-deploy's, is loaded.
 * BackendFactory: a new mcu_backend_t *, which its `free` ends; NULL where there can be none. */
MCU_BACKEND_EXPORT const char *GetBackendId(void);
MCU_BACKEND_EXPORT void GetVersion(uint32_t *outMajor, uint32_t *outMinor);
MCU_BACKEND_EXPORT void *BackendFactory(void);

/* ---- End of the declarations ---- */

#ifdef __cplusplus
}
#endif

#endif /* MCU_BACKEND_H */
