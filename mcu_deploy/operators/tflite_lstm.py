"""TFLite's UNIDIRECTIONAL_SEQUENCE_LSTM as TFLite-Micro's reference kernels compute it.

Quantized, `UnidirectionalSequenceLstm`: int8 tensors and weights, an int16 cell state, gates in
int16 (tensorflow/lite/micro/kernels/lstm_eval.cc; reference/integer_ops/logistic.h and tanh.h for
the functions). Inputs: x [batch, time, input], for the input, forget, cell and output gate the
weights of x [hidden, input], then those of the hidden state [hidden, hidden], then the biases
[hidden]. Output: [batch, time, hidden], whose scale is the hidden state's. Attributes: `time_major`
(time before batch), `cell_scale`, `cell_clip` (a real number; 0 for none).

float32, `LSTM` of the domain "tflite": ONNX's LSTM with the attribute `cell_clip`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.arithmetic.tflite import (
    Integers,
    fully_connected_multipliers,
    multiply,
    quantize_multiplier,
    saturate,
    scalar,
    wrap,
)
from mcu_deploy.ir import DType, Quantization
from mcu_deploy.operators import recurrent
from mcu_deploy.operators.base import Call, Operator

INPUT, FORGET, CELL, OUTPUT = range(4)

# What the functions read and write: Q3.12 and Q0.15.
_SUM_SCALE = 2.0**-12
_GATE_SCALE = 2.0**-15
_LOW, _HIGH = DType.INT16.range

Factor = tuple[int, int]


@dataclass(frozen=True)
class Gate:
    """How a gate's two sums become steps of 2**-12: each times a multiplier and a shift."""

    from_x: Factor
    from_h: Factor


@dataclass(frozen=True)
class QuantizedLstm:
    """An integer LSTM: its sizes and its factors.

    forget: of forget gate and cell state; update: of input and cell gate; result: of output gate
    and tanh of the cell state. tanh: what the cell state is multiplied by, and the shift behind it.
    clip: the bound of the cell state in its own steps; None for none.
    """

    steps: int
    batch: int
    inputs: int
    hidden: int
    time_major: bool
    gates: tuple[Gate, ...]
    forget: Factor
    update: Factor
    result: Factor
    tanh: Factor
    clip: int | None

    @property
    def strides(self) -> tuple[int, int]:
        """From a step to the next, and from a sequence to the next, in rows of elements."""
        return (self.batch, 1) if self.time_major else (1, self.steps)


def weights(gate: int) -> tuple[int, int, int]:
    """The inputs that are a gate's weights of x, its weights of the hidden state, and its bias."""
    return 1 + gate, 5 + gate, 9 + gate


def quantized_lstm(call: Call) -> QuantizedLstm:
    """The node that a call stands for."""
    y = call.results[0]
    first, second, inputs = call.type(0).shape
    time_major = bool(call.attributes.get("time_major", 0))
    cell_scale = float(np.float32(call.attributes["cell_scale"]))
    clip = float(np.float32(call.attributes.get("cell_clip", 0.0)))
    return QuantizedLstm(
        first if time_major else second,
        second if time_major else first,
        inputs,
        y.shape[2],
        time_major,
        tuple(_gate(call, gate) for gate in range(4)),
        quantize_multiplier(_GATE_SCALE * cell_scale / cell_scale),
        quantize_multiplier(_GATE_SCALE * _GATE_SCALE / cell_scale),
        quantize_multiplier(_GATE_SCALE * _GATE_SCALE / scalar(y)[0]),
        _tanh_factor(round(math.log2(cell_scale))),
        int(min(clip / cell_scale, float(_HIGH))) if clip > 0 else None,
    )


def _gate(call: Call, gate: int) -> Gate:
    sums = Quantization((_SUM_SCALE,), (0,))
    w, r, _ = weights(gate)
    found = []
    for source, index in ((call.type(0), w), (call.results[0], r)):
        factors = call.type(index).scaling
        multipliers, shifts = fully_connected_multipliers(source.scaling, factors, sums)
        found.append((int(multipliers[0]), int(shifts[0])))
    return Gate(*found)


def _tanh_factor(power: int) -> Factor:
    """Of a cell state in steps of 2**power: 3/4 of it in steps of 2**-12, times 4."""
    shift = power + 12
    return (3 << shift, 0) if shift >= 0 else (3, -shift)


