"""Memories with speeds and parts: what board.toml may say of them, and what a divided board is."""

from __future__ import annotations

from pathlib import Path

import pytest
from device.faults.firmware import ECHO, build, symbol_values
from elftools.elf.elffile import ELFFile
from sampling import every_board
from unit.test_boards import OWN

from mcu_deploy.boards import Board, Memory, load_board, render_linker_script
from mcu_deploy.errors import BoardError

SRAM = 'size = 65536\nkind = "ram"\n'
PARTS = """
[memories.sram.parts.ccm]
size = "16K"
speed = 5

[memories.sram.parts.main]
size = "48K"
speed = 2
"""


def _own(tmp_path: Path, more: str) -> Board:
    assert SRAM in OWN
    path = tmp_path / "board.toml"
    path.write_text(OWN.replace(SRAM, SRAM + more, 1))
    return load_board(path)


def test_a_memory_has_a_speed_and_no_parts_by_default(tmp_path: Path) -> None:
    board = _own(tmp_path, "")
    assert [(m.speed, m.parts) for m in board.memories] == [(1, ()), (1, ())]
    assert board.divided() == board


def test_a_divided_board_has_the_parts_in_the_memorys_place(tmp_path: Path) -> None:
    board = _own(tmp_path, PARTS)
    assert board.memory_for("data") == board.memory_for("stack")
    divided = board.divided()
    assert divided.memories[1:] == (
        Memory("ccm", 0x2000_0000, 16 << 10, "ram", 5),
        Memory("main", 0x2000_4000, 48 << 10, "ram", 2),
    )
    assert (divided.roles.stack, divided.roles.data) == ("ccm", "main")
    assert divided.stack_guard_bytes == board.stack_guard_bytes
    assert divided.divided() == divided


def test_parts_make_up_their_memory_on_every_board() -> None:
    for board in every_board():
        for memory in board.memories:
            assert not memory.parts or sum(part.size for part in memory.parts) == memory.size
        names = [memory.name for memory in board.divided().memories]
        assert len(set(names)) == len(names)


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ("speed = 0\n", "speed = 0 is out of range"),
        ("speed = 1.5\n", "speed must be a whole number, not 1.5"),
        (PARTS.replace("48K", "32K"), "the parts have 49152 bytes together, the memory 65536"),
        (PARTS.replace("ccm", "hot"), "'hot' means a pool of a network"),
        (PARTS.replace("ccm", "CCM"), "must be a-z, 0-9"),
        (PARTS.replace("ccm", "flash"), "'flash' is given twice"),
        (PARTS.replace('"16K"', "16380"), "must be a multiple of 32"),
        (PARTS.replace("speed = 5", "sped = 5"), "(did you mean 'speed'?)"),
        (PARTS.replace(".sram.", ".flash."), "only a memory of kind ram has parts"),
        ("\n[memories.more]\norigin = 0x6000_0000\n" + SRAM + "speed = 3\n", ""),
        (
            '\n[memories.rom]\norigin = 0x6000_0000\nsize = "1K"\nkind = "flash"\nspeed = 3\n',
            "speed is for memories of kind ram",
        ),
    ],
)
def test_what_is_wrong_is_said(more: str, expected: str, tmp_path: Path) -> None:
    if not expected:
        assert _own(tmp_path, more).memory("more").speed == 3
        return
    with pytest.raises(BoardError) as caught:
        _own(tmp_path, more)
    assert expected in str(caught.value)


def test_pools_have_sections_that_nothing_clears() -> None:
    script = render_linker_script(load_board("stm32f746").divided())
    for name in ("dtcm", "sram12"):
        assert f".pool_{name} (NOLOAD)" in script
        assert script.index(f"*(.bss.mcu_pool.{name}.*)") < script.index("__bss_start = .;")


@pytest.mark.needs_arm_gcc
def test_a_firmware_links_on_a_divided_board(tmp_path: Path) -> None:
    board = load_board("stm32f746").divided()
    symbols = symbol_values(elf := build(board, ECHO, tmp_path))
    assert symbols["__stack_limit"] == board.memory("dtcm").origin
    assert board.memory("sram12").origin <= symbols["__bss_start"] < board.memory("sram12").end
    with elf.open("rb") as stream:
        names = {section.name for section in ELFFile(stream).iter_sections()}
    assert not {name for name in names if name.startswith(".pool_")}, "none is asked for"
