/* What the boot ROM of an i.MX RT1064 reads in the chip's flash: at its start how to read it, and
 * 4 KiB behind that where the program is (image vector table and boot data).
 *
 * Sources: nxp-mcuxpresso/mcux-devices-rt, commit 3248d6d, RT1064/MIMXRT1064/xip/
 * fsl_flexspi_nor_boot.h and .c, RT1064/periph/PERI_FLEXSPI.h (fields of a command); Zephyr's
 * boards/nxp/mimxrt1064_evk/xip/evkmimxrt1064_flexspi_nor_config.h (commit 3557b8b: the block's
 * layout) and .c (commit 154cc24: the values for the flash in this chip).
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>

#define FLASH_BASE  0x70000000u
#define FLASH_BYTES 0x00400000u

enum { CMD_SDR = 1, RADDR_SDR = 2, WRITE_SDR = 8, READ_SDR = 9, DUMMY_SDR = 12, STOP = 0 };
enum { ONE_PAD = 0, FOUR_PADS = 2 };

#define LUT(command0, pads0, operand0, command1, pads1, operand1)                                  \
    ((uint32_t)(operand0) | (uint32_t)(pads0) << 8 | (uint32_t)(command0) << 10 |                  \
     (uint32_t)(operand1) << 16 | (uint32_t)(pads1) << 24 | (uint32_t)(command1) << 26)

/* The word at an offset in bytes, and the two words that a sequence of commands begins with. */
#define AT(offset)             [(offset) / 4]
#define SEQUENCE(number, word) [0x80 / 4 + 4 * (number) + (word)]

__attribute__((section(".boot.config"), used)) static const uint32_t flexspi_config[128] = {
    AT(0x000) = 0x42464346u, /* the tag */
    AT(0x004) = 0x56010400u, /* version 1.4.0 */
    AT(0x00C) = 0x00030301u, /* samples by DQS looped back; chip select: hold 3, setup 3 */
    AT(0x040) = 1u << 4,     /* at a safe frequency while this is read */
    AT(0x044) = 0x00070401u, /* serial NOR on four pads, at 120 MHz */
    AT(0x050) = FLASH_BYTES, /* on A1 */
    SEQUENCE(0, 0) = LUT(CMD_SDR, ONE_PAD, 0xEB, RADDR_SDR, FOUR_PADS, 24), /* read */
    SEQUENCE(0, 1) = LUT(DUMMY_SDR, FOUR_PADS, 6, READ_SDR, FOUR_PADS, 4),
    SEQUENCE(1, 0) = LUT(CMD_SDR, ONE_PAD, 0x05, READ_SDR, ONE_PAD, 4),   /* read the status */
    SEQUENCE(3, 0) = LUT(CMD_SDR, ONE_PAD, 0x06, STOP, ONE_PAD, 0),       /* enable writing */
    SEQUENCE(5, 0) = LUT(CMD_SDR, ONE_PAD, 0x20, RADDR_SDR, ONE_PAD, 24), /* erase a sector */
    SEQUENCE(8, 0) = LUT(CMD_SDR, ONE_PAD, 0xD8, RADDR_SDR, ONE_PAD, 24), /* erase a block */
    SEQUENCE(9, 0) = LUT(CMD_SDR, ONE_PAD, 0x02, RADDR_SDR, ONE_PAD, 24), /* program a page */
    SEQUENCE(9, 1) = LUT(WRITE_SDR, ONE_PAD, 4, STOP, ONE_PAD, 0),
    SEQUENCE(11, 0) = LUT(CMD_SDR, ONE_PAD, 0x60, STOP, ONE_PAD, 0), /* erase all */
    AT(0x1C0) = 256,                                                 /* bytes of a page */
    AT(0x1C4) = 4 * 1024,                                            /* of a sector */
    AT(0x1C8) = 1,                                                   /* these commands at 30 MHz */
    AT(0x1D0) = 64 * 1024,                                           /* bytes of a block */
};

typedef struct boot_header {
    /* The image vector table. */
    uint32_t header;   /* tag 0xD1, length (big-endian), version 4.1 */
    const void *entry; /* the processor's vector table */
    uint32_t reserved1;
    const void *dcd;
    const void *boot_data;
    const void *self;
    const void *csf;
    uint32_t reserved2;
    /* The boot data. */
    uint32_t start;
    uint32_t size;
    uint32_t plugin;
    uint32_t placeholder;
} boot_header_t;

extern const uint32_t mcu_vectors[];

__attribute__((section(".boot.ivt"), used)) static const boot_header_t boot_header = {
    .header = 0x412000D1u,
    .entry = mcu_vectors,
    .boot_data = &boot_header.start,
    .self = &boot_header,
    .start = FLASH_BASE,
    .size = FLASH_BYTES,
    .placeholder = 0xFFFFFFFFu,
};
