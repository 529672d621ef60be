"""What a backend makes of a view, over the wire: what it proposes, and what it has optimised."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from mcu_deploy.backends.c_rules import require
from mcu_deploy.backends.interface import (
    LayoutRule,
    Make,
    OptimizationViews,
    Price,
    Proposal,
    Proposals,
    Substitution,
)
from mcu_deploy.dynamic.forms import CODEC, Blobs, Json, Message, decoded, reason
from mcu_deploy.dynamic.graphs import checked, part_of, with_singles
from mcu_deploy.errors import one_line
from mcu_deploy.ir import Graph, NodeId, SubgraphView
from mcu_deploy.records import Reader, Writer


@dataclass(frozen=True)
class _Substitution:
    nodes: tuple[NodeId, ...]
    replacement: Graph


@dataclass(frozen=True)
class _Optimization:
    """OptimizationViews, whose parts are told by their nodes."""

    substitutions: tuple[_Substitution, ...]
    failed: tuple[tuple[NodeId, ...], ...]
    untouched: tuple[tuple[NodeId, ...], ...]


@dataclass(frozen=True)
class _Proposal:
    """Proposal, whose part is told by its nodes, and what makes it by a key."""

    key: int
    nodes: tuple[NodeId, ...]
    price: Price
    replacement: Graph | None
    layouts: tuple[LayoutRule, ...]
    title: str
    only_for: str


@dataclass(frozen=True)
class _Proposals:
    proposals: tuple[_Proposal, ...]
    refused: Mapping[NodeId, str]


# ---- What is proposed of a view ----


def encode_proposals(answer: Proposals, keys: Iterable[int]) -> Message:
    """What a backend proposes, with a key for each."""
    sent = tuple(
        _Proposal(
            key, tuple(p.part.topology.nodes), p.price,
            None if p.replacement is None else part_of(p.replacement), tuple(p.layouts),
            p.title, p.only_for,
        )
        for key, p in zip(keys, answer.proposals, strict=True)
    )  # fmt: skip
    writer = Writer()
    return CODEC.form(_Proposals).encode(writer, _Proposals(sent, answer.refused)), writer.blobs


def decode_proposals(
    message: Json, blobs: Blobs, view: SubgraphView, make: Callable[[int], Make]
) -> Proposals:
    """What is proposed of `view`; make: of a key what makes the proposal. Whether it makes sense
    is checked as that of all backends is (`backends.offer_check`)."""
    found: _Proposals = decoded(_Proposals, message, Reader(blobs))

    def proposal(sent: _Proposal) -> Proposal:
        for node in sent.nodes:
            require(node in view.topology.nodes, f"node {node} is not in the view")
        part, graph = view.part(sent.nodes), sent.replacement
        return Proposal(
            part, sent.price, make(sent.key),
            None if graph is None else with_singles(checked(graph, part.opset)),
            sent.layouts, one_line(sent.title), sent.only_for,
        )  # fmt: skip

    refused = {node: reason(why) for node, why in found.refused.items()}
    return Proposals(tuple(map(proposal, found.proposals)), refused)


# ---- What became of a view ----


def encode_optimization(views: OptimizationViews) -> Message:
    """What became of a view; replacements bring their bodies."""
    sent = _Optimization(
        tuple(
            _Substitution(tuple(s.substitutable.topology.nodes), part_of(s.replacement))
            for s in views.substitutions
        ),
        tuple(tuple(part.topology.nodes) for part in views.failed),
        tuple(tuple(part.topology.nodes) for part in views.untouched),
    )
    writer = Writer()
    return CODEC.form(_Optimization).encode(writer, sent), writer.blobs


def decode_optimization(message: Json, blobs: Blobs, view: SubgraphView) -> OptimizationViews:
    """What became of `view`. Each of its nodes must be in exactly one part."""
    found: _Optimization = decoded(_Optimization, message, Reader(blobs))
    seen: set[NodeId] = set()

    def part(nodes: tuple[NodeId, ...]) -> SubgraphView:
        require(len(nodes) > 0, "a part has no nodes")
        for node in nodes:
            require(node in view.topology.nodes, f"node {node} is not in the view")
            require(node not in seen, f"node {node} is in two parts")
            seen.add(node)
        return view.part(nodes)

    views = OptimizationViews(
        tuple(_substitution(part(s.nodes), s.replacement) for s in found.substitutions),
        tuple(part(nodes) for nodes in found.failed),
        tuple(part(nodes) for nodes in found.untouched),
    )
    if not seen:
        return OptimizationViews(untouched=(view,))
    missing = sorted(set(view.topology.nodes) - seen)
    require(not missing, f"the nodes {missing[:5]} are in no part")
    return views


def _substitution(part: SubgraphView, replacement: Graph) -> Substitution:
    replacement = with_singles(checked(replacement, part.opset))
    for what, theirs, ours in (
        ("input", replacement.inputs, part.inputs),
        ("output", replacement.outputs, part.outputs),
    ):
        require(
            len(theirs) == len(ours),
            f"a replacement has {len(theirs)} {what}s, but the nodes {len(ours)}",
        )
        for index, (their, our) in enumerate(zip(theirs, ours, strict=True)):
            a, b = replacement.type(their), part.type(our)
            require(
                (a.dtype, a.shape, a.quantization) == (b.dtype, b.shape, b.quantization),
                f"{what} {index} of a replacement is {a}, but that of the nodes {b}",
            )
    return Substitution(part, replacement)
