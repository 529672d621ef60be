/* The Cortex-M system registers that the start-up, the fault handler and the counter use.
 * Names, addresses and bits: Armv7-M Architecture Reference Manual (DDI 0403), B3.2; what only
 * Armv8-M has: Armv8-M Architecture Reference Manual (DDI 0553), D1.2.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MCU_BOARDS_CORTEXM_H
#define MCU_BOARDS_CORTEXM_H

#include <stdint.h>

#if defined(__ARM_ARCH_6M__)
#define MCU_ARMV6M 1
#else
#define MCU_ARMV6M 0
#endif

#define MCU_REG32(address) (*(volatile uint32_t *)(address))
#define MCU_REG8(address)  (*(volatile uint8_t *)(address))

#define MCU_SYST_CSR           0xE000E010u /* SysTick control and status */
#define MCU_SYST_RVR           0xE000E014u
#define MCU_SYST_CVR           0xE000E018u
#define MCU_SYST_CSR_ENABLE    (1u << 0)
#define MCU_SYST_CSR_TICKINT   (1u << 1)
#define MCU_SYST_CSR_CLKSOURCE (1u << 2) /* the processor's clock */

#define MCU_NVIC_ISER 0xE000E100u
#define MCU_NVIC_IPR  0xE000E400u

#define MCU_SCB_ICSR              0xE000ED04u
#define MCU_SCB_ICSR_PENDSTSET    (1u << 26)
#define MCU_SCB_ICSR_PENDSVSET    (1u << 28)
#define MCU_SCB_VTOR              0xE000ED08u
#define MCU_SCB_AIRCR             0xE000ED0Cu
#define MCU_SCB_AIRCR_RESET       (0x05FA0000u | (1u << 2)) /* VECTKEY, SYSRESETREQ */
#define MCU_SCB_CCR               0xE000ED14u
#define MCU_SCB_CCR_UNALIGN_TRP   (1u << 3)
#define MCU_SCB_CCR_DIV_0_TRP     (1u << 4)
#define MCU_SCB_CCR_DC            (1u << 16) /* the caches, where there are any */
#define MCU_SCB_CCR_IC            (1u << 17)
#define MCU_SCB_CCR_LOB           (1u << 19) /* Armv8.1-M: loops and branches by LO_BRANCH_INFO */
#define MCU_SCB_SHPR3             0xE000ED20u
#define MCU_SCB_SHCSR             0xE000ED24u
#define MCU_SCB_SHCSR_FAULTS      ((1u << 16) | (1u << 17) | (1u << 18)) /* MemManage, Bus, Usage */
#define MCU_SCB_SHCSR_SECUREFAULT (1u << 19)                             /* Armv8-M */
#define MCU_SCB_CFSR              0xE000ED28u
#define MCU_SCB_HFSR              0xE000ED2Cu
#define MCU_SCB_MMFAR             0xE000ED34u
#define MCU_SCB_BFAR              0xE000ED38u
#define MCU_SCB_CCSIDR            0xE000ED80u
#define MCU_SCB_CSSELR            0xE000ED84u
#define MCU_SCB_CPACR             0xE000ED88u
#define MCU_SCB_CPACR_FPU         (0xFu << 20) /* full access to CP10 and CP11 */

#define MCU_MPU_TYPE            0xE000ED90u
#define MCU_MPU_CTRL            0xE000ED94u
#define MCU_MPU_RNR             0xE000ED98u
#define MCU_MPU_RBAR            0xE000ED9Cu
#define MCU_MPU_RASR            0xE000EDA0u
#define MCU_MPU_CTRL_ENABLE     (1u << 0)
#define MCU_MPU_CTRL_PRIVDEFENA (1u << 2) /* the default memory map where no region matches */
#define MCU_MPU_RASR_ENABLE     (1u << 0)
#define MCU_MPU_RASR_XN         (1u << 28) /* with AP = 0: no access at all */

#define MCU_SCB_DEMCR        0xE000EDFCu
#define MCU_SCB_DEMCR_TRCENA (1u << 24)
#define MCU_FPU_FPDSCR       0xE000EF3Cu
#define MCU_SCB_ICIALLU      0xE000EF50u
#define MCU_SCB_DCISW        0xE000EF60u
#define MCU_SCB_DCCSW        0xE000EF6Cu

#define MCU_DWT_CTRL           0xE0001000u
#define MCU_DWT_CYCCNT         0xE0001004u
#define MCU_DWT_LAR            0xE0001FB0u
#define MCU_DWT_LAR_KEY        0xC5ACCE55u /* CoreSight: unlocks the registers on a Cortex-M7 */
#define MCU_DWT_CTRL_CYCCNTENA (1u << 0)
#define MCU_DWT_CTRL_NOCYCCNT  (1u << 25)

static inline void mcu_barrier(void) {
    __asm volatile("dsb\n\tisb" ::: "memory");
}

/* Turns interrupts off; returns what mcu_interrupts_restore wants. */
static inline uint32_t mcu_interrupts_off(void) {
    uint32_t primask;
    __asm volatile("mrs %0, primask\n\tcpsid i" : "=r"(primask)::"memory");
    return primask;
}

static inline void mcu_interrupts_restore(uint32_t primask) {
    __asm volatile("msr primask, %0" ::"r"(primask) : "memory");
}

#endif /* MCU_BOARDS_CORTEXM_H */
