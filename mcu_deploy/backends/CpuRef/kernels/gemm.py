"""Gemm and MatMul: rows times a constant matrix packed column by column, or two computed matrices.

Order of the float32 sums: along the depth, then the bias. Weights of 4 bits with a scale for each
block of a column lie two in a byte, the first in its low half, each plus 8, or plus what makes the
least of its block 0 where one is not from -8 to 7; the last block may have fewer. Of these the
products of a block are summed along the depth and multiplied by its scale, then the blocks, then
the bias.
"""

from __future__ import annotations

import math

import numpy as np

from mcu_deploy.arithmetic import Array, multiplier
from mcu_deploy.backends.CpuRef.kernels import product_any, sums
from mcu_deploy.backends.CpuRef.kernels.base import (
    QUANTIZED,
    Kernel,
    check_types,
    check_weights,
    compute,
    either,
    element_kind,
    real_weight,
    render,
    weight_scaling,
)
from mcu_deploy.backends.interface import (
    YES,
    CFunction,
    Constant,
    Layer,
    Operand,
    Support,
    Workload,
    no,
)
from mcu_deploy.backends.kit import overlap
from mcu_deploy.backends.kit.c_functions import QUANTIZE
from mcu_deploy.backends.kit.literals import float_literal
from mcu_deploy.backends.kit.loops import counter, plus, times
from mcu_deploy.backends.kit.requantization import (
    Requantization,
    clamp_lines,
    output_quantization,
    requantization,
    sums_are_wide,
)
from mcu_deploy.backends.kit.stems import stem
from mcu_deploy.backends.kit.strides import matrices
from mcu_deploy.backends.kit.zero_points import without_zero
from mcu_deploy.ir import DType
from mcu_deploy.operators.weight_only import BLOCK, SCALES

# A half of a byte is a weight of 4 bits plus this.
_OFFSET = 8


def supports(layer: Layer) -> Support:
    """Whether the kernel computes this Gemm or FullyConnected."""
    return fits(layer) and _supports_types(layer)


def fits(layer: Layer) -> Support:
    """Whether the kernel computes a Gemm of these constants, of whatever types."""
    bias = layer.optional(2)
    if layer.input(1).constant is None:
        return no("its second matrix is computed at run time; it packs constant ones")
    if bias is not None and bias.constant is None:
        return no("its bias is computed at run time")
    if layer.attributes.get("transA", 0):
        return no("it does not transpose the first matrix")
    return YES


def _supports_types(layer: Layer) -> Support:
    if BLOCK in layer.attributes:
        return _supports_blocks(layer)
    quantization = layer.input(1).type.quantization
    if quantization is not None and len(set(quantization.zero_point)) > 1:
        return no("its second matrix has different zero points per column")
    if layer.domain == "mcu":
        return check_weights(layer, layer.input(1))
    # Products of two of 16 bits have no room in their sum.
    operands = layer.input(0), layer.input(1)
    if all(operand.type.dtype is DType.INT16 for operand in operands):
        return no("it multiplies no int16 by int16")
    return check_types(layer, *operands, layer.output, known=QUANTIZED)


def _supports_blocks(layer: Layer) -> Support:
    for operand in (layer.input(0), layer.output):
        if operand.type.dtype is not DType.FLOAT32:
            return no(f"it computes float32 with 4-bit weights, not {operand.type}")
    if layer.input(SCALES).constant is None:
        return no("its weights have scales that are computed at run time")
    return YES


def _packs(layer: Layer) -> bool:
    """Whether a MatMul is a product with one constant matrix, which Gemm's kernel packs."""
    a, b = layer.input(0), layer.input(1)
    return a.constant is None and b.constant is not None and b.type.rank == 2 and a.type.rank > 1


def _supports_matmul(layer: Layer) -> Support:
    a, b = layer.input(0), layer.input(1)
    if not _packs(layer):
        for operand in (a, b):
            quantization = operand.type.quantization
            if quantization is not None and not quantization.per_tensor:
                return no("a matrix is quantized per axis")
        if not a.type.rank or not b.type.rank:
            return no("it multiplies matrices and vectors, not numbers")
    return _supports_types(layer)


