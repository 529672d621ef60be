"""Sums, differences and products of two int8 tensors that no integers round as the model says: by
the FPU, four elements at a time (quantized/float_pairs.py).

Scales are round then (0.05 * 0.05 to 0.07), and many pairs of bytes lie halfway between elements,
where the roundings of float32 decide, another way for each pair.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.backends.ArmDsp import pairs
from mcu_deploy.backends.interface import Constant, Layer, Proposal, SubgraphView
from mcu_deploy.backends.isa import Assembly, Kind, Memory, Register
from mcu_deploy.backends.quantized.float_pairs import FloatPair, solve
from mcu_deploy.backends.quantized.layers import saturate
from mcu_deploy.backends.quantized.walks import Walk
from mcu_deploy.ir import DType, TensorType

_AT_ONCE = 4


def propose(view: SubgraphView, node: Layer) -> Sequence[Proposal] | str:
    """A layer by itself, which its own kernel's integers do not round."""
    if not node.target.fpu:
        return "no integers round it as the model says, and there is no FPU"
    found = solve(node.domain, node.call)
    if found is None:
        return "neither integers nor float32 numbers round it as the model says"
    y = node.output.type
    types = [node.input(k).type for k in (0, 1)]
    how = "_product" if found.factor is not None else "_corrected" * found.is_corrected
    kind = "_".join(t.dtype.value for t in (*types, y)) + how

    def make(walk: Walk) -> tuple[str, Assembly, Constant]:
        stem = f"{node.op.lower()}_{kind}_floats{walk.kind_by(_AT_ONCE)}_dsp"
        code = assemble(node.op, types, y, found, walk)
        return stem, code, Constant("constants", constants_of(found, walk))

    return pairs.proposals(view, node, make)


