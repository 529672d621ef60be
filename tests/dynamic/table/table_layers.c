/* The entries that are about layers: support, optimisation, workloads, costs.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>

/* All of them, so that a compiler reads each; conv is also called. */
#include "kernels/average_pool.c"
#include "kernels/conv.c"
#include "kernels/depthwise.c"
#include "kernels/gemm.c"
#include "kernels/reorder.c"
#include "kernels/softmax.c"
#include "table_test.h"

static void test_layer_support(void) {
    mcu_backend_t *b = factory();
    mcu_support_t yes = ask(b, &conv), real = ask(b, &float_conv), none = ask(b, &unknown);
    CHECK_INT(yes.supported, 1);
    CHECK_INT(yes.layout, MCU_LAYOUT_CHANNELS_LAST);
    CHECK_INT(real.supported, 0);
    CHECK(holds(real.reason, "int8"));
    CHECK_INT(none.supported, 0);
    CHECK(same(none.reason, "it has no kernel for this operator"));
    b->release(b->self, yes.handle);
    b->release(b->self, real.handle);
    b->release(b->self, none.handle);
    b->free(b->self);
}

static void test_workload(void) {
    static const int32_t roles[] = {MCU_ROLE_INPUT,    MCU_ROLE_OUTPUT,   MCU_ROLE_CONSTANT,
                                    MCU_ROLE_CONSTANT, MCU_ROLE_CONSTANT, MCU_ROLE_SCRATCH};
    mcu_backend_t *b = factory();
    mcu_workloads_t answer = {.struct_size = sizeof answer};
    CHECK_INT(b->create_workload(b->self, &conv, &answer), MCU_BACKEND_OK);
    CHECK_INT(answer.num_workloads, 1);
    const mcu_workload_t *work = answer.workloads;
    const mcu_function_t *function = work->function;
    CHECK(same(function->stem, "conv") && same(function->result, "void"));
    CHECK_INT(function->is_helper, 0);
    CHECK(function->body[0] == '{' && function->body[strlen(function->body) - 1] == '}');
    CHECK(holds(function->body, "$dynref_conv(") && holds(function->body, "1, 4, 5, 2,"));
    CHECK_INT(function->num_parameters, 6);
    CHECK_INT(work->num_arguments, 6);
    for (int i = 0; i < 6; i++) {
        CHECK_INT(work->arguments[i].role, roles[i]);
        CHECK_INT(work->arguments[i].index, i >= 2 && i <= 4 ? i - 2 : 0);
    }
    CHECK(same(function->parameters[0].type, "const int8_t *"));
    CHECK(same(function->parameters[5].name, "patch"));
    CHECK_INT(work->scratch_bytes, KERNEL * KERNEL * CHANNELS * sizeof(int16_t));
    CHECK_INT(work->num_helpers, 2); /* what is called stands before what calls it */
    CHECK(same(work->helpers[0].stem, "dynref_quantize"));
    CHECK(same(work->helpers[0].result, "int8_t") && work->helpers[0].is_helper == 1);
    CHECK(same(work->helpers[1].stem, "dynref_conv"));
    CHECK(holds(work->helpers[1].body, "$dynref_quantize("));
    CHECK(same(work->helpers[1].parameters[0].type, "const int8_t *"));
    CHECK(same(work->helpers[1].parameters[6].type, "int32_t"));
    CHECK(same(work->helpers[1].parameters[6].name, "filters"));
    CHECK_INT(work->costs.macs, OUT_HEIGHT * OUT_WIDTH * FILTERS * CHANNELS * KERNEL * KERNEL);
    b->release(b->self, answer.handle);
    b->free(b->self);
}

/* One output in ONNX's order of axes, straight from the definition. */
static int expected_output(const int8_t *x, int m, int oy, int ox) {
    int32_t sum = conv_bias[m];
    for (int c = 0; c < CHANNELS; c++) {
        for (int ky = 0; ky < KERNEL; ky++) {
            for (int kx = 0; kx < KERNEL; kx++) {
                const int iy = oy - 1 + ky, ix = ox * STRIDE_X - 1 + kx;
                if (iy >= 0 && iy < HEIGHT && ix >= 0 && ix < WIDTH) {
                    sum +=
                        (x[(iy * WIDTH + ix) * CHANNELS + c] - X_ZERO) * conv_weights[m][c][ky][kx];
                }
            }
        }
    }
    const float product = conv_x_scale * conv_weight_scales[m];
    const float factor = product / conv_y_scale;
    const float steps = nearbyintf((float)sum * factor) + (float)Y_ZERO;
    return (int)(steps < -128.0F ? -128.0F : steps > 127.0F ? 127.0F : steps);
}

