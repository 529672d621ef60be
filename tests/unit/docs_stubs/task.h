/* See FreeRTOS.h.
 * SPDX-License-Identifier: Apache-2.0 */
typedef struct tskTaskControlBlock *TaskHandle_t;
typedef void (*TaskFunction_t)(void *);

#define tskIDLE_PRIORITY ((UBaseType_t)0U)

TaskHandle_t xTaskCreateStatic(TaskFunction_t code, const char *name, uint32_t stack_words,
                               void *parameters, UBaseType_t priority, StackType_t *stack,
                               StaticTask_t *task);
void vTaskDelete(TaskHandle_t task);
