"""TFLite's int8 LSTM, one unit after the other: its four gates, its cell state, its output.

A step's input and the hidden state of the step before are widened to int16 in the scratch, where
all units read them. The sums of a unit's four gates are made together, as those of four outputs of
a fully connected layer (tile.py): 4 sums, 2 words of activations, 4 of weights and the
two pointers.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.arithmetic.tflite import scalar
from mcu_deploy.backends.ArmDsp.workloads import proposal
from mcu_deploy.backends.interface import Constant, Layer, Proposal, SubgraphView
from mcu_deploy.backends.isa import Assembly, Kind, Register
from mcu_deploy.backends.isa.dsp import sigmoid
from mcu_deploy.backends.isa.dsp.rounding import round_by_numbers
from mcu_deploy.backends.isa.dsp.tile import multiply_row, pairs, take_apart
from mcu_deploy.backends.isa.dsp.widening import Row, widen_row
from mcu_deploy.backends.isa.kept import counted, move
from mcu_deploy.backends.kit import lstm as kit_lstm
from mcu_deploy.backends.quantized.dense import LANES, leave, weights_refusal, words
from mcu_deploy.backends.quantized.loops import loop_bytes
from mcu_deploy.backends.quantized.requantization import reach
from mcu_deploy.backends.quantized.tile_shapes import STEP
from mcu_deploy.operators.tflite_lstm import (
    CELL,
    FORGET,
    INPUT,
    OUTPUT,
    Factor,
    QuantizedLstm,
    quantized_lstm,
)

OPERATORS = ("tflite::UnidirectionalSequenceLstm",)

_TAPS = 2 * STEP.of_row  # of a block
_BLOCK_BYTES = 2 * _TAPS
_MOST_UNROLLED = (8, 2)  # blocks, of two forms
_MOST_ELEMENTS = 4095  # of input and hidden state, which offsets and MOVW reach

# Of each gate, over x and over the hidden state.
_Gates = Sequence[Sequence[kit_lstm.GateSum]]


def propose(view: SubgraphView, node: Layer) -> Sequence[Proposal] | str:
    """A layer by itself."""
    if any(o is None or o.constant is None for o in node.inputs[1:]):
        return "its weights are computed at run time"
    lstm = quantized_lstm(node.call)
    parts = [kit_lstm.gate_sums(node, gate) for gate in range(4)]
    if reason := _refusal(node, lstm, parts):
        return reason
    stream = pack(lstm, parts)
    zero, longest = scalar(node.output.type)[1], loop_bytes(node.target)
    forms = [assemble(lstm, zero, most) for most in _MOST_UNROLLED]
    if longest is not None:  # of what runs for each unit
        steps = lstm.batch * lstm.steps
        forms = [form for form in forms if form.longest_loop(steps) <= longest] or forms[-1:]
    return [_proposal(view, node, lstm, stream, form) for form in forms]


def _proposal(
    view: SubgraphView, node: Layer, lstm: QuantizedLstm, stream: Array, code: Assembly
) -> Proposal:
    stem, scratch = f"lstm_{lstm.inputs}x{lstm.hidden}_int8_dsp", _activation_bytes(lstm)
    return proposal(
        view.part([node.node.id]), node.target, stem, code, [Constant("weights", stream)], "lstm",
        macs=node.macs, scratch_bytes=scratch + 2 * lstm.hidden,
        in_place=kit_lstm.in_place(node, lstm),
    )  # fmt: skip


def _refusal(layer: Layer, lstm: QuantizedLstm, parts: _Gates) -> str:
    """Why the kernel does not compute a layer, a clause; empty where it does."""
    if layer.input(0).constant is not None or not layer.output.type.elements:
        return "there is nothing to compute"
    if max(lstm.inputs, lstm.hidden) > _MOST_ELEMENTS:
        return f"it takes inputs and hidden states of up to {_MOST_ELEMENTS} elements"
    for gate, of in zip(parts, lstm.gates, strict=True):
        for (matrix, start, reason), (_, shift) in zip(gate, (of.from_x, of.from_h), strict=True):
            if start is None:
                return reason
            low, high = reach(matrix, start, *layer.input(0).type.dtype.range)
            if max(-low.min(), high.max()) >= 2 ** (30 - max(shift, 0)) or shift < -30:
                return "a sum of its weights could leave 31 bits as it is rounded"
            if leave((low, high)):
                return "a sum of its weights could leave the 24 bits of two gates in one word"
    if any(not -30 <= shift <= 0 for _, shift in (lstm.forget, lstm.update, lstm.result)):
        return "a factor of it is too large, or tiny"
    return "".join(dict.fromkeys(weights_refusal(_by_units(parts, source)) for source in (0, 1)))


def _blocks(elements: int) -> int:
    return -(-elements // _TAPS)


def _activation_bytes(lstm: QuantizedLstm) -> int:
    """Of a step's input and hidden state in the scratch; behind them are the cell states."""
    return _BLOCK_BYTES * (_blocks(lstm.inputs) + _blocks(lstm.hidden))


