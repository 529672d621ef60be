/* To add an operator: a row in the table below, a function that says why not, one that builds, and
 * a kernel. SPDX-License-Identifier: Apache-2.0 */
#include "layers.h"

#include <string.h>

static const char *const not_quantized =
    "it computes int8 tensors with one scale, and a tensor of this layer is another";

static bool are_quantized(const layer_t *layer) {
    return is_quantized(layer->inputs[0]) && is_quantized(layer->output);
}

/* Constant weights whose channels (axis `axis`) have scales of their own or one for all. */
static const char *refuse_weights(const layer_t *layer, int32_t axis, int32_t channels) {
    const mcu_edge_t *w = layer->inputs[1], *bias = layer->inputs[2];
    if (!is_constant(w)) {
        return "the weights are computed at run time; it packs constant ones";
    }
    if (w->dtype != MCU_INT8 || w->num_scales == 0) {
        return "it computes with int8 weights";
    }
    if (w->num_scales > 1 && w->quantization_axis != axis) {
        return "the weights have scales along another axis than the output channels";
    }
    for (uint32_t i = 0; i < w->num_scales; i++) {
        if (w->zero_points[i] != 0) {
            return "the weights have a zero point, and it computes with symmetric ones";
        }
    }
    if (bias == NULL) {
        return NULL;
    }
    if (!is_constant(bias) || bias->dtype != MCU_INT32 || elements_of(bias) != channels) {
        return "the bias is not a constant int32 for each output channel";
    }
    return NULL;
}

static const char *refuse_conv(const layer_t *layer) {
    const mcu_edge_t *x = layer->inputs[0], *w = layer->inputs[1];
    if (x->rank != 4) {
        return "it convolves over two spatial axes";
    }
    if (!are_quantized(layer)) {
        return not_quantized;
    }
    const int64_t group = attribute_int(layer, "group", 0, 1);
    const bool is_depthwise = group == dimension_of(x, 1) && group == dimension_of(w, 0);
    if (group != 1 && !is_depthwise) {
        return "it convolves all channels together, or each with one filter, but not in groups";
    }
    return refuse_weights(layer, 0, dimension_of(w, 0));
}

static const char *refuse_gemm(const layer_t *layer) {
    const mcu_edge_t *x = layer->inputs[0], *w = layer->inputs[1];
    if (!are_quantized(layer)) {
        return not_quantized;
    }
    if (x->rank < 2 || w->rank != 2) {
        return "it multiplies matrices, the second of two axes";
    }
    if (attribute_int(layer, "transA", 0, 0) != 0) {
        return "it does not transpose the first matrix";
    }
    if (attribute_real(layer, "alpha", 0, 1.0) != 1.0 ||
        attribute_real(layer, "beta", 0, 1.0) != 1.0) {
        return "it does not multiply by alpha and beta";
    }
    const int32_t axis = attribute_int(layer, "transB", 0, 0) != 0 ? 0 : 1;
    return refuse_weights(layer, axis, dimension_of(layer->output, -1));
}

/* Gemm and Softmax in one, which refuses what its Gemm would. */
static const char *refuse_gemm_softmax(const layer_t *layer) {
    layer_t gemm;
    return first_of_body(layer, &gemm) ? refuse_gemm(&gemm) : "it is not known what it stands for";
}

static const char *refuse_average_pool(const layer_t *layer) {
    if (layer->inputs[0]->rank != 4) {
        return "it pools over two spatial axes";
    }
    if (!are_quantized(layer)) {
        return not_quantized;
    }
    if (attribute_int(layer, "count_include_pad", 0, 0) != 0 && window_of(layer).is_padded) {
        return "it does not count the padding";
    }
    return NULL;
}

static const char *refuse_softmax(const layer_t *layer) {
    const mcu_edge_t *x = layer->inputs[0];
    if (!are_quantized(layer)) {
        return not_quantized;
    }
    const int64_t axis = attribute_int(layer, "axis", 0, layer->graph->opset < 13 ? 1 : -1);
    if (axis != -1 && axis != (int64_t)x->rank - 1) {
        return "it computes Softmax over the last axis only";
    }
    return dimension_of(x, -1) > 1 << 23 ? "the axis is longer than 2^23" : NULL;
}

