/* Loads the reference backend as mcu-deploy does, and calls every entry of its table.
 *
 *     table_test McuDeploy_DynamicRef_backend.so
 *
 * SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "table_test.h"

static const char *(*get_id)(void);
static void (*get_version)(uint32_t *, uint32_t *);
void *(*factory)(void);

void test_print(const char *text) {
    fputs(text, stdout);
}

bool same(const char *actual, const char *expected) {
    return actual != NULL && strcmp(actual, expected) == 0;
}

bool holds(const char *text, const char *part) {
    return text != NULL && strstr(text, part) != NULL;
}

mcu_support_t ask(mcu_backend_t *b, const mcu_graph_t *graph) {
    mcu_support_t answer = {.struct_size = sizeof answer};
    CHECK_INT(b->is_layer_supported(b->self, graph, &answer), MCU_BACKEND_OK);
    return answer;
}

static void test_exports(void) {
    uint32_t major = 77, minor = 77;
    get_version(&major, &minor);
    CHECK(same(get_id(), "DynamicRef"));
    CHECK_INT(major, MCU_BACKEND_API_MAJOR);
    CHECK_INT(minor, MCU_BACKEND_API_MINOR);
}

static void test_table_is_complete(void) {
    mcu_backend_t *b = factory();
    CHECK_INT(b->struct_size, sizeof *b);
    CHECK_INT(b->api_major, MCU_BACKEND_API_MAJOR);
    CHECK_INT(b->api_minor, MCU_BACKEND_API_MINOR);
    CHECK(b->describe && b->is_layer_supported && b->optimize_subgraph && b->create_workload);
    CHECK(b->estimate && b->memory && b->create_context && b->before_load_network);
    CHECK(b->after_load_network && b->before_unload_network && b->after_unload_network);
    CHECK(b->layers_measured && b->error && b->release && b->free);
    CHECK(!b->save_data && !b->load_data); /* it has nothing to keep */
    b->free(b->self);
}

static void test_describe(void) {
    mcu_backend_t *b = factory();
    mcu_backend_info_t info = {.struct_size = sizeof info};
    CHECK_INT(b->describe(b->self, &info), MCU_BACKEND_OK);
    CHECK(info.rank > 1000); /* behind CpuRef */
    CHECK_INT(info.num_cores, 0);
    CHECK(same(info.operators[0], "Conv"));
    CHECK(same(info.operators[info.num_operators - 1], "mcu::Reorder"));
    b->release(b->self, info.handle);
    b->free(b->self);
}

static void test_memory_on_request(void) {
    static const mcu_option_t count = {"count_runs", "yes"}, wrong = {"count_walks", "yes"};
    static const mcu_option_t unclear = {"count_runs", "perhaps"};
    mcu_backend_t *b = factory();
    mcu_memory_t none = {.struct_size = sizeof none}, some = none;
    CHECK_INT(b->create_context(b->self, NULL, 0), MCU_BACKEND_OK);
    CHECK_INT(b->memory(b->self, &none), MCU_BACKEND_OK);
    CHECK(none.acquire.function == NULL && none.release.function == NULL);
    CHECK_INT(b->create_context(b->self, &wrong, 1), MCU_BACKEND_ERROR);
    CHECK(holds(b->error(b->self), "count_walks"));
    CHECK_INT(b->create_context(b->self, &unclear, 1), MCU_BACKEND_ERROR);
    CHECK(holds(b->error(b->self), "perhaps"));
    CHECK_INT(b->create_context(b->self, &count, 1), MCU_BACKEND_OK);
    CHECK_INT(b->memory(b->self, &some), MCU_BACKEND_OK);
    CHECK_INT(some.acquire.num_regions, some.acquire.function->num_parameters);
    CHECK(holds(some.acquire.function->body, "++*runs"));
    CHECK(same(some.acquire.regions->name, some.release.regions->name));
    CHECK_INT(some.acquire.regions->bytes, sizeof(uint32_t));
    b->release(b->self, some.handle);
    b->free(b->self);
}

static int64_t networks_loaded(mcu_backend_t *b) {
    mcu_counters_t counters = {.struct_size = sizeof counters};
    CHECK_INT(b->layers_measured(b->self, "kws", NULL, 0, &counters), MCU_BACKEND_OK);
    CHECK(counters.num_counters == 1 && same(counters.counters->name, "networks loaded"));
    const int64_t value = counters.counters->value;
    b->release(b->self, counters.handle);
    return value;
}

