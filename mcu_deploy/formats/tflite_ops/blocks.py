"""What moves whole blocks, lines or rows: SPACE_TO_BATCH_ND, BATCH_TO_SPACE_ND, REVERSE_V2,
MIRROR_PAD, BROADCAST_TO, FILL, GATHER_ND, EMBEDDING_LOOKUP. ONNX's operators for every type."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import numpy as np
import tflite

from mcu_deploy.formats.tflite_graph import FAR, GraphBuilder
from mcu_deploy.formats.tflite_operation import Operation
from mcu_deploy.ir import DType, EdgeId, TensorType


def _blocks(operation: Operation) -> tuple[list[int], list[tuple[int, int]]]:
    """The block's size along the axes from the second on, and the border of each."""
    x = operation.input(0)
    operation.require_alike(x, operation.output)
    sizes = [int(n) for n in operation.constant(1).reshape(-1)]
    borders = operation.constant(2)
    wrong = not 0 < len(sizes) < x.type.rank or borders.shape != (len(sizes), 2)
    if wrong or min(sizes) < 1 or borders.min() < 0:
        raise operation.damaged(f"its blocks are {sizes}, its borders {borders.tolist()}")
    return sizes, [(int(a), int(b)) for a, b in borders]


def _space_to_batch(operation: Operation, graph: GraphBuilder) -> None:
    """The border is of zeros, and of zero points in quantized tensors."""
    sizes, borders = _blocks(operation)
    x, count = operation.input(0).type, len(sizes)
    spread = [(0, 0), *borders, *[(0, 0)] * (x.rank - 1 - count)]
    shape = tuple(n + a + b for n, (a, b) in zip(x.shape, spread, strict=True))
    if any(n % b for n, b in zip(shape[1:], sizes, strict=False)):
        raise operation.damaged(f"its blocks of {sizes} do not fill {list(shape)}")
    padded = graph.read(operation.input(0))
    if shape != x.shape:
        zero = 0 if x.quantization is None else x.quantization.zero_point[0]
        pads = np.array([[a for a, _ in spread], [b for _, b in spread]], np.int64).reshape(-1)
        inputs = [
            padded, graph.constant(f"{operation.name} pads", pads),
            graph.constant(f"{operation.name} zero", np.array(zero, x.dtype.numpy)),
        ]  # fmt: skip
        padded = graph.edge(f"{operation.name} padded", replace(x, shape=shape))
        graph.add(operation, "Pad", inputs, padded)
    parts = [p for n, b in zip(shape[1:], sizes, strict=False) for p in (n // b, b)]
    split = graph.reshaped(operation, padded, (shape[0], *parts, *shape[1 + count :]))
    rows, blocks = range(1, 2 * count, 2), range(2, 2 * count + 1, 2)
    rest = range(2 * count + 1, x.rank + count)
    _turned(operation, graph, split, (*blocks, 0, *rows, *rest))


def _batch_to_space(operation: Operation, graph: GraphBuilder) -> None:
    sizes, crops = _blocks(operation)
    x, count = operation.input(0).type, len(sizes)
    batch, left = divmod(x.shape[0], int(np.prod(sizes)))
    if left:
        raise operation.damaged(f"its blocks of {sizes} do not fill a batch of {x.shape[0]}")
    edge = graph.read(operation.input(0))
    split = graph.reshaped(operation, edge, (*sizes, batch, *x.shape[1:]))
    pairs = [axis for k in range(count) for axis in (count + 1 + k, k)]
    perm = (count, *pairs, *range(2 * count + 1, x.rank + count))
    whole = (
        batch,
        *(n * b for n, b in zip(x.shape[1:], sizes, strict=False)),
        *x.shape[1 + count :],
    )
    if not any(a or b for a, b in crops):
        _turned(operation, graph, split, perm)
        return
    turned = _transposed(operation, graph, split, replace(x, shape=whole), perm)
    starts = [a for a, _ in crops]
    ends = [n - b for n, (_, b) in zip(whole[1:], crops, strict=False)]
    axes = range(1, 1 + count)
    graph.add_slice(operation, turned, operation.output, starts, ends, axes, [1] * count)


def _turned(operation: Operation, graph: GraphBuilder, x: EdgeId, perm: Sequence[int]) -> None:
    """The axes of an edge in another order, and of these the output's shape."""
    y = operation.output
    type_ = replace(operation.input(0).type, shape=y.type.shape)
    graph.add_reshape(operation, _transposed(operation, graph, x, type_, perm), y)


def _transposed(
    operation: Operation, graph: GraphBuilder, x: EdgeId, wanted: TensorType, perm: Sequence[int]
) -> EdgeId:
    """The axes of an edge in another order, in the shape of as many elements that is wanted."""
    shape = graph.shape(x)
    type_ = replace(wanted, shape=tuple(shape[axis] for axis in perm))
    if type_.elements != wanted.elements:
        raise operation.damaged(f"it makes {list(wanted.shape)} of {list(shape)}")
    turned = graph.edge(f"{operation.name} turned", type_)
    graph.add(operation, "Transpose", [x], turned, {"perm": tuple(perm)})
    return graph.reshaped(operation, turned, wanted.shape)


def _reverse(operation: Operation, graph: GraphBuilder) -> None:
    x = operation.input(0)
    operation.require_alike(x, operation.output)
    axes = [int(a) % max(x.type.rank, 1) for a in operation.constant(1).reshape(-1)]
    back = [-1] * len(axes)
    ends = [-FAR] * len(axes)
    graph.add_slice(operation, graph.read(x), operation.output, back, ends, axes, back)


def _mirror_pad(operation: Operation, graph: GraphBuilder) -> None:
    """One Gather an axis. REFLECT leaves the edge itself out, SYMMETRIC has it twice."""
    x, y = operation.input(0), operation.output
    operation.require_alike(x, y)
    reflects = operation.options(tflite.MirrorPadOptions).Mode() == tflite.MirrorPadMode.REFLECT
    amounts = operation.constant(1)
    most = [n - 1 if reflects else n for n in x.type.shape]
    if amounts.shape != (x.type.rank, 2) or (amounts < 0).any() or (
        amounts > np.array(most)[:, np.newaxis]
    ).any():  # fmt: skip
        raise operation.damaged(f"its pads are {amounts.tolist()} of {list(x.type.shape)}")
    mode: Literal["reflect", "symmetric"] = "reflect" if reflects else "symmetric"
    edge, type_ = graph.read(x), x.type
    padded = [axis for axis in range(type_.rank) if amounts[axis].any()]
    for axis in padded:
        places = np.pad(
            np.arange(type_.shape[axis]), (int(amounts[axis][0]), int(amounts[axis][1])), mode
        )
        shape = (*type_.shape[:axis], len(places), *type_.shape[axis + 1 :])
        type_ = replace(type_, shape=shape)
        inputs = [edge, graph.integers(f"{operation.name} places {axis}", places)]
        edge = graph.edge(f"{operation.name} along {axis}", type_)
        graph.add(operation, "Gather", inputs, edge, {"axis": axis})
    if type_.shape != y.type.shape:
        raise operation.damaged(f"it makes {list(y.type.shape)} of {list(type_.shape)}")
    graph.add(operation, "Identity", [edge], y)


def _broadcast_to(operation: Operation, graph: GraphBuilder) -> None:
    """The output's shape is in the file."""
    x, y = operation.input(0), operation.output
    operation.require_alike(x, y)
    _add_expand(operation, graph, graph.read(x))


def _fill(operation: Operation, graph: GraphBuilder) -> None:
    """The second input in each element; the output's shape is in the file."""
    value = operation.input(1)
    operation.require_alike(value, operation.output)
    _add_expand(operation, graph, graph.read(value))


def _add_expand(operation: Operation, graph: GraphBuilder, x: EdgeId) -> None:
    y = operation.output
    shape = graph.integers(f"{operation.name} shape", y.type.shape)
    graph.add(operation, "Expand", [x, shape], y)


def _gather_nd(operation: Operation, graph: GraphBuilder) -> None:
    x, places, y = operation.input(0), operation.input(1), operation.output
    operation.require_alike(x, y)
    wide = graph.edge(f"{operation.name} places", TensorType(DType.INT64, places.type.shape))
    graph.add(operation, "Cast", [graph.read(places)], wide)
    graph.add(operation, "GatherND", [graph.read(x), wide], y)


def _embedding_lookup(operation: Operation, graph: GraphBuilder) -> None:
    """Rows of the second input."""
    rows, y = operation.input(1), operation.output
    operation.require_alike(rows, y)
    graph.add(operation, "Gather", [graph.read(rows), graph.read(operation.input(0))], y)


CONVERTERS = {
    "SPACE_TO_BATCH_ND": _space_to_batch,
    "BATCH_TO_SPACE_ND": _batch_to_space,
    "REVERSE_V2": _reverse,
    "MIRROR_PAD": _mirror_pad,
    "BROADCAST_TO": _broadcast_to,
    "FILL": _fill,
    "GATHER_ND": _gather_nd,
    "EMBEDDING_LOOKUP": _embedding_lookup,
}
