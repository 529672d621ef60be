"""Optimisations that a backend may call in its `optimize_subgraph`, one file each.

The framework runs none of them by itself (ppl.nn: NNOptimizerManager): which of them help
is for the backend to know. The generic passes of `mcu_deploy.passes` always run, before any
backend sees the graph.

A module of this package with `optimize(view) -> tuple[Substitution, ...]` is found by itself, under
its own name. Its substitutions have no node in common, and the framework applies them. All of them
are exact: integer tensors stay the same bit for bit.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping

from mcu_deploy.backends.interface import OptimizationViews, SubgraphView, Substitution
from mcu_deploy.discovery import modules

Optimization = Callable[[SubgraphView], tuple[Substitution, ...]]


@functools.cache
def _registry() -> Mapping[str, Optimization]:
    found: dict[str, Optimization] = {}
    for name, module in modules(__name__):
        if hasattr(module, "optimize"):
            found[name] = module.optimize
    return found


def names() -> tuple[str, ...]:
    """The names of the optimisations that there are."""
    return tuple(_registry())


def find(name: str) -> Optimization:
    """The optimisation of this name. Raises ValueError for a name that has none."""
    if name not in _registry():
        raise ValueError(
            f"There is no optional optimisation {name!r}. There are {', '.join(names())}."
        )
    return _registry()[name]


def run(view: SubgraphView, wanted: Iterable[str]) -> OptimizationViews:
    """The answer of an `optimize_subgraph` that does no more than these optimisations.

    A node goes to the first one that substitutes it; nodes that none substitutes are untouched.
    """
    return OptimizationViews.first_of_each(view, (s for name in wanted for s in find(name)(view)))
