/* Softmax over the last axis, through a table of exp.
 * SPDX-License-Identifier: Apache-2.0 */
#include "workload.h"

#include <math.h>

enum { ENTRIES = 256 }; /* as many distances as two int8 can have */

/* round(2^bits * exp(-d * scale)) in double; bits is 24, or as many as let `size` entries add up in
 * 32 bits. */
static void fill_exponential(uint32_t *table, float scale, int32_t size) {
    int bits = 31;
    for (int64_t room = 1; room < size; room *= 2) {
        bits--;
    }
    bits = bits < 24 ? bits : 24;
    for (int d = 0; d < ENTRIES; d++) {
        table[d] = (uint32_t)nearbyint(ldexp(exp(-d * (double)scale), bits));
    }
}

void add_softmax(builder_t *builder, const char *input, const mcu_edge_t *y, float x_scale) {
    const int32_t size = dimension_of(y, -1);
    uint32_t *exponential =
        add_constant(builder, "const uint32_t *", "exponential", MCU_UINT32, ENTRIES);
    float *scale = add_constant(builder, "const float *", "scale", MCU_FLOAT32, 1);
    if (exponential == NULL || scale == NULL) {
        return;
    }
    fill_exponential(exponential, x_scale, size);
    scale[0] = y->scales[0];
    add_helper(builder, KERNEL_SOFTMAX);
    text_add(&builder->body,
             "    $dynref_softmax(%s, y, exponential, scale,\n"
             "        %d, %d, %d /* rows, their size, zero point of y */\n    );\n",
             input, (int)(elements_of(y) / size), (int)size, (int)y->zero_points[0]);
}

int32_t build_softmax(const layer_t *layer, builder_t *builder) {
    add_input(builder, "const int8_t *", "x");
    add_output(builder, "int8_t *", "y");
    add_helper(builder, KERNEL_QUANTIZE);
    allow_in_place(builder);
    text_add(&builder->body, "{\n");
    add_softmax(builder, "x", layer->output, layer->inputs[0]->scales[0]);
    text_add(&builder->body, "}");
    return workload_finish(builder, layer, "softmax");
}
