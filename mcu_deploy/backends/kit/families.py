"""Families of kernels, found by themselves: a module with `OPERATORS` and `propose` in a backend's
package of kernels is all that a new one takes.

OPERATORS: the names of ONNX's operators, such as "Conv"
propose(view, layer): proposals for a layer of these, whose part may be larger than the layer;
    or why it has none, a clause, which is empty where another module's kernels are meant
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol, cast

from mcu_deploy.backends.interface import Layer, Proposal, Proposals, SubgraphView, Target, layer_of
from mcu_deploy.discovery import modules
from mcu_deploy.ir import NodeId
from mcu_deploy.operators import label
from mcu_deploy.output.progress import counted


class NoKernelError(ValueError):
    """A kernel that cannot be written as its family wants, found on the way; the message is why."""


class Family(Protocol):
    """What a module of such a package has."""

    OPERATORS: Sequence[str]

    def propose(self, view: SubgraphView, layer: Layer) -> Sequence[Proposal] | str: ...


@functools.cache
def _registry(package: str) -> Mapping[str, tuple[Family, ...]]:
    found: dict[str, tuple[Family, ...]] = {}
    for _, module in modules(package):
        for operator in getattr(module, "OPERATORS", ()):
            found[operator] = (*found.get(operator, ()), cast(Family, module))
    return found


def find(package: str, domain: str, operator: str) -> tuple[Family, ...]:
    """The modules of a package that have kernels for an operator."""
    return _registry(package).get(label(domain, operator), ())


def operators(package: str) -> tuple[str, ...]:
    """The operators that have a kernel."""
    return tuple(sorted(_registry(package)))


def ask(families: Sequence[Family], view: SubgraphView, layer: Layer) -> tuple[list[Proposal], str]:
    """The proposals of all families, and why others have none, in clauses."""
    answers = [_answer(family, view, layer) for family in families]
    reasons = dict.fromkeys(a for a in answers if isinstance(a, str) and a)
    return [one for a in answers if not isinstance(a, str) for one in a], "; ".join(reasons)


def _answer(family: Family, view: SubgraphView, layer: Layer) -> Sequence[Proposal] | str:
    """What a family proposes, or why it does not, which it may find out on the way."""
    try:
        return family.propose(view, layer)
    except NoKernelError as error:
        return str(error)


# As `ask`.
Asking = Callable[[Sequence[Family], SubgraphView, Layer], tuple[list[Proposal], str]]


def propose(
    package: str, view: SubgraphView, target: Target, lacks: str, asking: Asking = ask
) -> Proposals:
    """What the families of a package propose for a view. lacks: what the target has not that all of
    them need, a clause; asking: for a layer."""
    proposals: list[Proposal] = []
    refused: dict[NodeId, str] = {}
    for node in counted("layers, each kernel priced", [*view.nodes]):
        found_in = find(package, node.domain, node.op)
        if not found_in:
            continue
        if lacks:
            refused[node.id] = lacks
            continue
        found, reason = asking(found_in, view, layer_of(view, node, target))
        proposals += found
        if not found:
            refused[node.id] = reason or "it has no kernel for this operator in this form"
    return Proposals(tuple(proposals), refused)
