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
from typing import Any

import numpy as np

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
from mcu_deploy.backends.isa import Assembly, Kind, Memory, kernel
from mcu_deploy.backends.isa.dsp.six_sums import Sums, round_in_float
from mcu_deploy.backends.kit import overlap
from mcu_deploy.backends.kit.arguments import OUTPUT, constant_argument, passed, pointer
from mcu_deploy.backends.kit.loops import nest, plus
from mcu_deploy.backends.quantized.layers import clamp_refusal, saturate, types_refusal
from mcu_deploy.backends.quantized.matrices import (
    BLOCK_BYTES,
    COLUMNS,
    TAPS,
    MatrixProduct,
    Rounding,
)
from mcu_deploy.ir import DType

OPERATORS = ("MatMul",)

_ROWS = 2  # at a time
_MOST_UNROLLED = 8  # blocks of taps
_CONSTANTS = 24  # bytes: scale and addend or twice the factor, zero point, move, both zero points
_MOST_DEPTH, _MOST_COLUMNS = 4000, 1000  # that offsets of loads and stores reach
_C_CYCLES, _C_BYTES = 40, 40  # of what is around the kernel: of a matrix, of the function


def propose(view: SubgraphView, node: Layer) -> Sequence[Proposal] | str:
    """A product by itself; one with a constant matrix is a fully connected layer."""
    b = node.input(1)
    if b.constant is not None and b.type.rank == 2:
        return ""
    if reason := refusal(node):
        return reason
    product = MatrixProduct(node.input(0).type, b.type, node.output.type)
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
    product = MatrixProduct(*types)
    if not product.y.elements:
        return "there is nothing to compute"
    if not TAPS <= product.depth <= _MOST_DEPTH or product.columns > _MOST_COLUMNS:
        return (
            f"it multiplies matrices whose rows have {TAPS} to {_MOST_DEPTH} elements with those "
            f"of up to {_MOST_COLUMNS} columns"
        )
    return clamp_refusal(layer)


def _in_place(layer: Layer, product: MatrixProduct) -> tuple[InPlace, ...]:
    """A matrix is written while all of its factors are read."""
    loops = product.loops
    ends = overlap.strided(loops.extents, loops.steps[2]) + product.rows * product.columns
    facts: list[InPlace] = []
    for index in (0, 1):
        lowest = overlap.strided((*loops.extents, 2), (*loops.steps[index], 0))
        facts += overlap.fact(layer, index, overlap.distance(np.repeat(ends, 2), lowest))
    return tuple(facts)


def _body(product: MatrixProduct, one: str) -> str:
    """C around the kernel of this stem: a loop over the matrices."""
    loops = product.loops
    operands = ", ".join(plus(of, loops.index(k)) for k, of in enumerate("aby"))
    text = f"        ${one}({operands}, scratch);\n"
    copy = f"    memcpy(scratch + {product.panel_bytes}, constants, {_CONSTANTS});\n"
    return "{\n" + copy + nest("i", loops.extents, caller=lambda: text) + "}"


class _Registers:
    """Of the whole kernel. In the FPU's: a, of a panel of columns b and y, the scratch, where the
    panel's words end in it, and how many panels are left; of a pair of rows y, and how many pairs
    are left; the zero point of b, twice in a word. panel, panel_end: the scratch, as it is written
    and read. sums: of two rows and three columns.
    """

    def __init__(self, code: Assembly) -> None:
        self.a, self.b, self.y, self.scratch = code.registers(
            "all_a panel_b panel_y panel_begin", kind=Kind.SINGLE
        )
        self.out, self.end, self.pairs, self.panels, self.b_zero = code.registers(
            "rows_y end_of_panel pairs_left panels_left b_zero_kept", kind=Kind.SINGLE
        )
        self.panel, self.panel_end = code.registers("panel panel_end")
        self.sums = Sums.of(code)


