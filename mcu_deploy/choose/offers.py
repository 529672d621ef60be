"""Asks every backend about a node: who computes it, in which layout, at what cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mcu_deploy.backends.interface import Backend, Layer, Support, no
from mcu_deploy.choose.model import Candidate, Refusal
from mcu_deploy.ir import NodeId


def ask(backend: Backend, layer: Layer) -> Support:
    """Whether a backend computes a layer."""
    support = backend.layer_support()
    return support.is_layer_supported(layer, layer.inputs, layer.outputs, layer.attributes)


def collect(
    layer: Layer, backends: Sequence[Backend], refused: Mapping[tuple[NodeId, str], str]
) -> tuple[tuple[Candidate, ...], tuple[Refusal, ...]]:
    """Who computes a layer, in the order of preference, and who does not and why.

    refused: reasons why (node, backend) is out of the question, before the backend is asked.
    """
    candidates: list[Candidate] = []
    refusals: list[Refusal] = []
    for backend in backends:
        reason = refused.get((layer.node.id, backend.id))
        support = ask(backend, layer) if reason is None else no(reason)
        if support.supported:
            candidates.append(Candidate(backend.id, support, backend.estimate(layer)))
        else:
            refusals.append(Refusal(layer.node, backend.id, support.reason))
    return tuple(candidates), tuple(refusals)
