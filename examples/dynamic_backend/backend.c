/* The three functions that a dynamic backend exports, and the table of methods.
 *
 * A method finds out what it has to say with the help of layers.c, puts what must outlive the call
 * into an arena, and gives the arena away as the answer's handle.
 * SPDX-License-Identifier: Apache-2.0 */
#include "mcu/backend.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels.h"
#include "layers.h"
#include "optimize.h"
#include "text.h"

typedef struct reference {
    mcu_backend_t table;
    arena_t *arena; /* of the kernels, for the life of the backend */
    kernels_t kernels;
    bool counts_runs; /* option count_runs */
    uint32_t num_loaded;
    uint32_t *loaded; /* the networks that are loaded */
    char error[256];
} reference_t;

/* Keeps the reason for `error`. */
static int32_t fail(reference_t *self, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(self->error, sizeof self->error, format, arguments);
    va_end(arguments);
    return MCU_BACKEND_ERROR;
}

static int32_t out_of_memory(arena_t *arena) {
    arena_free(arena);
    return MCU_BACKEND_OUT_OF_MEMORY;
}

/* The one layer of a graph. */
static int32_t read_layer(reference_t *self, const mcu_graph_t *graph, layer_t *layer) {
    if (graph->num_nodes != 1) {
        return fail(self, "A layer is a graph of one node, and this one has %" PRIu32 ".",
                    graph->num_nodes);
    }
    if (!layer_of(graph, graph->nodes, layer)) {
        return fail(self, "The layer %s has an edge that is not in the graph.", graph->nodes->name);
    }
    return MCU_BACKEND_OK;
}

static int32_t describe(void *self, mcu_backend_info_t *answer) {
    (void)self;
    arena_t *arena = arena_create();
    const char **names = arena == NULL ? NULL : arena_take(arena, num_operators, sizeof *names);
    if (names == NULL) {
        return out_of_memory(arena);
    }
    for (size_t i = 0; i < num_operators; i++) {
        text_t *name = arena_take(arena, 1, sizeof *name);
        if (name == NULL) {
            return out_of_memory(arena);
        }
        const char *domain = operators[i].domain;
        text_add(name, "%s%s%s", domain, domain[0] == '\0' ? "" : "::", operators[i].op);
        names[i] = name->characters;
    }
    answer->rank = 1100; /* behind CpuRef: it is used when it is named */
    answer->operators = names;
    answer->num_operators = (uint32_t)num_operators;
    answer->handle = arena;
    return MCU_BACKEND_OK;
}

static int32_t is_layer_supported(void *self, const mcu_graph_t *graph, mcu_support_t *answer) {
    layer_t layer;
    const int32_t status = read_layer(self, graph, &layer);
    if (status != MCU_BACKEND_OK) {
        return status;
    }
    const operator_support_t *found = find_operator(&layer, &answer->reason);
    answer->supported = found != NULL;
    answer->layout = found == NULL ? MCU_LAYOUT_NATURAL : found->layout;
    return MCU_BACKEND_OK;
}

static int32_t optimize_subgraph(void *self, const mcu_graph_t *graph, mcu_optimization_t *answer) {
    (void)self;
    arena_t *arena = arena_create();
    if (arena == NULL || fuse_gemm_softmax(graph, arena, answer) != MCU_BACKEND_OK) {
        return out_of_memory(arena);
    }
    answer->handle = arena;
    return MCU_BACKEND_OK;
}

static int32_t create_workload(void *object, const mcu_graph_t *graph, mcu_workloads_t *answer) {
    reference_t *self = object;
    layer_t layer;
    const int32_t status = read_layer(self, graph, &layer);
    if (status != MCU_BACKEND_OK) {
        return status;
    }
    const char *reason;
    const operator_support_t *found = find_operator(&layer, &reason);
    if (found == NULL) {
        return fail(self, "%s cannot be computed: %s.", layer.node->op, reason);
    }
    arena_t *arena = arena_create();
    builder_t *builder = arena == NULL ? NULL : arena_take(arena, 1, sizeof *builder);
    if (builder == NULL) {
        return out_of_memory(arena);
    }
    builder->arena = arena;
    builder->kernels = &self->kernels;
    const int32_t built = found->build(&layer, builder);
    if (built != MCU_BACKEND_OK) {
        arena_free(arena);
        return built == MCU_BACKEND_ERROR
                   ? fail(self, "The text of %s is too long.", layer.node->op)
                   : built;
    }
    answer->num_workloads = 1;
    answer->workloads = &builder->workload;
    answer->handle = arena;
    return MCU_BACKEND_OK;
}

static int32_t estimate(void *self, const mcu_graph_t *graph, mcu_costs_t *answer) {
    layer_t layer;
    const int32_t status = read_layer(self, graph, &layer);
    if (status != MCU_BACKEND_OK) {
        return status;
    }
    const char *reason;
    if (find_operator(&layer, &reason) == NULL) {
        return MCU_BACKEND_UNSUPPORTED;
    }
    *answer = costs_of(&layer);
    return MCU_BACKEND_OK;
}

/* With the option count_runs each instance counts its runs, to be read in a debugger. It shows how
 * a backend keeps something from run to run: in a private region, for which it asks here. */
