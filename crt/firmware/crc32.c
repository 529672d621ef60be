/* CRC-32 of IEEE 802.3, a nibble at a time: a table of 64 bytes instead of 1 KB.
 * SPDX-License-Identifier: Apache-2.0 */
#include "mcu/protocol.h"

uint32_t mcu_crc32(uint32_t crc, const uint8_t *data, size_t size) {
    static const uint32_t table[16] = {0x00000000U, 0x1DB71064U, 0x3B6E20C8U, 0x26D930ACU,
                                       0x76DC4190U, 0x6B6B51F4U, 0x4DB26158U, 0x5005713CU,
                                       0xEDB88320U, 0xF00F9344U, 0xD6D6A3E8U, 0xCB61B38CU,
                                       0x9B64C2B0U, 0x86D3D2D4U, 0xA00AE278U, 0xBDBDF21CU};
    crc = ~crc;
    for (size_t i = 0; i < size; i++) {
        crc ^= data[i];
        crc = (crc >> 4) ^ table[crc & 15U];
        crc = (crc >> 4) ^ table[crc & 15U];
    }
    return ~crc;
}
