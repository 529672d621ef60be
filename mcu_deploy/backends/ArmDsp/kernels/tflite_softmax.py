"""Softmax of TFLite on 8 bits, over the last axis: four elements at a time, in integers.

Of each distance from the row's maximum a table has 2 t - 2^31, where t is exp in 31 fractional
bits. SMMLAR, `a + (b * c + 2^31 >> 32)`, then rounds as gemmlowp does, with everything that is a
power of two in a:

- (t + 2^11) >> 12, the term of the sum, is 2^18 more than SMMLAR of an entry and 2^19;
- (t scale + 2^30) >> 31, the quotient, is scale / 2 more than SMMLAR of an entry and the scale,
  where that is even. The reciprocal of a row's sum is, but of a power of two, where it is
  saturated at 2^31 - 1. Then the quotient of a term up to 2^30, which is t, comes out as t - 1.
  Only where t is in the middle of two elements is that another one; such tables are refused.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.arithmetic.gemmlowp import RECIPROCAL_AT_0, RECIPROCAL_SLOPE
from mcu_deploy.backends.ArmDsp.softmax_rows import (
    LANES,
    Row,
    each_word,
    ended,
    limit,
    maximum,
    proposals,
)
from mcu_deploy.backends.interface import Layer, Proposal, SubgraphView
from mcu_deploy.backends.isa import Assembly, Kind
from mcu_deploy.ir import DType, TensorType
from mcu_deploy.operators.tflite_softmax import SUM_BITS, terms

OPERATORS = ("tflite::Softmax",)

# Of the least sum that is a power of two and has more terms than the largest: of twice that.
_HALF_ELEMENT = 1 << 23
_HEAD = 1  # the constant before the table: what limits distances


def propose(view: SubgraphView, node: Layer) -> Sequence[Proposal] | str:
    """A layer by itself."""
    if reason := refusal(node):
        return reason
    x = node.input(0).type
    size = x.shape[-1]
    rows, words = x.elements // size, pack(terms(node.call))
    code = assemble(size, rows, len(words) - _HEAD, x)
    return proposals(view, node, f"tflite_softmax_{x.dtype.value}_{size}_dsp", words, rows, code)


def refusal(layer: Layer) -> str:
    """Why the kernel does not compute a layer, a clause; empty where it does."""
    x, y = layer.input(0).type, layer.output.type
    if not x.is_quantized or x.dtype not in (DType.INT8, DType.UINT8) or y.dtype is not x.dtype:
        return f"it computes int8 or uint8, not {x} to {y}"
    if not 1 < x.shape[-1] < 1 << SUM_BITS or not x.elements:
        return f"it takes 2 to {(1 << SUM_BITS) - 1} elements of the last axis"
    table = terms(layer.call)
    if not (table[table <= 1 << 30] % _HALF_ELEMENT).all():
        return "a term of it is in the middle of two elements"
    return ""


def pack(table: Array) -> Array:
    """What the kernel reads, uint32: what limits distances, and the table."""
    entries = 2 * ended(table).astype(np.int64) - 2**31
    return np.append(limit(len(entries)), entries).astype(np.int64).astype(np.uint32)


class _Row(Row):
    """A row's. total: of the terms, later what a quotient gets to be rounded; scale: 2^19, later
    the reciprocal of the sum; shift: of a quotient."""

    def __init__(self, code: Assembly) -> None:
        super().__init__(code)
        self.total, self.scale, self.shift = code.registers("total scale shift")
        self.kept = code.register("rows_left", kind=Kind.SINGLE)


def assemble(size: int, rows: int, entries: int, x: TensorType) -> Assembly:
    """The kernel: x, y, limit and table, rows.

    y[r][i] = sat(exp(x[r][i] - max x[r]) / sum * 256 - 128), as gemmlowp rounds, of uint8 without
    the 128; y may lie on x.
    """
    code = Assembly()
    row = _Row(code)
    less = 128 if x.dtype is DType.INT8 else 0
    code.note(f"y[r][i] = sat(exp(x[r][i] - max) / sum * 256 - {less}), as gemmlowp rounds.")
    code.note("exponential: what limits distances, then 2 t - 2^31, where t is exp in 31 bits.")
    code.ldr(row.limit, row.table.after(4))
    with code.repeat(rows):
        code.vmov(row.kept, row.rows)
        maximum(code, row, size, x)
        code.offset(row.x, -(size // LANES * LANES), row.left)
        code.note("The exponentials of all distances to it, from the table; their sum.")
        code.number(row.total, size << 18)
        code.mov(row.scale, 1 << 19)
        each_word(code, row, size, entries, lambda lanes: _add(code, row, lanes))
        code.offset(row.x, -size, row.left)
        code.note("Its reciprocal.")
        _reciprocal(code, row)
        code.note("The exponentials again, times that.")
        each_word(code, row, size, entries, lambda lanes: _multiply(code, row, lanes, less))
        code.vmov(row.rows, row.kept)
        code.subs(row.rows, row.rows, 1)
    return code


def _add(code: Assembly, row: _Row, lanes: int) -> None:
    for entry in row.lanes[:lanes]:
        code.smmlar(row.total, entry, row.scale, row.total)


def _reciprocal(code: Assembly, row: _Row) -> None:
    """Of the sum, whose highest bit is moved to bit 30, by three of Newton's steps. The scale has
    a fractional bit more than gemmlowp's; so SMMULR of it rounds as that does."""
    zeros, slope, at_0, step = code.registers("zeros slope at_0 step")
    total, scale = row.total, row.scale
    code.clz(zeros, total)
    code.lsl(total, total, zeros)
    code.lsr(total, total, 1)
    code.number(slope, 2 * RECIPROCAL_SLOPE & 0xFFFFFFFF)
    code.number(at_0, RECIPROCAL_AT_0)
    code.smmlar(scale, total, slope, at_0)
    code.lsl(scale, scale, 1)
    for turn in range(3):
        code.smmulr(step, total, scale)
        code.rsb(step, step, 1 << 29)
        code.smmulr(step, scale, step)
        code.lsl(step, step, 3)
        (code.qadd if turn == 2 else code.add)(scale, scale, step)
    # A quotient is rounded to an element: half of one is added, and with that half the scale.
    code.rsb(row.shift, zeros, 34)
    code.mov(step, 1)
    code.lsl(step, step, row.shift)
    code.add(total, step, scale.lsr(1))
    code.add(row.shift, row.shift, 1)


def _multiply(code: Assembly, row: _Row, lanes: int, less: int) -> None:
    """Entries to elements, at `y`: quotients, of which 256 is 255, less 128 or nothing."""
    taken = row.lanes[:lanes]
    for entry in taken:
        code.smmlar(entry, entry, row.scale, row.total)
    for share in taken:
        code.lsr(share, share, row.shift)
    pairs, above = taken[: min(lanes, 2)], taken[2:]
    for low, high in zip(pairs, above, strict=False):
        code.pkhbt(low, low, high.lsl(16))
    for pair in pairs:
        code.usat16(pair, 8, pair)
    word, *odd = pairs
    for other in odd:
        code.orr(word, word, other.lsl(8))
    if less:
        code.eor(word, word, less * 0x01010101)
    if lanes == LANES:
        code.str(word, row.y.after(4))
    elif lanes == 1:
        code.strb(word, row.y.after(1))
    else:
        code.strh(word, row.y.after(2))
        if lanes == 3:
            code.lsr(word, word, 16)
            code.strb(word, row.y.after(1))