static int32_t memory(void *object, mcu_memory_t *answer) {
    static const mcu_parameter_t runs = {"uint32_t *", "runs"};
    static const mcu_private_region_t region = {"dynref_runs", sizeof(uint32_t)};
    static const mcu_function_t count = {.stem = "dynref_count_run",
                                         .result = "void",
                                         .num_parameters = 1,
                                         .parameters = &runs,
                                         .body = "{\n    ++*runs;\n}"};
    static const mcu_function_t forget = {.stem = "dynref_forget_runs",
                                          .result = "void",
                                          .num_parameters = 1,
                                          .parameters = &runs,
                                          .body = "{\n    *runs = 0;\n}"};
    const reference_t *self = object;
    if (self->counts_runs) {
        answer->acquire =
            (mcu_region_call_t){.function = &count, .num_regions = 1, .regions = &region};
        answer->release =
            (mcu_region_call_t){.function = &forget, .num_regions = 1, .regions = &region};
    }
    return MCU_BACKEND_OK;
}

static int32_t create_context(void *object, const mcu_option_t *options, uint32_t num_options) {
    reference_t *self = object;
    for (uint32_t i = 0; i < num_options; i++) {
        const char *value = options[i].value;
        if (strcmp(options[i].name, "count_runs") != 0) {
            return fail(self, "There is no option %s; there is count_runs.", options[i].name);
        }
        if (strcmp(value, "yes") != 0 && strcmp(value, "no") != 0) {
            return fail(self, "The option count_runs is yes or no, not %s.", value);
        }
        self->counts_runs = strcmp(value, "yes") == 0;
    }
    return MCU_BACKEND_OK;
}

static int32_t before_load_network(void *self, uint32_t network) {
    (void)self;
    (void)network;
    return MCU_BACKEND_OK;
}

static int32_t after_load_network(void *object, uint32_t network) {
    reference_t *self = object;
    uint32_t *larger = realloc(self->loaded, (self->num_loaded + 1) * sizeof *larger);
    if (larger == NULL) {
        return MCU_BACKEND_OUT_OF_MEMORY;
    }
    larger[self->num_loaded++] = network;
    self->loaded = larger;
    return MCU_BACKEND_OK;
}

static int32_t before_unload_network(void *self, uint32_t network) {
    (void)self;
    (void)network;
    return MCU_BACKEND_OK;
}

/* Also comes for a network whose loading failed: that one is not among the loaded. */
static int32_t after_unload_network(void *object, uint32_t network) {
    reference_t *self = object;
    for (uint32_t i = 0; i < self->num_loaded; i++) {
        if (self->loaded[i] == network) {
            self->loaded[i] = self->loaded[--self->num_loaded];
            break;
        }
    }
    return MCU_BACKEND_OK;
}

/* Two counters: what a thousand multiply-accumulates took, over all layers that have some, and how
 * many networks the session has loaded. */
static int32_t layers_measured(void *object, const char *network, const mcu_layer_count_t *counts,
                               uint32_t num_counts, mcu_counters_t *answer) {
    const reference_t *self = object;
    (void)network;
    uint64_t macs = 0, count = 0;
    const char *unit = "instructions";
    for (uint32_t i = 0; i < num_counts; i++) {
        unit = counts[i].unit;
        macs += counts[i].macs;
        count += counts[i].macs == 0 ? 0 : counts[i].count;
    }
    arena_t *arena = arena_create();
    mcu_counter_t *counters = arena == NULL ? NULL : arena_take(arena, 2, sizeof *counters);
    text_t *name = arena == NULL ? NULL : arena_take(arena, 1, sizeof *name);
    if (counters == NULL || name == NULL) {
        return out_of_memory(arena);
    }
    text_add(name, "%.32s per 1000 MACs", unit);
    counters[0] = (mcu_counter_t){"networks loaded", self->num_loaded};
    counters[1] = (mcu_counter_t){name->characters, macs == 0 ? 0 : (int64_t)(count * 1000 / macs)};
    answer->counters = counters;
    answer->num_counters = macs == 0 ? 1 : 2;
    answer->handle = arena;
    return MCU_BACKEND_OK;
}

static const char *error(void *object) {
    const reference_t *self = object;
    return self->error;
}

static void release(void *self, void *handle) {
    (void)self;
    arena_free(handle);
}

static void end(void *object) {
    reference_t *self = object;
    arena_free(self->arena);
    free(self->loaded);
    free(self);
}

const char *GetBackendId(void) {
    return "DynamicRef";
}

void GetVersion(uint32_t *outMajor, uint32_t *outMinor) {
    *outMajor = MCU_BACKEND_API_MAJOR;
    *outMinor = MCU_BACKEND_API_MINOR;
}

void *BackendFactory(void) {
    reference_t *self = calloc(1, sizeof *self);
    if (self == NULL) {
        return NULL;
    }
    self->arena = arena_create();
    if (self->arena == NULL || !kernels_read(&self->kernels, self->arena)) {
        end(self);
        return NULL;
    }
    self->table = (mcu_backend_t){.struct_size = sizeof self->table,
                                  .api_major = MCU_BACKEND_API_MAJOR,
                                  .api_minor = MCU_BACKEND_API_MINOR,
                                  .self = self,
                                  .describe = describe,
                                  .is_layer_supported = is_layer_supported,
                                  .optimize_subgraph = optimize_subgraph,
                                  .create_workload = create_workload,
                                  .estimate = estimate,
                                  .memory = memory,
                                  .create_context = create_context,
                                  .before_load_network = before_load_network,
                                  .after_load_network = after_load_network,
                                  .before_unload_network = before_unload_network,
                                  .after_unload_network = after_unload_network,
                                  .layers_measured = layers_measured,
                                  .error = error,
                                  .release = release,
                                  .free = end};
    return &self->table;
}
