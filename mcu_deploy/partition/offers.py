"""Asks every backend about every node: who computes it, in which layout, at what cost."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from mcu_deploy.backends.interface import Backend, Layer, Support, Target, layer_of
from mcu_deploy.ir import Graph, Node, NodeId
from mcu_deploy.partition.model import Candidate, Refusal


@dataclass(frozen=True)
class Offers:
    """candidates: in the order of preference, empty where nobody computes a node."""

    candidates: Mapping[NodeId, tuple[Candidate, ...]]
    refusals: tuple[Refusal, ...]


def ask(backend: Backend, layer: Layer) -> Support:
    """Whether a backend computes a layer."""
    support = backend.layer_support()
    return support.is_layer_supported(layer, layer.inputs, layer.outputs, layer.attributes)


def collect(
    graph: Graph,
    nodes: Iterable[Node],
    backends: Sequence[Backend],
    target: Target,
    refused: Mapping[tuple[NodeId, str], str],
) -> Offers:
    """What the backends say of these nodes.

    refused: reasons why (node, backend) is out of the question, before the backend is asked.
    """
    candidates: dict[NodeId, tuple[Candidate, ...]] = {}
    refusals: list[Refusal] = []
    for node in nodes:
        layer = layer_of(graph, node, target)
        found = []
        for backend in backends:
            reason = refused.get((node.id, backend.id))
            support = ask(backend, layer) if reason is None else Support(False, reason)
            if support.supported:
                found.append(Candidate(backend.id, support, backend.estimate(layer)))
            else:
                refusals.append(Refusal(node, backend.id, support.reason))
        candidates[node.id] = tuple(found)
    return Offers(candidates, tuple(refusals))
