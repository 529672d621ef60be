"""TFLite's int8 LSTM, one unit after the other: its four gates, its cell state, its output.

A step's input and the hidden state of the step before are widened to int16 in the scratch, where
all units read them. The sums of a unit's four gates are made together: 4 sums, 2 words of
activations, 4 of weights, of which SXTB16 takes two taps each time, and the two pointers. Sums are
rounded twice, as TFLite does: SMMLAR multiplies and rounds with ties up, and the shift behind it is
with ties away from zero, that is with ties up of one less where the sum is negative.

Sigmoid and tanh are straight lines between the entries of TFLite's table. tanh has its last value
from entry 255 on: a further one like it, and magnitudes of 16 bits, take the place of a branch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.arithmetic.tflite import scalar
from mcu_deploy.backends.ArmDsp.requantization import reach
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
from mcu_deploy.backends.isa import Assembly
from mcu_deploy.backends.kit import overlap
from mcu_deploy.backends.kit.loops import counter, each, plus, times
from mcu_deploy.backends.kit.zero_points import folded_bias
from mcu_deploy.operators.tflite_lstm import (
    CELL,
    FORGET,
    INPUT,
    OUTPUT,
    Factor,
    QuantizedLstm,
    quantized_lstm,
    sigmoid_table,
    weights,
)

OPERATORS = ("tflite::UnidirectionalSequenceLstm",)

_TAPS = 4  # of a block
_BLOCK_BYTES = 2 * _TAPS
_MOST_UNROLLED = (8, 2)  # blocks, of two forms
_ORDER = (0, 4, 2, 6)  # where a block's taps lie in the scratch, in bytes
_MOST_ELEMENTS = 4095  # of input and hidden state, which offsets and MOVW reach
_GATES = ("r0", "r1", "r2", "r3")
_TABLE_BYTES = 4 * 129
_X, _Y, _WEIGHTS, _SCRATCH = "s8", "s9", "s10", "s11"
_STEPS, _CELLS, _ROW = "s12", "s13", "s14"
_FROM_X = ("d0", "d1")  # the gates' first sums
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
    table = np.zeros(_TABLE_BYTES // 2, np.uint16)
    table[:256] = sigmoid_table()
    table[256] = table[255]
    units = []
    for source, size in enumerate((lstm.inputs, lstm.hidden)):
        of_gates = [gate[source] for gate in parts]
        starts = np.stack([start for _, start, _ in of_gates if start is not None], axis=1)
        taps = np.zeros((4, lstm.hidden, _TAPS * _blocks(size)), np.int8)
        taps[:, :, :size] = np.stack([matrix for matrix, _, _ in of_gates])
        words = np.ascontiguousarray(taps).view(np.uint32)
        units += [starts.astype(np.int32).view(np.uint32), words.transpose(1, 2, 0)]
    rows = [part.reshape(lstm.hidden, -1) for part in units]
    return np.concatenate([table.view(np.uint32), np.hstack(rows).reshape(-1)])


def _body(lstm: QuantizedLstm, stem: str) -> str:
    """C around the kernel: a loop over the sequences."""
    b, sequence = counter("b", lstm.batch), lstm.strides[1]
    text = (
        f"        ${stem}({plus('x', times(b, sequence * lstm.inputs))}, "
        f"{plus('y', times(b, sequence * lstm.hidden))}, weights, scratch);\n"
    )
    return "{\n" + each(b, caller=lambda: text) + "}"


def assemble(lstm: QuantizedLstm, zero_point: int, most: int) -> Assembly:
    """The kernel, of a sequence. r0: x, r1: y, r2: the packed stream, r3: scratch."""
    code = Assembly()
    hidden, activations = lstm.hidden, _activation_bytes(lstm)
    step = lstm.strides[0]
    code(f"vmov {_X}, r0", f"vmov {_Y}, r1", f"vmov {_WEIGHTS}, r2", f"vmov {_SCRATCH}, r3")
    _load(code, "r4", lstm.steps)
    code(f"vmov {_STEPS}, r4")
    _begin(code, lstm, zero_point)
    code.note("A step: the input, widened to int16, in front of the hidden state.")
    with code.repeat(lstm.steps):
        code(f"vmov r11, {_X}", f"vmov r12, {_SCRATCH}")
        _widen(code, lstm.inputs)
        _load(code, "r4", (step - 1) * lstm.inputs)
        code("add r11, r11, r4", f"vmov {_X}, r11")
        code(f"vmov r4, {_Y}", f"movw r5, #{hidden}", "add r5, r4, r5", f"vmov {_ROW}, r5")
        code(f"vmov r4, {_SCRATCH}", f"movw r5, #{activations}", "add r4, r4, r5")
        code(f"vmov {_CELLS}, r4", f"vmov lr, {_WEIGHTS}", f"add lr, lr, #{_TABLE_BYTES}")
        code.note("Of each unit the gates, the cell state and the output.")
        with code.repeat(hidden):
            _unit(code, lstm, zero_point, most)
        code.note("The outputs are the next step's hidden state.")
        code(f"vmov r11, {_Y}", f"movw r4, #{hidden}", "sub r11, r11, r4", f"vmov r12, {_SCRATCH}")
        code(f"movw r4, #{_BLOCK_BYTES * _blocks(lstm.inputs)}", "add r12, r12, r4")
        _widen(code, hidden)
        _load(code, "r4", (step - 1) * hidden)
        code("add r11, r11, r4", f"vmov {_Y}, r11")
        code(f"vmov r4, {_STEPS}", "subs r4, r4, #1", f"vmov {_STEPS}, r4")
    return code


def _load(code: Assembly, register: str, value: int) -> None:
    """A constant. The flags stay."""
    code(f"movw {register}, #{value & 0xFFFF}")
    if value >> 16:
        code(f"movt {register}, #{value >> 16 & 0xFFFF}")


def _begin(code: Assembly, lstm: QuantizedLstm, zero_point: int) -> None:
    """A hidden state and cell states of 0."""
    code(f"vmov r12, {_SCRATCH}", f"movw r4, #{_BLOCK_BYTES * _blocks(lstm.inputs)}")
    code(
        "add r12, r12, r4",
        f"mvn r4, #{~zero_point}" if zero_point < 0 else f"mov r4, #{zero_point}",
    )
    for value, count in (("r4", _TAPS * _blocks(lstm.hidden)), ("r5", lstm.hidden)):
        code(f"movw r6, #{count}", "mov r5, #0")
        with code.repeat(count):
            code(f"strh {value}, [r12], #2", "subs r6, r6, #1")


def _widen(code: Assembly, elements: int) -> None:
    """Bytes at r11 to int16 at r12, both of which end behind them. Of a last block that they do not
    fill the rest is any: its weights are 0."""
    whole, rest = divmod(elements, _TAPS)
    if whole:
        code(f"movw r3, #{whole}")
        with code.repeat(whole):
            code("ldr r0, [r11], #4", "sxtb16 r1, r0", "sxtb16 r2, r0, ror #8")
            code("stmia r12!, {r1, r2}", "subs r3, r3, #1")
    for n in range(rest):
        code("ldrsb r0, [r11], #1", f"strh r0, [r12, #{_ORDER[n]}]")


def _unit(code: Assembly, lstm: QuantizedLstm, zero_point: int, most: int) -> None:
    """A unit's step, by the stream at lr."""
    code(f"vmov r12, {_SCRATCH}")
    _sums(code, _blocks(lstm.inputs), [gate.from_x for gate in lstm.gates], most)
    code(f"vmov {_FROM_X[0]}, r0, r1", f"vmov {_FROM_X[1]}, r2, r3")
    _sums(code, _blocks(lstm.hidden), [gate.from_h for gate in lstm.gates], most)
    code(f"vmov r4, r5, {_FROM_X[0]}", f"vmov r6, r7, {_FROM_X[1]}", f"vmov r12, {_WEIGHTS}")
    for gate, other in zip(_GATES, ("r4", "r5", "r6", "r7"), strict=True):
        code(f"add {gate}, {gate}, {other}", f"ssat {gate}, #16, {gate}")
    for index in (INPUT, FORGET, OUTPUT):
        _sigmoid(code, _GATES[index])
    _tanh(code, _GATES[CELL], (3, 0))
    kept, new = _GATES[FORGET], _GATES[INPUT]
    code(f"vmov r9, {_CELLS}", "ldrsh r4, [r9]", f"mul {kept}, {kept}, r4")
    code(f"mul {new}, {new}, {_GATES[CELL]}")
    _round(code, kept, lstm.forget)
    _round(code, new, lstm.update)
    code(f"add r0, {kept}, {new}", "ssat r0, #16, r0")
    if lstm.clip is not None:
        code(f"movw r4, #{lstm.clip}", "cmp r0, r4", "it gt", "movgt r0, r4")
        code("rsb r4, r4, #0", "cmp r0, r4", "it lt", "movlt r0, r4")
    code("strh r0, [r9], #2", f"vmov {_CELLS}, r9")
    _tanh(code, "r0", lstm.tanh)
    code(f"mul r0, r0, {_GATES[OUTPUT]}")
    _round(code, "r0", lstm.result, 8, zero_point)
    code(f"vmov r4, {_Y}", "strb r0, [r4], #1", f"vmov {_Y}, r4", f"vmov r5, {_ROW}", "cmp r4, r5")