static void test_context_counts_networks(void) {
    mcu_backend_t *b = factory();
    CHECK_INT(b->create_context(b->self, NULL, 0), MCU_BACKEND_OK);
    for (uint32_t network = 1; network <= 3; network++) {
        CHECK_INT(b->before_load_network(b->self, network), MCU_BACKEND_OK);
        if (network != 2) { /* the loading of 2 fails */
            CHECK_INT(b->after_load_network(b->self, network), MCU_BACKEND_OK);
        }
    }
    CHECK_INT(networks_loaded(b), 2);
    for (uint32_t network = 2; network <= 3; network++) {
        CHECK_INT(b->before_unload_network(b->self, network), MCU_BACKEND_OK);
        CHECK_INT(b->after_unload_network(b->self, network), MCU_BACKEND_OK);
    }
    CHECK_INT(networks_loaded(b), 1);
    b->free(b->self); /* with a network that is still loaded */
}

static void test_counters(void) {
    static const mcu_layer_count_t counts[] = {
        {.index = 0, .name = "a", .op = "Conv", .unit = "instructions", .macs = 500, .count = 4000},
        {.index = 1, .name = "b", .op = "Softmax", .unit = "instructions", .count = 900},
        {.index = 2, .name = "c", .op = "Gemm", .unit = "instructions", .macs = 500, .count = 2500},
    };
    mcu_backend_t *b = factory();
    mcu_counters_t counters = {.struct_size = sizeof counters};
    CHECK_INT(b->layers_measured(b->self, "kws", counts, 3, &counters), MCU_BACKEND_OK);
    CHECK_INT(counters.num_counters, 2);
    CHECK(same(counters.counters[1].name, "instructions per 1000 MACs"));
    CHECK_INT(counters.counters[1].value, 6500);
    b->release(b->self, counters.handle);
    b->free(b->self);
}

static void test_errors(void) {
    mcu_backend_t *b = factory();
    mcu_workloads_t answer = {.struct_size = sizeof answer};
    mcu_support_t support = {.struct_size = sizeof support};
    CHECK_INT(b->create_workload(b->self, &unknown, &answer), MCU_BACKEND_ERROR);
    CHECK(
        same(b->error(b->self), "Wobble cannot be computed: it has no kernel for this operator."));
    CHECK_INT(b->is_layer_supported(b->self, &classifier, &support), MCU_BACKEND_ERROR);
    CHECK(holds(b->error(b->self), "one node, and this one has 3"));
    CHECK_INT(b->is_layer_supported(b->self, &missing_edge, &support), MCU_BACKEND_ERROR);
    CHECK(holds(b->error(b->self), "lost conv"));
    CHECK(answer.handle == NULL && answer.num_workloads == 0);
    b->free(b->self);
}

static void test_two_backends_and_two_answers_at_once(void) {
    mcu_backend_t *first = factory(), *second = factory();
    mcu_workloads_t early = {.struct_size = sizeof early}, late = early;
    CHECK_INT(first->create_workload(first->self, &conv, &early), MCU_BACKEND_OK);
    CHECK_INT(first->create_workload(first->self, &reshape, &late), MCU_BACKEND_OK);
    first->release(first->self, late.handle);
    CHECK(same(early.workloads->function->stem, "conv"));
    first->release(first->self, early.handle);
    first->release(first->self, NULL);
    first->free(first->self);
    CHECK_INT(ask(second, &conv).supported, 1);
    second->free(second->self);
}

static void *find(void *library, const char *name) {
    void *symbol = dlsym(library, name);
    if (symbol == NULL) {
        fprintf(stderr, "%s\n", dlerror());
    }
    return symbol;
}

int main(int argc, char **argv) {
    void *library = argc == 2 ? dlopen(argv[1], RTLD_LAZY | RTLD_LOCAL) : NULL;
    if (library == NULL) {
        fprintf(stderr, "%s\n", argc == 2 ? dlerror() : "usage: table_test BACKEND.so");
        return 2;
    }
    /* POSIX's way from a pointer to a function */
    *(void **)&get_id = find(library, "GetBackendId");
    *(void **)&get_version = find(library, "GetVersion");
    *(void **)&factory = find(library, "BackendFactory");
    if (get_id == NULL || get_version == NULL || factory == NULL) {
        return 2;
    }
    RUN_TEST(test_exports);
    RUN_TEST(test_table_is_complete);
    RUN_TEST(test_describe);
    run_layer_tests();
    RUN_TEST(test_memory_on_request);
    RUN_TEST(test_context_counts_networks);
    RUN_TEST(test_counters);
    RUN_TEST(test_errors);
    RUN_TEST(test_two_backends_and_two_answers_at_once);
    return check_result(); /* the library stays, so that a leak's report has names */
}
