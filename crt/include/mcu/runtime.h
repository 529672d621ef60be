/* The C runtime's API: instances of a model, tensors, and errors.
 *
 *     #include "mcu/runtime.h"
 *     #include "network_kws.h"
 *
 *     MCU_ALIGNED(MCU_KWS_WORKSPACE_ALIGNMENT)
 *     static uint8_t workspace[MCU_KWS_WORKSPACE_SIZE];
 *
 *     mcu_instance_t kws;
 *     DLTensor input, output;
 *     mcu_instance_init(&kws, mcu_network_kws, workspace, sizeof workspace);
 *     mcu_instance_input(&kws, 0, &input);    // the place in the workspace: nothing is copied
 *     mcu_instance_output(&kws, 0, &output);
 *     ... fill input.data ...
 *     int32_t status = mcu_instance_run(&kws, &input, 1, &output, 1);
 *     if (status != MCU_OK) puts(mcu_error_string(status));
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MCU_RUNTIME_H
#define MCU_RUNTIME_H

#include "mcu/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The most inputs and outputs, taken together, that mcu-deploy gives one model or partition. The
 * runtime itself has no bound and no array of so many. */
#define MCU_MAX_TENSORS 255

/* Stands at the very beginning of a declaration. */
#if defined(__GNUC__)
#define MCU_ALIGNED(n) __attribute__((aligned(n)))
#elif defined(__cplusplus)
#define MCU_ALIGNED(n) alignas(n)
#else
#define MCU_ALIGNED(n) _Alignas(n)
#endif

/* Stops the compiler where a condition that it knows is false: MCU_STATIC_ASSERT(c, text_as_name);
 * the second form is for C99. */
