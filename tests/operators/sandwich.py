"""QDQ sandwiches around one operator, the way a quantizer writes them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from onnx import NodeProto, helper
from operators.lab import Array, Case, make_model


@dataclass(frozen=True)
class Q:
    """A quantized tensor's type: of an input, or of the output (shape None: inferred)."""

    shape: tuple[int, ...] | None
    dtype: str = "int8"
    scale: float = 0.05
    zero_point: int = 3

    @property
    def range(self) -> tuple[int, int]:
        return (0, 255) if self.dtype == "uint8" else (-128, 127)


@dataclass
class Sandwich:
    """Collects DequantizeLinear nodes, the operator, and the QuantizeLinear behind it."""

    nodes: list[NodeProto] = field(default_factory=list)
    constants: dict[str, Array] = field(default_factory=dict)
    inputs: dict[str, tuple[str, Sequence[int]]] = field(default_factory=dict)
    values: list[Array] = field(default_factory=list)

    def input(self, type_: Q, values: Array) -> str:
        """A quantized input of the model; returns the name of the real tensor."""
        name = f"x{len(self.inputs)}"
        assert type_.shape is not None
        self.inputs[name] = (type_.dtype, type_.shape)
        self.values.append(values)
        return self.dequantize(
            name, np.float32(type_.scale), np.array(type_.zero_point, type_.dtype), None
        )

    def dequantize(self, name: str, scale: Any, zero_point: Any, axis: int | None) -> str:
        self.constants[f"{name}_scale"] = np.asarray(scale, np.float32)
        self.constants[f"{name}_zero"] = np.asarray(zero_point)
        attributes = {} if axis is None else {"axis": axis}
        self.nodes.append(
            helper.make_node(
                "DequantizeLinear",
                [name, f"{name}_scale", f"{name}_zero"],
                [f"{name}_real"],
                f"{name}_dq",
                **attributes,
            )
        )
        return f"{name}_real"

    def constant(
        self, name: str, value: Array, scale: Any, zero_point: Any, axis: int | None = None
    ) -> str:
        """A quantized constant; returns the name of the real tensor."""
        self.constants[name] = value
        return self.dequantize(name, scale, zero_point, axis)

    def finish(
        self,
        name: str,
        op: str,
        arguments: Sequence[str],
        output: Q,
        attributes: Mapping[str, Any] | None = None,
        activation: str | tuple[float, float] | None = None,
        exact: bool = False,
        opset: int = 17,
    ) -> Case:
        """The operator, an optional Relu or Clip, and the quantization of the result."""
        self.nodes.append(
            helper.make_node(op, list(arguments), ["real"], "operator", **(attributes or {}))
        )
        real = "real"
        if activation == "Relu":
            self.nodes.append(helper.make_node("Relu", [real], ["clamped"], "relu"))
            real = "clamped"
        elif activation is not None:
            self.constants["low"] = np.float32(activation[0])
            self.constants["high"] = np.float32(activation[1])
            self.nodes.append(helper.make_node("Clip", [real, "low", "high"], ["clamped"], "clip"))
            real = "clamped"
        self.constants["y_scale"] = np.float32(output.scale)
        self.constants["y_zero"] = np.array(output.zero_point, output.dtype)
        self.nodes.append(
            helper.make_node("QuantizeLinear", [real, "y_scale", "y_zero"], ["y"], "quantize")
        )
        model = make_model(
            self.nodes, self.inputs, {"y": (output.dtype, output.shape)}, self.constants, opset
        )
        return Case(name, model, tuple(self.values), exact)


def random_integers(rng: np.random.Generator, shape: Sequence[int], dtype: str) -> Array:
    """Values over the whole range of the type, its ends included."""
    info = np.iinfo(dtype)
    values = rng.integers(info.min, info.max + 1, size=tuple(shape), dtype=np.int64)
    flat = values.reshape(-1)
    if flat.size > 3:
        flat[0], flat[1] = info.min, info.max
    return values.astype(dtype)


