/* Exponential functions of float32 without a C library, which takes two to three times as long.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef KIT_EXPONENTIAL_H
#define KIT_EXPONENTIAL_H

/* e^x, within 2^-22 of it, and beyond 87 and -87 within 2^-21; infinity above 88.73, 0 below -104,
 * NaN for a NaN. */
float exponential(float x);

/* tanh(x), within 2^-22 of it, of -0 too; NaN for a NaN. */
float hyperbolic_tangent(float x);

#endif /* KIT_EXPONENTIAL_H */
