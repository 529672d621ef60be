/* CPU1 of Arm's SSE-200 subsystem (MPS2 with the AN521 image, Musca): it waits after a reset, until
 * CPUWAIT says that it may go.
 * Registers: QEMU's hw/misc/iotkit-sysctl.c (commit 0483641); Zephyr's soc/arm/mps2/soc.c (commit
 * 06758ff) takes the same addresses (SSE_200_SYSTEM_CTRL_INITSVTOR1, SSE_200_SYSTEM_CTRL_CPU_WAIT).
 * SPDX-License-Identifier: Apache-2.0 */
#include "board.h"
#include "cortexm.h"

#define SYSCTRL            0x50021000u /* secure alias */
#define SYSCTRL_INITSVTOR1 (SYSCTRL + 0x114u)
#define SYSCTRL_CPUWAIT    (SYSCTRL + 0x118u)
#define CPUWAIT_CPU1       (1u << 1)

void mcu_second_core_release(uint32_t vectors) {
    MCU_REG32(SYSCTRL_INITSVTOR1) = vectors;
    mcu_barrier();
    MCU_REG32(SYSCTRL_CPUWAIT) &= ~CPUWAIT_CPU1;
}
