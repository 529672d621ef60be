"""Convolutions, fully-connected layers and products of matrices of TFLite models: the loops of
Conv, Gemm and MatMul, with TFLite's requantization behind them."""

from __future__ import annotations

from mcu_deploy.backends.CpuRef.kernels import conv, gemm
from mcu_deploy.backends.CpuRef.kernels.base import BYTES, Kernel
from mcu_deploy.backends.interface import YES, Layer, LayoutRule, Support, no
from mcu_deploy.backends.kit.requantization import is_per_tensor
from mcu_deploy.ir import DType


def supports_bytes(layer: Layer) -> Support:
    """Whether the computed operands are 8-bit integers, quantized per tensor.

    What no reader makes is refused too: the domain is open to backends' own passes.
    """
    return supports_integers(layer, BYTES)


def supports_integers(layer: Layer, known: tuple[DType, ...] = (*BYTES, DType.INT16)) -> Support:
    """As `supports_bytes`, for these types."""
    for operand in (*layer.inputs[:1], *layer.outputs):
        assert operand is not None
        type_ = operand.type
        if type_.dtype not in known or type_.quantization is None:
            return no(f"it computes quantized {'/'.join(d.value for d in known)}, not {type_}")
        if not type_.quantization.per_tensor:
            return no("a computed tensor is quantized per axis")
    return YES


# The types that products are made of: of x, of the weights and of the output. The last two are the
# two steps of an SVDF whose state has 16 bits.
_TYPES = (
    *((x, w, y) for x in BYTES for w in BYTES for y in BYTES),
    (DType.INT16, DType.INT8, DType.INT16),
    (DType.INT8, DType.INT8, DType.INT16),
    (DType.INT16, DType.INT16, DType.INT8),
)


def supports_products(layer: Layer) -> Support:
    """Whether a sum of products has operands that TFLite-Micro has a kernel for."""
    x, w, y = (operand.type for operand in (layer.input(0), layer.input(1), layer.output))
    if (x.dtype, w.dtype, y.dtype) not in _TYPES or w.quantization is None:
        return no(f"it computes quantized integers of 8 bits, or of 16 with 8, not {x} and {w}")
    if not is_per_tensor(x) or not is_per_tensor(y):
        return no("a computed tensor is quantized per axis")
    for type_ in (x, w, y):
        if type_.dtype is DType.INT16 and any(type_.scaling.zero_point):
            return no(f"its integers of 16 bits lie around 0, unlike {type_}")
    bias = layer.optional(2)
    if bias is not None and bias.type.dtype not in (DType.INT32, DType.INT64):
        return no(f"its bias has 32 or 64 bits, unlike {bias.type}")
    return YES


def _supports_conv(layer: Layer) -> Support:
    return supports_products(layer) and conv.fits(layer)


def _supports_dense(layer: Layer) -> Support:
    return supports_products(layer) and gemm.fits(layer)


def _supports_matmul(layer: Layer) -> Support:
    operands = layer.input(0).type, layer.input(1).type, layer.output.type
    if {type_.dtype for type_ in operands} not in ({DType.INT8}, {DType.INT16}):
        return no(f"it multiplies int8 by int8 and int16 by int16, not {operands[0]}")
    if not all(map(is_per_tensor, operands)):
        return no("a matrix is quantized per axis")
    if operands[0].dtype is DType.INT16 and any(any(t.scaling.zero_point) for t in operands):
        return no("its integers of 16 bits do not lie around 0")
    return YES


KERNELS = (
    Kernel("Conv", _supports_conv, conv.create, LayoutRule.CHANNELS_LAST, "tflite"),
    Kernel("MatMul", _supports_matmul, gemm.matmul, domain="tflite"),
    Kernel("FullyConnected", _supports_dense, gemm.create, domain="tflite"),
)
