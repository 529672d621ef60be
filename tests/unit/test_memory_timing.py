"""How memories answer: what board files say of it, and what backends are told."""

from __future__ import annotations

from pathlib import Path

import pytest
from sampling import every_board

from mcu_deploy import resources
from mcu_deploy.backends.quantized.loops import loop_bytes
from mcu_deploy.boards import load_board, load_core
from mcu_deploy.choose.target import target_of
from mcu_deploy.errors import BoardError
from mcu_deploy.memory_timing import AT_ONCE, USUAL_FLASH, Cache, slower
from mcu_deploy.options import Options

FLASH = """
[memories.ssram1.timing]
wait_states = 3
read_bytes = 16
prefetch = true
source = "a manual"
instruction_cache = { lines = 64, line_bytes = 16, policy = "lru" }
data_cache = { lines = 8, line_bytes = 16, ways = 2, policy = "random" }
"""
RATED = """
[rated]
clock_hz = 100_000_000
serial_clock_hz = 50_000_000
setup = []
[rated.timing.ssram1]
wait_states = 7
"""


def _board(folder: Path, text: str) -> Path:
    path = folder / "board.toml"
    path.write_text(f'inherits = "mps2-an386"\nname = "mine"\n{text}')
    return path


def test_a_board_says_how_a_memory_answers(tmp_path: Path) -> None:
    timing = load_board(_board(tmp_path, FLASH)).memory("ssram1").timing
    assert timing is not None
    assert (timing.wait_states, timing.read_bytes, timing.prefetch) == (3, 16, True)
    assert timing.instruction_cache == Cache(64, 16, 64, "lru")  # without ways: in any line
    assert timing.data_cache == Cache(8, 16, 2, "random")
    assert timing.data_cache.bytes == 128
    assert timing.source == "a manual" and not timing.unified


def test_the_rated_clock_has_wait_states_of_its_own(tmp_path: Path) -> None:
    path = _board(tmp_path, FLASH + RATED)
    at_reset, rated = load_board(path).memory("ssram1"), load_board(path, "rated").memory("ssram1")
    assert at_reset.timing is not None and rated.timing is not None
    assert (at_reset.timing.wait_states, rated.timing.wait_states) == (3, 7)
    assert rated.timing.data_cache == at_reset.timing.data_cache
    assert at_reset.rated_timing == rated.rated_timing == rated.timing


def test_one_cache_may_serve_code_and_data(tmp_path: Path) -> None:
    text = FLASH.partition("instruction_cache")[0]
    text += 'cache = { lines = 2048, line_bytes = 8, ways = 2, policy = "unknown" }'
    timing = load_board(_board(tmp_path, text)).memory("ssram1").timing
    assert timing is not None and timing.unified
    assert timing.instruction_cache == timing.data_cache == Cache(2048, 8, 2, "unknown")


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("wait_states = 3", "wait_states = -1", "wait_states = -1 is out of range"),
        ("read_bytes = 16", "read_bytes = 12", "read_bytes = 12 must be a power of two"),
        ("ways = 2", "ways = 3", "lines = 8 must be a multiple of ways = 3"),
        ("ways = 2", "ways = 9", "ways = 9 is out of range; it must be 1 to 8"),
        ('"random"', '"fifo"', "policy = 'fifo' is not known"),
        ("lines = 64, ", "", "'lines' in [memories.ssram1.timing.instruction_cache]"),
        ("prefetch = true", "prefetch = 1", "prefetch must be true or false, not 1"),
        ("prefetch", "prefetches", "did you mean 'prefetch'?"),
        ('source = "a manual"', 'source = ""', "source must be a text in quotes"),
        ("prefetch = true", "cache = { lines = 1, line_bytes = 8, policy = 'lru' }", "leave out"),
        ("wait_states = 7", "wait_states = 7\n[rated.timing.flash]", "no memory called 'flash'"),
        ("wait_states = 7", "waits = 7", "did you mean 'wait_states'?"),
    ],
)
def test_what_no_memory_can_be_is_refused(
    old: str, new: str, expected: str, tmp_path: Path
) -> None:
    assert old in FLASH + RATED
    path = _board(tmp_path, (FLASH + RATED).replace(old, new))
    with pytest.raises(BoardError) as caught:
        load_board(path)
    assert expected in str(caught.value)


def test_backends_are_told_of_the_memory_of_code_and_constants(tmp_path: Path) -> None:
    """At the rated clock, whatever the start-up sets: the object is for the chip."""
    path = _board(tmp_path, FLASH + RATED)
    for clock in ("reset", "rated"):
        memory = target_of(load_board(path, clock), Options()).memory
        assert memory is not None and memory.wait_states == 7
    assert target_of(load_core("cortex-m4"), Options()).memory == USUAL_FLASH
    assert target_of(load_board("host"), Options()).memory == AT_ONCE
    divided = _board(tmp_path, '[memories.slow]\norigin = 0x1000_0000\nsize = "1M"\nkind = "flash"')
    divided.write_text(divided.read_text() + '\n[roles]\nweights = "slow"\n')
    assert target_of(load_board(divided), Options()).memory is None  # not known of all of it


