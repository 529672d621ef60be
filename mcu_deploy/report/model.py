"""The values of report.json: a dataclass for each table, a field for each key, in this order.

Sizes and offsets are in bytes. The file holds `dataclasses.asdict` of a Report (`whole`), and
`read` takes it back by the type hints.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from mcu_deploy.backends.cost import Cost
from mcu_deploy.backends.workload import InPlace
from mcu_deploy.report.floats import FloatLayer
from mcu_deploy.report.places import (
    BufferReport,
    OperandReport,
    PoolReport,
    ScratchReport,
    TensorReport,
)
from mcu_deploy.report.tables import Table, number


@dataclass(frozen=True)
class CostReport:
    """A cost: its unit ("cycles"), and how it is known ("modelled"); docs/costs.md."""

    value: int
    unit: str
    known: str

    @classmethod
    def of(cls, cost: Cost | None) -> CostReport | None:
        return None if cost is None else cls(cost.value, cost.unit.value, cost.known.value)


@dataclass(frozen=True)
class MeasuredReport:
    """The file of measured costs beside the model, and of how many layers they are used."""

    file: str
    layers: int


@dataclass(frozen=True)
class LayerRow:
    """A layer: `short` is its own name, `name` the model's. macs: of a whole run."""

    network: str
    index: int
    short: str
    name: str
    op: str
    backend: str
    macs: int


@dataclass(frozen=True)
class RemovedReport:
    """What the tensor that a layer writes lacks of the model's: how many channels, of how many."""

    channels: int
    of: int


@dataclass(frozen=True)
class LayerReport(LayerRow):
    """A layer with its memory.

    position: of the layer in a run, where copies and control flow stand between layers. within: the
    If, Loop or Scan that it is in, by its short name. cost: of one call, as its backend
    states it or as it was measured; None where neither is so. fingerprint: of its workload, for
    measured costs. inputs: None for one that is constant or left out. overlaps: which
    outputs may lie on which inputs, by position, and how far behind or exactly; output None is the
    first of `scratch`. nodes: the names of those in the model that it stands for. removed: None
    where it writes all channels that the model has.
    """

    position: int
    within: str | None
    cost: CostReport | None
    fingerprint: str
    constant_bytes: int
    inputs: tuple[OperandReport | None, ...]
    scratch: tuple[ScratchReport, ...]
    overlaps: tuple[InPlace, ...]
    nodes: tuple[str, ...]
    removed: RemovedReport | None
    outputs: tuple[TensorReport, ...]


@dataclass(frozen=True)
class CodeReport:
    """A kernel that waits for its code while that lies in the board's memory of code.

    layers: those that it computes, by their indices. cycles: modelled, that one run of the network
    waits for it. in_ram: whether it is copied to RAM and waits for none (--hot-code).
    """

    function: str
    layers: tuple[int, ...]
    bytes: int
    cycles: int
    in_ram: bool

    @property
    def cycles_per_kilobyte(self) -> int:
        """What a kilobyte of RAM gains with it in a run of the network."""
        return round(1024 * self.cycles / self.bytes)


@dataclass(frozen=True)
class PricedTime:
    """The time of a run by the prices of its layers: cycles with those that the core waits for code
    and constants, and milliseconds at a clock in hertz. Modelled, and known before anything runs.
    """

    cycles: int
    milliseconds: float
    clock_hz: int


@dataclass(frozen=True)
class ExtentReport:
    """What an input or output has along an axis, at the `size` of a run, as a formula in C."""

    tensor: str
    axis: int
    formula: str


@dataclass(frozen=True)
class SizeReport:
    """A size that each run decides: the numbers of the report are those of the largest one."""

    least: int
    most: int
    extents: tuple[ExtentReport, ...]


@dataclass(frozen=True)
class SymbolReport:
    """A kernel or a constant of the network's object, its bytes measured there. layers: those that
    use it, by their indices."""

    symbol: str
    layers: tuple[int, ...]
    bytes: int


@dataclass(frozen=True)
class PartitionReport:
    """A part that can be run alone. layers: their indices."""

    name: str
    inputs: tuple[TensorReport, ...]
    outputs: tuple[TensorReport, ...]
    layers: tuple[int, ...]


