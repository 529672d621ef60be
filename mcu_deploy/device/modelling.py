"""The cycles of one inference, modelled by what was executed how often."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from mcu_deploy.backends.isa.timing import TIMINGS, Program
from mcu_deploy.boards import Board
from mcu_deploy.device.counting import Counts
from mcu_deploy.elf.disassembly import code_ranges, disassemble
from mcu_deploy.elf.reader import load_elf


@dataclass(frozen=True)
class ModelledCycles:
    """Cycles of a run without a hook, and of each layer by its index, on the core that runs the
    network. core: whose timings they are, which may stand for another's; zero wait states."""

    total: int
    layers: tuple[int, ...]
    core: str


def model_cycles(board: Board, bench_elf: Path, counts: Counts) -> ModelledCycles | str:
    """The cycles of what was counted on bench.elf; or a clause that says why there are none."""
    timings = TIMINGS.get(board.core)
    if timings is None:
        return f"there are no timings of the {board.core}"
    if not counts.by_address:
        return f"{counts.emulator} does not count by address"
    ranges, _ = code_ranges(load_elf(bench_elf.resolve()))
    thumb = [piece for piece in ranges if piece.state == "t"]
    program = Program(timings, (instruction for _, instruction in disassemble(thumb)))
    try:
        layers = tuple(program.cycles(layer) for layer in counts.layers_by_address)
        return ModelledCycles(program.cycles(counts.by_address), layers, timings.core)
    except ValueError as error:
        return str(error)
