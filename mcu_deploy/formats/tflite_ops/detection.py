"""TFLite_Detection_PostProcess: the end of detectors, from encoded boxes to the best of them.

Made of NonMaxSuppression and what finds and moves elements. Inputs: encodings (1, N, 4 or more: y,
x, height, width), scores (1, N, classes, behind one of the background or not), anchors (N, 4).
Outputs, float32: boxes (1, K, 4: y and x of two corners), classes (1, K) and scores (1, K) of the
best first, 0 behind the last, and how many there are (1). Options and values are those of LiteRT
(kernels/detection_postprocess.cc), whose boxes go through float64.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.formats.tflite_graph import FAR, GraphBuilder
from mcu_deploy.formats.tflite_operation import Operation, TfliteTensor
from mcu_deploy.formats.tflite_options import CustomOptions
from mcu_deploy.ir import DType, EdgeId, TensorType

F, I64 = DType.FLOAT32, DType.INT64


@dataclass(frozen=True)
class _Options:
    """most: K; of_class: how many of one class, where each has a suppression of its own (`apart`),
    else a box has its best class alone; least: of a score; overlap: of two boxes; scales: what
    encodings are divided by, y, x, height, width; background: 1 where the first class is that."""

    most: int
    of_class: int
    apart: bool
    least: float
    overlap: float
    scales: tuple[float, float, float, float]
    boxes: int
    classes: int
    background: int

    @classmethod
    def of(cls, operation: Operation) -> _Options:
        if len(operation.given) != 3 or len(operation.outputs) != 4:
            raise operation.damaged("it has not three inputs and four outputs")
        encodings, scores, anchors = (tensor.type.shape for tensor in operation.given)
        given = CustomOptions(operation)
        classes, apart = given.integer("num_classes"), given.integer("use_regular_nms", 0) != 0
        boxes = anchors[0] if len(anchors) == 2 else 0
        background = scores[2] - classes if len(scores) == 3 else -1
        fits = (*encodings[:2], *scores[:2], *anchors[1:]) == (1, boxes, 1, boxes, 4)
        if not fits or encodings[2] < 4 or background not in (0, 1) or min(boxes, classes) < 1:
            raise operation.damaged("its inputs do not fit together")
        scales = tuple(given.real(f"{axis}_scale") for axis in "yxhw")
        found = cls(
            given.integer("max_detections"), given.integer("detections_per_class", 100), apart,
            given.real("nms_score_threshold"), given.real("nms_iou_threshold"),
            (scales[0], scales[1], scales[2], scales[3]), boxes, classes, background,
        )  # fmt: skip
        if min(found.most, found.of_class) < 1 or not 0 < found.overlap <= 1 or 0 in scales:
            raise operation.damaged("its numbers of boxes, thresholds or scales are none")
        if not apart and min(given.integer("max_classes_per_detection"), classes) != 1:
            raise operation.unsupported(
                "gives several classes of a box, which LiteRT writes behind its outputs' ends",
                "Convert the model for one class, or with use_regular_nms.",
            )
        return found


@dataclass(frozen=True)
class _Chain:
    """Adds nodes, one behind the other, with edges of their own."""

    operation: Operation
    graph: GraphBuilder

    def __call__(
        self, op: str, inputs: Sequence[EdgeId | Array], dtype: DType, shape: Sequence[int],
        **attributes: Any,
    ) -> EdgeId:  # fmt: skip
        y = self.graph.edge(f"{self.operation.name} {op}", TensorType(dtype, tuple(shape)))
        self.add(op, inputs, [y], attributes)
        return y

    def add(
        self, op: str, inputs: Sequence[EdgeId | Array], outputs: Sequence[EdgeId],
        attributes: dict[str, Any],
    ) -> None:  # fmt: skip
        name = f"{self.operation.name} {op}"
        edges = [e if isinstance(e, int) else self.graph.constant(name, e) for e in inputs]
        self.graph.add(self.operation, op, edges, outputs, attributes)

    def reshape(self, x: EdgeId, dtype: DType, *shape: int) -> EdgeId:
        return self("Reshape", [x, np.array(shape)], dtype, shape)

    def slice(
        self, x: EdgeId, dtype: DType, shape: Sequence[int], axis: int, start: int, end: int
    ) -> EdgeId:
        bounds = [np.array([n]) for n in (start, end, axis)]
        return self("Slice", [x, *bounds], dtype, shape)

    def real(self, tensor: TfliteTensor) -> EdgeId:
        """A tensor as float32."""
        x, type_ = self.graph.read(tensor), tensor.type
        if type_.dtype is F:
            return x
        if not type_.is_quantized or not type_.scaling.per_tensor:
            raise self.operation.damaged(f"its input {tensor.name!r} is {type_}")
        scale = np.array(type_.scaling.scale[0], np.float32)
        zero = np.array(type_.scaling.zero_point[0], type_.dtype.numpy)
        return self("DequantizeLinear", [x, scale, zero], F, type_.shape)


def _post_process(operation: Operation, graph: GraphBuilder) -> None:
    options, chain = _Options.of(operation), _Chain(operation, graph)
    encodings, scores, anchors = operation.given
    boxes = _decoded(chain, options, encodings, anchors)
    n, classes = options.boxes, options.classes
    each = chain.real(scores)
    if options.background:
        each = chain.slice(each, F, (1, n, classes), 2, 1, FAR)
    if options.apart:
        of_class = chain("Transpose", [each], F, (1, classes, n), perm=(0, 2, 1))
        box, which, score, count = _apart(chain, options, boxes, of_class)
    else:
        best = chain("ReduceMax", [each], F, (1, n), axes=(2,), keepdims=0)
        box, _, score, count = _suppressed(chain, options, boxes, best, 1, options.most)
        found = chain("ArgMax", [each], I64, (1, n), axis=2, keepdims=0)
        which = chain.reshape(found, I64, n)
        which = chain("Gather", [which, box], I64, graph.shape(box), axis=0)
    corners = chain("Gather", [boxes, box], F, (1, *graph.shape(box), 4), axis=1)
    _finish(chain, options, (corners, which, score), count)


def _decoded(
    chain: _Chain, options: _Options, encodings: TfliteTensor, anchors: TfliteTensor
) -> EdgeId:
    """The corners of the boxes (1, N, 4)."""
    values = chain.operation.constant(2)
    if anchors.type.is_quantized:
        scale, zero = anchors.type.scaling.scale[0], anchors.type.scaling.zero_point[0]
        values = (values.astype(np.float32) - np.float32(zero)) * np.float32(scale)
    middle, size = values[None, :, :2], values[None, :, 2:]
    scales, half, n = np.array(options.scales, np.float32), np.float32(0.5), options.boxes
    x = chain.real(encodings)
    shape = (1, n, 2)
    places, sizes = (chain.slice(x, F, shape, 2, k, k + 2) for k in (0, 2))
    moved = chain("Mul", [places, size / scales[:2]], F, shape)
    centers = chain("Add", [moved, middle], F, shape)
    grown = chain("Exp", [chain("Div", [sizes, scales[2:]], F, shape)], F, shape)
    halves = chain("Mul", [grown, size * half], F, shape)
    corners = [chain(op, [centers, halves], F, shape) for op in ("Sub", "Add")]
    return chain("Concat", corners, F, (1, n, 4), axis=2)


def _suppressed(
    chain: _Chain, options: _Options, boxes: EdgeId, scores: EdgeId, classes: int, most: int
) -> tuple[EdgeId, EdgeId, EdgeId, EdgeId]:
    """Of the best boxes of each class, none of which overlaps a better one: boxes, classes and
    scores, class by class, and how many there are."""
    graph, n = chain.graph, options.boxes
    room = classes * min(most, n)
    selected = graph.edge("selected", TensorType(I64, (room, 3)))
    count = graph.edge("selected boxes", TensorType(I64, ()))
    # A score of the least is enough here, and has to be above it there.
    least = np.nextafter(np.float32(options.least), np.float32(-np.inf))
    limits = [
        np.array(most), np.array(options.overlap, np.float32), np.array(least, np.float32),
    ]  # fmt: skip
    each = chain.reshape(scores, F, 1, classes, n)
    chain.add("NonMaxSuppression", [boxes, each, *limits], [selected, count], {})
    which, box = (
        chain.reshape(chain.slice(selected, I64, (room, 1), 1, k, k + 1), I64, room) for k in (1, 2)
    )
    place = box
    if classes > 1:
        row = chain("Mul", [which, np.array(n)], I64, (room,))
        place = chain("Add", [row, box], I64, (room,))
    flat = chain.reshape(each, F, classes * n)
    return box, which, chain("Gather", [flat, place], F, (room,), axis=0), count


def _apart(
    chain: _Chain, options: _Options, boxes: EdgeId, scores: EdgeId
) -> tuple[EdgeId, EdgeId, EdgeId, EdgeId]:
    """As `_suppressed`, the best of all classes first."""
    box, which, score, count = _suppressed(
        chain, options, boxes, scores, options.classes, options.of_class
    )
    (room,) = chain.graph.shape(box)
    there = chain("Less", [np.arange(room), count], DType.BOOL, (room,))
    score = chain("Where", [there, score, np.array(-np.inf, np.float32)], F, (room,))
    kept = min(options.most, room)
    values = chain.graph.edge("best scores", TensorType(F, (kept,)))
    places = chain.graph.edge("best places", TensorType(I64, (kept,)))
    chain.add("TopK", [score, np.array([kept])], [values, places], {"axis": 0})
    box, which = (chain("Gather", [e, places], I64, (kept,), axis=0) for e in (box, which))
    return box, which, values, chain("Min", [count, np.array(kept)], I64, ())


def _finish(
    chain: _Chain, options: _Options, found: tuple[EdgeId, EdgeId, EdgeId], count: EdgeId
) -> None:
    """Writes the outputs: what is found, and 0 behind it."""
    corners, which, score = found
    graph, most = chain.graph, options.most
    (room,) = graph.shape(score)
    there = chain("Less", [np.arange(room), count], DType.BOOL, (room,))
    real = chain("Cast", [which], F, (room,))
    shapes = ((1, room, 4), (1, room), (1, room))
    results = []
    for values, shape in zip((corners, real, score), shapes, strict=True):
        here = chain.reshape(there, DType.BOOL, 1, room, 1) if len(shape) == 3 else there
        y = chain("Where", [here, values, np.array(0, np.float32)], F, graph.shape(values))
        y = chain.reshape(y, F, *shape)
        if room < most:
            pads = np.array([0] * len(shape) + [0, most - room] + [0] * (len(shape) - 2))
            y = chain("Pad", [y, pads], F, (1, most, *shape[2:]))
        results.append(y)
    number = chain("Cast", [count], F, ())
    for tensor, edge in zip(
        chain.operation.outputs, (*results, chain.reshape(number, F, 1)), strict=True
    ):
        declared, shape = tensor.type.shape, graph.shape(edge)
        if declared not in ((), shape) or tensor.type.dtype is not F:
            raise chain.operation.damaged(f"its output {tensor.name!r} is {tensor.type}")
        result = graph.edge(tensor.name, TensorType(F, shape))
        chain.add("Identity", [edge], [result], {})
        graph.bind(tensor, result)


CONVERTERS = {"custom operator TFLite_Detection_PostProcess": _post_process}
