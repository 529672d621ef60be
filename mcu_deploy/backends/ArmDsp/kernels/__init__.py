"""The kernels, found by themselves: a module with `OPERATORS` and `propose` is all a new one takes.

OPERATORS: the names of ONNX's operators, such as "Conv"
propose(view, layer): proposals for a layer of these, whose part may be larger than the layer;
    or why it has none, a clause, which is empty where another module's kernels are meant
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Protocol, cast

from mcu_deploy.backends.interface import Layer, Proposal, SubgraphView
from mcu_deploy.discovery import modules
from mcu_deploy.operators import label


class Family(Protocol):
    """What a module of this package has."""

    OPERATORS: Sequence[str]

    def propose(self, view: SubgraphView, layer: Layer) -> Sequence[Proposal] | str: ...


@functools.cache
def _registry() -> Mapping[str, tuple[Family, ...]]:
    found: dict[str, tuple[Family, ...]] = {}
    for _, module in modules(__name__):
        for operator in getattr(module, "OPERATORS", ()):
            found[operator] = (*found.get(operator, ()), cast(Family, module))
    return found


def find(domain: str, operator: str) -> tuple[Family, ...]:
    """The modules that have kernels for an operator."""
    return _registry().get(label(domain, operator), ())


def operators() -> tuple[str, ...]:
    """The operators that have a kernel."""
    return tuple(sorted(_registry()))
