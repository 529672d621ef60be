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

/* Changes whenever a structure in this file changes its meaning or its layout. */
#define MCU_MODEL_ABI_VERSION 3U

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
 * instance's table of pointers. _mcu_address finds the bytes. */
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

/* ---- What a generated network calls. Not for applications. ---- */

/* Checks run_func's arguments against the descriptor and copies each input that does not already
 * lie at its place into the workspace. partition: NULL for the whole network. Returns MCU_OK or an
 * error code. */
int32_t _mcu_run_begin(const mcu_model_t *model, const mcu_partition_t *partition, const void *args,
                       const void *arg_type_ids, int32_t num_args, const void *resource_handle);

/* Copies each output that the caller wants elsewhere out of the workspace. */
int32_t _mcu_run_end(const mcu_model_t *model, const mcu_partition_t *partition, const void *args,
                     const void *resource_handle);

/* The instance's table of pointers. */
static inline uint8_t **_mcu_pointers(const mcu_instance_t *instance) {
    const mcu_region_t place = instance->model->pointers;
    uint8_t *const pool =
        place.pool == 0 ? instance->workspace : instance->extra_pools[place.pool - 1U];
    return (uint8_t **)(void *)(pool + place.offset);
}

/* The first byte of a region; NULL: it lies at the caller's, who has not passed it yet. */
static inline uint8_t *_mcu_address(const mcu_instance_t *instance, mcu_region_t place) {
    if (place.pool == 0) {
        return instance->workspace + place.offset;
    }
    if (place.pool == MCU_POOL_POINTER) {
        return _mcu_pointers(instance)[place.offset];
    }
    return instance->extra_pools[place.pool - 1U] + place.offset;
}

static inline void _mcu_layer_event(mcu_instance_t *instance, uint32_t layer,
                                    mcu_layer_event_t event) {
    if (instance->hook != NULL) {
        instance->hook(instance, layer, event);
    }
}

/* Begins the definition of a layer's function in C, which stays a function of its own: where a
 * compiler inlines all of them into one, they share its registers, and a network of convolutions
 * takes up to a third more instructions on a Cortex-M4. */
#if defined(__GNUC__)
#define MCU_FUNCTION __attribute__((noinline)) static
#else
#define MCU_FUNCTION static
#endif

/* Begins the definition of a function in assembly, whose body is one asm by the procedure call
 * standard: its arguments are in r0-r3, whether or not the compiler sees a use of them (hence
 * noipa, without which gcc would leave them out, and MCU_UNUSED), and it saves what it uses of
 * r4-r11 and s16-s31. It lies at a whole word: an ADR in it counts from one. */
#if defined(__clang__)
#define MCU_KERNEL __attribute__((naked, noinline, aligned(4))) static
#elif defined(__GNUC__)
#define MCU_KERNEL __attribute__((naked, noipa, aligned(4))) static
#endif
#if defined(__GNUC__)
#define MCU_UNUSED __attribute__((unused))
#else
#define MCU_UNUSED
#endif

/* The section of kernels that are to run from RAM (build --hot-code): a linker script places it
 * there and a start-up copies it. A project whose script has one of its own for such code says that
 * one's name instead, as in -DMCU_HOT_SECTION='".RamFunc"' for ST's scripts. */
#if !defined(MCU_HOT_SECTION)
#define MCU_HOT_SECTION ".text.mcu_hot"
#endif

/* A layer between its two events: the statement `call`, in a function that knows its `instance`. */
#define MCU_LAYER(layer, call)                                                                     \
    do {                                                                                           \
        _mcu_layer_event(instance, layer, MCU_LAYER_BEGIN);                                        \
        call;                                                                                      \
        _mcu_layer_event(instance, layer, MCU_LAYER_END);                                          \
    } while (0)

/* The same with a call that may fail: the function returns its error code at once, without the
 * second event. */
#define MCU_LAYER_OR_RETURN(layer, call)                                                           \
    do {                                                                                           \
        _mcu_layer_event(instance, layer, MCU_LAYER_BEGIN);                                        \
        const int32_t mcu_status = call;                                                           \
        if (mcu_status != MCU_OK) {                                                                \
            return mcu_status;                                                                     \
        }                                                                                          \
        _mcu_layer_event(instance, layer, MCU_LAYER_END);                                          \
    } while (0)

#ifdef __cplusplus
}
#endif

#endif /* MCU_MODEL_H */
