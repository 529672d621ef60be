"""Convolutions and fully-connected layers of TFLite models: the loops of Conv and Gemm, with
TFLite's requantization behind them."""

from __future__ import annotations

from collections.abc import Callable

from mcu_deploy.backends.CpuRef.kernels import conv, gemm
from mcu_deploy.backends.CpuRef.kernels.base import BYTES, Kernel, rule
from mcu_deploy.backends.interface import YES, Layer, LayoutRule, Support, no


def supports_bytes(layer: Layer) -> Support:
    """Whether the computed operands are 8-bit integers, quantized per tensor.

    What no reader makes is refused too: the domain is open to backends' own passes.
    """
    for operand in (*layer.inputs[:1], *layer.outputs):
        assert operand is not None
        type_ = operand.type
        if type_.dtype not in BYTES or type_.quantization is None:
            return no(f"it computes quantized int8/uint8, not {type_}")
        if not type_.quantization.per_tensor:
            return no("a computed tensor is quantized per axis")
    return YES


def _both(supports: Callable[[Layer], Support]) -> Callable[[Layer], Support]:
    def both(layer: Layer) -> Support:
        support = supports_bytes(layer)
        return supports(layer) if support.supported else support

    return both


KERNELS = (
    Kernel("Conv", _both(conv.supports), rule(LayoutRule.CHANNELS_LAST), conv.create, "tflite"),
    Kernel("FullyConnected", _both(gemm.supports), rule(LayoutRule.NATURAL), gemm.create, "tflite"),
)
