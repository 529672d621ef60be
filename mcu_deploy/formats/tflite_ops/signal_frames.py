"""What TFLite-Micro's signal library keeps from run to run: SignalDelay, SignalFramer,
SignalStacker, SignalOverlapAdd. They are states of the network, and ONNX's operators.

Where TFLite-Micro says that a frame is not valid yet, it writes none; here it is whatever there is.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from mcu_deploy.formats.tflite_graph import GraphBuilder
from mcu_deploy.formats.tflite_operation import Operation, TfliteTensor
from mcu_deploy.formats.tflite_options import CustomOptions
from mcu_deploy.formats.tflite_variables import Variable
from mcu_deploy.ir import DType, EdgeId, TensorType

I16, I32, BOOL = DType.INT16, DType.INT32, DType.BOOL
# Samples that a delay keeps, and frames that are added in a run, each by nodes of its own.
_LONGEST, _MOST = 1 << 20, 1 << 8


class _Steps:
    """The nodes of one operator: each method adds one and returns the edge that it writes."""

    def __init__(self, operation: Operation, graph: GraphBuilder) -> None:
        self.operation, self.graph = operation, graph

    def node(
        self, op: str, inputs: Sequence[EdgeId], dtype: DType, shape: Sequence[int], **of: int
    ) -> EdgeId:
        name = f"{self.operation.name} {op.lower()}"
        y = self.graph.edge(name, TensorType(dtype, tuple(shape)))
        self.graph.add(self.operation, op, inputs, y, of)
        return y

    def write(self, edge: EdgeId, output: TfliteTensor) -> None:
        self.graph.add(self.operation, "Identity", [edge], output)

    def number(self, value: ArrayLike, dtype: DType) -> EdgeId:
        return self.graph.constant(f"{self.operation.name} number", np.asarray(value, dtype.numpy))

    def state(self, what: str, first: ArrayLike, dtype: DType) -> tuple[Variable, EdgeId]:
        """A variable, and its value here. first: that in front of the first run."""
        variable = self.graph.variables.new(f"{self.operation.name} {what}")
        variable.first = np.asarray(first, dtype.numpy)
        return variable, self.graph.read_state(variable, TensorType(dtype, variable.first.shape))

    def behind(self, first: EdgeId, second: EdgeId) -> EdgeId:
        """Samples, both along the last axis."""
        shape, other = self.graph.shape(first), self.graph.shape(second)
        return self.node(
            "Concat", [first, second], I16, (*shape[:-1], shape[-1] + other[-1]), axis=-1
        )

    def part(self, x: EdgeId, start: int, end: int) -> EdgeId:
        """The samples of the last axis from start to end."""
        shape = self.graph.shape(x)
        y = self.graph.edge(
            f"{self.operation.name} part", TensorType(I16, (*shape[:-1], end - start))
        )
        self.graph.add_slice(self.operation, x, y, [start], [end], [len(shape) - 1], [1])
        return y


def _require(operation: Operation, fits: bool, *kinds: tuple[TfliteTensor, DType]) -> None:
    """Raises for tensors of other types, and for shapes or options that do not fit."""
    for tensor, dtype in kinds:
        if tensor.type.dtype is not dtype or tensor.type.is_quantized:
            raise operation.damaged(
                f"its tensor {tensor.name!r} is {tensor.type}, not {dtype.value}"
            )
    if not fits:
        raise operation.damaged("its tensors or options do not fit together")


def _delay(operation: Operation, graph: GraphBuilder) -> None:
    """The samples of so many before, along the last axis."""
    x, y, length = operation.input(0), operation.output, _option(operation, "delay_length")
    fits = x.type.shape == y.type.shape and 0 <= length <= _LONGEST
    _require(operation, fits, (x, I16), (y, I16))
    steps, size = _Steps(operation, graph), x.type.shape[-1]
    if not length:
        steps.write(graph.read(x), y)
        return
    variable, before = steps.state("before", np.zeros((*x.type.shape[:-1], length)), I16)
    whole = steps.behind(before, graph.read(x))
    steps.write(steps.part(whole, 0, size), y)
    variable.now = steps.part(whole, size, size + length)


def _framer(operation: Operation, graph: GraphBuilder) -> None:
    """Frames of `frame_size` samples, each `frame_step` behind the one before it."""
    (x, (y, valid)), options = (operation.input(0), operation.outputs), CustomOptions(operation)
    size, step = options.integer("frame_size"), options.integer("frame_step")
    given, rows = x.type.shape[-1], x.type.shape[:-1]
    fits = 0 < step <= size and not given % step and not valid.type.shape
    count = given // step if step else 0
    _require(
        operation, fits and y.type.shape == (*rows, count, size), (x, I16), (y, I16), (valid, BOOL)
    )
    steps = _Steps(operation, graph)
    # Steps that must lie in front of a frame's last one; none where zeros stand for them.
    missing = 0 if options.integer("prefill") else -(-size // step) - 1
    kept = missing * step or size - step
    whole = graph.read(x)
    if kept:
        variable, before = steps.state("before", np.zeros((*rows, kept)), I16)
        whole = steps.behind(before, whole)
        variable.now = steps.part(whole, given, given + kept)
    places = np.arange(count)[:, np.newaxis] * step + np.arange(size)
    inputs = [whole, graph.integers(f"{y.name} places", places)]
    graph.add(operation, "Gather", inputs, y, {"axis": x.type.rank - 1})
    if not missing:
        steps.write(steps.number(True, BOOL), valid)
        return
    counter, gone = steps.state("steps", 0, I32)
    wanted = steps.number(missing, I32)
    total = steps.node("Add", [gone, steps.number(count, I32)], I32, ())
    counter.now = steps.node("Min", [total, wanted], I32, ())
    graph.add(operation, "Equal", [gone, wanted], valid)


def _stacker(operation: Operation, graph: GraphBuilder) -> None:
    """The last frames in one, every so many runs; the first one stands for those before it too."""
    (x, (y, valid)), options = (operation.input(0), operation.outputs), CustomOptions(operation)
    channels, left, right, step = (
        options.integer(name) for name in
        ("num_channels", "stacker_left_context", "stacker_right_context", "stacker_step")
    )  # fmt: skip
    frames = left + right + 1
    fits = x.type.shape == (channels,) and y.type.shape == (channels * frames,)
    fits = fits and min(left, right) >= 0 and 0 < step <= frames and not valid.type.shape
    _require(operation, fits, (x, I16), (y, I16), (valid, BOOL))
    steps, given = _Steps(operation, graph), graph.read(x)
    whole = given
    if frames > 1:
        kept = channels * (frames - 1)
        variable, before = steps.state("before", np.zeros(kept), I16)
        started, is_started = steps.state("has begun", False, BOOL)
        copies = graph.integers(f"{y.name} copies", [frames - 1])
        repeated = steps.node("Tile", [given, copies], I16, (kept,))
        before = steps.node("Where", [is_started, before, repeated], I16, (kept,))
        whole = steps.behind(before, given)
        variable.now = steps.part(whole, channels, channels * frames)
        started.now = steps.number(True, BOOL)
    steps.write(whole, y)
    # Runs until the next frame that is valid.
    counter, left_over = steps.state("runs", right, I32)
    less = steps.node("Sub", [left_over, steps.number(1, I32)], I32, ())
    is_now = steps.node("Equal", [left_over, steps.number(0, I32)], BOOL, ())
    counter.now = steps.node("Where", [is_now, steps.number(step - 1, I32), less], I32, ())
    steps.write(is_now, valid)


def _overlap_add(operation: Operation, graph: GraphBuilder) -> None:
    """The sum of frames that lie `frame_step` samples apart."""
    x, y, step = operation.input(0), operation.output, _option(operation, "frame_step")
    *rows, count, size = (0, 0, *x.type.shape)[-max(x.type.rank, 2) :]
    fits = 0 < step <= size and 0 < count <= _MOST and y.type.shape == (*rows, count * step)
    _require(operation, fits, (x, I16), (y, I16))
    steps, edge = _Steps(operation, graph), graph.read(x)
    variable, total = steps.state("before", np.zeros((*rows, size)), I16)
    zeros = steps.number(np.zeros((*rows, step)), I16)
    done = []
    for frame in range(count):
        place = graph.integers(f"{y.name} frame", frame)
        part = steps.node("Gather", [edge, place], I16, (*rows, size), axis=x.type.rank - 2)
        total = _sum(steps, total, part, (*rows, size))
        done.append(steps.part(total, 0, step))
        total = steps.behind(steps.part(total, step, size), zeros)
    graph.add(operation, "Concat", done, y, {"axis": -1})
    variable.now = total


def _sum(steps: _Steps, a: EdgeId, b: EdgeId, shape: tuple[int, ...]) -> EdgeId:
    """Within the range of int16."""
    wide = [steps.node("Cast", [edge], I32, shape) for edge in (a, b)]
    total = steps.node("Add", wide, I32, shape)
    limits = [steps.number(limit, I32) for limit in (-(1 << 15), (1 << 15) - 1)]
    return steps.node("Cast", [steps.node("Clip", [total, *limits], I32, shape)], I16, shape)


def _option(operation: Operation, name: str) -> int:
    return CustomOptions(operation).integer(name)


CONVERTERS = {
    "custom operator SignalDelay": _delay,
    "custom operator SignalFramer": _framer,
    "custom operator SignalStacker": _stacker,
    "custom operator SignalOverlapAdd": _overlap_add,
}
