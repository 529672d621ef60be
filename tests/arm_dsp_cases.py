"""Convolutions for ArmDsp in one model: of many shapes, at the ends of the range, not its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper
from quantized_layers import INPUTS


@dataclass(frozen=True)
class Case:
    """A 1x1 convolution, after a depthwise 3x3 one where `stride` is not 0, which is alone where
    there are no filters; is_behind: the depthwise one comes second; between: a function
    of an element in front of that. zeros: the zero points
    of input, what is between, output; scale: of the output, against a middling one; is_extreme:
    weights of -127 and 127 only."""

    channels: int
    filters: int
    rows: int
    columns: int
    stride: int = 0
    pads: tuple[int, int, int, int] = (1, 1, 1, 1)
    zeros: tuple[int, int, int] = (3, -128, -5)
    scale: float = 1.0
    is_extreme: bool = False
    dtype: str = "int8"
    is_behind: bool = False
    between: str = ""

    @property
    def name(self) -> str:
        kind = f"chain_s{self.stride}" if self.stride else "alone"
        end = "_extreme" if self.is_extreme else ""
        plane = f"{self.rows}x{self.columns}"
        return f"{kind}_{self.channels}x{self.filters}_{plane}_{sum(self.pads)}_{self.dtype}{end}"


# The two whose instructions are asserted: of the keyword spotting model.
ALONE = Case(64, 64, 25, 5)
DEPTHWISE = Case(64, 0, 25, 5, 1)
# Whose elements meet the function on their way to the output.
TABLE = Case(8, 12, 10, 9, 1, is_behind=True, zeros=(3, 20, 9), between="LeakyRelu")
TAKEN = (
    Case(6, 4, 3, 3),
    Case(4, 3, 3, 3),
    Case(4, 4, 1, 2),
    Case(8, 6, 3, 1),
    Case(4, 2, 2, 2, zeros=(-128, 0, 127)),
    Case(12, 10, 5, 1, zeros=(127, 0, -128), scale=0.05),
    Case(20, 4, 4, 4, is_extreme=True, scale=8),
    Case(8, 8, 1, 4, dtype="uint8", zeros=(7, 0, 200)),
    Case(344, 2, 1, 3),
    Case(512, 4, 2, 2, dtype="uint8", zeros=(90, 0, 100)),
    Case(4, 4, 5, 5, 1),
    Case(4, 8, 48, 48, 1),
    Case(4, 8, 24, 23, 2, pads=(0, 0, 1, 1)),
    Case(4, 4, 31, 11, 1, pads=(0, 1, 1, 0)),
    Case(64, 0, 16, 20, 1, zeros=(-128, 5, 0)),
    Case(16, 0, 3, 3, 1, is_extreme=True),
    Case(12, 0, 5, 70, 2, pads=(0, 1, 1, 0)),
    Case(8, 0, 1, 9, 1, zeros=(0, 127, 0)),
    Case(4, 0, 100, 3, 1, dtype="uint8", zeros=(0, 30, 0)),
    Case(4, 0, 13, 1, 2),
    Case(8, 4, 4, 6, 1, zeros=(-128, 4, 127)),
    Case(8, 12, 6, 5, 2, pads=(0, 0, 1, 1), zeros=(127, -128, 0), scale=0.1),
    Case(4, 6, 7, 8, 2),
    Case(4, 8, 5, 7, 2, pads=(1, 0, 0, 1)),
    Case(4, 8, 4, 28, 1, pads=(0, 0, 0, 0)),
    Case(12, 12, 6, 27, 1, is_extreme=True, scale=4),
    Case(8, 8, 6, 6, 1, dtype="uint8", zeros=(200, 17, 3)),
)
STRIPS = (
    Case(8, 16, 24, 24, 2, pads=(0, 0, 1, 1), is_behind=True),
    Case(4, 8, 12, 6, 1, zeros=(3, -128, 9), is_behind=True),
    Case(8, 4, 9, 9, 2, is_behind=True, scale=0.1),
    Case(12, 8, 7, 3, 1, pads=(0, 1, 1, 0), is_behind=True, is_extreme=True),
    Case(4, 4, 26, 15, 1, is_behind=True, dtype="uint8", zeros=(1, 250, 3)),
    TABLE,
)
REFUSED = {
    Case(4, 4, 4, 4, 2, pads=(3, 3, 3, 3)): "its padding is as wide as its kernel",
}


class _Model:
    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []

    def constant(self, name: str, value: Any) -> str:
        self.constants.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def convolve(
        self, case: Case, random: np.random.Generator, x: tuple[str, float, int], y: str,
        shape: tuple[int, ...], zero: int, wider: float, **attributes: Any,
    ) -> tuple[str, float, int]:  # fmt: skip
        """Adds a convolution of a tensor (name, scale, zero point), and gives its output."""
        name, scale, x_zero = x
        kind = np.dtype(case.dtype).type
        weights = np.clip(np.rint(random.normal(0, 40, shape)), -127, 127)
        if case.is_extreme:
            weights = random.choice([-127, 127], shape)
        y_scale = float(np.float32(scale * wider * 40 * np.sqrt(np.prod(shape[1:]))))
        operands = [
            name, self.constant(f"{y}_x_scale", np.float32(scale)),
            self.constant(f"{y}_x_zero", kind(x_zero)),
            self.constant(f"{y}_w", weights.astype(np.int8)),
            self.constant(f"{y}_w_scale", random.uniform(0.5, 2, shape[0]).astype(np.float32)),
            self.constant(f"{y}_w_zero", np.zeros(shape[0], np.int8)),
            self.constant(f"{y}_scale", np.float32(y_scale)),
            self.constant(f"{y}_zero", kind(zero)),
            self.constant(f"{y}_b", random.integers(-8000, 8000, shape[0]).astype(np.int32)),
        ]  # fmt: skip
        self.nodes.append(helper.make_node("QLinearConv", operands, [y], y, **attributes))
        return y, y_scale, zero

    def apply(self, op: str, x: tuple[str, float, int]) -> tuple[str, float, int]:
        """Adds a function of a tensor's elements, whose output has the same scale."""
        how = f"{x[0]}_scale", f"{x[0]}_zero"
        ends = [x[0], *(f"{x[0]}_{word}" for word in ("real", "applied", "function"))]
        for step, before, after in zip(
            ("DequantizeLinear", op, "QuantizeLinear"), ends, ends[1:], strict=False
        ):
            operands = [before] if step == op else [before, *how]
            self.nodes.append(helper.make_node(step, operands, [after], after))
        return ends[-1], *x[1:]


