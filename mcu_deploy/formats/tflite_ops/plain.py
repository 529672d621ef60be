"""What ONNX has an operator for that means the same: MINIMUM, MAXIMUM, truth values, SELECT, CAST,
TILE, ARG_MAX, BATCH_MATMUL, CUMSUM, L2_NORMALIZATION and their kin.

Of quantized tensors only where integers of one scale are moved as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import tflite

from mcu_deploy.formats.tflite_graph import GraphBuilder
from mcu_deploy.formats.tflite_operation import Operation, TfliteTensor
from mcu_deploy.formats.tflite_ops import DOMAIN
from mcu_deploy.formats.tflite_ops.activations import (
    is_float,
    of_reals,
    require_float,
    table_or_float,
)
from mcu_deploy.ir import DType, TensorType


def _alike(op: str, data: Sequence[int]) -> Any:
    """An operator that moves elements of one type. data: the inputs that have it, as the output."""

    def convert(operation: Operation, graph: GraphBuilder) -> None:
        y = operation.output
        operation.require_alike(*(operation.input(k) for k in data), y)
        graph.add(operation, op, [graph.read(tensor) for tensor in operation.given], y)

    return convert


def _after(first: str, second: str) -> Any:
    """Two functions of float32 tensors, the second of the first's result (twice for Mul)."""

    def convert(operation: Operation, graph: GraphBuilder) -> None:
        tensors, y = operation.given, operation.output
        require_float(operation, *tensors, y)
        inner = graph.edge(f"{y.name} {first.lower()}", y.type)
        graph.add(operation, first, [graph.read(t) for t in tensors], inner)
        graph.add(operation, second, [inner] * (2 if second == "Mul" else 1), y)

    return convert


def _select(operation: Operation, graph: GraphBuilder) -> None:
    """The older SELECT: a condition of one axis chooses whole slices, along the first one."""
    (condition, x, other), y = operation.given, operation.output
    operation.require_alike(x, other, y)
    shape = (*condition.type.shape, *(1,) * (y.type.rank - 1))
    chosen = graph.read(condition)
    if condition.type.rank == 1:
        chosen = graph.reshaped(operation, chosen, shape)
    graph.add(operation, "Where", [chosen, graph.read(x), graph.read(other)], y)


def _rsqrt(operation: Operation, graph: GraphBuilder) -> None:
    """Of int8 a table."""
    x, y = operation.input(0), operation.output
    if {x.type.dtype, y.type.dtype} == {DType.INT8} and not is_float(operation, x, y):
        graph.add_function(operation, "Rsqrt", {}, DOMAIN)
    else:
        _after("Sqrt", "Reciprocal")(operation, graph)


def _prelu(operation: Operation, graph: GraphBuilder) -> None:
    """Of integers the slopes have 8 bits, with their scale: of uint8 they are uint8."""
    x, slope, y = operation.input(0), operation.input(1), operation.output
    order = graph.common_order(x, slope)
    inputs = [graph.read(x, order), graph.read(slope, order)]
    quantized = not is_float(operation, x, slope, y, wide=True)
    slopes = DType.UINT8 if x.type.dtype is DType.UINT8 else DType.INT8
    if quantized and (x.type.dtype is not y.type.dtype or slope.type.dtype is not slopes):
        raise operation.unsupported(
            f"makes {y.type} of {x.type} with slopes of {slope.type}",
            "It is computed on float32, int8 and int16 with slopes of int8, and uint8 with such.",
        )
    if quantized and not slope.type.scaling.per_tensor:
        raise operation.damaged("its slopes have a scale per axis")
    graph.add(operation, "PRelu", inputs, y, domain=DOMAIN if quantized else "", order=order)


def _squared_difference(operation: Operation, graph: GraphBuilder) -> None:
    """Of int8 as LiteRT computes it: a Sub whose result is squared before it is rounded."""
    a, b, y = operation.input(0), operation.input(1), operation.output
    if {t.type.dtype for t in (a, b, y)} == {DType.INT8} and not is_float(operation, a, b, y):
        order = graph.common_order(a, b)
        inputs = [graph.read(a, order), graph.read(b, order)]
        graph.add(operation, "SquaredDifference", inputs, y, {}, DOMAIN, order)
    else:
        _after("Sub", "Mul")(operation, graph)