def _by_units(parts: _Gates, source: int) -> Array:
    """Weights of x or of the hidden state, those of the gates of a unit behind each other."""
    matrices = np.stack([gate[source].weights for gate in parts], axis=1).astype(np.int64)
    return matrices.reshape(-1, matrices.shape[-1])


def pack(lstm: QuantizedLstm, parts: _Gates) -> Array:
    """The words that the kernel reads: the table; then of each unit, for the input and again for
    the hidden state, what the four sums start from, and block after block four taps of each."""
    units = []
    for source in (0, 1):
        bias = [start for gate in parts if (start := gate[source].start) is not None]
        starts = np.stack(bias, axis=1).astype(np.int64) * ([1, LANES] * 2)
        starts[:, 1::2] += starts[:, ::2]
        units += [starts.astype(np.int32).view(np.uint32), words(_by_units(parts, source), _TAPS)]
    return np.concatenate([sigmoid.table(), np.hstack(units).reshape(-1)])


class _Kept:
    """In the FPU's registers: a step's x and y, the packed stream, the scratch; sequences and steps
    that are left; where the next unit's cell state is, where the step's y ends, the gates' sums of
    x."""

    def __init__(self, code: Assembly) -> None:
        self.x, self.y, self.weights, self.scratch = code.registers(
            "step_x step_y stream_begin scratch_begin", kind=Kind.SINGLE
        )
        self.sequences, self.steps, self.cell, self.end = code.registers(
            "sequences_left steps_left next_c y_end", kind=Kind.SINGLE
        )
        self.from_x = code.registers("from_x01 from_x23", kind=Kind.DOUBLE)


class _Unit:
    """The registers of a unit: weights and activations, as they are read; the gates; of four taps
    the activations, and the words of the weights of two gates each."""

    def __init__(self, code: Assembly) -> None:
        self.stream, self.taps, self.end = code.registers("stream taps taps_end")
        self.gates = code.registers("input forget cell output")
        self.from_x = code.registers("input_x forget_x cell_x output_x")
        self.activations = code.registers("x02 x13")
        self.words = code.registers("gates01_w02 gates01_w13 gates23_w02 gates23_w13")
        self.c, self.h, self.at = code.registers("c h c_at")
        self.line = sigmoid.LineRegisters(code)


