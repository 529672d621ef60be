"""What the functions of a network take of its object, measured there."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from mcu_deploy.codegen.network import NetworkSource
from mcu_deploy.elf.reader import load_elf
from mcu_deploy.report.model import KernelReport


def measured(source: NetworkSource, network: Path) -> tuple[KernelReport, ...]:
    """The kernels that an object has, in the order of their first layers.

    network: the object. What gcc has cloned of a function (`.part.0`, `.isra.0`) counts with it;
    what it has put into its callers counts with these.
    """
    sizes: Counter[str] = Counter()
    for symbol in load_elf(network).symbols:
        if symbol.type == "STT_FUNC":
            sizes[symbol.name.partition(".")[0]] += symbol.size
    found = (KernelReport(s, layers, sizes[s]) for s, layers in source.layers.items() if sizes[s])
    return tuple(sorted(found, key=lambda kernel: kernel.layers))