def _square(operation: Operation, graph: GraphBuilder) -> None:
    x, y = operation.input(0), operation.output
    require_float(operation, x, y)
    graph.add(operation, "Mul", [graph.read(x)] * 2, y)


def _cast(operation: Operation, graph: GraphBuilder) -> None:
    x, y = operation.input(0), operation.output
    if x.type.is_quantized or y.type.is_quantized:
        raise operation.unsupported(
            "casts quantized integers", "Convert the model with QUANTIZE or DEQUANTIZE instead."
        )
    graph.add(operation, "Cast", [graph.read(x)], y)


def _tile(operation: Operation, graph: GraphBuilder) -> None:
    operation.require_alike(operation.input(0), operation.output)
    counts = graph.integers(f"{operation.name} counts", operation.constant(1))
    graph.add(operation, "Tile", [graph.read(operation.input(0)), counts], operation.output)


def _arg(op: str) -> Any:
    def convert(operation: Operation, graph: GraphBuilder) -> None:
        x, y = operation.input(0), operation.output
        axis = operation.axis(x, operation.number(1))
        found = graph.edge(f"{y.name} place", TensorType(DType.INT64, y.type.shape))
        graph.add(operation, op, [graph.read(x)], found, {"axis": axis, "keepdims": 0})
        graph.add(operation, "Cast", [found], y)

    return convert


def _batch_matmul(operation: Operation, graph: GraphBuilder) -> None:
    options = operation.options(tflite.BatchMatMulOptions)
    x, w = operation.input(0), operation.input(1)
    domain = "" if is_float(operation, x, w, operation.output, wide=True) else DOMAIN
    edges = []
    for tensor, turned in ((x, options.AdjX()), (w, options.AdjY())):
        order = (*range(tensor.type.rank - 2), tensor.type.rank - 1, tensor.type.rank - 2)
        edges.append(graph.read(tensor, order if turned else None))
    graph.add(operation, "MatMul", edges, operation.output, {}, domain)


def _l2_normalization(operation: Operation, graph: GraphBuilder) -> None:
    """Along the last axis; LiteRT divides by no less than 1e-6."""
    x, y = operation.input(0), operation.output
    require_float(operation, x, y)
    edge, shape = graph.read(x), (*x.type.shape[:-1], 1)
    norm, bounded = (
        graph.edge(f"{y.name} {word}", TensorType(DType.FLOAT32, shape))
        for word in ("norm", "bounded norm")
    )
    least = graph.constant(f"{operation.name} least", np.array(1e-6, np.float32))
    graph.add(operation, "ReduceL2", [edge], norm, {"axes": (x.type.rank - 1,), "keepdims": 1})
    graph.add(operation, "Max", [norm, least], bounded)
    graph.add(operation, "Div", [edge, bounded], y)


def _floor_div(operation: Operation, graph: GraphBuilder) -> None:
    """Of integers the quotient of C, and one less where the remainder is not that of C."""
    a, b, y = operation.input(0), operation.input(1), operation.output
    if not _are_plain_integers(a, b, y):
        _after("Div", "Floor")(operation, graph)
        return
    inputs = [graph.read(a), graph.read(b)]
    quotient, rest, remainder, less = (
        graph.edge(f"{y.name} {name}", y.type) for name in ("quotient", "rest", "remainder", "less")
    )
    same, other = (
        graph.edge(f"{y.name} {name}", TensorType(DType.BOOL, y.type.shape))
        for name in ("same", "other")
    )
    graph.add(operation, "Div", inputs, quotient)
    graph.add(operation, "Mod", inputs, rest)
    graph.add(operation, "Mod", inputs, remainder, {"fmod": 1})
    graph.add(operation, "Equal", [rest, remainder], same)
    graph.add(operation, "Not", [same], other)
    graph.add(operation, "Cast", [other], less)
    graph.add(operation, "Sub", [quotient, less], y)


