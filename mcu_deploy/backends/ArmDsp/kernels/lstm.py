"""TFLite's int8 LSTM, one unit after the other: its four gates, its cell state, its output.

A step's input and the hidden state of the step before are widened to int16 in the scratch, where
all units read them. The sums of a unit's four gates are made together: 4 sums, 2 words of
activations, 4 of weights, of which SXTB16 takes two taps each time, and the two pointers. Sums are
rounded twice, as TFLite does: SMMLAR multiplies and rounds with ties up, and the shift behind it is
with ties away from zero, that is with ties up of one less where the sum is negative.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.arithmetic.tflite import scalar
from mcu_deploy.backends.ArmDsp.workloads import workload
from mcu_deploy.backends.interface import (
    Constant,
    Costs,
    InPlace,
    Layer,
    Price,
    Proposal,
    SubgraphView,
    Workload,
)
from mcu_deploy.backends.isa import Assembly, Kind, Register
from mcu_deploy.backends.isa.dsp import sigmoid
from mcu_deploy.backends.kit import overlap
from mcu_deploy.backends.kit.loops import counter, each, plus, times
from mcu_deploy.backends.kit.zero_points import folded_bias
from mcu_deploy.backends.quantized.requantization import reach
from mcu_deploy.operators.tflite_lstm import (
    CELL,
    FORGET,
    INPUT,
    OUTPUT,
    Factor,
    QuantizedLstm,
    quantized_lstm,
    weights,
)

OPERATORS = ("tflite::UnidirectionalSequenceLstm",)

_TAPS = 4  # of a block
_BLOCK_BYTES = 2 * _TAPS
_MOST_UNROLLED = (8, 2)  # blocks, of two forms
_ORDER = (0, 4, 2, 6)  # where a block's taps lie in the scratch, in bytes
_MOST_ELEMENTS = 4095  # of input and hidden state, which offsets and MOVW reach
_C_CYCLES, _C_BYTES = 40, 40


def propose(view: SubgraphView, node: Layer) -> Sequence[Proposal] | str:
    """A layer by itself."""
    if any(o is None or o.constant is None for o in node.inputs[1:]):
        return "its weights are computed at run time"
    lstm = quantized_lstm(node.call)
    parts = [_parts(node, gate) for gate in range(4)]
    if reason := _refusal(node, lstm, parts):
        return reason
    stream = pack(lstm, parts)
    zero = scalar(node.output.type)[1]
    return [
        _proposal(view, node, lstm, stream, assemble(lstm, zero, most)) for most in _MOST_UNROLLED
    ]


def _proposal(
    view: SubgraphView, node: Layer, lstm: QuantizedLstm, stream: Array, code: Assembly
) -> Proposal:
    stem = f"lstm_{lstm.inputs}x{lstm.hidden}_int8_dsp"
    price = Price(
        Costs(node.macs, cycles=lstm.batch * (round(code.cycles) + _C_CYCLES), flash=stream.nbytes),
        {f"{stem} {lstm.batch} {code.digest}": code.bytes + _C_BYTES},
        _activation_bytes(lstm) + 2 * lstm.hidden,
        _in_place(node, lstm),
    )

    def make(layers: Sequence[Layer], _: Any) -> tuple[Workload, ...]:
        constants = (Constant("weights", stream),)
        made = workload(layers[0], stem, code, constants, price)
        if lstm.batch == 1:
            return (made,)
        assert made.function is not None
        one = replace(made.function, stem=f"{stem}_sequence")
        body = replace(made.function, body=_body(lstm, one.stem), naked=False)
        return (replace(made, function=body, helpers=(one,)),)

    return Proposal(view.part([node.node.id]), price, make, title="lstm")


def _parts(layer: Layer, gate: int) -> tuple[tuple[Array, Array | None, str], ...]:
    """Of a gate the weights of x and those of the hidden state, [unit, tap], what their sums start
    from with the zero point in it, and why they have no such, a clause."""
    w, r, bias = (layer.input(index).constant for index in weights(gate))
    assert w is not None
    assert r is not None
    return (
        (w, *folded_bias(bias, w, layer.input(0).type)),
        (r, *folded_bias(None, r, layer.output.type)),
    )


def _refusal(
    layer: Layer, lstm: QuantizedLstm, parts: Sequence[Sequence[tuple[Array, Array | None, str]]]
) -> str:
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
    if any(not -30 <= shift <= 0 for _, shift in (lstm.forget, lstm.update, lstm.result)):
        return "a factor of it is too large, or tiny"
    return ""


def _blocks(elements: int) -> int:
    return -(-elements // _TAPS)


def _activation_bytes(lstm: QuantizedLstm) -> int:
    """Of a step's input and hidden state in the scratch; behind them are the cell states."""
    return _BLOCK_BYTES * (_blocks(lstm.inputs) + _blocks(lstm.hidden))


