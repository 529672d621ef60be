"""The streaming models of tests/models/streaming, and the windows that TFLite-Micro ran."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import tflite
from tflite_models import Array

FOLDER = Path(__file__).parent / "streaming"
RECORDED = FOLDER / "recorded.npz"
MODELS = ("vad", "okay_nabu")
WINDOWS = 40


def windows(shape: tuple[int, ...]) -> Array:
    """A stream that rests and moves, so that outputs differ: (WINDOWS, *shape) of int8."""
    rng = np.random.default_rng(3)
    loud = np.abs(np.sin(np.arange(WINDOWS) / 3))[:, *[np.newaxis] * len(shape)]
    values = rng.normal(-90, 20, (WINDOWS, *shape)) + loud * rng.normal(90, 60, (1, *shape))
    return np.clip(values, -128, 127).astype(np.int8)


def with_inner_output(content: bytes) -> bytes:
    """The model with the last convolution as its output: more numbers than one probability."""
    changed = bytearray(content)
    graph = tflite.Model.GetRootAsModel(changed, 0).Subgraphs(0)
    code = tflite.BuiltinOperator.CONV_2D
    codes = tflite.Model.GetRootAsModel(changed, 0)
    last = [
        operator
        for operator in map(graph.Operators, range(graph.OperatorsLength()))
        if codes.OperatorCodes(operator.OpcodeIndex()).DeprecatedBuiltinCode() == code
    ][-1]
    # The vector of the outputs is the third field of a subgraph; it has one element.
    at = graph._tab.Vector(graph._tab.Offset(8))
    struct.pack_into("<i", changed, at, last.Outputs(0))
    return bytes(changed)