def _are_plain_integers(*tensors: TfliteTensor) -> bool:
    kinds = {(tensor.type.dtype, tensor.type.is_quantized) for tensor in tensors}
    return kinds in ({(DType.INT32, False)}, {(DType.INT64, False)})


def _floor_mod(operation: Operation, graph: GraphBuilder) -> None:
    """The remainder of the sign of the divisor: that of C, and the divisor added where it is not 0
    and has the other sign."""
    a, b, y = operation.input(0), operation.input(1), operation.output
    if _are_plain_integers(a, b, y):
        graph.add(operation, "Mod", [graph.read(a), graph.read(b)], y)
        return
    require_float(operation, a, b, y)
    divisor, zero = graph.read(b), graph.constant(f"{y.name} zero", np.array(0, np.float32))
    names = ("rest", "sum", "product", "other")
    rest, total, product, other = (
        graph.edge(f"{y.name} {name}", TensorType(t, y.type.shape))
        for name, t in zip(names, (DType.FLOAT32,) * 3 + (DType.BOOL,), strict=True)
    )
    graph.add(operation, "Mod", [graph.read(a), divisor], rest, {"fmod": 1})
    graph.add(operation, "Add", [rest, divisor], total)
    # Of a remainder of 0 it is no less than 0 either.
    sign = graph.edge(f"{y.name} sign", b.type)
    graph.add(operation, "Sign", [divisor], sign)
    graph.add(operation, "Mul", [rest, sign], product)
    graph.add(operation, "Less", [product, zero], other)
    graph.add(operation, "Where", [other, total, rest], y)


def _cumsum(operation: Operation, graph: GraphBuilder) -> None:
    options, x = operation.options(tflite.CumsumOptions), operation.input(0)
    if x.type.is_quantized:
        require_float(operation, x)
    operation.require_alike(x, operation.output)
    place = operation.axis(x, operation.number(1))
    axis = graph.integers(f"{operation.name} axis", place)
    attributes = {"exclusive": int(options.Exclusive()), "reverse": int(options.Reverse())}
    graph.add(operation, "CumSum", [graph.read(x), axis], operation.output, attributes)


def _zeros_like(operation: Operation, graph: GraphBuilder) -> None:
    y = operation.output
    if y.type.is_quantized:
        require_float(operation, y)
    zeros = graph.constant(f"{y.name} zeros", np.zeros(y.type.shape, y.type.dtype.numpy))
    graph.add(operation, "Identity", [zeros], y)


CONVERTERS = {
    "ADD_N": of_reals("Sum"),
    "CUMSUM": _cumsum,
    "FLOOR_DIV": _floor_div,
    "FLOOR_MOD": _floor_mod,
    "ZEROS_LIKE": _zeros_like,
    "MINIMUM": _alike("Min", (0, 1)),
    "MAXIMUM": _alike("Max", (0, 1)),
    "LOGICAL_AND": _alike("And", (0, 1)),
    "LOGICAL_OR": _alike("Or", (0, 1)),
    "LOGICAL_NOT": _alike("Not", (0,)),
    "SELECT": _select,
    "SELECT_V2": _alike("Where", (1, 2)),
    "ATAN2": of_reals("Atan2", "mcu"),
    "SIN": of_reals("Sin"),
    "COS": of_reals("Cos"),
    "LOG": table_or_float("Log"),
    "POW": of_reals("Pow"),
    "PRELU": _prelu,
    "ROUND": of_reals("Round"),
    "RSQRT": _rsqrt,
    "SQUARE": _square,
    "SQUARED_DIFFERENCE": _squared_difference,
    "CAST": _cast,
    "TILE": _tile,
    "ARG_MAX": _arg("ArgMax"),
    "ARG_MIN": _arg("ArgMin"),
    "BATCH_MATMUL": _batch_matmul,
    "L2_NORMALIZATION": _l2_normalization,
}
