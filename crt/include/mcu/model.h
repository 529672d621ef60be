/* The model descriptor: the one symbol that a network_<name>.o exports, and what it points to.
 *
 * A descriptor is constant and lives in flash. All state of an inference lives in the workspace
 * that the caller gives to an instance, so one object serves any number of instances.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MCU_MODEL_H
#define MCU_MODEL_H

#include <stddef.h>
#include <stdint.h>

#include "mcu/dlpack.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The major version changes whenever a structure of this file changes its meaning or its layout;
 * the minor one when something is added that older objects do without: a field behind mcu_model_t's
 * last one, a function of the runtime. An object runs with a runtime of its own major version whose
 * minor one is not older. */
#define MCU_MODEL_ABI_MAJOR   4U
#define MCU_MODEL_ABI_MINOR   1U
#define MCU_MODEL_ABI_VERSION ((MCU_MODEL_ABI_MAJOR << 16) | MCU_MODEL_ABI_MINOR)

/* The one type code that run_func's arg_type_ids may hold: "a DLTensor *" (TVM's number for it). */
#define MCU_TYPE_TENSOR_HANDLE 7

/* One argument of run_func. Only v_handle is used: it holds a DLTensor *. */
typedef union mcu_value {
    int64_t v_int64;
    double v_float64;
    void *v_handle;
    const char *v_str;
} mcu_value_t;

typedef struct mcu_instance mcu_instance_t;

/* Where a tensor lies. Pool 0 is the workspace; in MCU_POOL_POINTER the offset is an index into the
 * instance's table of pointers. */
#define MCU_MAX_POOLS    4U
#define MCU_POOL_POINTER 15U
typedef struct mcu_region {
    uint32_t offset : 28; /* in bytes */
    uint32_t pool : 4;
    uint32_t bytes;
} mcu_region_t;

/* A block of memory that each instance needs beside the workspace. */
typedef struct mcu_pool_info {
    const char *name;
    uint32_t bytes;
    uint32_t alignment; /* a power of two */
} mcu_pool_info_t;

/* An input or an output of the model. */
typedef struct mcu_tensor_info {
    const char *name;     /* UTF-8, as the source model has it, shortened to 63 bytes */
    const int64_t *shape; /* ndim numbers */
    mcu_region_t place;   /* where it lives in the workspace while the model reads or writes it;
                           * bytes: exactly its elements, as the runtime copies so many */
    float scale;          /* real = scale * (q - zero_point); 0: not quantized */
    int32_t zero_point;
    int32_t ndim;
    DLDataType dtype;
} mcu_tensor_info_t;

/* A part of the network that can be run alone: as the whole, with its own inputs and outputs. */
typedef struct mcu_partition {
    int32_t (*run_func)(void *args, void *arg_type_ids, int32_t num_args, void *out_ret_value,
                        void *out_ret_tcode, void *resource_handle);
    uint32_t num_input_tensors;
    uint32_t num_output_tensors;
    const char *name;
    const mcu_tensor_info_t *inputs;
    const mcu_tensor_info_t *outputs;
} mcu_partition_t;

/* A tensor that lives from run to run of an instance. */
typedef struct mcu_state_info {
    mcu_tensor_info_t tensor;
    const void *initial; /* tensor.place.bytes bytes; NULL: zeros */
} mcu_state_info_t;

/* A constant that each instance holds in RAM: mcu_instance_init copies place.bytes bytes there. */
typedef struct mcu_hot_constant {
    const void *source;
    mcu_region_t place;
} mcu_hot_constant_t;

/* A layer: one operator call of the network, in the order of execution. */
typedef struct mcu_layer_info {
    uint32_t first_output; /* index into mcu_model_t.layer_outputs */
    uint32_t num_outputs;
} mcu_layer_info_t;

/* An extent of an input or output that follows from the size that a run decides:
 * step * ((size + before) / divisor) + behind, rounded down. */
