/* The logarithms of a sound's energies in bands of the mel scale, by CMSIS-DSP.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef LOG_MEL_H
#define LOG_MEL_H

#include <stdint.h>

#include "arm_math.h"

enum {
    LOG_MEL_RATE = 16000, /* samples a second */
    LOG_MEL_WINDOW = 480, /* samples: 30 ms */
    LOG_MEL_HOP = 320,    /* 20 ms */
    LOG_MEL_FFT = 512,    /* the window, and zeros behind it */
    LOG_MEL_BANDS = 40,   /* from 20 Hz to half the rate */
    LOG_MEL_BINS = LOG_MEL_FFT / 2 + 1
};

/* What is computed once, and the room for one window: about 9 KB. */
typedef struct {
    arm_rfft_fast_instance_f32 fft;
    float32_t hann[LOG_MEL_WINDOW];
    float32_t weights[2 * LOG_MEL_BINS]; /* of the bands, one behind the other */
    uint16_t first[LOG_MEL_BANDS];       /* each band's first bin */
    uint16_t count[LOG_MEL_BANDS];       /* and how many it has */
    float32_t time[LOG_MEL_FFT];
    float32_t spectrum[LOG_MEL_FFT];
} log_mel_t;

/* To be called once. Returns ARM_MATH_SUCCESS, or what CMSIS-DSP says. */
arm_status log_mel_init(log_mel_t *mel);

/* samples: LOG_MEL_WINDOW of them. bands: LOG_MEL_BANDS natural logarithms of energies, each at
 * least log(1e-6). */
void log_mel(log_mel_t *mel, const int16_t *samples, float32_t *bands);

#endif
