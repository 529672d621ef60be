"""Whether the sizes in a graph fit together, as the operators' definitions want.

Shape inference trusts what a file declares; the generated C must not. A graph that passes reads
and writes inside of its tensors only.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from mcu_deploy import operators
from mcu_deploy.formats.obstacles import short
from mcu_deploy.formats.onnx_control import misfit
from mcu_deploy.interpreter import node_call
from mcu_deploy.ir import Graph, Node, NodeId, TensorType
from mcu_deploy.operators import shapes
from mcu_deploy.operators.movement import pad_amounts
from mcu_deploy.operators.reduction import reduced_axes
from mcu_deploy.operators.selection import gather_axis, gather_indices

# Kernels are compiled by looking at each element, at 8 bytes of our memory for each.
_MOST_ELEMENTS = 1 << 24


class _Wrong(Exception):
    """What does not fit, as a clause."""


def misfits(graph: Graph) -> dict[NodeId, str]:
    """By node, a sentence about sizes that do not fit together in it or in graphs that it holds."""
    found = {}
    for node in graph.nodes:
        sentences = [s for g in graph.subgraphs(node.id).values() for s in misfits(g).values()]
        rule = _rule(node)
        try:
            if rule is not None:
                rule(graph, node)
        except _Wrong as wrong:
            sentences.append(
                f"{node.op} {short(node.name)!r} of the model cannot be computed: {wrong}. "
                "The model is damaged; export it again."
            )
        if sentences:
            found[node.id] = sentences[0]
    return found


def too_large(type_: TensorType) -> str | None:
    """A clause about a computed tensor that is too large to be compiled.

    A model of a few bytes may ask for tensors that fill the machine that compiles it.
    """
    if type_.elements <= _MOST_ELEMENTS:
        return None
    much = "2 GiB" if type_.bytes >= 1 << 31 else f"{_MOST_ELEMENTS:,} elements"
    return (
        f"has the shape {list(type_.shape)}, which is more than {much} and more than any "
        "microcontroller holds; use a smaller shape"
    )


def _want(condition: bool, clause: str) -> None:
    if not condition:
        raise _Wrong(clause)


def _gives(wanted: Sequence[int], declared: TensorType) -> None:
    """The operator's rule gives this shape; the model must declare the same."""
    _want(
        tuple(wanted) == declared.shape,
        f"it gives the shape {list(wanted)}, and the model declares {list(declared.shape)}",
    )


def _type(graph: Graph, node: Node, index: int) -> TensorType:
    edge = node.inputs[index] if index < len(node.inputs) else None
    if edge is None:
        raise _Wrong(f"its input {index} is missing")
    return graph.type(edge)


def _result(graph: Graph, node: Node) -> TensorType:
    if not node.outputs or node.outputs[0] is None:
        raise _Wrong("its output is missing")
    return graph.type(node.outputs[0])


def _bias(graph: Graph, node: Node, size: int) -> None:
    if len(node.inputs) > 2 and node.inputs[2] is not None:
        shape = graph.type(node.inputs[2]).shape
        _want(shape == (size,), f"its bias has the shape {list(shape)}, not [{size}]")


