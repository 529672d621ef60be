"""TFLite files of one UNIDIRECTIONAL_SEQUENCE_LSTM, quantized or float32, with random weights."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import flatbuffers
import numpy as np
import tflite
from operators.lab import Array

_CODES = {
    "float32": tflite.TensorType.FLOAT32, "int8": tflite.TensorType.INT8,
    "int16": tflite.TensorType.INT16, "int32": tflite.TensorType.INT32,
}  # fmt: skip


@dataclass(frozen=True)
class Lstm:
    """What an LSTM is like; `seed` makes its weights and its input. clip 0: no clip."""

    seed: int
    batch: int = 1
    steps: int = 7
    inputs: int = 5
    hidden: int = 6
    time_major: bool = False
    clip: float = 0.0
    is_float: bool = False
    x: tuple[float, int] = (0.05, -9)
    h: tuple[float, int] = (0.0078, 12)
    weights: float = 0.01
    cell: float = 2.0**-12

    @property
    def shape(self) -> tuple[int, int, int]:
        """The input's shape."""
        first, second = (self.steps, self.batch) if self.time_major else (self.batch, self.steps)
        return first, second, self.inputs

    def given(self) -> Array:
        """The input."""
        rng = np.random.default_rng([self.seed, 1])
        if self.is_float:
            return rng.uniform(-2, 2, self.shape).astype(np.float32)
        return rng.integers(-128, 128, self.shape).astype(np.int8)


@dataclass
class _Writer:
    """Collects tensors with their buffers."""

    builder: flatbuffers.Builder = field(default_factory=flatbuffers.Builder)
    tensors: list[int] = field(default_factory=list)
    buffers: list[bytes] = field(default_factory=lambda: [b""])

    def vector(self, values: Any, dtype: str) -> int:
        return int(self.builder.CreateNumpyVector(np.array(values, dtype)))

    def tensor(
        self,
        name: str,
        shape: tuple[int, ...],
        dtype: str,
        scale: tuple[float, int] | None = None,
        value: Array | None = None,
        variable: bool = False,
    ) -> int:
        """The tensor's index."""
        b = self.builder
        quantization = None
        if scale is not None:
            scales, points = self.vector([scale[0]], "f4"), self.vector([scale[1]], "i8")
            tflite.QuantizationParametersStart(b)
            tflite.QuantizationParametersAddScale(b, scales)
            tflite.QuantizationParametersAddZeroPoint(b, points)
            quantization = tflite.QuantizationParametersEnd(b)
        text, extents = b.CreateString(name), self.vector(shape, "i4")
        tflite.TensorStart(b)
        tflite.TensorAddName(b, text)
        tflite.TensorAddShape(b, extents)
        tflite.TensorAddType(b, _CODES[dtype])
        tflite.TensorAddIsVariable(b, variable)
        if value is not None:
            tflite.TensorAddBuffer(b, len(self.buffers))
            self.buffers.append(value.tobytes())
        if quantization is not None:
            tflite.TensorAddQuantization(b, quantization)
        self.tensors.append(tflite.TensorEnd(b))
        return len(self.tensors) - 1

    def offsets(self, tables: list[int]) -> int:
        self.builder.StartVector(4, len(tables), 4)
        for table in reversed(tables):
            self.builder.PrependUOffsetTRelative(table)
        return int(self.builder.EndVector())


