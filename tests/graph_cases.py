"""Graphs for the tests of the compiler's stages: written by hand, made at random, and real ones."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from mcu_deploy import choose, formats, passes, plan, selection
from mcu_deploy.arrange import flow, layouts
from mcu_deploy.backends.interface import Backend
from mcu_deploy.errors import ModelError
from mcu_deploy.ir import DType, EdgeId, Graph, GraphEditor, TensorType
from mcu_deploy.plan import Plan
from mcu_deploy.selection import Choice, choices_within
from mcu_deploy.session import Session

Array = npt.NDArray[Any]
Pick = Callable[[int, int], int]  # an integer between two, both included


class Net:
    """Writes a graph of float32 tensors by hand."""

    def __init__(self) -> None:
        self.editor = GraphEditor.empty("net")

    def input(self, *shape: int) -> EdgeId:
        name = f"in{len(self.editor.inputs)}"
        edge = self.editor.add_edge(name, TensorType(DType.FLOAT32, shape))
        self.editor.inputs.append(edge)
        return edge

    def constant(self, value: Array) -> EdgeId:
        type_ = TensorType(DType.of(value.dtype), value.shape)
        return self.editor.add_constant(f"constant{len(self.editor.edges)}", value, type_)

    def op(
        self, op: str, inputs: Sequence[EdgeId], shape: Sequence[int], **attributes: Any
    ) -> EdgeId:
        name = f"{op.lower()}{len(self.editor.nodes)}"
        edge = self.editor.add_edge(f"{name}_out", TensorType(DType.FLOAT32, tuple(shape)))
        self.editor.add_node(op, inputs, [edge], name, attributes)
        return edge

    def shape(self, edge: EdgeId) -> tuple[int, ...]:
        return self.editor.types[edge].shape

    def finish(self, *outputs: EdgeId) -> Graph:
        self.editor.outputs = list(outputs)
        return self.editor.finish(opset=17)


def preference() -> tuple[Backend, ...]:
    """The backends of the host, in their default order."""
    return Session().preference("host")


def laid_out(graph: Graph) -> Graph:
    """A graph with the layouts that the host's backends ask for."""
    return layouts.assign(*choose.assign(graph, preference()))


def planned(graph: Graph, reuse: bool = True) -> tuple[Graph, tuple[Choice, ...], Plan]:
    """A graph through the stages from the partitioner to the planner, for the host."""
    backends = preference()
    graph, assignment = choose.assign(graph, backends)
    graph, assignment = flow.number(layouts.assign(graph, assignment), assignment)
    choices = selection.select(graph, assignment, backends).choices
    return graph, choices, plan.make(graph, choices, plan.Planning(reuse=reuse))


def plan_digest(path: str) -> str:
    """A hash of all that the planner says of a model, and of its workloads' fingerprints."""
    graph, choices, made = planned(passes.run(formats.load(Path(path))))
    prints = [choice.workload.fingerprint for choice in choices_within(choices)]
    text = repr((graph.topology, made.buffers, made.tensors, made.places, made.bytes, prints))
    return hashlib.sha256(text.encode()).hexdigest()


# Models of the pack that are of many kinds and soon compiled.
SOME_MODELS = (
    "catdog_cnn_f32", "digits_res_qdq_s8s8_pt", "micro_kws_m_qoperator", "mlperf_ic_int8",
    "mlperf_kws_dynrange", "mlperf_kws_int8", "tflm_mnist_lstm_int8", "torch_digits_cnn",
    "torch_dscnn_hswish_se", "torch_lstm_ts", "torch_opsoup_a", "torch_unet_convt",
)  # fmt: skip


def loadable(folder: Path, names: Sequence[str] | None = None) -> Iterator[tuple[str, Graph]]:
    """The models of the pack that can be read, by name: these, or all."""
    for path in sorted(folder.glob("*/model.onnx")):
        if names is None or path.parent.name in names:
            try:
                yield path.parent.name, formats.load(path)
            except ModelError:
                continue


def random_net(pick: Pick) -> Graph:
    """Convolutions, pools, sums, views and concatenations of small tensors, wired at random."""
    net = Net()
    edges = [net.input(1, pick(1, 4), pick(1, 5), pick(1, 5))]
    for _ in range(pick(2, 8)):
        edge = edges[pick(max(0, len(edges) - 4), len(edges) - 1)]
        grow = _GROWERS[pick(0, len(_GROWERS) - 1)]
        grown = grow(net, edge, edges, pick)
        if grown is not None and np.prod(net.shape(grown)) <= 400:
            edges.append(grown)
    others = [edges[pick(0, len(edges) - 1)] for _ in range(pick(0, 2))]
    return net.finish(*dict.fromkeys((edges[-1], *others)))


