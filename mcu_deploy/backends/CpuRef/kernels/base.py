"""What the kernels share: the description of a kernel, templates, and common checks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from mcu_deploy.backends.interface import (
    YES,
    Constant,
    Layer,
    LayoutRule,
    Operand,
    Support,
    Workload,
    no,
)
from mcu_deploy.backends.kit.kit import Kit
from mcu_deploy.backends.kit.zero_points import without_zero
from mcu_deploy.ir import DType

BYTES = (DType.INT8, DType.UINT8)
QUANTIZED = (*BYTES, DType.INT16)
KIT = Kit("CpuRef", Path(__file__).resolve().parents[1])
render, compute, call, workload = KIT.render, KIT.compute, KIT.call, KIT.workload
helper, view, nothing = KIT.helper, KIT.view, KIT.nothing


@dataclass(frozen=True)
class Kernel:
    """One operator's kernel: does it support a layer, the workload, and how must tensors lie.

    create: of a layer that writes some elements, or any where a run may be refused.
    """

    op: str
    supports: Callable[[Layer], Support]
    create: Callable[[Layer], Workload]
    layout: LayoutRule | Callable[[Layer], LayoutRule] = LayoutRule.NATURAL
    domain: str = ""
    may_refuse: bool = False

    def made(self, layer: Layer) -> Workload:
        writes = any(operand.type.elements for operand in layer.outputs)
        return self.create(layer) if writes or self.may_refuse else nothing(layer)

    def layout_of(self, layer: Layer) -> LayoutRule:
        return self.layout(layer) if callable(self.layout) else self.layout


def either(first: Kernel, second: Kernel) -> Kernel:
    """The first kernel where it supports a layer, else the second, whose reason counts."""

    def chosen(layer: Layer) -> Kernel:
        return first if first.supports(layer) else second

    return Kernel(
        first.op,
        lambda layer: chosen(layer).supports(layer),
        lambda layer: chosen(layer).made(layer),
        lambda layer: chosen(layer).layout_of(layer),
        first.domain,
    )


def element_kind(layer: Layer) -> str:
    """The output's type, for the name of a function; of a product of 16-bit integers both factors'
    and the output's."""
    types = [o.type.dtype for o in (layer.input(0), layer.input(1), layer.output)]
    if DType.INT16 not in types:
        return types[2].value
    return "_".join(t.value for t in types)


def check_moves(layer: Layer, *operands: Operand | None) -> Support:
    """Whether operands of which elements are moved to the output have its element type.

    Bytes are copied: what scale they have is a matter of who reads them.
    """
    y = layer.output.type.dtype
    given = {y if o is None else o.type.dtype for o in operands} - {y}
    return no(f"it moves {given.pop().value} to {y.value}") if given else YES


def check_weights(layer: Layer, weights: Operand) -> Support:
    """Whether a layer of the domain "mcu" computes float32 with 8-bit weights of one zero point."""
    for type_ in (layer.input(0).type, layer.output.type):
        if type_.dtype is not DType.FLOAT32:
            return no(f"it computes float32 with 8-bit weights, not {type_}")
    quantization = weights.type.quantization
    if weights.type.dtype not in BYTES or quantization is None:
        return no(f"its weights have 8 bits and a scale, unlike {weights.type}")
    return YES if len(set(quantization.zero_point)) == 1 else no("its weights' zero points differ")


def real_weight(weights: Operand, name: str) -> str:
    """C for the integer weight `name` as a float, which the scale is still missing from."""
    return f"(float){without_zero(name, weights.type.scaling.zero_point[0])}"


def weight_scaling(weights: Operand, index: str) -> tuple[str, tuple[Constant, ...]]:
    """C that multiplies `sum` by the scale of its weights, and the scales.

    A single one is an array too, so that layers of one shape have one function.
    """
    scales = weights.type.scaling.scales
    return f"sum *= scale[{index if scales.size > 1 else 0}];", (Constant("scale", scales),)


def check_types(
    layer: Layer, *operands: Operand | None, known: tuple[DType, ...] = BYTES
) -> Support:
    """Whether all operands are float32, or all are integers of known types with a scale."""
    kinds = set()
    for operand in operands:
        if operand is None:
            continue
        type_ = operand.type
        if type_.dtype is DType.FLOAT32:
            kinds.add("float32")
        elif type_.dtype in known and type_.quantization is not None:
            kinds.add("quantized")
        else:
            names = "/".join(dtype.value for dtype in known)
            return no(f"it computes float32 and quantized {names}, not {type_}")
    if len(kinds) > 1:
        return no("it does not mix float32 and quantized tensors in one operator")
    return YES