def write(
    lstm: Lstm, changed: dict[int, int | None] | None = None, states: Array | None = None
) -> bytes:
    """The file. changed: inputs of the operator that are other tensors, or absent. states: what
    both are as constants; by default they are variable."""
    w = _Writer()
    indices: list[int | None] = [None] * 24
    activation = "float32" if lstm.is_float else "int8"
    x, h = (None, None) if lstm.is_float else (lstm.x, lstm.h)
    indices[0] = w.tensor("x", lstm.shape, activation, x)
    rng = np.random.default_rng([lstm.seed, 0])
    for gate in range(4):
        for at, depth, source in ((1, lstm.inputs, lstm.x), (5, lstm.hidden, None)):
            shape = (lstm.hidden, depth)
            scale = lstm.weights * float(rng.uniform(0.5, 2))
            if lstm.is_float:
                value: Array = rng.uniform(-60 * scale, 60 * scale, shape).astype(np.float32)
            else:
                value = rng.integers(-127, 128, shape).astype(np.int8)
            quantization = None if lstm.is_float else (scale, 0)
            indices[at + gate] = w.tensor(
                f"weights {at + gate}", shape, activation, quantization, value
            )
            if source is None:
                continue
            bias: Array = rng.integers(-9000, 9000, lstm.hidden).astype(np.int32)
            if lstm.is_float:
                bias = (bias * np.float32(0.0001)).astype(np.float32)
            indices[12 + gate] = w.tensor(
                f"bias {gate}", (lstm.hidden,), bias.dtype.name,
                None if lstm.is_float else (source[0] * scale, 0), bias,
            )  # fmt: skip
    state, cell = (lstm.batch, lstm.hidden), "float32" if lstm.is_float else "int16"
    is_variable = states is None
    indices[18] = w.tensor("h", state, activation, h, states, is_variable)
    quantization = None if lstm.is_float else (lstm.cell, 0)
    indices[19] = w.tensor("c", state, cell, quantization, states, is_variable)
    y = w.tensor("y", (*lstm.shape[:2], lstm.hidden), activation, h)
    for place, index in (changed or {}).items():
        indices[place] = index
    return _finish(w, lstm, [-1 if i is None else i for i in indices], y)


def _finish(w: _Writer, lstm: Lstm, inputs: list[int], y: int) -> bytes:
    b = w.builder
    tflite.UnidirectionalSequenceLSTMOptionsStart(b)
    tflite.UnidirectionalSequenceLSTMOptionsAddFusedActivationFunction(
        b, tflite.ActivationFunctionType.TANH
    )
    tflite.UnidirectionalSequenceLSTMOptionsAddCellClip(b, lstm.clip)
    tflite.UnidirectionalSequenceLSTMOptionsAddTimeMajor(b, lstm.time_major)
    options = tflite.UnidirectionalSequenceLSTMOptionsEnd(b)
    read, written = w.vector(inputs, "i4"), w.vector([y], "i4")
    tflite.OperatorStart(b)
    tflite.OperatorAddInputs(b, read)
    tflite.OperatorAddOutputs(b, written)
    tflite.OperatorAddBuiltinOptionsType(b, tflite.BuiltinOptions.UnidirectionalSequenceLSTMOptions)
    tflite.OperatorAddBuiltinOptions(b, options)
    operators = w.offsets([tflite.OperatorEnd(b)])
    tensors, given = w.offsets(w.tensors), w.vector([0], "i4")
    tflite.SubGraphStart(b)
    tflite.SubGraphAddTensors(b, tensors)
    tflite.SubGraphAddInputs(b, given)
    tflite.SubGraphAddOutputs(b, written)
    tflite.SubGraphAddOperators(b, operators)
    graphs = w.offsets([tflite.SubGraphEnd(b)])
    buffers = []
    for data in w.buffers:
        content = w.vector(np.frombuffer(data, np.uint8), "u1")
        tflite.BufferStart(b)
        tflite.BufferAddData(b, content)
        buffers.append(tflite.BufferEnd(b))
    tflite.OperatorCodeStart(b)
    tflite.OperatorCodeAddBuiltinCode(b, tflite.BuiltinOperator.UNIDIRECTIONAL_SEQUENCE_LSTM)
    tflite.OperatorCodeAddDeprecatedBuiltinCode(
        b, tflite.BuiltinOperator.UNIDIRECTIONAL_SEQUENCE_LSTM
    )
    codes, content = w.offsets([tflite.OperatorCodeEnd(b)]), w.offsets(buffers)
    tflite.ModelStart(b)
    tflite.ModelAddVersion(b, 3)
    tflite.ModelAddOperatorCodes(b, codes)
    tflite.ModelAddSubgraphs(b, graphs)
    tflite.ModelAddBuffers(b, content)
    b.Finish(tflite.ModelEnd(b), b"TFL3")
    return bytes(b.Output())
