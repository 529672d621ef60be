/* Gemm and MatMul with a constant matrix, and Gemm with a Softmax behind it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "workload.h"

void add_gemm(builder_t *builder, const layer_t *layer, const mcu_edge_t *y, bounds_t bounds) {
    const mcu_edge_t *x = layer->inputs[0], *w = layer->inputs[1];
    const bool is_transposed = attribute_int(layer, "transB", 0, 0) != 0;
    const int32_t depth = dimension_of(x, -1), columns = dimension_of(layer->output, -1);

    int8_t *weights = add_constant(builder, "const int8_t *", "weights", MCU_INT8, elements_of(w));
    int32_t *bias = add_constant(builder, "const int32_t *", "bias", MCU_INT32, columns);
    float *factor = add_constant(builder, "const float *", "factor", MCU_FLOAT32, columns);
    if (weights == NULL || bias == NULL || factor == NULL) {
        return;
    }
    const int8_t *matrix = w->data;
    for (int32_t n = 0; n < columns; n++) { /* column by column, as the kernel reads it */
        for (int32_t k = 0; k < depth; k++) {
            weights[n * depth + k] = matrix[is_transposed ? n * depth + k : k * columns + n];
        }
    }
    fill_bias(bias, columns, layer);
    fill_factors(factor, columns, layer, y);

    add_helper(builder, KERNEL_GEMM);
    text_add(&builder->body,
             "    $dynref_gemm(\n"
             "        x, y, weights, bias, factor, %d, %d, %d, /* rows, depth, columns */\n",
             (int)(elements_of(x) / depth), (int)depth, (int)columns);
    add_quantization(builder, x->zero_points[0], y->zero_points[0], bounds);
}

int32_t build_gemm(const layer_t *layer, builder_t *builder) {
    add_input(builder, "const int8_t *", "x");
    add_output(builder, "int8_t *", "y");
    add_helper(builder, KERNEL_QUANTIZE);
    text_add(&builder->body, "{\n");
    add_gemm(builder, layer, layer->output, bounds_of(layer));
    text_add(&builder->body, "}");
    return workload_finish(builder, layer, "gemm");
}

/* What optimize.c made of the two, which are its body. The tensor between them is written to y, and
 * Softmax computes in place. */
int32_t build_gemm_softmax(const layer_t *layer, builder_t *builder) {
    layer_t gemm;
    if (!first_of_body(layer, &gemm)) {
        return MCU_BACKEND_UNSUPPORTED;
    }
    add_input(builder, "const int8_t *", "x");
    add_output(builder, "int8_t *", "y");
    add_helper(builder, KERNEL_QUANTIZE);
    text_add(&builder->body, "{\n");
    add_gemm(builder, &gemm, gemm.output, bounds_of(&gemm));
    add_softmax(builder, "y", layer->output, gemm.output->scales[0]);
    text_add(&builder->body, "}");
    return workload_finish(builder, layer, "gemm_softmax");
}
