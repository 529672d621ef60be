/* AveragePool and GlobalAveragePool.
 * SPDX-License-Identifier: Apache-2.0 */
#include "workload.h"

int32_t build_average_pool(const layer_t *layer, builder_t *builder) {
    const mcu_edge_t *x = layer->inputs[0], *y = layer->output;
    const window_t window = window_of(layer);
    add_input(builder, "const int8_t *", "x");
    add_output(builder, "int8_t *", "y");
    /* Numbers with a fraction are constants, not text: so their bits stay what they are. */
    float *scales = add_constant(builder, "const float *", "scales", MCU_FLOAT32, 2);
    if (scales == NULL) {
        return MCU_BACKEND_OUT_OF_MEMORY;
    }
    scales[0] = x->scales[0];
    scales[1] = y->scales[0];
    add_helper(builder, KERNEL_QUANTIZE);
    add_helper(builder, KERNEL_AVERAGE_POOL);
    text_add(&builder->body, "{\n    $dynref_average_pool(\n        x, y, scales,\n");
    add_window(builder, &window);
    add_quantization(builder, x->zero_points[0], y->zero_points[0], bounds_of(layer));
    text_add(&builder->body, "}");
    return workload_finish(builder, layer, "average_pool");
}
