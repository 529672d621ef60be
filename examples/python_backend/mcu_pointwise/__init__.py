"""A backend of one operator: 1x1 convolutions of int8 tensors, four filters at once.

mcu-deploy finds it by the entry point in pyproject.toml. docs/backends.md explains each part.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from mcu_deploy.backends.interface import (
    BackendBase,
    Costs,
    Descriptor,
    Layer,
    LayerSupport,
    LayoutRule,
    MemoryManager,
    Operand,
    Support,
    Workload,
    WorkloadFactory,
    WorkloadInfo,
    no,
    yes,
)
from mcu_deploy.backends.kit.arguments import INPUT, OUTPUT, constant_argument
from mcu_deploy.backends.kit.c_functions import QUANTIZE
from mcu_deploy.ir import DType
from mcu_pointwise import kernel


class Pointwise(BackendBase):
    """What the entry point names."""

    id = "Pointwise"
    version = (1, 0)
    rank = 200  # before CpuRef, which has 1000: taken by default
    operators = ("Conv",)

    def layer_support(self) -> LayerSupport:
        return _LayerSupport()

    def estimate(self, layer: Layer) -> Costs:
        return costs(layer)

    def create_workload_factory(self, memory_manager: MemoryManager | None) -> WorkloadFactory:
        return _WorkloadFactory()


class _LayerSupport:
    def is_layer_supported(
        self,
        layer: Layer,
        inputs: Sequence[Operand | None],
        outputs: Sequence[Operand],
        params: Mapping[str, Any],
    ) -> Support:
        if layer.domain or layer.op != "Conv":
            return no("it computes Conv only")
        reason = _why_not(layer, params)
        return yes(LayoutRule.CHANNELS_LAST) if reason is None else no(reason)


def _why_not(layer: Layer, params: Mapping[str, Any]) -> str | None:
    """Why a Conv is not computed: a clause that a person can act on. None: it is."""
    x, w, y = layer.input(0).type, layer.input(1), layer.output.type
    bias = layer.optional(2)
    if any(t.dtype is not DType.INT8 or t.quantization is None for t in (x, w.type, y)):
        return f"it computes quantized int8, not {x} and {w.type} to {y}"
    if w.constant is None or (bias is not None and bias.constant is None):
        return "weights or bias are computed at run time"
    if w.type.quantization is not None and any(w.type.quantization.zero_point):
        return "the weights have a zero point"
    if any(size != 1 for size in w.type.shape[2:]):
        return f"it computes 1x1 kernels, this one is {'x'.join(map(str, w.type.shape[2:]))}"
    if any(params.get("pads", ())) or any(step != 1 for step in params.get("strides", ())):
        return "it computes stride 1 without padding"
    if w.type.shape[1] != x.shape[1]:
        return "it computes Conv without groups"
    if w.type.shape[0] % 4:
        return f"it computes four filters at once, and {w.type.shape[0]} is no multiple of four"
    constants = kernel.constants(layer)
    return constants if isinstance(constants, str) else None


class _WorkloadFactory:
    def create_workloads(self, info: WorkloadInfo, descriptor: Descriptor) -> tuple[Workload, ...]:
        layer = Layer.of(info, descriptor)
        constants = kernel.constants(layer)
        assert not isinstance(constants, str), "asked for a layer that it does not support"
        arguments = (INPUT, OUTPUT, *map(constant_argument, range(len(constants))))
        return (
            kernel.KIT.workload(
                layer, kernel.function(layer), arguments, constants, (QUANTIZE,), costs=costs(layer)
            ),
        )


def costs(layer: Layer) -> Costs:
    """As measured on a Cortex-M4: 2.25 instructions a product, one a turn of the loop for four
    products, and 19 for each output's end. flash: of the constants."""
    x, y = layer.input(0).type, layer.output.type
    loop = 1 / math.gcd(x.shape[1], 4)
    return Costs(
        macs=layer.macs,
        instructions=round((2.25 + loop) * layer.macs + 19 * y.elements),
        flash=layer.input(1).type.bytes + 8 * y.shape[1],
    )
