"""One expression for each element of the output, over any number of operands with broadcasting."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from mcu_deploy.backends.CpuRef.kernels.base import call, render
from mcu_deploy.backends.interface import CFunction, InPlace, Layer, Workload
from mcu_deploy.backends.kit import overlap
from mcu_deploy.backends.kit.arguments import Prototype
from mcu_deploy.backends.kit.narrow import Access, plain, read
from mcu_deploy.backends.kit.stems import stem
from mcu_deploy.backends.kit.strides import Loops, broadcast_loops
from mcu_deploy.ir import DType


@dataclass(frozen=True)
class Expression:
    """What a kernel computes: statements, and the C expression that is stored.

    They read the operands' elements by the names a, b, c, and so on.
    """

    result: str
    lines: tuple[str, ...] = ()
    helpers: tuple[CFunction, ...] = ()
    headers: tuple[str, ...] = ()


def element_names(count: int) -> tuple[str, ...]:
    """What the elements of the operands are called: a, b, c; numbered where they are many."""
    return tuple("abc"[:count]) if count <= 3 else tuple(f"a{k}" for k in range(count))


def narrow(dtype: DType, expression: str) -> str:
    """A C expression as a value of the type, where C's own arithmetic is wider than it."""
    wide = dtype.is_float or (dtype.bytes >= 4 and dtype.is_integer)
    return expression if wide else f"({dtype.c_type})({expression})"


def broadcasts(layer: Layer) -> bool:
    """Whether the shapes of the operands give the output's, by ONNX's broadcasting."""
    shapes = [layer.input(index).type.shape for index in range(len(layer.inputs))]
    try:
        return np.broadcast_shapes(*shapes) == layer.output.type.shape
    except ValueError:
        return False


def pointwise(
    layer: Layer, kind: str, expression: Expression, indices: Sequence[int] | None = None,
    store: Callable[[str, str], Access] | None = None, widens: bool = False,
) -> Workload:  # fmt: skip
    """The workload that computes an expression of the layer's inputs (of these, where given).

    store: of a layer of one operand, how the result is stored at an index, where that is not plain.
    widens: whether elements of narrow types are read as what computes for them.
    """
    y = layer.output
    chosen = tuple(range(len(layer.inputs)) if indices is None else indices)
    operands = [layer.input(index) for index in chosen]
    loops = broadcast_loops(y.type, tuple(o.type for o in operands))
    given, elements, helpers = Prototype(layer), [], [*expression.helpers]
    for k, (operand, name) in enumerate(zip(operands, element_names(len(operands)), strict=True)):
        dtype, array, index = operand.type.dtype, f"x{k}", loops.index(k)
        element = read(dtype, array, index) if widens else plain(dtype, array, index)
        elements.append((element.ctype, name, element.text))
        helpers += element.helpers
        given.input(chosen[k], f"x{k}")
    stored = store(loops.index(), expression.result) if store else None
    helpers += stored.helpers if stored else ()
    body = render(
        "pointwise.c.j2", extents=loops.extents, elements=elements, lines=expression.lines,
        result=expression.result, store=stored.text if stored else "",
    )  # fmt: skip
    name = stem(layer.op.lower(), kind, *loops.extents)
    return call(
        name, body, given.output(), tuple(dict.fromkeys(helpers)), expression.headers,
        _in_place(layer, chosen, loops),
    )  # fmt: skip


def _in_place(layer: Layer, indices: Sequence[int], loops: Loops) -> tuple[InPlace, ...]:
    """How closely the output may follow each operand."""
    y = layer.output.type
    if any(o.type.dtype.is_packed for o in (layer.output, *map(layer.input, indices))):
        return ()
    ends = (np.arange(y.elements) + 1) * y.dtype.bytes
    facts: list[InPlace] = []
    for index, steps in zip(indices, loops.steps, strict=True):
        lowest = overlap.strided(loops.extents, steps) * layer.input(index).type.dtype.bytes
        facts += overlap.fact(layer, index, overlap.distance(ends, lowest))
    return tuple(facts)
