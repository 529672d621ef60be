"""What backends share of TFLite's int8 LSTM: what its sums start from, how a unit ends in C, and
how far its output may lie on its input."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from mcu_deploy.arithmetic import Array
from mcu_deploy.backends.interface import InPlace, Layer
from mcu_deploy.backends.kit import overlap
from mcu_deploy.backends.kit.kit import Kit
from mcu_deploy.backends.kit.requantization import multiplied, saturated
from mcu_deploy.backends.kit.zero_points import folded_bias
from mcu_deploy.operators.tflite_lstm import QuantizedLstm, weights

# For its template.
_KIT = Kit("kit", Path(__file__).parent)


class GateSum(NamedTuple):
    """A sum of a gate's units, over the input or over the hidden state: its weights, (unit, tap);
    what it starts from, int32 with the zero point in it; or why there is no such, a clause."""

    weights: Array
    start: Array | None
    reason: str


def gate_sums(layer: Layer, gate: int) -> tuple[GateSum, GateSum]:
    """Of a gate the sums over the input and over the hidden state; all weights are constants."""
    w, r, bias = (layer.input(index).constant for index in weights(gate))
    assert w is not None
    assert r is not None
    return (
        GateSum(w, *folded_bias(bias, w, layer.input(0).type)),
        GateSum(r, *folded_bias(None, r, layer.output.type)),
    )


def unit_end(layer: Layer, lstm: QuantizedLstm, unit: str, output: str) -> str:
    """C for what follows the gates `input`, `forget`, `cell` and `output` of a unit: its cell state
    `c[unit]`, and its element of `output`. It calls CLAMP, MULTIPLY and LSTM."""
    return _KIT.render(
        "lstm_unit_end.c.j2", unit=unit, to=output, clip=lstm.clip, tanh=lstm.tanh,
        kept=multiplied(f"forget * c[{unit}]", lstm.forget),
        added=multiplied("input * cell", lstm.update),
        scaled=multiplied("bent * output", lstm.result), element=saturated(layer, "scaled"),
    )  # fmt: skip


def in_place(layer: Layer, lstm: QuantizedLstm) -> tuple[InPlace, ...]:
    """A step of the output is written when that of the input has been read."""
    step, sequence = lstm.strides
    first = overlap.strided((lstm.batch, lstm.steps), (sequence, step))
    demand = overlap.distance((first + 1) * lstm.hidden, first * lstm.inputs)
    return overlap.fact(layer, 0, demand)
