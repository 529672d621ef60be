"""Rows of bytes as distances from their maximum, four at a time, and what a table has for these:
what both kernels of softmax have in common.

The maximum is found in all four lanes of a word, by SSUB8 and SEL. At such places words need not
be aligned, which LDR and STR allow.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.backends.ArmDsp.workloads import proposal
from mcu_deploy.backends.interface import (
    Constant,
    InPlace,
    Layer,
    LayoutRule,
    Proposal,
    SubgraphView,
)
from mcu_deploy.backends.isa import Assembly
from mcu_deploy.backends.isa.workloads import NATURAL
from mcu_deploy.ir import DType, TensorType

LANES = 4


def proposals(
    view: SubgraphView, node: Layer, stem: str, words: Array, rows: int, code: Assembly,
    layouts: tuple[LayoutRule, ...] = NATURAL,
) -> Sequence[Proposal]:  # fmt: skip
    """Of a layer by itself. words: uint32, the constants. The code gets x, y, these and the rows,
    and reads each element for the last time before it writes it."""
    made = proposal(
        view.part([node.node.id]), node.target, stem, code, [Constant("exponential", words)],
        "softmax", in_place=[InPlace(0, 0, 0)], count=("rows", rows),
        layouts=layouts,
    )  # fmt: skip
    return [made]


def ended(table: Array) -> Array:
    """A table as the kernels read it: with a last entry of 0 for all distances that are longer,
    where there are any."""
    return np.append(table, np.zeros_like(table, shape=1))[:256]


def limit(entries: int) -> int:
    """The word that limits distances: adding it to four bytes and subtracting it, both with
    saturation, leaves them at the last of so many entries."""
    return (256 - entries) * 0x01010101


class Row:
    """The registers of a kernel of softmax: of each row the elements, what is left of it; of its
    greatest element four copies in a word; what the table has for four elements."""

    def __init__(self, code: Assembly) -> None:
        self.x, self.y, self.table, self.rows = code.arguments("x y exponential rows")
        self.left, self.word, self.greatest, self.limit = code.registers("left word greatest limit")
        self.lanes = code.registers("lane0 lane1 lane2 lane3")


def maximum(code: Assembly, row: Row, size: int, x: TensorType) -> None:
    """Of the row at `x`, which is behind its last whole word then. Of a last word that is not full,
    those before it are compared again."""
    subtract = code.ssub8 if x.dtype is DType.INT8 else code.usub8
    whole, rest = divmod(size, LANES)
    greatest, word = row.greatest, row.word
    difference = code.register("difference")
    code.note("The row's greatest element, to each byte of a word.")

    def larger() -> None:
        subtract(difference, word, greatest)
        code.sel(greatest, word, greatest)

    if whole:
        code.ldr(greatest, row.x.after(4))
    else:
        code.ldrh(greatest, row.x[0])
        if rest == 2:
            code.orr(greatest, greatest, greatest.lsl(16))
        else:
            code.ldrb(word, row.x[2])
            code.orr(greatest, greatest, word.lsl(16))
            code.orr(greatest, greatest, word.lsl(24))
    if whole > 1:
        code.number(row.left, whole - 1)
        with code.repeat(whole - 1):
            code.ldr(word, row.x.after(4))
            larger()
            code.subs(row.left, row.left, 1)
    if whole and rest:
        code.ldr(word, row.x[rest - LANES])
        larger()
    for by in (16, 8):
        code.ror(word, greatest, by)
        larger()


def each_word(
    code: Assembly, row: Row, size: int, entries: int, body: Callable[[int], None]
) -> None:
    """A body for each word of the row at `x`, with what the table has for so many elements in the
    lanes; `x` is behind the row then."""
    whole, rest = divmod(size, LANES)
    if whole:
        code.number(row.left, whole)
        with code.repeat(whole):
            code.ldr(row.word, row.x.after(4))
            _look_up(code, row, LANES, entries)
            body(LANES)
            code.subs(row.left, row.left, 1)
    if rest:
        if rest == 1:
            code.ldrb(row.word, row.x.after(1))
        else:
            code.ldrh(row.word, row.x.after(2))
        if rest == 3:
            code.ldrb(row.lanes[0], row.x.after(1))
            code.orr(row.word, row.word, row.lanes[0].lsl(16))
        _look_up(code, row, rest, entries)
        body(rest)


def _look_up(code: Assembly, row: Row, lanes: int, entries: int) -> None:
    """The table at the distances of the bytes of the word."""
    code.usub8(row.word, row.greatest, row.word)
    if entries < 256:
        code.uqadd8(row.word, row.word, row.limit)
        code.uqsub8(row.word, row.word, row.limit)
    for n, lane in enumerate(row.lanes[:lanes]):
        code.ubfx(lane, row.word, 8 * n, 8)
    for lane in row.lanes[:lanes]:
        code.ldr(lane, row.table[lane.lsl(2)])