def random_inputs(graph: Graph, seed: int = 0) -> list[Array]:
    """A value for each input of a float32 graph."""
    generator = np.random.default_rng(seed)
    return [generator.normal(size=graph.type(e).shape).astype(np.float32) for e in graph.inputs]


def _values(*shape: int) -> Array:
    return (np.arange(int(np.prod(shape))) % 7 - 3).reshape(shape).astype(np.float32) / 4


def _conv(net: Net, edge: EdgeId, edges: Sequence[EdgeId], pick: Pick) -> EdgeId | None:
    shape = net.shape(edge)
    if len(shape) != 4:
        return None
    batch, channels, height, width = shape
    size, depthwise = (1, 3)[pick(0, 1)], pick(0, 2) == 0
    filters = channels if depthwise else pick(1, 4)
    weights = net.constant(_values(filters, 1 if depthwise else channels, size, size))
    return net.op(
        "Conv", [edge, weights], (batch, filters, height, width), kernel_shape=(size, size),
        pads=(size // 2,) * 4, strides=(1, 1), dilations=(1, 1),
        group=channels if depthwise else 1,
    )  # fmt: skip


def _pool(net: Net, edge: EdgeId, edges: Sequence[EdgeId], pick: Pick) -> EdgeId | None:
    shape = net.shape(edge)
    if len(shape) != 4 or min(shape[2:]) < 2:
        return None
    if pick(0, 2) == 0:
        return net.op("GlobalAveragePool", [edge], (*shape[:2], 1, 1))
    smaller = (*shape[:2], shape[2] // 2, shape[3] // 2)
    op = ("MaxPool", "AveragePool")[pick(0, 1)]
    return net.op(op, [edge], smaller, kernel_shape=(2, 2), strides=(2, 2), pads=(0, 0, 0, 0))


def _add(net: Net, edge: EdgeId, edges: Sequence[EdgeId], pick: Pick) -> EdgeId | None:
    shape = net.shape(edge)
    alike = [e for e in edges if net.shape(e) == shape]
    narrow = [
        e for e in edges
        if len(net.shape(e)) == len(shape)
        and all(a in (1, b) for a, b in zip(net.shape(e), shape, strict=True))
    ]  # fmt: skip
    others = (alike, narrow)[pick(0, 1)]
    other = others[pick(0, len(others) - 1)]
    if pick(0, 3) == 0:
        other = net.constant(_values(*shape[1:]))
    pair = [edge, other] if pick(0, 1) else [other, edge]
    return net.op(("Add", "Mul")[pick(0, 1)], pair, shape)


def _transpose(net: Net, edge: EdgeId, edges: Sequence[EdgeId], pick: Pick) -> EdgeId | None:
    shape, left, perm = net.shape(edge), list(range(len(net.shape(edge)))), []
    while left:
        perm.append(left.pop(pick(0, len(left) - 1)))
    return net.op("Transpose", [edge], [shape[a] for a in perm], perm=tuple(perm))


def _reshape(net: Net, edge: EdgeId, edges: Sequence[EdgeId], pick: Pick) -> EdgeId | None:
    shape = net.shape(edge)
    total = int(np.prod(shape))
    divisor = next(d for d in range(pick(1, 4), 0, -1) if total % d == 0)
    shapes = [
        (1, total),
        (divisor, total // divisor),
        (1, divisor, total // divisor, 1),
        shape[::-1],
    ]
    target = shapes[pick(0, len(shapes) - 1)]
    return net.op("Reshape", [edge, net.constant(np.array(target, np.int64))], target)


def _concat(net: Net, edge: EdgeId, edges: Sequence[EdgeId], pick: Pick) -> EdgeId | None:
    shape = net.shape(edge)
    alike = [e for e in edges if net.shape(e) == shape]
    axis = pick(0, len(shape) - 1)
    joined = [2 * s if a == axis else s for a, s in enumerate(shape)]
    return net.op("Concat", [edge, alike[pick(0, len(alike) - 1)]], joined, axis=axis)


def _unary(net: Net, edge: EdgeId, edges: Sequence[EdgeId], pick: Pick) -> EdgeId | None:
    return net.op(("Relu", "Neg", "Abs")[pick(0, 2)], [edge], net.shape(edge))


_GROWERS = (_conv, _conv, _pool, _add, _add, _transpose, _transpose, _reshape, _concat, _unary)