def _in_place(layer: Layer, lstm: QuantizedLstm) -> tuple[InPlace, ...]:
    """A step of the output is written when that of the input has been read."""
    step, sequence = lstm.strides
    first = overlap.strided((lstm.batch, lstm.steps), (sequence, step))
    demand = overlap.distance((first + 1) * lstm.hidden, first * lstm.inputs)
    return overlap.fact(layer, 0, demand)


def pack(lstm: QuantizedLstm, parts: Sequence[Sequence[tuple[Array, Array | None, str]]]) -> Array:
    """The words that the kernel reads: the table; then of each unit, for the input and again for
    the hidden state, what the four sums start from, and block after block four taps of each."""
    units = []
    for source, size in enumerate((lstm.inputs, lstm.hidden)):
        of_gates = [gate[source] for gate in parts]
        starts = np.stack([start for _, start, _ in of_gates if start is not None], axis=1)
        taps = np.zeros((4, lstm.hidden, _TAPS * _blocks(size)), np.int8)
        taps[:, :, :size] = np.stack([matrix for matrix, _, _ in of_gates])
        words = np.ascontiguousarray(taps).view(np.uint32)
        units += [starts.astype(np.int32).view(np.uint32), words.transpose(1, 2, 0)]
    rows = [part.reshape(lstm.hidden, -1) for part in units]
    return np.concatenate([sigmoid.table(), np.hstack(rows).reshape(-1)])


def _body(lstm: QuantizedLstm, stem: str) -> str:
    """C around the kernel: a loop over the sequences."""
    b, sequence = counter("b", lstm.batch), lstm.strides[1]
    text = (
        f"        ${stem}({plus('x', times(b, sequence * lstm.inputs))}, "
        f"{plus('y', times(b, sequence * lstm.hidden))}, weights, scratch);\n"
    )
    return "{\n" + each(b, caller=lambda: text) + "}"


class _Kept:
    """In the FPU's registers: a step's x and y, the packed stream, the scratch, steps that are
    left, where the next unit's cell state is, where the step's y ends, the gates' sums of x."""

    def __init__(self, code: Assembly) -> None:
        self.x, self.y, self.weights, self.scratch, self.steps, self.cell, self.end = (
            code.registers(
                "step_x step_y stream_begin scratch_begin steps_left next_c y_end",
                kind=Kind.SINGLE,
            )
        )
        self.from_x = code.registers("from_x01 from_x23", kind=Kind.DOUBLE)


class _Unit:
    """The registers of a unit: weights and activations, as they are read; the gates; of four taps
    the activations, and the words of the gates' weights."""

    def __init__(self, code: Assembly) -> None:
        self.stream, self.taps, self.end = code.registers("stream taps taps_end")
        self.gates = code.registers("input forget cell output")
        self.from_x = code.registers("input_x forget_x cell_x output_x")
        self.activations, self.low = code.registers("x02 x13"), code.register("w02")
        self.words = code.registers("input_w forget_w cell_w output_w")
        self.doubled, self.multiplier, self.half = code.registers("doubled multiplier half")
        self.c, self.h, self.at = code.registers("c h c_at")
        self.line = sigmoid.Line(code)


def assemble(lstm: QuantizedLstm, zero_point: int, most: int) -> Assembly:
    """The kernel, of a sequence: x, y, the packed stream, scratch.

    Of each step t, per unit, the gates are sat16(round(w x[t]) + round(r h[t - 1])), the cell state
    c[t] = clip(round(sigmoid(forget) c[t - 1]) + round(sigmoid(input) tanh(cell))), the output
    y[t] = h[t] = sat(round(sigmoid(output) tanh(c[t])) + zero_point). The stream is that of `pack`.
    The scratch has x[t] and h[t - 1] as int16, in the order of SXTB16, then c. A step of y is
    written when that of x has been read. most: so many blocks of four taps are unrolled.
    """
    code = Assembly()
    x, y, weights, scratch = code.arguments("x y weights scratch")
    kept, unit = _Kept(code), _Unit(code)
    hidden, step = lstm.hidden, lstm.strides[0]
    code.note(
        "gate = sat16(round(w x[t]) + round(r h[t - 1])); c[t] = clip(round(sigmoid(forget) "
        "c[t - 1]) + round(sigmoid(input) tanh(cell))); y[t] = h[t] = sat(round(sigmoid(output) "
        "tanh(c[t])) + zero_point)."
    )
    code.note(
        "weights: sigmoid's table, a halfword an entry; then of each unit, for x and again for h, "
        "what the sums of input, forget, cell and output gate begin with, and block after block "
        "four taps of each. scratch: x[t] and h[t - 1], two taps in a word; c, int16."
    )
    code.vmov(kept.x, x)
    code.vmov(kept.y, y)
    code.vmov(kept.weights, weights)
    code.vmov(kept.scratch, scratch)
    steps, into, source, size = code.registers("steps into source bytes")
    out, end = code.registers("out out_end")
    code.number(steps, lstm.steps)
    code.vmov(kept.steps, steps)
    code.movw(size, _BLOCK_BYTES * _blocks(lstm.inputs))
    code.add(into, scratch, size)
    _begin(code, into, lstm, zero_point)
    code.note("A step: the input, widened to int16, in front of the hidden state.")
    with code.repeat(lstm.steps):
        code.vmov(source, kept.x)
        code.vmov(into, kept.scratch)
        _widen(code, source, into, lstm.inputs)
        code.number(size, (step - 1) * lstm.inputs)
        code.add(source, source, size)
        code.vmov(kept.x, source)
        code.vmov(out, kept.y)
        code.movw(end, hidden)
        code.add(end, out, end)
        code.vmov(kept.end, end)
        code.vmov(unit.at, kept.scratch)
        code.movw(size, _activation_bytes(lstm))
        code.add(unit.at, unit.at, size)
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
            _round(code, unit, unit.h, lstm.result, 8, zero_point)
            code.vmov(out, kept.y)
            code.strb(unit.h, out.after(1))
            code.vmov(kept.y, out)
            code.vmov(end, kept.end)
            code.cmp(out, end)
        code.note("The outputs are the next step's hidden state.")
        code.vmov(source, kept.y)
        code.movw(size, hidden)
        code.sub(source, source, size)
        code.vmov(into, kept.scratch)
        code.movw(size, _BLOCK_BYTES * _blocks(lstm.inputs))
        code.add(into, into, size)
        _widen(code, source, into, hidden)
        code.number(size, (step - 1) * hidden)
        code.add(source, source, size)
        code.vmov(kept.y, source)
        code.vmov(steps, kept.steps)
        code.subs(steps, steps, 1)
        code.vmov(kept.steps, steps)
    return code


