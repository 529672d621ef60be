"""Products of int8 matrices that are both computed: three columns of the second at a time.

These columns are widened once, without their zero point, to int16 in the scratch; there they meet
the first matrix two rows at a time, whose bytes are widened in registers. Of four taps each the
words are the pairs that SXTB16 makes of four bytes. 6 sums, 3 words of the columns, 2 of the rows,
one that is widened and the two pointers are the 14 registers.

The zero point of the first matrix is in what the sums start from, which is one number a column:
minus the zero point times the column's sum. Where taps, rows or columns leave a rest, the last ones
are those before the end: rows and columns are computed twice, taps are zeros the second time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mcu_deploy.arithmetic import multiplier
from mcu_deploy.backends.ArmDsp.layers import clamp_refusal, saturate, types_refusal
from mcu_deploy.backends.ArmDsp.requantization import accumulate, shift_of
from mcu_deploy.backends.ArmDsp.requantization import refusal as refusal_of
from mcu_deploy.backends.ArmDsp.six_sums_text import EVEN, ODD, round_in_float
from mcu_deploy.backends.ArmDsp.staircases import Channel
from mcu_deploy.backends.ArmDsp.workloads import ID
from mcu_deploy.backends.interface import (
    Argument,
    CFunction,
    Constant,
    Costs,
    InPlace,
    Layer,
    Parameter,
    Price,
    Proposal,
    Role,
    SubgraphView,
    Workload,
)
from mcu_deploy.backends.isa import Assembly, kernel
from mcu_deploy.backends.kit import overlap
from mcu_deploy.backends.kit.arguments import OUTPUT, constant_argument, passed, pointer
from mcu_deploy.backends.kit.loops import nest, plus
from mcu_deploy.backends.kit.strides import Loops, matrices
from mcu_deploy.ir import DType, TensorType

OPERATORS = ("MatMul",)

_TAPS, _ROWS, _COLUMNS = 4, 2, 3  # at a time
_BLOCK_BYTES = 2 * _TAPS * _COLUMNS
_MOST_UNROLLED = 8  # blocks of taps
_SHIFT = 4  # as in product.py
_CONSTANTS = 24  # bytes: scale and addend or twice the factor, zero point, move, both zero points
_MOST_DEPTH, _MOST_COLUMNS = 4000, 1000  # that offsets of loads and stores reach
# In the FPU's registers; the others are lost where results are rounded in floats.
_A, _B, _Y, _SCRATCH = "s8", "s9", "s10", "s11"
_INTO, _END, _PAIRS, _PANELS = "s12", "s13", "s14", "s15"
_ZERO = "s0"  # the second matrix's, while its columns are widened
_C_CYCLES, _C_BYTES = 40, 40  # of what is around the kernel: of a matrix, of the function


@dataclass(frozen=True)
class Rounding:
    """words: scale and addend, or twice the factor as float32; then the zero point for floats, and
    what a sum is moved by. is_real: whether it is in floats."""

    words: tuple[int, int, int, int]
    shift: int
    is_real: bool


@dataclass(frozen=True)
class Product:
    """a: [..., row, tap]; b: [..., tap, column]; y: [..., row, column]."""

    a: TensorType
    b: TensorType
    y: TensorType

    @property
    def rows(self) -> int:
        return self.a.shape[-2] if self.a.rank > 1 else 1

    @property
    def columns(self) -> int:
        return self.b.shape[-1] if self.b.rank > 1 else 1

    @property
    def depth(self) -> int:
        return self.a.shape[-1]

    @property
    def loops(self) -> Loops:
        """Over the matrices of a, b and y."""
        return matrices(self.a, self.b)

    @property
    def rest(self) -> int:
        """Taps that are no block."""
        return self.depth % _TAPS

    @property
    def panel_bytes(self) -> int:
        """Of the columns in the scratch: what sums start from, and the words."""
        return 4 * _COLUMNS + _BLOCK_BYTES * -(-self.depth // _TAPS)

    @property
    def zero_points(self) -> tuple[int, int, int]:
        a, b, y = (t.scaling.zero_point[0] for t in (self.a, self.b, self.y))
        return a, b, y

    def rounding(self) -> Rounding | None:
        """In integers where these give the oracle's bits, else in floats; None where the factor is
        too large, or no normal number."""
        factor = multiplier(self.a.scaling, self.b.scaling, self.y.scaling)
        shift = min(shift_of(factor), _SHIFT)
        if shift < 0:
            return None
        a, b = (
            [end - zero for end in type_.dtype.range]
            for type_, zero in zip((self.a, self.b), self.zero_points, strict=False)
        )
        ends = [self.depth * left * right for left in a for right in b]
        if refusal_of(factor):
            return None
        zero, bounds = self.zero_points[2], self.y.dtype.range
        found = accumulate(Channel(factor[0], zero, bounds, (min(ends), max(ends))), 1, shift)
        if found is None:
            bits = int(factor.astype(np.float32).view(np.uint32)[0])
            return Rounding((bits, bits, zero, 0), 0, is_real=True)
        return Rounding((found.scale, found.addend, 0, found.move), shift, is_real=False)


def propose(view: SubgraphView, node: Layer) -> Sequence[Proposal] | str:
    """A product by itself; one with a constant matrix is a fully connected layer."""
    b = node.input(1)
    if b.constant is not None and b.type.rank == 2:
        return ""
    if reason := refusal(node):
        return reason
    product = Product(node.input(0).type, b.type, node.output.type)
    rounding = product.rounding()
    if rounding is None:
        return "its factors are too large for a 31-bit scale, or no normal numbers"
    zeros = [(k & 0xFFFF) * 0x10001 for k in (-product.zero_points[0], product.zero_points[1])]
    words = np.array([*rounding.words, *zeros], np.int64) & 0xFFFFFFFF
    constants = Constant("constants", words.astype(np.uint32))
    code = assemble(product, rounding)
    count = int(np.prod(product.loops.extents, initial=1))
    types = "_".join(dict.fromkeys(t.dtype.value for t in (product.a, product.b, product.y)))
    stem = f"matmul_{product.rows}x{product.depth}x{product.columns}_{types}_dsp"
    price = Price(
        Costs(
            node.macs, cycles=count * (round(code.cycles) + _C_CYCLES), flash=_CONSTANTS,
        ),
        {f"{stem} {product.loops} {code.digest}": code.bytes + _C_BYTES},
        product.panel_bytes + _CONSTANTS,
        _in_place(node, product),
    )  # fmt: skip

    def make(layers: Sequence[Layer], _: Any) -> tuple[Workload, ...]:
        (layer,) = layers
        parameters = (
            *(pointer(layer.input(k), name) for k, name in enumerate("ab")),
            pointer(layer.output, "y", const=False),
            Parameter("const uint32_t *", "constants"), Parameter("uint8_t *", "scratch"),
        )  # fmt: skip
        factors, arrays = passed(layer, (0, 1))
        arguments = (*factors, OUTPUT, constant_argument(len(arrays)), Argument(Role.SCRATCH))
        function = CFunction(stem, parameters, _body(product, f"{stem}_one"))
        of_one = tuple(p for p in parameters if p.name != "constants")
        one = kernel(f"{stem}_one", of_one, code, fpu=layer.target.fpu)
        return (
            Workload(
                ID, function, arguments, (*arrays, constants), (one,), ("string.h",),
                price.scratch_bytes, price.in_place, price.costs,
            ),
        )  # fmt: skip

    return [Proposal(view.part([node.node.id]), price, make, title="matmul")]


def refusal(layer: Layer) -> str:
    """Why the kernel does not compute a product, a clause; empty where it may."""
    types = [layer.input(0).type, layer.input(1).type, layer.output.type]
    if reason := types_refusal(*types):
        return reason
    if not all(t.scaling.per_tensor for t in types):
        return "a matrix is quantized per axis"
    product = Product(*types)
    if not product.y.elements:
        return "there is nothing to compute"
    if not _TAPS <= product.depth <= _MOST_DEPTH or product.columns > _MOST_COLUMNS:
        return (
            f"it multiplies matrices whose rows have {_TAPS} to {_MOST_DEPTH} elements with those "
            f"of up to {_MOST_COLUMNS} columns"
        )
    return clamp_refusal(layer)


def _in_place(layer: Layer, product: Product) -> tuple[InPlace, ...]:
    """A matrix is written while all of its factors are read."""
    loops = product.loops
    ends = overlap.strided(loops.extents, loops.steps[2]) + product.rows * product.columns
    facts: list[InPlace] = []
    for index in (0, 1):
        lowest = overlap.strided((*loops.extents, 2), (*loops.steps[index], 0))
        facts += overlap.fact(layer, index, overlap.distance(np.repeat(ends, 2), lowest))
    return tuple(facts)


def _body(product: Product, one: str) -> str:
    """C around the kernel of this stem: a loop over the matrices."""
    loops = product.loops
    operands = ", ".join(plus(of, loops.index(k)) for k, of in enumerate("aby"))
    text = f"        ${one}({operands}, scratch);\n"
    copy = f"    memcpy(scratch + {product.panel_bytes}, constants, {_CONSTANTS});\n"
    return "{\n" + copy + nest("i", loops.extents, caller=lambda: text) + "}"


def assemble(product: Product, rounding: Rounding) -> Assembly:
    """The kernel, of one matrix. r0: a, r1: b, r2: y, r3: the scratch, behind whose panel the
    constants are."""
    code = Assembly()
    columns, whole = product.columns, product.depth // _TAPS
    code(f"vmov {_A}, r0", f"vmov {_B}, r1", f"vmov {_Y}, r2", f"vmov {_SCRATCH}, r3")
    code(f"vmov r4, {_SCRATCH}", f"movw r5, #{4 * _COLUMNS + whole * _BLOCK_BYTES}")
    code("add r4, r4, r5", f"vmov {_END}, r4")
    panels = -(-columns // _COLUMNS)
    code(f"movw r4, #{panels}", f"vmov {_PANELS}, r4")
    with code.repeat(panels):
        code.note("Three columns of b, widened to int16: two taps a word.")
        _widen(code, product)
        code.note("With two rows of a: six sums, r0-r5, four taps at a time.")
        _rows(code, product, rounding)
        code(f"vmov r6, {_B}", f"vmov r7, {_Y}", f"vmov r8, {_PANELS}")
        code(f"add r6, r6, #{_COLUMNS}", f"add r7, r7, #{_COLUMNS}", "sub r8, r8, #1")
        if columns % _COLUMNS and panels > 1:
            back = _COLUMNS - columns % _COLUMNS
            code("cmp r8, #1", "itt eq", f"subeq r6, r6, #{back}", f"subeq r7, r7, #{back}")
        code(f"vmov {_B}, r6", f"vmov {_Y}, r7", f"vmov {_PANELS}, r8", "cmp r8, #0")
    return code


def _offsets(product: Product) -> list[int]:
    """Of the columns of a panel; where there are fewer than three, the last one again."""
    return [min(k, product.columns - 1) for k in range(_COLUMNS)]


def _widen(code: Assembly, product: Product) -> None:
    """Three columns to the panel, and before them what their sums start from."""
    a_zero, b_zero, _ = product.zero_points
    constants = _BLOCK_BYTES if product.rest else 0
    code(f"vmov r12, {_B}", f"vmov lr, {_SCRATCH}", f"vmov r6, {_END}")
    code(f"ldr r8, [r6, #{constants + 12}]")
    if a_zero:
        code(f"ldr r11, [r6, #{constants + 16}]")
    if b_zero:
        code(f"ldr r7, [r6, #{constants + 20}]", f"vmov {_ZERO}, r7")
    code("mov r9, r8", "mov r10, r8", f"add lr, lr, #{4 * _COLUMNS}")
    with code.repeat(product.depth // _TAPS):
        _widen_block(code, product, _TAPS)
        code(f"vmov r6, {_END}", "cmp lr, r6")
    if product.rest:
        code(f"sub r12, r12, #{(_TAPS - product.rest) * product.columns}")
        _widen_block(code, product, product.rest)
    code(f"vmov lr, {_SCRATCH}", "stmia lr, {r8-r10}")


def _widen_block(code: Assembly, product: Product, taps: int) -> None:
    """Of four taps as many as there are, the last ones: the words of the first and third tap of
    each column, then those of the second and fourth."""
    a_zero, b_zero, _ = product.zero_points
    load = "ldrsb" if product.b.dtype is DType.INT8 else "ldrb"
    at = [
        k * product.columns + offset for k in (0, 1, 2, 3) for offset in _offsets(product)
    ]  # fmt: skip
    low, high = at[: 2 * _COLUMNS], at[2 * _COLUMNS :]
    words = range(2 * _COLUMNS)
    code(*(f"{load} r{n}, [r12, #{low[n]}]" for n in words))
    for n in words[::2]:
        code(f"{load} r6, [r12, #{high[n]}]", f"{load} r7, [r12, #{high[n + 1]}]")
        code(f"pkhbt r{n}, r{n}, r6, lsl #16", f"pkhbt r{n + 1}, r{n + 1}, r7, lsl #16")
    code(f"add r12, r12, #{_TAPS * product.columns}")
    if b_zero:
        code(f"vmov r6, {_ZERO}", *(f"ssub16 r{n}, r{n}, r6" for n in words))
    for n in words:
        first = n // _COLUMNS  # of the word's taps
        if taps + first + 2 < _TAPS:
            code(f"mov r{n}, #0")
        elif taps + first < _TAPS:
            code(f"bfc r{n}, #0, #16")
    if a_zero:
        code(*(f"smlad r{8 + n % 3}, r{n}, r11, r{8 + n % 3}" for n in words))
    code("stmia lr!, {r0-r5}")


def _rows(code: Assembly, product: Product, rounding: Rounding) -> None:
    """The panel's columns of the product, two rows at a time."""
    rows, depth, columns = product.rows, product.depth, product.columns
    whole, pairs = depth // _TAPS, -(-rows // _ROWS)
    pitch = depth if rows > 1 else 0
    code(f"vmov r12, {_A}", f"vmov r6, {_Y}", f"vmov {_INTO}, r6")
    code(f"movw r6, #{pairs}", f"vmov {_PAIRS}, r6")
    with code.repeat(pairs):
        code(f"vmov lr, {_SCRATCH}", "ldmia lr!, {r0-r2}", "mov r3, r0", "mov r4, r1", "mov r5, r2")
        code.unroll(
            whole, _MOST_UNROLLED,
            lambda: _multiply(code, product, f"[r12, #{pitch}]", "[r12], #4"),
            f"vmov r6, {_END}", "cmp lr, r6",
        )  # fmt: skip
        if product.rest:
            back = _TAPS - product.rest
            _multiply(code, product, f"[r12, #{pitch - back}]", f"[r12, #-{back}]")
        _round(code, product, rounding)
        code(f"vmov r6, {_INTO}")
        at = [row * columns * (rows > 1) + k for row in range(_ROWS) for k in _offsets(product)]
        code(*(f"strb {acc}, [r6, #{n}]" for acc, n in zip((*EVEN, *ODD), at, strict=True)))
        code(f"add r12, r12, #{pitch + product.rest}", f"add r6, r6, #{_ROWS * columns}")
        code(f"vmov r7, {_PAIRS}", "sub r7, r7, #1")
        if rows % _ROWS and rows > 1:
            code("cmp r7, #1", "itt eq", f"subeq r12, r12, #{depth}", f"subeq r6, r6, #{columns}")
        code(f"vmov {_INTO}, r6", f"vmov {_PAIRS}, r7", "cmp r7, #0")


def _multiply(code: Assembly, product: Product, second: str, first: str) -> None:
    """Four taps of two rows at these addresses, and of three columns: 24 products."""
    extend = "sxtb16" if product.a.dtype is DType.INT8 else "uxtb16"
    code(f"ldr r10, {second}", f"ldr r9, {first}")
    for lane in ("", ", ror #8"):
        code("ldmia lr!, {r6-r8}")
        for sums, taps in ((EVEN, "r9"), (ODD, "r10")):
            code(f"{extend} r11, {taps}{lane}")
            code(*(f"smlad {acc}, r11, r{6 + n}, {acc}" for n, acc in enumerate(sums)))


def _round(code: Assembly, product: Product, rounding: Rounding) -> None:
    """The six sums to elements, by the constants at lr."""
    code.note("To elements of the output.")
    code("ldmia lr, {r7-r9}")
    instruction = saturate(product.y)
    if rounding.is_real:
        round_in_float(code, instruction)
        return
    sums = (*EVEN, *ODD)
    code(*(f"smmla {acc}, {acc}, r7, r8" for acc in sums))
    shifted = f", asr #{rounding.shift}" if rounding.shift else ""
    code(*(f"{instruction} {acc}, #8, {acc}{shifted}" for acc in sums))