def assemble(product: MatrixProduct, rounding: Rounding) -> Assembly:
    """The kernel, of one matrix: a, b, y, the scratch.

    y[r][c] = sat((sum over t of (a[r][t] - a_zero) * (b[t][c] - b_zero) + move) * scale >> 32)
    + addend >> shift), or sat(round(sum * factor) + zero_point) in float32. Where b is widened, the
    scratch has what the three sums begin with, then 3 * 4 taps a block of 24 bytes. Behind it are
    the constants: scale and addend, or the factor twice; the zero point of y for floats; move; and
    twice in a word each, -a_zero and b_zero. y is written while all of a and b is read.
    """
    code = Assembly()
    r = _Registers(code)
    a, b, y, scratch = code.arguments("a b y scratch")
    columns, whole = product.columns, product.depth // TAPS
    code.note(
        "y[r][c] = sat(((sum of (a[r] - a_zero) * (b[c] - b_zero) + move) * scale >> 32) + addend "
        ">> shift), or of floats sat(round(sum * factor) + y_zero)."
    )
    code.note(
        "scratch: what the sums of three columns begin with, blocks of four taps of each, two in a "
        "word; then scale and addend, or the factor twice; y_zero of floats; move; -a_zero and "
        "b_zero, twice in a word each."
    )
    code.vmov(r.a, a)
    code.vmov(r.b, b)
    code.vmov(r.y, y)
    code.vmov(r.scratch, scratch)
    size, panels = code.registers("panel_bytes panels")
    code.movw(size, 4 * COLUMNS + whole * BLOCK_BYTES)
    code.add(r.panel_end, scratch, size)
    code.vmov(r.end, r.panel_end)
    count = -(-columns // COLUMNS)
    code.movw(panels, count)
    code.vmov(r.panels, panels)
    next_b, next_y = code.registers("next_b next_y")
    with code.repeat(count):
        code.note("Three columns of b, widened to int16: two taps a word.")
        _widen(code, r, product)
        code.note("With two rows of a, even and odd: six sums, four taps at a time.")
        _rows(code, r, product, rounding)
        code.vmov(next_b, r.b)
        code.vmov(next_y, r.y)
        code.vmov(panels, r.panels)
        code.add(next_b, next_b, COLUMNS)
        code.add(next_y, next_y, COLUMNS)
        code.sub(panels, panels, 1)
        if columns % COLUMNS and count > 1:
            back = COLUMNS - columns % COLUMNS
            code.cmp(panels, 1)
            code.itt("eq")
            code.subeq(next_b, next_b, back)
            code.subeq(next_y, next_y, back)
        code.vmov(r.b, next_b)
        code.vmov(r.y, next_y)
        code.vmov(r.panels, panels)
        code.cmp(panels, 0)
    return code


def _offsets(product: MatrixProduct) -> list[int]:
    """Of the columns of a panel; where there are fewer than three, the last one again."""
    return [min(k, product.columns - 1) for k in range(COLUMNS)]


class _Columns:
    """The registers that widen a panel: where b is read; of each column two words of taps; what the
    sums begin with."""

    def __init__(self, code: Assembly) -> None:
        self.source, self.a_zero, self.b_zero = code.registers("source minus_a_zero b_zero")
        self.words = code.registers("c0_02 c1_02 c2_02 c0_13 c1_13 c2_13")
        self.upper = code.registers("upper next_upper")
        self.starts = code.registers("start0 start1 start2")


def _widen(code: Assembly, r: _Registers, product: MatrixProduct) -> None:
    """Three columns to the panel, and before them what their sums start from."""
    a_zero, b_zero, _ = product.zero_points
    constants = BLOCK_BYTES if product.rest else 0
    columns = _Columns(code)
    code.vmov(columns.source, r.b)
    code.vmov(r.panel, r.scratch)
    code.vmov(r.panel_end, r.end)
    code.ldr(columns.starts[0], r.panel_end[constants + 12])
    if a_zero:
        code.ldr(columns.a_zero, r.panel_end[constants + 16])
    if b_zero:
        code.ldr(columns.b_zero, r.panel_end[constants + 20])
        code.vmov(r.b_zero, columns.b_zero)
    for start in columns.starts[1:]:
        code.mov(start, columns.starts[0])
    code.add(r.panel, r.panel, 4 * COLUMNS)
    with code.repeat(product.depth // TAPS):
        _widen_block(code, r, columns, product, TAPS)
        code.vmov(r.panel_end, r.end)
        code.cmp(r.panel, r.panel_end)
    if product.rest:
        code.sub(columns.source, columns.source, (TAPS - product.rest) * product.columns)
        _widen_block(code, r, columns, product, product.rest)
    code.vmov(r.panel, r.scratch)
    code.stmia(r.panel, columns.starts)


def _widen_block(
    code: Assembly, r: _Registers, columns: _Columns, product: MatrixProduct, taps: int
) -> None:
    """Of four taps as many as there are, the last ones: the words of the first and third tap of
    each column, then those of the second and fourth."""
    a_zero, b_zero, _ = product.zero_points
    load = code.ldrsb if product.b.dtype is DType.INT8 else code.ldrb
    source, words = columns.source, columns.words
    at = [
        k * product.columns + offset for k in (0, 1, 2, 3) for offset in _offsets(product)
    ]  # fmt: skip
    low, high = at[: 2 * COLUMNS], at[2 * COLUMNS :]
    for word, offset in zip(words, low, strict=True):
        load(word, source[offset])
    for n in range(0, 2 * COLUMNS, 2):
        for upper, offset in zip(columns.upper, high[n : n + 2], strict=True):
            load(upper, source[offset])
        for word, upper in zip(words[n : n + 2], columns.upper, strict=True):
            code.pkhbt(word, word, upper.lsl(16))
    code.add(source, source, TAPS * product.columns)
    if b_zero:
        code.vmov(columns.b_zero, r.b_zero)
        for word in words:
            code.ssub16(word, word, columns.b_zero)
    for n, word in enumerate(words):
        first = n // COLUMNS  # of the word's taps
        if taps + first + 2 < TAPS:
            code.mov(word, 0)
        elif taps + first < TAPS:
            code.bfc(word, 0, 16)
    if a_zero:
        for word, start in zip(words, 2 * columns.starts, strict=True):
            code.smlad(start, word, columns.a_zero, start)
    code.stmia(r.panel.moving, words)


class _Taps:
    """The registers that multiply: where the first of two rows is read, four bytes of each row, two
    of them widened, a word of each column."""

    def __init__(self, code: Assembly) -> None:
        self.row = code.register("row")
        self.bytes = code.registers("even_bytes odd_bytes")
        self.pair = code.register("pair")
        self.columns = code.registers("column0 column1 column2")


def _rows(code: Assembly, r: _Registers, product: MatrixProduct, rounding: Rounding) -> None:
    """The panel's columns of the product, two rows at a time."""
    rows, depth, columns = product.rows, product.depth, product.columns
    whole, count = depth // TAPS, -(-rows // _ROWS)
    pitch = depth if rows > 1 else 0
    taps, sums = _Taps(code), r.sums
    out, pairs = code.registers("out pairs")
    code.vmov(taps.row, r.a)
    code.vmov(out, r.y)
    code.vmov(r.out, out)
    code.movw(pairs, count)
    code.vmov(r.pairs, pairs)

    def compare() -> None:
        code.vmov(r.panel_end, r.end)
        code.cmp(r.panel, r.panel_end)

    with code.repeat(count):
        code.vmov(r.panel, r.scratch)
        code.ldmia(r.panel.moving, sums.even)
        for odd, even in zip(sums.odd, sums.even, strict=True):
            code.mov(odd, even)
        code.unroll(
            whole, _MOST_UNROLLED,
            lambda: _multiply(code, r, taps, product, taps.row[pitch], taps.row.after(4)),
            compare,
        )  # fmt: skip
        if product.rest:
            back = TAPS - product.rest
            _multiply(code, r, taps, product, taps.row[pitch - back], taps.row[-back])
        _round(code, r, product, rounding)
        code.vmov(out, r.out)
        at = [row * columns * (rows > 1) + k for row in range(_ROWS) for k in _offsets(product)]
        for acc, offset in zip(sums.all, at, strict=True):
            code.strb(acc, out[offset])
        code.add(taps.row, taps.row, pitch + product.rest)
        code.add(out, out, _ROWS * columns)
        code.vmov(pairs, r.pairs)
        code.sub(pairs, pairs, 1)
        if rows % _ROWS and rows > 1:
            code.cmp(pairs, 1)
            code.itt("eq")
            code.subeq(taps.row, taps.row, depth)
            code.subeq(out, out, columns)
        code.vmov(r.out, out)
        code.vmov(r.pairs, pairs)
        code.cmp(pairs, 0)


def _multiply(
    code: Assembly,
    r: _Registers,
    taps: _Taps,
    product: MatrixProduct,
    second: Memory,
    first: Memory,
) -> None:
    """Four taps of two rows at these addresses, and of three columns: 24 products."""
    extend = code.sxtb16 if product.a.dtype is DType.INT8 else code.uxtb16
    code.ldr(taps.bytes[1], second)
    code.ldr(taps.bytes[0], first)
    for by in (0, 8):
        code.ldmia(r.panel.moving, taps.columns)
        for sums, row in zip(r.sums, taps.bytes, strict=True):
            extend(taps.pair, row.ror(by) if by else row)
            for acc, column in zip(sums, taps.columns, strict=True):
                code.smlad(acc, taps.pair, column, acc)


def _round(code: Assembly, r: _Registers, product: MatrixProduct, rounding: Rounding) -> None:
    """The six sums to elements, by the constants behind the panel."""
    code.note("To elements of the output.")
    scale, addend, zero = code.registers("scale addend y_zero")
    code.ldmia(r.panel, [scale, addend, zero])
    if rounding.is_real:  # both of the first words are the factor
        round_in_float(code, r.sums, (scale, addend), zero, saturate(product.y))
        return
    for acc in r.sums.all:
        code.smmla(acc, acc, scale, addend)
    limit = getattr(code, saturate(product.y))
    for acc in r.sums.all:
        limit(acc, 8, acc.asr(rounding.shift) if rounding.shift else acc)