def _sums(code: Assembly, blocks: int, factors: Sequence[Factor], most: int) -> None:
    """The four gates' sums over the activations from r12 on, which ends behind them; each times its
    factor, in 16 bits."""

    def block() -> None:
        code("ldmia r12!, {r4, r5}", "ldmia lr!, {r6-r9}")
        for acc, word in zip(_GATES, ("r6", "r7", "r8", "r9"), strict=True):
            code(f"sxtb16 r10, {word}", f"sxtb16 {word}, {word}, ror #8")
            code(f"smlad {acc}, r10, r4, {acc}", f"smlad {acc}, {word}, r5, {acc}")

    code("ldmia lr!, {r0-r3}", f"movw r11, #{_BLOCK_BYTES * blocks}", "add r11, r11, r12")
    code.unroll(blocks, most, block, "cmp r12, r11")
    for acc, factor in zip(_GATES, factors, strict=True):
        _round(code, acc, factor)


def _round(code: Assembly, acc: str, factor: Factor, bits: int = 16, zero_point: int = 0) -> None:
    """An accumulator times a factor, with the zero point, in so many bits. r4 to r6 are lost."""
    multiplier, shift = factor
    by = max(-shift, 0)
    _load(code, "r5", multiplier)
    code(f"lsl r4, {acc}, #{1 + max(shift, 0)}")
    if by:
        code(f"mov r6, #{1 << by - 1}", "smmlar r4, r4, r5, r6", f"add {acc}, r4, {acc}, asr #31")
    else:
        code(f"smmulr {acc}, r4, r5")
    if not zero_point:
        code(f"ssat {acc}, #{bits}, {acc}{f', asr #{by}' if by else ''}")
        return
    if by:
        code(f"asr {acc}, {acc}, #{by}")
    code(f"{'sub' if zero_point < 0 else 'add'} {acc}, {acc}, #{abs(zero_point)}")
    code(f"ssat {acc}, #{bits}, {acc}")


