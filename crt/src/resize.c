/* Models with a size that each run decides, up to a bound.
 * SPDX-License-Identifier: Apache-2.0 */
#include "mcu/internal.h"
#include "mcu/runtime.h"

/* Older objects have no such field. */
static const mcu_size_t *size_of(const mcu_model_t *model) {
    return (model->abi_version & 0xFFFFU) >= 1U ? model->size : NULL;
}

/* Of a divisor up to 4 and a dividend below 2**30, by 2**32 / divisor rounded up: cores without a
 * divider would call the library's division, which is longer than all of this. */
static int32_t quotient(int32_t dividend, int32_t divisor) {
    static const uint64_t reciprocals[] = {1ULL << 32, 1ULL << 31, 0x55555556ULL, 1ULL << 30};
    return (int32_t)(((uint64_t)(uint32_t)dividend * reciprocals[divisor - 1]) >> 32);
}

int32_t mcu_model_resize(const mcu_model_t *model, int64_t size, mcu_tensor_info_t *infos,
                         int64_t *extents) {
    if (model == NULL || infos == NULL || extents == NULL) {
        return MCU_ERROR_NULL_POINTER;
    }
    if (!_mcu_abi_fits(model->abi_version)) {
        return MCU_ERROR_ABI_VERSION;
    }
    const mcu_size_t *known = size_of(model);
    if (known == NULL || size < known->least || size > known->most) {
        return MCU_ERROR_SHAPE;
    }
    const mcu_extent_t *at = known->extents;
    const mcu_extent_t *const end = at + known->num_extents;
    for (uint32_t i = 0; i < model->num_input_tensors + model->num_output_tensors; ++i) {
        infos[i] = i < model->num_input_tensors ? model->inputs[i]
                                                : model->outputs[i - model->num_input_tensors];
        for (int32_t d = 0; d < infos[i].ndim; ++d) {
            extents[d] = infos[i].shape[d];
        }
        for (; at < end && at->tensor == i; ++at) {
            extents[at->axis] =
                at->step * quotient((int32_t)size + at->before, at->divisor) + at->behind;
        }
        infos[i].shape = extents;
        const DLTensor tensor = mcu_tensor(NULL, infos[i].dtype, extents, infos[i].ndim);
        infos[i].place.bytes = (uint32_t)mcu_tensor_bytes(&tensor);
        extents += infos[i].ndim;
    }
    return MCU_OK;
}

int32_t _mcu_run_size(const mcu_model_t *model, const void *args, int32_t num_args,
                      mcu_tensor_info_t *infos, int64_t *extents, int32_t *size) {
    const mcu_size_t *known = size_of(model);
    if (args == NULL) {
        return MCU_ERROR_NULL_POINTER;
    }
    if ((uint32_t)num_args != model->num_input_tensors + model->num_output_tensors) {
        return MCU_ERROR_ARGUMENT_COUNT;
    }
    const DLTensor *tensor = _mcu_argument(args, model->num_input_tensors, known->tensor);
    if (tensor == NULL || tensor->shape == NULL) {
        return MCU_ERROR_NULL_POINTER;
    }
    if (tensor->ndim != model->inputs[known->tensor].ndim) {
        return MCU_ERROR_SHAPE;
    }
    const int64_t given = tensor->shape[known->axis];
    *size = given > 0 && given <= known->most ? (int32_t)given : 0;
    return mcu_model_resize(model, given, infos, extents);
}
