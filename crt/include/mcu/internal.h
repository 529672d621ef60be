/* What generated networks and the runtime have between themselves. Not for applications.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MCU_INTERNAL_H
#define MCU_INTERNAL_H

#include "mcu/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Whether this runtime knows all that an object of this ABI version has. */
static inline int _mcu_abi_fits(uint32_t abi_version) {
    return abi_version >> 16 == MCU_MODEL_ABI_MAJOR &&
           (abi_version & 0xFFFFU) <= MCU_MODEL_ABI_MINOR;
}

/* Tensor `index` of what run_func got as `args`: the inputs, then the outputs. They are a value for
 * each, or the three values of mcu_instance_run, whose stack so needs no more for many tensors: the
 * address of these values themselves, which no tensor has, the inputs' array, the outputs'. */
static inline DLTensor *_mcu_argument(const void *args, uint32_t num_inputs, uint32_t index) {
    const mcu_value_t *values = (const mcu_value_t *)args;
    if (values[0].v_handle != args) {
        return (DLTensor *)values[index].v_handle;
    }
    return index < num_inputs ? (DLTensor *)values[1].v_handle + index
                              : (DLTensor *)values[2].v_handle + (index - num_inputs);
}

/* Checks run_func's arguments against the descriptor and copies each input that does not already
 * lie at its place into the workspace. partition: NULL for the whole network. Returns MCU_OK or an
 * error code. */
int32_t _mcu_run_begin(const mcu_model_t *model, const mcu_partition_t *partition, const void *args,
                       const void *arg_type_ids, int32_t num_args, const void *resource_handle);

/* Copies each output that the caller wants elsewhere out of the workspace. */
int32_t _mcu_run_end(const mcu_model_t *model, const mcu_partition_t *partition, const void *args,
                     const void *resource_handle);

/* The size of a run of a model that has one, by its inputs' shapes, and what mcu_model_resize says
 * of it. */
int32_t _mcu_run_size(const mcu_model_t *model, const void *args, int32_t num_args,
                      mcu_tensor_info_t *infos, int64_t *extents, int32_t *size);

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

#endif /* MCU_INTERNAL_H */
