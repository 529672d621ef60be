/* Three runs at once, for this machine: two instances of one network and another network, each in
 * a thread. First a baton goes round from layer to layer, so that exactly one layer runs at a time
 * and each is followed by another run's; then all run freely.
 * SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mcu/runtime.h"
#include "network_ad.h"
#include "network_kws.h"
#include "samples.h"

enum { RUNS = 3, ROUNDS = 6 };

typedef struct run {
    const mcu_model_t *model;
    const int8_t *input;
    const int8_t *output;
    int index;
    int failures;
    mcu_instance_t instance;
} run_t;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int turn;               /* whose layer may run */
static int waiting[RUNS];      /* 1: this run is still on its way */
static unsigned long switches; /* how often the baton went to another run */

static void pass_on(int from) {
    for (int step = 1; step <= RUNS; ++step) {
        const int next = (from + step) % RUNS;
        if (waiting[next]) {
            switches += next != from;
            turn = next;
            break;
        }
    }
    pthread_cond_broadcast(&changed);
}

static void take_turns(mcu_instance_t *instance, uint32_t layer, mcu_layer_event_t event) {
    const run_t *run = instance->hook_context;
    (void)layer;
    pthread_mutex_lock(&mutex);
    if (event == MCU_LAYER_BEGIN) {
        while (turn != run->index) {
            pthread_cond_wait(&changed, &mutex);
        }
    } else {
        pass_on(run->index);
    }
    pthread_mutex_unlock(&mutex);
}

static void infer(run_t *run) {
    DLTensor input, output;
    mcu_instance_input(&run->instance, 0, &input);
    mcu_instance_output(&run->instance, 0, &output);
    memcpy(input.data, run->input, mcu_tensor_bytes(&input));
    run->failures += mcu_instance_run(&run->instance, &input, 1, &output, 1) != MCU_OK;
    run->failures += memcmp(output.data, run->output, mcu_tensor_bytes(&output)) != 0;
}

static void *in_turns(void *argument) {
    run_t *run = argument;
    infer(run);
    pthread_mutex_lock(&mutex);
    waiting[run->index] = 0;
    pass_on(run->index);
    pthread_mutex_unlock(&mutex);
    return NULL;
}

static void *freely(void *argument) {
    run_t *run = argument;
    run->instance.hook = NULL;
    for (int round = 0; round < ROUNDS; ++round) {
        infer(run);
    }
    return NULL;
}

int main(void) {
    static run_t runs[RUNS];
    runs[0] = (run_t){.model = mcu_network_kws, .input = kws_inputs[0], .output = kws_outputs[0]};
    runs[1] = (run_t){.model = mcu_network_ad, .input = ad_inputs[1], .output = ad_outputs[1]};
    runs[2] = (run_t){.model = mcu_network_kws, .input = kws_inputs[1], .output = kws_outputs[1]};
    int failures = 0;
    for (int i = 0; i < RUNS; ++i) {
        const mcu_model_t *model = runs[i].model;
        void *workspace = NULL;
        if (posix_memalign(&workspace, model->workspace_alignment, model->workspace_size) != 0) {
            return 2;
        }
        failures +=
            mcu_instance_init(&runs[i].instance, model, workspace, model->workspace_size) != MCU_OK;
        runs[i].index = i;
        runs[i].instance.hook = take_turns;
        runs[i].instance.hook_context = &runs[i];
        waiting[i] = 1;
    }
    void *(*const ways[2])(void *) = {in_turns, freely};
    for (int way = 0; way < 2; ++way) {
        pthread_t threads[RUNS];
        for (int i = 0; i < RUNS; ++i) {
            failures += pthread_create(&threads[i], NULL, ways[way], &runs[i]) != 0;
        }
        for (int i = 0; i < RUNS; ++i) {
            failures += pthread_join(threads[i], NULL) != 0;
        }
    }
    for (int i = 0; i < RUNS; ++i) {
        failures += runs[i].failures;
        free(runs[i].instance.workspace);
    }
    printf("%d failures, %lu switches\n", failures, switches);
    return failures != 0;
}
