"""What became of a view as a message, in the words of mcu_optimization_t, and back."""

from __future__ import annotations

from typing import Any

from mcu_deploy.backends.c_rules import require
from mcu_deploy.backends.interface import OptimizationViews, Substitution
from mcu_deploy.dynamic.checks import (
    Blobs,
    Json,
    integers,
    items,
    member,
)
from mcu_deploy.dynamic.graph_codec import GraphWriter, Message, decode_graph
from mcu_deploy.ir import EdgeId, Graph, NodeId, SubgraphView


def encode_optimization(views: OptimizationViews) -> Message:
    """What became of a view; replacements bring their bodies."""
    writer = GraphWriter(bodies=True)
    message = {
        "substitutions": [
            {
                "nodes": list(substitution.substitutable.topology.nodes),
                "replacement": writer.graph(substitution.replacement),
            }
            for substitution in views.substitutions
        ],
        "failed": [list(part.topology.nodes) for part in views.failed],
        "untouched": [list(part.topology.nodes) for part in views.untouched],
    }
    return message, writer.blobs


def decode_optimization(message: Json, blobs: Blobs, view: SubgraphView) -> OptimizationViews:
    """What became of `view`. Each of its nodes must be in exactly one part."""
    seen: set[NodeId] = set()

    def part(nodes: Any) -> SubgraphView:
        found = integers(nodes, "nodes of a part")
        require(len(found) > 0, "a part has no nodes")
        for node in found:
            require(node in view.topology.nodes, f"node {node} is not in the view")
            require(node not in seen, f"node {node} is in two parts")
            seen.add(node)
        return view.part(found)

    def parts_of(key: str) -> tuple[SubgraphView, ...]:
        return tuple(part(nodes) for nodes in items(member(message, key), key))

    substitutions = tuple(
        _substitution(part(member(item, "nodes")), member(item, "replacement"), blobs)
        for item in items(member(message, "substitutions"), "substitutions")
    )
    views = OptimizationViews(substitutions, parts_of("failed"), parts_of("untouched"))
    if not seen:
        return OptimizationViews(untouched=(view,))
    missing = sorted(set(view.topology.nodes) - seen)
    require(not missing, f"the nodes {missing[:5]} are in no part")
    return views


def _substitution(part: SubgraphView, message: Any, blobs: Blobs) -> Substitution:
    replacement = decode_graph(message, blobs, part.opset)
    for what, theirs, ours in (
        ("input", replacement.inputs, part.inputs),
        ("output", replacement.outputs, part.outputs),
    ):
        require(
            len(theirs) == len(ours),
            f"a replacement has {len(theirs)} {what}s, but the nodes {len(ours)}",
        )
        for index, (their, our) in enumerate(zip(theirs, ours, strict=True)):
            require(
                _alike(replacement, their, part, our),
                f"{what} {index} of a replacement is {replacement.type(their)}, but that of the "
                f"nodes {part.type(our)}",
            )
    return Substitution(part, replacement)


def _alike(one: Graph, edge: EdgeId, other: Graph, counterpart: EdgeId) -> bool:
    a, b = one.type(edge), other.type(counterpart)
    return (a.dtype, a.shape, a.quantization) == (b.dtype, b.shape, b.quantization)
