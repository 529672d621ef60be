"""Whether the sizes in a graph fit together, as the operators' definitions want.

Shape inference trusts what a file declares; the generated C must not. A graph that passes reads
and writes inside of its tensors only.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from mcu_deploy import operators
from mcu_deploy.errors import shorten
from mcu_deploy.formats import onnx_control
from mcu_deploy.interpreter import node_call
from mcu_deploy.ir import Graph, Node, NodeId, TensorType
from mcu_deploy.operators import Call, shapes
from mcu_deploy.operators.movement import pad_amounts
from mcu_deploy.operators.reduction import reduced_axes
from mcu_deploy.operators.selection import gather_indices

# Kernels are compiled by looking at each element, at 8 bytes of our memory for each.
_MOST_ELEMENTS = 1 << 24


class _Wrong(Exception):
    """What does not fit, as a clause."""


def misfits(graph: Graph, remedy: str = "") -> dict[NodeId, str]:
    """By node, a sentence about sizes that do not fit together in it or in graphs that it holds."""
    remedy = remedy or "The model is damaged; export it again."
    found = {}
    for node in graph.nodes:
        inner = graph.subgraphs(node.id).values()
        sentences = [s for g in inner for s in misfits(g, remedy).values()]
        try:
            clause = onnx_control.misfit(graph, node)
            _want(clause is None, clause or "")
            _rule(node)(node_call(graph, node, graph.data.constants))
        except _Wrong as wrong:
            name = f"{node.op} {shorten(node.name)!r}"
            sentences.append(f"{name} of the model cannot be computed: {wrong}. {remedy}")
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


def _gives(wanted: Sequence[int], call: Call) -> None:
    """The operator's rule gives this shape; the model must declare the same."""
    declared = _result(call).shape
    _want(
        tuple(wanted) == declared,
        f"it gives the shape {list(wanted)}, and the model declares {list(declared)}",
    )


def _type(call: Call, index: int) -> TensorType:
    type_ = call.types[index] if index < len(call.types) else None
    if type_ is None:
        raise _Wrong(f"its input {index} is missing")
    return type_


def _result(call: Call) -> TensorType:
    _want(bool(call.results), "its output is missing")
    return call.results[0]


def _parameters(call: Call, first: int, shape: tuple[int, ...]) -> None:
    """The inputs from the first on that are there have this shape."""
    for type_ in call.types[first:]:
        fits = type_ is None or type_.shape == shape
        given = list(type_.shape if type_ else ())
        _want(fits, f"a parameter has the shape {given} instead of {list(shape)}")


def _spans(call: Call, rank: int) -> tuple[tuple[int, ...], ...]:
    """Strides, dilations, pads and output_padding of a window."""
    _want(rank >= 1, "its input has no spatial axis")
    found = []
    for name, least, count, default in (
        ("strides", 1, rank, 1), ("dilations", 1, rank, 1), ("pads", 0, 2 * rank, 0),
        ("output_padding", 0, rank, 0),
    ):  # fmt: skip
        values = tuple(call.attributes.get(name, (default,) * count))
        fits = len(values) == count and min(values) >= least
        _want(fits, f"its {name} are {list(values)}")
        found.append(values)
    return tuple(found)


def _window(call: Call, kernel: tuple[int, ...], channels: int) -> None:
    """The output has the size that the window gives."""
    x, attributes = _type(call, 0), call.attributes
    rank = x.rank - 2
    strides, dilations, pads, _ = _spans(call, rank)
    _want(len(kernel) == rank and min(kernel, default=0) > 0, f"its kernel is {list(kernel)}")
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
    spans = [d * (k - 1) + 1 for d, k in zip(dilations, kernel, strict=True)]
    dilated = "" if spans == list(kernel) else f", {spans} with its dilations,"
    fits = f"its kernel {list(kernel)}{dilated} is larger than its input {list(x.shape[2:])}"
    _want(min(sizes) > 0, f"{fits} with its pads" if any(pads) else fits)
    _gives((x.shape[0], channels, *sizes), call)


