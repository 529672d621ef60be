"""Convolutions and rows of float32 by int8 weights, as TFLite's dynamic range has them, on the
cores: the oracle's bits."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
import tflite
from kernel_builds import MARKS, right
from sampling import examples, first
from tflite_models import Operator, Tensor, constant, write

from mcu_deploy.api.profiling import profile
from mcu_deploy.files.samples import Samples

pytestmark = MARKS
_SAME, _VALID = tflite.Padding.SAME, tflite.Padding.VALID
_ACTIVATIONS = tflite.ActivationFunctionType


class Case(NamedTuple):
    """shape: rows, columns and channels of the input; is_extreme: weights of -128 and 127 only;
    has_zero: a scale for each filter, with which the input has a zero point."""

    shape: tuple[int, int, int]
    filters: int
    kernel: tuple[int, int] = (1, 1)
    strides: tuple[int, int] = (1, 1)
    padding: int = _VALID
    activation: int = _ACTIVATIONS.NONE
    is_extreme: bool = False
    has_zero: bool = False

    @property
    def output(self) -> tuple[int, int]:
        sizes = zip(self.shape[:2], self.kernel, self.strides, strict=True)
        rows, columns = (
            -(-n // s) if self.padding == _SAME else (n - k) // s + 1 for n, k, s in sizes
        )
        return rows, columns


SPEECH = Case((6, 5, 64), 64, activation=_ACTIVATIONS.RELU)
TAKEN = (
    SPEECH,
    Case((3, 3, 4), 2),
    Case((1, 2, 8), 4, activation=_ACTIVATIONS.RELU6),
    Case((7, 5, 3), 6, (3, 3), (2, 2), _SAME, _ACTIVATIONS.RELU),
    Case((13, 4, 1), 8, (10, 4), (2, 2), _SAME),
    Case((6, 9, 5), 2, (2, 3), (1, 2), _VALID, _ACTIVATIONS.RELU6),
    Case((3, 4, 12), 4, (3, 3), (1, 1), _SAME, is_extreme=True),
    Case((3, 3, 64), 130, (3, 3), (1, 1), _SAME, is_extreme=True, has_zero=True),
    Case((5, 4, 8), 6, (1, 1), (1, 1), _VALID, _ACTIVATIONS.RELU6, has_zero=True),
    Case((7, 5, 3), 6, (3, 3), (2, 2), _SAME, has_zero=True),
    Case((4, 3, 5), 3, (2, 2), (1, 1), _SAME, _ACTIVATIONS.RELU, has_zero=True),
)
ROWS = (3, 43, 10)  # and depth and outputs of a fully connected layer


def model(path: Path) -> Path:
    """Each case by itself, of an input of its own."""
    random = np.random.default_rng(0)
    tensors, operators = [], []
    for n, case in enumerate(TAKEN):
        shape = (case.filters, *case.kernel, case.shape[2])
        weights = random.choice([-128, 127], shape) if case.is_extreme else (
            np.clip(random.normal(0, 40, shape), -127, 127)
        )  # fmt: skip
        scales = random.uniform(0.001, 0.01, case.filters if case.has_zero else 1).tolist()
        tensors += [
            Tensor(f"x{n}", (1, *case.shape)), constant(f"w{n}", weights.astype(np.int8), scales),
            constant(f"b{n}", random.normal(size=case.filters).astype(np.float32)),
            Tensor(f"y{n}", (1, *case.output, case.filters)),
        ]  # fmt: skip
        options = {
            "Padding": case.padding, "StrideH": case.strides[0], "StrideW": case.strides[1],
            "DilationHFactor": 1, "DilationWFactor": 1, "FusedActivationFunction": case.activation,
        }  # fmt: skip
        inputs = (f"x{n}", f"w{n}", f"b{n}")
        operators.append(Operator("CONV_2D", inputs, (f"y{n}",), "Conv2DOptions", options))
    rows, depth, outputs = ROWS
    weights = random.integers(-127, 128, (outputs, depth)).astype(np.int8)
    tensors += [
        Tensor("x_rows", (rows, depth)), Tensor("y_rows", (rows, outputs)),
        constant("w_rows", weights, random.uniform(0.001, 0.01, outputs).tolist()),
    ]  # fmt: skip
    options = {"AsymmetricQuantizeInputs": True}
    inputs = ("x_rows", "w_rows", "")
    operators.append(
        Operator("FULLY_CONNECTED", inputs, ("y_rows",), "FullyConnectedOptions", options)
    )
    names = [[*(f"{kind}{n}" for n in range(len(TAKEN))), f"{kind}_rows"] for kind in "xy"]
    path.write_bytes(write(tensors, operators, *names))
    return path


def samples() -> Samples:
    """Numbers, and nothing but zeros; one of which all but a number are zeros. In the sample each
    case has one of these, the last numbers."""
    random = np.random.default_rng(1)
    shapes = [*((1, *case.shape) for case in TAKEN), ROWS[:2]]
    some = [random.normal(size=shape).astype(np.float32) for shape in shapes]
    one = [np.zeros(shape, np.float32) for shape in shapes]
    for array in one:
        array.reshape(-1)[-1] = -3e-3
    none = [np.zeros(shape, np.float32) for shape in shapes]
    kinds = [some, one, none]
    if examples(3, 1) == 1:
        kinds = [[kinds[(len(TAKEN) - n) % 3][n] for n in range(len(shapes))]]
    return Samples(tuple(map(tuple, kinds)), "made here")


# Of the 1x1 convolution of keyword spotting the cycles for a multiply-accumulate.
_CYCLES = (
    ("mps2-an386", "ArmDsp", 1.5), ("mps3-an547", "ArmMve", 0.3), ("mps2-an500", "ArmDsp", 0.85),
    ("mps2-an505", "ArmDsp", 1.55),
)  # fmt: skip


@pytest.mark.parametrize("board, backend, most", first(_CYCLES, 2))
def test_every_shape_gives_the_bits_of_the_oracle(
    board: str, backend: str, most: float, tmp_path: Path
) -> None:
    path = model(tmp_path / "hybrid.tflite")
    given = samples()
    built = right(path, board, tmp_path, "speed", backend=backend, samples=given, onnxruntime=False)
    assert [layer.backend for layer in built.report.layers] == [backend] * (len(TAKEN) + 1)
    costs = {layer.macs: layer.cycles for layer in profile(built.directory).layers}
    assert 0.1 < costs[64 * 64 * 30] / (64 * 64 * 30) < most
