"""Sliding windows: what Conv and the pools share (geometry of kernel, stride, padding)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from mcu_deploy.arithmetic import Array

# What selects positions in an array, leading axes included.
Index = tuple[Any, ...]


@dataclass(frozen=True)
class Window:
    """The geometry of a sliding window over the spatial axes, all in ONNX's order."""

    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    begin: tuple[int, ...]
    end: tuple[int, ...]
    input: tuple[int, ...]
    output: tuple[int, ...]

    @property
    def padded(self) -> bool:
        """Whether any output position reads outside of the input."""
        return any(self.padded_axes)

    @property
    def padded_axes(self) -> tuple[bool, ...]:
        """The same of each axis."""
        return tuple(
            b != 0 or (o - 1) * s + (k - 1) * d - b >= i
            for o, s, k, d, b, i in zip(
                self.output, self.strides, self.kernel, self.dilations, self.begin, self.input,
                strict=True,
            )
        )  # fmt: skip

    def taps(self) -> Iterator[tuple[int, ...]]:
        """The positions inside of the kernel, in index order."""
        return product(*(range(k) for k in self.kernel))

    def slices(self, tap: tuple[int, ...]) -> tuple[Index, Index]:
        """Where a tap reads in the input, and which outputs it reaches (all leading axes).

        Output positions whose tap falls into the padding are left out.
        """
        source: list[Any] = [...]
        target: list[Any] = [...]
        for axis, k in enumerate(tap):
            offset = k * self.dilations[axis] - self.begin[axis]
            stride = self.strides[axis]
            first = (-offset + stride - 1) // stride if offset < 0 else 0
            last = min(self.output[axis], (self.input[axis] - 1 - offset) // stride + 1)
            last = max(last, first)
            start = first * stride + offset
            source.append(slice(start, start + (last - first) * stride, stride))
            target.append(slice(first, last))
        return tuple(source), tuple(target)


def window(
    attributes: Mapping[str, Any],
    spatial_input: Sequence[int],
    spatial_output: Sequence[int],
    kernel: Sequence[int],
) -> Window:
    """Reads strides, dilations, pads and auto_pad (Conv-11, AveragePool-19, MaxPool-12)."""
    rank = len(spatial_input)
    strides = tuple(int(s) for s in attributes.get("strides", (1,) * rank))
    dilations = tuple(int(d) for d in attributes.get("dilations", (1,) * rank))
    pads = tuple(int(p) for p in attributes.get("pads", (0,) * (2 * rank)))
    begin, end = pads[:rank], pads[rank:]
    mode = attributes.get("auto_pad", "NOTSET")
    if mode == "VALID":
        begin = end = (0,) * rank
    elif mode in ("SAME_UPPER", "SAME_LOWER"):
        total = [
            max(0, (o - 1) * s + (k - 1) * d + 1 - i)
            for o, s, k, d, i in zip(
                spatial_output, strides, kernel, dilations, spatial_input, strict=True
            )
        ]
        small, large = [t // 2 for t in total], [t - t // 2 for t in total]
        begin, end = (
            (tuple(small), tuple(large)) if mode == "SAME_UPPER" else (tuple(large), tuple(small))
        )
    return Window(
        tuple(kernel), strides, dilations, begin, end, tuple(spatial_input), tuple(spatial_output)
    )


def count_taps(geometry: Window) -> Array:
    """How many taps of each output position fall inside of the input (for average pools)."""
    count = np.zeros(geometry.output, dtype=np.int32)
    for tap in geometry.taps():
        _, target = geometry.slices(tap)
        count[target] += 1
    return count
