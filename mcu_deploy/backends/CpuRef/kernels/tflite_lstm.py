"""TFLite's UNIDIRECTIONAL_SEQUENCE_LSTM: integers, and float32 with a clip of the cell state."""

from __future__ import annotations

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.arithmetic.tflite import scalar
from mcu_deploy.backends.CpuRef.kernels import recurrent
from mcu_deploy.backends.CpuRef.kernels.base import Kernel, call, render
from mcu_deploy.backends.floats.recurrent import supports
from mcu_deploy.backends.interface import YES, Constant, InPlace, Layer, Support, Workload, no
from mcu_deploy.backends.kit import overlap
from mcu_deploy.backends.kit.arguments import signature
from mcu_deploy.backends.kit.c_functions import CLAMP, LSTM, MULTIPLY
from mcu_deploy.backends.kit.loops import counter, plus, times
from mcu_deploy.backends.kit.requantization import multiplied, saturated
from mcu_deploy.backends.kit.stems import stem
from mcu_deploy.backends.kit.zero_points import folded_bias
from mcu_deploy.operators.tflite_lstm import QuantizedLstm, quantized_lstm, sigmoid_table, weights


def _supports(layer: Layer) -> Support:
    if any(o is None or o.constant is None for o in layer.inputs[1:]):
        return no("its weights are computed at run time")
    if layer.input(0).constant is not None:
        return no("its input is a constant")
    for gate in range(4):
        for _, reason in _sums(layer, gate):
            if reason:
                return no(reason)
    return YES


def _matrices(layer: Layer, gate: int) -> tuple[Array, Array]:
    """The weights of the input and of the hidden state, (hidden, inputs) and (hidden, hidden)."""
    w, r, _ = (layer.input(index).value for index in weights(gate))
    return w, r


def _sums(layer: Layer, gate: int) -> tuple[tuple[Array | None, str], ...]:
    """What the two sums of each unit start from, over the input and over the hidden state."""
    w, r = _matrices(layer, gate)
    bias = layer.input(weights(gate)[2]).constant
    return folded_bias(bias, w, layer.input(0).type), folded_bias(None, r, layer.output.type)


def _offsets(layer: Layer, gate: int) -> Array:
    """What the two sums of each unit start from, (hidden, 2)."""
    return np.stack([start for start, _ in _sums(layer, gate) if start is not None], axis=1)


def _create(layer: Layer) -> Workload:
    lstm = quantized_lstm(layer.call)
    n = counter("n", lstm.hidden)
    factors, left = _factors(lstm)
    constants = (
        Constant("weights", _joined([np.hstack(_matrices(layer, g)) for g in range(4)]), 1),
        Constant("bias", _joined([_offsets(layer, g) for g in range(4)])),
        Constant("factors", factors),
        Constant("sigmoid", sigmoid_table()),
    )
    body = render(
        "tflite_lstm.c.j2",
        **_sizes(lstm),
        n=n,
        left=left,
        zero_point=scalar(layer.output.type)[1],
        kept=multiplied(f"forget * c[{plus(n)}]", lstm.forget),
        added=multiplied("input * cell", lstm.update),
        scaled=multiplied("bent * output", lstm.result),
        element=saturated(layer, "scaled"),
        clip=lstm.clip,
        tanh=lstm.tanh,
    )
    return call(
        stem("lstm", "int8", lstm.inputs, lstm.hidden), body,
        signature(layer, constants).scratch("int16_t"), (MULTIPLY, CLAMP, *LSTM),
        ("string.h",), _in_place(layer, lstm), scratch_bytes=11 * lstm.hidden,
    )  # fmt: skip


def _in_place(layer: Layer, lstm: QuantizedLstm) -> tuple[InPlace, ...]:
    """A step of the output is written when that of the input has been read."""
    step, sequence = lstm.strides
    first = overlap.strided((lstm.batch, lstm.steps), (sequence, step))
    demand = overlap.distance((first + 1) * lstm.hidden, first * lstm.inputs)
    return overlap.fact(layer, 0, demand)


def _joined(parts: list[Array]) -> Array:
    return np.concatenate(parts)


def _factors(lstm: QuantizedLstm) -> tuple[Array, bool]:
    """For each gate: multiplier and right shift of the one sum and of the other, left shifts.

    The left shifts are there only where one is not 0.
    """
    pairs = [(gate.from_x, gate.from_h) for gate in lstm.gates]
    left = any(shift > 0 for pair in pairs for _, shift in pair)
    rows = []
    for pair in pairs:
        row = [value for factor, shift in pair for value in (factor, max(-shift, 0))]
        rows.append(row + [max(shift, 0) for _, shift in pair] * left)
    return np.array(rows, np.int32), left


def _sizes(lstm: QuantizedLstm) -> dict[str, object]:
    """Extents, and C for where a step's elements lie."""
    t, b = counter("t", lstm.steps), counter("b", lstm.batch)
    step, sequence = lstm.strides

    def offset(size: int) -> str:
        return plus(times(t, step * size), times(b, sequence * size))

    return {
        "t": t, "b": b, "k": counter("k", lstm.inputs), "hidden": lstm.hidden,
        "x_offset": offset(lstm.inputs), "y_offset": offset(lstm.hidden),
    }  # fmt: skip


KERNELS = (
    Kernel("UnidirectionalSequenceLstm", _supports, _create, domain="tflite"),
    Kernel("LSTM", supports, recurrent.create, domain="tflite"),
)
