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

import numpy as np

from mcu_deploy.backends.ArmDsp.workloads import proposal
from mcu_deploy.backends.interface import Constant, Layer, Proposal, SubgraphView
from mcu_deploy.backends.isa import Assembly, Kind, Memory
from mcu_deploy.backends.isa.dsp.rounding import round_in_float, round_once
from mcu_deploy.backends.isa.dsp.tile import Sums, multiply_bytes
from mcu_deploy.backends.isa.kept import counted, each
from mcu_deploy.backends.kit.strides import Loops
from mcu_deploy.backends.quantized.layers import clamp_refusal, saturate, types_refusal
from mcu_deploy.backends.quantized.loops import loop_bytes
from mcu_deploy.backends.quantized.matrices import (
    BLOCK_BYTES,
    COLUMNS,
    ROWS,
    TAPS,
    MatrixProduct,
    Rounding,
    in_place,
)
from mcu_deploy.ir import DType

OPERATORS = ("MatMul",)

_MOST_UNROLLED = (8, 4, 2)  # blocks of taps, where loops may be long and where not
_CONSTANTS = 24  # bytes: scale and addend or twice the factor, zero point, move, both zero points
_MOST_DEPTH, _MOST_COLUMNS = 4000, 1000  # that offsets of loads and stores reach


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
    code = _as_long_as_may_be(product, rounding, loop_bytes(node.target))
    types = "_".join(dict.fromkeys(t.dtype.value for t in (product.a, product.b, product.y)))
    made = proposal(
        view.part([node.node.id]), node.target,
        f"matmul_{product.rows}x{product.depth}x{product.columns}_{types}_dsp", code, [constants],
        "matmul", macs=node.macs, scratch_bytes=product.panel_bytes + _CONSTANTS,
        in_place=in_place(node, product), operands={"a": 0, "b": 1},
    )  # fmt: skip
    return [made]


def _as_long_as_may_be(product: MatrixProduct, rounding: Rounding, longest: int | None) -> Assembly:
    """The kernel that unrolls most of those whose loops are so long at most."""
    for most in _MOST_UNROLLED:
        code = assemble(product, rounding, most)
        if longest is None or code.longest_loop() <= longest:
            break
    return code


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


class _Registers:
    """Of the whole kernel. In the FPU's: a, b and y of a matrix; of a panel of columns b and y, the
    scratch, where the panel's words end in it, and how many panels are left; of a pair of rows y,
    and how many pairs are left; the zero point of b, twice in a word; how many matrices each loop
    over them has left. panel, panel_end: the scratch, as it is written and read. sums: of two rows,
    the even and the odd one, each with three columns.
    """

    def __init__(self, code: Assembly, loops: Loops) -> None:
        self.matrices = code.registers("all_a all_b all_y", kind=Kind.SINGLE)
        self.b, self.y, self.scratch, self.end, self.panels = code.registers(
            "panel_b panel_y panel_begin end_of_panel panels_left", kind=Kind.SINGLE
        )
        self.out, self.pairs, self.b_zero = code.registers(
            "rows_y pairs_left b_zero_kept", kind=Kind.SINGLE
        )
        names = " ".join(f"matrices_left{n}" for n in range(len(loops.extents)))
        self.left = code.registers(names, kind=Kind.SINGLE)
        self.panel, self.panel_end = code.registers("panel panel_end")
        self.sums = Sums.of(code)


def assemble(product: MatrixProduct, rounding: Rounding, most: int) -> Assembly:
    """The kernel: a, b, y, the constants, the scratch. most: so many blocks of four taps are
    unrolled.

    y[r][c] = sat((sum over t of (a[r][t] - a_zero) * (b[t][c] - b_zero) + move) * scale >> 32)
    + addend >> shift), or sat(round(sum * factor) + zero_point) in float32, of each matrix. The
    constants are scale and addend, or the factor twice; the zero point of y for floats; move; and
    twice in a word each, -a_zero and b_zero. Where b is widened, the scratch has what the three
    sums begin with, then 3 * 4 taps a block of 24 bytes, and behind it the constants. A matrix of y
    is written while all of its a and b is read.
    """
    code = Assembly()
    r = _Registers(code, product.loops)
    a, b, y, constants, scratch = code.arguments("a b y constants scratch")
    words = code.registers("scale addend y_zero move minus_a_zero b_zero")
    sums = "sum of (a[r] - a_zero) * (b[c] - b_zero)"
    if rounding.is_real:
        code.note(f"y[r][c] = sat(round(({sums}) * factor) + y_zero).")
        first = "factor; factor; y_zero"
    else:
        code.note(f"y[r][c] = sat((({sums} + move) * scale >> 32) + addend >> {rounding.shift}).")
        first = "scale; addend; nothing"
    code.note(
        f"constants: {first}; move; -a_zero, twice in a word; b_zero, the same. scratch: what the "
        "sums of three columns begin with, blocks of four taps of each, two in a word; then the "
        "constants."
    )
    for kept, argument in zip(r.matrices, (a, b, y), strict=True):
        code.vmov(kept, argument)
    code.vmov(r.scratch, scratch)
    code.ldmia(constants, words)
    code.offset(r.panel, product.panel_bytes, code.register("bytes"), scratch)
    code.stmia(r.panel, words)
    if product.rest:
        code.sub(r.panel, r.panel, BLOCK_BYTES)
    code.vmov(r.end, r.panel)
    each(
        code, product.loops, r.left, r.matrices, lambda: _matrix(code, r, product, rounding, most)
    )  # fmt: skip
    return code


