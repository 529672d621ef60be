"""Operators of com.microsoft that onnxruntime's optimizer makes of several, and leaves in the model
that it saves: what they are made of, by onnxruntime's docs/ContribOperators.md."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from mcu_deploy.formats.onnx_attention import attention, multi_head_attention
from mcu_deploy.formats.onnx_body import Body, require

# The activations that are fused into a product or a convolution, and their parameters.
_ACTIVATIONS: Mapping[str, tuple[str, ...]] = {
    "Relu": (), "Sigmoid": (), "Tanh": (), "LeakyRelu": ("alpha",),
    "HardSigmoid": ("alpha", "beta"),
}  # fmt: skip


def _gelu(b: Body, x: str) -> str:
    """x / 2 (1 + erf(x / sqrt 2))."""
    half = b("Mul", x, b.constant(0.5))
    erf = b("Erf", b("Mul", x, b.constant(math.sqrt(0.5))))
    return b("Mul", half, b("Add", erf, b.constant(1)))


def _fast_gelu(b: Body) -> str:
    """The same with tanh in place of erf."""
    x = b("Add", *b.inputs) if len(b.inputs) > 1 else b.inputs[0]
    cubic = b("Mul", b("Mul", x, x), b.constant(0.044715 * math.sqrt(2 / math.pi)))
    inner = b("Mul", x, b("Add", cubic, b.constant(math.sqrt(2 / math.pi))))
    return b("Mul", b("Mul", x, b.constant(0.5)), b("Add", b("Tanh", inner), b.constant(1)))


def _quick_gelu(b: Body) -> str:
    """x sigmoid(alpha x)."""
    scaled = b("Mul", b.inputs[0], b.constant(b.attributes.get("alpha", 1.702)))
    return b("Mul", b.inputs[0], b("Sigmoid", scaled))


def _activated(b: Body, x: str, parameters: Callable[[tuple[str, ...]], list[float]]) -> str:
    name = b.attributes.get("activation", b"").decode()
    if name == "Clip":
        low, high = parameters(("min", "max"))
        return b("Clip", x, b.constant(low), b.constant(high))
    require(not name or name in _ACTIVATIONS)
    if not name:
        return x
    names = _ACTIVATIONS[name]
    return b(name, x, **dict(zip(names, parameters(names), strict=True)))


def _fused_conv(b: Body) -> str:
    """A Conv, to which a fourth input is added, and an activation."""
    own = ("activation", "activation_params")
    attributes = {name: value for name, value in b.attributes.items() if name not in own}
    y = b("Conv", *b.inputs[:3], **attributes)
    if len(b.inputs) > 3 and b.inputs[3]:
        y = b("Add", y, b.inputs[3])

    def parameters(names: tuple[str, ...]) -> list[float]:
        given = [float(value) for value in b.attributes.get("activation_params", ())]
        require(len(given) == len(names))
        return given

    return _activated(b, y, parameters)


def _fused_gemm(b: Body) -> str:
    """A Gemm and an activation."""
    attributes = {k: v for k, v in b.attributes.items() if not k.startswith("activation")}
    y = b("Gemm", *b.inputs, **attributes)

    def parameters(names: tuple[str, ...]) -> list[float]:
        require(all(f"activation_{name}" in b.attributes for name in names))
        return [float(b.attributes[f"activation_{name}"]) for name in names]

    return _activated(b, y, parameters)


def _fused_matmul(b: Body) -> str:
    """A MatMul times a factor, of matrices that are turned before: transBatchA moves the first axis
    of A behind those of the batch, transA exchanges the last two then; of B the same."""
    turned = []
    for x, shape, side in zip(b.inputs, b.shapes, "AB", strict=True):
        require(shape is not None and len(shape) > 1)
        axes = [*range(len(shape or ()))]
        if b.attributes.get(f"transBatch{side}"):
            axes = [*axes[1:-1], 0, axes[-1]]
        if b.attributes.get(f"trans{side}"):
            axes[-2:] = [axes[-1], axes[-2]]
        turned.append(b.transpose(x, axes))
    y = b("MatMul", *turned)
    alpha = float(b.attributes.get("alpha", 1.0))
    return y if alpha == 1 else b("Mul", y, b.constant(alpha))


def _skip_layer_normalization(b: Body) -> list[str]:
    """LayerNormalization of a sum, which is the fourth output; the second and third are for
    training."""
    x, skip, gamma, beta, bias = [*b.inputs, "", ""][:5]
    require(b.opset >= 17 and not any(b.outputs[1:3]))
    total = b("Add", x, skip)
    if bias:
        total = b("Add", total, bias)
    parameters = [gamma, beta] if beta else [gamma]
    epsilon = b.attributes.get("epsilon", 1e-12)
    y = b("LayerNormalization", total, *parameters, axis=-1, epsilon=epsilon)
    return [y, total, total, total]


def _bias_gelu(b: Body) -> str:
    return _gelu(b, b("Add", *b.inputs))


_OPERATORS: Mapping[str, Callable[[Body], str | list[str]]] = {
    "Attention": attention,
    "BiasGelu": _bias_gelu,
    "FastGelu": _fast_gelu,
    "FusedConv": _fused_conv,
    "FusedGemm": _fused_gemm,
    "FusedMatMul": _fused_matmul,
    "Gelu": lambda b: _gelu(b, b.inputs[0]),
    "MultiHeadAttention": multi_head_attention,
    "QuickGelu": _quick_gelu,
    "SkipLayerNormalization": _skip_layer_normalization,
}
CONTRIB = {f"com.microsoft::{name}": build for name, build in _OPERATORS.items()}