def _window(graph: Graph, node: Node, kernel: tuple[int, ...], channels: int) -> None:
    """Strides, dilations and pads; the output has the size that they give."""
    attributes = graph.attributes(node.id)
    x, y = _type(graph, node, 0), _result(graph, node)
    rank = x.rank - 2
    _want(rank >= 1, "its input has no spatial axis")
    _want(len(kernel) == rank and min(kernel, default=0) > 0, f"its kernel is {list(kernel)}")
    strides = tuple(attributes.get("strides", (1,) * rank))
    dilations = tuple(attributes.get("dilations", (1,) * rank))
    pads = tuple(attributes.get("pads", (0,) * 2 * rank))
    _want(len(strides) == rank and min(strides) > 0, f"its strides are {list(strides)}")
    _want(len(dilations) == rank and min(dilations) > 0, f"its dilations are {list(dilations)}")
    _want(len(pads) == 2 * rank and min(pads) >= 0, f"its pads are {list(pads)}")
    mode = attributes.get("auto_pad", "NOTSET")
    _want(mode in ("NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"), f"its auto_pad is {mode!r}")
    if mode == "VALID":
        pads = (0,) * 2 * rank
    sizes = []
    for axis in range(rank):
        size, stride = x.shape[2 + axis], strides[axis]
        reach = size + pads[axis] + pads[rank + axis] - dilations[axis] * (kernel[axis] - 1) - 1
        steps = reach // stride
        if attributes.get("ceil_mode", 0) and (steps + 1) * stride < size + pads[axis]:
            steps = -(-reach // stride)
        sizes.append(-(-size // stride) if mode.startswith("SAME") else steps + 1)
    _want(min(sizes) > 0, f"its kernel {list(kernel)} is larger than its input {list(x.shape)}")
    _gives((x.shape[0], channels, *sizes), y)


def _conv(graph: Graph, node: Node) -> None:
    x, w = _type(graph, node, 0), _type(graph, node, 1)
    attributes = graph.attributes(node.id)
    group = int(attributes.get("group", 1))
    _want(w.rank == x.rank, f"its weights have {w.rank} axes, and its input {x.rank}")
    _want(group > 0 and w.shape[0] % group == 0, f"{w.shape[0]} filters are no {group} groups")
    channels, depth = x.shape[1], w.shape[1] * group
    _want(channels == depth, f"its input has {channels} channels, its weights are for {depth}")
    kernel = tuple(attributes.get("kernel_shape", w.shape[2:]))
    _want(kernel == w.shape[2:], f"its kernel is {list(kernel)}, its weights' {list(w.shape[2:])}")
    _bias(graph, node, w.shape[0])
    _window(graph, node, kernel, w.shape[0])


def _conv_transpose(graph: Graph, node: Node) -> None:
    x, w, y = _type(graph, node, 0), _type(graph, node, 1), _result(graph, node)
    attributes = graph.attributes(node.id)
    group, rank = int(attributes.get("group", 1)), x.rank - 2
    _want(rank >= 1 and w.rank == x.rank == y.rank, "its tensors have different numbers of axes")
    _want(group > 0 and x.shape[1] % group == 0, f"{x.shape[1]} channels are no {group} groups")
    _want(w.shape[0] == x.shape[1], f"its weights are for {w.shape[0]} channels")
    kernel = tuple(attributes.get("kernel_shape", w.shape[2:]))
    _want(kernel == w.shape[2:], f"its kernel is {list(kernel)}, its weights' {list(w.shape[2:])}")
    _want(y.shape[:2] == (x.shape[0], w.shape[1] * group), "its output has other channels")
    _bias(graph, node, w.shape[1] * group)
    for name, least, count in (
        ("strides", 1, rank), ("dilations", 1, rank), ("pads", 0, 2 * rank),
        ("output_padding", 0, rank),
    ):  # fmt: skip
        values = tuple(attributes.get(name, (least,) * count))
        fits = len(values) == count and all(v >= least for v in values)
        _want(fits, f"its {name} are {list(values)}")
    _want(all(s > 0 for s in y.shape[2:]), "its output has no elements")


def _layer_normalization(graph: Graph, node: Node) -> None:
    _same_shape(graph, node)
    x, gain = _type(graph, node, 0), _type(graph, node, 1)
    axis = int(graph.attributes(node.id).get("axis", -1))
    _want(-x.rank <= axis < x.rank, f"it has no axis {axis}")
    parameters = [gain, *(graph.type(e) for e in node.inputs[2:] if e is not None)]
    for type_ in parameters:
        fits = _broadcasts(type_.shape, x.shape[axis % x.rank :])
        _want(fits, f"a parameter has the shape {list(type_.shape)}")


def _batch_normalization(graph: Graph, node: Node) -> None:
    _same_shape(graph, node)
    x = _type(graph, node, 0)
    _want(x.rank >= 2, "its input has no channels")
    for index in range(1, 5):
        shape = _type(graph, node, index).shape
        _want(shape == (x.shape[1],), f"a parameter has the shape {list(shape)}")


def _pool(graph: Graph, node: Node) -> None:
    x = _type(graph, node, 0)
    _want(x.rank >= 3, "its input has no spatial axis")
    _window(graph, node, tuple(graph.attributes(node.id).get("kernel_shape", ())), x.shape[1])


def _global_pool(graph: Graph, node: Node) -> None:
    x, y = _type(graph, node, 0), _result(graph, node)
    _want(x.rank >= 2, "its input has no channels")
    _gives((*x.shape[:2], *(1,) * (x.rank - 2)), y)


def _gemm(graph: Graph, node: Node) -> None:
    attributes = graph.attributes(node.id)
    a, b, y = _type(graph, node, 0), _type(graph, node, 1), _result(graph, node)
    _want(a.rank == 2 and b.rank == 2, "it multiplies matrices, and an input is none")
    rows, depth = a.shape[::-1] if attributes.get("transA", 0) else a.shape
    other, columns = b.shape[::-1] if attributes.get("transB", 0) else b.shape
    _want(depth == other, f"its matrices have {depth} columns and {other} rows")
    _gives((rows, columns), y)
    if len(node.inputs) > 2 and node.inputs[2] is not None:
        c = graph.type(node.inputs[2])
        _want(_broadcasts(c.shape, y.shape), f"its bias has the shape {list(c.shape)}")


def _matmul(graph: Graph, node: Node) -> None:
    a, b, y = _type(graph, node, 0), _type(graph, node, 1), _result(graph, node)
    _want(a.rank >= 1 and b.rank >= 1, "an input is a single number")
    other = b.shape[-2] if b.rank > 1 else b.shape[0]
    _want(a.shape[-1] == other, f"its matrices have {a.shape[-1]} columns and {other} rows")
    leading = _broadcast([a.shape[:-2], b.shape[:-2]])
    rows, columns = a.shape[-2:-1], b.shape[-1:] if b.rank > 1 else ()
    _gives((*leading, *rows, *columns), y)


def _broadcasts(shape: tuple[int, ...], target: tuple[int, ...]) -> bool:
    """Whether a tensor of this shape can be read along the target's axes."""
    if len(shape) > len(target):
        return False
    tail = target[len(target) - len(shape) :]
    return all(s in (1, t) for s, t in zip(shape, tail, strict=True))


def _binary(graph: Graph, node: Node) -> None:
    y = _result(graph, node)
    _gives(_broadcast([_type(graph, node, i).shape for i in range(len(node.inputs))]), y)


def _broadcast(given: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """The shape along which tensors of these shapes are read together."""
    try:
        return np.broadcast_shapes(*given)
    except ValueError:
        raise _Wrong(f"the shapes {[list(s) for s in given]} do not fit together") from None


def _control(graph: Graph, node: Node) -> None:
    clause = misfit(graph, node)
    _want(clause is None, clause or "")


def _same_shape(graph: Graph, node: Node) -> None:
    _gives(_type(graph, node, 0).shape, _result(graph, node))


def _softmax(graph: Graph, node: Node) -> None:
    _same_shape(graph, node)
    call = node_call(graph, node, graph.data.constants)
    rank, is_old = call.type(0).rank, call.attributes.get("opset", call.opset) < 13
    axis = int(call.attributes.get("axis", 1 if is_old else -1))
    _want(-rank <= axis < rank + is_old, f"its input has no axis {axis}")


def _fully_connected(graph: Graph, node: Node) -> None:
    x, w, y = _type(graph, node, 0), _type(graph, node, 1), _result(graph, node)
    _want(x.rank == w.rank == 2 and x.shape[1] == w.shape[1], "its input does not fit its weights")
    _gives((x.shape[0], w.shape[0]), y)
    for bias in node.inputs[2:]:
        fits = bias is None or graph.type(bias).shape == w.shape[:1]
        _want(fits, "its bias does not fit its weights")


def _shaped(graph: Graph, node: Node) -> None:
    """The shape that constants give; what is computed at run time is checked there."""
    clause = shapes.misfit(node_call(graph, node, graph.data.constants))
    _want(clause is None, clause or "")


def _view(graph: Graph, node: Node) -> None:
    x, y = _type(graph, node, 0), _result(graph, node)
    _want(x.elements == y.elements, f"{x.elements} elements cannot become {y.elements}")
    _shaped(graph, node)


def _transpose(graph: Graph, node: Node) -> None:
    x, y = _type(graph, node, 0), _result(graph, node)
    perm = tuple(graph.attributes(node.id).get("perm", tuple(reversed(range(x.rank)))))
    _want(sorted(perm) == list(range(x.rank)), f"{list(perm)} is no order of {x.rank} axes")
    _gives([x.shape[p] for p in perm], y)


def _concat(graph: Graph, node: Node) -> None:
    y = _result(graph, node)
    axis = int(graph.attributes(node.id).get("axis", y.rank))
    _want(-y.rank <= axis < y.rank, f"it has no axis {axis}")
    total = 0
    for index in range(len(node.inputs)):
        x = _type(graph, node, index)
        _want(
            x.rank == y.rank and all(
                a == b for i, (a, b) in enumerate(zip(x.shape, y.shape, strict=True))
                if i != axis % y.rank
            ),
            f"a part of the shape {list(x.shape)} does not fit {list(y.shape)}",
        )  # fmt: skip
        total += x.shape[axis]
    _want(total == y.shape[axis], "its parts are not as long as its output")


def _quantization(graph: Graph, node: Node) -> None:
    _same_shape(graph, node)
    x, scale = _type(graph, node, 0), _type(graph, node, 1)
    attributes = graph.attributes(node.id)
    points = scale
    if len(node.inputs) > 2 and node.inputs[2] is not None:
        points = graph.type(node.inputs[2])
        _want(points.elements == scale.elements, "it has not one zero point a scale")
    if attributes.get("block_size", 0) or scale.rank > 1:
        return  # no backend computes these; they are refused by name
    axis = int(attributes.get("axis", 1))
    if scale.elements != 1:
        _want(-x.rank <= axis < x.rank, f"it has no axis {axis}")
        _want(scale.elements == x.shape[axis], "it has not one scale a slice")
    value = graph.constant(node.inputs[1])
    if value is not None:
        positive = bool((value > 0).all()) and all(map(math.isfinite, value.reshape(-1)))
        _want(positive, "a scale is not a positive number")


def _pad(graph: Graph, node: Node) -> None:
    x, y = _type(graph, node, 0), _result(graph, node)
    _want(x.rank == y.rank, "its output has other axes than its input")
    call = node_call(graph, node, graph.data.constants)
    if any(e is not None and graph.constant(e) is None for e in node.inputs[1:]):
        return  # computed at run time; refused by the backends
    axes, amounts = call.optional(3), call.optional(1)
    count = x.rank if axes is None else axes.size
    _want(amounts is None or amounts.size == 2 * count, f"its pads are not two for {count} axes")
    sizes = tuple(b + s + a for s, (b, a) in zip(x.shape, pad_amounts(call), strict=True))
    _gives(sizes, y)


def _picked(graph: Graph, node: Node) -> None:
    """Split, Gather, Resize: what is picked is inside, and as much as the output holds."""
    call = node_call(graph, node, graph.data.constants)
    if any(e is not None and graph.constant(e) is None for e in node.inputs[1:]):
        return  # picked at run time; refused by the backends
    x, y = _type(graph, node, 0), _result(graph, node)
    if node.op == "Split":
        axis = int(graph.attributes(node.id).get("axis", 0))
        _want(-x.rank <= axis < x.rank, f"it has no axis {axis}")
        _want(sum(r.shape[axis] for r in call.results) == x.shape[axis], "its parts' sizes")
        return
    if node.op == "Gather":
        _want(x.rank > 0, "its input is a single number")
        axis, size = gather_axis(call), x.shape[gather_axis(call)]
        indices = gather_indices(call)
        inside = not indices.size or (indices.min() >= 0 and indices.max() < size)
        _want(bool(inside), f"an index is outside of the {size} that its input has")
        wanted = (*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :])
        _gives(wanted, y)
        return
    _want(x.rank == y.rank and x.elements > 0, "its output has other axes than its input")


def _reduction(graph: Graph, node: Node) -> None:
    call = node_call(graph, node, graph.data.constants)
    if any(e is not None and graph.constant(e) is None for e in node.inputs[1:]):
        return  # axes computed at run time; refused by the backends
    x, y = _type(graph, node, 0), _result(graph, node)
    _want(x.rank > 0 or not reduced_axes(call), "its input is a single number")
    reduced = reduced_axes(call)
    if graph.attributes(node.id).get("keepdims", 1):
        _gives([1 if axis in reduced else s for axis, s in enumerate(x.shape)], y)
    else:
        _gives([s for axis, s in enumerate(x.shape) if axis not in reduced], y)


_RULES: dict[str, Callable[[Graph, Node], None]] = {
    "Conv": _conv,
    "ConvTranspose": _conv_transpose,
    "LayerNormalization": _layer_normalization,
    "BatchNormalization": _batch_normalization,
    "AveragePool": _pool,
    "MaxPool": _pool,
    "GlobalAveragePool": _global_pool,
    "GlobalMaxPool": _global_pool,
    "Gemm": _gemm,
    "FullyConnected": _fully_connected,
    "Softmax": _softmax,
    "MatMul": _matmul,
    **dict.fromkeys(("Add", "Sub", "Mul", "Div"), _binary),
    **dict.fromkeys(("Reshape", "Flatten", "Squeeze", "Unsqueeze"), _view),
    "Transpose": _transpose,
    "Concat": _concat,
    "Pad": _pad,
    **dict.fromkeys(("ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin"), _reduction),
    **dict.fromkeys(("Split", "Gather", "Resize"), _picked),
    **dict.fromkeys(("ConstantOfShape", "Expand", "OneHot", "Range", "Slice", "Tile"), _shaped),
    **dict.fromkeys(("If", "Loop", "Scan"), _control),
    **dict.fromkeys(("QuantizeLinear", "DequantizeLinear"), _quantization),
}


def _rule(node: Node) -> Callable[[Graph, Node], None] | None:
    """TFLite's operators have the sizes of ONNX's of the same name."""
    operator = operators.find(node.domain, node.op)
    if operator is not None and operator.elementwise:
        return _same_shape
    return _RULES.get(node.op) if node.domain in ("", "tflite") else None
