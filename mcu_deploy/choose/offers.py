"""Asks the backends about the nodes of a graph: who computes what, how it lies, at what price."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from mcu_deploy.backends.c_rules import Nonsense
from mcu_deploy.backends.interface import (
    Backend,
    HasOtherWays,
    Layer,
    LayoutRule,
    Operand,
    Proposal,
    Proposes,
    Support,
    Target,
    layer_of,
    no,
    yes,
)
from mcu_deploy.backends.offer_check import check_answer, check_costs, check_proposal, check_support
from mcu_deploy.choose.goals import GOALS
from mcu_deploy.choose.model import Candidate, Part, Rejection
from mcu_deploy.errors import BackendFault, raised
from mcu_deploy.ir import EdgeId, Graph, NodeId, view

NOTHING = "it proposes nothing for this node"


@dataclass
class Offers:
    """What the backends answered of a graph's nodes; candidates in the order of preference."""

    candidates: dict[NodeId, tuple[Candidate, ...]] = field(default_factory=dict)
    refusals: dict[tuple[NodeId, str], Rejection] = field(default_factory=dict)
    parts: list[Part] = field(default_factory=list)


def ask(backend: Backend, layer: Layer) -> Support:
    """Whether a backend computes a layer by itself, in Arm NN's words. Raises BackendFault for
    an answer that is none."""
    answer = backend.layer_support().is_layer_supported(
        layer, layer.inputs, layer.outputs, layer.attributes
    )
    with making_sense(backend.id, "is_layer_supported"):
        check_support(answer)
    return answer


@contextmanager
def making_sense(backend: str, what: str) -> Iterator[None]:
    """Makes a fault of what a backend answered and cannot be used."""
    try:
        yield
    except Nonsense as nonsense:
        raise BackendFault.of(backend, f"answered nonsense to {what}: {nonsense}") from None


def collect(
    graph: Graph,
    nodes: Collection[NodeId],
    asked: Mapping[NodeId, Sequence[Backend]],
    target: Target,
    refused: Mapping[tuple[NodeId, str], str],
    goal: str = "",
) -> Offers:
    """What the backends offer for some nodes of a graph.

    asked: the backends of each node, in the order of preference. refused: reasons why (node,
    backend) is out of the question. goal: of `goals.GOALS`; empty: any. Raises BackendFault for
    proposals that make no sense.
    """
    found = Offers()
    own: dict[str, dict[NodeId, list[Candidate]]] = {}
    why: dict[str, Mapping[NodeId, str]] = {}
    backends = {backend.id: backend for node in nodes for backend in asked[node]}
    for backend in backends.values():
        if isinstance(backend, Proposes):
            wanted = {
                node
                for node in nodes
                if (node, backend.id) not in refused
                and any(b.id == backend.id for b in asked[node])
            }
            try:
                answer = backend.propose(view(graph, wanted), target)
            except SystemExit as error:  # which would end the command without a word
                raise BackendFault.of(backend.id, f"ended in propose: {raised(error)}") from error
            with making_sense(backend.id, "propose"):
                check_answer(answer, wanted)
                for proposal in answer.proposals:
                    check_proposal(graph, proposal, wanted, tuple(GOALS))
            why[backend.id] = answer.refused
            own[backend.id] = {}
            for proposal in answer.proposals:
                if goal and proposal.only_for not in ("", goal):
                    continue
                offered = _competing(backend.id, proposal)
                if isinstance(offered, Part):
                    found.parts.append(offered)
                else:
                    (node,) = proposal.nodes
                    own[backend.id].setdefault(node, []).append(offered)
    in_parts = {(n, p.backend) for p in found.parts for n in p.nodes}
    for node in nodes:
        candidates: list[Candidate] = []
        layer = layer_of(graph, graph.node(node), target)
        for backend in asked[node]:
            reason = refused.get((node, backend.id))
            if reason is None and isinstance(backend, Proposes):
                mine = own[backend.id].get(node, [])
                candidates += mine
                if mine or (node, backend.id) in in_parts:
                    continue
                reason = why[backend.id].get(node, NOTHING)
            support = ask(backend, layer) if reason is None else no(reason)
            if support.supported:
                candidates.append(estimated(backend, layer, support))
                candidates += _other_ways(graph, node, backend, layer, goal)
            else:
                refusal = Rejection(layer.node, backend.id, support.reason)
                found.refusals[node, backend.id] = refusal
        found.candidates[node] = tuple(candidates)
    return found


def _other_ways(
    graph: Graph, node: NodeId, backend: Backend, layer: Layer, goal: str
) -> list[Candidate]:
    """What a backend in Arm NN's words offers beside what its estimate is of."""
    if not isinstance(backend, HasOtherWays):
        return []
    found = []
    for proposal in backend.other_ways(view(graph, [node]), layer):
        with making_sense(backend.id, "other_ways"):
            check_proposal(graph, proposal, [node], tuple(GOALS))
        if not goal or proposal.only_for in ("", goal):
            found.append(_alone(backend.id, proposal))
    return found


def estimated(backend: Backend, layer: Layer, support: Support) -> Candidate:
    """A layer that a backend supports, with what it estimates of it. Raises BackendFault where
    that is nothing."""
    costs = backend.estimate(layer)
    with making_sense(backend.id, "estimate"):
        check_costs(costs)
    if not costs.code:
        return Candidate(backend.id, support, costs)
    has_weights = any(o is not None and o.constant is not None for o in layer.inputs)
    operands = [_alike(o, has_weights) for o in (*layer.inputs, *layer.outputs)]
    key = f"{backend.id} {layer.domain}::{layer.op} {operands} {layer.attributes}"
    return Candidate(backend.id, support, costs, code={key: costs.code})


def _alike(operand: Operand | None, has_weights: bool) -> object:
    """What operands of layers that share a function have in common. The scales of one with weights
    are constants of the layer, as the weights are."""
    if operand is None:
        return None
    type_ = operand.type
    if has_weights and type_.quantization is not None:
        zeros = tuple(sorted(set(type_.quantization.zero_point)))
        return operand.constant is None, type_.dtype, type_.shape, type_.layout, zeros
    return operand.constant is None, type_


def _competing(backend: str, proposal: Proposal) -> Candidate | Part:
    """A proposal as what it competes as."""
    if proposal.replacement is None:
        return _alone(backend, proposal)
    return part_of(backend, proposal, proposal.replacement)


def _alone(backend: str, proposal: Proposal) -> Candidate:
    """A proposal that leaves its node as it is."""
    (rule,) = proposal.layouts
    price = proposal.price
    return Candidate(backend, yes(rule), price.costs, proposal, proposal.title, price.code)


def part_of(
    backend: str, proposal: Proposal, replacement: Graph, made: tuple[Candidate, ...] | None = None
) -> Part:
    """A part whose borders lie as the nodes of its replacement that touch them want it."""
    rules: dict[EdgeId, LayoutRule] = {}
    for node, rule in zip(replacement.nodes, proposal.layouts, strict=True):
        for edge in (*node.reads, *node.writes):
            rules.setdefault(edge, rule)

    def at(ours: Iterable[EdgeId], theirs: Iterable[EdgeId]) -> dict[EdgeId, LayoutRule]:
        pairs = zip(ours, theirs, strict=True)
        return {our: rules.get(their, LayoutRule.NATURAL) for our, their in pairs}

    part = proposal.part
    return Part(
        backend, proposal, at(part.inputs, replacement.inputs),
        at(part.outputs, replacement.outputs), made,
    )  # fmt: skip
