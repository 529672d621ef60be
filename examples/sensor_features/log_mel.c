/* See log_mel.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "log_mel.h"

#include <math.h>
#include <string.h>

#define LOWEST_HERTZ 20.0F
#define FLOOR        1e-6F

static float mel_of(float hertz) {
    return 2595.0F * log10f(1.0F + hertz / 700.0F);
}

/* The corners of the bands' triangles, in bins: evenly spaced in mel. */
static float corner(int index) {
    float lowest = mel_of(LOWEST_HERTZ);
    float highest = mel_of((float)LOG_MEL_RATE / 2.0F);
    float mel = lowest + (highest - lowest) * (float)index / (float)(LOG_MEL_BANDS + 1);
    float hertz = 700.0F * (powf(10.0F, mel / 2595.0F) - 1.0F);
    return hertz * (float)LOG_MEL_FFT / (float)LOG_MEL_RATE;
}

arm_status log_mel_init(log_mel_t *mel) {
    for (int i = 0; i < LOG_MEL_WINDOW; i++) {
        float turn = 2.0F * PI * (float)i / (float)LOG_MEL_WINDOW;
        mel->hann[i] = 0.5F - 0.5F * cosf(turn);
    }
    float32_t *weight = mel->weights;
    for (int band = 0; band < LOG_MEL_BANDS; band++) {
        float left = corner(band);
        float peak = corner(band + 1);
        float right = corner(band + 2);
        int bin = (int)floorf(left) + 1;
        mel->first[band] = (uint16_t)bin;
        for (; bin < LOG_MEL_BINS && (float)bin < right; bin++) {
            float up = ((float)bin - left) / (peak - left);
            float down = (right - (float)bin) / (right - peak);
            *weight++ = up < down ? up : down;
        }
        mel->count[band] = (uint16_t)(bin - mel->first[band]);
    }
    return arm_rfft_fast_init_512_f32(&mel->fft);
}

void log_mel(log_mel_t *mel, const int16_t *samples, float32_t *bands) {
    arm_q15_to_float(samples, mel->time, LOG_MEL_WINDOW);
    arm_mult_f32(mel->time, mel->hann, mel->time, LOG_MEL_WINDOW);
    memset(mel->time + LOG_MEL_WINDOW, 0, (LOG_MEL_FFT - LOG_MEL_WINDOW) * sizeof *mel->time);
    arm_rfft_fast_f32(&mel->fft, mel->time, mel->spectrum, 0);
    /* The first two numbers are bin 0 and the last one, which are real; the others are pairs. */
    float32_t *power = mel->time;
    power[0] = mel->spectrum[0] * mel->spectrum[0];
    power[LOG_MEL_BINS - 1] = mel->spectrum[1] * mel->spectrum[1];
    arm_cmplx_mag_squared_f32(mel->spectrum + 2, power + 1, LOG_MEL_BINS - 2);
    const float32_t *weight = mel->weights;
    for (int band = 0; band < LOG_MEL_BANDS; band++) {
        float32_t energy = 0.0F;
        arm_dot_prod_f32(power + mel->first[band], weight, mel->count[band], &energy);
        weight += mel->count[band];
        bands[band] = energy > FLOOR ? energy : FLOOR;
    }
    arm_vlog_f32(bands, bands, LOG_MEL_BANDS);
}
