"""Float32 to int8 or uint8 and back, four elements a vector: QuantizeLinear, DequantizeLinear, and
TFLite's Quantize.

The quotient of an element and the scale is that of quantized/conversions.py, negated: as words, a
float that is no number is then above all others, so that one minimum of signed words gives it, and
with it what is far below zero, the lowest element. Before that a minimum of unsigned words keeps
what is far above zero from becoming infinite, whose remainder would be no number.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.backends.ArmMve.elements import Steps, proposal, run
from mcu_deploy.backends.ArmMve.workloads import assembly
from mcu_deploy.backends.interface import Constant, Layer, Proposal, SubgraphView
from mcu_deploy.backends.isa import Assembly, Kind
from mcu_deploy.backends.isa.mve import byte_lanes
from mcu_deploy.backends.kit import overlap
from mcu_deploy.backends.quantized.conversions import Conversion, by_reciprocal

OPERATORS = ("QuantizeLinear", "DequantizeLinear", "tflite::Quantize")

_LANES, _UNROLLED = 4, 8
_FAR = 0x4580_0000  # 4096, a float32: from there on every element is an end of the range
_FAR_BELOW = 0xC580_0000


def propose(view: SubgraphView, node: Layer) -> Sequence[Proposal] | str:
    """A conversion by itself."""
    found = by_reciprocal(node)
    if isinstance(found, str):
        return found
    elements = found.integer.elements
    name = "quantize" if found.quantizes else "dequantize"
    stem = f"{name}_{found.integer.dtype.value}{'_ties_away' * found.ties_away}_mve"
    made = proposal(
        view, node, stem, (quantizing if found.quantizes else dequantizing)(elements, found),
        [Constant("constants", constants_of(found))], name,
        in_place=overlap.in_place(node, np.arange(elements)), count=("elements", elements),
    )  # fmt: skip
    return [made]


def constants_of(found: Conversion) -> Array:
    """int32: the bits of the scale, then the zero point and the bits of the negated reciprocal, or
    to float32 the zero point's complement."""
    scale, zero = np.float32(found.how.scale[0]), found.how.zero_point[0]
    if not found.quantizes:
        return np.array([scale.view(np.int32), -zero], np.int32)
    return np.array([scale.view(np.int32), zero, (np.float32(-1) / scale).view(np.int32)], np.int32)


def quantizing(elements: int, found: Conversion) -> Assembly:
    """The kernel, of no count of elements: input, output, constants, elements.

    y[i] = sat(round(x[i] / scale) + zero_point), one division in float32; y may lie on x.
    """
    code = assembly()
    x, y, constants, count = code.arguments("x y constants elements")
    scale, zero, reciprocal = code.registers("scale zero_point reciprocal")
    far, far_below, zeros = code.registers("far far_below zero_points", kind=Kind.VECTOR)
    number = code.register("number", kind=Kind.VECTOR)
    quotients = code.registers("quotient0 quotient1 quotient2", kind=Kind.VECTOR)
    code.note("y[i] = sat(round(x[i] / scale) + zero_point); y may lie on x.")
    code.note("constants: scale, float32; zero_point; -1 / scale, float32.")
    code.ldmia(constants, [scale, zero, reciprocal])
    code.vdup_32(zeros, zero)
    code.number(zero, _FAR)
    code.vdup_32(far, zero)
    code.number(zero, _FAR_BELOW)
    code.vdup_32(far_below, zero)
    code.note("Quotients by the reciprocal, negated, corrected by their remainders.")
    nearest = code.vcvta_s32_f32 if found.ties_away else code.vcvtn_s32_f32
    narrow = byte_lanes.saturate(code, found.integer.dtype)

    def steps(n: int) -> Steps:
        q = quotients[n % 3]
        return (
            (0, lambda: code.vldrw_u32(number, x.after(4 * _LANES))),
            (3, lambda: code.vmul_f32(q, number, reciprocal)),
            (6, lambda: code.vmin_u32(q, q, far_below)),
            (7, lambda: code.vfma_f32(number, q, scale)),
            (9, lambda: code.vfma_f32(q, number, reciprocal)),
            (12, lambda: code.vmin_s32(q, q, far)),
            (13, lambda: nearest(q, q)),
            (15, lambda: code.vqsub_s32(q, zeros, q)),
            (19, lambda: code.vqmovnb_s32(q, q)),
            (21, lambda: narrow(q, q)),
            (27, lambda: code.vstrb_32(q, y.after(_LANES))),
        )

    run(code, count, elements, _LANES, _UNROLLED, 11, steps)
    return code


def dequantizing(elements: int, found: Conversion) -> Assembly:
    """The kernel, of no count of elements: input, output, constants, elements.

    y[i] = float32(x[i] - zero_point) * scale.
    """
    code = assembly()
    x, y, constants, count = code.arguments("x y constants elements")
    scale, zero = code.registers("scale minus_zero_point")
    numbers = code.registers("number0 number1 number2", kind=Kind.VECTOR)
    code.note("y[i] = float32(x[i] - zero_point) * scale. constants: scale, float32; -zero_point.")
    code.ldmia(constants, [scale, zero])
    widen = byte_lanes.load(code, found.integer.dtype)

    def steps(n: int) -> Steps:
        number = numbers[n % 3]
        return (
            (0, lambda: widen(number, x.after(_LANES))),
            (3, lambda: code.vadd_i32(number, number, zero)),
            (4, lambda: code.vcvt_f32_s32(number, number)),
            (6, lambda: code.vmul_f32(number, number, scale)),
            (12, lambda: code.vstrw_32(number, y.after(4 * _LANES))),
        )

    run(code, count, elements, _LANES, _UNROLLED, 5, steps)
    return code
