/* Driver for the LPUART of STM32 (G0, H7, L4, L5, U5): the second USART, but that its baud rate
 * register counts 1/256 of a clock. Source: LPUART_LPUARTDIV_FREQ_MUL in stm32l4xx_ll_lpuart.h
 * (github.com/zephyrproject-rtos/hal_stm32, commit fe7d2e2).
 * SPDX-License-Identifier: Apache-2.0 */
#define USART_BRR_PER_CLOCK 256u
#include "serial/stm32_usart_v2.c"