def _filters(call: Call) -> tuple[TensorType, TensorType, int]:
    """Input, weights and groups of a convolution."""
    x, w, group = _type(call, 0), _type(call, 1), int(call.attributes.get("group", 1))
    _want(w.rank == x.rank >= 3, f"its weights have {w.rank} axes, and its input {x.rank}")
    kernel = tuple(call.attributes.get("kernel_shape", w.shape[2:]))
    _want(kernel == w.shape[2:], f"its kernel is {list(kernel)}, its weights' {list(w.shape[2:])}")
    _want(group > 0 and w.shape[0] % group == 0, f"{w.shape[0]} filters are no {group} groups")
    return x, w, group


def _conv(call: Call) -> None:
    x, w, group = _filters(call)
    channels, depth = x.shape[1], w.shape[1] * group
    _want(channels == depth, f"its input has {channels} channels, its weights are for {depth}")
    _parameters(call, 2, w.shape[:1])
    _window(call, w.shape[2:], w.shape[0])


def _conv_transpose(call: Call) -> None:
    (x, w, group), y = _filters(call), _result(call)
    channels_of = f"its input has {x.shape[1]} channels, its weights are for {w.shape[0]}"
    _want(w.shape[0] == x.shape[1], channels_of)
    channels = w.shape[1] * group
    _want(y.rank == x.rank and y.shape[:2] == (x.shape[0], channels), "its output has other axes")
    _parameters(call, 2, (channels,))
    _spans(call, x.rank - 2)
    _want(all(s > 0 for s in y.shape[2:]), "its output has no elements")


def _layer_normalization(call: Call) -> None:
    _same_shape(call)
    x, axis = _type(call, 0), int(call.attributes.get("axis", -1))
    _require_axis(axis, x.rank)
    for type_ in (_type(call, 1), *(t for t in call.types[2:] if t is not None)):
        fits = _broadcasts(type_.shape, x.shape[axis % x.rank :])
        _want(fits, f"a parameter of the shape {list(type_.shape)} does not fit {list(x.shape)}")


def _batch_normalization(call: Call) -> None:
    _same_shape(call)
    x, *_ = (_type(call, index) for index in range(5))
    _want(x.rank >= 1, "its input has no axis")
    _parameters(call, 1, x.shape[1:2] or (1,))  # since version 9 one axis is one channel


def _pool(call: Call) -> None:
    x = _type(call, 0)
    _want(x.rank >= 3, "its input has no spatial axis")
    _window(call, tuple(call.attributes.get("kernel_shape", ())), x.shape[1])


def _global_pool(call: Call) -> None:
    x = _type(call, 0)
    _want(x.rank >= 2, "its input has no channels")
    _gives((*x.shape[:2], *(1,) * (x.rank - 2)), call)


def _gemm(call: Call) -> None:
    a, b = _type(call, 0), _type(call, 1)
    _want(a.rank == 2 and b.rank == 2, "it multiplies matrices, and an input is none")
    rows, depth = a.shape[::-1] if call.attributes.get("transA", 0) else a.shape
    other, columns = b.shape[::-1] if call.attributes.get("transB", 0) else b.shape
    _want(depth == other, f"its matrices have {depth} columns and {other} rows")
    _gives((rows, columns), call)
    for c in call.types[2:]:
        fits = c is None or _broadcasts(c.shape, (rows, columns))
        given = list(c.shape if c else ())
        _want(fits, f"its bias of the shape {given} does not fit {[rows, columns]}")


def _matmul(call: Call) -> None:
    a, b = _type(call, 0), _type(call, 1)
    _want(a.rank >= 1 and b.rank >= 1, "an input is a single number")
    other = b.shape[-2] if b.rank > 1 else b.shape[0]
    _want(a.shape[-1] == other, f"its matrices have {a.shape[-1]} columns and {other} rows")
    leading = _broadcast([a.shape[:-2], b.shape[:-2]])
    rows, columns = a.shape[-2:-1], b.shape[-1:] if b.rank > 1 else ()
    _gives((*leading, *rows, *columns), call)


