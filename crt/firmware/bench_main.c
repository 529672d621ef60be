/* The image that is measured: start-up and one network, no protocol, no serial port.
 *
 * It runs model 0 of the firmware's table on inputs of zeros: once to warm up, once without a hook
 * between mcu_bench_begin() and mcu_bench_end(), and once with a hook that calls
 * mcu_bench_layer_begin() and mcu_bench_layer_end() around each layer. An emulator that notes the
 * number of executed instructions at the first instruction of these functions knows what the run
 * and each layer cost (mcu_deploy/device/counting.py reads it so):
 *
 *   - the run: from the return of mcu_bench_begin to the entry of mcu_bench_end, which is the call
 *     of mcu_instance_run and the handful of instructions that pass its arguments;
 *   - a layer: from the return of mcu_bench_layer_begin to the entry of the hook that ends in
 *     mcu_bench_layer_end. The hook leaves for the marker by a jump, and the marker returns for it,
 *     so nothing of the hook is counted; what is, are the two to six instructions with which the
 *     network calls the hook at the layer's end.
 *
 * The markers hold no instruction but their return, and the compiler knows nothing of them: not
 * that they do nothing, nor that they are alike.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>

#include "mcu/firmware.h"
#include "mcu/platform.h"
#include "mcu/runtime.h"

#define MARKER __attribute__((noipa, used))

void mcu_bench_begin(void);
void mcu_bench_end(void);
void mcu_bench_layer_begin(void);
void mcu_bench_layer_end(void);
void mcu_bench_tick(void);
void mcu_bench_done(void);
void mcu_bench_failed(void);
void mcu_bench_layer(uint32_t layer);
void mcu_bench_hook(mcu_instance_t *instance, uint32_t layer, mcu_layer_event_t event);

MARKER void mcu_bench_begin(void) {
    __asm volatile("" ::"i"(1) : "memory");
}
MARKER void mcu_bench_end(void) {
    __asm volatile("" ::"i"(2) : "memory");
}
MARKER void mcu_bench_layer_begin(void) {
    __asm volatile("" ::"i"(3) : "memory");
}
MARKER void mcu_bench_layer_end(void) {
    __asm volatile("" ::"i"(4) : "memory");
}
/* Called n times to say the number n, to whoever watches addresses and sees no memory: before
 * mcu_bench_done the words of stack that were used, before mcu_bench_failed the error code, before
 * mcu_bench_layer_begin which layer it is, if it does not follow the last one. */
MARKER void mcu_bench_tick(void) {
    __asm volatile("" ::"i"(5) : "memory");
}
MARKER void mcu_bench_done(void) {
    __asm volatile("" ::"i"(6) : "memory");
}
MARKER void mcu_bench_failed(void) {
    __asm volatile("" ::"i"(7) : "memory");
}

static void say(uint32_t number) {
    for (uint32_t i = 0; i < number; i++) {
        mcu_bench_tick();
    }
}

/* Says which layer begins, as its index + 1, where it is not the one behind the last. */
MARKER void mcu_bench_layer(uint32_t layer) {
    static uint32_t next;
    if (layer != next) {
        say(layer + 1U);
    }
    next = layer + 1U;
}

MARKER void mcu_bench_hook(mcu_instance_t *instance, uint32_t layer, mcu_layer_event_t event) {
    (void)instance;
    if (event == MCU_LAYER_BEGIN) {
        mcu_bench_layer(layer);
        mcu_bench_layer_begin();
    } else {
        mcu_bench_layer_end();
    }
}

static void stop_if(int32_t status) {
    if (status != MCU_OK) {
        say((uint32_t)-status);
        mcu_bench_failed();
        for (;;) {
        }
    }
}

/* An input's place is reused by the network, so each run starts from zeros again. */
static void clear(const DLTensor *inputs, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        const size_t size = mcu_tensor_bytes(&inputs[i]);
        volatile uint8_t *data = inputs[i].data;
        for (size_t k = 0; k < size; k++) {
            data[k] = 0;
        }
    }
}

void mcu_firmware_main(void) {
    const mcu_firmware_model_t *firmware = &mcu_firmware_models[0];
    const mcu_model_t *model = firmware->model;
    const uint32_t num_inputs = model->num_input_tensors;
    const uint32_t num_outputs = model->num_output_tensors;
    DLTensor *const inputs = mcu_firmware_tensors;
    DLTensor *const outputs = inputs + num_inputs;
    mcu_instance_t *instance = firmware->instance;

    stop_if(mcu_firmware_prepare(firmware));
    for (uint32_t i = 0; i < num_inputs; i++) {
        stop_if(mcu_instance_input(instance, i, &inputs[i]));
    }
    for (uint32_t i = 0; i < num_outputs; i++) {
        stop_if(mcu_instance_output(instance, i, &outputs[i]));
    }

    clear(inputs, num_inputs);
    stop_if(mcu_instance_run(instance, inputs, num_inputs, outputs, num_outputs));
    const uint32_t stack_words = (uint32_t)(mcu_platform_stack_used() / sizeof(uint32_t));

    clear(inputs, num_inputs);
    mcu_bench_begin();
    const int32_t status = mcu_instance_run(instance, inputs, num_inputs, outputs, num_outputs);
    mcu_bench_end();
    stop_if(status);

    clear(inputs, num_inputs);
    instance->hook = mcu_bench_hook;
    stop_if(mcu_instance_run(instance, inputs, num_inputs, outputs, num_outputs));

    say(stack_words);
    mcu_bench_done();
#if defined(__arm__)
    for (;;) {
        __asm volatile("wfi");
    }
#endif
}
