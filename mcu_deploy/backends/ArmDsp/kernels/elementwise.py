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
from mcu_deploy.backends.ArmDsp import pairs
from mcu_deploy.backends.ArmDsp.layers import saturate
from mcu_deploy.backends.ArmDsp.pairs import Walk
from mcu_deploy.backends.interface import Constant, Layer, Proposal, SubgraphView
from mcu_deploy.backends.isa import Assembly
from mcu_deploy.ir import DType, TensorType
from mcu_deploy.operators import Call

OPERATORS = ("Add", "Sub", "tflite::Add", "tflite::Sub")

# The finest that leaves a sum in 32 bits is taken; few of them, so that layers share a function.
_SHIFTS = (21, 18, 15)
_TRIES = 400
_NEAR = 2.0**-9  # of a step: where other integers may give another element
_OUTSIDE = 0x80808080  # what exclusive or makes int8 of uint8
_A_SCALE, _B_SCALE, _OFFSET, _ODD = "r9", "r10", "r11", "r12"
_END = "s3"


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
        return "no integers round its sums as the model says"

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
    return pairs.refusal(layer, "adds", 8)


def solve(domain: str, call: Call) -> Scaling | None:
    """Integers that give the oracle's element for every pair; None where none were found."""
    a, b, wanted = pairs.tried(domain, call)
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


def assemble(operands: Sequence[TensorType], y: TensorType, shift: int, walk: Walk) -> Assembly:
    """The kernel. r0, r1: the operands in the walk's order, r2: output, r3: constants."""
    code = Assembly()
    operands = walk.ordered(operands)
    if walk.turns:
        code(f"ldmia r3!, {{{_A_SCALE}-{_ODD}}}", f"vmov {pairs.RUN}, {_ODD}")
        walk.load(code)
    else:
        code(f"ldmia r3, {{{_A_SCALE}-{_ODD}}}", f"add {_ODD}, {_ODD}, r2", f"vmov {_END}, {_ODD}")
    if walk.is_fixed:
        code(f"vmov {pairs.SAVED}, {_OFFSET}")
    code(f"mov {_ODD}, #{0xFF00FF00}")
    code.note("Each element times its operand's scale (SMLAW), added, shifted, saturated.")
    with walk.runs(code):
        _run(code, operands, y, shift, walk)
    return code


def _run(
    code: Assembly, operands: Sequence[TensorType], y: TensorType, shift: int, walk: Walk
) -> None:
    at_once = _at_once(walk)
    if walk.turns and walk.run >= at_once:
        code(f"vmov r3, {pairs.RUN}", "add r3, r3, r2", f"vmov {_END}, r3")
    addresses = [("r3", "r0", operands[0]), ("r5", "r1", operands[1])]
    if walk.is_fixed:  # its summand is in the offset
        _byte(code, *addresses.pop())
        code(f"vmov {_OFFSET}, {pairs.SAVED}", f"smlawb {_OFFSET}, {_B_SCALE}, r5, {_OFFSET}")
    if walk.run >= at_once:
        with code.repeat(walk.run // at_once):
            if at_once == 8:
                code(*(f"ldmia {address}!, {{{_pair(x)}}}" for x, address, _ in addresses))
                _word(code, operands, y, shift, "r3", None if walk.is_fixed else "r5")
                _word(code, operands, y, shift, "r4", None if walk.is_fixed else "r6")
            else:
                code(*(f"ldr {x}, [{address}], #4" for x, address, _ in addresses))
                _word(code, operands, y, shift, "r3", None if walk.is_fixed else "r5")
            code(f"vmov lr, {_END}", "cmp r2, lr")
    rest = walk.run % at_once
    if rest >= 4:
        code(*(f"ldr {x}, [{address}], #4" for x, address, _ in addresses))
        _word(code, operands, y, shift, "r3", None if walk.is_fixed else "r5")
    for _ in range(rest % 4):
        for x, address, type_ in addresses:
            _byte(code, x, address, type_, ", #1")
        code(f"smlawb r3, {_A_SCALE}, r3, {_OFFSET}")
        if not walk.is_fixed:
            code(f"smlawb r3, {_B_SCALE}, r5, r3")
        code(f"{saturate(y)} r3, #8, r3, asr #{shift}", "strb r3, [r2], #1")


def _pair(register: str) -> str:
    return f"{register}, r{int(register[1:]) + 1}"


def _byte(code: Assembly, x: str, address: str, type_: TensorType, step: str = "") -> None:
    """An element, 256 times, in the lower half of a register."""
    code(f"ldrb {x}, [{address}]{step}")
    if type_.dtype is DType.UINT8:
        code(f"eor {x}, {x}, #0x80")
    code(f"lsl {x}, {x}, #8")


def _word(
    code: Assembly, operands: Sequence[TensorType], y: TensorType, shift: int, a: str, b: str | None
) -> None:
    """Four elements of words in `a` and `b`, which are lost like r7, r8 and lr."""
    for x, type_ in zip((a, b), operands, strict=True):
        if x is not None and type_.dtype is DType.UINT8:
            code(f"eor {x}, {x}, #{_OUTSIDE}")
    code(f"and r7, {_ODD}, {a}, lsl #8", f"and {a}, {a}, {_ODD}")
    if b is not None:
        code(f"and r8, {_ODD}, {b}, lsl #8", f"and {b}, {b}, {_ODD}")
    # the bytes 2, 0, 3 and 1
    for acc, x, y_, half in (
        ("lr", "r7", "r8", "t"), ("r7", "r7", "r8", "b"), ("r8", a, b, "t"), (a, a, b, "b"),
    ):  # fmt: skip
        code(f"smlaw{half} {acc}, {_A_SCALE}, {x}, {_OFFSET}")
        if b is not None:
            code(f"smlaw{half} {acc}, {_B_SCALE}, {y_}, {acc}")
    code(*(f"{saturate(y)} {acc}, #8, {acc}, asr #{shift}" for acc in ("r7", "lr", a, "r8")))
    code(f"bfi r7, {a}, #8, #8", "bfi lr, r8, #8, #8", "pkhbt r7, r7, lr, lsl #16")
    code("str r7, [r2], #4")
