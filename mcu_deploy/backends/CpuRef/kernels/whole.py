"""Kernels that see their tensors as they lie in ONNX's order, each by a pointer of its own."""

from __future__ import annotations

from collections.abc import Sequence

from mcu_deploy.backends.CpuRef.kernels.base import call
from mcu_deploy.backends.interface import CFunction, Constant, Layer, Workload
from mcu_deploy.backends.kit.arguments import Prototype
from mcu_deploy.backends.kit.stems import sizes, stem


def whole(
    layer: Layer,
    body: str,
    *,
    reads: Sequence[int] | None = None,
    constants: Sequence[Constant] = (),
    headers: tuple[str, ...] = (),
    helpers: tuple[CFunction, ...] = (),
    scratch: str = "",
    scratch_bytes: int = 0,
) -> Workload:
    """The workload of a body that reads x0, x1 and so on, by the inputs' places, and writes y0, y1.

    reads: the places of the inputs that it reads, by default of all that are there; constants among
    them are passed as arrays. constants: others, which it reads by their stems. scratch: the C type
    of the elements of `scratch`.
    """
    given = Prototype(layer)
    for k, operand in enumerate(layer.inputs):
        if operand is not None and (reads is None or k in reads):
            given.input(k, f"x{k}")
    for k in range(len(layer.outputs)):
        given.output(f"y{k}", k)
    given.array(*constants)
    if scratch_bytes:
        given.scratch(scratch)
    kind = (layer.inputs[0] or layer.output).type.dtype.value
    word = "".join(f"_{c.lower()}" if c.isupper() else c for c in layer.op).strip("_")
    name = stem(word, kind, *sizes(layer.output.type.shape))
    return call(name, body, given, helpers, headers, scratch_bytes=scratch_bytes)
