/* What the listing of docs/instances.md uses of FreeRTOS V10's API, for -fsyntax-only.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>
#include <stdint.h>

typedef uint32_t StackType_t, TickType_t;
typedef long BaseType_t;
typedef unsigned long UBaseType_t;
typedef struct xSTATIC_TCB {
    void *dummy[20];
} StaticTask_t;

#define pdFALSE         ((BaseType_t)0)
#define pdTRUE          ((BaseType_t)1)
#define portMAX_DELAY   ((TickType_t)0xffffffffUL)
#define configASSERT(x) /* its default: empty */