def test_wait_states_can_be_asked_for(tmp_path: Path) -> None:
    board, core = load_board(_board(tmp_path, FLASH)), load_core("cortex-m4")
    for processor in (board, core):
        assert target_of(processor, Options(flash_wait=0)).memory == AT_ONCE
    waiting = target_of(board, Options(flash_wait=2)).memory
    assert waiting is not None and (waiting.wait_states, waiting.read_bytes) == (2, 16)
    assert waiting.instruction_cache == Cache(64, 16, 64, "lru")
    at_once = target_of(load_board("mps2-an386"), Options(flash_wait=5)).memory
    assert at_once == USUAL_FLASH  # an emulated board says nothing of a flash


def test_emulated_boards_answer_at_once() -> None:
    for board in (b for b in every_board() if b.name.startswith("mps")):
        memory = target_of(board, Options()).memory
        assert memory is not None and memory.answers_at_once, board.name


@pytest.mark.parametrize(
    ("lines", "fits"),
    [(64, 896), (16, 224), (15, None)],  # the last is of 240 bytes: a buffer, which no loop fits
)
def test_loops_fit_the_cache_that_they_run_from(
    lines: int, fits: int | None, tmp_path: Path
) -> None:
    path = _board(tmp_path, FLASH.replace("lines = 64", f"lines = {lines}"))
    assert loop_bytes(target_of(load_board(path), Options())) == fits
    assert loop_bytes(target_of(load_board(path), Options(flash_wait=0))) is None


def test_no_loop_is_kept_short_for_a_cache_of_two_lines() -> None:
    target = target_of(load_board("nucleo_g0b1re"), Options())
    assert target.memory is not None and target.memory.instruction_cache is not None
    assert loop_bytes(target) is None


# FLASH->ACR of the STM32 that ship: its address, and where it has PRFTEN.
_ACR = {0x4002_2000: 0x100, 0x4002_3C00: 0x100, 0x5200_2000: 0}
_AXI_DIVIDES = {"nucleo_h753zi": 2}  # the flash's clock is the core's, but for the STM32H7


def test_what_the_steps_write_is_what_is_stated() -> None:
    boards = [b for b in every_board() if "stm32" in b.serial.driver and b.rated_clock_hz]
    written = 0
    for board in (load_board(b.name, "rated") for b in boards):
        timing = board.memory_for("code").timing
        assert timing is not None, board.name
        for step in board.setup:
            if step.kind != "change" or step.register not in _ACR:
                continue
            cycles = _AXI_DIVIDES.get(board.name, 1) * ((step.value & 0xF) + 1)
            assert timing.wait_states == cycles - 1, board.name
            prefetch = _ACR[step.register] if board.core != "cortex-m3" else 0x10
            # An STM32F7 has it on another interface than the one that code is read by.
            on = bool(step.value & prefetch) and board.core != "cortex-m7"
            assert timing.prefetch is on, board.name
            written += 1
    assert written > 10


def test_caches_that_are_stated_are_on() -> None:
    for board in (b for b in every_board() if b.core in ("cortex-m7", "cortex-m85")):
        for memory in board.memories:
            caches = memory.timing is not None and memory.timing.data_cache is not None
            assert not caches or board.caches, board.name


def test_the_example_of_the_docs_is_an_stm32f4(tmp_path: Path) -> None:
    page = (resources.root() / "docs" / "boards.md").read_text()
    section = page.partition("### How memories answer")[2]
    text = section.partition("```toml\n")[2].partition("```")[0]
    path = tmp_path / "board.toml"
    path.write_text(f'inherits = "netduinoplus2"\n{text}')
    ours, chip = load_board(path).memory("flash"), load_board("netduinoplus2").memory("flash")
    assert (ours.timing, ours.rated_timing) == (chip.timing, chip.rated_timing)
    assert ours.rated_timing == USUAL_FLASH


@pytest.mark.parametrize("slow", ["itcm", "sram"])
def test_of_code_and_weights_the_slower_memory_counts(slow: str, tmp_path: Path) -> None:
    text = FLASH.replace("ssram1", slow)
    path = tmp_path / "board.toml"
    path.write_text(f'inherits = "mps3-an547"\nname = "mine"\n{text}')
    board = load_board(path)
    assert {board.memory_for("code").name, board.memory_for("weights").name} == {"itcm", "sram"}
    memory = target_of(board, Options()).memory
    assert memory is not None and memory.wait_states == 3
    assert slower(None, AT_ONCE) is None and slower(AT_ONCE, None) is None
