"""Fused activations, and the operators that are one function of each element."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import tflite

from mcu_deploy.formats.tflite_graph import GraphBuilder, Order
from mcu_deploy.formats.tflite_operation import Operation, TfliteTensor
from mcu_deploy.formats.tflite_ops import DOMAIN
from mcu_deploy.ir import DType, EdgeId, Quantization, TensorType

Bounds = tuple[float, float]
UNBOUNDED: Bounds = (-math.inf, math.inf)
_FUSED = {
    tflite.ActivationFunctionType.NONE: UNBOUNDED,
    tflite.ActivationFunctionType.RELU: (0.0, math.inf),
    tflite.ActivationFunctionType.RELU_N1_TO_1: (-1.0, 1.0),
    tflite.ActivationFunctionType.RELU6: (0.0, 6.0),
}


def fused_activation(operation: Operation, function: int) -> Bounds:
    """The bounds of a fused activation, as real numbers; infinite ones do nothing."""
    if function not in _FUSED:
        raise operation.unsupported(
            f"has the fused activation number {function}, which is no clamp",
            "Convert the model with RELU, RELU6 or a separate activation.",
        )
    return _FUSED[function]


def require_float(operation: Operation, *tensors: TfliteTensor) -> None:
    """Raises where a tensor is no float32."""
    if not is_float(operation, *tensors):
        raise operation.unsupported(
            "computes quantized integers",
            "mcu-deploy computes it on float32; convert the model so.",
        )


def clamp_attribute(bounds: Bounds) -> dict[str, Any]:
    """The attribute that says so to an operator of the domain "tflite"."""
    return {} if bounds == UNBOUNDED else {"activation": bounds}


def add_clamped(
    operation: Operation,
    graph: GraphBuilder,
    op: str,
    inputs: Sequence[EdgeId | None],
    attributes: dict[str, Any],
    bounds: Bounds,
    order: Order | None = None,
) -> None:
    """A float32 node of ONNX, and behind it the Relu or Clip that TFLite has in it."""
    y = operation.output
    if bounds == UNBOUNDED:
        graph.add(operation, op, inputs, y, attributes, order=order)
        return
    inner = graph.edge(f"{y.name} before the activation", graph.ordered(y, order))
    graph.add(operation, op, inputs, inner, attributes)
    add_clamp(operation, graph, inner, bounds, order)


def add_clamp(
    operation: Operation,
    graph: GraphBuilder,
    x: EdgeId,
    bounds: Bounds,
    order: Order | None = None,
) -> None:
    """The Relu or Clip that writes the operator's output from a float32 edge."""
    if bounds == (0.0, math.inf):
        graph.add(operation, "Relu", [x], operation.output, order=order)
        return
    limits = [
        graph.constant(f"{operation.name} {what}", np.array(bound, np.float32))
        for what, bound in zip(("lower bound", "upper bound"), bounds, strict=True)
    ]
    graph.add(operation, "Clip", [x, *limits], operation.output, order=order)


def is_float(operation: Operation, *tensors: TfliteTensor, wide: bool = False) -> bool:
    """Whether all tensors are float32 (True) or all are quantized per tensor (False).

    Constants may be quantized per axis. wide: int16 around 0 will do as well, where all computed
    tensors have it. Raises UnsupportedError for mixtures and other types.
    """
    if all(t.type.dtype is DType.FLOAT32 for t in tensors):
        return True
    sixteen = {t.type.dtype is DType.INT16 for t in tensors if t.value is None}
    wide = wide and sixteen == {True}
    for tensor in tensors:
        type_ = tensor.type
        around_zero = wide and type_.dtype is DType.INT16 and not any(_zero_points(type_))
        if not (type_.dtype.bytes == 1 or around_zero) or not type_.is_quantized:
            raise operation.unsupported(
                f"has the tensor {tensor.name!r} of the type {type_}",
                "mcu-deploy computes it on float32, and on integers with scales: int8 and uint8, "
                "and where TFLite-Micro does so int16 around 0; convert the model so.",
            )
        if tensor.value is None and type_.quantization and not type_.quantization.per_tensor:
            raise operation.damaged(f"the computed tensor {tensor.name!r} has a scale per axis")
    return False


def _zero_points(type_: TensorType) -> tuple[int, ...]:
    return type_.quantization.zero_point if type_.quantization else ()


