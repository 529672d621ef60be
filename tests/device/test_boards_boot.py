"""What boot ROMs read, in a linked image: at the address that they look at, and with the checksum
that they compute."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from device.faults.firmware import ECHO, build
from elftools.elf.elffile import ELFFile

from mcu_deploy.boards import load_board

pytestmark = pytest.mark.needs_arm_gcc


def _flash(name: str, folder: Path, size: int) -> bytes:
    """The first bytes of what an image brings, from the lowest address of the board's flash on."""
    board = load_board(name)
    origin = min(memory.origin for memory in board.memories if memory.kind == "flash")
    flash = bytearray(b"\xff" * size)
    with build(board, ECHO, folder).open("rb") as stream:
        for segment in ELFFile(stream).iter_segments("PT_LOAD"):
            at = segment["p_paddr"] - origin
            if 0 <= at < size:
                data = segment.data()[: size - at]
                flash[at : at + len(data)] = data
    return bytes(flash)


def _crc32_mpeg2(data: bytes) -> int:
    """As the boot ROM of the RP2040 does: the highest bit first, not inverted at the end
    (raspberrypi/pico-sdk, src/rp2040/boot_stage2/pad_checksum)."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte << 24
        for _ in range(8):
            crc = (crc << 1 ^ (0x04C11DB7 if crc >> 31 else 0)) & 0xFFFFFFFF
    return crc


def test_crc() -> None:
    assert _crc32_mpeg2(b"123456789") == 0x0376E6E7  # the check value of CRC-32/MPEG-2


def test_rp2040s_second_boot_stage_has_its_crc_and_the_vectors_behind_it(tmp_path: Path) -> None:
    flash = _flash("rpi_pico", tmp_path, 0x108)
    assert len(flash[:252].rstrip(b"\0")) > 32
    assert int.from_bytes(flash[252:256], "little") == _crc32_mpeg2(flash[:252])
    sram = load_board("rpi_pico").memory("sram")
    stack, reset = struct.unpack("<2I", flash[256:264])
    assert sram.origin < stack <= sram.end
    assert 0x1000_0100 < reset < 0x1001_0000 and reset & 1


def test_rp2350s_image_definition_is_one_block_in_the_first_4_kib(tmp_path: Path) -> None:
    flash = _flash("rpi_pico2", tmp_path, 4096)
    start = flash.index(struct.pack("<I", 0xFFFFDED3))
    assert start % 4 == 0 and flash.count(struct.pack("<I", 0xFFFFDED3)) == 1
    kind, words, image_type = struct.unpack_from("<BBH", flash, start + 4)
    assert (kind, words) == (0x42, 1)
    assert image_type == 0x1021  # RP2350, Arm, secure, executable
    last, items, _, next_block, end = struct.unpack_from("<BHBII", flash, start + 8)
    assert (last, items, next_block, end) == (0xFF, words, 0, 0xAB123579)


def test_imxrt1064s_headers_lie_where_its_boot_rom_looks(tmp_path: Path) -> None:
    flash = _flash("mimxrt1064_evk", tmp_path, 0x2008)
    board = load_board("mimxrt1064_evk")
    start, end = board.memory("config").origin, board.memory("flash").end
    words = struct.unpack_from("<128I", flash)
    assert flash[:4] == b"FCFB" and words[1] == 0x5601_0400
    assert words[0x50 // 4] == end - start
    # Fast read, quad: EBh and 24 bits of address on four pads; 6 dummy cycles, then data.
    assert words[0x80 // 4 : 0x80 // 4 + 4] == (0x0A18_04EB, 0x2604_3206, 0, 0)
    assert words[0x1D0 // 4] == 65536
    header, entry, _, dcd, data, own, csf, _ = struct.unpack_from("<8I", flash, 0x1000)
    assert (header, dcd, csf) == (0x4120_00D1, 0, 0)
    assert (entry, own, data) == (start + 0x2000, start + 0x1000, start + 0x1020)
    assert struct.unpack_from("<3I", flash, 0x1020) == (start, end - start, 0)
    stack, reset = struct.unpack_from("<2I", flash, 0x2000)
    assert board.memory("dtcm").origin < stack <= board.memory("dtcm").end and reset & 1


def test_ra8s_option_word_lets_no_watchdog_start(tmp_path: Path) -> None:
    board = load_board("ek_ra8m1")
    with build(board, ECHO, tmp_path).open("rb") as stream:
        section = ELFFile(stream).get_section_by_name(".boot_option_setting")
        assert section is not None
        assert section["sh_addr"] == board.memory("option_setting").origin == 0x0300_A100
        assert section.data() == b"\xff" * 4
