"""Layers that only show bytes which lie elsewhere, and where: pieces of a tensor need no copy.

A view is its input seen otherwise. What Slice, Split and Gather pick may be one stretch of their
input's bytes, and each part of a Concat one stretch of the result's: that depends on the order of
the axes in memory, and is found out by letting the operators move numbers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from mcu_deploy.arithmetic import Array
from mcu_deploy.backends.interface import Layer, Operand
from mcu_deploy.ir import EdgeId
from mcu_deploy.operators import lookup
from mcu_deploy.plan.alignment import ALIGNMENT


@dataclass(frozen=True)
class Piece:
    """An edge whose bytes are those of another one from `offset` on."""

    part: EdgeId
    whole: EdgeId
    offset: int = 0


def pieces(layer: Layer) -> tuple[Piece, ...]:
    """How the operands of a layer that is a view share memory."""
    return movable(layer) or (Piece(layer.output.edge, layer.input(0).edge),)


def shown(layer: Layer) -> tuple[EdgeId, ...]:
    """The edges whose bytes a view shows."""
    joins = (layer.domain, layer.op) == ("", "Concat")
    given = layer.inputs if joins else layer.inputs[:1]
    return tuple(operand.edge for operand in given if operand is not None)


def movable(layer: Layer) -> tuple[Piece, ...]:
    """The pieces that would do without a Concat, Slice, Split or Gather; none where it must copy:
    what it moves is no stretch, is a constant, or would not be aligned as every tensor is.
    """
    if layer.domain or layer.op not in ("Concat", "Slice", "Split", "Gather"):
        return ()
    count = len(layer.inputs) if layer.op == "Concat" else 1
    moved = [o for o in layer.inputs[:count] if o is not None and o.constant is None]
    operands = [*moved, *layer.outputs]
    if (
        len(moved) < count
        or any(o is not None and o.constant is None for o in layer.inputs[count:])
        or len({operand.edge for operand in operands}) < len(operands)  # a part twice
        or len({(o.type.dtype, o.type.quantization) for o in operands}) > 1
        or not all(operand.type.elements for operand in operands)
    ):
        return ()
    before, behind = _moved(layer, moved)
    parts, whole, wholes = layer.outputs, moved[0], before[0]
    if layer.op == "Concat":
        parts, whole, wholes, behind = tuple(moved), layer.output, behind[0], before
    found = []
    for part, numbers in zip(parts, behind, strict=True):
        start = int(np.argmax(wholes == numbers[0]))
        offset = start * part.type.dtype.bytes
        if offset % ALIGNMENT or not np.array_equal(wholes[start : start + len(numbers)], numbers):
            return ()
        found.append(Piece(part.edge, whole.edge, offset))
    return tuple(found)


def _moved(layer: Layer, moved: list[Operand]) -> tuple[list[Array], list[Array]]:
    """Of what is moved a number for each element [elements], in memory order; and of the results
    the numbers that the layer moves there."""
    numbers, begin = [], 0
    for operand in moved:
        numbers.append(np.arange(begin, begin + operand.type.elements))
        begin += operand.type.elements
    values = [o.type.from_memory(n) for o, n in zip(moved, numbers, strict=True)]
    fixed = layer.call.values[len(moved) :]
    results = lookup("", layer.op).evaluate(replace(layer.call, values=(*values, *fixed)))
    flat = [
        o.type.to_memory(value).reshape(-1) for o, value in zip(layer.outputs, results, strict=True)
    ]
    return numbers, flat
