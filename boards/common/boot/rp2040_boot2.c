/* The second boot stage of an RP2040: the boot ROM copies the first 256 bytes of the flash into
 * RAM, checks the CRC-32 in the last four, and calls them. This one sets the flash interface to
 * read with the command 03h, which every serial flash has, and goes on with the vector table behind
 * itself.
 *
 * The facts, and the order of the writes, are those of raspberrypi/pico-sdk, commit a1438df (BSD-3-
 * Clause, Copyright 2019-2021 Raspberry Pi (Trading) Ltd.): src/rp2040/boot_stage2/
 * boot2_generic_03h.S, asminclude/boot2_helpers/exit_from_boot2.S, pad_checksum;
 * hardware/regs/ssi.h. SPDX-License-Identifier: Apache-2.0 */
#include "board.h"

void mcu_boot2(void);

__attribute__((section(".boot.boot2"), naked, used)) void mcu_boot2(void) {
    __asm volatile(".p2align 2\n"
                   "1:\n\t"
                   "ldr r3, 10f\n\t"
                   "movs r0, #0\n\t"
                   "str r0, [r3, #0x08]\n\t" /* SSIENR: off while it is set up */
                   "movs r1, #4\n\t"
                   "str r1, [r3, #0x14]\n\t" /* BAUDR: a quarter of the processor's clock */
                   "ldr r1, 11f\n\t"
                   "str r1, [r3, #0x00]\n\t" /* CTRLR0 */
                   "str r0, [r3, #0x04]\n\t" /* CTRLR1: one word a read */
                   "ldr r1, 12f\n\t"
                   "movs r2, #0xF4\n\t"
                   "str r1, [r3, r2]\n\t" /* SPI_CTRLR0 */
                   "movs r1, #1\n\t"
                   "str r1, [r3, #0x08]\n\t" /* SSIENR: on */
                   "ldr r0, 13f\n\t"
                   "ldr r1, 14f\n\t"
                   "str r0, [r1]\n\t" /* VTOR */
                   "ldr r1, [r0]\n\t"
                   "msr msp, r1\n\t"
                   "ldr r0, [r0, #4]\n\t"
                   "bx r0\n\t"
                   ".p2align 2\n"
                   "10:\t.word 0x18000000\n" /* XIP_SSI_BASE */
                   "11:\t.word 0x001F0300\n" /* frames of 32 bits; send command and address, read */
                   "12:\t.word 0x03000218\n" /* command 03h of 8 bits, address of 24, on one line */
                   "13:\t.word 0x10000100\n" /* the vector table */
                   "14:\t.word 0xE000ED08\n" /* VTOR */
                   "\t.space 252 - (. - 1b)\n"
                   "\t.word 0xB85A552E\n"); /* the CRC */
}
