"""The cycles of one inference, modelled by what was executed how often, and its time on a board, by
how long its memories let the core wait."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from mcu_deploy.backends.isa.blocks import Blocks
from mcu_deploy.backends.isa.models import MODELS
from mcu_deploy.backends.isa.single_blocks import SingleBlocks
from mcu_deploy.backends.isa.table_blocks import TableBlocks
from mcu_deploy.backends.isa.table_pipeline import COLUMNS
from mcu_deploy.backends.isa.vector_blocks import VectorBlocks
from mcu_deploy.boards import Board
from mcu_deploy.device.counting import Counts, Waiting
from mcu_deploy.elf.disassembly import code_ranges, disassemble
from mcu_deploy.elf.reader import Elf, load_elf

_BLOCKS: tuple[type[Blocks], ...] = Blocks, SingleBlocks, VectorBlocks


@dataclass(frozen=True)
class ModelledCycles:
    """Cycles of a run without a hook, and of each layer by its index, on the core that runs the
    network. core: whose timings they are, which may stand for another's; zero wait states."""

    total: int
    layers: tuple[int, ...]
    core: str


@dataclass(frozen=True)
class BoardTime:
    """Of a run or a layer: the cycles with those that the core waits for its memories, and how many
    of them it waits for code, and for data; at a clock in hertz."""

    cycles: int
    code: int
    data: int
    clock_hz: int

    @property
    def milliseconds(self) -> float:
        return 1000 * self.cycles / self.clock_hz

    @property
    def code_share(self) -> float:
        """The part of the cycles in which the core waits for code."""
        return self.code / self.cycles if self.cycles else 0.0

    @property
    def data_share(self) -> float:
        """The part of the cycles in which the core waits for data."""
        return self.data / self.cycles if self.cycles else 0.0


@dataclass(frozen=True)
class ModelledTime:
    """Of a run without a hook, and of each layer by its index. assumed: the memories that are taken
    to answer at once, because nobody says how they do."""

    total: BoardTime
    layers: tuple[BoardTime, ...]
    assumed: tuple[str, ...] = ()


def model_cycles(board: Board, bench_elf: Path, counts: Counts) -> ModelledCycles | str:
    """The cycles of what was counted on bench.elf; or a clause that says why there are none."""
    if board.core not in MODELS:
        return f"there are no timings of the {board.core}"
    if not counts.by_address:
        return f"{counts.emulator} does not count by address"
    program = program_of(board.core, load_elf(bench_elf.resolve()))
    try:
        layers = tuple(program.cycles(layer) for layer in counts.layers_by_address)
        return ModelledCycles(program.cycles(counts.by_address), layers, program.core)
    except ValueError as error:
        return str(error)


def program_of(core: str, elf: Elf) -> Blocks:
    """The code of an image, by the model of a core that has one."""
    ranges, _ = code_ranges(elf)
    thumb = [piece for piece in ranges if piece.state == "t"]
    code = (instruction for _, instruction in disassemble(thumb))
    if core in COLUMNS:
        return TableBlocks(core, code)
    of = next(kind for kind in _BLOCKS if kind.core == MODELS[core].core)
    return of(code)


def model_time(
    board: Board, counts: Counts, modelled: ModelledCycles, assumed: tuple[str, ...] = ()
) -> ModelledTime:
    """The time of what was counted, at the clock that the board is rated for. Where nobody followed
    the memories, each of them answers at once. assumed: as of `ModelledTime`."""
    clock_hz = board.rated_clock_hz or board.clock_hz
    nothing = Waiting(0, 0)
    layers = counts.layers_waiting or (nothing,) * len(modelled.layers)

    def time(cycles: int, waiting: Waiting) -> BoardTime:
        total = cycles + waiting.code + waiting.data
        return BoardTime(total, waiting.code, waiting.data, clock_hz)

    return ModelledTime(
        time(modelled.total, counts.waiting or nothing),
        tuple(time(*pair) for pair in zip(modelled.layers, layers, strict=True)),
        assumed,
    )
