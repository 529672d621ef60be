"""Kernels that see their tensors as they lie in ONNX's order, each by a pointer of its own."""

from __future__ import annotations

from collections.abc import Sequence

from mcu_deploy.backends.CpuRef.kernels.base import nothing, workload
from mcu_deploy.backends.interface import Argument, CFunction, Layer, Parameter, Role, Workload
from mcu_deploy.backends.kit.arguments import passed, pointer
from mcu_deploy.backends.kit.stems import sizes, stem


def whole(
    layer: Layer,
    body: str,
    *,
    reads: Sequence[int] | None = None,
    headers: tuple[str, ...] = (),
    helpers: tuple[CFunction, ...] = (),
    scratch: str = "",
    scratch_bytes: int = 0,
) -> Workload:
    """The workload of a body that reads x0, x1 and so on, by the inputs' places, and writes y0, y1.

    reads: the places of the inputs that it reads, by default of all that are there; constants among
    them are passed as arrays. scratch: the C type of the elements of `scratch`.
    """
    if not any(operand.type.elements for operand in layer.outputs):
        return nothing(layer)
    there = [k for k, operand in enumerate(layer.inputs) if operand is not None]
    chosen = there if reads is None else [k for k in reads if k in there]
    arguments, constants = passed(layer, chosen)
    parameters = [pointer(layer.input(k), f"x{k}") for k in chosen]
    for index, operand in enumerate(layer.outputs):
        parameters.append(pointer(operand, f"y{index}", const=False))
        arguments += (Argument(Role.OUTPUT, index),)
    if scratch_bytes:
        parameters.append(Parameter(f"{scratch} *", "scratch"))
        arguments += (Argument(Role.SCRATCH),)
    kind = (layer.inputs[0] or layer.output).type.dtype.value
    word = "".join(f"_{c.lower()}" if c.isupper() else c for c in layer.op).strip("_")
    function = CFunction(stem(word, kind, *sizes(layer.output.type.shape)), tuple(parameters), body)
    return workload(
        layer, function, arguments, constants, helpers, headers, scratch_bytes=scratch_bytes
    )