def assemble(lstm: QuantizedLstm, zero_point: int, most: int) -> Assembly:
    """The kernel: x, y, the packed stream, scratch.

    Of each sequence and step t, per unit, the gates are sat16(round(w x[t]) + round(r h[t - 1])),
    the cell state c[t] = clip(round(sigmoid(forget) c[t - 1]) + round(sigmoid(input) tanh(cell))),
    the output y[t] = h[t] = sat(round(sigmoid(output) tanh(c[t])) + zero_point). The stream is that
    of `pack`.
    The scratch has x[t] and h[t - 1] as int16, in the order of SXTB16, then c. A step of y is
    written when that of x has been read. most: so many blocks of four taps are unrolled.
    """
    code = Assembly()
    x, y, weights, scratch = code.arguments("x y weights scratch")
    kept, unit = _Kept(code), _Unit(code)
    code.note(
        "gate = sat16(round(w x[t]) + round(r h[t - 1])); c[t] = clip(round(sigmoid(forget) "
        "c[t - 1]) + round(sigmoid(input) tanh(cell))); y[t] = h[t] = sat(round(sigmoid(output) "
        "tanh(c[t])) + zero_point)."
    )
    code.note(
        "weights: sigmoid's table, a halfword an entry; then of each unit, for x and again for h, "
        "what the sums begin with: input; 256 forget + input; cell; 256 output + cell; of each "
        "four taps, two a word, in halves 256 forget + input, two words, 256 output + cell, two "
        "words, taps in the order 0 2 1 3."
    )
    code.note("scratch: x[t] and h[t - 1], two taps in a word; c, int16.")
    code.vmov(kept.x, x)
    code.vmov(kept.y, y)
    code.vmov(kept.weights, weights)
    code.vmov(kept.scratch, scratch)
    step, sequence = lstm.strides
    with counted(code, kept.sequences, lstm.batch):
        _sequence(code, kept, unit, lstm, zero_point, most)
        if lstm.batch > 1:
            move(code, kept.x, (sequence - lstm.steps * step) * lstm.inputs)
            move(code, kept.y, (sequence - lstm.steps * step) * lstm.hidden)
    return code


def _sequence(
    code: Assembly, kept: _Kept, unit: _Unit, lstm: QuantizedLstm, zero_point: int, most: int
) -> None:
    """All steps of a sequence, from a hidden state and cell states of 0 on."""
    hidden, step = lstm.hidden, lstm.strides[0]
    size, out, end = code.registers("bytes out out_end")
    row = Row(code, 1)
    _begin(code, kept, row.into, lstm, zero_point)
    code.note("A step: the input, widened to int16, in front of the hidden state.")
    with counted(code, kept.steps, lstm.steps):
        blocks = _blocks(lstm.inputs) + _blocks(hidden)
        code.reads(4 * _TAPS * (blocks + 2) * hidden, 4 * _TAPS)
        code.vmov(row.source, kept.x)
        code.vmov(row.into, kept.scratch)
        _widen(code, row, lstm.inputs)
        code.offset(row.source, (step - 1) * lstm.inputs, size)
        code.vmov(kept.x, row.source)
        code.vmov(out, kept.y)
        code.add(end, out, hidden)
        code.vmov(kept.end, end)
        code.vmov(unit.at, kept.scratch)
        code.offset(unit.at, _activation_bytes(lstm), size)
        code.vmov(kept.cell, unit.at)
        code.vmov(unit.stream, kept.weights)
        code.add(unit.stream, unit.stream, sigmoid.TABLE_BYTES)
        code.note("Of each unit the gates, the cell state and the output.")
        with code.repeat(hidden):
            _gates(code, unit, kept, lstm, most)
            _state(code, unit, kept, lstm)
            code.note("The output: of the cell state's tanh what the output gate lets out.")
            sigmoid.tanh(code, unit.line, unit.h, unit.c, lstm.tanh)
            code.mul(unit.h, unit.h, unit.gates[OUTPUT])
            round_by_numbers(code, unit.h, lstm.result, bits=8, zero_point=zero_point)
            code.vmov(out, kept.y)
            code.strb(unit.h, out.after(1))
            code.vmov(kept.y, out)
            code.vmov(end, kept.end)
            code.cmp(out, end)
        code.note("The outputs are the next step's hidden state.")
        code.vmov(row.source, kept.y)
        code.sub(row.source, row.source, hidden)
        code.vmov(row.into, kept.scratch)
        code.offset(row.into, _BLOCK_BYTES * _blocks(lstm.inputs), size)
        _widen(code, row, hidden)
        code.offset(row.source, (step - 1) * hidden, size)
        code.vmov(kept.y, row.source)


