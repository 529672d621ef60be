/* From samples of a microphone to a network's scores: frames.h, log_mel.h, quantize.h in a row.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef LISTEN_H
#define LISTEN_H

#include <stddef.h>
#include <stdint.h>

/* To be called once. Returns MCU_OK, or a code for mcu_error_string(). */
int32_t listen_init(void);

/* Takes samples, in pieces of any size. For each window that they fill, as soon as the network's
 * input is full, it runs, and `answer` gets its scores. Returns as listen_init. */
int32_t listen_to(const int16_t *samples, size_t count, void (*answer)(const int8_t *scores));

#endif
