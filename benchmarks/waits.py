"""Cycles with wait states: one image, counted for each flash that it may lie in.

Of builds for NUCLEO-L4R5ZI and for the STM32F746; both run on QEMU's machine of their core
(docs/costs.md, Time on a board). RAM is the board's own throughout. Columns of table.csv:

- l4r5: the L4R5 at 120 MHz as our start-up sets it, in dual bank: reads of 8 bytes, prefetch on.
- l4r5_no_prefetch: the same without prefetch, as the tools of MLPerf Tiny leave it.
- f407: the flash of the STM32F407 at 168 MHz: reads of 16 bytes, prefetch on.
- f746_axi: the F746 at 216 MHz as our start-up sets it: by AXI, behind the core's caches.
- f746_itcm: the same flash at its other address, by the core's interface for coupled memory, behind
  ST's accelerator: 64 lines of 32 bytes and prefetch. No manual was read that says whether it keeps
  data as well as code, and which line makes room: it is taken to keep both, like an LRU cache.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from mcu_deploy.api.folder import BuildFolder
from mcu_deploy.boards import Board, load_board
from mcu_deploy.device.counting import Counts, count_instructions
from mcu_deploy.device.modelling import BoardTime, model_cycles, model_time
from mcu_deploy.device.waiting import memory_lines
from mcu_deploy.memory_timing import Cache, MemoryTiming
from mcu_deploy.toolchain.stand_in import link_stand_in

COLUMNS = ("l4r5", "l4r5_no_prefetch", "f407", "f746_axi", "f746_itcm")
L4R5, F746 = "nucleo_l4r5zi", "stm32f746"
BOARDS = (L4R5, F746)
# What published.csv calls their cores and them.
TIMED_ON = {L4R5: ("cortex-m4", "NUCLEO-L4R5ZI"), F746: ("cortex-m7", "DISCO-F746NG")}


@dataclass(frozen=True)
class Measured:
    """An inference: instructions, modelled cycles without wait states, and the time with them."""

    counts: Counts
    cycles: int
    time: BoardTime


def flash_of(board: str) -> MemoryTiming:
    """How a board's flash answers at its rated clock."""
    timing = load_board(board).memory("flash").rated_timing
    assert timing is not None, f"{board} has no timing"
    return timing


def board_of(column: str) -> str:
    """For which builds are made that are counted with a flash."""
    return next(board for board in BOARDS if column in flashes(board))


def milliseconds(cycles: float, board: str) -> float:
    """At the clock that a board is rated for."""
    clock_hz = load_board(board).rated_clock_hz
    assert clock_hz is not None, f"{board} has no rated clock"
    return 1000 * cycles / clock_hz


def no_prefetch() -> MemoryTiming:
    """The L4R5's flash where nobody turns the prefetch on."""
    return replace(flash_of(L4R5), prefetch=False)


def flashes(board: str) -> Mapping[str, MemoryTiming]:
    """By column: the flashes that a build for a board is counted with."""
    own = flash_of(board)
    if board == L4R5:
        return {"l4r5": own, "l4r5_no_prefetch": no_prefetch(), "f407": flash_of("stm32f407")}
    art = Cache(64, 32, 64, "unknown")
    itcm = replace(own, instruction_cache=art, data_cache=art, unified=True, prefetch=True)
    return {"f746_axi": own, "f746_itcm": itcm}


def with_flash(board: Board, timing: MemoryTiming) -> Board:
    """The board with a flash that answers so at the clock that it is rated for."""
    memories = (replace(m, rated_timing=timing) if m.kind == "flash" else m for m in board.memories)
    return replace(board, memories=tuple(memories))


def measure(target: Board, elf: Path) -> Measured:
    """Counts the second run of an image on a board that QEMU has."""
    counts = count_instructions(
        target, elf, by_address=True, memories=memory_lines(target, elf), timeout=600
    )
    cycles = model_cycles(target, elf, counts)
    assert not isinstance(cycles, str), cycles
    return Measured(counts, cycles.total, model_time(target, counts, cycles).total)


def measure_build(folder: BuildFolder, scratch: Path) -> Mapping[str, Measured]:
    """By column: a build for one of BOARDS; scratch: an empty folder for the image."""
    made = link_stand_in(folder.directory, folder.board, [folder.networks[0].name], scratch)
    assert not isinstance(made, str), made
    return {
        column: measure(with_flash(made.board, timing), made.image)
        for column, timing in flashes(folder.board.name).items()
    }