def quantized_conv(
    name: str,
    x: Q,
    w: tuple[int, ...],
    attributes: Mapping[str, Any] | None = None,
    *,
    op: str = "Conv",
    w_dtype: str = "int8",
    w_zero: int = 0,
    per_channel: bool = True,
    bias: bool = True,
    output: Q | None = None,
    activation: str | tuple[float, float] | None = None,
    seed: int = 0,
) -> Case:
    """Conv between quantized tensors; the output's scale spreads the sums over its range.

    op: or ConvTranspose, of weights [channels, filters / group, ...].
    """
    axis = 0 if op == "Conv" else 1
    filters = w[axis] * (1 if op == "Conv" else int((attributes or {}).get("group", 1)))
    rng = np.random.default_rng(seed)
    assert x.shape is not None
    sandwich = Sandwich()
    real_x = sandwich.input(x, random_integers(rng, x.shape, x.dtype))
    count = w[axis] if per_channel else 1
    scale = rng.uniform(0.005, 0.02, count).astype(np.float32)
    zero = np.full(count, w_zero, w_dtype)
    weights = random_integers(rng, w, w_dtype)
    if not per_channel:
        scale, zero = scale[0], zero[0]
    real_w = sandwich.constant("w", weights, scale, zero, axis if per_channel else None)
    arguments = [real_x, real_w]
    depth = math.prod(w) // w[axis]
    if bias:
        integers = rng.integers(-20000, 20000, filters).astype(np.int32)
        bias_scale = (np.float32(x.scale) * scale).astype(np.float32)
        bias_zero = np.zeros(np.shape(bias_scale), np.int32)
        arguments.append(
            sandwich.constant("b", integers, bias_scale, bias_zero, 0 if per_channel else None)
        )
    spread = float(np.float32(x.scale)) * 0.01 * 74 * 74 * math.sqrt(depth) / 50
    result = output or Q(None, x.dtype, spread, -5 if x.dtype == "int8" else 120)
    return sandwich.finish(name, op, arguments, result, attributes, activation, op == "Conv")


def quantized_gemm(
    name: str,
    rows: int,
    depth: int,
    columns: int,
    *,
    op: str = "Gemm",
    dtype: str = "int8",
    w_dtype: str = "int8",
    w_zero: int = 0,
    transposed: bool = True,
    per_channel: bool = False,
    bias: bool = True,
    x_shape: tuple[int, ...] | None = None,
    activation: str | tuple[float, float] | None = None,
    seed: int = 0,
) -> Case:
    """Gemm, or MatMul and Add, between quantized tensors with constant weights."""
    rng = np.random.default_rng(seed)
    x = Q(x_shape or (rows, depth), dtype, 0.031, 7)
    sandwich = Sandwich()
    assert x.shape is not None
    real_x = sandwich.input(x, random_integers(rng, x.shape, dtype))
    gemm = op == "Gemm"
    transposed = transposed and gemm
    count = columns if per_channel else 1
    scale = rng.uniform(0.005, 0.02, count).astype(np.float32)
    zero = np.full(count, w_zero, w_dtype)
    shape = (columns, depth) if transposed else (depth, columns)
    weights = random_integers(rng, shape, w_dtype)
    axis = (0 if transposed else 1) if per_channel else None
    if not per_channel:
        scale, zero = scale[0], zero[0]
    arguments = [real_x, sandwich.constant("w", weights, scale, zero, axis)]
    if bias and gemm:
        integers = rng.integers(-20000, 20000, columns).astype(np.int32)
        bias_scale = (np.float32(x.scale) * scale).astype(np.float32)
        bias_zero = np.zeros(np.shape(bias_scale), np.int32)
        arguments.append(
            sandwich.constant("b", integers, bias_scale, bias_zero, 0 if per_channel else None)
        )
    spread = 0.031 * 0.01 * 74 * 74 * math.sqrt(depth) / 50
    output = Q(None, dtype, spread, -5 if dtype == "int8" else 120)
    attributes = {"transB": int(transposed)} if gemm else {}
    return sandwich.finish(name, op, arguments, output, attributes, activation, exact=True)
