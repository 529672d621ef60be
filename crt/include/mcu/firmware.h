/* The test firmware: the models that are linked into it, and its entry.
 *
 * `mcu-deploy build` generates firmware_models.c, which defines the table; boards/common's start-up
 * calls mcu_firmware_main, which crt/firmware/ defines.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MCU_FIRMWARE_H
#define MCU_FIRMWARE_H

#include "mcu/model.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mcu_firmware_model {
    const mcu_model_t *model;
    uint8_t *workspace; /* static, aligned to model->workspace_alignment, this model's alone */
    uint32_t workspace_size;
    uint32_t stack_bytes;      /* the build's bound for one run; 0: not known */
    uint8_t source_sha256[32]; /* of the model file */
    uint8_t object_sha256[32]; /* of network_<name>.o */
} mcu_firmware_model_t;

extern const mcu_firmware_model_t mcu_firmware_models[];
extern const uint32_t mcu_firmware_num_models;

/* Initialises the platform and answers requests of the serial protocol; never returns. */
void mcu_firmware_main(void);

/* Sends a text to the host in a LOG event, shortened to MCU_PROTOCOL_MAX_EVENT bytes. It never
 * disturbs other frames; not for interrupt handlers. */
void mcu_log(const char *text);

#ifdef __cplusplus
}
#endif

#endif /* MCU_FIRMWARE_H */
