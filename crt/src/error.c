/* The texts of the error codes. A member of its own: who does not print them does not pay.
 * SPDX-License-Identifier: Apache-2.0 */
#include "mcu/runtime.h"

const char *mcu_error_string(int32_t status) {
    switch (status) {
    case MCU_OK:
        return "No error.";
    case MCU_ERROR_NULL_POINTER:
        return "A pointer is NULL: pass the model, the workspace and each tensor's data and shape.";
    case MCU_ERROR_ABI_VERSION:
        return "The model was built for another runtime: build it and libmcu_crt.a together.";
    case MCU_ERROR_ARGUMENT_COUNT:
        return "Wrong number of tensors: pass as many inputs and outputs as the model has.";
    case MCU_ERROR_ARGUMENT_TYPE:
        return "An argument is no tensor: each type code must be MCU_TYPE_TENSOR_HANDLE.";
    case MCU_ERROR_DTYPE:
        return "A tensor's element type is not the model's: see the dtype in its description.";
    case MCU_ERROR_SHAPE:
        return "A tensor's shape is not the model's: see the shape in its description.";
    case MCU_ERROR_STRIDES:
        return "A tensor is not compact and row-major: copy it, and set strides to NULL.";
    case MCU_ERROR_BYTE_OFFSET:
        return "A tensor's byte_offset is not 0: add it to data instead.";
    case MCU_ERROR_DEVICE:
        return "A tensor is not in CPU memory: set its device_type to kDLCPU.";
    case MCU_ERROR_ALIGNMENT:
        return "A buffer is not aligned: align data to its elements, the workspace as the model "
               "asks.";
    case MCU_ERROR_WORKSPACE_SIZE:
        return "The workspace is too small: give the model's workspace_size bytes.";
    case MCU_ERROR_WRONG_INSTANCE:
        return "The instance is not of this model, or has ended: call mcu_instance_init.";
    case MCU_ERROR_OUT_OF_MEMORY:
        return "No free block is large enough: free others, or enlarge the arena "
               "(MCU_ARENA_NUM_PAGES).";
    case MCU_ERROR_INVALID_FREE:
        return "The memory was not given by this manager, or is free already: free it once.";
    case MCU_ERROR_INDEX:
        return "There is no tensor or layer of this index: stay below the model's count.";
    case MCU_ERROR_TOO_MANY_TENSORS:
        return "The model has more inputs and outputs than run() has room for: call run<n>().";
    case MCU_ERROR_OVERLAP:
        return "A buffer overlaps the workspace: use the tensor's own place, or memory outside.";
    case MCU_ERROR_CONFIGURATION:
        return "The arena's or manager's sizes make no sense: give a larger block or other pages.";
    case MCU_ERROR_POOL_COUNT:
        return "The model needs another number of pools: use mcu_instance_init_pools.";
    case MCU_ERROR_TRIP_COUNT:
        return "A loop ran more or fewer rounds than its outputs have elements: check its inputs.";
    case MCU_ERROR_OPERAND:
        return "A layer was given values that contradict the shapes it was compiled for: check "
               "inputs.";
    default:
        return "Unknown error: the code is not one of mcu_status_t.";
    }
}
