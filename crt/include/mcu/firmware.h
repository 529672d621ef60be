/* The test firmware: the models that are linked into it, and its entry.
 *
 * `mcu-deploy build` generates firmware_models.c, which defines the table; boards/common's start-up
 * calls mcu_firmware_main, which crt/firmware/ defines.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MCU_FIRMWARE_H
#define MCU_FIRMWARE_H

#include <stdbool.h>

#include "mcu/runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The inputs, then the outputs, of a model whose size each run decides, once a host has set it. */
typedef struct mcu_firmware_size {
    mcu_tensor_info_t *infos;
    int64_t *extents; /* room for MCU_<NAME>_EXTENTS of them, for mcu_model_resize */
    bool is_set;      /* false: the largest, as the descriptor has them */
} mcu_firmware_size_t;

typedef struct mcu_firmware_model {
    const mcu_model_t *model;
    mcu_instance_t *instance;  /* this model's alone: what outlives a run stays in it */
    const mcu_pool_t *pools;   /* static: the workspace, then model->num_extra_pools more */
    uint8_t *const *callers;   /* the inputs, then the outputs: buffers for those that lie at the
                                * caller's, NULL for the others; NULL where none does */
    uint32_t stack_bytes;      /* the build's bound for one run; 0: not known */
    uint8_t source_sha256[32]; /* of the model file */
    uint8_t object_sha256[32]; /* of network_<name>.o */
    mcu_firmware_size_t *size; /* NULL: all shapes are static */
} mcu_firmware_model_t;

extern const mcu_firmware_model_t mcu_firmware_models[];
extern const uint32_t mcu_firmware_num_models;
/* Room for the inputs and the outputs of whichever model or partition has most of them. */
extern DLTensor mcu_firmware_tensors[];

/* Prepares the instance of a model, unless it is prepared. The first run and what comes after
 * mcu_firmware_forget find states as they are after a reset. */
int32_t mcu_firmware_prepare(const mcu_firmware_model_t *entry);
void mcu_firmware_forget(const mcu_firmware_model_t *entry);

/* Initialises the platform and answers requests of the serial protocol; never returns. */
void mcu_firmware_main(void);

/* Sends a text to the host in a LOG event, shortened to MCU_PROTOCOL_MAX_EVENT bytes. It never
 * disturbs other frames; not for interrupt handlers. */
void mcu_log(const char *text);

#ifdef __cplusplus
}
#endif

#endif /* MCU_FIRMWARE_H */
