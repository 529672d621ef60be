"""TFLite's UNIDIRECTIONAL_SEQUENCE_LSTM: integers, and float32 with a clip of the cell state."""

from __future__ import annotations

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.arithmetic.tflite import scalar
from mcu_deploy.backends.CpuRef.kernels import recurrent
from mcu_deploy.backends.CpuRef.kernels.base import Kernel, call, render
from mcu_deploy.backends.floats.recurrent import supports
from mcu_deploy.backends.interface import YES, Constant, Layer, Support, Workload, no
from mcu_deploy.backends.kit import lstm as kit_lstm
from mcu_deploy.backends.kit.arguments import signature
from mcu_deploy.backends.kit.c_functions import CLAMP, LSTM, MULTIPLY
from mcu_deploy.backends.kit.loops import counter, plus, times
from mcu_deploy.backends.kit.stems import stem
from mcu_deploy.operators.tflite_lstm import QuantizedLstm, quantized_lstm, sigmoid_table


def _supports(layer: Layer) -> Support:
    if any(o is None or o.constant is None for o in layer.inputs[1:]):
        return no("its weights are computed at run time")
    if layer.input(0).constant is not None:
        return no("its input is a constant")
    for gate in range(4):
        for of in kit_lstm.gate_sums(layer, gate):
            if of.reason:
                return no(of.reason)
    return YES


def _offsets(layer: Layer, gate: int) -> Array:
    """What the two sums of each unit start from, (hidden, 2)."""
    sums = kit_lstm.gate_sums(layer, gate)
    return np.stack([of.start for of in sums if of.start is not None], axis=1)


def _create(layer: Layer) -> Workload:
    lstm = quantized_lstm(layer.call)
    n = counter("n", lstm.hidden)
    factors, left = _factors(lstm)
    matrices = [[of.weights for of in kit_lstm.gate_sums(layer, g)] for g in range(4)]
    constants = (
        Constant("weights", _joined([np.hstack(pair) for pair in matrices]), 1),
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
        end=kit_lstm.unit_end(layer, lstm, plus(n), "h"),
    )
    return call(
        stem("lstm", "int8", lstm.inputs, lstm.hidden), body,
        signature(layer, constants).scratch("int16_t"), (MULTIPLY, CLAMP, *LSTM),
        ("string.h",), kit_lstm.in_place(layer, lstm), scratch_bytes=11 * lstm.hidden,
    )  # fmt: skip


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
