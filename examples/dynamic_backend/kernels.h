/* The kernels, as C text for the network: the files of kernels/, which the build turns into
 * constants of this library.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef DYNAMICREF_KERNELS_H
#define DYNAMICREF_KERNELS_H

#include "mcu/backend.h"
#include "text.h"

typedef enum kernel {
    KERNEL_QUANTIZE, /* first: the others call it */
    KERNEL_CONV,
    KERNEL_DEPTHWISE,
    KERNEL_GEMM,
    KERNEL_AVERAGE_POOL,
    KERNEL_SOFTMAX,
    KERNEL_REORDER,
    NUM_KERNELS
} kernel_t;

/* The kernels as helper functions of a workload. */
typedef struct kernels {
    mcu_function_t functions[NUM_KERNELS];
} kernels_t;

/* Reads the kernels' files, once in the life of the backend. Memory comes from the arena; false:
 * there is none. */
bool kernels_read(kernels_t *kernels, arena_t *arena);

#endif
