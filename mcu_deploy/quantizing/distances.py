"""How far a quantized network's tensors are from the float model's, layer by layer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from mcu_deploy.arithmetic import dequantize
from mcu_deploy.compiled import Network
from mcu_deploy.files.arrays import Array
from mcu_deploy.ir import EdgeId, Graph, TensorType
from mcu_deploy.quantizing.judging import cosine, sqnr
from mcu_deploy.quantizing.names import FloatTensor


@dataclass(frozen=True)
class Partner:
    """A tensor of the network, an input or one that a layer writes, and the float model's.

    layer: the place in the order of the layers, None for an input; short: what the layer is called;
    name, op: the model's own name of it, and its operator.
    """

    layer: int | None
    short: str
    op: str
    name: str
    edge: EdgeId
    tensor: str
    float_tensor: FloatTensor


@dataclass(frozen=True)
class Distance:
    """How far one is from the other.

    sqnr: in dB, the mean over the samples; drop: by how much that is less than the least of what
    the layer reads, None for an input and behind what has no partner; cosine: likewise the mean;
    worst: the largest difference, in real units; clipped: the share of the float tensor's elements
    that lie beyond what the type holds, 0 where it is not quantized.
    """

    of: Partner
    sqnr: float
    drop: float | None
    cosine: float
    worst: float
    clipped: float


def written(network: Network) -> Iterator[tuple[int | None, str, str, str, EdgeId]]:
    """What a Partner says first of each input, then of each tensor that a layer of the model
    writes once a run."""
    graph, plan = network.graph, network.plan
    for edge in network.inputs:
        yield None, "input", "", "", edge
    for step, holder in zip(plan.steps, plan.holders, strict=True):
        layer = step.choice.layer
        if holder is None and (layer.domain, layer.op) != ("mcu", "Reorder"):
            for output in layer.outputs:
                if output.edge in graph.topology.edges:
                    yield step.index, step.short, layer.op, layer.name, output.edge


def distances(
    graph: Graph,
    partners: Sequence[Partner],
    values: Sequence[Mapping[EdgeId, Array]],
    wanted: Sequence[Sequence[Array]],
) -> tuple[Distance, ...]:
    """values: of the network's edges, [sample]; wanted: of the float tensors, [sample][partner]."""
    found: list[Distance] = []
    known: dict[EdgeId, float] = {}
    for number, partner in enumerate(partners):
        type_ = graph.type(partner.edge)
        pairs = [
            (partner.float_tensor.of(_real(type_, ours[partner.edge])), theirs[number])
            for ours, theirs in zip(values, wanted, strict=True)
        ]
        flat = [tuple(np.asarray(v, np.float64).reshape(-1) for v in pair) for pair in pairs]
        here = float(np.mean([sqnr(*pair) for pair in flat]))
        before = _before(graph, partner.edge, known)
        found.append(Distance(
            partner, here, None if before is None else before - here,
            float(np.mean([cosine(*pair) for pair in flat])),
            max(float(np.abs(a - b).max(initial=0.0)) for a, b in flat),
            float(np.mean([_clipped(type_, partner.float_tensor, b) for _, b in pairs])),
        ))  # fmt: skip
        known[partner.edge] = here
    return tuple(found)


def _real(type_: TensorType, value: Array) -> Array:
    return dequantize(value, type_) if type_.is_quantized else value


def _clipped(type_: TensorType, tensor: FloatTensor, wanted: Array) -> float:
    """The share of a float tensor's elements that are more than half a step beyond its type."""
    if not type_.is_quantized or not wanted.size:
        return 0.0
    low, high = (
        tensor.of(dequantize(np.full(type_.shape, end, type_.dtype.numpy), type_))
        for end in type_.dtype.range
    )
    half = (high - low) / (type_.dtype.range[1] - type_.dtype.range[0]) / 2
    return float(((wanted < low - half) | (wanted > high + half)).mean())


def _before(graph: Graph, edge: EdgeId, known: Mapping[EdgeId, float]) -> float | None:
    """The least SQNR of what a tensor's layer reads, seen through what has no partner."""
    node = graph.producer(edge)
    pending = [] if node is None else list(node.reads)
    found, seen = [], set[EdgeId]()
    while pending:
        read = pending.pop()
        if read in seen:
            continue
        seen.add(read)
        if read in known:
            found.append(known[read])
        elif (node := graph.producer(read)) is not None:
            pending += node.reads
    return min(found, default=None)