def sigmoid_table() -> Array:
    """2**16 / (1 + exp(-i / 24)) for i = 0..255, from which sigmoid and tanh are interpolated.

    A straight line between two entries lies below the curve, in the middle by f'' / (8 * 24**2).
    TFLite's table is higher by half of that, so that it errs as far above as below; and its last
    entry is 2**16 - 1.
    """
    entries = []
    for i in range(255):
        f = 1 / (1 + math.exp(-i / 24))
        bend = f * (1 - f) * (1 - 2 * f)
        entries.append(math.floor(2**16 * (f - bend / (16 * 24**2)) + 0.5))
    return np.array([*entries, 2**16 - 1], np.uint16)


def _interpolated(x: Integers, bits: int, largest: int) -> Integers:
    """The table at |x| / 2**bits, times 2**bits; `largest` from the last entry on."""
    table = sigmoid_table().astype(np.int64)
    at = np.abs(x) >> bits
    below = np.minimum(at, 254)
    rest = np.abs(x) & ((1 << bits) - 1)
    value = (table[below] << bits) + rest * (table[below + 1] - table[below])
    return np.where(at >= 255, largest, value)


def sigmoid(x: Integers, factor: Factor = (3, 0)) -> Integers:
    """The sigmoid of x in steps of 2**-15; factor: a multiplier and a shift to the right that make
    steps of 1 / (3 * 2**12), by default of those of 2**-12."""
    multiplier, shift = factor
    scaled = (x * multiplier + ((1 << shift) >> 1)) >> shift
    value = _interpolated(scaled, 9, 0x7FFF << 10)
    return np.where(scaled >= 0, value + (1 << 9), (1 << 25) - value + (1 << 9) - 1) >> 10


def tanh(x: Integers, factor: Factor) -> Integers:
    """The hyperbolic tangent of x in steps of 2**-15, for the factor of `QuantizedLstm.tanh`."""
    multiplier, shift = factor
    scaled = (x * multiplier + ((1 << shift) >> 1)) >> shift
    value = _interpolated(scaled, 8, 0xFFFF << 8) - (1 << 23)
    return np.where(scaled >= 0, value + (1 << 7), -value + (1 << 7) - 1) >> 8


@dataclass(frozen=True)
class _Parameters:
    """Weights and bias of one gate."""

    w: Integers
    r: Integers
    bias: Integers


def _quantized(call: Call) -> list[Array]:
    lstm = quantized_lstm(call)
    y_type = call.results[0]
    x = call.value(0).astype(np.int64) - scalar(call.type(0))[1]
    x = x if lstm.time_major else x.swapaxes(0, 1)
    zero = scalar(y_type)[1]
    gates = [
        _Parameters(*(call.value(index).astype(np.int64) for index in weights(gate)))
        for gate in range(4)
    ]
    y = np.zeros((lstm.steps, lstm.batch, lstm.hidden), y_type.dtype.numpy)
    for b in range(lstm.batch):
        # What a file says of its states is not read: they are 0 before every run.
        h, c = (np.zeros(lstm.hidden, np.int64) for _ in range(2))
        for t in range(lstm.steps):
            sums = [_sum(lstm.gates[g], gates[g], x[t, b], h) for g in range(4)]
            c = _cell(lstm, sums, c)
            product = tanh(c, lstm.tanh) * sigmoid(sums[OUTPUT])
            scaled = multiply(product, *lstm.result)
            y[t, b] = saturate(scaled, zero, y_type.dtype.range, y_type.dtype)
            h = y[t, b].astype(np.int64) - zero
    return [y if lstm.time_major else y.swapaxes(0, 1)]


def _sum(gate: Gate, parameters: _Parameters, x: Integers, h: Integers) -> Integers:
    from_x = _bounded(multiply(wrap(parameters.w @ x + parameters.bias), *gate.from_x))
    from_h = _bounded(multiply(wrap(parameters.r @ h), *gate.from_h))
    return _bounded(from_x + from_h)


def _cell(lstm: QuantizedLstm, sums: Sequence[Integers], c: Integers) -> Integers:
    kept = _bounded(multiply(sigmoid(sums[FORGET]) * c, *lstm.forget))
    gate = tanh(sums[CELL], _tanh_factor(-12))
    new = _bounded(multiply(sigmoid(sums[INPUT]) * gate, *lstm.update))
    total = _bounded(kept + new)
    return total if lstm.clip is None else np.clip(total, -lstm.clip, lstm.clip)


def _bounded(value: Integers) -> Integers:
    return np.clip(value, _LOW, _HIGH)


def _macs(call: Call) -> int:
    """Each of the eight matrices once for every step of every sequence."""
    matrices = sum(call.type(index).elements for index in range(1, 9))
    return math.prod(call.type(0).shape[:2]) * matrices


OPERATORS = (
    Operator("UnidirectionalSequenceLstm", _quantized, _macs, domain="tflite"),
    Operator("LSTM", recurrent.evaluate, recurrent.macs, domain="tflite"),
)