def _matrix(
    code: Assembly, r: _Registers, product: MatrixProduct, rounding: Rounding, most: int
) -> None:
    """One product: its columns, three at a time."""
    next_b, next_y = code.registers("next_b next_y")
    _, b, y = r.matrices
    rest = product.columns % COLUMNS

    def repeat_columns() -> None:
        code.itt("eq")
        code.subeq(next_b, next_b, COLUMNS - rest)
        code.subeq(next_y, next_y, COLUMNS - rest)

    code.vmov(next_b, b)
    code.vmov(next_y, y)
    with counted(code, r.panels, -(-product.columns // COLUMNS), repeat_columns if rest else None):
        code.vmov(r.b, next_b)
        code.vmov(r.y, next_y)
        code.note("Three columns of b, widened to int16: two taps a word.")
        _widen(code, r, product)
        code.note("With two rows of a, even and odd: six sums, four taps at a time.")
        _rows(code, r, product, rounding, most)
        code.vmov(next_b, r.b)
        code.vmov(next_y, r.y)
        code.add(next_b, next_b, COLUMNS)
        code.add(next_y, next_y, COLUMNS)


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


def _rows(
    code: Assembly, r: _Registers, product: MatrixProduct, rounding: Rounding, most: int
) -> None:
    """The panel's columns of the product, two rows at a time."""
    rows, depth, columns = product.rows, product.depth, product.columns
    pitch = depth if rows > 1 else 0
    row, pair, out = code.registers("row pair out")
    words, panel = code.registers("even_bytes odd_bytes"), code.registers("column0 column1 column2")
    extend = "sxtb16" if product.a.dtype is DType.INT8 else "uxtb16"
    code.vmov(row, r.matrices[0])
    code.vmov(out, r.y)

    def block(first: Memory, second: Memory) -> None:
        code.ldr(words[1], second)
        code.ldr(words[0], first)
        multiply_bytes(code, r.panel, r.sums, panel, words, pair, extend)

    def compare() -> None:
        code.vmov(r.panel_end, r.end)
        code.cmp(r.panel, r.panel_end)

    def repeat_a_row() -> None:
        code.itt("eq")
        code.subeq(row, row, depth)
        code.subeq(out, out, columns)

    with counted(code, r.pairs, -(-rows // ROWS), repeat_a_row if rows % ROWS else None):
        code.vmov(r.out, out)
        code.vmov(r.panel, r.scratch)
        code.ldmia(r.panel.moving, r.sums[0])
        for even, odd in zip(*r.sums, strict=True):
            code.mov(odd, even)
        whole = depth // TAPS
        code.unroll(whole, most, lambda: block(row.after(4), row[pitch]), compare)
        if product.rest:
            back = TAPS - product.rest
            block(row[-back], row[pitch - back])
        _round(code, r, product, rounding)
        code.vmov(out, r.out)
        at = [n * columns * (rows > 1) + k for n in range(ROWS) for k in _offsets(product)]
        for acc, offset in zip(r.sums.all, at, strict=True):
            code.strb(acc, out[offset])
        code.add(row, row, pitch + product.rest)
        code.add(out, out, ROWS * columns)


def _round(code: Assembly, r: _Registers, product: MatrixProduct, rounding: Rounding) -> None:
    """The six sums to elements, by the constants behind the panel."""
    code.note("To elements of the output.")
    scale, addend, zero = code.registers("scale addend y_zero")
    if rounding.is_real:  # both of the first words are the factor
        code.ldmia(r.panel, [scale, addend, zero])
        round_in_float(code, saturate(product.y), [(r.sums.all, [scale])], zero)
    else:
        code.ldmia(r.panel, [scale, addend])
        sums, scales = r.sums.all, [(scale, addend)] * 6
        round_once(code, saturate(product.y), sums, scales, [rounding.shift] * 6)