typedef struct mcu_extent {
    uint16_t tensor; /* the inputs, then the outputs */
    uint16_t axis;
    int32_t step;
    int32_t before;
    int32_t divisor; /* 1 to 4 */
    int32_t behind;
} mcu_extent_t;

/* A size that each run decides by the shape of its inputs. The shapes, places and bytes of the rest
 * of the descriptor are those of the largest one, for which memory is planned. */
typedef struct mcu_size {
    int32_t least;
    int32_t most;
    uint16_t tensor; /* an input whose extent along this axis is the size */
    uint16_t axis;
    uint32_t num_extents;
    const mcu_extent_t *extents; /* ordered by tensor */
} mcu_size_t;

typedef struct mcu_model {
    /* The first three fields are those of TVM's AOT runtime. args: array of mcu_value_t, inputs
     * then outputs, each a DLTensor *; arg_type_ids: int32_t per argument, each
     * MCU_TYPE_TENSOR_HANDLE, or NULL; num_args: num_input_tensors + num_output_tensors;
     * out_ret_value, out_ret_tcode: not used, may be NULL; resource_handle: the mcu_instance_t *.
     * Returns MCU_OK or a negative code of runtime.h; every argument is checked before a byte is
     * written. */
    int32_t (*run_func)(void *args, void *arg_type_ids, int32_t num_args, void *out_ret_value,
                        void *out_ret_tcode, void *resource_handle);
    uint32_t num_input_tensors;
    uint32_t num_output_tensors;

    uint32_t abi_version; /* MCU_MODEL_ABI_VERSION of the header that the object was built with */
    uint32_t workspace_size;
    uint32_t workspace_alignment; /* a power of two */
    uint32_t num_layers;
    const char *name;
    const mcu_tensor_info_t *inputs;
    const mcu_tensor_info_t *outputs;
    const mcu_layer_info_t *layers;
    const mcu_region_t *layer_outputs;
    const mcu_pool_info_t *extra_pools; /* beside the workspace */
    const mcu_partition_t *partitions;
    const mcu_tensor_info_t *kept; /* can be read after a run that computes them */
    const mcu_state_info_t *states;
    uint32_t num_extra_pools;
    uint32_t num_partitions;
    uint32_t num_kept;
    uint32_t num_states;
    /* What backends keep between two runs of an instance: mcu_instance_init clears it. */
    mcu_region_t private_place;
    /* The table of pointers: to tensors that lie at the caller's. */
    mcu_region_t pointers;
    const mcu_hot_constant_t *hot; /* constants in RAM */
    uint32_t num_hot;
    /* Called by mcu_instance_deinit, with the workspace still in place; NULL: nothing to do. */
    void (*release_func)(mcu_instance_t *instance);
    /* Since 4.1. NULL: all shapes are static. */
    const mcu_size_t *size;
} mcu_model_t;

/* A hook sees the network at work: it is called with the layer's index before and after each
 * layer. In MCU_LAYER_END the layer's outputs (model->layer_outputs) are valid in the workspace. */
typedef enum mcu_layer_event { MCU_LAYER_BEGIN = 0, MCU_LAYER_END = 1 } mcu_layer_event_t;
typedef void (*mcu_hook_t)(mcu_instance_t *instance, uint32_t layer, mcu_layer_event_t event);

/* A running copy of a model. Fill it with mcu_instance_init; the fields are read-only after that,
 * but for hook and hook_context, which may be set between two runs. */
struct mcu_instance {
    const mcu_model_t *model;
    uint8_t *workspace; /* model->workspace_size bytes, aligned to model->workspace_alignment */
    uint8_t *extra_pools[MCU_MAX_POOLS - 1U]; /* as model->extra_pools asks for them */
    mcu_hook_t hook;                          /* NULL: none */
    void *hook_context;
};

#ifdef __cplusplus
}
#endif

#endif /* MCU_MODEL_H */
