"""board.toml: what loads, and what the sentences say where something is wrong."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest
from sampling import every_board

from mcu_deploy import resources
from mcu_deploy.boards import (
    Board,
    SecondCore,
    list_boards,
    load_board,
    platform_defines,
    protocol_defines,
    render_linker_script,
    startup_sources,
)
from mcu_deploy.boards.form import PinForm
from mcu_deploy.errors import BoardError

NAMES = [board.name for board in every_board()]
DEVICES = [board.name for board in every_board() if not board.is_host]

OWN = """
name = "mine"
title = "A board of my own"
core = "cortex-m4"
fpu = "fpv4-sp-d16"
mpu = true
clock_hz = 8_000_000

[memories.flash]
origin = 0x0800_0000
size = "256K"
kind = "flash"

[memories.sram]
origin = 0x2000_0000
size = 65536
kind = "ram"

[roles]
vectors = "flash"
code = "flash"
weights = "flash"
data = "sram"
stack = "sram"

[serial]
driver = "stm32_usart_v1"
base = 0x4001_1000
irq = 37
clock_hz = 8_000_000
"""


def _own(tmp_path: Path, *changes: tuple[str, str]) -> Path:
    text = OWN
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    path = tmp_path / "board.toml"
    path.write_text(text)
    return path


def _message(path: Path | str) -> str:
    with pytest.raises(BoardError) as caught:
        load_board(path)
    return str(caught.value)


def test_the_boards_that_ship_all_load_under_their_folders_name() -> None:
    boards = list_boards()
    folders = {file.parent.name for file in resources.boards().glob("*/board.toml")}
    assert {board.name for board in boards} == folders
    for board in boards:
        assert board.path.parent.name == board.name
        assert load_board(board.name) == board
        assert load_board(board.path) == board
        assert load_board(str(board.path.parent)) == board


def test_what_no_emulator_runs_is_untested() -> None:
    for board in every_board():
        runs = board.is_host or board.qemu is not None or board.renode is not None
        assert board.untested is not runs, board.name


def test_docs_list_the_boards_with_their_cores_and_memories() -> None:
    """A second pair of eyes on what is inherited: the table says it in words."""
    page = (resources.root() / "docs" / "boards.md").read_text()
    rows = dict(re.findall(r"^\| `([a-z0-9_-]+)` \| (.*\| .*\| .*\| .*) \|$", page, re.MULTILINE))
    assert list(rows) == NAMES, "docs/boards.md has a row for each, in this order"
    for board in every_board():
        core, flash, ram, runs = (cell.strip() for cell in rows[board.name].split("|"))
        places = [("QEMU", board.qemu), ("Renode", board.renode)]
        if board.is_host:
            continue
        suffix = board.core.removeprefix("cortex-m").replace("plus", "+")
        assert re.search(rf"Cortex-M{re.escape(suffix)}(?!\d)", core), board.name
        # Boot data takes 256 bytes of the RP2040's, and 8 KiB of the i.MX RT1064's.
        assert _bytes(flash) - board.memory_for("weights").size in (0, 256, 8192), board.name
        assert _bytes(ram) == board.memory_for("data").size, board.name
        named = ", ".join(name for name, target in places if target) or "nothing: untested"
        assert runs == named, board.name


def _bytes(cell: str) -> int:
    """The last size in a cell of the table."""
    number, unit = re.findall(r"(\d+) ([KM])iB", cell)[-1]
    return int(number) << {"K": 10, "M": 20}[unit]


# FLASH->ACR of the STM32 that ship; an STM32F100 has no wait states.
_WAIT_STATES = (0x4002_2000, 0x4002_3C00, 0x5200_2000)


def test_a_pin_of_an_stm32_is_pulled_up_and_has_its_function() -> None:
    steps = PinForm(0x4002_0000, 9, 7).steps()
    assert [(s.register & 0xFF, s.mask, s.value) for s in steps] == [
        (0x24, 0xF0, 0x70), (0x0C, 3 << 18, 1 << 18), (0x00, 3 << 18, 2 << 18)
    ]  # fmt: skip


def test_the_smallest_stacks(tmp_path: Path) -> None:
    board = load_board(
        _own(tmp_path, ("[roles]", "[stack]\napplication = 512\nhandler = 512\n[roles]"))
    )
    assert (board.stack_bytes, board.handler_stack_bytes) == (512, 512)


def test_wait_states_are_raised_before_the_clock() -> None:
    """The last wait of a rated clock is the one for the switch to the PLL."""
    boards = [b for b in every_board() if "stm32" in b.serial.driver and b.rated_clock_hz]
    assert len(boards) > 10
    for board in boards:
        steps = load_board(board.name, clock="rated").setup
        raised = [i for i, step in enumerate(steps) if step.register in _WAIT_STATES]
        switched = max(i for i, step in enumerate(steps) if step.kind == "wait")
        assert board.rated_clock_hz == 24_000_000 or 0 < max(raised) < switched - 1, board.name


def test_runners_are_in_the_files_order() -> None:
    board = load_board("stm32f746")
    assert [*board.runners] == ["openocd", "stlink", "jlink", "probe-rs"]
    assert board.runners["jlink"]["device"] == "STM32F746NG"
    assert "0483:374b" in board.usb


def test_a_board_is_a_value_that_nobody_changes() -> None:
    board = load_board("stm32f746")
    with pytest.raises(dataclasses.FrozenInstanceError):
        board.name = "other"  # type: ignore[misc]
    with pytest.raises(TypeError):
        board.runners["jlink"]["device"] = "other"  # type: ignore[index]


def test_the_host_has_no_memory_map() -> None:
    host = load_board("host")
    assert host.is_host and host.memories == () and host.qemu is None
    sources = {path.name for path in startup_sources(host)}
    assert sources == {"main_host.c", "platform_host.c", "fault_host.c"}
    with pytest.raises(BoardError, match="no memory map"):
        host.memory_for("weights")
    with pytest.raises(BoardError, match="without a script"):
        render_linker_script(host)


def test_own_board_defaults(tmp_path: Path) -> None:
    board = load_board(_own(tmp_path))
    assert (board.stack_bytes, board.handler_stack_bytes) == (8192, 2048)
    assert board.serial.baud == 115_200
    assert board.cflags == (
        "-mcpu=cortex-m4",
        "-mthumb",
        "-mfpu=fpv4-sp-d16",
        "-mfloat-abi=hard",
    )
    assert board.stack_guard_bytes == 64 * 1024
    assert load_board(tmp_path) == board


def test_a_second_core_brings_its_driver_and_its_stacks(tmp_path: Path) -> None:
    one = load_board(_own(tmp_path))
    assert one.second_core is None
    two = load_board(
        _own(tmp_path, ("[roles]", '[second_core]\ndriver = "sse200"\nhandler = "1K"\n\n[roles]'))
    )
    assert two.second_core == SecondCore("sse200", 8192, 1024)
    more = [path.name for path in startup_sources(two)[len(startup_sources(one)) :]]
    assert more == ["second_core.c", "sse200.c"]
    assert set(platform_defines(two)) - set(platform_defines(one)) == {
        "-DMCU_BOARD_HAS_SECOND_CORE=1",
        "-DMCU_SECOND_CORE_STACK_BYTES=8192u",
        "-DMCU_SECOND_CORE_HANDLER_STACK_BYTES=1024u",
    }


@pytest.mark.parametrize(
    ("core", "lines", "flags"),
    [
        ("cortex-m0plus", 'fpu = "none"', "-mcpu=cortex-m0plus -mthumb -mfloat-abi=soft"),
        ("cortex-m4", 'fpu = "none"', "-mcpu=cortex-m4 -mthumb -mfloat-abi=soft"),
        (
            "cortex-m33",
            'fpu = "fpv5-sp-d16"\ndsp = true',
            "-mcpu=cortex-m33 -mthumb -mfpu=fpv5-sp-d16 -mfloat-abi=hard",
        ),
        (
            "cortex-m33",
            'fpu = "none"\ndsp = false',
            "-mcpu=cortex-m33+nodsp+nofp -mthumb -mfloat-abi=soft",
        ),
        (
            "cortex-m55",
            'fpu = "fp-armv8-d16"\nmve = false',
            "-mcpu=cortex-m55+nomve -mthumb -mfpu=auto -mfloat-abi=hard",
        ),
    ],
)
def test_compiler_flags_follow_from_the_core(
    tmp_path: Path, core: str, lines: str, flags: str
) -> None:
    path = _own(tmp_path, ("cortex-m4", core), ('fpu = "fpv4-sp-d16"', lines))
    assert " ".join(load_board(path).cflags) == flags


def test_a_small_buffer_makes_small_messages(tmp_path: Path) -> None:
    assert protocol_defines(load_board(_own(tmp_path))) == ()
    board = load_board(_own(tmp_path, ("irq = 37", 'irq = 37\nbuffer = "2K"')))
    flags = ("-DMCU_SERIAL_RING_BYTES=2048u", "-DMCU_PROTOCOL_MTU=512u")
    assert protocol_defines(board) == flags
    assert set(flags) < set(platform_defines(board))


def test_own_compiler_flags_replace_the_derived_ones(tmp_path: Path) -> None:
    flags = 'cflags = ["-march=armv8.1-m.main+mve.fp+fp.dp", "-mthumb", "-mfloat-abi=hard"]\n'
    path = _own(
        tmp_path,
        ('"cortex-m4"', '"cortex-m85"'),
        ('fpu = "fpv4-sp-d16"\n', 'fpu = "fp-armv8-d16"\nmve = true\n' + flags),
    )
    assert load_board(path).cflags[0] == "-march=armv8.1-m.main+mve.fp+fp.dp"


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("clock_hz = 8_000_000\n\n", "clok_hz = 8_000_000\n\n", "did you mean 'clock_hz'?"),
        (
            'kind = "ram"',
            'kind = "ram"\nspede = 1',
            "'spede' in [memories.sram] (did you mean 'speed'?)",
        ),
        (
            "irq = 37",
            "irq = 37\nparity = 1",
            "it has the unknown key 'parity' in [serial] (known here: driver",
        ),
        ('size = "256K"', 'size = "256KB"', 'size must be a size such as 8192 or "512K"'),
        ('size = "256K"', "size = 0", "size = 0 is out of range"),
        ('size = "256K"', "size = -1", "size = -1 is out of range"),
        ('size = "256K"', "size = 1.5", "not 1.5"),
        ('size = "256K"', "size = true", "not True"),
        ("origin = 0x0800_0000", "origin = 0x0800_0001", "multiple of 16"),
        ("origin = 0x0800_0000", "origin = 0x1_0000_0000", "out of range"),
        ("origin = 0x0800_0000", "origin = 0xFFFF_0000", "beyond 4 GiB"),
        ("origin = 0x2000_0000", "origin = 0x0800_0000", "flash and sram overlap"),
        ("origin = 0x0800_0000", "origin = 0x0800_0010", "a vector table needs a multiple"),
        ('kind = "ram"', 'kind = "rom"', "kind = 'rom' is not known; did you mean 'ram'?"),
        ('data = "sram"', 'data = "flash"', "no memory of kind ram; known here: sram"),
        ('code = "flash"', 'code = "flsh"', "did you mean 'flash'?"),
        ('core = "cortex-m4"', 'core = "cortex-m44"', "did you mean 'cortex-m4'?"),
        ('core = "cortex-m4"', 'core = "cortex-m3"', "does not exist on a cortex-m3"),
        ('core = "cortex-m4"', 'core = "cortex-m4"\nmve = true', "a cortex-m4 never has it"),
        ('core = "cortex-m4"', 'core = "cortex-m4"\ndsp = false', "always has it"),
        ('driver = "stm32_usart_v1"', 'driver = "stm32_usart"', "did you mean 'stm32_usart_v"),
        ("irq = 37", "irq = 480", "it must be 0 to 479"),
        ("irq = 37", "irq = 37\nbaud = 1_000_000", "too fast"),
        ("irq = 37", "irq = 37\nbuffer = 1000", "a power of two from 1024 on"),
        ("mpu = true", "mpu = 1", "mpu must be true or false"),
        ('name = "mine"', 'name = "My Board"', "a-z, 0-9"),
        ('name = "mine"', "name = 'a\"; rm'", "a-z, 0-9"),
        ('title = "A board of my own"', 'title = "a\\nb"', "control characters"),
        ('title = "A board of my own"', 'title = "a\\u007fb"', "control characters"),
        ("[memories.sram]", "[memories.'a b']", "must be a-z, 0-9 and '_'"),
        (
            "[roles]",
            "[runners.jtag]\n[roles]",
            "the unknown key 'jtag' in [runners] (known here: g",
        ),
        ("[roles]", "[runners.pyocd]\n[roles]", "the key 'target' in [runners.pyocd] is missing"),
        (
            "[roles]",
            '[runners.openocd]\nconfig = "a"\ntarget = "b"\n[roles]',
            "'target' in [runners.openocd] (known here: config, commands)",
        ),
        ("mpu = true", 'mpu = true\nusb = ["483:374B"]', "'483:374b' is no vendor and product id"),
        (
            "[roles]",
            "[emulators.qemu]\n[roles]",
            "the key 'machine' in [emulators.qemu] is missing",
        ),
        ("[roles]", "[stack]\napplication = 480\n[roles]", "at least 512 and a multiple of 32"),
        ("[roles]", '[stack]\napplication = "1M"\n[roles]', "sram has 65536"),
        ("[roles]", '[second_core]\ndriver = "sse20"\n[roles]', "did you mean 'sse200'?"),
        ("[roles]", "[second_core]\n[roles]", "the key 'driver' in [second_core] is missing"),
        ("[roles]", '[second_core]\ndriver = "sse200"\nhandler = 100\n[roles]', "multiple of 32"),
        ("[roles]", "[roles", "is not valid TOML"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, old: str, new: str, expected: str) -> None:
    message = _message(_own(tmp_path, (old, new)))
    assert expected in message
    assert "board.toml" in message
    assert message.endswith((".", "?")) and not message.endswith("?.")


def test_all_keys_that_are_missing_or_unknown_are_named_at_once(tmp_path: Path) -> None:
    """A key that is there is not proposed for another, and one that is absent is."""
    message = _message(_own(tmp_path, ('fpu = "fpv4-sp-d16"\n', "")))
    page = resources.page("boards")
    assert message.endswith(
        f"board.toml: the key 'fpu' is missing. {page} says what each key means."
    )
    path = _own(
        tmp_path,
        ('title = "A board of my own"\n', ""), ('"cortex-m4"', '"cortex-m33"'), ("mpu", "mppu"),
        ("irq = 37\n", "interrupt = 37\n"), ('[roles]\nvectors = "flash"\n', "[roles]\n"),
        ("[memories.sram]", "[memories.sram]\ncolour = 3"),
    )  # fmt: skip
    message = _message(path)
    missing, _, unknown = message.partition(", and it has the unknown keys ")
    for key in ("'title'", "'mpu'", "'dsp'", "'vectors' in [roles]", "'irq' in [serial]"):
        assert key in missing, message
    assert "'fpu'" not in message
    for key in ("'mppu' (did you mean 'mpu'?)", "'interrupt' in [serial] (", "'colour' in"):
        assert key in unknown, message
    (tmp_path / "board.toml").write_text('name = "mine"\ncore = "cortex-m4"\n')
    message = _message(tmp_path)
    assert all(f"[{table}]" in message for table in ("memories", "roles", "serial"))
    (tmp_path / "board.toml").write_text("")
    assert "'core'" in _message(tmp_path)
    path = _own(tmp_path, ("[memories.sram]", "[[roms]]\n[memories.sram]"))
    assert "the unknown key 'roms'" in _message(path)
    path = _own(tmp_path, ('name = "mine"', 'name = "mine"\nxx = 1\nqqq = 2\nzzz = 3'))
    message = _message(path)
    assert "'xx' (known here: name, title," in message and "'qqq', 'zzz'." in message
    assert message.count("known here") == 1


def test_missing_and_unknown_boards(tmp_path: Path) -> None:
    message = _message("stm32f764")
    assert "did you mean 'stm32f746'?" in message
    assert all(name in message for name in NAMES)
    message = _message("nothing-of-the-kind")
    assert all(name in message for name in NAMES)
    assert "does not exist" in _message(tmp_path / "none.toml")
    assert "does not exist" in _message(str(tmp_path / "none.toml"))
    assert "no board called ''" in _message("")
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe\x00")
    assert "is not valid TOML" in _message(tmp_path / "binary.toml")


def test_a_folder_is_found_by_its_bare_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where no board that ships is called so."""
    for name in ("mine", "stm32f746"):
        (tmp_path / name).mkdir()
        _own(tmp_path / name)
    monkeypatch.chdir(tmp_path)
    assert load_board("mine").path == Path("mine/board.toml")
    assert load_board("stm32f746").path.is_relative_to(resources.boards())
    monkeypatch.chdir(tmp_path / "mine")
    assert "no board called ''" in _message("")


