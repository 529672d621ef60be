/* What the listing of docs/instances.md uses of Zephyr's API, for -fsyntax-only.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>
#include <stdint.h>

typedef struct {
    int64_t ticks;
} k_timeout_t;
struct k_msgq {
    size_t msg_size;
};
typedef void (*k_thread_entry_t)(void *p1, void *p2, void *p3);

#define K_FOREVER     ((k_timeout_t){-1})
#define K_FP_REGS     2L
#define ARG_UNUSED(x) (void)(x)
#define K_MSGQ_DEFINE(name, size, max, align)                                                      \
    static char _k_fifo_buf_##name[(size) * (max)] __attribute__((aligned(align), unused));        \
    struct k_msgq name = {size}
#define K_THREAD_DEFINE(name, stack_size, entry, p1, p2, p3, prio, options, delay)                 \
    static char _k_thread_stack_##name[stack_size] __attribute__((unused));                        \
    const k_thread_entry_t name = entry;                                                           \
    void *const _k_thread_arguments_##name[] = {p1, p2, p3, (void *)((prio) + (options) + (delay))}

int k_msgq_get(struct k_msgq *msgq, void *data, k_timeout_t timeout);
