"""Lets a backend optimise a partition, and takes its answer apart.

Document 001: what it substituted, what it failed, what it left untouched.
"""

from __future__ import annotations

from collections import Counter

from mcu_deploy.backends.interface import Backend, OptimizationViews, SubgraphView
from mcu_deploy.errors import BackendFault
from mcu_deploy.ir import NodeId


def optimize(backend: Backend, view: SubgraphView) -> OptimizationViews:
    """What a backend makes of a view. Raises BackendFault where the answer is none."""
    own = getattr(backend, "optimize_subgraph", None)
    answer = OptimizationViews(untouched=(view,)) if own is None else own(view)
    return checked(backend.id, view, answer)


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
