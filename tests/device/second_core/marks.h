/* The marks of bench.elf (crt/firmware/bench_main.c), for programs that are counted without it.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MARKS_H
#define MARKS_H

#define MARK(name, n)                                                                              \
    void name(void);                                                                               \
    __attribute__((noipa, used)) void name(void) {                                                 \
        __asm volatile("" ::"i"(n) : "memory");                                                    \
    }
MARK(mcu_bench_begin, 1)
MARK(mcu_bench_end, 2)
MARK(mcu_bench_hook, 3)
MARK(mcu_bench_layer_begin, 4)
MARK(mcu_bench_layer_end, 5)
MARK(mcu_bench_tick, 6)
MARK(mcu_bench_done, 7)
MARK(mcu_bench_failed, 8)

#endif /* MARKS_H */
