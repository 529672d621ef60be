"""Boards that inherit, that bring files of their own, and that set registers up."""

from __future__ import annotations

from pathlib import Path

import pytest
from device.faults.firmware import ECHO, build
from elftools.elf.elffile import ELFFile
from unit.test_boards import OWN

from mcu_deploy import resources
from mcu_deploy.boards import Board, SetupStep, load_board, platform_defines, startup_sources
from mcu_deploy.errors import BoardError

USART1_ON = "{ register = 0x4002_3844, set = 0x10 }"


def _board(folder: Path, text: str, name: str = "board.toml") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def _message(path: Path) -> str:
    with pytest.raises(BoardError) as caught:
        load_board(path)
    return str(caught.value)


def test_a_board_of_two_lines_differs_from_its_relative_in_these(tmp_path: Path) -> None:
    lines = 'inherits = "netduinoplus2"\nname = "mine"\nserial.baud = 9600\n'
    mine, relative = load_board(_board(tmp_path, lines)), load_board("netduinoplus2")
    assert (mine.name, mine.serial.baud) == ("mine", 9600)
    assert mine.serial.setup == relative.serial.setup != ()
    assert (mine.memories, mine.roles, mine.title) == (
        relative.memories, relative.roles, relative.title,
    )  # fmt: skip


def test_lists_replace_what_is_inherited(tmp_path: Path) -> None:
    lines = f'inherits = "netduinoplus2"\n[serial]\nsetup = [{USART1_ON}]\npins = []\n'
    assert load_board(_board(tmp_path, lines)).serial.setup == (
        SetupStep("change", 0x4002_3844, 0x10, 0x10),
    )


def test_a_file_beside_it_is_inherited_by_its_name(tmp_path: Path) -> None:
    _board(tmp_path, OWN, "chip.toml")
    (tmp_path / "boards").mkdir()
    path = _board(tmp_path / "boards", 'inherits = "../chip.toml"\nclock_hz = 1_000_000\n')
    assert load_board(path).clock_hz == 1_000_000


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ('inherits = "board.toml"', "inherits from itself or too deeply"),
        ('inherits = "other.toml"', "other.toml does not exist"),
        ('inherits = "netduinoplus"', "did you mean 'netduinoplus2'?"),
        ("inherits = 3", "inherits must be a text in quotes, not 3"),
        ('inherits = "netduinoplus2"\nserial.driver = "mine.c"', "nor a C file beside the board"),
        ('inherits = "netduinoplus2"\nserial.driver = "own"', 'write driver = "own.c"'),
        ('inherits = "netduinoplus2"\nboot = ["x"]', "boot = 'x' is neither one of mcu-deploy's"),
        ('inherits = "mps2-an386"\nclock = "rated"', "needs a table [rated]"),
        ('inherits = "mps2-an386"\nclock = "full"', "'full' is not known"),
        ('inherits = "mps2-an386"\ncaches = true', "caches: a cortex-m4 has none"),
        ('inherits = "mps2-an386"\nsetup = [{ register = 4 }]', "this one has none of them"),
        ('inherits = "mps2-an386"\nsetup = [{ register = 4, set = 1, value = 2 }]', "set, value"),
        ('inherits = "mps2-an386"\nsetup = [{ register = 4, bits = 9, set = 1 }]', "8, 16 or 32"),
        ('inherits = "mps2-an386"\nsetup = [{ register = 4, mask = 1, equals = 2 }]', "not end"),
        ('inherits = "mps2-an386"\nsetup = [{ register = 4, bits = 8, set = 256 }]', "set = 256"),
        ('inherits = "mps2-an386"\nsetup = [{ register = 2, set = 1 }]', "a multiple of 4"),
    ],
)
def test_what_is_wrong_is_said(line: str, expected: str, tmp_path: Path) -> None:
    (tmp_path / "own.c").touch()
    assert expected in _message(_board(tmp_path, line + "\n"))


