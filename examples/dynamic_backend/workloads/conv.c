/* Conv: one kernel for all channels together, one for depthwise.
 * SPDX-License-Identifier: Apache-2.0 */
#include "workload.h"

/* From ONNX's order, filter, channel, row, column, to the order in which the kernels read. */
static void pack(int8_t *packed, const mcu_edge_t *weights, bool is_depthwise) {
    const int8_t *next = weights->data;
    const int32_t filters = dimension_of(weights, 0), channels = dimension_of(weights, 1);
    const int32_t taps = dimension_of(weights, 2) * dimension_of(weights, 3);
    for (int32_t m = 0; m < filters; m++) {
        for (int32_t c = 0; c < channels; c++) {
            for (int32_t tap = 0; tap < taps; tap++) {
                packed[is_depthwise ? tap * filters + m : (m * taps + tap) * channels + c] =
                    *next++;
            }
        }
    }
}

int32_t build_conv(const layer_t *layer, builder_t *builder) {
    const mcu_edge_t *x = layer->inputs[0], *w = layer->inputs[1], *y = layer->output;
    const window_t window = window_of(layer);
    const int32_t filters = dimension_of(w, 0);
    const int64_t taps = (int64_t)window.kernel_height * window.kernel_width;
    const bool is_depthwise = attribute_int(layer, "group", 0, 1) > 1;

    add_input(builder, "const int8_t *", "x");
    add_output(builder, "int8_t *", "y");
    int8_t *weights = add_constant(builder, "const int8_t *", "weights", MCU_INT8, elements_of(w));
    int32_t *bias = add_constant(builder, "const int32_t *", "bias", MCU_INT32, filters);
    float *factor = add_constant(builder, "const float *", "factor", MCU_FLOAT32, filters);
    if (weights == NULL || bias == NULL || factor == NULL) {
        return MCU_BACKEND_OUT_OF_MEMORY;
    }
    pack(weights, w, is_depthwise);
    fill_bias(bias, filters, layer);
    fill_factors(factor, filters, layer, y);

    add_helper(builder, KERNEL_QUANTIZE);
    if (is_depthwise) {
        add_helper(builder, KERNEL_DEPTHWISE);
        add_scratch(builder, "int32_t *", "sums", (int64_t)sizeof(int32_t) * filters);
        text_add(&builder->body, "{\n    $dynref_depthwise(\n"
                                 "        x, y, weights, bias, factor, sums,\n");
    } else {
        add_helper(builder, KERNEL_CONV);
        const int64_t patch = taps * window.channels;
        add_scratch(builder, "int16_t *", "patch", (int64_t)sizeof(int16_t) * patch);
        text_add(&builder->body,
                 "{\n    $dynref_conv(\n"
                 "        x, y, weights, bias, factor, patch, %d, /* filters */\n",
                 (int)filters);
    }
    add_window(builder, &window);
    add_quantization(builder, x->zero_points[0], y->zero_points[0], bounds_of(layer));
    text_add(&builder->body, "}");
    return workload_finish(builder, layer, is_depthwise ? "depthwise" : "conv");
}