def _begin(
    code: Assembly, kept: _Kept, into: Register, lstm: QuantizedLstm, zero_point: int
) -> None:
    """A hidden state and cell states of 0."""
    value, left = code.registers("zero left")
    code.vmov(into, kept.scratch)
    code.offset(into, _BLOCK_BYTES * _blocks(lstm.inputs), left)
    for zero, count in ((zero_point, _TAPS * _blocks(lstm.hidden)), (0, lstm.hidden)):
        if zero < 0:
            code.mvn(value, ~zero)
        else:
            code.mov(value, zero)
        code.movw(left, count)
        with code.repeat(count):
            code.strh(value, into.after(2))
            code.subs(left, left, 1)


def _widen(code: Assembly, row: Row, elements: int) -> None:
    """A step's input or its hidden state, four elements at a time."""
    if elements >= _TAPS:
        code.movw(row.end, _BLOCK_BYTES * (elements // _TAPS))
        code.add(row.end, row.end, row.into)
    widen_row(code, row, elements, "sxtb16")


def _gates(code: Assembly, unit: _Unit, kept: _Kept, lstm: QuantizedLstm, most: int) -> None:
    """The four gates of a unit, behind their functions."""
    first, second = kept.from_x
    code.note("The gates' sums of x, then those of h, four taps at a time, each times its factor.")
    code.vmov(unit.taps, kept.scratch)
    _sums(code, unit, _blocks(lstm.inputs), [gate.from_x for gate in lstm.gates], most)
    code.vmov(first, *unit.gates[:2])
    code.vmov(second, *unit.gates[2:])
    _sums(code, unit, _blocks(lstm.hidden), [gate.from_h for gate in lstm.gates], most)
    code.vmov(*unit.from_x[:2], first)
    code.vmov(*unit.from_x[2:], second)
    code.vmov(unit.line.table, kept.weights)
    for gate, other in zip(unit.gates, unit.from_x, strict=True):
        code.add(gate, gate, other)
        code.ssat(gate, 16, gate)
    code.note("Sigmoid and tanh: straight lines between entries of the table.")
    for index in (INPUT, FORGET, OUTPUT):
        sigmoid.sigmoid(code, unit.line, unit.gates[index])
    sigmoid.tanh(code, unit.line, unit.gates[CELL], unit.gates[CELL], (3, 0))


def _state(code: Assembly, unit: _Unit, kept: _Kept, lstm: QuantizedLstm) -> None:
    """The cell state: of the one before what the forget gate keeps, and what the input gate lets
    in."""
    c, old, new = unit.c, unit.gates[FORGET], unit.gates[INPUT]
    code.note("The cell state: what the forget gate keeps of it, and what the input gate lets in.")
    code.vmov(unit.at, kept.cell)
    code.ldrsh(c, unit.at[0])
    code.mul(old, old, c)
    code.mul(new, new, unit.gates[CELL])
    round_by_numbers(code, old, lstm.forget)
    round_by_numbers(code, new, lstm.update)
    code.add(c, old, new)
    code.ssat(c, 16, c)
    if lstm.clip is not None:
        limit = code.register("limit")
        code.movw(limit, lstm.clip)
        code.cmp(c, limit)
        code.it("gt")
        code.movgt(c, limit)
        code.rsb(limit, limit, 0)
        code.cmp(c, limit)
        code.it("lt")
        code.movlt(c, limit)
    code.strh(c, unit.at.after(2))
    code.vmov(kept.cell, unit.at)


def _sums(code: Assembly, unit: _Unit, blocks: int, factors: Sequence[Factor], most: int) -> None:
    """The four gates' sums over the activations at `taps`, which ends behind them; each times its
    factor, in 16 bits."""
    code.ldmia(unit.stream.moving, unit.gates)
    code.movw(unit.end, _BLOCK_BYTES * blocks)
    code.add(unit.end, unit.end, unit.taps)
    code.unroll(
        blocks, most,
        lambda: multiply_row(
            code, unit.taps, unit.stream, unit.gates, unit.activations, unit.words
        ),
        lambda: code.cmp(unit.taps, unit.end),
    )  # fmt: skip
    take_apart(code, pairs(unit.gates))
    for n, (gate, factor) in enumerate(zip(unit.gates, factors, strict=True)):
        round_by_numbers(code, gate, factor, lanes=LANES if n % 2 else 1)
