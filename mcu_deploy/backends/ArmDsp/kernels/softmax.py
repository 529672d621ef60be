"""Softmax of ONNX on bytes, over the last axis: four elements at a time.

As CpuRef's, it sums a table of exp at the distances from the row's maximum; SSUB8 and SEL find that
in all four lanes. The contract divides a term by the sum and by the scale, in float32. Here one
division a row makes a factor; a term times it is within 6 units of the 24 bits of a float of that,
so unless it is next to the middle of two elements, it rounds to the same one. What is next to it,
one word in 250, is divided as the contract says.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mcu_deploy.arithmetic import Array, exponential_table
from mcu_deploy.backends.ArmDsp.layers import BYTES, saturate
from mcu_deploy.backends.ArmDsp.workloads import ID
from mcu_deploy.backends.interface import (
    CFunction,
    Constant,
    Costs,
    InPlace,
    Layer,
    Parameter,
    Price,
    Proposal,
    SubgraphView,
    Workload,
)
from mcu_deploy.backends.isa import Assembly, statement
from mcu_deploy.backends.kit.arguments import INPUT, OUTPUT, constant_argument, pointer, scalar
from mcu_deploy.ir import DType, TensorType
from mcu_deploy.operators.normalization import softmax_extent

OPERATORS = ("Softmax",)

_LANES = 4
_LANE = ("r6", "r7", "r10", "r11")
_TERM, _PRODUCT = ("s0", "s1", "s2", "s3"), ("s12", "s13", "s14", "s15")
_FRACTION = 16  # bits of a product as an integer
_NEAR = 32  # of its units
# A factor and a product round three times, the contract twice.
_ERROR = 5.01 * 2.0 ** (_FRACTION - 24)
# In the FPU's registers: both rows, rows that are left, sum and factor; of all rows the reciprocal
# of the scale, the scale, and what a product gets to be rounded, with the zero point.
_X, _Y, _ROWS, _SUM, _FACTOR, _CONSTANTS = "s4", "s5", "s6", "s7", "s8", ("s9", "s10", "s11")
_HEAD = 16  # bytes of constants before the table: also what the distances are limited by


def propose(view: SubgraphView, node: Layer) -> Sequence[Proposal] | str:
    """A layer by itself."""
    if reason := refusal(node):
        return reason
    x, y = node.input(0).type, node.output.type
    rows, size, _ = softmax_extent(node.call)
    words = Constant("exponential", pack(x, y, size))
    entries = len(words.value) - _HEAD // 4
    code = assemble(size, rows, entries, x, y)
    stem = f"softmax_{size}_{'_'.join(dict.fromkeys((x.dtype.value, y.dtype.value)))}_dsp"
    price = Price(
        Costs(cycles=round(code.cycles), flash=words.value.nbytes),
        {f"{stem} {code.digest}": code.bytes},
        in_place=(InPlace(0, 0, 0),),
    )

    def make(layers: Sequence[Layer], _: Any) -> tuple[Workload, ...]:
        (layer,) = layers
        parameters = (
            pointer(layer.input(0), "x"), pointer(layer.output, "y", const=False),
            Parameter("const uint32_t *", "exponential"), Parameter("uint32_t", "rows"),
        )  # fmt: skip
        body = "{\n" + statement(code, "x", "y", "exponential", "rows") + "}"
        arguments = (INPUT, OUTPUT, constant_argument(0), scalar(rows))
        return (
            Workload(
                ID, CFunction(stem, parameters, body), arguments, (words,),
                in_place=price.in_place, costs=price.costs,
            ),
        )  # fmt: skip

    return [Proposal(view.part([node.node.id]), price, make, title="softmax")]


def refusal(layer: Layer) -> str:
    """Why the kernel does not compute a layer, a clause; empty where it does."""
    x, y = layer.input(0).type, layer.output.type
    if any(t.dtype not in BYTES or t.quantization is None for t in (x, y)):
        return f"it computes int8 and uint8, not {y}"
    _, size, inner = softmax_extent(layer.call)
    if inner != 1 or not _LANES <= size <= 1 << 23 or not y.elements:
        return "it takes the last axis, of 4 elements or more"
    if math.ceil(_ERROR / y.scaling.scale[0]) + 2 > _NEAR:
        return "its output has too fine a scale"
    if not layer.target.fpu:
        return f"it computes in float32, which this {layer.target.core} has no FPU for"
    return ""


def pack(x: TensorType, y: TensorType, size: int) -> Array:
    """What the kernel reads, uint32: the reciprocal of the scale and the scale as float32, what a
    product gets, what limits distances, and the table, whose last entry is 0 or that of 255."""
    table, _ = exponential_table(x.scaling.scale[0], size)
    entries = min(len(np.trim_zeros(table, "b")) + 1, 256)
    scale = np.float32(y.scaling.scale[0])
    floats = np.array([np.float32(1) / scale, scale], np.float32).view(np.uint32)
    offset = (y.scaling.zero_point[0] << _FRACTION) + (1 << _FRACTION - 1) + _NEAR
    head = [offset & 0xFFFFFFFF, (256 - entries) * 0x01010101]
    return np.concatenate([floats, np.array(head, np.uint32), table[:entries]])


def assemble(size: int, rows: int, entries: int, x: TensorType, y: TensorType) -> Assembly:
    """The kernel. %0: x, %1: y, %2: constants and table, %3: rows."""
    code = Assembly()
    is_limited, behind = entries < 256, []
    code(f"vmov {_X}, %0", f"vmov {_Y}, %1", f"vmov {_ROWS}, %3", "mov r2, %2")
    code("vldmia r2!, {s9-s11}", "ldr r9, [r2], #4")
    with code.repeat(rows):
        code(f"vmov r0, {_X}")
        _maximum(code, size, x)
        code(f"vmov r0, {_X}", "mov r8, #0")
        _words(code, size, is_limited, lambda lanes: _add(code, lanes))
        code(
            "vmov s0, r8",
            f"vcvt.f32.u32 {_SUM}, s0",
            f"vdiv.f32 {_FACTOR}, {_CONSTANTS[0]}, {_SUM}",
        )
        code(f"vmov r0, {_X}", f"vmov r1, {_Y}", f"vmov r8, {_CONSTANTS[2]}")
        _words(code, size, is_limited, lambda lanes: behind.append(_divide(code, lanes, y)))
        code(f"vmov {_X}, r0", f"vmov {_Y}, r1")
        code(f"vmov r3, {_ROWS}", "subs r3, r3, #1", f"vmov {_ROWS}, r3")
    done = code.label()
    code(f"b {done}f")
    with code.rarely():
        for near, store, lanes in behind:
            code.place(near)
            _divide_twice(code, lanes)
            code(f"b {store}b")
    code.place(done)
    return code


def _maximum(code: Assembly, size: int, x: TensorType) -> None:
    """Of the row at r0, to each byte of r5. Of a last word that is not full, those before it are
    compared again."""
    subtract = "ssub8" if x.dtype is DType.INT8 else "usub8"
    whole, rest = divmod(size, _LANES)

    def larger() -> None:
        code(f"{subtract} r7, r4, r5", "sel r5, r4, r5")

    code("ldr r5, [r0], #4")
    if whole > 1:
        _load(code, "r3", whole - 1)
        with code.repeat(whole - 1):
            code("ldr r4, [r0], #4")
            larger()
            code("subs r3, r3, #1")
    if rest:
        code(f"ldr r4, [r0, #{rest - _LANES}]")
        larger()
    for by in (16, 8):
        code(f"ror r4, r5, #{by}")
        larger()


def _words(code: Assembly, size: int, is_limited: bool, body: Callable[[int], None]) -> None:
    """A body for each word of the row at r0, with the terms of so many elements in `_LANE`."""
    whole, rest = divmod(size, _LANES)
    _load(code, "r3", whole)
    with code.repeat(whole):
        code("ldr r4, [r0], #4")
        _terms(code, _LANES, is_limited)
        body(_LANES)
        code("subs r3, r3, #1")
    if rest:
        code("ldrb r4, [r0], #1" if rest == 1 else "ldrh r4, [r0], #2")
        if rest == 3:
            code("ldrb r6, [r0], #1", "orr r4, r4, r6, lsl #16")
        _terms(code, rest, is_limited)
        body(rest)


def _terms(code: Assembly, lanes: int, is_limited: bool) -> None:
    """The table at the distances of the bytes of r4."""
    code("usub8 r4, r5, r4")
    if is_limited:
        code("uqadd8 r4, r4, r9", "uqsub8 r4, r4, r9")
    code(*(f"ubfx {_LANE[n]}, r4, #{8 * n}, #8" for n in range(lanes)))
    code(*(f"ldr {_LANE[n]}, [r2, {_LANE[n]}, lsl #2]" for n in range(lanes)))


def _add(code: Assembly, lanes: int) -> None:
    code(*(f"add r8, r8, {term}" for term in _LANE[:lanes]))


def _divide(code: Assembly, lanes: int, y: TensorType) -> tuple[str, str, int]:
    """Terms to elements, at r1; r8 is what a product gets. Gives the labels where `_divide_twice`
    begins and goes on, and the lanes."""
    near, store = code.label(), code.label()
    products = _PRODUCT[:lanes]
    code(*(f"vmov {term}, {lane}" for term, lane in zip(_TERM[:lanes], _LANE, strict=False)))
    code(*(f"vcvt.f32.u32 {term}, {term}" for term in _TERM[:lanes]))
    code(*(f"vmul.f32 {p}, {term}, {_FACTOR}" for p, term in zip(products, _TERM, strict=False)))
    code(*(f"vcvt.u32.f32 {product}, {product}, #{_FRACTION}" for product in products))
    code(*(f"vmov {lane}, {p}" for lane, p in zip(_LANE, products, strict=False)))
    code(*(f"add {lane}, {lane}, r8" for lane in _LANE[:lanes]))
    for lane in _LANE[:lanes]:
        code(f"uxth r12, {lane}", f"cmp r12, #{2 * _NEAR}", f"blo {near}f")
    code.place(store)
    for lane in _LANE[:lanes]:
        code(f"{saturate(y)} {lane}, #8, {lane}, asr #{_FRACTION}", f"strb {lane}, [r1], #1")
    return near, store, lanes


def _divide_twice(code: Assembly, lanes: int) -> None:
    """The same as the contract says it."""
    terms = _TERM[:lanes]
    code(*(f"vdiv.f32 {term}, {term}, {_SUM}" for term in terms))
    code(*(f"vdiv.f32 {term}, {term}, {_CONSTANTS[1]}" for term in terms))
    code(*(f"vcvtr.s32.f32 {term}, {term}" for term in terms))
    code(*(f"vmov {lane}, {term}" for lane, term in zip(_LANE, terms, strict=False)))
    code(*(f"add {lane}, r8, {lane}, lsl #{_FRACTION}" for lane in _LANE[:lanes]))


def _load(code: Assembly, register: str, value: int) -> None:
    code(f"movw {register}, #{value & 0xFFFF}")
    if value >> 16:
        code(f"movt {register}, #{value >> 16}")