@dataclass(frozen=True)
class AssumedShapeReport:
    """An input with a dimension that is open in the file and was taken as a batch of `size`."""

    network: str
    input: str
    dimension: str
    size: int
    shape: tuple[int, ...]


@dataclass(frozen=True)
class RamParts:
    """What the RAM of a network is made of."""

    arena: int
    data: int
    instance: int
    tensors: int
    stack: int


@dataclass(frozen=True)
class FrameReport:
    """A function of the deepest path of calls, and its stack when it calls the next one."""

    function: str
    bytes: int


@dataclass(frozen=True)
class NetworkReport:
    """A network of a build.

    kept_model: the build's copy of the model, relative to its folder. arena_ratio: the arena over
    its lower bound, None where nothing needs memory. lanes: of each stretch that runs on two cores,
    the layers of each lane. positions: how many a run has. flash_parts: what flash_bytes is made of
    ("constants", "code", "runtime", "C library", "alignment"). pools_taken: by memory, what
    networks before it in the firmware have.
    hot_code_bytes: of kernels that run from RAM; waiting_code: all that wait, those first that gain
    the most cycles a byte there. priced_time: of a run on the board; where it is None,
    no_priced_time is a clause that says why. size: what each run decides, if there is such a size.
    """

    name: str
    model: str
    kept_model: str
    source_sha256: str
    measured_costs: MeasuredReport | None
    flash_bytes: int
    flash_parts: Mapping[str, int]
    ram_bytes: int
    ram_parts: RamParts
    arena_bytes: int
    arena_lower_bound_bytes: int
    arena_ratio: float | None
    memory: str
    lanes: tuple[tuple[tuple[int, ...], ...], ...]
    memory_peak_bytes: int
    memory_moved_bytes: int
    stack_bytes: int
    stack_path: tuple[FrameReport, ...]
    second_stack_bytes: int
    weights_bytes: int
    macs: int
    assumed_shapes: tuple[AssumedShapeReport, ...]
    inputs: tuple[TensorReport, ...]
    outputs: tuple[TensorReport, ...]
    pools: tuple[PoolReport, ...]
    pools_taken: Mapping[str, int]
    positions: int
    buffers: tuple[BufferReport, ...]
    kernels: tuple[SymbolReport, ...]
    constants: tuple[SymbolReport, ...]
    hot_weights_bytes: int
    hot_code_bytes: int
    waiting_code: tuple[CodeReport, ...]
    priced_time: PricedTime | None
    no_priced_time: str
    kept: tuple[TensorReport, ...]
    states: tuple[TensorReport, ...]
    partitions: tuple[PartitionReport, ...]
    quantized: bool
    float_layers: tuple[FloatLayer, ...]
    layers: tuple[LayerReport, ...]
    size: SizeReport | None

    def size_lines(self, size: int | None = None) -> tuple[str, ...]:
        """What is said of a size that each run decides, where there is one. size: what the numbers
        are for; the largest by default."""
        if self.size is None:
            return ()
        least, most = self.size.least, self.size.most
        said = f"each run decides a size of {least} to {most}; this is for {size or most}"
        return (f"{self.name}: {said}",)

    def time_line(self) -> str:
        """What a run takes by the prices of its layers, or why nothing is said of that."""
        time = self.priced_time
        if time is None:
            return f"{self.name}: no modelled time: {self.no_priced_time}"
        return (
            f"{self.name}: {time.milliseconds:.3f} ms a run at {time.clock_hz / 1e6:g} MHz, "
            f"{time.cycles:,} cycles on board, modelled by the prices of its layers"
        )

    def waiting_table(self) -> Table:
        """A line for each kernel that waits for its code, and what RAM for it gains."""
        rows = [
            (
                code.function, "RAM" if code.in_ram else "flash",
                *map(number, (code.bytes, code.cycles, code.cycles_per_kilobyte)),
            )
            for code in self.waiting_code
        ]  # fmt: skip
        numbers = ("bytes", "cycles waited", "cycles a kilobyte")
        title = f"{self.name}: kernels that wait for code in flash, modelled"
        return Table(title, ("kernel", "lies in", *numbers), tuple(rows), frozenset(numbers))