def create(layer: Layer) -> Workload:
    """y[r][n] = clamp(alpha * sum_k x[r][k] * w[n][k] + beta * bias[n])."""
    if BLOCK in layer.attributes:
        return _of_blocks(layer)
    w, y = layer.input(1), layer.output
    is_matmul, weight_only = layer.op == "MatMul", layer.domain == "mcu"
    matrix = _by_column(layer, w)
    columns, depth = matrix.shape
    rows = math.prod(y.type.shape[:-1])
    r, n, k = counter("r", rows), counter("n", columns), counter("k", depth)
    x_element, w_element = f"x[{plus(k)}]", f"row[{plus(k)}]"
    weights = Constant("weights", np.ascontiguousarray(matrix))
    scales: tuple[Constant, ...] = ()
    values: dict[str, object] = {
        "r": r, "n": n, "k": k, "depth": depth,
        "w_ctype": w.type.dtype.c_type, "quantized": y.type.is_quantized,
        "start": f"bias[{plus(n)}]" if y.type.is_quantized else "0.0F", "bias_step": plus(n),
    }  # fmt: skip
    if y.type.is_quantized:
        bias, integers = None if is_matmul else layer.optional(2), np.zeros(columns, np.int64)
        if bias is not None and bias.constant is not None:
            integers = integers + bias.constant
        made = sums.of_integers(layer, x_element, w_element, plus(n), integers, matrix)
    else:
        offsets = _real_offsets(layer)
        values["bias_step"] = plus(n) if offsets.ndim == 1 else plus(times(r, columns), n)
        weight = real_weight(w, w_element) if weight_only else w_element
        made = sums.of_floats(layer, x_element, weight, offsets)
        alpha = 1.0 if is_matmul else float(layer.attributes.get("alpha", 1.0))
        scaling, scales = weight_scaling(w, plus(n)) if weight_only else ("", ())
        if alpha != 1.0:
            scaling += f" sum *= {float_literal(alpha)};"
        values["scaling"] = scaling.strip()
    # A row is read again for each of its columns.
    lowest = overlap.strided((rows, columns), (depth, 0))
    return compute(
        layer, stem("dense", "weights8" if weight_only else _kind(layer), depth, columns),
        render("gemm.c.j2", **values, **made.values), (weights, *made.constants, *scales),
        made.helpers, in_place=overlap.in_place(layer, lowest),
    )  # fmt: skip


def _of_blocks(layer: Layer) -> Workload:
    """y[r][n] = clamp(alpha * sum_b scale[n][b] * sum_k x[r][b][k] * w[n][b][k] + bias[r][n])."""
    weights, scales = (_by_column(layer, layer.input(k)) for k in (1, SCALES))
    (columns, depth), block = weights.shape, int(layer.attributes[BLOCK])
    rows = math.prod(layer.output.type.shape[:-1])
    r, n = counter("r", rows), counter("n", columns)
    whole, rest = divmod(depth, block)
    b = counter("b", whole + (rest > 0))
    pairs = rest // 2 if not whole else block // 2
    k = counter("k", f"(b < {whole} ? {pairs} : {rest // 2})" if whole and rest else pairs)
    zeros, offsets = _zero_points(weights, block), _real_offsets(layer)
    alpha = float(layer.attributes.get("alpha", 1.0))
    body = render(
        "gemm_blocks.c.j2", r=r, n=n, b=b, k=k, depth=depth, block=block,
        zero=_OFFSET if zeros is None else "zero",
        bias_step=plus(n) if offsets.ndim == 1 else plus(times(r, columns), n),
        alpha="" if alpha == 1.0 else float_literal(alpha), clamp=clamp_lines(layer, "sum"),
    )  # fmt: skip
    spread = np.int8(_OFFSET) if zeros is None else np.repeat(zeros, block, 1)[:, :depth]
    halves = (weights + spread).astype(np.uint8).reshape(-1, 2)
    constants = (
        Constant("weights", halves[:, 0] | halves[:, 1] << 4),
        *(() if zeros is None else (Constant("zeros", zeros),)),
        Constant("scale", np.ascontiguousarray(scales.astype(np.float32))),
        Constant("bias", offsets),
    )
    # A row is read again for each of its columns.
    lowest = overlap.strided((rows, columns), (depth, 0))
    return compute(
        layer, stem("dense", "weights4", depth, columns), body, constants,
        in_place=overlap.in_place(layer, lowest),
    )  # fmt: skip