def constants_of(found: FloatPair, walk: Walk) -> Array:
    """int32, in the order in which the kernel reads them."""
    *of_both, zero = found.zeros
    words = [*(-of for of in walk.ordered(of_both)), zero, walk.run // _AT_ONCE * _AT_ONCE]
    *scales, scale = found.scales
    floats = [found.factor]
    if found.factor is None:
        floats = [np.float32(1) / scale, *walk.ordered(scales), -scale]
    bits = np.array(floats, np.float32).view(np.int32)
    return np.array([*bits, *words, *walk.words], np.int32)


def assemble(
    op: str, operands: Sequence[TensorType], y: TensorType, found: FloatPair, walk: Walk
) -> Assembly:
    """The kernel: the operands in the walk's order, output, constants.

    y may lie on either operand that has its shape.
    """
    code = Assembly()
    given = pairs.Given(code)
    _describe(code, op, found, walk)
    kernel = _Kernel(code, given, op, walk.ordered(operands), y, found, walk)
    words = [*kernel.zeros, kernel.zero, kernel.end]
    floats = code.registers(" ".join(f"float{n}" for n in range(len(kernel.numbers))))
    code.ldmia(given.constants.moving, floats)
    for number, bits in zip(kernel.numbers, floats, strict=True):
        code.vmov(number, bits)
    given.begin(code, walk, words, kernel.end)
    with given.runs(code, walk):
        kernel.run()
    return code


class _Kernel:
    """The way over neighbours, of operands in the walk's order."""

    def __init__(
        self, code: Assembly, given: pairs.Given, op: str, operands: Sequence[TensorType],
        y: TensorType, found: FloatPair, walk: Walk,
    ) -> None:  # fmt: skip
        self.code, self.given, self.op, self.walk = code, given, op, walk
        self.operands, self.y, self.found = operands, y, found
        self.is_product = found.factor is not None
        self.zeros = code.registers("minus_a_zero minus_b_zero")
        self.zero, self.end = code.registers("zero_point end")
        self.bytes = code.registers("e0 e1 e2 e3")
        self.fixed = code.register("b_element")
        names = "factor" if self.is_product else "reciprocal a_scale b_scale minus_scale"
        self.numbers = code.registers(names, kind=Kind.SINGLE)
        self.of_a = code.registers("a01 a23", kind=Kind.DOUBLE)
        self.of_b = code.registers("b01 b23", kind=Kind.DOUBLE)

    def run(self) -> None:
        code, given, walk = self.code, self.given, self.walk
        if walk.is_fixed:
            self._element(1, self.fixed, given.b[0])
            if not self.is_product:
                b = self.of_b[0].halves[0]
                code.vmov(b, self.fixed)
                code.vcvt_f32_s32(b, b)
                code.vmul_f32(b, b, self.numbers[2])
        given.begin_run(code, walk, _AT_ONCE, self.end)
        if walk.run >= _AT_ONCE:
            with code.repeat(walk.run // _AT_ONCE):
                self._elements(_AT_ONCE)
                code.cmp(given.y, self.end)
        if rest := walk.run % _AT_ONCE:
            self._elements(rest)

    def _element(self, operand: int, into: Register, place: Memory) -> None:
        """One without its zero point."""
        code = self.code
        load = code.ldrsb if self.operands[operand].dtype is DType.INT8 else code.ldrb
        load(into, place)
        code.add(into, into, self.zeros[operand])

    def _elements(self, count: int) -> None:
        code, given, found = self.code, self.given, self.bytes[:count]
        a = [half for double in self.of_a for half in double.halves][:count]
        b = [half for double in self.of_b for half in double.halves][:count]
        for e in found:
            self._element(0, e, given.a.after(1))
        if self.is_product:
            for e in found:
                if not self.walk.is_fixed:
                    self._element(1, self.fixed, given.b.after(1))
                code.mul(e, e, self.fixed)
            self._scaled(a, found, self.numbers[0])
        else:
            self._scaled(a, found, self.numbers[1])
            if self.walk.is_fixed:
                b = b[:1] * count
            else:
                for e in found:
                    self._element(1, e, given.b.after(1))
                self._scaled(b, found, self.numbers[2])
            a = [*self._divided(a, b)]
        for product in a:
            code.vcvtr_s32_f32(product, product)
        for e, product in zip(found, a, strict=True):
            code.vmov(e, product)
        for e in found:
            code.add(e, e, self.zero)
        for e in found:
            getattr(code, saturate(self.y))(e, 8, e)
            code.strb(e, given.y.after(1))

    def _scaled(
        self, into: Sequence[Register], integers: Sequence[Register], scale: Register
    ) -> None:
        code = self.code
        for single, integer in zip(into, integers, strict=True):
            code.vmov(single, integer)
        for single in into:
            code.vcvt_f32_s32(single, single)
        for single in into:
            code.vmul_f32(single, single, scale)

    def _divided(self, a: Sequence[Register], b: Sequence[Register]) -> Sequence[Register]:
        """`op(a, b)` by the output's scale: the product with the reciprocal, and where that is not
        near enough, with what it leaves."""
        code = self.code
        reciprocal, *_, minus_scale = self.numbers
        operation = {"Add": code.vadd_f32, "Sub": code.vsub_f32, "Mul": code.vmul_f32}[self.op]
        for p, q in zip(a, b, strict=True):
            operation(p, *((q, p) if self.walk.is_swapped else (p, q)))
        if not self.found.is_corrected:
            for p in a:
                code.vmul_f32(p, p, reciprocal)
            return a
        quotients = code.registers("q0 q1 q2 q3", kind=Kind.SINGLE)[: len(a)]
        for q, p in zip(quotients, a, strict=True):
            code.vmul_f32(q, p, reciprocal)
        for q, p in zip(quotients, a, strict=True):
            code.vfma_f32(p, q, minus_scale)
        for q, p in zip(quotients, a, strict=True):
            code.vfma_f32(q, p, reciprocal)
        return quotients


def _describe(code: Assembly, op: str, found: FloatPair, walk: Walk) -> None:
    if found.factor is not None:
        code.note("y = sat(round((a - a_zero) * (b - b_zero) * factor) + zero_point), the product")
        code.note("of integers a float32. constants: factor, float32; -a_zero; -b_zero;")
        code.note("zero_point; the bytes of a run's whole words; the loops'.")
        return
    sign = {"Add": "+", "Sub": "-", "Mul": "*"}[op]
    both = ["(a - a_zero) * a_scale", "(b - b_zero) * b_scale"]
    first, second = both[::-1] if walk.is_swapped else both
    code.note(f"y = sat(round(({first} {sign} {second}) / scale) + zero_point),")
    code.note("float32. constants: 1 / scale, a_scale, b_scale, -scale; -a_zero; -b_zero;")
    code.note("zero_point; the bytes of a run's whole words; the loops'.")