def _line(code: Assembly, bits: int) -> None:
    """The table at the magnitude in r5, which is `bits` finer than its entries: a straight line
    between two of them, to r5. The table is at r12; r6 to r8 are lost."""
    code(f"lsr r6, r5, #{bits}", "add r6, r12, r6, lsl #1", "ldrh r7, [r6]", "ldrh r8, [r6, #2]")
    code(f"ubfx r5, r5, #0, #{bits}", "sub r8, r8, r7", "mul r5, r5, r8")
    code(f"add r5, r5, r7, lsl #{bits}")


def _magnitude(code: Assembly) -> None:
    """Of r4, to r5."""
    code("eor r5, r4, r4, asr #31", "sub r5, r5, r4, asr #31")


def _sigmoid(code: Assembly, value: str) -> None:
    """Steps of 2**-12 to steps of 2**-15. sigmoid(-v) is 1 - sigmoid(v): half is taken away, what
    is left has the sign, and half is added."""
    code(f"add r4, {value}, {value}, lsl #1")
    _magnitude(code)
    _line(code, 9)
    code(f"sub r5, r5, #{1 << 24}", "eor r5, r5, r4, asr #31", f"add r5, r5, #{1 << 9}")
    code("asr r5, r5, #10", f"add {value}, r5, #{1 << 14}")


def _tanh(code: Assembly, value: str, factor: Factor) -> None:
    """Steps to steps of 2**-15, for the factor of `QuantizedLstm.tanh`: 2 sigmoid(2 v) - 1."""
    multiplier, shift = factor
    by = (multiplier // 3).bit_length() - 1
    code(f"add r4, {value}, {value}, lsl #1")
    if by:
        code(f"lsl r4, r4, #{by}")
    if shift:
        code(f"add r4, r4, #{1 << shift >> 1}", f"asr r4, r4, #{shift}")
    _magnitude(code)
    code("usat r5, #16, r5")
    _line(code, 8)
    code(f"sub r5, r5, #{1 << 23}", "eor r5, r5, r4, asr #31", f"add r5, r5, #{1 << 7}")
    code(f"asr {value}, r5, #8")
