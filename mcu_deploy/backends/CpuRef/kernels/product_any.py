"""Products of matrices that may all be computed when it runs, of floats and of integers: Gemm with
either matrix transposed, MatMul of types without a packed form, MatMulInteger.

Order of the sums: along the depth. Integers wrap around at the width of their type.
"""

from __future__ import annotations

import math

from mcu_deploy.backends.CpuRef.kernels import integers
from mcu_deploy.backends.CpuRef.kernels.base import Kernel, render
from mcu_deploy.backends.CpuRef.kernels.whole import whole
from mcu_deploy.backends.interface import YES, Layer, Support, Workload, no
from mcu_deploy.backends.kit.literals import float_literal
from mcu_deploy.backends.kit.loops import counter, plus, times
from mcu_deploy.backends.kit.requantization import clamp_lines
from mcu_deploy.backends.kit.strides import matrices
from mcu_deploy.ir import DType

_TYPES = (
    DType.FLOAT32, DType.FLOAT64, DType.INT32, DType.UINT32, DType.INT64, DType.UINT64,
)  # fmt: skip


def supports(layer: Layer) -> Support:
    """Whether a Gemm or MatMul of one element type is computed."""
    dtype = layer.output.type.dtype
    for operand in layer.inputs:
        if operand is not None and (operand.type.dtype is not dtype or dtype not in _TYPES):
            return no(
                f"it multiplies matrices of one type, float or of 32 or 64 bits, not {operand.type}"
            )
    if dtype.is_integer and any(layer.attributes.get(k, 1.0) != 1.0 for k in ("alpha", "beta")):
        return no("it does not scale integers by alpha or beta")
    return YES


def gemm(layer: Layer) -> Workload:
    """y[r][n] = clamp(alpha * sum_k a[r][k] * b[k][n] + beta * c[r][n])."""
    y, attributes = layer.output.type, layer.attributes
    rows, columns = y.shape
    turned = [bool(attributes.get(k, 0)) for k in ("transA", "transB")]
    depth = layer.input(0).type.shape[0 if turned[0] else 1]
    r, n, k = counter("r", rows), counter("n", columns), counter("k", depth)
    a = plus(times(k, rows), r) if turned[0] else plus(times(r, depth), k)
    b = plus(times(n, depth), k) if turned[1] else plus(times(k, columns), n)
    ending = ""
    alpha, beta = (float(attributes.get(name, 1.0)) for name in ("alpha", "beta"))
    if alpha != 1.0:
        ending += f" sum *= {float_literal(alpha)};"
    c = layer.optional(2)
    if c is not None:
        shape = (1, 1, *c.type.shape)[-2:]
        place = plus(times(r, shape[1]) if shape[0] > 1 else "", n if shape[1] > 1 else "")
        factor = f"{float_literal(beta)} * " if beta != 1.0 else ""
        ending += f" sum += {factor}{_wide(y.dtype, f'x2[{place}]')};"
    return _product(layer, (), r, n, k, f"x0[{a}]", f"x1[{b}]", ending.strip())


def matmul(layer: Layer) -> Workload:
    """y[i][r][n] = clamp(sum_k a[i][r][k] * b[i][k][n]), leading axes broadcast."""
    a, b = layer.input(0).type, layer.input(1).type
    rows = a.shape[-2] if a.rank > 1 else 1
    columns = b.shape[-1] if b.rank > 1 else 1
    depth = a.shape[-1]
    found = matrices(a, b)
    r, n, k = counter("r", rows), counter("n", columns), counter("k", depth)
    left = f"x0[{plus(found.index(0), times(r, depth), k)}]"
    right = f"x1[{plus(found.index(1), times(k, columns), n)}]"
    if layer.op == "MatMulInteger":
        left, right = (
            integers.without_zero(layer, index, element, plus(line))
            for index, element, line in ((0, left, r), (1, right, n))
        )
    return _product(layer, found.extents, r, n, k, left, right, "")


def _product(
    layer: Layer, extents: tuple[int, ...], r: str, n: str, k: str, left: str, right: str,
    ending: str,
) -> Workload:  # fmt: skip
    dtype = layer.output.type.dtype
    is_wrapped = dtype.is_integer and layer.op != "MatMulInteger"
    if is_wrapped:
        left, right = _wide(dtype, left), _wide(dtype, right)
    body = render(
        "product_any.c.j2", extents=extents, r=r, n=n, k=k, ending=ending,
        ctype=integers.unsigned(dtype) if is_wrapped else dtype.c_type,
        product=f"{left} * {right}",
        result=f"({dtype.c_type})sum" if is_wrapped else "sum",
        clamp=clamp_lines(layer, "sum") if dtype is DType.FLOAT32 else "",
    )  # fmt: skip
    return whole(layer, body)


def _wide(dtype: DType, element: str) -> str:
    """An integer without sign, so that sums and products wrap around."""
    return f"({integers.unsigned(dtype)}){element}" if dtype.is_integer else element


def _supports_integer(layer: Layer) -> Support:
    a, b = layer.input(0).type, layer.input(1).type
    lines = (a.shape[-2] if a.rank > 1 else 1, b.shape[-1] if b.rank > 1 else 1)
    wrong = "it has one zero point a matrix, or one a row or column"
    bytes_ = integers.check_zero_points(layer, lines, wrong)
    y = layer.output.type
    fits = y.dtype is DType.INT32 and a.rank > 0 and b.rank > 0
    fits = fits and math.prod(y.shape[-2:]) > 0
    return bytes_ and (YES if fits else no(f"it does not compute {y}"))


KERNELS = (Kernel("MatMulInteger", _supports_integer, matmul),)
