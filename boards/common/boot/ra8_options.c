/* The first word of the option-setting memory of a Renesas RA8, OFS0: neither of the two watchdogs
 * starts by itself. It is what an erased chip has, and what renesas/fsp writes unless told
 * otherwise.
 *
 * Source: Zephyr's dts/arm/renesas/ra/ra8/ra8x1.dtsi (commit 0202bd8: the address, 0x0300A100), and
 * zephyrproject-rtos/hal_renesas, commit 6edf16b, zephyr/ra/ra_cfg/fsp_cfg/bsp/ra8m1/
 * bsp_mcu_ofs_cfg.h (OFS_IWDT | OFS_WDT: all bits set).
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>

__attribute__((section(".boot.option_setting"), used)) static const uint32_t ofs0[] = {0xFFFFFFFFu};
