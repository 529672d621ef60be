"""Softmax of ONNX on bytes, over the axis that lies last in memory: four elements at a time.

As CpuRef's, it sums a table of exp at the distances from the row's maximum (softmax_rows.py). The
contract divides a term by the sum and by the scale, in float32. Here one division a row makes a
factor; a term times it is within 6 units of the 24 bits of a float of that, so unless it is next to
the middle of two elements, it rounds to the same one. What is next to it, one word in 250, is
divided as the contract says.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from mcu_deploy.arithmetic import Array, exponential_table
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
from mcu_deploy.backends.isa import Assembly, Kind, Label
from mcu_deploy.backends.isa.workloads import CHANNELS_LAST, NATURAL
from mcu_deploy.backends.quantized.layers import saturate, types_refusal
from mcu_deploy.ir import TensorType
from mcu_deploy.operators.normalization import softmax_extent

OPERATORS = ("Softmax",)

_FRACTION = 16  # bits of a product as an integer
_NEAR = 32  # of its units
# A factor and a product round three times, the contract twice.
_ERROR = 5.01 * 2.0 ** (_FRACTION - 24)
_HEAD = 4  # constants before the table, of which the last is what limits distances


def propose(view: SubgraphView, node: Layer) -> Sequence[Proposal] | str:
    """A layer by itself."""
    if reason := refusal(node):
        return reason
    x, y = node.input(0).type, node.output.type
    _, size, inner = softmax_extent(node.call)
    rows, words = x.elements // size, pack(x, y, size)
    code = assemble(size, rows, len(words) - _HEAD, x, y)
    stem = f"softmax_{size}_{'_'.join(dict.fromkeys((x.dtype.value, y.dtype.value)))}_dsp"
    layouts = CHANNELS_LAST if inner > 1 else NATURAL
    return proposals(view, node, stem, words, rows, code, layouts)


def refusal(layer: Layer) -> str:
    """Why the kernel does not compute a layer, a clause; empty where it does."""
    x, y = layer.input(0).type, layer.output.type
    if reason := types_refusal(x, y):
        return reason
    outer, size, inner = softmax_extent(layer.call)
    is_last = inner == 1 or ((outer, size) == x.shape[:2] and x.rank <= 4)
    if not is_last or not LANES <= size <= 1 << 23 or not y.elements:
        return "it takes the last axis, or channels, of 4 elements or more"
    if math.ceil(_ERROR / y.scaling.scale[0]) + 2 > _NEAR:
        return "its output has too fine a scale"
    if not layer.target.fpu:
        return f"it computes in float32, which this {layer.target.core} has no FPU for"
    return ""


def pack(x: TensorType, y: TensorType, size: int) -> Array:
    """What the kernel reads, uint32: the reciprocal of the scale and the scale as float32, what a
    product gets, what limits distances, and the table."""
    table, _ = exponential_table(x.scaling.scale[0], size)
    table = ended(np.trim_zeros(table, "b"))
    scale = np.float32(y.scaling.scale[0])
    floats = np.array([np.float32(1) / scale, scale], np.float32).view(np.uint32)
    offset = (y.scaling.zero_point[0] << _FRACTION) + (1 << _FRACTION - 1) + _NEAR
    head = [offset & 0xFFFFFFFF, limit(len(table))]
    return np.concatenate([floats, np.array(head, np.uint32), table])


class _Kept:
    """In the FPU's registers. Of a row: where it and the next one begin, rows that are left, its
    sum and factor. Of all: the reciprocal of the output's scale, the scale, and what a product gets
    to be rounded, with the zero point."""

    def __init__(self, code: Assembly) -> None:
        self.x, self.y, self.rows, self.sum, self.factor = code.registers(
            "row_x row_y rows_left sum factor", kind=Kind.SINGLE
        )
        scales, self.rounding = (
            code.register("scales", kind=Kind.DOUBLE), code.register("rounding", kind=Kind.DOUBLE),
        )  # fmt: skip
        self.constants = (*scales.halves, self.rounding.halves[0])
        self.terms = code.registers("term0 term1 term2 term3", kind=Kind.SINGLE)
        self.products = code.registers("product0 product1 product2 product3", kind=Kind.SINGLE)
        self.added = code.register("added")


def assemble(size: int, rows: int, entries: int, x: TensorType, y: TensorType) -> Assembly:
    """The kernel: x, y, constants and table, rows.

    y[r][i] = sat(round(exp(x[r][i] - max x[r]) / sum / scale) + zero_point), the exponentials from
    the table; y may lie on x.
    """
    code = Assembly()
    behind: list[tuple[Label, Label, int]] = []
    row, kept, total = Row(code), _Kept(code), code.register("total")
    code.note("y[r][i] = sat(round(exp(x[r][i] - max) / sum / scale) + zero_point). exponential:")
    code.note("1 / scale, scale, of float32, what rounds, what limits distances, then the table.")
    code.vmov(kept.x, row.x)
    code.vmov(kept.y, row.y)
    code.vmov(kept.rows, row.rows)
    code.vldmia(row.table.moving, kept.constants)
    code.ldr(row.limit, row.table.after(4))
    with code.repeat(rows):
        code.vmov(row.x, kept.x)
        maximum(code, row, size, x)
        code.note("The exponentials of all distances to it, from the table; their sum.")
        code.vmov(row.x, kept.x)
        code.mov(total, 0)

        def add(lanes: int) -> None:
            for lane in row.lanes[:lanes]:
                code.add(total, total, lane)

        each_word(code, row, size, entries, add)
        code.vmov(kept.terms[0], total)
        code.vcvt_f32_u32(kept.sum, kept.terms[0])
        code.vdiv_f32(kept.factor, kept.constants[0], kept.sum)
        code.note("The same again, divided by the sum.")
        code.vmov(row.x, kept.x)
        code.vmov(row.y, kept.y)
        code.vmov(kept.added, kept.constants[2])
        each_word(
            code, row, size, entries,
            lambda lanes: behind.append(_divide(code, row, kept, lanes, y)),
        )  # fmt: skip
        code.vmov(kept.x, row.x)
        code.vmov(kept.y, row.y)
        code.vmov(row.left, kept.rows)
        code.subs(row.left, row.left, 1)
        code.vmov(kept.rows, row.left)
    done = code.label()
    code.b(done)
    code.note("Quotients that are near to the middle of two elements.")
    with code.rarely():
        for near, store, lanes in behind:
            code.place(near)
            _divide_twice(code, row, kept, lanes)
            code.b(store)
    code.place(done)
    return code


def _divide(
    code: Assembly, row: Row, kept: _Kept, lanes: int, y: TensorType
) -> tuple[Label, Label, int]:
    """Terms to elements, at `y`. Gives the labels where `_divide_twice` begins and goes on, and the
    lanes."""
    near, store, fraction = code.label(), code.label(), code.register("fraction")
    terms, products, taken = kept.terms[:lanes], kept.products[:lanes], row.lanes[:lanes]
    for term, lane in zip(terms, taken, strict=True):
        code.vmov(term, lane)
    for term in terms:
        code.vcvt_f32_u32(term, term)
    for product, term in zip(products, terms, strict=True):
        code.vmul_f32(product, term, kept.factor)
    for product in products:
        code.vcvt_u32_f32(product, product, _FRACTION)
    for lane, product in zip(taken, products, strict=True):
        code.vmov(lane, product)
    for lane in taken:
        code.add(lane, lane, kept.added)
    for lane in taken:
        code.uxth(fraction, lane)
        code.cmp(fraction, 2 * _NEAR)
        code.blo(near)
    code.place(store)
    for lane in taken:
        getattr(code, saturate(y))(lane, 8, lane.asr(_FRACTION))
        code.strb(lane, row.y.after(1))
    return near, store, lanes


def _divide_twice(code: Assembly, row: Row, kept: _Kept, lanes: int) -> None:
    """The same as the contract says it."""
    terms, taken = kept.terms[:lanes], row.lanes[:lanes]
    for term in terms:
        code.vdiv_f32(term, term, kept.sum)
    for term in terms:
        code.vdiv_f32(term, term, kept.constants[1])
    for term in terms:
        code.vcvtr_s32_f32(term, term)
    for lane, term in zip(taken, terms, strict=True):
        code.vmov(lane, term)
    for lane in taken:
        code.add(lane, kept.added, lane.lsl(_FRACTION))
