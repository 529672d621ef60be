"""Products of int8 matrices that are both computed: a row of the first times four columns of the
second, sixteen taps a vector.

Four columns lie as words in the scratch at first, one of each tap. Storing four vectors of these as
the columns of a matrix (VST4) turns the number of a byte by two bits, so that doing so twice leaves
sixteen taps of each column side by side. What the zero points take from a sum is a number a column,
found when its taps are there, and a number a row, which the loop over taps adds up meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from mcu_deploy.arithmetic import Array, multiplier
from mcu_deploy.backends.ArmMve.workloads import assembly, proposal
from mcu_deploy.backends.interface import Constant, Layer, Proposal, SubgraphView
from mcu_deploy.backends.isa import Assembly, Kind, Register
from mcu_deploy.backends.isa.kept import counted, each
from mcu_deploy.backends.isa.mve import byte_lanes
from mcu_deploy.backends.quantized.layers import clamp_refusal, types_refusal
from mcu_deploy.backends.quantized.matrices import MatrixProduct, in_place
from mcu_deploy.backends.quantized.vector_product import TILE, VECTOR
from mcu_deploy.ir import DType

OPERATORS = ("MatMul",)

_BLOCK = TILE * VECTOR  # bytes of a panel: sixteen taps of four columns
_LARGEST_STEP = 255  # that a load moves its pointer by


def propose(view: SubgraphView, node: Layer) -> Sequence[Proposal] | str:
    """A product by itself; one with a constant matrix is a fully connected layer."""
    b = node.input(1)
    if b.constant is not None and b.type.rank == 2:
        return ""
    if reason := refusal(node):
        return reason
    product = MatrixProduct(node.input(0).type, b.type, node.output.type)
    made = proposal(
        view.part([node.node.id]), node.target,
        f"matmul_{product.rows}x{product.depth}x{product.columns}_mve", assemble(product),
        [Constant("constants", pack(product))], "matmul, vectors", macs=node.macs,
        scratch_bytes=_blocks(product) * _BLOCK, in_place=in_place(node, product),
        operands={"a": 0, "b": 1},
    )  # fmt: skip
    return [made]


def refusal(layer: Layer) -> str:
    """Why the kernel does not compute a product, a clause; empty where it does."""
    types = [layer.input(0).type, layer.input(1).type, layer.output.type]
    if reason := types_refusal(*types):
        return reason
    if not all(t.scaling.per_tensor for t in types):
        return "a matrix is quantized per axis"
    if any(t.dtype is not DType.INT8 for t in types[:2]):
        return "it multiplies matrices of int8"
    product = MatrixProduct(*types)
    if not product.y.elements or not product.depth or product.columns < TILE:
        return "it multiplies with matrices of four columns and more"
    if not np.isfinite(multiplier(*(t.scaling for t in types))).all():
        return "its factor is no number"
    return clamp_refusal(layer)


def _blocks(product: MatrixProduct) -> int:
    return -(-product.depth // VECTOR)


def pack(product: MatrixProduct) -> Array:
    """uint32: the factor, a float32; the zero point of y; -a_zero; both zero points times the
    depth; -b_zero."""
    a, b, y = product.zero_points
    factor = multiplier(product.a.scaling, product.b.scaling, product.y.scaling)
    bits = int(factor.astype(np.float32).view(np.uint32)[0])
    return (np.array([bits, y, -a, product.depth * a * b, -b]) & 0xFFFFFFFF).astype(np.uint32)


class _Registers:
    """Of the whole kernel. In the FPU's: a, b and y of a matrix; the constants and the panel; b and
    y of four columns; how many times these, and matrices, are left."""

    def __init__(self, code: Assembly, product: MatrixProduct) -> None:
        self.matrices = code.registers("all_a all_b all_y", kind=Kind.SINGLE)
        self.constants, self.scratch, self.b, self.y, self.columns_left = code.registers(
            "constants_at panel_begin columns_b columns_y columns_left", kind=Kind.SINGLE
        )
        names = " ".join(f"matrices_left{n}" for n in range(len(product.loops.extents)))
        self.left = code.registers(names, kind=Kind.SINGLE)
        self.panel = code.register("panel", region="panel")
        self.starts, self.taps, self.column = code.registers(
            "starts taps column", kind=Kind.VECTOR
        )  # fmt: skip
        self.sums = code.registers("sum0 sum1 sum2 sum3")


def assemble(product: MatrixProduct) -> Assembly:
    """The kernel: a, b, y, the constants, the scratch.

    y[r][c] = sat(round(float(sum over t of (a[r][t] - a_zero) * (b[t][c] - b_zero)) * factor)
    + zero_point) of each matrix, which is written while all of its a and b is read.
    """
    code = assembly()
    r = _Registers(code, product)
    a, b, y, constants, scratch = code.arguments("a b y constants scratch")
    code.note("y[r][c] = sat(round(float(sum) * factor) + y_zero), with sum = sum of")
    code.note("(a[r][t] - a_zero) * (b[t][c] - b_zero), both floats rounded to nearest.")
    code.note(
        f"constants: factor, y_zero, -a_zero, {product.depth} * a_zero * b_zero, -b_zero. scratch: "
        "sixteen taps of each of four columns, then the next."
    )
    for kept, argument in zip(r.matrices, (a, b, y), strict=True):
        code.vmov(kept, argument)
    code.vmov(r.constants, constants)
    code.vmov(r.scratch, scratch)
    each(code, product.loops, r.left, r.matrices, lambda: _matrix(code, r, product))
    return code


def _matrix(code: Assembly, r: _Registers, product: MatrixProduct) -> None:
    """One product: its columns, four at a time; the last four are those before the end."""
    next_b, next_y = code.registers("next_b next_y")
    rest = product.columns % TILE

    def repeat_columns() -> None:
        code.itt("eq")
        code.subeq(next_b, next_b, TILE - rest)
        code.subeq(next_y, next_y, TILE - rest)

    code.vmov(next_b, r.matrices[1])
    code.vmov(next_y, r.matrices[2])
    tiles = -(-product.columns // TILE)
    with counted(code, r.columns_left, tiles, repeat_columns if rest else None):
        code.vmov(r.b, next_b)
        code.vmov(r.y, next_y)
        _gather(code, r, product)
        _start(code, r, product)
        _rows(code, r, product)
        code.vmov(next_b, r.b)
        code.vmov(next_y, r.y)
        code.add(next_b, next_b, TILE)
        code.add(next_y, next_y, TILE)


def _gather(code: Assembly, r: _Registers, product: MatrixProduct) -> None:
    """Four columns to the panel."""
    source, word, far = code.registers("b_at word far")
    code.note("Four columns of b: a word a tap, then sixteen taps of each side by side.")
    code.vmov(source, r.b)
    code.vmov(r.panel, r.scratch)
    with code.counted(product.depth, product.depth):
        if product.columns <= _LARGEST_STEP:
            code.ldr(word, source.after(product.columns))
        else:
            code.ldr(word, source[0])
            code.offset(source, product.columns, far)
        code.str(word, r.panel.after(4))
    blocks, quad = _blocks(product), code.registers(
        "q0 q1 q2 q3", "q0", "q1", "q2", "q3", kind=Kind.VECTOR
    )  # fmt: skip
    code.vmov(r.panel, r.scratch)
    with code.counted(blocks, blocks):
        for _ in range(2):
            for n, vector in enumerate(quad):
                code.vldrw_u32(vector, r.panel[VECTOR * n])
            for n in range(TILE):
                getattr(code, f"vst4{n}_8")(quad, r.panel[0])
        code.add(r.panel, r.panel, _BLOCK)


def _start(code: Assembly, r: _Registers, product: MatrixProduct) -> None:
    """What the zero points take from the sums of each column."""
    constants, a_zero, both = code.registers("constants a_zero both")
    code.vmov(constants, r.constants)
    code.ldrd(a_zero, both, constants[8])
    if not product.zero_points[0]:
        code.vdup_32(r.starts, both)
        return
    _each_vector(code, r, product, lambda n: code.vaddva_s8(r.sums[n], r.column))
    for sum_ in r.sums:
        code.mla(sum_, sum_, a_zero, both)
    _to_lanes(code, r.starts, r.sums)


def _each_vector(
    code: Assembly, r: _Registers, product: MatrixProduct, take: Callable[[int], None],
    before: Callable[[], None] | None = None,
) -> None:  # fmt: skip
    """A loop over the panel, which takes sixteen taps of each column. Sums begin with 0."""
    code.vmov(r.panel, r.scratch)
    for sum_ in r.sums:
        code.mov(sum_, 0)
    with code.counted(_blocks(product), product.depth, 8):
        if before is not None:
            before()
        for n in range(TILE):
            code.vldrb_u8(r.column, r.panel.after(VECTOR))
            take(n)


def _to_lanes(code: Assembly, vector: Register, sums: Sequence[Register]) -> None:
    for n in (0, 1):
        code.vmov(vector.lane(2 + n), vector.lane(n), sums[n], sums[2 + n])


def _rows(code: Assembly, r: _Registers, product: MatrixProduct) -> None:
    """All rows of a times the four columns."""
    row, at, out, left, constants = code.registers("row a_at y_at rows_left constants")
    of_row, b_zero, far = code.registers("sum_of_row minus_b_zero far")
    words, factor, zero = code.registers("words factor y_zero", kind=Kind.VECTOR)
    has_zero = product.zero_points[1] != 0
    code.note("All rows of a with them.")
    code.vmov(constants, r.constants)
    code.ldrd(at, left, constants[0])
    code.vdup_32(factor, at)
    code.vdup_32(zero, left)
    if has_zero:
        code.ldr(b_zero, constants[16])
    code.vmov(row, r.matrices[0])
    code.vmov(out, r.y)
    code.number(left, product.rows)

    def load() -> None:
        code.vldrb_u8(r.taps, at.after(VECTOR))
        if has_zero:
            code.vaddva_s8(of_row, r.taps)

    with code.repeat(product.rows):
        code.mov(at, row)
        if has_zero:
            code.mov(of_row, 0)
        _each_vector(
            code, r, product, lambda n: code.vmladava_s8(r.sums[n], r.taps, r.column), load
        )  # fmt: skip
        _to_lanes(code, words, r.sums)
        code.vadd_i32(words, words, r.starts)
        if has_zero:
            code.mul(of_row, of_row, b_zero)
            code.vadd_i32(words, words, of_row)
        code.vcvt_f32_s32(words, words)
        code.vmul_f32(words, words, factor)
        code.vcvtn_s32_f32(words, words)
        code.vqadd_s32(words, words, zero)
        code.vqmovnb_s32(words, words)
        byte_lanes.saturate(code, product.y.dtype)(words, words)
        code.vstrb_32(words, out[0])
        code.offset(row, product.depth, far)
        code.offset(out, product.columns, far)
        code.subs(left, left, 1)
