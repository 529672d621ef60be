"""What `quantize` measures on a board: bytes, cycles, and the outputs themselves."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from mcu_deploy.api.building import build
from mcu_deploy.api.profiling import profile
from mcu_deploy.api.running import run
from mcu_deploy.boards import Board
from mcu_deploy.files.arrays import Array
from mcu_deploy.files.samples import Samples
from mcu_deploy.quantizing.oracle import Oracle
from mcu_deploy.report.floats import FloatLayer


@dataclass(frozen=True)
class QuantizedCost:
    """flash, ram: bytes of the network and the runtime; count: of one run, in unit; cycles:
    modelled, None where they are not known; float_layers: those that run in float32."""

    flash: int
    ram: int
    count: int | None
    unit: str
    cycles: int | None
    float_layers: tuple[FloatLayer, ...]


def cost_of(model: Path, board: Board, folder: Path) -> QuantizedCost:
    """Builds a model into a folder and counts a run. Nothing counts on the host."""
    built = build(model, board, folder, name="net")
    report = built.report
    cost = QuantizedCost(report.flash_bytes, report.ram_bytes, None, "", None, report.float_layers)
    if board.is_host:
        return cost
    counted = profile(built)
    return replace(cost, count=counted.total, unit=counted.unit, cycles=counted.cycles)


def run_on_board(
    model: Path, board: Board, samples: Sequence[Sequence[Array]]
) -> list[list[Array]]:
    """The outputs of a board's emulator as real numbers: [sample][output]. samples: those of the
    float model."""
    oracle = Oracle(model)
    given = Samples(tuple(tuple(oracle.inputs(sample)) for sample in samples), "the samples")
    with tempfile.TemporaryDirectory(prefix="mcu-deploy-quantize-") as folder:
        built = build(model, board, Path(folder) / "build", name="net")
        found = run(built, given)
    return [oracle.outputs(values) for values in found.outputs]
