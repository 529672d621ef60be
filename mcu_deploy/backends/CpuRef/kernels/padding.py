"""Pad by lines: of what lies behind the innermost axis that is padded, all is copied at once."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from mcu_deploy.backends.CpuRef.kernels.base import call, render
from mcu_deploy.backends.interface import InPlace, Layer, Workload
from mcu_deploy.backends.kit import overlap
from mcu_deploy.backends.kit.arguments import INPUT, Prototype, pointer
from mcu_deploy.backends.kit.loops import counters, plus, times
from mcu_deploy.backends.kit.stems import sizes, stem
from mcu_deploy.backends.kit.strides import memory_strides
from mcu_deploy.operators.movement import pad_amounts, pad_value

_LEAST = 8  # bytes of a line, below which calls cost more than they save


@dataclass(frozen=True)
class Lines:
    """The loops over a padded tensor's lines, outermost first: each axis, how many lines it has of
    the output, of which the first that is the input's, how many of these there are, and elements
    from one to the next. Of a line bytes: before the input's, of it, behind it."""

    loops: tuple[tuple[int, int, int, int], ...]
    before: int
    copied: int
    behind: int

    @property
    def bytes(self) -> int:
        return self.before + self.copied + self.behind

    @property
    def count(self) -> int:
        return math.prod(extent for extent, *_ in self.loops)

    @property
    def inside(self) -> int:
        """Those that have some of the input."""
        return math.prod(size for _, _, size, _ in self.loops)


def lines_of(layer: Layer) -> Lines | None:
    """The lines of a Pad of constants that memset writes; None where it is none."""
    x, y = layer.input(0).type, layer.output.type
    if layer.attributes.get("mode", "constant") != "constant":
        return None
    amounts = pad_amounts(layer.call)
    order = y.order
    padded = [n for n, axis in enumerate(order) if amounts[axis] != (0, 0)]
    if not padded or min(map(min, amounts)) < 0 or not x.elements or _fill(layer) is None:
        return None
    innermost, strides, size = order[padded[-1]], memory_strides(x), y.dtype.bytes
    step = strides[innermost] * size
    before, behind = (n * step for n in amounts[innermost])
    loops = tuple((y.shape[a], amounts[a][0], x.shape[a], strides[a]) for a in order[: padded[-1]])
    found = Lines(loops, before, x.shape[innermost] * step, behind)
    return found if found.bytes >= _LEAST else None


def _fill(layer: Layer) -> str | None:
    """C for the byte that memset writes."""
    given, dtype = layer.optional(2), layer.output.type.dtype
    if given is not None and given.constant is None:
        return "(uint8_t)fill[0]" if dtype.bytes == 1 else None
    value = {*pad_value(layer.call).reshape(-1)[:1].tobytes()}
    return str(value.pop()) if len(value) == 1 else None


def lines(layer: Layer) -> Workload | None:
    """A line after the other; None where `lines_of` has none."""
    found = lines_of(layer)
    if found is None:
        return None
    x, size = layer.input(0), layer.output.type.dtype.bytes
    names = counters("i", [extent for extent, *_ in found.loops])
    inside = " && ".join(
        f"{name} >= {first} && {name} < {first + count}" if first else f"{name} < {count}"
        for name, (extent, first, count, _) in zip(names, found.loops, strict=True)
        if extent != count
    )
    source = plus(
        "x",
        *(
            times(plus(name, -first), stride)
            for name, (_, first, _, stride) in zip(names, found.loops, strict=True)
        ),
    )
    given = Prototype(layer).add(pointer(x, "x"), INPUT).output()
    if (filled := layer.optional(2)) is not None and filled.constant is None:
        given.input(2, "fill")
    body = render(
        "pad_lines.c.j2", names=names, inside=inside, source=source, fill=_fill(layer),
        before=found.before, copied=found.copied, behind=found.behind, size=size,
    )  # fmt: skip
    name = stem("pad", x.type.dtype.value, *sizes(layer.output.type.physical_shape))
    return call(name, body, given, headers=("string.h",), in_place=_in_place(layer, found))


def _in_place(layer: Layer, found: Lines) -> tuple[InPlace, ...]:
    """memcpy reads in any order, so a line must end before what it is copied from."""
    at = [
        np.where(
            (place := np.arange(extent) - first) >= 0,
            np.where(place < count, place * stride, overlap.NOTHING),
            overlap.NOTHING,
        )
        for extent, first, count, stride in found.loops
    ]
    lowest = overlap.nested(*at) if at else np.zeros(1, np.int64)
    reads = np.where(lowest < overlap.NOTHING, lowest * layer.output.type.dtype.bytes, lowest)
    ends = (np.arange(found.count) + 1) * found.bytes
    # What is behind the line's copy is written when that has been read.
    within = ends - found.behind
    same = int((within - reads).max())
    return overlap.fact(layer, 0, max(same, overlap.distance(ends, reads)))
