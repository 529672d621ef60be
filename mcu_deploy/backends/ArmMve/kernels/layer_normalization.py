"""LayerNormalization of bytes: sums of sixteen elements a vector, then four elements a vector.

A row's sum and that of its squares are exact, and so is its spread, `n * squares - sum * sum`, in
the 32 bits of a word whatever its terms are above these. What follows is floats, as the contract
has them (docs/arithmetic.md): one square root and one division a row.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.backends.ArmMve.elements import Steps, proposal, run
from mcu_deploy.backends.ArmMve.workloads import NATURAL, assembly
from mcu_deploy.backends.interface import Constant, InPlace, Layer, Proposal, SubgraphView
from mcu_deploy.backends.isa import Assembly, Kind
from mcu_deploy.backends.isa.mve import byte_lanes
from mcu_deploy.backends.quantized.layers import clamp_refusal, types_refusal
from mcu_deploy.ir import DType, TensorType
from mcu_deploy.operators.normalization import in_steps, normalized_axis

OPERATORS = ("LayerNormalization",)

_LANES, _UNROLLED, _PERIOD = 4, 4, 13
_MOST = 512  # elements of a row, whose spread is below 2**32 (at most 127.5 each from the mean)


def propose(view: SubgraphView, node: Layer) -> Sequence[Proposal] | str:
    """A layer by itself."""
    x, y = node.input(0).type, node.output.type
    if reason := types_refusal(x, y) or clamp_refusal(node):
        return reason
    size = math.prod(x.shape[normalized_axis(node.call) :])
    if not 1 <= size <= _MOST or not x.elements:
        return f"it normalizes 1 to {_MOST} elements together, not {size}"
    if in_steps(node.call).epsilon <= 0:
        return "without an epsilon it divides by 0"
    rows = x.elements // size
    stem = f"layer_normalization_{size}_mve"
    made = proposal(
        view, node, stem, assemble(size, rows, x, y), [Constant("constants", pack(node, size))],
        "layer_normalization", in_place=[InPlace(0, 0, 0)], layouts=NATURAL, count=("rows", rows),
    )  # fmt: skip
    return [made]


def pack(node: Layer, size: int) -> Array:
    """uint32: epsilon, a float32; the output's zero point; of each four elements of a row the
    gains, then the biases, float32, in steps of the output."""
    steps = in_steps(node.call)
    both = np.zeros((2, -(-size // _LANES) * _LANES), np.float32)
    both[0, :size], both[1, :size] = steps.gain.reshape(-1), steps.bias.reshape(-1)
    of_four = both.reshape(2, -1, _LANES).transpose(1, 0, 2).reshape(-1)
    zero = np.array([node.output.type.scaling.zero_point[0]], np.int32)
    parts = np.array([steps.epsilon], np.float32), zero, of_four
    return np.concatenate([part.view(np.uint32) for part in parts])


def assemble(size: int, rows: int, x_type: TensorType, y_type: TensorType) -> Assembly:
    """The kernel: input, output, constants, rows."""
    code = assembly()
    x, y, constants, left = code.arguments("x y constants rows")
    code.note("y[r][i] = sat(round(normal * gain[i] + bias[i]) + zero), with normal =")
    code.note(f"({size} * x[r][i] - sum) / sqrt({size} * squares - sum * sum + epsilon), of the")
    code.note("sums of a row; of float32 each operation is rounded. y may lie on x.")
    code.note("constants: epsilon; zero; of each four elements gain[4], bias[4].")
    at, total, squares, number = code.registers("x_at sum squares size")
    zero, inverse, gains = code.registers("zero_point inverse gains")
    kept, epsilon, spread, one = code.registers(
        "rows_left epsilon spread one", kind=Kind.SINGLE
    )  # fmt: skip
    sizes, bytes_, gain = code.registers("sizes bytes gain", kind=Kind.VECTOR)
    normals = code.registers("normal0 normal1 normal2", kind=Kind.VECTOR)
    is_signed = x_type.dtype is DType.INT8
    code.number(number, size)
    code.vdup_32(sizes, number)
    code.ldr(number, constants.after(4))
    code.vmov(epsilon, number)
    code.ldr(zero, constants.after(4))
    widen, narrow = byte_lanes.load(code, x_type.dtype), byte_lanes.saturate(code, y_type.dtype)
    over = -size % _LANES

    def steps(n: int) -> Steps:
        v = normals[n % 3]
        return (
            (0, lambda: widen(v, x.after(_LANES))),
            (3, lambda: code.vmlas_s32(v, sizes, total)),
            (6, lambda: code.vcvt_f32_s32(v, v)),
            (8, lambda: code.vldrw_u32(gain, gains.after(4 * _LANES))),
            (9, lambda: code.vmul_f32(v, v, inverse)),
            (12, lambda: code.vmul_f32(v, v, gain)),
            (13, lambda: code.vldrw_u32(gain, gains.after(4 * _LANES))),
            (15, lambda: code.vadd_f32(v, v, gain)),
            (18, lambda: code.vcvtn_s32_f32(v, v)),
            (20, lambda: code.vqadd_s32(v, v, zero)),
            (22, lambda: code.vqmovnb_s32(v, v)),
            (24, lambda: narrow(v, v)),
            (27, lambda: code.vstrb_32(v, y.after(_LANES))),
        )

    with code.repeat(rows):
        code.vmov(kept, left)
        code.mov(at, x)
        code.mov(total, 0)
        code.mov(squares, 0)
        with code.counted(-(-size // 16), size, 8):
            code.vldrb_u8(bytes_, at.after(16))
            (code.vaddva_s8 if is_signed else code.vaddva_u8)(total, bytes_)
            (code.vmladava_s8 if is_signed else code.vmladava_u8)(squares, bytes_, bytes_)
        code.number(number, size)
        code.mul(squares, squares, number)
        code.mls(squares, total, total, squares)
        code.vmov(spread, squares)
        code.vcvt_f32_u32(spread, spread)
        code.vadd_f32(spread, spread, epsilon)
        code.vsqrt_f32(spread, spread)
        code.number(inverse, int(np.float32(1).view(np.uint32)))
        code.vmov(one, inverse)
        code.vdiv_f32(spread, one, spread)
        code.vmov(inverse, spread)
        code.rsb(total, total, 0)
        code.mov(gains, constants)
        run(code, number, size, _LANES, _UNROLLED, _PERIOD, steps)
        if over:
            code.sub(x, x, over)
            code.sub(y, y, over)
        code.vmov(left, kept)
        code.subs(left, left, 1)
    return code
