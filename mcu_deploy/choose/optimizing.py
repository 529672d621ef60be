"""Lets a backend optimise a partition, and takes its answer apart.

Document 001: what it substituted, what it failed, what it left untouched. The two older forms that
001 names are still accepted: `get_optimizations()`, which lists functions from a view to
substitutions, and `optimize_subgraph_view(view)`, which returns (graph or None, attempted).
"""

from __future__ import annotations

import warnings
from collections import Counter

from mcu_deploy.backends.interface import (
    Backend,
    BackendBase,
    OptimizationViews,
    SubgraphView,
    Substitution,
)
from mcu_deploy.errors import BackendFault
from mcu_deploy.ir import NodeId


def optimize(backend: Backend, view: SubgraphView) -> OptimizationViews:
    """What a backend makes of a view. Raises BackendFault where the answer is none."""
    return checked(backend.id, view, _answer(backend, view))


def checked(backend: str, view: SubgraphView, answer: OptimizationViews) -> OptimizationViews:
    """The answer, if each node of the view is in exactly one of its parts; else BackendFault."""
    parts = [s.substitutable for s in answer.substitutions]
    count = Counter[NodeId](
        n for part in (*parts, *answer.failed, *answer.untouched) for n in part.node_ids
    )
    names = {n.id: n.name for n in view.nodes}
    strange = sorted(set(count) - set(names))
    missing = [names[n] for n in names if n not in count]
    twice = [names[n] for n in names if count[n] > 1]
    for nodes, what in (
        (strange, "speaks of nodes that are not in its view"),
        (missing, "does not say what became of"),
        (twice, "has in more than one part"),
    ):
        if nodes:
            listed = ", ".join(map(repr, nodes[:3]))
            raise BackendFault(
                backend,
                f"The backend {backend} optimised {len(names)} nodes, and its answer {what}: "
                f"{listed}. Leave the backend out, and report this to its vendor.",
            )
    return answer


def _answer(backend: Backend, view: SubgraphView) -> OptimizationViews:
    kind = type(backend)
    own = getattr(kind, "optimize_subgraph", None)
    if own is not None and own is not BackendBase.optimize_subgraph:
        return backend.optimize_subgraph(view)
    if hasattr(kind, "optimize_subgraph_view"):
        return _whole_view(backend, view)
    if hasattr(kind, "get_optimizations"):
        return _listed(backend, view)
    return OptimizationViews(untouched=(view,))


def _whole_view(backend: Backend, view: SubgraphView) -> OptimizationViews:
    """The older form: a graph in place of the view; else whether it was attempted, and failed."""
    _deprecated(backend, "optimize_subgraph_view")
    replacement, attempted = backend.optimize_subgraph_view(view)  # type: ignore[attr-defined]
    if replacement is not None:
        return OptimizationViews(substitutions=(Substitution(view, replacement),))
    return OptimizationViews(failed=(view,)) if attempted else OptimizationViews(untouched=(view,))


def _listed(backend: Backend, view: SubgraphView) -> OptimizationViews:
    """The oldest form: a list of optimisations; the first that touches a node has it."""
    _deprecated(backend, "get_optimizations")
    optimizations = backend.get_optimizations()  # type: ignore[attr-defined]
    return OptimizationViews.first_of_each(view, (s for each in optimizations for s in each(view)))


def _deprecated(backend: Backend, name: str) -> None:
    warnings.warn(
        f"the backend {backend.id} implements {name}(), which is deprecated: implement "
        "optimize_subgraph(view) -> OptimizationViews",
        DeprecationWarning,
        stacklevel=5,
    )
