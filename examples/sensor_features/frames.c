/* See frames.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "frames.h"

#include <string.h>

size_t frames_add(frames_t *frames, const int16_t *samples, size_t count) {
    size_t room = frames->window - frames->held;
    size_t taken = count < room ? count : room;
    memcpy(frames->buffer + frames->held, samples, taken * sizeof *samples);
    frames->held += taken;
    return taken;
}

bool frames_ready(const frames_t *frames) {
    return frames->held == frames->window;
}

void frames_next(frames_t *frames) {
    frames->held = frames->window - frames->hop;
    memmove(frames->buffer, frames->buffer + frames->hop, frames->held * sizeof *frames->buffer);
}