def model(cases: Sequence[Case], path: Path) -> Path:
    """A model of QLinearConv: of each type one input and one output, which the cases share."""
    made = _Model()
    inputs, outputs = [], []
    for dtype in sorted({case.dtype for case in cases}):
        element = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
        at, most, ends = 0, 0, []
        for index, case in enumerate(cases):
            if case.dtype != dtype:
                continue
            random = np.random.default_rng(index)
            shape = (1, case.channels, case.rows, case.columns)
            until = at + int(np.prod(shape))
            bounds = [made.constant(f"{n}{index}", [v]) for n, v in (("b", at), ("e", until))]
            made.nodes.append(helper.make_node("Slice", [dtype, *bounds], [f"s{index}"]))
            wanted = made.constant(f"shape{index}", shape)
            made.nodes.append(helper.make_node("Reshape", [f"s{index}", wanted], [f"x{index}"]))
            x = (f"x{index}", 1.0, case.zeros[0])
            kinds = [
                kind for kind, is_there in (("d", case.stride), ("p", case.filters)) if is_there
            ]
            for kind in reversed(kinds) if case.is_behind else kinds:
                y, is_last = f"{kind}{index}", kind == kinds[0 if case.is_behind else -1]
                wider = case.scale if is_last and case.filters else 1
                zero = case.zeros[2 if is_last and case.filters else 1]
                if kind == "p":
                    x = made.convolve(
                        case, random, x, y, (case.filters, case.channels, 1, 1), zero, wider
                    )
                    x = made.apply(case.between, x) if case.between else x
                    continue
                depth = case.filters if case.is_behind else case.channels
                x = made.convolve(
                    case, random, x, y, (depth, 1, 3, 3), zero, wider,
                    group=depth, strides=[case.stride] * 2, pads=case.pads,
                )  # fmt: skip
            y = x[0]
            flat = made.constant(f"flat{index}", [-1])
            made.nodes.append(helper.make_node("Reshape", [y, flat], [f"f{index}"]))
            ends.append(f"f{index}")
            at, most = until if until <= INPUTS else 0, max(most, until)
        made.nodes.append(helper.make_node("Concat", ends, [f"{dtype}_y"], axis=0))
        inputs.append(helper.make_tensor_value_info(dtype, element, (most,)))
        outputs.append(helper.make_tensor_value_info(f"{dtype}_y", element, None))
    graph = helper.make_graph(made.nodes, "convolutions", inputs, outputs, made.constants)
    opset = [helper.make_opsetid("", 17)]
    onnx.save_model(helper.make_model(graph, opset_imports=opset, ir_version=8), path)
    return path