def _clamp(bounds: Bounds, of_reals: bool = False) -> Any:
    """of_reals: TFLite-Micro does not have it, so there are no rules for integers."""

    def convert(operation: Operation, graph: GraphBuilder) -> None:
        if of_reals:
            require_float(operation, operation.input(0), operation.output)
        domain = _domain(operation)
        x, y = operation.input(0).type, operation.output.type
        is_plain = x.dtype is DType.UINT8 or x.quantization == y.quantization
        if domain and operation.kind == "RELU6" and not is_plain:
            raise operation.unsupported(
                "has an output of another scale than its input's",
                "TFLite-Micro clamps the integers as they are; convert the model again.",
            )
        if domain:
            graph.add_function(operation, "Relu", {"bounds": bounds}, domain)
        else:
            order = graph.common_order(operation.input(0))
            add_clamp(operation, graph, graph.read(operation.input(0), order), bounds, order)

    return convert


def _function(op: str, result: Quantization) -> Any:
    """A function of each element; result: the quantization that its output must have of int8; of
    int16 that is 2**-15, and of uint8 any."""

    def convert(operation: Operation, graph: GraphBuilder) -> None:
        domain = _domain(operation, wide=True)
        type_ = operation.output.type
        wanted = result if type_.dtype is DType.INT8 else Quantization((2.0**-15,), (0,))
        found = type_.quantization
        if domain and type_.dtype is not DType.UINT8 and found != wanted:
            raise operation.damaged(f"its output has not the scale {wanted.scale[0]}")
        graph.add_function(operation, op, domain=domain)

    return convert


def _hard_swish(operation: Operation, graph: GraphBuilder) -> None:
    domain = _domain(operation)
    x, y = operation.input(0).type.quantization, operation.output.type.quantization
    if domain and x is not None and y is not None and x.scale[0] >= 128 * y.scale[0]:
        raise operation.unsupported(
            "has an input of 128 times its output's scale, which TFLite-Micro refuses as well",
            "Quantize the model anew.",
        )
    graph.add_function(operation, "HardSwish", {}, domain)


def _leaky_relu(operation: Operation, graph: GraphBuilder) -> None:
    alpha = float(operation.options(tflite.LeakyReluOptions).Alpha())
    domain = _domain(operation, wide=True)
    graph.add_function(operation, "LeakyRelu", {"alpha": alpha}, domain)


def table_or_float(op: str) -> Any:
    """A function of float32, and of int8 a table."""

    def convert(operation: Operation, graph: GraphBuilder) -> None:
        _add_table_or_float(operation, graph, op, {})

    return convert


def _add_table_or_float(
    operation: Operation, graph: GraphBuilder, op: str, attributes: dict[str, Any]
) -> None:
    x, y = operation.input(0), operation.output
    is_table = {x.type.dtype, y.type.dtype} == {DType.INT8} and not is_float(operation, x, y)
    if not is_table:
        require_float(operation, x, y)
    graph.add_function(operation, op, attributes, DOMAIN if is_table else "")


def _gelu(operation: Operation, graph: GraphBuilder) -> None:
    by_tanh = operation.options(tflite.GeluOptions).Approximate()
    _add_table_or_float(operation, graph, "Gelu", {"approximate": "tanh"} if by_tanh else {})


def _domain(operation: Operation, wide: bool = False) -> str:
    """ONNX's for float32, ours for 8 bits, or, if it is computed so, for int16."""
    x, y = operation.input(0), operation.output
    if is_float(operation, x, y, wide=wide):
        return ""
    if x.type.dtype is not y.type.dtype:
        raise operation.damaged("its input and output have different types")
    return DOMAIN


def of_reals(op: str, domain: str = "") -> Any:
    """A function of float32 tensors, with broadcasting."""

    def convert(operation: Operation, graph: GraphBuilder) -> None:
        require_float(operation, *operation.given, operation.output)
        order = graph.common_order(*operation.given)
        inputs = [graph.read(tensor, order) for tensor in operation.given]
        graph.add(operation, op, inputs, operation.output, domain=domain, order=order)

    return convert


CONVERTERS = {
    "RELU": _clamp((0.0, math.inf)),
    "RELU6": _clamp((0.0, 6.0)),
    "RELU_N1_TO_1": _clamp((-1.0, 1.0), of_reals=True),
    "RELU_0_TO_1": _clamp((0.0, 1.0), of_reals=True),
    "LEAKY_RELU": _leaky_relu,
    "LOGISTIC": _function("Sigmoid", Quantization((1 / 256,), (-128,))),
    "TANH": _function("Tanh", Quantization((1 / 128,), (0,))),
    "HARD_SWISH": _hard_swish,
    "ABS": table_or_float("Abs"),
    "CEIL": of_reals("Ceil"),
    "ELU": table_or_float("Elu"),
    "GELU": _gelu,
    "EXP": table_or_float("Exp"),
    "FLOOR": of_reals("Floor"),
    "NEG": of_reals("Neg"),
    "SIGN": of_reals("Sign"),
    "SQRT": table_or_float("Sqrt"),
}