#if defined(__cplusplus)
#define MCU_STATIC_ASSERT(condition, name) static_assert(condition, #name)
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define MCU_STATIC_ASSERT(condition, name) _Static_assert(condition, #name)
#else
#define MCU_STATIC_ASSERT(condition, name) typedef char name[(condition) ? 1 : -1]
#endif

/* -fpack-struct: no build attribute tells, and the objects would read other fields. */
MCU_STATIC_ASSERT(offsetof(DLTensor, byte_offset) % sizeof(uint64_t) == 0,
                  mcu_structs_must_not_be_packed);

typedef enum mcu_status {
    MCU_OK = 0,
    MCU_ERROR_NULL_POINTER = -1,      /* a required pointer is NULL */
    MCU_ERROR_ABI_VERSION = -2,       /* the object was built for another runtime */
    MCU_ERROR_ARGUMENT_COUNT = -3,    /* not as many tensors as the model has */
    MCU_ERROR_ARGUMENT_TYPE = -4,     /* a type code that is no tensor handle */
    MCU_ERROR_DTYPE = -5,             /* a tensor's element type is not the model's */
    MCU_ERROR_SHAPE = -6,             /* a tensor's shape is not the model's */
    MCU_ERROR_STRIDES = -7,           /* a tensor is not compact and row-major */
    MCU_ERROR_BYTE_OFFSET = -8,       /* a tensor's byte_offset is not 0 */
    MCU_ERROR_DEVICE = -9,            /* a tensor does not live in CPU memory */
    MCU_ERROR_ALIGNMENT = -10,        /* a tensor or the workspace is not aligned */
    MCU_ERROR_WORKSPACE_SIZE = -11,   /* the workspace is smaller than the model needs */
    MCU_ERROR_WRONG_INSTANCE = -12,   /* the instance belongs to another model */
    MCU_ERROR_OUT_OF_MEMORY = -13,    /* the arena or the memory manager has no room */
    MCU_ERROR_INVALID_FREE = -14,     /* the block was not given by this memory manager */
    MCU_ERROR_INDEX = -15,            /* no such tensor or layer */
    MCU_ERROR_TOO_MANY_TENSORS = -16, /* more tensors than a call has room for */
    MCU_ERROR_OVERLAP = -17,          /* a caller's buffer overlaps the workspace, off its place */
    MCU_ERROR_CONFIGURATION = -18,    /* the arena or manager was configured with bad sizes */
    MCU_ERROR_POOL_COUNT = -19,       /* not as many pools as the model needs */
    MCU_ERROR_TRIP_COUNT = -20,       /* a loop ran another number of rounds than its shapes say */
    MCU_ERROR_OPERAND = -21           /* a layer was given values that contradict its shapes */
} mcu_status_t;

/* A sentence for a code of mcu_status_t; a constant text, also for unknown codes. */
const char *mcu_error_string(int32_t status);

/* A compact, row-major CPU tensor over `data`. shape has ndim elements and is not copied: it must
 * live as long as the tensor does (TVM: TVMInitializeDLTensor). */
DLTensor mcu_tensor(void *data, DLDataType dtype, const int64_t *shape, int32_t ndim);

/* The size of a tensor's elements in bytes (shape times dtype); 0 where the tensor is malformed or
 * has 4 GiB and more. */
size_t mcu_tensor_bytes(const DLTensor *tensor);

/* Prepares an instance. workspace: at least model->workspace_size bytes, aligned to
 * model->workspace_alignment; it is the instance's until mcu_instance_deinit. For a model without
 * further pools. States get their initial values. */
int32_t mcu_instance_init(mcu_instance_t *instance, const mcu_model_t *model, void *workspace,
                          size_t workspace_size);

/* The same with a block for each of the model's pools: the workspace, then model->extra_pools.
 * Constants that the network reads from RAM (--hot-weights) are copied there. */
typedef struct mcu_pool {
    void *data;
    size_t size;
} mcu_pool_t;
int32_t mcu_instance_init_pools(mcu_instance_t *instance, const mcu_model_t *model,
                                const mcu_pool_t *pools, uint32_t num_pools);

/* The tensor of input or output `index` in the instance's workspace. Using it for a run saves the
 * copy. An input must be written anew before each run: the network reuses its place. Of a network
 * that leaves its inputs and outputs to the caller (--io caller) data is what the last run got, at
 * first NULL: bring your own, aligned to 16 bytes. */
int32_t mcu_instance_input(const mcu_instance_t *instance, uint32_t index, DLTensor *tensor);
int32_t mcu_instance_output(const mcu_instance_t *instance, uint32_t index, DLTensor *tensor);

/* Runs one inference. inputs and outputs are arrays of num_inputs and num_outputs tensors in the
 * model's order; each lies at its own place (mcu_instance_input, mcu_instance_output) or wholly
 * outside of the workspace, and is then copied. Inputs may share memory with one another and with
 * outputs. Everything is checked before a byte is written. Re-entrant: different instances may run
 * at the same time. */
int32_t mcu_instance_run(mcu_instance_t *instance, DLTensor *inputs, uint32_t num_inputs,
                         DLTensor *outputs, uint32_t num_outputs);

/* Runs one partition alone: from its own inputs to its own outputs (model->partitions[partition]).
 * Rules as for mcu_instance_run. What lies in the workspace may be used without a copy, by
 * mcu_instance_partition_input and _output: the output of one partition is in its place for the
 * next one, as long as no other run comes between. */
int32_t mcu_instance_run_partition(mcu_instance_t *instance, uint32_t partition, DLTensor *inputs,
                                   uint32_t num_inputs, DLTensor *outputs, uint32_t num_outputs);
int32_t mcu_instance_partition_input(const mcu_instance_t *instance, uint32_t partition,
                                     uint32_t index, DLTensor *tensor);
int32_t mcu_instance_partition_output(const mcu_instance_t *instance, uint32_t partition,
                                      uint32_t index, DLTensor *tensor);

/* The index of a partition, a kept tensor or a state by its name; MCU_ERROR_INDEX: none has it. */
int32_t mcu_model_find_partition(const mcu_model_t *model, const char *name);
int32_t mcu_model_find_kept(const mcu_model_t *model, const char *name);
int32_t mcu_model_find_state(const mcu_model_t *model, const char *name);

/* A kept tensor: valid after a run that computes it, until the next one. */
int32_t mcu_instance_kept(const mcu_instance_t *instance, uint32_t index, DLTensor *tensor);

/* A state's tensor, in place: read or write it between two runs. */
int32_t mcu_instance_state(const mcu_instance_t *instance, uint32_t index, DLTensor *tensor);

/* Copies a state out or in; bytes: exactly the tensor's (MCU_ERROR_SHAPE). */
int32_t mcu_instance_get_state(const mcu_instance_t *instance, uint32_t index, void *data,
                               size_t bytes);
int32_t mcu_instance_set_state(mcu_instance_t *instance, uint32_t index, const void *data,
                               size_t bytes);

/* The inputs, then the outputs, of a model with a size that each run decides (build --shape
 * x=N,8:N<=64), as they are at that size. infos: as many elements as the model has inputs and
 * outputs; extents: as many as these have dimensions, all together; the shapes of infos lie there.
 * For a run give the tensors these shapes, with the data where it is for other models: it lies
 * compact for the size, at the begin of the place. MCU_ERROR_SHAPE, as a run says too: the size is
 * below the model's least (1 of most) or above its bound, or the model has no such size. */
int32_t mcu_model_resize(const mcu_model_t *model, int64_t size, mcu_tensor_info_t *infos,
                         int64_t *extents);

/* Gives every state its initial value. */
int32_t mcu_instance_reset(mcu_instance_t *instance);

/* Ends the use of the workspace; a run after that is MCU_ERROR_WRONG_INSTANCE. What the
 * network holds between runs is released. For an instance that mcu_instance_init prepared, or whose
 * bytes are all zero. */
int32_t mcu_instance_deinit(mcu_instance_t *instance);

/* One inference with a workspace from the arena (memory.h), for programs of one thread
 * (TVM: TVMRuntime_Run). Not re-entrant. Needs crt/arena/arena.c in the program. */
int32_t mcu_run(const mcu_model_t *model, DLTensor *inputs, uint32_t num_inputs, DLTensor *outputs,
                uint32_t num_outputs);

#ifdef __cplusplus
}
#endif

#endif /* MCU_RUNTIME_H */
