/* mcu_run: an inference in one call. A member of its own: it needs the arena, others do not.
 * SPDX-License-Identifier: Apache-2.0 */
#include "mcu/internal.h"
#include "mcu/memory.h"
#include "mcu/runtime.h"

int32_t mcu_run(const mcu_model_t *model, DLTensor *inputs, uint32_t num_inputs, DLTensor *outputs,
                uint32_t num_outputs) {
    if (model == NULL) {
        return MCU_ERROR_NULL_POINTER;
    }
    if (!_mcu_abi_fits(model->abi_version)) {
        return MCU_ERROR_ABI_VERSION;
    }
    mcu_memory_manager_t *arena = mcu_arena();
    if (arena == NULL) {
        return MCU_ERROR_CONFIGURATION;
    }
    void *workspace;
    int32_t status =
        arena->allocate(arena, model->workspace_size, model->workspace_alignment, &workspace);
    if (status != MCU_OK) {
        return status;
    }
    mcu_instance_t instance;
    status = mcu_instance_init(&instance, model, workspace, model->workspace_size);
    if (status == MCU_OK) {
        status = mcu_instance_run(&instance, inputs, num_inputs, outputs, num_outputs);
        mcu_instance_deinit(&instance);
    }
    int32_t freed = arena->free(arena, workspace);
    return status != MCU_OK ? status : freed;
}