def _own_files(folder: Path) -> Path:
    """A board with its driver, its boot data and a vector table behind these."""
    serial = resources.boards() / "common" / "serial" / "stm32_usart_v1.c"
    (folder / "mine.c").write_text(serial.read_text())
    (folder / "header.c").write_text(
        "#include <stdint.h>\n"
        '__attribute__((section(".boot.header"), used)) static const uint32_t header[] = {77};\n'
        '__attribute__((section(".boot.flash"), used)) static const uint32_t behind[] = {78};\n'
    )
    text = OWN.replace('"stm32_usart_v1"', '"mine.c"').replace("0x0800_0000", "0x0800_0400")
    text = f"""boot = ["header.c"]
setup = [{{ register = 0x4000_0000, bits = 16, value = 0xAAAA }}]
{text}
[memories.header]
origin = 0x0800_0000
size = 1024
kind = "flash"

[rated]
clock_hz = 64_000_000
serial_clock_hz = 32_000_000
setup = [{USART1_ON}, {{ register = 0x4002_1004, mask = 0xC, equals = 0x8 }}]
"""
    return _board(folder, text)


def _data(elf: Path, section: str) -> tuple[int, bytes]:
    with elf.open("rb") as stream:
        found = ELFFile(stream).get_section_by_name(section)
        assert found is not None
        return found["sh_addr"], found.data()


@pytest.mark.needs_arm_gcc
def test_the_board_of_the_docs_links(tmp_path: Path) -> None:
    page = (resources.root() / "docs" / "boards.md").read_text()
    board = load_board(_board(tmp_path, page.partition("```toml\n")[2].partition("```")[0]))
    assert board.title == "Our STM32F405 board"
    assert board.serial.setup[-1] == SetupStep(
        "change", 0x4002_0000, 3 << 20, 2 << 20
    )  # PA10's MODER
    build(board, ECHO, tmp_path / "out")


@pytest.mark.needs_arm_gcc
def test_files_of_its_own_are_linked_where_they_belong(tmp_path: Path) -> None:
    board = load_board(_own_files(tmp_path))
    assert {tmp_path / "mine.c", tmp_path / "header.c"} < set(startup_sources(board))
    elf = build(board, ECHO, tmp_path / "out")
    assert _data(elf, ".boot_header") == (0x0800_0000, (77).to_bytes(4, "little"))
    start, vectors = _data(elf, ".vectors")
    assert start == 0x0800_0400
    assert vectors[-4:] == (78).to_bytes(4, "little")


def test_the_rated_clock_is_asked_for(tmp_path: Path) -> None:
    path = _own_files(tmp_path)
    reset, rated = load_board(path), load_board(path, clock="rated")
    assert (reset.clock_hz, reset.serial.clock_hz) == (8_000_000, 8_000_000)
    assert (rated.clock_hz, rated.serial.clock_hz) == (64_000_000, 32_000_000)
    assert reset.setup == (SetupStep("write", 0x4000_0000, 0xFFFF, 0xAAAA, 16),)
    assert rated.setup == (
        *reset.setup,
        SetupStep("change", 0x4002_3844, 0x10, 0x10),
        SetupStep("wait", 0x4002_1004, 0xC, 0x8),
    )
    steps = "{0x40000000u,0xffffu,0xaaaau,16,MCU_STEP_WRITE}"
    assert f"-DMCU_BOARD_SETUP={steps}" in platform_defines(reset)


def test_copies_of_a_board_are_the_same_board(tmp_path: Path) -> None:
    """What a build keeps of a board: one file without parents, and those that it names."""
    (tmp_path / "chip").mkdir()
    _own_files(tmp_path / "chip")
    path = _board(tmp_path, 'inherits = "chip/board.toml"\nclock = "rated"\ntitle = "Ä \\" b"\n')
    original = load_board(path)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    copies = original.document.copies()
    assert set(copies) == {"board.toml", "mine.c", "header.c"}
    for name, content in copies.items():
        (elsewhere / name).write_bytes(content)
    copy = load_board(elsewhere / "board.toml")

    def plain(board: Board) -> str:
        return repr(board).replace(str(tmp_path / "chip"), "").replace(str(elsewhere), "")

    assert plain(copy) == plain(original)
    assert [p.name for p in startup_sources(copy)] == [p.name for p in startup_sources(original)]


def test_a_shipped_board_is_found_by_its_name_unless_it_was_changed() -> None:
    board = load_board("netduinoplus2")
    assert board.document.is_shipped
    assert load_board("netduinoplus2", clock="reset").document.with_clock("rated").is_shipped is (
        False
    )
