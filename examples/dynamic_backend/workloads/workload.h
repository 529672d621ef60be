/* Workloads, one file an operator family, and the hand that builds them.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef DYNAMICREF_WORKLOAD_H
#define DYNAMICREF_WORKLOAD_H

#include "kernels.h"
#include "layer.h"
#include "text.h"

enum { MOST_PARAMETERS = 8, MOST_CONSTANTS = 6, MOST_HELPERS = 4 };

/* A workload that is being built. All of it lies in the arena of its answer. Where there is no
 * memory, or the text does not fit, the building goes on, and `workload_finish` says so. */
typedef struct builder {
    arena_t *arena;
    const kernels_t *kernels;
    int32_t status;
    mcu_workload_t workload;
    mcu_function_t function;
    mcu_parameter_t parameters[MOST_PARAMETERS];
    mcu_argument_t arguments[MOST_PARAMETERS];
    mcu_constant_t constants[MOST_CONSTANTS];
    mcu_function_t helpers[MOST_HELPERS];
    mcu_in_place_t in_place;
    text_t body;
} builder_t;

/* Each of these adds a parameter to the function, and what is passed for it. */
void add_input(builder_t *builder, const char *type, const char *name);
void add_output(builder_t *builder, const char *type, const char *name);
void add_scratch(builder_t *builder, const char *type, const char *name, int64_t bytes);

/* The memory of the constant's elements, which is to be filled; NULL where there is none. */
void *add_constant(builder_t *builder, const char *type, const char *stem, int32_t dtype,
                   int64_t elements);

/* A kernel that the body calls. */
void add_helper(builder_t *builder, kernel_t kernel);

/* The first input and the first output may share memory: element by element. */
void allow_in_place(builder_t *builder);

/* The numbers of a window or of the output's quantization, as a line of the call in the body. */
void add_window(builder_t *builder, const window_t *window);
void add_quantization(builder_t *builder, int32_t x_zero, int32_t y_zero, bounds_t bounds);

/* Gives the function its name, and the workload its costs. The status of the building. */
int32_t workload_finish(builder_t *builder, const layer_t *layer, const char *stem);

/* A simple model: so many cycles a multiply-accumulate, so many for each other element. */
mcu_costs_t costs_of(const layer_t *layer);

/* The operators. They build layers that layers.c has said yes to. */
int32_t build_conv(const layer_t *layer, builder_t *builder);
int32_t build_gemm(const layer_t *layer, builder_t *builder);
int32_t build_average_pool(const layer_t *layer, builder_t *builder);
int32_t build_softmax(const layer_t *layer, builder_t *builder);
int32_t build_gemm_softmax(const layer_t *layer, builder_t *builder);
int32_t build_view(const layer_t *layer, builder_t *builder);
int32_t build_copy(const layer_t *layer, builder_t *builder);
int32_t build_reorder(const layer_t *layer, builder_t *builder);

/* What Gemm, Softmax and both in one have in common: the constants and the call of the kernel. y:
 * what it writes, by its quantization; input: the parameter that Softmax reads. */
void add_gemm(builder_t *builder, const layer_t *layer, const mcu_edge_t *y, bounds_t bounds);
void add_softmax(builder_t *builder, const char *input, const mcu_edge_t *y, float x_scale);

/* float32(float32(sx * sw) / sy), and the bias in int32, for each of `columns` channels. */
void fill_factors(float *factors, int32_t columns, const layer_t *layer, const mcu_edge_t *y);
void fill_bias(int32_t *bias, int32_t columns, const layer_t *layer);

#endif
