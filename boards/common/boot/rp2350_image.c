/* The image definition that the boot ROM of an RP2350 looks for in the first 4 KiB of the flash: a
 * program for the Arm cores in secure state. Without an entry point in it the boot ROM takes the
 * vector table at the start of the flash.
 *
 * Source: raspberrypi/pico-sdk, commit a1438df:
 * src/rp2_common/pico_crt0/embedded_start_block.inc.S,
 * src/common/boot_picobin_headers/include/boot/picobin.h (names and values).
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>

#define BLOCK_MARKER_START 0xFFFFDED3u
#define BLOCK_MARKER_END   0xAB123579u
#define ITEM_IMAGE_TYPE    0x42u
#define ITEM_LAST          0xFFu
#define IMAGE_TYPE_EXE     0x0001u
#define EXE_SECURITY_S     0x0020u
#define EXE_CPU_ARM        0x0000u
#define EXE_CHIP_RP2350    0x1000u

#define IMAGE_TYPE (IMAGE_TYPE_EXE | EXE_SECURITY_S | EXE_CPU_ARM | EXE_CHIP_RP2350)

__attribute__((section(".boot.flash"), used)) static const uint32_t image_definition[] = {
    BLOCK_MARKER_START,
    IMAGE_TYPE << 16 | 1u << 8 | ITEM_IMAGE_TYPE, /* an item of one word */
    1u << 8 | ITEM_LAST,                          /* the items have one word together */
    0,                                            /* the next block: this one, the only one */
    BLOCK_MARKER_END,
};