def _zero_points(weights: Array, block: int) -> Array | None:
    """int8 [columns, blocks]: what is added to each weight of a block, [columns, depth]; None where
    that is 8."""
    if weights.min(initial=0) >= -_OFFSET and weights.max(initial=0) < _OFFSET:
        return None
    begins = np.arange(0, weights.shape[1], block)
    return np.asarray(-np.minimum.reduceat(weights, begins, axis=1), np.int8)


def _by_column(layer: Layer, operand: Operand) -> Array:
    """A constant of the second matrix's axes: [columns, depth]."""
    transposed = layer.op == "FullyConnected" or layer.attributes.get("transB", 0)
    return operand.value if transposed else operand.value.T


def _real_offsets(layer: Layer) -> Array:
    """What is added to each sum: [columns], or [rows, columns] where the rows differ."""
    bias, shape = layer.optional(2), layer.output.type.shape
    if bias is None or bias.constant is None:
        return np.zeros(shape[-1], np.float32)
    beta = np.float32(layer.attributes.get("beta", 1.0))
    whole = np.broadcast_to(bias.constant * beta, shape).reshape(-1, shape[-1])
    whole = whole.astype(np.float32)
    return whole[0] if np.all(whole == whole[:1]) else whole


def _kind(layer: Layer) -> str:
    return layer.output.type.dtype.value if layer.op == "MatMul" else element_kind(layer)


def matmul(layer: Layer) -> Workload:
    """y[i][r][n] = clamp(sum_k a[i][r][k] * b[i][k][n]), leading axes broadcast."""
    if _packs(layer):
        return create(layer)
    a, b, y = layer.input(0), layer.input(1), layer.output
    rows = a.type.shape[-2] if a.type.rank > 1 else 1
    columns = b.type.shape[-1] if b.type.rank > 1 else 1
    depth = a.type.shape[-1]
    loops = matrices(a.type, b.type)
    r, n, k = counter("r", rows), counter("n", columns), counter("k", depth)
    a_element = f"a[{plus(loops.index(0), times(r, depth), k)}]"
    b_element = f"b[{plus(loops.index(1), times(k, columns), n)}]"
    values: dict[str, object] = {
        "extents": loops.extents, "r": r, "n": n, "k": k, "quantized": y.type.is_quantized,
    }  # fmt: skip
    ending: Requantization | None = None
    helpers: tuple[CFunction, ...] = (QUANTIZE,) if y.type.is_quantized else ()
    if y.type.is_quantized:
        aq, bq, yq = a.type.scaling, b.type.scaling, y.type.scaling
        values |= {
            "acc": "int64_t" if sums_are_wide(layer) else "int32_t",
            "product": f"{without_zero(a_element, aq.zero_point[0])}"
            f" * {without_zero(b_element, bq.zero_point[0])}",
        }
        if layer.domain == "tflite":
            ending = requantization(layer, "0")
            helpers = ending.helpers
        else:
            values["factor"] = float_literal(float(multiplier(aq, bq, yq)[0]))
            values["store"] = output_quantization(layer).store
    else:
        clamp = clamp_lines(layer, "sum")
        values |= {"acc": "float", "product": f"{a_element} * {b_element}", "clamp": clamp}
    extents = (*loops.extents, rows, columns)
    in_place = overlap.in_place(
        layer,
        overlap.strided(extents, (*loops.steps[0], depth, 0)),
        overlap.strided(extents, (*loops.steps[1], 0, 1)),
    )
    return compute(
        layer, stem("matmul", y.type.dtype.value, rows, depth, columns),
        render("matmul.c.j2", **values, requantization=ending),
        () if ending is None else ending.constants, helpers, in_place=in_place,
        operands={"a": 0, "b": 1},
    )  # fmt: skip


KERNELS = (
    either(
        Kernel("Gemm", supports, create),
        Kernel("Gemm", product_any.supports, product_any.gemm),
    ),
    either(
        Kernel("MatMul", _supports_matmul, matmul),
        Kernel("MatMul", product_any.supports, product_any.matmul),
    ),
    *(Kernel(op, supports, create, domain="mcu") for op in ("Gemm", "MatMul")),
)
