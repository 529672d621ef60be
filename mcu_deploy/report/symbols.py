"""What kernels and constants of a network take of its object, measured there."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from mcu_deploy.codegen.network import NetworkSource
from mcu_deploy.elf.reader import load_elf
from mcu_deploy.report.model import SymbolReport


@dataclass(frozen=True)
class Used:
    """What layers use, in the order of the first that does."""

    kernels: tuple[SymbolReport, ...]
    constants: tuple[SymbolReport, ...]


def measured(source: NetworkSource, network: Path) -> Used:
    """The kernels and constants that an object has.

    network: the object. What gcc has cloned of a function (`.part.0`, `.isra.0`) counts with it;
    what it has put into its callers counts with these.
    """
    functions: Counter[str] = Counter()
    objects: Counter[str] = Counter()
    for symbol in load_elf(network).symbols:
        found = functions if symbol.type == "STT_FUNC" else objects
        found[symbol.name.partition(".")[0]] += symbol.size
    return Used(_of(source, functions), _of(source, objects))


def _of(source: NetworkSource, sizes: Counter[str]) -> tuple[SymbolReport, ...]:
    found = (SymbolReport(s, layers, sizes[s]) for s, layers in source.layers.items() if sizes[s])
    return tuple(sorted(found, key=lambda symbol: symbol.layers))
