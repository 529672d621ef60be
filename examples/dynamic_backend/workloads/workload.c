/* SPDX-License-Identifier: Apache-2.0 */
#include "workload.h"

#include <inttypes.h>
#include <string.h>

static void add_parameter(builder_t *builder, const char *type, const char *name, int32_t role,
                          uint32_t index) {
    const uint32_t at = builder->workload.num_arguments++;
    builder->parameters[at] = (mcu_parameter_t){type, name};
    builder->arguments[at] = (mcu_argument_t){role, index};
}

void add_input(builder_t *builder, const char *type, const char *name) {
    add_parameter(builder, type, name, MCU_ROLE_INPUT, 0);
}

void add_output(builder_t *builder, const char *type, const char *name) {
    add_parameter(builder, type, name, MCU_ROLE_OUTPUT, 0);
}

void add_scratch(builder_t *builder, const char *type, const char *name, int64_t bytes) {
    add_parameter(builder, type, name, MCU_ROLE_SCRATCH, 0);
    builder->workload.scratch_bytes = (uint32_t)bytes;
}

void *add_constant(builder_t *builder, const char *type, const char *stem, int32_t dtype,
                   int64_t elements) {
    const size_t bytes = dtype == MCU_INT8 ? 1 : 4;
    void *data = arena_take(builder->arena, (size_t)elements, bytes);
    if (data == NULL) {
        builder->status = MCU_BACKEND_OUT_OF_MEMORY;
    }
    const uint32_t at = builder->workload.num_constants++;
    builder->constants[at] = (mcu_constant_t){
        .stem = stem, .dtype = dtype, .num_elements = (uint64_t)elements, .data = data};
    add_parameter(builder, type, stem, MCU_ROLE_CONSTANT, at);
    return data;
}

void add_helper(builder_t *builder, kernel_t kernel) {
    builder->helpers[builder->workload.num_helpers++] = builder->kernels->functions[kernel];
}

void allow_in_place(builder_t *builder) {
    builder->workload.num_in_place = 1;
}

void add_window(builder_t *builder, const window_t *w) {
    text_add(&builder->body,
             "        %" PRId32 ", %" PRId32 ", %" PRId32 ", %" PRId32
             ", /* input: batch, height, width, channels */\n"
             "        %" PRId32 ", %" PRId32 ", /* output: height, width */\n"
             "        %" PRId32 ", %" PRId32 ", /* kernel: height, width */\n"
             "        %" PRId32 ", %" PRId32 ", %" PRId32 ", %" PRId32 ", %" PRId32 ", %" PRId32
             ", /* strides, dilations, padding at the top and left */\n",
             w->batch, w->height, w->width, w->channels, w->out_height, w->out_width,
             w->kernel_height, w->kernel_width, w->stride_y, w->stride_x, w->dilation_y,
             w->dilation_x, w->pad_top, w->pad_left);
}

void add_quantization(builder_t *builder, int32_t x_zero, int32_t y_zero, bounds_t bounds) {
    text_add(&builder->body,
             "        %" PRId32 ", %" PRId32 ", %" PRId32 ", %" PRId32
             " /* zero points of x and y, bounds of y */\n    );\n",
             x_zero, y_zero, bounds.low, bounds.high);
}

mcu_costs_t costs_of(const layer_t *layer) {
    /* A model in cycles, the unit that is compared: instructions counted once on an emulated
     * Cortex-M4, times the 1.5 cycles that one takes on average by Arm's timings. */
    enum { PER_MAC = 9, PER_ELEMENT = 30 };
    mcu_costs_t costs = {.struct_size = sizeof costs, .instructions = -1};
    costs.macs = macs_of(layer);
    const int64_t read = layer->inputs[0] == NULL ? 0 : elements_of(layer->inputs[0]);
    costs.cycles = PER_MAC * costs.macs + PER_ELEMENT * (read + elements_of(layer->output));
    for (int i = 0; i < MOST_INPUTS; i++) {
        const mcu_edge_t *edge = layer->inputs[i];
        costs.flash_bytes += edge == NULL ? 0 : (int64_t)edge->data_bytes;
    }
    return costs;
}

int32_t workload_finish(builder_t *builder, const layer_t *layer, const char *stem) {
    if (builder->status != MCU_BACKEND_OK) {
        return builder->status;
    }
    if (builder->body.is_cut) {
        return MCU_BACKEND_ERROR;
    }
    builder->function = (mcu_function_t){.stem = stem,
                                         .result = "void",
                                         .num_parameters = builder->workload.num_arguments,
                                         .parameters = builder->parameters,
                                         .body = builder->body.characters};
    builder->workload.function = &builder->function;
    builder->workload.arguments = builder->arguments;
    builder->workload.constants = builder->constants;
    builder->workload.helpers = builder->helpers;
    builder->workload.in_place = &builder->in_place; /* input 0, output 0, distance 0 */
    builder->workload.costs = costs_of(layer);
    return MCU_BACKEND_OK;
}

void fill_factors(float *factors, int32_t columns, const layer_t *layer, const mcu_edge_t *y) {
    const mcu_edge_t *x = layer->inputs[0], *w = layer->inputs[1];
    for (int32_t n = 0; n < columns; n++) {
        const float product = x->scales[0] * w->scales[w->num_scales == 1 ? 0 : n];
        factors[n] = product / y->scales[0];
    }
}

void fill_bias(int32_t *bias, int32_t columns, const layer_t *layer) {
    if (layer->inputs[2] != NULL) { /* else it stays zero */
        memcpy(bias, layer->inputs[2]->data, (size_t)columns * sizeof *bias);
    }
}
