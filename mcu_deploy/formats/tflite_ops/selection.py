"""What picks elements or joins tensors along a new axis: SLICE, STRIDED_SLICE, SPLIT, SPLIT_V,
UNPACK, GATHER, PACK, SHAPE, BROADCAST_ARGS. They are ONNX's operators for every type."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import tflite

from mcu_deploy.formats.tflite_graph import FAR, GraphBuilder
from mcu_deploy.formats.tflite_operation import Operation, TfliteTensor
from mcu_deploy.ir import TensorType


def _add_slice(
    operation: Operation,
    graph: GraphBuilder,
    starts: Sequence[int],
    ends: Sequence[int],
    steps: Sequence[int],
) -> None:
    """A Slice over all axes; the output's shape may lack axes of size 1."""
    x, y = operation.input(0), operation.output
    sizes = [
        len(range(*slice(*bounds).indices(size)))
        for size, bounds in zip(x.type.shape, zip(starts, ends, steps, strict=True), strict=True)
    ]
    if int(np.prod(sizes)) != y.type.elements:
        raise operation.damaged(f"it picks {sizes}, and its output is {list(y.type.shape)}")
    picked = graph.edge(y.name, TensorType(y.type.dtype, tuple(sizes), y.type.quantization))
    axes = range(x.type.rank)
    graph.add_slice(operation, graph.read(x), picked, starts, ends, axes, steps)
    graph.add_reshape(operation, picked, y)


def _integers(operation: Operation, index: int) -> list[int]:
    """A constant list with one integer an axis of the first input."""
    values = [int(v) for v in operation.constant(index).reshape(-1)]
    if len(values) != operation.input(0).type.rank:
        raise operation.damaged(f"its input {index} has {len(values)} values, not one an axis")
    return values


def _slice(operation: Operation, graph: GraphBuilder) -> None:
    """A size of -1 is all that is left."""
    operation.require_alike(operation.input(0), operation.output)
    starts, sizes = _integers(operation, 1), _integers(operation, 2)
    ends = [FAR if n == -1 else s + n for s, n in zip(starts, sizes, strict=True)]
    _add_slice(operation, graph, starts, ends, [1] * len(starts))


def _strided_slice(operation: Operation, graph: GraphBuilder) -> None:
    """Bit i of a mask is of axis i: begin and end go to the border, shrink picks one element."""
    operation.require_alike(operation.input(0), operation.output)
    options = operation.options(tflite.StridedSliceOptions)
    if options.EllipsisMask() or options.NewAxisMask() or options.Offset():
        raise operation.unsupported(
            "has an ellipsis, a new axis, or ends that count from its begins",
            "Write all axes out in the model.",
        )
    starts, ends, steps = (_integers(operation, index) for index in (1, 2, 3))
    if 0 in steps:
        raise operation.damaged("a stride is 0")
    for axis, size in enumerate(operation.input(0).type.shape):
        bit, far = 1 << axis, FAR if steps[axis] > 0 else -FAR
        starts[axis] = -far if options.BeginMask() & bit else starts[axis]
        if options.ShrinkAxisMask() & bit:
            starts[axis] = slice(starts[axis], None, steps[axis]).indices(size)[0]
            ends[axis], steps[axis] = starts[axis] + 1, 1
            continue
        ends[axis] = far if options.EndMask() & bit else ends[axis]
    _add_slice(operation, graph, starts, ends, steps)


def _split(operation: Operation, graph: GraphBuilder) -> None:
    """Into equal parts; the axis is the first input."""
    _add_split(operation, graph, operation.input(1), operation.number(0))


def _split_v(operation: Operation, graph: GraphBuilder) -> None:
    """Into parts of the sizes that the outputs have; the axis is the last input."""
    _add_split(operation, graph, operation.input(0), operation.number(2), is_even=False)


def _add_split(
    operation: Operation, graph: GraphBuilder, x: TfliteTensor, number: int, is_even: bool = True
) -> None:
    axis = operation.axis(x, number)
    if any(y.type.rank != x.type.rank for y in operation.outputs):
        raise operation.damaged("a part has other axes than its input")
    operation.require_alike(x, *operation.outputs)
    inputs = [graph.read(x)]
    if not is_even:
        sizes = [y.type.shape[axis] for y in operation.outputs]
        inputs.append(graph.integers(f"{operation.name} sizes", sizes))
    graph.add(operation, "Split", inputs, operation.outputs, {"axis": axis})


def _unpack(operation: Operation, graph: GraphBuilder) -> None:
    """One element of an axis each, without that axis."""
    x = operation.input(0)
    axis = operation.axis(x, int(operation.options(tflite.UnpackOptions).Axis()))
    if len(operation.outputs) != x.type.shape[axis]:
        raise operation.damaged(f"it has {len(operation.outputs)} outputs of {list(x.type.shape)}")
    operation.require_alike(x, *operation.outputs)
    edge = graph.read(x)
    for place, y in enumerate(operation.outputs):
        at = graph.integers(f"{y.name} place", place)
        graph.add(operation, "Gather", [edge, at], y, {"axis": axis})


def _gather(operation: Operation, graph: GraphBuilder) -> None:
    operation.require_alike(operation.input(0), operation.output)
    options = operation.options(tflite.GatherOptions)
    if options.BatchDims():
        raise operation.unsupported("gathers in batches", "Convert the model without batch_dims.")
    inputs = [graph.read(operation.input(k)) for k in (0, 1)]
    graph.add(operation, "Gather", inputs, operation.output, {"axis": int(options.Axis())})


def _pack(operation: Operation, graph: GraphBuilder) -> None:
    """A Concat of the parts, each with an axis of size 1 more."""
    y = operation.output
    axis = int(operation.options(tflite.PackOptions).Axis()) % max(y.type.rank, 1)
    parts = []
    for x in operation.given:
        operation.require_alike(x, y)
        shape = (*x.type.shape[:axis], 1, *x.type.shape[axis:])
        parts.append(graph.reshaped(operation, graph.read(x), shape))
    graph.add(operation, "Concat", parts, y, {"axis": axis})


def _shape(operation: Operation, graph: GraphBuilder) -> None:
    """A constant: shapes are static."""
    _add_shape(operation, graph, operation.input(0).type.shape)


def _broadcast_args(operation: Operation, graph: GraphBuilder) -> None:
    """The shape that two shapes broadcast to, a constant."""
    given = [graph.shape_of(operation, k).reshape(-1) for k in (0, 1)]
    try:
        shape = np.broadcast_shapes(*(tuple(map(int, sizes)) for sizes in given))
    except ValueError:
        listed = " and ".join(str(sizes.tolist()) for sizes in given)
        raise operation.damaged(f"its shapes {listed} do not fit together") from None
    _add_shape(operation, graph, shape)


def _add_shape(operation: Operation, graph: GraphBuilder, shape: tuple[int, ...]) -> None:
    """The operator's output, which is a shape."""
    y = operation.output
    value = np.array(shape, y.type.dtype.numpy)
    if y.type.shape != value.shape:
        raise operation.damaged(f"its output is {list(y.type.shape)}, not {list(value.shape)}")
    graph.add(operation, "Identity", [graph.constant(f"{operation.name} value", value)], y)
    graph.shapes[y.index] = value


CONVERTERS = {
    "BROADCAST_ARGS": _broadcast_args,
    "SLICE": _slice,
    "STRIDED_SLICE": _strided_slice,
    "SPLIT": _split,
    "SPLIT_V": _split_v,
    "UNPACK": _unpack,
    "GATHER": _gather,
    "PACK": _pack,
    "SHAPE": _shape,
}