static void test_constants_are_what_the_kernel_reads(void) {
    mcu_backend_t *b = factory();
    mcu_workloads_t answer = {.struct_size = sizeof answer};
    CHECK_INT(b->create_workload(b->self, &conv, &answer), MCU_BACKEND_OK);
    const mcu_constant_t *constants = answer.workloads->constants;
    CHECK_INT(answer.workloads->num_constants, 3);
    CHECK(same(constants[0].stem, "weights") && constants[0].dtype == MCU_INT8);
    CHECK(same(constants[1].stem, "bias") && constants[1].dtype == MCU_INT32);
    CHECK(same(constants[2].stem, "factor") && constants[2].dtype == MCU_FLOAT32);
    CHECK_INT(constants[0].num_elements, sizeof conv_weights);
    int8_t x[HEIGHT * WIDTH * CHANNELS], y[OUT_HEIGHT * OUT_WIDTH * FILTERS];
    int16_t patch[KERNEL * KERNEL * CHANNELS];
    for (int i = 0; i < (int)sizeof x; i++) {
        x[i] = (int8_t)(i * 37 % 256 - 128);
    }
    dynref_conv(x, y, constants[0].data, constants[1].data, constants[2].data, patch, FILTERS, 1,
                HEIGHT, WIDTH, CHANNELS, OUT_HEIGHT, OUT_WIDTH, KERNEL, KERNEL, 1, STRIDE_X, 1, 1,
                1, 1, X_ZERO, Y_ZERO, -128, 127);
    for (int i = 0; i < (int)sizeof y; i++) {
        const int position = i / FILTERS;
        CHECK_INT(y[i],
                  expected_output(x, i % FILTERS, position / OUT_WIDTH, position % OUT_WIDTH));
    }
    b->release(b->self, answer.handle);
    b->free(b->self);
}

static void test_view_has_no_function(void) {
    mcu_backend_t *b = factory();
    mcu_workloads_t answer = {.struct_size = sizeof answer};
    CHECK_INT(ask(b, &reshape).layout, MCU_LAYOUT_NATURAL);
    CHECK_INT(b->create_workload(b->self, &reshape, &answer), MCU_BACKEND_OK);
    CHECK(answer.num_workloads == 1 && answer.workloads->function == NULL);
    b->release(b->self, answer.handle);
    b->free(b->self);
}

static void test_optimize_fuses_gemm_and_softmax(void) {
    mcu_backend_t *b = factory();
    mcu_optimization_t parts = {.struct_size = sizeof parts};
    CHECK_INT(b->optimize_subgraph(b->self, &classifier, &parts), MCU_BACKEND_OK);
    CHECK_INT(parts.num_substitutions, 1);
    CHECK_INT(parts.num_failed, 0);
    CHECK_INT(parts.num_untouched, 1);
    CHECK(parts.untouched->num_nodes == 1 && parts.untouched->nodes[0] == RESHAPE);
    const mcu_subgraph_t *replaced = &parts.substitutions->substitutable;
    CHECK(replaced->num_nodes == 2 && replaced->nodes[0] == GEMM && replaced->nodes[1] == SOFTMAX);
    const mcu_graph_t *fused = parts.substitutions->replacement;
    CHECK(fused->num_nodes == 1 && same(fused->nodes->op, "GemmSoftmax"));
    CHECK(fused->num_inputs == 1 && fused->num_outputs == 1);

    /* What it made, it computes, if it sees what that stands for, as mcu-deploy shows it. The
     * answer about the fused layer outlives the graph of it. */
    CHECK(holds(ask(b, fused).reason, "stands for"));
    const mcu_graph_t *const bodies[] = {&gemm_softmax};
    mcu_graph_t layer = *fused;
    layer.bodies = bodies;
    mcu_workloads_t answer = {.struct_size = sizeof answer};
    CHECK_INT(ask(b, &layer).supported, 1);
    CHECK_INT(b->create_workload(b->self, &layer, &answer), MCU_BACKEND_OK);
    b->release(b->self, parts.handle);
    CHECK(holds(answer.workloads->function->body, "$dynref_gemm("));
    CHECK(holds(answer.workloads->function->body, "$dynref_softmax(y, y,"));
    const int8_t *weights = answer.workloads->constants[0].data;
    CHECK(weights[0] == 1 && weights[1] == 4 && weights[2] == 7); /* column by column */
    const uint32_t *exponential = answer.workloads->constants[3].data;
    CHECK_INT(exponential[0], 1 << 24);
    CHECK_INT(exponential[1], nearbyint(exp(-0.125) * (1 << 24))); /* the scale between the two */
    b->release(b->self, answer.handle);
    b->free(b->self);
}

static void test_optimize_leaves_the_rest(void) {
    mcu_backend_t *b = factory();
    mcu_optimization_t parts = {.struct_size = sizeof parts};
    CHECK_INT(b->optimize_subgraph(b->self, &conv, &parts), MCU_BACKEND_OK);
    CHECK_INT(parts.num_substitutions, 0);
    CHECK(parts.num_untouched == 1 && parts.untouched->nodes[0] == 2);
    b->release(b->self, parts.handle);
    b->free(b->self);
}

static void test_estimate(void) {
    mcu_backend_t *b = factory();
    mcu_costs_t costs = {.struct_size = sizeof costs};
    CHECK_INT(b->estimate(b->self, &conv, &costs), MCU_BACKEND_OK);
    CHECK_INT(costs.macs, OUT_HEIGHT * OUT_WIDTH * FILTERS * CHANNELS * KERNEL * KERNEL);
    CHECK(costs.cycles > costs.macs);
    CHECK_INT(costs.instructions, -1); /* only a measurement can tell */
    CHECK_INT(costs.flash_bytes, sizeof conv_weights + sizeof conv_bias);
    CHECK_INT(b->estimate(b->self, &unknown, &costs), MCU_BACKEND_UNSUPPORTED);
    b->free(b->self);
}

void run_layer_tests(void) {
    RUN_TEST(test_layer_support);
    RUN_TEST(test_workload);
    RUN_TEST(test_constants_are_what_the_kernel_reads);
    RUN_TEST(test_view_has_no_function);
    RUN_TEST(test_optimize_fuses_gemm_and_softmax);
    RUN_TEST(test_optimize_leaves_the_rest);
    RUN_TEST(test_estimate);
}
