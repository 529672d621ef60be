"""What a format is given: networks as C source with their weights as arrays, and the runtime."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from mcu_deploy.boards import Processor
from mcu_deploy.codegen.constants import float_literal
from mcu_deploy.exports.package import Package
from mcu_deploy.files.arrays import Array
from mcu_deploy.report import NetworkReport


@dataclass(frozen=True)
class Value:
    """An input or output of a network and what it holds in the sample.

    ctype: the C type of an element. is_callers: the network leaves it in a buffer of the caller's
    (--io caller). tolerance: how far an element of an output may be away; 0 where it is equal.
    """

    index: int
    name: str
    ctype: str
    array: Array
    is_callers: bool
    tolerance: float = 0.0

    @property
    def elements(self) -> int:
        return int(self.array.size)

    @property
    def is_float(self) -> bool:
        return self.array.dtype.kind == "f"

    @property
    def wide(self) -> str:
        """The C type in which differences of elements are computed."""
        return self.ctype if self.is_float else "int64_t"

    @property
    def limit(self) -> str:
        """The tolerance as a C constant of that type."""
        if not self.is_float:
            return str(int(self.tolerance))
        return float_literal(self.array.dtype.type(self.tolerance))


@dataclass(frozen=True)
class ExportedNetwork:
    """A network: C source that needs no flags of its own, its header, and one sample.

    report: what the build measured. alignment: of the workspace, in bytes. inputs, outputs: in the
    model's order; the outputs are the oracle's. origin: where the sample is from. size: the
    sample's, where each run decides one.
    """

    name: str
    source: str
    header: str
    report: NetworkReport
    alignment: int
    inputs: tuple[Value, ...]
    outputs: tuple[Value, ...]
    origin: str
    size: int | None = None


@dataclass(frozen=True)
class Exported:
    """A build, as a format gets it.

    package: what it is called and who it is from. version: of mcu-deploy. headers: the runtime's by
    the path in #include ("mcu/runtime.h"), sources: the runtime's by file name.
    """

    package: Package
    version: str
    processor: Processor
    networks: tuple[ExportedNetwork, ...]
    headers: Mapping[str, bytes]
    sources: Mapping[str, bytes]
    licence: bytes

    @property
    def name(self) -> str:
        """Of the library or package: letters, digits and underscores."""
        return self.package.name


@dataclass(frozen=True)
class Archive:
    """The one file that an export is, in formats that are no folder.

    name: the file's, with the attributes of a `Package` in braces. is_read: tools take from the
    file's name what is in it, so that it can have no other.
    """

    name: str
    is_read: bool = False

    def name_for(self, package: Package) -> str:
        return self.name.format(package=package)
