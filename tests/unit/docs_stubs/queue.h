/* See FreeRTOS.h.
 * SPDX-License-Identifier: Apache-2.0 */
typedef struct QueueDefinition *QueueHandle_t;

QueueHandle_t xQueueCreate(UBaseType_t length, UBaseType_t item_size);
BaseType_t xQueueReceive(QueueHandle_t queue, void *buffer, TickType_t wait);
BaseType_t xQueueSend(QueueHandle_t queue, const void *item, TickType_t wait);
