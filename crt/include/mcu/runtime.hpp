/* The runtime for C++11 and later: a thin layer over runtime.h, without exceptions, heap or the
 * C++ standard library.
 *
 *     static mcu::Workspace<MCU_KWS_WORKSPACE_SIZE, MCU_KWS_WORKSPACE_ALIGNMENT> workspace;
 *     static mcu::StaticInstance kws; // or, not static: mcu::Instance, which ends with its scope
 *
 *     int32_t status = kws.init(mcu_network_kws, workspace);
 *     int8_t *features = kws.input<int8_t>(0); // in the workspace: nothing is copied
 *     ... fill features ...
 *     status = kws.run();
 *     const int8_t *scores = kws.output<int8_t>(0);
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MCU_RUNTIME_HPP
#define MCU_RUNTIME_HPP

#include "mcu/memory.h"
#include "mcu/runtime.h"

namespace mcu {

/* The DLDataType of a C++ type: mcu::data_type<int8_t>(). */
template <typename T> DLDataType data_type() noexcept = delete;

#define MCU_DATA_TYPE(type, code)                                                                  \
    template <> inline DLDataType data_type<type>() noexcept {                                     \
        return {static_cast<uint8_t>(code), static_cast<uint8_t>(8 * sizeof(type)), 1};            \
    }
MCU_DATA_TYPE(int8_t, kDLInt)
MCU_DATA_TYPE(int16_t, kDLInt)
MCU_DATA_TYPE(int32_t, kDLInt)
MCU_DATA_TYPE(int64_t, kDLInt)
MCU_DATA_TYPE(uint8_t, kDLUInt)
MCU_DATA_TYPE(uint16_t, kDLUInt)
MCU_DATA_TYPE(uint32_t, kDLUInt)
MCU_DATA_TYPE(uint64_t, kDLUInt)
MCU_DATA_TYPE(float, kDLFloat)
MCU_DATA_TYPE(double, kDLFloat)
MCU_DATA_TYPE(bool, kDLBool)
#undef MCU_DATA_TYPE

/* A tensor over the caller's data; shape is not copied and must live as long. */
template <typename T, size_t Rank> DLTensor tensor(T *data, const int64_t (&shape)[Rank]) noexcept {
    return mcu_tensor(data, data_type<T>(), shape, static_cast<int32_t>(Rank));
}

/* Memory for one instance. */
template <size_t Size, size_t Alignment> struct Workspace {
    alignas(Alignment) uint8_t bytes[Size];
};

/* A running copy of a model, for as long as the program runs: a static object of this class needs
 * no code at the program's start and none at its end (no __aeabi_atexit). Not copied: the hook
 * knows its address. All functions return the codes of runtime.h. */
class StaticInstance {
  public:
    constexpr StaticInstance() noexcept : instance_() {
    }
    StaticInstance(const StaticInstance &) = delete;
    StaticInstance &operator=(const StaticInstance &) = delete;

    int32_t init(const mcu_model_t *model, void *workspace, size_t size) noexcept {
        return mcu_instance_init(&instance_, model, workspace, size);
    }
    template <size_t Size, size_t Alignment>
    int32_t init(const mcu_model_t *model, Workspace<Size, Alignment> &workspace) noexcept {
        return init(model, workspace.bytes, Size);
    }

    int32_t input(uint32_t index, DLTensor &tensor) const noexcept {
        return mcu_instance_input(&instance_, index, &tensor);
    }
    int32_t output(uint32_t index, DLTensor &tensor) const noexcept {
        return mcu_instance_output(&instance_, index, &tensor);
    }

    /* The elements of an input or output in the workspace; nullptr where there is no such tensor
     * or where its elements are not of type T. */
    template <typename T> T *input(uint32_t index) const noexcept {
        DLTensor tensor;
        return input(index, tensor) == MCU_OK ? elements<T>(tensor) : nullptr;
    }
    template <typename T> T *output(uint32_t index) const noexcept {
        DLTensor tensor;
        return output(index, tensor) == MCU_OK ? elements<T>(tensor) : nullptr;
    }

    /* One inference on the caller's tensors. */
    int32_t run(DLTensor *inputs, uint32_t num_inputs, DLTensor *outputs,
                uint32_t num_outputs) noexcept {
        return mcu_instance_run(&instance_, inputs, num_inputs, outputs, num_outputs);
    }
    template <size_t Inputs, size_t Outputs>
    int32_t run(DLTensor (&inputs)[Inputs], DLTensor (&outputs)[Outputs]) noexcept {
        return run(inputs, static_cast<uint32_t>(Inputs), outputs, static_cast<uint32_t>(Outputs));
    }
    /* One inference on the tensors in the workspace: fill input<T>(i), run, read output<T>(i). The
     * stack holds Most tensors meanwhile, of 40 bytes each: a model with more inputs and outputs,
     * taken together, wants run<their number>(), else it is MCU_ERROR_TOO_MANY_TENSORS. */
    template <uint32_t Most = 16> int32_t run() noexcept {
        const mcu_model_t *model = instance_.model;
        if (model == nullptr) {
            return MCU_ERROR_WRONG_INSTANCE;
        }
        const uint32_t inputs = model->num_input_tensors;
        const uint32_t outputs = model->num_output_tensors;
        if (inputs + outputs > Most) {
            return MCU_ERROR_TOO_MANY_TENSORS;
        }
        DLTensor tensors[Most];
        for (uint32_t i = 0; i < inputs; ++i) {
            input(i, tensors[i]);
        }
        for (uint32_t i = 0; i < outputs; ++i) {
            output(i, tensors[inputs + i]);
        }
        return run(tensors, inputs, tensors + inputs, outputs);
    }

    /* Ends the use of the workspace. */
    int32_t deinit() noexcept {
        return mcu_instance_deinit(&instance_);
    }

    /* For the C API, and to set the hook. */
    mcu_instance_t *get() noexcept {
        return &instance_;
    }

  private:
    template <typename T> static T *elements(const DLTensor &tensor) noexcept {
        const DLDataType type = data_type<T>();
        const bool same = tensor.dtype.code == type.code && tensor.dtype.bits == type.bits &&
                          tensor.dtype.lanes == type.lanes;
        return same ? static_cast<T *>(tensor.data) : nullptr;
    }

    mcu_instance_t instance_;
};

/* A running copy of a model that ends with its scope. Where it is static, its destructor is
 * registered with __aeabi_atexit, which few firmwares have: take StaticInstance there. */
class Instance : public StaticInstance {
  public:
    Instance() noexcept = default;
    ~Instance() {
        deinit();
    }
};

inline const char *error_string(int32_t status) noexcept {
    return mcu_error_string(status);
}

} // namespace mcu

#endif /* MCU_RUNTIME_HPP */
