"""Gives each node to the first backend of the preference that has it, as ppl.nn does.

Among the candidates and parts of that backend the best for the goal are taken.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from mcu_deploy.choose.model import Cover, Problem, Uncovered
from mcu_deploy.choose.strategies import cost
from mcu_deploy.ir import NodeId

NAME = "greedy"


def choose(problem: Problem) -> Cover:
    """The first backend of each node, or the one that is fixed."""
    having = _having(problem)
    while True:
        labels = {
            node: problem.fixed.get(node, next(iter(backends), ""))
            for node, backends in having.items()
        }
        if not problem.parts and not _is_open(problem):
            return Cover(labels)
        try:
            return cost.choose(replace(problem, fixed=labels))
        except Uncovered as uncovered:
            # Its backend's parts exclude each other: the next one has to take the node.
            left = having.get(uncovered.node, {})
            left.pop(labels.get(uncovered.node, ""), None)
            if not left:
                raise


def _having(problem: Problem) -> dict[NodeId, dict[str, None]]:
    """The backends that have a node alone or in a part, the preferred first."""
    found = {n: {c.backend: None for c in cs} for n, cs in problem.candidates.items()}
    for part in problem.parts:
        for node in part.nodes:
            found[node].setdefault(part.backend)
    if not problem.parts:
        return found
    order = {backend: k for k, backend in enumerate(problem.preference)}
    return {
        node: dict.fromkeys(sorted(backends, key=lambda b: order.get(b, -1)))
        for node, backends in found.items()
    }


def _is_open(problem: Problem) -> bool:
    """Whether a backend has several ways of computing a node."""
    counts: Mapping[NodeId, Counter[str]] = {
        n: Counter(c.backend for c in cs) for n, cs in problem.candidates.items()
    }
    return any(times > 1 for count in counts.values() for times in count.values())