def _broadcasts(shape: tuple[int, ...], target: tuple[int, ...]) -> bool:
    """Whether a tensor of this shape can be read along the target's axes."""
    if len(shape) > len(target):
        return False
    tail = target[len(target) - len(shape) :]
    return all(s in (1, t) for s, t in zip(shape, tail, strict=True))


def _binary(call: Call) -> None:
    _gives(_broadcast([_type(call, i).shape for i in range(len(call.types))]), call)


def _broadcast(given: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """The shape along which tensors of these shapes are read together."""
    try:
        return np.broadcast_shapes(*given)
    except ValueError:
        raise _Wrong(f"the shapes {[list(s) for s in given]} do not fit together") from None


def _same_shape(call: Call) -> None:
    _gives(_type(call, 0).shape, call)


def _require_axis(axis: int, rank: int) -> None:
    _want(-rank <= axis < rank, f"it has no axis {axis}")


def _softmax(call: Call) -> None:
    _same_shape(call)
    rank, is_old = _type(call, 0).rank, call.attributes.get("opset", call.opset) < 13
    axis = int(call.attributes.get("axis", 1 if is_old else -1))
    _want(-rank <= axis < rank + is_old, f"its input has no axis {axis}")


def _fully_connected(call: Call) -> None:
    x, w = _type(call, 0), _type(call, 1)
    _want(x.rank == w.rank == 2 and x.shape[1] == w.shape[1], "its input does not fit its weights")
    _gives((x.shape[0], w.shape[0]), call)
    _parameters(call, 2, w.shape[:1])


def _shaped(call: Call) -> None:
    """The shape that constants give; what is computed at run time is checked there."""
    clause = shapes.misfit(call)
    _want(clause is None, clause or "")


def _view(call: Call) -> None:
    x, y = _type(call, 0), _result(call)
    _want(x.elements == y.elements, f"{x.elements} elements cannot become {y.elements}")
    _shaped(call)


def _transpose(call: Call) -> None:
    x = _type(call, 0)
    perm = tuple(call.attributes.get("perm", tuple(reversed(range(x.rank)))))
    _want(sorted(perm) == list(range(x.rank)), f"{list(perm)} is no order of {x.rank} axes")
    _gives([x.shape[p] for p in perm], call)


def _concat(call: Call) -> None:
    y = _result(call)
    axis = int(call.attributes.get("axis", y.rank))
    _require_axis(axis, y.rank)
    parts = [list(_type(call, index).shape) for index in range(len(call.types))]
    _want(all(len(part) == y.rank for part in parts), "a part has other axes than its output")
    total = sum(part[axis] for part in parts)
    _want(total == y.shape[axis], "its parts are not as long as its output")
    for part in parts:
        fits = [*part[:axis], total, *part[axis:][1:]] == list(y.shape)
        _want(fits, f"a part of the shape {part} does not fit {list(y.shape)}")


def _quantization(call: Call) -> None:
    _same_shape(call)
    x, scale = _type(call, 0), _type(call, 1)
    points = call.types[2] if len(call.types) > 2 else None
    fits = points is None or points.elements == scale.elements
    _want(fits, "it has not one zero point a scale")
    if call.attributes.get("block_size", 0) or scale.rank > 1:
        return  # no backend computes these; they are refused by name
    axis = int(call.attributes.get("axis", 1))
    if scale.elements != 1:
        _require_axis(axis, x.rank)
        _want(scale.elements == x.shape[axis], "it has not one scale a slice")
    value = call.optional(1)
    if value is not None:
        positive = bool((value > 0).all()) and all(map(math.isfinite, value.reshape(-1)))
        _want(positive, "a scale is not a positive number")


def _is_open(call: Call) -> bool:
    """Whether parameters are computed at run time; backends refuse that."""
    pairs = zip(call.values[1:], call.types[1:], strict=True)
    return any(value is None and type_ is not None for value, type_ in pairs)


def _pad(call: Call) -> None:
    x = _type(call, 0)
    _want(x.rank == _result(call).rank, "its output has other axes than its input")
    if _is_open(call):
        return
    axes, amounts = call.optional(3), call.optional(1)
    count = x.rank if axes is None else axes.size
    _want(amounts is None or amounts.size == 2 * count, f"its pads are not two for {count} axes")
    _gives([b + s + a for s, (b, a) in zip(x.shape, pad_amounts(call), strict=True)], call)


def _split(call: Call) -> None:
    x, axis = _type(call, 0), int(call.attributes.get("axis", 0))
    _require_axis(axis, x.rank)
    fits = _is_open(call) or sum(r.shape[axis] for r in call.results) == x.shape[axis]
    _want(fits, "its parts are not as long as its input")


def _gather(call: Call) -> None:
    x = _type(call, 0)
    _want(x.rank > 0, "its input is a single number")
    if _is_open(call):
        return
    axis, indices = call.axis(), gather_indices(call)
    inside = not indices.size or (indices.min() >= 0 and indices.max() < x.shape[axis])
    _want(bool(inside), f"an index is outside of the {x.shape[axis]} that its input has")
    _gives((*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :]), call)


