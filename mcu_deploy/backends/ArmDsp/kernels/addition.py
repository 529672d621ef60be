"""Sums and differences of two int8 tensors, eight elements at a time.

An element is `(offset + (a_scale * 256 a >> 16) + (b_scale * 256 b >> 16)) >> shift`: SMLAWB and
SMLAWT multiply 32 bits by a lane of 16, in which a byte lies 256 times. The contract is in float32,
with a division; the integers are tried on all 65,536 pairs of bytes when the model is compiled.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.backends.ArmDsp import float_pairs, pairs
from mcu_deploy.backends.interface import Constant, Layer, Proposal, SubgraphView
from mcu_deploy.backends.isa import Assembly, Kind, Memory, Register
from mcu_deploy.backends.quantized import byte_pairs
from mcu_deploy.backends.quantized.layers import saturate
from mcu_deploy.backends.quantized.walks import Walk
from mcu_deploy.ir import DType, TensorType
from mcu_deploy.operators import Call

OPERATORS = ("Add", "Sub", "tflite::Add", "tflite::Sub")

# The finest that leaves a sum in 32 bits is taken; few of them, so that layers share a function.
_SHIFTS = (21, 18, 15)
_TRIES = 400
_NEAR = 2.0**-9  # of a step: where other integers may give another element
_OUTSIDE = 0x80808080  # what exclusive or makes int8 of uint8


class Scaling(NamedTuple):
    """The integers of the formula above. uint8 counts as int8, 128 less."""

    a: int
    b: int
    offset: int
    shift: int

    def elements(self, a: Array, b: Array) -> Array:
        """Before they are saturated."""
        return (self.offset + (self.a * 256 * a >> 16) + (self.b * 256 * b >> 16)) >> self.shift


def propose(view: SubgraphView, node: Layer) -> Sequence[Proposal] | str:
    """A sum or a difference by itself."""
    if reason := refusal(node):
        return reason
    scaling = solve(node.domain, node.call)
    if scaling is None:
        return float_pairs.propose(view, node)

    def make(walk: Walk) -> tuple[str, Assembly, Constant]:
        code = assemble([node.input(k).type for k in (0, 1)], node.output.type, scaling.shift, walk)
        return stem_of(node, scaling.shift, walk), code, constants_of(scaling, walk)

    return pairs.proposals(view, node, make)


def stem_of(layer: Layer, shift: int, walk: Walk) -> str:
    """A name that functions of different code do not share."""
    y = layer.output.type
    types = [t.dtype.value for t in (layer.input(0).type, layer.input(1).type, y)]
    kind = "_".join(types if len({*types}) > 1 else types[:1])
    rest = walk.run % _at_once(walk)
    count = f"_and_{rest}" if rest else ""
    few = "_few" * (walk.run < _at_once(walk))
    four = "_by_4" * (_at_once(walk) == 4)
    return f"{layer.op.lower()}_{kind}_{shift}{walk.kind}{four}{few}{count}_dsp"


def constants_of(scaling: Scaling, walk: Walk) -> Constant:
    scales = walk.ordered((scaling.a, scaling.b))
    at_once = _at_once(walk)
    words = [*scales, scaling.offset, walk.run // at_once * at_once, *walk.words]
    return Constant("constants", np.array(words, np.int32))


def _at_once(walk: Walk) -> int:
    """Elements: LDM takes eight, of runs that all begin with a word."""
    return 4 if walk.turns and (walk.run % 4 or walk.run < 8) else 8


def refusal(layer: Layer) -> str:
    """Why the kernel does not compute a layer, a clause; empty where it might."""
    return byte_pairs.refusal(layer, "adds", 8)


def solve(domain: str, call: Call) -> Scaling | None:
    """Integers that give the oracle's element for every pair; None where none were found."""
    a, b, wanted = byte_pairs.tried(domain, call)
    types = (call.type(0), call.type(1))
    y = call.results[0]
    ratios = [t.scaling.scale[0] / y.scaling.scale[0] for t in types]
    ratios[1] *= -1 if call.op == "Sub" else 1
    zeros = [t.scaling.zero_point[0] - (t.dtype.range[0] + 128) for t in types]
    real_offset = y.scaling.zero_point[0] + 0.5 - ratios[0] * zeros[0] - ratios[1] * zeros[1]
    reals = real_offset + ratios[0] * a + ratios[1] * b
    most = max(float(np.abs(reals).max()) + 1, 256 * max(map(abs, ratios)))
    shift = next((s for s in _SHIFTS if most * 2.0**s < 2**31), None)
    if shift is None:
        return None
    is_near = np.abs(reals - np.rint(reals)) < _NEAR
    near = a[is_near], b[is_near], wanted[is_near]
    unit = 2.0**shift
    best = [round(r * 256 * unit) for r in ratios]
    for n in range(_TRIES):
        # Points that fill a cube around the nearest integers, wider and wider.
        moves = [((n * step) % 257 - 128) * n // _TRIES for step in (101, 163, 59)]
        scaling = Scaling(
            best[0] + moves[0], best[1] + moves[1], round(real_offset * unit) + moves[2], shift
        )
        if _gives(scaling, *near, y) and _gives(scaling, a, b, wanted, y):
            return scaling
    return None


def _gives(scaling: Scaling, a: Array, b: Array, wanted: Array, y: TensorType) -> bool:
    return bool((scaling.elements(a, b).clip(*y.dtype.range) == wanted).all())


class _Given(pairs.Given):
    """As in pairs.py, the constants, and what words and bytes are loaded to."""

    def __init__(self, code: Assembly) -> None:
        super().__init__(code)
        self.scales = code.registers("a_scale b_scale")
        self.offset, self.count, self.odd = code.registers("offset run_bytes odd_bytes")
        self.of_a, self.of_b = code.registers("a0123 a4567"), code.registers("b0123 b4567")
        self.even_a, self.even_b, self.sum = code.registers("a_even b_even sum")
        self.end = code.register("end", kind=Kind.SINGLE)


def assemble(operands: Sequence[TensorType], y: TensorType, shift: int, walk: Walk) -> Assembly:
    """The kernel: the operands in the walk's order, output, constants.

    y = sat((offset + (a_scale * 256 a >> 16) + (b_scale * 256 b >> 16)) >> shift); y may lie on
    either operand that has its shape.
    """
    code = Assembly()
    given = _Given(code)
    code.note(f"y = sat((offset + (a_scale * 256 a >> 16) + (b_scale * 256 b >> 16)) >> {shift}).")
    code.note("constants: a_scale; b_scale; offset; the bytes of a run's whole words; the loops'.")
    words = [*given.scales, given.offset, given.count]
    given.begin(code, walk, words, given.count, given.offset)
    if not walk.turns:
        code.vmov(given.end, given.count)
    code.mov(given.odd, 0xFF00FF00)
    code.note("Each element times its operand's scale (SMLAW), added, shifted, saturated.")
    with given.runs(code, walk):
        _Run(code, given, walk.ordered(operands), y, shift).assemble(walk)
    return code


class _Run(NamedTuple):
    """The way over neighbours, of operands in the walk's order."""

    code: Assembly
    given: _Given
    operands: Sequence[TensorType]
    y: TensorType
    shift: int

    def assemble(self, walk: Walk) -> None:
        code, given, operands = self.code, self.given, self.operands
        at_once, (a_scale, b_scale) = _at_once(walk), given.scales
        given.begin_run(code, walk, at_once, end := code.register("end_of_words"))
        if walk.turns and walk.run >= at_once:
            code.vmov(given.end, end)
        loads = [(given.of_a, given.a, operands[0]), (given.of_b, given.b, operands[1])]
        if walk.is_fixed:  # its summand is in the offset
            loads.pop()
            element = given.of_b[0]
            _byte(code, element, given.b[0], operands[1])
            code.vmov(given.offset, given.kept)
            code.smlawb(given.offset, b_scale, element, given.offset)
        of_b = [None, None] if walk.is_fixed else given.of_b

        def load() -> None:
            for words, address, _ in loads:
                code.ldr(words[0], address.after(4))

        if walk.run >= at_once:
            with code.repeat(walk.run // at_once):
                if at_once == 8:
                    for words, address, _ in loads:
                        code.ldmia(address.moving, words)
                    for a, b in zip(given.of_a, of_b, strict=True):
                        self._word(a, b)
                else:
                    load()
                    self._word(given.of_a[0], of_b[0])
                code.vmov(given.sum, given.end)
                code.cmp(given.y, given.sum)
        rest = walk.run % at_once
        if rest >= 4:
            load()
            self._word(given.of_a[0], of_b[0])
        a, b = given.of_a[0], given.of_b[0]
        for _ in range(rest % 4):
            for words, address, type_ in loads:
                _byte(code, words[0], address.after(1), type_)
            code.smlawb(a, a_scale, a, given.offset)
            if not walk.is_fixed:
                code.smlawb(a, b_scale, b, a)
            getattr(code, saturate(self.y))(a, 8, a.asr(self.shift))
            code.strb(a, given.y.after(1))

    def _word(self, a: Register, b: Register | None) -> None:
        """Four elements of words in `a` and `b`, which are lost."""
        code, given, (a_scale, b_scale) = self.code, self.given, self.given.scales
        even_a, even_b, total = given.even_a, given.even_b, given.sum
        for x, type_ in zip((a, b), self.operands, strict=True):
            if x is not None and type_.dtype is DType.UINT8:
                code.eor(x, x, _OUTSIDE)
        for x, even in ((a, even_a), (b, even_b)):
            if x is not None:
                code.and_(even, given.odd, x.lsl(8))
                code.and_(x, x, given.odd)
        # the bytes 2, 0, 3 and 1
        for acc, x, other, by_top in (
            (total, even_a, even_b, True), (even_a, even_a, even_b, False), (even_b, a, b, True),
            (a, a, b, False),
        ):  # fmt: skip
            multiply = code.smlawt if by_top else code.smlawb
            multiply(acc, a_scale, x, given.offset)
            if b is not None:
                multiply(acc, b_scale, other, acc)
        for acc in (even_a, total, a, even_b):
            getattr(code, saturate(self.y))(acc, 8, acc.asr(self.shift))
        code.bfi(even_a, a, 8, 8)
        code.bfi(total, even_b, 8, 8)
        code.pkhbt(even_a, even_a, total.lsl(16))
        code.str(even_a, given.y.after(4))


def _byte(code: Assembly, into: Register, place: Memory, type_: TensorType) -> None:
    """An element, 256 times, in the lower half of a register."""
    code.ldrb(into, place)
    if type_.dtype is DType.UINT8:
        code.eor(into, into, 0x80)
    code.lsl(into, into, 8)
