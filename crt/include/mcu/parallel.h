/* Two functions at once, on a microcontroller with two cores: what a network calls whose schedule
 * has two lanes.
 *
 * libmcu_crt.a has an _mcu_parallel that runs them one after the other, so that one
 * network_<name>.o links and runs on every board. A board with a second core brings one that really
 * runs them at once (boards/common/second_core.c); the linker takes it, as it comes before the
 * library. A program with its own way of starting the other core defines _mcu_parallel itself.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MCU_PARALLEL_H
#define MCU_PARALLEL_H

#ifdef __cplusplus
extern "C" {
#endif

/* Runs first(context) on the calling core and second(context), if that is possible, on the other
 * one; returns when both have returned. What the caller has written before is seen by both, and
 * what they write is seen by the caller after.
 *
 * The two must not touch the same byte, but to read it. Where there is no other core, or it is at
 * work already (for another thread, or in a call from inside of `second`), second(context) runs
 * after first(context), on the calling core and its stack. So neither may wait for the other. */
void _mcu_parallel(void (*first)(void *context), void (*second)(void *context), void *context);

#ifdef __cplusplus
}
#endif

#endif /* MCU_PARALLEL_H */
