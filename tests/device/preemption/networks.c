/* Networks in threads that take the processor from each other in the middle of their layers: each
 * inference must give what it gives alone. samples.h, which the test writes, has inputs of both
 * networks, and the oracle's outputs of the integer one.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "board.h"
#include "mcu/platform.h"
#include "mcu/runtime.h"
#include "network_digits.h"
#include "network_kws.h"
#include "samples.h"
#include "threads.h"

enum { THREADS = 2, LARGEST_OUTPUT = 64, SHORTEST_SLICE = 100, SLICE_RANGE = 8192 };

/* Either network's workspace; a multiple of what it must be aligned to. */
typedef union workspace {
    MCU_ALIGNED(MCU_KWS_WORKSPACE_ALIGNMENT) uint8_t kws[MCU_KWS_WORKSPACE_SIZE];
    MCU_ALIGNED(MCU_DIGITS_WORKSPACE_ALIGNMENT) uint8_t digits[MCU_DIGITS_WORKSPACE_SIZE];
} workspace_t;

/* A network, and what it gives for each sample when nothing else runs. */
typedef struct network {
    const mcu_model_t *model;
    const uint8_t *samples; /* one after the other */
    uint32_t rounds;        /* inferences of a thread: about as much work for each network */
    uint8_t alone[SAMPLES][LARGEST_OUTPUT];
} network_t;

static network_t kws = {.samples = (const uint8_t *)kws_samples, .rounds = KWS_ROUNDS};
static network_t digits = {.samples = (const uint8_t *)digits_samples, .rounds = DIGITS_ROUNDS};

/* What a thread works on. */
typedef struct worker {
    const network_t *network;
    uint32_t first_sample;
    uint32_t failures; /* inferences that were refused, or gave something else than alone */
    mcu_instance_t instance;
    thread_t *thread;
} worker_t;

static workspace_t memory[THREADS];
static thread_t threads[THREADS];
static worker_t workers[THREADS];

static void infer(mcu_instance_t *instance, const network_t *network, uint32_t sample,
                  DLTensor *output, uint32_t *failures) {
    DLTensor input;
    *failures += mcu_instance_input(instance, 0, &input) != MCU_OK;
    *failures += mcu_instance_output(instance, 0, output) != MCU_OK;
    const size_t bytes = mcu_tensor_bytes(&input);
    memcpy(input.data, network->samples + sample * bytes, bytes);
    *failures += mcu_instance_run(instance, &input, 1, output, 1) != MCU_OK;
}

static void work(void *argument) {
    worker_t *worker = argument;
    for (uint32_t round = 0; round < worker->network->rounds; ++round) {
        const uint32_t sample = (worker->first_sample + round) % SAMPLES;
        uint32_t failures = 0;
        DLTensor output;
        infer(&worker->instance, worker->network, sample, &output, &failures);
        failures +=
            memcmp(output.data, worker->network->alone[sample], mcu_tensor_bytes(&output)) != 0;
        worker->failures += failures != 0;
    }
}

/* The instance's hook: tells the switcher which layer the thread is in. */
static void note_layer(mcu_instance_t *instance, uint32_t layer, mcu_layer_event_t event) {
    thread_t *thread = instance->hook_context;
    thread->at_work = event == MCU_LAYER_BEGIN ? layer + 1 : 0;
}

static uint32_t run_alone(network_t *network, const mcu_model_t *model) {
    mcu_instance_t instance;
    network->model = model;
    memset(&memory[0], 0xA5, sizeof memory[0]);
    uint32_t failures = mcu_instance_init(&instance, model, &memory[0], sizeof memory[0]) != MCU_OK;
    for (uint32_t sample = 0; sample < SAMPLES; ++sample) {
        DLTensor output;
        infer(&instance, network, sample, &output, &failures);
        memcpy(network->alone[sample], output.data, mcu_tensor_bytes(&output));
    }
    return failures;
}

static void print(const char *text) {
    mcu_platform_write((const uint8_t *)text, strlen(text));
}

static void print_number(const char *name, uint32_t value) {
    char digits_of_it[11] = {0};
    char *at = digits_of_it + 10;
    do {
        *--at = (char)('0' + value % 10);
        value /= 10;
    } while (value != 0);
    print(" ");
    print(name);
    print("=");
    print(at);
}

/* Two networks, each in a thread of its own; `shared`: wrongly, on the same workspace. */
static void compete(const char *title, const network_t *first, const network_t *second,
                    bool shared) {
    const network_t *networks[THREADS] = {first, second};
    uint32_t refused = 0;
    for (uint32_t i = 0; i < THREADS; ++i) {
        worker_t *worker = &workers[i];
        workspace_t *workspace = &memory[shared ? 0 : i];
        memset(workspace, 0xFF, sizeof *workspace);
        *worker = (worker_t){.network = networks[i], .first_sample = 2 * i, .thread = &threads[i]};
        refused += mcu_instance_init(&worker->instance, networks[i]->model, workspace,
                                     sizeof *workspace) != MCU_OK;
        worker->instance.hook = note_layer;
        worker->instance.hook_context = worker->thread;
        threads[i].entry = work;
        threads[i].argument = worker;
    }
    threads_run(threads, THREADS, SHORTEST_SLICE, SLICE_RANGE);
    print(title);
    print_number("refused", refused);
    print_number("switches", switches);
    print_number("inside", switches_inside);
    for (uint32_t i = 0; i < THREADS; ++i) {
        print_number("failures", workers[i].failures);
        print_number("layers", threads[i].interrupted);
        print_number("overflow", threads[i].stack[0] != THREAD_STACK_END);
    }
    print("\n");
}

void mcu_firmware_main(void) {
    mcu_platform_init();
    threads_init();
    print("alone");
    print_number("refused",
                 run_alone(&kws, mcu_network_kws) + run_alone(&digits, mcu_network_digits));
    uint32_t differ = 0;
    for (uint32_t sample = 0; sample < SAMPLES; ++sample) {
        differ += memcmp(kws.alone[sample], kws_oracle[sample], sizeof kws_oracle[sample]) != 0;
    }
    print_number("differ", differ);
    print_number("layers", kws.model->num_layers);
    print_number("layers", digits.model->num_layers);
    print("\n");
    compete("integers", &kws, &kws, false);
    compete("floats", &digits, &digits, false);
    compete("different", &kws, &digits, false);
    compete("shared", &kws, &kws, true);
    print("end\n");
    for (;;) {
        mcu_platform_wait();
    }
}
