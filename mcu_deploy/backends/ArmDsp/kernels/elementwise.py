"""Sums and differences of two int8 tensors of one shape, eight elements at a time.

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
    code = assemble([node.input(k).type for k in (0, 1)], node.output.type, scaling.shift)
    stem = stem_of(node, scaling.shift)
    constants = constants_of(scaling, node.output.type.elements)
    return [pairs.proposal(view, node, stem, code, constants)]


def stem_of(layer: Layer, shift: int) -> str:
    """A name that functions of different code do not share."""
    y = layer.output.type
    types = [t.dtype.value for t in (layer.input(0).type, layer.input(1).type, y)]
    kind = "_".join(types if len({*types}) > 1 else types[:1])
    rest = f"_and_{y.elements % 8}" if y.elements % 8 else ""
    return f"{layer.op.lower()}_{kind}_{shift}{rest}_dsp"


def constants_of(scaling: Scaling, elements: int) -> Constant:
    words = [scaling.a, scaling.b, scaling.offset, elements // 8 * 8]
    return Constant("constants", np.array(words, np.int32))


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


def assemble(operands: Sequence[TensorType], y: TensorType, shift: int) -> Assembly:
    """The kernel. %0, %1: the operands, %2: output, %3: constants."""
    code = Assembly()
    code("vmov s0, %0", "vmov s1, %1", "vmov s2, %2", "mov r3, %3")
    code("vmov r0, s0", "vmov r1, s1", "vmov r2, s2")
    code(f"ldmia r3, {{{_A_SCALE}-{_ODD}}}", f"add {_ODD}, {_ODD}, r2", f"vmov {_END}, {_ODD}")
    code(f"mov {_ODD}, #{0xFF00FF00}")
    with code.repeat(y.elements // 8):
        code("ldmia r0!, {r3, r4}", "ldmia r1!, {r5, r6}")
        for a, b in (("r3", "r5"), ("r4", "r6")):
            _word(code, operands, y, shift, a, b)
        code(f"vmov lr, {_END}", "cmp r2, lr")
    rest = y.elements % 8
    if rest >= 4:
        code("ldr r3, [r0], #4", "ldr r5, [r1], #4")
        _word(code, operands, y, shift, "r3", "r5")
    for _ in range(rest % 4):
        for x, address, type_ in (("r3", "r0", operands[0]), ("r5", "r1", operands[1])):
            code(f"ldrb {x}, [{address}], #1")
            if type_.dtype is DType.UINT8:
                code(f"eor {x}, {x}, #0x80")
            code(f"lsl {x}, {x}, #8")
        code(f"smlawb r3, {_A_SCALE}, r3, {_OFFSET}", f"smlawb r3, {_B_SCALE}, r5, r3")
        code(f"{saturate(y)} r3, #8, r3, asr #{shift}", "strb r3, [r2], #1")
    return code


def _word(
    code: Assembly, operands: Sequence[TensorType], y: TensorType, shift: int, a: str, b: str
) -> None:
    """Four elements of words in `a` and `b`, which are lost like r7, r8 and lr."""
    for x, type_ in zip((a, b), operands, strict=True):
        if type_.dtype is DType.UINT8:
            code(f"eor {x}, {x}, #{_OUTSIDE}")
    code(f"and r7, {_ODD}, {a}, lsl #8", f"and {a}, {a}, {_ODD}")
    code(f"and r8, {_ODD}, {b}, lsl #8", f"and {b}, {b}, {_ODD}")
    sums = ("r7", "lr", a, "r8")  # of the bytes 0, 2, 1 and 3
    code(f"smlawt lr, {_A_SCALE}, r7, {_OFFSET}", f"smlawt lr, {_B_SCALE}, r8, lr")
    code(f"smlawb r7, {_A_SCALE}, r7, {_OFFSET}", f"smlawb r7, {_B_SCALE}, r8, r7")
    code(f"smlawt r8, {_A_SCALE}, {a}, {_OFFSET}", f"smlawt r8, {_B_SCALE}, {b}, r8")
    code(f"smlawb {a}, {_A_SCALE}, {a}, {_OFFSET}", f"smlawb {a}, {_B_SCALE}, {b}, {a}")
    code(*(f"{saturate(y)} {acc}, #8, {acc}, asr #{shift}" for acc in sums))
    code(f"bfi r7, {a}, #8, #8", "bfi lr, r8, #8, #8", "pkhbt r7, r7, lr, lsl #16")
    code("str r7, [r2], #4")
