"""Loops over tensors whose axes lie in different orders or are broadcast."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mcu_deploy.backends.kit.loops import counter, plus, times
from mcu_deploy.ir import TensorType
from mcu_deploy.operators.windows import Window


@dataclass(frozen=True)
class Loops:
    """Nested loops over an output in its memory order.

    extents: the sizes of the loops, outermost first; steps: for each operand its stride, in
    elements, for each loop (0 where it is broadcast).
    """

    extents: tuple[int, ...]
    steps: tuple[tuple[int, ...], ...]

    def index(self, operand: int = 0, name: str = "i") -> str:
        """C for where an operand's element lies, by the variables of the loops."""
        return plus(*(times(f"{name}{k}", step) for k, step in enumerate(self.steps[operand])))


@dataclass(frozen=True)
class Plane:
    """A sliding window over two axes, (rows, columns), by the names that the templates use.

    padded: whether windows are cut off at the input's borders along an axis.
    """

    input: tuple[int, int]
    output: tuple[int, int]
    kernel: tuple[int, int]
    stride: tuple[int, int]
    dilation: tuple[int, int]
    pad: tuple[int, int]

    @property
    def padded(self) -> tuple[bool, bool]:
        rows, columns = (
            p != 0 or (o - 1) * s + (k - 1) * d - p >= i
            for o, s, k, d, p, i in zip(
                self.output, self.stride, self.kernel, self.dilation, self.pad, self.input,
                strict=True,
            )
        )  # fmt: skip
        return rows, columns

    def values(self, batch: int) -> dict[str, object]:
        """For a template: the fields, and the variables of the loops over outputs and taps."""
        (rows, columns), (height, width) = self.output, self.kernel
        return {
            **vars(self), "padded": self.padded, "n": counter("n", batch),
            "oy": counter("oy", rows), "ox": counter("ox", columns),
            "ky": counter("ky", height), "kx": counter("kx", width),
        }  # fmt: skip


def plane(geometry: Window) -> Plane:
    """The window over two axes; over one axis it is a window over a plane of height 1."""

    def two(values: tuple[int, ...], fill: int) -> tuple[int, int]:
        return (values[0], values[1]) if len(values) == 2 else (fill, values[0])

    return Plane(
        input=two(geometry.input, 1),
        output=two(geometry.output, 1),
        kernel=two(geometry.kernel, 1),
        stride=two(geometry.strides, 1),
        dilation=two(geometry.dilations, 1),
        pad=two(geometry.begin, 0),
    )


def memory_strides(type_: TensorType) -> tuple[int, ...]:
    """The stride in elements of each logical axis."""
    strides = [0] * type_.rank
    step = 1
    for axis in reversed(type_.order):
        strides[axis] = step
        step *= type_.shape[axis]
    return tuple(strides)


def collapse(extents: list[int], steps: list[list[int]]) -> Loops:
    """Merges neighbouring loops that every operand walks through in one stride; drops size 1."""
    kept: list[int] = []
    merged: list[list[int]] = [[] for _ in steps]
    for index, extent in enumerate(extents):
        if extent == 1:
            continue
        fits = bool(kept) and all(
            m[-1] == s[index] * extent for m, s in zip(merged, steps, strict=True)
        )
        if fits:
            kept[-1] *= extent
            for m, s in zip(merged, steps, strict=True):
                m[-1] = s[index]
        else:
            kept.append(extent)
            for m, s in zip(merged, steps, strict=True):
                m.append(s[index])
    return Loops(tuple(kept), tuple(tuple(m) for m in merged))


def broadcast_loops(output: TensorType, operands: tuple[TensorType, ...]) -> Loops:
    """Loops over `output` in memory order, with each operand's strides (ONNX broadcasting)."""
    order = output.order
    steps = []
    for operand in operands:
        strides = memory_strides(operand)
        missing = output.rank - operand.rank
        row = []
        for axis in order:
            inner = axis - missing
            absent = inner < 0 or operand.shape[inner] == 1
            row.append(0 if absent else strides[inner])
        steps.append(row)
    return collapse([output.shape[a] for a in order], steps)


def window_refusal(window: Plane) -> str:
    """Why windows are not gathered, a clause; empty where they are."""
    spans = zip(window.pad, window.kernel, window.output, window.stride, window.input, strict=True)
    if window.dilation[1] > 1 or any(p >= k or (o - 1) * s - p >= i for p, k, o, s, i in spans):
        return "a window of it is all padding, or its columns are apart"
    return "" if min(window.pad) >= 0 else "its padding is negative"


def matrices(a: TensorType, b: TensorType) -> Loops:
    """Loops over the matrices of a product, whose leading axes are broadcast: steps of a, b and the
    product, in elements."""
    rows = a.shape[-2] if a.rank > 1 else 1
    columns = b.shape[-1] if b.rank > 1 else 1
    leading = [a.shape[:-2], b.shape[:-2]]
    extents = np.broadcast_shapes(*leading)
    depth, steps = a.shape[-1], []
    sizes = (rows * depth, depth * columns, rows * columns)
    for shape, size in zip((*leading, extents), sizes, strict=True):
        row, stride = [0] * len(extents), size
        for axis in range(1, len(shape) + 1):
            row[-axis] = 0 if shape[-axis] == 1 else stride
            stride *= shape[-axis]
        steps.append(row)
    return collapse([*extents], steps)
