"""The layers of a quantized model that compute real numbers: which, why, and what they take."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mcu_deploy import operators
from mcu_deploy.backends.interface import Layer
from mcu_deploy.compiled import CompiledModel
from mcu_deploy.errors import Refusal
from mcu_deploy.ir import Graph
from mcu_deploy.passes.floats import REASON


@dataclass(frozen=True)
class FloatLayer:
    """A layer that reads or writes real numbers: a row of `float_layers` in reports.

    index, short: the layer's number and name. reason: a clause. constant_bytes: of its float
    constants, tensor_bytes: of the float tensors that it writes.
    """

    network: str
    index: int
    short: str
    op: str
    reason: str
    constant_bytes: int
    tensor_bytes: int

    def __str__(self) -> str:
        return (
            f"{self.short} ({self.op}): {self.reason} ({self.constant_bytes:,} bytes of float "
            f"constants, {self.tensor_bytes:,} of float tensors)"
        )


def is_quantized(model: CompiledModel) -> bool:
    """Whether anything in a model is quantized, be it only the weights of a layer."""
    graph = model.whole_graph
    types = graph.data.types.values()
    return any(t.is_quantized for t in types) or any(
        _reason(graph.attributes(node.id), graph.body(node.id)) for node in graph.nodes
    )


def float_layers(model: CompiledModel) -> tuple[FloatLayer, ...]:
    """All layers that compute real numbers, conversions from and to integers left out."""
    found = []
    for step in model.plan.steps:
        layer, workload = step.choice.layer, step.choice.workload
        operator = operators.find(layer.domain, layer.op)
        if not _is_real(layer) or (operator is not None and operator.converts):
            continue
        reason = _reason(layer.attributes, layer.body)
        constants = (c.value for c in workload.constants)
        found.append(
            FloatLayer(
                model.name, step.index, step.short, layer.op, reason or "the model has it in float",
                sum(value.nbytes for value in constants if value.dtype.kind == "f"),
                sum(o.type.bytes for o in layer.outputs if o.type.dtype.is_float),
            )
        )  # fmt: skip
    return tuple(found)


def _is_real(layer: Layer) -> bool:
    read = (o.type for o in layer.inputs if o is not None and o.constant is None)
    return any(t.dtype.is_float for t in (*read, *(o.type for o in layer.outputs)))


def _reason(attributes: Mapping[str, Any], body: Graph | None) -> str:
    """What a node says, or the first of those that were fused into it."""
    if REASON in attributes or body is None:
        return str(attributes.get(REASON, ""))
    said = (_reason(body.attributes(n.id), body.body(n.id)) for n in body.nodes)
    return next((text for text in said if text), "")


def require_integers(model: CompiledModel) -> None:
    """Raises Refusal, which names them, where layers compute real numbers."""
    found = float_layers(model)
    if found:
        raise Refusal(
            f"{len(found)} of {len(model.plan.steps)} layers of {model.name!r} run in float, and "
            "--no-float forbids it:\n"
            + "\n".join(f"  {layer}" for layer in found)
            + "\nQuantize them in the model, or leave --no-float out."
        )