def _resize(call: Call) -> None:
    x = _type(call, 0)
    fits = x.rank == _result(call).rank and x.elements > 0
    _want(fits or _is_open(call), "its output has other axes than its input")


def _reduction(call: Call) -> None:
    if _is_open(call):
        return
    x, reduced = _type(call, 0), reduced_axes(call)
    _want(x.rank > 0 or not reduced, "its input is a single number")
    kept = call.attributes.get("keepdims", 1)
    sizes = [1 if axis in reduced else s for axis, s in enumerate(x.shape)]
    _gives([s for axis, s in enumerate(sizes) if kept or axis not in reduced], call)


def _clip(call: Call) -> None:
    _same_shape(call)
    single = all(bound is None or bound.elements == 1 for bound in call.types[1:])
    _want(single, "a bound of it is no single number")


_RULES: dict[str, Callable[[Call], None]] = {
    **dict.fromkeys(("Conv", "HybridConv"), _conv),
    "ConvTranspose": _conv_transpose,
    "LayerNormalization": _layer_normalization,
    "BatchNormalization": _batch_normalization,
    **dict.fromkeys(("AveragePool", "MaxPool"), _pool),
    **dict.fromkeys(("GlobalAveragePool", "GlobalMaxPool"), _global_pool),
    "Gemm": _gemm,
    "FullyConnected": _fully_connected,
    **dict.fromkeys(("Softmax", "Softmax16", "LogSoftmax"), _softmax),
    "MatMul": _matmul,
    **dict.fromkeys(("Add", "Sub", "Mul", "Div"), _binary),
    **dict.fromkeys(("Reshape", "Flatten", "Squeeze", "Unsqueeze"), _view),
    "Clip": _clip,
    "Transpose": _transpose,
    "Concat": _concat,
    "Pad": _pad,
    **dict.fromkeys(("ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin"), _reduction),
    "Split": _split,
    "Gather": _gather,
    "Resize": _resize,
    **dict.fromkeys(("ConstantOfShape", "Expand", "OneHot", "Range", "Slice", "Tile"), _shaped),
    **dict.fromkeys(("QuantizeLinear", "DequantizeLinear"), _quantization),
    **dict.fromkeys(("Quantize", "Requantize"), _same_shape),
}


def _rule(node: Node) -> Callable[[Call], None]:
    """TFLite's operators have the sizes of ONNX's of the same name."""
    operator = operators.find(node.domain, node.op)
    rule = _RULES.get(node.op) if node.domain in ("", "tflite") else None
    is_elementwise = operator is not None and operator.elementwise
    return rule or (_same_shape if is_elementwise else lambda call: None)