def test_the_guard_is_no_larger_than_its_alignment(tmp_path: Path) -> None:
    path = _own(tmp_path, ("origin = 0x2000_0000", "origin = 0x1FFF_F000"))
    assert load_board(path).stack_guard_bytes == 4096
    path = _own(tmp_path, ("mpu = true", "mpu = false"))
    assert load_board(path).stack_guard_bytes == 0
    assert load_board("mps3-an547").stack_guard_bytes == 0  # PSPLIM


@pytest.mark.parametrize("name", DEVICES)
def test_defines_and_script_say_what_the_toml_says(name: str) -> None:
    board = load_board(name)
    defines = platform_defines(board)
    assert f'-DMCU_BOARD_NAME="{name}"' in defines
    assert f"-DMCU_SERIAL_BASE={board.serial.base:#x}u" in defines
    assert all(path.is_file() for path in startup_sources(board))
    script = render_linker_script(board)
    for memory in board.memories:
        assert f"ORIGIN = {memory.origin:#010x}, LENGTH = {memory.size}" in script
    assert "{{" not in script and "{%" not in script


def test_every_number_of_a_board_file_has_a_source() -> None:
    """Each table with an address in it carries a comment."""
    chips = sorted((resources.boards() / "chips").glob("*.toml"))
    for path in [*(board.path for board in every_board()), *chips]:
        text = path.read_text()
        assert text.startswith("#"), path
        for table in text.split("\n[")[1:]:
            if "origin" in table or "base =" in table:
                assert "#" in table, f"{path}: [{table.splitlines()[0]}"


def test_common_folder_is_no_board() -> None:
    assert (resources.boards() / "common" / "link.ld.j2").is_file()
    assert "common" not in [board.name for board in list_boards()]
    assert isinstance(load_board("host"), Board)
