/* Helpers for DLTensor.
 * SPDX-License-Identifier: Apache-2.0 */
#include "mcu/runtime.h"

DLTensor mcu_tensor(void *data, DLDataType dtype, const int64_t *shape, int32_t ndim) {
    DLTensor tensor;
    tensor.data = data;
    tensor.device.device_type = kDLCPU;
    tensor.device.device_id = 0;
    tensor.ndim = ndim;
    tensor.dtype = dtype;
    tensor.shape = (int64_t *)shape; /* DLPack has no const; the runtime only reads it */
    tensor.strides = NULL;
    tensor.byte_offset = 0;
    return tensor;
}

size_t mcu_tensor_bytes(const DLTensor *tensor) {
    if (tensor == NULL || tensor->ndim < 0 || (tensor->shape == NULL && tensor->ndim > 0)) {
        return 0;
    }
    uint32_t elements = 1;
    for (int32_t d = 0; d < tensor->ndim; ++d) {
        int64_t extent = tensor->shape[d];
        if (extent < 0 || extent > (int64_t)UINT32_MAX) {
            return 0;
        }
        /* 32 x 32 to 64 bits: the product shows an overflow without a division. (An overflow that
         * a later extent of 0 would take back gives 0 all the same.) */
        uint64_t product = (uint64_t)elements * (uint32_t)extent;
        if (product > UINT32_MAX) {
            return 0;
        }
        elements = (uint32_t)product;
    }
    uint64_t bits = (uint64_t)elements * ((uint32_t)tensor->dtype.bits * tensor->dtype.lanes);
    uint64_t bytes = (bits + 7U) >> 3;
    return bytes <= UINT32_MAX ? (uint32_t)bytes : 0U;
}