static const char *refuse_view(const layer_t *layer) {
    return is_constant(layer->inputs[0]) ? "it would be a view of a constant" : NULL;
}

static const char *refuse_copy(const layer_t *layer) {
    const mcu_edge_t *x = layer->inputs[0], *y = layer->output;
    if (x->dtype != y->dtype || x->num_scales != y->num_scales || x->num_scales > 1) {
        return "input and output are of different types";
    }
    if (x->num_scales == 1 &&
        (memcmp(x->scales, y->scales, sizeof *x->scales) != 0 ||
         memcmp(x->zero_points, y->zero_points, sizeof *x->zero_points) != 0)) {
        return "input and output are quantized differently";
    }
    return NULL;
}

static const char *refuse_reorder(const layer_t *layer) {
    return layer->output->rank > 4 ? "it reorders up to four axes" : NULL;
}

const operator_support_t operators[] = {
    {"", "Conv", 2, MCU_LAYOUT_CHANNELS_LAST, refuse_conv, build_conv},
    {"", "AveragePool", 1, MCU_LAYOUT_CHANNELS_LAST, refuse_average_pool, build_average_pool},
    {"", "GlobalAveragePool", 1, MCU_LAYOUT_CHANNELS_LAST, refuse_average_pool, build_average_pool},
    {"", "Gemm", 2, MCU_LAYOUT_NATURAL, refuse_gemm, build_gemm},
    {"", "MatMul", 2, MCU_LAYOUT_NATURAL, refuse_gemm, build_gemm},
    {"", "Softmax", 1, MCU_LAYOUT_NATURAL, refuse_softmax, build_softmax},
    /* what optimize.c makes of two */
    {"DynamicRef", "GemmSoftmax", 2, MCU_LAYOUT_NATURAL, refuse_gemm_softmax, build_gemm_softmax},
    {"", "Reshape", 1, MCU_LAYOUT_NATURAL, refuse_view, build_view},
    {"", "Flatten", 1, MCU_LAYOUT_NATURAL, refuse_view, build_view},
    {"", "Squeeze", 1, MCU_LAYOUT_NATURAL, refuse_view, build_view},
    {"", "Unsqueeze", 1, MCU_LAYOUT_NATURAL, refuse_view, build_view},
    {"", "Transpose", 1, MCU_LAYOUT_VIEW, refuse_view, build_view},
    {"", "Identity", 1, MCU_LAYOUT_SAME, refuse_copy, build_copy},
    {"mcu", "Reorder", 1, MCU_LAYOUT_VIEW, refuse_reorder, build_reorder},
};

const size_t num_operators = sizeof operators / sizeof operators[0];

/* What no kernel takes: tensors without elements, and those whose numbers leave int32. */
static const char *refuse_sizes(const layer_t *layer) {
    const mcu_edge_t *tensors[] = {layer->inputs[0], layer->inputs[1], layer->inputs[2],
                                   layer->output};
    for (size_t i = 0; i < sizeof tensors / sizeof tensors[0]; i++) {
        const int64_t elements = tensors[i] == NULL ? 1 : elements_of(tensors[i]);
        if (elements < 1 || elements > INT32_MAX / 8) {
            return "a tensor has no elements, or more than it can count";
        }
    }
    return NULL;
}

const operator_support_t *find_operator(const layer_t *layer, const char **reason) {
    for (size_t i = 0; i < num_operators; i++) {
        const operator_support_t *found = &operators[i];
        if (node_is(layer->node, found->domain, found->op)) {
            *reason = refuse_sizes(layer);
            for (uint32_t n = 0; n < found->num_inputs; n++) {
                *reason = layer->inputs[n] == NULL ? "an input that it needs is absent" : *reason;
            }
            *reason = *reason == NULL ? found->refuse(layer) : *reason;
            return *reason == NULL ? found : NULL;
        }
    }
    *reason = "it has no kernel for this operator";
    return NULL;
}
