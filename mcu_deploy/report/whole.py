"""A report as a whole: report.json, written and read back."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import PurePosixPath
from typing import Any

from mcu_deploy.backends.interface import CreationOptions
from mcu_deploy.errors import UsageError
from mcu_deploy.options import Options
from mcu_deploy.report.floats import FloatLayer
from mcu_deploy.report.model import (
    AssumedShapeReport,
    LayerReport,
    LayerRow,
    NetworkReport,
    PricedTime,
)
from mcu_deploy.report.tables import Table, Tabled, number
from mcu_deploy.schema import Misfit, made
from mcu_deploy.toolchain import MemoryUse


@dataclass(frozen=True, repr=False)
class Report(Tabled):
    """A build: totals, and its networks.

    board: None, with all that is of a firmware, where objects were built without one. core, fpu,
    cflags: what they were compiled for, and with which flags of the machine. board_file: the
    build's copy of a user's own board file, relative to its folder. instructions: None, as only
    `profile` counts them. priced_time: of one run of each network, or None, and why in
    no_priced_time. firmware_stack_bytes: None for the host.
    """

    model: str
    board: str | None
    core: str
    fpu: str
    cflags: tuple[str, ...]
    board_file: str | None
    flash_bytes: int
    ram_bytes: int
    arena: str
    arena_bytes: int
    arena_lower_bound_bytes: int
    arena_ratio: float | None
    stack_bytes: int
    firmware_flash_bytes: int | None
    firmware_ram_bytes: int | None
    firmware_stack_bytes: int | None
    firmware_second_stack_bytes: int | None
    macs: int
    instructions: int | None
    priced_time: PricedTime | None
    no_priced_time: str
    layers: tuple[LayerReport, ...]
    float_layers: tuple[FloatLayer, ...]
    assumed_shapes: tuple[AssumedShapeReport, ...]
    networks: tuple[NetworkReport, ...]
    memories: tuple[MemoryUse, ...]
    options: Options
    session: CreationOptions
    tools: Mapping[str, str]

    def as_json(self) -> dict[str, Any]:
        """The content of report.json."""
        return asdict(self)

    def table(self) -> Table:
        """A line for each network; sizes in bytes."""
        rows = [
            (
                n.name, *map(number, (len(n.layers), n.macs, n.flash_bytes, n.ram_bytes)),
                number(n.arena_bytes), number(n.arena_lower_bound_bytes),
                "" if n.arena_ratio is None else f"{n.arena_ratio:.2f}", number(n.stack_bytes),
            )
            for n in self.networks
        ]  # fmt: skip
        numbers = ("layers", "MACs", "flash", "RAM", "arena", "bound", "ratio", "stack")
        firmware = (
            f"compiled with {' '.join(self.cflags)}, as your firmware must be"
            if self.board is None
            else f"firmware for {self.board}: {number(self.firmware_flash_bytes)} bytes of flash, "
            f"{number(self.firmware_ram_bytes)} bytes of RAM"
        )
        sizes = (line for n in self.networks for line in n.size_lines())
        notes = (*sizes, *(n.time_line() for n in self.networks), firmware)
        title = f"built for {self.board or self.core}; sizes in bytes"
        return Table(title, ("network", *numbers), tuple(rows), frozenset(numbers), notes)

    def _repr_html_(self) -> str:
        return self.html_under(self.table())

    def html_under(self, table: Table) -> str:
        """Pictures of memory and rows of layers as HTML for a notebook, under a table."""
        from mcu_deploy.report.page import notebook  # of a page, which few builds are shown on

        return notebook.fragment(table, self.networks, self.options.optimize_for)


@dataclass(frozen=True)
class OptimizedReport:
    """What `optimize --json` prints of a .pmx file."""

    model: str
    pmx: str
    pmx_bytes: int
    core: str
    arena_bytes: int
    arena_lower_bound_bytes: int
    macs: int
    float_layers: tuple[FloatLayer, ...]
    assumed_shapes: tuple[AssumedShapeReport, ...]
    layers: tuple[LayerRow, ...]


def read(content: Any) -> Report:
    """A report from the content of report.json.

    Raises UsageError, without the file's name, where something is missing or of another type. Files
    that it names lie in the build's folder.
    """
    try:
        report: Report = made(Report, content)
    except Misfit as misfit:
        raise UsageError(misfit.sentence) from None
    _inside(report.board_file or ".")
    if not report.networks:
        raise UsageError("it has no networks")
    for network in report.networks:
        if not re.fullmatch(r"[A-Za-z0-9_]+", network.name):
            raise UsageError(f"a network is called {network.name[:80]!r}")
        _inside(network.kept_model)
    return report


def _inside(name: str) -> None:
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or "\0" in name:
        raise UsageError(f"{name[:80]!r} lies outside of the folder")
