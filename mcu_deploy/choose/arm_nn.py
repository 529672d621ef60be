"""Lets a backend that is written in Arm NN's words optimise what a cover gave it.

That is what it substituted, what it failed, what it left untouched.
"""

from __future__ import annotations

from collections import Counter

from mcu_deploy.backends.interface import (
    Backend,
    Costs,
    OptimizationViews,
    Price,
    Proposal,
    SubgraphView,
    Substitution,
    Target,
    layer_of,
)
from mcu_deploy.backends.offer_check import check_optimization
from mcu_deploy.backends.substitute import SubstitutionError, lone_node, require_fit
from mcu_deploy.choose.model import Part
from mcu_deploy.choose.offers import ask, estimated, making_sense, part_of
from mcu_deploy.errors import BackendFault
from mcu_deploy.ir import Graph, GraphEditor, NodeId


def optimize(backend: Backend, view: SubgraphView) -> OptimizationViews:
    """What a backend makes of a view. Raises BackendFault where the answer is none."""
    own = getattr(backend, "optimize_subgraph", None)
    answer = OptimizationViews(untouched=(view,)) if own is None else own(view)
    return checked(backend.id, view, answer)


def checked(backend: str, view: SubgraphView, answer: OptimizationViews) -> OptimizationViews:
    """The answer, if each node of the view is in exactly one of its parts; else BackendFault."""
    with making_sense(backend, "optimize_subgraph"):
        check_optimization(answer)
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
            raise BackendFault.of(
                backend, f"optimised {len(names)} nodes, and its answer {what}: {listed}"
            )
    return answer


def proposed(backend: Backend, graph: Graph, substitution: Substitution, target: Target) -> Part:
    """A substitution as a part that competes.

    Its price is the sum of what the backend estimates of its nodes. Raises BackendFault where it
    does not fit, or where the backend does not compute what it made.
    """
    part = substitution.substitutable
    replacement = GraphEditor(substitution.replacement).finish()  # without dead parts
    layers = [layer_of(replacement, node, target) for node in replacement.nodes]
    try:
        require_fit(graph, part, substitution.replacement)
        if len(layers) == 1:  # with what it will stand for
            alone, node_id = lone_node(part, replacement)
            layers = [layer_of(alone, alone.node(node_id), target)]
    except SubstitutionError as error:
        raise BackendFault.of(backend.id, f"replaced nodes by something else: {error}") from error
    made = []
    for layer in layers:
        support = ask(backend, layer)
        if not support.supported:
            raise BackendFault.of(
                backend.id,
                f"made a {layer.op} of what it was given, and does not compute it itself "
                f"({support.reason})",
            )
        made.append(estimated(backend, layer, support))
    code = {key: size for c in made for key, size in c.code.items()}
    proposal = Proposal(
        part, Price(Costs.sum(c.costs for c in made), code), _by_factory, replacement,
        tuple(c.support.layout for c in made), " + ".join(n.op for n in replacement.nodes),
    )  # fmt: skip
    return part_of(backend.id, proposal, replacement, tuple(made))


def _by_factory(*_: object) -> tuple[()]:
    raise AssertionError("the backend's workload factory makes its workloads")
