"""Softmax of TFLite on int8, over the last axis: four elements at a time, in integers.

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
from mcu_deploy.backends.ArmDsp.distances import (
    LANE,
    LANES,
    each_word,
    ended,
    limit,
    maximum,
    proposals,
)
from mcu_deploy.backends.interface import Layer, Proposal, SubgraphView
from mcu_deploy.backends.isa import Assembly
from mcu_deploy.ir import DType, TensorType
from mcu_deploy.operators.tflite_softmax import SUM_BITS, terms

OPERATORS = ("tflite::Softmax",)

# Of the least sum that is a power of two and has more terms than the largest: of twice that.
_HALF_ELEMENT = 1 << 23
_HEAD = 1  # the constant before the table: what limits distances
_ROWS = "s0"  # that are left
_SUM, _ADDED, _SCALE, _SHIFT = "r8", "r8", "r12", "lr"


def propose(view: SubgraphView, node: Layer) -> Sequence[Proposal] | str:
    """A layer by itself."""
    if reason := refusal(node):
        return reason
    x = node.input(0).type
    size = x.shape[-1]
    rows, words = x.elements // size, pack(terms(node.call))
    code = assemble(size, rows, len(words) - _HEAD, x)
    return proposals(view, node, f"tflite_softmax_{size}_dsp", words, rows, code)


def refusal(layer: Layer) -> str:
    """Why the kernel does not compute a layer, a clause; empty where it does."""
    x, y = layer.input(0).type, layer.output.type
    if any(t.dtype is not DType.INT8 or t.quantization is None for t in (x, y)):
        return f"it computes int8, not {x} to {y}"
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


def assemble(size: int, rows: int, entries: int, x: TensorType) -> Assembly:
    """The kernel. r0: x, r1: y, r2: limit and table, r3: rows."""
    code = Assembly()
    code("ldr r9, [r2], #4")
    with code.repeat(rows):
        code(f"vmov {_ROWS}, r3")
        maximum(code, size, x)
        code.offset("r0", -(size // LANES * LANES), "r3")
        code.note("The exponentials of all distances to it, from the table; their sum.")
        code.number(_SUM, size << 18)
        code(f"mov {_SCALE}, #{1 << 19}")
        each_word(code, size, entries, lambda lanes: _add(code, lanes))
        code.offset("r0", -size, "r3")
        code.note("Its reciprocal.")
        _reciprocal(code)
        code.note("The exponentials again, times that.")
        each_word(code, size, entries, lambda lanes: _multiply(code, lanes))
        code(f"vmov r3, {_ROWS}", "subs r3, r3, #1")
    return code


def _add(code: Assembly, lanes: int) -> None:
    code(*(f"smmlar {_SUM}, {entry}, {_SCALE}, {_SUM}" for entry in LANE[:lanes]))


def _reciprocal(code: Assembly) -> None:
    """Of the sum, whose highest bit is moved to bit 30, by three of Newton's steps. The scale has
    a fractional bit more than gemmlowp's; so SMMULR of it rounds as that does."""
    code(f"clz r3, {_SUM}", f"lsl {_SUM}, {_SUM}, r3", f"lsr {_SUM}, {_SUM}, #1")
    code.number("r6", 2 * RECIPROCAL_SLOPE & 0xFFFFFFFF)
    code.number("r7", RECIPROCAL_AT_0)
    code(f"smmlar {_SCALE}, {_SUM}, r6, r7", f"lsl {_SCALE}, {_SCALE}, #1")
    for step in range(3):
        code(f"smmulr r6, {_SUM}, {_SCALE}", f"rsb r6, r6, #{1 << 29}")
        code(f"smmulr r6, {_SCALE}, r6", "lsl r6, r6, #3")
        code(f"{'qadd' if step == 2 else 'add'} {_SCALE}, {_SCALE}, r6")
    # A quotient is rounded to an element: half of one is added, and with that half the scale.
    code(f"rsb {_SHIFT}, r3, #34", "mov r6, #1", f"lsl r6, r6, {_SHIFT}")
    code(f"add {_ADDED}, r6, {_SCALE}, lsr #1", f"add {_SHIFT}, {_SHIFT}, #1")


def _multiply(code: Assembly, lanes: int) -> None:
    """Entries to elements, at r1: quotients, of which 256 is 255, less 128."""
    code(*(f"smmlar {entry}, {entry}, {_SCALE}, {_ADDED}" for entry in LANE[:lanes]))
    code(*(f"lsr {share}, {share}, {_SHIFT}" for share in LANE[:lanes]))
    pairs, above = LANE[: min(lanes, 2)], LANE[2:lanes]
    code(*(f"pkhbt {x}, {x}, {y}, lsl #16" for x, y in zip(pairs, above, strict=False)))
    code(*(f"usat16 {pair}, #8, {pair}" for pair in pairs))
    word, *odd = pairs
    code(*(f"orr {word}, {word}, {other}, lsl #8" for other in odd))
    code(f"eor {word}, {word}, #0x80808080")
    if lanes == LANES:
        code(f"str {word}, [r1], #4")
    elif lanes == 1:
        code(f"strb {word}, [r1], #1")
    else:
        code(f"strh {word}, [r1], #2")
        if lanes == 3:
            code(f"lsr {word}, {word}, #16", f"strb {word}, [r1], #1")
