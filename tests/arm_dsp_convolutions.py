"""Convolutions for ArmDsp in one model: kernels, strides, pads, dilations, ends of the range."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper


@dataclass(frozen=True)
class Case:
    """shape: channels, rows, columns of the input; without rows all is of one axis. zeros: the zero
    points of input and output; scale: of the output, against a middling one; weights: the values
    that are drawn from, or "normal"; dtypes: of input and output; middle: the zero point of weights
    of uint8, whose values are drawn without it; None for those of int8."""

    shape: tuple[int, ...]
    filters: int
    kernel: tuple[int, ...] = (3, 3)
    strides: tuple[int, ...] = (1, 1)
    pads: tuple[int, ...] = (1, 1, 1, 1)
    dilations: tuple[int, ...] = (1, 1)
    zeros: tuple[int, int] = (3, -5)
    scale: float = 1.0
    weights: str | tuple[int, ...] = "normal"
    dtypes: tuple[str, str] = ("int8", "int8")
    group: int = 1
    batch: int = 1
    middle: int | None = None


# Of the model for keyword spotting, and of the one for image classification.
SPEECH = Case((1, 49, 10), 64, (10, 4), (2, 2), (4, 1, 5, 1), zeros=(83, -128))
BLOCK = Case((16, 32, 32), 16, zeros=(-128, -128))
_NONE = (0, 0, 0, 0)
_BYTES = ("uint8", "uint8")
TAKEN = (
    Case((1, 5, 5), 1, zeros=(-128, 127)),
    Case((2, 7, 4), 3, (5, 5), (1, 2), (2, 2, 2, 2), zeros=(127, -128)),
    Case((3, 12, 12), 8, (3, 3), (2, 2), (0, 0, 1, 1), zeros=(-128, -128)),
    Case((3, 9, 8), 5, (7, 7), (2, 3), (3, 2, 3, 4), scale=0.1),
    Case((4, 6, 9), 2, (1, 3), (1, 1), (0, 1, 0, 1), weights=(-127, 127), scale=8),
    Case((5, 6, 5), 4, dtypes=_BYTES, zeros=(200, 17)),
    Case((7, 5, 6), 3, (3, 3), (3, 3), (2, 0, 1, 2), weights=(-128, -1, 127)),
    Case((8, 9, 9), 8, (1, 1), (2, 2), _NONE, scale=0.03),
    Case((8, 7, 3), 6, (3, 3), (1, 1), _NONE, weights=(-128, 127), scale=6),
    Case((8, 5, 1), 2, (3, 1), (1, 1), (1, 0, 1, 0), dtypes=("uint8", "int8"), zeros=(0, 0)),
    Case((16, 6, 7), 7, (3, 3), (1, 1), (1, 1, 1, 1), dtypes=("int8", "uint8"), zeros=(0, 255)),
    Case((16, 9, 11), 4, (3, 3), (1, 1), (2, 2, 2, 2), (2, 2)),
    Case((17, 4, 5), 3, (3, 3), (1, 1), (1, 1, 1, 1), dtypes=_BYTES, zeros=(0, 255)),
    Case((3, 11, 9), 2, (3, 2), (2, 1), (0, 2, 3, 0), (2, 3), zeros=(-128, 0)),
    Case((1, 11, 4), 6, (10, 4), (1, 1), (0, 3, 0, 0), weights=(-128, 0, 127), scale=4),
    Case((4, 2, 2), 3, (2, 2), (1, 1), _NONE),
    Case((4, 3, 2), 2, (2, 2), (1, 1), _NONE),
    Case((2, 1, 2), 4, (3, 5), (1, 1), (1, 3, 1, 2)),
    Case((12, 4, 4), 2, scale=1e-3),
    Case((12, 4, 4), 4, scale=1e-7, zeros=(0, 127)),
    Case((12, 4, 4), 4, scale=200, zeros=(0, 100)),
    Case((12, 4, 4), 4, scale=3e3, zeros=(0, -128)),
    Case((32, 5, 5), 4, weights=(-128,), zeros=(127, 0), scale=4),
    Case((32, 4, 6), 4, weights=(127,), zeros=(-128, 0), scale=40),
    Case((20, 3, 3), 2, (3, 3), (1, 1), (4, 4, 4, 4)),
)
# Whose windows share columns: rows of whole tiles, and with a rest of two and of one pixel.
SHARED = (
    Case((16, 4, 6), 8, zeros=(-128, 0)),
    Case((28, 5, 8), 5, (2, 3), (2, 1), (1, 0, 0, 0), dtypes=_BYTES, zeros=(9, 0)),
    Case((4, 4, 20), 6, (4, 3), (1, 1), (3, 1, 2, 1), (2, 1), weights=(-127, 127), scale=6),
    Case((8, 3, 40), 10, zeros=(127, 3)),
    Case((12, 5, 42), 7, (3, 3), (1, 1), (0, 0, 0, 0)),
)
# Small images whose copy is not in the output: it may be made in halves. Rows of outputs are odd
# and even; below the image there is padding, or rows that no window has, or neither.
HALVED = (
    Case((1, 49, 40), 8, (10, 8), (2, 2), (4, 3, 5, 3), zeros=(-128, -128)),
    Case((1, 13, 10), 4, (10, 4), (2, 2), (4, 1, 5, 1), zeros=(83, -128)),
    Case((2, 9, 9), 3, (5, 5), (2, 1), (2, 2, 2, 2)),
    Case((3, 17, 7), 2, (3, 3), (3, 3), (1, 1, 0, 1), dtypes=_BYTES, zeros=(9, 255)),
    Case((4, 12, 9), 1, (3, 3), (1, 1), (2, 2, 2, 2), (2, 2), zeros=(127, 3)),
    Case((6, 16, 5), 4, (5, 3), (1, 2), (4, 1, 0, 1), group=2),
    Case((5, 8, 6), 2, (2, 3), (2, 1), (0, 1, 0, 1), scale=0.1),
)
LINES = (
    Case((8, 30), 6, (5,), (1,), (2, 2), (1,), zeros=(-128, -128)),
    Case((3, 29), 5, (8,), (3,), (3, 4), (1,), dtypes=_BYTES, zeros=(200, 0)),
    Case((12, 17), 8, (3,), (1,), (4, 0), (2,), scale=0.2),
    Case((16, 9), 12, (1,), (1,), (0, 0), (1,)),
    Case((16, 9), 12, (1,), (2,), (0, 0), (1,)),
)
GROUPS = (
    Case((4, 5, 5), 4, group=2),
    Case((16, 6, 7), 8, (1, 1), (1, 1), _NONE, group=2, zeros=(-128, 0)),
    Case((9, 7, 5), 6, (3, 3), (2, 1), group=3, dtypes=_BYTES, zeros=(200, 17)),
    Case((12, 1, 1), 6, (1, 1), (1, 1), _NONE, group=2, weights=(-127, 127)),
    Case((8, 21), 4, (5,), (2,), (2, 2), (1,), group=4, scale=0.2),
    Case((32, 8, 8), 32, group=4, zeros=(-128, -128)),
    Case((32, 5, 9), 40, group=8, weights=(-127, 127), zeros=(127, -128), scale=6),
    Case((48, 3, 5), 24, (1, 1), (1, 1), _NONE, group=6, zeros=(-128, 7)),
    Case(
        (24, 6, 5), 24, (3, 2), (1, 2), (2, 1, 0, 3), (2, 3), group=8, dtypes=_BYTES, zeros=(9, 255)
    ),
    Case((15, 4, 7), 35, (3, 3), (2, 2), group=5, zeros=(-128, 100)),
    Case((80, 4, 40), 32, (3, 3), group=16, scale=1e-3),
    Case((20, 4, 41), 15, (2, 3), (1, 1), (1, 1, 0, 1), group=5, zeros=(-5, 6)),
    Case((64, 18), 64, (7,), (1,), (3, 3), (1,), group=4, weights=(-128, 127), scale=9),
)
# Weights of uint8, which are int8 only around a zero point in the middle: others have the sums of
# one tap, of 128, of more, of an odd number of them; or wide words.
UNSIGNED = (
    Case((64, 6, 5), 8, (1, 1), (1, 1), _NONE, middle=120, zeros=(-128, 3)),
    Case((64, 6, 5), 8, (1, 1), (1, 1), _NONE, middle=128, weights=(-128, 127)),
    Case((64, 6, 5), 6, (1, 1), (1, 1), _NONE, middle=0, weights=(0, 255), zeros=(127, 3), scale=8),
    Case((160, 3, 4), 4, (1, 1), (1, 1), _NONE, middle=3, weights=(-3, 252), scale=9),
    Case((8, 6, 5), 5, (1, 1), (2, 2), _NONE, dtypes=_BYTES, middle=250, zeros=(255, 3)),
    Case((16, 5, 5), 16, (1, 1), (1, 1), _NONE, middle=131, weights=(-131, 124)),
    Case((1, 11, 4), 6, (10, 4), (1, 1), (0, 3, 0, 0), middle=200, zeros=(3, -128)),
    Case((3, 9, 9), 4, (3, 3), (2, 2), (0, 0, 1, 1), middle=64, zeros=(-128, -128)),
    Case((1, 6, 6), 3, middle=90, dtypes=_BYTES, zeros=(0, 128)),
    Case((16, 6, 7), 8, middle=100, weights=(-100, 155), zeros=(127, 3), scale=4),
    Case((16, 6, 6), 8, middle=139, dtypes=_BYTES, weights=(-139, 0, 116), zeros=(255, 3), scale=4),
    Case((32, 4, 5), 4, middle=1, weights=(254,), zeros=(-128, 3), scale=90),
    Case((57, 4, 3), 2, middle=30, weights=(-30, 225), zeros=(3, 127), scale=8),
    Case((80, 3, 3), 2, middle=30, zeros=(3, 0)),
    Case((8, 6, 5), 8, group=2, middle=99),
    Case((8, 21), 4, (5,), (2,), (2, 2), (1,), middle=156, dtypes=_BYTES, zeros=(9, 3)),
    Case((8, 7, 6), 8, group=8, middle=100, zeros=(-128, 4)),
    Case((4, 7, 6), 4, (3, 3), (2, 2), group=4, middle=3, weights=(-3, 252), scale=5),
    Case((4, 6, 6), 4, group=4, middle=255, weights=(-255, -30, 0), dtypes=_BYTES, zeros=(255, 3)),
    Case((4, 6, 6), 4, group=4, middle=128, weights=(-128, 127), zeros=(127, -128)),
)
UNSIGNED_REFUSED = {
    Case((4, 5, 6), 4, group=4, middle=0, weights=(0, 255)): (
        "its weights, without their zero point, are no int8"
    ),
    Case((4, 9, 8), 4, (5, 5), (1, 1), (2, 2, 2, 2), group=4, middle=9, weights=(-9, 246)): (
        "its weights, without their zero point, are no int8"
    ),
}
REFUSED = {
    Case((4, 5, 5), 4, batch=2): "it convolves one image, and the batch has 2",
}


class _Model:
    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []

    def constant(self, name: str, value: Any) -> str:
        self.constants.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def convolve(self, case: Case, random: np.random.Generator, index: int) -> str:
        """Adds the convolution of the tensor x{index}, and gives the name of its output."""
        shape = (case.filters, case.shape[0] // case.group, *case.kernel)
        weights = (
            np.clip(np.rint(random.normal(0, 40, shape)), -127, 127)
            if case.weights == "normal"
            else random.choice(np.array(case.weights), shape)
        )
        w_type, middle = (np.int8, 0) if case.middle is None else (np.uint8, case.middle)
        if case.middle is not None:
            weights = np.clip(weights + middle, 0, 255)
        x_type, y_type = (np.dtype(dtype).type for dtype in case.dtypes)
        y = f"y{index}"
        operands = [
            f"x{index}", self.constant(f"{y}_x_scale", np.float32(1)),
            self.constant(f"{y}_x_zero", x_type(case.zeros[0])),
            self.constant(f"{y}_w", weights.astype(w_type)),
            self.constant(
                f"{y}_w_scale", random.uniform(0.5, 2, case.filters).astype(np.float32)
            ),
            self.constant(f"{y}_w_zero", np.full(case.filters, middle, w_type)),
            self.constant(f"{y}_scale", np.float32(case.scale * 40 * np.sqrt(np.prod(shape[1:])))),
            self.constant(f"{y}_zero", y_type(case.zeros[1])),
            self.constant(f"{y}_b", random.integers(-8000, 8000, case.filters).astype(np.int32)),
        ]  # fmt: skip
        self.nodes.append(
            helper.make_node(
                "QLinearConv", operands, [y], strides=case.strides, pads=case.pads,
                dilations=case.dilations, group=case.group,
            )
        )  # fmt: skip
        return y


def model(cases: Sequence[Case], path: Path) -> Path:
    """A model of QLinearConv: of each type one input and one output, which the cases share."""
    made = _Model()
    inputs: dict[str, int] = {}
    outputs: dict[str, list[str]] = {}
    for index, case in enumerate(cases):
        random = np.random.default_rng(index)
        shape = (case.batch, *case.shape)
        at = inputs.get(case.dtypes[0], 0)
        until = inputs[case.dtypes[0]] = at + int(np.prod(shape))
        bounds = [made.constant(f"{n}{index}", [v]) for n, v in (("b", at), ("e", until))]
        made.nodes.append(helper.make_node("Slice", [case.dtypes[0], *bounds], [f"s{index}"]))
        wanted = made.constant(f"shape{index}", shape)
        made.nodes.append(helper.make_node("Reshape", [f"s{index}", wanted], [f"x{index}"]))
        y = made.convolve(case, random, index)
        flat = made.constant(f"flat{index}", [-1])
        made.nodes.append(helper.make_node("Reshape", [y, flat], [f"f{index}"]))
        outputs.setdefault(case.dtypes[1], []).append(f"f{index}")
    for dtype, ends in outputs.items():
        made.nodes.append(helper.make_node("Concat", ends, [f"{dtype}_y"], axis=0))

    def value(name: str, dtype: str, shape: tuple[int, ...] | None) -> onnx.ValueInfoProto:
        element = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
        return helper.make_tensor_value_info(name, element, shape)

    graph = helper.make_graph(
        made.nodes, "convolutions",
        [value(dtype, dtype, (size,)) for dtype, size in inputs.items()],
        [value(f"{dtype}_y", dtype, None) for dtype in outputs], made.constants,
    )  # fmt: skip
    opset = [helper.make_opsetid("", 17)]
    onnx.save_model(helper.make_model(graph, opset_imports=opset, ir_version=8), path)
    return path