def _begin(code: Assembly, into: Register, lstm: QuantizedLstm, zero_point: int) -> None:
    """A hidden state and cell states of 0."""
    h, c, left = code.registers("h_zero c_zero left")
    if zero_point < 0:
        code.mvn(h, ~zero_point)
    else:
        code.mov(h, zero_point)
    code.mov(c, 0)
    for value, count in ((h, _TAPS * _blocks(lstm.hidden)), (c, lstm.hidden)):
        code.movw(left, count)
        with code.repeat(count):
            code.strh(value, into.after(2))
            code.subs(left, left, 1)


def _widen(code: Assembly, source: Register, into: Register, elements: int) -> None:
    """Bytes to int16; both registers end behind them. Of a last block that they do not fill the
    rest is any: its weights are 0."""
    whole, rest = divmod(elements, _TAPS)
    left, word, x02, x13 = code.registers("left x0123 x02 x13")
    if whole:
        code.movw(left, whole)
        with code.repeat(whole):
            code.ldr(word, source.after(4))
            code.sxtb16(x02, word)
            code.sxtb16(x13, word.ror(8))
            code.stmia(into.moving, [x02, x13])
            code.subs(left, left, 1)
    for n in range(rest):
        code.ldrsb(word, source.after(1))
        code.strh(word, into[_ORDER[n]])


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
    _round(code, unit, old, lstm.forget)
    _round(code, unit, new, lstm.update)
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
    x02, x13 = unit.activations
    low = unit.low

    def block() -> None:
        code.ldmia(unit.taps.moving, unit.activations)
        code.ldmia(unit.stream.moving, unit.words)
        for gate, word in zip(unit.gates, unit.words, strict=True):
            code.sxtb16(low, word)
            code.sxtb16(word, word.ror(8))
            code.smlad(gate, low, x02, gate)
            code.smlad(gate, word, x13, gate)

    code.ldmia(unit.stream.moving, unit.gates)
    code.movw(unit.end, _BLOCK_BYTES * blocks)
    code.add(unit.end, unit.end, unit.taps)
    code.unroll(blocks, most, block, lambda: code.cmp(unit.taps, unit.end))
    for gate, factor in zip(unit.gates, factors, strict=True):
        _round(code, unit, gate, factor)


def _round(
    code: Assembly,
    unit: _Unit,
    acc: Register,
    factor: Factor,
    bits: int = 16,
    zero_point: int = 0,
) -> None:
    """An accumulator times a factor, with the zero point, in so many bits."""
    multiplier, shift = factor
    by, doubled = max(-shift, 0), unit.doubled
    code.number(unit.multiplier, multiplier)
    code.lsl(doubled, acc, 1 + max(shift, 0))
    if by:
        code.mov(unit.half, 1 << by - 1)
        code.smmlar(doubled, doubled, unit.multiplier, unit.half)
        code.add(acc, doubled, acc.asr(31))
    else:
        code.smmulr(acc, doubled, unit.multiplier)
    if not zero_point:
        code.ssat(acc, bits, acc.asr(by) if by else acc)
        return
    if by:
        code.asr(acc, acc, by)
    (code.sub if zero_point < 0 else code.add)(acc, acc, abs(zero_point))
    code.ssat(acc, bits, acc)
