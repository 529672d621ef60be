"""Softmax of ONNX on bytes, over the last axis: four elements at a time.

As CpuRef's, it sums a table of exp at the distances from the row's maximum (distances.py). The
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
from mcu_deploy.backends.ArmDsp.distances import (
    LANE,
    LANES,
    each_word,
    ended,
    limit,
    maximum,
    proposals,
)
from mcu_deploy.backends.ArmDsp.layers import saturate, types_refusal
from mcu_deploy.backends.interface import Layer, Proposal, SubgraphView
from mcu_deploy.backends.isa import Assembly
from mcu_deploy.ir import TensorType
from mcu_deploy.operators.normalization import softmax_extent

OPERATORS = ("Softmax",)

_TERM, _PRODUCT = ("s0", "s1", "s2", "s3"), ("s12", "s13", "s14", "s15")
_FRACTION = 16  # bits of a product as an integer
_NEAR = 32  # of its units
# A factor and a product round three times, the contract twice.
_ERROR = 5.01 * 2.0 ** (_FRACTION - 24)
# In the FPU's registers: both rows, rows that are left, sum and factor; of all rows the reciprocal
# of the scale, the scale, and what a product gets to be rounded, with the zero point.
_X, _Y, _ROWS, _SUM, _FACTOR, _CONSTANTS = "s4", "s5", "s6", "s7", "s8", ("s9", "s10", "s11")
_HEAD = 4  # constants before the table, of which the last is what limits distances


def propose(view: SubgraphView, node: Layer) -> Sequence[Proposal] | str:
    """A layer by itself."""
    if reason := refusal(node):
        return reason
    x, y = node.input(0).type, node.output.type
    rows, size, _ = softmax_extent(node.call)
    words = pack(x, y, size)
    code = assemble(size, rows, len(words) - _HEAD, x, y)
    stem = f"softmax_{size}_{'_'.join(dict.fromkeys((x.dtype.value, y.dtype.value)))}_dsp"
    return proposals(view, node, stem, words, rows, code)


def refusal(layer: Layer) -> str:
    """Why the kernel does not compute a layer, a clause; empty where it does."""
    x, y = layer.input(0).type, layer.output.type
    if reason := types_refusal(x, y):
        return reason
    _, size, inner = softmax_extent(layer.call)
    if inner != 1 or not LANES <= size <= 1 << 23 or not y.elements:
        return "it takes the last axis, of 4 elements or more"
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


def assemble(size: int, rows: int, entries: int, x: TensorType, y: TensorType) -> Assembly:
    """The kernel. r0: x, r1: y, r2: constants and table, r3: rows."""
    code, behind = Assembly(), []
    code(f"vmov {_X}, r0", f"vmov {_Y}, r1", f"vmov {_ROWS}, r3")
    code("vldmia r2!, {s9-s11}", "ldr r9, [r2], #4")
    with code.repeat(rows):
        code(f"vmov r0, {_X}")
        maximum(code, size, x)
        code.note("The exponentials of all distances to it, from the table; their sum.")
        code(f"vmov r0, {_X}", "mov r8, #0")
        each_word(code, size, entries, lambda lanes: _add(code, lanes))
        code(
            "vmov s0, r8",
            f"vcvt.f32.u32 {_SUM}, s0",
            f"vdiv.f32 {_FACTOR}, {_CONSTANTS[0]}, {_SUM}",
        )
        code.note("The same again, divided by the sum.")
        code(f"vmov r0, {_X}", f"vmov r1, {_Y}", f"vmov r8, {_CONSTANTS[2]}")
        each_word(code, size, entries, lambda lanes: behind.append(_divide(code, lanes, y)))
        code(f"vmov {_X}, r0", f"vmov {_Y}, r1")
        code(f"vmov r3, {_ROWS}", "subs r3, r3, #1", f"vmov {_ROWS}, r3")
    done = code.label()
    code(f"b {done}f")
    code.note("Quotients that are near to the middle of two elements.")
    with code.rarely():
        for near, store, lanes in behind:
            code.place(near)
            _divide_twice(code, lanes)
            code(f"b {store}b")
    code.place(done)
    return code


def _add(code: Assembly, lanes: int) -> None:
    code(*(f"add r8, r8, {term}" for term in LANE[:lanes]))


def _divide(code: Assembly, lanes: int, y: TensorType) -> tuple[str, str, int]:
    """Terms to elements, at r1; r8 is what a product gets. Gives the labels where `_divide_twice`
    begins and goes on, and the lanes."""
    near, store = code.label(), code.label()
    products = _PRODUCT[:lanes]
    code(*(f"vmov {term}, {lane}" for term, lane in zip(_TERM[:lanes], LANE, strict=False)))
    code(*(f"vcvt.f32.u32 {term}, {term}" for term in _TERM[:lanes]))
    code(*(f"vmul.f32 {p}, {term}, {_FACTOR}" for p, term in zip(products, _TERM, strict=False)))
    code(*(f"vcvt.u32.f32 {product}, {product}, #{_FRACTION}" for product in products))
    code(*(f"vmov {lane}, {p}" for lane, p in zip(LANE, products, strict=False)))
    code(*(f"add {lane}, {lane}, r8" for lane in LANE[:lanes]))
    for lane in LANE[:lanes]:
        code(f"uxth r12, {lane}", f"cmp r12, #{2 * _NEAR}", f"blo {near}f")
    code.place(store)
    for lane in LANE[:lanes]:
        code(f"{saturate(y)} {lane}, #8, {lane}, asr #{_FRACTION}", f"strb {lane}, [r1], #1")
    return near, store, lanes


def _divide_twice(code: Assembly, lanes: int) -> None:
    """The same as the contract says it."""
    terms = _TERM[:lanes]
    code(*(f"vdiv.f32 {term}, {term}, {_SUM}" for term in terms))
    code(*(f"vdiv.f32 {term}, {term}, {_CONSTANTS[1]}" for term in terms))
    code(*(f"vcvtr.s32.f32 {term}, {term}" for term in terms))
    code(*(f"vmov {lane}, {term}" for lane, term in zip(LANE, terms, strict=False)))
    code(*(f"add {lane}, r8, {lane}, lsl #{_FRACTION}" for lane in LANE[:lanes]))
