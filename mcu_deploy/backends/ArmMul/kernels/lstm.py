"""TFLite's int8 LSTM, one unit after the other: the sums of its four gates are those of four
filters of a dense layer (rows.py).

The scratch has a step's input and the hidden state of the step before, two elements in a word, then
the cell states.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.arithmetic.tflite import scalar
from mcu_deploy.backends.ArmMul import rows
from mcu_deploy.backends.ArmMul.rounding import is_armv6m
from mcu_deploy.backends.ArmMul.workloads import KIT, RunCost, proposal
from mcu_deploy.backends.interface import (
    Constant,
    Layer,
    LayoutRule,
    Proposal,
    SubgraphView,
)
from mcu_deploy.backends.kit import lstm as kit_lstm
from mcu_deploy.backends.kit.arguments import signature
from mcu_deploy.backends.kit.c_functions import CLAMP, LSTM, MULTIPLY
from mcu_deploy.backends.kit.loops import counter, plus
from mcu_deploy.backends.kit.requantization import multiplied
from mcu_deploy.backends.kit.stems import stem
from mcu_deploy.operators.tflite_lstm import QuantizedLstm, quantized_lstm, sigmoid_table

OPERATORS = ("tflite::UnidirectionalSequenceLstm",)

_GATES = 4


class _Model(NamedTuple):
    """Cycles of a unit beside its sums, of an element of input or hidden state, and of a step;
    bytes of the function. Counted in QEMU."""

    unit: float
    element: float
    step: float
    code: int


_M3 = _Model(580, 5, 150, 1310)
_M0_PLUS = _Model(1360, 8, 250, 1440)


class _Stream(NamedTuple):
    """weights: of each unit the words of its gates' weights of the input, then of the hidden state.
    starts: what these sums begin with, uint32 [unit, 2, gate]. cycles: of the sums of a step."""

    weights: Array
    starts: Array
    cycles: float


def propose(view: SubgraphView, node: Layer) -> Sequence[Proposal] | str:
    """A layer by itself."""
    if any(o is None or o.constant is None for o in node.inputs[1:]):
        return "its weights are computed at run time"
    lstm, stream = quantized_lstm(node.call), pack(node)
    if node.input(0).constant is not None or not node.output.type.elements:
        return "there is nothing to compute"
    if isinstance(stream, str):
        return stream
    return [_proposal(view, node, lstm, stream)]


def pack(layer: Layer) -> _Stream | str:
    """What the kernel reads; or why it cannot, a clause."""
    streams, starts, cycles = [], [], 0.0
    gates = [kit_lstm.gate_sums(layer, gate) for gate in range(_GATES)]
    for source in (0, 1):  # over the input, over the hidden state
        sums = [pair[source] for pair in gates]
        units = np.stack([of.weights for of in sums], axis=1).astype(np.int64)
        begins = []
        for of in sums:
            if of.start is None:
                return of.reason
            begins.append(of.start)
        packed = rows.pack(units.reshape(-1, units.shape[-1]))
        streams.append(packed.groups)
        cycles += packed.cycles(layer.target)
        begin = np.stack(begins, axis=1).astype(np.int64)
        starts.append(begin - packed.middles.reshape(begin.shape))
    words = np.stack(starts, axis=1).astype(np.int32).view(np.uint32)
    return _Stream(np.hstack(streams).reshape(-1), words, cycles)


def _proposal(view: SubgraphView, node: Layer, lstm: QuantizedLstm, stream: _Stream) -> Proposal:
    of = _M0_PLUS if is_armv6m(node.target) else _M3
    constants = (
        Constant("weights", stream.weights), Constant("starts", stream.starts.reshape(-1)),
        Constant("sigmoid", sigmoid_table()),
    )  # fmt: skip
    steps, sizes = lstm.batch * lstm.steps, (lstm.inputs, lstm.hidden)
    a_step = stream.cycles + lstm.hidden * of.unit + sum(sizes) * of.element + of.step
    work = RunCost(steps * a_step, steps * (stream.weights.size + stream.starts.size))
    body = _body(node, lstm)
    pairs, sums = rows.row_pairs(node.input(0).type), rows.row_sums()
    return proposal(
        view, node, stem("lstm", "int8", lstm.inputs, lstm.hidden), body,
        lambda layer: signature(layer, constants).scratch("uint32_t", "pairs"),
        work=work, flash=sum(c.value.nbytes for c in constants),
        code={body: of.code}, title="lstm", layout=LayoutRule.NATURAL,
        helpers=(MULTIPLY, CLAMP, *LSTM, pairs, sums),
        scratch_bytes=sum(map(rows.row_bytes, sizes)) + 2 * lstm.hidden,
        in_place=kit_lstm.in_place(node, lstm),
    )  # fmt: skip


def _body(node: Layer, lstm: QuantizedLstm) -> str:
    step, sequence = lstm.strides
    unit = plus(counter("n", lstm.hidden))
    gates = [
        [
            multiplied(f"(int32_t)(sums[{at + n}] + start[{at + n}])", factor)
            for at, factor in ((0, gate.from_x), (_GATES, gate.from_h))
        ]
        for n, gate in enumerate(lstm.gates)
    ]
    return KIT.render(
        "lstm.c.j2", **vars(lstm), step=step, sequence=sequence, sums=gates,
        zero=scalar(node.output.type)[1] * 0x10001 & 0xFFFFFFFF,
        words=rows.row_bytes(lstm.inputs) // 4, hidden_words=rows.row_bytes(lstm.hidden) // 4,
        pairs=rows.row_pairs(node.input(0).type).stem,
        end=kit_lstm.unit_end(node, lstm, unit, "to"),
    )  # fmt: skip
