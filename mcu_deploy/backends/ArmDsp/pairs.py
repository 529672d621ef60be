"""What sums and products of two computed int8 tensors of one shape have in common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.backends.ArmDsp.layers import BYTES, clamp_refusal
from mcu_deploy.backends.ArmDsp.workloads import ID
from mcu_deploy.backends.interface import (
    Argument,
    CFunction,
    Constant,
    Costs,
    InPlace,
    Layer,
    LayoutRule,
    Parameter,
    Price,
    Proposal,
    Role,
    SubgraphView,
    Workload,
)
from mcu_deploy.backends.isa import Assembly, statement
from mcu_deploy.backends.kit.arguments import INPUT, OUTPUT, constant_argument, pointer
from mcu_deploy.ir import TensorType
from mcu_deploy.operators import Call, find
from mcu_deploy.operators.base import evaluate


def refusal(layer: Layer, verb: str, least: int) -> str:
    """Why no kernel does to the operands of a layer what the verb says, a clause; empty where one
    might. least: elements that it takes at a time."""
    operands, y = [layer.input(k) for k in (0, 1)], layer.output.type
    if any(o.constant is not None for o in operands):
        return f"it {verb} two tensors that are computed"
    if any(o.type.shape != y.shape for o in operands):
        return f"it {verb} tensors of one shape"
    types = [y, *(o.type for o in operands)]
    if any(t.dtype not in BYTES or t.quantization is None for t in types):
        return f"it computes int8 and uint8, not {y}"
    return f"there are less than {least} elements" if y.elements < least else clamp_refusal(layer)


def tried(domain: str, call: Call) -> tuple[Array, Array, Array]:
    """All pairs of bytes, uint8 as int8 less 128, and the element that the oracle makes of each."""
    size = (256, 256)
    types = [TensorType(t.dtype, size, t.quantization) for t in (call.type(0), call.type(1))]
    a, b = np.meshgrid(*(np.arange(t.dtype.range[0], 256 + t.dtype.range[0]) for t in types))
    result = TensorType(call.results[0].dtype, size, call.results[0].quantization)
    operator = find(domain, call.op)
    assert operator is not None
    values = tuple(v.astype(t.dtype.numpy) for v, t in zip((a, b), types, strict=True))
    every = replace(call, values=values, types=tuple(types), results=(result,))
    wanted = evaluate(operator, every)[0].astype(np.int64)
    signed = [v - (t.dtype.range[0] + 128) for v, t in zip((a, b), types, strict=True)]
    return signed[0], signed[1], wanted


def function(layer: Layer, stem: str, code: Assembly) -> CFunction:
    """A kernel as a C function of both operands, the output and the constants."""
    parameters = (
        *(pointer(layer.input(k), name) for k, name in enumerate("ab")),
        pointer(layer.output, "y", const=False), Parameter("const int32_t *", "constants"),
    )  # fmt: skip
    return CFunction(stem, parameters, "{\n" + statement(code, "a", "b", "y", "constants") + "}")


def proposal(
    view: SubgraphView, node: Layer, stem: str, code: Assembly, constants: Constant
) -> Proposal:
    """Of a kernel that reads each element before it writes there."""
    price = Price(
        Costs(cycles=round(code.cycles), flash=constants.value.nbytes),
        {f"{stem} {code.digest}": code.bytes},
        in_place=tuple(InPlace(k, 0, 0) for k in (0, 1)),
    )

    def make(layers: Sequence[Layer], _: Any) -> tuple[Workload, ...]:
        arguments = (INPUT, Argument(Role.INPUT, 1), OUTPUT, constant_argument(0))
        return (
            Workload(
                ID, function(layers[0], stem, code), arguments, (constants,),
                in_place=price.in_place, costs=price.costs,
            ),
        )  # fmt: skip

    part, title = view.part([node.node.id]), node.op.lower()
    return Proposal(part, price, make, layouts=(LayoutRule.SAME,), title=title)
