/* A stream of samples in windows that overlap: what an ADC's or a microphone's DMA gives, in pieces
 * of any size, to windows of one size. SPDX-License-Identifier: Apache-2.0 */
#ifndef FRAMES_H
#define FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* buffer: room for a window. window: its samples. hop: by how many the next one begins later, from
 * 1 to window. held: how many of the window are there; 0 at the start. */
typedef struct {
    int16_t *buffer;
    size_t window;
    size_t hop;
    size_t held;
} frames_t;

/* Takes samples until the window is full; returns how many it took of the count. */
size_t frames_add(frames_t *frames, const int16_t *samples, size_t count);

/* Whether the window is full: its samples are in the buffer. */
bool frames_ready(const frames_t *frames);

/* Goes on to the next window, which shares window - hop samples with this one. */
void frames_next(frames_t *frames);

#endif
